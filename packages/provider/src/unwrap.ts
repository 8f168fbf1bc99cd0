/** One request within an event, and how to say that it could not be answered. */
export interface Enclosed {
  readonly request: unknown;
  /** Of an SQS message: for the list of failures that SQS delivers again. */
  readonly messageId?: string;
}

/**
 * The requests within what a Lambda function is invoked with: CloudFormation's own event, the records of an SNS topic,
 * or the messages of an SQS queue, which hold a topic's envelope or, with raw delivery, the request itself (fact 20).
 */
export function unwrap(event: unknown): readonly Enclosed[] {
  const records = member(event, "Records");
  if (!Array.isArray(records)) return [{ request: event }];
  return records.map((record: unknown) => {
    const sns = member(record, "Sns");
    if (sns !== undefined) return { request: parseText(member(sns, "Message")) };
    const messageId = member(record, "messageId");
    const request = fromBody(parseText(member(record, "body")));
    return typeof messageId === "string" ? { request, messageId } : { request };
  });
}

function fromBody(body: unknown): unknown {
  return member(body, "Type") === "Notification" ? parseText(member(body, "Message")) : body;
}

function parseText(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function member(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, name)
    ? Reflect.get(holder, name)
    : undefined;
}
