// What is known of the board's solutions, and what can be done with them.
//
// For tests and styles: the root is `[data-part=panel]`. It has `aria-busy=true` while something
// is asked, `gs-fading` once that takes a moment, and `data-settled=true` once the count, and
// the shares if they are asked for without a click, are those of the board on the screen.
// Parts: `result` with `badge` (`data-kind` none, unique, several, unknown, hidden), `count`
// (`data-count`: all digits), `words`, `method`, `note`;
// `leaves` with `leaves-list` (buttons with `data-digit`), `leaves-message`, `unique-placements`;
// `solutions` with `seed`, `number`, `of`, `slider`; `logic`; `reducing`; each of the last three
// has a `status`. Beside the root `spoken` is what screen readers are told.
// Actions: in `result` copy-count, cancel, count-anyway, retry; in `leaves` shares, erase, next-unique;
// in `solutions` random, first, previous, next, last, use, hide, cancel; in `logic` explain,
// previous-step, next-step, apply, close-steps, cancel; in `reducing` minimise, cancel.

import { unknown } from "./counting.js";
import { keepFocus } from "./keeping.js";
import { Leaves } from "./leaves.js";
import { Logic } from "./logic.js";
import { make } from "./making.js";
import { Reducing } from "./reducing.js";
import { Result } from "./result.js";
import { Solutions } from "./solutions.js";

const HIDDEN = unknown("hidden");
const FADE_AFTER = 150;
const LATE = 500;
const TOLD_EVERY = 250;
const QUIET = 700;

/** The panel beside a grid. */
export class Panel {
  #puzzle;
  #grid;
  #counting;
  #result;
  #leaves;
  #solutions;
  #logic;
  #reducing;
  #told = null;
  #shown = null;
  #fadeTimer = 0;
  #lateTimer = 0;
  #toldTimer = 0;
  #quietTimer = 0;
  #late = false;
  #busy = false;
  #ended = new AbortController();
  #focus;
  #spoken = make("div", { class: "gs-hidden", "aria-live": "polite", "data-part": "spoken" });
  #root;

  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {import("./puzzle.js").Puzzle} options.puzzle
   * @param {import("./grid.js").Grid} options.grid
   * @param {import("./counting.js").Counting} options.counting
   * @param {Function} options.ask As of `mount`.
   * @param {string} options.page The name under which the engine knows who asks.
   */
  constructor(element, { puzzle, grid, counting, ask, page }) {
    this.#puzzle = puzzle;
    this.#grid = grid;
    this.#counting = counting;
    const parts = { puzzle, grid, ask, page, counting };
    this.#result = new Result(this.#counting, puzzle);
    this.#leaves = new Leaves(parts);
    this.#solutions = new Solutions(parts);
    this.#logic = new Logic(parts);
    this.#reducing = new Reducing(parts);
    const tools = make("div", { class: "gs-tools" }, this.#solutions.element, this.#logic.element,
      this.#reducing.element);
    this.#root = make("section",
      { class: "gs-panel", "data-part": "panel", "aria-label": "Solutions of the board" },
      make("div", { class: "gs-cards" }, this.#result.element, this.#leaves.element, tools));
    // Outside of the root: what is inside is not read out while that is busy.
    element.append(this.#root, this.#spoken);
    grid.frame.outer.after(this.#result.line);
    this.#focus = keepFocus(this.#root, (options) => grid.focusCell(grid.focused, options));
    const { signal } = this.#ended;
    puzzle.addEventListener("change", (event) => this.#change(event.detail.reshaped), { signal });
    grid.addEventListener("focus", () => this.#leaves.render(), { signal });
    grid.addEventListener("shown", () => this.#update(), { signal });
    grid.addEventListener("candidate", ({ detail }) => this.#leaves.point(detail), { signal });
    this.#counting.addEventListener("update", () => this.#update(), { signal });
    this.#change(false);
  }

  destroy() {
    this.#ended.abort();
    this.#focus.abort();
    this.#stopTimers();
    clearTimeout(this.#fadeTimer);
    for (const part of this.#parts) part.destroy();
    this.#root.remove();
    this.#result.line.remove();
    this.#spoken.remove();
  }

  /** What asks questions of its own. */
  get #parts() {
    return [this.#solutions, this.#logic, this.#reducing];
  }

  /** The board is another: whatever is asked about the one before is given up. */
  #change(reshaped) {
    this.#solutions.reset();
    this.#logic.follow();
    this.#reducing.reset();
    if (reshaped) {
      this.#shown = null;
      this.#result.forget();
      this.#tellCount(null);
      this.#leaves.reshape();
    }
    this.#update();
  }

  /** What is known, or nothing while that is hidden; failures are told. */
  get #known() {
    const { known } = this.#counting;
    return this.#grid.hidesCounts && known.state !== "failed" ? HIDDEN : known;
  }

  #update() {
    const { settled } = this.#counting;
    const known = this.#known;
    const busy = this.#counting.busy && known !== HIDDEN;
    if (known !== this.#told || busy !== this.#busy) this.#wait(known, busy);
    this.#root.setAttribute("aria-busy", busy);
    if (settled) this.#root.dataset.settled = true;
    else delete this.#root.dataset.settled;
    this.#result.show(known, this.#late);
    // Buttons stay as they are while the count is likely to come soon.
    if (known.state !== "working" || this.#late) this.#tellCount(known.count);
    if (!busy || known.shares.state === "done") this.#showShares(known);
    this.#leaves.render();
    if (settled) for (const part of this.#parts) part.recover();
  }

  #tellCount(count) {
    this.#solutions.know(count);
    this.#reducing.know(count);
  }

  /** A question begins or ends: tell how far it is if it takes long, and what came of it. */
  #wait(known, busy) {
    if (busy !== this.#busy) this.#fade(busy);
    this.#told = known;
    this.#busy = busy;
    this.#late = false;
    this.#stopTimers();
    if (busy) this.#lateTimer = setTimeout(() => this.#beLate(), LATE);
    // Whoever types hears nothing until the board stays as it is for a moment.
    this.#quietTimer = setTimeout(() => this.#speak(), QUIET);
  }

  #stopTimers() {
    clearTimeout(this.#lateTimer);
    clearInterval(this.#toldTimer);
    clearTimeout(this.#quietTimer);
  }

  /** Fade the answers of the board before once they have stood there for a moment. */
  #fade(busy) {
    const fade = (on) => {
      for (const each of [this.#root, this.#result.line]) each.classList.toggle("gs-fading", on);
    };
    clearTimeout(this.#fadeTimer);
    if (busy) this.#fadeTimer = setTimeout(fade, FADE_AFTER, true);
    else fade(false);
  }

  #beLate() {
    this.#late = true;
    this.#showShares(null);
    this.#update();
    // Whoever works tells more often than anybody reads, and drawing takes the cores from him.
    this.#toldTimer = setInterval(() => this.#result.show(this.#known, true), TOLD_EVERY);
  }

  #speak() {
    const text = this.#result.spoken(this.#known);
    if (text !== this.#spoken.textContent) this.#spoken.textContent = text;
  }

  #showShares(known) {
    const cells = known?.shares.cells ?? null;
    if (cells === (this.#shown?.shares ?? null)) return;
    this.#shown = cells === null ? null : { count: known.count, shares: cells };
    this.#leaves.show(cells === null ? null : { count: known.count, cells });
    this.#grid.showShares(this.#shown);
  }
}
