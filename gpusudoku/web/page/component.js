// The page's component: a board to edit, and beside it what is known of its solutions.

import { Controls } from "./controls.js";
import { Counting } from "./counting.js";
import { Grid } from "./grid.js";
import { make } from "./making.js";
import { Panel } from "./panel.js";
import { Puzzle } from "./puzzle.js";

/**
 * Fill an element with the component.
 *
 * @param {HTMLElement} element
 * @param {object} options
 * @param {(kind: string, question: object, options?: {progress?: (facts: object) => void,
 *   signal?: AbortSignal}) => Promise<object>} options.ask Asks the engine; see asking.js.
 * @param {Puzzle} [options.puzzle] What is edited; by default an empty 9x9 board.
 * @param {object} [options.about] What answers, and the boards that come with it.
 * @param {(puzzle: Puzzle) => string} [options.link] The address that holds a board; without it
 *   there is no button for it.
 * @param {EventTarget} [options.scope] Where keys, paste and copy are heard; by default in the
 *   component alone.
 * @returns {{puzzle: Puzzle, grid: Grid, counting: Counting, panel: Panel, destroy: () => void}}
 */
export function mount(
  element,
  { ask, puzzle = new Puzzle(), about = {}, link = null, scope = null },
) {
  element.classList.add("gs-app");
  const board = make("div", { class: "gs-board" });
  const side = make("div", { class: "gs-side" });
  element.append(make("div", { class: "gs-room" }, board, side));
  const page = newPage();
  // Made first, it hears of an edit first: the question is on its way before anything is drawn.
  const counting = new Counting({ puzzle, ask, page });
  const grid = new Grid(board, puzzle);
  const controls = new Controls(board, { puzzle, grid, ask, about, link, scope });
  const panel = new Panel(side, { puzzle, grid, counting, ask, page });
  return {
    puzzle,
    grid,
    counting,
    panel,
    destroy() {
      counting.destroy();
      panel.destroy();
      controls.destroy();
      grid.destroy();
      element.replaceChildren();
    },
  };
}

function newPage() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0")).join("");
}
