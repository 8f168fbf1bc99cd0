/** `States.Format('…', $.a)` and its like. Source: the intrinsic functions page of the Step Functions guide. */
import { createHash, randomInt, randomUUID } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import { isObject } from "./definition.ts";
import { StateFault } from "./state-fault.ts";

type Call = (values: readonly Json[]) => Json;

/** Evaluates an expression; paths in it are asked of `lookUp`. Throws `States.IntrinsicFailure`. */
export function callIntrinsic(expression: string, lookUp: (path: string) => Json): Json {
  const reader = new Reader(expression, lookUp);
  const value = reader.value();
  reader.end();
  return value;
}

const functions: Readonly<Record<string, Call>> = {
  Array: (values) => [...values],
  ArrayContains: ([list, value]) => arrayOf(list).some((item) => isSame(item, value)),
  ArrayGetItem: ([list, index]) => arrayOf(list)[numberOf(index)] ?? fail("the array has no such index"),
  ArrayLength: ([list]) => arrayOf(list).length,
  ArrayPartition: ([list, size]) => partitions(arrayOf(list), numberOf(size)),
  ArrayRange: ([from, to, by]) => range(numberOf(from), numberOf(to), numberOf(by)),
  ArrayUnique: ([list]) => {
    const items = arrayOf(list);
    return items.filter((item, index) => items.findIndex((other) => isSame(item, other)) === index);
  },
  Base64Decode: ([text]) => Buffer.from(textOf(text), "base64").toString("utf8"),
  Base64Encode: ([text]) => Buffer.from(textOf(text), "utf8").toString("base64"),
  Format: ([template, ...values]) => format(textOf(template), values),
  Hash: ([value, algorithm]) => hash(value, textOf(algorithm)),
  JsonMerge: ([first, second, deep]) => {
    if (deep !== false || !isObject(first) || !isObject(second))
      return fail("JsonMerge merges two objects, and shallowly only");
    return { ...first, ...second };
  },
  JsonToString: ([value]) => JSON.stringify(value),
  MathAdd: ([a, b]) => numberOf(a) + numberOf(b),
  MathRandom: ([from, to]) => randomInt(numberOf(from), numberOf(to)),
  StringSplit: ([text, separators]) => {
    const characters = textOf(separators).replaceAll(/[\\\]^-]/g, String.raw`\$&`);
    return textOf(text)
      .split(new RegExp(`[${characters}]`))
      .filter((part) => part !== "");
  },
  StringToJson: ([text]) => parse(textOf(text)),
  UUID: () => randomUUID(),
};

/** Reads one expression from left to right. */
class Reader {
  readonly #text: string;
  readonly #lookUp: (path: string) => Json;
  #at = 0;

  constructor(text: string, lookUp: (path: string) => Json) {
    this.#text = text;
    this.#lookUp = lookUp;
  }

  value(): Json {
    const quoted = this.#take(/\s*'((?:[^'\\]|\\.)*)'/y);
    if (quoted !== undefined) return quoted.replaceAll(/\\([^{}])/g, "$1");
    const path = this.#take(/\s*(\$[^\s,()]*)/y);
    if (path !== undefined) return this.#lookUp(path);
    const literal = this.#take(/\s*(-?\d+(?:\.\d+)?|true|false|null)(?=\s*[,)]|\s*$)/y);
    if (literal !== undefined) return JSON.parse(literal) as Json;
    const name = this.#take(/\s*States\.(\w+)\(/y);
    const call = name !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (call === undefined) return fail(`${this.#text} is no intrinsic function that Custard knows`);
    return call(this.#values());
  }

  end(): void {
    if (this.#text.slice(this.#at).trim() !== "") fail(`${this.#text} has more than one expression`);
  }

  #values(): readonly Json[] {
    if (this.#take(/(\s*\))/y) !== undefined) return [];
    const values = [this.value()];
    while (this.#take(/(\s*,)/y) !== undefined) values.push(this.value());
    if (this.#take(/(\s*\))/y) === undefined) fail(`${this.#text} lacks a closing parenthesis`);
    return values;
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    if (found !== null) this.#at = form.lastIndex;
    return found?.[1];
  }
}

function format(template: string, values: readonly Json[]): string {
  const rest = [...values];
  const text = template.replaceAll(/\\([{}])|\{\}/g, (whole, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    const value = rest.shift();
    if (value === undefined) return fail("Format has more places than values");
    return typeof value === "string" ? value : JSON.stringify(value) || whole;
  });
  return rest.length === 0 ? text : fail("Format has more values than places");
}

const algorithms = new Set(["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"]);

function hash(value: Json | undefined, algorithm: string): string {
  if (!algorithms.has(algorithm)) return fail(`there is no hash algorithm ${algorithm}`);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return createHash(algorithm.replace("-", "").toLowerCase())
    .update(text ?? "")
    .digest("hex");
}

function partitions(list: readonly Json[], size: number): Json {
  if (size < 1) return fail("the parts of an array have at least one item");
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, index) => list.slice(index * size, (index + 1) * size));
}

function range(from: number, to: number, by: number): Json {
  const count = by === 0 ? Number.NaN : Math.floor((to - from) / by) + 1;
  if (!(count <= 1000)) return fail("a range has at most 1000 items");
  return Array.from({ length: Math.max(0, count) }, (_, index) => from + index * by);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return fail("StringToJson got no JSON");
  }
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : fail("an argument must be an array");
}

function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : fail("an argument must be a number");
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : fail("an argument must be a string");
}

function fail(cause: string): never {
  throw new StateFault("States.IntrinsicFailure", cause);
}
