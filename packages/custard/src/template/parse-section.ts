import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Faults } from "./faults.ts";
import { maxNameLength } from "./limits.ts";
import { childOf, entryOf, type MapEntry, type MapNode, type SourceNode } from "./source-node.ts";

/** One named thing of a section: a parameter, a resource, an output … */
export interface Member {
  readonly name: string;
  readonly node: MapNode;
  readonly path: string;
  readonly offset: number;
}

/** What is the same for all members of a section. */
export interface Section {
  /** `Resources` */
  readonly key: string;
  /** `Resource`, as it stands in messages about names. */
  readonly noun: string;
  readonly code: DiagnosticCode;
  readonly most?: number;
}

/** The members of a section that are maps and have a name that is allowed; the others are reported. */
export function membersOf(root: MapNode, section: Section, faults: Faults): readonly Member[] {
  const entries = sectionEntries(root, section, faults);
  checkCount(entries, section, faults);
  return entries.flatMap((entry) => {
    const path = `/${section.key}/${entry.key}`;
    checkName(entry, section, { path, faults });
    const { value } = entry;
    if (value.kind === "map") return [{ name: entry.key, node: value, path, offset: entry.keyOffset }];
    if (!isNull(value)) {
      const message = `Template format error: Any ${section.key} member must be an object.`;
      faults.report({ code: section.code, message, path, offset: entry.keyOffset });
    }
    return [];
  });
}

/** The entries of a section that is a map; none when it is missing. Anything else is reported. */
export function sectionEntries(root: MapNode, section: Section, faults: Faults): readonly MapEntry[] {
  const entry = entryOf(root, section.key);
  if (entry === undefined || isNull(entry.value)) return [];
  if (entry.value.kind === "map") return entry.value.entries;
  const message = `Template format error: The ${section.key} block of the template must be an object.`;
  faults.report({ code: "InvalidSection", message, path: `/${section.key}`, offset: entry.keyOffset });
  return [];
}

/** Reports when there are more than allowed. */
export function checkCount(entries: readonly MapEntry[], section: Section, faults: Faults): void {
  const { most, key } = section;
  const first = entries[most ?? entries.length];
  if (most === undefined || first === undefined) return;
  const message = `Template format error: Number of ${key.toLowerCase()}, ${entries.length}, is greater than maximum allowed, ${most}`;
  faults.report({ code: "LimitExceeded", message, path: `/${key}`, offset: first.keyOffset });
}

/** Reports a name that isn't alphanumeric, or is too long. */
export function checkName(
  entry: MapEntry,
  section: Section,
  { path, faults }: { path: string; faults: Faults },
): void {
  if (!/^[A-Za-z0-9]+$/.test(entry.key)) {
    const message = `Template format error: ${section.noun} name ${entry.key} is non alphanumeric.`;
    faults.report({ code: "InvalidName", message, path, offset: entry.keyOffset });
  } else if (entry.key.length > maxNameLength) {
    const message = `Template format error: ${section.noun} name ${entry.key} is longer than ${maxNameLength} characters.`;
    faults.report({ code: "InvalidName", message, path, offset: entry.keyOffset });
  }
}

/** Reports the keys of a member that it may not have. */
export function checkKeys(
  member: Member,
  allowed: ReadonlySet<string>,
  { faults, noun, code }: { faults: Faults; noun: string; code: DiagnosticCode },
): void {
  for (const { key, keyOffset } of member.node.entries) {
    if (allowed.has(key)) continue;
    const message = `Invalid template ${noun} property '${key}'`;
    faults.report({ code, message, path: `${member.path}/${key}`, offset: keyOffset });
  }
}

/** Is it a null? That is reported once, for the whole template. */
export function isNull(node: SourceNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

/** The child of that key, unless it is a null. */
export function valueOf(node: MapNode, key: string): SourceNode | undefined {
  const child = childOf(node, key);
  return child === undefined || isNull(child) ? undefined : child;
}
