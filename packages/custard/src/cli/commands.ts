import type { Command } from "./command.ts";

/** The commands by name, in the order of the help page. Each is loaded only when it is needed. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  deploy: async () => (await import("./commands/deploy.ts")).deploy,
  delete: async () => (await import("./commands/delete.ts")).deleteCommand,
  resume: async () => (await import("./commands/resume.ts")).resume,
  list: async () => (await import("./commands/list.ts")).list,
  describe: async () => (await import("./commands/describe.ts")).describe,
  events: async () => (await import("./commands/events.ts")).events,
  outputs: async () => (await import("./commands/outputs.ts")).outputs,
  logs: async () => (await import("./commands/logs.ts")).logs,
  validate: async () => (await import("./commands/validate.ts")).validate,
  evaluate: async () => (await import("./commands/evaluate.ts")).evaluate,
  ssm: async () => (await import("./commands/ssm.ts")).ssm,
  secrets: async () => (await import("./commands/secrets.ts")).secrets,
  invoke: async () => (await import("./commands/invoke.ts")).invoke,
  init: async () => (await import("./commands/init.ts")).init,
  serve: async () => (await import("./commands/serve.ts")).serve,
  exec: async () => (await import("./commands/exec.ts")).exec,
};

/** Is there a command of this name? */
export function isCommand(name: string): boolean {
  return Object.hasOwn(loaders, name);
}

/** The command that a call begins with, alone; all of them when it begins with none. */
export async function loadCommands(name: string | undefined): Promise<readonly Command[]> {
  const load = name !== undefined && Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  return load === undefined ? allCommands() : [await load()];
}

/** All commands. */
export async function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loaders).map(async (load) => load()));
}
