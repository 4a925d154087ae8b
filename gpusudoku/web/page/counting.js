// Keeps the count and the shares of the board that is shown: asks anew at every change.

import { Lane } from "./lane.js";

const AT_ONCE = 5;

/**
 * What is known of one board.
 *
 * @typedef {object} Known
 * @property {"idle"|"working"|"done"|"expensive"|"failed"|"cancelled"} state Of the count.
 * @property {?bigint} count
 * @property {string} conflict Why there is no solution, if that is seen without counting.
 * @property {string} method "search", "contraction", or "" if nothing was counted.
 * @property {number} milliseconds From the question to the count.
 * @property {?bigint} atLeast
 * @property {?number} done The part of the work that is done, 0 to 1.
 * @property {number} elapsed Seconds since the question.
 * @property {?number} estimate Seconds that the count should take.
 * @property {boolean} waiting Whether the engine is busy with others.
 * @property {boolean} compiling Whether what the shape of the board needs is being compiled.
 * @property {?Error} error Why there is no count.
 * @property {Shares} shares
 *
 * @typedef {object} Shares
 * @property {"none"|"offered"|"working"|"done"|"expensive"|"failed"|"cancelled"} state
 * @property {?bigint[][]} cells For every cell the solutions with each digit.
 * @property {number} milliseconds
 * @property {?Error} error
 */

/** Fires `update` whenever more is known. */
export class Counting extends EventTarget {
  #lane;
  #question = null;
  /** @type {Known} */
  known = unknown("idle");

  /**
   * @param {Function} ask As of `mount`.
   * @param {string} page
   */
  constructor(ask, page) {
    super();
    this.#lane = new Lane(ask, page);
  }

  /** Whether something is asked. */
  get busy() {
    return this.known.state === "working" || this.known.shares.state === "working";
  }

  /** Whether no more becomes known unless somebody asks for it. */
  get settled() {
    return this.known.state === "done" && this.known.shares.state !== "working";
  }

  /**
   * Find out about a board, whatever is asked now.
   *
   * @param {{board: string, box: string}} question
   * @param {string} conflict Why it has no solution, "" if nothing is wrong at first sight.
   */
  update(question, conflict) {
    this.#question = question;
    if (conflict === "") {
      this.count(AT_ONCE);
      return;
    }
    this.#lane.stop();
    this.known = { ...unknown("done"), count: 0n, conflict };
    this.#tell();
  }

  /**
   * Ask for the count, and for the shares if it may take some seconds only.
   *
   * @param {?number} seconds How long it may take, null for as long as it takes.
   */
  async count(seconds = null) {
    this.known = unknown("working");
    this.#tell();
    const limit = seconds === null ? {} : { seconds };
    const { answer, error, milliseconds } = await this.#asked("count", limit, (facts) => {
      const { known } = this;
      known.atLeast = "at_least" in facts ? BigInt(facts.at_least) : known.atLeast;
      known.elapsed = facts.elapsed ?? facts.seconds ?? known.elapsed;
      known.estimate = facts.estimate ?? known.estimate;
      // A search of years has done a larger part of its nodes at first than of its time.
      const most = known.estimate === null ? 1 : Math.max(known.elapsed / known.estimate, 0);
      known.done = "done" in facts ? Math.min(facts.done, most) : known.done;
      known.waiting = facts.waiting ?? false;
      known.compiling = facts.compiling ?? false;
      this.#tell();
    });
    if (error !== null) {
      const state = error.kind === "expensive" ? "expensive" : "failed";
      const atLeast = error.atLeast ?? this.known.atLeast;
      this.known = { ...this.known, state, error, atLeast };
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
      this.#tell();
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
    this.#lane.stop();
  }

  /** Ask; the answer is null if it is not wanted any more, or if there is an error. */
  async #asked(kind, limit, progress) {
    const start = performance.now();
    try {
      const answer = await this.#lane.ask(kind, { ...this.#question, ...limit }, progress);
      return { answer, error: null, milliseconds: performance.now() - start };
    } catch (error) {
      return { answer: null, error, milliseconds: performance.now() - start };
    }
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("update"));
  }
}

function unknown(state) {
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
    compiling: false,
    error: null,
    shares: { state: "none", cells: null, milliseconds: 0, error: null },
  };
}
