/** Functions in the form of Lambda's API. */
import { formatFunctionArn } from "../../../services/function-arn.ts";
import type { EventInvokeSettings, ResolvedFunction } from "../../../services/function-record.ts";
import type { LayerVersion } from "../../../services/layers.ts";
import type { WireObject } from "../../wire.ts";

/** Everything here is ready at once: no function is ever pending. */
export function toConfiguration(found: ResolvedFunction): WireObject {
  const { settings, code, reference } = found;
  const { logging } = settings;
  return {
    FunctionName: reference.name,
    FunctionArn: found.arn,
    Runtime: settings.runtime,
    Role: settings.role,
    Handler: settings.handler,
    CodeSize: code.size,
    CodeSha256: code.sha256,
    Description: found.description ?? settings.description,
    Timeout: settings.timeoutSeconds,
    MemorySize: settings.memoryMegabytes,
    LastModified: isoTime(found.modifiedAt),
    Version: found.version,
    Environment:
      Object.keys(settings.environment).length === 0 ? undefined : { Variables: settings.environment },
    RevisionId: found.revision,
    Layers: settings.layers.length === 0 ? undefined : settings.layers.map((Arn) => ({ Arn, CodeSize: 0 })),
    State: "Active",
    LastUpdateStatus: "Successful",
    PackageType: "Zip",
    Architectures: [settings.architecture],
    EphemeralStorage: { Size: 512 },
    TracingConfig: { Mode: "PassThrough" },
    LoggingConfig: {
      LogFormat: logging.format,
      LogGroup: logging.group ?? `/aws/lambda/${reference.name}`,
      ApplicationLogLevel: logging.applicationLevel,
      SystemLogLevel: logging.systemLevel,
    },
  };
}

export function toEventInvoke(found: ResolvedFunction, settings: EventInvokeSettings): WireObject {
  const { onSuccess, onFailure } = settings;
  return {
    LastModified: found.modifiedAt,
    FunctionArn: formatFunctionArn({ ...found.reference, qualifier: found.reference.qualifier ?? "$LATEST" }),
    MaximumRetryAttempts: settings.maximumRetryAttempts,
    MaximumEventAgeInSeconds: settings.maximumEventAgeSeconds,
    DestinationConfig: {
      OnSuccess: onSuccess === undefined ? {} : { Destination: onSuccess },
      OnFailure: onFailure === undefined ? {} : { Destination: onFailure },
    },
  };
}

export function toLayerItem(layer: LayerVersion): WireObject {
  return {
    LayerVersionArn: layer.arn,
    Version: layer.version,
    Description: layer.description,
    CreatedDate: isoTime(layer.createdAt),
    CompatibleArchitectures: layer.compatibleArchitectures,
    CompatibleRuntimes: layer.compatibleRuntimes,
    LicenseInfo: layer.licenseInfo,
  };
}

/** The same with what it holds. */
export function toLayer(layer: LayerVersion): WireObject {
  return {
    ...toLayerItem(layer),
    LayerArn: layer.arn.replace(/:\d+$/, ""),
    Content: { CodeSize: layer.code.size, CodeSha256: layer.code.sha256 },
  };
}

/** Lambda's own form, without a colon in the zone. */
function isoTime(time: number): string {
  return new Date(time).toISOString().replace("Z", "+0000");
}
