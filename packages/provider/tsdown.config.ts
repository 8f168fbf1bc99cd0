import { defineConfig } from "tsdown";

const entries = ["main", "core", "protocol"];

// An entry is one self-contained file per format: they are built one by one, so that they share no chunks.
export default defineConfig(
  entries.map((name) => ({
    entry: { [name]: `src/${name}.ts` },
    format: ["esm", "cjs"],
    platform: "node",
    target: "node20",
    dts: true,
    clean: false,
    fixedExtension: true,
  })),
);
