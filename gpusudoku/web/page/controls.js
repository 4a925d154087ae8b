// The toolbar above the grid, and the keypad below it.

import { Exchange, isText } from "./exchange.js";
import { SHAPES, shapeOf } from "./geometry.js";
import { Help } from "./help.js";
import { icon } from "./icons.js";
import { Keypad } from "./keypad.js";
import { historyOf } from "./keys.js";
import { make } from "./making.js";
import { group, inWords } from "./numbers.js";
import { pictureOf, save } from "./picture.js";
import { Puzzle, cellsOf } from "./puzzle.js";

/**
 * Buttons and menus for a board.
 *
 * Hooks: `gs-controls`, in it buttons with data-action "undo", "redo", "new", "clear-edits",
 * "setting", "solving", "candidates", "shares", "paste", "copy", "link", "picture", "print" and "help",
 * and menus with data-action "size" (values such as "3x3") and "example" (values are names).
 */
export class Controls {
  #stop = new AbortController();
  #actions = {};

  /**
   * @param {HTMLElement} element Holds the grid; the toolbar goes above it, the keypad below.
   * @param {object} parts
   * @param {Puzzle} parts.puzzle
   * @param {import("./grid.js").Grid} parts.grid
   * @param {(kind: string, question: object) => Promise<object>} parts.ask
   * @param {{boards?: {name: string, note: string, box: string, board: string}[]}} parts.about
   * @param {((puzzle: Puzzle) => string)|null} parts.link
   * @param {?EventTarget} parts.scope Where keys, paste and copy are heard; null: here alone.
   */
  constructor(element, { puzzle, grid, ask, about, link, scope }) {
    Object.assign(this, { puzzle, grid, link });
    const root = element.closest(".gs-app") ?? element;
    // A click between the controls keeps the focus here, not in the page around.
    root.tabIndex = -1;
    root.dataset.lmSuppressShortcuts = "true"; // JupyterLab takes no keys from here then.
    this.scope = scope ?? root;
    this.bar = make("div", { class: "gs-controls" });
    this.exchange = new Exchange(this.bar, { clipboard: this.scope, puzzle, grid, ask });
    this.help = new Help(this.bar, link !== null);
    this.#fill(about.boards ?? []);
    element.prepend(this.bar);
    this.keypad = new Keypad(element, { puzzle, grid });
    this.#listen();
    this.#refresh();
  }

  destroy() {
    this.#stop.abort();
    this.keypad.destroy();
    this.exchange.destroy();
    this.help.destroy();
    this.bar.remove();
  }

  #fill(boards) {
    const { puzzle, grid, exchange } = this;
    this.size = this.#menu("size", "Size of the board, with rows and columns of its boxes");
    for (const shape of SHAPES) this.size.append(optionOf(String(shape), shortName(shape)));
    this.example = this.#menu("example", "Example boards");
    this.boards = fillExamples(this.example, boards);
    const mode = [
      this.#button("setting", "Set clues", "Digits that you type are clues", () =>
        puzzle.setMode("setting")),
      this.#button("solving", "Solve", "Digits that you type are edits; clues stay", () =>
        puzzle.setMode("solving")),
    ];
    const history = [
      this.#button("undo", icon("undo"), "Undo (Ctrl+Z)", () => puzzle.undo()),
      this.#button("redo", icon("redo"), "Redo (Ctrl+Y)", () => puzzle.redo()),
    ];
    const erase = [
      this.#button("new", "New", "Empty the board to set clues; undo brings it back", () => {
        this.#empty(puzzle.shape);
        this.#focusBoard();
      }),
      this.#button("clear-edits", "Clear edits", "Erase all but the clues", () =>
        puzzle.clearEdits()),
    ];
    const looks = [
      this.#button("candidates", "Candidates", "Candidates by the rules (Space in the grid)", () =>
        grid.showCandidates(!grid.showsCandidates)),
      this.#button("shares", "Shares", "Shade candidates by their share of the solutions", () =>
        grid.revealShares(!grid.showsShares)),
    ];
    const give = [
      this.#button("paste", icon("paste"), "Paste a board (Ctrl+V)", () => exchange.paste()),
      this.#button("copy", icon("copy"), "Copy the board as text (Ctrl+C)", () =>
        exchange.copyBoard()),
      ...this.#outward(),
    ];
    const help = this.#button("help", "?", "Help", () => this.help.open());
    help.setAttribute("aria-label", "Help");
    help.classList.add("gs-round");
    this.bar.prepend(
      groupOf("Board", [this.size, this.example], "gs-menus"),
      groupOf("What typed digits are", mode, "gs-joined"),
      groupOf("History", history),
      groupOf("Erase", erase),
      groupOf("Small digits", looks),
      groupOf("Share", [...give, help]),
    );
  }

  /** What only a page with an address of its own has: in a notebook, print prints the notebook. */
  #outward() {
    const { puzzle, grid, exchange, link } = this;
    const drawn = () => pictureOf(puzzle, grid.solution);
    const name = () => `sudoku-${puzzle.shape.n}x${puzzle.shape.n}.svg`;
    const picture = this.#button("picture", icon("picture"), "Save a picture (SVG)", () =>
      save(drawn(), name(), "image/svg+xml"));
    if (link === null) return [picture];
    return [
      this.#button("link", icon("link"), "Copy a link that contains the board", () =>
        exchange.copy(link(puzzle), "The link")),
      picture,
      this.#button("print", icon("print"), "Print the board (Ctrl+P)", () => print()),
    ];
  }

  #listen() {
    const { puzzle, grid } = this;
    const { signal } = this.#stop;
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal });
    on(this.bar, "click", (event) => {
      const button = event.target.closest("button[data-action]");
      if (button) this.#actions[button.dataset.action]?.();
    });
    on(this.size, "change", () => {
      this.#empty(shapeOf(this.size.value));
      this.#focusBoardFrom(this.size);
    });
    on(this.example, "change", () => {
      this.#loadExample();
      this.#focusBoardFrom(this.example);
    });
    for (const menu of [this.size, this.example]) {
      on(menu, "pointerdown", () => delete menu.dataset.walking);
      on(menu, "keydown", ({ key, altKey }) => {
        if (["Enter", " "].includes(key) || altKey) delete menu.dataset.walking;
        else menu.dataset.walking = true;
      });
    }
    on(this.scope, "keydown", (event) => this.#key(event));
    for (const type of ["change", "mode"]) on(puzzle, type, () => this.#refresh());
    on(grid, "shown", () => this.#refresh());
  }

  /** Take a key that neither the focused element nor the grid has used. */
  #key(event) {
    const { target, defaultPrevented } = event;
    if (defaultPrevented || isText(target) || this.help.element.open) return;
    const step = historyOf(event);
    if (step !== null) this.puzzle[step]();
    else if (target.matches?.("select") || !this.grid.takeKey(event)) return;
    event.preventDefault();
  }

  /** Empty the board, and show how to undo that. */
  #empty(shape) {
    const erased = this.puzzle.cells.some(Boolean);
    this.puzzle.reshape(shape);
    if (erased) this.grid.say("Erased; Undo (Ctrl+Z) brings it back.");
  }

  #focusBoard() {
    this.grid.focusCell(this.grid.focused);
  }

  /** Focus the board, unless the user is changing a closed menu with keys. */
  #focusBoardFrom(menu) {
    if (!menu.dataset.walking) this.#focusBoard();
  }

  #loadExample() {
    const board = this.boards.get(this.example.value);
    this.example.selectedIndex = 0;
    this.puzzle.load(new Puzzle(board.shape, { cells: board.cells, mode: this.puzzle.mode }));
    this.grid.say(`${board.name}: ${board.note}`);
  }

  #refresh() {
    const { puzzle, grid } = this;
    const shape = String(puzzle.shape);
    if (![...this.size.options].some((option) => option.value === shape)) {
      this.size.append(optionOf(shape, shortName(puzzle.shape)));
    }
    this.size.value = shape;
    this.#able("undo", puzzle.canUndo);
    this.#able("redo", puzzle.canRedo);
    this.#able("new", puzzle.cells.some(Boolean) || puzzle.mode === "solving");
    this.#able("clear-edits", puzzle.cells.some((digit, cell) => digit && !puzzle.clues[cell]));
    this.#press("setting", puzzle.mode === "setting");
    this.#press("solving", puzzle.mode === "solving");
    this.#press("candidates", grid.showsCandidates);
    this.#press("shares", grid.showsShares);
  }

  #able(action, on) {
    const button = this.#find(action);
    // A button that is disabled loses the focus, so the grid takes it.
    const held = button === button.getRootNode().activeElement;
    button.disabled = !on;
    if (held && !on) this.#focusBoard();
  }

  #press(action, on) {
    this.#find(action).setAttribute("aria-pressed", on);
  }

  #find(action) {
    return this.bar.querySelector(`[data-action="${action}"]`);
  }

  #button(action, content, title, act) {
    const button = make("button",
      { type: "button", class: "gs-button", "data-action": action, title }, content);
    if (typeof content !== "string") button.setAttribute("aria-label", title.split(" (")[0]);
    this.#actions[action] = act;
    return button;
  }

  #menu(action, label) {
    return make("select",
      { class: "gs-menu", "data-action": action, title: label, "aria-label": label });
  }
}

/** Fill the menu with the examples that fit the page; return them by name. */
function fillExamples(menu, boards) {
  const known = new Map();
  const groups = new Map();
  menu.append(optionOf("", "Examples"));
  for (const { name, note, count, box, board } of boards) {
    const shape = shapeOf(box);
    const cells = shape && cellsOf(board, shape);
    if (!cells) continue;
    known.set(name, { name, note, shape, cells });
    if (!groups.has(shape)) groups.set(shape, make("optgroup", { label: sizeName(shape) }));
    groups.get(shape).append(optionOf(name, exampleName(name, cells, BigInt(count))));
  }
  menu.append(...groups.values());
  menu.hidden = known.size === 0;
  return known;
}

/** @returns {string} "1b: 22 clues, 4,715 solutions" */
function exampleName(name, cells, count) {
  const clues = BigInt(cells.filter(Boolean).length);
  const several = (number, noun) =>
    `${number === 0n ? "no" : inWords(number) || group(number)} ${noun}${number === 1n ? "" : "s"}`;
  return `${name}: ${several(clues, "clue")}, ${several(count, "solution")}`;
}

/** @returns {string} "6x6, boxes 2x3": as much as the menu has room for. */
function shortName({ n, boxRows, boxColumns }) {
  return boxRows === boxColumns ? `${n}x${n}` : `${n}x${n}, boxes ${boxRows}x${boxColumns}`;
}

function sizeName({ n, boxRows, boxColumns }) {
  const name = `${n}x${n}`;
  if (boxRows === boxColumns) return name;
  const sides = [[boxRows, "row"], [boxColumns, "column"]];
  const [rows, columns] = sides.map(([side, noun]) => `${side} ${noun}${side === 1 ? "" : "s"}`);
  return `${name}, boxes of ${rows} by ${columns}`;
}

function optionOf(value, text) {
  return make("option", { value }, text);
}

function groupOf(label, children, name = "") {
  const attributes = { class: `gs-group ${name}`.trim(), role: "group", "aria-label": label };
  return make("div", attributes, ...children);
}
