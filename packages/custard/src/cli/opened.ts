import type { Engine } from "../engine/engine.ts";
import type { Runtime } from "../services/function-settings.ts";
import type { TraceLog } from "../services/traces.ts";
import type { LocalOptions } from "../local.ts";

/** The part of the engine that the command line uses. */
export type StackEngine = Pick<
  Engine,
  | "createStack"
  | "updateStack"
  | "deleteStack"
  | "cancelUpdate"
  | "stack"
  | "stacks"
  | "events"
  | "watch"
  | "resume"
>;

/** An engine at work on a state directory. */
export interface Opened {
  readonly engine: StackEngine;
  readonly traces: TraceLog;
  readonly lambda: {
    /** Starts a process of a runtime before a function needs it. */
    prewarm(runtime: Runtime): void;
  };
  close(): Promise<void>;
}

/** Opens a state directory; `openLocal`, unless a test passes another. */
export type Open = (options: LocalOptions) => Promise<Opened>;
