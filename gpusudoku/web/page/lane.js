// One question at a time: a newer one takes the place of the one before.

/** Asks so that only the newest question gets an answer, and at most one is on its way. */
export class Lane {
  #ask;
  #page;
  #newest = null;
  #ending = null;

  /**
   * @param {Function} ask As of `mount`.
   * @param {string} page The name under which the engine knows who asks.
   */
  constructor(ask, page) {
    this.#ask = ask;
    this.#page = page;
  }

  /**
   * Ask, in place of whatever is asked or waits.
   *
   * @param {string} kind
   * @param {object} question
   * @param {(facts: object) => void} [progress]
   * @returns {Promise<?object>} The answer; null if it is not wanted any more.
   * @throws {AskError} If there is none.
   */
  async ask(kind, question, progress = () => {}) {
    this.stop();
    const mine = new AbortController();
    this.#newest = mine;
    // What was given up has to end first: a browser keeps few connections to a server, and edits
    // that come faster than they end would stand in a queue for them.
    while (this.#ending !== null) await this.#ending;
    if (mine.signal.aborted) return null;
    const options = {
      signal: mine.signal,
      progress: (facts) => mine.signal.aborted || progress(facts),
    };
    const asked = this.#ask(kind, { ...question, page: this.#page }, options);
    this.#ending = asked.then(() => this.#ended(), () => this.#ended());
    try {
      const answer = await asked;
      return mine.signal.aborted ? null : answer;
    } catch (error) {
      if (mine.signal.aborted) return null;
      throw error;
    }
  }

  /** Give up what is asked. */
  stop() {
    this.#newest?.abort();
    this.#newest = null;
  }

  #ended() {
    this.#ending = null;
  }
}
