// The public entry `@custard/provider/protocol`: what CloudFormation and a provider say to each other.
export * from "./protocol/arn.ts";
export * from "./protocol/json.ts";
export * from "./protocol/limits.ts";
export * from "./protocol/request.ts";
export * from "./protocol/response.ts";
export * from "./protocol/stringify.ts";
