import { basename, dirname, extname, resolve } from "node:path";
import { CliFault } from "./fault.ts";

const generic = new Set(["template", "stack", "main", "index", "cfn", "cloudformation"]);

// AWS refuses other names with this text (fact 121); 128 is the documented limit.
const pattern = "[a-zA-Z][-a-zA-Z0-9]*";
const maxLength = 128;

/**
 * A stack name made from the template's file name, or from its folder's when the file is called template, stack and the
 * like. Several files of a folder are several stacks, so that of a file's name nothing is lost that tells it from
 * another: 1-base.yaml is stack-1-base. Throws `CliFault` where a name has no letter or digit to make one of.
 */
export function defaultStackName(templatePath: string): string {
  const path = resolve(templatePath);
  const file = basename(path, extname(path)).replace(/\.template$/, "");
  const isGeneric = generic.has(file.toLowerCase());
  const name = (isGeneric ? basename(dirname(path)) : file)
    .replaceAll(/[^a-zA-Z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  if (isGeneric) return name.replace(/^[^a-zA-Z]+/, "").slice(0, maxLength) || "stack";
  if (name === "")
    throw new CliFault(`No stack name can be made of ${basename(path)}`, {
      advice: "Give one: --stack-name my-stack",
    });
  return (/^[a-zA-Z]/.test(name) ? name : `stack-${name}`).slice(0, maxLength);
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
