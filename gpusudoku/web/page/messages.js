// What the line below the board says of it.

import { symbol } from "./geometry.js";
import { listed } from "./puzzle.js";

/**
 * @param {import("./puzzle.js").Puzzle} puzzle
 * @returns {string} What is wrong with a board by the rules, nothing if nothing is.
 */
export function complaintOf(puzzle) {
  const { shape } = puzzle;
  const clashes = puzzle.clashes();
  if (clashes.length > 0) {
    const { digit, cells, units } = clashes[0];
    const times = cells.length === 2 ? "twice" : `${cells.length} times`;
    const where = listed(units.map((unit) => shape.unitName(unit)));
    const which = listed(cells.map((cell) => shape.name(cell)));
    return `${symbol(digit)} occurs ${times} in ${where}: ${which}.${moreOf(clashes.length - 1)}`;
  }
  const stuck = puzzle.candidates().findIndex((mask, cell) => mask === 0 && !puzzle.cells[cell]);
  return stuck < 0 ? "" : `No digit fits into ${shape.name(stuck)}.`;
}

/** @returns {string} "1 to 9", "1 to 9 and A to G" */
export function rangeOf(n) {
  return n <= 9 ? `1 to ${n}` : `1 to 9 and A to ${symbol(n)}`;
}

function moreOf(others) {
  if (others === 0) return "";
  return others === 1 ? " There is one more conflict." : ` There are ${others} more conflicts.`;
}
