import type { Engine } from "../engine/engine.ts";
import type { ResourceTypes } from "../engine/ports.ts";
import type { Runtime } from "../services/function-settings.ts";
import type { TraceLog } from "../services/traces.ts";
import type { Local, LocalOptions, Reader } from "../local.ts";

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
  readonly types: Pick<ResourceTypes, "facts">;
  readonly lambda: {
    /** Starts a process of a runtime before a function needs it. */
    prewarm(runtime: Runtime): Promise<void>;
  };
  /** There when clients are served. */
  readonly endpoint?: { readonly url: string };
  /** Sends one request without a stack, and waits for what becomes of it. */
  readonly request: Local["request"];
  close(): Promise<void>;
}

/** Opens a state directory; `openLocal`, unless a test passes another. */
export type Open = (options: LocalOptions) => Promise<Opened>;

/** Opens a state directory to look at it; `openReader`, unless a test passes another. */
export type OpenToRead = (
  options: Pick<LocalOptions, "stateDirectory" | "account" | "region">,
) => Promise<Reader>;

/** How a call gets at state directories. */
export interface Doors {
  readonly open: Open;
  readonly read: OpenToRead;
}
