/** The part of the fold that is about exports and imports, and what the whole fold is made with. */
import type { StackId } from "./ids.ts";
import type { Dealing, StackRecord } from "./record.ts";
import type { Importer, Operation, Stack } from "./stack.ts";

const kinds: ReadonlySet<string> = new Set<Dealing["kind"]>([
  "imports-asked",
  "import-answered",
  "import-released",
  "importer-added",
  "importer-removed",
  "exports-claimed",
]);

/** Is it about exports and imports? */
export function isDealing<R extends StackRecord>(record: R): record is Extract<R, Dealing> {
  return kinds.has(record.kind);
}

/** What changes in the stack. */
export function dealt(stack: Stack, record: Dealing): Partial<Stack> {
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
  }
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
