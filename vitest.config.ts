import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "architecture.test.ts"],
    testTimeout: 20_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
