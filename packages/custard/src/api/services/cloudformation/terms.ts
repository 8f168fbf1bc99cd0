/** What callers say of an operation beside its template, and how it is shown again. */
import type { Terms } from "../../../engine/stack.ts";
import { definedOf } from "../../defined.ts";
import type { Input } from "../../input.ts";
import type { WireObject } from "../../wire.ts";
import { validationError } from "./errors.ts";

/** CloudFormation's own bounds: alarms, and minutes for which they are watched after an operation. */
const triggers = 5;
const minutes = 180;

/** Of CreateStack, UpdateStack and CreateChangeSet. Throws `ApiError`. */
export function termsOf(input: Input): Terms {
  return {
    ...roleOf(input),
    ...definedOf({
      capabilities: input.texts("Capabilities"),
      rollback: rollbackOf(input.object("RollbackConfiguration")),
      deploymentMode: input.object("DeploymentConfig")?.text("Mode"),
    }),
  };
}

/** Of operations that take nothing but a role. */
export function roleOf(input: Input): Terms {
  const roleArn = input.text("RoleARN");
  // Fact 120.
  if (roleArn !== undefined && !/^arn:[^:]+:iam::\d{12}:role\/.+/.test(roleArn))
    throw validationError(`Role ${roleArn} is invalid or cannot be assumed`);
  return definedOf({ roleArn });
}

/** In the form of the API. */
export function toRollback({ rollback }: Terms): WireObject {
  if (rollback === undefined) return {};
  return {
    RollbackTriggers: rollback.triggers.map(({ arn, type }) => ({ Arn: arn, Type: type })),
    MonitoringTimeInMinutes: rollback.minutes,
  };
}

/** In the form of the API; undefined when the caller didn't say. */
export function toDeployment({ deploymentMode }: Terms): WireObject | undefined {
  return deploymentMode === undefined ? undefined : { Mode: deploymentMode };
}

function rollbackOf(configuration: Input | undefined): Terms["rollback"] {
  if (configuration === undefined) return undefined;
  const given = configuration.objects("RollbackTriggers");
  const time = configuration.number("MonitoringTimeInMinutes");
  if (given.length > triggers)
    throw outside("rollbackTriggers", `have length less than or equal to ${triggers}`);
  if (time !== undefined && (time < 0 || time > minutes)) {
    const bound = time < 0 ? "greater than or equal to 0" : `less than or equal to ${minutes}`;
    throw outside("monitoringTimeInMinutes", `have value ${bound}`, String(time));
  }
  const list = given.map((trigger) => ({ arn: trigger.need("Arn"), type: trigger.need("Type") }));
  return { triggers: list, ...definedOf({ minutes: time }) };
}

function outside(member: string, demand: string, value = ""): Error {
  return validationError(
    `1 validation error detected: Value '${value}' at 'rollbackConfiguration.${member}' failed to satisfy constraint: Member must ${demand}`,
  );
}
