/**
 * The steps that bring a database up to date: the first is number 1, and a database remembers the number of its last
 * step. A step that was released never changes; what is to be different goes into a new one.
 */
export type Migrations = readonly string[];

/** Stacks, their records and commands, claims, documents. */
export const journalMigrations: Migrations = [
  `
  CREATE TABLE stacks (
    number   INTEGER PRIMARY KEY,
    stack_id TEXT NOT NULL UNIQUE,
    version  INTEGER NOT NULL,
    summary  TEXT NOT NULL
  );
  CREATE TABLE records (
    stack  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (stack, number)
  ) WITHOUT ROWID;
  CREATE TABLE snapshots (
    stack   INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    state   TEXT NOT NULL
  );
  CREATE TABLE commands (
    number   INTEGER PRIMARY KEY,
    stack_id TEXT NOT NULL,
    key      TEXT NOT NULL,
    due_at   INTEGER NOT NULL,
    body     TEXT NOT NULL,
    UNIQUE (stack_id, key)
  );
  CREATE TABLE claims (
    name     TEXT PRIMARY KEY,
    stack_id TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE documents (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
  );
  CREATE TABLE blobs (
    key   TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
  );
  `,
];

/** What was observed between requests and responses. */
export const traceMigrations: Migrations = [
  `
  CREATE TABLE traces (
    number        INTEGER PRIMARY KEY,
    at            INTEGER NOT NULL,
    request_id    TEXT NOT NULL,
    stack_id      TEXT NOT NULL,
    function_name TEXT,
    kind          TEXT NOT NULL,
    text          TEXT NOT NULL
  );
  CREATE INDEX traces_by_request ON traces (request_id);
  CREATE INDEX traces_by_stack ON traces (stack_id);
  CREATE INDEX traces_by_function ON traces (function_name);
  `,
];
