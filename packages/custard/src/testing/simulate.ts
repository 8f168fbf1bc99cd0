/**
 * A resource's life on the real engine, for the tests of whoever wrote it: a stack of that one resource, a virtual
 * clock (polls and time limits take no time), deliveries with faults.
 *
 * Invariants
 * T1: time goes on only when no handler of the author's is at work, but for those that take longer than `patience`.
 * T2: what exists is what handlers answered or adopted and no `delete` has taken away; the stack accounts for it or
 *     it is an orphan.
 */
import { setTimeout as realDelay } from "node:timers/promises";
import type { Manifest, Resource, Span, Worker } from "@custard/provider";
import { type Json, type JsonObject, parseResponse, type ProviderRequest } from "@custard/provider/protocol";
import type { StackId } from "../engine/ids.ts";
import type { StackEvent, StackView } from "../engine/views.ts";
import { type Fault, faults as allFaults, SimulatedLambda } from "./simulated-lambda.ts";
import { type ScriptedAnswer, World } from "./world.ts";

/**
 * Properties as in a template: numbers and booleans are allowed; the provider gets strings, as on AWS. Their names are
 * those of the schema; a value of type `JsonObject` may have others, for what an older template says.
 */
export type Given<P> = { readonly [name in keyof P]?: Json } & { readonly ServiceTimeout?: Json };

/** How a simulation starts. */
export interface SimulationOptions<P = JsonObject> {
  readonly properties?: Given<P>;
  /** Real milliseconds for which a handler may be at work before virtual time goes on without it. Default 2000. */
  readonly patience?: number;
}

/** A run with faults. */
export interface ChaosOptions<P = JsonObject> {
  /** A whole number. The same seed, the same faults. */
  readonly seed: number;
  /** Default: all that there are. */
  readonly faults?: readonly Fault[];
  /** Updates between the create and the delete. Default: three that change nothing. */
  readonly updates?: readonly Given<P>[];
}

type Handler = Span["handler"];

const serviceToken = "arn:aws:lambda:us-east-1:123456789012:function:provider";
const logicalId = "Resource";
const breaker = "Breaker";

/**
 * Starts a simulation; nothing exists yet. Throws a TypeError on anything but what `defineResource` made, and on options
 * that there aren't.
 */
export function simulate<P, A, S>(
  resource: Resource<P, A, S>,
  options: SimulationOptions<NoInfer<P>> = {},
): Simulation<A, P> {
  if (typeof resource !== "object" || resource === null || !("work" in resource && "describe" in resource))
    throw new TypeError("simulate takes a resource made by defineResource");
  const unknown = Object.keys(options).find((name) => name !== "properties" && name !== "patience");
  if (unknown !== undefined)
    throw new TypeError(
      `simulate has no option ${unknown}, only properties and patience: put it inside of properties if it is one`,
    );
  return new Simulation<A, P>(resource, options);
}

/** A resource in a stack of its own. */
export class Simulation<A, P = JsonObject> {
  /** What handlers did, in order: `Create→create`, `Update→create`, `Delete(<id>)` … */
  readonly log: string[] = [];
  /** Everything that the provider logged. */
  logs = "";
  /** Ids that exist although the stack doesn't know of them. */
  get orphans(): readonly string[] {
    return [...this.#existing].filter((id) => id !== this.id);
  }
  /** The physical id that the stack knows; undefined when the resource isn't there. */
  id: string | undefined;
  /** Has the last update replaced the resource? */
  replaced = false;
  /** Status of the stack after the last operation. */
  status = "";
  /** Why the resource failed in the last operation, if it did. */
  reason: string | undefined;
  readonly #world: World;
  readonly #lambda: SimulatedLambda;
  readonly #type: string;
  readonly #handlers: readonly string[];
  readonly #patience: number;
  readonly #existing = new Set<string>();
  readonly #failures = new Map<Handler, Error>();
  #properties: JsonObject;
  #stackId: StackId | undefined;
  #data: JsonObject = {};
  #nextFaults: () => readonly Fault[] = () => [];

  constructor(resource: Worker & { describe(): Manifest }, options: SimulationOptions<P>) {
    this.#type = resource.type;
    this.#handlers = resource.describe().handlers;
    this.#properties = { ...options.properties };
    this.#patience = options.patience ?? 2000;
    this.#world = new World({ script: (request) => this.#answer(request) });
    this.#lambda = new SimulatedLambda(resource, {
      clock: this.#world.clock,
      faults: () => this.#nextFaults(),
      before: (span) => this.#before(span),
      after: (span) => this.#after(span),
      respond: (request, body) => this.#respond(request, body),
      log: (line) => void (this.logs += line),
    });
  }

  /** What `Fn::GetAtt` gives: the attributes of the last success. Typed by the schema that every answer was checked by. */
  get attributes(): A {
    return this.#data as A;
  }

  /**
   * Creates the stack. A failure is rolled back, as on AWS; `status` and `reason` tell. Throws when the stack is there, and
   * when a handler hangs.
   */
  async create(): Promise<StackView> {
    this.#absent();
    return this.#deploy({ isBroken: false });
  }

  /** The same, but another resource fails after this one, so that it is rolled back. */
  async createAndRollback(): Promise<StackView> {
    this.#absent();
    return this.#deploy({ isBroken: true });
  }

  /** Updates the stack with these properties in place of those of the same name. Throws when there is no stack. */
  async update(changes: Given<P>): Promise<StackView> {
    this.#known();
    this.#properties = { ...this.#properties, ...changes };
    return this.#deploy({ isBroken: false });
  }

  /** The same, but another resource fails after this one, so that the update is rolled back. */
  async updateAndRollback(changes: Given<P>): Promise<StackView> {
    this.#known();
    const before = this.#properties;
    this.#properties = { ...before, ...changes };
    const stack = await this.#deploy({ isBroken: true });
    this.#properties = before;
    return stack;
  }

  /** Deletes the stack. */
  async delete(): Promise<StackView> {
    const stackId = this.#known();
    await this.#world.engine.deleteStack({ stack: stackId });
    const stack = await this.#settle(stackId);
    if (stack.status === "DELETE_COMPLETE") this.#stackId = undefined;
    this.#refuseHanging();
    return stack;
  }

  /** The next call of this handler throws before any of its code runs. Throws when the resource has no such handler. */
  failNext(handler: Handler, error: Error): void {
    if (!this.#handlers.includes(handler))
      throw new TypeError(`${this.#type} has no handler ${handler}, only ${this.#handlers.join(", ")}`);
    if (!(error instanceof Error)) throw new TypeError("failNext needs the error that is thrown");
    this.#failures.set(handler, error);
  }

  /**
   * Creates, updates and deletes with faults at random, and checks after each operation that it succeeded all the same,
   * and that nothing was left behind. Throws with the seed and the log when it isn't so.
   */
  async chaos({ seed, faults = allFaults, updates = [{}, {}, {}] }: ChaosOptions<P>): Promise<void> {
    if (!Number.isInteger(seed)) throw new TypeError("chaos needs a seed: a whole number");
    const unknown = faults.find((fault) => !allFaults.includes(fault));
    if (unknown !== undefined)
      throw new TypeError(`There is no fault ${unknown}, only ${allFaults.join(", ")}`);
    const random = randomFrom(seed);
    this.#nextFaults = () => faults.filter(() => random() < 0.5);
    try {
      await this.create();
      this.#check(seed, "CREATE_COMPLETE");
      for (const [index, changes] of updates.entries()) {
        // A change that no schema knows, as an update that changes nothing sends nothing.
        this.#properties = { ...this.#properties, Nonce: `${seed}-${index}`, ...changes };
        await this.#deploy({ isBroken: false });
        this.#check(seed, "UPDATE_COMPLETE");
      }
      await this.delete();
      this.#check(seed, "DELETE_COMPLETE");
    } finally {
      this.#nextFaults = () => [];
    }
  }

  /** All stack events so far, oldest first. */
  async events(): Promise<readonly StackEvent[]> {
    return this.#world.events(this.#known());
  }

  /** Ends the simulation. */
  async close(): Promise<void> {
    await this.#world.close();
  }

  async #deploy({ isBroken }: { isBroken: boolean }): Promise<StackView> {
    const templateBody = JSON.stringify({ Resources: this.#resources(isBroken) });
    const stack = this.#stackId;
    const before = this.id;
    const stackId =
      stack === undefined
        ? await this.#world.create({ templateBody })
        : await this.#world.engine.updateStack({ stackName: "my-stack", templateBody });
    const settled = await this.#settle(stackId);
    this.#stackId = settled.status === "ROLLBACK_COMPLETE" ? await this.#forget(stackId) : stackId;
    this.replaced = stack !== undefined && before !== this.id;
    this.#refuseHanging();
    return settled;
  }

  /** A handler that still hasn't settled, hours of virtual time later, never will. */
  #refuseHanging(): void {
    const [hanging] = this.#lambda.atWork.keys();
    if (hanging === undefined) return;
    this.#lambda.atWork.clear();
    throw new Error(
      `The ${hanging.handler} handler of ${this.#type} hangs: it never settled, and was given up after ${this.#patience} ms. ` +
        "Pass ctx.signal to what it waits for; if it only needs longer here, raise patience. " +
        `CloudFormation was told: ${this.reason ?? "nothing"}`,
    );
  }

  /** A stack that was rolled back after its creation can only be deleted; nothing is left in it. */
  async #forget(stackId: StackId): Promise<undefined> {
    await this.#world.engine.deleteStack({ stack: stackId });
    await this.#run(stackId);
  }

  #resources(isBroken: boolean): JsonObject {
    const resource = { Type: this.#type, Properties: { ServiceToken: serviceToken, ...this.#properties } };
    const broken = {
      Type: "Custom::Breaker",
      DependsOn: logicalId,
      Properties: { ServiceToken: serviceToken },
    };
    return { [logicalId]: resource, ...(isBroken && { [breaker]: broken }) };
  }

  async #settle(stackId: StackId): Promise<StackView> {
    this.reason = undefined;
    const newest = (await this.#world.events(stackId)).at(-1)?.sequence ?? 0;
    const stack = await this.#run(stackId);
    const resource = stack.resources.find((one) => one.logicalId === logicalId);
    const isThere = resource !== undefined && !resource.status.startsWith("DELETE");
    this.id = isThere ? resource.physicalId : undefined;
    this.status = stack.status;
    const events = await this.#world.events(stackId);
    this.reason = events.find(
      (event) => event.sequence > newest && event.logicalId === logicalId && event.status.endsWith("_FAILED"),
    )?.reason;
    return stack;
  }

  /** Lets everything happen until the stack has settled (T1). */
  async #run(stackId: StackId): Promise<StackView> {
    for (;;) {
      await this.#idle();
      const stack = await this.#world.engine.stack(stackId);
      if (stack.settled && this.#lambda.inFlight === 0) return stack;
      if (!this.#world.clock.advanceToNext()) throw new Error("Nothing is left that could go on");
    }
  }

  /** Waits, in real time, until no handler is at work that hasn't been so for long. */
  async #idle(): Promise<void> {
    await this.#world.quiet();
    while ([...this.#lambda.atWork.values()].some((since) => Date.now() - since < this.#patience)) {
      await realDelay(1);
      await this.#world.quiet();
    }
  }

  async #answer(request: ProviderRequest): Promise<ScriptedAnswer> {
    if (request.logicalId === breaker) {
      return { answer: request.requestType === "Delete" ? {} : { Status: "FAILED", Reason: "asked for" } };
    }
    await this.#lambda.deliver(request);
    return "silence";
  }

  async #respond(request: ProviderRequest, body: Uint8Array): Promise<void> {
    const verdict = parseResponse(body, body.length, request);
    if (verdict.kind === "answer") {
      const { physicalId, status } = verdict.response;
      if (verdict.response.status === "SUCCESS" && request.requestType !== "Delete")
        this.#data = verdict.response.data;
      const isReal = !physicalId.startsWith("never-created:") && request.requestType !== "Delete";
      if (isReal && (status === "SUCCESS" || request.requestType === "Create"))
        this.#existing.add(physicalId);
    }
    await this.#world.respond(request, body);
  }

  #before({ handler, id, request }: Span): void {
    this.log.push(`${request.requestType}→${handler}${id === undefined ? "" : `(${id})`}`);
    const error = this.#failures.get(handler);
    this.#failures.delete(handler);
    if (error !== undefined) throw error;
  }

  #after({ handler, id }: Span): void {
    if (handler === "delete" && id !== undefined) this.#existing.delete(id);
  }

  #check(seed: number, expected: string): void {
    if (this.status === expected && this.orphans.length === 0) return;
    const left = this.orphans.join(", ") || "none";
    throw new Error(
      [`seed ${seed}: ${this.status} instead of ${expected}, orphans: ${left}`, ...this.log, this.logs].join(
        "\n",
      ),
    );
  }

  #absent(): void {
    if (this.#stackId === undefined) return;
    throw new Error("It has been created already: change it with update(), or call delete() first");
  }

  #known(): StackId {
    if (this.#stackId === undefined) throw new Error("Nothing has been created");
    return this.#stackId;
  }
}

/** Draws from 0 up to, but without, 1; the same seed, the same draws. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
