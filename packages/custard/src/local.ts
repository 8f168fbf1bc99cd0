/** Wires everything for one state directory on this machine; the only file that knows every adapter. */
import { randomBytes } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { partitionOf, type ProviderRequest, urlSuffixOf } from "@custard/provider/protocol";
import type { Api } from "./api/server.ts";
import { openSettings, serveCommandLines } from "./serve-command-lines.ts";
import { openServed, type Served, type ServeOptions } from "./serve-endpoint.ts";
import { Engine } from "./engine/engine.ts";
import type { RequestId, StackId } from "./engine/ids.ts";
import type { Transport } from "./engine/ports.ts";
import { type BuiltinTypes, createResourceTypes } from "./resources/resource-types.ts";
import { createAwsSite } from "./response/aws-site.ts";
import { type Certificate, certificateFiles, openCertificate } from "./response/certificate.ts";
import { openResponseEndpoint, type ResponseEndpoint } from "./response/endpoint.ts";
import { portFileOf, removePort, writePort } from "./response/port-file.ts";
import { awsHosts, redirectedHosts, redirectEnvironment } from "./response/redirect.ts";
import { createResponseUrls, isResponseHost, responseHost } from "./response/response-url.ts";
import { issueSnsCertificate } from "./response/sns-certificate.ts";
import { createWaitUrls, isWaitHost, waitHost } from "./response/wait-url.ts";
import { type InvocationTarget, openTarget } from "./services/invocation-target.ts";
import type { Config } from "./services/config.ts";
import { createLookups } from "./services/lookups.ts";
import { openServices, type ServiceHome, type Services } from "./services/open-services.ts";
import { createNotifications } from "./services/notifications.ts";
import { briskSettings, type SettingsInForce } from "./services/operation-settings.ts";
import { persistentSecret } from "./services/persistent-secret.ts";
import { parseQueueArn } from "./services/queue-arn.ts";
import { sandboxSetting } from "./services/sandbox-setting.ts";
import { type EndedRequest, SingleRequests, type WantedRequest } from "./services/single-requests.ts";
import { createTransforms } from "./services/transforms.ts";
import { createTemplates } from "./services/templates.ts";
import type { Runtime } from "./services/function-settings.ts";
import { systemClock } from "./services/system-clock.ts";
import type { TraceLog } from "./services/traces.ts";
import { openSqliteStorage, type SqliteStorage } from "./storage/open-sqlite.ts";
import { createLambdaTransport, type LambdaTransport } from "./transports/lambda/lambda-transport.ts";
import { endLeftovers } from "./transports/lambda/leftovers.ts";
import { probeSandbox, sandboxEnvironment, type SandboxOptions } from "./transports/lambda/sandbox.ts";
import { sdkModules } from "./transports/lambda/sdk-modules.ts";
import { defaultWorkDirectory } from "./transports/lambda/work-directory.ts";
import { createSnsTransport, type SnsTransport } from "./transports/sns/sns-transport.ts";

/** How an engine on this machine is set up. */
export interface LocalOptions {
  /** Where everything is kept; made when missing. One process uses it at a time. */
  readonly stateDirectory: string;
  /** What this process is called when others want the directory too, e.g. `custard deploy`. */
  readonly holder?: string;
  /** 12 digits; default 123456789012. */
  readonly account?: string;
  /** Default us-east-1. */
  readonly region?: string;
  /** Fail a request at once whose provider has certainly ended without answering. Default true. */
  readonly failFast?: boolean;
  /** Milliseconds before a failed function's second and third attempt. Default 1,000 and 2,000; AWS takes minutes. */
  readonly retryDelays?: readonly number[];
  /** Factor on SNS's delays before it tries an HTTP endpoint again. Default 0.05: a second instead of 20. */
  readonly snsRetryScale?: number;
  /** Hosts besides this machine's own whose HTTP endpoints get messages from topics; `*` for all. Default: none. */
  readonly subscriberHosts?: readonly string[];
  /** The user's configuration; without one, that of the last time holds. */
  readonly config?: Config;
  /** Refuse resources of types that are only simulated. Default false. */
  readonly strict?: boolean;
  /**
   * How response URLs are signed. Default `v4`, as CloudFormation's of today; the older `v2` is stricter: a sender
   * that gives a content-type is refused.
   */
  readonly responseUrlStyle?: "v4" | "v2";
  /**
   * Run functions in sandboxes (Linux, bubblewrap): no network but our endpoints, no files but their own. Opening
   * throws `TransportError` (NoSandbox) where that can't be. Default: what the state directory was last told; a new
   * one runs functions as you.
   */
  readonly sandbox?: boolean;
  /** Runtimes that will be needed: a new state directory starts them while it is being made. */
  readonly prewarm?: readonly Runtime[];
  /** Told of trouble that will be tried again. Default: nobody. */
  readonly trouble?: (error: unknown) => void;
  /** Serves AWS's clients too, the functions' own, and the command lines that find the directory in use. */
  readonly endpoint?: ServeOptions;
  /**
   * Folders in which Node.js functions find packages that Lambda's runtime has. Default: AWS's SDK, as the projects
   * have it in which the state directory and the current one are.
   */
  readonly nodeModules?: readonly string[];
}

/** An engine at work. */
export interface Local {
  readonly engine: Engine;
  readonly types: BuiltinTypes;
  readonly traces: TraceLog;
  readonly lambda: LambdaTransport;
  readonly sns: SnsTransport;
  /** Do functions run in sandboxes? */
  readonly sandbox: boolean;
  /** There when clients are served. */
  readonly endpoint?: Pick<Api, "port" | "url">;
  /** Sends one request without a stack, and waits for what becomes of it. */
  request(
    target: InvocationTarget,
    wanted: Omit<WantedRequest, "serviceToken">,
    signal: AbortSignal,
  ): Promise<EndedRequest>;
  /** Stops everything; operations in flight go on when the directory is opened again. */
  close(): Promise<void>;
}

/** Milliseconds in which a body that a function has sent before it ended is sure to have been read. */
const lastWords = 50;
/** Milliseconds. */
const usualStart = 15;
const defaultAccount = "123456789012";
const defaultRegion = "us-east-1";

/** Opens a state directory and goes on with what is in flight there. Throws `StorageError` `Locked` when it is in use. */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const storage = openSqliteStorage(resolve(options.stateDirectory), options.holder);
  try {
    return await wire(options, storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function servicesIn(
  stateDirectory: string,
  { documents }: Pick<SqliteStorage, "documents">,
  world: Pick<ServiceHome, "invoke" | "trouble"> = {},
): Services {
  return openServices({ ...world, documents, stateDirectory: resolve(stateDirectory) });
}

async function wire(given: LocalOptions, storage: SqliteStorage): Promise<Local> {
  const options = { ...given, sandbox: await sandboxSetting(storage.documents, given.sandbox) };
  const { traces } = storage;
  const services = servicesIn(options.stateDirectory, storage, {
    invoke: (call) => lambda.invoke(call),
    trouble: troubleOf(options),
  });
  const isNew = (await storage.journal.summaries()).length === 0;
  const { secret, certificate, ...prepared } = await prepare(options, storage, services);
  const transports: Transport[] = [];
  const reception = await openReception({
    secret,
    style: options.responseUrlStyle,
    certificate: certificate.made,
    traces,
    transports,
    engine: () => engine,
  });
  const { endpoint, singles } = reception;
  const settings = openSettings(options, () => engine);
  const served: Served = { secret: await persistentSecret(storage.documents, "secret/access-keys") };
  const { lambda, sns } = openTransports({
    options,
    storage,
    services,
    certificate,
    ...prepared,
    ...reception,
    settings,
    served,
  });
  transports.push(lambda, sns);
  // A new directory's certificate takes a while to make; processes start meanwhile.
  if (isNew) await startSoon((options.prewarm ?? []).map((runtime) => lambda.prewarm(runtime)));
  certificate.make();
  serveSites(endpoint, sns, served);
  const port = await announcePort(portFileOf(resolve(options.stateDirectory)), endpoint.port);
  const types = openTypes(services, settings);
  const engine = openEngine({ options, storage, services, types, transports, reception, lambda, sns });
  await certificate.made;
  // Before anything is at work: functions call the endpoint.
  const shown = { engine, services, traces, types, functions: lambda, topics: sns };
  const api = await serve(options, shown, served);
  engine.start();
  await services.stateMachines.resume();
  const request = requester(services, singles);
  const world = { engine, services, traces, settings, lambda, python: prepared.python, request };
  const commandLines = await serveCommandLines(options, world);
  return {
    engine,
    types,
    traces,
    lambda,
    sns,
    sandbox: options.sandbox,
    ...(api === undefined ? {} : { endpoint: api }),
    request,
    close: () =>
      closeInTurn([commandLines, api, engine, port, sns, services.stateMachines, lambda, endpoint, storage]),
  };
}

/** What functions find at other host names of AWS's. */
function serveSites(endpoint: ResponseEndpoint, sns: SnsTransport, served: Served): void {
  endpoint.serve(sns.site.matches, sns.site.listener);
  const aws = createAwsSite(() => served.url);
  endpoint.serve((host) => !isResponseHost(host) && !isWaitHost(host) && aws.matches(host), aws.listener);
}

function openTypes(services: Services, settings: SettingsInForce): BuiltinTypes {
  return createResourceTypes(services, { isStrict: async (stackId) => (await settings.of(stackId)).strict });
}

function requester(services: Services, singles: SingleRequests): Local["request"] {
  return async (target, wanted, signal) => {
    const opened = await openTarget(services, target, wanted.scope);
    try {
      return await singles.send({ ...wanted, serviceToken: opened.serviceToken }, signal);
    } finally {
      await opened.close();
    }
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

/** Waits for what starts, but no longer than starting usually takes: the interpreter may have to be looked for. */
async function startSoon(starting: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(starting), systemClock.sleep(usualStart)]);
}

async function announcePort(file: string, port: number): Promise<{ close(): Promise<void> }> {
  await writePort(file, port);
  return { close: () => removePort(file) };
}

function troubleOf({ trouble = () => undefined }: LocalOptions): (error: unknown) => void {
  return trouble;
}

function openEngine(parts: {
  readonly options: LocalOptions;
  readonly storage: SqliteStorage;
  readonly services: Services;
  readonly types: BuiltinTypes;
  readonly transports: readonly Transport[];
  readonly reception: Awaited<ReturnType<typeof openReception>>;
  readonly lambda: LambdaTransport;
  readonly sns: SnsTransport;
}): Engine {
  const { options, storage, services, types, transports, reception, lambda, sns } = parts;
  const { account = defaultAccount, region = defaultRegion } = options;
  const { responseUrls, waitUrls } = reception;
  return new Engine(
    {
      journal: storage.journal,
      clock: systemClock,
      types,
      transports,
      responseUrls,
      waitUrls,
      traces: storage.traces,
      lookups: createLookups(services),
      templates: createTemplates(services.s3),
      transforms: createTransforms({
        ...services,
        traces: storage.traces,
        invoke: (call) => lambda.invoke(call),
      }),
      notifications: createNotifications((message) => sns.publish(message)),
      // The transports say that a provider is silent only when somebody wants to know.
      failFast: true,
      trouble: troubleOf(options),
    },
    { region, account, newSeed: () => randomBytes(16).toString("hex") },
  );
}

async function serve(
  options: LocalOptions,
  world: Parameters<typeof openServed>[1],
  served: Served,
): Promise<Api | undefined> {
  const { account = defaultAccount, region = defaultRegion, endpoint } = options;
  return await openServed({ account, region, serve: endpoint, trouble: troubleOf(options) }, world, served);
}

async function closeInTurn(parts: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  for (const part of parts) await part?.close();
}

/** What answers come in by: the endpoint, its URLs, and requests that no stack makes. */
async function openReception(parts: {
  readonly secret: string;
  readonly style: LocalOptions["responseUrlStyle"];
  readonly certificate: Promise<Certificate>;
  readonly traces: TraceLog;
  readonly transports: readonly Transport[];
  /** Made later than this. */
  readonly engine: () => Engine;
}) {
  const { secret, style, certificate, traces, transports, engine } = parts;
  const signing = { secret, ...(style === undefined ? {} : { style }) };
  const responseUrls = createResponseUrls(signing);
  const waitUrls = createWaitUrls(signing);
  const singles = new SingleRequests({ transports, urls: responseUrls, traces, clock: systemClock });
  const isPending = async ({
    stackId,
    requestId,
  }: {
    readonly stackId: StackId;
    readonly requestId: RequestId;
  }) =>
    singles.isSingle(requestId) ? singles.isPending(requestId) : await engine().isPending(stackId, requestId);
  const endpoint = await openResponseEndpoint({
    verify: (request) => responseUrls.verify(request),
    madeFor: (url) => responseUrls.madeFor(url),
    isAwaited: (target) => isPending(target),
    onResponse: async (arrived) => {
      if (!singles.receive(arrived)) await engine().receive(arrived);
    },
    certificate,
    waits: {
      verify: (request) => waitUrls.verify(request),
      onSignal: (arrived) => engine().receiveSignal(arrived),
      clock: systemClock,
    },
    traces,
    clock: systemClock,
  });
  // Requests carry plain strings, since providers see them too; inside they have brands.
  const answered = ({ stackId, requestId }: ProviderRequest) =>
    wasAnswered(() => isPending({ stackId: stackId as StackId, requestId: requestId as RequestId }));
  return { responseUrls, waitUrls, singles, endpoint, answered };
}

async function prepare(options: LocalOptions, { documents }: SqliteStorage, { s3, config }: Services) {
  const { region = defaultRegion, account = defaultAccount } = options;
  const tls = join(resolve(options.stateDirectory), "tls");
  const hosts = [responseHost(region, partitionOf(region))];
  const { promise: wanted, resolve: make } = withResolvers();
  const made = wanted.then(() => openCertificate({ directory: tls, hosts, now: Date.now() }));
  // Waited for at the end of the opening; until then nobody else needs to know.
  made.catch(() => undefined);
  const [secret] = await Promise.all([
    persistentSecret(documents, "secret/response-urls"),
    endLeftovers(documents),
    s3.sweep(),
    options.sandbox ? probeSandbox() : undefined,
  ]);
  const place = { partition: partitionOf(region), account, region };
  if (options.config !== undefined) await config.apply(options.config, place);
  const workDirectory = defaultWorkDirectory();
  const projects = [dirname(resolve(options.stateDirectory)), process.cwd()];
  const given = { workDirectory, sandbox: options.sandbox === true };
  const nodeModules = options.nodeModules ?? (await sdkModules(projects, given));
  return {
    secret,
    certificate: { ...certificateFiles(tls), made, make },
    workDirectory,
    nodeModules,
    python: await config.python(),
  };
}

/** How sandboxes reach us. */
function sandboxOptions({ certificate, endpoint }: TransportParts): SandboxOptions {
  const { caFile, bundleFile } = certificate;
  return {
    caFile,
    bundleFile,
    hosts: (region) => {
      const partition = partitionOf(region);
      return [
        responseHost(region, partition),
        waitHost(region, partition),
        `sns.${region}.${urlSuffixOf(partition)}`,
      ];
    },
    onConnection: (socket) => endpoint.accept(socket),
  };
}

/** What the transports are made of. */
interface TransportParts {
  readonly options: LocalOptions;
  readonly storage: SqliteStorage;
  readonly services: Services;
  readonly certificate: Pick<Certificate, "caFile" | "bundleFile">;
  readonly workDirectory: string;
  readonly python: string | undefined;
  readonly nodeModules: readonly string[];
  readonly endpoint: ResponseEndpoint;
  readonly answered: (request: ProviderRequest) => Promise<boolean>;
  readonly singles: SingleRequests;
  readonly settings: SettingsInForce;
  readonly served: Served;
}

function openTransports(parts: TransportParts): { lambda: LambdaTransport; sns: SnsTransport } {
  const { options, services, certificate, endpoint, answered, workDirectory, served } = parts;
  const { documents, functions, queues, topics } = services;
  const { traces } = parts.storage;
  const { retryDelays, subscriberHosts } = options;
  const { python, nodeModules, singles, settings } = parts;
  // Whoever sends a single request waits for what becomes of it.
  const settingsOf = async ({ requestId, stackId }: ProviderRequest) =>
    singles.isSingle(requestId) ? briskSettings : await settings.of(stackId);
  const shared = { documents, traces, clock: systemClock, settingsOf, answered };
  const lambda = createLambdaTransport({
    ...shared,
    ...(options.sandbox ? { sandbox: sandboxOptions(parts) } : {}),
    functions,
    workDirectory,
    nodeModules,
    ...(python === undefined ? {} : { python }),
    ...(retryDelays === undefined ? {} : { retryDelays }),
    sendRecord: async ({ to, body, attributes = {} }) => {
      if (parseQueueArn(to) === undefined) await sns.publish({ topicArn: to, message: body, attributes });
      else await queues.send(to, { body, attributes });
    },
    environment: (family) =>
      options.sandbox
        ? sandboxEnvironment(family)
        : {
            ...redirectEnvironment({
              port: endpoint.port,
              hosts: [...redirectedHosts, ...awsHosts(served.url !== undefined)],
              caFile: certificate.caFile,
              bundleFile: certificate.bundleFile,
              runtime: family === "custom" ? "any" : family,
            }),
            ...(served.url === undefined
              ? {}
              : { AWS_ENDPOINT_URL: served.url, AWS_SECRET_ACCESS_KEY: served.secret }),
          },
  });
  const sns = createSnsTransport({
    ...shared,
    topics,
    queues,
    functions: lambda,
    retryScale: options.snsRetryScale ?? 0.05,
    ...(subscriberHosts === undefined ? {} : { subscriberHosts }),
    issue: issueSnsCertificate,
  });
  return { lambda, sns };
}

async function wasAnswered(isPending: () => Promise<boolean>): Promise<boolean> {
  if (!(await isPending())) return true;
  await systemClock.sleep(lastWords);
  return !(await isPending());
}
