/** The part of the fold that is about dealings with other stacks, and what the whole fold is made with. */
import type { StackId } from "./ids.ts";
import type { Dealing, ParentDealing, StackRecord } from "./record.ts";
import type { Importer, Operation, ParentLink, Stack } from "./stack.ts";

type AnyDealing = Dealing | ParentDealing;

const kinds: ReadonlySet<string> = new Set<AnyDealing["kind"]>([
  "imports-asked",
  "import-answered",
  "import-released",
  "importer-added",
  "importer-removed",
  "exports-claimed",
  "parent-waits",
  "parent-told",
]);

/** Is it about another stack? */
export function isDealing<R extends StackRecord>(record: R): record is Extract<R, AnyDealing> {
  return kinds.has(record.kind);
}

/** What changes in the stack. */
export function dealt(stack: Stack, record: AnyDealing): Partial<Stack> {
  switch (record.kind) {
    case "imports-asked":
      return changedOperation(stack, ({ asked }) => ({ asked: new Set([...asked, ...record.names]) }));
    case "import-answered":
      return answeredImport(stack, record);
    case "import-released":
      return { imports: without(stack.imports, record.name) };
    case "importer-added":
      return changedImporters(stack, record.name, (importers) =>
        new Map(importers).set(record.importer, record.by),
      );
    case "importer-removed":
      return changedImporters(stack, record.name, (importers) => without(importers, record.importer));
    case "exports-claimed":
      return { claimedExports: record.names };
    case "parent-waits":
      return waitedFor(stack, record.link);
    case "parent-told":
      return toldParent(stack);
  }
}

function waitedFor(stack: Stack, link: ParentLink): Partial<Stack> {
  const asked = { lastParentRequest: link.requestId };
  return stack.operation === undefined
    ? asked
    : { ...asked, ...changedOperation(stack, () => ({ waiting: link })) };
}

function toldParent({ operation }: Stack): Partial<Stack> {
  if (operation === undefined) return {};
  const { waiting: _answered, ...rest } = operation;
  return { operation: rest };
}

function answeredImport(stack: Stack, record: Extract<Dealing, { kind: "import-answered" }>): Partial<Stack> {
  const { name, found } = record;
  return {
    ...changedOperation(stack, ({ asked }) => ({
      asked: new Set([...asked].filter((other) => other !== name)),
    })),
    ...(found === undefined ? {} : { imports: new Map(stack.imports).set(name, found) }),
  };
}

function changedImporters(
  stack: Stack,
  name: string,
  change: (importers: ReadonlyMap<StackId, Importer>) => ReadonlyMap<StackId, Importer>,
): Partial<Stack> {
  const changed = change(stack.importers.get(name) ?? new Map<StackId, Importer>());
  if (changed.size === 0) return { importers: without(stack.importers, name) };
  return { importers: new Map(stack.importers).set(name, changed) };
}

/** A change of the operation in flight. */
export function changedOperation(
  stack: Stack,
  change: (operation: Operation) => Partial<Operation>,
): Partial<Stack> {
  if (stack.operation === undefined) throw new Error("an operation's record without an operation");
  return { operation: { ...stack.operation, ...change(stack.operation) } };
}

/** A copy without one entry. */
export function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
