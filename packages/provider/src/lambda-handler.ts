import type { Options, Provider } from "./provider.ts";
import { server } from "./serve.ts";
import { unwrap } from "./unwrap.ts";

/** What the SDK needs of Lambda's context. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
  readonly logStreamName?: string;
}

/** SQS delivers the listed messages again; nobody else reads this. */
export interface LambdaResult {
  readonly batchItemFailures?: readonly { readonly itemIdentifier: string }[];
}

/** A Lambda handler: asynchronous, with exactly two parameters, as Node 24's runtime wants it. */
export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<LambdaResult>;

/**
 * A Lambda handler that answers every request: CloudFormation's own events, those of an SNS topic and of an SQS queue
 * behind one. It rejects when an answer can't be delivered, so that Lambda tries again.
 *
 * ```ts
 * export const handler = lambdaHandler(Topic);
 * ```
 */
export function lambdaHandler(provider: Provider, options: Options = {}): LambdaHandler {
  const serve = server(provider, options);
  return async (event, context) => {
    const situation = { remaining: () => context.getRemainingTimeInMillis() };
    const enclosed = unwrap(event);
    const results = await Promise.allSettled(enclosed.map(({ request }) => serve(request, situation)));
    const failed = enclosed.filter((_one, index) => results[index]?.status === "rejected");
    const batchItemFailures = failed.flatMap(({ messageId }) =>
      messageId ? [{ itemIdentifier: messageId }] : [],
    );
    if (batchItemFailures.length === failed.length) return failed.length > 0 ? { batchItemFailures } : {};
    throw results.find((result) => result.status === "rejected")?.reason;
  };
}
