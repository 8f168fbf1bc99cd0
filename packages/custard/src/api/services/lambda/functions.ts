/** Lambda's operations on functions, their versions, aliases and settings. */
import type { FunctionSettings, LogLevel } from "../../../services/function-settings.ts";
import { FunctionError } from "../../../services/function-error.ts";
import { formatFunctionArn, type FunctionReference } from "../../../services/function-arn.ts";
import { definedOf } from "../../defined.ts";
import type { Input } from "../../input.ts";
import { pageOf } from "../../pages.ts";
import type { ApiCall } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { toConfiguration, toEventInvoke } from "./views.ts";
import { archiveOf, functionNamed, functionOf, type Handle, type LambdaWorld } from "./world.ts";

const pageSize = 50;

export const createFunction: Handle = async (call, world) => {
  const { input, scope } = call;
  const code = input.object("Code");
  const bytes = code === undefined ? undefined : await archiveOf(code, scope, world);
  if (bytes === undefined)
    throw new FunctionError("InvalidParameter", "Please provide a source for function code.");
  const { name } = functionOf(call);
  const made = await world.functions.create(scope, {
    name,
    code: { kind: "zip", bytes },
    settings: {
      ...settingsOf(input),
      ...definedOf({ architecture: architectureOf(input), tags: input.map("Tags") }),
    },
  });
  if (input.flag("Publish") !== true) return toConfiguration(made);
  return toConfiguration(await world.functions.publishVersion(made.reference));
};

export const getFunction: Handle = async (call, { functions }) => {
  const found = await functions.resolve(functionOf(call, call.input.text("Qualifier")));
  const { reservedConcurrency, tags } = found.settings;
  return {
    Configuration: toConfiguration(found),
    Code: { RepositoryType: "S3" },
    Tags: Object.keys(tags).length === 0 ? undefined : tags,
    Concurrency:
      reservedConcurrency === undefined ? undefined : { ReservedConcurrentExecutions: reservedConcurrency },
  };
};

export const getFunctionConfiguration: Handle = async (call, { functions }) =>
  toConfiguration(await functions.resolve(functionOf(call, call.input.text("Qualifier"))));

export const listFunctions: Handle = async ({ input, scope }, { functions }) => {
  const { items, next } = pageOf(await functions.list(scope), {
    keyOf: ({ reference }) => reference.name,
    size: input.number("MaxItems") ?? pageSize,
    token: input.text("Marker"),
    code: "InvalidParameterValueException",
  });
  return { Functions: items.map(toConfiguration), NextMarker: next };
};

export const updateFunctionCode: Handle = async (call, world) => {
  const { input, scope } = call;
  const bytes = await archiveOf(input, scope, world);
  if (bytes === undefined)
    throw new FunctionError("InvalidParameter", "Please provide a source for function code.");
  const reference = functionOf(call);
  if (input.flag("DryRun") === true) return toConfiguration(await world.functions.resolve(reference));
  const changed = await world.functions.update(reference, {
    code: { kind: "zip", bytes },
    settings: definedOf({ architecture: architectureOf(input) }),
  });
  if (input.flag("Publish") !== true) return toConfiguration(changed);
  return toConfiguration(await world.functions.publishVersion(reference));
};

export const updateFunctionConfiguration: Handle = async (call, { functions }) =>
  toConfiguration(await functions.update(functionOf(call), { settings: settingsOf(call.input) }));

export const deleteFunction: Handle = async (call, { functions }) => {
  await functions.delete(functionOf(call, call.input.text("Qualifier")));
  return {};
};

export const publishVersion: Handle = async (call, { functions }) =>
  toConfiguration(await functions.publishVersion(functionOf(call), call.input.text("Description")));

export const listVersionsByFunction: Handle = async (call, { functions }) => {
  const reference = functionOf(call);
  const latest = await functions.resolve({ ...reference, qualifier: "$LATEST" });
  const published = await Promise.all(
    (await functions.versions(reference)).map(async ({ version }) =>
      functions.resolve({ ...reference, qualifier: version }),
    ),
  );
  return { Versions: [latest, ...published].map(toConfiguration) };
};

export const putAlias: Handle = async (call, { functions }) => {
  const reference = functionOf(call);
  const name = call.input.need("Name");
  refuseWeights(call.input);
  const version =
    call.input.text("FunctionVersion") ?? (await functions.aliases(reference))[name] ?? "$LATEST";
  await functions.putAlias(reference, { name, version });
  return toAlias(reference, name, version);
};

/** A part of the calls would go where nobody expects it: rather none at all. */
function refuseWeights(input: Input): void {
  const weights = input.object("RoutingConfig")?.whole()["AdditionalVersionWeights"] ?? {};
  if (Object.keys(weights).length > 0)
    throw new FunctionError(
      "InvalidParameter",
      "Custard sends all calls of an alias to one version: leave out AdditionalVersionWeights.",
    );
}

export const getAlias: Handle = async (call, { functions }) => {
  const reference = functionOf(call);
  const name = call.input.need("Name");
  const version = (await functions.aliases(reference))[name];
  if (version !== undefined) return toAlias(reference, name, version);
  const arn = formatFunctionArn({ ...reference, qualifier: name });
  throw new FunctionError("NotFound", `Alias not found: ${arn}`);
};

export const listAliases: Handle = async (call, { functions }) => {
  const reference = functionOf(call);
  const aliases = Object.entries(await functions.aliases(reference));
  return { Aliases: aliases.map(([name, version]) => toAlias(reference, name, version)) };
};

export const deleteAlias: Handle = async (call, { functions }) => {
  await functions.deleteAlias(functionOf(call), call.input.need("Name"));
  return {};
};

export const putFunctionConcurrency: Handle = async (call, { functions }) => {
  const reservedConcurrency = call.input.number("ReservedConcurrentExecutions");
  await functions.update(functionOf(call), { settings: { reservedConcurrency } });
  return { ReservedConcurrentExecutions: reservedConcurrency };
};

export const getFunctionConcurrency: Handle = async (call, { functions }) => {
  const { settings } = await functions.resolve(functionOf(call));
  return { ReservedConcurrentExecutions: settings.reservedConcurrency };
};

export const deleteFunctionConcurrency: Handle = async (call, { functions }) => {
  await functions.update(functionOf(call), { settings: { reservedConcurrency: undefined } });
  return {};
};

export const putEventInvokeConfig: Handle = async (call, { functions }) => {
  const reference = functionOf(call, call.input.text("Qualifier"));
  const settings = eventInvokeIn(call.input);
  await functions.putEventInvoke(reference, settings);
  return toEventInvoke(await functions.resolve(reference), settings);
};

/** What the call doesn't name stays. */
export const updateEventInvokeConfig: Handle = async (call, { functions }) => {
  const reference = functionOf(call, call.input.text("Qualifier"));
  const found = await functions.resolve(reference);
  if (Object.keys(found.eventInvoke).length === 0) throw noEventInvoke(found.arn);
  const settings = { ...found.eventInvoke, ...eventInvokeIn(call.input) };
  await functions.putEventInvoke(reference, settings);
  return toEventInvoke(await functions.resolve(reference), settings);
};

/** Of all qualifiers of a function. */
export const listEventInvokeConfigs: Handle = async (call, { functions }) => {
  const reference = functionOf(call);
  const versions = await functions.versions(reference);
  const aliases = Object.keys(await functions.aliases(reference));
  const qualifiers = ["$LATEST", ...versions.map(({ version }) => version), ...aliases];
  const all = await Promise.all(
    qualifiers.map(async (qualifier) => functions.resolve({ ...reference, qualifier })),
  );
  const configured = all.filter(({ eventInvoke }) => Object.keys(eventInvoke).length > 0);
  return { FunctionEventInvokeConfigs: configured.map((found) => toEventInvoke(found, found.eventInvoke)) };
};

/** Lambda's usual limits; of the account's functions, how many there are. */
export const getAccountSettings: Handle = async ({ scope }, { functions }) => ({
  AccountLimit: {
    TotalCodeSize: 80_530_636_800,
    CodeSizeUnzipped: 262_144_000,
    CodeSizeZipped: 52_428_800,
    ConcurrentExecutions: 1000,
    UnreservedConcurrentExecutions: 1000,
  },
  AccountUsage: { TotalCodeSize: 0, FunctionCount: (await functions.list(scope)).length },
});

/** Nothing polls for functions here, so that there are none. */
export const listEventSourceMappings: Handle = async () => ({ EventSourceMappings: [] });

function eventInvokeIn(input: Input) {
  const destinations = input.object("DestinationConfig");
  return definedOf({
    maximumRetryAttempts: input.number("MaximumRetryAttempts"),
    maximumEventAgeSeconds: input.number("MaximumEventAgeInSeconds"),
    onSuccess: destinations?.object("OnSuccess")?.text("Destination"),
    onFailure: destinations?.object("OnFailure")?.text("Destination"),
  });
}

function noEventInvoke(arn: string): FunctionError {
  return new FunctionError("NotFound", `The function ${arn} doesn't have an EventInvokeConfig`);
}

export const getEventInvokeConfig: Handle = async (call, { functions }) => {
  const found = await functions.resolve(functionOf(call, call.input.text("Qualifier")));
  if (Object.keys(found.eventInvoke).length > 0) return toEventInvoke(found, found.eventInvoke);
  throw noEventInvoke(found.arn);
};

export const deleteEventInvokeConfig: Handle = async (call, { functions }) => {
  await functions.putEventInvoke(functionOf(call, call.input.text("Qualifier")), undefined);
  return {};
};

export const listTags: Handle = async (call, { functions }) => {
  const { settings } = await functions.resolve(taggedOf(call));
  return { Tags: settings.tags };
};

export const tagResource: Handle = async (call, { functions }) => {
  await changeTags(call, functions, (tags) => ({ ...tags, ...call.input.map("Tags") }));
  return {};
};

export const untagResource: Handle = async (call, { functions }) => {
  const removed = call.input.texts("TagKeys") ?? [];
  await changeTags(call, functions, (tags) =>
    Object.fromEntries(Object.entries(tags).filter(([key]) => !removed.includes(key))),
  );
  return {};
};

async function changeTags(
  call: ApiCall,
  functions: LambdaWorld["functions"],
  change: (tags: FunctionSettings["tags"]) => FunctionSettings["tags"],
): Promise<void> {
  const reference = taggedOf(call);
  const { settings } = await functions.resolve(reference);
  await functions.update(reference, { settings: { tags: change(settings.tags) } });
}

function taggedOf({ input, scope }: ApiCall): FunctionReference {
  return functionNamed(input.need("Resource"), scope);
}

function toAlias(reference: FunctionReference, name: string, version: string): WireObject {
  return {
    AliasArn: formatFunctionArn({ ...reference, qualifier: name }),
    Name: name,
    FunctionVersion: version,
    Description: "",
  };
}

function settingsOf(input: Input): Partial<FunctionSettings> {
  const logging = input.object("LoggingConfig");
  return definedOf({
    runtime: input.text("Runtime"),
    handler: input.text("Handler"),
    role: input.text("Role"),
    description: input.text("Description"),
    timeoutSeconds: input.number("Timeout"),
    memoryMegabytes: input.number("MemorySize"),
    environment: input.object("Environment")?.map("Variables"),
    layers: input.texts("Layers"),
    logging:
      logging === undefined
        ? undefined
        : {
            format: logging.text("LogFormat") === "JSON" ? ("JSON" as const) : ("Text" as const),
            ...definedOf({
              group: logging.text("LogGroup"),
              applicationLevel: levelOf(logging.text("ApplicationLogLevel")),
              systemLevel: levelOf(logging.text("SystemLogLevel")),
            }),
          },
  });
}

function architectureOf(input: Input): FunctionSettings["architecture"] | undefined {
  const [architecture] = input.texts("Architectures") ?? [];
  if (architecture === undefined || architecture === "x86_64" || architecture === "arm64")
    return architecture;
  throw new FunctionError(
    "InvalidParameter",
    `Value '[${architecture}]' at 'architectures' failed to satisfy constraint: Member must satisfy enum value set: [x86_64, arm64]`,
  );
}

function levelOf(text: string | undefined): LogLevel | undefined {
  const levels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
  return levels.find((level) => level === text);
}
