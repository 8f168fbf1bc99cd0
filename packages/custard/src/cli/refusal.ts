import { CommanderError } from "commander";
import { StackError, type StackErrorCode } from "../engine/stack-error.ts";
import { RemoteError, type RemoteErrorCode } from "../remote/remote-error.ts";
import { StorageError, type StorageErrorCode } from "../storage/storage-error.ts";
import { formatDiagnostic } from "../template/excerpt.ts";
import { TransportError } from "../transports/lambda/transport-error.ts";
import { CliFault, type ExitCode } from "./fault.ts";
import { colorsOf, type Io } from "./io.ts";
import { diagnosticJson } from "./json-report.ts";
import type { Refusal } from "./message.ts";
import { printableLines } from "./printable.ts";
import { TemplateFault } from "./template-fault.ts";

/** What ended a command, and the exit code for it. Undefined for a bug. */
export function refusalOf(
  error: unknown,
  command: string | undefined,
): { readonly refusal: Refusal; readonly exitCode: ExitCode } | undefined {
  if (error instanceof CommanderError) return { refusal: ofUsage(error, command), exitCode: 2 };
  if (error instanceof TemplateFault) return { refusal: ofTemplate(error), exitCode: 2 };
  if (error instanceof StackError) return { refusal: ofStack(error), exitCode: 2 };
  if (error instanceof StorageError) return { refusal: ofStorage(error), exitCode: 1 };
  if (error instanceof TransportError)
    return { refusal: { code: error.code, message: error.message }, exitCode: 1 };
  if (error instanceof RemoteError)
    return {
      refusal: { code: error.code, message: error.message, advice: remoteAdvice[error.code] },
      exitCode: error.code === "OtherSetting" ? 2 : 1,
    };
  if (isSystemError(error)) return { refusal: { code: "Trouble", message: error.message }, exitCode: 1 };
  if (!(error instanceof CliFault)) return undefined;
  return {
    refusal: {
      code: "InvalidCall",
      message: error.message,
      ...(error.advice === undefined ? {} : { advice: error.advice }),
    },
    exitCode: error.exitCode,
  };
}

/** What the operating system refused, e.g. on a full disk: its text names the file. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "errno" in error;
}

function ofUsage(error: CommanderError, command: string | undefined): Refusal {
  const help =
    error.code === "commander.unknownCommand" || command === undefined
      ? "custard --help"
      : `custard ${command} --help`;
  return {
    code: "InvalidCall",
    message: error.message.replace(/^error: /, ""),
    advice: `${help} shows how to call it.`,
  };
}

function ofTemplate(error: TemplateFault): Refusal {
  return {
    code: "InvalidTemplate",
    message: error.message,
    template: { file: error.file, body: error.body, diagnostics: error.diagnostics },
  };
}

const advice: Partial<Readonly<Record<StackErrorCode, string>>> = {
  StackBusy: "An operation is under way: custard resume goes on with it.",
  StackNotUpdatable:
    "If an operation is under way, custard resume goes on with it; else delete the stack (custard delete), then deploy again.",
  InvalidParameters: "Give values with --parameters Name=value.",
};

function ofStack(error: StackError): Refusal {
  const text = advice[error.code];
  return { code: error.code, message: error.message, ...(text === undefined ? {} : { advice: text }) };
}

const remoteAdvice: Readonly<Record<RemoteErrorCode, string>> = {
  ServerEnded: "What was under way rests: custard resume, or the next custard serve, goes on with it.",
  ServerFailed: "The server's own log may say more.",
  OtherVersion: "End it, and start it again with this version.",
  OtherSetting: "Or leave the option out: the command line works through the server while it runs.",
};

const storageAdvices: Partial<Readonly<Record<StorageErrorCode, string>>> = {
  Locked: "Wait until it has ended, or end it; custard resume then goes on with what it left.",
  Corrupt: "Move the state directory away to begin anew; what its stacks have made stays as it is.",
};

function ofStorage(error: StorageError): Refusal {
  const text = storageAdvices[error.code];
  return { code: error.code, message: error.message, ...(text === undefined ? {} : { advice: text }) };
}

/** Shows why a command ended: to people on stderr, as JSON on stdout. */
export function showRefusal(refusal: Refusal, to: { readonly io: Io; readonly json: boolean }): void {
  if (to.json) to.io.stdout.write(`${JSON.stringify(refusalJson(refusal))}\n`);
  else to.io.stderr.write(`${formatRefusal(refusal, to.io)}\n`);
}

function refusalJson(refusal: Refusal): object {
  const { template, ...rest } = refusal;
  return {
    kind: "error",
    ...rest,
    ...(template === undefined
      ? {}
      : { file: template.file, diagnostics: template.diagnostics.map(diagnosticJson) }),
  };
}

function formatRefusal(refusal: Refusal, io: Io): string {
  const colors = colorsOf(io.stderr);
  const { template } = refusal;
  const what =
    template === undefined
      ? [`${colors.red("error:")} ${printableLines(refusal.message).join("\n")}`]
      : template.diagnostics.map((diagnostic) =>
          printableLines(formatDiagnostic(diagnostic, template.body, template.file)).join("\n"),
        );
  return [...what, ...(refusal.advice === undefined ? [] : [refusal.advice])].join("\n");
}
