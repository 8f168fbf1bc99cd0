/** Deploys providers of others, unmodified, and drives them through a stack's life. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import type { Doors } from "../../packages/custard/src/cli/opened.ts";
import { type LocalOptions, openLocal } from "../../packages/custard/src/local.ts";
import { openReader, openServicesOf } from "../../packages/custard/src/reader.ts";
import { recordingIo } from "../cli/support/recording-io.ts";

// Each test starts several processes, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** One call of the command line in this process; throws with all that it wrote when it ends otherwise. */
export async function custard(
  folder: string,
  argv: readonly string[],
  wanted: { readonly code?: number; readonly local?: Partial<LocalOptions> } = {},
): Promise<string> {
  const io = recordingIo(folder);
  const doors: Doors = {
    open: async (options) => openLocal({ ...options, ...wanted.local }),
    read: async (options) => openReader(options),
    services: async (stateDirectory) => openServicesOf(stateDirectory),
  };
  onTestFinished(() => io.interrupt());
  const code = await main(argv, io, doors);
  const { stdout, stderr } = io.written;
  if (code !== (wanted.code ?? 0)) throw new Error(`It ended with ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Deploys a template, and gives the stack's outputs. */
export async function deploy(
  folder: string,
  template: object,
  local: Partial<LocalOptions> = {},
): Promise<Readonly<Record<string, string>>> {
  writeFileSync(join(folder, "template.json"), JSON.stringify(template));
  const argv = ["deploy", "template.json", "--stack-name", "test", "--json"];
  const text = await custard(folder, argv, { local });
  const lines = text.trim().split("\n");
  const results = lines.map((line): { kind?: string; outputs?: Record<string, string> } => JSON.parse(line));
  return results.findLast(({ kind }) => kind === "result")?.outputs ?? {};
}

/** Creates, updates and deletes a stack with one resource of a provider; gives the outputs after each deployment. */
export async function liveThrough(
  folder: string,
  templateOf: (size: string) => object,
  local: Partial<LocalOptions> = {},
): Promise<{
  readonly created: Readonly<Record<string, string>>;
  readonly updated: Readonly<Record<string, string>>;
}> {
  const created = await deploy(folder, templateOf("1"), local);
  const updated = await deploy(folder, templateOf("2"), local);
  await custard(folder, ["delete", "test"], { local });
  return { created, updated };
}

/** A function with this code, and a resource that it makes; the outputs are its id and its attribute `Size`. */
export function templateFor(
  provider: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, unknown>>,
): object {
  return {
    Resources: {
      Provider: {
        Type: "AWS::Lambda::Function",
        Properties: {
          FunctionName: "provider",
          Runtime: "nodejs22.x",
          Handler: "index.handler",
          Timeout: 30,
          Role: "arn:aws:iam::123456789012:role/none",
          ...provider,
        },
      },
      Thing: {
        Type: "Custom::Thing",
        Properties: { ServiceToken: { "Fn::GetAtt": ["Provider", "Arn"] }, ...properties },
      },
    },
    Outputs: {
      Id: { Value: { Ref: "Thing" } },
      Size: { Value: { "Fn::GetAtt": ["Thing", "Size"] } },
    },
  };
}
