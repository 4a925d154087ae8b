// The component in a notebook: the kernel answers by messages, and keeps the board.

import { mount } from "./component.js";
import { AskError } from "./failing.js";
import { shapeOf } from "./geometry.js";
import { Puzzle, cellsOf } from "./puzzle.js";

const SILENCE = "the kernel does not answer: run the cell again";
const ELAPSED_EVERY = 400;
const KEYS = ["keydown", "keypress", "keyup"];
const ATTRIBUTES = { attributes: true };

export default { render };

/** Show a model in an element; called once for each place where it is shown. */
function render({ model, el }) {
  const root = document.createElement("div");
  root.style.width = "100%";
  // JupyterLab looks for it before it takes a key for a shortcut.
  root.dataset.lmSuppressShortcuts = "true";
  for (const type of KEYS) root.addEventListener(type, keepKey);
  root.addEventListener("focusin", bringSelection);
  el.append(root);
  const themed = followTheme(root, el);
  const kernel = new Kernel(model);
  const shared = new SharedPuzzle(model);
  const ask = (kind, question, options) => kernel.ask(kind, question, options);
  const shown = mount(root, { ask, puzzle: shared.puzzle, about: model.get("_about") });
  return () => {
    shown.destroy();
    shared.destroy();
    kernel.destroy();
    themed.disconnect();
    el.classList.remove("gs-dark");
    root.remove();
  };
}

/** Asks the kernel. */
class Kernel {
  #model;
  #asked = new Map();
  #take = (message) => this.#receive(message);

  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#take);
  }

  /** As `ask` of asking.js. Before the kernel says anything, it is busy with something else. */
  ask(kind, question, { progress = () => {}, signal } = {}) {
    // Other browsers may show the same widget, and the kernel sends its messages to all of them.
    const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
    const start = performance.now();
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const asked = { resolve, reject, facts: { waiting: true } };
      asked.tell = () => progress({ elapsed: (performance.now() - start) / 1000, ...asked.facts });
      asked.timer = setInterval(asked.tell, ELAPSED_EVERY);
      this.#asked.set(id, asked);
      signal?.addEventListener("abort", () => this.#giveUp(id, signal.reason), { once: true });
      if (!this.#send({ id, kind, question })) {
        this.#end(id).reject(new AskError(SILENCE, { kind: "offline" }));
      }
    });
  }

  destroy() {
    this.#model.off("msg:custom", this.#take);
    const gone = new DOMException("the widget is not shown any more", "AbortError");
    for (const id of [...this.#asked.keys()]) this.#giveUp(id, gone);
  }

  #receive({ id, event, data }) {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    if (event === "progress") {
      asked.facts = data;
      asked.tell();
    }
    if (event === "result") this.#end(id).resolve(data);
    if (event === "error") this.#end(id).reject(AskError.of(data));
  }

  #giveUp(id, reason) {
    const asked = this.#end(id);
    if (asked === undefined) return;
    this.#send({ id, cancel: true });
    asked.reject(reason);
  }

  #end(id) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    clearInterval(asked?.timer);
    return asked;
  }

  #send(message) {
    try {
      this.#model.send(message);
      return true;
    } catch {
      return false; // the kernel has been restarted, or has ended
    }
  }
}

/** The puzzle of one place that keeps in step with the model, and so with all other places. */
class SharedPuzzle {
  #model;
  #due = false;
  #following = false;
  #follow = () => this.#followSoon();
  #publish = () => this.#write();

  constructor(model) {
    this.#model = model;
    this.puzzle = puzzleOf(model);
    for (const name of ["board", "_link"]) model.on(`change:${name}`, this.#follow);
    for (const type of ["change", "mode"]) this.puzzle.addEventListener(type, this.#publish);
  }

  destroy() {
    for (const name of ["board", "_link"]) this.#model.off(`change:${name}`, this.#follow);
    for (const type of ["change", "mode"]) this.puzzle.removeEventListener(type, this.#publish);
  }

  #write() {
    if (this.#following) return;
    const link = this.puzzle.link();
    const board = this.puzzle.text();
    const box = String(this.puzzle.shape);
    const old = this.#model.get("board");
    const sameBoard = old.board === board && old.box === box;
    if (sameBoard && this.#model.get("_link") === link) return;
    this.#model.set("_link", link);
    if (!sameBoard) this.#model.set("board", { board, box });
    this.#model.save_changes();
  }

  // Both traits may change, one after the other.
  #followSoon() {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      const now = puzzleOf(this.#model);
      if (now.link() === this.puzzle.link()) return;
      this.#following = true; // it becomes the other board in steps
      this.puzzle.load(now);
      this.#following = false;
    });
  }
}

/** What the model holds; digits that the kernel has changed are clues. */
function puzzleOf(model) {
  const { board, box } = model.get("board");
  const linked = Puzzle.fromLink(model.get("_link"));
  if (linked?.text() === board && String(linked.shape) === box) return linked;
  const shape = shapeOf(box);
  return new Puzzle(shape, { cells: cellsOf(board, shape) });
}

/** Let no key that the component uses reach the notebook, which would run or delete a cell. */
function keepKey(event) {
  const isCommand = event.ctrlKey || event.metaKey || event.altKey;
  if (event.defaultPrevented || !isCommand) event.stopPropagation();
}

/** Let what is pasted come here: a browser gives it to whoever has the caret, such as a cell. */
function bringSelection({ target }) {
  const hasOwn = target.matches("input, textarea");
  if (!hasOwn && !target.contains(getSelection().anchorNode)) getSelection().collapse(target, 0);
}

/** Be dark where the notebook is, whatever the browser prefers: its text is light there. */
function followTheme(root, el) {
  const adapt = () => {
    const dark = luminance(getComputedStyle(el).color) > 0.5;
    el.classList.toggle("gs-dark", dark);
    root.style.colorScheme = dark ? "dark" : "light";
  };
  const observer = new MutationObserver(adapt);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, ATTRIBUTES);
  }
  adapt();
  return observer;
}

/** How bright a colour is, from 0 to 1, in whatever way it is written. */
function luminance(colour) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}
