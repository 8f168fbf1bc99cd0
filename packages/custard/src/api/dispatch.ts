/**
 * From a request to an answer: which service, which operation, who performs it, and what is said when it can't be.
 *
 * D1: whatever comes, the answer is one of the protocol that was spoken: nothing is thrown.
 * D2: what isn't a refusal is told to `trouble`, and to the caller without any detail.
 */
import { partitionOf } from "@custard/provider/protocol";
import { ApiError, internalFailure } from "./api-error.ts";
import { decodeChunks, isChunked } from "./aws-chunked.ts";
import { refuseBrowsers } from "./guard.ts";
import { Input } from "./input.ts";
import type { Operation, ProtocolName, ServiceModel } from "./model.ts";
import { awsJson } from "./protocols/aws-json.ts";
import { awsQuery } from "./protocols/aws-query.ts";
import { fitMembers } from "./protocols/fit-json.ts";
import type { Addressed, Protocol } from "./protocols/protocol.ts";
import { restJson } from "./protocols/rest-json.ts";
import { restXml } from "./protocols/rest-xml.ts";
import { type Destination, destinationOf, serviceOfForm, unknownForm } from "./route.ts";
import type { BoundService, Scope } from "./service.ts";
import { checkedBody, checkExpiry, type SecretOf, type Verified, verifySignature } from "./signature.ts";
import type { BufferedRequest, WireAnswer, WireRequest } from "./wire.ts";

const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  awsQuery,
  "awsJson1.0": awsJson,
  "awsJson1.1": awsJson,
  restJson,
  restXml,
};

/** Bytes of a body in memory: what each protocol needs at the most, with some room. */
const bodyLimits: Readonly<Record<ProtocolName, number>> = {
  awsQuery: 4 * 1024 * 1024,
  "awsJson1.0": 8 * 1024 * 1024,
  "awsJson1.1": 8 * 1024 * 1024,
  // 50 MB of zip archive in base64.
  restJson: 72 * 1024 * 1024,
  restXml: 4 * 1024 * 1024,
};

/** What requests are dispatched to. */
export interface Dispatching {
  readonly services: ReadonlyMap<string, BoundService>;
  readonly models: ReadonlyMap<string, ServiceModel>;
  /** Of requests that name none. */
  readonly account: string;
  readonly region: string;
  /** Whose signatures are right; without it nobody asks. */
  readonly secretOf?: SecretOf;
  readonly now: () => number;
  readonly trouble: (error: unknown) => void;
}

/** A request whose body has yet to be read. */
export interface Arrived {
  readonly request: WireRequest;
  readonly requestId: string;
  readonly signal: AbortSignal;
  read(limit: number): Promise<Uint8Array>;
  stream(): AsyncIterable<Uint8Array>;
}

/** What became of a request; service and operation as far as they are known. */
export interface Dispatched {
  readonly answer: WireAnswer;
  readonly service: string;
  readonly operation?: string;
  readonly scope: Scope;
  /** The code of the refusal, when it is one. */
  readonly code?: string;
}

/** D1. */
export async function dispatch(arrived: Arrived, world: Dispatching): Promise<Dispatched> {
  const destination = destinationOf(arrived.request, world.models);
  const { region = world.region, account = world.account } = destination;
  const scope = { region, account, partition: partitionOf(region) };
  const call = new Exchange(arrived, world, { destination, scope });
  return await call.run();
}

/** One request on its way through. */
class Exchange {
  readonly #arrived: Arrived;
  readonly #world: Dispatching;
  readonly #destination: Destination;
  readonly #scope: Scope;
  #service: string;
  #operation: Operation | undefined;

  constructor(arrived: Arrived, world: Dispatching, to: { destination: Destination; scope: Scope }) {
    this.#arrived = arrived;
    this.#world = world;
    this.#destination = to.destination;
    this.#scope = to.scope;
    this.#service = to.destination.service;
  }

  async run(): Promise<Dispatched> {
    try {
      const answer = await this.#perform();
      return { ...this.#facts(), answer };
    } catch (error) {
      const refusal = this.#refusalOf(error);
      return { ...this.#facts(), answer: this.#refuse(refusal), code: refusal.code };
    }
  }

  #facts(): Omit<Dispatched, "answer"> {
    const operation = this.#operation?.name;
    return {
      service: this.#service,
      scope: this.#scope,
      ...(operation === undefined ? {} : { operation }),
    };
  }

  async #perform(): Promise<WireAnswer> {
    const { request } = this.#arrived;
    if (this.#world.secretOf === undefined) refuseBrowsers(request);
    checkExpiry(request, this.#world.now());
    if (this.#service === unknownForm) return await this.#performForm();
    return await this.#performFor(this.#modelOf(this.#service));
  }

  /** A form without a signature: its service is known only when it was read. */
  async #performForm(): Promise<WireAnswer> {
    const body = await this.#arrived.read(bodyLimits.awsQuery);
    const request = { ...this.#arrived.request, body };
    this.#service = serviceOfForm(request, this.#world.models) ?? "cloudformation";
    const model = this.#modelOf(this.#service);
    this.#verify(model, body);
    return await this.#performBuffered(model, request);
  }

  async #performFor(model: ServiceModel): Promise<WireAnswer> {
    const { request } = this.#arrived;
    if (model.protocol === "restXml") {
      const head = { ...request, body: new Uint8Array() };
      const addressed = restXml.address(model, head);
      if (this.#world.services.get(model.service)?.streamed.has(addressed.operation.name) === true)
        return await this.#performStreamed(model, { head, addressed });
    }
    const body = await this.#arrived.read(bodyLimits[model.protocol]);
    // The signature is of what came, not of what it holds.
    const verified = this.#verify(model, body);
    return await this.#performBuffered(model, { ...request, body: await this.#unchunked(body, verified) });
  }

  async #performBuffered(model: ServiceModel, request: BufferedRequest): Promise<WireAnswer> {
    const isQueryString = model.protocol === "awsQuery" && request.method !== "POST";
    // A link in a web page can ask for things too.
    if (isQueryString && this.#destination.credential === undefined)
      throw new ApiError("MissingAuthenticationToken", "Request is missing Authentication Token", {
        status: 403,
      });
    const protocol = protocolOf(model, this.#arrived.request);
    const addressed = protocol.address(model, request);
    return await this.#handle(model, { addressed, request, body: nothing(), trailers: {} });
  }

  async #performStreamed(
    model: ServiceModel,
    { head, addressed }: { head: BufferedRequest; addressed: Addressed },
  ): Promise<WireAnswer> {
    const verified = this.#verify(model, undefined);
    const trailers: Record<string, string> = {};
    const stream = checkedBody(this.#arrived.stream(), verified);
    const body = isChunked(head) ? decodeChunks(stream, trailers, verified.chunks) : stream;
    return await this.#handle(model, { addressed, request: head, body, trailers });
  }

  async #handle(model: ServiceModel, call: Ready): Promise<WireAnswer> {
    const { addressed, request, body, trailers } = call;
    const { operation } = addressed;
    this.#operation = operation;
    const handler = this.#world.services.get(model.service)?.handler(operation.name);
    if (handler === undefined) throw notOffered(model, operation.name);
    const protocol = protocolOf(model, this.#arrived.request);
    const input = new Input(model, operation.input, protocol.parse({ model, request, addressed }));
    const { credential } = this.#destination;
    const output = await handler({
      input,
      scope: this.#scope,
      requestId: this.#arrived.requestId,
      request,
      body,
      trailers,
      signal: this.#arrived.signal,
      fit: (record) => (operation.output === undefined ? {} : fitMembers(model, operation.output, record)),
      ...(credential === undefined ? {} : { accessKeyId: credential.accessKeyId }),
    });
    return protocol.answer({ model, operation, output, requestId: this.#arrived.requestId });
  }

  async #unchunked(body: Uint8Array, { chunks: verifier }: Verified): Promise<Uint8Array> {
    if (!isChunked(this.#arrived.request)) return body;
    const chunks: Uint8Array[] = [];
    for await (const chunk of decodeChunks(once(body), {}, verifier)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  #verify({ protocol }: ServiceModel, body: Uint8Array | undefined): Verified {
    const { secretOf, now } = this.#world;
    if (secretOf === undefined) return {};
    const { credential } = this.#destination;
    const { request } = this.#arrived;
    return verifySignature({ request, credential, secretOf, now: now(), protocol, body });
  }

  #modelOf(service: string): ServiceModel {
    const model = this.#world.models.get(service);
    if (model !== undefined) return model;
    throw new ApiError("UnknownService", `Custard doesn't offer the service ${service}.`);
  }

  /** D2. */
  #refusalOf(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    const explained = this.#world.services.get(this.#service)?.explain(error);
    if (explained !== undefined) return explained;
    if (!this.#arrived.signal.aborted) this.#world.trouble(error);
    return internalFailure();
  }

  /** A service that isn't there is refused in the form that most clients read: the query protocol's, or JSON. */
  #refuse(error: ApiError): WireAnswer {
    const { request, requestId } = this.#arrived;
    const isJson = request.headers["content-type"]?.includes("json") === true;
    const standIn = this.#world.models.get(isJson ? "ssm" : "cloudformation");
    const model = this.#world.models.get(this.#service) ?? standIn;
    if (model === undefined) return { status: error.status, headers: {}, body: "" };
    return protocolOf(model, this.#arrived.request).refuse({ model, request, error, requestId });
  }
}

/** The one that a request is in: some services speak two. */
function protocolOf(model: ServiceModel, { headers }: WireRequest): Protocol {
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  return isForm && model.forms === true ? awsQuery : protocols[model.protocol];
}

interface Ready {
  readonly addressed: Addressed;
  readonly request: BufferedRequest;
  readonly body: AsyncIterable<Uint8Array>;
  readonly trailers: Readonly<Record<string, string>>;
}

/** An operation that AWS has and Custard lacks, by name. 5xx would make clients try again, but for S3's own 501. */
function notOffered(model: ServiceModel, operation: string): ApiError {
  const message = `Custard doesn't offer the operation ${operation} of ${model.service}.`;
  switch (model.protocol) {
    case "restXml":
      return new ApiError("NotImplemented", message, { status: 501 });
    case "awsQuery":
      return new ApiError("UnsupportedOperation", message);
    case "awsJson1.0":
    case "awsJson1.1":
    case "restJson":
      return new ApiError("UnsupportedOperationException", message);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
