// The count, large; what kind of board that makes it; and how the counting goes.

import { CountLine } from "./line.js";
import { make, makeButton, sentence, setText } from "./making.js";
import { duration, group, groupShort, inWords, price } from "./numbers.js";

const NOT_YET = "\u2026";
const BADGES = {
  none: "no solution",
  unique: "unique",
  several: "not unique",
  unknown: "not counted",
  hidden: "hidden while you solve",
};
const UNIQUE = "Unique: one solution.";

/** Shows a `Known` of counting.js. */
export class Result {
  #counting;
  #puzzle;
  #count = null;
  #badge = make("span", { class: "gs-badge", "data-part": "badge" }, NOT_YET);
  #number = make("div", { class: "gs-count", "data-part": "count" });
  #words = make("span", { "data-part": "words" });
  #noun = make("span");
  #method = make("p", { class: "gs-quiet", "data-part": "method" });
  #note = make("p", { class: "gs-note", "data-part": "note", hidden: "" });
  #bar = make("progress", { class: "gs-bar", max: "1", "aria-label": "Progress", hidden: "" });
  #line = new CountLine();
  #copy;
  #buttons;
  #old;

  /**
   * @param {import("./counting.js").Counting} counting
   * @param {import("./puzzle.js").Puzzle} puzzle
   */
  constructor(counting, puzzle) {
    this.#counting = counting;
    this.#puzzle = puzzle;
    this.#copy = makeButton("copy-count", "Copy", () => this.#copyCount());
    this.#copy.setAttribute("aria-label", "Copy the number");
    this.#copy.disabled = true;
    this.#buttons = {
      cancel: makeButton("cancel", "Cancel", () => counting.cancel()),
      goOn: makeButton("count-anyway", "Count anyway", () => counting.count()),
      retry: makeButton("retry", "Try again", () => counting.retry()),
    };
    this.#number.addEventListener("copy", (event) => this.#copied(event));
    const foot = make("div", { class: "gs-foot" }, this.#method, this.#note, this.#bar,
      ...Object.values(this.#buttons));
    const words = make("div", { class: "gs-words" }, this.#words, " ", this.#noun);
    this.element = make("section",
      { class: "gs-card gs-result", "data-part": "result", "aria-label": "Number of solutions" },
      make("div", { class: "gs-result-head" }, this.#badge, this.#copy),
      this.#number, words, foot);
    this.line = this.#line.element;
    this.#old = [this.#badge, this.#number, words, this.#method, this.line];
  }

  /** Show nothing of the board before, of which a new one has nothing. */
  forget() {
    this.#count = null;
    this.#badge.dataset.kind = "unknown";
    this.#badge.textContent = NOT_YET;
    for (const part of [this.#number, this.#words, this.#noun, this.#method]) {
      part.textContent = "";
    }
    delete this.#number.dataset.count;
    this.#line.show("unknown", "", NOT_YET);
    this.#copy.disabled = true;
  }

  /**
   * Show what is known.
   *
   * @param {import("./counting.js").Known} known
   * @param {boolean} late Whether the answer is late enough to tell how far it is, and to show no
   *   longer the one before.
   */
  show(known, late) {
    const { state, shares } = known;
    // The panel fades what is old while it is busy: while shares are worked out the count is new.
    for (const part of this.#old) part.classList.toggle("gs-old", state !== "done");
    if (state === "done") this.#showCount(known);
    else if (late || (state !== "working" && state !== "idle")) this.#showNone(known);
    const busy = state === "working" || shares.state === "working";
    const failed = state === "failed" || (state === "done" && shares.state === "failed");
    this.#buttons.cancel.hidden = !(busy && late);
    this.#bar.hidden = !(busy && late);
    const canGoOn = state === "expensive" ? !known.error.final : state === "cancelled";
    this.#buttons.goOn.hidden = !canGoOn;
    this.#buttons.retry.hidden = !failed;
    const note = this.#noteOf(known, late);
    this.#note.hidden = note === "";
    this.#note.classList.toggle("gs-failed", failed || known.conflict !== "");
    setText(this.#note, note);
    this.#method.hidden = state !== "done" ? note !== "" : known.conflict !== "";
    if (state === "done") setText(this.#method, methodText(known));
    if (known.done === null || state !== "working") this.#bar.removeAttribute("value");
    else this.#bar.value = known.done;
  }

  /** What is known, in one sentence for those who hear it. */
  spoken(known) {
    const { state, count, conflict, estimated } = known;
    if (state === "done" && count === 0n) return `No solution. ${conflict}`.trim();
    if (state === "done" && count === 1n) return this.#isSolved ? "Solved." : UNIQUE;
    if (state === "done") return `${inWords(count) || group(count)} solutions.`;
    const note = this.#noteOf(known, true);
    if (state !== "expensive" || estimated === null) return note;
    const about = `About ${estimated.estimate} solutions${intervalText(estimated)}.`;
    return `${about.replace(/e(?=\d)/g, " \u00d7 10^")} ${note}`;
  }

  /** Whether all digits stand there; that they are right tells the count. */
  get #isSolved() {
    return this.#puzzle.mode === "solving" && this.#puzzle.cells.every(Boolean);
  }

  #showCount({ count }) {
    const kind = count === 0n ? "none" : count === 1n ? "unique" : "several";
    const badge = kind === "unique" && this.#isSolved ? "solved" : BADGES[kind];
    this.#setBadge(kind, badge);
    const digits = String(count).length;
    const noun = count === 1n ? "solution" : "solutions";
    if (kind !== "several") this.#line.show(kind, badge, "");
    else this.#line.show(kind, digits <= 22 ? group(count) : inWords(count), noun);
    if (count === this.#count) return;
    this.#count = count;
    // It may break between groups; where digits are left out it breaks there.
    const text = groupShort(count);
    const parts = digits <= 40 ? text.split(/(?<=,)/) : [text];
    this.#number.replaceChildren(...parts.flatMap((part) => [part, make("wbr")]));
    this.#number.dataset.count = count;
    this.#number.dataset.size = digits <= 10 ? "large" : digits <= 22 ? "medium" : "small";
    setText(this.#words, inWords(count));
    setText(this.#noun, digits > 40 ? `${noun}, ${digits} digits` : noun);
    this.#copy.disabled = false;
  }

  #showNone({ state, atLeast, estimated }) {
    this.#count = null;
    const kind = atLeast > 1n ? "several" : state === "hidden" ? state : "unknown";
    this.#setBadge(kind);
    const about = estimated && (estimated.samples ? "~" : "") + estimated.estimate;
    this.#number.textContent = about ?? (atLeast ? `\u2265 ${groupShort(atLeast)}` : "?");
    if (about) this.#line.show(kind, about, "solutions");
    else if (atLeast) this.#line.show(kind, `\u2265 ${groupShort(atLeast, 22)}`, "solutions");
    else this.#line.show(kind, "", BADGES[kind]);
    delete this.#number.dataset.count;
    this.#number.dataset.size = atLeast && !about ? "medium" : "large";
    this.#words.textContent = "";
    setText(this.#noun, about ? `solutions${intervalText(estimated)}` : atLeast ? "solutions" : "");
    this.#copy.disabled = true;
  }

  #setBadge(kind, text = BADGES[kind]) {
    this.#badge.dataset.kind = kind;
    setText(this.#badge, text);
  }

  #noteOf(known, late) {
    const { state, conflict, atLeast, waiting, own, compiling, error, shares } = known;
    const time = timeText(known);
    if (state === "done" && conflict !== "") return sentence(conflict);
    if (state === "working" && late) {
      if (waiting && own) return `Waiting for the question before to end${time}`;
      if (waiting) return `Waiting for other questions${time}`;
      if (compiling) return `Getting ready for boards of this size (first time only)${time}`;
      return `${atLeast ? `At least ${groupShort(atLeast, 22)}` : "Counting"}${time}`;
    }
    if (state === "expensive") {
      const found = atLeast ? ` It found at least ${groupShort(atLeast, 22)}.` : "";
      const more = known.estimating ? " Estimating the number\u2026" : "";
      if (error.seconds === null) return sentence(error.message) + found + more;
      return `Counting this board should take ${price(error.seconds)}.${more}`;
    }
    if (state === "hidden") return "\u201cShares\u201d shows the count.";
    if (state === "cancelled") return "Cancelled.";
    if (state === "failed") return sentence(error.message);
    if (shares.state === "working" && late) return `Working out shares${time}`;
    if (shares.state === "failed") return sentence(shares.error.message);
    return "";
  }

  #copied(event) {
    if (this.#count === null) return;
    event.clipboardData.setData("text/plain", String(this.#count));
    event.preventDefault();
  }

  async #copyCount() {
    const text = String(this.#count);
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without the permission, or in a frame, a selection can still be copied.
      getSelection().selectAllChildren(this.#number);
      document.execCommand("copy");
      getSelection().removeAllRanges();
    }
    setText(this.#copy, "Copied");
    setTimeout(() => setText(this.#copy, "Copy"), 1200);
  }
}

/** How long it takes already, and of how long, if that is much. */
function timeText({ state, elapsed, estimate }) {
  if (elapsed < 1) return "";
  const total = state === "working" && estimate >= 2 ? ` of ${price(estimate)}` : "";
  const passed = Math.floor(elapsed);
  return `, ${passed < 100 ? `${passed}\u00a0s` : duration(passed)}${total}`;
}

/** The interval behind an estimate: ", estimated (95 %: 5.90e98 to 6.02e98)". */
function intervalText({ samples, confidence, low, high, is_reliable: isReliable }) {
  if (samples === 0) return "";
  const estimated = isReliable ? "estimated" : "roughly estimated";
  return `, ${estimated} (${100 * confidence}\u00a0%: ${low} to ${high})`;
}

function methodText({ method, milliseconds, shares, conflict }) {
  if (conflict !== "" || method === "") return "";
  const counted = `${method}, ${duration(milliseconds / 1000)}`;
  if (shares.state !== "done") return counted;
  return `${counted}; shares ${duration(shares.milliseconds / 1000)}`;
}
