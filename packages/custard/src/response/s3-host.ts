import { urlSuffixOf } from "@custard/provider/protocol";

/** Regions whose S3 host name has a dash (facts 23 and 25; us-gov-west-1 by its age, not recorded). */
const dashedRegions: ReadonlySet<string> = new Set([
  "ap-northeast-1",
  "ap-southeast-1",
  "ap-southeast-2",
  "eu-west-1",
  "sa-east-1",
  "us-gov-west-1",
  "us-west-1",
  "us-west-2",
]);

/** The host of S3 in a region, in the form of the region's family, as CloudFormation writes it. */
export function s3Host(region: string, partition: string): string {
  const suffix = urlSuffixOf(partition);
  if (region === "us-east-1") return `s3.${suffix}`;
  return dashedRegions.has(region) ? `s3-${region}.${suffix}` : `s3.${region}.${suffix}`;
}
