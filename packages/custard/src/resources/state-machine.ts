import type { Json } from "@custard/provider/protocol";
import { ObjectError } from "../services/object-error.ts";
import type { Services } from "../services/open-services.ts";
import { StateMachineError } from "../services/state-machine-error.ts";
import type { StateMachine } from "../services/state-machines.ts";
import { ResourceFailure, serviceFailure } from "./failure.ts";
import { s3Failure } from "./bucket.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { membersOf, tagsOf } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::StepFunctions::StateMachine`: machines that run on this machine. */
export function stateMachine(world: Pick<Services, "stateMachines" | "s3">, records: KeptRecords): Handler {
  const { stateMachines, s3 } = world;
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = textProperty(subject, "StateMachineName") ?? generatedName(subject);
      const input = { name, token: task.token, ...(await describe(subject, s3)) };
      const made = await stateMachines
        .create(scopeOf(subject), { ...input, type: typeOf(subject) })
        .catch(async (error: unknown) =>
          error instanceof StateMachineError && error.code === "StateMachineAlreadyExists"
            ? await records.refuseTaken(task, arnOf(subject, name))
            : statesFailure(error, subject),
        );
      await records.create(task, made.arn, { properties, attributes: {} });
      return toMade(made);
    },
    async update(subject) {
      const { task, properties } = subject;
      const change = await describe(subject, s3);
      const made = await stateMachines
        .update(task.physicalId, change)
        .catch((error: unknown) => statesFailure(error, subject));
      await records.update(task, { properties, attributes: {} });
      return toMade(made);
    },
    async delete({ task }) {
      if (await records.owns(task)) await stateMachines.delete(task.physicalId);
      await records.delete(task);
    },
  };
}

async function describe(subject: Subject, s3: Services["s3"]) {
  const { task, properties } = subject;
  const text = await definitionOf(subject, s3);
  return {
    definition: substituted(
      text,
      membersOf(properties["DefinitionSubstitutions"], "DefinitionSubstitutions"),
    ),
    roleArn: textProperty(subject, "RoleArn") ?? "",
    tags: { ...task.tags, ...tagsOf(properties["Tags"]) },
  };
}

async function definitionOf(subject: Subject, s3: Services["s3"]): Promise<string> {
  const text = textProperty(subject, "DefinitionString");
  if (text !== undefined) return text;
  const definition = subject.properties["Definition"];
  if (definition !== undefined) return JSON.stringify(definition);
  const location = subject.properties["DefinitionS3Location"];
  if (location !== undefined) return await readObject(subject, s3, location);
  throw new ResourceFailure(
    "Property validation failure: [One of DefinitionString, Definition and DefinitionS3Location is required]",
  );
}

async function readObject(subject: Subject, s3: Services["s3"], location: Json): Promise<string> {
  const members = membersOf(location, "DefinitionS3Location");
  const { partition } = subject.task;
  const place = { partition, bucket: toText(members["Bucket"]) ?? "", key: toText(members["Key"]) ?? "" };
  try {
    const found = await s3.objects.find(place, toText(members["Version"]));
    return Buffer.from(await s3.objects.bytes(found)).toString("utf8");
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    s3Failure(error, subject);
  }
}

/** `${name}` in a definition stands for what `DefinitionSubstitutions` says; other names are left. */
function substituted(definition: string, values: Readonly<Record<string, Json>>): string {
  return definition.replaceAll(/\$\{([\w.-]+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? toText(values[name]) : undefined;
    // It stands within JSON strings, most often.
    return value === undefined ? whole : JSON.stringify(value).slice(1, -1);
  });
}

function typeOf(subject: Subject): StateMachine["type"] {
  const type = textProperty(subject, "StateMachineType") ?? "STANDARD";
  if (type === "STANDARD" || type === "EXPRESS") return type;
  throw new ResourceFailure(
    "Property validation failure: [Value of property {/StateMachineType} is not one of the allowed values {[STANDARD, EXPRESS]}]",
  );
}

function arnOf({ task }: Subject, name: string): string {
  return `arn:${task.partition}:states:${task.region}:${task.account}:stateMachine:${name}`;
}

function toMade({ arn, name, revisionId }: StateMachine): Made {
  return { physicalId: arn, attributes: { Arn: arn, Name: name, StateMachineRevisionId: revisionId } };
}

function statesFailure(error: unknown, { task }: Subject): never {
  if (!(error instanceof StateMachineError)) throw error;
  throw serviceFailure(
    {
      service: "AWSStepFunctions",
      message: error.message,
      httpStatus: 400,
      handlerErrorCode: error.code === "StateMachineDoesNotExist" ? "NotFound" : "InvalidRequest",
    },
    task.token,
    { cause: error },
  );
}
