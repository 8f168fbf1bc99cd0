import { BufferedTraces, MemoryTraceStore } from "../services/traces.ts";
import { MemoryDocuments } from "./memory-documents.ts";
import { MemoryJournal } from "./memory-journal.ts";
import type { SqliteReader } from "./open-sqlite.ts";

/** What a reader sees of a directory in which nothing was ever kept. */
export function nothingStored(): SqliteReader {
  const traces = new BufferedTraces(new MemoryTraceStore());
  return {
    journal: new MemoryJournal(),
    documents: new MemoryDocuments(),
    traces,
    inUse: () => false,
    close: () => traces.close(),
  };
}
