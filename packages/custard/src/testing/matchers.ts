import { Simulation } from "./simulate.ts";

interface Verdict {
  readonly pass: boolean;
  message(): string;
}

/**
 * Matchers for vitest and jest: `expect.extend(matchers)`, then `expect(sim).toHaveNoOrphans()`.
 * For their types see `Matchers`.
 */
export const matchers = {
  /** Everything that exists is known to the stack. */
  toHaveNoOrphans(sim: unknown): Verdict {
    requireSimulation(sim, "toHaveNoOrphans");
    const { orphans } = sim;
    return {
      pass: orphans.length === 0,
      message: () =>
        `The stack doesn't know of ${orphans.join(", ") || "anything that exists"}.\n${sim.log.join("\n")}`,
    };
  },
  /** The stack has ended in this status. */
  toHaveEnded(sim: unknown, status: string): Verdict {
    requireSimulation(sim, "toHaveEnded");
    return {
      pass: sim.status === status,
      message: () =>
        `The stack is in ${sim.status || "no status"}, ${status} was asked for. ${sim.reason ?? ""}`.trimEnd(),
    };
  },
  /** None of the provider's log lines holds this text. */
  toKeepSecret(sim: unknown, secret: string): Verdict {
    requireSimulation(sim, "toKeepSecret");
    const leak = sim.logs.split("\n").find((line) => line.includes(secret));
    return {
      pass: leak === undefined && sim.reason?.includes(secret) !== true,
      message: () => `The secret is in ${leak === undefined ? "the reason" : "a log line"}.`,
    };
  },
};

function requireSimulation(given: unknown, matcher: string): asserts given is Simulation<unknown> {
  if (given instanceof Simulation) return;
  const hint = given instanceof Promise ? "; this is a promise: await it before" : "";
  throw new TypeError(`${matcher} takes a simulation, as simulate() gives it${hint}`);
}

/** For `declare module "vitest" { interface Matchers<T> extends CustardMatchers<T> {} }`. */
export interface Matchers<R = unknown> {
  toHaveNoOrphans(): R;
  toHaveEnded(status: string): R;
  toKeepSecret(secret: string): R;
}
