/**
 * One life of a stack in a world where everything goes wrong that can: a run is all that follows from its seed.
 */
import { isDeepStrictEqual } from "node:util";
import type { ProviderRequest } from "@custard/provider/protocol";
import { Engine } from "../../packages/custard/src/engine/engine.ts";
import type { LogicalId, RequestId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { Delivery, ResourceTask, TaskOutcome } from "../../packages/custard/src/engine/ports.ts";
import { decodeStack, encodeStack } from "../../packages/custard/src/engine/state-codec.ts";
import { viewStack } from "../../packages/custard/src/engine/view.ts";
import { StackError } from "../../packages/custard/src/engine/stack-error.ts";
import { isSettled, type StackStatus } from "../../packages/custard/src/engine/stack-status.ts";
import type { OnFailure, Stack } from "../../packages/custard/src/engine/stack.ts";
import { Disk, ProcessJournal } from "../support/disk.ts";
import { law, StackLaws, Violation } from "./laws.ts";
import { mutate, randomTemplate, toTemplate, type TemplateSketch } from "./random-template.ts";
import { Random } from "./random.ts";
import { SimClock } from "./sim-clock.ts";
import { SimProvider, textOf, type Naming, type Temper } from "./sim-provider.ts";

/** What came of a run. */
export interface RunResult {
  readonly seed: number;
  /** Which law was broken; undefined when none was. */
  readonly violation?: string;
  /** What happened, line by line, with the virtual seconds since the start. */
  readonly story: readonly string[];
  readonly crashes: number;
  readonly requests: number;
}

const stackName = "my-stack";
const mostSteps = 4000;

/** Runs one life. The same seed gives the same life. */
export async function simulate(seed: number): Promise<RunResult> {
  const life = new Life(seed);
  const violation = await life.run().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
  );
  const { story, crashes, requests } = life;
  return { seed, story, crashes, requests, ...(violation === undefined ? {} : { violation }) };
}

/** A process that runs the engine, until it dies. */
interface Process {
  readonly engine: Engine;
  readonly journal: ProcessJournal;
  /** Requests that are being delivered or performed by this process. */
  readonly inHand: Map<RequestId, string>;
  die(): void;
}

class Life {
  readonly story: string[] = [];
  crashes = 0;
  requests = 0;
  readonly #random: Random;
  readonly #clock = new SimClock();
  readonly #start = this.#clock.now();
  readonly #disk = new Disk();
  readonly #temper: Temper;
  readonly #provider: SimProvider;
  readonly #laws = new Map<StackId, StackLaws>();
  readonly #handedOver = new Set<RequestId>();
  /** How likely a process dies at one call of its journal. */
  #crashiness: number;
  readonly #types = { facts: () => typeFacts };
  #process: Process;
  #trouble: unknown;
  #stacks = 0;
  #newest: StackId | undefined;

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = random;
    const naming = random.pick<Naming>(["fresh", "named", "versioned"]);
    this.#temper = { naming, hostility: random.pick([0, 0.05, 0.2, 0.6]) };
    this.#crashiness = random.pick([0, 0, 0.002, 0.02, 0.08]);
    this.#provider = new SimProvider(random, this.#temper);
    this.#process = this.#boot();
    this.#tell(`${naming} ids, hostility ${this.#temper.hostility}, crashiness ${this.#crashiness}`);
  }

  async run(): Promise<void> {
    const template = randomTemplate(this.#random);
    const operations = 1 + this.#random.below(5);
    await this.#create(template);
    for (let index = 0; index < operations; index += 1) {
      await this.#pause();
      await this.#operate(template);
    }
    await this.#settle();
    this.#temper.hostility = 0;
    this.#crashiness = 0;
    await this.#replay();
    await this.#end();
  }

  /** The stack is the fold of its records: whoever reads the journal anew, or a snapshot, sees the same. */
  async #replay(): Promise<void> {
    const stack = this.#stack;
    if (stack === undefined) return;
    const seen = viewStack(stack, this.#types);
    this.#process.die();
    this.#process = this.#boot();
    const { stackId } = stack.identity;
    law(
      isDeepStrictEqual(await this.#process.engine.stack(stackId), seen),
      () => "a replay gives another stack",
    );
    const copy = decodeStack(encodeStack(stack));
    law(isDeepStrictEqual(viewStack(copy, this.#types), seen), () => "a snapshot gives another stack");
    law(isDeepStrictEqual(encodeStack(copy), encodeStack(stack)), () => "a snapshot changes what it keeps");
  }

  // ------------------------------------------------------------------------------------------ operations

  async #create(template: TemplateSketch): Promise<void> {
    await this.#settle();
    this.#call("create", (engine) =>
      engine.createStack({
        stackName,
        templateBody: toTemplate(template),
        onFailure: this.#onFailure(),
        ...(this.#random.chance(0.1) ? { timeoutMinutes: 1 } : {}),
      }),
    );
    await this.#quiet();
  }

  async #operate(template: TemplateSketch): Promise<void> {
    const kind = this.#random.weigh(weightsIn(this.#stack?.status));
    switch (kind) {
      case "create":
        await this.#create(template);
        return;
      case "update":
        mutate(template, this.#random);
        this.#update(template);
        break;
      case "delete":
        this.#call("delete", (engine) => engine.deleteStack({ stack: stackName, retain: this.#retained() }));
        break;
      case "cancel":
        this.#call("cancel the update", (engine) => engine.cancelUpdate(stackName));
        break;
      case "rollback":
        this.#call("roll back", (engine) => engine.rollbackStack({ stack: stackName }));
        break;
      case "continue":
        this.#continue();
    }
    await this.#quiet();
  }

  #update(template: TemplateSketch): void {
    const templateBody = toTemplate(template);
    this.#call("update", (engine) =>
      engine.updateStack({ stackName, templateBody, onFailure: this.#onFailure() }),
    );
  }

  #continue(): void {
    const failed = this.#stack?.operation?.failures.filter(({ cancelled }) => cancelled !== true) ?? [];
    const skip = this.#random.chance(0.4) ? failed.map(({ logicalId }) => logicalId) : [];
    this.#call(`continue the rollback without [${skip.join()}]`, (engine) =>
      engine.continueUpdateRollback({ stack: stackName, skip }),
    );
  }

  #onFailure(): OnFailure {
    return this.#random.pick<OnFailure>(["ROLLBACK", "ROLLBACK", "ROLLBACK", "DO_NOTHING", "DELETE"]);
  }

  #retained(): readonly string[] {
    const failed = [...(this.#stack?.resources ?? [])].filter(([, { former }]) =>
      former.some(({ status }) => status === "DELETE_FAILED"),
    );
    return this.#stack?.status === "DELETE_FAILED" && this.#random.chance(0.5)
      ? failed.slice(0, 1).map(([logicalId]) => logicalId)
      : [];
  }

  /** A user's call; a crash leaves it without an answer, as a broken connection does. */
  #call(name: string, call: (engine: Engine) => Promise<unknown>): void {
    this.#tell(`user: ${name}`);
    call(this.#process.engine).catch((error: unknown) => {
      if (error instanceof StackError) this.#tell(`refused: ${error.message}`);
      else this.#trouble = error;
    });
  }

  /** In the end, with nothing going wrong any more, the stack can be deleted. */
  async #end(): Promise<void> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const stack = this.#stack;
      if (stack === undefined || stack.status === "DELETE_COMPLETE") return;
      this.#call("delete", (engine) => engine.deleteStack({ stack: stackName }));
      await this.#quiet();
      await this.#settle();
    }
    law(this.#stack?.status === "DELETE_COMPLETE", () => `the stack stays ${this.#stack?.status}`);
  }

  // ------------------------------------------------------------------------------------------------- time

  get #stack(): Stack | undefined {
    return this.#newest === undefined ? undefined : this.#laws.get(this.#newest)?.stack;
  }

  async #pause(): Promise<void> {
    if (this.#random.chance(0.6)) await this.#settle();
    else {
      const steps = this.#random.below(12);
      for (let step = 0; step < steps; step += 1) {
        this.#clock.step();
        await this.#quiet();
      }
    }
  }

  async #settle(): Promise<void> {
    await this.#quiet();
    for (let step = 0; step < mostSteps; step += 1) {
      if (this.#stack === undefined || isSettled(this.#stack.status)) {
        if (!this.#process.journal.dead) return;
      }
      // Several things at one moment, so that events meet in one batch.
      law(this.#clock.step(), () => "nothing is left that could go on");
      while (this.#random.chance(0.2)) this.#clock.step();
      await this.#quiet();
    }
    throw new Violation(`the stack is still ${this.#stack?.status} after ${mostSteps} steps`);
  }

  async #quiet(): Promise<void> {
    // All that waits for nothing but promises happens before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#trouble instanceof Error) throw this.#trouble;
    law(this.#trouble === undefined, () => `something was thrown that is no error`);
    const { journal, inHand } = this.#process;
    if (journal.dead) {
      this.#bury();
      return;
    }
    for (const [stackId, laws] of this.#laws) {
      laws.quiet({
        handed: ({ requestId, logicalId, kind }) =>
          this.#handedOver.has(requestId) ||
          inHand.has(requestId) ||
          // A built-in type does one thing after another to one resource.
          (kind === "task" && [...inHand.values()].includes(logicalId)),
        hasCommand: (key) => this.#disk.hasCommand(stackId, key),
      });
    }
  }

  // -------------------------------------------------------------------------------------------- processes

  #buried: Process | undefined;

  /** A dead process is followed by a new one after a while. */
  #bury(): void {
    if (this.#buried === this.#process) return;
    this.#buried = this.#process;
    this.crashes += 1;
    this.#tell("crash");
    this.#process.die();
    this.#clock.after(this.#random.below(20_000), () => {
      this.#tell("restart");
      this.#process = this.#boot();
    });
  }

  #boot(): Process {
    const clock = this.#clock.forProcess();
    const journal = new ProcessJournal(this.#disk, {
      dies: () => this.#random.chance(this.#crashiness),
      appended: (change) => this.#guard(() => this.#lawsOf(change.stackId).appended(change)),
    });
    const inHand = new Map<RequestId, string>();
    const hold = async <T>(
      { requestId, logicalId }: { requestId: string; logicalId: string },
      act: () => Promise<T>,
    ): Promise<T> => {
      if (journal.dead) return new Promise(() => {});
      inHand.set(requestId as RequestId, logicalId);
      const result = await act();
      inHand.delete(requestId as RequestId);
      if (journal.dead) return new Promise(() => {});
      this.#handedOver.add(requestId as RequestId);
      return result;
    };
    const engine = new Engine(
      {
        journal,
        clock,
        types: {
          facts: () => typeFacts,
          perform: (task) =>
            hold({ requestId: task.token, logicalId: task.logicalId }, () => this.#perform(task)),
        },
        transports: [
          {
            serves: () => true,
            deliver: (request) => hold(request, () => this.#deliver(request)),
          },
        ],
        responseUrls: { urlFor: ({ requestId }) => `https://response.invalid/${requestId}` },
        traces: { note: () => {}, ofRequest: async () => [] },
        failFast: true,
        trouble: (error) => (this.#trouble ??= error),
      },
      { region: "us-east-1", account: "123456789012", newSeed: () => `seed-${(this.#stacks += 1)}` },
    );
    engine.start();
    const die = () => {
      journal.die();
      clock.die();
    };
    return { engine, journal, inHand, die };
  }

  #lawsOf(stackId: StackId): StackLaws {
    const known = this.#laws.get(stackId);
    if (known !== undefined) return known;
    this.#newest = stackId;
    // A contradicting or new id in an answer isn't faithful; nothing but a temper without hostility is.
    const faithful = this.#temper.naming !== "fresh" && this.#temper.hostility === 0;
    const laws = new StackLaws(stackId, { faithful, tell: (line) => this.#tell(line) });
    this.#laws.set(stackId, laws);
    return laws;
  }

  /** A broken law is noted here, where the engine can't take it for trouble of its journal. */
  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#trouble ??= error;
    }
  }

  // -------------------------------------------------------------------------------------------- providers

  async #deliver(request: ProviderRequest): Promise<Delivery> {
    this.requests += 1;
    const plan = this.#provider.plan(request);
    const { requestType, logicalId } = request;
    this.#tell(`    asked: ${requestType} ${logicalId} ${physicalIdIn(request)} (${plan.kind})`);
    this.#guard(() => this.#laws.get(request.stackId as StackId)?.delivered(request));
    if (plan.kind === "refuse") return { kind: "refused", reason: "Function not found" };
    if (plan.kind === "die") return { kind: "silent", advice: "The function ended without answering." };
    for (const { after, body } of plan.answers) this.#clock.after(after, () => this.#put(request, body));
    return new Promise((resolve) => this.#clock.after(plan.busyFor, () => resolve({ kind: "over" })));
  }

  /** A provider that gets no 200 tries again, or gives up. */
  #put(request: ProviderRequest, body: string): void {
    const { engine, journal } = this.#process;
    const again = this.#random.chance(0.7);
    if (journal.dead) {
      if (again) this.#clock.after(5000, () => this.#put(request, body));
      return;
    }
    const bytes = new TextEncoder().encode(body);
    this.#tell(`    answer for ${request.logicalId}: ${body.slice(0, 40)}…`);
    this.#lawsOf(request.stackId as StackId).answered(request.requestId);
    let acknowledged = false;
    const received = engine.receive({
      stackId: request.stackId as StackId,
      logicalId: request.logicalId as LogicalId,
      requestId: request.requestId as RequestId,
      body: bytes.subarray(0, 4097),
      length: bytes.length,
    });
    received.then(
      () => (acknowledged = true),
      (error: unknown) => (this.#trouble ??= error),
    );
    if (again)
      this.#clock.after(3000, () => {
        if (!acknowledged) this.#put(request, body);
      });
  }

  #perform(task: ResourceTask): Promise<TaskOutcome> {
    const failing = this.#random.chance(this.#temper.hostility / 3);
    const reached = this.#random.chance(0.5);
    const { logicalId, action, physicalId, properties } = task;
    this.#tell(`    performed: ${action} ${logicalId} ${physicalId}`);
    const attributes = { Attr: `value-${textOf(properties["Value"])}` };
    const outcome: TaskOutcome = failing
      ? { kind: "failed", reason: "no luck", ...(reached ? { physicalId } : {}) }
      : { kind: "done", physicalId, attributes };
    return new Promise((resolve) => this.#clock.after(this.#random.below(3000), () => resolve(outcome)));
  }

  #tell(line: string): void {
    const seconds = ((this.#clock.now() - this.#start) / 1000).toFixed(1);
    this.story.push(`${seconds.padStart(7)}  ${line}`);
  }
}

/** Mostly what the stack's status allows; now and then what it doesn't. */
function weightsIn(status: StackStatus | undefined) {
  const failed = status === "CREATE_FAILED" || status === "UPDATE_FAILED";
  return {
    update: 10,
    delete: 1,
    create: 1,
    cancel: status === "UPDATE_IN_PROGRESS" ? 20 : 0.3,
    rollback: failed ? 6 : 0.3,
    continue: status === "UPDATE_ROLLBACK_FAILED" ? 40 : 0.3,
  };
}

const typeFacts = { kind: "builtin", createOnly: new Set(["Name"]), snapshots: false } as const;

function physicalIdIn(request: ProviderRequest): string {
  return request.requestType === "Create" ? "" : request.physicalId;
}
