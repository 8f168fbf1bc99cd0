import { partitionOf, urlSuffixOf } from "@custard/provider/protocol";
import { evaluateTemplate } from "../../template/evaluate-template.ts";
import { formatDiagnostic } from "../../template/excerpt.ts";
import { formatYaml } from "../../template/format-yaml.ts";
import type { Pseudo } from "../../template/known.ts";
import type { ParameterInput } from "../../template/parameters.ts";
import { examplePseudo } from "../../template/validate-template.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { parseKeyValues } from "../key-values.ts";
import { placeOf } from "../place.ts";
import { printableLines } from "../printable.ts";
import { readTemplateText } from "../read-template.ts";
import { writeJson } from "../read-stacks.ts";
import { TemplateFault } from "../template-fault.ts";

export const evaluate: Command = {
  name: "evaluate",
  summary: "show a template with everything in it resolved",
  details:
    "Shows the resources and outputs of a template as the given parameters make them, without deploying it. What only a " +
    "deployment can know stays as the function that asks for it, SSM parameters as dynamic references; NoEcho values show as *****. " +
    "Resources and outputs whose conditions don't hold are left out.",
  arguments: [{ name: "TEMPLATE", description: "template file, YAML or JSON", required: true }],
  options: [
    { flags: "--parameters <key=value...>", description: "values for the template's parameters" },
    { flags: "--stack-name <name>", description: "name of the stack (default: example)" },
    sharedOptions.region,
    sharedOptions.account,
    { flags: "--json", description: "JSON instead of YAML" },
  ],
  examples: [
    "custard evaluate template.yaml --parameters Size=small",
    "custard evaluate template.yaml --region cn-north-1 --json",
  ],
  run: runEvaluate,
};

async function runEvaluate(call: Call): Promise<ExitCode> {
  const file = call.argument("TEMPLATE") ?? "";
  const values = parseKeyValues("--parameters", call.texts("parameters"));
  const pseudo = pseudoOf(call);
  const body = await readTemplateText(call.io.cwd, file);
  const given = Object.entries(values).map(([name, value]): [string, ParameterInput] => [
    name,
    { kind: "value", value },
  ]);
  const evaluated = evaluateTemplate(body, { parameters: new Map(given), pseudo });
  if (!evaluated.ok) throw new TemplateFault({ file, body, diagnostics: evaluated.diagnostics });
  for (const warning of evaluated.diagnostics) {
    call.io.stderr.write(`${printableLines(formatDiagnostic(warning, body, file)).join("\n")}\n`);
  }
  if (call.json) writeJson(call, evaluated.value);
  else call.io.stdout.write(formatYaml(evaluated.value));
  return 0;
}

/** The pseudo parameters of a stack as the call describes it. */
function pseudoOf(call: Call): Pseudo {
  const { region = examplePseudo.region, account: accountId = examplePseudo.accountId } = placeOf(call);
  const partition = partitionOf(region);
  const stackName = call.text("stackName") ?? examplePseudo.stackName;
  const stackId = `arn:${partition}:cloudformation:${region}:${accountId}:stack/${stackName}/00000000-0000-1000-8000-000000000000`;
  return {
    ...examplePseudo,
    region,
    accountId,
    partition,
    urlSuffix: urlSuffixOf(partition),
    stackName,
    stackId,
  };
}
