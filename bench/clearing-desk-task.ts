/** Thread of clearing.bench.ts: a desk on a thread like clearing's own. Runs rounds of as many batches as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/core/assert.ts';
import { Desk } from './clearing-desk.ts';

export interface DeskSetUp {
  readonly directory: string;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
}

/** Of one round. */
export interface DeskRound {
  readonly elapsedMs: number;
  /** Of the process, in microseconds: the other threads wait meanwhile. */
  readonly cpuMicros: number;
  /** Of one batch in the journal. */
  readonly batchBytes: number;
}

const { directory, flags } = workerData as DeskSetUp;
const port = must(parentPort, 'a thread of the benchmark');
const desk = new Desk(directory, flags);

/** A number of batches is answered with a DeskRound, 0 with how many fills were confirmed in all. */
port.on('message', (batches: number) => {
  if (batches > 0) port.postMessage(round(batches));
  else void desk.end().then((confirmed) => port.postMessage(confirmed));
});

function round(batches: number): DeskRound {
  desk.prepare(batches);
  const before = process.cpuUsage();
  const startedMs = performance.now();
  let batchBytes = 0;
  for (let count = 0; count < batches; count += 1) batchBytes = desk.batch();
  const elapsedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs, cpuMicros: user + system, batchBytes };
}
