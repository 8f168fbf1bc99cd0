import { iamTypes } from "./iam.ts";
import { generatedName } from "./generated-name.ts";
import type { RecordType } from "./record-type.ts";
import { regionalArn, textProperty } from "./subject.ts";

/** Types that are kept as records. */
export const recordTypes: Readonly<Record<string, RecordType>> = {
  ...iamTypes,
  // Says which constructs a CDK app uses; does nothing on AWS either.
  "AWS::CDK::Metadata": {},
  "AWS::Logs::LogGroup": {
    physicalId: (subject) => textProperty(subject, "LogGroupName") ?? generatedName(subject),
    attributes: (subject, id) => ({ Arn: regionalArn(subject, "logs", `log-group:${id}:*`) }),
  },
};
