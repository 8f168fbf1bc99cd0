import { isatty } from "node:tty";
import picocolors from "picocolors";

/** Where text goes. Writing never throws: when the reader has gone, text is dropped and `closed` tells. */
export interface Output {
  write(text: string): void;
  readonly colors: boolean;
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
  readonly closed: AbortSignal;
}

/** Told about Ctrl-C (`SIGINT`) and about requests to end (`SIGTERM`, `SIGHUP`). */
export type InterruptListener = (signal: NodeJS.Signals) => void;

/** What the command line needs of its process. Tests pass their own. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  /** While nobody listens, a signal ends the process. Returns the act of not listening any more. */
  onInterrupt(listener: InterruptListener): () => void;
}

/** Colour functions for an output. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** The colours of an output: all of them plain when it shows none. */
export function colorsOf(output: Output): Colors {
  return picocolors.createColors(output.colors);
}

/** The real process. `lost` says why output couldn't be written, e.g. on a full disk; not when its reader has gone. */
export function processIo(): Io & { lost(): Error | undefined } {
  const listeners = new Set<InterruptListener>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (listeners.size === 0) process.exit(signal === "SIGINT" ? 130 : 1);
      for (const listener of listeners) listener(signal);
    });
  }
  const stdout = streamOutput(process.stdout, isatty(1));
  return {
    stdout,
    stderr: streamOutput(process.stderr, isatty(2)),
    cwd: workingDirectory(),
    lost() {
      const { reason } = stdout.closed;
      return reason instanceof Error && Reflect.get(reason, "code") !== "EPIPE" ? reason : undefined;
    },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Nothing can be found or kept from a folder that is gone. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write("error: The folder that you are in is gone\nGo to another one, or make it again.\n");
    process.exit(2);
  }
}

/** Resolves when all that was written has left the process. */
export async function flush(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise<void>((resolve) => stream.write("", () => resolve())),
    ),
  );
}

function streamOutput(stream: NodeJS.WriteStream, isTerminal: boolean): Output {
  const closed = new AbortController();
  stream.on("error", (error) => closed.abort(error));
  return {
    write(text) {
      if (!closed.signal.aborted) stream.write(text);
    },
    colors: showsColors(isTerminal),
    get columns() {
      return isTerminal ? stream.columns : undefined;
    },
    closed: closed.signal,
  };
}

function showsColors(isTerminal: boolean): boolean {
  const { NO_COLOR: refused, FORCE_COLOR: forced, TERM: terminal } = process.env;
  if (refused !== undefined && refused !== "") return false;
  if (forced !== undefined && forced !== "") return forced !== "0";
  return isTerminal && terminal !== "dumb";
}
