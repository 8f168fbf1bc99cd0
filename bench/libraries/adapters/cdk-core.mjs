// CDK's own entry point for its built-in providers; it loads the author's code from a file.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const entry = createRequire(import.meta.url)(
  "aws-cdk-lib/custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js",
);
entry.external.userHandlerIndex = fileURLToPath(new URL("cdk-core-user.cjs", import.meta.url));

export const handler = (event, context) => entry.handler(event, context);
