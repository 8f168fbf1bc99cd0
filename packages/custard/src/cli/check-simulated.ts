import type { ResourceTypes } from "../engine/ports.ts";
import type { Config } from "../services/config.ts";
import type { Template } from "../template/template.ts";
import { CliFault } from "./fault.ts";

/** What a deployment is to be checked against. */
export interface SimulationRules {
  readonly types: Pick<ResourceTypes, "facts">;
  readonly config: Config;
  readonly strict: boolean;
}

/**
 * Throws `CliFault` when a template has simulated resources that `--strict` refuses, and when the configuration gives
 * values to resources that are real here.
 */
export function checkSimulated(template: Template, { types, config, strict }: SimulationRules): void {
  const declared = [...template.resources.values()].map(({ logicalId, type }) => ({ logicalId, type }));
  const simulated = declared.filter(({ type }) => types.facts(type)?.kind === "simulated");
  if (strict && simulated.length > 0) {
    const list = simulated.map(({ logicalId, type }) => `${logicalId} (${type})`).join(", ");
    throw new CliFault(`--strict refuses resources that are only simulated: ${list}`, {
      advice:
        "Nothing stands behind these types here. Without --strict they get plausible ids and attributes.",
    });
  }
  const { resources } = config;
  const real = declared.filter(
    ({ logicalId }) =>
      Object.hasOwn(resources.logicalIds, logicalId) &&
      !simulated.some((resource) => resource.logicalId === logicalId),
  );
  const realTypes = Object.keys(resources.types).filter((type) => types.facts(type)?.kind !== "simulated");
  const named = [...real.map(({ logicalId, type }) => `${logicalId} (${type})`), ...realTypes];
  if (named.length === 0) return;
  throw new CliFault(`custard.config gives values to what isn't simulated: ${named.join(", ")}`, {
    advice: "Resources of these types get their values from what stands behind them, or don't exist.",
  });
}
