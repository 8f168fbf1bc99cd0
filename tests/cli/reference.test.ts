import { resolve } from "node:path";
import { expect, test } from "vitest";
import { allCommands } from "../../packages/custard/src/cli/commands.ts";
import { formatReference } from "../../packages/custard/src/cli/reference.ts";

// When this fails: npm run docs.
test("docs/cli.md says what the commands say", async () => {
  const page = formatReference(await allCommands());
  await expect(page).toMatchFileSnapshot(resolve(import.meta.dirname, "../../docs/cli.md"));
});
