import type { Random } from "./random.ts";

/** What a logical id stands for; whoever watches sees it from the name alone. */
type Kind = "custom" | "parameter" | "nested" | "wait" | "host";

/** A resource as the simulation thinks of it; `toTemplate` writes it down. */
interface Sketch {
  readonly kind: Kind;
  /** The provider's idea of identity may hang on it; a built-in type is replaced when it changes. */
  name: number;
  value: number;
  token: number;
  timeout: string;
  readonly references: Set<string>;
  readonly attributes: Set<string>;
  readonly dependsOn: Set<string>;
  readonly keeps: boolean;
  readonly onlyOnCreate: boolean;
  /** Does it use the other stack's export? */
  imports: boolean;
  /** Of a nested stack. */
  readonly child?: TemplateSketch;
}

/** What may stand in a template. */
export interface Features {
  readonly nested: boolean;
  readonly waits: boolean;
  readonly exports: boolean;
  readonly imports: boolean;
}

/** A template that changes from operation to operation. */
export interface TemplateSketch {
  /** By which nested stacks name their template. */
  readonly id: string;
  readonly features: Features;
  readonly resources: Map<string, Sketch>;
  output: { readonly name: string; readonly attribute: boolean } | undefined;
  exportName: number;
}

/** Retained resources are called Keep…, so that whoever watches knows without asking the engine. */
const names = ["A", "B", "NestA", "KeepC", "D", "Wait", "E", "Host", "F", "KeepG", "NestB", "H"] as const;

/** The name of the export that one stack has and another uses. */
const exportedName = "shared";

/** `size`: the most resources that it begins with. */
export function randomTemplate(
  random: Random,
  { id, features, size }: { readonly id: string; readonly features: Features; readonly size: number },
): TemplateSketch {
  const sketch: TemplateSketch = { id, features, resources: new Map(), output: undefined, exportName: 0 };
  const wanted = 1 + random.below(size);
  for (const name of names)
    if (sketch.resources.size < wanted && isWanted(sketch, name)) add(sketch, name, random);
  chooseOutput(sketch, random);
  return sketch;
}

function isWanted({ features }: TemplateSketch, name: string): boolean {
  const kind = kindOf(name);
  if (kind === "nested") return features.nested;
  return kind === "wait" || kind === "host" ? features.waits : true;
}

function kindOf(name: string): Kind {
  if (name.startsWith("Nest")) return "nested";
  if (name === "Wait") return "wait";
  if (name === "Host") return "host";
  return name.startsWith("Keep") || name.charCodeAt(0) % 3 !== 0 ? "custom" : "parameter";
}

/** Changes one to three things. */
export function mutate(sketch: TemplateSketch, random: Random): void {
  const changes = 1 + random.below(3);
  for (let index = 0; index < changes; index += 1) mutateOnce(sketch, random);
}

function mutationOf(sketch: TemplateSketch, random: Random) {
  return random.weigh({
    value: 8,
    name: 4,
    add: 3,
    remove: 3,
    token: 0.4,
    timeout: 0.6,
    output: 1,
    link: 1.5,
    child: sketch.features.nested ? 6 : 0,
    exportName: sketch.features.exports ? 0.7 : 0,
    imports: sketch.features.imports ? 3 : 0,
  });
}

function mutateOnce(sketch: TemplateSketch, random: Random): void {
  const kind = mutationOf(sketch, random);
  const present = [...sketch.resources.keys()];
  const [first] = present;
  const chosen = first === undefined ? undefined : random.pick([first, ...present]);
  const resource = chosen === undefined ? undefined : sketch.resources.get(chosen);
  if (kind === "output") return chooseOutput(sketch, random);
  if (kind === "exportName") {
    sketch.exportName += 1;
    return;
  }
  if (kind === "add" || resource === undefined || chosen === undefined) {
    const missing = names.find((name) => !sketch.resources.has(name) && isWanted(sketch, name));
    if (missing !== undefined) add(sketch, missing, random);
  } else if (kind === "remove") {
    if (sketch.resources.size > 1) remove(sketch, chosen);
  } else change(sketch, { chosen, resource, kind }, random);
}

function change(
  sketch: TemplateSketch,
  what: {
    chosen: string;
    resource: Sketch;
    kind: "value" | "name" | "token" | "timeout" | "link" | "child" | "imports";
  },
  random: Random,
): void {
  const { resource, chosen } = what;
  switch (what.kind) {
    case "value":
      resource.value += 1 + random.below(3);
      return;
    case "name":
      resource.name += 1;
      return;
    case "token":
      resource.token += 1;
      return;
    case "timeout":
      resource.timeout = randomTimeout(random);
      return;
    case "link":
      link(sketch, { chosen, resource }, random);
      return;
    case "child":
      for (const { child } of sketch.resources.values()) if (child !== undefined) mutate(child, random);
      return;
    case "imports":
      resource.imports = !resource.imports;
  }
}

function randomTimeout(random: Random): string {
  return random.chance(0.08) ? random.pick(["0", "3601", "soon"]) : String(30 + random.below(60));
}

function add(sketch: TemplateSketch, name: (typeof names)[number], random: Random): void {
  const keeps = name.startsWith("Keep");
  const kind = kindOf(name);
  const resource: Sketch = {
    kind,
    name: 0,
    value: random.below(3),
    token: 0,
    timeout: String(30 + random.below(60)),
    references: new Set(),
    attributes: new Set(),
    dependsOn: new Set(),
    keeps,
    onlyOnCreate: random.chance(0.3),
    imports: sketch.features.imports && kind === "custom" && random.chance(0.5),
    ...(kind === "nested" ? { child: childOf(sketch, name, random) } : {}),
  };
  sketch.resources.set(name, resource);
  link(sketch, { chosen: name, resource }, random);
}

function childOf({ id, features }: TemplateSketch, name: string, random: Random): TemplateSketch {
  const deeper = features.nested && id.length < 10 && random.chance(0.2);
  return randomTemplate(random, {
    id: `${id}-${name}`,
    features: { ...features, nested: deeper, exports: false, imports: false },
    size: 3,
  });
}

/** Dependencies go to names before one's own, so that there is no circle; not even between two versions. */
function link(
  sketch: TemplateSketch,
  { chosen, resource }: { chosen: string; resource: Sketch },
  random: Random,
): void {
  const kinds = [resource.references, resource.attributes, resource.dependsOn] as const;
  for (const earlier of sketch.resources.keys()) {
    const before = names.indexOf(earlier as "A") < names.indexOf(chosen as "A");
    if (before && random.chance(0.35)) random.pick([kinds[0], kinds[0], kinds[1], kinds[2]]).add(earlier);
  }
}

function remove(sketch: TemplateSketch, name: string): void {
  sketch.resources.delete(name);
  for (const { references, attributes, dependsOn } of sketch.resources.values())
    for (const links of [references, attributes, dependsOn]) links.delete(name);
  if (sketch.output?.name === name) sketch.output = undefined;
}

function chooseOutput(sketch: TemplateSketch, random: Random): void {
  const [first, ...rest] = [...sketch.resources.keys()];
  sketch.output =
    first === undefined || random.chance(0.3)
      ? undefined
      : { name: random.pick([first, ...rest]), attribute: random.chance(0.3) };
}

/** The template's text. */
export function toTemplate({ resources, output, features, exportName }: TemplateSketch): string {
  const exported = features.exports ? { Export: { Name: nameOfExport(exportName) } } : {};
  return JSON.stringify({
    Parameters: { Given: { Type: "String", Default: "" } },
    Resources: Object.fromEntries([...resources].flatMap(([name, sketch]) => toResources(name, sketch))),
    ...(output === undefined
      ? {}
      : {
          Outputs: {
            Out: { Value: output.attribute ? attributeOf(output.name) : { Ref: output.name }, ...exported },
          },
        }),
  });
}

/** Most of the time the exporting stack has the export that the other asks for. */
function nameOfExport(version: number): string {
  return version % 2 === 0 ? exportedName : `${exportedName}-${version}`;
}

/** The templates of all nested stacks, by where they are read. */
export function childTemplates({ resources }: TemplateSketch): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { child } of resources.values()) {
    if (child === undefined) continue;
    found.set(urlOf(child), toTemplate(child));
    for (const [url, body] of childTemplates(child)) found.set(url, body);
  }
  return found;
}

function urlOf({ id }: TemplateSketch): string {
  return `https://templates.invalid/${id}`;
}

function attributeOf(name: string): object {
  const attribute = { nested: "Outputs.Out", wait: "Data", host: "Attr", custom: "Attr", parameter: "Attr" };
  return { "Fn::GetAtt": [name, attribute[kindOf(name)]] };
}

function toResources(name: string, sketch: Sketch): readonly (readonly [string, object])[] {
  const resource = [
    name,
    { ...typeOf(sketch), ...attributesOf(sketch), Properties: propertiesOf(name, sketch) },
  ] as const;
  return sketch.kind === "wait"
    ? [[handleOf(name), { Type: "AWS::CloudFormation::WaitConditionHandle" }], resource]
    : [resource];
}

function handleOf(name: string): string {
  return `${name}Handle`;
}

function typeOf({ kind }: Sketch): object {
  switch (kind) {
    case "custom":
      return { Type: "Custom::Simulated" };
    case "parameter":
      return { Type: "AWS::SSM::Parameter" };
    case "nested":
      return { Type: "AWS::CloudFormation::Stack" };
    case "wait":
      return { Type: "AWS::CloudFormation::WaitCondition" };
    case "host":
      return {
        Type: "AWS::EC2::Instance",
        CreationPolicy: { ResourceSignal: { Count: 2, Timeout: "PT40S" } },
      };
  }
}

function attributesOf({ kind, references, attributes, dependsOn, keeps, onlyOnCreate }: Sketch): object {
  // A wait condition has no properties that could refer to anything else.
  const explicit = kind === "wait" ? [...references, ...attributes, ...dependsOn] : [...dependsOn];
  return {
    ...(explicit.length === 0 ? {} : { DependsOn: [...new Set(explicit)] }),
    ...(keeps
      ? { DeletionPolicy: onlyOnCreate ? "RetainExceptOnCreate" : "Retain", UpdateReplacePolicy: "Retain" }
      : {}),
  };
}

function propertiesOf(name: string, sketch: Sketch): object {
  switch (sketch.kind) {
    case "custom":
      return {
        ServiceToken: `arn:aws:lambda:us-east-1:123456789012:function:provider-${sketch.token}`,
        ServiceTimeout: sketch.timeout,
        ...ordinary(sketch),
      };
    case "parameter":
    case "host":
      return ordinary(sketch);
    case "wait":
      return { Handle: { Ref: handleOf(name) }, Timeout: "45", Count: 1 + (sketch.value % 3) };
    case "nested":
      return {
        TemplateURL: sketch.child === undefined ? "" : urlOf(sketch.child),
        Parameters: {
          Given: { "Fn::Join": ["-", [String(sketch.value), ...linked(sketch).map(([, value]) => value)]] },
        },
      };
  }
}

function ordinary(sketch: Sketch): object {
  return {
    Name: `name-${sketch.name}`,
    Value: sketch.value,
    Given: { Ref: "Given" },
    ...Object.fromEntries(linked(sketch)),
    ...(sketch.imports ? { Imported: { "Fn::ImportValue": exportedName } } : {}),
  };
}

function linked({ references, attributes }: Sketch): readonly (readonly [string, object])[] {
  return [
    ...[...references].map((name) => [`Ref${name}`, { Ref: name }] as const),
    ...[...attributes].map((name) => [`Att${name}`, attributeOf(name)] as const),
  ];
}
