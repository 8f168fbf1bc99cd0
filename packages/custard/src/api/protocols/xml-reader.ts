/** XML bodies of requests, as the model says. Throws `ApiError`. */
import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { ApiError } from "../api-error.ts";
import { isStructure, type Member, type Ref, type ServiceModel, type Structure } from "../model.ts";
import type { WireObject, WireValue } from "../wire.ts";
import { parseText } from "./simple-value.ts";
import { isInBody } from "./xml-writer.ts";

/** S3's documents are half a dozen levels deep; the parser itself goes as deep as a document. */
const deepest = 64;

/** The structure that a document's root holds, whatever the root is called. */
export function readXml(model: ServiceModel, ref: `#${string}`, body: Uint8Array): WireObject {
  const text = Buffer.from(body).toString("utf8");
  if (depthOf(text) > deepest) throw malformedXml();
  return readStructure(model, model.structure(ref), rootOf(text));
}

function rootOf(text: string): XmlElement {
  try {
    const { root } = parseXml(text, {
      ignoreUndefinedEntities: false,
      resolveUndefinedEntity: () => undefined,
    });
    if (root !== null) return root;
  } catch {
    // Said below, as S3 says it: without a place.
  }
  throw malformedXml();
}

/** An upper bound, so that no document can exhaust the parser's stack. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [tag] of text.matchAll(/<[^!?][^>]*>/g)) {
    if (tag.startsWith("</")) depth -= 1;
    else if (!tag.endsWith("/>")) depth += 1;
    most = Math.max(most, depth);
  }
  return most;
}

function readStructure(model: ServiceModel, { members }: Structure, element: XmlElement): WireObject {
  const children = childrenOf(element);
  const found = Object.entries(members).flatMap(([name, member]) => {
    const wireName = member.name ?? name;
    if (member.attribute === true) {
      const text = element.attributes[wireName];
      return text === undefined ? [] : [[name, text] as const];
    }
    if (!isInBody(member)) return [];
    const named = children.filter((child) => localName(child) === wireName);
    return named.length === 0 ? [] : [[name, read(model, member, named)] as const];
  });
  return Object.fromEntries(found);
}

function read(
  model: ServiceModel,
  { ref, flat }: Pick<Member, "ref" | "flat">,
  elements: readonly XmlElement[],
): WireValue {
  const [first] = elements;
  if (first === undefined) return undefined;
  if (typeof ref === "string") return readOne(model, ref, first);
  if ("list" in ref) {
    const items =
      flat === true
        ? elements
        : childrenOf(first).filter((child) => localName(child) === (ref.name ?? "member"));
    return items.map((item) => read(model, { ref: ref.list }, [item]));
  }
  throw new Error("No request of S3 holds a map.");
}

function readOne(model: ServiceModel, ref: Exclude<Ref, object>, element: XmlElement): WireValue {
  return isStructure(ref)
    ? readStructure(model, model.structure(ref), element)
    : parseText(ref, ref === "string" ? element.text : element.text.trim());
}

function childrenOf(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}

function malformedXml(): ApiError {
  return new ApiError(
    "MalformedXML",
    "The XML you provided was not well-formed or did not validate against our published schema",
  );
}
