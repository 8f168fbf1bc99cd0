import { statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { partitionOf } from "@custard/provider/protocol";
import type { StackSummary } from "../engine/ports.ts";
import { type FunctionScope, formatFunctionArn } from "../services/function-arn.ts";
import { type InvocationTarget, moduleRuntimes } from "../services/invocation-target.ts";
import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";
import type { Opened } from "./opened.ts";
import { placeOf } from "./place.ts";

/** Where a request without a stack comes from: `--region` and `--account`. */
export function scopeOf(call: Call): FunctionScope {
  const { region = "us-east-1", account = "123456789012" } = placeOf(call);
  return { region, account, partition: partitionOf(region) };
}

/** What `--module FILE[:HANDLER]` names. Throws `CliFault`. */
export function moduleTarget(cwd: string, text: string): InvocationTarget {
  const [, path = text, handler = "handler"] = /^(.+?)(?::([\w$.]+))?$/su.exec(text) ?? [];
  const file = resolve(cwd, path);
  const found = statSync(file, { throwIfNoEntry: false });
  const advice = "--module names a provider's file, e.g. --module index.js or --module index.js:handler.";
  if (found === undefined) throw new CliFault(`There is no file ${path}`, { advice });
  if (!found.isFile())
    throw new CliFault(`${path} is ${found.isDirectory() ? "a folder" : "no file"}, not a module`, {
      advice,
    });
  // Lambda's pattern for handlers.
  if (/\s/.test(basename(file)))
    throw new CliFault(`${path} can't be run as a function: there is a blank in its name`, {
      advice: "A function's handler can't name such a file: rename it.",
    });
  if (moduleRuntimes[extname(file)] === undefined)
    throw new CliFault(`${path} can't be run as a function`, {
      advice: `A module's name ends in one of ${Object.keys(moduleRuntimes).join(", ")}; compile TypeScript first.`,
    });
  return { kind: "module", file, handler };
}

/** What `--url URL` names. Throws `CliFault`. */
export function urlTarget(text: string): InvocationTarget {
  if (!/^https?:\/\//u.test(text) || !URL.canParse(text))
    throw new CliFault(`"${text}" is no URL`, {
      advice: "A provider's URL looks like http://localhost:3000/.",
    });
  return { kind: "url", url: text };
}

/** What FUNCTION names: an ARN of a function or topic, a function's name, or its logical id in a stack here. Throws `CliFault`. */
export async function namedTarget(
  local: Opened,
  name: string,
  scope: FunctionScope,
): Promise<InvocationTarget> {
  if (name.startsWith("arn:")) return { kind: "arn", arn: name };
  const stacks = (await local.engine.stacks()).filter((stack) => stack.status !== "DELETE_COMPLETE");
  const found = (await Promise.all(stacks.map(async (stack) => functionsOf(local, stack)))).flat();
  const meant = new Set(
    found.filter((one) => one.logicalId === name || one.name === name).map(({ arn }) => arn),
  );
  const [arn, ...others] = meant;
  if (others.length > 0)
    throw new CliFault(`Several stacks have a function ${name}`, {
      advice: `Name one of: ${[...meant].join(", ")}`,
    });
  // A function that no stack has made is known to the registry only: its own words say if there is none.
  return { kind: "arn", arn: arn ?? formatFunctionArn({ ...scope, name }) };
}

interface NamedFunction {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
}

async function functionsOf(
  local: Opened,
  { stackId, region, account }: StackSummary,
): Promise<readonly NamedFunction[]> {
  const { resources } = await local.engine.stack(stackId);
  const scope = { region, account, partition: partitionOf(region) };
  return resources.flatMap(({ type, logicalId, physicalId }) => {
    if (type !== "AWS::Lambda::Function" || physicalId === undefined) return [];
    return [{ logicalId, name: physicalId, arn: formatFunctionArn({ ...scope, name: physicalId }) }];
  });
}
