import { iamTypes } from "./iam.ts";
import type { RecordType } from "./record-type.ts";

/** Types that are kept as records. */
export const recordTypes: Readonly<Record<string, RecordType>> = {
  ...iamTypes,
  // Says which constructs a CDK app uses; does nothing on AWS either.
  "AWS::CDK::Metadata": {},
  // What `cdk bootstrap` makes: kept for those who ask, with the ids and ARNs of the real ones.
  "AWS::ECR::Repository": {},
  "AWS::KMS::Alias": {},
  "AWS::KMS::Key": {},
};
