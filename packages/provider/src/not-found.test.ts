import { expect, test } from "vitest";
import { isHttpNotFound, isNotFound, NotFound } from "./not-found.ts";

test.each([
  new NotFound("gone"),
  Object.assign(new Error("x"), { name: "NoSuchBucket" }),
  Object.assign(new Error("x"), { name: "ResourceNotFoundException" }),
  Object.assign(new Error("x"), { name: "QueueDoesNotExist" }),
  Object.assign(new Error("x"), { $metadata: { httpStatusCode: 404 } }),
])("%s says that it isn't there", (error) => {
  expect(isNotFound(error)).toBe(true);
});

test.each([
  new Error("NotFound"),
  Object.assign(new Error("x"), { code: "ENOTFOUND" }),
  undefined,
  null,
  "NotFound",
  404,
])("%s doesn't", (error) => {
  expect(isNotFound(error)).toBe(false);
});

test("an HTTP client's 404 does", () => {
  expect([{ status: 404 }, { statusCode: 404 }, { status: 403 }].map(isHttpNotFound)).toEqual([
    true,
    true,
    false,
  ]);
});
