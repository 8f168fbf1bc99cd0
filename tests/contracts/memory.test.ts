import { describe } from "vitest";
import { MemoryDocuments } from "../../packages/custard/src/storage/memory-documents.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import { documentsContract } from "./documents.contract.ts";
import { journalContract } from "./journal.contract.ts";

describe("the journal in memory", () => {
  journalContract(async () => {
    const journal = new MemoryJournal();
    return { journal, end: () => journal.close() };
  });
});

describe("documents in memory", () => {
  documentsContract(async () => ({ documents: new MemoryDocuments(), end: async () => {} }));
});
