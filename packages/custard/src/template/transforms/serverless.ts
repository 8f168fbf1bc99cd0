/**
 * `AWS::Serverless-2016-10-31`: functions with their role, layers, simple tables and applications become the resources
 * that they stand for. Events are ignored with a warning: nothing calls a function here but its custom resources.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import {
  childOf,
  entryOf,
  fromJson,
  mapToJson,
  textOf,
  type MapEntry,
  type MapNode,
  type SourceNode,
} from "../source-node.ts";
import { expandFunction, tagList } from "./serverless-function.ts";
import { isObject, type PlainResources, type ServerlessResource } from "./serverless-resource.ts";
import { madeNames, renameReferences } from "./serverless-references.ts";
import type { Transforming } from "./transforming.ts";

type Expand = (resource: ServerlessResource, warn: (message: string) => void) => PlainResources;

const types: ReadonlyMap<string, { readonly globals: string; readonly expand: Expand }> = new Map([
  ["AWS::Serverless::Function", { globals: "Function", expand: expandFunction }],
  ["AWS::Serverless::LayerVersion", { globals: "LayerVersion", expand: expandLayer }],
  ["AWS::Serverless::SimpleTable", { globals: "SimpleTable", expand: expandTable }],
  ["AWS::Serverless::Api", { globals: "Api", expand: expandApi }],
  ["AWS::Serverless::StateMachine", { globals: "StateMachine", expand: expandStateMachine }],
  ["AWS::Serverless::GraphQLApi", { globals: "GraphQLApi", expand: expandGraphQlApi }],
  ["AWS::Serverless::HttpApi", { globals: "HttpApi", expand: expandHttpApi }],
  ["AWS::Serverless::Application", { globals: "Application", expand: expandApplication }],
]);

/** The tree without `AWS::Serverless::*` resources and `Globals`. */
export function applyServerless(root: MapNode, work: Transforming): MapNode {
  const globals = entryOf(root, "Globals")?.value;
  const resources = entryOf(root, "Resources");
  const entries = root.entries.filter((entry) => entry.key !== "Globals");
  if (resources?.value.kind !== "map") return { ...root, entries };
  const made = new Map<string, MapEntry>();
  for (const entry of resources.value.entries)
    for (const each of expandEntry(entry, globals, work)) made.set(each.key, each);
  for (const each of implicitApis(resources.value)) if (!made.has(each.key)) made.set(each.key, each);
  const value: MapNode = { ...resources.value, entries: [...made.values()] };
  const names = madeNames(value);
  return {
    ...root,
    entries: entries.map((entry) => {
      return { ...entry, value: renameReferences(entry.key === "Resources" ? value : entry.value, names) };
    }),
  };
}

function expandEntry(
  entry: MapEntry,
  globals: SourceNode | undefined,
  work: Transforming,
): readonly MapEntry[] {
  if (entry.value.kind !== "map") return [entry];
  const type = textOf(childOf(entry.value, "Type")) ?? "";
  const known = types.get(type);
  if (known === undefined) {
    if (type.startsWith("AWS::Serverless::"))
      warn(entry, work, `${type} is not known here: a deployment refuses it, so take it out to go on.`);
    return [entry];
  }
  const { Type: _type, Properties: own, IgnoreGlobals: ignored, ...attributes } = mapToJson(entry.value);
  const shared = globals?.kind === "map" ? childOf(globals, known.globals) : undefined;
  const base = shared?.kind === "map" ? withoutIgnored(mapToJson(shared), ignored) : {};
  const properties = mergeGlobals(base, isObject(own) ? own : {});
  const made = known.expand({ logicalId: entry.key, attributes, properties }, (message) =>
    warn(entry, work, message),
  );
  return Object.entries(made).map(([key, resource]) => {
    return { key, keyOffset: entry.keyOffset, value: fromJson(resource, entry.keyOffset) };
  });
}

/** `IgnoreGlobals` names properties that a resource doesn't take, or all of them with `*`. */
function withoutIgnored(shared: JsonObject, ignored: Json | undefined): JsonObject {
  if (ignored === "*") return {};
  if (!Array.isArray(ignored)) return shared;
  return Object.fromEntries(Object.entries(shared).filter(([key]) => !ignored.includes(key)));
}

function warn(entry: MapEntry, { faults }: Transforming, message: string): void {
  faults.report({
    code: "IgnoredSection",
    severity: "warning",
    message,
    path: `/Resources/${entry.key}`,
    offset: entry.keyOffset,
  });
}

/** A resource's own properties go before those of `Globals`; maps are merged, lists joined. */
function mergeGlobals(shared: JsonObject, own: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(shared));
  for (const [key, value] of Object.entries(own)) {
    const base = merged.get(key);
    merged.set(key, base === undefined ? value : mergeValues(base, value));
  }
  return Object.fromEntries(merged);
}

function mergeValues(base: Json, own: Json): Json {
  if (isObject(base) && isObject(own) && !isCall(base) && !isCall(own)) return mergeGlobals(base, own);
  return Array.isArray(base) && Array.isArray(own) ? [...base, ...own] : own;
}

function isCall(value: JsonObject): boolean {
  const [key = "", ...more] = Object.keys(value);
  return more.length === 0 && (key === "Ref" || key.startsWith("Fn::"));
}

function expandLayer({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const { ContentUri: content, RetentionPolicy: _policy, ...rest } = properties;
  const layer = { LayerName: logicalId, ...rest, ...(content !== undefined && { Content: content }) };
  return { [logicalId]: { Type: "AWS::Lambda::LayerVersion", ...attributes, Properties: layer } };
}

function expandTable({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const { PrimaryKey: primary, ProvisionedThroughput: throughput, ...rest } = properties;
  const key = isObject(primary) ? primary : { Name: "id", Type: "String" };
  const letter =
    { String: "S", Number: "N", Binary: "B" }[typeof key["Type"] === "string" ? key["Type"] : ""] ?? "S";
  const name = key["Name"] ?? "id";
  const capacity: JsonObject =
    throughput === undefined ? { BillingMode: "PAY_PER_REQUEST" } : { ProvisionedThroughput: throughput };
  const table = {
    AttributeDefinitions: [{ AttributeName: name, AttributeType: letter }],
    KeySchema: [{ AttributeName: name, KeyType: "HASH" }],
    ...capacity,
    ...rest,
  };
  return { [logicalId]: { Type: "AWS::DynamoDB::Table", ...attributes, Properties: table } };
}

function expandApi({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const stage =
    typeof properties["StageName"] === "string" ? properties["StageName"].replace(/[^A-Za-z0-9]/g, "") : "";
  return {
    [logicalId]: {
      Type: "AWS::ApiGateway::RestApi",
      ...attributes,
      Properties: { Name: properties["Name"] ?? logicalId },
    },
    [`${logicalId}${stage}Stage`]: {
      Type: "AWS::ApiGateway::Stage",
      ...attributes,
      Properties: { RestApiId: { Ref: logicalId }, StageName: properties["StageName"] ?? "Stage" },
    },
  };
}

function expandHttpApi({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  return {
    [logicalId]: {
      Type: "AWS::ApiGatewayV2::Api",
      ...attributes,
      Properties: { Name: properties["Name"] ?? logicalId, ProtocolType: "HTTP" },
    },
  };
}

function expandStateMachine({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const {
    Events: _events,
    Policies: _policies,
    Definition: definition,
    DefinitionUri: uri,
    Role: role,
    ...rest
  } = properties;
  const machine: JsonObject = {
    ...rest,
    RoleArn: role ?? { "Fn::GetAtt": [`${logicalId}Role`, "Arn"] },
    ...(definition !== undefined && { Definition: definition }),
    ...(uri !== undefined && { DefinitionS3Location: uri }),
  };
  const statement = {
    Effect: "Allow",
    Principal: { Service: ["states.amazonaws.com"] },
    Action: ["sts:AssumeRole"],
  };
  const trust = { Version: "2012-10-17", Statement: [statement] };
  return {
    [logicalId]: { Type: "AWS::StepFunctions::StateMachine", ...attributes, Properties: machine },
    ...(role === undefined && {
      [`${logicalId}Role`]: {
        Type: "AWS::IAM::Role",
        ...condition(attributes),
        Properties: { AssumeRolePolicyDocument: trust },
      },
    }),
  };
}

/** Without its functions, resolvers and data sources, which would need the functions behind them. */
function expandGraphQlApi(
  { logicalId, attributes, properties }: ServerlessResource,
  warnOf: (message: string) => void,
): PlainResources {
  warnOf(`The functions and resolvers of ${logicalId} are ignored: nothing calls them here.`);
  const auth = properties["Auth"];
  const type = isObject(auth) ? auth["Type"] : undefined;
  const api = { Name: properties["Name"] ?? logicalId, AuthenticationType: type ?? "API_KEY" };
  return { [logicalId]: { Type: "AWS::AppSync::GraphQLApi", ...attributes, Properties: api } };
}

/** A nested stack, as SAM makes it. Applications of the repository can't be had here, which counts once one is made. */
function expandApplication(
  { logicalId, attributes, properties }: ServerlessResource,
  warnOf: (message: string) => void,
): PlainResources {
  const { Location: location, Tags: tags, ...rest } = properties;
  const application = isObject(location) ? location["ApplicationId"] : undefined;
  if (application !== undefined)
    warnOf(
      `${logicalId} is an application of the Serverless Application Repository, which can't be reached here: put the path of its template into Location.`,
    );
  const stack: JsonObject = {
    TemplateURL: application ?? location ?? "",
    ...rest,
    Tags: [{ Key: "lambda:createdBy", Value: "SAM" }, ...tagList(tags)],
  };
  return { [logicalId]: { Type: "AWS::CloudFormation::Stack", ...attributes, Properties: stack } };
}

function condition({ Condition: name }: JsonObject): JsonObject {
  return name === undefined ? {} : { Condition: name };
}

/** APIs that SAM makes for events that name none. Templates refer to them, so that they must be there. */
function implicitApis(resources: MapNode): readonly MapEntry[] {
  const kinds = new Set(resources.entries.flatMap((entry) => eventKinds(entry.value)));
  const made: PlainResources = {
    ...(kinds.has("Api") &&
      expandApi({ logicalId: "ServerlessRestApi", attributes: {}, properties: { StageName: "Prod" } })),
    ...(kinds.has("HttpApi") &&
      expandHttpApi({ logicalId: "ServerlessHttpApi", attributes: {}, properties: {} })),
  };
  const { offset } = resources;
  return Object.entries(made).map(([key, resource]) => ({
    key,
    keyOffset: offset,
    value: fromJson(resource, offset),
  }));
}

function eventKinds(node: SourceNode): readonly string[] {
  const properties = node.kind === "map" ? childOf(node, "Properties") : undefined;
  const events = properties?.kind === "map" ? childOf(properties, "Events") : undefined;
  if (events?.kind !== "map") return [];
  return events.entries.flatMap(({ value }) =>
    value.kind === "map" ? (textOf(childOf(value, "Type")) ?? []) : [],
  );
}
