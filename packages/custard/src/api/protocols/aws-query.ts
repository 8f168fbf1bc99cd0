/** The query protocol of CloudFormation, STS, SNS and IAM: forms go in, XML comes out. */
import { ApiError } from "../api-error.ts";
import { isStructure, type Member, type Ref, type ServiceModel, type Structure } from "../model.ts";
import type { WireObject, WireValue } from "../wire.ts";
import { fieldOf, type FormNode, numbered, readForm } from "./form.ts";
import type { Protocol } from "./protocol.ts";
import { parseText } from "./simple-value.ts";
import { escapeXml, writeBody } from "./xml-writer.ts";

export const awsQuery: Protocol = {
  address(model, request) {
    const form = readForm(request);
    const action = fieldOf(form, "Action");
    if (action === undefined || action === "")
      throw new ApiError("MissingAction", "The request must contain the parameter Action.");
    const operation = model.operations.get(action);
    if (operation !== undefined) return { operation, labels: {} };
    const version = fieldOf(form, "Version");
    throw new ApiError(
      "InvalidAction",
      `Could not find operation ${action} for version ${version ?? model.version}`,
    );
  },

  parse({ model, request, addressed }) {
    const { input } = addressed.operation;
    return input === undefined ? {} : readStructure(model, input, readForm(request));
  },

  answer({ model, operation, output, requestId }) {
    const { name } = operation;
    const result =
      operation.output === undefined
        ? ""
        : `<${name}Result>${writeBody(model, operation.output.members, output)}</${name}Result>`;
    const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
    const body = `<${name}Response xmlns="${model.namespace}">${result}${metadata}</${name}Response>`;
    return { status: 200, headers: { "content-type": "text/xml" }, body };
  },

  refuse({ model, error, requestId }) {
    const type = error.status >= 500 ? "Receiver" : "Sender";
    const code = (model.forms === true ? model.errors[error.code]?.code : undefined) ?? error.code;
    const body =
      `<ErrorResponse xmlns="${model.namespace}"><Error><Type>${type}</Type><Code>${escapeXml(code)}</Code>` +
      `<Message>${escapeXml(error.message)}</Message></Error><RequestId>${requestId}</RequestId></ErrorResponse>`;
    return { status: error.status, headers: { "content-type": "text/xml" }, body };
  },
};

/** Fields that the model doesn't know are ignored, as AWS ignores them. */
function readStructure(model: ServiceModel, { members }: Structure, form: FormNode): WireObject {
  const found = Object.entries(members).flatMap(([name, member]) => {
    const node = form.children.get(member.name ?? name);
    return node === undefined ? [] : [[name, read(model, member, node)] as const];
  });
  return Object.fromEntries(found);
}

function read(model: ServiceModel, { ref, flat }: Pick<Member, "ref" | "flat">, node: FormNode): WireValue {
  if (isStructure(ref)) return readStructure(model, model.structure(ref), node);
  if (typeof ref === "string") return node.value === undefined ? undefined : parseText(ref, node.value);
  if ("list" in ref) {
    // `Tags=` is an empty list (it has no items and no `member`).
    const items = numbered(flat === true ? node : (node.children.get(ref.name ?? "member") ?? node));
    return items.map((item) => read(model, { ref: ref.list }, item));
  }
  const entries = numbered(flat === true ? node : (node.children.get("entry") ?? node));
  return Object.fromEntries(
    entries.map((entry) => [
      entry.children.get(ref.key ?? "key")?.value ?? "",
      readValue(model, ref.map, entry.children.get(ref.value ?? "value")),
    ]),
  );
}

function readValue(model: ServiceModel, ref: Ref, node: FormNode | undefined): WireValue {
  return node === undefined ? undefined : read(model, { ref }, node);
}
