// The public entry `@custard/provider/core`: what always answers, and nothing else; small enough for inline code.
import { answer, refuse } from "./answer.ts";
import { oneOff, type OneOff } from "./one-off.ts";
import { parseRequest } from "./protocol/request.ts";

/** What is needed of Lambda's context. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** A Lambda handler for one function that creates, updates and deletes: for one-off resources and inline code. */
export function inlineHandler(run: OneOff): (event: unknown, context: LambdaContext) => Promise<void> {
  const work = oneOff(run);
  return async (event, context) => {
    const parsed = parseRequest(event);
    const situation = { remaining: () => context.getRemainingTimeInMillis() };
    await (parsed.ok ? answer(parsed.request, work, situation) : refuse(parsed, situation));
  };
}

export { NotFound } from "./not-found.ts";
export type { OneOff, OneOffCall, OneOffResult } from "./one-off.ts";
