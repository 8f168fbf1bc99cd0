/** Commands by which stacks speak to each other. All may be repeated. */
import { exportClaim } from "./claims.ts";
import type { Task } from "./command.ts";
import type { Occurrence } from "./event.ts";
import { exportsOf } from "./exports.ts";
import type { StackId } from "./ids.ts";
import type { Journal } from "./ports.ts";
import type { Import, Stack } from "./stack.ts";

/** How stacks are reached. */
export interface Post {
  readonly journal: Pick<Journal, "holder">;
  stack(stackId: StackId): Promise<Stack | undefined>;
  /** Resolves with the stack after the event. */
  tell(stackId: StackId, occurrence: Occurrence): Promise<Stack | undefined>;
}

/** Asks the exporter to count on this stack's use, and tells this stack what came of it. */
export async function findImport(
  post: Post,
  importer: Stack,
  { name, sequence }: Extract<Task, { kind: "find-import" }>,
): Promise<void> {
  if (importer.operation?.asked.has(name) !== true) return withdraw(post, importer, { name, sequence });
  const found = await ask(post, importer, { name, sequence });
  const answer = found === undefined ? {} : { found };
  await post.tell(importer.identity.stackId, { kind: "import-answered", name, ...answer });
}

async function ask(
  post: Post,
  importer: Stack,
  wanted: { name: string; sequence: number },
): Promise<Import | undefined> {
  const { name, sequence } = wanted;
  const { stackId, stackName } = importer.identity;
  const exporter = await post.journal.holder(exportClaim(importer.identity, name));
  // A stack that imports from itself would wait for itself.
  if (exporter === undefined || exporter === stackId) return undefined;
  const by = { stackName, sequence };
  const stack = await post.tell(exporter, { kind: "import-wanted", name, importer: stackId, by });
  const value = stack === undefined ? undefined : exportsOf(stack).get(name);
  const admitted = stack?.importers.get(name)?.has(stackId) === true;
  return admitted && value !== undefined ? { exporter, value } : undefined;
}

/** The exporter may have heard of it before a crash, and this stack has given up since. */
async function withdraw(
  post: Post,
  importer: Stack,
  { name, sequence }: { name: string; sequence: number },
): Promise<void> {
  const { identity, imports } = importer;
  const exporter = await post.journal.holder(exportClaim(identity, name));
  if (exporter === undefined || exporter === identity.stackId || imports.has(name)) return;
  const released = { name, importer: identity.stackId, sequence: sequence + 1 };
  await post.tell(exporter, { kind: "import-released", ...released });
}

/** Tells the exporter that this stack has no more use for an export. */
export async function releaseImport(
  post: Post,
  importer: Stack,
  { name, exporter, sequence }: Extract<Task, { kind: "release-import" }>,
): Promise<void> {
  if ((await post.stack(exporter)) === undefined) return;
  const { stackId } = importer.identity;
  await post.tell(exporter, { kind: "import-released", name, importer: stackId, sequence });
}
