import { createVerify } from "node:crypto";
import { isSnsUrl } from "./sns-url.ts";

/** A message as SNS posts it. */
export interface SnsMessage {
  readonly Type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  readonly MessageId: string;
  readonly TopicArn: string;
  readonly Message: string;
  readonly Timestamp: string;
  readonly SignatureVersion: string;
  readonly Signature: string;
  readonly SigningCertURL: string;
  readonly Subject?: string;
  readonly Token?: string;
  readonly SubscribeURL?: string;
}

/** What is signed, in this order. Source: SNS developer guide, verifying signatures. */
const signed = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const satisfies Record<SnsMessage["Type"], readonly (keyof SnsMessage)[]>;

const algorithms: Readonly<Record<string, string>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" };

/** A message from what was posted; undefined when it has not the form of one. */
export function parseSnsMessage(text: string): SnsMessage | undefined {
  try {
    const message = Object(JSON.parse(text)) as Partial<SnsMessage>;
    const isKnown = message.Type !== undefined && Object.hasOwn(signed, message.Type);
    const needed = [
      message.MessageId,
      message.TopicArn,
      message.Message,
      message.Signature,
      message.SigningCertURL,
    ];
    return isKnown && needed.every((field) => typeof field === "string")
      ? (message as SnsMessage)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Did SNS sign this? The certificate must come from SNS's own host; anything else is refused before it is fetched. */
export async function verifySns(
  message: SnsMessage,
  fetchText: (url: string) => Promise<string>,
): Promise<boolean> {
  const algorithm = algorithms[message.SignatureVersion];
  const { SigningCertURL: url } = message;
  if (algorithm === undefined || !isSnsUrl(url) || !new URL(url).pathname.endsWith(".pem")) return false;
  const text = signed[message.Type]
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");
  try {
    return createVerify(algorithm)
      .update(text)
      .verify(await fetchText(url), message.Signature, "base64");
  } catch {
    return false;
  }
}
