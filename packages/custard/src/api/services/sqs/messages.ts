/** Messages of queues as SQS's API takes and shows them. */
import { createHash } from "node:crypto";
import type { NewMessage, ReceivedMessage } from "../../../services/queues.ts";
import { ApiError } from "../../api-error.ts";
import { definedOf } from "../../defined.ts";
import type { Input } from "../../input.ts";
import type { WireObject } from "../../wire.ts";

type Attributes = ReceivedMessage["attributes"];

/** The message of a call or of a batch's entry. Throws when SQS would refuse it. */
export function messageIn(input: Input): NewMessage {
  const body = input.need("MessageBody");
  if (body === "")
    throw new ApiError("MissingParameter", "The request must contain the parameter MessageBody.");
  if (/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(body))
    throw new ApiError(
      "InvalidMessageContents",
      "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF",
    );
  const delaySeconds = input.number("DelaySeconds");
  if (
    delaySeconds !== undefined &&
    !(Number.isInteger(delaySeconds) && delaySeconds >= 0 && delaySeconds <= 900)
  )
    throw new ApiError(
      "InvalidParameterValue",
      `Value ${delaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`,
    );
  return { body, attributes: attributesIn(input), ...definedOf({ delaySeconds }) };
}

/** A received message, with those attributes that are asked for. */
export function toMessage(message: ReceivedMessage, input: Input, account: string): WireObject {
  const system = [
    ...(input.texts("AttributeNames") ?? []),
    ...(input.texts("MessageSystemAttributeNames") ?? []),
  ];
  const shownSystem = Object.entries({
    SenderId: account,
    SentTimestamp: String(message.sentAt),
    ApproximateReceiveCount: String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.sentAt),
  }).filter(([name]) => system.includes("All") || system.includes(name));
  const wanted = input.texts("MessageAttributeNames") ?? [];
  const shown = Object.fromEntries(
    Object.entries(message.attributes).filter(([name]) => wanted.some((form) => isNamed(name, form))),
  );
  const hasAny = Object.keys(shown).length > 0;
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    MD5OfBody: message.md5,
    Body: message.body,
    ...(shownSystem.length === 0 ? {} : { Attributes: Object.fromEntries(shownSystem) }),
    ...(hasAny ? { MD5OfMessageAttributes: digestOf(shown), MessageAttributes: toWire(shown) } : {}),
  };
}

/**
 * The digest by which clients check attributes: names in order, each with its type and value, lengths before them.
 * Undefined when there are none.
 */
export function digestOf(attributes: Attributes): string | undefined {
  const entries = Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return undefined;
  const hash = createHash("md5");
  const add = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const [name, { type, value }] of entries) {
    add(Buffer.from(name));
    add(Buffer.from(type));
    hash.update(Buffer.from([isBinary(type) ? 2 : 1]));
    add(isBinary(type) ? Buffer.from(value, "base64") : Buffer.from(value));
  }
  return hash.digest("hex");
}

function attributesIn(input: Input): Attributes {
  const given = input.objectMap("MessageAttributes") ?? {};
  return Object.fromEntries(
    Object.entries(given).map(([name, attribute]) => {
      const type = attribute.text("DataType") ?? "";
      if (!/^(?:String|Number|Binary)(?:\.|$)/.test(type))
        throw new ApiError(
          "InvalidParameterValue",
          `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.`,
        );
      const value = isBinary(type)
        ? Buffer.from(attribute.bytes("BinaryValue") ?? []).toString("base64")
        : (attribute.text("StringValue") ?? "");
      if (value === "")
        throw new ApiError(
          "InvalidParameterValue",
          `The message attribute '${name}' must contain a non-empty message attribute value.`,
        );
      return [name, { type, value }] as const;
    }),
  );
}

function toWire(attributes: Attributes): WireObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { type, value }]) => [
      name,
      isBinary(type)
        ? { DataType: type, BinaryValue: Buffer.from(value, "base64") }
        : { DataType: type, StringValue: value },
    ]),
  );
}

/** `All`, `.*`, a name, or the begin of one with `.*`. */
function isNamed(name: string, form: string): boolean {
  if (form === "All" || form === ".*" || form === name) return true;
  return form.endsWith(".*") && name.startsWith(form.slice(0, -1));
}

function isBinary(type: string): boolean {
  return /^Binary(?:\.|$)/.test(type);
}
