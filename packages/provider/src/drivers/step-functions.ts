import type { Driver } from "../driver.ts";
import { makeDriver } from "./make-driver.ts";
import type { RestStore } from "./rest-store.ts";

/** The part of `SFN` of `@aws-sdk/client-sfn` that is used. */
export interface StepFunctionsClient {
  startExecution(input: { readonly stateMachineArn: string; readonly input: string }): Promise<unknown>;
}

/** What the driver needs. */
export interface StepFunctionsOptions {
  readonly client: StepFunctionsClient;
  /** A state machine that waits `$.seconds` and then invokes the function with `$.event`; see the guide. */
  readonly stateMachineArn: string;
  readonly store: RestStore;
}

/** Waits of ten seconds or more are left to a state machine. Tested with a fake of the client; not verified against AWS. */
export function stepFunctionsDriver({ client, stateMachineArn, store }: StepFunctionsOptions): Driver {
  return makeDriver({
    store,
    shortestWait: 10_000,
    schedule: async (event, delay) => {
      const input = JSON.stringify({ seconds: Math.ceil(delay / 1000), event });
      await client.startExecution({ stateMachineArn, input });
    },
  });
}
