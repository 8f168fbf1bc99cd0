/** SSM's Parameter Store: its operations, over the local store. */
import { createHash } from "node:crypto";
import { ParameterError } from "../../services/parameter-error.ts";
import { parameterTiers, parameterTypes } from "../../services/parameter-rules.ts";
import type { FoundParameter, ParameterInput, ParameterStore } from "../../services/parameters.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import { tagsOf, toTags } from "../tags.ts";
import type { ApiCall, Handler, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";

/** What SSM works on. */
export interface SsmWorld {
  readonly parameters: ParameterStore;
}

type Handle = Handler<SsmWorld>;

const putParameter: Handle = async ({ input, scope }, { parameters }) => {
  const found = await parameters.put(scope, {
    name: input.need("Name"),
    value: input.need("Value"),
    ...definedOf({
      type: choiceOf(input, "Type", parameterTypes),
      overwrite: input.flag("Overwrite"),
      tier: choiceOf(input, "Tier", parameterTiers),
      dataType: input.text("DataType"),
      description: input.text("Description"),
      allowedPattern: input.text("AllowedPattern"),
      keyId: input.text("KeyId"),
      policies: input.text("Policies"),
    }),
    ...(input.has("Tags") ? { tags: tagsOf(input) } : {}),
  } satisfies ParameterInput);
  return { Version: found.version, Tier: found.tier };
};

const getParameter: Handle = async ({ input, scope }, { parameters }) => {
  const found = await parameters.get(scope, input.need("Name"));
  return { Parameter: toParameter(found, input.flag("WithDecryption")) };
};

const getParameters: Handle = async ({ input, scope }, { parameters }) => {
  const names = input.texts("Names") ?? [];
  const found = await Promise.all(
    names.map(async (name) => ({ name, parameter: await parameters.find(scope, name) })),
  );
  return {
    Parameters: found.flatMap(({ parameter }) =>
      parameter === undefined ? [] : [toParameter(parameter, input.flag("WithDecryption"))],
    ),
    InvalidParameters: found.flatMap(({ name, parameter }) => (parameter === undefined ? [name] : [])),
  };
};

const getParametersByPath: Handle = async (call, { parameters }) => {
  const { input, scope } = call;
  const all = await parameters.byPath(scope, input.need("Path"), {
    recursive: input.flag("Recursive") ?? false,
  });
  const { items, next } = page(call, all.filter(matching(input)), 10);
  return {
    Parameters: items.map((found) => toParameter(found, input.flag("WithDecryption"))),
    NextToken: next,
  };
};

const getParameterHistory: Handle = async ({ input, scope }, { parameters }) => {
  const history = await parameters.history(scope, input.need("Name"));
  const { items, next } = pageOf(history, {
    keyOf: ({ version }) => String(version),
    size: input.number("MaxResults") ?? 50,
    token: input.text("NextToken"),
    code: "InvalidNextToken",
  });
  return {
    Parameters: items.map((found) => ({
      ...toMetadata(found),
      Value: shownValue(found, input.flag("WithDecryption")),
      Labels: found.labels,
    })),
    NextToken: next,
  };
};

const describeParameters: Handle = async (call, { parameters }) => {
  const all = await parameters.list(call.scope);
  const { items, next } = page(call, all.filter(matching(call.input)), 50);
  const shown = items.map((found) => ({ ...toMetadata(found), ARN: found.arn }));
  return { Parameters: shown, NextToken: next };
};

const deleteParameter: Handle = async ({ input, scope }, { parameters }) => {
  await parameters.delete(scope, input.need("Name"));
  return {};
};

const deleteParameters: Handle = async ({ input, scope }, { parameters }) => {
  const [deleted, invalid]: [string[], string[]] = [[], []];
  for (const name of input.texts("Names") ?? []) {
    const isThere = (await parameters.find(scope, name)) !== undefined;
    if (isThere) await parameters.delete(scope, name);
    (isThere ? deleted : invalid).push(name);
  }
  return { DeletedParameters: deleted, InvalidParameters: invalid };
};

const labelParameterVersion: Handle = async ({ input, scope }, { parameters }) => {
  const { invalid, version } = await parameters.label(scope, input.need("Name"), {
    labels: input.texts("Labels") ?? [],
    ...definedOf({ version: input.number("ParameterVersion") }),
  });
  return { InvalidLabels: invalid, ParameterVersion: version };
};

const unlabelParameterVersion: Handle = async ({ input, scope }, { parameters }) => {
  const { removed, invalid } = await parameters.unlabel(scope, input.need("Name"), {
    labels: input.texts("Labels") ?? [],
    version: input.number("ParameterVersion") ?? 0,
  });
  return { RemovedLabels: removed, InvalidLabels: invalid };
};

const addTagsToResource: Handle = async ({ input, scope }, { parameters }) => {
  const name = parameterOf(input);
  await parameters.setTags(scope, name, { ...(await parameters.tags(scope, name)), ...tagsOf(input) });
  return {};
};

const removeTagsFromResource: Handle = async ({ input, scope }, { parameters }) => {
  const name = parameterOf(input);
  const removed = input.texts("TagKeys") ?? [];
  const before = Object.entries(await parameters.tags(scope, name));
  const kept = before.filter(([key]) => !removed.includes(key));
  await parameters.setTags(scope, name, Object.fromEntries(kept));
  return {};
};

const listTagsForResource: Handle = async ({ input, scope }, { parameters }) => {
  const tags = await parameters.tags(scope, parameterOf(input));
  return { TagList: toTags(tags) };
};

export const ssm: Service<SsmWorld> = {
  name: "ssm",
  operations: {
    AddTagsToResource: addTagsToResource,
    DeleteParameter: deleteParameter,
    DeleteParameters: deleteParameters,
    DescribeParameters: describeParameters,
    GetParameter: getParameter,
    GetParameterHistory: getParameterHistory,
    GetParameters: getParameters,
    GetParametersByPath: getParametersByPath,
    LabelParameterVersion: labelParameterVersion,
    ListTagsForResource: listTagsForResource,
    PutParameter: putParameter,
    RemoveTagsFromResource: removeTagsFromResource,
    UnlabelParameterVersion: unlabelParameterVersion,
  },
  explain: (error) => (error instanceof ParameterError ? new ApiError(error.code, error.message) : undefined),
};

function toParameter(found: FoundParameter, isDecrypted: boolean | undefined): WireObject {
  return {
    Name: found.name,
    Type: found.type,
    Value: shownValue(found, isDecrypted),
    Version: found.version,
    Selector: found.selector,
    LastModifiedDate: found.modifiedAt,
    ARN: found.arn,
    DataType: found.dataType,
  };
}

function toMetadata(found: FoundParameter): WireObject {
  return {
    Name: found.name,
    Type: found.type,
    KeyId: found.keyId,
    LastModifiedDate: found.modifiedAt,
    Description: found.description,
    AllowedPattern: found.allowedPattern,
    Version: found.version,
    Tier: found.tier,
    DataType: found.dataType,
  };
}

/** Without decryption a SecureString shows as something that nobody can read. */
function shownValue({ type, value, arn, version }: FoundParameter, isDecrypted: boolean | undefined): string {
  if (type !== "SecureString" || isDecrypted === true) return value;
  return createHash("sha512").update(`${arn} ${version}`).digest("base64");
}

/** Filters by name, type, key, tier, data type and path; others are refused, as SSM refuses those it doesn't know. */
function matching(input: Input): (found: FoundParameter) => boolean {
  const tests = input.objects("ParameterFilters").map((filter) => {
    const key = filter.need("Key");
    const option = filter.text("Option") ?? "Equals";
    const values = filter.texts("Values") ?? [];
    return (found: FoundParameter) => values.some((value) => fits(filterable(found, key), { option, value }));
  });
  return (found) => tests.every((test) => test(found));
}

function filterable(found: FoundParameter, key: string): string {
  const texts: Readonly<Record<string, string>> = {
    Name: found.name,
    Path: found.name,
    Type: found.type,
    KeyId: found.keyId ?? "",
    Tier: found.tier,
    DataType: found.dataType,
  };
  const text = texts[key];
  if (text !== undefined) return text;
  throw new ParameterError("InvalidFilterKey", `The following filter key is not valid: ${key}.`);
}

function fits(text: string, { option, value }: { readonly option: string; readonly value: string }): boolean {
  const path = value.endsWith("/") ? value : `${value}/`;
  switch (option) {
    case "BeginsWith":
      return text.startsWith(value);
    case "Contains":
      return text.includes(value);
    case "Recursive":
      return text.startsWith(path);
    case "OneLevel":
      return text.startsWith(path) && !text.slice(path.length).includes("/");
  }
  return text === value;
}

function page({ input }: ApiCall, all: readonly FoundParameter[], size: number) {
  return pageOf(all, {
    keyOf: ({ name }) => name,
    size: input.number("MaxResults") ?? size,
    token: input.text("NextToken"),
    code: "InvalidNextToken",
  });
}

function parameterOf(input: Input): string {
  if (input.need("ResourceType") === "Parameter") return input.need("ResourceId");
  throw new ApiError("InvalidResourceType", "The resource type is not valid. Custard has parameters only.");
}

function choiceOf<Choice extends string>(
  input: Input,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = input.text(name);
  const found = choices.find((choice) => choice === text);
  if (text === undefined || found !== undefined) return found;
  throw new ParameterError(
    "ValidationException",
    `1 validation error detected: Value '${text}' at '${name.toLowerCase()}' failed to satisfy constraint: Member must satisfy enum value set: [${choices.join(", ")}]`,
  );
}
