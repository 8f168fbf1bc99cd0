import { onTestFinished } from "vitest";
import type { JsonObject, ProviderRequest } from "@custard/provider/protocol";
import type { StackInput } from "../../packages/custard/src/engine/engine.ts";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { StackEvent, StackView } from "../../packages/custard/src/engine/views.ts";
import {
  World,
  type Script,
  type ScriptedAnswer,
  type WorldOptions,
} from "../../packages/custard/src/testing/world.ts";

/** The service token of all resources, unless a scenario is about tokens. */
export const token = "arn:aws:lambda:us-east-1:123456789012:function:provider";

/** A custom resource of a template; `more` are its attributes beside type and properties. */
export function custom(properties: object = {}, more: object = {}): JsonObject {
  return { Type: "Custom::Thing", Properties: { ServiceToken: token, ...properties }, ...more };
}

/** A built-in type whose `Name` can't be changed in place. */
export function parameter(properties: object = {}, more: object = {}): JsonObject {
  return { Type: "AWS::SSM::Parameter", Properties: { ...properties }, ...more };
}

/**
 * What providers answer, by `Create A` or `Create`; one answer, or one after another (the last one again and again).
 * What isn't named succeeds.
 */
export type Answers = Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[] | Script>>;

/** Makes a script from answers. */
function scripted(answers: Answers): Script {
  const counts = new Map<string, number>();
  return async (request) => {
    const { requestType, logicalId } = request;
    const key = `${requestType} ${logicalId}`;
    const found = answers[key] ?? answers[requestType];
    if (found === undefined) return { answer: {} };
    if (typeof found === "function") return found(request);
    if (!isList(found)) return found;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return found[Math.min(count, found.length - 1)] ?? { answer: {} };
  };
}

function isList(value: Answers[string]): value is readonly ScriptedAnswer[] {
  return Array.isArray(value);
}

export const failure: ScriptedAnswer = { answer: { Status: "FAILED", Reason: "no luck" } };

/** Resources by name, or a whole template. */
export type TemplateInput = { readonly Resources: object; readonly [section: string]: unknown };

/** A world with one stack, and what was seen of it since one last looked. */
export class Scenario {
  readonly world: World;
  #stackId: StackId | undefined;
  #eventsSeen = 0;
  #requestsSeen = 0;

  constructor(answers: Answers, options: Partial<WorldOptions>) {
    this.world = new World({ script: scripted(answers), ...options });
  }

  get stackId(): StackId {
    if (this.#stackId === undefined) throw new Error("no stack was created");
    return this.#stackId;
  }

  /** Creates the stack and waits for its end. */
  async create(template: TemplateInput, more: Partial<StackInput> = {}): Promise<StackView> {
    await this.begin(template, more);
    return this.settle();
  }

  /** Starts to create the stack. */
  async begin(template: TemplateInput, more: Partial<StackInput> = {}): Promise<void> {
    this.#stackId = await this.world.create({ templateBody: JSON.stringify(template), ...more });
    await this.world.quiet();
  }

  async update(template: TemplateInput, more: Partial<StackInput> = {}): Promise<StackView> {
    await this.beginUpdate(template, more);
    return this.settle();
  }

  async beginUpdate(template: TemplateInput, more: Partial<StackInput> = {}): Promise<void> {
    await this.world.engine.updateStack({
      stackName: "my-stack",
      templateBody: JSON.stringify(template),
      ...more,
    });
    await this.world.quiet();
  }

  async delete(more: { readonly retain?: readonly string[] } = {}): Promise<StackView> {
    await this.world.engine.deleteStack({ stack: this.stackId, ...more });
    return this.settle();
  }

  async settle(): Promise<StackView> {
    return this.world.settle(this.stackId);
  }

  async view(): Promise<StackView> {
    return this.world.engine.stack(this.stackId);
  }

  /** New events as lines: `LogicalId STATUS (physical id) reason`; made-up ids and request ids have placeholders. */
  async events(): Promise<readonly string[]> {
    const events = await this.world.events(this.stackId);
    const fresh = events.slice(this.#eventsSeen);
    this.#eventsSeen = events.length;
    return fresh.map((event) => this.#line(event));
  }

  /** The whole events that are new. */
  async rawEvents(): Promise<readonly StackEvent[]> {
    return this.world.events(this.stackId);
  }

  /** New requests as lines: `Update A (A-1) {new} was {old}`; the common service token is left out. */
  requests(): readonly string[] {
    const fresh = this.world.requests.slice(this.#requestsSeen);
    this.#requestsSeen = this.world.requests.length;
    return fresh.map((request) => this.normalise(formatRequest(request)));
  }

  /** The newest request, or one of a type for a resource. */
  request(type?: ProviderRequest["requestType"], logicalId?: string): ProviderRequest {
    const found = this.world.requests.findLast(
      (request) =>
        (type === undefined || request.requestType === type) &&
        (logicalId === undefined || request.logicalId === logicalId),
    );
    if (found === undefined) throw new Error(`nobody was asked for ${type ?? "anything"} ${logicalId ?? ""}`);
    return found;
  }

  normalise(text: string): string {
    return text
      .replaceAll(this.#stackId ?? "no stack", "<StackId>")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "<RequestId>")
      .replaceAll(/(my-stack-[A-Za-z0-9]+)-[A-Za-z0-9]{12}/g, "$1-<random>");
  }

  #line({ logicalId, status, physicalId, reason, resourceType }: StackEvent): string {
    const id = resourceType === "AWS::CloudFormation::Stack" || physicalId === "" ? "" : ` (${physicalId})`;
    return this.normalise(`${logicalId} ${status}${id}${reason === undefined ? "" : ` ${reason}`}`);
  }
}

function formatRequest(request: ProviderRequest): string {
  const { requestType, logicalId } = request;
  const id = requestType === "Create" ? "" : ` (${request.physicalId})`;
  const old = requestType === "Update" ? ` was ${formatProperties(request.oldProperties)}` : "";
  return `${requestType} ${logicalId}${id} ${formatProperties(request.properties)}${old}`;
}

function formatProperties({ ServiceToken, ...properties }: JsonObject): string {
  return JSON.stringify(ServiceToken === token ? properties : { ServiceToken, ...properties });
}

/** A body that answers a request, by hand. */
export function bodyFor(request: ProviderRequest, more: JsonObject = {}): string {
  return JSON.stringify({
    Status: "SUCCESS",
    StackId: request.stackId,
    RequestId: request.requestId,
    LogicalResourceId: request.logicalId,
    PhysicalResourceId: request.requestType === "Create" ? `${request.logicalId}-1` : request.physicalId,
    ...more,
  });
}

/** A world for the running test, closed after it. */
export function scenario(answers: Answers = {}, options: Partial<WorldOptions> = {}): Scenario {
  const made = new Scenario(answers, options);
  onTestFinished(() => made.world.close());
  return made;
}
