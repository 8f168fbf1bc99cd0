// A provider behind an SNS topic as it would run anywhere: an Express server that verifies what it gets with AWS's own
// validator, confirms its subscription, and answers by HTTPS. It knows nothing of Custard.
"use strict";
const https = require("node:https");
const express = require("express");
const MessageValidator = require("sns-validator");

const validator = new MessageValidator();
const app = express();
const say = (text) => process.stdout.write(`${text}\n`);
app.use(express.text({ type: "*/*", limit: "1mb" }));

app.post("/", (request, response) => {
  validator.validate(JSON.parse(request.body), (error, message) => {
    if (error) {
      say(`INVALID ${error.message}`);
      response.sendStatus(403);
      return;
    }
    say(`VALID ${message.Type} ${message.SignatureVersion}`);
    if (message.Type === "SubscriptionConfirmation") {
      https.get(message.SubscribeURL, (confirmed) => {
        confirmed.resume();
        response.sendStatus(confirmed.statusCode);
      });
      return;
    }
    // As many providers do: taken at once, answered later.
    response.sendStatus(200);
    if (message.Subject === "AWS CloudFormation custom resource request") serve(JSON.parse(message.Message));
  });
});

function serve(request) {
  say(`${request.RequestType} ${request.PhysicalResourceId ?? ""}`);
  const body = JSON.stringify({
    Status: "SUCCESS",
    PhysicalResourceId: request.PhysicalResourceId ?? `thing-${request.RequestId}`,
    StackId: request.StackId,
    RequestId: request.RequestId,
    LogicalResourceId: request.LogicalResourceId,
    Data: { Size: `size ${request.ResourceProperties.Size}` },
  });
  const { hostname, pathname, search } = new URL(request.ResponseURL);
  const options = { hostname, port: 443, path: pathname + search, method: "PUT" };
  const sent = https.request({
    ...options,
    headers: { "content-type": "", "content-length": Buffer.byteLength(body) },
  });
  sent.on("response", (answer) => say(`ANSWERED ${answer.statusCode}`));
  sent.on("error", (error) => say(`FAILED ${error.message}`));
  sent.end(body);
}

const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  say(`LISTENING ${server.address().port}`);
});
