/** What belongs to a function: permissions, versions, aliases, settings of asynchronous invocation. */
import type { Json } from "@custard/provider/protocol";
import { type FunctionReference, formatFunctionArn, parseFunctionName } from "../services/function-arn.ts";
import type { EventInvokeSettings } from "../services/function-record.ts";
import type { FunctionRegistry } from "../services/functions.ts";
import { ResourceFailure } from "./failure.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { handlerFailure, ignoreMissing, lambdaFailure } from "./lambda-failure.ts";
import { scopeOf } from "./lambda-function.ts";
import { membersOf, numberProperty } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::Lambda::Permission`: its function must exist; nothing here asks for permission. */
export function lambdaPermission(functions: FunctionRegistry, records: KeptRecords): Handler {
  async function made(subject: Subject): Promise<Made> {
    await asLambda(subject, functions.resolve(functionOf(subject)));
    const { physicalId } = subject.task;
    return { physicalId, attributes: { Id: physicalId } };
  }
  return {
    async create(subject) {
      const permission = await made(subject);
      await records.create(subject.task, permission.physicalId, {
        properties: subject.properties,
        attributes: {},
      });
      return permission;
    },
    async update(subject) {
      const permission = await made(subject);
      await records.update(subject.task, { properties: subject.properties, attributes: {} });
      return permission;
    },
    delete: ({ task }) => records.delete(task),
  };
}

/** `AWS::Lambda::Version`: freezes the function as it is. */
export function lambdaVersion(functions: FunctionRegistry, records: KeptRecords): Handler {
  return {
    async create(subject) {
      const description = textProperty(subject, "Description");
      const published = await asLambda(subject, functions.publishVersion(functionOf(subject), description));
      const attributes = { Version: published.version, FunctionArn: published.arn };
      const { task, properties } = subject;
      const owner = await records.find(task, published.arn);
      if (owner !== undefined && owner.token !== task.token) {
        throw handlerFailure(
          `A version for this Lambda function exists ( ${published.version} ). Modify the function to create a new version.`,
          task.token,
        );
      }
      await records.create(task, published.arn, { properties, attributes });
      return { physicalId: published.arn, attributes };
    },
    async update({ task }) {
      // Every property is create-only but for tags: the version stays what it is.
      const version = task.physicalId.split(":").at(-1) ?? "";
      return { physicalId: task.physicalId, attributes: { Version: version, FunctionArn: task.physicalId } };
    },
    async delete(subject) {
      const reference = parseFunctionName(subject.task.physicalId, scopeOf(subject));
      if (reference?.qualifier !== undefined) await ignoreMissing(functions.delete(reference));
      await records.delete(subject.task);
    },
  };
}

/** `AWS::Lambda::Alias`: a name for a version. */
export function lambdaAlias(functions: FunctionRegistry): Handler {
  async function put(subject: Subject): Promise<Made> {
    const reference = functionOf(subject);
    const name = textProperty(subject, "Name") ?? "";
    const version = textProperty(subject, "FunctionVersion") ?? "";
    await asLambda(subject, functions.putAlias(reference, { name, version }));
    const arn = formatFunctionArn({ ...reference, qualifier: name });
    return { physicalId: arn, attributes: { AliasArn: arn } };
  }
  return {
    create: put,
    update: put,
    async delete(subject) {
      const reference = parseFunctionName(subject.task.physicalId, scopeOf(subject));
      if (reference?.qualifier !== undefined)
        await ignoreMissing(functions.deleteAlias(reference, reference.qualifier));
    },
  };
}

/** `AWS::Lambda::EventInvokeConfig`: retries and destinations of asynchronous invocations. */
export function lambdaEventInvokeConfig(functions: FunctionRegistry): Handler {
  async function put(subject: Subject): Promise<Made> {
    const reference = qualified(subject);
    await asLambda(subject, functions.putEventInvoke(reference, eventInvokeOf(subject)));
    return { physicalId: `${reference.name}|${reference.qualifier}`, attributes: {} };
  }
  return {
    create: put,
    update: put,
    delete: (subject) => ignoreMissing(functions.putEventInvoke(qualified(subject), undefined)),
  };
}

function qualified(subject: Subject): FunctionReference {
  return { ...functionOf(subject), qualifier: textProperty(subject, "Qualifier") ?? "$LATEST" };
}

function eventInvokeOf(subject: Subject): EventInvokeSettings {
  const destinations = membersOf(subject.properties["DestinationConfig"], "DestinationConfig");
  const attempts = numberProperty(subject, "MaximumRetryAttempts");
  const age = numberProperty(subject, "MaximumEventAgeInSeconds");
  const onSuccess = destinationOf(destinations["OnSuccess"], "OnSuccess");
  const onFailure = destinationOf(destinations["OnFailure"], "OnFailure");
  return {
    ...(attempts === undefined ? {} : { maximumRetryAttempts: attempts }),
    ...(age === undefined ? {} : { maximumEventAgeSeconds: age }),
    ...(onSuccess === undefined ? {} : { onSuccess }),
    ...(onFailure === undefined ? {} : { onFailure }),
  };
}

function destinationOf(value: Json | undefined, name: string): string | undefined {
  return toText(membersOf(value, `DestinationConfig/${name}`)["Destination"]);
}

/** The function that `FunctionName` names, by name or ARN. */
function functionOf(subject: Subject): FunctionReference {
  const name = textProperty(subject, "FunctionName") ?? "";
  const reference = parseFunctionName(name, scopeOf(subject));
  if (reference === undefined)
    throw new ResourceFailure(`FunctionName is ${name}, which is no function's name or ARN.`);
  return reference;
}

async function asLambda<T>(subject: Subject, call: Promise<T>): Promise<T> {
  const { token, type, physicalId } = subject.task;
  return await call.catch((error: unknown) => lambdaFailure(error, { token, type, identifier: physicalId }));
}
