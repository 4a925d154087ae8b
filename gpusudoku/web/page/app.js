// The page: the component over HTTP, with the board in the address.

import { about, ask, reachable } from "./asking.js";
import { mount } from "./component.js";
import { NO_BOARD_IN_LINK } from "./exchange.js";
import { Puzzle } from "./puzzle.js";
import { Recovering } from "./recovering.js";

const ADDRESS_AFTER = 250;

const linked = Puzzle.fromLink(location.hash);
const puzzle = linked ?? new Puzzle();
const link = (shown) => `${location.origin}${location.pathname}${shown.link()}`;

// Browsers refuse to write the address as often as one can type, and take their time for it.
let due = 0;
const writeAddress = () => {
  if (due === 0) return;
  clearTimeout(due);
  due = 0;
  history.replaceState(null, "", puzzle.link());
};
for (const type of ["change", "mode"]) {
  puzzle.addEventListener(type, () => {
    due ||= setTimeout(writeAddress, ADDRESS_AFTER);
  });
}
addEventListener("beforeunload", writeAddress);

const element = document.getElementById("app");
const { grid, counting, destroy } = mount(element, {
  ask, puzzle, about: await about(), link, scope: document,
});
const recovering = new Recovering(counting, reachable);
grid.focusCell(Math.max(puzzle.cells.indexOf(0), 0));

/** Tell whether the address was that of a board, and let it be that of the one that is shown. */
const checkAddress = (other) => {
  grid.say(other === null && location.hash !== "" ? NO_BOARD_IN_LINK : "", "error");
  history.replaceState(null, "", puzzle.link());
};
if (location.hash !== "") checkAddress(linked);
addEventListener("hashchange", ({ newURL }) => {
  const other = Puzzle.fromLink(new URL(newURL).hash);
  if (other !== null && other.link() !== puzzle.link()) puzzle.load(other);
  checkAddress(other);
});

// A browser may keep a page that the user has left. The server would work on its questions in vain.
addEventListener("pagehide", () => {
  recovering.destroy();
  destroy();
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
