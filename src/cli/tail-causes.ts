/**
 * Why late answers were late: the time of each is divided among causes, and each counts for the one with the most of it.
 *
 *   path of an action ─▶ time between two hops, for which one thread is responsible
 *                            └▶ pauses of that thread, by what they were ─▶ the rest, by what the thread had to do
 *
 * Between two hops of one thread that thread is responsible; between `published` of one and the hop of another the one that
 * has to take it up. Every microsecond has one cause: the first in the order of CAUSES that covers it.
 */
import { HOP } from '../core/hops.ts';
import { PAUSE } from '../runtime/trace-log.ts';
import type { Path, Step, ThreadTrace } from './tail-paths.ts';

export const CAUSES = {
  collector: "the thread's own collector",
  'run queue, checkpoint': 'the thread had no CPU while a checkpoint was being written',
  'run queue, collector': 'the thread had no CPU while the collector of another thread paused that thread',
  'run queue': 'the thread was runnable, but had no CPU',
  'ring full': 'a record waited because a ring behind its reader was full',
  checkpoint: 'the thread wrote a checkpoint',
  flush: 'the thread flushed the journal',
  clearing: 'clearing worked on its batches (acks = durable)',
  'event loop': "the gateway's thread was busy with other events, or woke up",
  'verifier queue': 'signatures before it, or the verifier woke up',
  'market queue': 'commands before it, or the market woke up',
  verification: 'its own signature',
  gateway: "its own work on the gateway's thread",
  matching: 'its own matching',
} as const;
export type Cause = keyof typeof CAUSES;

/** Microseconds by cause. */
export type CauseTimes = Readonly<Partial<Record<Cause, number>>>;

export interface CauseRow {
  readonly cause: Cause;
  /** How many late answers have it as their largest cause. */
  readonly answers: number;
  /** Its share of the time of all late answers, 0 … 1. */
  readonly share: number;
  /** The slowest of these answers, and its time by cause; null if there is none. */
  readonly worst: { readonly path: Path; readonly times: CauseTimes } | null;
}

export interface LatencyTail {
  readonly boundUs: number;
  readonly late: number;
  /** Largest share first. */
  readonly causes: readonly CauseRow[];
}

/** Answers that took `boundUs` or more, by cause. */
export function explainTail(threads: readonly ThreadTrace[], paths: readonly Path[], boundUs: number): LatencyTail {
  const judge = new PathJudge(threads);
  const sums = new Map<Cause, { us: number; answers: number; worst: CauseRow['worst'] }>();
  let total = 0;
  const late = paths.filter(({ tookUs }) => tookUs >= boundUs);
  for (const path of late) {
    const times = judge.causesOf(path);
    total += path.tookUs;
    let largest: Cause | null = null;
    for (const [cause, us] of entriesOf(times)) {
      const sum = sums.get(cause) ?? { us: 0, answers: 0, worst: null };
      sums.set(cause, { ...sum, us: sum.us + us });
      if (largest === null || us > (times[largest] ?? 0)) largest = cause;
    }
    const sum = largest === null ? undefined : sums.get(largest);
    if (sum === undefined) continue;
    sum.answers += 1;
    if (sum.worst === null || path.tookUs > sum.worst.path.tookUs) sum.worst = { path, times };
  }
  const causes = [...sums].map(([cause, { us, answers, worst }]) => ({ cause, answers, worst, share: us / total }));
  return { boundUs, late: late.length, causes: causes.sort((a, b) => b.share - a.share) };
}

/** The time of one answer by cause; the sum is its whole time. */
export function causesOf(threads: readonly ThreadTrace[], path: Path): CauseTimes {
  return new PathJudge(threads).causesOf(path);
}

function entriesOf(times: CauseTimes): [Cause, number][] {
  return Object.entries(times) as [Cause, number][];
}

/** Without durable acks the answer follows the acknowledgement at once. */
const WAITS_FOR_CLEARING_US = 200;

type Interval = readonly [fromUs: number, toUs: number];

class PathJudge {
  readonly #spans = new Map<string, ThreadSpans>();
  /** Checkpoints of clearing, and pauses of any collector. */
  readonly #checkpoints: Spans;
  readonly #collectors: Spans;
  readonly #clearing: string | null;

  constructor(threads: readonly ThreadTrace[]) {
    for (const trace of threads) this.#spans.set(trace.thread, new ThreadSpans(trace));
    const all = threads.flatMap(({ entries }) => entries);
    this.#checkpoints = new Spans(all, HOP.checkpoint);
    this.#collectors = new Spans(all, PAUSE.collector);
    this.#clearing = threads.find(({ entries }) => entries.some(({ code }) => code === HOP.flushed))?.thread ?? null;
  }

  causesOf({ steps }: Path): CauseTimes {
    const times: Partial<Record<Cause, number>> = {};
    const add = (cause: Cause, intervals: readonly Interval[]): void => {
      const us = intervals.reduce((sum, [from, to]) => sum + to - from, 0);
      if (us > 0) times[cause] = (times[cause] ?? 0) + us;
    };
    let before: Step | null = null;
    for (const step of steps) {
      if (before !== null) this.#divide(before, step, add);
      before = step;
    }
    return times;
  }

  #divide(from: Step, to: Step, add: (cause: Cause, intervals: readonly Interval[]) => void): void {
    const isDurable =
      from.hop === HOP.acknowledged && to.hop === HOP.answered && to.atUs - from.atUs > WAITS_FOR_CLEARING_US;
    const thread = isDurable && this.#clearing !== null ? this.#clearing : to.thread;
    const spans = this.#spans.get(thread);
    let rest: readonly Interval[] = [[from.atUs, to.atUs]];
    const take = (cause: Cause, by: Spans | undefined): void => {
      if (by === undefined) return;
      const [inside, outside] = by.split(rest);
      add(cause, inside);
      // mutant: one-cause-each
      rest = outside;
    };
    take('collector', spans?.collector);
    const [queued, outside] = spans?.runQueue.split(rest) ?? [[], rest];
    rest = queued;
    take('run queue, checkpoint', this.#checkpoints);
    take('run queue, collector', this.#collectors);
    add('run queue', rest);
    rest = outside;
    take('ring full', spans?.ringFull);
    take('checkpoint', spans?.checkpoint);
    take('flush', spans?.flush);
    add(isDurable ? 'clearing' : workBetween(from, to), rest);
  }
}

/** What the responsible thread has to do before the second of two hops. */
function workBetween(from: Step, to: Step): Cause {
  switch (to.hop) {
    case HOP.read:
      return 'event loop';
    case HOP.verifying:
      return 'verifier queue';
    case HOP.verdict:
      return 'verification';
    case HOP.verified:
      // Without a verifier thread the gateway's own thread verified it.
      return from.hop === HOP.verdict ? 'event loop' : 'verification';
    case HOP.taken:
      return 'market queue';
    case HOP.matched:
      return 'matching';
    case HOP.published:
      return from.hop === HOP.matched ? 'market queue' : 'event loop';
    case HOP.acknowledged:
      return 'event loop';
    default:
      return 'gateway';
  }
}

class ThreadSpans {
  readonly collector: Spans;
  readonly runQueue: Spans;
  readonly ringFull: Spans;
  readonly checkpoint: Spans;
  readonly flush: Spans;

  constructor({ entries }: ThreadTrace) {
    this.collector = new Spans(entries, PAUSE.collector);
    this.runQueue = new Spans(entries, PAUSE.runQueue);
    this.ringFull = new Spans(entries, PAUSE.ringFull);
    this.checkpoint = new Spans(entries, HOP.checkpoint);
    this.flush = new Spans(entries, HOP.flushed);
  }
}

/** Disjoint intervals in ascending order: the entries of one code, those that touch joined. */
class Spans {
  readonly #intervals: Interval[] = [];

  constructor(entries: ThreadTrace['entries'], code: number) {
    const own = entries
      .filter((entry) => entry.code === code)
      .map(({ endUs, value }): Interval => [endUs - value, endUs])
      .sort(([a], [b]) => a - b);
    for (const [from, to] of own) {
      const last = this.#intervals.at(-1);
      if (last === undefined || from > last[1]) this.#intervals.push([from, to]);
      else if (to > last[1]) this.#intervals[this.#intervals.length - 1] = [last[0], to];
    }
  }

  /** The parts of the given intervals that these cover, and the parts that they do not. */
  split(given: readonly Interval[]): [inside: readonly Interval[], outside: readonly Interval[]] {
    const inside: Interval[] = [];
    const outside: Interval[] = [];
    for (const [from, to] of given) {
      let at = from;
      for (let index = this.#firstEndingAfter(from); index < this.#intervals.length; index += 1) {
        const [spanFrom, spanTo] = this.#intervals[index] as Interval;
        if (spanFrom >= to) break;
        if (spanFrom > at) outside.push([at, spanFrom]);
        const end = Math.min(spanTo, to);
        inside.push([Math.max(spanFrom, at), end]);
        at = end;
      }
      if (at < to) outside.push([at, to]);
    }
    return [inside, outside];
  }

  #firstEndingAfter(us: number): number {
    let low = 0;
    let high = this.#intervals.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#intervals[middle] as Interval)[1] > us) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
