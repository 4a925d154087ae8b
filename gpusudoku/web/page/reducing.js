// Clues that a puzzle does not need, removed.

import { digitOf } from "./geometry.js";
import { Lane } from "./lane.js";
import { make, makeButton, makeCard } from "./making.js";
import { StatusLine } from "./status.js";

const NEEDS = "Needs a board with one solution";

/** Asks for a puzzle without redundant clues, and makes it the board. */
export class Reducing {
  #puzzle;
  #lane;
  #status = new StatusLine(() => this.#stop());
  #button = makeButton("minimise", "Remove redundant clues", () => this.#minimise());

  constructor({ puzzle, ask, page }) {
    this.#puzzle = puzzle;
    this.#lane = new Lane(ask, `${page}-minimise`);
    this.element = makeCard("reducing", "Minimal puzzle",
      make("div", { class: "gs-buttons gs-with-status" }, this.#button, this.#status.element),
      make("p", { class: "gs-quiet" },
        "Random solution, Use as board, then this: a random puzzle."));
    this.know(null);
  }

  /** Give up what is asked about the board before. */
  reset() {
    this.#lane.stop();
    this.#status.say("");
  }

  /**
   * Take the count of the board: only what has one solution can be made minimal.
   *
   * @param {?bigint} count null if it is not known.
   */
  know(count) {
    this.#button.disabled = count !== 1n;
    this.#button.title = count === 1n ? "" : NEEDS;
  }

  /** Somebody answers again: no question that failed says otherwise. */
  recover() {
    this.#status.recover();
  }

  destroy() {
    this.#lane.stop();
  }

  async #minimise() {
    this.#status.busy("Trying clue by clue");
    const question = { board: this.#puzzle.cluesText(), box: String(this.#puzzle.shape) };
    let answer;
    try {
      answer = await this.#lane.ask("minimise", question, (facts) => this.#status.progress(facts));
    } catch (error) {
      this.#status.fail(error);
      return;
    }
    if (answer !== null) this.#take(answer);
  }

  #take({ board, removed }) {
    const kept = Uint8Array.from(board, digitOf);
    const left = kept.filter((digit) => digit > 0).length;
    if (removed.length > 0) {
      const { cells, clues } = this.#puzzle;
      const gone = new Set(removed);
      this.#puzzle.setAll(cells.map((digit, cell) => (gone.has(cell) ? 0 : digit)), clues);
      this.#status.say(`${several(removed.length)} removed, ${left} left; each of them is needed.`);
    } else this.#status.say(`None of the ${several(left)} is redundant.`);
  }

  #stop() {
    this.#lane.stop();
    this.#status.say("Cancelled.");
  }
}

function several(clues) {
  return `${clues} clue${clues === 1 ? "" : "s"}`;
}
