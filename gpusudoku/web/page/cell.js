// One cell of the grid on the page: its digit, and the small candidates in it.

import { symbol } from "./geometry.js";

/**
 * What a cell shows. Elements that are not needed are hidden and kept.
 *
 * Hooks: `gs-cell` with data-cell (and `gs-clue`, `gs-edit`, `gs-shown`, `gs-wrong`, `gs-peer`,
 * `gs-same`, `gs-stuck`, `gs-focused`, `gs-marked`, `gs-placed`), in it `gs-digit` and
 * `gs-candidate` with data-digit (and `gs-out`, `gs-sure`, `gs-unique`, `gs-removed`, `gs-none`
 * where it is not shown, data-pointed).
 */
export class Cell {
  #digit;
  #small = null;
  #candidates = [];
  #label = "";

  /**
   * @param {import("./geometry.js").Shape} shape
   * @param {number} number
   */
  constructor(shape, number) {
    this.shape = shape;
    this.element = document.createElement("div");
    this.element.className = "gs-cell";
    this.element.setAttribute("role", "gridcell");
    this.element.setAttribute("aria-colindex", shape.columnOf(number) + 1);
    this.element.dataset.cell = number;
    this.element.tabIndex = -1;
    const row = shape.rowOf(number) + 1;
    const column = shape.columnOf(number) + 1;
    this.place = `row ${row}, column ${column}`;
    const boxed = shape.boxRows > 1 && shape.boxColumns > 1;
    this.flag("right", boxed && column % shape.boxColumns === 0 && column < shape.n);
    this.flag("below", boxed && row % shape.boxRows === 0 && row < shape.n);
    this.#digit = document.createElement("span");
    this.#digit.className = "gs-digit";
    this.element.append(this.#digit);
  }

  /**
   * Show a digit, or none (0).
   *
   * @param {number} digit
   * @param {"clue"|"edit"|"shown"} kind
   */
  write(digit, kind) {
    const text = digit ? symbol(digit) : "";
    if (this.#digit.textContent !== text) this.#digit.textContent = text;
    for (const each of ["clue", "edit", "shown"]) this.flag(each, digit > 0 && each === kind);
  }

  /** Set or remove a class, without its "gs-". */
  flag(name, on) {
    this.element.classList.toggle(`gs-${name}`, on);
  }

  /** @param {string|null} conflict What is wrong here. */
  complain(conflict) {
    this.flag("wrong", conflict !== null);
    if (conflict === null) {
      this.element.removeAttribute("aria-invalid");
      this.element.removeAttribute("aria-description");
    } else {
      this.element.setAttribute("aria-invalid", "true");
      this.element.setAttribute("aria-description", conflict);
    }
  }

  /** @param {boolean} on Whether the digit cannot be changed now. */
  lock(on) {
    if (on) this.element.setAttribute("aria-readonly", "true");
    else this.element.removeAttribute("aria-readonly");
  }

  /** @param {string} words What a screen reader says after the place. */
  label(words) {
    if (words === this.#label) return;
    this.#label = words;
    this.element.setAttribute("aria-label", `${this.place}, ${words}`);
  }

  /**
   * Show candidates.
   *
   * @param {{classes: string, weight: number}[]|null} looks For each digit, null for one that is
   *   not there; null for none at all.
   */
  showCandidates(looks) {
    if (this.#small === null) {
      if (looks === null) return;
      this.#build();
    }
    this.#small.hidden = looks === null;
    if (looks !== null) looks.forEach((look, index) => this.#showCandidate(index, look));
  }

  #showCandidate(index, look) {
    const candidate = this.#candidates[index];
    const wanted = look === null ? "hidden" : look.classes;
    if (candidate.classes !== wanted) {
      candidate.classes = wanted;
      candidate.element.className = `gs-candidate${look === null ? " gs-none" : wanted}`;
    }
    const weight = look === null ? 0 : look.weight;
    if (candidate.weight !== weight) {
      candidate.weight = weight;
      candidate.element.style.setProperty("--weight", weight);
    }
  }

  /** The element of a candidate that is shown, or null. */
  candidate(digit) {
    const element = this.#small?.hidden === false ? this.#candidates[digit - 1].element : null;
    return element?.classList.contains("gs-none") ? null : element;
  }

  #build() {
    this.#small = document.createElement("span");
    this.#small.className = "gs-candidates";
    this.#small.setAttribute("aria-hidden", "true");
    for (let digit = 1; digit <= this.shape.n; digit++) {
      const element = document.createElement("span");
      element.className = "gs-candidate gs-none";
      element.dataset.digit = digit;
      element.textContent = symbol(digit);
      this.#small.append(element);
      this.#candidates.push({ element, classes: "hidden", weight: 0 });
    }
    this.element.append(this.#small);
  }
}
