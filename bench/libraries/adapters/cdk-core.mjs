// CDK's own entry point for its built-in providers; it loads the author's code from a file.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// By its path, since the package doesn't export it: CDK copies the file into the function.
const file =
  "../node_modules/aws-cdk-lib/custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js";
const entry = createRequire(import.meta.url)(fileURLToPath(new URL(file, import.meta.url)));
entry.external.userHandlerIndex = fileURLToPath(new URL("cdk-core-user.cjs", import.meta.url));

export const handler = (event, context) => entry.handler(event, context);
