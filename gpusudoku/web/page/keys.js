// What keys mean for the board. Nothing that a browser uses itself is taken.

import { digitOf } from "./geometry.js";

// On many keyboards the numeric keypad has a comma in place of the full stop.
const ERASING = ["Backspace", "Delete", "0", ".", ","];

/**
 * @param {KeyboardEvent} event
 * @param {import("./geometry.js").Shape} shape
 * @param {number} cell Where the focus is.
 * @returns {number|null} The cell that the key moves to; null if it moves nowhere.
 */
export function moveOf(event, shape, cell) {
  if (event.altKey || event.shiftKey || event.metaKey) return null;
  const { n } = shape;
  const row = shape.rowOf(cell);
  const column = shape.columnOf(cell);
  const at = (down, right) => within(down, n) * n + within(right, n);
  if (event.ctrlKey) return { Home: 0, End: shape.cells - 1 }[event.key] ?? null;
  switch (event.key) {
    case "ArrowUp":
      return at(row - 1, column);
    case "ArrowDown":
      return at(row + 1, column);
    case "ArrowLeft":
      return at(row, column - 1);
    case "ArrowRight":
      return at(row, column + 1);
    case "Home":
      return at(row, 0);
    case "End":
      return at(row, n - 1);
    case "PageUp":
      return at(row - shape.boxRows, column);
    case "PageDown":
      return at(row + shape.boxRows, column);
    default:
      return null;
  }
}

/** @returns {number} 1 or -1 if a key walks through the candidates of a cell, 0 for any other. */
export function walkOf(event) {
  if (!event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return 0;
  return { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
}

/**
 * @param {KeyboardEvent} event
 * @param {number} n The largest digit of the board.
 * @returns {number|null} The digit that a key writes, 0 if it erases; null for any other key.
 */
export function typedDigitOf(event, n) {
  if (!isPlain(event)) return null;
  if (ERASING.includes(event.key)) return 0;
  // An input method does not tell which key it works on; the place of the key tells its digit.
  if (["Process", "Unidentified"].includes(event.key) && !event.shiftKey) {
    const key = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
    return key && Number(key[1]);
  }
  // Letters are digits on boards with more than nine only.
  return n > 9 || /\d/.test(event.key) ? digitOf(event.key) || null : null;
}

/** @returns {boolean} Whether a key is pressed alone, or with Shift. */
export function isPlain(event) {
  return !(event.ctrlKey || event.altKey || event.metaKey);
}

/** @returns {"undo"|"redo"|null} What a key with Ctrl, or Command, does to the history. */
export function historyOf(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? "redo" : "undo";
  return key === "y" && !event.shiftKey ? "redo" : null;
}

function within(value, n) {
  return Math.min(Math.max(value, 0), n - 1);
}
