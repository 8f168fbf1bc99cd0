// The public entry `@custard/provider/metrics`: metrics for CloudWatch, written to the log in its embedded format.
import type { Outcome } from "./answer.ts";
import type { ProviderRequest } from "./protocol/request.ts";

/** What the metrics are called. */
export interface MetricsOptions {
  /** Default: `Custard/Provider`. */
  readonly namespace?: string;
  readonly now?: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Give it to an entry point as `onOutcome`: one line per answer with `DurationMs`, `Attempts`, `Succeeded` and `Failed`,
 * by resource type and request type.
 */
export function emfMetrics(
  options: MetricsOptions = {},
): (outcome: Outcome, request: ProviderRequest) => void {
  const {
    namespace = "Custard/Provider",
    now = Date.now,
    print = (line) => void process.stdout.write(line),
  } = options;
  return ({ status, durationMs, attempts }, { resourceType, requestType, requestId, logicalId }) => {
    const metrics = [
      { Name: "DurationMs", Unit: "Milliseconds" },
      { Name: "Attempts", Unit: "Count" },
      { Name: "Succeeded", Unit: "Count" },
      { Name: "Failed", Unit: "Count" },
    ];
    const directive = {
      Namespace: namespace,
      Dimensions: [["ResourceType", "RequestType"]],
      Metrics: metrics,
    };
    const line = {
      _aws: { Timestamp: now(), CloudWatchMetrics: [directive] },
      ResourceType: resourceType,
      RequestType: requestType,
      RequestId: requestId,
      LogicalResourceId: logicalId,
      DurationMs: durationMs,
      Attempts: attempts,
      Succeeded: status === "SUCCESS" ? 1 : 0,
      Failed: status === "FAILED" ? 1 : 0,
    };
    print(`${JSON.stringify(line)}\n`);
  };
}
