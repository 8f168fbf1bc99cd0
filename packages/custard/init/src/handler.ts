import { lambdaHandler } from "@custard/provider";

// Loaded with the first request, so that even an error in loading is answered.
export const handler = lambdaHandler({ load: () => import("./note.ts") });
