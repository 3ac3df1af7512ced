/**
 * A thread that reads without ever returning to its event loop: for each number that appears in `signal[0]` it answers
 * in `signal[1]` with the checkpoint sequence that it sees. Ends, after closing its reader, when the number is below 0.
 */
import { workerData } from 'node:worker_threads';
import { checkpointSequence } from '../../src/storage/checkpoint.ts';
import { openReader } from '../../src/storage/environment.ts';
import { PATIENCE_MS } from './patience.ts';

const { directory, signal } = workerData as { directory: string; signal: Int32Array };
const reader = openReader(directory);

for (let answered = 0; ; ) {
  if (Atomics.wait(signal, 0, answered, PATIENCE_MS) === 'timed-out') break;
  answered = Atomics.load(signal, 0);
  if (answered < 0) break;
  Atomics.store(
    signal,
    1,
    reader.view(() => checkpointSequence(reader)),
  );
  Atomics.notify(signal, 1);
}
await reader.close();
