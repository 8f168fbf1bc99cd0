import { lambdaHandler } from "@custard/provider";

export const handler = lambdaHandler({ load: () => import("./topic.ts") });
