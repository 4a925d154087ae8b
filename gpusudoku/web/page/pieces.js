// Work in pieces, so that no task of the page takes long.

const BUDGET = 6;
const MAX_DRAWN = 600;

/**
 * Does something for every cell, some milliseconds at a time, and so little that the browser lays
 * it out and draws it as soon; newer work replaces older.
 */
export class Pieces {
  #waiting = 0;
  #tell;

  /** @param {(busy: boolean) => void} tell Is told of more to do, and when all is done. */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * Begin at once, and go on with each frame.
   *
   * @param {number} count
   * @param {(index: number) => number} work Is called for 0 to count - 1; returns how many elements
   *   it has changed.
   */
  start(count, work) {
    cancelAnimationFrame(this.#waiting);
    let next = 0;
    const piece = () => {
      const end = performance.now() + BUDGET;
      let drawn = 0;
      while (next < count && drawn < MAX_DRAWN && performance.now() < end) drawn += work(next++);
      const wasBusy = this.#waiting > 0;
      const isBusy = next < count;
      this.#waiting = isBusy ? requestAnimationFrame(piece) : 0;
      if (isBusy !== wasBusy) this.#tell(isBusy);
    };
    piece();
  }

  stop() {
    cancelAnimationFrame(this.#waiting);
    this.#waiting = 0;
  }
}
