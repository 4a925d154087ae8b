// The count in one line below the board, for where the panel is further down.

import { make, setText } from "./making.js";

/** Hooks: `data-part=line`, `data-kind` as the badge. The panel tells it to screen readers. */
export class CountLine {
  #number = make("b");
  #rest = make("span");
  element = make("div", { class: "gs-line", "data-part": "line", "aria-hidden": "true" },
    this.#number, this.#rest);

  /**
   * @param {string} kind none, unique, several or unknown
   * @param {string} number
   * @param {string} rest The text behind the number.
   */
  show(kind, number, rest) {
    this.element.dataset.kind = kind;
    setText(this.#number, number);
    setText(this.#rest, number !== "" && rest !== "" ? ` ${rest}` : rest);
  }
}
