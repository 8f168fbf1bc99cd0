import { partitionOf } from "@custard/provider/protocol";
import type { JoinedServices } from "../join.ts";
import { ParameterError } from "../services/parameter-error.ts";
import { SecretError } from "../services/secret-error.ts";
import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";
import { placeOf } from "./place.ts";
import { futureState } from "./state-directory.ts";

/** Whose things a call is about. */
export interface ServiceScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** The scope that a call's `--region` and `--account` name. */
export function scopeOfCall(call: Call): ServiceScope {
  const { region = "us-east-1", account = "123456789012" } = placeOf(call);
  return { partition: partitionOf(region), account, region };
}

/** Opens the services of the state directory of a call, which is made when it isn't there. */
export async function withServices<T>(
  call: Call,
  use: (services: JoinedServices["services"]) => Promise<T>,
): Promise<T> {
  const opened = await call.services(futureState(call));
  try {
    return await use(opened.services);
  } catch (error) {
    if (error instanceof ParameterError || error instanceof SecretError)
      throw new CliFault(error.message === "" ? error.code : error.message, { cause: error });
    throw error;
  } finally {
    await opened.close();
  }
}
