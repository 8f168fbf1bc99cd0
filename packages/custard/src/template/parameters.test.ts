import { describe, expect, test } from "vitest";
import { parseOk } from "../../../../tests/support/template.ts";
import { resolveParameters, type ParameterInput } from "./parameters.ts";
import { resolveSsmParameters, ssmNames } from "./ssm-parameters.ts";
import { isSensitive, reveal, type Value } from "./value.ts";
import type { ParameterValue } from "./known.ts";

const templateOf = (declaration: string): ReturnType<typeof parseOk> =>
  parseOk(`Parameters: { P: { ${declaration} } }\nResources: { A: { Type: AWS::SNS::Topic } }`);

const value = (text: string): ParameterInput => ({ kind: "value", value: text });

/** The value of `P`, or the messages. */
function resolve(
  declaration: string,
  input?: ParameterInput,
  previous?: ReadonlyMap<string, ParameterValue>,
): unknown {
  const given = new Map(input === undefined ? [] : [["P", input]]);
  const resolved = resolveParameters(templateOf(declaration), given, previous);
  if (!resolved.ok) return resolved.diagnostics.map(({ message }) => message);
  const found = resolved.value.get("P");
  return found && { value: reveal(found.value), sensitive: isSensitive(found.value) };
}

describe("values", () => {
  test.each([
    ["Type: String", "a", "a"],
    ["Type: String", "", ""],
    ["Type: Number", "3", "3"],
    ["Type: Number", "03.50", "03.50"],
    ["Type: CommaDelimitedList", "a, b ,c", ["a", "b", "c"]],
    ["Type: CommaDelimitedList", "", [""]],
    ["Type: List<Number>", "1,2", ["1", "2"]],
    ["Type: List<String>", "1,2", ["1", "2"]],
    ["Type: AWS::EC2::VPC::Id", "vpc-1", "vpc-1"],
    ["Type: List<AWS::EC2::Subnet::Id>", "a,b", ["a", "b"]],
    ["Type: AWS::SSM::Parameter::Name", "/a", "/a"],
    ["Type: String, MinLength: 2, MaxLength: 3", "äöü", "äöü"],
    ["Type: String, AllowedPattern: '[a-z]+'", "abc", "abc"],
    ["Type: String, AllowedPattern: '[a-z]{1,9}+\\p{Digit}*+'", "abc1", "abc1"],
    ["Type: String, AllowedPattern: '(?i)abc'", "ABC", "ABC"],
    ["Type: String, AllowedPattern: '\\A[\\p{Alpha}_]+\\z'", "A_b", "A_b"],
    ["Type: Number, MinValue: 1, MaxValue: 5", "5", "5"],
    ["Type: String, AllowedValues: [a, 1, true]", "true", "true"],
    ["Type: CommaDelimitedList, AllowedValues: [a, b]", "b,a", ["b", "a"]],
  ])("%s takes %j", (declaration, given, expected) => {
    expect(resolve(declaration, value(given))).toEqual({ value: expected, sensitive: false });
  });

  test.each([
    ["Type: Number", "x", "Parameter 'P' must be a number."],
    ["Type: Number", "", "Parameter 'P' must be a number."],
    ["Type: Number", "1,2", "Parameter 'P' must be a number."],
    ["Type: List<Number>", "1,x", "Parameter 'P' must be a list of numbers."],
    ["Type: String, AllowedValues: [a, b]", "c", "Parameter 'P' must be one of AllowedValues"],
    ["Type: CommaDelimitedList, AllowedValues: [a, b]", "a,c", "Parameter 'P' must be one of AllowedValues"],
    ["Type: String, AllowedPattern: '[a-z]+'", "abc1", "Parameter 'P' must match pattern [a-z]+"],
    ["Type: String, AllowedPattern: 'a|b'", "ab", "Parameter 'P' must match pattern a|b"],
    [
      "Type: String, AllowedPattern: '[a-z]+', ConstraintDescription: only letters",
      "1",
      "Parameter 'P' failed to satisfy constraint: only letters",
    ],
    ["Type: String, MinLength: 2", "a", "Parameter 'P' must contain at least 2 characters"],
    ["Type: String, MaxLength: 2", "abc", "Parameter 'P' must contain at most 2 characters"],
    ["Type: Number, MinValue: 1", "0.5", "Parameter 'P' must be a number not less than 1"],
    ["Type: Number, MaxValue: 5", "6", "Parameter 'P' must be a number not greater than 5"],
    ["Type: String", "x".repeat(4097), "Parameter 'P' must not be longer than 4096 bytes"],
  ])("%s refuses %j", (declaration, given, message) => {
    expect(resolve(declaration, value(given))).toEqual([message]);
  });

  test("defaults are taken, and checked as given values are", () => {
    expect(resolve("Type: String, Default: a")).toEqual({ value: "a", sensitive: false });
    expect(resolve("Type: String, Default: c, AllowedValues: [a]")).toEqual([
      "Parameter 'P' must be one of AllowedValues",
    ]);
    expect(resolve("Type: String, Default: c, AllowedValues: [a]", value("a"))).toEqual({
      value: "a",
      sensitive: false,
    });
  });

  test("NoEcho values are sensitive", () => {
    expect(resolve("Type: String, NoEcho: true", value("pw"))).toEqual({ value: "pw", sensitive: true });
    expect(resolve("Type: CommaDelimitedList, NoEcho: 'True'", value("a,b"))).toEqual({
      value: ["a", "b"],
      sensitive: true,
    });
    expect(resolve("Type: String, NoEcho: false", value("pw"))).toEqual({ value: "pw", sensitive: false });
  });
});

describe("what is missing", () => {
  test("all parameters without a value are told at once (fact 116)", () => {
    const template = parseOk(
      "Parameters: { A: { Type: String }, B: { Type: String, Default: x }, C: { Type: String } }\nResources: { R: { Type: AWS::SNS::Topic } }",
    );
    const resolved = resolveParameters(template, new Map());
    expect(resolved.diagnostics.map(({ message }) => message)).toEqual([
      "Parameters: [A, C] must have values",
    ]);
  });

  test("a parameter that is named without a value (fact 116)", () => {
    expect(resolve("Type: String", { kind: "absent" })).toEqual([
      "Parameter P should either have input value or default value",
    ]);
    expect(resolve("Type: String, Default: a", { kind: "absent" })).toEqual({ value: "a", sensitive: false });
  });

  test("a parameter that the template doesn't have", () => {
    const resolved = resolveParameters(
      templateOf("Type: String, Default: a"),
      new Map([
        ["X", value("1")],
        ["Y", value("2")],
      ]),
    );
    expect(resolved.diagnostics.map(({ message }) => message)).toEqual([
      "Parameters: [X, Y] do not exist in the template",
    ]);
  });
});

describe("the previous value", () => {
  const previous = (known: Value): ReadonlyMap<string, ParameterValue> =>
    new Map([["P", { value: known, noEcho: false }]]);

  test("stays", () => {
    expect(resolve("Type: String", { kind: "previous" }, previous("old"))).toEqual({
      value: "old",
      sensitive: false,
    });
  });

  test("becomes sensitive when the template turns NoEcho on", () => {
    expect(resolve("Type: String, NoEcho: true", { kind: "previous" }, previous("old"))).toEqual({
      value: "old",
      sensitive: true,
    });
  });

  test("is missing when there is none", () => {
    expect(resolve("Type: String", { kind: "previous" })).toEqual(["Parameters: [P] must have values"]);
  });
});

describe("parameters that name an SSM parameter", () => {
  const declaration = "Type: AWS::SSM::Parameter::Value<List<String>>, Default: /names";
  const resolved = (previous?: ReadonlyMap<string, ParameterValue>): ReadonlyMap<string, ParameterValue> => {
    const values = resolveParameters(
      templateOf(declaration),
      new Map(previous ? [["P", { kind: "previous" } as const]] : []),
      previous,
    );
    if (!values.ok) throw new Error("refused");
    return values.value;
  };

  test("take its value", () => {
    const template = templateOf(declaration);
    expect(ssmNames(template, resolved())).toEqual(["/names"]);
    const values = resolveSsmParameters(template, resolved(), new Map([["/names", "a, b"]]));
    expect(values.ok && values.value.get("P")).toEqual({
      value: ["a", "b"],
      noEcho: false,
      ssmName: "/names",
    });
    expect(values.ok && ssmNames(template, values.value)).toEqual([]);
  });

  test("are asked again in an update that keeps the name", () => {
    const before = new Map([["P", { value: ["a"], noEcho: false, ssmName: "/names" }]]);
    expect(ssmNames(templateOf(declaration), resolved(before))).toEqual(["/names"]);
  });

  test("are refused when there is no such parameter", () => {
    const values = resolveSsmParameters(templateOf(declaration), resolved(), new Map());
    expect(values.diagnostics.map(({ message }) => message)).toEqual([
      "Unable to fetch parameters [/names] from parameter store for this account.",
    ]);
  });
});
