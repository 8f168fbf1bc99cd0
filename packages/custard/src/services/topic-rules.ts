/** SNS's own rules for what a topic and a subscription may be. Texts are SNS's. */
import { parseFunctionArn } from "./function-arn.ts";
import { checkDeliveryPolicy } from "./delivery-policy.ts";
import { parseFilterPolicy } from "./filter-policy.ts";
import { parseQueueArn } from "./queue-arn.ts";
import { invalidParameter } from "./topic-error.ts";
import { type Protocol, protocols } from "./topic-record.ts";

const topicAttributes: ReadonlySet<string> = new Set([
  "ArchivePolicy",
  "ContentBasedDeduplication",
  "DataProtectionPolicy",
  "DeliveryPolicy",
  "DisplayName",
  "FifoThroughputScope",
  "FifoTopic",
  "KmsMasterKeyId",
  "Policy",
  "SignatureVersion",
  "TracingConfig",
]);
const feedbackAttribute =
  /^(?:HTTP|Lambda|SQS|Application|Firehose)(?:Success|Failure)Feedback(?:RoleArn|SampleRate)$/u;

const subscriptionAttributes: ReadonlySet<string> = new Set([
  "DeliveryPolicy",
  "FilterPolicy",
  "FilterPolicyScope",
  "RawMessageDelivery",
  "RedrivePolicy",
  "ReplayPolicy",
  "SubscriptionRoleArn",
]);

/** Throws when a topic can't have this attribute. */
export function checkTopicAttribute(name: string, value: string): void {
  if (!topicAttributes.has(name) && !feedbackAttribute.test(name)) throw invalidParameter("AttributeName");
  if (name === "DeliveryPolicy") checkDeliveryPolicy(value);
  if (name === "SignatureVersion" && value !== "1" && value !== "2")
    throw invalidParameter(`Attributes Reason: SignatureVersion: Invalid value [${value}]`);
}

/** The protocol that a name stands for. Throws when the endpoint doesn't suit it. */
export function checkEndpoint(name: string, endpoint: string, topicArn: string): Protocol {
  const protocol = protocols.find((one) => one === name);
  if (protocol === undefined)
    throw invalidParameter(`Amazon SNS does not support this protocol string: ${name}`);
  switch (protocol) {
    case "http":
    case "https":
      if (!isUrl(endpoint, protocol)) throw invalidParameter("Endpoint must match the specified protocol");
      break;
    case "lambda":
      if (parseFunctionArn(endpoint) === undefined) throw invalidParameter("Lambda endpoint ARN");
      break;
    case "sqs":
      if (parseQueueArn(endpoint) === undefined) throw invalidParameter("SQS endpoint ARN");
      if (endpoint.endsWith(".fifo") && !topicArn.endsWith(".fifo"))
        throw invalidParameter(
          "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
        );
      break;
    case "email":
    case "email-json":
      if (!endpoint.includes("@")) throw invalidParameter("Email address");
      break;
    case "sms":
      if (!/^\+?[\d\s().-]{4,20}$/u.test(endpoint))
        throw invalidParameter(`Invalid SMS endpoint: ${endpoint}`);
      break;
    case "application":
    case "firehose":
      if (!endpoint.startsWith("arn:")) throw invalidParameter("Endpoint");
  }
  return protocol;
}

/** Throws when a subscription can't have these attributes. */
export function checkSubscriptionAttributes(attributes: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(attributes).find((name) => !subscriptionAttributes.has(name));
  if (unknown !== undefined) throw invalidParameter("AttributeName");
  parseFilterPolicy(attributes["FilterPolicy"], attributes["FilterPolicyScope"]);
  checkDeliveryPolicy(attributes["DeliveryPolicy"] ?? "");
  deadLetterQueueOf(attributes["RedrivePolicy"]);
  const raw = attributes["RawMessageDelivery"] ?? "false";
  if (raw !== "true" && raw !== "false")
    throw invalidParameter(
      `Attributes Reason: RawMessageDelivery: Invalid value [${raw}]. Must be true or false.`,
    );
}

/** The queue that gets what can't be delivered; undefined without a policy. Throws on a policy that is none. */
export function deadLetterQueueOf(redrivePolicy: string | undefined): string | undefined {
  if (redrivePolicy === undefined || redrivePolicy === "") return undefined;
  const policy = parsePolicy(redrivePolicy);
  const arn = policy !== null && "deadLetterTargetArn" in policy ? policy.deadLetterTargetArn : undefined;
  if (typeof arn !== "string" || parseQueueArn(arn) === undefined)
    throw invalidParameter("Attributes Reason: RedrivePolicy: deadLetterTargetArn is an invalid arn");
  return arn;
}

function parsePolicy(text: string): object | null {
  try {
    const policy: unknown = JSON.parse(text);
    return typeof policy === "object" ? policy : null;
  } catch (cause) {
    throw invalidParameter("Attributes Reason: RedrivePolicy: failed to parse JSON.", { cause });
  }
}

function isUrl(endpoint: string, protocol: string): boolean {
  return endpoint.startsWith(`${protocol}://`) && URL.canParse(endpoint);
}
