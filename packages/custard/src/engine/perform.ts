import { stringifyScalars, type JsonObject, type ProviderRequest } from "@custard/provider/protocol";
import { revealMap, type ValueMap } from "../template/value.ts";
import type { ResourceTask, ResponseUrls } from "./ports.ts";
import { definitionInForce } from "./stack-tags.ts";
import type { Pending, Stack } from "./stack.ts";

type ProviderPending = Extract<Pending, { kind: "provider" }>;
type TaskPending = Extract<Pending, { kind: "task" }>;

/** A pending request as its provider gets it; secrets in clear. The same one gives the same each time. */
export function toProviderRequest(
  stack: Stack,
  pending: ProviderPending,
  urls: ResponseUrls,
): ProviderRequest {
  const { stackId, region, partition } = stack.identity;
  const { requestId, logicalId, issuedAt } = pending;
  const base = {
    stackId,
    requestId,
    logicalId,
    serviceToken: pending.serviceToken,
    responseUrl: urls.urlFor({ stackId, logicalId, requestId, region, partition, issuedAt }),
    resourceType: pending.type,
    properties: asSent(pending.properties),
  };
  switch (pending.action) {
    case "create":
      return { ...base, requestType: "Create" };
    case "update": {
      const { physicalId, oldProperties } = pending;
      return { ...base, requestType: "Update", physicalId, oldProperties: asSent(oldProperties) };
    }
    case "delete":
      return { ...base, requestType: "Delete", physicalId: pending.physicalId };
  }
}

/** A pending request as a built-in type gets it. */
export function toResourceTask(stack: Stack, pending: TaskPending): ResourceTask {
  const { stackId, stackName, account, region, partition } = stack.identity;
  const { tags, directory } = definitionInForce(stack);
  return {
    action: pending.action,
    stackId,
    stackName,
    account,
    region,
    partition,
    logicalId: pending.logicalId,
    type: pending.type,
    properties: plain(pending.properties),
    physicalId: pending.targetId,
    tags,
    token: pending.requestId,
    ...(pending.action === "update" ? { oldProperties: plain(pending.oldProperties) } : {}),
    ...(directory === undefined ? {} : { directory }),
  };
}

function plain(properties: ValueMap): ValueMap {
  return revealMap(properties);
}

/** Fact 10. */
function asSent(properties: ValueMap): JsonObject {
  const sent: JsonObject = {};
  return Object.assign(sent, stringifyScalars(revealMap(properties)));
}
