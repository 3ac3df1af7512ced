/** A worker at the other end of a ring: produces numbered records, or echoes, sleeping on a doorbell in between. */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { Doorbell, Sleeper } from '../../src/runtime/doorbell.ts';
import { RING_FULL, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { fillNumbered, numberedBytes } from './numbered-records.ts';

export interface PeerTask {
  readonly kind: 'produce' | 'echo';
  readonly out: SharedArrayBuffer;
  readonly in: SharedArrayBuffer;
  /** Word 0 is the bell of the main side, word 64 that of this worker. */
  readonly bells: SharedArrayBuffer;
  readonly records: number;
}

const BELL_OF_MAIN = 0;
const BELL_OF_PEER = 64;

const task: PeerTask = workerData;
if (task.kind === 'produce') produce();
else parentPort?.postMessage(echo());

function produce(): void {
  const writer = new RingWriter(task.out);
  const bell = new Doorbell(new Int32Array(task.bells), BELL_OF_MAIN);
  for (let number = 0; number < task.records; ) {
    const bytes = numberedBytes(number);
    const at = writer.claim(1 + (number % 100), bytes);
    if (at !== RING_FULL) {
      fillNumbered(writer.views, at, bytes, number++);
      writer.commit();
    }
    if ((number % 16 === 0 || at === RING_FULL) && writer.publish()) bell.ring();
  }
  if (writer.publish()) bell.ring();
}

/** @returns how often it was parked past its timeout although a record waited and no ring was due. */
function echo(): number {
  const [reader, writer] = [new RingReader(task.in), new RingWriter(task.out)];
  const words = new Int32Array(task.bells);
  const [bell, sleeper] = [new Doorbell(words, BELL_OF_MAIN), new Sleeper(words, BELL_OF_PEER)];
  let lost = 0;
  for (let echoed = 0; echoed < task.records; ) {
    echoed += reader.drain((typeId, at, bytes) => {
      const to = writer.claim(typeId, bytes);
      assert.notEqual(to, RING_FULL);
      writer.views.u8.set(reader.views.u8.subarray(at, at + bytes), to);
      writer.commit();
      return true;
    }, 64);
    if (writer.publish()) bell.ring();
    else if (echoed < task.records) {
      sleeper.prepare();
      if (reader.hasRecords()) sleeper.wake();
      else lost += parkAndJudge(words, reader);
    }
  }
  return lost;
}

/** What no writer that is about to ring takes, however crowded the machine: only a lost wake-up takes so long. */
const LATE_MS_MAX = 30_000;

/** Parks as Sleeper.park does, but distinguishes a wake-up that never came from one that came late. */
function parkAndJudge(words: Int32Array, reader: RingReader): number {
  const SLEEPING = 1;
  const ending = Atomics.wait(words, BELL_OF_PEER, SLEEPING, 100);
  if (ending !== 'timed-out' || !reader.hasRecords()) {
    Atomics.store(words, BELL_OF_PEER, 0);
    return 0;
  }
  Atomics.wait(words, BELL_OF_PEER, SLEEPING, LATE_MS_MAX);
  return Atomics.exchange(words, BELL_OF_PEER, 0) === SLEEPING ? 1 : 0;
}
