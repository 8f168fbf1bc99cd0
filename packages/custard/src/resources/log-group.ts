import { LogError, type LogGroupSettings } from "../services/log-groups.ts";
import type { Services } from "../services/open-services.ts";
import { serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { numberProperty, tagsOf } from "./properties.ts";
import { regionalArn, type Subject, textProperty } from "./subject.ts";

/** `AWS::Logs::LogGroup`. */
export function logGroup(
  { logGroups: groups, logStreams: streams }: Pick<Services, "logGroups" | "logStreams">,
  records: KeptRecords,
): Handler {
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = textProperty(subject, "LogGroupName") ?? generatedName(subject);
      const input = { name, token: task.token, ...settingsOf(subject) };
      await groups
        .create(scopeOf(subject), input)
        .catch(async (error: unknown) =>
          error instanceof LogError && error.code === "ResourceAlreadyExistsException"
            ? await records.refuseTaken(task, name)
            : logFailure(error, subject),
        );
      await records.create(task, name, { properties, attributes: {} });
      return describe(subject, name);
    },
    async update(subject) {
      const { task, properties } = subject;
      await groups
        .update(scopeOf(subject), task.physicalId, settingsOf(subject))
        .catch((error: unknown) => logFailure(error, subject));
      await records.update(task, { properties, attributes: {} });
      return describe(subject, task.physicalId);
    },
    async delete(subject) {
      const { task } = subject;
      if (!(await records.owns(task))) return;
      await groups.delete(scopeOf(subject), task.physicalId).catch((error: unknown) => {
        if (!(error instanceof LogError && error.code === "ResourceNotFoundException")) throw error;
      });
      await streams.deleteAll(scopeOf(subject), task.physicalId);
      await records.delete(task);
    },
  };
}

function settingsOf(subject: Subject): LogGroupSettings {
  const { task, properties } = subject;
  const retentionDays = numberProperty(subject, "RetentionInDays");
  const keyId = textProperty(subject, "KmsKeyId");
  return {
    tags: { ...task.tags, ...tagsOf(properties["Tags"]) },
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(keyId === undefined ? {} : { keyId }),
  };
}

function describe(subject: Subject, name: string): Made {
  return { physicalId: name, attributes: { Arn: regionalArn(subject, "logs", `log-group:${name}:*`) } };
}

function logFailure(error: unknown, { task }: Subject): never {
  if (!(error instanceof LogError)) throw error;
  throw serviceFailure(
    {
      service: "CloudWatchLogs",
      message: error.message,
      httpStatus: 400,
      handlerErrorCode: "InvalidRequest",
    },
    task.token,
    { cause: error },
  );
}
