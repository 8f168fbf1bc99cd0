import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { parseOk } from "../../../../tests/support/template.ts";
import { evaluateTemplate } from "./evaluate-template.ts";
import { exampleParameters } from "./example-parameters.ts";
import { parseTemplate } from "./parse-template.ts";
import { examplePseudo, validateTemplate } from "./validate-template.ts";

type Plain = string | number | boolean | Plain[] | { [key: string]: Plain };

const texts = fc.oneof(
  fc.string().filter((text) => !text.includes("{{resolve")),
  fc.constantFrom(
    "007",
    "1.0",
    "true",
    "yes",
    "null",
    "~",
    "2020-01-01",
    "a: b",
    "# c",
    "- d",
    "{{resolve:ssm:/a}}",
  ),
);
const subTexts = fc.constantFrom("plain", "${P}", "a-${AWS::Region}-${P}", "${!P} ${C.Arn}", "${C}");

/** Expressions, nearly all of them right: `text` gives texts only. */
const { expression, text } = fc.letrec<{ expression: Plain; text: Plain }>((tie) => {
  const call = (name: string, argument: fc.Arbitrary<Plain>): fc.Arbitrary<Plain> =>
    argument.map((value) => ({ [name]: value }));
  const list = (item: fc.Arbitrary<Plain>): fc.Arbitrary<Plain> =>
    fc.array(item, { minLength: 1, maxLength: 3 });
  const inner = tie("text");
  return {
    text: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(texts, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
      call("Ref", fc.constantFrom("P", "AWS::Region", "AWS::StackName", "C")),
      call("Fn::Sub", subTexts),
      call("Fn::Join", fc.tuple(texts, list(inner))),
      call("Fn::Select", fc.tuple(fc.constant(0), list(inner))),
      call("Fn::If", fc.tuple(fc.constantFrom("Yes", "No"), inner, inner)),
      call("Fn::Base64", inner),
      call("Fn::GetAtt", fc.constantFrom("C.Arn", "C.a.b")),
    ),
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { arbitrary: inner, weight: 6 },
      { arbitrary: fc.array(tie("expression"), { maxLength: 3 }), weight: 3 },
      {
        arbitrary: fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom("__proto__", "Key", "Condition")),
          tie("expression"),
          { maxKeys: 3 },
        ),
        weight: 3,
      },
      { arbitrary: call("Fn::Split", fc.tuple(fc.constantFrom(",", "-"), inner)), weight: 1 },
      { arbitrary: call("Ref", fc.constantFrom("Q", "AWS::NoValue", "AWS::NotificationARNs")), weight: 2 },
      { arbitrary: call("Fn::Select", fc.tuple(fc.constantFrom(0, 7), tie("expression"))), weight: 1 },
    ),
  };
});

const templates = fc.record({
  Parameters: fc.constant({
    P: { Type: "String", Default: "p" },
    Q: { Type: "CommaDelimitedList", Default: "q,r" },
  }),
  Conditions: fc.constant({ Yes: { "Fn::Equals": ["a", "a"] }, No: { "Fn::Equals": [{ Ref: "P" }, "q"] } }),
  Resources: fc.record({
    C: fc.constant({ Type: "AWS::SNS::Topic" }),
    A: fc.record({
      Type: fc.constant("AWS::SNS::Topic"),
      Properties: fc.dictionary(fc.string(), expression, { maxKeys: 3 }),
    }),
    B: fc.record({
      Type: fc.constant("Custom::B"),
      Properties: fc.record({ ServiceToken: fc.constant("t"), Value: expression }),
    }),
  }),
  Outputs: fc.record({ O: fc.record({ Value: text }) }),
});

const evaluate = (body: string): unknown => {
  const parsed = parseTemplate(body);
  const parameters = parsed.ok ? exampleParameters(parsed.value) : new Map<string, never>();
  const { ok, diagnostics, ...rest } = evaluateTemplate(body, { parameters, pseudo: examplePseudo });
  const found = diagnostics.map(({ code, message, path }) => ({ code, message, path }));
  return { ok, found: found.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))), ...rest };
};

test("JSON and YAML of one template evaluate alike, twice the same, and parsing never throws", () => {
  fc.assert(
    fc.property(templates, (template) => {
      const json = JSON.stringify(template);
      const fromJson = evaluate(json);
      expect(evaluate(stringify(template, { version: "1.1", aliasDuplicateObjects: false }))).toEqual(
        fromJson,
      );
      expect(evaluate(json)).toEqual(fromJson);
    }),
    { numRuns: 150 },
  );
});

test("any text is either a template or at least one error", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.json(),
        texts.map((each) => `Resources:\n  A:\n    Type: ${each}\n`),
      ),
      (body) => {
        const parsed = parseTemplate(body);
        expect(parsed.ok || parsed.diagnostics.some(({ severity }) => severity === "error")).toBe(true);
        expect(() => validateTemplate(body)).not.toThrow();
      },
    ),
    { numRuns: 200 },
  );
});

test("every diagnostic of a template with text has a place in it", () => {
  fc.assert(
    fc.property(templates, (template) => {
      const body = JSON.stringify(template, undefined, 1);
      for (const { position, path } of parseTemplate(body).diagnostics) {
        expect(path).toMatch(/^\//);
        expect(position?.line).toBeLessThanOrEqual(body.split("\n").length);
      }
    }),
  );
});

test("evaluation changes nothing that it was given", () => {
  const template = parseOk(
    "Resources: { A: { Type: AWS::SNS::Topic, Properties: { L: [1, { a: b }], S: !Sub x } } }",
  );
  const before = JSON.stringify([...template.resources.values()]);
  evaluate(template.body);
  expect(JSON.stringify([...template.resources.values()])).toBe(before);
});
