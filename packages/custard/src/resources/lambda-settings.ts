import type { Json } from "@custard/provider/protocol";
import type { FunctionSettings, LoggingSettings, LogLevel } from "../services/function-settings.ts";
import { ResourceFailure } from "./failure.ts";
import { membersOf, mismatch, numberProperty, tagsOf, textsOf } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** What a template says of a function; members that it leaves out are absent. The registry judges the values. */
export function readSettings(subject: Subject): Partial<FunctionSettings> {
  const { properties, task } = subject;
  return withoutAbsent({
    runtime: textProperty(subject, "Runtime"),
    handler: textProperty(subject, "Handler"),
    role: textProperty(subject, "Role"),
    description: textProperty(subject, "Description"),
    timeoutSeconds: numberProperty(subject, "Timeout"),
    memoryMegabytes: numberProperty(subject, "MemorySize"),
    environment: environmentOf(properties["Environment"]),
    layers: textsOf(properties["Layers"], "Layers"),
    architecture: architectureOf(properties["Architectures"]),
    logging: loggingOf(properties["LoggingConfig"]),
    reservedConcurrency: numberProperty(subject, "ReservedConcurrentExecutions"),
    deadLetterArn: deadLetterOf(properties["DeadLetterConfig"]),
    tags: { ...task.tags, ...tagsOf(properties["Tags"]) },
  });
}

function environmentOf(value: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const variables = membersOf(membersOf(value, "Environment")["Variables"], "Environment/Variables");
  return Object.fromEntries(
    Object.entries(variables).map(([key, each]) => {
      const text = toText(each);
      if (text === undefined) throw mismatch(`Environment/Variables/${key}`, "String");
      return [key, text];
    }),
  );
}

function architectureOf(value: Json | undefined): FunctionSettings["architecture"] | undefined {
  const [architecture] = textsOf(value, "Architectures") ?? [];
  if (architecture === undefined || architecture === "x86_64" || architecture === "arm64")
    return architecture;
  throw new ResourceFailure(
    `Value '[${architecture}]' at 'architectures' failed to satisfy constraint: Member must satisfy constraint: [Member must satisfy enum value set: [x86_64, arm64], Member must not be null]`,
  );
}

function deadLetterOf(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const target = toText(membersOf(value, "DeadLetterConfig")["TargetArn"]);
  if (target === undefined || target === "" || /^arn:[^:]+:(?:sqs|sns):/.test(target)) return target;
  throw new ResourceFailure(
    `The provided dead letter target ${target} is no ARN of an SQS queue or an SNS topic.`,
  );
}

function loggingOf(value: Json | undefined): LoggingSettings | undefined {
  if (value === undefined) return undefined;
  const members = membersOf(value, "LoggingConfig");
  const format = toText(members["LogFormat"]) ?? "Text";
  if (format !== "Text" && format !== "JSON") throw notAllowed("LogFormat", format, ["JSON", "Text"]);
  return withoutAbsent({
    format,
    group: toText(members["LogGroup"]),
    applicationLevel: levelOf(members["ApplicationLogLevel"], "ApplicationLogLevel"),
    systemLevel: levelOf(members["SystemLogLevel"], "SystemLogLevel"),
  });
}

const levels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const satisfies readonly LogLevel[];

function levelOf(value: Json | undefined, name: string): LogLevel | undefined {
  const text = toText(value);
  if (text === undefined) return undefined;
  const level = levels.find((each) => each === text);
  if (level === undefined) throw notAllowed(name, text, levels);
  return level;
}

function notAllowed(name: string, value: string, allowed: readonly string[]): ResourceFailure {
  return new ResourceFailure(`${name} is ${value}, and must be one of ${allowed.join(", ")}.`);
}

/** The same object without members that are undefined. */
function withoutAbsent<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
