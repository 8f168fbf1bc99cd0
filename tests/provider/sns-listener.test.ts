import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { snsListener } from "@custard/provider/http";
import { describe, expect, onTestFinished, test } from "vitest";

const topic = "arn:aws:sns:us-east-1:123456789012:requests";
const certificateUrl =
  "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
/** The verifier takes a public key where SNS has a certificate around it. */
const signer = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const request = {
  RequestType: "Create",
  ResponseURL: "https://bucket.test/key",
  StackId: "s",
  RequestId: "r-1",
  LogicalResourceId: "Thing",
  ResourceType: "Custom::Thing",
  ResourceProperties: {},
};

type Message = Record<string, string>;

/** A message as SNS signs it. */
function signed(change: Message, version: "1" | "2" = "2"): Message {
  const message: Message = {
    Type: "Notification",
    MessageId: "m-1",
    TopicArn: topic,
    Subject: "AWS CloudFormation custom resource request",
    Message: JSON.stringify(request),
    Timestamp: "2026-12-01T00:00:00.000Z",
    SignatureVersion: version,
    SigningCertURL: certificateUrl,
    ...change,
  };
  const names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const isNotification = message["Type"] === "Notification";
  const taken = names.filter((name) => (isNotification || name !== "Subject") && message[name] !== undefined);
  const text = taken.map((name) => `${name}\n${message[name]}\n`).join("");
  const sign = createSign(version === "1" ? "RSA-SHA1" : "RSA-SHA256").update(text);
  return { ...message, Signature: sign.sign(signer.privateKey, "base64") };
}

async function open() {
  const fetched: string[] = [];
  const answers: string[] = [];
  const listener = snsListener(async () => ({ id: "thing-1" }), {
    topics: [topic],
    logger: quiet,
    fetchText: async (url) => (fetched.push(url), url.endsWith(".pem") ? signer.publicKey : "<ok/>"),
    transport: async (_url, body) => (answers.push(Buffer.from(body).toString()), { status: 200, body: "" }),
  });
  const server = createServer((incoming, response) => void listener(incoming, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (body: string) =>
    (await fetch(url, { method: "POST", body, headers: { connection: "close" } })).status;
  return { fetched, answers, post, url };
}

test.each(["1", "2"] as const)("a request with signature version %s is answered", async (version) => {
  const { answers, post } = await open();
  expect(await post(JSON.stringify(signed({}, version)))).toBe(200);
  await expect.poll(() => answers).toHaveLength(1);
  expect(JSON.parse(answers[0] ?? "")).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "thing-1" });
});

test("a subscription is confirmed", async () => {
  const { fetched, post } = await open();
  const SubscribeURL = "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=t";
  expect(
    await post(JSON.stringify(signed({ Type: "SubscriptionConfirmation", Token: "t", SubscribeURL }))),
  ).toBe(200);
  expect(fetched).toEqual([certificateUrl, SubscribeURL]);
});

describe("is refused, and nothing is run", () => {
  test.each([
    { name: "a changed message", make: () => ({ ...signed({}), Message: "{}" }), status: 403 },
    { name: "another topic", make: () => signed({ TopicArn: `${topic}2` }), status: 403 },
    {
      name: "an unknown signature version",
      make: () => ({ ...signed({}), SignatureVersion: "3" }),
      status: 403,
    },
    {
      name: "a certificate from elsewhere",
      make: () => signed({ SigningCertURL: "https://sns.us-east-1.amazonaws.com.evil.test/a.pem" }),
      status: 403,
    },
    {
      name: "a confirmation that leads elsewhere",
      make: () =>
        signed({ Type: "SubscriptionConfirmation", Token: "t", SubscribeURL: "https://evil.test/" }),
      status: 403,
    },
    { name: "no message of SNS", make: () => ({ Type: "Other" }), status: 400 },
    { name: "too much", make: () => ({ Type: "x".repeat(400_000) }), status: 413 },
  ])("$name", async ({ make, status }) => {
    const { answers, fetched, post } = await open();
    expect(await post(JSON.stringify(make()))).toBe(status);
    expect(answers).toEqual([]);
    expect(fetched.filter((url) => url !== certificateUrl)).toEqual([]);
  });

  test("another method", async () => {
    const { url } = await open();
    expect((await fetch(url, { headers: { connection: "close" } })).status).toBe(405);
  });
});
