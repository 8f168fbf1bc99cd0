import { basename, dirname, extname, resolve } from "node:path";
import { CliFault } from "./fault.ts";

const generic = new Set(["template", "stack", "main", "index", "cfn", "cloudformation"]);

// AWS refuses other names with this text (fact 121); 128 is the documented limit.
const pattern = "[a-zA-Z][-a-zA-Z0-9]*";
const maxLength = 128;

/** A stack name made from the template's file name, or from its folder's when the file is called template, stack and the like. */
export function defaultStackName(templatePath: string): string {
  const path = resolve(templatePath);
  const file = basename(path, extname(path)).replace(/\.template$/, "");
  const named = generic.has(file.toLowerCase()) ? basename(dirname(path)) : file;
  const name = named
    .replaceAll(/[^a-zA-Z0-9]+/g, "-")
    .replace(/^[^a-zA-Z]+/, "")
    .replace(/-+$/, "");
  return name === "" ? "stack" : name.slice(0, maxLength);
}

/** Throws `CliFault` when AWS would not take the name. */
export function checkStackName(name: string): void {
  if (new RegExp(`^${pattern}$`).test(name) && name.length <= maxLength) return;
  const wrong =
    name.length > maxLength
      ? `have length less than or equal to ${maxLength}`
      : `satisfy regular expression pattern: ${pattern}`;
  throw new CliFault(
    `1 validation error detected: Value '${name}' at 'stackName' failed to satisfy constraint: Member must ${wrong}`,
    {
      advice:
        "A stack name starts with a letter, goes on with letters, digits and hyphens, and has at most 128 characters.",
    },
  );
}
