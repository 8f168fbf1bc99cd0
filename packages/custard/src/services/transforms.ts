/** What transforms are told by the local world: macros are functions, included files lie in S3 or beside the template. */
import { randomUUID } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import type { JsonObject } from "@custard/provider/protocol";
import type { RequestId } from "../engine/ids.ts";
import type { TraceEntry, Traces, Transforms } from "../engine/ports.ts";
import type { TransformAnswer, TransformNeed } from "../template/process-template.ts";
import { reveal, revealMap } from "../template/value.ts";
import { type FunctionReference, parseFunctionName } from "./function-arn.ts";
import { FunctionError } from "./function-error.ts";
import type { MacroRegistry } from "./macros.ts";
import { ObjectError } from "./object-error.ts";
import { readRegular } from "./read-regular.ts";
import { parseS3Url } from "./s3-location.ts";
import type { S3 } from "./s3.ts";

/** What transforms need. */
export interface TransformWorld {
  readonly macros: MacroRegistry;
  readonly s3: S3;
  readonly traces: Pick<Traces, "note">;
  /** Runs a function and waits for its result. Throws `FunctionError` when there is none of that name. */
  invoke(call: {
    readonly reference: FunctionReference;
    readonly payload: Uint8Array;
    readonly observe: (observation: Pick<TraceEntry, "kind" | "text">) => void;
  }): Promise<{ readonly payload: Uint8Array; readonly functionError?: string }>;
}

type MacroNeed = Extract<TransformNeed, { kind: "macro" }>;
type Asker = Parameters<Transforms["answer"]>[1];

/** Bytes of an included file; a template that is larger isn't taken anyway. */
const includedBytes = 1_048_576;

/** Runs macros and reads included files. */
export function createTransforms(world: TransformWorld): Transforms {
  return {
    async answer(need, stack) {
      switch (need.kind) {
        case "macro":
          return await runMacro(world, need, stack);
        case "include":
          return await include(world.s3, need.location, stack);
      }
    },
  };
}

// ------------------------------------------------------------------------------------------------ macros

async function runMacro(world: TransformWorld, need: MacroNeed, stack: Asker): Promise<TransformAnswer> {
  const { account, name } = ownerOf(need.name, stack.account);
  const transformId = `${account}::${name}`;
  const scope = { partition: stack.partition, account, region: stack.region };
  const macro = await world.macros.find(scope, name);
  if (macro === undefined) return failed(`No transform named ${transformId} found.`);
  const reference = parseFunctionName(macro.functionName, scope);
  if (reference === undefined)
    return failed(`Failed to execute transform ${transformId}: ${macro.functionName} is no function.`);
  const requestId = randomUUID();
  const event = eventOf(need, { stack, transformId, requestId });
  try {
    const { payload, functionError } = await world.invoke({
      reference,
      payload: Buffer.from(JSON.stringify(event)),
      observe: ({ kind, text }) => {
        const about = { requestId: requestId as RequestId, stackId: stack.stackId };
        world.traces.note({ at: Date.now(), ...about, kind, text, functionName: reference.name });
      },
    });
    return functionError === undefined
      ? readAnswer(payload, { transformId, requestId })
      : malformed(transformId);
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    return failed(`Failed to execute transform ${transformId}: ${error.message}`);
  }
}

/** Macros of other accounts are named with their account. */
function ownerOf(named: string, account: string): { readonly account: string; readonly name: string } {
  const [, owner, name] = /^([^:]+)::(.+)$/.exec(named) ?? [];
  return owner === undefined || name === undefined ? { account, name: named } : { account: owner, name };
}

/** Fact 107. */
function eventOf(
  { fragment, parameters }: MacroNeed,
  call: { readonly stack: Asker; readonly transformId: string; readonly requestId: string },
): JsonObject {
  const { stack, transformId, requestId } = call;
  return {
    region: stack.region,
    accountId: stack.account,
    fragment,
    transformId,
    params: revealMap(parameters),
    requestId,
    templateParameterValues: Object.fromEntries(
      [...stack.parameters].map(([name, { value }]) => [name, reveal(value)]),
    ),
  };
}

/** Fact 108. */
function readAnswer(
  payload: Uint8Array,
  { transformId, requestId }: { readonly transformId: string; readonly requestId: string },
): TransformAnswer {
  const answer = parseObject(payload);
  if (answer === undefined || answer["requestId"] !== requestId) return malformed(transformId);
  const { status, errorMessage, fragment } = answer;
  if (typeof status !== "string") return malformed(transformId);
  if (status.toLowerCase() !== "success") {
    return typeof errorMessage === "string" && errorMessage !== ""
      ? failed(`Transform ${transformId} failed with: ${errorMessage}`)
      : failed(`Transform ${transformId} failed without an error message.`);
  }
  return fragment === undefined ? malformed(transformId) : { kind: "fragment", value: fragment };
}

function parseObject(payload: Uint8Array): JsonObject | undefined {
  const json: unknown = parseJson(Buffer.from(payload).toString("utf8"));
  // What `JSON.parse` gives is JSON.
  return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as JsonObject) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function malformed(transformId: string): TransformAnswer {
  return failed(`Received malformed response from transform ${transformId}`);
}

// ---------------------------------------------------------------------------------------------- includes

async function include(s3: S3, location: string, stack: Asker): Promise<TransformAnswer> {
  if (location.startsWith("s3://")) return await includeObject(s3, location, stack.partition);
  const { directory } = stack;
  const isPath = !/^[a-z][a-z0-9+.-]*:\/\//i.test(location);
  if (isPath && (directory !== undefined || isAbsolute(location)))
    return await includeFile(resolve(directory ?? "", location));
  return notIncluded("The location parameter is not a valid S3 uri.");
}

async function includeFile(file: string): Promise<TransformAnswer> {
  try {
    return textOf(await readRegular(file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return notIncluded(
      error.code === "ENOENT"
        ? `There is no file ${file}, which Location names.`
        : `${file} can't be read: ${error.message}`,
    );
  }
}

async function includeObject(s3: S3, url: string, partition: string): Promise<TransformAnswer> {
  const location = parseS3Url(url);
  if (location === undefined) return notIncluded("The location parameter is not a valid S3 uri.");
  try {
    const found = await s3.objects.find({ partition, ...location });
    return found.content.size > includedBytes ? tooLarge() : textOf(await s3.objects.bytes(found));
  } catch (error) {
    if (error instanceof ObjectError) return notIncluded(error.message);
    throw error;
  }
}

function textOf(bytes: Uint8Array): TransformAnswer {
  return bytes.length > includedBytes
    ? tooLarge()
    : { kind: "text", text: Buffer.from(bytes).toString("utf8") };
}

function tooLarge(): TransformAnswer {
  return notIncluded(`The included file has more than ${includedBytes} bytes.`);
}

function notIncluded(why: string): TransformAnswer {
  return failed(`Transform AWS::Include failed with: ${why}`);
}

function failed(message: string): TransformAnswer {
  return { kind: "failed", message };
}
