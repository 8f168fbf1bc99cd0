import type { Json, JsonObject } from "@custard/provider/protocol";
import { isObject, type PlainResources, type ServerlessResource } from "./serverless-resource.ts";

/** Properties that are the same in `AWS::Lambda::Function`. */
const sameProperties = [
  "FunctionName",
  "Handler",
  "Runtime",
  "Description",
  "MemorySize",
  "Timeout",
  "Environment",
  "Layers",
  "Architectures",
  "KmsKeyArn",
  "ReservedConcurrentExecutions",
  "FileSystemConfigs",
  "ImageConfig",
  "PackageType",
  "EphemeralStorage",
  "SnapStart",
  "LoggingConfig",
  "RuntimeManagementConfig",
  "CodeSigningConfigArn",
  "RecursiveLoop",
];

/** `AWS::Serverless::Function` as a function, its role when it names none, and its alias with a version. */
export function expandFunction(
  resource: ServerlessResource,
  warn: (message: string) => void,
): PlainResources {
  const { logicalId, properties } = resource;
  const ownRole = properties["Role"] === undefined;
  if (isObject(properties["Events"])) {
    warn(`The events of ${logicalId} are ignored: nothing calls it here but its custom resources.`);
  }
  return {
    [logicalId]: functionOf(resource, ownRole),
    ...(ownRole && { [`${logicalId}Role`]: roleOf(resource) }),
    ...aliasOf(resource),
    ...urlOf(resource),
    ...destinationsOf(resource),
  };
}

function functionOf({ logicalId, attributes, properties }: ServerlessResource, ownRole: boolean): JsonObject {
  const copied = sameProperties.flatMap((key): [string, Json][] => {
    const value = properties[key];
    return value === undefined ? [] : [[key, value]];
  });
  const tracing = properties["Tracing"];
  const tags = properties["Tags"];
  const queue = properties["DeadLetterQueue"];
  const network = properties["VpcConfig"];
  return {
    Type: "AWS::Lambda::Function",
    ...attributes,
    Properties: {
      Code: codeOf(properties),
      ...Object.fromEntries(copied),
      Role: ownRole ? { "Fn::GetAtt": [`${logicalId}Role`, "Arn"] } : (properties["Role"] ?? ""),
      Tags: [{ Key: "lambda:createdBy", Value: "SAM" }, ...tagList(tags)],
      ...(tracing !== undefined && { TracingConfig: { Mode: tracing } }),
      ...(isObject(queue) && { DeadLetterConfig: { TargetArn: queue["TargetArn"] ?? "" } }),
      ...(network !== undefined && { VpcConfig: network }),
    },
  };
}

/** The code as `AWS::Lambda::Function` has it. A local folder or zip file stays a text. */
function codeOf(properties: JsonObject): Json {
  const { InlineCode: inline, ImageUri: image, CodeUri: uri } = properties;
  if (inline !== undefined) return { ZipFile: inline };
  if (image !== undefined) return { ImageUri: image };
  return objectOf(uri) ?? uri ?? ".";
}

/** `{Bucket, Key, Version}` or `s3://bucket/key?versionId=version`. */
function objectOf(uri: Json | undefined): Json | undefined {
  if (isObject(uri) && uri["Bucket"] !== undefined)
    return s3Code(uri["Bucket"], uri["Key"] ?? "", uri["Version"]);
  const parts = typeof uri === "string" ? /^s3:\/\/([^/]+)\/([^?]+)(?:\?versionId=(.+))?$/.exec(uri) : null;
  return parts === null ? undefined : s3Code(parts[1] ?? "", parts[2] ?? "", parts[3]);
}

function s3Code(bucket: Json, key: Json, version: Json | undefined): Json {
  return { S3Bucket: bucket, S3Key: key, ...(version !== undefined && { S3ObjectVersion: version }) };
}

/** Tags as SAM has them, a map, in the form of other types. */
export function tagList(tags: Json | undefined): readonly Json[] {
  return isObject(tags) ? Object.entries(tags).map(([key, value]) => ({ Key: key, Value: value })) : [];
}

const basicPolicy = "AWSLambdaBasicExecutionRole";

function roleOf({ logicalId, attributes, properties }: ServerlessResource): JsonObject {
  const policies = policyList(properties["Policies"]);
  const statements = policies.flatMap((policy, index) =>
    isObject(policy) && policy["Statement"] !== undefined ? [policyOf(logicalId, policy, index)] : [],
  );
  const condition = attributes["Condition"];
  const boundary = properties["PermissionsBoundary"];
  return {
    Type: "AWS::IAM::Role",
    ...(condition !== undefined && { Condition: condition }),
    Properties: {
      AssumeRolePolicyDocument: properties["AssumeRolePolicyDocument"] ?? {
        Version: "2012-10-17",
        Statement: [
          { Effect: "Allow", Principal: { Service: ["lambda.amazonaws.com"] }, Action: ["sts:AssumeRole"] },
        ],
      },
      ManagedPolicyArns: [managedPolicy(basicPolicy), ...policies.flatMap(managedArn)],
      ...(statements.length > 0 && { Policies: statements }),
      ...(boundary !== undefined && { PermissionsBoundary: boundary }),
      Tags: [{ Key: "lambda:createdBy", Value: "SAM" }, ...tagList(properties["Tags"])],
    },
  };
}

function policyList(policies: Json | undefined): readonly Json[] {
  if (policies === undefined) return [];
  return Array.isArray(policies) ? policies : [policies];
}

function policyOf(logicalId: string, policy: JsonObject, index: number): JsonObject {
  return { PolicyName: `${logicalId}RolePolicy${index}`, PolicyDocument: policy };
}

/** Names and ARNs of managed policies; SAM's policy templates grant what nobody checks here. */
function managedArn(policy: Json): readonly Json[] {
  if (typeof policy === "string") return [policy.startsWith("arn:") ? policy : managedPolicy(policy)];
  return isObject(policy) &&
    (policy["Ref"] !== undefined || Object.keys(policy).some((key) => key.startsWith("Fn::")))
    ? [policy]
    : [];
}

function managedPolicy(name: string): Json {
  const path = name === basicPolicy ? `service-role/${name}` : name;
  return { "Fn::Sub": `arn:\${AWS::Partition}:iam::aws:policy/${path}` };
}

function aliasOf({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const name = properties["AutoPublishAlias"];
  if (name === undefined) return {};
  const suffix = typeof name === "string" ? name.replace(/[^A-Za-z0-9]/g, "") : "";
  const condition = attributes["Condition"];
  const common = condition === undefined ? {} : { Condition: condition };
  return {
    [`${logicalId}Version`]: {
      Type: "AWS::Lambda::Version",
      ...common,
      DeletionPolicy: "Retain",
      Properties: { FunctionName: { Ref: logicalId } },
    },
    [`${logicalId}Alias${suffix}`]: {
      Type: "AWS::Lambda::Alias",
      ...common,
      Properties: {
        Name: name,
        FunctionName: { Ref: logicalId },
        FunctionVersion: { "Fn::GetAtt": [`${logicalId}Version`, "Version"] },
      },
    },
  };
}

function urlOf({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const config = properties["FunctionUrlConfig"];
  if (!isObject(config)) return {};
  const condition = attributes["Condition"];
  return {
    [`${logicalId}Url`]: {
      Type: "AWS::Lambda::Url",
      ...(condition !== undefined && { Condition: condition }),
      Properties: { TargetFunctionArn: { Ref: logicalId }, ...config },
    },
  };
}

/** Topics and queues that take the results of asynchronous invocations, where the template names none. */
function destinationsOf({ logicalId, attributes, properties }: ServerlessResource): PlainResources {
  const config = properties["EventInvokeConfig"];
  const destinations = isObject(config) ? config["DestinationConfig"] : undefined;
  if (!isObject(destinations)) return {};
  const condition = attributes["Condition"];
  const made = ["OnSuccess", "OnFailure"].flatMap((outcome): [string, JsonObject][] => {
    const destination = destinations[outcome];
    if (!isObject(destination) || destination["Destination"] !== undefined) return [];
    const kind =
      destination["Type"] === "SQS" ? "Queue" : destination["Type"] === "SNS" ? "Topic" : undefined;
    if (kind === undefined) return [];
    const type = kind === "Queue" ? "AWS::SQS::Queue" : "AWS::SNS::Topic";
    const resource = { Type: type, ...(condition !== undefined && { Condition: condition }) };
    return [[`${logicalId}EventInvokeConfig${outcome}${kind}`, resource]];
  });
  return Object.fromEntries(made);
}
