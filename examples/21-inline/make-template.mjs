// Pastes the core of @custard/provider into template.yaml. Usage: node examples/21-inline/make-template.mjs
import { readFileSync, writeFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url);
const core = readFileSync(here("../../packages/provider/dist/inline.cjs"), "utf8").trim();
const own = readFileSync(here("function.js"), "utf8").trim();
const code = [`const core = ((exports) => {${core};return exports;})({});`, ...own.split("\n")];
const indented = code.map((line) => (line === "" ? "" : `          ${line}`)).join("\n");
const frame = readFileSync(here("template.in.yaml"), "utf8");
writeFileSync(
  process.argv[2] ?? here("template.yaml"),
  frame.replace("          CODE", () => indented),
);
