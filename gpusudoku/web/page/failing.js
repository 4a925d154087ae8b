// Errors of questions, over HTTP and in a notebook.

/** A question without an answer. The message is one line for people. */
export class AskError extends Error {
  /**
   * @param {string} message
   * @param {object} [details]
   * @param {string} [details.kind] As the interface has them ("input", "expensive", "busy", ...),
   *   or "offline" if the server does not answer.
   * @param {number} [details.status] The HTTP status, 0 if there is none.
   * @param {?number} [details.seconds] What an answer should take, if it was too expensive.
   * @param {?bigint} [details.atLeast] How many solutions had been found.
   * @param {boolean} [details.final] Whether it is too expensive without any limit, too.
   */
  constructor(message, details = {}) {
    super(message);
    this.name = "AskError";
    const none = { kind: "failed", status: 0, seconds: null, atLeast: null, final: false };
    Object.assign(this, none, details);
  }

  /**
   * Make the error that an answer describes.
   *
   * @param {unknown} facts The JSON of the answer, or whatever came in its place.
   * @param {number} [status] The HTTP status that it came with.
   * @returns {AskError}
   */
  static of(facts, status = 0) {
    if (typeof facts?.error !== "string") {
      return new AskError(`the answer cannot be understood (status ${status})`, { status });
    }
    return new AskError(facts.error, {
      kind: facts.kind ?? "failed",
      status: facts.status ?? status,
      seconds: facts.seconds ?? null,
      final: facts.final ?? false,
      atLeast: /^\d+$/.test(facts.at_least ?? "") ? BigInt(facts.at_least) : null,
    });
  }
}
