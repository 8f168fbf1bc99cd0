import { defineConfig } from "tsdown";

const format: ("esm" | "cjs")[] = ["esm", "cjs"];
const common = {
  format,
  platform: "node",
  target: "node20",
  dts: true,
  clean: false,
  hash: false,
  fixedExtension: true,
} as const;
const toEntries = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));

// What ships inside most providers is one file per format; the rest may share chunks.
export default defineConfig([
  ...["main", "core", "protocol"].map((name) => ({ ...common, entry: toEntries([name]) })),
  // To be pasted into a template.
  { ...common, entry: { inline: "src/core.ts" }, format: ["cjs"], minify: true, dts: false },
  { ...common, entry: toEntries(["http", "cdk", "drivers", "journals", "last-will", "metrics", "proxy"]) },
]);
