import type { Json } from "@custard/provider/protocol";
import { type FunctionReference, type FunctionScope, parseFunctionName } from "./function-arn.ts";
import { FunctionError } from "./function-error.ts";
import { isObject } from "./states/definition.ts";
import type { ExecutionWorld } from "./states/interpret.ts";
import { StateFault } from "./states/state-fault.ts";

/** Runs a function and waits for its result. Throws `FunctionError` when there is none of that name. */
export type InvokeFunction = (call: {
  readonly reference: FunctionReference;
  readonly payload: Uint8Array;
}) => Promise<{
  readonly version: string;
  readonly requestId: string;
  readonly payload: Uint8Array;
  readonly functionError?: string;
}>;

/**
 * Performs the tasks of state machines: functions by their ARN, and `arn:aws:states:::lambda:invoke`. Other integrations
 * fail by name. A function that is stopped waiting for goes on, as it does on AWS.
 */
export function taskPerformer(invoke: InvokeFunction, defaults: FunctionScope): ExecutionWorld["perform"] {
  return async ({ resource, input }, signal) => {
    const performed = performTask({ invoke, defaults }, resource, input);
    return await Promise.race([performed, aborted(signal)]);
  };
}

interface Performer {
  readonly invoke: InvokeFunction;
  /** For functions that are named without a region. */
  readonly defaults: FunctionScope;
}

async function performTask(performer: Performer, resource: string, input: Json): Promise<Json> {
  if (/^arn:[^:]+:states:[^:]*:[^:]*:lambda:invoke$/.test(resource))
    return await invokeBySdk(performer, input);
  if (/^arn:[^:]+:lambda:/.test(resource)) return (await call(performer, resource, input)).result;
  throw new StateFault(
    "States.TaskFailed",
    `Custard's state machines run Lambda functions only, and this task is ${resource}.`,
  );
}

/** The optimized integration: parameters and result have the form of Lambda's API. */
async function invokeBySdk(performer: Performer, input: Json): Promise<Json> {
  const name = isObject(input) ? input["FunctionName"] : undefined;
  if (!isObject(input) || typeof name !== "string")
    throw new StateFault("States.Runtime", "The Parameters of lambda:invoke must have a FunctionName");
  const { result, version, requestId } = await call(performer, name, input["Payload"] ?? {});
  return {
    ExecutedVersion: version,
    Payload: result,
    SdkHttpMetadata: { HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}

async function call(
  { invoke, defaults }: Performer,
  name: string,
  input: Json,
): Promise<{ readonly result: Json; readonly version: string; readonly requestId: string }> {
  const reference = parseFunctionName(name, defaults);
  if (reference === undefined)
    throw new StateFault("Lambda.ValidationException", `${name} is no function's name or ARN`);
  const answer = await invoke({ reference, payload: Buffer.from(JSON.stringify(input)) }).catch(
    (error: unknown) => {
      if (error instanceof FunctionError && error.code === "NotFound")
        throw new StateFault("Lambda.ResourceNotFoundException", error.message);
      throw error;
    },
  );
  const text = Buffer.from(answer.payload).toString("utf8");
  const result = parse(text);
  const { version, requestId } = answer;
  if (answer.functionError === undefined) return { result, version, requestId };
  throw new StateFault(errorTypeOf(result), text);
}

function errorTypeOf(payload: Json): string {
  const type = isObject(payload) ? payload["errorType"] : undefined;
  return typeof type === "string" && type !== "" ? type : "Lambda.Unknown";
}

/** A function without a result gives nothing at all. */
function parse(text: string): Json {
  try {
    return text === "" ? null : (JSON.parse(text) as Json);
  } catch {
    return text;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
