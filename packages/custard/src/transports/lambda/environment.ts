/** The world of a function's process: nothing of the user's own environment but what is passed here (facts 1.5, 2). */
import { createHash } from "node:crypto";
import { delimiter, join } from "node:path";
import { accessKeyOf } from "../../services/access-key.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";

/** Folders of one instance and of its function. */
export interface InstanceFolders {
  /** The function's code: `LAMBDA_TASK_ROOT` and current directory. */
  readonly code: string;
  /** Its layers laid over each other: `/opt` on Lambda; absent without layers. */
  readonly layers?: string;
  /** HOME; a folder of its own. */
  readonly home: string;
  /** What `/tmp` is on Lambda; a folder of its own. */
  readonly temporary: string;
}

/** What goes into an environment besides the function itself. */
export interface EnvironmentParts {
  readonly folders: InstanceFolders;
  readonly logStream: string;
  /** Of the machine: PATH entry of the runtime, redirect, certificates. */
  readonly base: Readonly<Record<string, string>>;
  /** Where Node functions may find packages that Lambda's runtime has and the machine's lacks, e.g. the user's project. */
  readonly nodeModules: readonly string[];
}

/** What every process of Custard's functions has, also a spare one that isn't a function's yet. */
export function baseEnvironment(
  folders: Pick<InstanceFolders, "home" | "temporary">,
): Record<string, string> {
  return {
    HOME: folders.home,
    TMPDIR: folders.temporary,
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    PATH: ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

/** The whole environment of one instance. The function's own variables can't replace Lambda's (the registry refuses them). */
export function functionEnvironment(
  resolved: ResolvedFunction,
  parts: EnvironmentParts,
): Record<string, string> {
  const { folders, base } = parts;
  const own = resolved.settings.environment;
  const paths = modulePaths(parts, resolved.settings.runtime);
  return {
    ...baseEnvironment(folders),
    ...paths,
    ...base,
    ...own,
    ...joined({ name: "NODE_OPTIONS", separator: " " }, [base, own]),
    ...joined({ name: "NODE_PATH", separator: delimiter }, [own, paths, base]),
    ...joined({ name: "PYTHONPATH", separator: delimiter }, [base, own, paths]),
    ...joined({ name: "PATH", separator: delimiter }, [own, base, baseEnvironment(folders), paths]),
    ...harmless,
    ...credentialsOf(resolved.reference.account, parts),
    ...lambdaVariables(resolved, parts),
  };
}

/** `2026/12/01/[$LATEST]<32 hex>`; stable for an instance, so that it names the instance as on Lambda. */
export function logStreamOf(resolved: ResolvedFunction, instance: { startedAt: number; id: string }): string {
  const day = new Date(instance.startedAt).toISOString().slice(0, 10).replaceAll("-", "/");
  const hex = createHash("sha256").update(instance.id).digest("hex").slice(0, 32);
  return `${day}/[${resolved.version}]${hex}`;
}

/** No way to the user's own account. */
const harmless = {
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  AWS_EC2_METADATA_DISABLED: "true",
};

/** Credentials that count nowhere but on this machine; the base has the secret when an endpoint here asks for it. */
function credentialsOf(account: string, { base }: EnvironmentParts): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: accessKeyOf(account),
    AWS_SECRET_ACCESS_KEY: base["AWS_SECRET_ACCESS_KEY"] ?? "custard-has-no-real-credentials",
    AWS_SESSION_TOKEN: "custard",
  };
}

function lambdaVariables(resolved: ResolvedFunction, parts: EnvironmentParts): Record<string, string> {
  const { settings, reference, version } = resolved;
  const { format, applicationLevel, group } = settings.logging;
  return {
    _HANDLER: localPath(settings.handler, parts.folders),
    AWS_REGION: reference.region,
    AWS_DEFAULT_REGION: reference.region,
    ...(settings.runtime.startsWith("provided")
      ? {}
      : { AWS_EXECUTION_ENV: `AWS_Lambda_${settings.runtime}` }),
    AWS_LAMBDA_FUNCTION_NAME: reference.name,
    AWS_LAMBDA_FUNCTION_VERSION: version,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMegabytes),
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: group ?? `/aws/lambda/${reference.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: parts.logStream,
    AWS_LAMBDA_LOG_FORMAT: format,
    ...(format === "JSON" ? { AWS_LAMBDA_LOG_LEVEL: applicationLevel ?? "INFO" } : {}),
    LAMBDA_TASK_ROOT: parts.folders.code,
    LAMBDA_RUNTIME_DIR: parts.folders.code,
  };
}

/** Where a path of Lambda's leads here: `/opt` to the layers, `/var/task` to the code. */
export function localPath(path: string, folders: Pick<InstanceFolders, "code" | "layers">): string {
  if (path.startsWith("/var/task/")) return join(folders.code, path.slice("/var/task/".length));
  if (path.startsWith("/opt/") && folders.layers !== undefined)
    return join(folders.layers, path.slice("/opt/".length));
  return path;
}

/** Order of Lambda's NODE_PATH (fact 1.5): layers, then the function's folder, then what stands for Lambda's own. */
function modulePaths(parts: EnvironmentParts, runtime: string): Record<string, string> {
  const { code, layers } = parts.folders;
  const node = ["nodejs/node18", "nodejs/node20", "nodejs/node22", "nodejs/node24", "nodejs"];
  const inLayers = (names: readonly string[]) =>
    layers === undefined ? [] : names.map((name) => join(layers, name));
  return {
    NODE_PATH: [...inLayers(node.map((name) => `${name}/node_modules`)), code, ...parts.nodeModules].join(
      delimiter,
    ),
    ...(layers === undefined
      ? {}
      : {
          PYTHONPATH: inLayers(["python", `python/lib/${runtime}/site-packages`]).join(delimiter),
          PATH: join(layers, "bin"),
          LD_LIBRARY_PATH: [code, join(code, "lib"), join(layers, "lib")].join(delimiter),
        }),
  };
}

function joined(
  list: { readonly name: string; readonly separator: string },
  sources: readonly Readonly<Record<string, string>>[],
): Record<string, string> {
  const values = sources.flatMap((source) => source[list.name] ?? []).filter((value) => value !== "");
  return values.length === 0 ? {} : { [list.name]: [...new Set(values)].join(list.separator) };
}
