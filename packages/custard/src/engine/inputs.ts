/** What callers give the engine, and how it becomes what `decide` understands. */
import type { ParameterInput } from "../template/parameters.ts";
import type { StackRequest } from "./event.ts";
import type { LogicalId } from "./ids.ts";
import { rollbackContradiction } from "./messages.ts";
import { StackError } from "./stack-error.ts";
import type { OnFailure, Terms } from "./stack.ts";

/** What a stack is to be. */
export interface StackInput {
  /** 1 to 128 letters, digits and hyphens, a letter first. */
  readonly stackName: string;
  /** Needed to create; an update may use the previous one instead. */
  readonly templateBody?: string;
  /** Update with the template that the stack has. */
  readonly usePreviousTemplate?: boolean;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Parameters that keep the value that they have. */
  readonly previousParameters?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly notificationArns?: readonly string[];
  readonly region?: string;
  readonly account?: string;
  /** The folder of the template's file: local code paths start there. */
  readonly directory?: string;
  /** The same as `onFailure: "DO_NOTHING"`. */
  readonly disableRollback?: boolean;
  readonly onFailure?: OnFailure;
  readonly clientRequestToken?: string;
  readonly terminationProtection?: boolean;
  /** What a failed operation created goes, even where its policy says Retain. */
  readonly retainExceptOnCreate?: boolean;
  /** The creation fails when it takes longer. */
  readonly timeoutMinutes?: number;
  /** A stack policy: the JSON text. */
  readonly stackPolicy?: string;
  /** A stack policy in place of the stack's own, for one update. */
  readonly stackPolicyDuringUpdate?: string;
  /** What is shown of how the stack came to be, and decides nothing. */
  readonly terms?: Terms;
}

/** What a change set is to do. */
export interface ChangeSetInput extends Omit<StackInput, "onFailure" | "disableRollback"> {
  readonly changeSetName: string;
  /** `CREATE` for a stack that isn't there yet; default `UPDATE`. */
  readonly changeSetType?: "CREATE" | "UPDATE" | "IMPORT";
  readonly description?: string;
  readonly onStackFailure?: OnFailure;
  /** A call that is repeated with it gives what the first one gave. */
  readonly clientToken?: string;
  readonly importExisting?: boolean;
  /** With change sets of the nested stacks that would change or be added; default false. */
  readonly includeNestedStacks?: boolean;
}

/** Which change set: by its ARN, or by name with its stack. */
export interface ChangeSetReference {
  readonly changeSet: string;
  readonly stack?: string;
  readonly region?: string;
  readonly account?: string;
}

/** How a stack is to be deleted. */
export interface DeleteInput extends StackReference {
  /** Logical ids that are left alone; only for a stack in DELETE_FAILED. */
  readonly retain?: readonly string[];
  /** Leave behind what can't be deleted; only for a stack in DELETE_FAILED. */
  readonly force?: boolean;
  readonly clientRequestToken?: string;
  readonly terms?: Terms;
}

/** Which stack: by name (in a region and account) or by its ARN. */
export interface StackReference {
  readonly stack: string;
  readonly region?: string;
  readonly account?: string;
}

export function toReference(stack: string | StackReference): StackReference {
  return typeof stack === "string" ? { stack } : stack;
}

export function referenceOf({ stackName, region, account }: StackInput): StackReference {
  return { stack: stackName, ...definedOf({ region, account }) };
}

export function toLogicalIds(names: readonly string[] = []): readonly LogicalId[] {
  return names.map((name) => name as LogicalId);
}

export function tokenOf({ clientRequestToken }: { readonly clientRequestToken?: string }): {
  clientRequestToken?: string;
} {
  return clientRequestToken === undefined ? {} : { clientRequestToken };
}

export function termsOf({ terms }: { readonly terms?: Terms }): { terms?: Terms } {
  return terms === undefined ? {} : { terms };
}

export function definedOf({
  region,
  account,
}: {
  region?: string | undefined;
  account?: string | undefined;
}): {
  region?: string;
  account?: string;
} {
  return { ...(region === undefined ? {} : { region }), ...(account === undefined ? {} : { account }) };
}

export function toRequest(input: StackInput): StackRequest {
  const parameters = new Map<string, ParameterInput>();
  for (const name of input.previousParameters ?? []) parameters.set(name, { kind: "previous" });
  for (const [name, value] of Object.entries(input.parameters ?? {}))
    parameters.set(name, { kind: "value", value });
  if (input.disableRollback !== undefined && input.onFailure !== undefined)
    throw new StackError("InvalidInput", rollbackContradiction);
  const { templateBody, directory, retainExceptOnCreate, timeoutMinutes } = input;
  const { stackPolicy: policy, stackPolicyDuringUpdate: policyDuringUpdate, terms } = input;
  return {
    parameters,
    tags: checkedTags(input.tags ?? {}),
    notificationArns: input.notificationArns ?? [],
    onFailure: input.onFailure ?? (input.disableRollback === true ? "DO_NOTHING" : "ROLLBACK"),
    ...tokenOf(input),
    ...defined({ templateBody, directory, retainExceptOnCreate, timeoutMinutes }),
    ...defined({ policy, policyDuringUpdate, terms }),
  };
}

/** Without the members that are undefined. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Fact 121: a name of a stack, or of a change set, which is made alike. */
export function checkedName(name: string, member: "stackName" | "changeSetName" = "stackName"): string {
  const form = "[a-zA-Z][-a-zA-Z0-9]*" + (member === "stackName" ? "|arn:[-a-zA-Z0-9:/._+]*" : "");
  const failed = `1 validation error detected: Value '${name}' at '${member}' failed to satisfy constraint: Member must`;
  if (!/^[a-zA-Z][-a-zA-Z0-9]*$/.test(name))
    throw new StackError("InvalidInput", `${failed} satisfy regular expression pattern: ${form}`);
  if (name.length <= 128) return name;
  throw new StackError("InvalidInput", `${failed} have length less than or equal to 128`);
}

/** The limits of CloudFormation's API reference for `Tag`, and of CloudFormation's quotas for their number. */
function checkedTags(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(tags);
  const failed = (value: string, member: string, must: string) =>
    new StackError(
      "InvalidInput",
      `1 validation error detected: Value '${value}' at '${member}' failed to satisfy constraint: Member must have length ${must}`,
    );
  if (entries.length > 50) throw failed(JSON.stringify(tags), "tags", "less than or equal to 50");
  for (const [index, [key, value]] of entries.entries()) {
    const member = `tags.${index + 1}.member`;
    if (key === "") throw failed(key, `${member}.key`, "greater than or equal to 1");
    if (key.length > 128) throw failed(key, `${member}.key`, "less than or equal to 128");
    if (value.length > 256) throw failed(value, `${member}.value`, "less than or equal to 256");
    if (key.toLowerCase().startsWith("aws:"))
      throw new StackError("InvalidInput", "aws: prefixed tag key names are not allowed for external use.");
  }
  return tags;
}
