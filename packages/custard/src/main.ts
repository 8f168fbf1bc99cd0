// The public entry `custard`: the engine for other programs.
export {
  openEmbedded,
  type DriveInput,
  type Embedded,
  type EmbeddedOptions,
  type EmbeddedProvider,
  type ProviderAnswer,
} from "./embedded.ts";
export { openLocal, type Local, type LocalOptions } from "./local.ts";
export { Engine, type EngineOptions } from "./engine/engine.ts";
export type {
  ChangeSetInput,
  ChangeSetReference,
  DeleteInput,
  StackInput,
  StackReference,
} from "./engine/inputs.ts";
export { DrivenResource, type DriveOptions, type DrivenOutcome } from "./engine/driven-resource.ts";
export { StackError, type StackErrorCode } from "./engine/stack-error.ts";
export type { LogicalId, PhysicalId, RequestId, StackId } from "./engine/ids.ts";
export type {
  ArrivedResponse,
  ArrivedSignal,
  Clock,
  Delivery,
  Journal,
  ResourceTypes,
  ResponseUrls,
  Templates,
  Transport,
} from "./engine/ports.ts";
export type { Ports } from "./engine/runner.ts";
export type {
  ChangeSetSummary,
  ChangeSetView,
  ExportView,
  OutputView,
  ParameterView,
  ResourceView,
  StackEvent,
  StackView,
} from "./engine/views.ts";
export type { Json, JsonObject, ProviderRequest } from "@custard/provider/protocol";
