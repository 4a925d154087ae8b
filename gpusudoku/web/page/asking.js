// Questions over HTTP, with answers as server-sent events.

import { AskError } from "./failing.js";

const OFFLINE = "the server does not answer: is gpusudoku serve still running?";

/**
 * Ask the server.
 *
 * @param {string} kind "count", "shares", ...
 * @param {object} question The fields of the question.
 * @param {object} [options]
 * @param {(facts: object) => void} [options.progress] Called with the progress of the answer.
 * @param {AbortSignal} [options.signal] Cancels the question, also on the server.
 * @returns {Promise<object>} The answer.
 * @throws {AskError} If there is no answer.
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
    // Unread, the stream would keep the connection open, and the server at work.
    reader.cancel().catch(() => {});
  }
}

/**
 * Describe the engine and the example boards; an empty object if the server does not answer.
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

/** Splits a stream of bytes, in chunks of any size, into events. */
class EventReader {
  #decoder = new TextDecoder();
  #rest = "";
  #name = "";
  #data = [];

  /**
   * Return the events that one more chunk completes.
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
    // An abort stays an AbortError, even if the browser reports a network error.
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
