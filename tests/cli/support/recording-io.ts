import type { InterruptListener, Io, Output } from "../../../packages/custard/src/cli/io.ts";

/** A process that a test can look at and interrupt. */
export interface RecordingIo extends Io {
  readonly written: { stdout: string; stderr: string };
  interrupt(signal?: NodeJS.Signals): void;
}

/** Collects what is written; no terminal unless `columns` is given. */
export function recordingIo(cwd: string, columns?: number): RecordingIo {
  const listeners = new Set<InterruptListener>();
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): Output => ({
    write(text) {
      written[name] += text;
    },
    colors: false,
    columns,
    closed: new AbortController().signal,
  });
  return {
    written,
    stdout: output("stdout"),
    stderr: output("stderr"),
    cwd,
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    interrupt(signal = "SIGINT") {
      for (const listener of listeners) listener(signal);
    },
  };
}
