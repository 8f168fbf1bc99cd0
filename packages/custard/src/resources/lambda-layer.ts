import { type LayerRegistry, parseLayerArn } from "../services/layers.ts";
import type { S3 } from "../services/s3.ts";
import { ResourceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import { readCode } from "./lambda-code.ts";
import { lambdaFailure } from "./lambda-failure.ts";
import { scopeOf } from "./lambda-function.ts";
import { textListProperty } from "./properties.ts";
import { textProperty } from "./subject.ts";

/** `AWS::Lambda::LayerVersion`: publishes layers that the Lambda transport lays over `/opt`. */
export function lambdaLayerVersion(layers: LayerRegistry, s3: S3): Handler {
  return {
    async create(subject) {
      const name = textProperty(subject, "LayerName") ?? generatedName(subject);
      const { token, type } = subject.task;
      const code = await readCode(subject, { property: "Content", s3 });
      if (code.kind === "inline") throw new ResourceFailure("A layer has no inline code (ZipFile).");
      const description = textProperty(subject, "Description");
      const licenseInfo = textProperty(subject, "LicenseInfo");
      const made = await layers
        .publish(
          { ...scopeOf(subject), name },
          {
            code,
            token,
            compatibleRuntimes: textListProperty(subject, "CompatibleRuntimes"),
            compatibleArchitectures: textListProperty(subject, "CompatibleArchitectures"),
            ...(description === undefined ? {} : { description }),
            ...(licenseInfo === undefined ? {} : { licenseInfo }),
          },
        )
        .catch((error: unknown) => lambdaFailure(error, { token, type, identifier: name }));
      return toMade(made.arn);
    },
    // Every property is create-only.
    update: async ({ task }) => toMade(task.physicalId),
    async delete({ task }) {
      const reference = parseLayerArn(task.physicalId);
      if (reference !== undefined) await layers.delete(reference);
    },
  };
}

function toMade(arn: string): Made {
  return { physicalId: arn, attributes: { LayerVersionArn: arn } };
}
