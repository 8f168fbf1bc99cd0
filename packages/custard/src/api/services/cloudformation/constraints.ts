/**
 * What CloudFormation's API reference says of the members of its inputs beside their types, as data; and the refusal
 * of what breaks it, in the words that all of AWS's older services share (fact 121).
 */
import type { Handler } from "../../service.ts";
import type { WireObject, WireValue } from "../../wire.ts";
import { validationError } from "./errors.ts";
import type { CloudFormationWorld } from "./world.ts";

/** Bounds are of a text's characters, a list's items, or of a number itself. */
interface Limits {
  readonly min?: number;
  readonly max?: number;
  /** A regular expression for the whole of a text. */
  readonly pattern?: string;
  readonly words?: readonly string[];
  /** Of each item of a list. */
  readonly items?: Omit<Limits, "items">;
}

const url = { min: 1, max: 5120 } as const;
const policy = { min: 1, max: 16_384 } as const;
const stackName = { min: 1, pattern: "[a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*" } as const;
const changeSetName = { min: 1, max: 1600, pattern: "[a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/]*" } as const;
const onFailure = { words: ["DO_NOTHING", "ROLLBACK", "DELETE"] } as const;

/** The same in all operations that have the member. */
const shared: Readonly<Record<string, Limits>> = {
  CallAs: { words: ["SELF", "DELEGATED_ADMIN"] },
  Capabilities: { items: { words: ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"] } },
  ChangeSetName: changeSetName,
  ChangeSetType: { words: ["CREATE", "UPDATE", "IMPORT"] },
  ClientRequestToken: { min: 1, max: 128, pattern: "[a-zA-Z0-9][-a-zA-Z0-9]*" },
  ClientToken: { min: 1, max: 128 },
  DeletionMode: { words: ["STANDARD", "FORCE_DELETE_STACK"] },
  Description: { min: 1, max: 1024 },
  LogicalResourceIds: { min: 1, max: 200 },
  MaxResults: { min: 1, max: 100 },
  NextToken: { min: 1, max: 1024 },
  NotificationARNs: { max: 5 },
  OnFailure: onFailure,
  OnStackFailure: onFailure,
  ResourceTypes: { items: { min: 1, max: 256 } },
  ResourcesToSkip: { items: { pattern: "[a-zA-Z0-9]+|[a-zA-Z][-a-zA-Z0-9]*\\.[a-zA-Z0-9]+" } },
  RoleARN: { min: 20, max: 2048 },
  StackDriftDetectionId: { min: 1, max: 36 },
  StackPolicyBody: policy,
  StackPolicyDuringUpdateBody: policy,
  StackPolicyDuringUpdateURL: url,
  StackPolicyURL: url,
  StackResourceDriftStatusFilters: {
    min: 1,
    max: 4,
    items: { words: ["IN_SYNC", "MODIFIED", "DELETED", "NOT_CHECKED", "UNKNOWN", "UNSUPPORTED"] },
  },
  StackStatusFilter: {
    items: {
      words: [
        "CREATE_IN_PROGRESS",
        "CREATE_FAILED",
        "CREATE_COMPLETE",
        "ROLLBACK_IN_PROGRESS",
        "ROLLBACK_FAILED",
        "ROLLBACK_COMPLETE",
        "DELETE_IN_PROGRESS",
        "DELETE_FAILED",
        "DELETE_COMPLETE",
        "UPDATE_IN_PROGRESS",
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_COMPLETE",
        "UPDATE_FAILED",
        "UPDATE_ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE",
        "REVIEW_IN_PROGRESS",
        "IMPORT_IN_PROGRESS",
        "IMPORT_COMPLETE",
        "IMPORT_ROLLBACK_IN_PROGRESS",
        "IMPORT_ROLLBACK_FAILED",
        "IMPORT_ROLLBACK_COMPLETE",
      ],
    },
  },
  Status: { words: ["SUCCESS", "FAILURE"] },
  TemplateBody: { min: 1 },
  TemplateStage: { words: ["Original", "Processed"] },
  TemplateURL: url,
  TimeoutInMinutes: { min: 1 },
  UniqueId: { min: 1, max: 64 },
};

/** Operations that take any text for a stack's name, and find none of it. */
const anyStackName: ReadonlySet<string> = new Set([
  "CancelUpdateStack",
  "DeleteStack",
  "DescribeStackEvents",
  "DescribeStackResource",
  "DescribeStackResources",
  "DescribeStacks",
  "GetStackPolicy",
  "GetTemplate",
  "ListStackResources",
  "SetStackPolicy",
]);

/** The handlers, each behind a check of what it is given. */
export function constrained(
  handlers: Readonly<Record<string, Handler<CloudFormationWorld>>>,
): Readonly<Record<string, Handler<CloudFormationWorld>>> {
  return Object.fromEntries(
    Object.entries(handlers).map(([operation, handle]) => [
      operation,
      async (call, world) => {
        refuseFaults(faultsOf(operation, call.input.whole()));
        return await handle(call, world);
      },
    ]),
  );
}

/** What is wrong with an input, in the order of its members. */
function faultsOf(operation: string, input: WireObject): readonly string[] {
  const own: Readonly<Record<string, Limits>> = anyStackName.has(operation) ? {} : { StackName: stackName };
  return Object.entries(input).flatMap(([name, value]) => {
    const limits = own[name] ?? (Object.hasOwn(shared, name) ? shared[name] : undefined);
    if (limits === undefined || value === undefined) return [];
    const start = `Value '${textOf(value)}' at '${memberOf(name)}' failed to satisfy constraint: Member must`;
    return demandsOn(value, limits).map((demand) => `${start} ${demand}`);
  });
}

function refuseFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const errors = faults.length === 1 ? "error" : "errors";
  throw validationError(`${faults.length} validation ${errors} detected: ${faults.join("; ")}`);
}

/** What a value must do and doesn't: what comes after "Member must". */
function demandsOn(value: WireValue, limits: Limits): readonly string[] {
  return [
    ...demandsOnSize(value, limits),
    ...(typeof value === "string" ? demandsOnText(value, limits) : []),
    ...(limits.items !== undefined && Array.isArray(value) ? demandsOnItems(value, limits.items) : []),
  ];
}

function demandsOnSize(value: WireValue, { min, max }: Limits): readonly string[] {
  const size = sizeOf(value);
  const kind = typeof value === "number" ? "value" : "length";
  return [
    ...(min !== undefined && size < min ? [`have ${kind} greater than or equal to ${min}`] : []),
    ...(max !== undefined && size > max ? [`have ${kind} less than or equal to ${max}`] : []),
  ];
}

function demandsOnText(text: string, { pattern, words }: Limits): readonly string[] {
  const fits = pattern === undefined || new RegExp(`^(?:${pattern})$`).test(text);
  return [
    ...(fits ? [] : [`satisfy regular expression pattern: ${pattern}`]),
    ...(words === undefined || words.includes(text) ? [] : [`satisfy enum value set: [${words.join(", ")}]`]),
  ];
}

function demandsOnItems(values: readonly WireValue[], limits: Limits): readonly string[] {
  const demands = values.flatMap((value) =>
    demandsOn(value, limits).map((demand) => `Member must ${demand}`),
  );
  return demands.length === 0 ? [] : [`satisfy constraint: [${[...new Set(demands)].join(", ")}]`];
}

function sizeOf(value: WireValue): number {
  if (typeof value === "number") return value;
  return typeof value === "string" || Array.isArray(value) ? value.length : 0;
}

/** As AWS prints it; a template or a policy isn't said again. */
function textOf(value: WireValue): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text.length <= 2048 ? text : `${text.slice(0, 2048)}…`;
}

function memberOf(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}
