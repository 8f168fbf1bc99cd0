import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { isExcepted, proxyTransport } from "../../packages/provider/src/proxy.ts";
import { expect, onTestFinished, test } from "vitest";
import { openCertificate } from "../../packages/custard/src/response/certificate.ts";
import { temporaryDirectory } from "../support/state-directory.ts";

async function listen(server: Server | ReturnType<typeof createTlsServer>): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

test("a PUT goes through CONNECT, with the proxy's credentials, and the proxy sees the host only", async () => {
  const certificate = await openCertificate({
    directory: temporaryDirectory(),
    hosts: ["localhost"],
    now: Date.now(),
  });
  const bodies: string[] = [];
  const port = await listen(
    createTlsServer({ ...certificate.fallback }, (request, response) => {
      request.on("data", (chunk: Buffer) => bodies.push(`${request.method} ${request.url} ${String(chunk)}`));
      request.on("end", () => response.end("taken"));
    }),
  );
  const asked: (string | undefined)[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, socket) => {
    asked.push(request.url, request.headers["proxy-authorization"]);
    const upstream = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    onTestFinished(() => {
      upstream.destroy();
      socket.destroy();
    });
  });
  const proxyPort = await listen(proxy);
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
  // This process trusts the system's authorities only; what is tested here is the way, not the trust.
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  onTestFinished(() => {
    if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
  });
  const transport = proxyTransport({ HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${proxyPort}` });
  const result = await transport("https://localhost/key?sig=1", Buffer.from("{}"), {
    connect: 3000,
    total: 3000,
  });
  expect(result).toEqual({ status: 200, body: "taken" });
  expect(bodies).toEqual(["PUT /key?sig=1 {}"]);
  expect(asked).toEqual(["localhost:443", `Basic ${Buffer.from("me:p@ss").toString("base64")}`]);
});

test("a proxy that refuses is an error that names it", async () => {
  const proxy = createServer();
  proxy.on("connect", (_request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  const transport = proxyTransport({ HTTPS_PROXY: `http://127.0.0.1:${await listen(proxy)}` });
  const putting = transport("https://localhost/key", Buffer.from("{}"), { connect: 3000, total: 3000 });
  await expect(putting).rejects.toThrow("the proxy refused: HTTP 403");
});

test.each([
  { host: "a.example.com", exceptions: ["example.com"], excepted: true },
  { host: "a.example.com", exceptions: [".example.com"], excepted: true },
  { host: "a.example.com", exceptions: ["*.example.com"], excepted: true },
  { host: "anexample.com", exceptions: ["example.com"], excepted: false },
  { host: "a.example.com", exceptions: ["*"], excepted: true },
  { host: "a.example.com", exceptions: [""], excepted: false },
])("NO_PROXY $exceptions and $host", ({ host, exceptions, excepted }) => {
  expect(isExcepted(host, exceptions)).toBe(excepted);
});
