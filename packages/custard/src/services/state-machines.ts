/**
 * The local Step Functions: what `AWS::StepFunctions::StateMachine` and the endpoint make and start.
 *
 * Owns machines, executions and their durable memory. Leaves the language to `states/`, and tasks to whoever performs
 * them.
 *
 * Invariants
 * M1: an execution runs the definition that its machine had when it was started.
 * M2: a running execution goes on after a restart; a task that was under way then is performed again.
 * M3: a start that comes twice with one name and input is one execution.
 */
import { randomUUID } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Clock, Documents } from "../engine/ports.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { type InvokeFunction, taskPerformer } from "./perform-task.ts";
import { StateMachineError } from "./state-machine-error.ts";
import { parseDefinition } from "./states/definition.ts";
import { type ExecutionWorld, interpret } from "./states/interpret.ts";
import { StateFault } from "./states/state-fault.ts";

/** Where machines live. */
export interface StateMachineScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** A machine as kept. */
export interface StateMachine {
  readonly arn: string;
  readonly name: string;
  readonly type: "STANDARD" | "EXPRESS";
  /** JSON text, substitutions made. */
  readonly definition: string;
  readonly roleArn: string;
  readonly revisionId: string;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly token: string;
}

/** A machine that is to be. */
export interface NewStateMachine {
  readonly name: string;
  readonly definition: string;
  readonly roleArn: string;
  readonly type?: StateMachine["type"];
  readonly tags?: Readonly<Record<string, string>>;
  /** The same for every repetition of one call. */
  readonly token?: string;
}

/** How an execution stands; input and output are JSON texts. */
export type ExecutionState =
  | { readonly status: "RUNNING" }
  | { readonly status: "SUCCEEDED"; readonly output: string; readonly stoppedAt: number }
  | {
      readonly status: "FAILED" | "TIMED_OUT" | "ABORTED";
      readonly error: string;
      readonly cause: string;
      readonly stoppedAt: number;
    };

/** An execution as kept. */
export interface ExecutionRecord {
  readonly arn: string;
  readonly name: string;
  readonly machineArn: string;
  readonly machineName: string;
  readonly roleArn: string;
  readonly definition: string;
  readonly input: string;
  readonly startedAt: number;
  readonly state: ExecutionState;
}

/** What state machines need of the world. */
export interface StateMachineWorld {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Runs the functions of tasks. */
  readonly invoke: InvokeFunction;
  /** Told of trouble outside that leaves an execution running until the next start. */
  readonly trouble: (error: unknown) => void;
}

const largestInput = 262_144;

/** Machines and executions in `Documents`. Throws `StateMachineError`. */
export class StateMachines {
  readonly #world: StateMachineWorld;
  readonly #turns = new KeyedTurns();
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(world: StateMachineWorld) {
    this.#world = world;
  }

  /** Goes on with what is running (M2). */
  async resume(): Promise<void> {
    for (const { value } of await this.#world.documents.list("execution/")) {
      const execution = parseExecution(value);
      if (execution.state.status === "RUNNING") this.#begin(execution);
    }
  }

  /** Stops working; running executions go on at the next `resume`. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(closing);
    await Promise.all(running.map(({ ended }) => ended));
  }

  async create(scope: StateMachineScope, input: NewStateMachine): Promise<StateMachine> {
    const { name, token = "" } = input;
    checkName(name);
    const definition = checkDefinition(input.definition);
    const arn = machineArn(scope, name);
    return await this.#turns.run(arn, async () => {
      const before = await this.find(arn);
      if (before !== undefined && token !== "" && before.token === token) return before;
      if (before !== undefined)
        throw new StateMachineError("StateMachineAlreadyExists", `State Machine Already Exists: '${arn}'`);
      const machine: StateMachine = {
        arn,
        name,
        type: input.type ?? "STANDARD",
        definition,
        roleArn: input.roleArn,
        revisionId: randomUUID(),
        createdAt: this.#world.clock.now(),
        tags: input.tags ?? {},
        token,
      };
      await this.#put(machineKey(arn), machine);
      return machine;
    });
  }

  async update(
    arn: string,
    change: Partial<Pick<StateMachine, "definition" | "roleArn" | "tags">>,
  ): Promise<StateMachine> {
    const checked = change.definition === undefined ? {} : { definition: checkDefinition(change.definition) };
    return await this.#turns.run(arn, async () => {
      const machine = { ...(await this.get(arn)), ...change, ...checked, revisionId: randomUUID() };
      await this.#put(machineKey(arn), machine);
      return machine;
    });
  }

  async get(arn: string): Promise<StateMachine> {
    const machine = await this.find(arn);
    if (machine !== undefined) return machine;
    throw new StateMachineError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
  }

  async find(arn: string): Promise<StateMachine | undefined> {
    const value = await this.#world.documents.get(machineKey(arn));
    return value === undefined ? undefined : parseMachine(value);
  }

  async list(scope: StateMachineScope): Promise<readonly StateMachine[]> {
    const entries = await this.#world.documents.list(machineKey(machineArn(scope, "")));
    return entries.map(({ value }) => parseMachine(value));
  }

  /** Ends its executions too. What isn't there is fine. */
  async delete(arn: string): Promise<void> {
    for (const execution of await this.executions(arn))
      if (execution.state.status === "RUNNING") await this.stop(execution.arn);
    await this.#world.documents.delete(machineKey(arn));
  }

  /** Starts an execution; it runs on its own. `input` is a JSON text. */
  async start(
    arn: string,
    { name = randomUUID(), input = "{}" }: { readonly name?: string; readonly input?: string } = {},
  ): Promise<ExecutionRecord> {
    const machine = await this.get(arn);
    checkName(name);
    checkInput(input);
    const execution: ExecutionRecord = {
      arn: `${arn.replace(":stateMachine:", ":execution:")}:${name}`,
      name,
      machineArn: arn,
      machineName: machine.name,
      roleArn: machine.roleArn,
      definition: machine.definition,
      input,
      startedAt: this.#world.clock.now(),
      state: { status: "RUNNING" },
    };
    return await this.#turns.run(execution.arn, async () => {
      const before = await this.#findExecution(execution.arn);
      if (before?.state.status === "RUNNING" && before.input === input) return before;
      if (before !== undefined)
        throw new StateMachineError("ExecutionAlreadyExists", `Execution Already Exists: '${execution.arn}'`);
      await this.#put(executionKey(execution.arn), execution);
      this.#begin(execution);
      return execution;
    });
  }

  async execution(arn: string): Promise<ExecutionRecord> {
    const found = await this.#findExecution(arn);
    if (found !== undefined) return found;
    throw new StateMachineError("ExecutionDoesNotExist", `Execution Does Not Exist: '${arn}'`);
  }

  /** A machine's executions, newest first. */
  async executions(arn: string): Promise<readonly ExecutionRecord[]> {
    const prefix = executionKey(`${arn.replace(":stateMachine:", ":execution:")}:`);
    const entries = await this.#world.documents.list(prefix);
    return entries.map(({ value }) => parseExecution(value)).toSorted((a, b) => b.startedAt - a.startedAt);
  }

  /** Ends an execution; one that has ended stays as it is. */
  async stop(
    arn: string,
    { error = "", cause = "" }: { readonly error?: string; readonly cause?: string } = {},
  ): Promise<void> {
    await this.execution(arn);
    const running = this.#running.get(arn);
    running?.stop.abort(closing);
    await running?.ended;
    const execution = await this.execution(arn);
    if (execution.state.status === "RUNNING")
      await this.#end(execution, { status: "ABORTED", error, cause, stoppedAt: this.#world.clock.now() });
  }

  /** Resolves when an execution has ended, or when this is closed. */
  async settled(arn: string): Promise<ExecutionRecord> {
    await this.#running.get(arn)?.ended;
    return await this.execution(arn);
  }

  #begin(execution: ExecutionRecord): void {
    const stop = new AbortController();
    const ended = this.#run(execution, stop.signal)
      .catch(this.#world.trouble)
      .finally(() => this.#running.delete(execution.arn));
    this.#running.set(execution.arn, { stop, ended });
  }

  async #run(execution: ExecutionRecord, signal: AbortSignal): Promise<void> {
    const state = await this.#interpret(execution, signal);
    if (!signal.aborted && state !== undefined) await this.#end(execution, state);
  }

  /** Undefined when it was stopped from outside. */
  async #interpret(execution: ExecutionRecord, signal: AbortSignal): Promise<ExecutionState | undefined> {
    const { clock, invoke } = this.#world;
    const perform = taskPerformer(invoke, scopeOf(execution.machineArn));
    const parsed = parseDefinition(execution.definition);
    if (!parsed.ok) throw new Error(`The definition of ${execution.arn} is damaged.`);
    const { definition } = parsed;
    const input = JSON.parse(execution.input) as Json;
    const memory = await this.#memory(execution.arn, signal);
    try {
      const run = { definition, input, context: contextOf(execution, input), signal };
      const output = await interpret(run, { clock, perform, remember: memory });
      return { status: "SUCCEEDED", output: JSON.stringify(output), stoppedAt: clock.now() };
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof StateFault)) throw error;
      const status = error.error === "States.Timeout" ? "TIMED_OUT" : "FAILED";
      return { status, error: error.error, cause: error.detail, stoppedAt: clock.now() };
    }
  }

  async #memory(arn: string, signal: AbortSignal): Promise<ExecutionWorld["remember"]> {
    const prefix = memoryPrefix(arn);
    const entries = await this.#world.documents.list(prefix);
    const known = new Map(entries.map(({ key, value }) => [key.slice(prefix.length), parseMemory(value)]));
    return async (key, act) => {
      const before = known.get(key);
      if (before !== undefined) return recall(before);
      const now = await memoryOf(act);
      // What a stopped execution did last isn't remembered: it is done again when the execution goes on.
      signal.throwIfAborted();
      await this.#put(`${prefix}${key}`, now);
      return recall(now);
    };
  }

  async #end(execution: ExecutionRecord, state: ExecutionState): Promise<void> {
    await this.#put(executionKey(execution.arn), { ...execution, state });
    for (const { key } of await this.#world.documents.list(memoryPrefix(execution.arn)))
      await this.#world.documents.delete(key);
  }

  async #findExecution(arn: string): Promise<ExecutionRecord | undefined> {
    const value = await this.#world.documents.get(executionKey(arn));
    return value === undefined ? undefined : parseExecution(value);
  }

  async #put(key: string, value: StateMachine | ExecutionRecord | Memory): Promise<void> {
    await this.#world.documents.put(key, JSON.parse(JSON.stringify(value)) as Json);
  }
}

const closing = new Error("The execution is stopped.");

/** What something gave, or how it failed. */
type Memory = { readonly value: Json } | { readonly error: string; readonly cause: string };

async function memoryOf(act: () => Json | Promise<Json>): Promise<Memory> {
  try {
    return { value: await act() };
  } catch (error) {
    if (error instanceof StateFault) return { error: error.error, cause: error.detail };
    throw error;
  }
}

function recall(memory: Memory): Json {
  if ("value" in memory) return memory.value;
  throw new StateFault(memory.error, memory.cause);
}

function contextOf(execution: ExecutionRecord, input: Json) {
  const { arn, name, roleArn, startedAt, machineArn: id, machineName } = execution;
  return {
    Execution: {
      Id: arn,
      Input: input,
      Name: name,
      RoleArn: roleArn,
      StartTime: new Date(startedAt).toISOString(),
    },
    StateMachine: { Id: id, Name: machineName },
  };
}

/** `arn:aws:states:us-east-1:123456789012:stateMachine:name` */
function machineArn({ partition, region, account }: StateMachineScope, name: string): string {
  return `arn:${partition}:states:${region}:${account}:stateMachine:${name}`;
}

function scopeOf(arn: string): StateMachineScope {
  const [, partition = "", , region = "", account = ""] = arn.split(":");
  return { partition, region, account };
}

function checkName(name: string): void {
  if (/^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]{1,80}$/u.test(name)) return;
  throw new StateMachineError("InvalidName", `Invalid Name: '${name}'`);
}

function checkDefinition(definition: string): string {
  const parsed = parseDefinition(definition);
  if (parsed.ok) return definition;
  throw new StateMachineError(
    "InvalidDefinition",
    `Invalid State Machine Definition: '${parsed.faults.join(", ")}'`,
  );
}

function checkInput(input: string): void {
  const isTooLarge = Buffer.byteLength(input) > largestInput;
  if (!isTooLarge && isJson(input)) return;
  throw new StateMachineError(
    "InvalidExecutionInput",
    isTooLarge
      ? `Invalid execution input: it has more than ${largestInput} bytes`
      : "Invalid State Machine Execution Input: 'it is no JSON'",
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function machineKey(arn: string): string {
  return `state-machine/${arn}`;
}

function executionKey(arn: string): string {
  return `execution/${arn}`;
}

function memoryPrefix(arn: string): string {
  return `execution-memory/${arn}/`;
}

// Our own storage: only the outline is checked.

function parseMachine(value: Json): StateMachine {
  if (!hasMembers(value, ["arn", "definition", "revisionId"]))
    throw new Error("A stored state machine is damaged.");
  return value as unknown as StateMachine;
}

function parseExecution(value: Json): ExecutionRecord {
  if (!hasMembers(value, ["arn", "definition", "state"])) throw new Error("A stored execution is damaged.");
  return value as unknown as ExecutionRecord;
}

function parseMemory(value: Json): Memory {
  if (!hasMembers(value, ["value"]) && !hasMembers(value, ["error", "cause"]))
    throw new Error("The memory of an execution is damaged.");
  return value as unknown as Memory;
}

function hasMembers(value: Json, names: readonly string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));
}
