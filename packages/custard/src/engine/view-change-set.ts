/** Change sets as users see them: masked, and with or without values. */
import type { JsonObject } from "@custard/provider/protocol";
import { show, showMap, type Value, type ValueMap } from "../template/value.ts";
import type { ChangeDetail, ChangeSet, ResourceChange } from "./change-set.ts";
import { isSettled } from "./stack-status.ts";
import type { Stack } from "./stack.ts";
import { viewParametersOf } from "./view.ts";
import type { ChangeDetailView, ChangeSetSummary, ChangeSetView, ResourceChangeView } from "./views.ts";

/**
 * A change set, as DescribeChangeSet shows it. `values`: with what properties were and will be; `nested`: ids of the
 * change sets of nested stacks by their logical ids.
 */
export function viewChangeSet(
  stack: Stack,
  changeSet: ChangeSet,
  { values, nested }: { readonly values: boolean; readonly nested: ReadonlyMap<string, string> },
): ChangeSetView {
  const { definition, changes, onFailure } = changeSet;
  return {
    ...summariseChangeSet(stack, changeSet),
    parameters: viewParametersOf(definition),
    tags: definition.tags,
    notificationArns: definition.notificationArns,
    templateBody: definition.template.original ?? definition.template.body,
    ...(definition.template.original === undefined
      ? {}
      : { processedTemplateBody: definition.template.body }),
    terms: changeSet.terms ?? {},
    ...(onFailure === undefined ? {} : { onStackFailure: onFailure }),
    changes: changes.map((change) => {
      const changeSetId = nested.get(change.logicalId);
      return { ...viewChange(change, values), ...(changeSetId === undefined ? {} : { changeSetId }) };
    }),
  };
}

/** A change set, as ListChangeSets shows it. */
export function summariseChangeSet(stack: Stack, changeSet: ChangeSet): ChangeSetSummary {
  const { id, name, type, status, reason, createdAt, description } = changeSet;
  const { stackId, stackName } = stack.identity;
  return {
    changeSetId: id,
    changeSetName: name,
    stackId,
    stackName,
    type,
    status,
    executionStatus: executionStatusOf(stack, changeSet),
    createdAt,
    importExisting: changeSet.importExisting ?? false,
    includesNested: changeSet.includesNested ?? false,
    ...(changeSet.nestedIn === undefined ? {} : { nestedIn: changeSet.nestedIn }),
    ...(reason === undefined ? {} : { reason }),
    ...(description === undefined ? {} : { description }),
  };
}

function executionStatusOf(
  stack: Stack,
  { status, executed }: ChangeSet,
): ChangeSetSummary["executionStatus"] {
  if (status === "FAILED") return "UNAVAILABLE";
  if (!executed) return "AVAILABLE";
  if (!isSettled(stack.status)) return "EXECUTE_IN_PROGRESS";
  return stack.status === "CREATE_COMPLETE" || stack.status === "UPDATE_COMPLETE"
    ? "EXECUTE_COMPLETE"
    : "EXECUTE_FAILED";
}

function viewChange(change: ResourceChange, values: boolean): ResourceChangeView {
  const { action, logicalId, physicalId, type, policyAction, details, before, after } = change;
  // Fact 126: with values, even what is new is said to be a replacement.
  const replacement = change.replacement ?? (values && action === "Add" ? "True" : undefined);
  return {
    action,
    logicalId,
    resourceType: type,
    scope: [...new Set(details.map(({ part }) => part))],
    details: details
      .filter(({ withValuesOnly }) => values || withValuesOnly !== true)
      .map((detail) => viewDetail(detail, values)),
    ...(physicalId === undefined ? {} : { physicalId }),
    ...(replacement === undefined ? {} : { replacement }),
    ...(policyAction === undefined ? {} : { policyAction }),
    ...(values && before !== undefined ? { before: context(before) } : {}),
    ...(values && after !== undefined ? { after: context(after) } : {}),
  };
}

/** A JSON text on the wire. */
function context(properties: ValueMap): JsonObject {
  return { Properties: showMap(properties) };
}

function viewDetail(detail: ChangeDetail, values: boolean): ChangeDetailView {
  const { part, name, recreation, evaluation, source, cause } = detail;
  return {
    target: {
      attribute: part,
      requiresRecreation: recreation,
      ...(name === undefined ? {} : { name }),
      ...(values && name !== undefined ? valuesOf(detail, name) : {}),
    },
    evaluation,
    changeSource: source,
    ...(cause === undefined ? {} : { causingEntity: cause }),
  };
}

function valuesOf({ before, after }: ChangeDetail, name: string): Partial<ChangeDetailView["target"]> {
  const attributeChangeType = before === undefined ? "Add" : after === undefined ? "Remove" : "Modify";
  return {
    path: `/Properties/${name}`,
    attributeChangeType,
    ...(before === undefined ? {} : { beforeValue: textOf(before) }),
    ...(after === undefined ? {} : { afterValue: textOf(after) }),
  };
}

function textOf(value: Value): string {
  const shown = show(value);
  return typeof shown === "object" ? JSON.stringify(shown) : String(shown);
}
