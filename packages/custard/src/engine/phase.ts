import type { Phase } from "./stack.ts";

/** Is it a phase after the stack has reached its goal, or is back where it was? It can't fail any more (facts 76, 77). */
export function isCleanup(phase: Phase): boolean {
  return phase === "cleanup" || phase === "rollback-cleanup";
}
