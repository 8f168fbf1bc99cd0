import { defineConfig } from "tsdown";

export default defineConfig({
  entry: { protocol: "src/protocol.ts" },
  format: ["esm", "cjs"],
  platform: "node",
  target: "node20",
  dts: true,
  clean: true,
  fixedExtension: true,
});
