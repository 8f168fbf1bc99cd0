/** What a user's `custard.config` says, parsed. Its form is described in docs/config.md. */
import { isAbsolute, resolve } from "node:path";
import type { Json, JsonObject } from "@custard/provider/protocol";
import { isRuntime, type Runtime, runtimes } from "./function-settings.ts";
import { type ParameterType, parameterTypes } from "./parameter-rules.ts";

/** Exact values for resources that nothing stands behind. */
export interface GivenResource {
  readonly physicalId?: string;
  readonly attributes: JsonObject;
}

/** An SSM parameter that is to be there. */
export interface GivenParameter {
  readonly type: ParameterType;
  readonly value: string;
}

/** A parsed configuration; paths are absolute. */
export interface Config {
  readonly resources: {
    readonly types: Readonly<Record<string, GivenResource>>;
    readonly logicalIds: Readonly<Record<string, GivenResource>>;
  };
  readonly parameters: Readonly<Record<string, GivenParameter>>;
  /** Texts; what was written as an object is its JSON. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Source file or folder by the function's logical id. */
  readonly functions: Readonly<Record<string, string>>;
  /** What functions run on in place of the runtime that they declare, by that. */
  readonly runtimes: Readonly<Record<string, Runtime>>;
  /** Path of the interpreter, or its name on the PATH. */
  readonly python?: string;
}

/** A configuration that says nothing. */
export const emptyConfig: Config = {
  resources: { types: {}, logicalIds: {} },
  parameters: {},
  secrets: {},
  functions: {},
  runtimes: {},
};

/** A configuration is wrong; the message has all faults, a line each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Parses what a configuration file holds. Relative paths start at `directory`. Throws `ConfigError`. */
export function parseConfig(value: unknown, directory: string): Config {
  const reading = new Reading();
  const config = readConfig(reading, value, directory);
  if (reading.faults.length > 0) throw new ConfigError(reading.faults.join("\n"));
  return config;
}

function readConfig(reading: Reading, value: unknown, directory: string): Config {
  const top = reading.object(value, "the configuration");
  reading.keys(top, "", ["resources", "parameters", "secrets", "functions", "runtimes", "python"]);
  const resources = reading.object(top["resources"], "resources");
  reading.keys(resources, "resources", ["types", "logicalIds"]);
  const python = reading.text(top["python"], "python");
  return {
    resources: {
      types: reading.map(resources["types"], "resources.types", givenResource),
      logicalIds: reading.map(resources["logicalIds"], "resources.logicalIds", givenResource),
    },
    parameters: reading.map(top["parameters"], "parameters", givenParameter),
    secrets: reading.map(top["secrets"], "secrets", secretText),
    functions: reading.map(top["functions"], "functions", (each, at, path) =>
      resolve(directory, each.text(at, path) ?? each.fault(path, "must be a path")),
    ),
    runtimes: reading.map(top["runtimes"], "runtimes", givenRuntime),
    ...(python === undefined ? {} : { python: pathOf(python, directory) }),
  };
}

function givenResource(reading: Reading, value: unknown, path: string): GivenResource {
  const members = reading.object(value, path);
  reading.keys(members, path, ["physicalId", "attributes"]);
  const physicalId = reading.text(members["physicalId"], `${path}.physicalId`);
  const attributes = reading.json(members["attributes"] ?? {}, `${path}.attributes`);
  const isMap = typeof attributes === "object" && attributes !== null && !Array.isArray(attributes);
  if (!isMap) reading.fault(`${path}.attributes`, "must be an object");
  return {
    attributes: isMap ? (attributes as JsonObject) : {},
    ...(physicalId === undefined ? {} : { physicalId }),
  };
}

function givenParameter(reading: Reading, value: unknown, path: string): GivenParameter {
  if (typeof value !== "object" || value === null)
    return { type: "String", value: reading.text(value, path) ?? reading.fault(path, "must be a text") };
  const members = reading.object(value, path);
  reading.keys(members, path, ["type", "value"]);
  const name = reading.text(members["type"], `${path}.type`) ?? "String";
  const type = parameterTypes.find((each) => each === name);
  if (type === undefined) reading.fault(`${path}.type`, `must be one of ${parameterTypes.join(", ")}`);
  const text = reading.text(members["value"], `${path}.value`);
  return { type: type ?? "String", value: text ?? reading.fault(`${path}.value`, "must be a text") };
}

function secretText(reading: Reading, value: unknown, path: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) return JSON.stringify(reading.json(value, path));
  return reading.fault(path, "must be a text or an object");
}

function givenRuntime(reading: Reading, value: unknown, path: string): Runtime {
  const text = reading.text(value, path) ?? "";
  if (isRuntime(text)) return text;
  reading.fault(path, `must be one of ${Object.keys(runtimes).join(", ")}`);
  return "nodejs22.x";
}

/** A bare name such as `python3.12` stays one. */
function pathOf(text: string, directory: string): string {
  return isAbsolute(text) || !/[/\\]/.test(text) ? text : resolve(directory, text);
}

/** Collects what is wrong, by path, and never the values themselves: some are secrets. */
class Reading {
  readonly faults: string[] = [];

  fault(path: string, message: string): string {
    this.faults.push(`${path} ${message}`);
    return "";
  }

  object(value: unknown, path: string): Readonly<Record<string, unknown>> {
    if (value === undefined || value === null) return {};
    if (typeof value === "object" && !Array.isArray(value)) return { ...value };
    this.fault(path, "must be an object");
    return {};
  }

  keys(members: Readonly<Record<string, unknown>>, path: string, known: readonly string[]): void {
    for (const key of Object.keys(members).filter((each) => !known.includes(each)))
      this.fault(path === "" ? key : `${path}.${key}`, `is no key: there are ${known.join(", ")}`);
  }

  /** A text; numbers and booleans as texts. */
  text(value: unknown, path: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      return String(value);
    return this.fault(path, "must be a text");
  }

  map<T>(
    value: unknown,
    path: string,
    read: (reading: Reading, value: unknown, path: string) => T,
  ): Readonly<Record<string, T>> {
    const entries = Object.entries(this.object(value, path));
    return Object.fromEntries(entries.map(([key, each]) => [key, read(this, each, `${path}.${key}`)]));
  }

  /** Anything that JSON can say. */
  json(value: unknown, path: string): Json {
    try {
      const text = JSON.stringify(value);
      if (typeof text === "string") return JSON.parse(text) as Json;
    } catch {
      // Said below.
    }
    this.fault(path, "must be JSON");
    return null;
  }
}
