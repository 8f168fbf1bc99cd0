import { describe } from "vitest";
import { openSqliteStorage } from "../../packages/custard/src/storage/open-sqlite.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { documentsContract } from "./documents.contract.ts";
import { durableJournalContract, journalContract } from "./journal.contract.ts";

async function open() {
  const directory = temporaryDirectory();
  let storage = openSqliteStorage(directory);
  return {
    journal: storage.journal,
    documents: storage.documents,
    async reopen() {
      await storage.close();
      storage = openSqliteStorage(directory);
      return storage.journal;
    },
    end: () => storage.close(),
  };
}

describe("the journal in SQLite", () => {
  journalContract(open);
  durableJournalContract(open);
});

describe("documents in SQLite", () => {
  documentsContract(open);
});
