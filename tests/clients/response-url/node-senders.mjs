// Senders as providers write them, one per name: `node node-senders.mjs NAME`, the URL and the body by environment.
// Each prints the status that it was answered.
import http2 from "node:http2";
import https from "node:https";
import { createRequire } from "node:module";
import net from "node:net";
import tls from "node:tls";

const require = createRequire(import.meta.url);
const url = process.env.RESPONSE_URL;
const body = process.env.RESPONSE_BODY;

function send(options, headers) {
  return new Promise((resolve, reject) => {
    const request = https.request(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    request.write(body);
    request.end();
  });
}

const length = { "content-length": Buffer.byteLength(body) };

const senders = {
  "https with host name, port 443 and path": () => {
    const parsed = require("node:url").parse(url);
    const options = { hostname: parsed.hostname, port: 443, path: parsed.path, method: "PUT" };
    return send(options, { "content-type": "", ...length });
  },
  "https with host name and path": () => {
    const parsed = new URL(url);
    const options = { hostname: parsed.hostname, path: parsed.pathname + parsed.search, method: "PUT" };
    return send(options, { "content-type": "", ...length });
  },
  "https with a URL": () =>
    new Promise((resolve, reject) => {
      const request = https.request(new URL(url), { method: "PUT", headers: length }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject);
      request.end(body);
    }),
  "https with a list of authorities": () => {
    const parsed = new URL(url);
    const options = { hostname: parsed.hostname, path: parsed.pathname + parsed.search, method: "PUT" };
    return send({ ...options, ca: tls.rootCertificates.slice(0, 1) }, length);
  },
  "a socket with TLS on top": () =>
    new Promise((resolve, reject) => {
      const parsed = new URL(url);
      const plain = net.connect(443, parsed.hostname);
      const secure = tls.connect({ socket: plain, servername: parsed.hostname });
      const head = [
        `PUT ${parsed.pathname}${parsed.search} HTTP/1.1`,
        `Host: ${parsed.hostname}`,
        `Content-Length: ${length["content-length"]}`,
        "Connection: close",
      ];
      secure.on("error", reject);
      secure.once("data", (data) => resolve(Number(data.toString().slice(9, 12))));
      secure.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    }),
  // It prints the status itself.
  "cfn-response": () =>
    new Promise((done) => {
      const context = { logStreamName: "log", done };
      require("cfn-response").send({ ResponseURL: url }, context, "SUCCESS", {}, "id");
    }),
  fetch: async () => (await fetch(url, { method: "PUT", body })).status,
  undici: async () => (await (await import("undici")).request(url, { method: "PUT", body })).statusCode,
  axios: async () => {
    const { default: axios } = await import("axios");
    return (await axios.put(url, body, { validateStatus: () => true })).status;
  },
  got: async () => {
    const { default: got } = await import("got");
    return (await got.put(url, { body, throwHttpErrors: false })).statusCode;
  },
  "node-fetch": async () => {
    const { default: nodeFetch } = await import("node-fetch");
    return (await nodeFetch(url, { method: "PUT", body })).status;
  },
  // S3 speaks no HTTP/2, and neither does the endpoint: the sender learns so while connecting.
  http2: () =>
    new Promise((resolve) => {
      http2.connect(url).on("error", (error) => resolve(error.code));
    }),
};

// Some leave their connection open, as Lambda's functions may: the process doesn't wait for that.
process.stdout.write(`${(await senders[process.argv[2]]()) ?? ""}\n`, () => process.exit());
