// Boards as text, in and out: paste, copy, and a text area where the clipboard is closed.

import { digitOf, shapeOf } from "./geometry.js";
import { make, sentence } from "./making.js";
import { Puzzle } from "./puzzle.js";

export const NO_BOARD_IN_LINK = "This link contains no board.";
const IS_LINK = /^(?:https?:\/\/\S*|\S*#\d+x\d+\/\S*)$/i;
const NO_SIGN = /^[^\d.*_?|-]*$/;
const TEXT = "textarea, [contenteditable], " +
  "input:not([type=range], [type=checkbox], [type=radio], [type=button])";

/**
 * Reads and gives text. Hooks: the form `gs-exchange` (hidden at first), in it a textarea and
 * buttons with data-action "read" and "close".
 */
export class Exchange {
  #stop = new AbortController();
  #latest = 0;
  #back = null;

  /**
   * @param {HTMLElement} element The parent of the form.
   * @param {object} parts
   * @param {EventTarget} parts.clipboard Where Ctrl+V and Ctrl+C are heard.
   * @param {Puzzle} parts.puzzle
   * @param {import("./grid.js").Grid} parts.grid
   * @param {(kind: string, question: object) => Promise<object>} parts.ask
   */
  constructor(element, { clipboard, puzzle, grid, ask }) {
    Object.assign(this, { puzzle, grid, ask });
    this.#build();
    element.append(this.form);
    const { signal } = this.#stop;
    this.form.addEventListener("submit", (event) => this.#submit(event), { signal });
    this.form.addEventListener("keydown", (event) => this.#key(event), { signal });
    clipboard.addEventListener("paste", (event) => this.#pasted(event), { signal });
    clipboard.addEventListener("copy", (event) => this.#copied(event), { signal });
  }

  /** Show the form for a text, with the text of the clipboard if it may be read. */
  async paste() {
    this.#open("Paste or type a board, in any form:", "");
    let text = "";
    try {
      text = await navigator.clipboard.readText();
    } catch {
      return;
    }
    // A browser may ask for a permission, and meanwhile the form is closed or written in.
    if (this.form.hidden || this.area.readOnly || this.area.value !== "") return;
    this.area.value = text;
    this.area.select();
  }

  /** Copy the board to the clipboard. */
  copyBoard() {
    return this.copy(this.puzzle.portable(), "The board");
  }

  /** Copy text to the clipboard; show it if that is not allowed. */
  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.grid.say(`${what} is copied.`);
    } catch {
      this.#open("Copy this:", text);
    }
  }

  /**
   * Read a board from text and put it on the grid, all of it clues; a link tells its edits, too. A
   * single digit goes into the cell that is selected.
   *
   * @returns {Promise<?string>} What is wrong with the text, "" if nothing is; null if a newer
   *   text is read instead.
   */
  async read(text) {
    const mine = ++this.#latest;
    try {
      const read = await this.#read(text.trim(), text);
      if (mine !== this.#latest) return null;
      this.grid.say(""); // what was said of another text is over, though this changes nothing
      if (read instanceof Puzzle) this.puzzle.load(read);
      else this.grid.enter(read);
      return "";
    } catch (error) {
      return mine === this.#latest ? sentence(withoutFields(error.message)) : null;
    }
  }

  destroy() {
    this.#stop.abort();
    this.form.remove();
  }

  /** The board that a text holds, or the digit. */
  async #read(bare, text) {
    if (bare === "") throw new Error("There is no text to read a board from.");
    if (/^[\da-z.]$/i.test(bare)) return digitOf(bare);
    if (IS_LINK.test(bare)) {
      const linked = Puzzle.fromLink(bare.slice(bare.indexOf("#")));
      if (linked === null) throw new Error(NO_BOARD_IN_LINK);
      return linked;
    }
    if (NO_SIGN.test(bare)) throw new Error("This text contains no board.");
    const near = String(this.puzzle.shape);
    const { box, cells } = await this.ask("read", { board: text, near });
    if (shapeOf(box) === null) throw new Error("This page shows boards up to 25x25 only.");
    return new Puzzle(shapeOf(box), { cells, mode: this.puzzle.mode });
  }

  async #pasted(event) {
    if (isText(event.target)) return;
    event.preventDefault();
    const wrong = await this.read(event.clipboardData.getData("text/plain"));
    if (wrong) this.grid.say(wrong, "error");
  }

  #copied(event) {
    if (isText(event.target) || !getSelection().isCollapsed) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", this.puzzle.portable());
    this.grid.say("The board is copied.");
  }

  async #submit(event) {
    event.preventDefault();
    const wrong = await this.read(this.area.value);
    if (wrong === null) return;
    this.error.textContent = wrong;
    if (wrong !== "") return;
    this.form.hidden = true;
    this.grid.focusCell(this.grid.focused);
  }

  #key(event) {
    if (event.key === "Escape") this.#close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    else return;
    event.preventDefault();
  }

  #open(label, text) {
    this.#back = this.form.getRootNode().activeElement;
    this.label.textContent = label;
    this.area.value = text;
    this.area.readOnly = text !== "";
    this.button.hidden = text !== "";
    this.error.textContent = "";
    this.form.hidden = false;
    this.area.focus();
    this.area.select();
  }

  #close() {
    this.form.hidden = true;
    this.#back?.focus();
  }

  #build() {
    this.form = document.createElement("form");
    this.form.className = "gs-exchange";
    this.form.hidden = true;
    this.label = document.createElement("span");
    this.area = document.createElement("textarea");
    this.area.rows = 4;
    this.area.spellcheck = false;
    this.area.autocomplete = "off";
    const labelled = document.createElement("label");
    labelled.append(this.label, this.area);
    this.button = buttonOf("submit", "read", "Use this board", "Read the board (Ctrl+Enter)");
    const close = buttonOf("button", "close", "Close", "Close (Escape)");
    close.addEventListener("click", () => this.#close(), { signal: this.#stop.signal });
    this.error = make("p", { class: "gs-exchange-error", role: "alert" });
    this.form.append(labelled, this.button, close, this.error);
  }
}

/** Whether an element is one to write text in. */
export function isText(target) {
  return target.closest?.(TEXT) != null;
}

/** Reword a message that asks for the field "box", which users of the page cannot give. */
function withoutFields(message) {
  const said = message.replace(/^board[,:] /, "");
  const [advice, latin] = /(?:: |, or )give [^:]*"box"(?:: "(1x\d+)")?.*$/.exec(said) ?? [];
  if (advice === undefined) return said;
  const what = said.slice(0, -advice.length);
  if (latin === undefined) return `${what}. Choose the size of the board first`;
  return `${what}. Write a Latin square as {"board": "…", "box": "${latin}"}`;
}

function buttonOf(type, action, text, title) {
  const button = document.createElement("button");
  Object.assign(button, { type, title, textContent: text });
  button.dataset.action = action;
  return button;
}
