import { ParameterError } from "../services/parameter-error.ts";
import { type ParameterTier, parameterTiers, typeOf } from "../services/parameter-rules.ts";
import type { FoundParameter, ParameterInput, ParameterStore } from "../services/parameters.ts";
import { isSensitive, Sensitive } from "../template/value.ts";
import { ResourceFailure, serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { handlerFailure } from "./lambda-failure.ts";
import { scopeOf } from "./lambda-function.ts";
import { membersOf } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::SSM::Parameter`: parameters of the local store. */
export function ssmParameter(parameters: ParameterStore, records: KeptRecords): Handler {
  async function put(subject: Subject, name: string, overwrite: boolean): Promise<FoundParameter> {
    const { token } = subject.task;
    return await parameters.put(scopeOf(subject), { ...inputOf(subject, name), overwrite, token });
  }
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = textProperty(subject, "Name") ?? generatedName(subject);
      const made = await put(subject, name, false).catch(async (error: unknown) =>
        error instanceof ParameterError && error.code === "ParameterAlreadyExists"
          ? await records.refuseTaken(task, name)
          : ssmFailure(error, subject),
      );
      await records.create(task, name, { properties, attributes: {} });
      return toMade(subject, made);
    },
    async update(subject) {
      const { task, properties } = subject;
      const made = await put(subject, task.physicalId, true).catch((error: unknown) =>
        ssmFailure(error, subject),
      );
      await records.update(task, { properties, attributes: {} });
      return toMade(subject, made);
    },
    async delete(subject) {
      const { task } = subject;
      if (!(await records.owns(task))) return;
      await parameters.delete(scopeOf(subject), task.physicalId).catch((error: unknown) => {
        if (!(error instanceof ParameterError && error.code === "ParameterNotFound")) throw error;
      });
      await records.delete(task);
    },
  };
}

function inputOf(subject: Subject, name: string): ParameterInput {
  const { properties, task } = subject;
  const type = textProperty(subject, "Type") ?? "";
  if (type === "SecureString")
    throw handlerFailure(
      "SSM Parameters of type SecureString cannot be created using CloudFormation",
      task.token,
      "InvalidRequest",
    );
  const description = textProperty(subject, "Description");
  const allowedPattern = textProperty(subject, "AllowedPattern");
  const dataType = textProperty(subject, "DataType");
  const policies = textProperty(subject, "Policies");
  // The one type whose tags are a map.
  const tags = Object.entries(membersOf(properties["Tags"], "Tags")).map(([key, value]) => [
    key,
    toText(value) ?? "",
  ]);
  return {
    name,
    value: textProperty(subject, "Value") ?? "",
    type: typeOf(type),
    tier: tierOf(subject),
    tags: { ...task.tags, ...Object.fromEntries(tags) },
    ...(description === undefined ? {} : { description }),
    ...(allowedPattern === undefined ? {} : { allowedPattern }),
    ...(dataType === undefined ? {} : { dataType }),
    ...(policies === undefined ? {} : { policies }),
  };
}

function tierOf(subject: Subject): ParameterTier {
  const text = textProperty(subject, "Tier") ?? "Standard";
  const tier = parameterTiers.find((each) => each === text);
  if (tier !== undefined) return tier;
  throw new ResourceFailure(
    `Property validation failure: [Value of property {/Tier} is not one of the allowed values {[${parameterTiers.join(", ")}]}]`,
  );
}

function toMade({ task }: Subject, { name, type, value, arn }: FoundParameter): Made {
  const isSecret = isSensitive(task.properties["Value"] ?? null);
  const shown = isSecret ? new Sensitive(value) : value;
  return { physicalId: name, attributes: { Type: type, Value: shown, Arn: arn } };
}

function ssmFailure(error: unknown, { task }: Subject): never {
  if (!(error instanceof ParameterError)) throw error;
  throw serviceFailure(
    { service: "Ssm", message: error.message, httpStatus: 400, handlerErrorCode: "InvalidRequest" },
    task.token,
    { cause: error },
  );
}
