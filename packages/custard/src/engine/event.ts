/** What the world says to a stack. Each is handled alone, in one decision. */
import type { ParameterInput } from "../template/parameters.ts";
import type { ChangeSetFamily, ChangeSetType } from "./change-set.ts";
import type { Transformed } from "./transformed.ts";
import type { LogicalId, RequestId, StackId } from "./ids.ts";
import type { TaskOutcome } from "./ports.ts";
import type {
  Import,
  Importer,
  OnFailure,
  Parent,
  ParentLink,
  Signal,
  StackIdentity,
  Terms,
} from "./stack.ts";

/** What a user gives to create or update a stack. */
export interface StackRequest {
  /** Absent: the template that the stack has. */
  readonly templateBody?: string;
  readonly parameters: ReadonlyMap<string, ParameterInput>;
  /** Values of the SSM parameters that parameters name, as `prepare-request.ts` found them. */
  readonly ssmValues?: ReadonlyMap<string, string>;
  /** What the template's transforms have made of it, likewise. */
  readonly transformed?: Transformed;
  readonly tags: Readonly<Record<string, string>>;
  readonly notificationArns: readonly string[];
  readonly directory?: string;
  readonly onFailure: OnFailure;
  readonly clientRequestToken?: string;
  readonly retainExceptOnCreate?: boolean;
  /** Minutes in which the stack must have been created. */
  readonly timeoutMinutes?: number;
  /** The stack policy that is to be in force from now on. */
  readonly policy?: string;
  /** A stack policy for this update alone. */
  readonly policyDuringUpdate?: string;
  readonly terms?: Terms;
}

/** A body that came for a request: at most 4097 bytes of it, and how many there were. */
export interface AnswerBody {
  readonly body: Uint8Array;
  readonly length: number;
}

/** What came of performing a command. */
export type Feedback =
  | { readonly kind: "deadline-passed"; readonly requestId: RequestId }
  | {
      readonly kind: "delivery-refused";
      readonly requestId: RequestId;
      readonly reason: string;
      /** It may have been handed over before it was refused: in an attempt whose end nobody knows. */
      readonly repeated: boolean;
    }
  | { readonly kind: "provider-silent"; readonly requestId: RequestId; readonly advice: string }
  | { readonly kind: "task-ended"; readonly requestId: RequestId; readonly outcome: TaskOutcome }
  /** A nested stack exists now; its resources are being created. */
  | { readonly kind: "child-started"; readonly requestId: RequestId };

/** What users ask, or a parent stack in their place. */
export type UserCall =
  | { readonly kind: "signal-resource"; readonly logicalId: LogicalId; readonly signal: Signal }
  | {
      readonly kind: "create-stack";
      readonly identity: StackIdentity;
      readonly seed: string;
      readonly terminationProtection: boolean;
      readonly request: StackRequest;
      /** Of a nested stack: whose it is, and the request that creates it. */
      readonly parent?: Parent & ParentLink;
    }
  | { readonly kind: "update-stack"; readonly request: StackRequest; readonly parent?: ParentLink }
  | {
      readonly kind: "create-change-set";
      /** Of the stack that is made for it, when there is none yet. */
      readonly identity: StackIdentity;
      readonly seed: string;
      readonly changeSet: {
        readonly name: string;
        readonly type: ChangeSetType;
        readonly description?: string;
        readonly onFailure?: OnFailure;
        readonly clientToken?: string;
        readonly importExisting?: boolean;
        readonly includesNested?: boolean;
        readonly nestedIn?: ChangeSetFamily;
      };
      /** How the caller named the stack. */
      readonly stackName: string;
      readonly request: StackRequest;
      /** Of a nested stack that would be added. */
      readonly parent?: Parent;
    }
  | { readonly kind: "delete-change-set"; readonly changeSet: string }
  | {
      readonly kind: "execute-change-set";
      readonly changeSet: string;
      readonly disableRollback: boolean;
      readonly retainExceptOnCreate: boolean;
      readonly clientRequestToken?: string;
    }
  | {
      readonly kind: "delete-stack";
      readonly retain: readonly LogicalId[];
      /** What can't be deleted is left behind. */
      readonly force?: boolean;
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
      readonly parent?: ParentLink;
    }
  | { readonly kind: "cancel-update"; readonly clientRequestToken?: string }
  | {
      readonly kind: "continue-rollback";
      /** Logical ids, or `<name of a nested stack>.<logical id>`. */
      readonly skip: readonly string[];
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    }
  | {
      readonly kind: "roll-back";
      readonly retainExceptOnCreate: boolean;
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    }
  | { readonly kind: "set-termination-protection"; readonly enabled: boolean }
  | { readonly kind: "set-policy"; readonly policy: string };

/** What other stacks say, and the clock. */
export type Word =
  /** A body came at the URL of a wait condition's handle. */
  | { readonly kind: "handle-signalled"; readonly logicalId: LogicalId; readonly signal: Signal }
  /** The parent of a nested stack undoes its update. */
  | { readonly kind: "undo-update"; readonly parent: ParentLink; readonly skip: readonly string[] }
  /** The parent of a nested stack has reached its goal. */
  | { readonly kind: "commit-update"; readonly parent: ParentLink }
  | { readonly kind: "creation-timed-out" }
  /** An export that was asked for is there, or (without `found`) isn't. */
  | { readonly kind: "import-answered"; readonly name: string; readonly found?: Import }
  /** Another stack wants to use an export of this one, or has ended it. */
  | {
      readonly kind: "import-wanted";
      readonly name: string;
      readonly importer: StackId;
      readonly by: Importer;
    }
  | {
      readonly kind: "import-released";
      readonly name: string;
      readonly importer: StackId;
      readonly sequence: number;
    };

/** What a provider says. */
export type Answer = {
  readonly kind: "answered";
  readonly requestId: RequestId;
  readonly logicalId: LogicalId;
} & AnswerBody;

/** What happened in the world. */
export type Occurrence = UserCall | Word | Answer | Feedback;

/** Occurrences of one kind. */
export type Happened<Kind extends Occurrence["kind"]> = Extract<Occurrence, { kind: Kind }>;

/** An occurrence, when it happened, and to which stack. */
export type StackOccurrence = Occurrence & { readonly at: number; readonly stackId: StackId };
