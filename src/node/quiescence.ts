/**
 * Whether the node is at rest: every record that was written was handled, and what followed from it was sent on
 * (operator-api.md 7.2).
 *
 * Each ring counts the records written into it, each actor the records it has handled, its flush included. An actor
 * whose two sums agree has nothing in hand; if all agree, twice in a row with no record in between, nothing moves.
 */
import { snapshotMetrics } from '../runtime/metrics.ts';
import { WRITTEN_WORD } from '../runtime/ring-layout.ts';
import type { Plan } from '../runtime/topology.ts';

/** Longer than the merge of depth diffs and the tick of every actor, so that what waits for time is out as well. */
const REST_MS = 15;
const LOOK_MS = 2;

interface Look {
  readonly isAtRest: boolean;
  readonly written: number;
}

/** @param ignored actors whose unread records do not count: stalled ones. */
function look(plan: Plan, ignored: ReadonlySet<string>): Look {
  let isAtRest = true;
  let total = 0;
  for (const actor of plan.actors) {
    let written = 0;
    for (const edge of plan.edges) {
      if (edge.to === actor.name) written += Atomics.load(new Int32Array(edge.ring), WRITTEN_WORD) >>> 0;
    }
    total += written;
    const handled = snapshotMetrics(actor.metricsPlan).find((metric) => metric.name === 'records_in');
    const count = handled?.kind === 'counter' ? handled.value : 0;
    if (!ignored.has(actor.name) && (written - count) % 2 ** 32 !== 0) isAtRest = false;
  }
  return { isAtRest, written: total };
}

export interface RestOptions {
  readonly timeoutMs: number;
  /** Work that is not in a ring: signatures in the pool, errands, answers. */
  readonly isBusy: () => boolean;
  readonly ignored: ReadonlySet<string>;
}

/** Waits until the node is at rest. @returns false when it was not within the time. */
export async function whenAtRest(plan: Plan, { timeoutMs, isBusy, ignored }: RestOptions): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const first = look(plan, ignored);
    const rests = first.isAtRest && !isBusy();
    await new Promise((resolve) => setTimeout(resolve, rests ? REST_MS : LOOK_MS));
    const second = look(plan, ignored);
    if (rests && second.isAtRest && second.written === first.written && !isBusy()) return true;
    if (performance.now() > deadlineMs) return false;
  }
}
