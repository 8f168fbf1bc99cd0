import type { ValueMap } from "../template/value.ts";
import { generatedName } from "./generated-name.ts";
import type { RecordType } from "./record-type.ts";
import { seededText } from "./seeded.ts";
import { globalArn, type Subject, textProperty } from "./subject.ts";

/** IAM's types: nothing enforces them here, but who asks finds what the template declares. */
export const iamTypes: Readonly<Record<string, RecordType>> = {
  "AWS::IAM::AccessKey": {
    physicalId: (subject) => `AKIA${seededText(seedOf(subject), "base32", 16)}`,
    attributes: (_, id) => ({ SecretAccessKey: seededText(`secret ${id}`, "mixed", 40) }),
  },
  "AWS::IAM::Group": named("GroupName", (subject, id) => ({ Arn: arnOf(subject, "group", id) })),
  "AWS::IAM::GroupPolicy": {},
  "AWS::IAM::InstanceProfile": named("InstanceProfileName", (subject, id) => ({
    Arn: arnOf(subject, "instance-profile", id),
  })),
  "AWS::IAM::ManagedPolicy": {
    physicalId: (subject) => arnOf(subject, "policy", nameOr(subject, "ManagedPolicyName")),
    attributes: (_, id) => ({ PolicyId: uniqueId("ANPA", id), DefaultVersionId: "v1", IsAttachable: true }),
  },
  "AWS::IAM::OIDCProvider": {
    physicalId: (subject) =>
      globalArn(
        subject,
        "iam",
        `oidc-provider/${(textProperty(subject, "Url") ?? "").replace(/^https?:\/\//, "")}`,
      ),
  },
  "AWS::IAM::Policy": {},
  "AWS::IAM::Role": named("RoleName", (subject, id) => ({
    Arn: arnOf(subject, "role", id),
    RoleId: uniqueId("AROA", `${subject.task.stackId} ${id}`),
  })),
  "AWS::IAM::RolePolicy": {},
  "AWS::IAM::SAMLProvider": {},
  "AWS::IAM::ServerCertificate": named("ServerCertificateName", (subject, id) => ({
    Arn: arnOf(subject, "server-certificate", id),
  })),
  "AWS::IAM::ServiceLinkedRole": {
    physicalId: (subject) => {
      const service = textProperty(subject, "AWSServiceName") ?? "";
      const label = (service.split(".")[0] ?? "").replace(/^./, (first) => first.toUpperCase());
      const suffix = textProperty(subject, "CustomSuffix");
      return `AWSServiceRoleFor${label}${suffix === undefined ? "" : `_${suffix}`}`;
    },
  },
  "AWS::IAM::User": named("UserName", (subject, id) => ({ Arn: arnOf(subject, "user", id) })),
  "AWS::IAM::UserPolicy": {},
  "AWS::IAM::UserToGroupAddition": {},
  "AWS::IAM::VirtualMFADevice": {},
};

function named(property: string, attributes: (subject: Subject, id: string) => ValueMap): RecordType {
  return { physicalId: (subject) => nameOr(subject, property), attributes };
}

function nameOr(subject: Subject, property: string): string {
  return textProperty(subject, property) ?? generatedName(subject);
}

/** A path starts and ends with `/`; the default is `/`. */
function arnOf(subject: Subject, kind: string, name: string): string {
  return globalArn(subject, "iam", `${kind}${textProperty(subject, "Path") ?? "/"}${name}`);
}

/** IAM's unique ids: four letters that tell the kind, and 17 characters. */
function uniqueId(prefix: string, seed: string): string {
  return `${prefix}${seededText(seed, "base32", 17)}`;
}

function seedOf({ task }: Subject): string {
  return `${task.stackId} ${task.physicalId}`;
}
