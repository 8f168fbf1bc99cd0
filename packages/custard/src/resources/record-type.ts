import type { ValueMap } from "../template/value.ts";
import type { Subject } from "./subject.ts";

/**
 * A type that is no more than what its template says: kept, so that the services can show it, with nothing to run.
 * What is left out follows from the published schema.
 */
export interface RecordType {
  /** What `Ref` gives for a new resource. */
  readonly physicalId?: (subject: Subject) => string;
  /** Attributes that the schema alone can't tell. */
  readonly attributes?: (subject: Subject, physicalId: string) => ValueMap;
}
