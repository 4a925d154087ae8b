// Solutions shown on the board: random ones, and those with a number.

import { digitOf } from "./geometry.js";
import { Lane } from "./lane.js";
import { make, makeButton, makeCard } from "./making.js";
import { group, groupShort, readNumber } from "./numbers.js";
import { StatusLine } from "./status.js";

const AROUND = 10n;
const SLIDER_STEPS = 1000;

/** Asks for solutions and shows them in the grid. */
export class Solutions {
  #puzzle;
  #grid;
  #lane;
  #count = null;
  #isOld = false;
  #at = null;
  #cells = null;
  #kept = new Map();
  #seed = make("input", {
    inputmode: "numeric", autocomplete: "off", placeholder: "new each time",
    "data-part": "seed",
  });
  #field = make("input", {
    class: "gs-number", inputmode: "numeric", autocomplete: "off", "data-part": "number",
  });
  #of = make("div", { class: "gs-quiet gs-of", "data-part": "of" });
  #slider = make("input", {
    type: "range", class: "gs-slider", min: "0", max: "1", value: "0", "data-part": "slider",
    "aria-label": "Solution, as a place among all",
  });
  #status = new StatusLine(() => this.#stop());
  #buttons;

  constructor({ puzzle, grid, ask, page }) {
    this.#puzzle = puzzle;
    this.#grid = grid;
    this.#lane = new Lane(ask, `${page}-solutions`);
    this.#buttons = {
      random: makeButton("random", "Random solution", () => this.#draw({})),
      first: makeButton("first", "First", () => this.#go(0n)),
      previous: makeButton("previous", "Previous", () => this.#go(this.#at - 1n)),
      next: makeButton("next", "Next", () => this.#go(this.#at === null ? 0n : this.#at + 1n)),
      last: makeButton("last", "Last", () => this.#go(this.#count - 1n)),
      use: makeButton("use", "Use as board", () => this.#use()),
      hide: makeButton("hide", "Hide", () => this.#close()),
    };
    const { random, first, previous, next, last, use, hide } = this.#buttons;
    this.element = makeCard("solutions", "Solutions",
      make("div", { class: "gs-buttons" }, random,
        make("label", { class: "gs-field gs-seed" }, "Seed", this.#seed)),
      make("div", { class: "gs-steps" }, first, previous, next, last),
      make("label", { class: "gs-field gs-which" }, "Number", this.#field),
      this.#of, this.#slider,
      make("div", { class: "gs-buttons gs-with-status" }, use, hide, this.#status.element));
    for (const field of [this.#seed, this.#field]) {
      field.addEventListener("input", () => field.removeAttribute("aria-invalid"));
    }
    this.#seed.addEventListener("keydown", (event) => onEnter(event, () => this.#drawAgain()));
    this.#field.addEventListener("keydown", (event) => onEnter(event, () => this.#goToNumber()));
    this.#field.addEventListener("change", () => this.#goToNumber());
    this.#slider.addEventListener("input", () => this.#slide());
    // Whatever else the grid shows may take the place of a solution.
    grid.addEventListener("shown", () => {
      if (grid.solution === null && this.#cells !== null) this.#close();
    });
    this.#setCount(null);
  }

  /** Forget the solutions of the board before, and hide what is shown. */
  reset() {
    this.#isOld = true;
    this.#kept.clear();
    this.#seed.value = "";
    this.#seed.removeAttribute("aria-invalid");
    this.#close();
  }

  /**
   * Take the count of the board.
   *
   * @param {?bigint} count null if it is not known.
   */
  know(count) {
    this.#isOld = false;
    if (count !== this.#count) this.#setCount(count);
  }

  /** Somebody answers again: no question that failed says otherwise. */
  recover() {
    this.#status.recover();
  }

  destroy() {
    this.#lane.stop();
  }

  #setCount(count) {
    this.#count = count;
    const last = count === null || count === 0n ? 0n : count - 1n;
    this.#slider.max = last < SLIDER_STEPS ? Number(last) : SLIDER_STEPS;
    this.#of.textContent = count === null ? "of an unknown number" : `of ${groupShort(count)}`;
    this.#render();
  }

  #render() {
    const { random, first, previous, next, last, use, hide } = this.#buttons;
    const known = this.#count !== null && this.#count > 0n;
    random.disabled = this.#count === 0n;
    first.disabled = last.disabled = this.#field.disabled = this.#slider.disabled = !known;
    previous.disabled = !known || this.#at === null || this.#at === 0n;
    next.disabled = !known || (this.#at ?? -1n) >= this.#count - 1n;
    use.disabled = hide.disabled = this.#cells === null;
    if (!this.#field.matches(":focus")) this.#writeNumber();
    this.#slider.value = this.#at === null ? 0 : this.#place(this.#at);
    const place = this.#at === null ? "none" : `solution ${group(this.#at + 1n)}`;
    this.#slider.setAttribute("aria-valuetext", place);
  }

  #writeNumber() {
    this.#field.value = this.#at === null ? "" : group(this.#at + 1n);
    this.#field.removeAttribute("aria-invalid");
  }

  /** The position of the slider for a solution. */
  #place(at) {
    const steps = BigInt(this.#slider.max);
    return this.#count > 1n ? Number((at * steps) / (this.#count - 1n)) : 0;
  }

  #slide() {
    if (this.#count === null) return;
    const steps = BigInt(this.#slider.max);
    const last = this.#count - 1n;
    this.#go(steps === 0n ? 0n : (last * BigInt(this.#slider.value)) / steps);
  }

  #goToNumber() {
    const number = readNumber(this.#field.value);
    if (this.#field.value.trim() === "" || number === (this.#at ?? -2n) + 1n) this.#writeNumber();
    else if (number === null || number < 1n || number > this.#count) {
      this.#refuse(this.#field, `a number from 1 to ${groupShort(this.#count)}`);
    } else this.#go(number - 1n);
  }

  /** Show the solution with a number, from 0 on. */
  async #go(at) {
    if (this.#isOld) return; // buttons stay as they are for a moment, with the count of before
    this.#at = at;
    this.#seed.value = "";
    this.#writeNumber();
    const kept = this.#kept.get(at);
    if (kept !== undefined) {
      this.#lane.stop();
      this.#show(kept, `Solution ${groupShort(at + 1n, 22)}`, "");
      return;
    }
    this.#render();
    // Those around it come along, so that the next ones are there at once.
    const from = at > AROUND ? at - AROUND : 0n;
    const to = at + AROUND < this.#count ? at + AROUND : this.#count - 1n;
    const length = Number(to - from) + 1;
    const k = Array.from({ length }, (_, index) => String(from + BigInt(index)));
    const answer = await this.#asked("nth", { k }, "Looking for the solution");
    if (answer === null) return;
    this.#kept = new Map(answer.k.map((text, index) => [BigInt(text), answer.solutions[index]]));
    this.#show(this.#kept.get(at), `Solution ${groupShort(at + 1n, 22)}`, "");
  }

  #drawAgain() {
    const seed = readNumber(this.#seed.value);
    if (this.#seed.value.trim() === "") this.#draw({});
    else if (seed === null || seed >= 1n << 128n) {
      this.#refuse(this.#seed, "a seed from 0 to 2^128 - 1");
    } else this.#draw({ seed: String(seed) });
  }

  #refuse(field, expected) {
    field.setAttribute("aria-invalid", "true");
    this.#status.say(`Expected ${expected}.`, true);
  }

  /** Show a random solution, with a new seed or a given one. */
  async #draw(seed) {
    this.#at = null;
    if (seed.seed === undefined) this.#seed.value = "";
    this.#seed.removeAttribute("aria-invalid");
    const answer = await this.#asked("sample", { n: 1, ...seed }, "Drawing a random solution");
    if (answer === null) return;
    this.#seed.value = answer.seed;
    this.#show(answer.solutions[0], "A random solution", "Random; the same seed draws it again.");
  }

  async #asked(kind, own, doing) {
    // What is shown has another number than what is looked for: it goes if that takes long.
    this.#status.busy(doing, () => this.#hide());
    const question = { board: this.#puzzle.text(), box: String(this.#puzzle.shape), ...own };
    try {
      return await this.#lane.ask(kind, question, (facts) => this.#status.progress(facts));
    } catch (error) {
      this.#hide();
      this.#status.fail(error);
      return null;
    }
  }

  #show(text, name, words) {
    this.#status.say(words);
    this.#cells = Array.from(text, digitOf);
    this.#grid.showSolution(this.#cells, name);
    this.#render();
  }

  /** End whatever is shown, or asked. */
  #close() {
    this.#lane.stop();
    this.#at = null;
    this.#status.say("");
    this.#hide();
  }

  #hide() {
    this.#cells = null;
    this.#grid.showSolution(null);
    this.#render();
  }

  #use() {
    const { mode, clues } = this.#puzzle;
    const isClue = mode === "setting" ? new Uint8Array(clues.length).fill(1) : clues.slice();
    this.#puzzle.setAll(Uint8Array.from(this.#cells), isClue);
  }

  #stop() {
    this.#lane.stop();
    this.#status.say("Cancelled.");
  }
}

function onEnter(event, act) {
  if (event.key !== "Enter") return;
  event.preventDefault();
  act();
}
