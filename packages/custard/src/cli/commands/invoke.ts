import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json, type JsonObject, parseArn, type RequestType } from "@custard/provider/protocol";
import { FunctionError } from "../../services/function-error.ts";
import type { InvocationTarget } from "../../services/invocation-target.ts";
import type { EndedRequest, WantedRequest } from "../../services/single-requests.ts";
import { TopicError } from "../../services/topic-error.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { moduleTarget, namedTarget, scopeOf, urlTarget } from "../find-provider.ts";
import { formatInvocation, invocationJson } from "../invocation-report.ts";
import { parseKeyValues } from "../key-values.ts";
import type { Opened } from "../opened.ts";
import { providerOptions, providerSettings } from "../provider-options.ts";
import { writeJson } from "../read-stacks.ts";
import { knownState } from "../state-directory.ts";

export const invoke: Command = {
  name: "invoke",
  summary: "send one request to a provider, without a stack",
  details:
    "Sends a Create, Update or Delete as CloudFormation would, and shows the answer and what happened in between. " +
    "The provider is a function of a stack here, a module (run as a Lambda function), or a server to which an SNS " +
    "topic's messages go; it has to confirm its subscription first. Nothing of the request is kept.",
  arguments: [
    {
      name: "FUNCTION",
      description: "function's name, ARN or logical id, or a topic's ARN; left out with --module or --url",
      required: false,
    },
    { name: "ACTION", description: "create, update or delete", required: false },
  ],
  options: [
    {
      flags: "--module <file>",
      description: "a file whose handler is the provider: FILE or FILE:HANDLER (.js, .mjs, .cjs, .py)",
    },
    {
      flags: "--url <url>",
      description: "a server that is subscribed to a topic, started with custard exec",
    },
    {
      flags: "--properties <key=value...>",
      description: "ResourceProperties: KEY=VALUE …, or one JSON object",
    },
    {
      flags: "--old-properties <key=value...>",
      description: "OldResourceProperties of an update (default: none)",
    },
    {
      flags: "--physical-id <id>",
      description: "PhysicalResourceId of an update or delete (default: custard-invoke)",
    },
    { flags: "--type <type>", description: "ResourceType (default: Custom::Invoked)" },
    { flags: "--timeout <seconds>", description: "how long to wait for an answer (default: 60)" },
    providerOptions.sandbox,
    providerOptions.noSandbox,
    providerOptions.responseUrlStyle,
    providerOptions.subscriberHosts,
    sharedOptions.state,
    {
      flags: "--region <region>",
      description: "region of the request (default: us-east-1, or the function's)",
    },
    sharedOptions.account,
    sharedOptions.json,
  ],
  examples: [
    "custard invoke GreetFunction create --properties Name=World Language=en",
    "custard invoke --module provider.mjs update --physical-id thing-1 --properties '{\"Sizes\": [1, 2]}'",
    "custard invoke --url http://localhost:3000/ delete --physical-id thing-1",
  ],
  run: runInvoke,
};

/** What a call asks for, checked. */
interface Wish {
  readonly target: InvocationTarget | { readonly kind: "name"; readonly name: string };
  readonly wanted: Omit<WantedRequest, "serviceToken">;
}

async function runInvoke(call: Call): Promise<ExitCode> {
  const wish = readWish(call);
  const ended = await withState(call, async (stateDirectory) => {
    const local = await call.open({ stateDirectory, ...providerSettings(call) });
    try {
      return await send(call, local, wish);
    } finally {
      await local.close();
    }
  });
  if (call.json) writeJson(call, invocationJson(ended));
  else call.io.stdout.write(formatInvocation(ended, call.io));
  const { outcome } = ended;
  const isSuccess =
    outcome.kind === "answered" &&
    outcome.verdict.kind === "answer" &&
    outcome.verdict.response.status === "SUCCESS";
  return isSuccess ? 0 : 1;
}

async function send(call: Call, local: Opened, { target, wanted }: Wish): Promise<EndedRequest> {
  const left = new AbortController();
  const unlisten = call.io.onInterrupt(() => left.abort(new CliFault("Interrupted", { exitCode: 130 })));
  try {
    const found = target.kind === "name" ? await namedTarget(local, target.name, wanted.scope) : target;
    return await local.request(found, { ...wanted, scope: scopeFor(found, wanted) }, left.signal);
  } catch (error) {
    if (error instanceof FunctionError || error instanceof TopicError)
      throw new CliFault(error.message, { cause: error });
    throw error;
  } finally {
    unlisten();
  }
}

/** A request comes from the region of its function or topic: no other could reach it. */
function scopeFor(target: InvocationTarget, { scope }: Wish["wanted"]): WantedRequest["scope"] {
  const arn = target.kind === "arn" ? parseArn(target.arn) : undefined;
  return arn === undefined ? scope : { partition: arn.partition, region: arn.region, account: arn.account };
}

/** The state directory here, or one for this call alone. */
async function withState<T>(call: Call, use: (directory: string) => Promise<T>): Promise<T> {
  const known = knownState(call);
  if (known !== undefined) return await use(known);
  const directory = await mkdtemp(join(tmpdir(), "custard-invoke-"));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

// ------------------------------------------------------------------------------------------------ what is asked for

function readWish(call: Call): Wish {
  const { target, action } = readTarget(call);
  const physicalId = call.text("physicalId");
  const oldProperties = propertiesOf(call, "oldProperties", "--old-properties");
  return {
    target,
    wanted: {
      requestType: requestTypeOf(action),
      resourceType: call.text("type") ?? "Custom::Invoked",
      properties: propertiesOf(call, "properties", "--properties"),
      oldProperties,
      timeoutSeconds: timeoutOf(call),
      scope: scopeOf(call),
      ...(physicalId === undefined ? {} : { physicalId }),
    },
  };
}

function readTarget(call: Call): { readonly target: Wish["target"]; readonly action: string | undefined } {
  const [first, second] = [call.argument("FUNCTION"), call.argument("ACTION")];
  const [module, url] = [call.text("module"), call.text("url")];
  const given = [module, url, second].filter((one) => one !== undefined).length;
  if (given > 1) throw new CliFault("Name one provider: FUNCTION, --module or --url");
  if (module !== undefined) return { target: moduleTarget(call.io.cwd, module), action: first };
  if (url !== undefined) return { target: urlTarget(url), action: first };
  if (second === undefined)
    throw new CliFault("Name a provider and what to ask of it", {
      advice: "E.g. custard invoke GreetFunction create",
    });
  return { target: { kind: "name", name: first ?? "" }, action: second };
}

const requestTypes: Readonly<Record<string, RequestType>> = {
  create: "Create",
  update: "Update",
  delete: "Delete",
};

function requestTypeOf(action: string | undefined): RequestType {
  const requestType = requestTypes[(action ?? "").toLowerCase()];
  if (requestType !== undefined) return requestType;
  throw new CliFault(action === undefined ? "Say what to ask of the provider" : `"${action}" is no action`, {
    advice: "The actions are create, update and delete.",
  });
}

function timeoutOf(call: Call): number {
  const given = call.text("timeout") ?? "60";
  const seconds = Number(given);
  if (/^\d+$/u.test(given) && seconds >= 1 && seconds <= 3600) return seconds;
  throw new CliFault(`--timeout takes a whole number of seconds from 1 to 3600, but got "${given}"`);
}

function propertiesOf(call: Call, option: string, flag: string): JsonObject {
  const [first = "", ...rest] = call.texts(option);
  if (!first.trimStart().startsWith("{")) return parseKeyValues(flag, call.texts(option));
  return parseObject(flag, [first, ...rest].join(" "));
}

function parseObject(flag: string, text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text);
    return Object.fromEntries(Object.entries(value ?? {}));
  } catch (cause) {
    throw new CliFault(`${flag} is no JSON object`, {
      advice: 'Quote it for the shell: --properties \'{"Name": "World"}\'.',
      cause,
    });
  }
}
