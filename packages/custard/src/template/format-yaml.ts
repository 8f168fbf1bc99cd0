import { stringify } from "yaml";
import type { Json } from "@custard/provider/protocol";

/** A JSON value as YAML for people: short lines aren't folded, and nothing is abbreviated by aliases. */
export function formatYaml(value: Json): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
