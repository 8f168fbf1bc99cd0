/** What to do about a function that can't be loaded. */
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { InvocationFault } from "./invocation-log.ts";

/** A sentence with the command that helps, where there is one. */
export function loadAdvice(fault: InvocationFault | undefined, resolved: ResolvedFunction): string {
  const { errorType = "", errorMessage = "" } = fault ?? {};
  switch (errorType) {
    case "Runtime.UserCodeSyntaxError":
      return "Correct it there.";
    case "Runtime.HandlerNotFound":
    case "Runtime.MalformedHandlerName":
      return `Export what Handler (${resolved.settings.handler}) names, or correct Handler.`;
    case "Runtime.InvalidEntrypoint":
      return "Put an executable file named bootstrap at the top of its code.";
    case "Sandbox.Timedout":
      return "Do less outside of the handler, or raise Timeout.";
    case "Runtime.ExitError":
      return "Don't end the process outside of the handler; its log lines may tell why.";
  }
  return missingModule(errorMessage, resolved) ?? "Put right what its code does outside of the handler.";
}

/** What to do about a module that isn't there, if that is what the message says: at load, or later in the handler. */
export function missingModule(message: string, resolved: ResolvedFunction): string | undefined {
  const python = /No module named '([^'.]+)/.exec(message)?.[1];
  if (python !== undefined) return pythonAdvice(python, resolved);
  const node = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  return node === undefined ? undefined : nodeAdvice(node, resolved);
}

/** What Lambda's Python has beside the standard library. */
const pythonSdk: ReadonlySet<string> = new Set(["boto3", "botocore", "s3transfer", "urllib3", "jmespath"]);

/** Modules of Python 2, and what took their place. */
const pythonTwo: ReadonlyMap<string, string> = new Map([
  ["__builtin__", "builtins"],
  ["commands", "subprocess"],
  ["ConfigParser", "configparser"],
  ["Cookie", "http.cookies"],
  ["cookielib", "http.cookiejar"],
  ["cPickle", "pickle"],
  ["cStringIO", "io"],
  ["HTMLParser", "html.parser"],
  ["httplib", "http.client"],
  ["Queue", "queue"],
  ["StringIO", "io"],
  ["thread", "_thread"],
  ["urllib2", "urllib.request"],
  ["urlparse", "urllib.parse"],
]);

/** Modules that have left the standard library, and the last version that had them. */
const leftPython: ReadonlyMap<string, string> = new Map([
  ...["asynchat", "asyncore", "distutils", "imp", "smtpd"].map((name) => [name, "3.11"] as const),
  ...["cgi", "cgitb", "crypt", "pipes", "telnetlib", "uu"].map((name) => [name, "3.12"] as const),
]);

function pythonAdvice(name: string, resolved: ResolvedFunction): string {
  if (name === ownModule(resolved)) return handlerAdvice(resolved);
  if (name === "cfnresponse")
    return "AWS gives cfnresponse to inline code (ZipFile) only: put a cfnresponse.py beside the function's code.";
  const successor = pythonTwo.get(name);
  if (successor !== undefined)
    return `This is code for Python 2, where ${name} was what ${successor} is today: port it, e.g. with 2to3.`;
  const last = leftPython.get(name);
  if (last !== undefined)
    return `${name} is in Python's standard library up to ${last} only: do without it, or name an older interpreter as python in custard.config.`;
  if (pythonSdk.has(name))
    return `Lambda has ${name}; here it comes from your python3: pip install ${packageOf(name)}`;
  return bringIt(resolved, (folder) => `pip install -t ${folder} ${packageOf(name)}`);
}

function nodeAdvice(specifier: string, resolved: ResolvedFunction): string {
  if (/^(?:\.|\/|file:)/.test(specifier))
    return "A file of its own is missing: add it to the function's code.";
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  if (name === ownModule(resolved)) return handlerAdvice(resolved);
  if (name === "cfn-response" && resolved.code.kind !== "inline")
    return `AWS gives cfn-response to inline code (ZipFile) only: npm install --prefix ${folderOf(resolved)} cfn-response`;
  if (name === "aws-sdk")
    return "Lambda hasn't got version 2 of AWS's SDK since nodejs18.x: use the @aws-sdk packages, or put it beside the function's code.";
  if (/^@(?:aws-sdk|smithy)\//.test(name))
    return `Lambda has ${name}; here it comes from your project: npm install ${name}`;
  return bringIt(resolved, (folder) => `npm install --prefix ${folder} ${name}`);
}

function bringIt(resolved: ResolvedFunction, install: (folder: string) => string): string {
  return resolved.code.kind === "inline"
    ? `Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and ${install("FOLDER")}`
    : `Put it beside the function's code, as Lambda hasn't got it: ${install(folderOf(resolved))}`;
}

function handlerAdvice({ settings, code }: ResolvedFunction): string {
  const file = `${ownModule({ settings })}.${settings.runtime.startsWith("python") ? "py" : "js"}`;
  const where = code.kind === "directory" ? ` in ${code.path}` : "";
  return `Handler (${settings.handler}) names ${file}, which isn't there${where}: correct Handler or Code.`;
}

/** The module that the handler stands in. */
function ownModule({ settings }: Pick<ResolvedFunction, "settings">): string {
  const text = settings.handler.replace(/\.[^./]*$/, "");
  return settings.runtime.startsWith("python") ? (text.split(/[./]/)[0] ?? text) : text;
}

/** Where a zip file was made is not known here. */
function folderOf({ code }: ResolvedFunction): string {
  return code.kind === "directory" ? shellWord(code.path) : "CODE_FOLDER";
}

function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Where the name of a package is another than its module's. */
function packageOf(module: string): string {
  const names: Readonly<Record<string, string>> = {
    yaml: "pyyaml",
    OpenSSL: "pyopenssl",
    dateutil: "python-dateutil",
    jwt: "pyjwt",
    PIL: "pillow",
    psycopg2: "psycopg2-binary",
    aws_lambda_powertools: "aws-lambda-powertools",
  };
  return names[module] ?? module;
}
