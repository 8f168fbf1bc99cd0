/** CloudTrail: nothing is trailed here, and who asks is told so. The CDK asks when a deployment fails. */
import type { Service } from "../service.ts";

export const cloudTrail: Service<undefined> = {
  name: "cloudtrail",
  operations: { LookupEvents: async () => ({ Events: [] }) },
  explain: () => undefined,
};
