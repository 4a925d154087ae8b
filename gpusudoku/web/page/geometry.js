// The shape of a board: where its rows, columns and boxes are, and what their digits are called.

const SYMBOLS = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MAX_DIGITS = 25;
const shapesMade = new Map();

/** Rows, columns and boxes of a board, and the cells that see each other. */
export class Shape {
  #peers = [];

  /**
   * @param {number} boxRows
   * @param {number} boxColumns
   */
  constructor(boxRows, boxColumns) {
    this.boxRows = boxRows;
    this.boxColumns = boxColumns;
    this.n = boxRows * boxColumns;
    this.cells = this.n * this.n;
    /** Cells of all rows, then of all columns, then of all boxes. */
    this.units = this.#units();
  }

  #units() {
    const units = Array.from({ length: 3 * this.n }, () => []);
    for (let cell = 0; cell < this.cells; cell++) {
      for (const unit of this.unitsOf(cell)) units[unit].push(cell);
    }
    return units;
  }

  /** @returns {number} The row of a cell, from 0. */
  rowOf(cell) {
    return Math.floor(cell / this.n);
  }

  /** @returns {number} The column of a cell, from 0. */
  columnOf(cell) {
    return cell % this.n;
  }

  /** @returns {number} The box of a cell, from 0, row by row. */
  boxOf(cell) {
    const down = Math.floor(this.rowOf(cell) / this.boxRows);
    return down * this.boxRows + Math.floor(this.columnOf(cell) / this.boxColumns);
  }

  /** @returns {number[]} The numbers of the row, the column and the box of a cell. */
  unitsOf(cell) {
    return [this.rowOf(cell), this.n + this.columnOf(cell), 2 * this.n + this.boxOf(cell)];
  }

  /** @returns {string} What people call a unit: "row 3". */
  unitName(unit) {
    const kind = ["row", "column", "box"][Math.floor(unit / this.n)];
    return `${kind} ${(unit % this.n) + 1}`;
  }

  /** @returns {number[]} The cells that share a unit with a cell, without itself. */
  peers(cell) {
    if (this.#peers[cell] === undefined) {
      const seen = new Set(this.unitsOf(cell).flatMap((unit) => this.units[unit]));
      seen.delete(cell);
      this.#peers[cell] = [...seen];
    }
    return this.#peers[cell];
  }

  /** @returns {string} "r1c1" for cell 0. */
  name(cell) {
    return `r${this.rowOf(cell) + 1}c${this.columnOf(cell) + 1}`;
  }

  /** Whether a board of this size is taken for this shape where nothing tells its boxes. */
  get isUsual() {
    let rows = Math.floor(Math.sqrt(this.n));
    while (rows > 1 && this.n % rows) rows--;
    return this.boxRows === rows && (rows > 1 || this.n === 1);
  }

  toString() {
    return `${this.boxRows}x${this.boxColumns}`;
  }
}

/** @returns {string} The character of a digit: 1-9, then A for 10 and so on. */
export function symbol(digit) {
  return SYMBOLS[digit - 1];
}

/** @returns {number} The digit of a character, upper or lower case; 0 for any other. */
export function digitOf(character) {
  return character.length === 1 ? SYMBOLS.indexOf(character.toUpperCase()) + 1 : 0;
}

/** @returns {Shape|null} The shape of boxes "2x3", null if there is none on this page. */
export function shapeOf(text) {
  const sides = /^([1-9]\d?)x([1-9]\d?)$/.exec(text);
  if (sides === null || sides[1] * sides[2] > MAX_DIGITS) return null;
  if (!shapesMade.has(text)) shapesMade.set(text, new Shape(Number(sides[1]), Number(sides[2])));
  return shapesMade.get(text);
}

/** The shapes of the size menu, small ones first. */
export const SHAPES = [
  "2x2", "2x3", "3x2", "2x4", "4x2", "3x3", "2x5", "5x2", "2x6", "6x2", "3x4", "4x3",
  "3x5", "5x3", "4x4", "3x6", "6x3", "4x5", "5x4", "4x6", "6x4", "5x5",
].map(shapeOf);
