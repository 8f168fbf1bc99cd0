/** Longest response, in bytes, inclusive (fact 35). By itself, for those who can't afford the whole table. */
export const maxResponseBytes = 4096;

/** Longest physical id, in bytes (fact 40). */
export const maxPhysicalIdBytes = 1024;

/** Every limit of the protocol, in one table. `source` is a fact number or the page of AWS that states it. */
export const limits = {
  /** Inclusive; above it CloudFormation reads nothing of the response. */
  responseBytes: { value: maxResponseBytes, unit: "bytes", source: "fact 35" },
  /** What is kept of a response: enough to see that it is too long. */
  keptResponseBytes: { value: 4097, unit: "bytes", source: "fact 35" },
  physicalIdBytes: { value: maxPhysicalIdBytes, unit: "bytes", source: "fact 40" },
  /** Counted after `Custom::`. */
  customTypeNameLength: { value: 60, unit: "characters", source: "fact 9" },
  logicalIdLength: { value: 255, unit: "characters", source: "template anatomy: resources" },
  minServiceTimeout: { value: 1, unit: "seconds", source: "fact 47" },
  maxServiceTimeout: { value: 3600, unit: "seconds", source: "fact 47" },
  defaultServiceTimeout: { value: 3600, unit: "seconds", source: "fact 46" },
  /** How long a response URL is valid: longer than the longest wait. */
  responseUrlLifetime: { value: 7200, unit: "seconds", source: "fact 24" },
  /** Deliveries of one asynchronous Lambda invocation: the first and two more. */
  lambdaDeliveries: { value: 3, unit: "attempts", source: "fact 19" },
  /** A clean-up Delete is tried this often, then dropped. */
  cleanupAttempts: { value: 3, unit: "attempts", source: "fact 76" },
  /** Payload of an asynchronous Lambda invocation (262,144 until October 2025). */
  lambdaRequestBytes: { value: 1_048_576, unit: "bytes", source: "Lambda quotas" },
  snsMessageBytes: { value: 262_144, unit: "bytes", source: "SNS quotas" },
} as const satisfies Record<string, { value: number; unit: string; source: string }>;
