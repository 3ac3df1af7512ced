/**
 * From the traces of threads (runtime/trace-log.ts) to the path of each action: its hops in order, each with its thread
 * and time. Hops of different threads are joined by the keys of core/hops.ts.
 *
 * A path is complete from `read` to `answered`; what was overwritten, or is not answered yet, gives no path.
 */
import { HOP, type Hop } from '../core/hops.ts';

/** One record of a trace. Times in microseconds since the trace of the node was created. */
export interface TraceEntry {
  readonly code: number;
  readonly key: number;
  readonly endUs: number;
  readonly value: number;
}

/** Entries in the order in which the thread wrote them. */
export interface ThreadTrace {
  readonly thread: string;
  readonly entries: readonly TraceEntry[];
}

export interface Step {
  /** `arrived` is the earliest time at which its bytes may have been readable. */
  readonly hop: Hop | 'arrived';
  readonly thread: string;
  readonly atUs: number;
}

/** The steps of one action, from `arrived` to `answered`. */
export interface Path {
  readonly steps: readonly Step[];
  readonly beganUs: number;
  readonly tookUs: number;
}

/** Doubles of a record, little-endian. */
const RECORD_BYTES = 32;

/** @param records as `GET /operator/trace` returns them. */
export function decodeEntries(records: string): readonly TraceEntry[] {
  const bytes = Buffer.from(records, 'base64');
  return Array.from({ length: Math.floor(bytes.length / RECORD_BYTES) }, (_, index) => {
    const at = index * RECORD_BYTES;
    return {
      code: bytes.readDoubleLE(at),
      key: bytes.readDoubleLE(at + 8),
      endUs: bytes.readDoubleLE(at + 16),
      value: bytes.readDoubleLE(at + 24),
    };
  });
}

/** Paths in the order in which the actions were read. */
export function pathsOf(threads: readonly ThreadTrace[]): readonly Path[] {
  const join = new PathJoin();
  for (const trace of threads) for (const entry of trace.entries) join.begin(trace.thread, entry);
  for (const trace of threads) join.addThread(trace);
  return join.paths();
}

/** Hops whose key is the action's. */
const OF_ACTION: ReadonlySet<number> = new Set([HOP.parsed, HOP.queued, HOP.verified, HOP.sent, HOP.answered]);
/** Hops whose key is a request, and hops whose key is a ticket of the verifier. */
const OF_REQUEST: ReadonlySet<number> = new Set([HOP.taken, HOP.matched, HOP.acknowledged]);
const OF_TICKET: ReadonlySet<number> = new Set([HOP.verifying, HOP.verdict]);
/** Hops that reach the next thread with the next `published` of their own thread. */
const PASSED_ON: ReadonlySet<Hop | 'arrived' | number> = new Set([HOP.queued, HOP.sent, HOP.matched]);

/** A record may be taken up before the thread that passed it on has recorded so: then `published` means nothing. */
function isInPlace({ hop, thread }: Step, index: number, steps: readonly Step[]): boolean {
  if (hop !== HOP.published) return true;
  const before = steps[index - 1];
  return before !== undefined && before.thread === thread && PASSED_ON.has(before.hop);
}

class PathJoin {
  readonly #actions = new Map<number, Step[]>();
  readonly #byRequest = new Map<number, Step[]>();
  readonly #byTicket = new Map<number, Step[]>();

  /** Finds the actions and the other keys that each of them has. */
  begin(thread: string, { code, key, endUs, value }: TraceEntry): void {
    if (code === HOP.read) {
      const arrived: Step = { hop: 'arrived', thread, atUs: endUs - value };
      this.#actions.set(key, [arrived, { hop: HOP.read, thread, atUs: endUs }]);
      return;
    }
    const steps = this.#actions.get(key);
    if (steps === undefined) return;
    if (code === HOP.sent) this.#byRequest.set(value, steps);
    else if (code === HOP.queued) this.#byTicket.set(value, steps);
  }

  addThread({ thread, entries }: ThreadTrace): void {
    let waiting: Step[][] = [];
    for (const { code, key, endUs } of entries) {
      if (code === HOP.published) {
        for (const steps of waiting) steps.push({ hop: HOP.published, thread, atUs: endUs });
        waiting = [];
        continue;
      }
      const steps = this.#stepsOf(code, key);
      steps?.push({ hop: code as Hop, thread, atUs: endUs });
      if (steps !== undefined && PASSED_ON.has(code)) waiting.push(steps);
    }
  }

  paths(): readonly Path[] {
    const paths: Path[] = [];
    for (const steps of this.#actions.values()) {
      const ordered = steps.toSorted((a, b) => a.atUs - b.atUs).filter(isInPlace);
      const [first] = ordered;
      const answered = ordered.findIndex(({ hop }) => hop === HOP.answered);
      const last = ordered[answered];
      if (first === undefined || last === undefined) continue;
      paths.push({
        steps: ordered.slice(0, answered + 1),
        beganUs: first.atUs,
        tookUs: last.atUs - first.atUs,
      });
    }
    return paths;
  }

  #stepsOf(code: number, key: number): Step[] | undefined {
    if (OF_ACTION.has(code)) return this.#actions.get(key);
    if (OF_REQUEST.has(code)) return this.#byRequest.get(key);
    return OF_TICKET.has(code) ? this.#byTicket.get(key) : undefined;
  }
}
