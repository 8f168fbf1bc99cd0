import { describe, expect, test } from "vitest";
import { collectFaults } from "./faults.ts";
import { maxDepth, maxNodes } from "./limits.ts";
import { inlineSizeFault, readSource } from "./read-source.ts";
import { toJson } from "./source-node.ts";
import type { Aliases } from "./read-yaml.ts";
import { dedent } from "../../../../tests/support/template.ts";

function read(body: string, aliases: Aliases = "refused"): unknown {
  const faults = collectFaults(body);
  const node = readSource(body, faults, aliases);
  return node === undefined
    ? faults.diagnostics().map(({ message, hint }) => `${message}${hint ? ` (${hint})` : ""}`)
    : toJson(node);
}

describe("YAML scalars keep what they mean", () => {
  test.each([
    ["true", true],
    ["false", false],
    ["True", "True"],
    ["yes", "yes"],
    ["no", "no"],
    ["on", "on"],
    ["null", null],
    ["~", null],
    ["", null],
    ["3", 3],
    ["-3", -3],
    ["0", 0],
    ["1.5", 1.5],
    ["1.0", "1.0"],
    ["1e3", "1e3"],
    ["+3", "+3"],
    ["007", "007"],
    ["012345678901", "012345678901"],
    ["123456789012", 123456789012],
    ["0x1F", "0x1F"],
    ["0o17", "0o17"],
    ["1_000", "1_000"],
    ["12:30", "12:30"],
    [".inf", ".inf"],
    [".5", ".5"],
    ["-0", "-0"],
    ["99999999999999999999", "99999999999999999999"],
    ["2010-09-09", "2010-09-09"],
    ["2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"],
    ['"3"', "3"],
    ["'true'", "true"],
    ["!!str 3", "3"],
    ["! 3", "3"],
    ["=", "="],
    ["<<", "<<"],
  ])("%s", (text, value) => {
    expect(read(`a: ${text}\n`)).toEqual({ a: value });
  });
});

describe("short tags stand for functions", () => {
  test.each([
    ["!Ref A", { Ref: "A" }],
    ["!Ref 007", { Ref: "007" }],
    ["!Condition A", { Condition: "A" }],
    ["!GetAtt A.B", { "Fn::GetAtt": "A.B" }],
    ["!Sub [a, { b: c }]", { "Fn::Sub": ["a", { b: "c" }] }],
    ["!Transform { Name: N }", { "Fn::Transform": { Name: "N" } }],
    ["!Rain::Embed x", { "Fn::Rain::Embed": "x" }],
    ["!GetAZs", { "Fn::GetAZs": "" }],
    ["!Select [0, !GetAZs '']", { "Fn::Select": [0, { "Fn::GetAZs": "" }] }],
  ])("%s", (text, value) => {
    expect(read(`a: ${text}\n`)).toEqual({ a: value });
  });
});

test("JSON and YAML give the same tree", () => {
  const json = '{"a": {"Ref": "B"}, "l": [1, "x", true, null, 1.0, -2, 1e3], "s": "\\u00e9\\n\\"\\\\"}';
  const yaml = 'a: !Ref B\nl: [1, x, true, null, 1.0, -2, 1e3]\ns: "\\u00e9\\n\\"\\\\"\n';
  expect(read(json)).toEqual(read(yaml));
});

describe("what begins with a brace and is no JSON is read as YAML, with a warning", () => {
  test.each([
    [
      "commas at the end",
      '{"a": [1, {"b": 2,}, ], "c": {"d": [3,\n],\n},\n}',
      { a: [1, { b: 2 }], c: { d: [3] } },
    ],
    ["a comment", '{\n  # why\n  "a": 1\n}', { a: 1 }],
    ["an end of the document", '{"a": 1}\n...\n', { a: 1 }],
    ["single quotes over two lines", "{\"a\": 'it''s\n  long'}", { a: "it's long" }],
    ["bare keys and values", "{a: b}", { a: "b" }],
    ["a tag", '{"a": !Ref B}', { a: { Ref: "B" } }],
  ])("%s", (_, body, value) => {
    const faults = collectFaults(body);
    const node = readSource(body, faults, "refused");
    expect(node && toJson(node)).toEqual(value);
    expect(faults.diagnostics()).toMatchObject([
      {
        code: "JsonNotWellFormed",
        severity: "warning",
        message: expect.stringContaining("it is read as YAML"),
      },
    ]);
  });

  test("of a key that stands twice, too, the last is taken", () => {
    const body = '{"a": 1, "a": 2,}';
    const faults = collectFaults(body);
    const node = readSource(body, faults, "refused");
    expect(node && toJson(node)).toEqual({ a: 2 });
    expect(faults.diagnostics()).toMatchObject([{ code: "DuplicateKey" }, { code: "JsonNotWellFormed" }]);
  });
});

describe("what is neither JSON nor YAML is reported as JSON", () => {
  test.each([
    ['{"this is invalid JSON"="bobbins"}', 1, 25],
    ["{", 1, 2],
    ["{,}", 1, 3],
    ['{"a": 1,,}', 1, 10],
    ['{"a": [,]}', 1, 9],
    ['{"a": [1,,2]}', 1, 11],
    ['{"a": 1} x', 1, 11],
    ['{"a": "x}', 1, 8],
    ['{"a": "\\x"}', 1, 8],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 4],
  ])("%j", (text, line, column) => {
    expect(read(text)).toEqual([
      expect.stringContaining(
        `Template format error: JSON not well-formed. (line ${line}, column ${column})`,
      ),
    ]);
  });
});

describe("what is no YAML", () => {
  test.each([
    ["a tab", "a:\n\tb: 1\n", "line 2, column 1"],
    ["a bad indent", "Resources:\n  A:\n    T: x\n     V: y\n", "(line 3, column "],
    ["an open quote", 'a: "b\n', "line 2, column 1"],
    ["an open list", "a: [1, 2\n", "line 2, column 1"],
    ["a second document", "a: 1\n---\nb: 2\n", "line 2, column 1"],
    ["a bare mapping in a value", "a: b: c\n", "line 1, column 4"],
    ["a list as key", "? [a]\n: b\n", ""],
    ["a map as key", "{ a: 1 }: b\n", ""],
    ["a binary", "a: !!binary aGk=\n", ""],
    ["a set", "a: !!set { b }\n", ""],
  ])("%s", (_, text, place) => {
    expect(read(` ${text}`.slice(1))).toEqual(
      expect.arrayContaining([expect.stringContaining("not well-formed")]),
    );
    expect(JSON.stringify(read(text))).toContain(place);
  });
});

test.each([
  ["YAML", "a:\n  b: 1\n  c: 3\n  b: 2\n"],
  ["YAML in braces", "a: { b: 1, c: 3, b: 2 }\n"],
  ["JSON", '{"a": {"b": 1, "c": 3, "b": 2}}'],
])("of a key that stands twice the last is taken, with a warning: %s", (_, body) => {
  const faults = collectFaults(body);
  const node = readSource(body, faults, "refused");
  expect(node && toJson(node)).toEqual({ a: { b: 2, c: 3 } });
  expect(faults.diagnostics()).toMatchObject([
    {
      code: "DuplicateKey",
      severity: "warning",
      path: "/a/b",
      position: { offset: body.lastIndexOf("b") - (body.startsWith("{") ? 1 : 0) },
    },
  ]);
});

describe("lines in quotes and brackets may be less indented than YAML wants", () => {
  test.each([
    ["quotes", 'a:\n    b: "one\n  two\n  three"\n    c: 4\n', { a: { b: "one two three", c: 4 } }],
    ["single quotes", "a:\n    b: 'one\n\n  two'\n", { a: { b: "one\ntwo" } }],
    ["brackets", "a:\n    b: [{\n      c: 1\n    }]\n    d: 2\n", { a: { b: [{ c: 1 }], d: 2 } }],
    ["brackets at the margin", "a:\n  b: [\n1,\n2\n]\n", { a: { b: [1, 2] } }],
  ])("%s", (_, body, value) => {
    expect(read(body)).toEqual(value);
  });

  test("places are those of the text as it is", () => {
    const body = 'a:\n    b: "one\n  two"\n    c: 4\n';
    const node = readSource(body, collectFaults(body), "refused");
    const a = node?.kind === "map" ? node.entries[0]?.value : undefined;
    expect(
      a?.kind === "map" && a.entries.map(({ keyOffset, value }) => [body[keyOffset], value.offset]),
    ).toEqual([
      ["b", body.indexOf('"')],
      ["c", body.indexOf("4")],
    ]);
  });

  test("a quote that never ends is told where the text ends", () => {
    expect(read('a: "one\nb: 2\nc: 3\n')).toEqual([expect.stringContaining("(line 4, column 1)")]);
    expect(read('a:\n  b: "one\n  c: 3\n')).toEqual([expect.stringContaining("(line 4, column 1)")]);
  });
});

test("a key __proto__ is a key like others", () => {
  const both = [read('{"__proto__": {"polluted": 1}}'), read("__proto__: { polluted: 1 }\n")];
  for (const value of both) expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

describe("aliases", () => {
  const source = dedent`
    base: &base { a: 1, b: 2 }
    own: { <<: *base, b: 3 }
    many: { <<: [{ c: 4 }, *base] }
    plain: *base
  `;

  test("a template may have none", () => {
    const message = "Template error: YAML aliases are not allowed in CloudFormation templates";
    expect(read(source)).toEqual([message, message, message]);
  });

  test("an included file may have them, and merge keys", () => {
    expect(read(source, "expanded")).toEqual({
      base: { a: 1, b: 2 },
      own: { b: 3, a: 1 },
      many: { c: 4, a: 1, b: 2 },
      plain: { a: 1, b: 2 },
    });
  });

  test("an alias without an anchor is refused", () => {
    expect(read("a: *b\n", "expanded")).toEqual([expect.stringContaining("YAML not well-formed")]);
    expect(read("a: &a [*a]\n", "expanded")).toEqual([expect.stringContaining("YAML not well-formed")]);
  });

  test("aliases of aliases may not grow without bound", () => {
    const laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 12; level++) {
      laughs.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    }
    expect(read(laughs.join("\n"), "expanded")).toEqual(
      expect.arrayContaining([expect.stringContaining(`more than ${maxNodes} nodes`)]),
    );
  });
});

describe("depth", () => {
  const deep = (open: string, close: string, levels: number): string =>
    open.repeat(levels) + close.repeat(levels);

  test.each([
    ["YAML lists", (levels: number) => deep("[", "]", levels)],
    ["YAML maps", (levels: number) => `${deep("{a: ", "}", levels)}`.replace(/^/, "x: ")],
    ["YAML block lists", (levels: number) => `${"- ".repeat(levels)}x\n`],
    ["JSON", (levels: number) => `{"a": ${deep("[", "]", levels - 1)}}`],
  ])("%s of ten thousand levels are refused", (_, make) => {
    expect(read(make(10_000))).toEqual([expect.stringContaining(`nested more than ${maxDepth} deep`)]);
    expect(read(make(maxDepth - 5))).not.toEqual([expect.stringContaining("deep")]);
  });
});

test("more than a megabyte is refused before it is read", () => {
  expect(read("#".repeat(1_048_577))).toEqual([
    expect.stringContaining("Template may not exceed 1048576 bytes in size."),
  ]);
});

test("a byte order mark and carriage returns are taken", () => {
  expect(read("\uFEFFa: 1\r\nb: 2\r\n")).toEqual({ a: 1, b: 2 });
  expect(read('\uFEFF{"a": 1}\r\n')).toEqual({ a: 1 });
});

test("a template given inline may have 51,200 characters (fact 121)", () => {
  expect(inlineSizeFault("x".repeat(51_200))).toBeUndefined();
  expect(inlineSizeFault("x".repeat(51_201))).toMatch(
    /^1 validation error detected: Value 'x+' at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to 51200$/,
  );
});
