/**
 * Holding calls: a client that waits for a stack asks every 5 to 30 seconds; when the answer comes as soon as the
 * stack has settled, it need not ask again.
 */
import type { StackId } from "../../../engine/ids.ts";
import type { StackView } from "../../../engine/views.ts";
import type { ApiCall } from "../../service.ts";
import type { WireRequest } from "../../wire.ts";
import type { CloudFormationWorld } from "./world.ts";

/** The stack once it has settled, when the caller waits for that; else, or when that takes too long, as it stands. */
export async function holdUntilSettled(
  stack: StackView,
  call: ApiCall,
  world: CloudFormationWorld,
): Promise<StackView> {
  if (stack.settled || !isHeld(call.request, world)) return stack;
  const over = AbortSignal.any([call.signal, AbortSignal.timeout(world.holdTime)]);
  return await settledOrNow(stack.stackId, world, over);
}

async function settledOrNow(
  stackId: StackId,
  { engine }: CloudFormationWorld,
  over: AbortSignal,
): Promise<StackView> {
  try {
    return await engine.settled(stackId, over);
  } catch (error) {
    if (!over.aborted) throw error;
    return await engine.stack(stackId);
  }
}

function isHeld(request: WireRequest, { hold }: CloudFormationWorld): boolean {
  switch (hold) {
    case "all":
      return true;
    case "none":
      return false;
    case "waiters":
      return isWaiter(request.headers["user-agent"] ?? "");
  }
}

/**
 * Waiters by their user agents: newer botocore marks them with feature `B`, the aws CLI before that named its command,
 * and the CDK asks only when it waits. A person who watches a stack sends the same call without.
 */
export function isWaiter(userAgent: string): boolean {
  const features = /(?:^|\s)m\/([A-Za-z0-9+,-]+)/.exec(userAgent)?.[1]?.split(",") ?? [];
  return (
    features.includes("B") ||
    /\bcommand\/cloudformation\.(?:wait|deploy)\b/.test(userAgent) ||
    /\baws-cdk\//.test(userAgent)
  );
}
