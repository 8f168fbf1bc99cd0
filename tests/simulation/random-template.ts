import type { Random } from "./random.ts";

/** A resource as the simulation thinks of it; `toTemplate` writes it down. */
interface Sketch {
  readonly custom: boolean;
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
}

/** A template that changes from operation to operation. */
export interface TemplateSketch {
  readonly resources: Map<string, Sketch>;
  output: { readonly name: string; readonly attribute: boolean } | undefined;
}

/** Retained resources are called Keep…, so that whoever watches knows without asking the engine. */
const names = ["A", "B", "KeepC", "D", "E", "F", "KeepG", "H"] as const;

export function randomTemplate(random: Random): TemplateSketch {
  const sketch: TemplateSketch = { resources: new Map(), output: undefined };
  const size = 1 + random.below(names.length);
  for (const name of names) if (sketch.resources.size < size) add(sketch, name, random);
  chooseOutput(sketch, random);
  return sketch;
}

/** Changes one to three things. */
export function mutate(sketch: TemplateSketch, random: Random): void {
  const changes = 1 + random.below(3);
  for (let index = 0; index < changes; index += 1) mutateOnce(sketch, random);
}

function mutateOnce(sketch: TemplateSketch, random: Random): void {
  const kind = random.weigh({
    value: 8,
    name: 4,
    add: 3,
    remove: 3,
    token: 0.4,
    timeout: 0.6,
    output: 1,
    link: 1.5,
  });
  const present = [...sketch.resources.keys()];
  const [first] = present;
  const chosen = first === undefined ? undefined : random.pick([first, ...present]);
  const resource = chosen === undefined ? undefined : sketch.resources.get(chosen);
  if (kind === "output") return chooseOutput(sketch, random);
  if (kind === "add" || resource === undefined || chosen === undefined) {
    const missing = names.find((name) => !sketch.resources.has(name));
    if (missing !== undefined) add(sketch, missing, random);
  } else if (kind === "remove") {
    if (sketch.resources.size > 1) remove(sketch, chosen);
  } else change(sketch, { chosen, resource, kind }, random);
}

function change(
  sketch: TemplateSketch,
  what: { chosen: string; resource: Sketch; kind: "value" | "name" | "token" | "timeout" | "link" },
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
  }
}

function randomTimeout(random: Random): string {
  return random.chance(0.08) ? random.pick(["0", "3601", "soon"]) : String(30 + random.below(60));
}

function add(sketch: TemplateSketch, name: (typeof names)[number], random: Random): void {
  const keeps = name.startsWith("Keep");
  const resource: Sketch = {
    custom: name.charCodeAt(name.length - 1) % 3 !== 0 || keeps,
    name: 0,
    value: random.below(3),
    token: 0,
    timeout: String(30 + random.below(60)),
    references: new Set(),
    attributes: new Set(),
    dependsOn: new Set(),
    keeps,
    onlyOnCreate: random.chance(0.3),
  };
  sketch.resources.set(name, resource);
  link(sketch, { chosen: name, resource }, random);
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
export function toTemplate({ resources, output }: TemplateSketch): string {
  return JSON.stringify({
    Resources: Object.fromEntries([...resources].map(([name, sketch]) => [name, toResource(sketch)])),
    ...(output === undefined
      ? {}
      : {
          Outputs: {
            Out: {
              Value: output.attribute ? { "Fn::GetAtt": [output.name, "Attr"] } : { Ref: output.name },
            },
          },
        }),
  });
}

function toResource(sketch: Sketch): object {
  const { references, attributes, dependsOn } = sketch;
  return {
    Type: sketch.custom ? "Custom::Simulated" : "AWS::SSM::Parameter",
    ...(dependsOn.size === 0 ? {} : { DependsOn: [...dependsOn] }),
    ...(sketch.keeps
      ? {
          DeletionPolicy: sketch.onlyOnCreate ? "RetainExceptOnCreate" : "Retain",
          UpdateReplacePolicy: "Retain",
        }
      : {}),
    Properties: {
      ...(sketch.custom
        ? {
            ServiceToken: `arn:aws:lambda:us-east-1:123456789012:function:provider-${sketch.token}`,
            ServiceTimeout: sketch.timeout,
          }
        : {}),
      Name: `name-${sketch.name}`,
      Value: sketch.value,
      ...Object.fromEntries([...references].map((name) => [`Ref${name}`, { Ref: name }])),
      ...Object.fromEntries([...attributes].map((name) => [`Att${name}`, { "Fn::GetAtt": [name, "Attr"] }])),
    },
  };
}
