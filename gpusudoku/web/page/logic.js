// Logic, step by step: what can be said of a board without trying.

import { Lane } from "./lane.js";
import { make, makeButton, makeCard, moveByArrows, scrollWithin, sentence } from "./making.js";
import { StatusLine } from "./status.js";

/** Asks for the steps, lists them, and marks one of them in the grid. */
export class Logic {
  #puzzle;
  #grid;
  #lane;
  #answer = null;
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

  /** Forget the steps, which are those of the board before. */
  reset() {
    this.#lane.stop();
    if (this.#answer !== null) this.#grid.mark(null);
    this.#answer = null;
    this.#at = -1;
    this.#rows = [];
    this.#list.replaceChildren();
    this.#list.hidden = true;
    this.#status.say("");
    this.#render();
  }

  destroy() {
    this.#lane.stop();
  }

  async #explain() {
    this.reset();
    this.#status.busy("Looking for steps");
    const question = { board: this.#puzzle.text(), box: String(this.#puzzle.shape) };
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
      const words = text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
      const button = make("button", { type: "button", class: "gs-step" },
        make("span", { class: "gs-technique" }, name), words);
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
    this.#grid.mark(steps[at]);
    const isLast = at === steps.length - 1;
    const end = isLast ? ` ${this.#ending()}` : "";
    this.#status.say(`Step ${at + 1} of ${steps.length}.${end}`);
    this.#render();
  }

  /** What logic comes to. */
  #ending() {
    const { contradictory, solved, result, ending } = this.#answer;
    if (solved) return "Logic solves the board.";
    if (contradictory) return sentence(`logic finds ${ending}`);
    const left = result.split(".").length - 1;
    return `Logic ends here, with ${left} cell${left === 1 ? "" : "s"} left.`;
  }

  /** The digits that are placed up to the step that is shown. */
  get #placed() {
    const steps = this.#answer?.steps.slice(0, this.#at + 1) ?? [];
    return steps.flatMap(({ placed }) => placed);
  }

  /** Put what is placed so far on the board. */
  #apply() {
    const { mode } = this.#puzzle;
    const cells = this.#puzzle.cells.slice();
    const clues = this.#puzzle.clues.slice();
    for (const [cell, digit] of this.#placed) {
      cells[cell] = digit;
      clues[cell] = mode === "setting" ? 1 : 0;
    }
    this.#puzzle.setAll(cells, clues);
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
