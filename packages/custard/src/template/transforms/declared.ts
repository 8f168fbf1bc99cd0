import { childOf, entryOf, textOf, type MapNode, type SourceNode } from "../source-node.ts";
import { isForEach } from "./for-each.ts";
import { hasFnTransform, type TransformCall } from "./fn-transform.ts";

/** The transforms of a template's `Transform` section, in order; `malformed` are items that name none. */
export function declaredTransforms(root: MapNode): {
  readonly calls: readonly TransformCall[];
  readonly malformed: readonly SourceNode[];
} {
  const section = entryOf(root, "Transform");
  if (section === undefined) return { calls: [], malformed: [] };
  const items = flatten(section.value);
  const calls: TransformCall[] = [];
  const malformed: SourceNode[] = [];
  items.forEach((item, index) => {
    const path = section.value.kind === "list" ? `/Transform/${index}` : "/Transform";
    const name = item.kind === "map" ? textOf(childOf(item, "Name")) : textOf(item);
    if (name === undefined) malformed.push(item);
    else calls.push({ key: path, path, offset: item.offset, name, parameters: parametersIn(item) });
  });
  return { calls, malformed };
}

/** Lists within the list are taken as one: CloudFormation's own examples have them. */
function flatten(node: SourceNode): readonly SourceNode[] {
  return node.kind === "list" ? node.items.flatMap(flatten) : [node];
}

function parametersIn(item: SourceNode): MapNode | undefined {
  const parameters = item.kind === "map" ? childOf(item, "Parameters") : undefined;
  return parameters?.kind === "map" ? parameters : undefined;
}

/** Must its transforms be run before its resources can be told? */
export function isUnprocessed(root: MapNode): boolean {
  const names = declaredTransforms(root).calls.map((call) => call.name);
  if (names.some((name) => name !== "AWS::LanguageExtensions") || hasFnTransform(root)) return true;
  return names.length > 0 && hasLoopOrComputedName(root);
}

function hasLoopOrComputedName(node: SourceNode): boolean {
  switch (node.kind) {
    case "scalar":
      return false;
    case "list":
      return node.items.some(hasLoopOrComputedName);
    case "map":
      return node.entries.some(
        ({ key, value }) => isForEach(key) || isComputedName(key, value) || hasLoopOrComputedName(value),
      );
  }
}

function isComputedName(key: string, value: SourceNode): boolean {
  if (key === "Fn::GetAtt") return value.kind === "list" && value.items[0]?.kind === "map";
  return value.kind === "map" && (key === "Ref" || key === "DeletionPolicy" || key === "UpdateReplacePolicy");
}
