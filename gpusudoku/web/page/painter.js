// What the cells of the grid show: digits at once, candidates in pieces.

import { symbol } from "./geometry.js";
import { looksByRules, looksByShares, wordsByRules, wordsByShares } from "./looks.js";
import { Pieces } from "./pieces.js";

/** Paints cells from a puzzle and from what is known about it. */
export class Painter {
  #pieces;
  #known = null;
  #step = null;
  #masks = null;

  /**
   * @param {import("./puzzle.js").Puzzle} puzzle
   * @param {(busy: boolean) => void} tell Called with true when drawing begins, and with false when
   *   everything is drawn.
   */
  constructor(puzzle, tell) {
    this.#pieces = new Pieces(tell);
    this.puzzle = puzzle;
    this.byRules = false;
    // Who solves the board asks for them.
    this.byShares = { setting: true, solving: false };
    this.solution = null;
  }

  get showsShares() {
    return this.byShares[this.puzzle.mode];
  }

  get showsCandidates() {
    return this.byRules && !this.showsShares;
  }

  /** Whether there are shares, of this board or of the one before. */
  get knows() {
    return this.#known !== null;
  }

  /** @param {{count: bigint, shares: bigint[][]}|null} known */
  learn(known) {
    const fits = known !== null && known.shares.length === this.puzzle.shape.cells;
    this.#known = fits ? { ...known, cells: this.puzzle.cells, looks: [] } : null;
  }

  /** The board changes: shares stay until there are new ones, unless the shape is another. */
  forget(reshaped) {
    this.solution = null;
    this.#step = null;
    if (reshaped) this.#known = null;
  }

  /** @param {object|null} step As of `Grid.mark`. */
  mark(step) {
    this.#step = null;
    if (step === null) return;
    const { cells, around, placed, removed, digits, masks } = step;
    const struck = new Map();
    for (const [cell, digit] of removed) {
      struck.set(cell, (struck.get(cell) ?? 0) | (1 << (digit - 1)));
    }
    this.#step = { cells: new Set(cells), around: new Set(around), placed: new Map(placed), struck,
      digits, masks };
  }

  /** Whether a step of logic is shown; a solution covers it. */
  get isMarked() {
    return this.#step !== null && this.solution === null;
  }

  /** @param {import("./cell.js").Cell[]} cells */
  paint(cells) {
    const { puzzle } = this;
    const conflicts = puzzle.conflicts();
    const locked = puzzle.mode === "solving";
    const step = this.isMarked ? this.#step : null;
    this.#masks = step?.masks ?? puzzle.candidates();
    cells.forEach((cell, index) => {
      const digit = puzzle.cells[index];
      const shown = digit || this.#extra(index);
      cell.write(shown, digit ? (puzzle.clues[index] ? "clue" : "edit") : "shown");
      cell.complain(conflicts.get(index) ?? null);
      cell.flag("stuck", !shown && this.#masks[index] === 0);
      cell.flag("around", step?.around.has(index) ?? false);
      cell.flag("marked", step?.cells.has(index) ?? false);
      cell.flag("placed", step?.placed.has(index) ?? false);
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
    if (!this.isMarked) return this.solution?.[index] ?? 0;
    return this.#step.placed.get(index) ?? this.#step.digits[index];
  }

  /** How shares look and what words tell them: worked out once, as long as they are known. */
  #looksByShares(index, mask) {
    const { shares, count, looks } = this.#known;
    if (looks[index]?.mask !== mask) {
      looks[index] = {
        mask,
        looks: looksByShares(shares[index], count, mask),
        words: wordsByShares(shares[index], count, mask),
      };
    }
    return looks[index];
  }

  #paintSmall(cell, index) {
    const { looks, words } = this.#small(index);
    cell.label(words);
    return cell.showCandidates(looks);
  }

  /** What a cell shows small, and what is said of it. */
  #small(index) {
    const { puzzle } = this;
    const digit = puzzle.cells[index];
    if (digit) {
      return { looks: null, words: `${puzzle.clues[index] ? "clue " : ""}${symbol(digit)}` };
    }
    const extra = this.#extra(index);
    if (extra) return { looks: null, words: `empty, ${symbol(extra)} is shown` };
    const mask = this.#masks[index];
    if (!this.isMarked && this.showsShares && this.#known?.cells[index] === 0) {
      return this.#looksByShares(index, mask);
    }
    if (!this.isMarked && !this.showsCandidates) return { looks: null, words: "empty" };
    const { n } = puzzle.shape;
    const struck = this.isMarked ? this.#step.struck.get(index) : 0;
    return { looks: looksByRules(mask, n, struck), words: wordsByRules(mask, n) };
  }
}
