/** Forms, as the query protocol sends them: names with dots are a tree. Throws `ApiError`. */
import { malformed } from "../api-error.ts";
import type { WireRequest } from "../wire.ts";

/** A name so far, its value if it has one, and the names that go on from it. */
export interface FormNode {
  value?: string;
  readonly children: Map<string, FormNode>;
}

/** AWS's forms are nested half a dozen levels deep at the most. */
const deepest = 32;

/** The fields of a request: its query when there is no body. */
export function readForm(request: WireRequest & { readonly body: Uint8Array }): FormNode {
  const root: FormNode = { children: new Map() };
  const fields =
    request.body.length === 0 ? request.query : parseFields(Buffer.from(request.body).toString("utf8"));
  for (const [name, value] of fields) place(root, name, value);
  return root;
}

/** Names and values of a form or query, decoded. What isn't encoded as it should be is refused. */
export function parseFields(text: string): (readonly [name: string, value: string])[] {
  return text
    .split("&")
    .filter((field) => field !== "")
    .map((field) => {
      const at = field.indexOf("=");
      const name = at < 0 ? field : field.slice(0, at);
      return [decode(name), at < 0 ? "" : decode(field.slice(at + 1))] as const;
    });
}

/** The value of a field at the top. */
export function fieldOf(form: FormNode, name: string): string | undefined {
  return form.children.get(name)?.value;
}

/** What numbers name, in the order of the numbers: `member.1`, `member.2` … */
export function numbered(node: FormNode): readonly FormNode[] {
  return [...node.children]
    .filter(([name]) => /^\d{1,9}$/.test(name))
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, child]) => child);
}

function place(root: FormNode, name: string, value: string): void {
  const parts = name.split(".", deepest + 1);
  if (parts.length > deepest) throw malformed("A parameter's name is nested too deep.");
  let node = root;
  for (const part of parts) {
    const next: FormNode = node.children.get(part) ?? { children: new Map() };
    node.children.set(part, next);
    node = next;
  }
  node.value = value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw malformed("The request isn't encoded as a form.");
  }
}
