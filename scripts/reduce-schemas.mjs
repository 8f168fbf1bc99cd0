/**
 * Reduces the published resource schemas to what the placeholder types need: one line per type, so that a look-up
 * reads one line and parses no more. Does nothing when the file was made from the same schemas by the same script.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const output = fileURLToPath(new URL("../packages/custard/dist/resource-schemas.txt", import.meta.url));
const source = new URL("../node_modules/@aws-cdk/aws-service-spec/package.json", import.meta.url);
const stamp = `# ${createHash("sha256")
  .update(readFileSync(source))
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .digest("hex")}\n`;

if (!isCurrent()) {
  const { loadAwsServiceSpecSync } = await import("@aws-cdk/aws-service-spec");
  const resources = [...loadAwsServiceSpecSync().all("resource")]
    // A type that needs a transform doesn't exist without it.
    .filter((resource) => resource.cloudFormationTransform === undefined)
    .toSorted((a, b) => (a.cloudFormationType < b.cloudFormationType ? -1 : 1));
  mkdirSync(dirname(output), { recursive: true });
  // CDK adds it to every template; no schema of it is published.
  const unpublished = { cloudFormationType: "AWS::CDK::Metadata", attributes: {}, properties: {} };
  const lines = [unpublished, ...resources].map(
    (resource) => `${resource.cloudFormationType}\t${JSON.stringify(reduce(resource))}\n`,
  );
  writeFileSync(`${output}.new`, `${stamp}${lines.join("")}`);
  renameSync(`${output}.new`, output);
}

/** The members are read by `packages/custard/src/resources/schema.ts`. */
function reduce(resource) {
  return {
    identifier: resource.cfnRefIdentifier ?? resource.primaryIdentifier ?? [],
    // What an import would ask for, where that isn't what Ref gives.
    primary: resource.cfnRefIdentifier === undefined ? undefined : resource.primaryIdentifier,
    arn: resource.arnTemplate,
    attributes: attributesOf(resource),
    required: namesOf(resource, (property) => property.required === true),
    // "maybe" depends on other properties: an update in place is the commoner case.
    createOnly: namesOf(resource, (property) => property.causesReplacement === "yes"),
    tags: resource.tagInformation === undefined ? undefined : true,
  };
}

function namesOf(resource, choose) {
  const names = Object.keys(resource.properties).filter((name) => choose(resource.properties[name]));
  return names.length > 0 ? names : undefined;
}

/** Name to kind; structures are left out, their members are attributes of their own. */
function attributesOf(resource) {
  const kinds = {
    string: "text",
    integer: "number",
    number: "number",
    boolean: "boolean",
    array: "list",
    map: "map",
    json: "map",
  };
  const entries = Object.entries(resource.attributes).map(([name, { type }]) => [name, kinds[type.type]]);
  return Object.fromEntries(entries.filter(([, kind]) => kind !== undefined));
}

function isCurrent() {
  return existsSync(output) && readFileSync(output, "latin1").startsWith(stamp);
}
