import { isValueMap, Sensitive, type Value } from "../template/value.ts";
import type { Attribute, Known, KnownResource, ParameterValue } from "../template/known.ts";
import { pseudoOf } from "./definition.ts";
import type { LogicalId, StackId } from "./ids.ts";
import { missingAttribute, outputNotFound } from "./messages.ts";
import { isCustom, isLive, isNestedStack, type Good, type Resource } from "./resource.ts";
import type { Definition, Stack } from "./stack.ts";

/** What the expressions of a stack's template may know now. */
export function knownOf(stack: Stack, definition: Definition = stack.definition): Known {
  return {
    pseudo: pseudoOf(stack.identity, definition.notificationArns),
    parameters: definition.parameters,
    conditions: definition.conditions,
    imports: new Map([...stack.imports].map(([name, { value }]) => [name, value])),
    resource: (logicalId) => knownResource(stack, logicalId as LogicalId),
  };
}

/** The same for outputs and metadata, where NoEcho parameters show in clear (fact 104). */
export function knownForDisplay(stack: Stack, definition: Definition = stack.definition): Known {
  const known = knownOf(stack, definition);
  const parameters = new Map<string, ParameterValue>();
  for (const [name, parameter] of known.parameters)
    parameters.set(name, { ...parameter, value: unmarked(parameter.value) });
  return { ...known, parameters };
}

function unmarked(value: Value): Value {
  return value instanceof Sensitive ? value.reveal() : value;
}

function knownResource(stack: Stack, logicalId: LogicalId): KnownResource | undefined {
  const good = goodOf(stack.resources.get(logicalId)?.current);
  if (good === undefined) return undefined;
  return {
    ref: good.physicalId,
    attribute: (name) => attributeOf(good, { name, logicalId, stackId: stack.identity.stackId }),
  };
}

function goodOf(resource: Resource | undefined): Good | undefined {
  return isLive(resource) ? resource.good : undefined;
}

/** Fact 52: the whole name is one literal key; nested values are not walked. */
function attributeOf(
  good: Good,
  wanted: { name: string; logicalId: LogicalId; stackId: StackId },
): Attribute {
  const { name, logicalId, stackId } = wanted;
  if (isValueMap(good.attributes) && Object.hasOwn(good.attributes, name)) {
    const value = good.attributes[name];
    if (value !== undefined) return { kind: "value", value };
  }
  if (isCustom(good.declared.type)) {
    return {
      kind: "failed",
      message: missingAttribute(name, { stackId, logicalId, requestId: good.requestId }),
    };
  }
  if (isNestedStack(good.declared.type))
    return { kind: "failed", message: outputNotFound(name.replace(/^Outputs\./, ""), good.physicalId) };
  return {
    kind: "failed",
    message: `Resource type ${good.declared.type} does not support attribute {${name}}`,
  };
}
