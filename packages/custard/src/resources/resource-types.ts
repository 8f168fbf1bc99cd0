/**
 * The built-in resource types, and the placeholder for all others.
 *
 * Invariants
 * R1: a failure of a resource is an outcome; whatever else is thrown is trouble outside, or a bug.
 * R2: a type that isn't in the published schemas doesn't exist.
 */
import type { PhysicalId } from "../engine/ids.ts";
import type { ResourceTask, ResourceTypes, TaskOutcome, TypeFacts } from "../engine/ports.ts";
import { FunctionError } from "../services/function-error.ts";
import type { Services } from "../services/open-services.ts";
import { ResourceFailure } from "./failure.ts";
import { GivenIds } from "./given-ids.ts";
import type { Handler, Made } from "./handler.ts";
import { KeptRecords } from "./kept-records.ts";
import { realHandlers } from "./real-handlers.ts";
import { placeholderHandler, recordHandler } from "./record-handler.ts";
import { recordTypes } from "./record-types.ts";
import { type ResourceSchema, Schemas } from "./schema.ts";
import { type Subject, toSubject } from "./subject.ts";

/** How the types are set up. */
export interface TypeOptions {
  /** Are resources of a stack refused that nothing stands behind? Default: no. */
  readonly isStrict?: (stackId: string) => Promise<boolean>;
}

/** The types, and whether one exists at all. */
export interface BuiltinTypes extends ResourceTypes {
  /** False: CloudFormation says `Template format error: Unrecognized resource types: [X]`. True for custom resources. */
  isKnownType(type: string): boolean;
  /** Names of the properties or attributes that tell a resource of the type from all others; empty for no such type. */
  identifiersOf(type: string): readonly string[];
}

/** Types whose work the engine does itself; `facts` knows nothing of them. */
const customResource = "AWS::CloudFormation::CustomResource";

/** Types that a placeholder would misrepresent: what a stack does depends on what they do. */
const refused: ReadonlySet<string> = new Set([
  "AWS::CloudFormation::Stack",
  "AWS::CloudFormation::WaitCondition",
  "AWS::CloudFormation::WaitConditionHandle",
]);

/** Types that `DeletionPolicy: Snapshot` means something for. Source: the attribute's reference page. */
const withSnapshots: ReadonlySet<string> = new Set([
  "AWS::DocDB::DBCluster",
  "AWS::EC2::Volume",
  "AWS::ElastiCache::CacheCluster",
  "AWS::ElastiCache::ReplicationGroup",
  "AWS::Neptune::DBCluster",
  "AWS::RDS::DBCluster",
  "AWS::RDS::DBInstance",
  "AWS::Redshift::Cluster",
]);

/** All types that a template can use, but for custom resources. */
export function createResourceTypes(world: Services, options: TypeOptions = {}): BuiltinTypes {
  const schemas = new Schemas();
  const records = new KeptRecords(world.records);
  const handlers = realHandlers(world, records);
  const ids = new GivenIds(world.documents);
  const facts = new Map<string, TypeFacts | undefined>();

  function handlerOf(type: string, schema: ResourceSchema): Handler {
    const record = recordTypes[type];
    return (
      handlers[type] ??
      (record === undefined
        ? placeholderHandler(schema, world.config)
        : recordHandler(record, schema, records))
    );
  }

  const isReal = (type: string) => type in handlers || type in recordTypes || refused.has(type);

  return {
    isKnownType: (type) => isCustom(type) || schemas.find(type) !== undefined,
    identifiersOf(type) {
      const { primary, identifier = [] } = schemas.find(type) ?? {};
      return primary ?? identifier;
    },
    facts(type) {
      if (!facts.has(type)) {
        facts.set(type, isCustom(type) ? undefined : toFacts(type, schemas.find(type), isReal(type)));
      }
      return facts.get(type);
    },
    async perform(task) {
      const schema = schemas.find(task.type);
      if (schema === undefined) return failed(`Unrecognized resource types: [${task.type}]`);
      if (refused.has(task.type)) return refusal(task);
      if (!isReal(task.type) && (await options.isStrict?.(task.stackId)) === true) return notSimulated(task);
      return await perform(task, { schema, handler: handlerOf(task.type, schema), ids });
    },
  };
}

function isCustom(type: string): boolean {
  return type.startsWith("Custom::") || type === customResource;
}

function toFacts(type: string, schema: ResourceSchema | undefined, isReal: boolean): TypeFacts | undefined {
  if (schema === undefined) return undefined;
  return {
    kind: isReal ? "builtin" : "simulated",
    createOnly: new Set(schema.createOnly),
    snapshots: withSnapshots.has(type),
    takesTags: schema.tags === true,
  };
}

interface Doer {
  readonly schema: ResourceSchema;
  readonly handler: Handler;
  readonly ids: GivenIds;
}

async function perform(task: ResourceTask, doer: Doer): Promise<TaskOutcome> {
  try {
    return await (task.action === "delete" ? remove(task, doer) : make(task, doer));
  } catch (error) {
    if (error instanceof ResourceFailure || error instanceof FunctionError) return failed(error.message);
    throw error;
  }
}

async function make(task: ResourceTask, { schema, handler, ids }: Doer): Promise<TaskOutcome> {
  const subject = toSubject(task);
  checkRequired(subject, schema);
  if (task.action === "update") return done(await handler.update(subject));
  const made = done(await handler.create(subject));
  await ids.note(task, made.physicalId);
  return made;
}

async function remove(task: ResourceTask, { handler, ids }: Doer): Promise<TaskOutcome> {
  const physicalId = await ids.find(task);
  await handler.delete(toSubject({ ...task, physicalId }));
  await ids.forget(task, physicalId);
  return { kind: "done", physicalId: task.physicalId, attributes: {} };
}

/** Fact 102. */
function checkRequired({ properties }: Subject, schema: ResourceSchema): void {
  const missing = (schema.required ?? []).filter(
    (name) => properties[name] === undefined || properties[name] === null,
  );
  if (missing.length === 0) return;
  const faults = missing.map((name) => `The property {/${name}} is required`);
  throw new ResourceFailure(`Property validation failure: [${faults.join(", ")}]`);
}

/** Its delete has nothing to do: it was never made. */
function refusal(task: ResourceTask): TaskOutcome {
  if (task.action === "delete") return { kind: "done", physicalId: task.physicalId, attributes: {} };
  return failed(`Custard doesn't make resources of type ${task.type} yet.`);
}

/** What is there from before goes all the same. */
function notSimulated(task: ResourceTask): TaskOutcome {
  if (task.action === "delete") return { kind: "done", physicalId: task.physicalId, attributes: {} };
  return failed(`Resources of type ${task.type} are only simulated, and --strict refuses them.`);
}

function done({ physicalId, attributes }: Made): Extract<TaskOutcome, { kind: "done" }> {
  return { kind: "done", physicalId: physicalId as PhysicalId, attributes };
}

function failed(reason: string): TaskOutcome {
  return { kind: "failed", reason };
}
