// The public entry `@custard/provider/last-will`: answers for a provider that died.
import { answer, type CoreOptions } from "./answer.ts";
import { isTombstone } from "./physical-id.ts";
import { parseRequest } from "./protocol/request.ts";

/** What is needed of Lambda's context. */
interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/**
 * A handler for a second, tiny function: the provider function's on-failure destination, or the reader of its dead
 * letter queue. When the provider ran out of memory, was killed, throttled or may not be invoked, nobody in it can
 * answer: this one answers FAILED with what Lambda says about it.
 *
 * On Create it can't know whether something exists; the answer's id stands for nothing, so a half-made resource stays.
 */
export function lastWillHandler(
  options: CoreOptions = {},
): (event: unknown, context: LambdaContext) => Promise<void> {
  return async (event, context) => {
    const wills = willsIn(event);
    const remaining = () => context.getRemainingTimeInMillis();
    const results = await Promise.allSettled(wills.map((will) => execute(will, { ...options, remaining })));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  };
}

interface Will {
  readonly event: unknown;
  readonly cause: string;
}

async function execute(
  { event, cause }: Will,
  options: CoreOptions & { remaining(): number },
): Promise<void> {
  const parsed = parseRequest(event);
  if (!parsed.ok) throw new TypeError(parsed.complaint);
  const { request } = parsed;
  if (request.requestType === "Delete" && isTombstone(request.physicalId)) return;
  const error = new Error(`The provider ended without answering: ${cause}`);
  await answer(request, () => Promise.reject(error), options);
}

/** Destinations hand over the event itself, queues a batch of messages with it. */
function willsIn(event: unknown): readonly Will[] {
  const { Records, requestPayload, requestContext, responsePayload } = asRecord(event);
  if (!Array.isArray(Records)) {
    const { condition } = asRecord(requestContext);
    const { errorMessage } = asRecord(responsePayload);
    return [
      { event: requestPayload, cause: [condition, errorMessage].filter(Boolean).join(": ") || "unknown" },
    ];
  }
  return Records.map((record: unknown) => {
    const { body, messageAttributes } = asRecord(record);
    const { stringValue } = asRecord(asRecord(messageAttributes)["ErrorMessage"]);
    return {
      event: JSON.parse(String(body as string)) as unknown,
      cause: String((stringValue as string) ?? "unknown"),
    };
  });
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}
