import { expect, test } from "vitest";
import { defaultStackName } from "./stack-name.ts";

test.each([
  { path: "/work/shop.yaml", name: "shop" },
  { path: "/work/shop.template.json", name: "shop" },
  { path: "/work/01-greeting/template.yaml", name: "greeting" },
  { path: "/work/123/template.yaml", name: "stack" },
  { path: "/work/1-base.yaml", name: "stack-1-base" },
  { path: "/work/2-base.yaml", name: "stack-2-base" },
  { path: "/work/123.yaml", name: "stack-123" },
  { path: "/work/_my stack_.yaml", name: "my-stack" },
  { path: `/work/${"a".repeat(200)}.yaml`, name: "a".repeat(128) },
])("$path is stack $name", ({ path, name }) => {
  expect(defaultStackName(path)).toBe(name);
});

test("no name is made up where several files would get the same", () => {
  expect(() => defaultStackName("/work/日本.yaml")).toThrow("No stack name can be made of 日本.yaml");
});
