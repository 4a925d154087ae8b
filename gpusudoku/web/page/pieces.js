// Work in pieces, so that no task of the page takes long.

const BUDGET = 6;

/** Does something for every cell, some milliseconds at a time; newer work replaces older. */
export class Pieces {
  #waiting = 0;

  /**
   * Begin at once, and go on with each frame.
   *
   * @param {number} count
   * @param {(index: number) => void} work Is called for 0 to count - 1.
   */
  start(count, work) {
    this.stop();
    let next = 0;
    const piece = () => {
      const end = performance.now() + BUDGET;
      while (next < count && performance.now() < end) work(next++);
      this.#waiting = next < count ? requestAnimationFrame(piece) : 0;
    };
    piece();
  }

  stop() {
    cancelAnimationFrame(this.#waiting);
    this.#waiting = 0;
  }
}
