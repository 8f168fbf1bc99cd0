import type { Caller, Joined, JoinedServices } from "../join.ts";
import type { LocalOptions } from "../local.ts";
import type { Reader } from "../reader.ts";

/** An engine at work on a state directory: the call's own, or that of a server which works there. */
export type Opened = Joined;

/** The part of the engine that the command line uses. */
export type StackEngine = Opened["engine"];

/** Opens a state directory; `openOrJoin`, unless a test passes another. */
export type Open = (options: LocalOptions, caller: Caller) => Promise<Opened>;

/** Opens what the services of a state directory keep; `openOrJoinServices`, unless a test passes another. */
export type OpenServices = (stateDirectory: string, caller: Caller) => Promise<JoinedServices>;

/** Opens a state directory to look at it; `openReader`, unless a test passes another. */
export type OpenToRead = (
  options: Pick<LocalOptions, "stateDirectory" | "account" | "region">,
) => Promise<Reader>;

/** How calls get at state directories. */
export interface Doors {
  readonly open: Open;
  readonly read: OpenToRead;
  readonly services: OpenServices;
}
