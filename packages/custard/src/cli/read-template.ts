import { resolve } from "node:path";
import type { Diagnostic, Parsed } from "../template/diagnostic.ts";
import { maxBytes } from "../template/limits.ts";
import type { Template } from "../template/template.ts";
import { CliFault } from "./fault.ts";
import { readBounded } from "./read-bounded.ts";
import { TemplateFault } from "./template-fault.ts";

/** A template that is right, and what is to be said about it all the same. */
export interface ReadTemplate {
  readonly template: Template;
  readonly warnings: readonly Diagnostic[];
}

/** Reads and parses a template file. Throws `CliFault` when it can't be read, `TemplateFault` when it is wrong. */
export async function readTemplate(cwd: string, path: string): Promise<ReadTemplate> {
  const body = await readTemplateText(cwd, path);
  const { parseTemplate } = await import("../template/parse-template.ts");
  const parsed: Parsed<Template> = parseTemplate(body);
  if (!parsed.ok) throw new TemplateFault({ file: path, body, diagnostics: parsed.diagnostics });
  return { template: parsed.value, warnings: parsed.diagnostics };
}

const nameIt = "Name the template file, e.g. custard deploy template.yaml.";

/** Reads a template file. Throws `CliFault` when it can't be read. */
export async function readTemplateText(cwd: string, path: string): Promise<string> {
  if (path === "") throw new CliFault("The template's path is empty", { advice: nameIt });
  const bytes = await readBounded(resolve(cwd, path), maxBytes).catch((error: NodeJS.ErrnoException) => {
    throw new CliFault(unreadable(path, error), {
      cause: error,
      advice: nameIt,
    });
  });
  // The parser refuses it by its length, whatever it holds; a letter may be cut in two.
  if (bytes.length > maxBytes) return bytes.toString("latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliFault(`${path} is no text: it is not UTF-8`, { cause });
  }
}

function unreadable(shown: string, error: NodeJS.ErrnoException): string {
  const texts: Readonly<Record<string, string>> = {
    ENOENT: `There is no file ${shown}`,
    EISDIR: `${shown} is a folder, not a template`,
    EACCES: `${shown} may not be read`,
  };
  return texts[error.code ?? ""] ?? `${shown} can't be read: ${error.message}`;
}
