import type { ValueMap } from "../template/value.ts";
import { changeSetClaim, stackClaim } from "./claims.ts";
import { findChangeSet } from "./change-set-operations.ts";
import type { ChangeSet, ChangeSetFamily, ChangeSetType } from "./change-set.ts";
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
import { isNestedStack } from "./resource.ts";
import type { Occurrence, StackRequest } from "./event.ts";
import { StackError } from "./stack-error.ts";
import type { Definition, Stack, StackIdentity } from "./stack.ts";
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
    if (includesNested === true) await this.#nest(stack, made);
    return { changeSetId: made.id, stackId: identity.stackId };
  }

  /** Makes change sets of the nested stacks that a change set would update, and of those in them. */
  async #nest(parent: Stack, changeSet: ChangeSet): Promise<void> {
    const nestedIn = { parent: changeSet.id, root: changeSet.nestedIn?.root ?? changeSet.id };
    for (const { child, properties } of await this.#toUpdate(changeSet)) {
      const { definition } = changeSet;
      const read = await readRequest(this.#context, { ...parent, definition }, { properties });
      if (read.kind === "failed") continue;
      const name = `${changeSet.name}-${child.identity.stackName}`.slice(0, longestName);
      const made = await this.#nestOne(child, name, { nestedIn, request: read.request });
      if (made !== undefined) await this.#nest(made.stack, made.changeSet);
    }
  }

  /** Undefined where the nested stack stays as it is, or can't be updated: executing the outermost one tells why. */
  async #nestOne(
    child: Stack,
    name: string,
    { nestedIn, request }: { readonly nestedIn: ChangeSetFamily; readonly request: StackRequest },
  ): Promise<{ readonly stack: Stack; readonly changeSet: ChangeSet } | undefined> {
    const { identity, seed, definition } = child;
    try {
      const stack = await this.#context.dispatch(identity.stackId, {
        kind: "create-change-set",
        identity,
        seed,
        changeSet: { name, type: "UPDATE", includesNested: true, nestedIn },
        stackName: identity.stackName,
        request: await this.#context.prepare({ identity, previous: definition }, request),
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

  /** The nested stacks that are there and that a change set would update, with their properties of then. */
  async #toUpdate({
    changes,
  }: ChangeSet): Promise<readonly { logicalId: string; child: Stack; properties: ValueMap }[]> {
    const found = changes.map(async ({ action, type, logicalId, physicalId, after: properties }) => {
      if (action !== "Modify" || !isNestedStack(type) || properties === undefined) return [];
      const child = await this.#context.stack(physicalId as string as StackId);
      return child === undefined ? [] : [{ logicalId, child, properties }];
    });
    return (await Promise.all(found)).flat();
  }

  /** The change sets of nested stacks that were made with one, by the nested stack's logical id. */
  async #nestedOf(
    changeSet: ChangeSet,
  ): Promise<ReadonlyMap<string, { stackId: StackId; changeSet: ChangeSet }>> {
    if (changeSet.includesNested !== true) return new Map();
    const found = (await this.#toUpdate(changeSet)).flatMap(({ logicalId, child }) => {
      const nested = [...child.changeSets.values()].find(({ nestedIn }) => nestedIn?.parent === changeSet.id);
      const { stackId } = child.identity;
      return nested === undefined ? [] : [[logicalId, { stackId, changeSet: nested }] as const];
    });
    return new Map(found);
  }

  async #dropNested(changeSet: ChangeSet): Promise<void> {
    for (const nested of (await this.#nestedOf(changeSet)).values()) {
      await this.#dropNested(nested.changeSet);
      const { name } = nested.changeSet;
      await this.#context.dispatch(nested.stackId, { kind: "delete-change-set", changeSet: name });
    }
  }

  /** A change set; with `includePropertyValues` also what properties were and will be. */
  async describe(
    reference: ChangeSetReference & { readonly includePropertyValues?: boolean },
  ): Promise<ChangeSetView> {
    const { stack, changeSet } = await this.#known(reference);
    const nested = new Map([...(await this.#nestedOf(changeSet))].map(([id, one]) => [id, one.changeSet.id]));
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
    const found = findChangeSet(stack, changeSet);
    if (found !== undefined) await this.#dropNested(found);
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
    const found = findChangeSet(stack, changeSet);
    await this.#context.dispatch(stackId, {
      kind: "execute-change-set",
      changeSet,
      disableRollback,
      retainExceptOnCreate,
      ...tokenOf(reference),
    });
    // They have told what would come; the nested stacks are updated by their parents.
    if (found !== undefined) await this.#dropNested(found);
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

function checkedType({ changeSetType = "UPDATE" }: ChangeSetInput): ChangeSetType {
  if (changeSetType !== "IMPORT") return changeSetType;
  throw new StackError(
    "InvalidInput",
    "Custard can't import existing resources into a stack: there is nothing outside of its stacks that it could take over. Use the change set type CREATE or UPDATE.",
  );
}
