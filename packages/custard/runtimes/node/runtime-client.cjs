"use strict";
/**
 * A client of the Runtime API. Speaks HTTP over a bare socket of its own, so that code which patches `http` doesn't see
 * or break it.
 */
const net = require("node:net");

// Kept before the function's code can replace them.
const { Buffer, Promise } = globalThis;
const exit = process.exit.bind(process);

const nextEvent = "/2018-06-01/runtime/invocation/next";

/** One keep-alive connection to the Runtime API. Holds the event loop only while waiting. */
class RuntimeApi {
  #socket;
  #received = Buffer.alloc(0);
  /** Those that wait for an answer, in the order of their requests. */
  #waiting = [];
  #token;

  constructor(address, token) {
    this.#token = token;
    const [host, port] = address.split(":");
    this.#socket = net.connect({ host, port: Number(port), noDelay: true });
    this.#socket.on("data", (chunk) => this.#onData(chunk));
    // The engine is gone: nobody can be told anything any more.
    this.#socket.on("error", () => exit(0));
    this.#socket.on("close", () => exit(0));
  }

  request(method, target, message) {
    this.#socket.ref();
    this.#socket.write(this.#encode(method, target, message));
    return this.#answer();
  }

  next() {
    return this.request("GET", nextEvent);
  }

  /** Posts what became of an event and asks for the next in one go: nothing that was left running gets in between. */
  async postAndNext(target, message) {
    this.#socket.ref();
    this.#socket.write(
      Buffer.concat([this.#encode("POST", target, message), this.#encode("GET", nextEvent)]),
    );
    const [, event] = await Promise.all([this.#answer(), this.#answer()]);
    return event;
  }

  #encode(method, target, { body = "", headers = {} } = {}) {
    const bytes = Buffer.from(body);
    const lines = Object.entries({
      host: "custard",
      "custard-token": this.#token,
      "content-length": bytes.length,
      ...headers,
    });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`), bytes]);
  }

  #answer() {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #onData(chunk) {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [, ...lines] = this.#received.toString("latin1", 0, end).split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => splitOnce(line, ": ")));
      const length = Number(headers["content-length"] ?? 0);
      if (this.#received.length < end + 4 + length) return;
      const body = this.#received.toString("utf8", end + 4, end + 4 + length);
      this.#received = this.#received.subarray(end + 4 + length);
      const resolve = this.#waiting.shift();
      if (this.#waiting.length === 0) this.#socket.unref();
      resolve?.({ headers, body });
    }
  }
}

function splitOnce(line, separator) {
  const at = line.indexOf(separator);
  return [line.slice(0, at).toLowerCase(), line.slice(at + separator.length)];
}

module.exports = { RuntimeApi };
