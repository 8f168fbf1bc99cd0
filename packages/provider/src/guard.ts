/**
 * Keeps the process alive while requests are in flight, and tells them of crashes outside the awaited path: a throw
 * in a timer, an event emitter's error, a rejection that nobody handles.
 *
 * Invariants
 * G1: from the first request in flight to the last one's end, no crash ends the process; before and after, the
 *     process behaves as if this file weren't there.
 * G2: a crash reaches the request in whose asynchronous context it happened; when that can't be told, all in flight.
 *
 * Process-wide by nature, hence the module's state. SIGKILL and running out of memory can't be caught here.
 */
import { AsyncLocalStorage } from "node:async_hooks";

type OnCrash = (error: unknown) => void;
type Listener = (...details: unknown[]) => void;

/** `process` as far as it is used here: its own overloads tell each event's listeners apart, which doesn't matter. */
interface Bus {
  listeners(event: string): Listener[];
  removeAllListeners(event: string): Bus;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
}

const bus = process as unknown as Bus;
const events = ["uncaughtException", "unhandledRejection"] as const;

const owner = new AsyncLocalStorage<OnCrash>();
const inFlight = new Set<OnCrash>();
let restore: () => void = () => undefined;

/** Runs `work`; crashes that belong to it go to `onCrash` instead of ending the process. */
export async function guardCrashes<T>(onCrash: OnCrash, work: () => Promise<T>): Promise<T> {
  if (inFlight.size === 0) restore = takeOver();
  inFlight.add(onCrash);
  try {
    return await owner.run(onCrash, work);
  } finally {
    inFlight.delete(onCrash);
    if (inFlight.size === 0) restore();
  }
}

function crash(error: unknown): void {
  const known = owner.getStore();
  for (const onCrash of known !== undefined && inFlight.has(known) ? [known] : inFlight) onCrash(error);
}

/** Takes the place of the listeners that end the process; returns how to put them back. */
function takeOver(): () => void {
  const putBack = events.map((event) => {
    const listeners = bus.listeners(event);
    bus.removeAllListeners(event).on(event, crash);
    return () => {
      bus.off(event, crash);
      for (const listener of listeners) bus.on(event, listener);
    };
  });
  // It comes before any listener, also before those that are added later.
  const isFree = !process.hasUncaughtExceptionCaptureCallback();
  if (isFree) process.setUncaughtExceptionCaptureCallback(crash);
  return () => {
    if (isFree) process.setUncaughtExceptionCaptureCallback(null);
    for (const restoreOne of putBack) restoreOne();
  };
}
