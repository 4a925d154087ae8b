// Questions over HTTP, with answers as server-sent events.

import { AskError } from "./failing.js";

const OFFLINE = "the server does not answer: is gpusudoku serve still running?";

/**
 * Ask the server.
 *
 * @param {string} kind "count", "shares", ...
 * @param {object} question The fields of the question.
 * @param {object} [options]
 * @param {(facts: object) => void} [options.progress] Is told how far the answer is.
 * @param {AbortSignal} [options.signal] Gives the question up; the server notices.
 * @returns {Promise<object>} The answer.
 * @throws {AskError} If there is none.
 * @throws {DOMException} "AbortError" once the signal is aborted.
 */
export async function ask(kind, question, { progress = () => {}, signal } = {}) {
  const request = {
    method: "POST",
    headers: { Accept: "text/event-stream", "Content-Type": "application/json" },
    body: JSON.stringify(question),
    cache: "no-store",
    signal,
  };
  const response = await reached(() => fetch(`/${kind}`, request), signal);
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!isStream) {
    const facts = await reached(() => response.text(), signal).then(readJson);
    if (response.ok && facts !== undefined) return facts;
    throw AskError.of(facts, response.status);
  }
  const reader = response.body.getReader();
  const events = new EventReader();
  try {
    for (;;) {
      const { done, value } = await reached(() => reader.read(), signal);
      if (done) throw new AskError("the server ended its answer half-way", { kind: "offline" });
      for (const { name, data } of events.read(value)) {
        const facts = readJson(data);
        if (name === "result" && facts !== undefined) return facts;
        if (name === "result" || name === "error") throw AskError.of(facts, response.status);
        if (name === "progress" && facts !== undefined) progress(facts);
      }
    }
  } finally {
    // What is left of the stream would hold the connection, and with it the server's work.
    reader.cancel().catch(() => {});
  }
}

/**
 * What answers, and the boards that come with it; an empty object if nobody tells.
 *
 * @returns {Promise<object>}
 */
export async function about() {
  try {
    const response = await fetch("/about");
    return response.ok ? await response.json() : {};
  } catch {
    return {};
  }
}

/** @returns {Promise<boolean>} Whether the server answers. */
export async function reachable() {
  try {
    return (await fetch("/status", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** The events in a stream of bytes that comes in pieces of any size. */
class EventReader {
  #decoder = new TextDecoder();
  #rest = "";
  #name = "";
  #data = [];

  /**
   * The events that are complete with one more piece.
   *
   * @param {Uint8Array} bytes
   * @returns {{name: string, data: string}[]}
   */
  read(bytes) {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line's end.
    const held = text.endsWith("\r") ? 1 : 0;
    const lines = text.slice(0, text.length - held).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + text.slice(text.length - held);
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line) {
    if (line === "") {
      const event = { name: this.#name || "message", data: this.#data.join("\n") };
      const events = this.#data.length > 0 ? [event] : [];
      this.#name = "";
      this.#data = [];
      return events;
    }
    // A line that begins with a colon is a comment, which keeps the connection alive.
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === "event") this.#name = value ?? "";
    if (field === "data") this.#data.push(value ?? "");
    return [];
  }
}

async function reached(step, signal) {
  try {
    return await step();
  } catch {
    // An abort is told as it is, also where the browser calls it a failure of the network.
    signal?.throwIfAborted();
    throw new AskError(OFFLINE, { kind: "offline" });
  }
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
