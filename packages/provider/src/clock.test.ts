import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";

test("a sleep ends when it is aborted, and doesn't begin when it was before", async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(3_600_000, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(sleeping).rejects.toThrow("stopped");
  await expect(systemClock.sleep(3_600_000, stop.signal)).rejects.toThrow("stopped");
});
