// The dialog that explains keys and colours.

import { make, makeButton } from "./making.js";

const HELP_LINES = [
  ["Move", "Arrow keys; Home and End within the row; Page Up and Page Down by a box."],
  ["Write", "1 to 9. On larger boards the letter A is 10, B is 11, and so on."],
  ["Erase", "Backspace, Delete, 0, a full stop or a comma."],
  ["Undo, redo", "Ctrl+Z and Ctrl+Y."],
  ["Candidates", "Space shows them, Shift with the left and right arrow walks through those of a " +
    "cell, Enter or a double click writes one."],
  ["Shading", "The stronger it is, the more of the solutions have this digit here."],
  ["Struck out, bold", "In none of the solutions; in all of them."],
  ["Ochre ring", "In one solution only: this digit makes the board unique."],
  ["Set clues", "What you type is a clue, part of the puzzle."],
  ["Solve", "What you type is an edit, in blue; clues cannot be changed. Count and shares are " +
    "hidden until you press Shares."],
  ["Text", "Ctrl+V pastes a board in any usual form, Ctrl+C copies it."],
];
const LINK_LINE = ["Link", "It contains the board with its clues and edits. It opens only where " +
  "gpusudoku serve runs at the same address. To other people, send the text."];

/** A dialog that Escape closes. The focus then returns to its previous place. */
export class Help {
  #heading;

  /**
   * @param {HTMLElement} element The parent of the dialog.
   * @param {boolean} hasLink Whether the page has a link that holds the board.
   */
  constructor(element, hasLink) {
    const lines = hasLink ? [...HELP_LINES, LINK_LINE] : HELP_LINES;
    const close = makeButton("close-help", "Close", () => this.element.close());
    this.#heading = make("h2", { tabindex: "-1" }, "Keys, and what you see");
    this.element = make("dialog", { class: "gs-help", "aria-label": "Help" },
      this.#heading,
      make("dl", {}, ...lines.flatMap(([term, text]) => [make("dt", {}, term),
        make("dd", {}, text)])),
      close);
    // What is typed here is not meant for the board.
    for (const type of ["keydown", "paste"]) {
      this.element.addEventListener(type, (event) => event.stopPropagation());
    }
    element.append(this.element);
  }

  open() {
    this.element.showModal();
    // With the focus on the button at its end, a low window would show only that.
    this.#heading.focus();
    this.element.scrollTop = 0;
  }

  destroy() {
    this.element.remove();
  }
}
