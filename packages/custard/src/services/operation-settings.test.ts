import { expect, test } from "vitest";
import { briskSettings, SettingsInForce } from "./operation-settings.ts";

const usual = { ...briskSettings, failFast: false };
const shop = { account: "123456789012", region: "us-east-1", stackName: "shop" };
const idOf = (name: string) => `arn:aws:cloudformation:us-east-1:123456789012:stack/${name}/1b4e28ba`;
const noRoot = async () => undefined;

test("the usual settings hold for whom nobody has said anything", async () => {
  const settings = new SettingsInForce(usual, noRoot);
  settings.put(shop, briskSettings);
  expect(await settings.of(idOf("other"))).toEqual(usual);
  expect(await settings.of(idOf("shop").replace("us-east-1", "eu-west-1"))).toEqual(usual);
});

test("others hold for a stack, even before it exists, until they are put out of force", async () => {
  const settings = new SettingsInForce(usual, noRoot);
  const end = settings.put(shop, briskSettings);
  expect(await settings.of(idOf("shop"))).toEqual(briskSettings);
  end();
  expect(await settings.of(idOf("shop"))).toEqual(usual);
});

test("the last that were put in force hold, and those before them again afterwards", async () => {
  const settings = new SettingsInForce(usual, noRoot);
  const endFirst = settings.put(shop, { ...briskSettings, strict: true });
  const endSecond = settings.put(shop, briskSettings);
  expect(await settings.of(idOf("shop"))).toEqual(briskSettings);
  endSecond();
  expect((await settings.of(idOf("shop"))).strict).toBe(true);
  endFirst();
  expect(await settings.of(idOf("shop"))).toEqual(usual);
});

test("what holds for a stack holds for the stacks nested in it", async () => {
  const settings = new SettingsInForce(usual, async (id) =>
    id === idOf("shop-child") ? idOf("shop") : undefined,
  );
  settings.put(shop, briskSettings);
  expect(await settings.of(idOf("shop-child"))).toEqual(briskSettings);
});
