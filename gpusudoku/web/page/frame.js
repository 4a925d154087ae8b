// The frame of the grid: rows for the cells, their size, and the line below.

import { make, setText } from "./making.js";

const LARGEST = 96;
const SMALLEST = 23;
const SMALLEST_TO_TOUCH = 27;
const BORDER = 4;
const LEGIBLE = 8;

/** Holds the cells of the grid, in whole pixels so that all lines are sharp. */
export class Frame {
  #n = 9;
  #room = 0;
  #size = 0;
  #resized = new ResizeObserver(() => this.#measure());
  #ruler = make("div", { class: "gs-ruler" }); // as high as the board may be

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.outer = make("div", { class: "gs-frame" });
    this.grid = make("div", { class: "gs-grid" });
    this.grid.setAttribute("role", "grid");
    this.message = make("p", { class: "gs-message" });
    this.message.setAttribute("role", "status");
    this.state = make("span", { class: "gs-state" });
    this.note = make("span", { class: "gs-note" });
    this.message.append(this.state, " ", this.note);
    this.outer.append(this.grid);
    element.append(this.outer, this.message, make("div", { class: "gs-hidden" }, this.#ruler));
    for (const each of [element, this.outer, this.#ruler]) this.#resized.observe(each);
  }

  /** Whether the keyboard is in the grid. */
  get hasFocus() {
    return this.grid.contains(this.grid.getRootNode().activeElement);
  }

  /**
   * Put other cells in.
   *
   * @param {import("./geometry.js").Shape} shape
   * @param {import("./cell.js").Cell[]} cells
   */
  fill(shape, cells) {
    const { n } = shape;
    this.#n = n;
    const rows = Array.from({ length: n }, (_, row) => {
      const element = make("div", { class: "gs-row" });
      element.setAttribute("role", "row");
      element.setAttribute("aria-rowindex", row + 1);
      element.append(...cells.slice(row * n, (row + 1) * n).map((cell) => cell.element));
      return element;
    });
    this.grid.dataset.n = n;
    this.grid.dataset.shape = shape;
    this.grid.setAttribute("aria-label", `Sudoku board, ${n} by ${n}, boxes ${shape}`);
    this.grid.setAttribute("aria-rowcount", n);
    this.grid.setAttribute("aria-colcount", n);
    this.grid.style.setProperty("--n", n);
    this.grid.style.setProperty("--across", Math.ceil(Math.sqrt(n)));
    this.grid.style.setProperty("--down", Math.ceil(n / Math.ceil(Math.sqrt(n))));
    this.grid.classList.toggle("gs-wide", n > 12);
    this.grid.replaceChildren(...rows);
    this.#fit();
  }

  /** Show the state of the board below it, such as a conflict. */
  describe(text, kind) {
    this.state.dataset.kind = kind;
    setText(this.state, text);
  }

  /** Show a note behind the state. */
  say(text, kind) {
    this.note.dataset.kind = kind;
    setText(this.note, text);
  }

  destroy() {
    this.#resized.disconnect();
  }

  #measure() {
    const tall = `${this.element.offsetHeight}px`;
    this.#room = this.#readRoom();
    this.element.style.setProperty("--tall", tall);
    this.#fit();
  }

  #readRoom() {
    return Math.min(this.outer.clientWidth, this.#ruler.clientHeight);
  }

  /**
   * As large as there is room for, and not higher than the window; where that is too small, the
   * frame or the page scrolls. The room is that of the last frame: to ask for it now would lay out
   * the whole page once more.
   */
  #fit() {
    this.#room ||= this.#readRoom();
    const coarse = matchMedia("(pointer: coarse)").matches;
    const least = coarse ? SMALLEST_TO_TOUCH : SMALLEST;
    const room = Math.floor((this.#room - BORDER) / this.#n);
    const size = Math.min(Math.max(room, least), LARGEST);
    this.grid.classList.toggle("gs-tiny", size / Math.ceil(Math.sqrt(this.#n)) < LEGIBLE);
    if (size === this.#size) return;
    this.#size = size;
    this.grid.style.setProperty("--cell", `${size}px`);
  }
}
