// A board as a self-contained SVG picture: black on white, clues bold, ready for print.

import { symbol } from "./geometry.js";

const SIDE = 60;
const MARGIN = 6;

/**
 * @param {import("./puzzle.js").Puzzle} puzzle
 * @param {ArrayLike<number>|null} [solution] Digits for the empty cells.
 * @returns {string} An SVG document.
 */
export function pictureOf(puzzle, solution = null) {
  const { shape, clues } = puzzle;
  const board = shape.n * SIDE;
  const size = board + 2 * MARGIN;
  const digits = [];
  puzzle.cells.forEach((digit, cell) => {
    const shown = digit || solution?.[cell] || 0;
    if (shown === 0) return;
    const x = MARGIN + (shape.columnOf(cell) + 0.5) * SIDE;
    const y = MARGIN + (shape.rowOf(cell) + 0.5) * SIDE + SIDE * 0.2;
    const look = clues[cell] ? ' font-weight="bold"' : "";
    digits.push(`<text x="${x}" y="${y}"${look}>${symbol(shown)}</text>`);
  });
  const [thin, thick] = linesOf(shape);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" ` +
      `height="${size}">`,
    `<title>Sudoku, ${shape.n} by ${shape.n}</title>`,
    `<rect width="${size}" height="${size}" fill="#fff"/>`,
    `<path d="${thin}" fill="none" stroke="#888" stroke-width="1"/>`,
    `<path d="${thick}" fill="none" stroke="#000" stroke-width="3" stroke-linecap="square"/>`,
    `<g font-family="Helvetica, Arial, sans-serif" font-size="${SIDE * 0.57}" ` +
      'text-anchor="middle" fill="#000">',
    ...digits,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Hand a text to the browser as a file to keep. */
export function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  // The download holds its own reference once it has begun.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** The paths of the thin and of the thick lines. */
function linesOf(shape) {
  const thin = [];
  const thick = [];
  const end = MARGIN + shape.n * SIDE;
  const boxed = shape.boxRows > 1 && shape.boxColumns > 1;
  for (let line = 0; line <= shape.n; line++) {
    const at = MARGIN + line * SIDE;
    const edge = line === 0 || line === shape.n;
    const along = edge || (boxed && line % shape.boxRows === 0) ? thick : thin;
    const down = edge || (boxed && line % shape.boxColumns === 0) ? thick : thin;
    along.push(`M${MARGIN} ${at}H${end}`);
    down.push(`M${at} ${MARGIN}V${end}`);
  }
  return [thin.join(""), thick.join("")];
}
