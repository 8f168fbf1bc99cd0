"use strict";
/**
 * The `cfn-response` module that AWS puts beside inline code that requires it: the same contract, our own code.
 *
 * AWS documents two forms, one that ends the invocation by `context.done()` and one that returns a promise. This one
 * does both, so that callers of either work, and so that nodejs24.x, which has no `context.done`, works too.
 */
const fs = require("node:fs");
const https = require("node:https");

// Response URLs lead to Custard's endpoint, whose authority is read in no time; all of Node's would take 15 ms.
const authorityFile = process.env.CUSTARD_REDIRECT_CA;
const ca = authorityFile === undefined ? undefined : fs.readFileSync(authorityFile);

exports.SUCCESS = "SUCCESS";
exports.FAILED = "FAILED";

exports.send = function send(event, context, ...answer) {
  const [responseStatus, responseData, physicalResourceId, noEcho] = answer;
  const body = JSON.stringify({
    Status: responseStatus,
    Reason: `See the details in CloudWatch Log Stream: ${context.logStreamName}`,
    PhysicalResourceId: physicalResourceId || context.logStreamName,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
    NoEcho: noEcho || false,
    Data: responseData,
  });
  console.log("Response body:\n", body);
  const finish = () => {
    if (typeof context.done === "function") context.done();
  };
  return put(event.ResponseURL, body).then(finish, (error) => {
    console.log(`send(..) failed executing https.request(..): ${error}`);
    finish();
  });
};

function put(responseUrl, body) {
  const { hostname, pathname, search } = new URL(responseUrl);
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        hostname,
        port: 443,
        path: `${pathname}${search}`,
        method: "PUT",
        ca,
        // AWS counts characters, not bytes: a body with others than ASCII arrives cut there, and so it does here.
        headers: { "content-type": "", "content-length": body.length },
      },
      (response) => {
        console.log(`Status code: ${response.statusCode}`);
        response.resume();
        resolve();
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}
