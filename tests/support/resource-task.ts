import type { LogicalId, PhysicalId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { ResourceTask } from "../../packages/custard/src/engine/ports.ts";

/** A task to create a resource, for tests. */
export function createTask(type: string, more: Partial<ResourceTask> = {}): ResourceTask {
  return {
    action: "create",
    stackId:
      "arn:aws:cloudformation:us-east-1:123456789012:stack/my-stack/51af3dc0-da77-11e4-872e-1234567db123" as StackId,
    stackName: "my-stack",
    logicalId: "Thing" as LogicalId,
    type,
    account: "123456789012",
    region: "us-east-1",
    partition: "aws",
    properties: {},
    physicalId: "my-stack-Thing-Kdps7TfbhFx5" as PhysicalId,
    tags: {},
    token: "create-1",
    ...more,
  };
}
