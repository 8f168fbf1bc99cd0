import type { StackSummary } from "../engine/ports.ts";
import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";
import type { StackEngine } from "./opened.ts";

/** Which stack a call means: a name or an ARN, in any region and account unless the call names them. */
export interface Wanted {
  readonly name: string | undefined;
  readonly region: string | undefined;
  readonly account: string | undefined;
}

/** What a call's STACK, `--region` and `--account` say. */
export function wantedBy(call: Call): Wanted {
  return { name: call.argument("STACK"), region: call.text("region"), account: call.text("account") };
}

/** The stack that is wanted; without a name, the only one there is. Throws `CliFault` when there is none, or several. */
export async function chooseStack(
  engine: Pick<StackEngine, "stacks">,
  wanted: Wanted,
): Promise<StackSummary> {
  const stacks = await engine.stacks();
  const candidates = matching(stacks, wanted);
  const [only] = candidates;
  if (candidates.length > 1) throw several(candidates, wanted.name);
  return only ?? missing(stacks, wanted);
}

/** The live stack of this name, if there is one. Throws `CliFault` when there are several. */
export async function findStack(
  engine: Pick<StackEngine, "stacks">,
  wanted: Wanted,
): Promise<StackSummary | undefined> {
  const candidates = matching(await engine.stacks(), wanted);
  if (candidates.length > 1) throw several(candidates, wanted.name);
  return candidates[0];
}

function matching(stacks: readonly StackSummary[], wanted: Wanted): readonly StackSummary[] {
  const { name } = wanted;
  if (name?.startsWith("arn:") === true) return stacks.filter((stack) => stack.stackId === name);
  return stacks.filter(
    (stack) =>
      stack.status !== "DELETE_COMPLETE" &&
      (name ?? stack.stackName) === stack.stackName &&
      (wanted.region ?? stack.region) === stack.region &&
      (wanted.account ?? stack.account) === stack.account,
  );
}

function several(candidates: readonly StackSummary[], name: string | undefined): CliFault {
  const list = candidates.map((stack) => (name === undefined ? stack.stackName : stack.stackId)).join(", ");
  return new CliFault(
    name === undefined ? "There are several stacks: name one" : `There are several stacks called ${name}`,
    {
      advice: name === undefined ? `They are: ${list}` : `Name one by --region, --account or its id: ${list}`,
    },
  );
}

function missing(stacks: readonly StackSummary[], wanted: Wanted): never {
  if (wanted.name === undefined)
    throw new CliFault("There are no stacks here", { advice: "custard deploy TEMPLATE makes one." });
  throw new CliFault(`Stack with id ${wanted.name} does not exist`, {
    advice: otherwise(stacks, wanted.name),
  });
}

function otherwise(stacks: readonly StackSummary[], name: string): string {
  const deleted = stacks.findLast((stack) => stack.stackName === name && stack.status === "DELETE_COMPLETE");
  if (deleted !== undefined)
    return `It was deleted; its events can still be read by its id: ${deleted.stackId}`;
  const live = stacks.filter((stack) => stack.status !== "DELETE_COMPLETE").map((stack) => stack.stackName);
  return live.length > 0
    ? `The stacks here are: ${live.join(", ")}`
    : "There are no stacks here; custard deploy TEMPLATE makes one.";
}
