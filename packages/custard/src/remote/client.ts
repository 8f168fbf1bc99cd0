/** The command line's side: calls of the server that works on a state directory. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { ServerAddress } from "./address.ts";
import type { StackEvent } from "../engine/views.ts";
import type { RemoteCalls } from "./calls.ts";
import { decodeError, type ErrorLine } from "./error-codec.ts";
import { RemoteError } from "./remote-error.ts";

/** The calls that give one value. */
export type PlainCall = Exclude<keyof RemoteCalls, "watch">;

/** A line of an answer: see the listener. */
interface AnswerLine {
  readonly item?: unknown;
  readonly value?: unknown;
  readonly error?: ErrorLine;
}

/** Calls a server. Throws what the server refuses, `RemoteError` otherwise, and `signal`'s reason. */
export class RemoteClient {
  readonly #address: ServerAddress;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** Who answers. */
  get pid(): number {
    return this.#address.pid;
  }

  async call<Name extends PlainCall>(
    name: Name,
    given: Parameters<RemoteCalls[Name]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<RemoteCalls[Name]>>> {
    const lines = this.#lines(name, given, signal);
    const first = await lines.next();
    await lines.return();
    const value = first.done === true ? undefined : first.value.value;
    // A cast, as the server of the same version answers by the same interface.
    return value as Awaited<ReturnType<RemoteCalls[Name]>>;
  }

  async *watch(
    given: Parameters<RemoteCalls["watch"]>,
    signal?: AbortSignal,
  ): AsyncGenerator<StackEvent, void> {
    for await (const { item } of this.#lines("watch", given, signal))
      if (item !== undefined) yield item as StackEvent;
  }

  /** All lines of an answer, up to and with its last. */
  async *#lines(
    name: keyof RemoteCalls,
    given: readonly unknown[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<AnswerLine, void> {
    try {
      const response = await this.#send(JSON.stringify({ name, given }), signal);
      for await (const line of linesOf(response)) {
        const answer = JSON.parse(line) as AnswerLine;
        if (answer.error !== undefined) throw decodeError(answer.error);
        yield answer;
        if (!("item" in answer)) return;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (isCutOff(error)) throw this.#ended(error);
      throw error;
    }
    throw this.#ended();
  }

  #send(body: string, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const { port, secret } = this.#address;
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        host: "127.0.0.1",
        port,
        method: "POST",
        path: "/",
        agent: false,
        headers: { authorization: `Bearer ${secret}`, "content-length": Buffer.byteLength(body) },
        ...(signal === undefined ? {} : { signal }),
      });
      sent.once("error", reject);
      sent.once("response", resolve);
      sent.end(body);
    });
  }

  #ended(cause?: unknown): RemoteError {
    return new RemoteError(
      "ServerEnded",
      `The server, process ${this.pid}, has ended before it had answered.`,
      { cause },
    );
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Errors of the socket have the codes of system calls. */
function isCutOff(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return code === "ECONNREFUSED" || code === "ECONNRESET" || code === "EPIPE";
}
