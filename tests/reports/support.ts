/** Deploys a small stack as its author had it, through the command line and with real processes, and reads what came of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import type { Doors } from "../../packages/custard/src/cli/opened.ts";
import { openLocal } from "../../packages/custard/src/local.ts";
import { openReader, openServicesOf } from "../../packages/custard/src/reader.ts";
import { recordingIo } from "../cli/support/recording-io.ts";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";

// Each test starts several processes, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** A function, in the language that its code is in, and the resource that it makes. */
export interface Stack {
  /** Python when it has a `def`, else JavaScript; inline, so that AWS's response modules are there. */
  readonly code: string;
  /** Properties of the resource `Thing`. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Attributes of the resource beside its properties. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly resources?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** What the author sees. */
export interface Seen {
  readonly code: number;
  readonly text: string;
  /** `logical id status reason`, without the stack's own. */
  readonly events: readonly string[];
}

/** A folder with stacks of one author. */
export interface Author {
  readonly folder: string;
  readonly deploy: (stack: Stack) => Promise<Seen>;
  readonly remove: (...options: readonly string[]) => Promise<Seen>;
  /** The requests that the provider got, oldest first, as its log has them. */
  readonly requests: () => Promise<readonly Request[]>;
  /** What `custard logs` shows. */
  readonly logs: () => Promise<string>;
  readonly custard: (...argv: readonly string[]) => Promise<{ readonly code: number; readonly text: string }>;
}

/** A request, as far as tests ask for it. */
export interface Request {
  readonly RequestType: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: Readonly<Record<string, unknown>>;
}

/** A line of code that shows a request in the log. */
export const showing = {
  javascript: "console.log('REQUEST ' + JSON.stringify(event));",
  python: "print('REQUEST ' + json.dumps(event))",
};

/** Opens a folder. Retries of failed invocations come at once. */
export function author(): Author {
  const folder = temporaryFolder();
  const doors: Doors = {
    open: async (options) => openLocal({ ...options, retryDelays: [1, 1] }),
    read: async (options) => openReader(options),
    services: async (stateDirectory) => openServicesOf(stateDirectory),
  };
  async function custard(...argv: readonly string[]) {
    const io = recordingIo(folder);
    onTestFinished(() => io.interrupt());
    const code = await main(argv, io, doors);
    return { code, text: io.written.stdout + io.written.stderr };
  }
  async function seen(argv: readonly string[]): Promise<Seen> {
    const { code, text } = await custard(...argv);
    return { code, text, events: eventsOf(text) };
  }
  return {
    folder,
    custard,
    deploy(stack) {
      writeFileSync(join(folder, "template.json"), JSON.stringify(templateOf(stack)));
      return seen(["deploy", "template.json", "--stack-name", "test"]);
    },
    remove: (...options) => seen(["delete", "test", ...options]),
    logs: async () => (await custard("logs", "test")).text,
    async requests() {
      const { text } = await custard("logs", "test");
      return [...text.matchAll(/REQUEST (\{.*\})$/gm)].map(([, json = ""]): Request => JSON.parse(json));
    },
  };
}

function eventsOf(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const [, status, id, , reason = ""] =
      /^\d\d:\d\d:\d\d {2}([A-Z_]+) +(\S+) +(\S+) *(?:\(simulated\) *)?(.*)$/.exec(line) ?? [];
    return id === undefined || id === "test" ? [] : [`${id} ${status} ${reason}`.trim()];
  });
}

function templateOf({ code, properties, attributes, resources, outputs, parameters }: Stack): object {
  const isPython = /^\s*def /m.test(code);
  return {
    ...(parameters === undefined ? {} : { Parameters: parameters }),
    Resources: {
      Maker: {
        Type: "AWS::Lambda::Function",
        Properties: {
          Runtime: isPython ? "python3.12" : "nodejs22.x",
          Handler: "index.handler",
          Role: "arn:aws:iam::123456789012:role/none",
          Code: { ZipFile: code },
        },
      },
      Thing: {
        Type: "Custom::Thing",
        Properties: { ServiceToken: { "Fn::GetAtt": ["Maker", "Arn"] }, ...properties },
        ...attributes,
      },
      ...resources,
    },
    ...(outputs === undefined ? {} : { Outputs: outputs }),
  };
}
