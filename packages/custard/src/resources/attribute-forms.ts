import type { ValueMap } from "../template/value.ts";
import { seededText } from "./seeded.ts";
import { type Subject, textProperty, urlSuffix } from "./subject.ts";

/** Attributes of common types whose form can't be told from their names. Source: each type's reference page. */
export const attributeForms: Readonly<Record<string, (subject: Subject, physicalId: string) => ValueMap>> = {
  "AWS::ApiGatewayV2::Api": (subject, id) => ({
    ApiEndpoint: `https://${id}.execute-api.${subject.task.region}.${urlSuffix(subject)}`,
  }),
  "AWS::AppSync::GraphQLApi": (_, id) => ({ ApiId: id.split("/").at(-1) ?? id }),
  "AWS::CloudFront::Distribution": (_, id) => ({
    DomainName: `d${seededText(id, "lower", 13)}.cloudfront.net`,
  }),
  "AWS::Cognito::UserPool": (subject, id) => {
    const provider = `cognito-idp.${subject.task.region}.${urlSuffix(subject)}/${id}`;
    return { ProviderName: provider, ProviderURL: `https://${provider}` };
  },
  "AWS::DynamoDB::Table": ({ task }, id) => ({
    StreamArn: `arn:${task.partition}:dynamodb:${task.region}:${task.account}:table/${id}/stream/2025-01-01T00:00:00.000`,
  }),
  "AWS::EC2::SecurityGroup": (_, id) => ({ GroupId: id }),
  "AWS::ECR::Repository": (subject, id) => ({
    RepositoryUri: `${subject.task.account}.dkr.ecr.${subject.task.region}.${urlSuffix(subject)}/${id}`,
  }),
  "AWS::ElasticLoadBalancingV2::LoadBalancer": (subject, id) => {
    const [, kind, name = "", unique] = id.split("/");
    return {
      DNSName: `${name}-${Number.parseInt(seededText(id, "hex", 8), 16)}.${subject.task.region}.elb.${urlSuffix(subject)}`,
      LoadBalancerFullName: `${kind}/${name}/${unique}`,
      LoadBalancerName: name,
    };
  },
  "AWS::ElasticLoadBalancingV2::TargetGroup": (_, id) => {
    const [, name = "", unique] = id.split("/");
    return { TargetGroupFullName: `targetgroup/${name}/${unique}`, TargetGroupName: name };
  },
  "AWS::KMS::Key": ({ task }, id) => ({
    Arn: `arn:${task.partition}:kms:${task.region}:${task.account}:key/${id}`,
  }),
  "AWS::Lambda::Url": ({ task }, id) => ({
    FunctionArn: id,
    FunctionUrl: `https://${seededText(`${task.stackId} ${id}`, "lower", 32)}.lambda-url.${task.region}.on.aws/`,
  }),
  "AWS::RDS::DBCluster": (subject, id) => ({
    "Endpoint.Address": rdsHost(subject, `${id}.cluster-${seededText(subject.task.account, "lower", 12)}`),
    "ReadEndpoint.Address": rdsHost(
      subject,
      `${id}.cluster-ro-${seededText(subject.task.account, "lower", 12)}`,
    ),
  }),
  "AWS::RDS::DBInstance": (subject, id) => ({
    "Endpoint.Address": rdsHost(subject, `${id}.${seededText(subject.task.account, "lower", 12)}`),
  }),
  "AWS::Route53::HostedZone": () => ({
    NameServers: [
      "ns-1.awsdns-01.com",
      "ns-513.awsdns-01.net",
      "ns-1025.awsdns-01.org",
      "ns-1537.awsdns-01.co.uk",
    ],
  }),
  "AWS::S3::Bucket": (subject, id) => {
    const { region } = subject.task;
    const suffix = urlSuffix(subject);
    return {
      DomainName: `${id}.s3.${suffix}`,
      DualStackDomainName: `${id}.s3.dualstack.${region}.${suffix}`,
      RegionalDomainName: `${id}.s3.${region}.${suffix}`,
      WebsiteURL: `http://${id}.s3-website${dashed.has(region) ? "-" : "."}${region}.${suffix}`,
    };
  },
};

/** Regions in which S3 had website end points before it put a dot before the region. */
const dashed: ReadonlySet<string> = new Set([
  "us-east-1",
  "us-west-1",
  "us-west-2",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-northeast-1",
  "eu-west-1",
  "sa-east-1",
  "us-gov-west-1",
]);

/** The port that a service listens at when the template names none. */
export function usualPort(subject: Subject): number {
  const [, service = ""] = subject.task.type.split("::");
  if (service === "RDS")
    return enginePorts.find(({ engine }) => engine.test(textProperty(subject, "Engine") ?? ""))?.port ?? 3306;
  return servicePorts[service] ?? 443;
}

const servicePorts: Readonly<Record<string, number>> = {
  DocDB: 27_017,
  ElastiCache: 6379,
  MemoryDB: 6379,
  Neptune: 8182,
  Redshift: 5439,
};

const enginePorts = [
  { engine: /postgres/, port: 5432 },
  { engine: /oracle/, port: 1521 },
  { engine: /sqlserver/, port: 1433 },
] as const;

function rdsHost(subject: Subject, label: string): string {
  return `${label}.${subject.task.region}.rds.${urlSuffix(subject)}`;
}
