import { describe, expect, test } from "vitest";
import { deliver, type DeliveryOptions } from "./deliver.ts";
import type { PutLimits, PutResult } from "./transport.ts";

const url = "https://bucket.example.test/key?X-Amz-Signature=hidden";
const body = Buffer.from("{}");

/** A delivery in which each attempt takes a second and ends as `script` says; afterwards all are taken. */
function delivery(script: readonly (number | Error)[], time = 60_000) {
  let now = 0;
  const allowed: PutLimits[] = [];
  const problems: string[] = [];
  const options: DeliveryOptions = {
    clock: { now: () => now, sleep: async (pause) => void (now += pause) },
    remaining: () => time - now,
    onFailure: (_attempt, problem) => problems.push(problem),
    transport: async (_url, _body, limits): Promise<PutResult> => {
      allowed.push(limits);
      now += 1000;
      const end = script[allowed.length - 1] ?? 200;
      if (end instanceof Error) throw end;
      return { status: end, body: "<Error><Code>SlowDown</Code></Error>" };
    },
  };
  return { options, allowed, problems };
}

describe("is tried again", () => {
  test.each([
    { ends: [500], attempts: 2 },
    { ends: [503, 429, 408], attempts: 4 },
    { ends: [new Error("ECONNRESET")], attempts: 2 },
    { ends: [403], attempts: 2 },
    { ends: [307], attempts: 2 },
    { ends: [500, 403, 500], attempts: 4 },
  ])("after $ends", async ({ ends, attempts }) => {
    const { options } = delivery(ends);
    expect(await deliver(url, body, options)).toBe(attempts);
  });
});

describe("gives up", () => {
  test.each([{ status: 403 }, { status: 400 }, { status: 301 }])(
    "after the second $status",
    async ({ status }) => {
      const { options, problems } = delivery([status, status]);
      await expect(deliver(url, body, options)).rejects.toThrow(
        `bucket.example.test: HTTP ${status} SlowDown (attempt 2)`,
      );
      expect(problems).toHaveLength(2);
    },
  );

  test("when time runs out, 300 ms before the end at the latest", async () => {
    const { options, allowed } = delivery(
      Array.from({ length: 100 }, () => new Error("no answer")),
      10_000,
    );
    await expect(deliver(url, body, options)).rejects.toThrow("no answer");
    expect(allowed.length).toBeGreaterThan(2);
    expect(allowed.length).toBeLessThanOrEqual(10);
  });

  test("without telling the signature", async () => {
    const { options, problems } = delivery([403, 403]);
    const error = await deliver(url, body, options).catch(String);
    expect(JSON.stringify([error, problems])).not.toContain("hidden");
  });
});

test("with little time left there is time for a second attempt", async () => {
  const { options, allowed } = delivery([new Error("no answer")], 3000);
  await deliver(url, body, options);
  expect(allowed[0]?.total).toBeCloseTo(1620);
});
