// The public entry `@custard/provider`: what ships inside a provider.
export { defineResource } from "./define-resource.ts";
export { DeliveryError } from "./deliver.ts";
export { lambdaHandler } from "./lambda-handler.ts";
export { jsonLogger } from "./log.ts";
export { memoryJournal } from "./journal.ts";
export { NotFound } from "./not-found.ts";
export type { CoreOptions, Outcome } from "./answer.ts";
export type { Clock } from "./clock.ts";
export type { Continued, Driver, Rest } from "./driver.ts";
export type { Duration } from "./duration.ts";
export type { Journal } from "./journal.ts";
export type { LambdaContext, LambdaHandler, LambdaResult } from "./lambda-handler.ts";
export type { Logger } from "./log.ts";
export type { OneOff, OneOffCall, OneOffResult } from "./one-off.ts";
export type { Around, LazyResources, Options, Provider, Span, Worker } from "./provider.ts";
export type { Json, JsonObject } from "./protocol/json.ts";
export type { RequestIdentity, RequestType } from "./protocol/request.ts";
export type {
  Attributes,
  Context,
  Created,
  CreateCall,
  DeleteCall,
  FreeAttributes,
  ImmutableRules,
  Lenient,
  Manifest,
  Pending,
  PollCall,
  ReadCall,
  Replaced,
  Resource,
  ResourceDefinition,
  UpdateCall,
  UpdateContext,
  Updated,
} from "./resource.ts";
export type { Schema, SchemaIssue, SchemaResult } from "./standard-schema.ts";
export type { LogFields, LogLevel, LogLine, Write } from "./write-log.ts";
export type { PutLimits, PutResult, Transport } from "./transport.ts";
