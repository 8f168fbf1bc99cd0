/** Short words for scenarios of stack operations: templates of custom resources, a scripted provider, events as lines. */
import type { JsonObject } from "@custard/provider/protocol";
import {
  World,
  type Script,
  type ScriptedAnswer,
  type WorldOptions,
} from "../../packages/custard/src/testing/world.ts";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";

export const serviceToken = "arn:aws:lambda:us-east-1:123456789012:function:provider";

/** A custom resource; `more` are its other attributes (DependsOn, DeletionPolicy …). */
export function custom(properties: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { Type: "Custom::Thing", Properties: { ServiceToken: serviceToken, ...properties }, ...more };
}

/** A resource of a type that is a record here: `Name` is create-only. */
export function plain(properties: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { Type: "AWS::SSM::Parameter", Properties: properties, ...more };
}

export function template(resources: JsonObject, more: JsonObject = {}): { readonly templateBody: string } {
  return { templateBody: JSON.stringify({ Resources: resources, ...more }) };
}

/** Answers by `<Request type> <logical id>`; what isn't named succeeds. */
export type Answers = Record<string, ScriptedAnswer | Script>;

export const failure = (reason: string): ScriptedAnswer => ({ answer: { Status: "FAILED", Reason: reason } });

/** A world whose provider answers as `answers` say; they may be changed while it runs. */
export function worldOf(answers: Answers, options: Omit<WorldOptions, "script"> = {}): World {
  return new World({
    ...options,
    script: (request) => {
      const answer = answers[`${request.requestType} ${request.logicalId}`] ?? { answer: {} };
      return typeof answer === "function" ? answer(request) : answer;
    },
  });
}

/** Events as `<logical id> <status> <reason>`, oldest first; request ids as `<id>`. */
export async function lines(world: World, stackId: StackId, after = 0): Promise<readonly string[]> {
  const events = await world.events(stackId);
  return events
    .filter(({ sequence }) => sequence > after)
    .map(({ logicalId, status, reason }) => `${logicalId} ${status} ${reason ?? ""}`.trimEnd())
    .map((line) => line.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>"));
}

/** Number of the newest event, to look at what comes after. */
export async function newest(world: World, stackId: StackId): Promise<number> {
  return (await world.events(stackId)).at(-1)?.sequence ?? 0;
}

/** Requests as `<type> <logical id> <physical id>`. */
export function requestLines(world: World, from = 0): readonly string[] {
  return world.requests
    .slice(from)
    .map((request) =>
      [request.requestType, request.logicalId, "physicalId" in request ? request.physicalId : ""]
        .join(" ")
        .trimEnd(),
    );
}
