import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "packages");

/** Who may import whom, which `node:` modules and which packages each folder may use: the house as data. */
const house: Record<
  string,
  { folders: readonly string[]; node: readonly string[]; packages: readonly string[] }
> = {
  "custard/src/template": {
    folders: [],
    node: ["node:buffer"],
    packages: ["yaml", "@custard/provider/protocol"],
  },
  "custard/src/engine": {
    folders: ["custard/src/template"],
    node: ["node:crypto"],
    packages: ["@custard/provider/protocol"],
  },
  "custard/src/storage": {
    folders: ["custard/src/engine", "custard/src/services"],
    node: ["node:fs", "node:path"],
    packages: ["libsql", "@custard/provider/protocol"],
  },
  "custard/src/response": {
    folders: ["custard/src/engine"],
    node: [
      "node:crypto",
      "node:fs/promises",
      "node:http",
      "node:https",
      "node:net",
      "node:path",
      "node:stream",
      "node:tls",
      "node:url",
      "node:util",
    ],
    packages: ["@custard/provider/protocol", "@peculiar/asn1-schema", "@peculiar/asn1-x509"],
  },
  "custard/src/resources": {
    folders: ["custard/src/engine", "custard/src/services", "custard/src/template"],
    node: ["node:crypto", "node:fs", "node:fs/promises", "node:module", "node:path", "node:url"],
    packages: ["fflate", "@custard/provider/protocol"],
  },
  "custard/src/transports": {
    folders: ["custard/src/engine", "custard/src/services"],
    node: [
      "node:child_process",
      "node:crypto",
      "node:fs",
      "node:fs/promises",
      "node:http",
      "node:https",
      "node:net",
      "node:os",
      "node:path",
      "node:stream",
      "node:string_decoder",
      "node:url",
      "node:util",
    ],
    packages: ["@custard/provider/protocol"],
  },
  "custard/src/services": {
    folders: ["custard/src/engine", "custard/src/template"],
    node: ["node:crypto", "node:fs/promises", "node:path", "node:stream", "node:zlib"],
    packages: ["fflate", "@custard/provider/protocol"],
  },
  "custard/src/api": {
    folders: ["custard/src/engine", "custard/src/services", "custard/src/template"],
    node: ["node:crypto", "node:fs", "node:http", "node:net", "node:stream", "node:stream/promises"],
    packages: ["@rgrove/parse-xml", "@custard/provider/protocol"],
  },
  "custard/src/remote": {
    folders: [
      "custard/src/engine",
      "custard/src/services",
      "custard/src/transports/lambda/transport-error.ts",
    ],
    node: ["node:crypto", "node:events", "node:fs/promises", "node:http", "node:path"],
    packages: ["@custard/provider/protocol"],
  },
  "custard/src/testing": {
    folders: ["custard/src/engine", "custard/src/storage"],
    node: ["node:timers/promises"],
    packages: ["@custard/provider", "@custard/provider/protocol"],
  },
  // It may name errors and traces, and opens everything else by `join.ts` and `reader.ts`.
  "custard/src/cli": {
    folders: [
      "custard/src/engine",
      "custard/src/join.ts",
      "custard/src/local.ts",
      "custard/src/reader.ts",
      "custard/src/remote/remote-error.ts",
      "custard/src/serve-endpoint.ts",
      "custard/src/response/provider-environment.ts",
      "custard/src/services/config.ts",
      "custard/src/services/function-arn.ts",
      "custard/src/services/function-error.ts",
      "custard/src/services/function-settings.ts",
      "custard/src/services/invocation-target.ts",
      "custard/src/services/parameter-error.ts",
      "custard/src/services/parameter-rules.ts",
      "custard/src/services/parameters.ts",
      "custard/src/services/secret-error.ts",
      "custard/src/services/secrets.ts",
      "custard/src/services/single-requests.ts",
      "custard/src/services/topic-error.ts",
      "custard/src/services/traces.ts",
      "custard/src/storage/storage-error.ts",
      "custard/src/transports/lambda/transport-error.ts",
      "custard/src/template",
    ],
    node: [
      "node:child_process",
      "node:fs",
      "node:fs/promises",
      "node:net",
      "node:os",
      "node:path",
      "node:stream",
      "node:timers/promises",
      "node:tty",
      "node:url",
      "node:util",
      "node:v8",
    ],
    packages: ["commander", "picocolors", "yaml", "@custard/provider/protocol"],
  },
  "provider/src/protocol": { folders: [], node: [], packages: [] },
  // What ships inside a provider: nothing from npm.
  "provider/src": {
    folders: [],
    node: [
      "node:async_hooks",
      "node:crypto",
      "node:fs/promises",
      "node:http",
      "node:https",
      "node:net",
      "node:path",
    ],
    packages: [],
  },
};

test("every folder has its room", () => {
  const folders = readdirSync(join(root, "custard/src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && sourceFiles(join(root, "custard/src", entry.name)).length > 0)
    .map((entry) => `custard/src/${entry.name}`);
  expect(Object.keys(house)).toEqual(expect.arrayContaining(folders));
});

test.each(Object.entries(house))("%s keeps to its room", (folder, allowed) => {
  for (const file of sourceFiles(join(root, folder))) {
    for (const imported of importsOf(file)) {
      expect(`${relative(root, file)} → ${imported}`).toSatisfy(() =>
        isAllowed({ file, imported, folder, allowed }),
      );
    }
  }
});

function isAllowed(use: {
  file: string;
  imported: string;
  folder: string;
  allowed: (typeof house)[string];
}): boolean {
  const { file, imported, folder, allowed } = use;
  if (imported.startsWith("node:")) return allowed.node.includes(imported);
  if (!imported.startsWith(".")) return allowed.packages.includes(imported);
  const target = relative(root, resolve(dirname(file), imported));
  return [folder, ...allowed.folders].some((room) => target === room || target.startsWith(`${room}/`));
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?<!")\b(?:from|import)\s*\(?\s*"([^"\s]+)"/g)].map((match) => match[1] ?? "");
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => join(folder, name));
}
