import type { Json, JsonObject, ProviderRequest } from "@custard/provider/protocol";
import { Engine, type StackInput } from "../engine/engine.ts";
import type { LogicalId, PhysicalId, RequestId, StackId } from "../engine/ids.ts";
import type {
  Delivery,
  Journal,
  Notifications,
  ResourceTypes,
  TraceEntry,
  Transforms,
  Transport,
} from "../engine/ports.ts";
import type { StackEvent, StackView } from "../engine/views.ts";
import { MemoryJournal } from "../storage/memory-journal.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What a scripted provider does about a request. */
export type Script = (request: ProviderRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** `answer`: completed with the request's ids and, if it names none, with a physical id. */
export type ScriptedAnswer =
  | { readonly answer: JsonObject }
  | { readonly body: string | Uint8Array }
  | { readonly delivery: Delivery }
  | "silence";

/** What a world is made with; all but the script have defaults. */
export interface WorldOptions {
  readonly script: Script;
  readonly types?: ResourceTypes;
  readonly journal?: Journal;
  readonly clock?: VirtualClock;
  readonly failFast?: boolean;
  /** What dynamic references name, by their whole text; may be changed while the world goes on. */
  readonly references?: Readonly<Record<string, string>>;
  /** Values of SSM parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What macros and included files say. */
  readonly transforms?: Transforms;
  /** Templates of nested stacks, by `TemplateURL`; may be changed while the world goes on. */
  readonly templates?: Readonly<Record<string, string>>;
  /** From which the stacks' ids are made: the same seed, the same ids. */
  readonly seed?: string;
}

/** The real engine on a virtual clock, with scripted providers and everything in memory. */
export class World {
  readonly engine: Engine;
  readonly clock: VirtualClock;
  readonly journal: Journal;
  /** All requests that were delivered, in order. */
  readonly requests: ProviderRequest[] = [];
  readonly traces: TraceEntry[] = [];
  /** What was published to notification topics. */
  readonly notifications: Parameters<Notifications["publish"]>[0][] = [];
  readonly #script: Script;

  constructor(options: WorldOptions) {
    this.#script = options.script;
    this.clock = options.clock ?? new VirtualClock();
    this.journal = options.journal ?? new MemoryJournal();
    this.engine = this.#openEngine(options);
    this.engine.start();
  }

  /** Starts to create a stack; it is called `my-stack` unless told otherwise. */
  async create(input: Partial<StackInput> & { readonly templateBody: string }): Promise<StackId> {
    return this.engine.createStack({ stackName: "my-stack", ...input });
  }

  /** Lets everything happen, hours of waiting too, until the stack has settled. */
  async settle(stackId: StackId): Promise<StackView> {
    for (;;) {
      await this.quiet();
      const stack = await this.engine.stack(stackId);
      if (stack.settled) return stack;
      if (!this.clock.advanceToNext()) throw new Error("nothing is left that could go on");
    }
  }

  /** Lets everything happen that doesn't need the clock to go on. */
  async quiet(): Promise<void> {
    // Long enough for promises to settle; nothing in a world waits for the outside.
    for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sends a body for a request by hand. */
  async respond(request: ProviderRequest, body: string | Uint8Array): Promise<void> {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    await this.engine.receive({
      stackId: request.stackId as StackId,
      logicalId: request.logicalId as LogicalId,
      requestId: request.requestId as RequestId,
      body: bytes.subarray(0, 4097),
      length: bytes.length,
    });
  }

  /** All events of a stack, oldest first. */
  async events(stackId: StackId): Promise<readonly StackEvent[]> {
    return this.engine.events(stackId);
  }

  async close(): Promise<void> {
    await this.engine.close();
  }

  #openEngine(options: WorldOptions): Engine {
    let stacks = 0;
    const { traces } = this;
    return new Engine(
      {
        journal: this.journal,
        clock: this.clock,
        types: options.types ?? recordTypes,
        transports: [this.#transport()],
        responseUrls: { urlFor: ({ requestId }) => `https://response.invalid/${requestId}` },
        traces: {
          note: (entry) => traces.push(entry),
          ofRequest: async (id) => traces.filter((entry) => entry.requestId === id),
        },
        templates: {
          read: async ({ url }) => {
            const body = options.templates?.[url];
            return body === undefined
              ? { kind: "failed", reason: `There is no template ${url}.` }
              : { kind: "read", body };
          },
        },
        ...(options.transforms === undefined ? {} : { transforms: options.transforms }),
        lookups: {
          dynamicValue: async ({ text }) => {
            const value = options.references?.[text];
            return value === undefined
              ? { kind: "failed", message: `Nothing is known of ${text}.` }
              : { kind: "value", value };
          },
          ssmParameters: async () => ({
            kind: "values",
            values: new Map(Object.entries(options.parameters ?? {})),
          }),
        },
        waitUrls: {
          urlFor: ({ stackId, logicalId }) =>
            `https://wait.invalid/${encodeURIComponent(`${stackId}/${logicalId}`)}`,
        },
        notifications: {
          publish: async (notification) => {
            this.notifications.push(notification);
          },
        },
        failFast: options.failFast ?? false,
        trouble: (error) => {
          throw error;
        },
      },
      {
        region: "us-east-1",
        account: "123456789012",
        newSeed: () => {
          stacks += 1;
          return `${options.seed ?? "seed"}-${stacks}`;
        },
      },
    );
  }

  #transport(): Transport {
    return {
      serves: () => true,
      deliver: async (request) => {
        this.requests.push(request);
        return this.#perform(request, await this.#script(request));
      },
    };
  }

  async #perform(request: ProviderRequest, answer: ScriptedAnswer): Promise<Delivery> {
    if (answer === "silence") return { kind: "over" };
    if ("delivery" in answer) return answer.delivery;
    await this.respond(
      request,
      "body" in answer ? answer.body : JSON.stringify(completed(request, answer.answer)),
    );
    return { kind: "over" };
  }
}

function completed(request: ProviderRequest, answer: JsonObject): Json {
  return {
    Status: "SUCCESS",
    PhysicalResourceId: request.requestType === "Create" ? `${request.logicalId}-1` : request.physicalId,
    StackId: request.stackId,
    RequestId: request.requestId,
    LogicalResourceId: request.logicalId,
    ...answer,
  };
}

/** Built-in types that are records: any type exists, `Name` is create-only, `Arn` is the one attribute. */
const recordTypes: ResourceTypes = {
  facts: () => ({ kind: "builtin", createOnly: new Set(["Name"]), snapshots: false }),
  perform: async ({ physicalId }) => ({
    kind: "done",
    physicalId: physicalId satisfies PhysicalId,
    attributes: { Arn: `arn:aws:example:::${physicalId}` },
  }),
};
