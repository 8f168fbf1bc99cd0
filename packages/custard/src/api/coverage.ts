/** Which operations of which services are served, as a page for people. */
import { loadModel } from "./model.ts";
import { cloudFormation } from "./services/cloudformation.ts";
import { cloudTrail } from "./services/cloud-trail.ts";
import { ecr } from "./services/ecr.ts";
import { iam } from "./services/iam.ts";
import { kms } from "./services/kms.ts";
import { lambda } from "./services/lambda.ts";
import { logs } from "./services/logs.ts";
import { s3 } from "./services/s3.ts";
import { secretsManager } from "./services/secrets-manager.ts";
import { sns } from "./services/sns.ts";
import { sqs } from "./services/sqs.ts";
import { ssm } from "./services/ssm.ts";
import { stepFunctions } from "./services/step-functions.ts";
import { sts } from "./services/sts.ts";

const services = {
  CloudFormation: cloudFormation,
  Lambda: lambda,
  SNS: sns,
  SQS: sqs,
  S3: s3,
  "Systems Manager": ssm,
  "Secrets Manager": secretsManager,
  STS: sts,
  IAM: iam,
  KMS: kms,
  ECR: ecr,
  "CloudWatch Logs": logs,
  "Step Functions": stepFunctions,
  CloudTrail: cloudTrail,
} as const;

/** The page, from the tables that the endpoint itself works by. Throws when a table names what AWS doesn't have. */
export function describeCoverage(): string {
  const sections = Object.entries(services).map(([title, { name, operations }]) =>
    sectionOf(title, name, Object.keys(operations)),
  );
  return [
    "# What the endpoint serves",
    "",
    "`custard serve` answers these operations of AWS's APIs. Others of these services are refused by their name, with",
    "`UnsupportedOperation` (`NotImplemented` by S3); members of requests that Custard has no use for are ignored.",
    "",
    "This page is generated: `npm run docs`.",
    "",
    ...sections,
  ].join("\n");
}

function sectionOf(title: string, service: string, served: readonly string[]): string {
  const known = loadModel(service).operations;
  const unknown = served.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`${title} has no operation ${unknown.join(", ")}.`);
  const lines = served.toSorted().map((name) => `- ${name}`);
  return [`## ${title}: ${served.length} of ${known.size}`, "", ...lines, ""].join("\n");
}
