// One cell of the grid on the page: its digit, and the small candidates in it.

import { symbol } from "./geometry.js";
import { setText } from "./making.js";

/**
 * What a cell shows. Elements that are not needed are hidden and kept.
 *
 * Hooks: `gs-cell` with data-cell (and `gs-clue`, `gs-edit`, `gs-shown`, `gs-wrong`, `gs-peer`,
 * `gs-same`, `gs-stuck`, `gs-focused`, `gs-around`, `gs-marked`, `gs-placed`), in it `gs-digit` and
 * `gs-candidate` with data-digit (and `gs-plain` by the rules alone, `gs-out` in no solution,
 * `gs-sure` in all, `gs-unique` in one, `gs-removed` by a step of logic, `gs-none` where it is not
 * shown; data-pointed).
 */
export class Cell {
  #digit = null;
  #small = null;
  #candidates = [];
  #looks = null;
  #label = "";
  #flags = new Set();
  #conflict = null;

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
  }

  /**
   * Show a digit, or none (0).
   *
   * @param {number} digit
   * @param {"clue"|"edit"|"shown"} kind
   */
  write(digit, kind) {
    if (digit && this.#digit === null) {
      this.#digit = document.createElement("span");
      this.#digit.className = "gs-digit";
      this.element.append(this.#digit);
    }
    if (this.#digit) setText(this.#digit, digit ? symbol(digit) : "");
    for (const each of ["clue", "edit", "shown"]) this.flag(each, digit > 0 && each === kind);
  }

  /** Set or remove a class, without its "gs-". */
  flag(name, on) {
    if (on === this.#flags.has(name)) return;
    this.element.classList.toggle(`gs-${name}`, on);
    if (on) this.#flags.add(name);
    else this.#flags.delete(name);
  }

  /** @param {string|null} conflict What is wrong here. */
  complain(conflict) {
    if (conflict === this.#conflict) return;
    this.#conflict = conflict;
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
   * @returns {number} How many elements have changed; a new one counts twice.
   */
  showCandidates(looks) {
    if (looks === this.#looks) return 0;
    this.#looks = looks;
    if (this.#small === null) {
      this.#small = document.createElement("span");
      this.#small.className = "gs-candidates";
      this.#small.setAttribute("aria-hidden", "true");
      this.element.append(this.#small);
    }
    const turns = this.#small.hidden !== (looks === null);
    let changed = turns ? this.#candidates.length : 0;
    this.#small.hidden = looks === null;
    looks?.forEach((look, index) => {
      changed += this.#showCandidate(index, look);
    });
    return changed;
  }

  #showCandidate(index, look) {
    const isNew = this.#candidates[index] === undefined;
    if (look === null && isNew) return 0;
    const candidate = (this.#candidates[index] ??= this.#candidateOf(index + 1));
    const { classes, weight } = look ?? { classes: " gs-none", weight: 0 };
    if (candidate.classes === classes && candidate.weight === weight) return 0;
    candidate.classes = classes;
    candidate.weight = weight;
    candidate.element.className = `gs-candidate${classes}`;
    candidate.element.style.setProperty("--weight", weight);
    return isNew ? 2 : 1;
  }

  /** The element of a candidate that is shown, or null. */
  candidate(digit) {
    if (this.#small?.hidden !== false) return null;
    const candidate = this.#candidates[digit - 1];
    return candidate === undefined || candidate.classes === " gs-none" ? null : candidate.element;
  }

  #candidateOf(digit) {
    const element = document.createElement("span");
    const across = Math.ceil(Math.sqrt(this.shape.n));
    const down = Math.floor((digit - 1) / across);
    element.style.gridArea = `${down + 1} / ${digit - down * across}`;
    element.dataset.digit = digit;
    element.textContent = symbol(digit);
    // In the order in which the label tells them, and with the spaces that it has.
    const next = this.#candidates.slice(digit).find(Boolean)?.element ?? null;
    this.#small.insertBefore(element, next);
    element.after(" ");
    return { element, classes: null, weight: null };
  }
}
