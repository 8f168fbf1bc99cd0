import { describe, expect, test } from "vitest";
import {
  dynamicReferencesIn,
  parseDynamicReference,
  refusedSecureReferences,
  resolveDynamicReferences,
  secretPart,
} from "./dynamic-references.ts";
import { reveal, Sensitive, show } from "./value.ts";

const arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:MySecret-a1b2c3";
const badSsm = (text: string): string => `Incorrect format is used in the following SSM reference: [${text}]`;
const badSecret = (text: string): string =>
  `Incorrect format is used in the following Secrets Manager reference: [${text}]`;

describe("parsing", () => {
  test.each([
    ["ssm:/a/b", { service: "ssm", name: "/a/b" }],
    ["ssm:a.b-c_d:12", { service: "ssm", name: "a.b-c_d", version: 12 }],
    ["ssm-secure:/pw:1", { service: "ssm-secure", name: "/pw", version: 1 }],
    ["secretsmanager:MySecret", { service: "secretsmanager", secretId: "MySecret" }],
    ["secretsmanager:MySecret:SecretString", { service: "secretsmanager", secretId: "MySecret" }],
    [
      "secretsmanager:MySecret:SecretString:password",
      { service: "secretsmanager", secretId: "MySecret", jsonKey: "password" },
    ],
    [
      "secretsmanager:MySecret:SecretString:password:AWSPREVIOUS",
      { service: "secretsmanager", secretId: "MySecret", jsonKey: "password", versionStage: "AWSPREVIOUS" },
    ],
    [
      "secretsmanager:MySecret:SecretString:password::v-1",
      { service: "secretsmanager", secretId: "MySecret", jsonKey: "password", versionId: "v-1" },
    ],
    ["secretsmanager:MySecret::::", { service: "secretsmanager", secretId: "MySecret" }],
    [`secretsmanager:${arn}`, { service: "secretsmanager", secretId: arn }],
    [
      `secretsmanager:${arn}:SecretString:password::`,
      { service: "secretsmanager", secretId: arn, jsonKey: "password" },
    ],
  ])("{{resolve:%s}}", (inner, expected) => {
    const text = `{{resolve:${inner}}}`;
    expect(parseDynamicReference(text)).toEqual({ ...expected, text });
  });

  test.each([
    ["{{resolve:ssm:}}", badSsm],
    ["{{resolve:ssm:/a:}}", badSsm],
    ["{{resolve:ssm:/a:x}}", badSsm],
    ["{{resolve:ssm:a b}}", badSsm],
    ["{{resolve:secretsmanager:}}", badSecret],
    ["{{resolve:secretsmanager:a:SecretBinary:k}}", badSecret],
    ["{{resolve:secretsmanager:a:SecretString:k:s:v}}", badSecret],
    ["{{resolve:secretsmanager:a:SecretString:k:s::x}}", badSecret],
    ["{{resolve:vault:a}}", (text: string) => `Dynamic reference service is not supported: [${text}]`],
    ["{{resolve:ssm}}", (text: string) => `Dynamic reference service is not supported: [${text}]`],
  ])("%s is refused", (text, message) => {
    expect(parseDynamicReference(text)).toBe(message(text));
  });

  test("references are found at any depth, each once, faults too", () => {
    const value = {
      a: ["x {{resolve:ssm:/a}} y {{resolve:ssm:/b:2}}"],
      b: new Sensitive({ c: "{{resolve:ssm:/a}}" }),
      d: "{{resolve:vault:x}}",
      e: 5,
    };
    const found = dynamicReferencesIn(value);
    expect(found.references.map(({ text }) => text)).toEqual(["{{resolve:ssm:/a}}", "{{resolve:ssm:/b:2}}"]);
    expect(found.faults).toEqual(["Dynamic reference service is not supported: [{{resolve:vault:x}}]"]);
  });
});

describe("resolving", () => {
  const lookup: Parameters<typeof resolveDynamicReferences>[1] = (reference) => {
    if (reference.service === "secretsmanager")
      return secretPart('{"password":"hunter2","n":5}', reference.jsonKey);
    return reference.name === "/gone"
      ? { kind: "failed", message: "gone" }
      : { kind: "value", value: `<${reference.name}>` };
  };

  test("puts values in place, and keeps all else", () => {
    const value = { a: "x {{resolve:ssm:/a}}-{{resolve:ssm:/b:2}}", n: 5, l: [true, null, "{{other}}"] };
    const resolved = resolveDynamicReferences(value, lookup);
    expect(resolved).toEqual({
      kind: "value",
      value: { a: "x </a>-</b>", n: 5, l: [true, null, "{{other}}"] },
    });
  });

  test("what has a secret in it is sensitive", () => {
    const resolved = resolveDynamicReferences(
      { a: "pw={{resolve:secretsmanager:S:SecretString:password}}", b: "{{resolve:ssm-secure:/s:1}}" },
      lookup,
    );
    if (resolved.kind !== "value") throw new Error(resolved.message);
    expect(show(resolved.value)).toEqual({ a: "*****", b: "*****" });
    expect(reveal(resolved.value)).toEqual({ a: "pw=hunter2", b: "</s>" });
  });

  test("a sensitive value stays so", () => {
    const resolved = resolveDynamicReferences(new Sensitive("{{resolve:ssm:/a}}"), lookup);
    expect(resolved.kind === "value" && [show(resolved.value), reveal(resolved.value)]).toEqual([
      "*****",
      "</a>",
    ]);
  });

  test("the first failure is told", () => {
    expect(resolveDynamicReferences(["{{resolve:ssm:/gone}}", "{{resolve:vault:x}}"], lookup)).toEqual({
      kind: "failed",
      message: "gone",
    });
  });

  test.each([
    ["password", { kind: "value", value: "hunter2" }],
    ["n", { kind: "value", value: "5" }],
    [undefined, { kind: "value", value: '{"password":"hunter2","n":5}' }],
    [
      "toString",
      { kind: "failed", message: "Could not find a value associated with JSONKey in SecretString" },
    ],
  ])("the key %s of a secret", (key, expected) => {
    expect(secretPart('{"password":"hunter2","n":5}', key)).toEqual(expected);
  });

  test("a secret that is no JSON has no keys", () => {
    expect(secretPart("plain", "a")).toMatchObject({ kind: "failed" });
  });
});

test("ssm-secure is taken for the properties that CloudFormation lists, and for no others", () => {
  const password = "{{resolve:ssm-secure:/pw:1}}";
  expect(refusedSecureReferences("AWS::RDS::DBInstance", { MasterUserPassword: password })).toBeUndefined();
  expect(refusedSecureReferences("AWS::IAM::User", { LoginProfile: { Password: password } })).toBeUndefined();
  expect(refusedSecureReferences("Custom::A", { B: { C: [{ D: `x${password}` }] }, E: password })).toBe(
    "SSM Secure reference is not supported in: [Custom::A/Properties/B/C/D,Custom::A/Properties/E]",
  );
});
