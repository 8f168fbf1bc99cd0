/**
 * ARNs, service tokens and partitions. Only the partitions' own endings and region prefixes are known by name;
 * an ARN of a partition that isn't in the table is parsed all the same.
 */

/** AWS's partitions: what their domain names end in and what their regions begin with. Source: AWS's endpoint data. */
const partitions = {
  "aws-cn": { urlSuffix: "amazonaws.com.cn", regions: "cn-" },
  "aws-us-gov": { urlSuffix: "amazonaws.com", regions: "us-gov-" },
  "aws-iso": { urlSuffix: "c2s.ic.gov", regions: "us-iso-" },
  "aws-iso-b": { urlSuffix: "sc2s.sgov.gov", regions: "us-isob-" },
  "aws-iso-e": { urlSuffix: "cloud.adc-e.uk", regions: "eu-isoe-" },
  "aws-iso-f": { urlSuffix: "csp.hci.ic.gov", regions: "us-isof-" },
  "aws-eusc": { urlSuffix: "amazonaws.eu", regions: "eusc-" },
  aws: { urlSuffix: "amazonaws.com", regions: "" },
} as const satisfies Record<string, { urlSuffix: string; regions: string }>;

type Partition = keyof typeof partitions;

/** The parts of an ARN, as they stand between its colons. `resource` may hold colons and slashes. */
export interface Arn {
  readonly partition: string;
  readonly service: string;
  /** Empty for global resources. */
  readonly region: string;
  /** Empty for resources without an account, e.g. buckets. */
  readonly account: string;
  readonly resource: string;
}

/** What a `ServiceToken` points at (fact 16). */
export type ServiceToken =
  | (ServiceTokenBase & {
      readonly kind: "lambda";
      readonly functionName: string;
      /** A version, `$LATEST` or an alias. */
      readonly qualifier?: string;
    })
  | (ServiceTokenBase & { readonly kind: "sns"; readonly topicName: string });

interface ServiceTokenBase {
  readonly arn: string;
  readonly partition: string;
  readonly region: string;
  readonly account: string;
}

const arnForm = /^arn:([a-z][a-z0-9-]*):([a-z0-9-]+):([a-z0-9-]*):([^:]*):(.+)$/su;
const functionForm = /^function:([A-Za-z0-9_-]{1,140})(?::(\$LATEST|[A-Za-z0-9_-]{1,128}))?$/u;
const topicForm = /^[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/u;
const accountForm = /^\d{12}$/u;

/** Takes an ARN apart; undefined when the text is none. */
export function parseArn(text: string): Arn | undefined {
  const [, partition, service, region, account, resource] = arnForm.exec(text) ?? [];
  if (partition === undefined || service === undefined || resource === undefined) return undefined;
  return { partition, service, region: region ?? "", account: account ?? "", resource };
}

/** The text of an ARN: the inverse of `parseArn`. */
export function formatArn(arn: Arn): string {
  return ["arn", arn.partition, arn.service, arn.region, arn.account, arn.resource].join(":");
}

/** What a service token points at; undefined when it is neither a Lambda function's nor an SNS topic's ARN. */
export function parseServiceToken(text: string): ServiceToken | undefined {
  const arn = parseArn(text);
  if (arn === undefined || arn.region === "" || !accountForm.test(arn.account)) return undefined;
  const base = { arn: text, partition: arn.partition, region: arn.region, account: arn.account };
  switch (arn.service) {
    case "lambda":
      return parseFunction(base, arn.resource);
    case "sns":
      return topicForm.test(arn.resource) ? { ...base, kind: "sns", topicName: arn.resource } : undefined;
  }
  return undefined;
}

function parseFunction(base: ServiceTokenBase, resource: string): ServiceToken | undefined {
  const [, functionName, qualifier] = functionForm.exec(resource) ?? [];
  if (functionName === undefined) return undefined;
  return { ...base, kind: "lambda", functionName, ...(qualifier !== undefined && { qualifier }) };
}

/** What `AWS::URLSuffix` is in a partition; `amazonaws.com` for one that isn't known. */
export function urlSuffixOf(partition: string): string {
  return isPartition(partition) ? partitions[partition].urlSuffix : partitions.aws.urlSuffix;
}

/** Every partition's URL suffix, each once. */
export const urlSuffixes: readonly string[] = [
  ...new Set(Object.values(partitions).map(({ urlSuffix }) => urlSuffix)),
];

/** The partition that a region belongs to; `aws` for a region of no other. */
export function partitionOf(region: string): Partition {
  const found = Object.entries(partitions).find(([, { regions }]) => region.startsWith(regions));
  return found !== undefined && isPartition(found[0]) ? found[0] : "aws";
}

function isPartition(name: string): name is Partition {
  return Object.hasOwn(partitions, name);
}
