/** What the transforms of a template share. */
import { evaluateExpression } from "../evaluate.ts";
import { collectFaults, type Faults } from "../faults.ts";
import type { Scope } from "../intrinsic.ts";
import type { ParameterValue, Pseudo } from "../known.ts";
import type { Json } from "@custard/provider/protocol";
import { lineIndex } from "../line-index.ts";
import { parseExpression } from "../parse-expression.ts";
import type { SourceNode } from "../source-node.ts";
import type { Mappings, ParameterDeclaration } from "../template.ts";
import { isSensitive, reveal } from "../value.ts";

/** What is known when transforms run: everything but resources. */
export interface Transforming {
  readonly faults: Faults;
  readonly pseudo: Pseudo;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly declarations: ReadonlyMap<string, ParameterDeclaration>;
  readonly mappings: Mappings;
}

/** A value that a transform could compute. */
export interface Computed {
  readonly value: Json;
  /** It was made of a secret: it must not be written into the template. */
  readonly sensitive: boolean;
}

/** Evaluates a part of the tree as far as it is known before there are resources; undefined when it isn't. */
export function computeNode(node: SourceNode, scope: Scope, work: Transforming): Computed | undefined {
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
  if (evaluation.kind !== "value" || evaluation.value === undefined) return undefined;
  return { value: reveal(evaluation.value), sensitive: isSensitive(evaluation.value) };
}
