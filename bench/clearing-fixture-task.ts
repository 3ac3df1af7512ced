/**
 * Thread of clearing.bench.ts: runs the clearing rig on a thread like clearing's own. Each message is a number of
 * batches.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/core/assert.ts';
import { ClearingFixture } from './clearing-fixture.ts';

export interface FixtureSetUp {
  readonly directory: string;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** Whether what is decided is recorded for the row log. */
  readonly records: boolean;
}

/** Of one round. */
export interface FixtureRound {
  readonly elapsedMs: number;
  /** Of the process, in microseconds: the other threads wait meanwhile. */
  readonly cpuMicros: number;
  /** Of one batch in the journal. */
  readonly batchBytes: number;
  /** The outcomes of one batch; null where none are recorded. */
  readonly outcomes: Uint8Array | null;
}

const { directory, flags, records } = workerData as FixtureSetUp;
const port = must(parentPort, 'a thread of the benchmark');
const fixture = new ClearingFixture(directory, flags, records);

/** Replies to a number of batches with a FixtureRound, to 0 with the total number of confirmed fills. */
port.on('message', (batches: number) => {
  if (batches > 0) port.postMessage(round(batches));
  else void fixture.end().then((confirmed) => port.postMessage(confirmed));
});

function round(batches: number): FixtureRound {
  fixture.prepare(batches);
  const before = process.cpuUsage();
  const startedMs = performance.now();
  let batchBytes = 0;
  for (let count = 0; count < batches; count += 1) batchBytes = fixture.batch();
  const elapsedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs, cpuMicros: user + system, batchBytes, outcomes: fixture.outcomes() };
}
