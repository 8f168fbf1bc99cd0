/**
 * Runs the transforms of a template: a pure function that is called again, with more answers each time, until it
 * asks for nothing more. `Fn::Transform` runs from the inside out, then the `Transform` section in its order.
 */
import type { Parsed } from "./diagnostic.ts";
import { collectFaults, type Faults } from "./faults.ts";
import type { ParameterValue, Pseudo } from "./known.ts";
import { maxBytes, maxDepth } from "./limits.ts";
import { lineIndex } from "./line-index.ts";
import { parseMappings } from "./parse-mappings.ts";
import { parseParameters } from "./parse-parameters.ts";
import { parseTree } from "./parse-template.ts";
import { readTemplate } from "./read-source.ts";
import { entryOf, mapToJson, type MapNode, type SourceNode } from "./source-node.ts";
import type { Template } from "./template.ts";
import {
  applyFnTransforms,
  hasFnTransform,
  include,
  mergeMaps,
  runTransform,
  type Asking,
  type TransformAnswer,
  type TransformCall,
  type TransformNeed,
} from "./transforms/fn-transform.ts";
import { applyLanguageExtensions, needsLanguageExtensions } from "./transforms/language-extensions.ts";
import { declaredTransforms } from "./transforms/declared.ts";
import { applyServerless } from "./transforms/serverless.ts";
import type { Transforming } from "./transforms/transforming.ts";

export type { TransformAnswer, TransformNeed } from "./transforms/fn-transform.ts";

/** What is known while transforms run. */
export interface TransformKnown {
  readonly pseudo: Pseudo;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  /** Answers so far, by the needs' keys. */
  readonly answers: ReadonlyMap<string, TransformAnswer>;
}

/** Either the template after its transforms, or what they must be told first. */
export type Processing =
  | { readonly kind: "done"; readonly template: Parsed<Template> }
  | { readonly kind: "needs"; readonly needs: readonly TransformNeed[] };

/**
 * The template after its transforms. `template.body` is then the processed template, as JSON, which `parseTemplate`
 * reads to the same template; `template.original` is the text as given. Positions are those of the text as given,
 * as far as a transform left it alone.
 */
export function processTemplate(body: string, known: TransformKnown): Processing {
  const faults = collectFaults(body);
  const root = readTemplate(body, faults);
  if (root === undefined) return failed(faults);
  const work: Transforming = {
    faults,
    pseudo: known.pseudo,
    parameters: known.parameters,
    // Faults in these sections are found again, and reported, when the processed template is parsed.
    declarations: parseParameters(root, collectFaults(body), lineIndex(body)),
    mappings: parseMappings(root, collectFaults(body)),
  };
  const asking: Asking = { work, answers: known.answers, needs: [] };
  const processed = runAll(root, asking);
  if (faults.failed()) return failed(faults);
  if (asking.needs.length > 0) return { kind: "needs", needs: asking.needs };
  return { kind: "done", template: finish(processed, root, { body, faults }) };
}

function failed(faults: Faults): Processing {
  return { kind: "done", template: { ok: false, diagnostics: faults.diagnostics() } };
}

function finish(
  processed: MapNode,
  root: MapNode,
  { body, faults }: { body: string; faults: Faults },
): Parsed<Template> {
  if (processed === root) return parseTree(root, body, faults);
  const text = JSON.stringify(mapToJson(processed));
  if (text.length > maxBytes) {
    faults.report({
      code: "TooLarge",
      message: `Template may not exceed ${maxBytes} bytes in size.`,
      path: "",
    });
  }
  if (isDeep(processed, maxDepth - 1)) {
    faults.report({
      code: "TooLarge",
      message: `Template format error: nested more than ${maxDepth} deep`,
      path: "",
    });
  }
  if (faults.failed()) return { ok: false, diagnostics: faults.diagnostics() };
  const parsed = parseTree(processed, body, faults);
  if (!parsed.ok) return parsed;
  const transforms = declaredTransforms(root).calls.map((call) => call.name);
  return { ...parsed, value: { ...parsed.value, body: text, original: body, transforms } };
}

function isDeep(node: SourceNode, left: number): boolean {
  if (left < 0) return true;
  switch (node.kind) {
    case "scalar":
      return false;
    case "list":
      return node.items.some((item) => isDeep(item, left - 1));
    case "map":
      return node.entries.some(({ value }) => isDeep(value, left - 1));
  }
}

/** A tree that no transform has touched is the same object. */
function runAll(root: MapNode, asking: Asking): MapNode {
  const { calls } = declaredTransforms(root);
  const goOn = (): boolean => asking.needs.length === 0 && !asking.work.faults.failed();
  const inner = withoutTransform(root, calls.length > 0);
  const nested = hasFnTransform(inner) ? applyFnTransforms(inner, "", asking) : inner;
  if (nested.kind !== "map") return inner;
  const processed = calls.reduce((tree, call) => (goOn() ? runDeclared(call, tree, asking) : tree), nested);
  return calls.some(({ name }) => name === extensions) ? withExtensions(processed) : processed;
}

// The Transform section isn't part of what transforms work on.
function withoutTransform(root: MapNode, has: boolean): MapNode {
  return has ? { ...root, entries: root.entries.filter((entry) => entry.key !== "Transform") } : root;
}

function runDeclared(call: TransformCall, tree: MapNode, asking: Asking): MapNode {
  const { work } = asking;
  switch (call.name) {
    case extensions:
      return applyLanguageExtensions(tree, work);
    case "AWS::Serverless-2016-10-31":
      return applyServerless(tree, work);
    case include:
      return includeSections(call, tree, asking);
    default:
      return call.name.startsWith("AWS::") ? ignored(call, tree, asking) : macro(call, tree, asking);
  }
}

const extensions = "AWS::LanguageExtensions";

/** The processed text must be one that can be parsed by itself: functions that are left need their transform. */
function withExtensions(tree: MapNode): MapNode {
  if (!needsLanguageExtensions(tree)) return tree;
  const value = { kind: "scalar" as const, value: extensions, offset: tree.offset };
  return { ...tree, entries: [{ key: "Transform", keyOffset: tree.offset, value }, ...tree.entries] };
}

/** An include of the whole template adds to its sections. */
function includeSections(call: TransformCall, tree: MapNode, asking: Asking): MapNode {
  const nothing: MapNode = { kind: "map", entries: [], offset: call.offset };
  const found = runTransform(call, nothing, asking);
  if (found?.kind !== "map") return tree;
  const merged = mergeMaps(found, tree);
  const entries = merged.entries.map((entry) => {
    const added = entryOf(found, entry.key)?.value;
    const own = entryOf(tree, entry.key)?.value;
    return added?.kind === "map" && own?.kind === "map" ? { ...entry, value: mergeMaps(added, own) } : entry;
  });
  return { ...merged, entries };
}

function macro(call: TransformCall, tree: MapNode, asking: Asking): MapNode {
  const result = runTransform(call, tree, asking);
  if (result === undefined || result.kind === "map") return result ?? tree;
  const message = "Template format error: unsupported structure.";
  asking.work.faults.report({ code: "TransformFailed", message, path: call.path, offset: call.offset });
  return tree;
}

function ignored(call: TransformCall, tree: MapNode, { work }: Asking): MapNode {
  const message = `The transform ${call.name} has no effect here.`;
  work.faults.report({
    code: "IgnoredSection",
    severity: "warning",
    message,
    path: call.path,
    offset: call.offset,
  });
  return tree;
}
