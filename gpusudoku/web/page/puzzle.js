// A board that is edited: clues and edits, with undo, and a link that holds it all.

import { digitOf, shapeOf, symbol } from "./geometry.js";

/** @typedef {import("./geometry.js").Shape} Shape */

const MAX_STEPS = 1000;
const MODES = ["setting", "solving"];
const LINK = /^#(\w+)\/(\w+)\/([0-9A-P.]+)(?:\/([0-9A-P.]+))?\/?(?:[?&].*)?$/i;

/**
 * A board with undo. Its arrays are read, never written, by others: a change makes new ones.
 *
 * Fires `change` (detail.reshaped) once for each change, and `mode`.
 */
export class Puzzle extends EventTarget {
  #state;
  #mode;
  #past = [];
  #future = [];
  #clashes = null;

  /**
   * @param {Shape} [shape] By default 9x9.
   * @param {object} [content]
   * @param {ArrayLike<number>} [content.cells] Digits, 0 for an empty cell; by default none.
   * @param {ArrayLike<number>} [content.clues] 1 for a clue, 0 for an edit; by default all clues.
   * @param {string} [content.mode] "setting" or "solving".
   */
  constructor(shape = shapeOf("3x3"), { cells = [], clues = null, mode = "setting" } = {}) {
    super();
    this.#state = stateOf(shape, cells, clues ?? cells);
    this.#mode = mode;
  }

  /** @returns {Shape} */
  get shape() {
    return this.#state.shape;
  }

  /** @returns {Uint8Array} The digits, 0 for an empty cell. */
  get cells() {
    return this.#state.cells;
  }

  /** @returns {Uint8Array} 1 for cells with a clue. */
  get clues() {
    return this.#state.clues;
  }

  /** "setting": digits that are typed are clues. "solving": they are edits, and clues stay. */
  get mode() {
    return this.#mode;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /**
   * Write a digit, or erase it with 0.
   *
   * @returns {boolean} Whether that may be: a clue does not change while solving.
   */
  set(cell, digit) {
    const { shape, cells, clues } = this.#state;
    if (!(digit >= 0 && digit <= shape.n && cell >= 0 && cell < shape.cells)) return false;
    if (this.#mode === "solving" && clues[cell]) return false;
    this.#change(
      stateOf(shape, cells.with(cell, digit), clues.with(cell, this.#mode === "setting" ? 1 : 0)),
    );
    return true;
  }

  /**
   * Write all digits.
   *
   * @param {ArrayLike<number>} cells
   * @param {ArrayLike<number>|null} [clues] By default clues that keep their digit stay clues, and
   *   all others are what would be typed now.
   */
  setAll(cells, clues = null) {
    const { shape, cells: old, clues: given } = this.#state;
    const typed = this.#mode === "setting";
    const stays = (digit, cell) => given[cell] && old[cell] === digit;
    const kept = Array.from(cells, (digit, cell) => typed || stays(digit, cell));
    this.#change(stateOf(shape, cells, clues ?? kept));
  }

  /** Become another board, with its mode. */
  load(other) {
    const { shape, cells, clues, mode } = other;
    this.#change(stateOf(shape, cells, clues), mode);
  }

  /** Become an empty board of a shape, to set clues on. */
  reshape(shape) {
    this.#change(stateOf(shape, [], []), "setting");
  }

  /** Erase everything but the clues. */
  clearEdits() {
    const { shape, cells, clues } = this.#state;
    this.#change(stateOf(shape, cells.map((digit, cell) => digit * clues[cell]), clues));
  }

  /** @param {string} mode "setting" or "solving" */
  setMode(mode) {
    if (mode === this.#mode || !MODES.includes(mode)) return;
    this.#mode = mode;
    this.dispatchEvent(new CustomEvent("mode"));
  }

  undo() {
    if (this.canUndo) this.#step(this.#past, this.#future);
  }

  redo() {
    if (this.canRedo) this.#step(this.#future, this.#past);
  }

  /** @returns {string} The canonical line of all digits. */
  text() {
    return lineOf(this.cells, ".");
  }

  /** @returns {string} Text that is read as this board anywhere, with its shape if need be. */
  portable() {
    const board = this.text();
    return this.shape.isUsual ? board : JSON.stringify({ board, box: String(this.shape) });
  }

  /** @returns {string} The same of the clues alone; of a board without clues all digits. */
  cluesText() {
    return this.clues.some(Boolean) ? lineOf(this.#of(1), ".") : this.text();
  }

  /** @returns {string} Shape, mode, clues and edits, to stand behind an address. */
  link() {
    const parts = [this.shape, this.#mode, lineOf(this.#of(1), "0")];
    const edits = this.#of(0);
    if (edits.some(Boolean)) parts.push(lineOf(edits, "0"));
    return `#${parts.join("/")}`;
  }

  /**
   * @param {string} hash What others have made of a link is passed over: letters of another case,
   *   dots for empty cells, a slash or parameters behind it.
   * @returns {Puzzle|null} The board of a link; null if it holds none.
   */
  static fromLink(hash) {
    const parts = LINK.exec(String(hash));
    const shape = parts && shapeOf(parts[1].toLowerCase());
    const mode = parts?.[2].toLowerCase();
    if (!shape || !MODES.includes(mode)) return null;
    const clues = cellsOf(parts[3], shape);
    const edits = cellsOf(parts[4] ?? "0".repeat(shape.cells), shape);
    if (clues === null || edits === null) return null;
    const cells = clues.map((digit, cell) => digit || edits[cell]);
    return new Puzzle(shape, { cells, clues, mode });
  }

  /** @returns {{digit: number, cells: number[], units: number[]}[]} Digits that stand twice. */
  clashes() {
    this.#clashes ??= clashesOf(this.#state);
    return this.#clashes;
  }

  /** @returns {Map<number, string>} For each cell that is wrong, what it conflicts with. */
  conflicts() {
    const found = new Map();
    for (const { digit, cells, units } of this.clashes()) {
      for (const cell of cells) {
        const others = listed(cells.filter((other) => other !== cell).map(this.#name));
        const where = listed(units.map((unit) => this.shape.unitName(unit)));
        const said = `${symbol(digit)} occurs in ${others}, too (${where})`;
        if (!found.has(cell)) found.set(cell, said);
      }
    }
    return found;
  }

  /**
   * @returns {Uint32Array} For each cell the digits that no peer has, bit d - 1 for digit d; where
   *   there is a digit, that.
   */
  candidates() {
    const { shape, cells } = this.#state;
    const used = new Uint32Array(shape.units.length);
    shape.units.forEach((unit, number) => {
      for (const cell of unit) if (cells[cell]) used[number] |= 1 << (cells[cell] - 1);
    });
    const all = 2 ** shape.n - 1;
    return Uint32Array.from(cells, (digit, cell) => {
      if (digit) return 1 << (digit - 1);
      const [row, column, box] = shape.unitsOf(cell);
      return all & ~(used[row] | used[column] | used[box]);
    });
  }

  #name = (cell) => this.shape.name(cell);

  /** The digits of the clues (1) or of the edits (0), and nothing else. */
  #of(kind) {
    return this.cells.map((digit, cell) => (this.clues[cell] === kind ? digit : 0));
  }

  /** Change the board, and the mode if another is given; undo restores both. */
  #change(next, mode = this.#mode) {
    const previous = { state: this.#state, mode: mode === this.#mode ? null : this.#mode };
    this.setMode(mode);
    if (sameState(next, this.#state)) return;
    this.#past.push(previous);
    if (this.#past.length > MAX_STEPS) this.#past.shift();
    this.#future = [];
    this.#become(next);
  }

  #step(from, to) {
    const { state, mode } = from.pop();
    to.push({ state: this.#state, mode: mode && this.#mode });
    if (mode !== null) this.setMode(mode);
    this.#become(state);
  }

  #become(next) {
    const reshaped = next.shape !== this.shape;
    this.#state = next;
    this.#clashes = null;
    this.dispatchEvent(new CustomEvent("change", { detail: { reshaped } }));
  }
}

/**
 * @param {string} text A canonical line, or one with 0 for an empty cell.
 * @param {Shape} shape
 * @returns {Uint8Array|null} Its digits; null if they do not fill the shape, or are too large.
 */
export function cellsOf(text, shape) {
  if (text.length !== shape.cells) return null;
  const cells = Uint8Array.from(text, digitOf);
  return cells.every((digit) => digit <= shape.n) ? cells : null;
}

/** @returns {string} "a", "a and b", "a, b and c". */
export function listed(names) {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function stateOf(shape, cells, clues) {
  const digits = new Uint8Array(shape.cells);
  digits.set(cells);
  const given = digits.map((digit, cell) => (digit && clues[cell] ? 1 : 0));
  return { shape, cells: digits, clues: given };
}

function sameState(one, other) {
  const equal = (a, b) => a.every((value, index) => value === b[index]);
  return (
    one.shape === other.shape && equal(one.cells, other.cells) && equal(one.clues, other.clues)
  );
}

function lineOf(cells, empty) {
  return Array.from(cells, (digit) => (digit ? symbol(digit) : empty)).join("");
}

/** Cells that clash in a row and in a box, too, are told once. */
function clashesOf({ shape, cells }) {
  const found = new Map();
  shape.units.forEach((unit, number) => {
    const places = new Map();
    for (const cell of unit) {
      if (cells[cell]) places.set(cells[cell], [...(places.get(cells[cell]) ?? []), cell]);
    }
    for (const [digit, where] of places) {
      if (where.length < 2) continue;
      const key = where.join();
      if (!found.has(key)) found.set(key, { digit, cells: where, units: [] });
      found.get(key).units.push(number);
    }
  });
  return [...found.values()];
}
