import type { Json, JsonObject } from "@custard/provider/protocol";
import type { ResourceTask } from "../engine/ports.ts";
import { revealMap } from "../template/value.ts";

/** A resource as its type sees it: a task with its properties as plain JSON, secrets in clear. */
export interface Subject {
  readonly task: ResourceTask;
  readonly properties: JsonObject;
}

export function toSubject(task: ResourceTask): Subject {
  return { task, properties: revealMap(task.properties) };
}

/** A property that is a scalar, as text; undefined when it is absent or a structure. */
export function textProperty({ properties }: Subject, name: string): string | undefined {
  return toText(properties[name]);
}

/** A scalar as text. */
export function toText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "object") return undefined;
  return String(value);
}

/** `arn:<partition>:<service>:<region>:<account>:<rest>` in the resource's own region and account. */
export function regionalArn({ task }: Subject, service: string, rest: string): string {
  return `arn:${task.partition}:${service}:${task.region}:${task.account}:${rest}`;
}

/** The same for a service without regions. */
export function globalArn({ task }: Subject, service: string, rest: string): string {
  return `arn:${task.partition}:${service}::${task.account}:${rest}`;
}

/** `amazonaws.com`, or China's. */
export function urlSuffix({ task }: Subject): string {
  return task.partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
}
