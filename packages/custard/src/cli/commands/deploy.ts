import { resolve } from "node:path";
import type { StackSummary } from "../../engine/ports.ts";
import { StackError } from "../../engine/stack-error.ts";
import type { StackView } from "../../engine/views.ts";
import type { StackInput } from "../../engine/engine.ts";
import type { Diagnostic } from "../../template/diagnostic.ts";
import type { Config } from "../../services/config.ts";
import { isRuntime, type Runtime } from "../../services/function-settings.ts";
import type { Template } from "../../template/template.ts";
import { checkSimulated } from "../check-simulated.ts";
import { findStack } from "../choose-stack.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { follow, type Operation } from "../follow.ts";
import { type FunctionSource, functionSources } from "../function-sources.ts";
import { mindingOthers } from "../others.ts";
import { parseKeyValues } from "../key-values.ts";
import { placeOf } from "../place.ts";
import { providerOptions, providerSettings } from "../provider-options.ts";
import { readConfig } from "../read-config.ts";
import { readTemplate } from "../read-template.ts";
import { reportFor, type Session, withSession } from "../session.ts";
import { checkStackName, defaultStackName } from "../stack-name.ts";
import { folderOf, stateBeside } from "../state-directory.ts";

export const deploy: Command = {
  name: "deploy",
  summary: "create a stack from a template, or update it",
  details:
    "Creates the stack, or updates it when it exists, and shows its events as they happen, then its outputs. " +
    "Functions of the template run on this machine, as you. A custard.config beside the template or here can give " +
    "exact values, parameters, secrets and code (docs/config.md). Parameters that are not given keep their values in an update. " +
    "Ctrl-C undoes: a create is deleted, an update is cancelled; a second Ctrl-C leaves it for custard resume.",
  arguments: [{ name: "TEMPLATE", description: "template file, YAML or JSON", required: true }],
  options: [
    {
      flags: "--stack-name <name>",
      description:
        "name of the stack (default: the template's file name, or its folder's if that is template, stack, main …)",
    },
    { flags: "--parameters <key=value...>", description: "values for the template's parameters" },
    { flags: "--tags <key=value...>", description: "tags of the stack" },
    {
      flags: "--notification-arns <arn...>",
      description: "local SNS topics that get the stack's events (default in an update: those of before)",
    },
    { flags: "--state <dir>", description: "where stacks are kept (default: .custard beside the template)" },
    { flags: "--region <region>", description: "region of a new stack (default: us-east-1)" },
    { flags: "--account <id>", description: "account of a new stack, 12 digits" },
    { flags: "--no-rollback", description: "leave what was done as it is when something fails" },
    {
      flags: "--no-fail-fast",
      description: "wait for ServiceTimeout even when a provider has certainly ended without an answer",
    },
    {
      flags: "--strict",
      description: "refuse resources that nothing stands behind, instead of simulating them",
    },
    providerOptions.sandbox,
    providerOptions.noSandbox,
    providerOptions.responseUrlStyle,
    providerOptions.subscriberHosts,
    sharedOptions.json,
  ],
  examples: [
    "custard deploy template.yaml",
    "custard deploy template.yaml --stack-name shop --parameters Size=small Color=red",
  ],
  run: runDeploy,
};

/** What a call asks for, checked. */
interface Wish {
  readonly template: Template;
  readonly warnings: readonly Diagnostic[];
  readonly sources: readonly FunctionSource[];
  readonly input: StackInput;
}

async function runDeploy(call: Call): Promise<ExitCode> {
  const path = call.argument("TEMPLATE") ?? "";
  const config = await readConfig({ cwd: call.io.cwd, templatePath: resolve(call.io.cwd, path) });
  const wish = await readWish(call, path, config);
  const names = [...wish.template.resources.values(), { logicalId: wish.input.stackName, type: "" }];
  const report = reportFor(call, names);
  for (const diagnostic of wish.warnings)
    report({ kind: "warning", file: path, body: wish.template.body, diagnostic });
  const options = {
    stateDirectory: stateBeside(call, path),
    ...placeOf(call),
    ...providerSettings(call),
    failFast: call.flag("failFast"),
    strict: call.flag("strict"),
    config,
    prewarm: runtimesOf(wish),
  };
  return withSession(call, options, async (session) => {
    checkSimulated(wish.template, { types: session.local.types, config, strict: options.strict });
    const told = { ...session, report };
    return await mindingOthers(told, wish.input.stackName, async () => deployInto(told, wish));
  });
}

async function readWish(call: Call, path: string, config: Config): Promise<Wish> {
  const stackName = call.text("stackName") ?? defaultStackName(resolve(call.io.cwd, path));
  checkStackName(stackName);
  const parameters = parseKeyValues("--parameters", call.texts("parameters"));
  const tags = parseKeyValues("--tags", call.texts("tags"));
  const notificationArns = call.texts("notificationArns");
  const place = placeOf(call);
  const { template, warnings } = await readTemplate(call.io.cwd, path);
  const input: StackInput = {
    stackName,
    templateBody: template.body,
    parameters,
    ...(call.texts("tags").length === 0 ? {} : { tags }),
    ...(notificationArns.length === 0 ? {} : { notificationArns }),
    ...place,
    directory: folderOf(call.io.cwd, path),
    disableRollback: !call.flag("rollback"),
  };
  const sources = await functionSources({ template, path }, { cwd: call.io.cwd, config });
  return { template, warnings, sources, input };
}

async function deployInto(session: Session, wish: Wish): Promise<ExitCode> {
  const { stackName, region, account } = wish.input;
  const existing = await findStack(session.local.engine, { name: stackName, region, account });
  return existing === undefined ? create(session, wish) : update(session, existing, wish);
}

function runtimesOf({ sources }: Wish): readonly Runtime[] {
  return [...new Set(sources.map((source) => source.runtime))].filter(isRuntime);
}

async function create(session: Session, wish: Wish): Promise<ExitCode> {
  const { input, sources } = wish;
  const startedAt = Date.now();
  const stackId = await session.local.engine.createStack(input);
  // Their processes start while the engine gets to the first custom resource.
  for (const runtime of runtimesOf(wish)) void session.local.lambda.prewarm(runtime);
  return begin(session, sources, {
    kind: "create",
    stackId,
    stackName: input.stackName,
    after: 0,
    startedAt,
  });
}

async function update(session: Session, existing: StackSummary, wish: Wish): Promise<ExitCode> {
  const { engine } = session.local;
  const { stackId, stackName, region, account } = existing;
  const startedAt = Date.now();
  const before = await engine.stack(stackId);
  const after = (await engine.events(stackId)).at(-1)?.sequence ?? 0;
  const previousParameters = keptParameters(before, wish);
  const { tags, notificationArns } = before;
  try {
    await engine.updateStack({
      tags,
      notificationArns,
      ...wish.input,
      previousParameters,
      region,
      account,
    });
  } catch (error) {
    if (!(error instanceof StackError) || error.code !== "NoUpdates") throw error;
    session.report({ kind: "unchanged", stack: await engine.stack(stackId) });
    return 0;
  }
  return begin(session, wish.sources, { kind: "update", stackId, stackName, after, startedAt });
}

/** Parameters that the call does not give and the stack has a value for. */
function keptParameters(before: StackView, wish: Wish): readonly string[] {
  const kept = before.parameters.map((parameter) => parameter.name);
  return kept.filter(
    (name) => wish.template.parameters.has(name) && !Object.hasOwn(wish.input.parameters ?? {}, name),
  );
}

async function begin(
  session: Session,
  sources: readonly FunctionSource[],
  operation: Operation,
): Promise<ExitCode> {
  for (const source of sources) session.report({ kind: "function", source, sandbox: session.local.sandbox });
  const { region } = await session.local.engine.stack(operation.stackId);
  session.report({
    kind: "start",
    operation: operation.kind,
    stackName: operation.stackName,
    region,
    resumed: false,
  });
  return follow(session, operation);
}
