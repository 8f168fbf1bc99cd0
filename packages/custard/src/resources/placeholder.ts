/**
 * What a type without anything behind it shows: an id and attributes in the form of the real ones, from its schema.
 *
 * Invariants
 * P1: the same task gives the same id and attributes, so a repeated task does no harm.
 * P2: attributes follow from the physical id and the properties alone: an update doesn't change what it need not.
 */
import type { Json } from "@custard/provider/protocol";
import type { Value, ValueMap } from "../template/value.ts";
import { attributeForms, usualPort } from "./attribute-forms.ts";
import { generatedName } from "./generated-name.ts";
import { idFormsByName, idFormsByType, nameOf } from "./id-forms.ts";
import type { AttributeKind, ResourceSchema } from "./schema.ts";
import { seededText, seededUuid } from "./seeded.ts";
import { type Subject, textProperty, toText, urlSuffix } from "./subject.ts";

/** A resource with its schema and the id that it has or gets. */
interface Shape {
  readonly subject: Subject;
  readonly schema: ResourceSchema;
  /** Differs by resource; ids are made from it. */
  readonly seed: string;
  readonly name: string;
  /** Its physical id is being made: it has no id yet that its ARN could repeat. */
  readonly isNew: boolean;
}

/** What `Ref` gives for a new resource. */
export function placeholderId(subject: Subject, schema: ResourceSchema): string {
  const seed = `${subject.task.stackId} ${subject.task.physicalId}`;
  const shape = { subject, schema, seed, name: nameOf(subject), isNew: true };
  const parts = schema.identifier.filter((part) => isPresent(subject, schema, part));
  if (parts.length === 0) return generatedName(subject);
  return parts.map((part) => textProperty(subject, part) ?? newIdentifier(shape, part)).join("|");
}

/** What `Fn::GetAtt` gives. */
export function placeholderAttributes(
  subject: Subject,
  schema: ResourceSchema,
  physicalId: string,
): ValueMap {
  const seed = `${subject.task.stackId} ${physicalId}`;
  const shape = { subject, schema, seed, name: nameIn(physicalId), isNew: false };
  const identifiers = identifiersIn(subject, schema, physicalId);
  const entries = Object.entries(schema.attributes).map(([name, kind]): [string, Value] => [
    name,
    identifiers.get(name) ?? given(subject, name, kind) ?? madeUp(shape, name, kind),
  ]);
  const known = attributeForms[subject.task.type]?.(subject, physicalId) ?? {};
  return { ...Object.fromEntries(entries), ...known };
}

/** An optional property within a compound id, such as the event bus of a rule, isn't in it when it isn't given. */
function isPresent(subject: Subject, schema: ResourceSchema, part: string): boolean {
  const isOptional =
    !(part in schema.attributes) && part !== schema.identifier.at(-1) && !isOwnName(subject, part);
  return !isOptional || textProperty(subject, part) !== undefined;
}

function isOwnName({ task }: Subject, part: string): boolean {
  return part === "Name" || part === `${kindOfType(task.type)}Name`;
}

function newIdentifier(shape: Shape, part: string): string {
  const { subject, schema, seed } = shape;
  const form = idFormsByType[subject.task.type] ?? idFormsByName[part];
  if (form !== undefined) return form(`${seed} ${part}`, subject);
  if (part.endsWith("Arn")) return ownArn(shape);
  // A service's own id of unknown form; `Id` alone is CloudFormation's, for things that have none.
  if (part !== "Id" && part.endsWith("Id") && part in schema.attributes)
    return seededText(`${seed} ${part}`, "lower", 10);
  return generatedName(subject);
}

/** The identifiers' values within a physical id; all of it when it has another form than they would give. */
function identifiersIn(
  subject: Subject,
  schema: ResourceSchema,
  physicalId: string,
): ReadonlyMap<string, string> {
  const names = schema.identifier.filter((part) => isPresent(subject, schema, part));
  const parts = names.length === 1 ? [physicalId] : physicalId.split("|");
  return new Map(
    names.map((name, index) => [name, parts.length === names.length ? (parts[index] ?? "") : physicalId]),
  );
}

/** Many attributes repeat a property of the same name. */
function given({ properties }: Subject, name: string, kind: AttributeKind): Value | undefined {
  const value = properties[name];
  if (value === undefined || value === null) return undefined;
  if (kind === "text") return toText(value);
  if (kind === "number" && typeof value === "string") return Number(value);
  return kindOf(value) === kind ? value : undefined;
}

function kindOf(value: Json): AttributeKind {
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return "map";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "text";
}

function madeUp(shape: Shape, name: string, kind: AttributeKind): Value {
  switch (kind) {
    case "text":
      return madeUpText(shape, name);
    case "number":
      return name.endsWith("Port") ? usualPort(shape.subject) : 1;
    case "boolean":
      return false;
    case "list":
      return [madeUpText(shape, name.replace(/s$/, ""))];
    case "map":
      return {};
  }
}

/** Texts by how an attribute's name ends; the first that fits counts. */
const textForms: readonly {
  readonly ending: RegExp;
  readonly make: (shape: Shape, name: string) => string;
}[] = [
  { ending: /^(?:[A-Z]\w*)?Arn$/, make: (shape, name) => arnAttribute(shape, name) },
  { ending: /Arn$/, make: (shape, name) => `${ownArn(shape)}/${lastPart(name)}` },
  { ending: /(?:Url|URL|Uri|URI)$/, make: (shape) => `https://${hostOf(shape)}` },
  { ending: /(?:DomainName|DNSName|DnsName|Dns|Address|Endpoint)$/, make: hostOf },
  { ending: /Name$/, make: ({ name }) => name },
  { ending: /Port$/, make: ({ subject }) => textProperty(subject, "Port") ?? String(usualPort(subject)) },
  { ending: /(?:Time|Date|At|Timestamp|Till)$/, make: () => "2025-01-01T00:00:00.000Z" },
  { ending: /(?:Status|State)$/, make: () => "ACTIVE" },
  { ending: /Cidr(?:Block)?$/, make: () => "10.0.0.0/16" },
  { ending: /Version(?:Number)?$/, make: () => "1" },
  { ending: /Account(?:Id)?$|OwnerId$/, make: ({ subject }) => subject.task.account },
  { ending: /AvailabilityZone$/, make: ({ subject }) => `${subject.task.region}a` },
  { ending: /Id$|ID$/, make: ({ seed }, name) => seededText(`${seed} ${name}`, "lower", 10) },
];

function madeUpText(shape: Shape, name: string): string {
  const form = idFormsByName[lastPart(name)];
  if (form !== undefined) return form(`${shape.seed} ${name}`, shape.subject);
  if (shape.schema.arn?.includes(`\${${name}}`) === true) return shape.name;
  const fitting = textForms.find(({ ending }) => ending.test(name));
  return fitting?.make(shape, name) ?? `${shape.name}-${lastPart(name).toLowerCase()}`;
}

/** `Arn` and `<Type>Arn` are the resource's own; `StreamArn` and its like are of something that belongs to it. */
function arnAttribute(shape: Shape, name: string): string {
  const kind = kindOfType(shape.subject.task.type);
  const isOwn = name === "Arn" || kind.endsWith(name.slice(0, -"Arn".length));
  return isOwn ? ownArn(shape) : `${ownArn(shape)}/${name.slice(0, -"Arn".length).toLowerCase()}`;
}

function ownArn(shape: Shape): string {
  const { subject, schema } = shape;
  const { partition, region, account } = subject.task;
  const template = schema.arn ?? usualArn(subject.task.type);
  const known: Readonly<Record<string, string>> = { Partition: partition, Region: region, Account: account };
  return template.replaceAll(
    /\$\{(\w+)\}/g,
    (_, variable: string) => known[variable] ?? arnPart(shape, variable),
  );
}

/** Where no form is published: most services name the kind in kebab case. */
function usualArn(type: string): string {
  const [, service = ""] = type.split("::");
  const kind = kindOfType(type)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase();
  return `arn:\${Partition}:${service.toLowerCase()}:\${Region}:\${Account}:${kind}/\${Name}`;
}

function arnPart(shape: Shape, variable: string): string {
  const { subject, schema, seed, name, isNew } = shape;
  const value = textProperty(subject, variable);
  if (value !== undefined) return value;
  const isIdentifier = schema.identifier.includes(variable) || variable.endsWith("Name");
  if (isIdentifier || !variable.endsWith("Id")) return name.replace(/^\//, "");
  // An id of the resource: what it is called by when that is an id, else one made up.
  return isNew ? seededUuid(`${seed} arn`) : name;
}

function hostOf({ subject, name }: Shape): string {
  const service = subject.task.type.split("::").at(1)?.toLowerCase() ?? "";
  const label = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-");
  return `${label}.${service}.${subject.task.region}.${urlSuffix(subject)}`;
}

/** The name within an id: the last part of an ARN, of a URL or of a compound. */
function nameIn(physicalId: string): string {
  if (!physicalId.startsWith("arn:") && !physicalId.includes("://") && !physicalId.includes("|"))
    return physicalId;
  const own = physicalId.split("|")[0] ?? physicalId;
  return own.split(/[/:]/).at(-1) ?? own;
}

function kindOfType(type: string): string {
  return type.split("::").at(-1) ?? "";
}

function lastPart(name: string): string {
  return name.split(".").at(-1) ?? name;
}
