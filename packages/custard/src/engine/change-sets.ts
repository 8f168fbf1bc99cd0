import { changeSetClaim, stackClaim } from "./claims.ts";
import { findChangeSet } from "./change-set-operations.ts";
import type { ChangeSet, ChangeSetType } from "./change-set.ts";
import { readRequest } from "./govern-child.ts";
import type { StackId } from "./ids.ts";
import {
  checkedName,
  definedOf,
  defined,
  tokenOf,
  toRequest,
  type ChangeSetInput,
  type ChangeSetReference,
} from "./inputs.ts";
import { changeSetNotFound, changeSetWithoutStack, noTemplate, stackMissing } from "./messages.ts";
import type { Journal, Templates } from "./ports.ts";
import { performDropNested, reviewedStacks, type ReviewedStack } from "./nested-change-sets.ts";
import type { Occurrence, StackRequest } from "./event.ts";
import { StackError } from "./stack-error.ts";
import type { Definition, Parent, Stack, StackIdentity } from "./stack.ts";
import { summariseChangeSet, viewChangeSet } from "./view-change-set.ts";
import type { ChangeSetSummary, ChangeSetView } from "./views.ts";

const longestName = 128;

/** What change sets need of the engine. */
export interface ChangeSetContext {
  readonly journal: Pick<Journal, "holder">;
  readonly region: string;
  readonly account: string;
  stack(stackId: StackId): Promise<Stack | undefined>;
  dispatch(stackId: StackId, occurrence: Occurrence): Promise<Stack | undefined>;
  readonly templates: Templates | undefined;
  /** See `prepare-request.ts`. */
  prepare(
    stack: { readonly identity: StackIdentity; readonly previous?: Definition },
    request: StackRequest,
  ): Promise<StackRequest>;
  /** The identity and seed of a stack that doesn't exist yet. */
  newStack(input: { stackName: string; region?: string; account?: string }): {
    readonly identity: StackIdentity;
    readonly seed: string;
  };
}

/** The change sets of all stacks. Throws `StackError` where CloudFormation refuses a call. */
export class ChangeSets {
  readonly #context: ChangeSetContext;

  constructor(context: ChangeSetContext) {
    this.#context = context;
  }

  /** Makes a change set. Of type CREATE it brings its stack into being, in REVIEW_IN_PROGRESS. */
  async create(input: ChangeSetInput): Promise<{ readonly changeSetId: string; readonly stackId: StackId }> {
    const type = checkedType(input);
    if ((input.templateBody === undefined) !== (input.usePreviousTemplate ?? false))
      throw new StackError("InvalidInput", noTemplate);
    const { changeSetName, description, onStackFailure: onFailure, stackName } = input;
    const { clientToken, importExisting, includeNestedStacks: includesNested } = input;
    const name = checkedName(changeSetName, "changeSetName");
    const existing = await this.#find(stackName, input);
    if (existing === undefined && type === "UPDATE")
      throw new StackError("StackNotFound", stackMissing(stackName));
    const { identity, seed } = existing ?? this.#context.newStack(input);
    const previous = existing === undefined ? {} : { previous: existing.definition };
    const request = await this.#context.prepare({ identity, ...previous }, toRequest(input));
    const stack = await this.#context.dispatch(identity.stackId, {
      kind: "create-change-set",
      identity,
      seed,
      changeSet: {
        name,
        type,
        ...defined({ description, onFailure, clientToken, importExisting, includesNested }),
      },
      stackName,
      request,
    });
    const made = stack?.changeSets.get(name);
    if (stack === undefined || made === undefined)
      throw new Error(`change set ${name} was made and isn't there`);
    if (includesNested === true) {
      await this.#nest(stack, made);
      await this.#dropIfVoid(stack, made);
    }
    return { changeSetId: made.id, stackId: identity.stackId };
  }

  /** Makes change sets of the nested stacks that a change set would update or add, and of those in them. */
  async #nest(parent: Stack, changeSet: ChangeSet): Promise<void> {
    for (const reviewed of reviewedStacks(parent.identity, changeSet)) {
      const { definition } = changeSet;
      const read = await readRequest(this.#context, { ...parent, definition }, reviewed);
      if (read.kind === "failed") continue;
      const subject = await this.#subjectOf(parent, reviewed);
      const made = subject && (await this.#nestOne(subject, { changeSet, request: read.request }));
      if (made !== undefined) await this.#nest(made.stack, made.changeSet);
    }
  }

  /** It may have gone, or been executed, while those of its nested stacks were being made. */
  async #dropIfVoid({ identity }: Stack, made: ChangeSet): Promise<void> {
    const { id, name } = made;
    const context = this.#context;
    const now = (await context.stack(identity.stackId))?.changeSets.get(name);
    if (now?.id === id && !now.executed) return;
    const post = {
      journal: context.journal,
      stack: (stackId: StackId) => context.stack(stackId),
      tell: (stackId: StackId, occurrence: Occurrence) => context.dispatch(stackId, occurrence),
    };
    const stacks = reviewedStacks(identity, made).map(({ stackId }) => stackId);
    await performDropNested(post, { kind: "drop-nested", changeSet: id, stacks });
  }

  /** The stack that a nested change set is for: one that is there, or one that comes to be for it. */
  async #subjectOf(
    parent: Stack,
    { stackId, identity, logicalId }: ReviewedStack,
  ): Promise<Subject | undefined> {
    if (identity === undefined) {
      const child = await this.#context.stack(stackId);
      return (
        child && { type: "UPDATE", identity: child.identity, seed: child.seed, previous: child.definition }
      );
    }
    const { rootId = parent.identity.stackId } = parent.parent ?? {};
    const seed = `${parent.seed}|${stackId}`;
    return {
      type: "CREATE",
      identity,
      seed,
      parent: { stackId: parent.identity.stackId, rootId, logicalId },
    };
  }

  /** Undefined where the nested stack stays as it is, or can't be updated: executing the outermost one tells why. */
  async #nestOne(
    { type, identity, seed, previous, parent }: Subject,
    outer: { readonly changeSet: ChangeSet; readonly request: StackRequest },
  ): Promise<{ readonly stack: Stack; readonly changeSet: ChangeSet } | undefined> {
    const { id, name: outerName, nestedIn } = outer.changeSet;
    const name = `${outerName}-${identity.stackName}`.slice(0, longestName);
    const family = { parent: id, root: nestedIn?.root ?? id };
    try {
      const before = previous === undefined ? {} : { previous };
      const stack = await this.#context.dispatch(identity.stackId, {
        kind: "create-change-set",
        identity,
        seed,
        changeSet: { name, type, includesNested: true, nestedIn: family },
        stackName: identity.stackName,
        request: await this.#context.prepare({ identity, ...before }, outer.request),
        ...(parent === undefined ? {} : { parent }),
      });
      const changeSet = stack?.changeSets.get(name);
      if (stack === undefined || changeSet === undefined) return undefined;
      if (changeSet.status === "CREATE_COMPLETE") return { stack, changeSet };
      await this.#context.dispatch(identity.stackId, { kind: "delete-change-set", changeSet: name });
      return undefined;
    } catch (error) {
      if (error instanceof StackError) return undefined;
      throw error;
    }
  }

  /** The change sets of nested stacks that were made with one, by the nested stack's logical id. */
  async #nestedOf(stack: Stack, changeSet: ChangeSet): Promise<ReadonlyMap<string, string>> {
    const found = reviewedStacks(stack.identity, changeSet).map(async ({ logicalId, stackId }) => {
      const child = await this.#context.stack(stackId);
      const nested = [...(child?.changeSets.values() ?? [])].find(
        ({ nestedIn }) => nestedIn?.parent === changeSet.id,
      );
      return nested === undefined ? [] : [[logicalId, nested.id] as const];
    });
    return new Map((await Promise.all(found)).flat());
  }

  /** A change set; with `includePropertyValues` also what properties were and will be. */
  async describe(
    reference: ChangeSetReference & { readonly includePropertyValues?: boolean },
  ): Promise<ChangeSetView> {
    const { stack, changeSet } = await this.#known(reference);
    const nested = await this.#nestedOf(stack, changeSet);
    return viewChangeSet(stack, changeSet, { values: reference.includePropertyValues ?? false, nested });
  }

  /** The change sets of a stack, oldest first. */
  async list(stack: string | Omit<ChangeSetReference, "changeSet">): Promise<readonly ChangeSetSummary[]> {
    const reference = typeof stack === "string" ? { stack } : stack;
    const found = await this.#stackOf({ ...reference, changeSet: "" });
    return [...found.changeSets.values()].map((changeSet) => summariseChangeSet(found, changeSet));
  }

  /** Deletes a change set. Nothing happens when there is none of that name. */
  async delete(reference: ChangeSetReference): Promise<void> {
    const stack = await this.#stackOf(reference);
    const { changeSet } = reference;
    await this.#context.dispatch(stack.identity.stackId, { kind: "delete-change-set", changeSet });
  }

  /** Starts what a change set is for. Its siblings are gone with that. */
  async execute(
    reference: ChangeSetReference & {
      readonly disableRollback?: boolean;
      readonly retainExceptOnCreate?: boolean;
      readonly clientRequestToken?: string;
    },
  ): Promise<StackId> {
    const { changeSet, disableRollback = false, retainExceptOnCreate = false } = reference;
    const stack = await this.#stackOf(reference);
    const { stackId } = stack.identity;
    await this.#context.dispatch(stackId, {
      kind: "execute-change-set",
      changeSet,
      disableRollback,
      retainExceptOnCreate,
      ...tokenOf(reference),
    });
    return stackId;
  }

  async #known(reference: ChangeSetReference): Promise<{ stack: Stack; changeSet: ChangeSet }> {
    const stack = await this.#stackOf(reference);
    const changeSet = findChangeSet(stack, reference.changeSet);
    if (changeSet === undefined)
      throw new StackError("ChangeSetNotFound", changeSetNotFound(reference.changeSet));
    return { stack, changeSet };
  }

  /** The stack of a change set. Facts 110 and 110b. */
  async #stackOf(reference: ChangeSetReference): Promise<Stack> {
    const { changeSet, stack } = reference;
    if (stack === undefined && !changeSet.startsWith("arn:"))
      throw new StackError("InvalidInput", changeSetWithoutStack);
    if (stack === undefined) return this.#holderOf(changeSet);
    const found = await this.#find(stack, reference);
    if (found === undefined) throw new StackError("StackNotFound", stackMissing(stack));
    return found;
  }

  async #holderOf(changeSet: string): Promise<Stack> {
    const stackId = await this.#context.journal.holder(changeSetClaim(changeSet));
    const found = stackId === undefined ? undefined : await this.#context.stack(stackId);
    if (found === undefined) throw new StackError("ChangeSetNotFound", changeSetNotFound(changeSet));
    return found;
  }

  async #find(stack: string, place: { region?: string; account?: string }): Promise<Stack | undefined> {
    if (stack.startsWith("arn:")) return this.#context.stack(stack as StackId);
    const { account, region } = { ...this.#context, ...definedOf(place) };
    const stackId = await this.#context.journal.holder(stackClaim({ account, region, stackName: stack }));
    return stackId === undefined ? undefined : this.#context.stack(stackId);
  }
}

/** What a nested change set is made of. */
interface Subject {
  readonly type: ChangeSetType;
  readonly identity: StackIdentity;
  readonly seed: string;
  readonly previous?: Definition;
  readonly parent?: Parent;
}

function checkedType({ changeSetType = "UPDATE" }: ChangeSetInput): ChangeSetType {
  if (changeSetType !== "IMPORT") return changeSetType;
  throw new StackError(
    "InvalidInput",
    "Custard can't import existing resources into a stack: there is nothing outside of its stacks that it could take over. Use the change set type CREATE or UPDATE.",
  );
}
