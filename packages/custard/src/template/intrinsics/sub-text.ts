/** A piece of a text for `Fn::Sub`. */
export type SubPart =
  | { readonly kind: "text"; readonly text: string }
  /** `name` is all of it; it reads an attribute when it has a dot. */
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly logicalId: string;
      readonly attribute?: string;
    };

const variable = /\$\{([^}]*)\}/g;
const allowedName = /^[A-Za-z0-9_.:]+$/;

/** Cuts a text for `Fn::Sub` into pieces; `${!x}` stands for `${x}`. Undefined when a variable's name is malformed. */
export function parseSub(source: string): readonly SubPart[] | undefined {
  const parts: SubPart[] = [];
  let from = 0;
  for (const match of source.matchAll(variable)) {
    const inner = match[1] ?? "";
    if (match.index > from) parts.push({ kind: "text", text: source.slice(from, match.index) });
    from = match.index + match[0].length;
    if (inner.startsWith("!")) {
      parts.push({ kind: "text", text: `\${${inner.slice(1)}}` });
      continue;
    }
    const name = inner.trim();
    if (!allowedName.test(name)) return undefined;
    parts.push(variablePart(name));
  }
  if (from < source.length) parts.push({ kind: "text", text: source.slice(from) });
  return parts;
}

function variablePart(name: string): SubPart {
  const dot = name.indexOf(".");
  if (dot === -1) return { kind: "variable", name, logicalId: name };
  return { kind: "variable", name, logicalId: name.slice(0, dot), attribute: name.slice(dot + 1) };
}
