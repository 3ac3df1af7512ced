/** A worker that writes its thread id of the kernel (word 0), then computes until word 1 is set. */
import { parentPort, workerData } from 'node:worker_threads';
import { ownThread } from '../../src/runtime/thread-times.ts';

const words: Int32Array = workerData;
Atomics.store(words, 0, ownThread());
parentPort?.postMessage('computing');
while (Atomics.load(words, 1) === 0);
