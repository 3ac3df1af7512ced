/**
 * Transfer between two threads: our ring against ringbuf.js and postMessage, in the same run, and round trips.
 *
 * Rates: the main thread writes every 8-byte cell of every record, the worker adds up every cell it reads; the sums
 * must be equal. Our ring is written and read in place; ringbuf.js gets a record that was written to a local array (one
 * record or 16 per call) and its reader reads the array that it was popped into. Same work, same cells, same sums.
 *
 * Both sides spin, so a third busy thread on two processors slows a round many times over; the best round is an
 * undisturbed one, the median shows the load of the machine.
 *
 * Round trips: one record there and back. Spinning needs two idle processors. Parked: both sides park between records,
 * which are 200 µs apart, so every hop includes a notification.
 */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageChannel, type TransferListItem, Worker } from 'node:worker_threads';
import { RingBuffer } from 'ringbuf.js';
import { assert, must } from '../src/core/assert.ts';
import { Doorbell, Sleeper } from '../src/runtime/doorbell.ts';
import { createRing, RING_FULL, RingReader, RingWriter } from '../src/runtime/spsc-ring.ts';
import {
  type BenchResult,
  type BenchRow,
  type Contender,
  interleave,
  median,
  percentile,
  type Scale,
} from './bench-kit.ts';
import {
  BELL_OF_MAIN,
  BELL_OF_PEER,
  CONTROL_BYTES,
  DONE_WORD,
  LAST_TYPE,
  type PeerTask,
  READY_WORD,
  SUM_CELL,
  WARM_UP_MESSAGES,
  WARM_UP_RECORDS,
  WARM_WORD,
} from './ring-peer-task.ts';

const CAPACITY_BYTES = 262_144;
const BATCH = 16;
const PACE_MS = 0.2;

interface Load {
  readonly records: number;
  readonly bytes: number;
  readonly batch: number;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const full = scale === 'full';
  const rounds = full ? 7 : 3;
  const records = full ? 4_000_000 : 1_000_000;
  const contenders: Contender[] = [];
  for (const bytes of [64, 256]) {
    for (const batch of [1, BATCH]) {
      const how = `${bytes} bytes, ${batch === 1 ? 'one by one' : `${batch} at a time`}`;
      contenders.push({ label: `ring, ${how}`, round: () => ringRate({ records, bytes, batch }) });
      contenders.push({ label: `ringbuf.js, ${how}`, round: () => ringbufRate({ records, bytes, batch }) });
    }
    const few = Math.floor(records / 40);
    contenders.push({
      label: `postMessage, ${bytes} bytes`,
      round: () => messageRate({ records: few, bytes, batch: 1 }),
    });
  }
  const figures = await interleave(contenders, rounds);
  const rows = contenders.flatMap(({ label }, index): BenchRow[] => {
    const rates = (figures[index] ?? []).map((rate) => rate / 1e6);
    return [
      { label: `${label}, median`, value: median(rates), unit: 'M records/s' },
      { label: `${label}, best`, value: Math.max(...rates), unit: 'M records/s' },
    ];
  });
  rows.push(...(await roundTripRows('spinning', full ? 200_000 : 20_000, (count) => spinning(count))));
  rows.push(...(await roundTripRows('both parked', full ? 5_000 : 1_000, (count) => parked(count))));
  rows.push(...(await roundTripRows('event loop woken by a port', full ? 5_000 : 1_000, (count) => eventLoop(count))));
  return { name: 'ring', rows, checks: `sums of all cells agree, ${records} records a round, ${rounds} rounds` };
}

async function ringRate(load: Load): Promise<number> {
  const ring = createRing({ capacityBytes: CAPACITY_BYTES, reservedBytes: 0 });
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  return measure({ kind: 'ring', ring, control, records: load.records }, load, () => {
    const writer = new RingWriter(ring);
    const cells = writer.views.f64;
    const { bytes, batch } = load;
    const width = bytes >> 3;
    return (records) => {
      let inBatch = 0;
      for (let number = 0; number < records; ) {
        const at = writer.claim(1, bytes);
        if (at === RING_FULL) {
          writer.publish();
          continue;
        }
        const from = at >> 3;
        for (let index = 0; index < width; index++) cells[from + index] = number + index;
        writer.commit();
        number++;
        if (++inBatch < batch) continue;
        writer.publish();
        inBatch = 0;
      }
      writer.publish();
    };
  });
}

async function ringbufRate(load: Load): Promise<number> {
  const cells = load.bytes >> 3;
  const storage = RingBuffer.getStorageForCapacity(CAPACITY_BYTES >> 3, Float64Array);
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const { batch } = load;
  return measure({ kind: 'ringbuf', storage, control, records: load.records, cells, batch }, load, () => {
    const ring = new RingBuffer(storage, Float64Array);
    const filled = new Float64Array(cells * batch);
    return (records) => {
      for (let number = 0; number < records; number += batch) {
        for (let record = 0; record < batch; record++) {
          for (let index = 0; index < cells; index++) filled[record * cells + index] = number + record + index;
        }
        while (ring.availableWrite() < filled.length);
        ring.push(filled, filled.length);
      }
    };
  });
}

async function messageRate(load: Load): Promise<number> {
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const cells = load.bytes >> 3;
  return measure({ kind: 'postMessage', control, records: load.records }, load, (worker) => (records) => {
    for (let number = 0; number < records; number++) {
      const record = new Float64Array(cells);
      for (let index = 0; index < cells; index++) record[index] = number + index;
      worker.postMessage(record);
    }
  });
}

/** Starts the peer, times production up to the last record consumed, compares the sums. @returns records per second. */
async function measure(
  task: PeerTask,
  load: Load,
  producer: (worker: Worker) => (records: number) => void,
): Promise<number> {
  const worker = spawn(task);
  const words = new Int32Array(task.control);
  const ended = once(worker, 'exit');
  await until(words, READY_WORD);
  const produce = producer(worker);
  const warmUp = task.kind === 'postMessage' ? WARM_UP_MESSAGES : WARM_UP_RECORDS;
  produce(warmUp);
  await until(words, WARM_WORD);
  const startedMs = performance.now();
  produce(load.records);
  while (Atomics.load(words, DONE_WORD) === 0) Atomics.wait(words, DONE_WORD, 0, 1);
  const seconds = (performance.now() - startedMs) / 1e3;
  const sum = new Float64Array(task.control)[SUM_CELL];
  assert(
    sum === expectedSum(warmUp, load.bytes) + expectedSum(load.records, load.bytes),
    `${task.kind}: the consumer read what was written`,
  );
  await ended;
  return load.records / seconds;
}

/** Σ over records and cells of (number + index). */
function expectedSum(records: number, bytes: number): number {
  const cells = bytes >> 3;
  return (cells * records * (records - 1)) / 2 + (records * cells * (cells - 1)) / 2;
}

interface EchoSetup {
  /** Resolves when the peer has ended. Created at the start: the peer may end before its last result is read. */
  readonly ended: Promise<unknown>;
  readonly words: Int32Array;
  readonly writer: RingWriter;
  readonly reader: RingReader;
}

async function startEcho(parks: boolean, port: MessageChannel['port1'] | null): Promise<EchoSetup> {
  const there = createRing({ capacityBytes: 65_536, reservedBytes: 0 });
  const back = createRing({ capacityBytes: 65_536, reservedBytes: 0 });
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const worker = spawn({ kind: 'echo', there, back, control, parks, port }, port === null ? [] : [port]);
  const ended = once(worker, 'exit');
  const words = new Int32Array(control);
  await until(words, READY_WORD);
  return { ended, words, writer: new RingWriter(there), reader: new RingReader(back) };
}

function send(writer: RingWriter, number: number, count: number): void {
  const at = writer.claim(number === count - 1 ? LAST_TYPE : 1, 8);
  assert(at !== RING_FULL, 'one record at a time');
  writer.views.f64[at >> 3] = number;
  writer.commit();
  writer.publish();
}

function receiver({ reader }: EchoSetup): (number: number) => boolean {
  let got = -1;
  const take = (_typeId: number, at: number): boolean => {
    got = reader.views.f64[at >> 3] ?? -1;
    return true;
  };
  return (number) => {
    if (reader.drain(take, 1) === 0) return false;
    assert(got === number, 'the answer belongs to the question');
    return true;
  };
}

async function spinning(count: number): Promise<number[]> {
  const setup = await startEcho(false, null);
  const receive = receiver(setup);
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const startedMs = performance.now();
    send(setup.writer, number, count);
    while (!receive(number));
    times.push((performance.now() - startedMs) * 1e3);
  }
  await setup.ended;
  return times;
}

async function parked(count: number): Promise<number[]> {
  const setup = await startEcho(true, null);
  const receive = receiver(setup);
  const [bell, sleeper] = [new Doorbell(setup.words, BELL_OF_PEER), new Sleeper(setup.words, BELL_OF_MAIN)];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    Atomics.wait(pause, 0, 0, PACE_MS);
    const startedMs = performance.now();
    send(setup.writer, number, count);
    bell.ring();
    while (!receive(number)) {
      sleeper.prepare();
      if (setup.reader.hasRecords()) sleeper.wake();
      else sleeper.park(100);
    }
    times.push((performance.now() - startedMs) * 1e3);
  }
  await setup.ended;
  return times;
}

async function eventLoop(count: number): Promise<number[]> {
  const { port1, port2 } = new MessageChannel();
  const setup = await startEcho(true, port1);
  const receive = receiver(setup);
  const [bell, sleeper] = [new Doorbell(setup.words, BELL_OF_PEER), new Sleeper(setup.words, BELL_OF_MAIN)];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const times: number[] = [];
  let woken = (): void => undefined;
  port2.on('message', () => woken());
  for (let number = 0; number < count; number++) {
    Atomics.wait(pause, 0, 0, PACE_MS);
    await nextTurn();
    const startedMs = performance.now();
    send(setup.writer, number, count);
    bell.ring();
    while (!receive(number)) {
      const rung = new Promise<void>((resolve) => {
        woken = resolve;
      });
      sleeper.prepare();
      if (!setup.reader.hasRecords()) await rung;
      sleeper.wake();
    }
    times.push((performance.now() - startedMs) * 1e3);
  }
  port2.close();
  await setup.ended;
  return times;
}

async function roundTripRows(
  label: string,
  count: number,
  measureTrips: (count: number) => Promise<number[]>,
): Promise<BenchRow[]> {
  const times = await measureTrips(count);
  const counted = times.slice(Math.floor(count / 10));
  return [
    { label: `round trip, ${label}, p50`, value: percentile(counted, 0.5), unit: 'µs' },
    { label: `round trip, ${label}, p99`, value: percentile(counted, 0.99), unit: 'µs' },
  ];
}

function spawn(task: PeerTask, transferList: TransferListItem[] = []): Worker {
  const worker = new Worker(new URL('./ring-peer.js', import.meta.url), { workerData: task, transferList });
  worker.on('error', (error) => must<never>(null, `the peer failed: ${error.message}`));
  return worker;
}

async function until(words: Int32Array, word: number): Promise<void> {
  while (Atomics.load(words, word) === 0) await nextTurn();
}
