// The page: the component over HTTP, with the board in the address.

import { about, ask } from "./asking.js";
import { mount } from "./component.js";
import { Puzzle } from "./puzzle.js";

const puzzle = Puzzle.fromLink(location.hash) ?? new Puzzle();
const link = (shown) => `${location.origin}${location.pathname}${shown.link()}`;

puzzle.addEventListener("change", () => history.replaceState(null, "", puzzle.link()));
addEventListener("hashchange", () => {
  const other = Puzzle.fromLink(location.hash);
  if (other !== null && other.link() !== puzzle.link()) puzzle.load(other);
});

mount(document.getElementById("app"), { ask, puzzle, about: await about(), link });
