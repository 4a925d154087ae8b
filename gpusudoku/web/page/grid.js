// The grid on the page: where one moves, types and sees what the cells hold.

import { Cell } from "./cell.js";
import { Frame } from "./frame.js";
import { isPlain, moveOf, typedDigitOf, walkOf } from "./keys.js";
import { complaintOf, rangeOf } from "./messages.js";
import { Painter } from "./painter.js";

const DIM_AFTER = 350;

/**
 * A board to edit.
 *
 * Fires `focus` (detail.cell), `candidate` (detail {cell, digit} or null: what the pointer or the
 * keyboard points to), and `shown` when it shows other things of the same board. Hooks: `gs-frame`,
 * in it `gs-grid` with data-n and data-shape, and aria-busy while it is drawn in pieces; in that
 * `gs-row` and `gs-cell` (see cell.js); below it `gs-message` with `gs-state` (data-kind "wrong",
 * "solved" or "shown") and `gs-note` (data-kind "note" or "error").
 */
export class Grid extends EventTarget {
  #focused = 0;
  #pointed = null;
  #dimTimer = 0;
  #solutionName = "";
  #stop = new AbortController();

  /**
   * @param {HTMLElement} element The parent of the grid and of the line below it.
   * @param {import("./puzzle.js").Puzzle} puzzle
   */
  constructor(element, puzzle) {
    super();
    this.puzzle = puzzle;
    this.frame = new Frame(element);
    this.painter = new Painter(puzzle, (busy) => this.frame.grid.setAttribute("aria-busy", busy));
    this.#listen();
    this.#build();
  }

  /** @returns {number} The cell that is selected. */
  get focused() {
    return this.#focused;
  }

  /** @returns {ArrayLike<number>|null} The solution that is shown. */
  get solution() {
    return this.painter.solution;
  }

  /** @returns {boolean} Whether candidates by the rules are shown. */
  get showsCandidates() {
    return this.painter.showsCandidates;
  }

  /** @returns {boolean} Whether shares are shown, when they are known. */
  get showsShares() {
    return this.painter.showsShares;
  }

  /** @returns {boolean} Whether counts stay hidden: to who solves they betray a wrong digit. */
  get hidesCounts() {
    const { mode, cells } = this.puzzle;
    return mode === "solving" && !this.showsShares && cells.includes(0);
  }

  /** Select a cell and give it the keyboard; options are those of `focus`. */
  focusCell(cell, options) {
    this.#select(cell);
    this.cells[this.#focused].element.focus(options);
  }

  /** Type a digit into the cell that is selected, or erase it with 0. */
  enter(digit) {
    const { puzzle } = this;
    if (digit > puzzle.shape.n) {
      this.say(`This board has the digits ${rangeOf(puzzle.shape.n)}.`);
    } else if (!puzzle.set(this.#focused, digit)) {
      const name = puzzle.shape.name(this.#focused);
      this.say(`${name} is a clue. With “Set clues” you can change it.`);
    }
  }

  /**
   * Take a key that is pressed outside the grid, and focus the grid, if the key types, erases or is
   * an arrow.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean} Whether the key is taken.
   */
  takeKey(event) {
    // Arrow keys move a slider, and the browser scrolls with the other keys that move.
    const { shape } = this.puzzle;
    const isArrow = event.key.startsWith("Arrow") && !event.target.matches?.("input");
    const cell = isArrow ? moveOf(event, shape, this.#focused) : null;
    const digit = typedDigitOf(event, shape.n);
    if (cell === null && digit === null) return false;
    this.focusCell(cell ?? this.#focused);
    if (digit !== null) this.enter(digit);
    return true;
  }

  /** Show candidates by the rules, in place of shares. */
  showCandidates(on) {
    this.painter.byRules = on;
    this.revealShares(this.showsShares && !on);
  }

  /** Show shares in this mode, when they are known; at first only while one sets clues. */
  revealShares(on) {
    this.painter.byShares[this.puzzle.mode] = on;
    this.painter.solution = null;
    this.#paint();
    this.#show();
  }

  /**
   * Shade candidates by how many solutions have them.
   *
   * @param {{count: bigint, shares: bigint[][]}|null} known Of the board as it is now.
   */
  showShares(known) {
    this.painter.learn(known);
    this.#dim(false);
    this.painter.paintSmall(this.cells);
  }

  /**
   * @param {ArrayLike<number>|null} cells Digits to show in empty cells, until the next change.
   * @param {string} [name] What they are called below the board.
   */
  showSolution(cells, name = "") {
    if (cells === this.solution) return;
    this.painter.solution = cells;
    this.#solutionName = name;
    this.#paint();
    this.#show();
  }

  /**
   * Show a step of logic and the board as it is before that, until the next change.
   *
   * @param {{cells: number[], around: number[], placed: number[][], removed: number[][],
   *   digits: ArrayLike<number>, masks: ArrayLike<number>}|null} step Cells that it looks at, those
   *   around them that are its reason, too, and [cell, digit] that it places and removes; all
   *   digits before it, and the candidates that are left then, bit d - 1 for digit d.
   */
  mark(step) {
    if (step !== null) this.painter.solution = null;
    this.painter.mark(step);
    this.#paint();
    this.#show();
  }

  /**
   * Tell something in the line below the board, until the next change.
   *
   * @param {string} text
   * @param {"note"|"error"} [kind]
   */
  say(text, kind = "note") {
    this.frame.say(text, kind);
  }

  destroy() {
    this.#stop.abort();
    this.#dim(false);
    this.painter.stop();
    this.frame.destroy();
  }

  #listen() {
    const { grid } = this.frame;
    const { signal } = this.#stop;
    const on = (type, listener) => grid.addEventListener(type, listener, { signal });
    on("keydown", (event) => this.#key(event));
    on("focusin", (event) => this.#select(cellOf(event.target)));
    on("pointerover", (event) => this.#hover(event.target));
    on("pointerleave", () => this.#point(null));
    on("click", ({ detail, pointerType, target }) => {
      if (detail === 2 && pointerType !== "touch" && this.#hover(target)) this.#take();
    });
    this.puzzle.addEventListener("change", (event) => this.#changed(event.detail), { signal });
    this.puzzle.addEventListener("mode", () => {
      this.#paint();
      this.#show();
    }, { signal });
  }

  #changed({ reshaped }) {
    this.painter.forget(reshaped);
    this.#point(null);
    this.#dim(this.painter.knows);
    if (reshaped) this.#build();
    else this.#paint();
    this.frame.say("", "note");
    this.#describe();
  }

  /** Show below the board that a solution is shown, a conflict, or that the board is solved. */
  #describe() {
    const complaint = complaintOf(this.puzzle);
    if (this.solution !== null) {
      this.frame.describe(`${this.#solutionName} is shown; “Use as board” enters it.`, "shown");
    } else if (complaint === "" && !this.puzzle.cells.includes(0)) {
      this.frame.describe("Solved: every digit is in its place.", "solved");
    } else this.frame.describe(complaint, "wrong");
  }

  /** Dim the shares of the board before, unless those of this one come soon. */
  #dim(on) {
    const { classList } = this.frame.grid;
    if (on) this.#dimTimer ||= setTimeout(() => classList.add("gs-stale"), DIM_AFTER);
    else {
      clearTimeout(this.#dimTimer);
      this.#dimTimer = 0;
      classList.remove("gs-stale");
    }
  }

  #build() {
    const { shape } = this.puzzle;
    const held = this.frame.hasFocus;
    this.cells = Array.from({ length: shape.cells }, (_, cell) => new Cell(shape, cell));
    this.#focused = Math.min(this.#focused, shape.cells - 1);
    this.frame.fill(shape, this.cells);
    this.#paint();
    this.#describe();
    this.cells[this.#focused].element.tabIndex = 0;
    this.#show();
    this.dispatchEvent(new CustomEvent("focus", { detail: { cell: this.#focused } }));
    if (held) this.focusCell(this.#focused);
  }

  #paint() {
    this.painter.paint(this.cells);
    this.#tint();
  }

  #select(cell) {
    if (!(cell >= 0 && cell < this.cells.length)) return;
    if (cell === this.#focused) return;
    this.#point(null);
    this.cells[this.#focused].element.tabIndex = -1;
    this.#focused = cell;
    this.cells[cell].element.tabIndex = 0;
    this.#tint();
    this.dispatchEvent(new CustomEvent("focus", { detail: { cell } }));
  }

  /** Tint the cell that is selected, its peers, and cells with the same digit. */
  #tint() {
    const { shape, cells } = this.puzzle;
    // What a step of logic looks at is tinted, too, and shall not be taken for this.
    const { isMarked } = this.painter;
    const peers = new Set(isMarked ? [] : shape.peers(this.#focused));
    const digit = isMarked ? 0 : cells[this.#focused];
    this.cells.forEach((cell, index) => {
      cell.flag("peer", peers.has(index));
      cell.flag("same", digit > 0 && cells[index] === digit);
      cell.flag("focused", index === this.#focused);
    });
  }

  /** Fire what others show of the board's look, such as toggles. */
  #show() {
    this.#describe();
    this.dispatchEvent(new CustomEvent("shown"));
  }

  #key(event) {
    const { shape } = this.puzzle;
    const cell = moveOf(event, shape, this.#focused);
    const walk = walkOf(event);
    const digit = typedDigitOf(event, shape.n);
    if (cell !== null) this.focusCell(cell);
    else if (walk) this.#walk(walk);
    else if (digit !== null) this.enter(digit);
    else if (!isPlain(event)) return;
    else if (event.key === " ") this.showCandidates(!this.showsCandidates);
    else if (event.key === "Enter" && this.#pointed) this.#take();
    else if (event.key === "Escape" && this.#pointed) this.#point(null);
    else return;
    event.preventDefault();
  }

  /** Point to the next candidate of the cell that is selected. */
  #walk(step) {
    const { n } = this.puzzle.shape;
    const cell = this.#focused;
    const start = this.#pointed?.cell === cell ? this.#pointed.digit : step > 0 ? 0 : n + 1;
    for (let digit = start + step; digit >= 1 && digit <= n; digit += step) {
      if (this.cells[cell].candidate(digit)) {
        this.#point({ cell, digit });
        return;
      }
    }
  }

  #hover(target) {
    const digit = Number(target.closest(".gs-candidate")?.dataset.digit ?? 0);
    this.#point(digit ? { cell: cellOf(target), digit } : null);
    return digit > 0;
  }

  #point(candidate) {
    const old = this.#pointed;
    if (old?.cell === candidate?.cell && old?.digit === candidate?.digit) return;
    if (old) delete this.cells[old.cell].candidate(old.digit)?.dataset.pointed;
    this.#pointed = candidate;
    if (candidate) {
      this.cells[candidate.cell].candidate(candidate.digit).dataset.pointed = "";
    }
    this.dispatchEvent(new CustomEvent("candidate", { detail: candidate }));
  }

  /** Enter the candidate that is pointed to. */
  #take() {
    const { cell, digit } = this.#pointed;
    this.focusCell(cell);
    this.enter(digit);
  }
}

/** The number of the cell that an element is in, or NaN. */
function cellOf(target) {
  return Number(target.closest(".gs-cell")?.dataset.cell ?? NaN);
}
