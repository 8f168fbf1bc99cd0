import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Most tests wait for processes of their own, so that two at once take little more than one.
const maxWorkers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "architecture.test.ts"],
    maxWorkers,
    testTimeout: 20_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
