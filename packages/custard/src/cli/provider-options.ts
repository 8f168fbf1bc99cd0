import type { LocalOptions } from "../local.ts";
import type { Call, OptionSpec } from "./command.ts";
import { CliFault } from "./fault.ts";

/** Options on how providers are run and reached. */
export const providerOptions = {
  sandbox: {
    flags: "--sandbox",
    description:
      "run functions cut off from this machine and its network (Linux, bubblewrap); the state directory remembers it",
  },
  noSandbox: {
    flags: "--no-sandbox",
    description: "run functions as you, also where a sandbox was used before",
  },
  responseUrlStyle: {
    flags: "--response-url-style <style>",
    description:
      "v4, as today, or v2: as older regions had it, which refuses answers with a content-type (default: v4)",
  },
  subscriberHosts: {
    flags: "--subscriber-hosts <host...>",
    description:
      "other machines whose HTTP endpoints get messages from topics here; * for all (default: none)",
  },
} as const satisfies Record<string, OptionSpec>;

/** What they say. Throws `CliFault`. */
export function providerSettings(
  call: Call,
): Pick<LocalOptions, "sandbox" | "responseUrlStyle" | "subscriberHosts"> {
  const style = call.text("responseUrlStyle") ?? "v4";
  if (style !== "v2" && style !== "v4")
    throw new CliFault(`--response-url-style takes v4 or v2, but got "${style}"`);
  return { ...sandboxSetting(call), responseUrlStyle: style, subscriberHosts: call.texts("subscriberHosts") };
}

/** What `--sandbox` says: without it, what the state directory remembers counts. */
function sandboxSetting(call: Call): Pick<LocalOptions, "sandbox"> {
  const sandbox = call.toggle("sandbox");
  return sandbox === undefined ? {} : { sandbox };
}
