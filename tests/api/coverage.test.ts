import { expect, test } from "vitest";
import { describeCoverage } from "../../packages/custard/src/api/coverage.ts";

test("docs/api-coverage.md says what is served (npm run docs brings it up to date)", async () => {
  await expect(describeCoverage()).toMatchFileSnapshot("../../docs/api-coverage.md");
});
