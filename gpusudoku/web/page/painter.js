// What the cells of the grid show: digits at once, candidates in pieces.

import { symbol } from "./geometry.js";
import { looksByRules, looksByShares, wordsByRules, wordsByShares } from "./looks.js";
import { Pieces } from "./pieces.js";

const UNMARKED = { cells: new Set(), placed: new Map(), removed: new Map() };

/** Paints cells from a puzzle and from what is known about it. */
export class Painter {
  #pieces = new Pieces();
  #known = null;
  #step = UNMARKED;
  #masks = null;

  /** @param {import("./puzzle.js").Puzzle} puzzle */
  constructor(puzzle) {
    this.puzzle = puzzle;
    this.byRules = false;
    this.byShares = true;
    this.solution = null;
  }

  /** Whether there are shares, of this board or of the one before. */
  get knows() {
    return this.#known !== null;
  }

  /** @param {{count: bigint, shares: bigint[][]}|null} known */
  learn(known) {
    const fits = known !== null && known.shares.length === this.puzzle.shape.cells;
    this.#known = fits ? { ...known, cells: this.puzzle.cells } : null;
  }

  /** The board changes: shares stay until there are new ones, unless the shape is another. */
  forget(reshaped) {
    this.solution = null;
    this.#step = UNMARKED;
    if (reshaped) this.#known = null;
  }

  /** @param {{cells?: number[], placed?: number[][], removed?: number[][]}|null} step */
  mark(step) {
    const removed = new Map();
    for (const [cell, digit] of step?.removed ?? []) {
      removed.set(cell, (removed.get(cell) ?? 0) | (1 << (digit - 1)));
    }
    this.#step = { cells: new Set(step?.cells), placed: new Map(step?.placed), removed };
  }

  /** Whether a step of logic is highlighted. */
  get isMarked() {
    return Object.values(this.#step).some(({ size }) => size > 0);
  }

  /** @param {import("./cell.js").Cell[]} cells */
  paint(cells) {
    const { puzzle } = this;
    const conflicts = puzzle.conflicts();
    const locked = puzzle.mode === "solving";
    this.#masks = puzzle.candidates();
    cells.forEach((cell, index) => {
      const digit = puzzle.cells[index];
      const shown = digit || this.#extra(index);
      cell.write(shown, digit ? (puzzle.clues[index] ? "clue" : "edit") : "shown");
      cell.complain(conflicts.get(index) ?? null);
      cell.flag("stuck", !shown && this.#masks[index] === 0);
      cell.flag("marked", this.#step.cells.has(index));
      cell.flag("placed", this.#step.placed.has(index));
      cell.lock(locked && puzzle.clues[index] === 1);
    });
    this.paintSmall(cells);
  }

  /** @param {import("./cell.js").Cell[]} cells */
  paintSmall(cells) {
    this.#pieces.start(cells.length, (index) => this.#paintSmall(cells[index], index));
  }

  stop() {
    this.#pieces.stop();
  }

  /** A digit that is no part of the puzzle. */
  #extra(index) {
    return this.#step.placed.get(index) ?? this.solution?.[index] ?? 0;
  }

  #paintSmall(cell, index) {
    const { puzzle } = this;
    const digit = puzzle.cells[index];
    const { n } = puzzle.shape;
    const mask = this.#masks[index];
    const removed = this.#step.removed.get(index) ?? 0;
    if (digit) {
      cell.showCandidates(null);
      cell.label(`${puzzle.clues[index] ? "clue " : ""}${symbol(digit)}`);
    } else if (this.#extra(index)) {
      cell.showCandidates(null);
      cell.label(`empty, ${symbol(this.#extra(index))} is shown`);
    } else if (this.byShares && this.#known?.cells[index] === 0) {
      const { shares, count } = this.#known;
      cell.showCandidates(looksByShares(shares[index], count, mask, removed));
      cell.label(wordsByShares(shares[index], count));
    } else if (this.byRules || this.#step.cells.has(index) || removed) {
      cell.showCandidates(looksByRules(mask, n, removed));
      cell.label(wordsByRules(mask, n));
    } else {
      cell.showCandidates(null);
      cell.label("empty");
    }
  }
}
