/**
 * One life of a stack, and of others that it deals with, in a world where everything goes wrong that can: a run is all that follows from its seed.
 */
import { isDeepStrictEqual } from "node:util";
import type { ProviderRequest } from "@custard/provider/protocol";
import { Engine } from "../../packages/custard/src/engine/engine.ts";
import type { LogicalId, RequestId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type {
  ArrivedSignal,
  Change,
  Delivery,
  ResourceTask,
  TaskOutcome,
  Templates,
  WaitUrls,
} from "../../packages/custard/src/engine/ports.ts";
import { physicalIdOf } from "../../packages/custard/src/engine/resource.ts";
import {
  decodeStack,
  encodeStack,
  type KnownTemplates,
} from "../../packages/custard/src/engine/state-codec.ts";
import { viewStack } from "../../packages/custard/src/engine/view.ts";
import { StackError } from "../../packages/custard/src/engine/stack-error.ts";
import { stackStatuses, type StackStatus } from "../../packages/custard/src/engine/stack-status.ts";
import type { OnFailure, Pending, Stack } from "../../packages/custard/src/engine/stack.ts";
import { Disk, ProcessJournal } from "../support/disk.ts";
import { law, StackLaws, Violation } from "./laws.ts";
import {
  childTemplates,
  mutate,
  randomTemplate,
  toTemplate,
  type TemplateSketch,
} from "./random-template.ts";
import { Random } from "./random.ts";
import { SimClock } from "./sim-clock.ts";
import { SimProvider, textOf, type Naming, type Temper } from "./sim-provider.ts";
import { childLaw, exportsLaw, isAtRest, isWithChild } from "./world-laws.ts";

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

const mainName = "my-stack";
/** Of the stack that uses the main one's export. */
const otherName = "other";
const mostSteps = 4000;

/** One of the stacks that users work with, and what its template is to be next. */
interface Root {
  readonly name: string;
  readonly template: TemplateSketch;
}

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
  readonly #hostility: number;
  readonly #provider: SimProvider;
  readonly #laws = new Map<StackId, StackLaws>();
  readonly #handedOver = new Set<RequestId>();
  /** How likely a process dies at one call of its journal. */
  #crashiness: number;
  readonly #types = { facts: () => typeFacts };
  #process: Process;
  #trouble: unknown;
  #stacks = 0;
  #changeSets = 0;
  readonly #newest = new Map<string, StackId>();
  readonly #templates = new Map<string, string>();
  readonly #knownTemplates: KnownTemplates = new Map();
  readonly #features: WorldFeatures;

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = random;
    const naming = random.pick<Naming>(["fresh", "named", "versioned"]);
    this.#hostility = random.pick([0, 0.05, 0.2, 0.6]);
    // What fails at once has little of a life.
    this.#temper = { naming, hostility: random.chance(0.3) ? this.#hostility : this.#hostility / 8 };
    this.#crashiness = random.pick([0, 0, 0.002, 0.02, 0.08]);
    this.#features = {
      nested: random.chance(0.3),
      waits: random.chance(0.3),
      exports: random.chance(0.2),
      policies: random.chance(0.2),
      changeSets: random.chance(0.4),
    };
    this.#provider = new SimProvider(random, this.#temper);
    this.#process = this.#boot();
    const there = Object.entries(this.#features).filter(([, is]) => is);
    this.#tell(
      `${naming} ids, hostility ${this.#hostility}, crashiness ${this.#crashiness}, with ${there.map(([name]) => name).join()}`,
    );
  }

  async run(): Promise<void> {
    const roots = this.#plant();
    const [main] = roots;
    const operations = 1 + this.#random.below(5);
    await this.#create(main);
    for (let index = 0; index < operations; index += 1) {
      await this.#pause();
      this.#temper.hostility = this.#hostility;
      await this.#operate(this.#random.pick(roots));
    }
    await this.#settle();
    this.#temper.hostility = 0;
    this.#crashiness = 0;
    await this.#replay();
    await this.#end(roots);
  }

  #plant(): readonly [Root, ...Root[]] {
    const { nested, waits, exports } = this.#features;
    const plain = { nested: false, waits: false, exports: false, imports: false };
    const main = { id: "main", features: { ...plain, nested, waits, exports }, size: nested ? 6 : 9 };
    const roots: [Root, ...Root[]] = [{ name: mainName, template: randomTemplate(this.#random, main) }];
    if (!exports) return roots;
    const other = { id: "other", features: { ...plain, imports: true }, size: 3 };
    return [...roots, { name: otherName, template: randomTemplate(this.#random, other) }];
  }

  /** The stack is the fold of its records: whoever reads the journal anew, or a snapshot, sees the same. */
  async #replay(): Promise<void> {
    const stacks = [...this.#laws.values()].flatMap(({ stack }) => stack ?? []);
    this.#process.die();
    this.#process = this.#boot();
    for (const stack of stacks) {
      const seen = viewStack(stack, this.#types);
      law(
        isDeepStrictEqual(await this.#process.engine.stack(stack.identity.stackId), seen),
        () => "a replay gives another stack",
      );
      const snapshot = encodeStack(stack);
      const copy = decodeStack(snapshot, this.#knownTemplates);
      law(isDeepStrictEqual(viewStack(copy, this.#types), seen), () => "a snapshot gives another stack");
      law(isDeepStrictEqual(encodeStack(copy), snapshot), () => "a snapshot changes what it keeps");
    }
  }

  // ------------------------------------------------------------------------------------------ operations

  async #create({ name, template }: Root): Promise<void> {
    await this.#settle();
    const templateBody = this.#publish(template);
    this.#call(`create ${name}`, (engine) =>
      engine.createStack({
        stackName: name,
        templateBody,
        onFailure: this.#onFailure(),
        ...this.#timeout(),
        ...this.#policy("stackPolicy"),
        retainExceptOnCreate: this.#random.chance(0.1),
        terminationProtection: this.#random.chance(0.05),
      }),
    );
    await this.#quiet();
  }

  async #operate(root: Root): Promise<void> {
    const { name, template } = root;
    const stack = this.#stack(name);
    const kind = this.#random.weigh(weightsIn(stack?.status, this.#features));
    switch (kind) {
      case "create":
        await this.#create(root);
        return;
      case "update":
        mutate(template, this.#random);
        this.#update(root);
        break;
      case "announce":
        mutate(template, this.#random);
        this.#announce(root, stack);
        break;
      case "execute":
        this.#execute(name, stack);
        break;
      case "drop":
        this.#drop(name, stack);
        break;
      case "protect":
        this.#protect(name, this.#random.chance(0.5));
        break;
      case "guard":
        this.#guardByPolicy(name);
        break;
      case "delete":
        this.#delete(name, stack);
        break;
      case "cancel":
        this.#call(`cancel the update of ${name}`, (engine) => engine.cancelUpdate(name));
        break;
      case "rollback":
        this.#call(`roll ${name} back`, (engine) =>
          engine.rollbackStack({ stack: name, retainExceptOnCreate: this.#random.chance(0.2) }),
        );
        break;
      case "continue":
        this.#continue(name, stack);
    }
    await this.#quiet();
  }

  #update({ name, template }: Root): void {
    const templateBody = this.#publish(template);
    this.#call(`update ${name}`, (engine) =>
      engine.updateStack({
        stackName: name,
        templateBody,
        onFailure: this.#onFailure(),
        ...this.#policy("stackPolicyDuringUpdate"),
        retainExceptOnCreate: this.#random.chance(0.1),
      }),
    );
  }

  /** Nested stacks find their templates as they are now. */
  #publish(template: TemplateSketch): string {
    for (const [url, body] of childTemplates(template)) this.#templates.set(url, body);
    return toTemplate(template);
  }

  #announce({ name, template }: Root, stack: Stack | undefined): void {
    const templateBody = this.#publish(template);
    this.#changeSets += 1;
    const fresh =
      stack === undefined || stack.status === "DELETE_COMPLETE" || stack.status === "REVIEW_IN_PROGRESS";
    const changeSetName = `changes-${this.#changeSets}`;
    this.#call(`make change set ${changeSetName} of ${name}`, (engine) =>
      engine.changeSets.create({
        stackName: name,
        changeSetName,
        templateBody,
        changeSetType: fresh ? "CREATE" : "UPDATE",
        onStackFailure: this.#onFailure(),
        ...(fresh ? this.#timeout() : {}),
        ...(this.#features.nested ? { includeNestedStacks: this.#random.chance(0.5) } : {}),
      }),
    );
  }

  /** Mostly the newest; now and then one that can't be executed any more. */
  #execute(name: string, stack: Stack | undefined): void {
    const known = [...(stack?.changeSets.keys() ?? [])];
    const changeSet = known.at(this.#random.chance(0.8) ? -1 : 0) ?? "changes-0";
    this.#call(`execute change set ${changeSet} of ${name}`, (engine) =>
      engine.changeSets.execute({
        stack: name,
        changeSet,
        disableRollback: this.#random.chance(0.2),
        retainExceptOnCreate: this.#random.chance(0.1),
      }),
    );
  }

  #drop(name: string, stack: Stack | undefined): void {
    const [changeSet = "changes-0"] = stack?.changeSets.keys() ?? [];
    this.#call(`delete change set ${changeSet} of ${name}`, (engine) =>
      engine.changeSets.delete({ stack: name, changeSet }),
    );
  }

  #protect(name: string, enabled: boolean): void {
    this.#call(`${enabled ? "protect" : "unprotect"} ${name}`, (engine) =>
      engine.setTerminationProtection(name, enabled),
    );
  }

  #guardByPolicy(name: string): void {
    const policy = this.#randomPolicy();
    this.#call(`set the policy of ${name} to ${policy}`, (engine) => engine.setStackPolicy(name, policy));
  }

  #policy<Name extends "stackPolicy" | "stackPolicyDuringUpdate">(name: Name): { [key in Name]?: string } {
    const given = this.#features.policies && this.#random.chance(0.4);
    return (given ? { [name]: this.#randomPolicy() } : {}) as { [key in Name]?: string };
  }

  /** A policy that protects one resource. */
  #randomPolicy(): string {
    const Action = this.#random.pick(["Update:*", "Update:Modify", "Update:Replace", "Update:Delete"]);
    const Resource = `LogicalResourceId/${this.#random.pick(["A", "B", "KeepC", "D", "F", "NestA"])}`;
    const allow = { Effect: "Allow", Action: "Update:*", Principal: "*", Resource: "*" };
    return JSON.stringify({ Statement: [{ Effect: "Deny", Action, Principal: "*", Resource }, allow] });
  }

  #timeout(): { readonly timeoutMinutes?: number } {
    return this.#random.chance(0.1) ? { timeoutMinutes: 1 } : {};
  }

  #delete(name: string, stack: Stack | undefined): void {
    const retain = this.#retained(stack);
    const force = stack?.status === "DELETE_FAILED" && this.#random.chance(0.3);
    this.#call(`delete ${name}${force ? " by force" : ""} without [${retain.join()}]`, (engine) =>
      engine.deleteStack({ stack: name, retain, ...(force ? { force } : {}) }),
    );
  }

  #continue(name: string, stack: Stack | undefined): void {
    const skip = this.#random.chance(0.4) ? this.#skippable(stack) : [];
    this.#call(`continue the rollback of ${name} without [${skip.join()}]`, (engine) =>
      engine.continueUpdateRollback({ stack: name, skip }),
    );
  }

  /** What has failed to go back; of a nested stack, now and then what has failed in it. */
  #skippable(stack: Stack | undefined): readonly string[] {
    const failed = stack?.operation?.failures.filter(({ cancelled }) => cancelled !== true) ?? [];
    return failed.flatMap(({ logicalId }) => {
      const current = stack?.resources.get(logicalId)?.current;
      const id = current === undefined ? undefined : physicalIdOf(current);
      const child = this.#laws.get((id ?? "") as string as StackId)?.stack;
      if (child === undefined || this.#random.chance(0.5)) return [logicalId];
      return this.#skippable(child).map((name) =>
        name.includes(".") ? name : `${child.identity.stackName}.${name}`,
      );
    });
  }

  #onFailure(): OnFailure {
    return this.#random.pick<OnFailure>(["ROLLBACK", "ROLLBACK", "ROLLBACK", "DO_NOTHING", "DELETE"]);
  }

  #retained(stack: Stack | undefined): readonly string[] {
    const failed = [...(stack?.resources ?? [])].filter(([, { former }]) =>
      former.some(({ status }) => status === "DELETE_FAILED"),
    );
    return stack?.status === "DELETE_FAILED" && this.#random.chance(0.5)
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

  /** In the end, with nothing going wrong any more, every stack can be deleted; whoever uses an export goes first. */
  async #end(roots: readonly Root[]): Promise<void> {
    for (const { name } of roots.toReversed())
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const stack = this.#stack(name);
        if (stack === undefined || stack.status === "DELETE_COMPLETE") break;
        if (stack.terminationProtection) this.#protect(name, false);
        this.#call(`delete ${name}`, (engine) => engine.deleteStack({ stack: name }));
        await this.#quiet();
        await this.#settle();
      }
    for (const { name } of roots) {
      const { status = "DELETE_COMPLETE" } = this.#stack(name) ?? {};
      law(status === "DELETE_COMPLETE", () => `${name} stays ${status}`);
    }
    for (const { stack } of this.#laws.values()) {
      if (stack !== undefined) childLaw(stack, this.#laws);
      law(stack?.status !== "REVIEW_IN_PROGRESS", () => `${stack?.identity.stackName} is reviewed for ever`);
    }
    this.#disk.write();
    law(this.#disk.commands.length === 0, () => `${this.#disk.commands[0]?.key} is never performed`);
  }

  // ------------------------------------------------------------------------------------------------- time

  #stack(name: string): Stack | undefined {
    const stackId = this.#newest.get(name);
    return stackId === undefined ? undefined : this.#laws.get(stackId)?.stack;
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
      const busy = this.#busy();
      if (busy.length === 0 && !this.#process.journal.dead) return this.#restLaws();
      // Several things at one moment, so that events meet in one batch.
      law(this.#clock.step(), () => `nothing is left that could go on, and ${busy.join()}`);
      while (this.#random.chance(0.2)) this.#clock.step();
      await this.#quiet();
    }
    throw new Violation(`after ${mostSteps} steps ${this.#busy().join()}`);
  }

  #busy(): readonly string[] {
    return [...this.#laws.values()].flatMap(({ stack }) =>
      stack === undefined || isAtRest(stack, this.#laws)
        ? []
        : [`${stack.identity.stackName} is still ${stack.status}`],
    );
  }

  #restLaws(): void {
    for (const { stack } of this.#laws.values()) if (stack !== undefined) childLaw(stack, this.#laws);
  }

  async #quiet(): Promise<void> {
    // All that waits for nothing but promises happens before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#trouble instanceof Error) throw this.#trouble;
    law(this.#trouble === undefined, () => `something was thrown that is no error`);
    const { journal } = this.#process;
    if (journal.dead) {
      this.#bury();
      return;
    }
    for (const [stackId, laws] of this.#laws) {
      const hasCommand = (key: string) => this.#disk.hasCommand(stackId, key);
      laws.quiet({ handed: (request) => this.#isHanded(request, hasCommand), hasCommand });
    }
  }

  #isHanded(request: Pending, hasCommand: (key: string) => boolean): boolean {
    const { requestId, logicalId, kind } = request;
    const { inHand } = this.#process;
    switch (kind) {
      case "signals":
        return hasCommand(`deadline:${requestId}`);
      case "child":
        return (
          hasCommand(`child:${requestId}`) ||
          isWithChild(request, this.#laws, (stackId, key) => this.#disk.hasCommand(stackId, key))
        );
      case "provider":
        return this.#handedOver.has(requestId) || inHand.has(requestId);
      case "task":
        // A built-in type does one thing after another to one resource.
        return (
          this.#handedOver.has(requestId) || inHand.has(requestId) || [...inHand.values()].includes(logicalId)
        );
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
      appended: (change) => this.#guard(() => this.#appended(change)),
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
        templates: { read: async ({ url }) => this.#readTemplate(url) },
        waitUrls: { urlFor: (target) => this.#waitUrl(target) },
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

  #appended(change: Change): void {
    this.#lawsOf(change).appended(change);
    if (this.#features.exports) exportsLaw(this.#laws);
  }

  #lawsOf({ stackId, summary }: Change): StackLaws {
    const known = this.#laws.get(stackId);
    if (known !== undefined) return known;
    this.#newest.set(summary.stackName, stackId);
    // A contradicting or new id in an answer isn't faithful; nothing but a temper without hostility is.
    const faithful = this.#temper.naming !== "fresh" && this.#hostility === 0;
    const name = summary.stackName === mainName ? "" : `${summary.stackName}: `;
    const laws = new StackLaws(stackId, {
      faithful,
      tell: (line) => this.#tell(`${name}${line}`),
      templates: this.#knownTemplates,
      crashes: () => this.crashes,
    });
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
    const refused = plan.kind === "refuse";
    this.#guard(() => this.#laws.get(request.stackId as StackId)?.delivered(request, { refused }));
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
    this.#laws.get(request.stackId as StackId)?.answered(request.requestId);
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
    if (task.type === "AWS::EC2::Instance" && action === "create") this.#signalLater(task);
    return new Promise((resolve) => this.#clock.after(this.#random.below(3000), () => resolve(outcome)));
  }

  #readTemplate(url: string): Awaited<ReturnType<Templates["read"]>> {
    const body = this.#templates.get(url);
    return body === undefined || this.#random.chance(this.#temper.hostility / 8)
      ? { kind: "failed", reason: `S3 error: ${url} does not exist` }
      : { kind: "read", body };
  }

  /** Whoever has a handle's URL signals at it, well or not, now and then too late or not at all. */
  #waitUrl({ stackId, logicalId }: Parameters<WaitUrls["urlFor"]>[0]): string {
    for (let index = 0; index < 4; index += 1)
      this.#clock.after(this.#random.below(20_000), () => this.#signalHandle({ stackId, logicalId }, index));
    return `https://wait.invalid/${encodeURIComponent(`${stackId}/${logicalId}`)}`;
  }

  #signalHandle(handle: Pick<ArrivedSignal, "stackId" | "logicalId">, index: number): void {
    const { engine, journal } = this.#process;
    if (journal.dead) return this.#clock.after(5000, () => this.#signalHandle(handle, index));
    const kind = this.#random.chance(this.#temper.hostility)
      ? this.#random.pick(["failure", "garbage", "none", "again"])
      : "success";
    if (kind === "none") return;
    const Status = kind === "failure" ? "FAILURE" : "SUCCESS";
    const UniqueId = `signal-${kind === "again" ? 0 : index}`;
    const body =
      kind === "garbage" ? "oops" : JSON.stringify({ Status, UniqueId, Reason: "why", Data: "data" });
    this.#tell(`    signal for ${handle.logicalId}: ${body}`);
    engine
      .receiveSignal({ ...handle, body: new TextEncoder().encode(body) })
      .catch((error: unknown) => (this.#trouble ??= error));
  }

  #signalLater({ stackId, logicalId, token }: ResourceTask): void {
    for (let index = 0; index < 2; index += 1)
      this.#clock.after(this.#random.below(15_000), () => {
        const fails = this.#random.chance(this.#temper.hostility / 2);
        if (this.#process.journal.dead || this.#random.chance(this.#temper.hostility / 2)) return;
        this.#call(`signal ${logicalId}`, (engine) =>
          engine.signalResource({
            stack: stackId,
            logicalId,
            uniqueId: `${token}-${index}`,
            status: fails ? "FAILURE" : "SUCCESS",
          }),
        );
      });
  }

  #tell(line: string): void {
    const seconds = ((this.#clock.now() - this.#start) / 1000).toFixed(1);
    this.story.push(`${seconds.padStart(7)}  ${line}`);
  }
}

/** What a life's stacks have, beside resources of their own. */
interface WorldFeatures {
  readonly nested: boolean;
  readonly waits: boolean;
  readonly exports: boolean;
  readonly policies: boolean;
  readonly changeSets: boolean;
}

/** What a stack's status says about what can be done with it. */
function standingOf(status: StackStatus | undefined) {
  const { update = false, settled = true } = status === undefined ? {} : stackStatuses[status];
  const gone = status === undefined || status === "DELETE_COMPLETE";
  const failed = status === "CREATE_FAILED" || status === "UPDATE_FAILED";
  const review = status === "REVIEW_IN_PROGRESS";
  return { update, gone, failed, review, left: settled && !update && !gone && !review };
}

/** Mostly what the stack's status allows; now and then what it doesn't. */
function weightsIn(status: StackStatus | undefined, { changeSets, policies }: WorldFeatures) {
  const { update, gone, failed, review, left } = standingOf(status);
  const when = (holds: boolean, weight: number, otherwise: number) => (holds ? weight : otherwise);
  return {
    update: when(update, 10, 0.5),
    delete: when(left, 6, when(gone, 0.2, 1)),
    create: when(gone, 10, 0.2),
    cancel: when(status === "UPDATE_IN_PROGRESS", 6, 0.1),
    rollback: when(failed, 6, 0.1),
    continue: when(status === "UPDATE_ROLLBACK_FAILED", 20, 0.1),
    announce: when(changeSets && (update || gone), 6, 0.1),
    execute: when(changeSets && (update || review), 8, 0.1),
    drop: when(changeSets, 0.3, 0),
    protect: 0.2,
    guard: when(policies, 1, 0),
  };
}

const typeFacts = { kind: "builtin", createOnly: new Set(["Name"]), snapshots: false } as const;

function physicalIdIn(request: ProviderRequest): string {
  return request.requestType === "Create" ? "" : request.physicalId;
}
