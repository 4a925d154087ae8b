// Work in chunks, so that the page stays responsive.

const BUDGET = 6;
const MAX_DRAWN = 600;

/**
 * Does work for every cell, for some milliseconds in each frame. The number of changed elements in a
 * frame is limited, too, as the browser must lay them out and draw them. New work replaces old work.
 */
export class Pieces {
  #waiting = 0;
  #tell;

  /** @param {(busy: boolean) => void} tell Called with whether there is work, when that changes. */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * Begin at once, and continue in each frame.
   *
   * @param {number} count
   * @param {(index: number) => number} work Called for 0 to count - 1; returns the number of
   *   elements that it has changed.
   */
  start(count, work) {
    cancelAnimationFrame(this.#waiting);
    let next = 0;
    const doChunk = () => {
      const end = performance.now() + BUDGET;
      let drawn = 0;
      while (next < count && drawn < MAX_DRAWN && performance.now() < end) drawn += work(next++);
      const wasBusy = this.#waiting > 0;
      const isBusy = next < count;
      this.#waiting = isBusy ? requestAnimationFrame(doChunk) : 0;
      if (isBusy !== wasBusy) this.#tell(isBusy);
    };
    doChunk();
  }

  stop() {
    cancelAnimationFrame(this.#waiting);
    this.#waiting = 0;
  }
}
