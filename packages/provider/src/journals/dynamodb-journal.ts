import type { Journal } from "../journal.ts";
import type { Json } from "../protocol/json.ts";

interface Item {
  readonly [name: string]: { readonly S: string } | { readonly N: string };
}

/** The part of `DynamoDB` of `@aws-sdk/client-dynamodb` that is used. */
export interface DynamoDbClient {
  getItem(input: object): Promise<{ readonly Item?: object | undefined }>;
  putItem(input: object): Promise<unknown>;
  deleteItem(input: object): Promise<unknown>;
}

/**
 * Remembers in a DynamoDB table whose partition key is the string `pk`; turn on time to live for `expires` (seconds).
 * Values may hold attributes that were answered: encrypt the table with a key of yours when they are secret.
 * Contract-tested with a fake that does what the API reference says; not verified against AWS.
 */
export function dynamoDbJournal(
  { client, tableName }: { readonly client: DynamoDbClient; readonly tableName: string },
  now: () => number = Date.now,
): Journal {
  const keyOf = (key: string): Item => ({ pk: { S: key } });
  const itemOf = (key: string, value: Json, expiresAt: number): Item => ({
    ...keyOf(key),
    value: { S: JSON.stringify(value) },
    expiresAt: { N: String(expiresAt) },
    expires: { N: String(Math.ceil(expiresAt / 1000)) },
  });
  return {
    async get(key) {
      const { Item } = await client.getItem({ TableName: tableName, Key: keyOf(key), ConsistentRead: true });
      const { value, expiresAt } = (Item ?? {}) as Partial<
        Record<"value" | "expiresAt", { S?: string; N?: string }>
      >;
      if (value?.S === undefined || Number(expiresAt?.N) <= now()) return undefined;
      return JSON.parse(value.S) as Json;
    },
    async put(key, value, expiresAt) {
      await client.putItem({ TableName: tableName, Item: itemOf(key, value, expiresAt) });
    },
    async putIfAbsent(key, value, expiresAt) {
      try {
        await client.putItem({
          TableName: tableName,
          Item: itemOf(key, value, expiresAt),
          ConditionExpression: "attribute_not_exists(pk) OR expiresAt <= :now",
          ExpressionAttributeValues: { ":now": { N: String(now()) } },
        });
        return true;
      } catch (error) {
        if (error instanceof Error && error.name === "ConditionalCheckFailedException") return false;
        throw error;
      }
    },
    async delete(key) {
      await client.deleteItem({ TableName: tableName, Key: keyOf(key) });
    },
  };
}
