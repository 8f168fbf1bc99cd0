import { expect, test } from "vitest";
import { emfMetrics } from "./metrics.ts";

test("an answer is one line in CloudWatch's embedded format, without ids of the response", () => {
  const lines: string[] = [];
  const report = emfMetrics({ namespace: "Mine", now: () => 5, print: (line) => lines.push(line) });
  report(
    { status: "FAILED", physicalId: "thing-1", durationMs: 12, attempts: 2 },
    {
      requestType: "Create",
      resourceType: "Custom::Thing",
      requestId: "r",
      logicalId: "Thing",
      stackId: "s",
      serviceToken: "t",
      responseUrl: "https://hidden",
      properties: {},
    },
  );
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({
    ResourceType: "Custom::Thing",
    RequestType: "Create",
    DurationMs: 12,
    Attempts: 2,
    Succeeded: 0,
    Failed: 1,
  });
  expect(line["_aws"]).toMatchObject({
    Timestamp: 5,
    CloudWatchMetrics: [{ Namespace: "Mine", Dimensions: [["ResourceType", "RequestType"]] }],
  });
  expect(lines[0]).not.toContain("hidden");
});
