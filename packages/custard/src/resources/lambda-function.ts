import type { FunctionReference, FunctionScope } from "../services/function-arn.ts";
import type { CodeInput, ResolvedFunction } from "../services/function-record.ts";
import type { FunctionSettings } from "../services/function-settings.ts";
import { defaultSettings } from "../services/functions.ts";
import type { Services } from "../services/open-services.ts";
import { codeFromSource } from "./function-source.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import { readCode } from "./lambda-code.ts";
import { ignoreMissing, lambdaFailure } from "./lambda-failure.ts";
import { readSettings } from "./lambda-settings.ts";
import { type Subject, textProperty } from "./subject.ts";

/** What functions are made of. */
type FunctionWorld = Pick<Services, "functions" | "s3" | "config">;

/** `AWS::Lambda::Function`: makes functions that the Lambda transport runs. */
export function lambdaFunction({ functions, s3, config }: FunctionWorld): Handler {
  async function codeOf(subject: Subject): Promise<CodeInput> {
    const source = await config.functionSource(subject.task.logicalId);
    if (source !== undefined) return await codeFromSource(source, textProperty(subject, "Handler") ?? "");
    return await readCode(subject, { property: "Code", s3 });
  }
  /** The settings of the template, on the runtime that the configuration puts in the place of the declared one. */
  async function settingsOf(subject: Subject): Promise<Partial<FunctionSettings>> {
    const settings = readSettings(subject);
    const runtime = await config.runtime(settings.runtime ?? "");
    return runtime === undefined ? settings : { ...settings, runtime };
  }
  return {
    async create(subject) {
      const name = textProperty(subject, "FunctionName") ?? generatedName(subject);
      const settings = await settingsOf(subject);
      const code = await codeOf(subject);
      const { token } = subject.task;
      const made = await functions
        .create(scopeOf(subject), { name, code, settings, token })
        .catch((error: unknown) =>
          lambdaFailure(error, { token, type: subject.task.type, identifier: name }),
        );
      return toMade(made);
    },
    async update(subject) {
      // What left the template goes back to its default, so the change names every setting.
      const settings = {
        ...defaultSettings,
        reservedConcurrency: undefined,
        deadLetterArn: undefined,
        ...(await settingsOf(subject)),
      };
      const code = await codeOf(subject);
      const { token } = subject.task;
      const reference = referenceOf(subject);
      const made = await functions
        .update(reference, { settings, code, token })
        .catch((error: unknown) =>
          lambdaFailure(error, { token, type: subject.task.type, identifier: reference.name }),
        );
      return toMade(made);
    },
    delete: (subject) => ignoreMissing(functions.delete(referenceOf(subject))),
  };
}

/** Where a resource's functions live. */
export function scopeOf({ task }: Subject): FunctionScope {
  return { partition: task.partition, account: task.account, region: task.region };
}

function referenceOf(subject: Subject): FunctionReference {
  return { ...scopeOf(subject), name: subject.task.physicalId };
}

function toMade({ reference, arn }: ResolvedFunction): Made {
  return {
    physicalId: reference.name,
    attributes: {
      Arn: arn,
      "SnapStartResponse.ApplyOn": "None",
      "SnapStartResponse.OptimizationStatus": "Off",
    },
  };
}
