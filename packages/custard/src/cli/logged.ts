import type { RequestId, StackId } from "../engine/ids.ts";
import type { StackSummary } from "../engine/ports.ts";
import type { StackEvent } from "../engine/views.ts";
import { findStack } from "./choose-stack.ts";
import { CliFault } from "./fault.ts";
import type { Reader } from "../reader.ts";

/** Something that has logs of its own. */
export type Logged =
  | { readonly kind: "request"; readonly requestId: RequestId }
  | { readonly kind: "stack"; readonly stackId: StackId }
  | { readonly kind: "function"; readonly functionName: string }
  | { readonly kind: "resource"; readonly stackId: StackId; readonly logicalId: string };

/**
 * What a person means by a request id, a stack's name or id (of a deleted one too), a function's name, ARN or logical id, or
 * a custom resource's logical id, which is what a failed event names. Throws `CliFault`.
 */
export async function findLogged(
  local: Reader,
  name: string,
  place: { readonly region?: string; readonly account?: string },
): Promise<Logged> {
  // A cast, as this is where a typed text becomes an id: one of nothing finds nothing.
  if (isUuid(name)) return { kind: "request", requestId: name.toLowerCase() as RequestId };
  const stack = await findStack(local.engine, { name, region: place.region, account: place.account });
  if (stack !== undefined) return { kind: "stack", stackId: stack.stackId };
  const functions = await functionsHere(local);
  const functionName = functionCalled(functions, name);
  if (functionName !== undefined) return { kind: "function", functionName };
  const resource = await resourceCalled(local, { name, ...place });
  if (resource !== undefined) return resource;
  const deleted = await deletedStack(local, { name, ...place });
  if (deleted !== undefined) return { kind: "stack", stackId: deleted.stackId };
  return unknown(
    name,
    functions.map((one) => one.logicalId),
  );
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** A function's name; a logical id stands for the function that the stacks here have under it. */
function functionCalled(functions: readonly NamedFunction[], name: string): string | undefined {
  const fromArn = /^arn:[^:]+:lambda:[^:]+:\d{12}:function:([^:]+)/.exec(name)?.[1];
  const meant = functions.filter((one) => one.functionName === (fromArn ?? name) || one.logicalId === name);
  const names = [...new Set(meant.map((one) => one.functionName))];
  if (names.length > 1)
    throw new CliFault(`Several stacks have a function ${name}`, {
      advice: `Name one of: ${names.join(", ")}`,
    });
  return names[0];
}

interface WantedName {
  readonly name: string;
  readonly region?: string;
  readonly account?: string;
}

/** The resource of that logical id which providers were asked for: of the stack that is there, else of the last that was. */
async function resourceCalled(local: Reader, wanted: WantedName): Promise<Logged | undefined> {
  const stacks = await stacksIn(local, wanted);
  const asked = await Promise.all(
    stacks.map(async ({ stackId }) => (await requestsFor(local, stackId, wanted.name)).size > 0),
  );
  const having = stacks.filter((_stack, index) => asked[index]);
  const live = having.filter((stack) => stack.status !== "DELETE_COMPLETE");
  if (live.length > 1)
    throw new CliFault(`Several stacks have a resource ${wanted.name}`, {
      advice: `Name one of the stacks: ${live.map((stack) => stack.stackName).join(", ")}`,
    });
  const stack = live[0] ?? having.at(-1);
  return stack && { kind: "resource", stackId: stack.stackId, logicalId: wanted.name };
}

/** The requests to providers about a resource, so far. */
export async function requestsFor(
  { engine }: Pick<Reader, "engine">,
  stackId: StackId,
  logicalId: string,
): Promise<ReadonlySet<RequestId>> {
  const events = await engine.events(stackId);
  const asked = events.filter((event) => event.logicalId === logicalId);
  return new Set(asked.flatMap(({ requestId }) => (requestId === undefined ? [] : [requestId])));
}

/** The last stack of that name, though it is gone: why it went is asked most when it just has. */
async function deletedStack(local: Reader, wanted: WantedName): Promise<StackSummary | undefined> {
  const stacks = await stacksIn(local, wanted);
  return stacks.findLast((stack) => stack.stackName === wanted.name);
}

async function stacksIn(local: Reader, { region, account }: WantedName): Promise<readonly StackSummary[]> {
  const stacks = await local.engine.stacks();
  return stacks.filter(
    (stack) => (region ?? stack.region) === stack.region && (account ?? stack.account) === stack.account,
  );
}

function unknown(name: string, known: readonly string[]): never {
  throw new CliFault(`There is no function, stack, custom resource or request ${name}`, {
    advice:
      known.length === 0
        ? "custard list shows the stacks."
        : `The functions here are: ${[...new Set(known)].join(", ")}`,
  });
}

interface NamedFunction {
  readonly logicalId: string;
  readonly functionName: string;
}

async function functionsHere(local: Reader): Promise<readonly NamedFunction[]> {
  const stacks = await local.engine.stacks();
  const found = await Promise.all(
    stacks.map(async (stack) => functionsOf(await local.engine.events(stack.stackId))),
  );
  return found.flat();
}

/** From the events, so that functions of deleted stacks are found as well. */
function functionsOf(events: readonly StackEvent[]): readonly NamedFunction[] {
  const known = events.filter(
    (event) => event.resourceType === "AWS::Lambda::Function" && event.physicalId !== "",
  );
  const byName = new Map(known.map((event) => [event.physicalId, event.logicalId]));
  return [...byName].map(([functionName, logicalId]) => ({ functionName, logicalId }));
}
