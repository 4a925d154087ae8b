// Goes on by itself once a server that was gone is there again.

const GONE = ["offline", "busy"];
const LONGEST = 30;

/** Asks again for what a server that was gone has not answered. */
export class Recovering {
  #counting;
  #reachable;
  #timer = 0;
  #pause = 1;
  #ended = new AbortController();

  /**
   * @param {import("./counting.js").Counting} counting
   * @param {() => Promise<boolean>} reachable Whether the server answers.
   */
  constructor(counting, reachable) {
    this.#counting = counting;
    this.#reachable = reachable;
    const { signal } = this.#ended;
    counting.addEventListener("update", () => this.#follow(), { signal });
    // What has just changed need not wait.
    addEventListener("online", () => this.#look(), { signal });
    document.addEventListener("visibilitychange", () => this.#look(), { signal });
  }

  destroy() {
    this.#ended.abort();
    clearTimeout(this.#timer);
  }

  get #isLost() {
    const { error, shares } = this.#counting.known;
    return GONE.includes((error ?? shares.error)?.kind);
  }

  #follow() {
    clearTimeout(this.#timer);
    if (this.#isLost) this.#wait();
    else if (!this.#counting.busy) this.#pause = 1;
  }

  /** Look again after a pause, longer each time. */
  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), 1000 * this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST);
  }

  async #look() {
    if (!this.#isLost) return;
    clearTimeout(this.#timer);
    const isThere = await this.#reachable();
    if (this.#ended.signal.aborted || !this.#isLost) return;
    if (isThere) this.#counting.retry();
    else this.#wait();
  }
}
