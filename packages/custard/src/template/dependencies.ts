import { referencesOf, type Expression, type Reference } from "./expression.ts";
import type { ResourceDeclaration, Template } from "./template.ts";

/**
 * Which resources each resource waits for: those of `DependsOn` and those that it refers to, in all branches of
 * `Fn::If`. Only resources of the template are in it.
 */
export function dependenciesOf(
  template: Pick<Template, "resources">,
  references: (expression: Expression) => readonly Reference[] = referencesOf,
): ReadonlyMap<string, ReadonlySet<string>> {
  const { resources } = template;
  return new Map(
    [...resources.values()].map((resource) => {
      const implicit = expressionsOf(resource).flatMap((expression) =>
        references(expression).flatMap(({ kind, name }) =>
          kind === "ref" || kind === "attribute" ? [name] : [],
        ),
      );
      const names = [...resource.dependsOn, ...implicit];
      return [resource.logicalId, new Set(names.filter((name) => resources.has(name)))];
    }),
  );
}

/** All expressions of a resource. */
export function expressionsOf(resource: ResourceDeclaration): readonly Expression[] {
  const { properties, metadata, creationPolicy, updatePolicy } = resource;
  return [properties, metadata, creationPolicy, updatePolicy].filter(
    (expression) => expression !== undefined,
  );
}

/** Groups of names that depend on each other in a circle, each in the graph's order. A name that depends on itself is a group. */
export function circlesIn(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const waiting = new Map([...graph].map(([name, targets]) => [name, new Set(targets)]));
  removeLeaves(waiting, inverse(graph));
  // What is left has no leaf: it is in a circle, or leads to one. The same from the other side leaves circles only.
  const left = new Map(
    [...waiting].map(([name, targets]) => [name, new Set([...targets].filter((each) => waiting.has(each)))]),
  );
  const roots = inverse(left);
  removeLeaves(roots, left);
  return components(new Map([...left].filter(([name]) => roots.has(name))));
}

type Graph = Map<string, Set<string>>;

function inverse(graph: ReadonlyMap<string, ReadonlySet<string>>): Graph {
  const turned: Graph = new Map([...graph.keys()].map((name) => [name, new Set()]));
  for (const [name, targets] of graph) for (const target of targets) turned.get(target)?.add(name);
  return turned;
}

/** Takes names without targets out, again and again. */
function removeLeaves(graph: Graph, users: ReadonlyMap<string, ReadonlySet<string>>): void {
  const leaves = [...graph].flatMap(([name, targets]) => (targets.size === 0 ? [name] : []));
  for (let leaf = leaves.pop(); leaf !== undefined; leaf = leaves.pop()) {
    graph.delete(leaf);
    for (const user of users.get(leaf) ?? []) {
      const targets = graph.get(user);
      targets?.delete(leaf);
      if (targets?.size === 0) leaves.push(user);
    }
  }
}

/** Names that reach each other. */
function components(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const groups: string[][] = [];
  const done = new Set<string>();
  const backwards = inverse(graph);
  for (const name of graph.keys()) {
    if (done.has(name)) continue;
    const ahead = reachable(name, graph);
    const behind = reachable(name, backwards);
    const group = [...graph.keys()].filter((each) => ahead.has(each) && behind.has(each));
    group.forEach((each) => done.add(each));
    if (group.length > 0) groups.push(group);
  }
  return groups;
}

function reachable(from: string, graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const todo = [...(graph.get(from) ?? [])];
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    todo.push(...(graph.get(name) ?? []));
  }
  return seen;
}
