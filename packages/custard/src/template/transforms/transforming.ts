/** What the transforms of a template share. */
import { evaluateExpression } from "../evaluate.ts";
import { collectFaults, type Faults } from "../faults.ts";
import type { Scope } from "../intrinsic.ts";
import type { ParameterValue, Pseudo } from "../known.ts";
import { lineIndex } from "../line-index.ts";
import { parseExpression } from "../parse-expression.ts";
import type { SourceNode } from "../source-node.ts";
import type { Mappings, ParameterDeclaration } from "../template.ts";
import type { Value } from "../value.ts";

/** What is known when transforms run: everything but resources. */
export interface Transforming {
  readonly faults: Faults;
  readonly pseudo: Pseudo;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly declarations: ReadonlyMap<string, ParameterDeclaration>;
  readonly mappings: Mappings;
}

/** The value of a part of the tree, with its sensitive marks; undefined when it isn't known before there are resources. */
export function computeNode(node: SourceNode, scope: Scope, work: Transforming): Value | undefined {
  const faults = collectFaults("");
  const { mappings, declarations: parameters } = work;
  const expression = parseExpression(node, "", {
    faults,
    mappings,
    parameters,
    extensions: true,
    lines: lineIndex(""),
    scope,
  });
  if (faults.failed()) return undefined;
  const evaluation = evaluateExpression(expression, {
    pseudo: work.pseudo,
    parameters: work.parameters,
    conditions: new Map(),
    imports: new Map(),
    resource: () => undefined,
  });
  return evaluation.kind === "value" ? evaluation.value : undefined;
}
