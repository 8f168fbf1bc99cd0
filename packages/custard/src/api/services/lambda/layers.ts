/** Lambda's operations on layers. */
import { FunctionError } from "../../../services/function-error.ts";
import { type LayerReference, parseLayerArn } from "../../../services/layers.ts";
import { definedOf } from "../../defined.ts";
import type { ApiCall } from "../../service.ts";
import { toLayer, toLayerItem } from "./views.ts";
import { archiveOf, type Handle } from "./world.ts";

export const publishLayerVersion: Handle = async (call, world) => {
  const { input, scope } = call;
  const content = input.object("Content");
  const bytes = content === undefined ? undefined : await archiveOf(content, scope, world);
  if (bytes === undefined)
    throw new FunctionError("InvalidParameter", "Please provide a source for the layer.");
  const layer = await world.layers.publish(layerOf(call), {
    code: { kind: "zip", bytes },
    ...definedOf({
      description: input.text("Description"),
      licenseInfo: input.text("LicenseInfo"),
      compatibleRuntimes: input.texts("CompatibleRuntimes"),
      compatibleArchitectures: input.texts("CompatibleArchitectures"),
    }),
  });
  return toLayer(layer);
};

export const getLayerVersion: Handle = async (call, { layers }) => {
  const version = call.input.number("VersionNumber") ?? 0;
  const layer = await layers.find({ ...layerOf(call), version });
  if (layer === undefined) throw new FunctionError("NotFound", "The resource you requested does not exist.");
  return toLayer(layer);
};

export const getLayerVersionByArn: Handle = async ({ input }, { layers }) =>
  toLayer(await layers.resolve(input.need("Arn")));

export const listLayers: Handle = async ({ scope }, { layers }) => {
  const all = await layers.list(scope);
  return {
    Layers: all.map(({ name, newest }) => ({
      LayerName: name,
      LayerArn: newest.arn.replace(/:\d+$/, ""),
      LatestMatchingVersion: toLayerItem(newest),
    })),
  };
};

export const listLayerVersions: Handle = async (call, { layers }) => ({
  LayerVersions: (await layers.versions(layerOf(call))).map(toLayerItem),
});

export const deleteLayerVersion: Handle = async (call, { layers }) => {
  await layers.delete({ ...layerOf(call), version: call.input.number("VersionNumber") ?? 0 });
  return {};
};

function layerOf({ input, scope }: ApiCall): LayerReference {
  const name = input.need("LayerName");
  return parseLayerArn(name) ?? { ...scope, name };
}
