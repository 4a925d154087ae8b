// One line that tells how a question of a button goes.

import { make, makeButton, sentence } from "./making.js";
import { price } from "./numbers.js";

const PATIENCE = 500;

/** A line with what is done, what came of it, or why nothing did; its height is reserved. */
export class StatusLine {
  #text = make("span",
    { class: "gs-status-text", role: "status", "data-part": "status" });
  #bar = make("progress", { class: "gs-bar", max: "1", hidden: "" });
  #cancel;
  #timer = 0;
  #isOffline = false;

  /** @param {() => void} cancel What the button in it does while something is asked. */
  constructor(cancel) {
    this.#cancel = makeButton("cancel", "Cancel", cancel);
    this.#cancel.hidden = true;
    this.element = make("div", { class: "gs-status" }, this.#text, this.#bar, this.#cancel);
  }

  /**
   * Tell that something is asked, unless the answer comes at once.
   *
   * @param {string} text
   * @param {() => void} [late] Is called with that.
   */
  busy(text, late = () => {}) {
    this.say("");
    this.#timer = setTimeout(() => {
      this.#text.textContent = text;
      this.#bar.hidden = this.#cancel.hidden = false;
      late();
    }, PATIENCE);
  }

  /**
   * Tell how far it is.
   *
   * @param {object} facts
   */
  progress({ done }) {
    if (Number.isFinite(done)) this.#bar.value = done;
  }

  /**
   * Tell what came of it.
   *
   * @param {string} text
   * @param {boolean} [wrong] Whether that is a failure.
   */
  say(text, wrong = false) {
    clearTimeout(this.#timer);
    this.#isOffline = false;
    this.#text.textContent = text;
    this.#text.classList.toggle("gs-failed", wrong);
    this.#bar.removeAttribute("value");
    this.#bar.hidden = this.#cancel.hidden = true;
  }

  /**
   * Tell why there is no answer.
   *
   * @param {import("./failing.js").AskError} error
   */
  fail(error) {
    const { kind, message, seconds } = error;
    const priced = kind === "expensive" && seconds !== null;
    this.say(priced ? `That should take ${price(seconds)}.` : sentence(message), true);
    this.#isOffline = kind === "offline";
  }

  /** Somebody answers again. */
  recover() {
    if (this.#isOffline) this.say("");
  }
}
