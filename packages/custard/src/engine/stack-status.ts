/** Every stack status. `settled`: no operation runs. `update`, `delete`: may one be started? Source: facts 49, 77, 80, 114, 128. */
export const stackStatuses = {
  REVIEW_IN_PROGRESS: { settled: true, update: false, delete: true },
  CREATE_IN_PROGRESS: { settled: false, update: false, delete: true },
  CREATE_COMPLETE: { settled: true, update: true, delete: true },
  CREATE_FAILED: { settled: true, update: true, delete: true },
  ROLLBACK_IN_PROGRESS: { settled: false, update: false, delete: true },
  ROLLBACK_COMPLETE: { settled: true, update: false, delete: true },
  ROLLBACK_FAILED: { settled: true, update: false, delete: true },
  UPDATE_IN_PROGRESS: { settled: false, update: false, delete: false },
  UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: { settled: false, update: false, delete: false },
  UPDATE_COMPLETE: { settled: true, update: true, delete: true },
  UPDATE_FAILED: { settled: true, update: true, delete: true },
  UPDATE_ROLLBACK_IN_PROGRESS: { settled: false, update: false, delete: false },
  UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS: { settled: false, update: false, delete: false },
  UPDATE_ROLLBACK_COMPLETE: { settled: true, update: true, delete: true },
  UPDATE_ROLLBACK_FAILED: { settled: true, update: false, delete: true },
  DELETE_IN_PROGRESS: { settled: false, update: false, delete: true },
  DELETE_COMPLETE: { settled: true, update: false, delete: true },
  DELETE_FAILED: { settled: true, update: false, delete: true },
} as const satisfies Record<string, { settled: boolean; update: boolean; delete: boolean }>;

/** A stack's status. */
export type StackStatus = keyof typeof stackStatuses;

/** Does no operation run in this status? */
export function isSettled(status: StackStatus): boolean {
  return stackStatuses[status].settled;
}
