/** The consumer of ring.bench.ts: one worker per measurement; workerData selects what to consume or to echo. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { RingBuffer } from 'ringbuf.js';
import { must } from '../src/core/assert.ts';
import { Doorbell, Sleeper } from '../src/runtime/doorbell.ts';
import { RingReader, RingWriter } from '../src/runtime/spsc-ring.ts';
import {
  BELL_OF_MAIN,
  BELL_OF_PEER,
  DONE_WORD,
  LAST_TYPE,
  type PeerTask,
  READY_WORD,
  SUM_CELL,
  WARM_UP_MESSAGES,
  WARM_UP_RECORDS,
  WARM_WORD,
} from './ring-peer-task.ts';

const task: PeerTask = workerData;
const words = new Int32Array(task.control);
const sums = new Float64Array(task.control);

switch (task.kind) {
  case 'ring':
    consumeRing(task.ring, task.records);
    break;
  case 'ringbuf':
    consumeRingbuf(task.storage, task.records, task.cells, task.batch);
    break;
  case 'postMessage':
    consumeMessages(task.records);
    break;
  case 'echo':
    echo(task.there, task.back, task.parks, task.port);
}

function say(word: number): void {
  Atomics.store(words, word, 1);
  Atomics.notify(words, word);
}

function finish(sum: number): void {
  sums[SUM_CELL] = sum;
  say(DONE_WORD);
}

function consumeRing(ring: SharedArrayBuffer, records: number): void {
  const reader = new RingReader(ring);
  const cells = reader.views.f64;
  const total = new Float64Array(1);
  const take = (_typeId: number, at: number, bytes: number): boolean => {
    const end = (at + bytes) >> 3;
    let sum = 0;
    for (let index = at >> 3; index < end; index++) sum += cells[index] ?? 0;
    total[0] = (total[0] ?? 0) + sum;
    return true;
  };
  say(READY_WORD);
  for (let count = 0; count < WARM_UP_RECORDS; ) count += reader.drain(take, 256);
  say(WARM_WORD);
  for (let count = 0; count < records; ) count += reader.drain(take, 256);
  finish(total[0] ?? 0);
}

function consumeRingbuf(storage: SharedArrayBuffer, records: number, cells: number, batch: number): void {
  const ring = new RingBuffer(storage, Float64Array);
  const taken = new Float64Array(cells * batch);
  const total = new Float64Array(1);
  const consume = (count: number): void => {
    for (let left = count * cells; left > 0; ) {
      const popped = ring.pop(taken, taken.length);
      let sum = 0;
      for (let index = 0; index < popped; index++) sum += taken[index] ?? 0;
      total[0] = (total[0] ?? 0) + sum;
      left -= popped;
    }
  };
  say(READY_WORD);
  consume(WARM_UP_RECORDS);
  say(WARM_WORD);
  consume(records);
  finish(total[0] ?? 0);
}

function consumeMessages(records: number): void {
  const port = must(parentPort, 'the peer is a worker');
  let sum = 0;
  let count = 0;
  port.on('message', (record: Float64Array) => {
    for (const cell of record) sum += cell;
    if (++count === WARM_UP_MESSAGES) say(WARM_WORD);
    if (count < WARM_UP_MESSAGES + records) return;
    port.close();
    finish(sum);
  });
  say(READY_WORD);
}

/** Spins, or parks after every reply; rings the main side, through its port when it runs an event loop. */
function echo(there: SharedArrayBuffer, back: SharedArrayBuffer, parks: boolean, port: MessagePort | null): void {
  const [reader, writer] = [new RingReader(there), new RingWriter(back)];
  const [sleeper, bell] = [new Sleeper(words, BELL_OF_PEER), new Doorbell(words, BELL_OF_MAIN)];
  if (port !== null) bell.connect(port);
  let last = false;
  const answer = (typeId: number, at: number): boolean => {
    const to = writer.claim(typeId, 8);
    writer.views.f64[to >> 3] = reader.views.f64[at >> 3] ?? 0;
    writer.commit();
    last = typeId === LAST_TYPE;
    return true;
  };
  say(READY_WORD);
  while (!last) {
    reader.drain(answer, 16);
    if (writer.publish()) bell.ring();
    else if (parks) {
      sleeper.prepare();
      if (reader.hasRecords()) sleeper.wake();
      else sleeper.park(100);
    }
  }
  bell.close();
}
