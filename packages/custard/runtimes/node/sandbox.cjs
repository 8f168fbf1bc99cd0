/**
 * The first program in a sandbox. The sandbox has a network of its own, which nobody outside can reach: so this opens
 * the listeners inside, hands them to the engine over the channel on which it was started, and then becomes the
 * function.
 *
 *   node sandbox.cjs here FILE          goes on with a file in this process
 *   node sandbox.cjs run COMMAND ...    runs a program, and ends as it does
 */
"use strict";
const net = require("node:net");

const listeners = [
  ["api", 9001],
  ["endpoint", 443],
];

function share(name, port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      process.send(name, server, (error) => {
        server.close();
        if (error) reject(error);
        else resolve();
      });
    });
  });
}

function run([command, ...args]) {
  const child = require("node:child_process").spawn(command, args, { stdio: "inherit" });
  child.once("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.once("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.kill(process.pid, signal);
  });
}

function become([file, ...rest]) {
  process.argv = [process.argv[0], file, ...rest];
  require(file);
}

async function start() {
  for (const [name, port] of listeners) await share(name, port);
  // The function must find no channel to the engine.
  process.disconnect();
  const [how, ...rest] = process.argv.slice(2);
  if (how === "here") become(rest);
  else run(rest);
}

start().catch((error) => {
  process.stderr.write(`The sandbox couldn't be set up: ${error.message}\n`);
  process.exit(125);
});
