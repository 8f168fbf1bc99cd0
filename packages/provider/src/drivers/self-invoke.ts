import type { Driver } from "../driver.ts";
import { makeDriver } from "./make-driver.ts";
import type { RestStore } from "./rest-store.ts";

/** The part of `Lambda` of `@aws-sdk/client-lambda` that is used. */
export interface LambdaClient {
  invoke(input: {
    readonly FunctionName: string;
    readonly InvocationType: "Event";
    readonly Payload: Uint8Array;
  }): Promise<unknown>;
}

/** What the driver needs. The function's role must allow `lambda:InvokeFunction` on the function itself. */
export interface SelfInvokeOptions {
  readonly client: LambdaClient;
  /** Default: this function. */
  readonly functionName?: string;
  readonly store: RestStore;
}

/** Polls in the process while there is time, then has the function invoke itself. Needs no other service. */
export function selfInvokeDriver({ client, functionName, store }: SelfInvokeOptions): Driver {
  return makeDriver({
    store,
    shortestWait: Infinity,
    schedule: async (event) => {
      const FunctionName = functionName ?? process.env["AWS_LAMBDA_FUNCTION_NAME"] ?? "";
      const Payload = Buffer.from(JSON.stringify(event));
      await client.invoke({ FunctionName, InvocationType: "Event", Payload });
    },
  });
}
