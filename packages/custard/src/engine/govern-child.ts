/** Commands by which a stack governs its nested stacks, and they answer. All may be repeated. */
import { isValueList, isValueMap, reveal, type Value, type ValueMap } from "../template/value.ts";
import type { ParameterInput } from "../template/parameters.ts";
import type { Task } from "./command.ts";
import type { Post } from "./correspond.ts";
import type { StackRequest } from "./event.ts";
import { childNotDeleted } from "./messages.ts";
import type { PhysicalId, StackId } from "./ids.ts";
import type { TaskOutcome, Templates } from "./ports.ts";
import { StackError } from "./stack-error.ts";
import type { ChildPending, Definition, ParentLink, Stack, StackIdentity } from "./stack.ts";
import { stackNameOf } from "./unique-id.ts";

/** How nested stacks and their templates are reached. */
export interface Nursery extends Post {
  readonly templates: Templates | undefined;
  /** See `prepare-request.ts`. */
  prepare(
    stack: { readonly identity: StackIdentity; readonly previous?: Definition },
    request: StackRequest,
  ): Promise<StackRequest>;
}

/** Hands a request to its nested stack, which will report on it; or reports why that can't be. */
export async function governChild(nursery: Nursery, parent: Stack, pending: ChildPending): Promise<void> {
  const outcome = await hand(nursery, parent, pending);
  if (outcome === undefined) return;
  const { requestId } = pending;
  await nursery.tell(parent.identity.stackId, { kind: "task-ended", requestId, outcome });
}

/** Tells the parent what has come of its request. */
export async function reportToParent(
  post: Post,
  child: Stack,
  { parent, requestId, reason }: Extract<Task, { kind: "report" }>,
): Promise<void> {
  if ((await post.stack(parent)) === undefined) return;
  const outcome = reason === undefined ? done(child) : failed(reason, child.identity.stackId);
  await post.tell(parent, { kind: "task-ended", requestId, outcome });
}

function done(child: Stack): TaskOutcome {
  const attributes = [...child.outputs].map(([name, { value }]) => [`Outputs.${name}`, value] as const);
  return {
    kind: "done",
    physicalId: physicalIdOf(child.identity.stackId),
    attributes: Object.fromEntries(attributes),
  };
}

/** `childId`: of a stack that is there, and has to be deleted. */
function failed(reason: string, childId?: StackId): TaskOutcome {
  return { kind: "failed", reason, ...(childId === undefined ? {} : { physicalId: physicalIdOf(childId) }) };
}

function physicalIdOf(childId: StackId): PhysicalId {
  return childId as string as PhysicalId;
}

/** Undefined when the nested stack reports by itself. */
async function hand(
  nursery: Nursery,
  parent: Stack,
  pending: ChildPending,
): Promise<TaskOutcome | undefined> {
  if (pending.action === "create") return create(nursery, parent, pending);
  const child = await nursery.stack(pending.childId);
  if (child === undefined) return { kind: "done", physicalId: physicalIdOf(pending.childId), attributes: {} };
  const link: ParentLink = { stackId: parent.identity.stackId, requestId: pending.requestId };
  switch (pending.action) {
    case "update":
      if (!pending.undo) return update(nursery, { parent, pending, child });
      await nursery.tell(pending.childId, {
        kind: "undo-update",
        parent: link,
        skip: parent.operation?.skipNested ?? [],
      });
      return undefined;
    case "commit":
      await nursery.tell(pending.childId, { kind: "commit-update", parent: link });
      return undefined;
    case "delete":
      return remove(nursery, pending.childId, link);
  }
}

async function create(
  nursery: Nursery,
  parent: Stack,
  pending: ChildPending,
): Promise<TaskOutcome | undefined> {
  const { childId, requestId } = pending;
  // It may have begun before a crash; its template may be out of reach by now.
  if ((await nursery.stack(childId)) === undefined) {
    const refusal = await begin(nursery, parent, pending);
    if (refusal !== undefined) return refusal;
  }
  await nursery.tell(parent.identity.stackId, { kind: "child-started", requestId });
  return undefined;
}

/** Undefined when it has begun, or isn't wanted any more. */
async function begin(
  nursery: Nursery,
  parent: Stack,
  pending: ChildPending,
): Promise<TaskOutcome | undefined> {
  const read = await readRequest(nursery, parent, pending);
  if (read.kind === "failed") return failed(read.reason);
  const { childId, requestId, logicalId } = pending;
  const { account, region, partition, stackId } = parent.identity;
  const { rootId = stackId } = parent.parent ?? {};
  const identity = { account, region, partition, stackId: childId, stackName: stackNameOf(childId) };
  try {
    const request = await nursery.prepare({ identity }, read.request);
    if (!(await isPending(nursery, parent, pending))) return undefined;
    await nursery.tell(childId, {
      kind: "create-stack",
      identity,
      seed: `${parent.seed}|${childId}`,
      terminationProtection: false,
      request,
      parent: { stackId, rootId, logicalId, requestId },
    });
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

async function update(
  nursery: Nursery,
  at: { parent: Stack; pending: ChildPending; child: Stack },
): Promise<TaskOutcome | undefined> {
  const { parent, pending, child } = at;
  const { childId, requestId } = pending;
  // It was told before a crash; its template may be out of reach by now.
  if (child.lastParentRequest === requestId) return undefined;
  const read = await readRequest(nursery, parent, pending);
  if (read.kind === "failed") return failed(read.reason);
  const link: ParentLink = { stackId: parent.identity.stackId, requestId };
  const { identity, definition: previous } = child;
  try {
    const request = await nursery.prepare({ identity, previous }, read.request);
    if (!(await isPending(nursery, parent, pending))) return undefined;
    await nursery.tell(childId, { kind: "update-stack", request, parent: link });
    return undefined;
  } catch (error) {
    return error instanceof StackError && error.code === "NoUpdates" ? done(child) : refused(error);
  }
}

async function remove(
  nursery: Nursery,
  childId: StackId,
  parent: ParentLink,
): Promise<TaskOutcome | undefined> {
  try {
    await nursery.tell(childId, { kind: "delete-stack", retain: [], parent });
    return undefined;
  } catch (error) {
    if (error instanceof StackError) return failed(childNotDeleted(childId, error.message), childId);
    throw error;
  }
}

function refused(error: unknown): TaskOutcome {
  if (error instanceof StackError) return failed(error.message);
  throw error;
}

/** Reading a template takes time, in which the parent may have given up. */
async function isPending(nursery: Nursery, parent: Stack, { requestId }: ChildPending): Promise<boolean> {
  return (await nursery.stack(parent.identity.stackId))?.requests.has(requestId) === true;
}

// -------------------------------------------------------------------------------------------------- request

type Read =
  | { readonly kind: "read"; readonly request: StackRequest }
  | { readonly kind: "failed"; readonly reason: string };

/** What a parent's resource asks of its nested stack. */
export async function readRequest(
  { templates }: Pick<Nursery, "templates">,
  parent: Stack,
  { properties }: Pick<ChildPending, "properties">,
): Promise<Read> {
  const url = textOf(properties["TemplateURL"]);
  if (url === "")
    return {
      kind: "failed",
      reason: "Property validation failure: [The property {/TemplateURL} is required]",
    };
  if (templates === undefined) return { kind: "failed", reason: `No template can be read from ${url} here.` };
  const { directory } = parent.definition;
  const { region, account } = parent.identity;
  const read = await templates.read({
    url,
    region,
    account,
    ...(directory === undefined ? {} : { directory }),
  });
  if (read.kind === "failed") return read;
  return { kind: "read", request: requestOf(parent, properties, read) };
}

/** What the parent's resource and operation make of the nested stack. */
function requestOf(
  parent: Stack,
  properties: ValueMap,
  template: { readonly body: string; readonly directory?: string },
): StackRequest {
  const { operation, definition } = parent;
  const { retainExceptOnCreate } = operation ?? {};
  const timeout = Number(textOf(properties["TimeoutInMinutes"]));
  const arns = properties["NotificationARNs"];
  return {
    templateBody: template.body,
    parameters: parametersOf(properties["Parameters"]),
    tags: { ...definition.tags, ...tagsOf(properties["Tags"]) },
    notificationArns: arns !== undefined && isValueList(arns) ? arns.map(textOf) : [],
    onFailure: operation?.onFailure === "DO_NOTHING" ? "DO_NOTHING" : "ROLLBACK",
    ...(template.directory === undefined ? {} : { directory: template.directory }),
    ...(timeout > 0 ? { timeoutMinutes: timeout } : {}),
    ...(retainExceptOnCreate === undefined ? {} : { retainExceptOnCreate }),
  };
}

function parametersOf(value: Value | undefined): ReadonlyMap<string, ParameterInput> {
  const entries = value !== undefined && isValueMap(value) ? Object.entries(value) : [];
  return new Map(entries.map(([name, given]) => [name, { kind: "value", value: textOf(given) }]));
}

function tagsOf(value: Value | undefined): Readonly<Record<string, string>> {
  const tags = value !== undefined && isValueList(value) ? value.filter(isValueMap) : [];
  return Object.fromEntries(tags.map((tag) => [textOf(tag["Key"]), textOf(tag["Value"])]));
}

/** A scalar's text; a list's items with commas, as a list parameter takes them. */
function textOf(value: Value | undefined): string {
  const plain = value === undefined ? "" : reveal(value);
  if (Array.isArray(plain)) return plain.map(String).join(",");
  return typeof plain === "object" ? "" : String(plain);
}
