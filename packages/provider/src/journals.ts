// The public entry `@custard/provider/journals`: journals that outlive the process.
export { memoryJournal, type Journal } from "./journal.ts";
export { fileJournal } from "./journals/file-journal.ts";
export { dynamoDbJournal, type DynamoDbClient } from "./journals/dynamodb-journal.ts";
