import type { Diagnostic } from "../../template/diagnostic.ts";
import { formatDiagnostic } from "../../template/excerpt.ts";
import { validateTemplate } from "../../template/validate-template.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { printableLines } from "../printable.ts";
import { readTemplateText } from "../read-template.ts";
import { writeJson } from "../read-stacks.ts";

export const validate: Command = {
  name: "validate",
  summary: "say all that is wrong with a template",
  details:
    "Checks a template without deploying it and tells every fault with its place. Loops and serverless functions are " +
    "written out first, with example values for parameters that have no default; what a macro makes of the template is not checked. " +
    "Ends with 0 when there are at most warnings, else with 2.",
  arguments: [{ name: "TEMPLATE", description: "template file, YAML or JSON", required: true }],
  options: [sharedOptions.json],
  examples: ["custard validate template.yaml", "custard validate template.yaml --json"],
  run: runValidate,
};

async function runValidate(call: Call): Promise<ExitCode> {
  const file = call.argument("TEMPLATE") ?? "";
  const body = await readTemplateText(call.io.cwd, file);
  const diagnostics = validateTemplate(body);
  const valid = diagnostics.every(({ severity }) => severity !== "error");
  if (call.json) writeJson(call, { file, valid, diagnostics });
  else call.io.stdout.write(formatVerdict(file, body, diagnostics));
  return valid ? 0 : 2;
}

function formatVerdict(file: string, body: string, diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const found = diagnostics.flatMap((diagnostic) => printableLines(formatDiagnostic(diagnostic, body, file)));
  const verdict =
    errors === 0 ? `${file} is valid.` : `${file} has ${errors} ${errors === 1 ? "fault" : "faults"}.`;
  return [...found, verdict, ""].join("\n");
}
