/**
 * Whether the node is at rest: every record that was written was handled, and what followed from it was sent on
 * (operator-api.md 7.2).
 *
 * Each ring counts the records written into it, each actor the records it has handled, its flush included. An actor
 * for which the two sums agree has no record in work. If all agree, twice with no record in between, and every thread
 * has ticked between the two samples, and none has work of its own (metric `working`), then nothing moves: work that waits
 * for the clock has been checked, and bytes for sockets have left their turn of the event loop. There is no fixed time after
 * which a node counts as being at rest.
 */
import { ThreadBlock } from '../runtime/heartbeat.ts';
import { readMetric } from '../runtime/metrics.ts';
import { READ_WORD, WRITTEN_WORD } from '../runtime/ring-layout.ts';
import type { Plan } from '../runtime/topology.ts';

const LOOK_MS = 2;

interface Look {
  readonly isAtRest: boolean;
  /** Records written and handled so far: the same twice means that nothing moved. */
  readonly written: number;
}

/** @param ignored actors with unread records that do not count: stalled ones. */
function look(plan: Plan, ignored: ReadonlySet<string>): Look {
  let isAtRest = true;
  let total = 0;
  for (const actor of plan.actors) {
    const { written, read } = countsOf(plan, actor.name);
    const handled = metricOf(actor, 'records_in');
    if (metricOf(actor, 'working') > 0) isAtRest = false;
    total += written + handled;
    // A restarted thread skips records, so its counts differ from then on: empty rings are enough.
    const isDone = mayRestart(plan, actor.thread) ? written === read : (written - handled) % 2 ** 32 === 0;
    if (!isDone && !ignored.has(actor.name)) isAtRest = false;
  }
  return { isAtRest, written: total };
}

function metricOf({ metricsPlan }: Plan['actors'][number], name: string): number {
  return readMetric(metricsPlan, name);
}

function countsOf(plan: Plan, actor: string): { readonly written: number; readonly read: number } {
  let written = 0;
  let read = 0;
  for (const edge of plan.edges) {
    if (edge.to !== actor) continue;
    const words = new Int32Array(edge.ring);
    written += Atomics.load(words, WRITTEN_WORD) >>> 0;
    read += Atomics.load(words, READ_WORD) >>> 0;
  }
  return { written, read };
}

function mayRestart(plan: Plan, thread: string): boolean {
  return plan.threads.some(({ name, onDeath }) => name === thread && onDeath === 'restart');
}

interface RestOptions {
  readonly timeoutMs: number;
  /** Work that is not in a ring: signatures in the pool, requests that wait for an answer, depth diffs that are spaced by time. */
  readonly isBusy: () => boolean;
  readonly ignored: ReadonlySet<string>;
  /** Makes every thread tick soon. */
  readonly wakeAll: () => void;
}

/** Waits until the node is at rest. @returns false when it was not within the time. */
export async function whenAtRest(plan: Plan, options: RestOptions): Promise<boolean> {
  const { timeoutMs, isBusy, ignored, wakeAll } = options;
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const first = look(plan, ignored);
    const rests = first.isAtRest && !isBusy();
    const isInTime = rests ? await whenTicked(plan, deadlineMs, wakeAll) : await later(deadlineMs);
    const second = look(plan, ignored);
    if (rests && isInTime && second.isAtRest && second.written === first.written && !isBusy()) return true;
    if (!isInTime) return false;
  }
}

/** Waits until every running thread has ticked. @returns false when one had not within the time. */
async function whenTicked(plan: Plan, deadlineMs: number, wakeAll: () => void): Promise<boolean> {
  const blocks = plan.threads.map((_, index) => new ThreadBlock(plan.threadBlocks, index));
  const seen = blocks.map((block) => block.ticks());
  const hasTicked = (block: ThreadBlock, index: number): boolean =>
    block.state() !== 'running' || block.hasTickedSince(seen[index] ?? 0);
  while (!blocks.every(hasTicked)) {
    wakeAll();
    if (!(await later(deadlineMs))) return false;
  }
  return true;
}

/** A moment later. @returns whether there is time left. */
async function later(deadlineMs: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return performance.now() <= deadlineMs;
}
