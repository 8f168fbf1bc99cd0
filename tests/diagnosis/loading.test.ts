import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { provoke, type Wrong } from "./support.ts";

// Functions that can't be loaded: the place in their code, and the command that helps.

interface Case extends Wrong {
  readonly name: string;
  readonly advice: string;
}

const prefix = "Function maker couldn't be loaded:";

test.each<Case>([
  {
    name: "a syntax error",
    code: "async function create() {\n  const size = ;\n}",
    advice: `${prefix} SyntaxError: Unexpected token ';' at index.js:2. Correct it there.`,
  },
  {
    name: "a syntax error in Python",
    runtime: "python3.12",
    code: "def create(event, context):\n    return (",
    advice: `${prefix} Syntax error in module 'index': '(' was never closed at index.py:2. Correct it there.`,
  },
  {
    name: "a missing package",
    code: 'require("left-pad/perf");',
    advice: `${prefix} Error: Cannot find module 'left-pad/perf' at index.js:1. Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and npm install --prefix FOLDER left-pad`,
  },
  {
    name: "a missing package that Lambda has",
    code: 'require("@aws-sdk/client-nothing");',
    advice: `${prefix} Error: Cannot find module '@aws-sdk/client-nothing' at index.js:1. Lambda has @aws-sdk/client-nothing; here it comes from your project: npm install @aws-sdk/client-nothing`,
  },
  {
    name: "the SDK that Lambda had once",
    code: '\nrequire("aws-sdk");',
    advice: `${prefix} Error: Cannot find module 'aws-sdk' at index.js:2. Lambda hasn't got version 2 of AWS's SDK since nodejs18.x: use the @aws-sdk packages, or put it beside the function's code.`,
  },
  {
    name: "a missing package in Python",
    runtime: "python3.12",
    code: "import crhelper",
    advice: `${prefix} Unable to import module 'index': No module named 'crhelper'. Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and pip install -t FOLDER crhelper`,
  },
  {
    name: "a module of Python 2",
    runtime: "python3.12",
    code: "import httplib",
    advice: `${prefix} Unable to import module 'index': No module named 'httplib'. This is code for Python 2, where httplib was what http.client is today: port it, e.g. with 2to3.`,
  },
  {
    name: "an error outside of the handler",
    code: "\nconst region = process.env.NOTHING.length;",
    advice: `${prefix} TypeError: Cannot read properties of undefined (reading 'length') at index.js:2. Put right what its code does outside of the handler.`,
  },
  {
    name: "an error outside of the handler in Python",
    runtime: "python3.12",
    code: 'import os\nNOTHING = os.environ["NOTHING"]',
    advice: `${prefix} KeyError: 'NOTHING' at index.py:2. Put right what its code does outside of the handler.`,
  },
  {
    name: "no such handler",
    code: "",
    settings: { Handler: "index.main" },
    advice: `${prefix} Runtime.HandlerNotFound: index.main is undefined or not exported. Export what Handler (index.main) names, or correct Handler.`,
  },
  {
    name: "a process that ends at once",
    code: "process.exit(4);",
    advice: `${prefix} Runtime.ExitError: Runtime exited with error: exit status 4. Don't end the process outside of the handler; its log lines may tell why.`,
  },
])("$name", async ({ advice, ...wrong }) => {
  const told = await provoke(wrong);
  expect(told.advice).toBe(advice);
  expect(told.report.filter((line) => line.includes(advice))).toEqual([advice]);
  expect(told.logs).toContain(`advice ${advice}`);
});

const later = "Function maker failed before it answered:";

test.each<Case>([
  {
    name: "a package that Lambda has",
    code: '\nconst create = async () => void require("@aws-sdk/client-nothing");',
    advice: `${later} Error: Cannot find module '@aws-sdk/client-nothing' at index.js:2. Lambda has @aws-sdk/client-nothing; here it comes from your project: npm install @aws-sdk/client-nothing`,
  },
  {
    name: "a package that Lambda has, imported",
    code: '\nconst create = async () => void (await import("@aws-sdk/client-nothing"));',
    advice: `${later} Error: Cannot find package '@aws-sdk/client-nothing' imported from index.js. Lambda has @aws-sdk/client-nothing; here it comes from your project: npm install @aws-sdk/client-nothing`,
  },
  {
    name: "a package in Python",
    runtime: "python3.12",
    code: "def create(event, context):\n    import crhelper",
    advice: `${later} ModuleNotFoundError: No module named 'crhelper' at index.py:2. Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and pip install -t FOLDER crhelper`,
  },
])("missing in the handler only: $name", async ({ advice, ...wrong }) => {
  const told = await provoke(wrong);
  expect(told.advice).toBe(advice);
});

/** A folder with code of the user's. */
function codeFolder(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), "it's code");
  mkdirSync(join(folder, "lib"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test("a package that is missing beside a folder of the user's, used by a module in it", async () => {
  const folder = codeFolder({
    "index.mjs": 'export { handler } from "./lib/work.mjs";',
    "lib/work.mjs": '\nimport pad from "left-pad";\nexport const handler = pad;',
  });
  const { advice } = await provoke({ code: "", settings: { Code: folder } });
  expect(advice).toMatch(new RegExp(`^${prefix} .*Cannot find package 'left-pad'`));
  expect(advice).toContain(`npm install --prefix '${folder.replace("'", String.raw`'\''`)}' left-pad`);
});

test("an error in a module of a folder of the user's", async () => {
  const folder = codeFolder({
    "index.mjs": 'import { work } from "./lib/work.mjs";\nexport const handler = async () => work();',
    "lib/work.mjs": "\n\nexport function work() {\n  throw new Error('no way');\n}",
  });
  const { advice } = await provoke({ code: "", settings: { Code: folder } });
  expect(advice).toBe(
    "Function maker failed before it answered: Error: no way at lib/work.mjs:4. Catch errors in the handler and answer FAILED with the reason.",
  );
});

test("a handler whose file isn't there", async () => {
  const folder = codeFolder({ "main.js": "" });
  const { advice } = await provoke({ code: "", settings: { Code: folder, Handler: "app.handler" } });
  expect(advice).toMatch(
    /^Function maker couldn't be loaded: .*Handler \(app\.handler\) names app\.js, which isn't there in \/.*: correct Handler or Code\.$/,
  );
});

test("a custom runtime without its bootstrap", async () => {
  const folder = codeFolder({ "main.js": "" });
  const { advice } = await provoke({
    code: "",
    runtime: "provided.al2023",
    settings: { Code: folder, Handler: "any" },
  });
  expect(advice).toBe(
    "Function maker couldn't be loaded: Runtime.InvalidEntrypoint: Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]. Put an executable file named bootstrap at the top of its code.",
  );
});
