// Logic, step by step: what can be said of a board without trying.

import { Lane } from "./lane.js";
import { make, makeButton, makeCard, moveByArrows, scrollWithin, sentence } from "./making.js";
import { Puzzle } from "./puzzle.js";
import { StatusLine } from "./status.js";

/** Asks for the steps, lists them, and shows one of them in the grid. */
export class Logic {
  #puzzle;
  #grid;
  #lane;
  #answer = null;
  #start = null;
  #at = -1;
  #rows = [];
  #list = make("ol", { class: "gs-logic-list", "aria-label": "Steps", hidden: "" });
  #status = new StatusLine(() => this.#stop());
  #buttons;

  constructor({ puzzle, grid, ask, page }) {
    this.#puzzle = puzzle;
    this.#grid = grid;
    this.#lane = new Lane(ask, `${page}-logic`);
    this.#buttons = {
      explain: makeButton("explain", "Explain", () => this.#explain()),
      previous: makeButton("previous-step", "Previous", () => this.#goTo(this.#at - 1)),
      next: makeButton("next-step", "Next", () => this.#goTo(this.#at + 1)),
      apply: makeButton("apply", "Apply", () => this.#apply()),
      close: makeButton("close-steps", "Close", () => this.reset()),
    };
    const { explain, previous, next, apply, close } = this.#buttons;
    this.element = makeCard("logic", "Logic step by step",
      make("div", { class: "gs-buttons" }, explain, previous, next, apply, close),
      this.#status.element, this.#list);
    moveByArrows(this.#list);
    this.#list.addEventListener("focusin", ({ target }) => this.#goTo(this.#rows.indexOf(target)));
    this.#list.addEventListener("click", ({ target }) => {
      const at = this.#rows.indexOf(target.closest("button"));
      if (at >= 0) this.#goTo(at);
    });
    this.reset();
  }

  /** The board changes: steps that it only takes stay, others are forgotten. */
  follow() {
    if (this.#holds()) this.#show();
    else this.reset();
  }

  /** Forget the steps. */
  reset() {
    this.#lane.stop();
    if (this.#answer !== null) this.#grid.mark(null);
    this.#answer = null;
    this.#at = -1;
    this.#rows = [];
    if (this.#list.matches(":focus-within")) this.#buttons.explain.focus();
    this.#list.replaceChildren();
    this.#list.hidden = true;
    this.#status.say("");
    this.#render();
  }

  /** Somebody answers again: no question that failed says otherwise. */
  recover() {
    this.#status.recover();
  }

  destroy() {
    this.#lane.stop();
  }

  async #explain() {
    this.reset();
    this.#status.busy("Looking for steps");
    const { shape, cells } = this.#puzzle;
    const question = { board: this.#puzzle.text(), box: String(shape) };
    this.#start = new Puzzle(shape, { cells });
    try {
      this.#answer = await this.#lane.ask("simplify", question);
    } catch (error) {
      this.#status.fail(error);
      return;
    }
    if (this.#answer !== null) this.#listSteps();
  }

  #listSteps() {
    const { steps } = this.#answer;
    this.#rows = steps.map(({ technique, text }, index) => {
      const name = technique.replaceAll("-", " ");
      const button = make("button", { type: "button", class: "gs-step" },
        make("span", { class: "gs-technique" }, name), text.replace(`${name}: `, " "));
      button.tabIndex = index === 0 ? 0 : -1;
      return button;
    });
    this.#list.replaceChildren(...this.#rows.map((button) => make("li", {}, button)));
    this.#list.hidden = steps.length === 0;
    this.#goTo(0);
    if (steps.length === 0) this.#status.say(this.#ending());
  }

  #goTo(at) {
    const { steps } = this.#answer;
    if (at < 0 || at >= steps.length || at === this.#at) {
      this.#render();
      return;
    }
    this.#rows[this.#at]?.removeAttribute("aria-current");
    this.#rows[at].setAttribute("aria-current", "step");
    this.#at = at;
    scrollWithin(this.#list, this.#rows[at]);
    const isLast = at === steps.length - 1;
    const end = isLast ? ` ${this.#ending()}` : "";
    this.#status.say(`Step ${at + 1} of ${steps.length}.${end}`);
    this.#show();
  }

  /** Show the step in the grid, with the board as the steps before it leave it. */
  #show() {
    this.#render();
    if (this.#at < 0) return;
    const { shape } = this.#start;
    const before = this.#answer.steps.slice(0, this.#at);
    const digits = this.#start.cells.slice();
    for (const [cell, digit] of placedBy(before)) digits[cell] = digit;
    const masks = new Puzzle(shape, { cells: digits }).candidates();
    for (const [cell, digit] of before.flatMap(({ removed }) => removed)) {
      masks[cell] &= ~(1 << (digit - 1));
    }
    const step = this.#answer.steps[this.#at];
    this.#grid.mark({ ...step, around: aroundOf(step, shape), digits, masks });
  }

  /** Whether the board is still the one that was asked about, with digits of the steps at most. */
  #holds() {
    const { shape, cells } = this.#puzzle;
    if (this.#answer === null || shape !== this.#start.shape) return false;
    const found = new Map(placedBy(this.#answer.steps));
    return this.#start.cells.every((digit, cell) =>
      cells[cell] === digit || (digit === 0 && cells[cell] === found.get(cell)));
  }

  /** What logic comes to. */
  #ending() {
    const { contradictory, solved, result, ending } = this.#answer;
    if (solved) return "Logic solves the board.";
    if (contradictory) return sentence(`logic finds ${ending}`);
    const left = result.split(".").length - 1;
    return `Logic ends here, with ${left} cell${left === 1 ? "" : "s"} left.`;
  }

  /** The digits that are placed up to the step that is shown, and are not on the board yet. */
  get #placed() {
    const steps = this.#answer?.steps.slice(0, this.#at + 1) ?? [];
    return placedBy(steps).filter(([cell]) => this.#puzzle.cells[cell] === 0);
  }

  /** Put what is placed so far on the board, and go on with the next step. */
  #apply() {
    const { mode } = this.#puzzle;
    const cells = this.#puzzle.cells.slice();
    const clues = this.#puzzle.clues.slice();
    for (const [cell, digit] of this.#placed) {
      cells[cell] = digit;
      clues[cell] = mode === "setting" ? 1 : 0;
    }
    this.#puzzle.setAll(cells, clues);
    this.#goTo(this.#at + 1);
  }

  #render() {
    const { previous, next, apply, close } = this.#buttons;
    const steps = this.#answer?.steps.length ?? 0;
    previous.disabled = this.#at <= 0;
    next.disabled = this.#at >= steps - 1;
    apply.disabled = this.#placed.length === 0;
    close.disabled = this.#answer === null;
  }

  #stop() {
    this.#lane.stop();
    this.#status.say("Cancelled.");
  }
}

/** @returns {number[][]} The cells and digits that steps place. */
function placedBy(steps) {
  return steps.flatMap(({ placed }) => placed);
}

/** The cells around those that a step names: its unit; of a lone candidate all that see it. */
function aroundOf({ unit, placed }, shape) {
  if (unit !== null) return shape.units[unit];
  return placed.flatMap(([cell]) => shape.peers(cell));
}
