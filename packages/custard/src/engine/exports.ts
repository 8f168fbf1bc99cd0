/**
 * Exports and imports. The exporting stack alone knows who uses its exports, so that nobody can change what another
 * relies on: an importer asks it before it reads a value, and tells it when it has no more use for it.
 *
 * X1: an importer that has a value is known to the exporter, until the importer has released it.
 * X2: an export that is in use keeps its name and value (fact 123).
 * X3: an export name belongs to one stack of an account and region: a claim in the journal.
 */
import { evaluateExpression, evaluateProperties } from "../template/evaluate.ts";
import { equalValues, type Value } from "../template/value.ts";
import { exportClaim } from "./claims.ts";
import type { Draft } from "./draft.ts";
import type { Happened } from "./event.ts";
import type { StackId } from "./ids.ts";
import { exportNotDeletable, exportNotUpdatable, exportTaken } from "./messages.ts";
import { knownOf } from "./scope.ts";
import { stackNameOf } from "./unique-id.ts";
import type { Definition, Output, Stack } from "./stack.ts";

// --------------------------------------------------------------------------------------------------- importer

/** Asks for every export that the stack's definition uses and whose value isn't known. */
export function askForImports(draft: Draft): void {
  const { stack } = draft;
  const names = [...importsOf(stack, stack.definition)].filter((name) => !stack.imports.has(name));
  if (names.length === 0) return;
  draft.record({ kind: "imports-asked", names });
  const sequence = draft.stack.version;
  for (const name of names) draft.command({ kind: "find-import", name, sequence, dueAt: draft.at });
}

/** Takes the answer. Returns whether the export was waited for and isn't there. */
export function takeImport(draft: Draft, event: Happened<"import-answered">): { missing: boolean } {
  const { name, found } = event;
  const wanted = draft.stack.operation?.asked.has(name) === true;
  if (wanted) draft.record({ kind: "import-answered", name, ...(found === undefined ? {} : { found }) });
  // The operation that asked is over: the exporter must not go on counting on its use.
  else if (found !== undefined && !draft.stack.imports.has(name)) release(draft, name, found.exporter);
  return { missing: wanted && found === undefined };
}

/** Releases what the stack has no more use for, now that its operation has ended as it has. */
export function releaseImports(draft: Draft): void {
  const { stack } = draft;
  const used = hasNothing(stack) ? new Set<string>() : importsOf(stack, stack.definition);
  for (const [name, { exporter }] of stack.imports) {
    if (used.has(name)) continue;
    draft.record({ kind: "import-released", name });
    release(draft, name, exporter);
  }
}

function release(draft: Draft, name: string, exporter: StackId): void {
  const sequence = draft.stack.version;
  draft.command({ kind: "release-import", name, exporter, sequence, dueAt: draft.at });
}

function hasNothing({ status }: Stack): boolean {
  return status === "DELETE_COMPLETE" || status === "ROLLBACK_COMPLETE";
}

/** Names of the exports that a definition looks up under its conditions. */
function importsOf(stack: Stack, definition: Definition): ReadonlySet<string> {
  const { template, dependencies, conditions } = definition;
  // Few templates import anything; the others need not be evaluated for it.
  if (!template.body.includes("ImportValue")) return new Set();
  const known = knownOf(stack, definition);
  const imports = new LookUps(known.imports);
  for (const logicalId of dependencies.keys()) {
    const declaration = template.resources.get(logicalId);
    if (declaration !== undefined) evaluateProperties(declaration, { ...known, imports });
  }
  for (const { condition, value } of template.outputs.values()) {
    if (condition === undefined || conditions.get(condition) === true)
      evaluateExpression(value, { ...known, imports });
  }
  return imports.names;
}

/** Remembers what was looked up in it, found or not. */
class LookUps extends Map<string, Value> {
  // Not a field initialised late: the constructor of `Map` doesn't look anything up.
  readonly names = new Set<string>();

  override get(name: string): Value | undefined {
    this.names.add(name);
    return super.get(name);
  }
}

// --------------------------------------------------------------------------------------------------- exporter

/** The exports of a stack, by name; none of one that is going or gone. */
export function exportsOf(stack: Stack): ReadonlyMap<string, Value> {
  if (hasNothing(stack) || stack.status === "DELETE_IN_PROGRESS") return new Map();
  return exportedBy(stack.outputs);
}

function exportedBy(outputs: ReadonlyMap<string, Output>): ReadonlyMap<string, Value> {
  return new Map(
    [...outputs.values()].flatMap(({ exportName, value }) =>
      exportName === undefined ? [] : [[exportName, value] as const],
    ),
  );
}

/** X1: notes who uses an export. Of one that isn't there nothing is noted, and the asker sees that. */
export function admitImporter(draft: Draft, { name, importer, by }: Happened<"import-wanted">): void {
  if (!exportsOf(draft.stack).has(name)) return;
  const known = draft.stack.importers.get(name)?.get(importer);
  if (known === undefined || known.sequence < by.sequence)
    draft.record({ kind: "importer-added", name, importer, by });
}

/** X1 */
export function dismissImporter(
  draft: Draft,
  { name, importer, sequence }: Happened<"import-released">,
): void {
  const known = draft.stack.importers.get(name)?.get(importer);
  if (known !== undefined && known.sequence < sequence)
    draft.record({ kind: "importer-removed", name, importer });
}

/** Why the stack can't have these outputs, or undefined (X2, X3). */
export function exportFault(draft: Draft, outputs: ReadonlyMap<string, Output>): string | undefined {
  const before = exportedBy(draft.stack.outputs);
  const next = exportedBy(outputs);
  for (const [name, importers] of draft.stack.importers) {
    const names = [...importers.values()].map(({ stackName }) => stackName);
    const [old, value] = [before.get(name), next.get(name)];
    if (value === undefined) return exportNotDeletable(name, names);
    if (old !== undefined && !equalValues(old, value)) return exportNotUpdatable(name, names);
  }
  for (const name of next.keys()) {
    const holder = draft.knowledge.holder?.(exportClaim(draft.stack.identity, name));
    if (holder !== undefined) return exportTaken(name, stackNameOf(holder));
  }
  return undefined;
}

/** X2: why the stack can't be deleted, or undefined. */
export function deletionFault({ importers }: Stack): string | undefined {
  const [first] = importers;
  if (first === undefined) return undefined;
  const [name, users] = first;
  return exportNotDeletable(
    name,
    [...users.values()].map(({ stackName }) => stackName),
  );
}

/** X3: takes the names of the outputs that the stack is about to have. */
export function claimExports(draft: Draft, outputs: ReadonlyMap<string, Output>): void {
  const { claimedExports, identity } = draft.stack;
  const added = [...exportedBy(outputs).keys()].filter((name) => !claimedExports.has(name));
  if (added.length === 0) return;
  for (const name of added) draft.claim(exportClaim(identity, name), "take");
  draft.record({ kind: "exports-claimed", names: new Set([...claimedExports, ...added]) });
}

/** X3: gives names back that the stack has no more, now that its operation can't be rolled back any more. */
export function releaseExports(draft: Draft): void {
  const { claimedExports, identity } = draft.stack;
  const kept = exportsOf(draft.stack);
  const released = [...claimedExports].filter((name) => !kept.has(name));
  if (released.length === 0) return;
  for (const name of released) draft.claim(exportClaim(identity, name), "release");
  draft.record({ kind: "exports-claimed", names: new Set(kept.keys()) });
}
