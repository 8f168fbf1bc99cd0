/** Makes a provider addressable that no stack has made, for as long as it is invoked. */
import { randomUUID } from "node:crypto";
import { basename, dirname, extname } from "node:path";
import { type FunctionScope, formatFunctionArn } from "./function-arn.ts";
import type { FunctionRegistry } from "./functions.ts";
import type { TopicRegistry } from "./topics.ts";

/** Whom to send a request. */
export type InvocationTarget =
  /** A function or topic that exists. */
  | { readonly kind: "arn"; readonly arn: string }
  /** A server that a topic's messages go to. */
  | { readonly kind: "url"; readonly url: string }
  /** Absolute path of a file with a handler, and the name of that. */
  | { readonly kind: "module"; readonly file: string; readonly handler: string };

/** What a service token names until it is closed. */
export interface OpenTarget {
  readonly serviceToken: string;
  close(): Promise<void>;
}

/** What runs files with this ending, as the newest runtime that has all of Node.js 20's ways. */
export const moduleRuntimes: Readonly<Record<string, string>> = {
  ".js": "nodejs22.x",
  ".cjs": "nodejs22.x",
  ".mjs": "nodejs22.x",
  ".py": "python3.12",
};

const longestSeconds = 900;

/** Throws `FunctionError` or `TopicError` when there can't be such a provider. */
export async function openTarget(
  services: { readonly functions: FunctionRegistry; readonly topics: TopicRegistry },
  target: InvocationTarget,
  scope: FunctionScope,
): Promise<OpenTarget> {
  const name = `custard-invoke-${randomUUID()}`;
  switch (target.kind) {
    case "arn":
      return { serviceToken: target.arn, close: async () => undefined };
    case "url": {
      const { topics } = services;
      const { arn } = await topics.create(scope, { name });
      const protocol = target.url.startsWith("https:") ? "https" : "http";
      await topics.subscribe({ topicArn: arn, protocol, endpoint: target.url });
      return { serviceToken: arn, close: () => topics.delete(arn) };
    }
    case "module": {
      const { functions } = services;
      const reference = { ...scope, name };
      await functions.create(scope, {
        name,
        code: { kind: "directory", path: dirname(target.file) },
        settings: settingsOf(target),
      });
      return { serviceToken: formatFunctionArn(reference), close: () => functions.delete(reference) };
    }
  }
}

function settingsOf({ file, handler }: Extract<InvocationTarget, { kind: "module" }>) {
  const extension = extname(file);
  return {
    runtime: moduleRuntimes[extension] ?? "",
    handler: `${basename(file, extension)}.${handler}`,
    role: "",
    timeoutSeconds: longestSeconds,
    memoryMegabytes: 1024,
  };
}
