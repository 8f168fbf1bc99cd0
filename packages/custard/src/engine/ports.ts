/**
 * What the engine needs of the world, and nothing more. Adapters implement these; `local.ts` wires them.
 *
 * Times are milliseconds since the epoch, durations are milliseconds, unless a name says otherwise.
 */
import type { Json, ProviderRequest } from "@custard/provider/protocol";
import type { DynamicReference, DynamicValue } from "../template/dynamic-references.ts";
import type { ParameterValue } from "../template/known.ts";
import type { TransformAnswer, TransformNeed } from "../template/process-template.ts";
import type { ValueMap } from "../template/value.ts";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";

/** Time, as the runner sees it. Tests and simulation pass a virtual one. */
export interface Clock {
  now(): number;
  /** Resolves after `delay` ms; rejects with the signal's reason when it is aborted. */
  sleep(delay: number, signal?: AbortSignal): Promise<void>;
}

// ---------------------------------------------------------------------------------------------- journal

/** A command in the journal: opaque to it but for its key (unique within the stack) and when it is due. */
export interface StoredCommand {
  readonly key: string;
  readonly dueAt: number;
  readonly body: Json;
}

/** A command that this process has taken on. */
export interface ClaimedCommand extends StoredCommand {
  readonly stackId: StackId;
  /** It may have been performed before: by an earlier process, or under a lease that has ended. */
  readonly repeated?: true;
}

/** A name that must be unique across stacks, e.g. `name/123456789012/us-east-1/my-stack`. */
export interface Claim {
  readonly name: string;
  readonly action: "take" | "release";
}

/** What is kept of a stack for lists, without a fold. */
export interface StackSummary {
  readonly stackId: StackId;
  readonly stackName: string;
  readonly account: string;
  readonly region: string;
  readonly status: string;
  readonly createdAt: number;
  readonly deletedAt?: number;
}

/** One append: all of it becomes durable, or nothing. */
export interface Change {
  readonly stackId: StackId;
  /** Number of records before this change; 0 for a new stack. */
  readonly expectedVersion: number;
  readonly records: readonly Json[];
  readonly commands: readonly StoredCommand[];
  /** Keys of commands that are no longer needed, claimed or not; unknown keys are ignored. */
  readonly withdraw: readonly string[];
  readonly claims: readonly Claim[];
  readonly summary: StackSummary;
  /** The fold of all records up to and with these; replaces the one kept before. */
  readonly snapshot?: Json;
}

/** A stack as stored: the newest snapshot, and the records after it. */
export interface Loaded {
  /** Number of records in all; 0 when the stack doesn't exist. */
  readonly version: number;
  readonly snapshot?: { readonly version: number; readonly state: Json };
  readonly records: readonly Json[];
}

/**
 * Where stacks are kept. Contract: `tests/contracts/journal.contract.ts`.
 * Throws `StorageError`: `VersionConflict` (append at another version), `ClaimTaken` (with the claim's name),
 * `Unavailable` (the medium failed; nothing was written).
 */
export interface Journal {
  load(stackId: StackId): Promise<Loaded>;
  /** Records from number `after` (0 = from the first) on, at most `limit`. */
  records(stackId: StackId, after: number, limit: number): Promise<readonly Json[]>;
  append(change: Change): Promise<void>;
  /** Commands due at `now`, oldest first; they are leased for `lease` ms and not handed out again before. */
  claimDue(now: number, limit: number, lease: number): Promise<readonly ClaimedCommand[]>;
  /** When the next unleased command is due, or a lease ends; undefined when there is none. */
  nextDue(): Promise<number | undefined>;
  /**
   * The command was performed; it is forgotten, durably with the stack's next append at the latest: a crash before
   * that hands it out again. Unknown keys are ignored.
   */
  confirm(stackId: StackId, key: string): Promise<void>;
  /** Who holds a claim. */
  holder(name: string): Promise<StackId | undefined>;
  summaries(): Promise<readonly StackSummary[]>;
  close(): Promise<void>;
}

// ------------------------------------------------------------------------------------------ documents

/** Small named values that services keep (functions, topics, parameters …), and larger blobs beside them. */
export interface Documents {
  get(key: string): Promise<Json | undefined>;
  put(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
  /** All entries whose key starts with `prefix`, ordered by key. */
  list(prefix: string): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  getBlob(key: string): Promise<Uint8Array | undefined>;
  putBlob(key: string, bytes: Uint8Array): Promise<void>;
  deleteBlob(key: string): Promise<void>;
}

// ----------------------------------------------------------------------------------------- transports

/** How a delivery ended. */
export type Delivery =
  /** Handed over, and everything that the provider does about it is over (or nobody can tell, as with SNS). */
  | { readonly kind: "over" }
  /**
   * The provider has certainly ended without answering and can't answer any more: it returned or died, has no
   * retries left, opened no connection to others, and its frozen instance was destroyed first.
   */
  | { readonly kind: "silent"; readonly advice: string }
  /** Not handed over, for good: the service's own error text (unknown function, wrong region, too large …). */
  | { readonly kind: "refused"; readonly reason: string };

/** How a request leaves. One transport per kind of service token. */
export interface Transport {
  /** Does it serve this service token (a Lambda ARN, an SNS topic ARN)? */
  serves(serviceToken: string): boolean;
  /**
   * Delivers a request. Resolves when the delivery is over; the answer itself comes by the response endpoint.
   * May be called again with the same request after a crash. Rejects only when aborted or on trouble outside.
   */
  deliver(request: ProviderRequest, signal: AbortSignal): Promise<Delivery>;
}

/** Makes response URLs. The same request gets the same URL, also after a restart. */
export interface ResponseUrls {
  urlFor(target: {
    readonly stackId: StackId;
    readonly logicalId: LogicalId;
    readonly requestId: RequestId;
    readonly region: string;
    readonly partition: string;
    readonly issuedAt: number;
  }): string;
}

/** Makes the URLs of wait condition handles. The same handle gets the same URL, also after a restart. */
export interface WaitUrls {
  urlFor(target: {
    readonly stackId: StackId;
    readonly logicalId: LogicalId;
    readonly region: string;
    readonly partition: string;
    readonly issuedAt: number;
  }): string;
}

/** A body that arrived at the URL of a wait condition's handle, whose signature is right. */
export interface ArrivedSignal {
  readonly stackId: StackId;
  readonly logicalId: LogicalId;
  readonly body: Uint8Array;
}

/** A body that arrived at a response URL whose signature is right. */
export interface ArrivedResponse {
  readonly stackId: StackId;
  readonly logicalId: LogicalId;
  readonly requestId: RequestId;
  /** At most 4097 bytes of it. */
  readonly body: Uint8Array;
  /** How many bytes there were. */
  readonly length: number;
  /** Bytes that came after the body's announced end and were cut off, as S3 does: content-length was too short. */
  readonly surplus?: number;
}

/** Where stack events go that a stack's notification ARNs ask for. */
export interface Notifications {
  /**
   * Publishes to an SNS topic. May be called again with the same message after a crash. A topic that isn't there is
   * no trouble; rejects only on trouble outside.
   */
  publish(notification: {
    readonly topicArn: string;
    readonly subject: string;
    readonly message: string;
  }): Promise<void>;
}

// ----------------------------------------------------------------------------------------- templates

/** Where the templates of nested stacks are read. */
export interface Templates {
  /**
   * The template that a `TemplateURL` names: in S3, or by a path that starts at the folder of the parent's template.
   * A refusal's text is complete. Rejects on trouble outside.
   */
  read(wanted: {
    readonly url: string;
    readonly region: string;
    readonly account: string;
    /** The folder of the parent's template, when it came from a file. */
    readonly directory?: string;
  }): Promise<
    | {
        readonly kind: "read";
        readonly body: string;
        /** The folder of this template, when it came from a file. */
        readonly directory?: string;
      }
    | { readonly kind: "failed"; readonly reason: string }
  >;
}

// ------------------------------------------------------------------------------------------ look-ups

/** Whose parameters and secrets a stack's template refers to. */
export interface LookupPlace {
  readonly account: string;
  readonly region: string;
}

/** What a template refers to outside of its stack. A failure's message is complete, in AWS's words. */
export interface Lookups {
  /** What a dynamic reference names at this moment. Secrets in clear: the caller marks them. Rejects on trouble outside. */
  dynamicValue(reference: DynamicReference, place: LookupPlace): Promise<DynamicValue>;
  /**
   * The values of SSM parameters by name (`AWS::SSM::Parameter::Value<…>`); those that aren't there are left out.
   * Rejects on trouble outside.
   */
  ssmParameters(
    names: readonly string[],
    place: LookupPlace,
  ): Promise<
    | { readonly kind: "values"; readonly values: ReadonlyMap<string, string> }
    | { readonly kind: "failed"; readonly message: string }
  >;
}

/** Who runs a template's transforms, as far as they need the world: macros, and included files. */
export interface Transforms {
  /**
   * What a transform is told. A failure's message is complete, in AWS's words (fact 108). Rejects on trouble outside.
   */
  answer(
    need: TransformNeed,
    stack: LookupPlace & {
      readonly partition: string;
      readonly stackId: StackId;
      /** The folder of the template, when it came from a file. */
      readonly directory?: string;
      /** The template's parameters; NoEcho ones are marked, macros get them in clear. */
      readonly parameters: ReadonlyMap<string, ParameterValue>;
    },
  ): Promise<TransformAnswer>;
}

// ------------------------------------------------------------------------------------ resource types

/** What the engine must know of a type to decide; pure data. */
export interface TypeFacts {
  /** `simulated`: a placeholder that the user should be told about. */
  readonly kind: "builtin" | "simulated";
  /** Top-level properties whose change causes replacement. */
  readonly createOnly: ReadonlySet<string>;
  /** Does Delete do anything for it? */
  readonly snapshots: boolean;
  /** Do the tags of its stack reach it? */
  readonly takesTags?: boolean;
}

/** One thing to do to a resource of a built-in type. */
export interface ResourceTask {
  readonly action: "create" | "update" | "delete";
  readonly stackId: StackId;
  readonly stackName: string;
  readonly logicalId: LogicalId;
  readonly type: string;
  readonly account: string;
  readonly region: string;
  readonly partition: string;
  /** Secrets in clear, scalars as declared. */
  readonly properties: ValueMap;
  readonly oldProperties?: ValueMap;
  /** On create: the generated id that a type without a name of its own takes. Else the resource's id. */
  readonly physicalId: PhysicalId;
  readonly tags: Readonly<Record<string, string>>;
  /** Absolute path of the template's folder, when it came from a file: local code paths start there. */
  readonly directory?: string;
  /** The same for every repetition of one task. */
  readonly token: string;
}

/** How a task ended. */
export type TaskOutcome =
  | { readonly kind: "done"; readonly physicalId: PhysicalId; readonly attributes: ValueMap }
  | { readonly kind: "failed"; readonly reason: string; readonly physicalId?: PhysicalId };

/** The built-in resource types. */
export interface ResourceTypes {
  facts(type: string): TypeFacts | undefined;
  /** Repeatable: the same task may come twice after a crash. */
  perform(task: ResourceTask, signal: AbortSignal): Promise<TaskOutcome>;
}

// ------------------------------------------------------------------------------------------- traces

/** Something observed between a request and its response. Texts hold no secrets and no signatures. */
export interface TraceEntry {
  readonly at: number;
  readonly requestId: RequestId;
  readonly stackId: StackId;
  readonly kind: "delivered" | "invoked" | "log" | "put" | "returned" | "failed" | "frozen" | "advice";
  readonly text: string;
  /** The Lambda function that it is about. */
  readonly functionName?: string;
}

/** Where observations go, to be read again for diagnosis. */
export interface Traces {
  note(entry: TraceEntry): void;
  ofRequest(requestId: RequestId): Promise<readonly TraceEntry[]>;
}
