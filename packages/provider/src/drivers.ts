// The public entry `@custard/provider/drivers`: who continues `pending` work in another invocation.
export { schedulerDriver, type SchedulerClient, type SchedulerOptions } from "./drivers/scheduler.ts";
export { selfInvokeDriver, type LambdaClient, type SelfInvokeOptions } from "./drivers/self-invoke.ts";
export {
  stepFunctionsDriver,
  type StepFunctionsClient,
  type StepFunctionsOptions,
} from "./drivers/step-functions.ts";
export { journalStore, sealedStore, type RestStore } from "./drivers/rest-store.ts";
export type { Continuation } from "./drivers/make-driver.ts";
