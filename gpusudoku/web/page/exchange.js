// Boards as text, in and out: paste, copy, and a text area where the clipboard is closed.

import { shapeOf } from "./geometry.js";
import { make, sentence } from "./making.js";
import { Puzzle } from "./puzzle.js";

/**
 * Reads and gives text. Hooks: the form `gs-exchange` (hidden at first), in it a textarea and
 * buttons with data-action "read" and "close".
 */
export class Exchange {
  #stop = new AbortController();
  #latest = 0;
  #back = null;

  /**
   * @param {HTMLElement} element Is given the form.
   * @param {object} parts
   * @param {HTMLElement} parts.root Where Ctrl+V and Ctrl+C are heard.
   * @param {Puzzle} parts.puzzle
   * @param {import("./grid.js").Grid} parts.grid
   * @param {(kind: string, question: object) => Promise<object>} parts.ask
   */
  constructor(element, { root, puzzle, grid, ask }) {
    Object.assign(this, { puzzle, grid, ask });
    this.#build();
    element.append(this.form);
    const { signal } = this.#stop;
    this.form.addEventListener("submit", (event) => this.#submit(event), { signal });
    this.form.addEventListener("keydown", (event) => this.#key(event), { signal });
    root.addEventListener("paste", (event) => this.#pasted(event), { signal });
    root.addEventListener("copy", (event) => this.#copied(event), { signal });
  }

  /** Ask for a text; what the clipboard holds stands there already, if it may be read. */
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

  /** Copy text to the clipboard; where that is closed, show it. */
  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.grid.say(`${what} is copied.`);
    } catch {
      this.#open("Copy this:", text);
    }
  }

  /**
   * Read a board from text and put it on the grid, all of it clues.
   *
   * @returns {Promise<?string>} What is wrong with the text, "" if nothing is; null if a newer
   *   text is read instead.
   */
  async read(text) {
    const mine = ++this.#latest;
    try {
      if (text.trim() === "") throw new Error("There is no text to read a board from.");
      const answer = await this.#answer(text);
      const shape = shapeOf(answer.box);
      if (shape === null) throw new Error("This page shows boards up to 25x25 only.");
      if (mine !== this.#latest) return null;
      this.puzzle.load(new Puzzle(shape, { cells: answer.cells, mode: this.puzzle.mode }));
      return "";
    } catch (error) {
      return mine === this.#latest ? sentence(error.message.replace(/^board[,:] /, "")) : null;
    }
  }

  destroy() {
    this.#stop.abort();
    this.form.remove();
  }

  /** Some texts fit more than one shape: then that of the board on the grid is meant. */
  async #answer(text) {
    const answer = await this.ask("read", { board: text });
    const { shape } = this.puzzle;
    if (answer.cells.length !== shape.cells || answer.box === String(shape)) return answer;
    return this.ask("read", { board: text, box: String(shape) }).catch(() => answer);
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
    event.clipboardData.setData("text/plain", this.puzzle.text());
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
  return target.closest("input, textarea, [contenteditable]") !== null;
}

function buttonOf(type, action, text, title) {
  const button = document.createElement("button");
  Object.assign(button, { type, title, textContent: text });
  button.dataset.action = action;
  return button;
}
