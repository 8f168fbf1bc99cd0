import { lambdaHandler, type LogLine, type Options, type Provider, type Span } from "@custard/provider";
import { formatRequest, type ProviderRequest } from "@custard/provider/protocol";
import type { VirtualClock } from "./virtual-clock.ts";

/** What can go wrong between a request and its answer. */
export const faults = [
  /** The request is delivered a second time. */
  "duplicate",
  /** The response URL answers 500 once. */
  "put-500",
  /** The connection to the response URL is reset once. */
  "reset",
  /** The function is killed before its handler runs; Lambda delivers the request again a minute later. */
  "killed",
] as const;

/** One of `faults`. */
export type Fault = (typeof faults)[number];

/** Everything that a simulated function is connected to. */
export interface LambdaWorld {
  readonly clock: VirtualClock;
  /** The faults of the next delivery. */
  faults(request: ProviderRequest): readonly Fault[];
  /** Called before a handler runs; what it throws, the handler throws. */
  before(span: Span): void;
  /** Called after a handler that returned. */
  after(span: Span): void;
  /** What a PUT brings. */
  respond(request: ProviderRequest, body: Uint8Array): Promise<void>;
  log(line: string): void;
}

const timeLimit = 900_000;
/** Lambda's pauses before the second and the third delivery of an event (fact 19). */
const retryDelays = [60_000, 120_000];

/** A Lambda function with a provider in it, on a virtual clock: deliveries, retries, the time limit. */
export class SimulatedLambda {
  /** Handlers of the author's that are at work, and since when, in real time: virtual time must not go on meanwhile. */
  readonly atWork = new Map<Span, number>();
  /** Deliveries that haven't ended. */
  inFlight = 0;
  readonly #world: LambdaWorld;
  readonly #invoke: (request: ProviderRequest, faults: Set<Fault>) => Promise<unknown>;

  constructor(provider: Provider, world: LambdaWorld) {
    this.#world = world;
    const puts = new Map<string, { request: ProviderRequest; faults: Set<Fault> }>();
    const handler = lambdaHandler(provider, this.#options(puts));
    this.#invoke = async (request, faults) => {
      puts.set(request.responseUrl, { request, faults });
      const end = world.clock.now() + timeLimit;
      const context = { getRemainingTimeInMillis: () => end - world.clock.now() };
      const ended = new AbortController();
      const killed = world.clock
        .sleep(timeLimit, ended.signal)
        .then(() => Promise.reject(new Error("Task timed out")));
      killed.catch(() => undefined);
      try {
        return await Promise.race([handler(formatRequest(request), context), killed]);
      } finally {
        ended.abort();
      }
    };
  }

  /** Delivers a request as Lambda does: up to three times, until an invocation ends well. */
  async deliver(request: ProviderRequest): Promise<void> {
    const faults = new Set(this.#world.faults(request));
    this.inFlight += 1;
    try {
      const first = this.#attempt(request, faults, 0);
      if (faults.has("duplicate")) await this.#attempt(request, new Set(), 0);
      await first;
    } finally {
      this.inFlight -= 1;
    }
  }

  async #attempt(request: ProviderRequest, faults: Set<Fault>, attempt: number): Promise<void> {
    try {
      if (faults.delete("killed")) throw new Error("Runtime exited with error: signal: killed");
      await this.#invoke(request, faults);
    } catch (error) {
      this.#world.log(`invocation failed: ${String(error)}\n`);
      const delay = retryDelays[attempt];
      if (delay === undefined) return;
      await this.#world.clock.sleep(delay);
      await this.#attempt(request, faults, attempt + 1);
    }
  }

  #options(puts: Map<string, { request: ProviderRequest; faults: Set<Fault> }>): Options {
    const world = this.#world;
    const write = (level: LogLine["level"]) => (msg: string, fields?: object) =>
      world.log(`${JSON.stringify({ level, msg, ...fields })}\n`);
    return {
      clock: world.clock,
      logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
      around: async (span, run) => {
        this.atWork.set(span, Date.now());
        try {
          world.before(span);
          const result = await run();
          world.after(span);
          return result;
        } finally {
          this.atWork.delete(span);
        }
      },
      transport: async (url, body) => {
        const put = puts.get(url);
        if (put === undefined) throw new Error("there is no such response URL");
        if (put.faults.delete("reset")) throw new Error("socket hang up");
        if (put.faults.delete("put-500")) return { status: 500, body: "<Code>InternalError</Code>" };
        await world.respond(put.request, body);
        return { status: 200, body: "" };
      },
    };
  }
}
