/**
 * Preloaded into Node processes that Custard starts: connections to port 443 of certain hosts go to Custard's endpoint
 * on 127.0.0.1 instead. The change is made below TLS, so what a sender sees and says (URL, Host, server name,
 * certificate check) stays true, whichever library it uses.
 *
 * CUSTARD_REDIRECT         the endpoint's port, or `@` and the file that holds it (`%20` for a blank, `%25` for a
 *                          percent sign), then host names; one `*` in a name stands for any characters; `+` before a
 *                          name reports its connections too, `!` refuses it on other ports
 * CUSTARD_REDIRECT_CA      file with the authority that vouches for the endpoint (PEM)
 * CUSTARD_REDIRECT_REPORT  file that gets a line for every other place the process has turned to (optional)
 *
 * Start-up time matters here: nothing is loaded or read before it is needed, and NODE_EXTRA_CA_CERTS isn't used, since
 * it makes Node read all its built-in authorities at the start (18 ms).
 */
"use strict";
const net = require("node:net");

const localAddress = "127.0.0.1";
const httpsPort = "443";

let rule = { text: "", place: "0", hosts: [] };

/** Read again when it changes: a process may be started before it is known what for. */
function currentRule() {
  const text = process.env.CUSTARD_REDIRECT ?? "";
  if (text === rule.text) return rule;
  const [place, ...hosts] = text.split(" ");
  rule = { text, place, hosts: hosts.map(parsePattern) };
  return rule;
}

/** A program that the user started may outlive engines: then each connection asks the file which one runs now. */
function endpointPort() {
  const { place } = currentRule();
  if (!place.startsWith("@")) return Number(place);
  const file = place.slice(1).replaceAll("%20", " ").replaceAll("%25", "%");
  try {
    return Number(require("node:fs").readFileSync(file, "utf8"));
  } catch {
    // No engine runs: nothing listens on port 0, so that the connection is refused.
    return 0;
  }
}

function parsePattern(text) {
  const mark = text.startsWith("+") || text.startsWith("!") ? text[0] : "";
  const pattern = text.slice(mark.length);
  const [start, end] = pattern.split("*");
  if (end === undefined) return { mark, matches: (host) => host === pattern };
  const matches = (host) =>
    host.length >= start.length + end.length && host.startsWith(start) && host.endsWith(end);
  return { mark, matches };
}

/** `redirect`, `redirect+` (reported too), `refuse`, or undefined: none of our business. */
function wayOf(host, port) {
  if (typeof host !== "string") return undefined;
  const name = host.toLowerCase().replace(/\.$/, "");
  const found = currentRule().hosts.filter(({ matches }) => matches(name));
  const redirected = String(port) === httpsPort && found.find(({ mark }) => mark !== "!");
  if (redirected) return `redirect${redirected.mark}`;
  return found.some(({ mark }) => mark === "!") ? "refuse" : undefined;
}

// ------------------------------------------------------------------------------------------ connections

// oxlint-disable-next-line typescript/unbound-method -- called with its socket below
const { connect } = net.Socket.prototype;

net.Socket.prototype.connect = function (...given) {
  // `net.connect` hands over an array of options and callback that carries a private mark, so it must stay the same.
  const list = Array.isArray(given[0]) ? given[0] : given;
  const target = targetOf(list);
  const way = wayOf(target.host, target.port);
  if (way === "refuse") return refuse(this, target);
  if (way === undefined || way === "redirect+") reportConnection(target);
  if (way !== undefined) {
    trustEndpoint(this);
    redirect(list);
  }
  return connect.apply(this, given);
};

function refuse(socket, { host, port }) {
  const error = new Error(`Functions don't reach AWS from here: ${host}:${port}`);
  process.nextTick(() => socket.destroy(Object.assign(error, { code: "EACCES", syscall: "connect" })));
  return socket;
}

function targetOf(list) {
  const [first, second] = list;
  if (typeof first === "object" && first !== null) return first;
  const isPath = typeof first === "string" && !/^\d+$/.test(first);
  return isPath ? { path: first } : { port: first, host: typeof second === "string" ? second : undefined };
}

function redirect(list) {
  const port = endpointPort();
  if (typeof list[0] === "object") list[0] = { ...list[0], host: localAddress, port };
  else list.splice(0, 2, port, localAddress);
}

// ---------------------------------------------------------------------------------------------- trust

let authority;

function endpointAuthority() {
  authority ??= require("node:fs").readFileSync(process.env.CUSTARD_REDIRECT_CA, "utf8");
  return authority;
}

/** Only for this connection: no other one trusts the endpoint's authority. */
function trustEndpoint(socket) {
  const context = socket._tlsOptions?.secureContext?.context;
  if (context === undefined) trustInNewContexts();
  else context.addCACert(endpointAuthority());
}

let trustsInNewContexts = false;

/** For senders that connect first and then put TLS on top. */
function trustInNewContexts() {
  if (trustsInNewContexts) return;
  trustsInNewContexts = true;
  const tls = require("node:tls");
  const { createSecureContext } = tls;
  tls.createSecureContext = function (options) {
    const secure = createSecureContext(options);
    secure.context.addCACert(endpointAuthority());
    return secure;
  };
  require("node:module").syncBuiltinESMExports();
}

// --------------------------------------------------------------------------------------------- report

const reportFile = process.env.CUSTARD_REDIRECT_REPORT;
const reported = new Set();

function report(line) {
  if (reportFile === undefined || reported.has(line)) return;
  reported.add(line);
  require("node:fs").appendFileSync(reportFile, `${line}\n`);
}

function reportConnection({ host, port, path }) {
  if (path !== undefined) report(`connect ${path}`);
  else if (!isOurs(host, port)) report(`connect ${host ?? "localhost"}:${port}`);
}

function isOurs(host, port) {
  const place = `${host}:${port}`;
  return place === process.env.AWS_LAMBDA_RUNTIME_API || place === `${localAddress}:${endpointPort()}`;
}

/** Other programs can turn to anything, so that one was started is all that can be told. */
function watchPrograms() {
  const programs = require("node:child_process");
  const { spawn } = programs.ChildProcess.prototype;
  programs.ChildProcess.prototype.spawn = function (options) {
    report(`spawn ${options?.file}`);
    return spawn.call(this, options);
  };
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    const run = programs[name];
    programs[name] = function (file, ...rest) {
      report(`spawn ${file}`);
      return run.call(this, file, ...rest);
    };
  }
  require("node:module").syncBuiltinESMExports();
}

if (reportFile !== undefined) watchPrograms();
