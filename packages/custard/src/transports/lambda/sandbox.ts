/**
 * Functions behind bubblewrap: a network of their own in which only our endpoints exist, under their real names and
 * ports, a read-only system, no home, nothing of the user's but the function's code.
 *
 * Invariants
 * X1. Where the sandbox can't be had, nothing is run: there is no falling back.
 * X2. Of the machine, a function sees programs and libraries (`/usr`), the interpreter, its code and its layers; of
 *     `/etc` only what linking and certificates need.
 * X3. The channel over which the listeners come out is closed before any code of the function runs.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { RuntimeFamily } from "../../services/function-settings.ts";
import { runtimeAsset } from "./code-folder.ts";
import type { InstanceFolders } from "./environment.ts";
import { TransportError } from "./transport-error.ts";

/** What sandboxes need of the engine. */
export interface SandboxOptions {
  /** PEM files: our authority alone, and with the system's. */
  readonly caFile: string;
  readonly bundleFile: string;
  /** Names that lead to the endpoint, for functions of a region. */
  readonly hosts: (region: string) => readonly string[];
  /** Serves a connection to port 443 of these. */
  readonly onConnection: (socket: Socket) => void;
}

/** What an instance must know of its sandbox. */
export interface InstanceSandbox {
  /** Of the Runtime API, as seen from inside. */
  readonly address: string;
  /** How many processes stand between the one that is spawned and the function's. */
  readonly depth: number;
  readonly onConnection: (socket: Socket) => void;
}

/** What is to be run, with paths as they are inside. */
export interface SandboxedProgram {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly family: RuntimeFamily;
  readonly region: string;
  /** Where things are outside. */
  readonly folders: InstanceFolders;
  readonly node: string;
  /** Further folders to show, e.g. an interpreter's, under their own names. */
  readonly shown: readonly string[];
}

/** The paths that a function sees, as on Lambda. */
export const sandboxFolders = {
  code: "/var/task",
  layers: "/opt",
  home: "/tmp",
  temporary: "/tmp",
} as const satisfies InstanceFolders;

const runtimeFolder = "/var/runtime";
const authorityFile = "/etc/ssl/certs/custard-authority.pem";
/** Lambda's own user. */
const user = { name: "sbx_user1051", uid: "993", gid: "990" };
/** Lambda's default for `/tmp`: 512 MB. */
const temporaryBytes = String(512 * 1024 * 1024);
/** Where programs look for certificates; all of them get our bundle. */
const bundlePlaces = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/ssl/cert.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
];
/** X2. */
const systemFiles = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/nsswitch.conf",
  "/etc/ssl/openssl.cnf",
];
/**
 * A `/dev` without terminals. bwrap's own has some, and needs a second user namespace for them, in which nobody may
 * listen on port 443.
 */
const devices: readonly string[] = [
  ...["null", "zero", "full", "random", "urandom"].flatMap((name) => [
    "--dev-bind",
    `/dev/${name}`,
    `/dev/${name}`,
  ]),
  ...[
    ["/proc/self/fd", "/dev/fd"],
    ["/proc/self/fd/0", "/dev/stdin"],
    ["/proc/self/fd/1", "/dev/stdout"],
    ["/proc/self/fd/2", "/dev/stderr"],
  ].flatMap((link) => ["--symlink", ...link]),
  "--tmpfs",
  "/dev/shm",
];
const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Throws `TransportError` (NoSandbox) when there can be no sandbox on this machine (X1). */
export async function probeSandbox(): Promise<void> {
  try {
    await promisify(execFile)("bwrap", [...isolation, ...system(), "--", "/usr/bin/env", "true"], {
      timeout: 10_000,
    });
  } catch (cause) {
    throw new TransportError("NoSandbox", `Functions can't be run in a sandbox here: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** What the variables of certificates are inside; nothing needs to be redirected there. */
export function sandboxEnvironment(family: RuntimeFamily): Record<string, string> {
  switch (family) {
    case "node":
      return { NODE_EXTRA_CA_CERTS: authorityFile };
    case "python":
      // Libraries that bring a list of their own look here.
      return { REQUESTS_CA_BUNDLE: bundlePlaces[0] ?? "", AWS_CA_BUNDLE: bundlePlaces[0] ?? "" };
    case "custom":
      return {};
  }
}

/** A path of the machine as it is called inside; paths that are shown under their own names stay. */
export function insidePath(path: string, folders: InstanceFolders): string {
  const places: readonly (readonly [outside: string, inside: string])[] = [
    [folders.code, sandboxFolders.code],
    ...(folders.layers === undefined ? [] : [[folders.layers, sandboxFolders.layers] as const]),
    [runtimeAsset(""), runtimeFolder],
  ];
  const found = places.find(([outside]) => path.startsWith(join(outside, "/")));
  return found === undefined ? path : join(found[1], path.slice(found[0].length));
}

/** The command that runs a program in a sandbox, and what its instance must know. */
export async function inSandbox(
  options: SandboxOptions,
  program: SandboxedProgram,
): Promise<{ command: string; arguments: readonly string[]; sandbox: InstanceSandbox }> {
  const files = await writeFiles(options, program);
  const { folders, shown } = program;
  const launcher = join(runtimeFolder, "node/sandbox.cjs");
  const inPlace = program.family === "node" && program.command === program.node;
  const nodeFlags = inPlace ? program.arguments.filter((argument) => argument.startsWith("--")) : [];
  const rest = inPlace
    ? program.arguments.filter((argument) => !argument.startsWith("--"))
    : [program.command, ...program.arguments];
  const mounts = [
    ...system(),
    ...files,
    ...prefixesOf([program.node, ...shown]).flatMap((path) => readOnly(path)),
    ...readOnly(runtimeAsset(""), runtimeFolder),
    ...readOnly(folders.code, sandboxFolders.code),
    ...(folders.layers === undefined ? ["--dir", "/opt"] : readOnly(folders.layers, sandboxFolders.layers)),
    "--size",
    temporaryBytes,
    "--tmpfs",
    sandboxFolders.temporary,
    "--remount-ro",
    "/",
    "--chdir",
    sandboxFolders.code,
  ];
  return {
    command: "bwrap",
    arguments: [
      ...isolation,
      ...mounts,
      "--",
      program.node,
      ...nodeFlags,
      launcher,
      inPlace ? "here" : "run",
      ...rest,
    ],
    sandbox: { address: "127.0.0.1:9001", depth: inPlace ? 2 : 3, onConnection: options.onConnection },
  };
}

/** Serves the listeners that come out of a sandbox for as long as its process lives (X3: two, then the channel closes). */
export function takeListeners(
  child: ChildProcess,
  serve: Readonly<Record<string, (socket: Socket) => void>>,
): void {
  const waiting = new Map(Object.entries(serve));
  child.on("message", (name, handle) => {
    const onConnection = typeof name === "string" ? waiting.get(name) : undefined;
    if (typeof name !== "string" || onConnection === undefined || !(handle instanceof Server)) return;
    waiting.delete(name);
    handle.on("connection", onConnection);
    child.once("exit", () => handle.close());
    if (waiting.size === 0 && child.connected) child.disconnect();
  });
  // The channel of a process that has ended can't be closed again.
  child.on("disconnect", () => undefined);
}

/**
 * Everything unshared, and no capability but the one that port 443 needs. The process has no terminal already, and no
 * session of its own within its group, so that it can be stopped with the group.
 */
const isolation: readonly string[] = [
  "--unshare-all",
  "--die-with-parent",
  "--uid",
  user.uid,
  "--gid",
  user.gid,
  "--cap-drop",
  "ALL",
  "--cap-add",
  "CAP_NET_BIND_SERVICE",
];

function system(): readonly string[] {
  return [
    ...readOnly("/usr"),
    ...systemFolders.flatMap(systemFolder),
    ...systemFiles.filter((path) => existsSync(path)).flatMap((path) => readOnly(path)),
    ...devices,
    "--proc",
    "/proc",
  ];
}

function systemFolder(path: string): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : readOnly(path);
}

function readOnly(outside: string, inside: string = outside): readonly string[] {
  return ["--ro-bind", outside, inside];
}

/** The folders of interpreters that don't stand in `/usr`: two above the executable, `…/bin/node`. */
function prefixesOf(paths: readonly string[]): readonly string[] {
  const folders = paths.flatMap((path) => {
    if (!existsSync(path)) return [];
    const real = realpathSync(path);
    return lstatSync(real).isDirectory() ? [path] : [dirname(dirname(path)), dirname(dirname(real))];
  });
  return [...new Set(folders)].filter((folder) => folder !== "/" && !isBelow(folder, "/usr"));
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

async function writeFiles(options: SandboxOptions, program: SandboxedProgram): Promise<readonly string[]> {
  const { home } = program.folders;
  const names = ["localhost", ...options.hosts(program.region)];
  const written = {
    "/etc/hosts": names.map((name) => `127.0.0.1 ${name}\n`).join(""),
    "/etc/passwd": `${user.name}:x:${user.uid}:${user.gid}::/tmp:/sbin/nologin\n`,
    "/etc/group": `${user.name}:x:${user.gid}:\n`,
  };
  const mounts = Object.entries(written).map(async ([inside, content]) => {
    const outside = join(home, inside.replaceAll("/", "-"));
    await writeFile(outside, content, { mode: 0o644 });
    return readOnly(outside, inside);
  });
  return [
    ...(await Promise.all(mounts)).flat(),
    ...bundlePlaces.flatMap((place) => readOnly(options.bundleFile, place)),
    ...readOnly(options.caFile, authorityFile),
  ];
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause && cause.code === "ENOENT")
    return "there is no bwrap on the PATH. Install bubblewrap (apt-get install bubblewrap), or leave --sandbox out.";
  const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
  return `bubblewrap may not make one on this machine (${said}). Containers and some systems forbid it to users; leave --sandbox out, or allow user namespaces.`;
}
