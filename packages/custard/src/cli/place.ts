import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";

/** Checks `--region` and `--account`. Throws `CliFault` when they can't be any. */
export function placeOf(call: Call): { readonly region?: string; readonly account?: string } {
  const region = call.text("region");
  const account = call.text("account");
  if (region !== undefined && !/^[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}$/.test(region)) {
    throw new CliFault(`"${region}" is no region`, {
      advice: "A region looks like eu-west-1, cn-north-1 or us-gov-west-1.",
    });
  }
  if (account !== undefined && !/^\d{12}$/.test(account)) {
    throw new CliFault(`"${account}" is no account`, {
      advice: "An account has 12 digits, e.g. 123456789012.",
    });
  }
  return { ...(region === undefined ? {} : { region }), ...(account === undefined ? {} : { account }) };
}
