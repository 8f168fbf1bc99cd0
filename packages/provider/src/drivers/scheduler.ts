import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Driver } from "../driver.ts";
import { makeDriver } from "./make-driver.ts";
import type { RestStore } from "./rest-store.ts";

/** The part of `Scheduler` of `@aws-sdk/client-scheduler` that is used. */
export interface SchedulerClient {
  createSchedule(input: object): Promise<unknown>;
}

/** What the driver needs. */
export interface SchedulerOptions {
  readonly client: SchedulerClient;
  /** The provider's function. */
  readonly functionArn: string;
  /** The role with which EventBridge Scheduler invokes it. */
  readonly roleArn: string;
  readonly groupName?: string;
  readonly store: RestStore;
  readonly clock?: Pick<Clock, "now">;
}

const minute = 60_000;

/**
 * Waits of a minute or more are left to EventBridge Scheduler, so that the function doesn't run meanwhile; one schedule
 * each, deleted by itself. Tested with a fake of the client; not verified against AWS.
 */
export function schedulerDriver(options: SchedulerOptions): Driver {
  const { client, functionArn, roleArn, groupName, store, clock = { now: () => Date.now() } } = options;
  return makeDriver({
    store,
    shortestWait: minute,
    schedule: async (event, delay) => {
      const at = new Date(clock.now() + Math.max(minute, delay)).toISOString().slice(0, 19);
      const hash = createHash("sha256").update(event.reference).digest("hex").slice(0, 32);
      await client.createSchedule({
        Name: `custard-${hash}`,
        ...(groupName !== undefined && { GroupName: groupName }),
        ScheduleExpression: `at(${at})`,
        FlexibleTimeWindow: { Mode: "OFF" },
        ActionAfterCompletion: "DELETE",
        Target: { Arn: functionArn, RoleArn: roleArn, Input: JSON.stringify(event) },
      });
    },
  });
}
