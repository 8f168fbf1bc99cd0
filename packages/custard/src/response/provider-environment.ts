import { join, resolve } from "node:path";
import { openCertificate } from "./certificate.ts";
import { portFileOf } from "./port-file.ts";
import { redirectEnvironment } from "./redirect.ts";

/**
 * The environment in which a program that the user starts himself reaches the engine of a state directory, whichever
 * process runs it, now or later. `environment` is what it would have otherwise.
 */
export async function providerEnvironment(
  stateDirectory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string | undefined>>> {
  const directory = resolve(stateDirectory);
  const tls = { directory: join(directory, "tls"), hosts: ["localhost"], now: Date.now() };
  const { caFile, bundleFile } = await openCertificate(tls);
  const port = { file: portFileOf(directory) };
  const redirect = redirectEnvironment({ port, caFile, bundleFile, runtime: "any" }, environment);
  // Bundles of the user's own stay: the hooks add the endpoint's authority to whatever is trusted.
  const kept = Object.keys(redirect).filter(
    (name) => /_(?:FILE|BUNDLE)$/u.test(name) && environment[name] !== undefined,
  );
  return {
    ...environment,
    ...redirect,
    ...Object.fromEntries(kept.map((name) => [name, environment[name]])),
  };
}
