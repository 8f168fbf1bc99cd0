/** State machine definitions (Amazon States Language, JSONPath) in their wire form, and what is wrong with one. */
import type { Json, JsonObject } from "@custard/provider/protocol";

/** A machine, or a branch or iterator within one. */
export interface StateGroup {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
  readonly TimeoutSeconds?: number;
}

export interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds?: number;
  readonly MaxAttempts?: number;
  readonly BackoffRate?: number;
  readonly MaxDelaySeconds?: number;
}

export interface Catcher {
  readonly ErrorEquals: readonly string[];
  readonly Next: string;
  readonly ResultPath?: string | null;
}

/** What all states may have. */
interface CommonState {
  readonly Next?: string;
  readonly End?: boolean;
  readonly InputPath?: string | null;
  readonly OutputPath?: string | null;
}

/** What states with a result may have. */
interface ResultState extends CommonState {
  readonly Parameters?: Json;
  readonly ResultSelector?: JsonObject;
  readonly ResultPath?: string | null;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
}

export interface TaskState extends ResultState {
  readonly Type: "Task";
  readonly Resource: string;
  readonly TimeoutSeconds?: number;
  readonly TimeoutSecondsPath?: string;
}

export interface ParallelState extends ResultState {
  readonly Type: "Parallel";
  readonly Branches: readonly StateGroup[];
}

export interface MapState extends ResultState {
  readonly Type: "Map";
  readonly ItemsPath?: string;
  readonly ItemSelector?: Json;
  readonly ItemProcessor?: StateGroup;
  /** The older name of `ItemProcessor`. */
  readonly Iterator?: StateGroup;
  readonly MaxConcurrency?: number;
}

export interface PassState extends CommonState {
  readonly Type: "Pass";
  readonly Result?: Json;
  readonly Parameters?: Json;
  readonly ResultPath?: string | null;
}

export interface WaitState extends CommonState {
  readonly Type: "Wait";
  readonly Seconds?: number;
  readonly SecondsPath?: string;
  readonly Timestamp?: string;
  readonly TimestampPath?: string;
}

export interface ChoiceState extends CommonState {
  readonly Type: "Choice";
  readonly Choices: readonly (JsonObject & { readonly Next: string })[];
  readonly Default?: string;
}

export interface SucceedState extends CommonState {
  readonly Type: "Succeed";
}

export interface FailState {
  readonly Type: "Fail";
  readonly Error?: string;
  readonly ErrorPath?: string;
  readonly Cause?: string;
  readonly CausePath?: string;
}

export type State =
  | TaskState
  | ParallelState
  | MapState
  | PassState
  | WaitState
  | ChoiceState
  | SucceedState
  | FailState;

/** Types and the members that each can't do without. */
const required: Readonly<Record<State["Type"], readonly string[]>> = {
  Task: ["Resource"],
  Parallel: ["Branches"],
  Map: [],
  Pass: [],
  Wait: [],
  Choice: ["Choices"],
  Succeed: [],
  Fail: [],
};

/** A definition, or all that is wrong with it, in Step Functions' words where it has some. */
export type ParsedDefinition =
  | { readonly ok: true; readonly definition: StateGroup }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads a definition's JSON. */
export function parseDefinition(text: string): ParsedDefinition {
  const value = readJson(text);
  if (value === undefined)
    return { ok: false, faults: ["INVALID_JSON_DESCRIPTION: the definition is no JSON"] };
  const faults = faultsOfGroup(value, "");
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition: value as unknown as StateGroup };
}

function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function faultsOfGroup(value: Json | undefined, path: string): readonly string[] {
  if (!isObject(value)) return [schemaFault("Field is not a JSON object", path === "" ? "/" : path)];
  const states = value["States"];
  if (!isObject(states) || Object.keys(states).length === 0)
    return [schemaFault("These required fields are missing: [States]", path === "" ? "/" : path)];
  const start = value["StartAt"];
  const known = new Set(Object.keys(states));
  return [
    ...(value["QueryLanguage"] === undefined || value["QueryLanguage"] === "JSONPath"
      ? []
      : [
          schemaFault(
            "Custard runs state machines with the QueryLanguage JSONPath only",
            `${path}/QueryLanguage`,
          ),
        ]),
    ...(typeof start === "string" && known.has(start) ? [] : [missingTarget(start, `${path}/StartAt`)]),
    ...Object.entries(states).flatMap(([name, state]) =>
      faultsOfState(state, { path: `${path}/States/${name}`, known }),
    ),
  ];
}

interface Place {
  readonly path: string;
  /** The states that transitions may lead to. */
  readonly known: ReadonlySet<string>;
}

function faultsOfState(state: Json, place: Place): readonly string[] {
  const { path } = place;
  if (!isObject(state)) return [schemaFault("Field is not a JSON object", path)];
  const type = stateTypes.find((each) => each === state["Type"]);
  if (type === undefined) return [schemaFault(`Invalid state type: ${shown(state["Type"])}`, `${path}/Type`)];
  const missing = required[type].filter((name) => state[name] === undefined);
  return [
    ...(missing.length === 0
      ? []
      : [schemaFault(`These required fields are missing: [${missing.join(", ")}]`, path)]),
    ...faultsOfTransitions(state, type, place),
    ...faultsWithin(state, type, path),
  ];
}

const stateTypes = Object.keys(required) as readonly State["Type"][];

function faultsOfTransitions(
  state: JsonObject,
  type: State["Type"],
  { path, known }: Place,
): readonly string[] {
  const ends = type === "Choice" || type === "Succeed" || type === "Fail" || state["End"] === true;
  const targets: [Json | undefined, string][] = [
    ...(ends ? [] : [[state["Next"], `${path}/Next`] satisfies [Json | undefined, string]]),
    ...(state["Default"] === undefined ? [] : [[state["Default"], `${path}/Default`] as [Json, string]]),
    ...nextsOf(state["Choices"], `${path}/Choices`),
    ...nextsOf(state["Catch"], `${path}/Catch`),
  ];
  return targets.flatMap(([target, at]) => {
    if (target === undefined) return [schemaFault("A state must have either Next or End", path)];
    return typeof target === "string" && known.has(target) ? [] : [missingTarget(target, at)];
  });
}

function nextsOf(list: Json | undefined, path: string): readonly [Json | undefined, string][] {
  if (!Array.isArray(list)) return [];
  return list.map((item: Json, index) => [
    isObject(item) ? item["Next"] : undefined,
    `${path}[${index}]/Next`,
  ]);
}

function faultsWithin(state: JsonObject, type: State["Type"], path: string): readonly string[] {
  if (type === "Parallel" && Array.isArray(state["Branches"]))
    return state["Branches"].flatMap((branch: Json, index) =>
      faultsOfGroup(branch, `${path}/Branches[${index}]`),
    );
  if (type === "Map") {
    const name = state["ItemProcessor"] === undefined ? "Iterator" : "ItemProcessor";
    return faultsOfGroup(state[name], `${path}/${name}`);
  }
  return [];
}

function schemaFault(message: string, path: string): string {
  return `SCHEMA_VALIDATION_FAILED: ${message} at ${path}`;
}

function missingTarget(target: Json | undefined, path: string): string {
  return `MISSING_TRANSITION_TARGET: Missing 'Next' target: ${shown(target)} at ${path}`;
}

function shown(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
