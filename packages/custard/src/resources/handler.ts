import type { ValueMap } from "../template/value.ts";
import type { Subject } from "./subject.ts";

/** What a create or update ends with. */
export interface Made {
  readonly physicalId: string;
  readonly attributes: ValueMap;
}

/**
 * How a built-in type is made, changed and deleted. Each may come twice with the same token. Throws
 * `ResourceFailure` (or a service's own error) when the resource fails.
 */
export interface Handler {
  create(subject: Subject): Promise<Made>;
  update(subject: Subject): Promise<Made>;
  delete(subject: Subject): Promise<void>;
}
