import { expect, test } from "vitest";
import { refuseBrowsers } from "./guard.ts";

function call(headers: Readonly<Record<string, string>>): () => void {
  return () => refuseBrowsers({ method: "POST", path: "/", query: [], headers });
}

test.each([
  { name: "the address", host: "127.0.0.1:4566" },
  { name: "IPv6", host: "[::1]:4566" },
  { name: "localhost", host: "localhost:4566" },
  { name: "a bucket's name", host: "bucket.s3.localhost:4566" },
  { name: "AWS's name, led here", host: "sts.us-east-1.amazonaws.com" },
])("clients may use $name", ({ host }) => {
  expect(call({ host })).not.toThrow();
});

test.each([
  { name: "a page's form", headers: { host: "127.0.0.1:4566", origin: "https://evil.example" } },
  { name: "a page of no origin", headers: { host: "127.0.0.1:4566", origin: "null" } },
  { name: "an image in a page", headers: { host: "127.0.0.1:4566", "sec-fetch-site": "cross-site" } },
  { name: "a name that was made to lead here", headers: { host: "evil.example:4566" } },
  { name: "a name that ends like an address", headers: { host: "127.0.0.1.evil.example" } },
])("$name is refused", ({ headers }) => {
  expect(call(headers)).toThrow(expect.objectContaining({ code: "AccessDenied" }));
});
