/**
 * Runs an execution of a state machine.
 *
 * Invariants
 * I1: whatever isn't the same each time (a task's result, the time, chance) is asked of `remember` under a key that
 *     depends on nothing but the definition and what was remembered: an execution that starts again with its memory
 *     goes the same way, past all that is done, and on from there.
 * I2: nothing is done once the signal is aborted.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { Clock } from "../../engine/ports.ts";
import { holds } from "./choice-rules.ts";
import {
  type Catcher,
  type ChoiceState,
  type FailState,
  isObject,
  type MapState,
  type ParallelState,
  type PassState,
  type Retrier,
  type State,
  type StateGroup,
  type TaskState,
  type WaitState,
} from "./definition.ts";
import { withPath } from "./json-path.ts";
import { type Data, fillTemplate, lookUp } from "./payload-template.ts";
import { runtimeFault, StateFault } from "./state-fault.ts";

/** What an execution needs of the world. */
export interface ExecutionWorld {
  readonly clock: Clock;
  /** Performs a task: its resource and effective input. Throws `StateFault` when it fails. */
  readonly perform: (
    task: { readonly resource: string; readonly input: Json },
    signal: AbortSignal,
  ) => Promise<Json>;
  /** I1: gives back what was remembered under a key, or acts and remembers what that gave or how it failed. */
  readonly remember: (key: string, act: () => Json | Promise<Json>) => Promise<Json>;
}

/** One execution. */
export interface Execution {
  readonly definition: StateGroup;
  readonly input: Json;
  /** `Execution` and `StateMachine` of the context object. */
  readonly context: JsonObject;
  readonly signal: AbortSignal;
}

/** Where in an execution something runs. */
interface Run {
  readonly world: ExecutionWorld;
  readonly context: JsonObject;
  readonly signal: AbortSignal;
  /** Differs for each branch and iteration. */
  readonly path: string;
}

/** What a state leads to. */
interface Outcome {
  readonly output: Json;
  /** Undefined when this was the last. */
  readonly next: string | undefined;
}

/** Runs an execution to its end and gives its output. Throws `StateFault` when it fails. */
export async function interpret(execution: Execution, world: ExecutionWorld): Promise<Json> {
  const { definition, input, context, signal } = execution;
  const run = { world, context, signal, path: "" };
  return await limited(run, definition.TimeoutSeconds, (inner) => runGroup(inner, definition, input));
}

async function runGroup(run: Run, group: StateGroup, input: Json): Promise<Json> {
  let [name, value]: [string | undefined, Json] = [group.StartAt, input];
  for (let step = 0; name !== undefined; step += 1) {
    run.signal.throwIfAborted();
    const state = group.States[name];
    if (state === undefined) throw runtimeFault(`There is no state ${name}`);
    const outcome: Outcome = await runState({ ...run, path: `${run.path}/${step}` }, { name, state }, value);
    [name, value] = [outcome.next, outcome.output];
  }
  return value;
}

interface NamedState {
  readonly name: string;
  readonly state: State;
}

async function runState(run: Run, { name, state }: NamedState, raw: Json): Promise<Outcome> {
  const enteredAt = await remembered(run, "entered", () => run.world.clock.now());
  const context = {
    ...run.context,
    State: { Name: name, EnteredTime: new Date(Number(enteredAt)).toISOString(), RetryCount: 0 },
  };
  const inner = { ...run, context };
  switch (state.Type) {
    case "Task":
      return await withRetries(inner, { state, raw }, (attempt, data) => runTask(attempt, state, data));
    case "Parallel":
      return await withRetries(inner, { state, raw }, (attempt, data) => runBranches(attempt, state, data));
    case "Map":
      return await withRetries(inner, { state, raw }, (attempt, data) => runItems(attempt, state, data));
    case "Pass":
      return await pass(inner, state, raw);
    case "Wait":
      return await wait(inner, state, raw);
    case "Choice":
      return choose(inner, state, raw);
    case "Succeed":
      return {
        output: filtered(state.OutputPath, filtered(state.InputPath, raw, context), context),
        next: undefined,
      };
    case "Fail":
      return failWith(state, { input: raw, context });
  }
}

/** `null` as a path discards everything. */
function filtered(path: string | null | undefined, value: Json, context: Json): Json {
  if (path === null) return {};
  return path === undefined ? value : lookUp(path, { input: value, context });
}

function nextOf(state: { readonly Next?: string; readonly End?: boolean }): string | undefined {
  return state.End === true ? undefined : state.Next;
}

function placed(path: string | null | undefined, raw: Json, result: Json): Json {
  if (path === null) return raw;
  return path === undefined || path === "$" ? result : withPath(raw, path, result);
}

async function pass(run: Run, state: PassState, raw: Json): Promise<Outcome> {
  const { context } = run;
  const input = filtered(state.InputPath, raw, context);
  const result =
    state.Result ?? (await filled(run, { name: "input", template: state.Parameters }, { input, context }));
  const output = placed(state.ResultPath, raw, result);
  return { output: filtered(state.OutputPath, output, context), next: nextOf(state) };
}

/** A template filled, by functions of chance only once; the input itself without a template. */
async function filled(
  run: Run,
  { name, template }: { readonly name: string; readonly template: Json | undefined },
  data: Data,
): Promise<Json> {
  if (template === undefined) return data.input;
  return await remembered(run, name, () => fillTemplate(template, data));
}

async function wait(run: Run, state: WaitState, raw: Json): Promise<Outcome> {
  const { context, world, signal } = run;
  const input = filtered(state.InputPath, raw, context);
  const until = await remembered(run, "until", () => waitUntil(state, { input, context }, world.clock.now()));
  await sleepUntil(world.clock, Number(until), signal);
  return { output: filtered(state.OutputPath, input, context), next: nextOf(state) };
}

function waitUntil(state: WaitState, data: Data, now: number): number {
  const seconds = state.SecondsPath === undefined ? state.Seconds : lookUp(state.SecondsPath, data);
  if (typeof seconds === "number" && seconds >= 0) return now + seconds * 1000;
  const timestamp = state.TimestampPath === undefined ? state.Timestamp : lookUp(state.TimestampPath, data);
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(at)) throw runtimeFault("The Wait state has no time to wait for");
  return at;
}

async function sleepUntil(clock: Clock, until: number, signal: AbortSignal): Promise<void> {
  const delay = until - clock.now();
  if (delay > 0) await clock.sleep(delay, signal);
}

function choose(run: Run, state: ChoiceState, raw: Json): Outcome {
  const { context } = run;
  const input = filtered(state.InputPath, raw, context);
  const chosen = state.Choices.find((rule) => holds(rule, { input, context }));
  const next = chosen?.Next ?? state.Default;
  if (next === undefined)
    throw new StateFault("States.NoChoiceMatched", "No choice rule matched, and there is no Default.");
  return { output: filtered(state.OutputPath, input, context), next };
}

function failWith(state: FailState, data: Data): never {
  const text = (path: string | undefined, fixed = "") => {
    const value = path === undefined ? fixed : lookUp(path, data);
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  throw new StateFault(text(state.ErrorPath, state.Error), text(state.CausePath, state.Cause));
}

async function runTask(run: Run, state: TaskState, data: Data): Promise<Json> {
  const seconds =
    state.TimeoutSecondsPath === undefined
      ? state.TimeoutSeconds
      : Number(lookUp(state.TimeoutSecondsPath, data));
  return await remembered(run, "task", () =>
    limited(run, seconds, ({ world, signal }) =>
      world.perform({ resource: state.Resource, input: data.input }, signal),
    ),
  );
}

async function runBranches(run: Run, state: ParallelState, data: Data): Promise<Json> {
  return await together(run, state.Branches.length, (inner, index) => {
    const branch = state.Branches[index];
    if (branch === undefined) throw new Error(`There is no branch ${index}`);
    return runGroup(inner, branch, data.input);
  });
}

async function runItems(run: Run, state: MapState, data: Data): Promise<Json> {
  const items = lookUp(state.ItemsPath ?? "$", data);
  if (!Array.isArray(items))
    throw runtimeFault(`Reference path "${state.ItemsPath ?? "$"}" must point to array.`);
  const processor = state.ItemProcessor ?? state.Iterator;
  if (processor === undefined) throw runtimeFault("The Map state has nothing to run");
  const limit =
    state.MaxConcurrency === undefined || state.MaxConcurrency === 0 ? items.length : state.MaxConcurrency;
  const turns = new Turns(limit);
  return await together(run, items.length, async (inner, index) => {
    const value = items[index] as Json;
    const context = { ...inner.context, Map: { Item: { Index: index, Value: value } } };
    const template = state.ItemSelector ?? state.Parameters;
    const input =
      template === undefined
        ? value
        : await filled(inner, { name: "item", template }, { input: data.input, context });
    return await turns.run(() => runGroup({ ...inner, context }, processor, input));
  });
}

/** All of them at once; the first that fails ends the others. */
async function together(
  run: Run,
  count: number,
  start: (run: Run, index: number) => Promise<Json>,
): Promise<Json> {
  const failed = new AbortController();
  const signal = AbortSignal.any([run.signal, failed.signal]);
  const runs = Array.from({ length: count }, (_, index) =>
    start({ ...run, signal, path: `${run.path}.${index}` }, index).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  const ended = await Promise.allSettled(runs);
  run.signal.throwIfAborted();
  // The signal's reason is the first failure; others only followed from it.
  failed.signal.throwIfAborted();
  return ended.flatMap((each): Json[] => (each.status === "fulfilled" ? [each.value] : []));
}

/** Lets so many work at a time. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async run<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Ends what takes longer than a state or machine may. */
async function limited(
  run: Run,
  seconds: number | undefined,
  act: (run: Run) => Promise<Json>,
): Promise<Json> {
  if (seconds === undefined) return await act(run);
  const startedAt = Number(await remembered(run, "limit", () => run.world.clock.now()));
  const over = new AbortController();
  const signal = AbortSignal.any([run.signal, over.signal]);
  const timeout = sleepUntil(run.world.clock, startedAt + seconds * 1000, signal).then(() => {
    const fault = new StateFault("States.Timeout", "");
    over.abort(fault);
    throw fault;
  });
  try {
    return await Promise.race([act({ ...run, signal }), timeout]);
  } finally {
    over.abort(new Error("It ended in time."));
    timeout.catch(() => undefined);
  }
}

interface Retried {
  readonly state: TaskState | ParallelState | MapState;
  readonly raw: Json;
}

/** Attempts a state as often as its retriers say, and ends with its result or its catcher. */
async function withRetries(
  run: Run,
  { state, raw }: Retried,
  act: (run: Run, data: Data) => Promise<Json>,
): Promise<Outcome> {
  const used = new Map<Retrier, number>();
  for (let attempt = 0; ; attempt += 1) {
    const inner = { ...run, path: `${run.path}#${attempt}`, context: withRetryCount(run.context, attempt) };
    try {
      return { output: await attemptOnce(inner, { state, raw }, act), next: nextOf(state) };
    } catch (error) {
      if (!(error instanceof StateFault)) throw error;
      const retrier = state.Retry?.find((each) => matchesError(each.ErrorEquals, error));
      const count = retrier === undefined ? 0 : (used.get(retrier) ?? 0);
      if (retrier === undefined || count >= (retrier.MaxAttempts ?? 3)) return caught(state, raw, error);
      used.set(retrier, count + 1);
      const until = await remembered(inner, "retry", () => run.world.clock.now() + backoff(retrier, count));
      await sleepUntil(run.world.clock, Number(until), run.signal);
    }
  }
}

async function attemptOnce(
  run: Run,
  { state, raw }: Retried,
  act: (run: Run, data: Data) => Promise<Json>,
): Promise<Json> {
  const { context } = run;
  const input = filtered(state.InputPath, raw, context);
  // `Parameters` of a Map is the older name of its `ItemSelector`, and filled for each item.
  const template = state.Type === "Map" ? undefined : state.Parameters;
  const effective = await filled(run, { name: "input", template }, { input, context });
  const result = await act(run, { input: effective, context });
  const selection = { name: "result", template: state.ResultSelector };
  const selected = await filled(run, selection, { input: result, context });
  return filtered(state.OutputPath, placed(state.ResultPath, raw, selected), context);
}

function withRetryCount(context: JsonObject, count: number): JsonObject {
  const state = context["State"];
  return { ...context, State: { ...(isObject(state) ? state : {}), RetryCount: count } };
}

function backoff({ IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds }: Retrier, count: number): number {
  const seconds = IntervalSeconds * BackoffRate ** count;
  return 1000 * Math.min(seconds, MaxDelaySeconds ?? seconds);
}

function caught(state: Retried["state"], raw: Json, error: StateFault): Outcome {
  const catcher = state.Catch?.find((each: Catcher) => matchesError(each.ErrorEquals, error));
  if (catcher === undefined) throw error;
  const output = placed(catcher.ResultPath, raw, { Error: error.error, Cause: error.detail });
  return { output, next: catcher.Next };
}

/** `States.ALL` and `States.TaskFailed` take what they take; nothing but its own name takes `States.Runtime`. */
function matchesError(names: readonly string[], { error }: StateFault): boolean {
  if (names.includes(error)) return true;
  if (error === "States.Runtime" || error === "States.DataLimitExceeded") return false;
  return names.includes("States.ALL") || (names.includes("States.TaskFailed") && error !== "States.Timeout");
}

function remembered(run: Run, what: string, act: () => Json | Promise<Json>): Promise<Json> {
  return run.world.remember(`${run.path}:${what}`, act);
}
