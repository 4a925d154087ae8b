// What each digit would leave in one cell: a list with exact numbers, bars and buttons.

import { symbol } from "./geometry.js";
import { make, makeButton, makeCard, moveByArrows, scrollWithin, sentence } from "./making.js";
import { duration, fractionOf, group, inWords, percent } from "./numbers.js";

/** Shows the shares of the cell that has the focus, or that the pointer is in. */
export class Leaves {
  #puzzle;
  #grid;
  #counting;
  #shares = null;
  #pointed = null;
  #unique = [];
  #uniqueAt = -1;
  #rows = [];
  #title;
  #list = make("ul", { class: "gs-leaves-list", "data-part": "leaves-list" });
  #message = make("p", { class: "gs-quiet", "data-part": "leaves-message" });
  #offer;
  #uniqueText = make("span", { "data-part": "unique-placements" });
  #uniqueLine;

  constructor({ puzzle, grid, counting }) {
    this.#puzzle = puzzle;
    this.#grid = grid;
    this.#counting = counting;
    this.#offer = makeButton("shares", "Work out the shares", () => counting.share());
    const next = makeButton("next-unique", "Show next", () => this.#showNextUnique());
    this.#uniqueLine = make("div", { class: "gs-unique-line" }, this.#uniqueText, next);
    const body = make("div", { class: "gs-leaves-body gs-old" }, this.#list, this.#message,
      this.#offer);
    this.element = makeCard("leaves", "What each digit leaves", body, this.#uniqueLine);
    this.#title = this.element.querySelector("h2");
    moveByArrows(this.#list);
    this.#list.addEventListener("click", (event) => this.#place(event));
    this.reshape();
  }

  /** Make the rows anew, for a board of another shape. */
  reshape() {
    const { n } = this.#puzzle.shape;
    this.element.style.setProperty("--rows", Math.min(n, 9));
    this.#shares = null;
    this.#unique = [];
    this.#rows = Array.from({ length: n }, (_, index) => {
      const parts = {
        number: make("span", { class: "gs-leaf-number" }),
        part: make("span", { class: "gs-leaf-part" }),
      };
      const digit = make("span", { class: "gs-leaf-digit" }, symbol(index + 1));
      const button = make("button", { type: "button", class: "gs-leaf", "data-digit": index + 1 },
        digit, parts.number, parts.part);
      button.tabIndex = index === 0 ? 0 : -1;
      return { ...parts, button };
    });
    this.#list.replaceChildren(...this.#rows.map(({ button }) => make("li", {}, button)));
    this.render();
  }

  /**
   * Take the shares that are shown from now on.
   *
   * @param {?{count: bigint, cells: bigint[][]}} shares
   */
  show(shares) {
    if (shares !== this.#shares) {
      this.#shares = shares;
      this.#uniqueAt = -1;
      this.#unique = shares === null || shares.count <= 1n ? [] : this.#findUnique(shares.cells);
    }
    this.render();
  }

  /**
   * Tell which candidate the grid points to.
   *
   * @param {?{cell: number, digit: number}} pointed
   */
  point(pointed) {
    this.#pointed = pointed;
    this.render();
  }

  render() {
    const cell = this.#cell;
    const name = this.#puzzle.shape.name(cell);
    const digit = this.#puzzle.cells[cell];
    this.#title.textContent = `What each digit leaves in ${name}`;
    this.#list.setAttribute("aria-label", this.#title.textContent);
    const known = this.#shares !== null && digit === 0;
    this.#list.hidden = !known;
    this.#message.hidden = known;
    this.#offer.hidden = true;
    if (known) this.#renderRows(cell);
    else this.#explain(name, digit);
    const several = this.#unique.length;
    this.#uniqueLine.classList.toggle("gs-kept", several === 0);
    this.#uniqueText.textContent = several === 1
      ? "1 placement makes it unique"
      : `${group(BigInt(several))} placements make it unique`;
  }

  get #cell() {
    const { cells } = this.#puzzle.shape;
    return Math.min(this.#pointed?.cell ?? this.#grid.focused, cells - 1);
  }

  #renderRows(cell) {
    const { count, cells } = this.#shares;
    this.#rows.forEach(({ button, number, part }, index) => {
      const share = cells[cell][index];
      const isPointed = this.#pointed?.digit === index + 1;
      button.style.setProperty("--part", fractionOf(share, count));
      button.classList.toggle("gs-leaf-none", share === 0n);
      button.classList.toggle("gs-pointed", isPointed);
      const makesUnique = share === 1n && count > 1n;
      number.textContent = share === 0n ? "none" : sizeOf(share);
      part.textContent = makesUnique ? "makes it unique" : percent(share, count);
      button.classList.toggle("gs-makes-unique", makesUnique);
      const leaves = share === 0n ? "no solution" : inWords(share) || group(share);
      const rest = makesUnique ? "makes it unique" : `${part.textContent}`;
      button.setAttribute("aria-label", `Place ${symbol(index + 1)}: leaves ${leaves}, ${rest}`);
      if (isPointed) scrollWithin(this.#list, button);
    });
  }

  #explain(name, digit) {
    const { state, count, shares } = this.#counting.known;
    let text = "";
    let offer = "";
    if (digit > 0) text = `${name} holds ${symbol(digit)}.`;
    else if (state === "done" && count === 0n) text = "The board has no solution.";
    else if (state !== "done") text = state === "working" ? "" : "This needs the count.";
    else if (shares.state === "expensive") {
      const price = shares.error.seconds;
      text = price === null
        ? sentence(shares.error.message)
        : `The shares should take about ${duration(price)}.`;
      offer = "Work them out anyway";
    } else if (shares.state === "offered" || shares.state === "cancelled") {
      text = "The shares may take longer than the count.";
      offer = "Work them out";
    }
    this.#message.textContent = text;
    this.#offer.hidden = offer === "";
    this.#offer.textContent = offer;
  }

  #findUnique(cells) {
    const found = [];
    cells.forEach((row, cell) => {
      if (this.#puzzle.cells[cell] !== 0) return;
      row.forEach((share, index) => share === 1n && found.push({ cell, digit: index + 1 }));
    });
    return found;
  }

  #showNextUnique() {
    this.#uniqueAt = (this.#uniqueAt + 1) % this.#unique.length;
    const next = this.#unique[this.#uniqueAt];
    this.#grid.focusCell(next.cell);
    this.point(next);
  }

  #place(event) {
    const button = event.target.closest("button");
    if (button === null) return;
    const cell = this.#cell;
    this.#puzzle.set(cell, Number(button.dataset.digit));
    // The list goes with the empty cell, and with it whatever had the focus.
    this.#grid.focusCell(cell);
  }
}

/** All digits where they fit into a row. */
function sizeOf(number) {
  return String(number).length <= 22 ? group(number) : inWords(number);
}
