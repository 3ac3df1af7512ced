/** Takes a time from the other thread, checks that its own is not before it, and hands its own back. */
import { parentPort, workerData } from 'node:worker_threads';
import { SharedClock } from '../../src/runtime/clock.ts';

const { memory, baton }: { memory: SharedArrayBuffer; baton: SharedArrayBuffer } = workerData;
const clock = new SharedClock(memory);
const [cells, turns] = [new BigInt64Array(baton, 8), new Int32Array(baton, 0, 1)];
let verdict = 'never backwards';
for (let turn = 0; turn !== 2; turn = Atomics.load(turns, 0)) {
  if (turn === 1) {
    const nowNs = clock.nowNs();
    if (nowNs < (cells[0] ?? 0n)) verdict = `${nowNs} after ${cells[0]}`;
    cells[0] = nowNs;
    Atomics.store(turns, 0, 0);
    Atomics.notify(turns, 0);
  }
  Atomics.wait(turns, 0, 0, 10);
}
parentPort?.postMessage(verdict);
