import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { urlSuffixes } from "@custard/provider/protocol";

/** What a child process needs to reach the response endpoint under AWS's names. */
export interface Redirect {
  /** Of the endpoint, on 127.0.0.1; or the file that holds it, for programs that may outlive the endpoint. */
  readonly port: number | { readonly file: string };
  /**
   * Names that lead to the endpoint on port 443; one `*` in a name stands for any characters. With `+` before it the
   * connection is reported all the same; with `!` the name is refused wherever it doesn't lead to the endpoint.
   */
  readonly hosts?: readonly string[];
  readonly caFile: string;
  readonly bundleFile: string;
  /** `any`: whatever the user starts, so that both runtimes are served. */
  readonly runtime: "node" | "python" | "any";
  /** Where the child reports its other connections, one instance per file; see `readReport`. */
  readonly reportFile?: string;
}

/** Buckets for responses and for wait conditions of all regions, and SNS, for its certificates. */
export const redirectedHosts: readonly string[] = [
  "cloudformation-custom-resource-response-*",
  "cloudformation-waitcondition-*",
  ...urlSuffixes.map((suffix) => `sns.*.${suffix}`),
];

/**
 * What functions are kept from besides: all of AWS leads to the endpoint, too. `served`: it stands for AWS there, so
 * that others may act on what a function says; else it refuses.
 */
export function awsHosts(served: boolean): readonly string[] {
  const names = urlSuffixes.map((suffix) => `*.${suffix}`);
  // The last are newer names of services, and where virtual machines get their credentials.
  const refused = [...names, "*.api.aws", "169.254.169.254", "169.254.170.2"];
  return [...names.map((name) => (served ? `+${name}` : name)), ...refused.map((name) => `!${name}`)];
}

const nodeHook = fileURLToPath(new URL("../../runtimes/node/redirect.cjs", import.meta.url));
const pythonFolder = fileURLToPath(new URL("../../runtimes/python", import.meta.url));

/**
 * The variables that make a child's connections to `hosts` end at the endpoint. Those that `environment` has already
 * are kept: our hook comes before the user's NODE_OPTIONS and PYTHONPATH.
 */
export function redirectEnvironment(
  redirect: Redirect,
  environment: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  return {
    CUSTARD_REDIRECT: [placeOf(redirect), ...(redirect.hosts ?? redirectedHosts)].join(" "),
    CUSTARD_REDIRECT_CA: redirect.caFile,
    ...(redirect.reportFile !== undefined && { CUSTARD_REDIRECT_REPORT: redirect.reportFile }),
    ...(redirect.runtime !== "python" && {
      NODE_OPTIONS: join(" ", `--require ${quote(nodeHook)}`, environment["NODE_OPTIONS"]),
    }),
    ...(redirect.runtime !== "node" && {
      PYTHONPATH: join(":", pythonFolder, environment["PYTHONPATH"]),
      ...bundleVariables(redirect.bundleFile),
    }),
  };
}

function placeOf({ port }: Redirect): string {
  return typeof port === "number"
    ? String(port)
    : `@${port.file.replaceAll("%", "%25").replaceAll(" ", "%20")}`;
}

/** For what brings no hook of ours along, and for older libraries: each of these replaces what its reader trusts. */
function bundleVariables(bundleFile: string): Record<string, string> {
  return {
    SSL_CERT_FILE: bundleFile,
    REQUESTS_CA_BUNDLE: bundleFile,
    CURL_CA_BUNDLE: bundleFile,
    AWS_CA_BUNDLE: bundleFile,
  };
}

/**
 * What an instance has turned to besides the endpoint and its Runtime API: `connect HOST:PORT`, `connect SOCKET`,
 * `spawn PROGRAM`. Each once in the instance's life: a connection may be used again by later invocations, so one
 * that ever existed speaks for all of them.
 */
export async function readReport(reportFile: string): Promise<readonly string[]> {
  try {
    const text = await readFile(reportFile, "utf8");
    return text.split("\n").filter((line) => line !== "");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** As NODE_OPTIONS reads it: quoted, since the path may hold spaces. */
function quote(path: string): string {
  return `"${path.replace(/[\\"]/gu, "\\$&")}"`;
}

function join(separator: string, ours: string, theirs: string | undefined): string {
  return theirs === undefined || theirs === "" ? ours : `${ours}${separator}${theirs}`;
}
