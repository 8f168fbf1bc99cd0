// The public entry `custard/testing`: a resource's life on the real engine, with a virtual clock.
export {
  simulate,
  type ChaosOptions,
  type Given,
  type Simulation,
  type SimulationOptions,
} from "./testing/simulate.ts";
export type { Fault } from "./testing/simulated-lambda.ts";
export { matchers, type Matchers } from "./testing/matchers.ts";
