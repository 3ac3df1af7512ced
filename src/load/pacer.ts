/**
 * Notifies the load generator of due messages, from its own thread: it waits with sub-millisecond precision, unlike
 * timers of the event loop, and without spinning, which would take a core from the node under test.
 *
 * It posts the number of messages due since the start. Times are of the monotonic clock, which all threads share.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../core/assert.ts';

export interface PacerTask {
  /** `process.hrtime` at which message 0 is due. */
  readonly startNs: bigint;
  readonly perSecond: number;
  readonly count: number;
}

/** Due messages closer together than this are announced together. */
const SLEEP_MS_MIN = 0.1;

const { startNs, perSecond, count }: PacerTask = workerData;
const port = must(parentPort, 'the pacer is a worker');
const never = new Int32Array(new SharedArrayBuffer(4));

for (let announced = 0; announced < count; ) {
  const elapsedMs = Number(process.hrtime.bigint() - startNs) / 1e6;
  const due = Math.min(count, Math.floor((elapsedMs * perSecond) / 1_000) + 1);
  if (elapsedMs >= 0 && due > announced) {
    announced = due;
    port.postMessage(due);
  }
  const waitMs = (announced * 1_000) / perSecond - elapsedMs;
  Atomics.wait(never, 0, 0, Math.max(SLEEP_MS_MIN, waitMs));
}
