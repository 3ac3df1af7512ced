/**
 * Makes a script that breaks an invariant shorter: leaves out halves, quarters, … single events, and whatever orders of batches
 * can go, as long as the same invariant breaks (delta debugging). The schedule of what stays is its own, so it stays.
 */
import type { Script, ScriptEvent } from './script.ts';

/** @returns what broke, or null. */
export type Play = (script: Script) => Promise<unknown>;

/** Which invariant it is, without the names and figures in its words. */
export function invariantOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.replace(/[0-9a-f]*[0-9][0-9a-f]*/g, '#');
}

/**
 * @param tried called after every attempt, with how many events are left.
 * @returns a script no event of which can be left out, or the best one after `playsMax` attempts.
 */
export async function shrink(
  script: Script,
  play: Play,
  tried: (left: number) => void = () => undefined,
  playsMax = 2_000,
): Promise<Script> {
  const invariant = invariantOf(await play(script));
  let plays = 0;
  const breaks = async (events: readonly ScriptEvent[]): Promise<boolean> => {
    plays += 1;
    const error = await play({ ...script, events });
    tried(events.length);
    return error !== null && invariantOf(error) === invariant;
  };
  let { events } = script;
  for (let size = Math.ceil(events.length / 2); size >= 1 && plays < playsMax; ) {
    const before = events.length;
    for (let from = events.length - size; from > -size && plays < playsMax; from -= size) {
      const fewer = [...events.slice(0, Math.max(0, from)), ...events.slice(Math.max(0, from) + size)];
      if (fewer.length < events.length && (await breaks(fewer))) events = fewer;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (events.length === before) break;
  }
  return { ...script, events: await simplify(events, breaks) };
}

/** Batches with fewer orders, events with fewer turns. */
async function simplify(
  events: readonly ScriptEvent[],
  breaks: (events: readonly ScriptEvent[]) => Promise<boolean>,
): Promise<readonly ScriptEvent[]> {
  let best = [...events];
  for (let at = 0; at < best.length; at += 1) {
    for (const simpler of simplerThan(best[at])) {
      const tried = best.with(at, simpler);
      if (await breaks(tried)) best = tried;
    }
  }
  return best;
}

function* simplerThan(event: ScriptEvent | undefined): Generator<ScriptEvent> {
  if (event?.do !== 'act') return;
  const { action } = event;
  if (action.kind === 'createBatch') {
    for (const order of action.orders) {
      yield { ...event, action: { kind: 'create', who: action.who, order, isControl: action.isControl } };
    }
  }
  if (event.turns > 0) yield { ...event, turns: 0 };
}
