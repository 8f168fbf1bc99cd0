import type { Json, JsonObject, ProviderRequest } from "@custard/provider/protocol";
import type { Random } from "./random.ts";

/** A body that the provider sends, and how many ms after it was asked. */
export interface PlannedAnswer {
  readonly after: number;
  readonly body: string;
}

/** All that a provider does about one delivery. */
export type Plan =
  | { readonly kind: "refuse" }
  | { readonly kind: "die" }
  | { readonly kind: "run"; readonly answers: readonly PlannedAnswer[]; readonly busyFor: number };

/** How a provider names what it makes. */
export type Naming = "fresh" | "named" | "versioned";

/** What a run's providers are like. */
export interface Temper {
  readonly naming: Naming;
  /** How often something goes wrong, from 0 to 1. */
  hostility: number;
}

const second = 1000;

/** Providers that do anything that a provider can do. */
export class SimProvider {
  readonly #random: Random;
  readonly #temper: Temper;
  #counter = 0;

  constructor(random: Random, temper: Temper) {
    this.#random = random;
    this.#temper = temper;
  }

  plan(request: ProviderRequest): Plan {
    const random = this.#random;
    if (!random.chance(this.#temper.hostility)) return this.#run([this.#soon(this.#success(request))]);
    const kind = random.weigh({
      failed: 6,
      silent: 2,
      late: 3,
      twice: 2,
      contradicting: 2,
      foreign: 2,
      garbage: 1,
      oversize: 1,
      noId: 1,
      noData: 2,
      newId: 3,
      failedNewId: 2,
      refuse: 1,
      die: 1,
    });
    switch (kind) {
      case "refuse":
      case "die":
        return { kind };
      case "silent":
        return this.#run([]);
      case "late":
        return this.#run([{ after: 20 * second + random.below(120 * second), body: this.#success(request) }]);
      case "twice":
        return this.#twice(this.#success(request));
      case "contradicting":
        return this.#run([this.#soon(this.#success(request)), this.#soon(this.#failed(request))]);
      case "foreign":
        return this.#foreign(request);
      case "failed":
      case "garbage":
      case "oversize":
      case "noId":
      case "noData":
      case "newId":
      case "failedNewId":
        return this.#run([this.#soon(this.#strange(request, kind))]);
    }
  }

  #strange(
    request: ProviderRequest,
    kind: "failed" | "garbage" | "oversize" | "noId" | "noData" | "newId" | "failedNewId",
  ): string {
    switch (kind) {
      case "failed":
        return this.#failed(request);
      case "garbage":
        return this.#random.pick(["", "oops", "[]", '{"Status":"FAILURE"}', '{"Status":"SUCC', "null"]);
      case "oversize":
        return this.#success(request, { Data: { Attr: "x".repeat(5000) } });
      case "noId":
        return this.#success(request, { PhysicalResourceId: this.#random.pick<Json>(["", null, 7]) });
      case "noData":
        return this.#success(request, { Data: { Nonce: this.#next() } });
      case "newId":
        return this.#success(request, { PhysicalResourceId: this.#fresh(request) });
      case "failedNewId":
        return this.#failed(request, { PhysicalResourceId: this.#fresh(request) });
    }
  }

  #twice(body: string): Plan {
    return this.#run([this.#soon(body), this.#soon(body)]);
  }

  #foreign(request: ProviderRequest): Plan {
    const wrong = this.#success(request, {
      [this.#random.pick(["RequestId", "StackId", "LogicalResourceId"])]: "another",
    });
    const right = this.#random.chance(0.5) ? [this.#soon(this.#success(request))] : [];
    return this.#run([{ after: 0, body: wrong }, ...right]);
  }

  #run(answers: readonly PlannedAnswer[]): Plan {
    const last = Math.max(0, ...answers.map(({ after }) => after));
    return { kind: "run", answers, busyFor: this.#random.chance(0.5) ? last : this.#random.below(last + 1) };
  }

  #soon(body: string): PlannedAnswer {
    return { after: this.#random.chance(0.3) ? 0 : this.#random.below(10 * second), body };
  }

  #success(request: ProviderRequest, more: JsonObject = {}): string {
    const { properties } = request;
    return this.#body(request, {
      Status: "SUCCESS",
      Data: { Attr: `value-${textOf(properties["Value"])}`, Nonce: this.#next() },
      ...more,
    });
  }

  #failed(request: ProviderRequest, more: JsonObject = {}): string {
    const id = request.requestType === "Create" ? this.#idFor(request) : request.physicalId;
    return this.#body(request, {
      Status: "FAILED",
      Reason: "no luck",
      PhysicalResourceId: id,
      ...more,
    });
  }

  #body(request: ProviderRequest, more: JsonObject): string {
    return JSON.stringify({
      StackId: request.stackId,
      RequestId: request.requestId,
      LogicalResourceId: request.logicalId,
      PhysicalResourceId: this.#idFor(request),
      ...more,
    });
  }

  #idFor(request: ProviderRequest): string {
    if (request.requestType === "Delete") return request.physicalId;
    switch (this.#temper.naming) {
      case "fresh":
        return request.requestType === "Create" ? this.#fresh(request) : request.physicalId;
      case "named":
        return `${request.logicalId}-named`;
      case "versioned":
        return `${request.logicalId}-${textOf(request.properties["Name"])}`;
    }
  }

  #fresh({ logicalId }: ProviderRequest): string {
    return `${logicalId}-${this.#next()}`;
  }

  #next(): string {
    this.#counter += 1;
    return `n${this.#counter}`;
  }
}

/** Properties arrive as strings (fact 10). */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
