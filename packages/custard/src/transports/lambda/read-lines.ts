import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Reads a process's output line by line. */
export interface LineReader {
  bytesRead(): number;
  /** Hands out an unfinished line too. */
  flush(): void;
  /** Flushes, and reads no more. */
  end(): void;
}

/** Lambda cuts a log event at 256 KB; so does this. */
const lineBytes = 262_144;

/** Calls `onLine` for each line, without its line end. */
export function readLines(stream: Readable, onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder("utf8");
  let bytes = 0;
  let rest = "";
  const flush = () => {
    const line = rest;
    rest = "";
    if (line !== "") onLine(line);
  };
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (rest.length > lineBytes) flush();
  });
  stream.on("error", () => undefined);
  const end = () => {
    rest += decoder.end();
    flush();
    stream.destroy();
  };
  return { bytesRead: () => bytes, flush, end };
}
