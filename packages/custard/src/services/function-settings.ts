/** Lambda's own rules for what a function may be. Texts are Lambda's. */

/** Everything about a function but its code. */
export interface FunctionSettings {
  readonly runtime: string;
  readonly handler: string;
  readonly role: string;
  readonly description: string;
  /** 1 to 900. */
  readonly timeoutSeconds: number;
  /** 128 to 10240. */
  readonly memoryMegabytes: number;
  readonly environment: Readonly<Record<string, string>>;
  /** ARNs of layer versions, in the order in which they are laid over each other. */
  readonly layers: readonly string[];
  readonly architecture: "x86_64" | "arm64";
  readonly logging: LoggingSettings;
  /** 0 throttles every invocation; absent: no limit of its own. */
  readonly reservedConcurrency?: number | undefined;
  /** ARN of the queue or topic that gets the events of asynchronous invocations that failed for good. */
  readonly deadLetterArn?: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/** `LoggingConfig`. Levels count for the JSON format only. */
export interface LoggingSettings {
  readonly format: "Text" | "JSON";
  /** Default: `/aws/lambda/<name>`. */
  readonly group?: string;
  readonly applicationLevel?: LogLevel;
  readonly systemLevel?: LogLevel;
}

/** Levels as Lambda names them. */
export type LogLevel = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR" | "FATAL";

/** Runtimes that exist here, and the family that runs them. */
export const runtimes = {
  "nodejs18.x": "node",
  "nodejs20.x": "node",
  "nodejs22.x": "node",
  "nodejs24.x": "node",
  "python3.8": "python",
  "python3.9": "python",
  "python3.10": "python",
  "python3.11": "python",
  "python3.12": "python",
  "python3.13": "python",
  "python3.14": "python",
  provided: "custom",
  "provided.al2": "custom",
  "provided.al2023": "custom",
} as const satisfies Record<string, "node" | "python" | "custom">;

/** A runtime that Custard runs. */
export type Runtime = keyof typeof runtimes;

/** What runs a function: our Node or Python bootstrap, or the function's own. */
export type RuntimeFamily = (typeof runtimes)[Runtime];

/** Runtimes that AWS has or had and that don't run here: refused with a way out instead of "no such runtime". */
const elsewhere = /^(?:nodejs(?:[4-9]|1[0246])\.|python(?:2\.7|3\.[67])$|java|dotnet|ruby|go1\.x)/;

/** The keys that Lambda sets itself and that a function can't set. */
const reservedKeys: ReadonlySet<string> = new Set([
  "_HANDLER",
  "_X_AMZN_TRACE_ID",
  "AWS_DEFAULT_REGION",
  "AWS_REGION",
  "AWS_EXECUTION_ENV",
  "AWS_LAMBDA_FUNCTION_NAME",
  "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
  "AWS_LAMBDA_FUNCTION_VERSION",
  "AWS_LAMBDA_INITIALIZATION_TYPE",
  "AWS_LAMBDA_LOG_GROUP_NAME",
  "AWS_LAMBDA_LOG_STREAM_NAME",
  "AWS_ACCESS_KEY",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_LAMBDA_RUNTIME_API",
  "LAMBDA_TASK_ROOT",
  "LAMBDA_RUNTIME_DIR",
]);

const environmentBytes = 4096;

/** Is it a runtime that Custard runs? */
export function isRuntime(text: string): text is Runtime {
  return Object.hasOwn(runtimes, text);
}

/** What is wrong with the settings, in Lambda's words; empty when nothing is. */
export function faultsOfSettings(settings: FunctionSettings): readonly string[] {
  return [
    ...faultsOfRuntime(settings.runtime),
    ...faultsOfHandler(settings),
    ...faultsOfRange({ name: "timeout", value: settings.timeoutSeconds, least: 1, most: 900 }),
    ...faultsOfRange({ name: "memorySize", value: settings.memoryMegabytes, least: 128, most: 10_240 }),
    ...faultsOfEnvironment(settings.environment),
    ...faultsOfLayers(settings.layers),
  ];
}

/** Inline code always becomes `index.js` or `index.py`, so that another handler could only come from a layer. */
export function faultsOfInlineHandler(settings: FunctionSettings): readonly string[] {
  if (settings.handler.startsWith("index.") || settings.layers.length > 0) return [];
  return [
    `Inline code (ZipFile) is stored as index.js or index.py, so that the Handler must begin with "index.", not "${settings.handler}".`,
  ];
}

/** Lambda's wording for a function's name that can't be one. */
export function faultsOfName(name: string): readonly string[] {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return [];
  return [
    `1 validation error detected: Value '${name}' at 'functionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9-_]{1,64}`,
  ];
}

function faultsOfRuntime(runtime: string): readonly string[] {
  if (isRuntime(runtime)) return [];
  if (elsewhere.test(runtime)) {
    return [
      `The runtime ${runtime} doesn't run here: Custard runs nodejs18.x to 24.x, python3.8 to 3.14 and provided.* with a bootstrap of its own. ${wayOut(runtime)}`,
    ];
  }
  const known = Object.keys(runtimes).join(", ");
  return [
    `Value ${runtime} at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [${known}] or be a valid ARN`,
  ];
}

function wayOut(runtime: string): string {
  const [language] = /^(?:nodejs|python)/.exec(runtime) ?? [];
  if (language === undefined)
    return `Give the function code for one of these, or put such code in its place with functions and runtimes: { ${runtime}: nodejs22.x } in custard.config (docs/config.md).`;
  const newer = language === "nodejs" ? "nodejs22.x" : "python3.13";
  return `Give the function a newer Runtime, or have it run on one with runtimes: { ${runtime}: ${newer} } in custard.config.`;
}

function faultsOfHandler(settings: FunctionSettings): readonly string[] {
  if (settings.handler === "" && !settings.runtime.startsWith("provided")) {
    return ["Runtime and Handler are mandatory parameters for functions created with deployment packages."];
  }
  if (/^\S{0,128}$/.test(settings.handler)) return [];
  return [
    `1 validation error detected: Value '${settings.handler}' at 'handler' failed to satisfy constraint: Member must satisfy regular expression pattern: [^\\s]+`,
  ];
}

function faultsOfRange(range: {
  name: string;
  value: number;
  least: number;
  most: number;
}): readonly string[] {
  const { name, value, least, most } = range;
  const prefix = `1 validation error detected: Value '${value}' at '${name}' failed to satisfy constraint: Member must have value`;
  if (!Number.isInteger(value)) return [`Value '${value}' at '${name}' must be an integer.`];
  if (value > most) return [`${prefix} less than or equal to ${most}`];
  if (value < least) return [`${prefix} greater than or equal to ${least}`];
  return [];
}

function faultsOfEnvironment(environment: Readonly<Record<string, string>>): readonly string[] {
  const keys = Object.keys(environment);
  const prefix =
    "Lambda was unable to configure your environment variables because the environment variables you have provided";
  const reserved = keys.filter((key) => reservedKeys.has(key));
  if (reserved.length > 0) {
    return [
      `${prefix} contains reserved keys that are currently not supported for modification. Reserved keys used in this request: ${reserved.join(", ")}`,
    ];
  }
  const malformed = keys.find((key) => !/^[a-zA-Z][a-zA-Z0-9_]+$/.test(key));
  if (malformed !== undefined) {
    return [
      `1 validation error detected: Value at 'environment.variables' failed to satisfy constraint: Map keys must satisfy constraint: [Member must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+] (key "${malformed}")`,
    ];
  }
  // The values may be secrets: Lambda's own text repeats them, ours doesn't.
  if (Buffer.byteLength(JSON.stringify(environment)) > environmentBytes)
    return [`${prefix} exceeded the 4KB limit.`];
  return [];
}

function faultsOfLayers(layers: readonly string[]): readonly string[] {
  if (layers.length > 5) {
    return ["Layers consumption exceeded the limit: a function can use at most 5 layers."];
  }
  return layers
    .filter((layer) => !/^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:layer:[a-zA-Z0-9_-]+:\d+$/.test(layer))
    .map((layer) => `Layer version ${layer} is not a valid layer version ARN.`);
}
