// What each digit would leave in one cell: a list with exact numbers, bars and buttons.

import { symbol } from "./geometry.js";
import {
  make, makeButton, makeCard, moveByArrows, scrollWithin, sentence, setText,
} from "./making.js";
import { fractionOf, group, inWords, percents, price } from "./numbers.js";

/** Shows the shares of the cell that has the focus, or that the pointer is in. */
export class Leaves {
  #puzzle;
  #grid;
  #counting;
  #shares = null;
  #pointed = null;
  #best = { least: 0n, places: [] };
  #bestAt = -1;
  #rows = [];
  #title;
  #list = make("ul", { class: "gs-leaves-list", "data-part": "leaves-list" });
  #message = make("p", { class: "gs-quiet", "data-part": "leaves-message" });
  #offer;
  #erase = makeButton("erase", "Erase", () => this.#place(0));
  #next = makeButton("next-unique", "", () => this.#showNext());
  #uniqueText = make("span", { "data-part": "unique-placements" });
  #uniqueLine;

  constructor({ puzzle, grid, counting }) {
    this.#puzzle = puzzle;
    this.#grid = grid;
    this.#counting = counting;
    this.#offer = makeButton("shares", "Work out the shares", () => counting.share());
    this.#uniqueLine = make("div", { class: "gs-unique-line" }, this.#uniqueText, this.#next);
    const body = make("div", { class: "gs-leaves-body gs-old" }, this.#list,
      make("div", { class: "gs-leaves-said" }, this.#message, this.#erase), this.#offer);
    this.element = makeCard("leaves", "What each digit leaves", body, this.#uniqueLine);
    this.#title = this.element.querySelector("h2");
    moveByArrows(this.#list);
    this.#list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button !== null) this.#place(Number(button.dataset.digit));
    });
    this.reshape();
  }

  /** Make new rows for a board of another shape. */
  reshape() {
    const { n } = this.#puzzle.shape;
    this.element.style.setProperty("--rows", Math.min(n, 9));
    this.#shares = null;
    this.#best = { least: 0n, places: [] };
    this.#rows = Array.from({ length: n }, (_, index) => {
      const parts = {
        number: make("span", { class: "gs-leaf-number" }),
        part: make("span", { class: "gs-leaf-part" }),
      };
      const digit = make("span", { class: "gs-leaf-digit" }, symbol(index + 1));
      const button = make("button", { type: "button", class: "gs-leaf", "data-digit": index + 1 },
        digit, " ", parts.number, " ", parts.part);
      button.tabIndex = index === 0 ? 0 : -1;
      return { ...parts, button };
    });
    this.#list.replaceChildren(...this.#rows.map(({ button }) => make("li", {}, button)));
    this.render();
  }

  /**
   * Show other shares.
   *
   * @param {?{count: bigint, cells: bigint[][]}} shares
   */
  show(shares) {
    if (shares !== this.#shares) {
      this.#shares = shares;
      this.#bestAt = -1;
      this.#best = this.#findBest();
    }
    this.render();
  }

  /**
   * Set the candidate to which the grid points.
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
    const title = `What each digit leaves in ${name}`;
    setText(this.#title, title);
    this.#list.setAttribute("aria-label", title);
    const known = this.#shares !== null && digit === 0;
    this.#list.hidden = !known;
    this.#message.hidden = known;
    this.#offer.hidden = true;
    this.#erase.hidden = digit === 0 || this.#isFixed(cell);
    if (known) this.#renderRows(cell);
    else this.#explain(name, digit);
    const best = this.#bestText();
    this.#uniqueLine.classList.toggle("gs-kept", best === "");
    setText(this.#uniqueText, best);
    setText(this.#next, this.#best.places.length > 1 ? "Show next" : "Show it");
  }

  #bestText() {
    const { least, places } = this.#best;
    if (places.length === 0) return "";
    if (least > 1n) {
      const [{ cell, digit }] = places;
      const where = `${symbol(digit)} in ${this.#puzzle.shape.name(cell)}`;
      return "No single digit makes it unique; the fewest solutions are left by " +
        `${where}: ${sizeOf(least)}.`;
    }
    if (places.length === 1) return "1 placement makes it unique";
    return `${group(BigInt(places.length))} placements make it unique`;
  }

  /** Whether a digit cannot be erased: clues stay while one solves. */
  #isFixed(cell) {
    return this.#puzzle.mode === "solving" && this.#puzzle.clues[cell] === 1;
  }

  get #cell() {
    const { cells } = this.#puzzle.shape;
    return Math.min(this.#pointed?.cell ?? this.#grid.focused, cells - 1);
  }

  #renderRows(cell) {
    const { count, cells } = this.#shares;
    // Of what stands as a percentage only; one solution alone is told in words.
    const told = cells[cell].map((share) => (share === 1n && count > 1n ? 0n : share));
    const parts = percents(told, count);
    this.#rows.forEach(({ button, number, part }, index) => {
      const share = cells[cell][index];
      const isPointed = this.#pointed?.digit === index + 1;
      button.style.setProperty("--part", fractionOf(share, count));
      button.classList.toggle("gs-leaf-none", share === 0n);
      button.classList.toggle("gs-pointed", isPointed);
      const makesUnique = share === 1n && count > 1n;
      setText(number, share === 0n ? "none" : sizeOf(share));
      setText(part, makesUnique ? "makes it unique" : parts[index]);
      button.classList.toggle("gs-makes-unique", makesUnique);
      if (isPointed) scrollWithin(this.#list, button);
    });
  }

  #explain(name, digit) {
    const { state, count, shares } = this.#counting.known;
    let text = "";
    let offer = "";
    if (digit > 0) text = `${name} contains ${symbol(digit)}.`;
    else if (this.#grid.hidesCounts) text = "Hidden while you solve; \u201cShares\u201d shows it.";
    else if (state === "done" && count === 0n) text = "The board has no solution.";
    else if (state !== "done") text = state === "working" ? "" : "This needs the count.";
    else if (shares.state === "expensive") {
      const { seconds, message, final } = shares.error;
      text = seconds === null ? sentence(message) : `The shares should take ${price(seconds)}.`;
      offer = final ? "" : "Work them out anyway";
    } else if (shares.state === "offered" || shares.state === "cancelled") {
      text = "The shares may take longer than the count.";
      offer = "Work them out";
    }
    setText(this.#message, text);
    this.#offer.hidden = offer === "";
    setText(this.#offer, offer);
  }

  /** Digits that leave one solution; if there are none, the first of those that leave fewest. */
  #findBest() {
    let least = this.#shares?.count ?? 0n;
    let places = [];
    if (least <= 1n) return { least, places };
    this.#shares.cells.forEach((row, cell) => {
      if (this.#puzzle.cells[cell] !== 0) return;
      row.forEach((share, index) => {
        if (share === 0n || share > least) return;
        if (share < least) places = [];
        least = share;
        if (share === 1n || places.length === 0) places.push({ cell, digit: index + 1 });
      });
    });
    return { least, places };
  }

  #showNext() {
    const { places } = this.#best;
    this.#bestAt = (this.#bestAt + 1) % places.length;
    const next = places[this.#bestAt];
    this.#grid.focusCell(next.cell);
    this.point(next);
  }

  /** Write a digit into the cell, or erase its digit with 0. */
  #place(digit) {
    const cell = this.#cell;
    this.#puzzle.set(cell, digit);
    // The list, or the button, goes with what it is for, and with it whatever had the focus.
    this.#grid.focusCell(cell);
  }
}

/** All digits where they fit into a row. */
function sizeOf(number) {
  return String(number).length <= 22 ? group(number) : inWords(number);
}
