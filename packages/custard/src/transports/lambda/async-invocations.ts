/** Asynchronous invocation as Lambda does it: the event, and after a failure two more attempts, later (fact 19). */
import type { Clock } from "../../engine/ports.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";
import { type Attempt, type Invocation, type Observation, invoke } from "./invoke.ts";
import type { FunctionPool } from "./pool.ts";

/** How retries go. */
export interface RetryRules {
  /** Milliseconds before the second and the third attempt. Lambda: about 60,000 and 120,000. */
  readonly delays: readonly number[];
  /** Is another attempt without sense by now? */
  readonly given: () => Promise<boolean>;
}

/** What an asynchronous invocation needs of its surroundings. */
export interface AsyncSurroundings {
  readonly pool: FunctionPool;
  readonly clock: Clock;
  readonly observe: (observation: Observation) => void;
}

/** Makes attempts until one succeeds or none is left, and returns them all. Rejects when aborted between two attempts. */
export async function invokeAsync(
  call: {
    readonly resolved: ResolvedFunction;
    readonly invocation: Invocation;
    readonly retries: RetryRules;
  },
  surroundings: AsyncSurroundings,
  signal: AbortSignal,
): Promise<readonly Attempt[]> {
  const { resolved, invocation, retries } = call;
  const { maximumRetryAttempts = 2, maximumEventAgeSeconds = 21_600 } = resolved.eventInvoke;
  const delays = retries.delays.slice(0, maximumRetryAttempts);
  const startedAt = surroundings.clock.now();
  const attempts: Attempt[] = [];
  for (;;) {
    const attempt = await invoke(surroundings.pool, { resolved, invocation }, surroundings.observe);
    attempts.push(attempt);
    const delay = delays[attempts.length - 1];
    const age = surroundings.clock.now() - startedAt + (delay ?? 0);
    if (attempt.fault === undefined || delay === undefined || age > maximumEventAgeSeconds * 1000) {
      return attempts;
    }
    if (await retries.given()) return attempts;
    surroundings.observe({
      kind: "log",
      text: `Lambda invokes the function again in ${delay / 1000} s (attempt ${attempts.length + 1} of ${delays.length + 1}).`,
    });
    await surroundings.clock.sleep(delay, signal);
    if (await retries.given()) return attempts;
  }
}
