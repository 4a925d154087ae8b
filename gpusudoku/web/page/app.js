// The page: the component over HTTP, with the board in the address.

import { about, ask } from "./asking.js";
import { mount } from "./component.js";
import { Puzzle } from "./puzzle.js";

const puzzle = Puzzle.fromLink(location.hash) ?? new Puzzle();
const link = (shown) => `${location.origin}${location.pathname}${shown.link()}`;

for (const type of ["change", "mode"]) {
  puzzle.addEventListener(type, () => history.replaceState(null, "", puzzle.link()));
}
addEventListener("hashchange", () => {
  const other = Puzzle.fromLink(location.hash);
  if (other !== null && other.link() !== puzzle.link()) puzzle.load(other);
});

const element = document.getElementById("app");
const { grid } = mount(element, { ask, puzzle, about: await about(), link });
grid.focusCell(Math.max(puzzle.cells.indexOf(0), 0));
