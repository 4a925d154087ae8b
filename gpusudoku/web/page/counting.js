// Keeps the count and the shares of the shown board: asks again after every change.

import { Lane } from "./lane.js";
import { complaintOf } from "./messages.js";

const AT_ONCE = 5;

/**
 * What is known of one board.
 *
 * @typedef {object} Known
 * @property {"idle"|"working"|"done"|"expensive"|"failed"|"cancelled"|"hidden"} state Of the count.
 * @property {?bigint} count
 * @property {string} conflict Why there is no solution, if that is seen without counting.
 * @property {string} method "search", "contraction", or "" if nothing was counted.
 * @property {number} milliseconds From the question to the count.
 * @property {?bigint} atLeast
 * @property {?number} done The part of the work that is done, 0 to 1.
 * @property {number} elapsed Seconds since the question.
 * @property {?number} estimate Seconds that the count should take.
 * @property {boolean} waiting Whether the engine is busy.
 * @property {boolean} own Whether it is busy with an older question of this page.
 * @property {boolean} compiling Whether what the shape of the board needs is being compiled.
 * @property {?Error} error Why there is no count.
 * @property {?object} estimated The estimate of a count that is too expensive: `estimate`, `low` and
 *   `high` as text, such as "5.96e98", and more; see the answer of the server.
 * @property {boolean} estimating Whether the estimate still improves.
 * @property {Shares} shares
 *
 * @typedef {object} Shares
 * @property {"none"|"offered"|"working"|"done"|"expensive"|"failed"|"cancelled"} state
 * @property {?bigint[][]} cells For every cell the solutions with each digit.
 * @property {number} milliseconds
 * @property {?Error} error
 */

/**
 * Follows a puzzle. Fires `update` whenever more is known of its board. How far the work is changes
 * without that, and so does all with the board itself: who draws the new board looks here, too.
 */
export class Counting extends EventTarget {
  #puzzle;
  #lane;
  #ended = new AbortController();
  /** @type {Known} */
  known = unknown("idle");

  /**
   * @param {object} options
   * @param {import("./puzzle.js").Puzzle} options.puzzle
   * @param {Function} options.ask As of `mount`.
   * @param {string} options.page
   */
  constructor({ puzzle, ask, page }) {
    super();
    this.#puzzle = puzzle;
    this.#lane = new Lane(ask, page);
    puzzle.addEventListener("change", () => this.#follow(), { signal: this.#ended.signal });
    this.#follow();
  }

  /** Whether something is asked. */
  get busy() {
    return this.known.state === "working" || this.known.shares.state === "working";
  }

  /** Whether nothing more becomes known until the next question. */
  get settled() {
    return this.known.state === "done" && this.known.shares.state !== "working";
  }

  /** Find out about the board, whatever is asked now. */
  #follow() {
    const conflict = complaintOf(this.#puzzle);
    if (conflict === "") {
      this.#count(AT_ONCE);
      return;
    }
    this.#lane.stop();
    this.known = { ...unknown("done"), count: 0n, conflict };
  }

  /**
   * Ask for the count, and for the shares if it may take some seconds only.
   *
   * @param {?number} seconds How long it may take, null for as long as it takes.
   */
  count(seconds = null) {
    const { estimated } = this.known;
    this.#count(seconds);
    this.known.estimated = estimated;
    this.#tell();
  }

  async #count(seconds) {
    this.known = unknown("working");
    const limit = seconds === null ? {} : { seconds };
    const { answer, error, milliseconds } = await this.#asked("count", limit, (facts) => {
      const { known } = this;
      known.atLeast = "at_least" in facts ? BigInt(facts.at_least) : known.atLeast;
      known.elapsed = facts.elapsed ?? facts.seconds ?? known.elapsed;
      known.estimate = facts.estimate ?? known.estimate;
      known.done = facts.done || null;
      known.waiting = facts.waiting ?? false;
      known.own = facts.own ?? false;
      known.compiling = facts.compiling ?? false;
    });
    if (error !== null) {
      const state = error.kind === "expensive" ? "expensive" : "failed";
      const atLeast = error.atLeast ?? this.known.atLeast;
      this.known = { ...this.known, state, error, atLeast };
      if (state === "expensive" && this.known.estimated === null) this.#estimate();
    } else if (answer !== null) {
      const { method } = answer;
      const count = BigInt(answer.count);
      this.known = { ...unknown("done"), count, method, milliseconds };
      if (count > 0n) this.known.shares.state = "offered";
      if (count > 0n && seconds !== null) {
        this.share(AT_ONCE);
        return;
      }
    } else return;
    this.#tell();
  }

  /** Ask for an estimate of the count; show better and better ones. */
  async #estimate() {
    const { known } = this;
    known.estimating = true;
    const { answer } = await this.#asked("estimate", {}, (facts) => {
      known.estimated = facts.so_far ?? known.estimated;
      this.#tell();
    });
    if (known !== this.known) return;
    // A new object: the panel tells it to screen readers, which hear the last estimate only.
    this.known = { ...known, estimated: answer ?? known.estimated, estimating: false };
    this.#tell();
  }

  /**
   * Ask for the shares, once the count is known.
   *
   * @param {?number} seconds
   */
  async share(seconds = null) {
    const { shares } = this.known;
    shares.state = "working";
    shares.error = null;
    this.#tell();
    const limit = seconds === null ? {} : { seconds };
    const { answer, error, milliseconds } = await this.#asked("shares", limit, (facts) => {
      this.known.elapsed = facts.elapsed ?? this.known.elapsed;
    });
    if (error !== null) {
      shares.state = error.kind === "expensive" ? "expensive" : "failed";
      shares.error = error;
    } else if (answer !== null) {
      shares.cells = answer.shares.map((row) => row.map(BigInt));
      shares.state = "done";
      shares.milliseconds = milliseconds;
    } else return;
    this.#tell();
  }

  /** Give up what is asked; it can be asked again. */
  cancel() {
    if (!this.busy) return;
    this.#lane.stop();
    if (this.known.state === "working") this.known.state = "cancelled";
    else this.known.shares.state = "cancelled";
    this.#tell();
  }

  /** Ask again after a failure. */
  retry() {
    if (this.known.state === "failed") this.count(AT_ONCE);
    else if (this.known.shares.state === "failed") this.share(AT_ONCE);
  }

  destroy() {
    this.#ended.abort();
    this.#lane.stop();
  }

  /** Ask; the answer is null if it is not wanted any more, or if there is an error. */
  async #asked(kind, limit, progress) {
    const start = performance.now();
    const question = { board: this.#puzzle.text(), box: String(this.#puzzle.shape), ...limit };
    try {
      const answer = await this.#lane.ask(kind, question, progress);
      return { answer, error: null, milliseconds: performance.now() - start };
    } catch (error) {
      return { answer: null, error, milliseconds: performance.now() - start };
    }
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("update"));
  }
}

/** @returns {Known} Nothing. */
export function unknown(state) {
  return {
    state,
    count: null,
    conflict: "",
    method: "",
    milliseconds: 0,
    atLeast: null,
    done: null,
    elapsed: 0,
    estimate: null,
    waiting: false,
    own: false,
    compiling: false,
    error: null,
    estimated: null,
    estimating: false,
    shares: { state: "none", cells: null, milliseconds: 0, error: null },
  };
}
