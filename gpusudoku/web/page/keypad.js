// Digits to touch, where there is no keyboard.

import { symbol } from "./geometry.js";

/** Hooks: `gs-keypad`, in it `gs-key` with data-action "digit" and data-digit, 0 for erase. */
export class Keypad {
  #stop = new AbortController();

  /**
   * @param {HTMLElement} element
   * @param {{puzzle: import("./puzzle.js").Puzzle, grid: import("./grid.js").Grid}} parts
   */
  constructor(element, { puzzle, grid }) {
    this.puzzle = puzzle;
    this.element = document.createElement("div");
    this.element.className = "gs-keypad";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Digits");
    element.append(this.element);
    const { signal } = this.#stop;
    const on = (type, listener) => this.element.addEventListener(type, listener, { signal });
    // The grid keeps the focus, so that keys continue in the cell of the last tap.
    on("pointerdown", (event) => event.preventDefault());
    on("mousedown", (event) => event.preventDefault());
    on("click", (event) => {
      const key = event.target.closest(".gs-key");
      if (key) grid.enter(Number(key.dataset.digit));
    });
    puzzle.addEventListener("change", (event) => this.#changed(event.detail), { signal });
    this.#build();
  }

  destroy() {
    this.#stop.abort();
    this.element.remove();
  }

  #changed({ reshaped }) {
    if (reshaped) this.#build();
    else this.#dim();
  }

  #build() {
    const { n } = this.puzzle.shape;
    this.keys = Array.from({ length: n }, (_, index) => keyOf(index + 1, symbol(index + 1)));
    this.element.replaceChildren(...this.keys, keyOf(0, "Erase"));
    this.#dim();
  }

  /** Digits that stand as often as they can are dim. */
  #dim() {
    const { n } = this.puzzle.shape;
    const times = new Uint16Array(n + 1);
    for (const digit of this.puzzle.cells) times[digit]++;
    this.keys.forEach((key, index) => key.classList.toggle("gs-done", times[index + 1] >= n));
  }
}

function keyOf(digit, text) {
  const key = document.createElement("button");
  key.type = "button";
  key.className = "gs-key";
  key.dataset.action = "digit";
  key.dataset.digit = digit;
  key.textContent = text;
  key.title = digit ? `Write ${text} (key ${text})` : "Erase (Backspace)";
  return key;
}
