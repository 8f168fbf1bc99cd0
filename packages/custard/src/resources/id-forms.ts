/** What ids look like that a service makes up itself, by type and by the name of an attribute. */
import { generatedName } from "./generated-name.ts";
import { type alphabets, seededText, seededUuid } from "./seeded.ts";
import { regionalArn, type Subject, textProperty, urlSuffix } from "./subject.ts";

/** Makes an id; the seed differs by resource and attribute. */
export type IdForm = (seed: string, subject: Subject) => string;

/** Ids of types whose id isn't told by the attribute's name alone. */
export const idFormsByType: Readonly<Record<string, IdForm>> = {
  "AWS::ApiGateway::Deployment": characters("lower", 6),
  "AWS::CloudFront::CachePolicy": seededUuid,
  "AWS::CloudFront::CloudFrontOriginAccessIdentity": (seed) => `E${seededText(seed, "upper", 13)}`,
  "AWS::CloudFront::Distribution": (seed) => `E${seededText(seed, "upper", 13)}`,
  "AWS::CloudFront::OriginAccessControl": (seed) => `E${seededText(seed, "upper", 13)}`,
  "AWS::Cognito::IdentityPool": (seed, { task }) => `${task.region}:${seededUuid(seed)}`,
  "AWS::Cognito::UserPool": (seed, { task }) => `${task.region}_${seededText(seed, "mixed", 9)}`,
  "AWS::Cognito::UserPoolClient": characters("lower", 26),
  "AWS::EC2::CapacityReservation": prefixed("cr-"),
  "AWS::EC2::CustomerGateway": prefixed("cgw-"),
  "AWS::EC2::DHCPOptions": prefixed("dopt-"),
  "AWS::EC2::EIPAssociation": prefixed("eipassoc-"),
  "AWS::EC2::EgressOnlyInternetGateway": prefixed("eigw-"),
  "AWS::EC2::FlowLog": prefixed("fl-"),
  "AWS::EC2::Host": prefixed("h-"),
  "AWS::EC2::LaunchTemplate": prefixed("lt-"),
  "AWS::EC2::NetworkAcl": prefixed("acl-"),
  "AWS::EC2::NetworkInterface": prefixed("eni-"),
  "AWS::EC2::PrefixList": prefixed("pl-"),
  "AWS::EC2::SecurityGroup": prefixed("sg-"),
  "AWS::EC2::SecurityGroupEgress": prefixed("sgr-"),
  "AWS::EC2::SecurityGroupIngress": prefixed("sgr-"),
  "AWS::EC2::SubnetNetworkAclAssociation": prefixed("aclassoc-"),
  "AWS::EC2::SubnetRouteTableAssociation": prefixed("rtbassoc-"),
  "AWS::EC2::TransitGateway": prefixed("tgw-"),
  "AWS::EC2::TransitGatewayAttachment": prefixed("tgw-attach-"),
  "AWS::EC2::VPCCidrBlock": prefixed("vpc-cidr-assoc-"),
  "AWS::EC2::VPCEndpoint": prefixed("vpce-"),
  "AWS::EC2::VPCPeeringConnection": prefixed("pcx-"),
  "AWS::EC2::VPNConnection": prefixed("vpn-"),
  "AWS::EC2::VPNGateway": prefixed("vgw-"),
  "AWS::EFS::AccessPoint": prefixed("fsap-"),
  "AWS::EFS::FileSystem": prefixed("fs-"),
  "AWS::EFS::MountTarget": prefixed("fsmt-"),
  "AWS::ElasticLoadBalancingV2::LoadBalancer": (seed, subject) =>
    regionalArn(
      subject,
      "elasticloadbalancing",
      `loadbalancer/app/${nameOf(subject)}/${seededText(seed, "hex", 16)}`,
    ),
  "AWS::ElasticLoadBalancingV2::TargetGroup": (seed, subject) =>
    regionalArn(
      subject,
      "elasticloadbalancing",
      `targetgroup/${nameOf(subject)}/${seededText(seed, "hex", 16)}`,
    ),
  "AWS::KMS::Key": seededUuid,
  "AWS::ECS::TaskDefinition": (_, subject) =>
    regionalArn(
      subject,
      "ecs",
      `task-definition/${textProperty(subject, "Family") ?? generatedName(subject)}:1`,
    ),
  "AWS::Lambda::EventSourceMapping": seededUuid,
  "AWS::Lambda::LayerVersion": (_, subject) =>
    regionalArn(subject, "lambda", `layer:${textProperty(subject, "LayerName") ?? generatedName(subject)}:1`),
  "AWS::Lambda::Url": (_, subject) => functionArn(subject, textProperty(subject, "TargetFunctionArn") ?? ""),
  "AWS::Route53::HostedZone": hostedZone,
  "AWS::SecretsManager::Secret": (seed, subject) =>
    regionalArn(subject, "secretsmanager", `secret:${nameOf(subject)}-${seededText(seed, "mixed", 6)}`),
  "AWS::SNS::Subscription": (seed, subject) => `${textProperty(subject, "TopicArn")}:${seededUuid(seed)}`,
  "AWS::SQS::Queue": (_, subject) => {
    const { account, region } = subject.task;
    return `https://sqs.${region}.${urlSuffix(subject)}/${account}/${queueName(subject)}`;
  },
};

/** Ids by the last part of an attribute's name. */
export const idFormsByName: Readonly<Record<string, IdForm>> = {
  AllocationId: prefixed("eipalloc-"),
  AssociationId: prefixed("assoc-"),
  AttachmentId: prefixed("attach-"),
  AttachmentType: () => "IGW",
  CanonicalHostedZoneID: hostedZone,
  CanonicalHostedZoneId: hostedZone,
  CidrBlock: (_, subject) => textProperty(subject, "DestinationCidrBlock") ?? "10.0.0.0/16",
  ClusterSecurityGroupId: prefixed("sg-"),
  DefaultNetworkAcl: prefixed("acl-"),
  DefaultSecurityGroup: prefixed("sg-"),
  FileSystemId: prefixed("fs-"),
  GroupId: prefixed("sg-"),
  HostedZoneId: hostedZone,
  InstanceId: prefixed("i-"),
  InternetGatewayId: prefixed("igw-"),
  KeyId: seededUuid,
  KeyPairId: prefixed("key-"),
  NatGatewayId: prefixed("nat-"),
  NetworkInterfaceId: prefixed("eni-"),
  PrivateIp: (seed) => `10.0.${octet(seed)}.${octet(`${seed}.`)}`,
  PublicIp: documentationAddress,
  RouteTableId: prefixed("rtb-"),
  SecurityGroup: prefixed("sg-"),
  SecurityGroupId: prefixed("sg-"),
  SnapshotId: prefixed("snap-"),
  SubnetId: prefixed("subnet-"),
  VolumeId: prefixed("vol-"),
  VpcId: prefixed("vpc-"),
};

/** The name that the template gives, or the generated one. */
export function nameOf(subject: Subject): string {
  const kind = subject.task.type.split("::").at(-1) ?? "";
  return textProperty(subject, `${kind}Name`) ?? textProperty(subject, "Name") ?? generatedName(subject);
}

function functionArn(subject: Subject, nameOrArn: string): string {
  return nameOrArn.startsWith("arn:") ? nameOrArn : regionalArn(subject, "lambda", `function:${nameOrArn}`);
}

function queueName(subject: Subject): string {
  const name = nameOf(subject);
  const isFifo = textProperty(subject, "FifoQueue") === "true";
  return isFifo && !name.endsWith(".fifo") ? `${name}.fifo` : name;
}

function prefixed(prefix: string): IdForm {
  return (seed) => `${prefix}0${seededText(seed, "hex", 16)}`;
}

function characters(alphabet: keyof typeof alphabets, length: number): IdForm {
  return (seed) => seededText(seed, alphabet, length);
}

function hostedZone(seed: string): string {
  return `Z${seededText(seed, "upper", 20)}`;
}

/** From the block that is reserved for documentation: nobody is reached by it (RFC 5737). */
function documentationAddress(seed: string): string {
  return `203.0.113.${octet(seed)}`;
}

function octet(seed: string): number {
  return 1 + (Number.parseInt(seededText(seed, "hex", 2), 16) % 254);
}
