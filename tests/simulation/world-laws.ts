/** What must hold between stacks: parents and nested stacks, exporters and importers. */
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import { isSettled } from "../../packages/custard/src/engine/stack-status.ts";
import type { Pending, Stack } from "../../packages/custard/src/engine/stack.ts";
import { equalValues, type Value } from "../../packages/custard/src/template/value.ts";
import { law, type StackLaws } from "./laws.ts";

type Watched = ReadonlyMap<StackId, StackLaws>;

/** An export is there, as it was, as long as anybody uses it; and whoever has it knows who does. */
export function exportsLaw(watched: Watched): void {
  for (const { stack: importer } of watched.values()) {
    if (importer === undefined) continue;
    for (const [name, used] of importer.imports) {
      const exporter = watched.get(used.exporter)?.stack;
      const { stackName, stackId } = importer.identity;
      law(offers(exporter, name, used.value), () => `the export ${name} is not what ${stackName} uses`);
      const known = exporter?.importers.get(name)?.has(stackId) === true;
      law(known, () => `${stackName} uses ${name}, and its exporter doesn't know`);
    }
  }
}

function offers(exporter: Stack | undefined, name: string, value: Value): boolean {
  if (
    exporter === undefined ||
    exporter.status === "DELETE_IN_PROGRESS" ||
    exporter.status === "DELETE_COMPLETE"
  )
    return false;
  const output = [...exporter.outputs.values()].find(({ exportName }) => exportName === name);
  return output !== undefined && equalValues(output.value, value);
}

/** Does nothing go on in it that would go on by itself? A nested stack may wait for a parent that waits for its user. */
export function isAtRest(stack: Stack, watched: Watched): boolean {
  if (isSettled(stack.status)) return true;
  const parent = stack.parent === undefined ? undefined : watched.get(stack.parent.stackId)?.stack;
  return stack.operation?.held === true && parent !== undefined && isAtRest(parent, watched);
}

/** A nested stack holds only while its parent may still go back, and never outlives it unless that was told. */
export function childLaw(child: Stack, watched: Watched): void {
  const { parent, status, operation, identity } = child;
  const laws = parent === undefined ? undefined : watched.get(parent.stackId);
  if (parent === undefined || laws?.stack === undefined) return;
  const { stackName, stackId } = identity;
  law(
    operation?.held !== true || laws.stack.operation !== undefined,
    () => `${stackName} waits for a parent that has nothing to say any more`,
  );
  // What is only reviewed is no resource of its parent yet.
  if (status === "REVIEW_IN_PROGRESS") return;
  if (status === "DELETE_COMPLETE" || laws.isKnown(parent.logicalId, stackId)) return;
  const last = laws.lastStatusOf(parent.logicalId, stackId);
  law(
    last === "DELETE_FAILED" || last === "DELETE_SKIPPED",
    () => `${stackName} is ${status}, and its parent has forgotten it (${last ?? "never shown"})`,
  );
}

/** Is a nested stack at work on this request of its parent, or about to report on it? */
export function isWithChild(
  request: Pending,
  watched: Watched,
  hasCommand: (stackId: StackId, key: string) => boolean,
): boolean {
  if (request.kind !== "child") return false;
  const child = watched.get(request.childId)?.stack;
  const { requestId } = request;
  return (
    child?.operation?.waiting?.requestId === requestId || hasCommand(request.childId, `report:${requestId}`)
  );
}
