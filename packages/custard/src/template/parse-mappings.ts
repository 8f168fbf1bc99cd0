import type { Faults } from "./faults.ts";
import { maxMappingAttributes, maxMappings } from "./limits.ts";
import { checkCount, checkName, isNull, sectionEntries, type Section } from "./parse-section.ts";
import { textOf, textsOf, type MapEntry, type MapNode, type SourceNode } from "./source-node.ts";
import type { Mapping, Mappings } from "./template.ts";
import type { Value } from "./value.ts";

const section: Section = { key: "Mappings", noun: "Mapping", code: "InvalidMapping", most: maxMappings };

/** The maps of `Mappings`: texts and lists of texts, two keys deep. */
export function parseMappings(root: MapNode, faults: Faults): Mappings {
  const entries = sectionEntries(root, section, faults);
  checkCount(entries, section, faults);
  return new Map(entries.map((entry) => [entry.key, parseMapping(entry, faults)]));
}

function parseMapping(entry: MapEntry, faults: Faults): Mapping {
  const path = `/Mappings/${entry.key}`;
  checkName(entry, section, { path, faults });
  if (entry.value.kind !== "map") {
    refuse(
      entry,
      { path, message: `Template format error: Every Mappings member ${entry.key} must be a map` },
      faults,
    );
    return new Map();
  }
  const keys = entry.value.entries;
  checkCount(keys, { ...section, key: `attributes of ${entry.key}`, most: maxMappingAttributes }, faults);
  return new Map(keys.map((key) => [key.key, parseAttributes(key, path, faults)]));
}

function parseAttributes(key: MapEntry, mappingPath: string, faults: Faults): ReadonlyMap<string, Value> {
  const path = `${mappingPath}/${key.key}`;
  if (key.value.kind !== "map") {
    refuse(
      key,
      { path, message: `Template format error: Every Mappings member ${key.key} must be a map` },
      faults,
    );
    return new Map();
  }
  return new Map(
    key.value.entries.map((entry) => {
      const value = attributeValue(entry.value);
      if (value === undefined) {
        const message = "Template format error: Every Mappings attribute must be a String or a List.";
        refuse(entry, { path: `${path}/${entry.key}`, message }, faults);
      }
      return [entry.key, value ?? ""];
    }),
  );
}

function attributeValue(node: SourceNode): Value | undefined {
  if (node.kind === "scalar") return node.value ?? undefined;
  return textOf(node) ?? textsOf(node);
}

function refuse(entry: MapEntry, { path, message }: { path: string; message: string }, faults: Faults): void {
  if (!isNull(entry.value)) faults.report({ code: section.code, message, path, offset: entry.keyOffset });
}
