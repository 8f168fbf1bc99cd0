import type { StackId } from "../engine/ids.ts";
import type { Session } from "./session.ts";

/**
 * Does something with one stack and minds the others: an engine goes on with all that its state directory holds, also
 * with what a killed call left in the middle. Says so before, and what is still in the middle after. A server's other
 * operations are nobody's leftovers.
 */
export async function mindingOthers<T>(session: Session, own: string, act: () => Promise<T>): Promise<T> {
  const { engine, server } = session.local;
  if (server !== undefined) return await act();
  const stacks = await engine.stacks();
  const nameOf = (id: StackId) => stacks.find(({ stackId }) => stackId === id)?.stackName ?? id;
  const left = (await engine.resume()).filter((id) => nameOf(id) !== own);
  const note = (text: string) => session.report({ kind: "note", text });
  for (const id of left) note(`${nameOf(id)} was left in the middle, and goes on while this runs.`);
  const result = await act();
  const still = left.length === 0 ? [] : await engine.resume();
  for (const id of left.filter((each) => still.includes(each)))
    note(`${nameOf(id)} is still in the middle. Go on with it: custard resume${session.stateHint}`);
  return result;
}
