import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeResponse, validId } from "./encode.ts";
import { parseResponse, type ProviderResponse } from "./protocol/response.ts";

const identity = {
  stackId: "arn:aws:cloudformation:us-east-1:1:stack/s/g",
  requestId: "r",
  logicalId: "Thing",
};
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Any text, lone surrogates and control characters too. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ unit: "grapheme", maxLength: 6000 }),
  fc.constantFrom(
    "\ud83d",
    "\udc00",
    "\u0000\u0001\u2028",
    "🚀".repeat(2000),
    "ü".repeat(2040),
    '"'.repeat(4096),
  ),
);
const physicalId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 });
const response: fc.Arbitrary<ProviderResponse> = fc.oneof(
  fc.record({ status: fc.constant("FAILED" as const), physicalId, reason: text }),
  fc.record({
    status: fc.constant("SUCCESS" as const),
    physicalId,
    data: fc.dictionary(fc.string({ maxLength: 20 }), fc.oneof(text, fc.array(text, { maxLength: 3 }))),
    noEcho: fc.boolean(),
  }),
);

test("whatever the outcome: UTF-8 JSON of at most 4096 bytes, ids verbatim, an answer that CloudFormation takes", () => {
  fc.assert(
    fc.property(response, fc.string({ minLength: 1, maxLength: 200 }), (given, requestId) => {
      const ids = { ...identity, requestId };
      const { bytes, response: sent } = encodeResponse(given, ids);
      expect(bytes.length).toBeLessThanOrEqual(4096);
      const wire = JSON.parse(decoder.decode(bytes)) as Record<string, unknown>;
      expect(wire).toMatchObject({
        StackId: ids.stackId,
        RequestId: requestId,
        LogicalResourceId: ids.logicalId,
      });
      expect(wire["PhysicalResourceId"]).toBe(given.physicalId);
      const verdict = parseResponse(bytes, bytes.length, { ...ids, requestType: "Create" });
      expect(verdict).toMatchObject({ kind: "answer", response: { status: sent.status } });
      expect([given.status, "FAILED"]).toContain(sent.status);
    }),
    { numRuns: 300 },
  );
});

describe("around the limit", () => {
  const empty = encodeResponse(
    { status: "SUCCESS", physicalId: "i", data: { A: "" }, noEcho: false },
    identity,
  );
  const success = (length: number): ProviderResponse => ({
    status: "SUCCESS",
    physicalId: "i",
    data: { A: "x".repeat(length - empty.bytes.length) },
    noEcho: false,
  });

  test.each([
    { length: 4095, status: "SUCCESS" },
    { length: 4096, status: "SUCCESS" },
    { length: 4097, status: "FAILED" },
  ])("$length bytes: $status", ({ length, status }) => {
    const { response: sent } = encodeResponse(success(length), identity);
    expect(sent).toMatchObject({ status, physicalId: "i" });
  });

  test("what doesn't fit is named, largest first", () => {
    const data = { Small: "x", Middle: "x".repeat(100), Large: "x".repeat(5000) };
    const { response: sent } = encodeResponse(
      { status: "SUCCESS", physicalId: "i", data, noEcho: false },
      identity,
    );
    expect(sent.reason).toMatch(/over 4096.*Large \(5002\), Middle \(102\), Small \(3\)/u);
  });

  test("a long reason keeps its start and its end, and whole characters", () => {
    const reason = `start ${"🚀".repeat(4000)} end`;
    const { bytes, response: sent } = encodeResponse({ status: "FAILED", physicalId: "i", reason }, identity);
    expect(bytes.length).toBeGreaterThan(4085);
    expect(sent.reason).toMatch(/^start 🚀+ … 🚀+ end$/u);
  });
});

test.each(["", "x".repeat(1025), "ü".repeat(513), "\u0000".repeat(500)])("no physical id: %#", (id) => {
  expect(() => validId(id)).toThrow("1 to 1024 bytes");
});

test.each(["x", "x".repeat(1024), '"'.repeat(900)])("a physical id: %#", (id) => {
  expect(validId(id)).toBe(id);
});
