/**
 * What market data costs the listener for each of 1,000 sockets on loopback, in text and in FlatBuffers (BMD-02). The listener
 * and its market data are the real ones, in this process; the readers are another one. Forms take turns, so other load
 * affects both.
 *
 *   depth       a diff of four levels at a time, a write for each socket and diff
 *   depth × 8   eight markets change between two writes, as on a busy node: one write for each socket, of eight frames
 *   bbo+trades  the best prices change, and a trade
 *
 * CPU is that of this thread, from the change of the book to the last write, with its system calls; the part without them is
 * the user time of the process, of which the system keeps an estimate.
 */
import { fork } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readBinaryMessage } from '../src/client/binary-market-data.ts';
import { assert } from '../src/core/assert.ts';
import { SIDE } from '../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../src/core/units.ts';
import { BUDGET_MAX } from '../src/gateway/sessions/bucket.ts';
import { STANDARD_PRICES } from '../src/gateway/sessions/costs.ts';
import { SharedBudget } from '../src/gateway/sessions/shared-budget.ts';
import { MarketStreams, MdsServer } from '../src/http/mds-server.ts';
import { MarketData } from '../src/market-data/market-data.ts';
import { marketOf, tradeOf } from '../test/support/market-figures.ts';
import { type BenchOptions, type BenchResult, type BenchRow, median, type Scale } from './bench-kit.ts';
import type { ReadersCount, ReadersPlan, ReadersTask } from './fan-out-readers.ts';

interface Size {
  readonly sockets: number;
  readonly rounds: number;
  /** Changes that are published in one run. */
  readonly steps: number;
  readonly warmUp: number;
}
const SIZES: Readonly<Record<Scale, Size>> = {
  small: { sockets: 100, rounds: 1, steps: 20, warmUp: 5 },
  full: { sockets: 1_000, rounds: 5, steps: 200, warmUp: 50 },
};
const FORMS = ['text', 'binary'] as const;
const FLOWS = ['depth', 'depth × 8', 'bbo+trades'] as const;
type Form = (typeof FORMS)[number];
type Flow = (typeof FLOWS)[number];

const PROTOCOLS: Readonly<Record<Form, string>> = { text: '', binary: 'ringbook.md.fbs.v1' };
const MARKETS = 8;
/** Of every flow, so that each has the same book. */
const LEVELS = 200;
const BID = 314_975;
const ASK = 315_025;
const STEP_NS = 20_000_000n;
const PATIENCE_MS = 60_000;

/** Nanoseconds on a CPU of the calling thread. */
class ThreadClock {
  readonly #file = openSync('/proc/thread-self/schedstat', 'r');
  readonly #bytes = Buffer.alloc(128);

  us(): number {
    const length = readSync(this.#file, this.#bytes, 0, 128, 0);
    return Number(this.#bytes.toString('latin1', 0, length).split(' ')[0]) / 1_000;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The listener, its market data and its clock. */
class Venue {
  readonly streams = new MarketStreams(() => undefined);
  readonly data = new MarketData(this.streams);
  readonly server: MdsServer;
  #nowNs = 1_770_000_030_000_000_000n;
  #pacingNs = 0n;
  #trade = 0;
  readonly #sequences = new Map<number, number>();

  constructor() {
    const budget = new SharedBudget();
    const size = { unitsPerSecond: 0n, capacity: BUDGET_MAX };
    budget.configure(size, STANDARD_PRICES.publicRead, this.#nowNs as TimestampNs);
    this.server = new MdsServer({
      gate: null,
      marketData: this.data,
      streams: this.streams,
      clock: { nowNs: () => this.#nowNs as TimestampNs },
      budget,
      observer: {
        answered: () => undefined,
        failed: (where, error) => {
          throw new Error(where, { cause: error });
        },
        refused: (code) => assert(false, code),
        lagged: () => assert(false, 'no reader lags'),
      },
    });
    for (let index = 0; index < MARKETS; index += 1) {
      this.data.upsertMarket(marketOf(index, String(12 + index)));
      this.data.resetDepth(index, 9_000);
      for (let level = 0; level < LEVELS; level += 1) {
        this.#set(index, SIDE.buy, BID - 25 * level, 10_000 + level);
        this.#set(index, SIDE.sell, ASK + 25 * level, 10_000 + level);
      }
      this.#commit(index);
    }
    this.publish();
  }

  /** Changes two levels of each side of a market, those at `depth`. */
  change(index: number, step: number, depth: number): void {
    for (const level of [depth, depth + 1 + (step % 7)]) {
      this.#set(index, SIDE.buy, BID - 25 * level, 10_000 + ((37 * step + level) % 90_000));
      this.#set(index, SIDE.sell, ASK + 25 * level, 10_000 + ((53 * step + level) % 90_000));
    }
    this.#commit(index);
  }

  trade(index: number): void {
    this.#trade += 1;
    this.data.tradeConfirmed(tradeOf(this.#trade, this.#nowNs, ASK, 5_000 + (this.#trade % 1_000), index));
  }

  publish(): void {
    this.#nowNs += STEP_NS;
    this.#pacingNs += STEP_NS;
    this.data.tick({ nowNs: this.#nowNs as TimestampNs, pacingNs: this.#pacingNs });
    this.streams.flush();
  }

  #set(index: number, side: 0 | 1, price: number, quantity: number): void {
    this.data.levelChanged(index, side, price as RawPrice, quantity);
  }

  #commit(index: number): void {
    const next = (this.#sequences.get(index) ?? 0) + 1;
    this.#sequences.set(index, next);
    this.data.commitDepth(index, next as Sequence);
  }
}

/** The other process. */
class Readers {
  readonly #child = fork(fileURLToPath(new URL('./fan-out-readers.js', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });

  ask(task: ReadersTask): Promise<ReadersCount> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (count) => resolve(count as ReadersCount));
      this.#child.send(task, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  /** The count once it is as expected, with all frames of the first socket on the way. */
  async until(what: string, isMet: (count: ReadersCount) => boolean): Promise<ReadersCount> {
    const sample: string[] = [];
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const count = await this.ask({ count: true });
      sample.push(...count.sample);
      if (isMet(count)) return { ...count, sample };
      assert(performance.now() < end, what);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  close(): void {
    this.#child.disconnect();
  }
}

interface Measured {
  readonly bytesPerFrame: number;
  readonly usPerStep: number;
  readonly userUsPerStep: number;
  readonly usPerFrame: number;
  readonly frames: number;
}

function channelsOf(flow: Flow): readonly object[] {
  const all = Array.from({ length: flow === 'depth × 8' ? MARKETS : 1 }, (_, index) => String(12 + index));
  return flow === 'bbo+trades'
    ? [
        { name: 'bbo', asset_ids: all },
        { name: 'trades', asset_ids: all },
      ]
    : [{ name: 'depth', asset_ids: all }];
}

class Bench {
  readonly #venue: Venue;
  readonly #readers: Readers;
  readonly #size: Size;
  readonly #port: number;
  readonly #clock = new ThreadClock();
  #step = 0;

  constructor(venue: Venue, readers: Readers, size: Size, port: number) {
    this.#venue = venue;
    this.#readers = readers;
    this.#size = size;
    this.#port = port;
  }

  async run(form: Form, flow: Flow): Promise<Measured> {
    const { sockets, steps, warmUp } = this.#size;
    const subscribe = JSON.stringify({ type: 'subscribe', id: 's', channels: channelsOf(flow) });
    const open: ReadersPlan = { port: this.#port, sockets, protocol: PROTOCOLS[form], subscribe };
    await this.#readers.ask({ open });
    const streams = flow === 'depth × 8' ? MARKETS : flow === 'depth' ? 1 : 2;
    // The first frame, the answer and the snapshots.
    const begun = sockets * (2 + streams);
    await this.#readers.until('all sockets have their snapshots', ({ frames }) => frames === begun);
    await this.#publish(flow, warmUp);
    const before = await this.#readers.until(
      'the first frames',
      ({ frames }) => frames === begun + sockets * streams * warmUp,
    );
    const { us, userUs } = await this.#publish(flow, steps);
    const expected = before.frames + sockets * streams * steps;
    const after = await this.#readers.until('all frames', ({ frames }) => frames >= expected);
    assert(after.frames === expected, 'a frame for each change, channel and socket');
    checkSample(after.sample, form, steps * streams);
    await this.#readers.ask({ close: true });
    const frames = after.frames - before.frames;
    return {
      bytesPerFrame: (after.bytes - before.bytes) / frames,
      usPerStep: us / steps,
      userUsPerStep: userUs / steps,
      usPerFrame: us / frames,
      frames,
    };
  }

  /** @returns CPU time of the calls that publish. */
  async #publish(flow: Flow, steps: number): Promise<{ readonly us: number; readonly userUs: number }> {
    let us = 0;
    let userUs = 0;
    for (let count = 0; count < steps; count += 1) {
      this.#step += 1;
      const before = { us: this.#clock.us(), user: process.cpuUsage().user };
      if (flow === 'depth × 8')
        for (let index = 0; index < MARKETS; index += 1) this.#venue.change(index, this.#step, 1);
      else this.#venue.change(0, this.#step, flow === 'depth' ? 1 : 0);
      if (flow === 'bbo+trades') this.#venue.trade(0);
      this.#venue.publish();
      us += this.#clock.us() - before.us;
      userUs += process.cpuUsage().user - before.user;
      // The readers keep up: a queue in the node is another figure.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { us, userUs };
  }

  close(): void {
    this.#clock.close();
  }
}

/** Every frame of a socket is of its form and can be read; sequences have no gap. */
function checkSample(sample: readonly string[], form: Form, count: number): void {
  const messages = sample.map((text) => Buffer.from(text, 'base64'));
  const decimals = { priceDecimals: 2, quantityDecimals: 4 };
  const frames = messages.flatMap((bytes) =>
    form === 'text' ? [textFrame(bytes)] : [...readBinaryMessage(bytes, () => decimals)],
  );
  assert(frames.length === count, `${frames.length} frames of one socket, not ${count}`);
  const last = new Map<string, number>();
  for (const { channel, assetId, sequence } of frames) {
    const key = `${channel} ${assetId}`;
    const before = last.get(key);
    assert(before === undefined || sequence === before + 1, 'a sequence has no gap');
    last.set(key, sequence);
  }
}

function textFrame(bytes: Buffer): { readonly channel: string; readonly assetId: string; readonly sequence: number } {
  const { channel, asset_id: assetId, sequence } = JSON.parse(bytes.toString());
  return { channel, assetId, sequence };
}

export async function run(scale: Scale, { rounds }: BenchOptions): Promise<BenchResult> {
  const size = { ...SIZES[scale], ...(rounds === undefined ? {} : { rounds }) };
  const venue = new Venue();
  const readers = new Readers();
  const port = await venue.server.listen({ host: '127.0.0.1', port: 0 });
  const bench = new Bench(venue, readers, size, port);
  try {
    const rows: BenchRow[] = [];
    let frames = 0;
    for (const flow of FLOWS) {
      const measured: Record<Form, Measured[]> = { text: [], binary: [] };
      for (let round = 0; round <= size.rounds; round += 1) {
        for (const form of FORMS) {
          const result = await bench.run(form, flow);
          frames += result.frames;
          if (round > 0 || size.rounds === 1) measured[form].push(result);
        }
      }
      const of = (form: Form, figure: keyof Measured): number => median(measured[form].map((one) => one[figure]));
      const both = (figure: keyof Measured, label: string, unit: string): void => {
        for (const form of FORMS) rows.push({ label: `${flow}: ${label}, ${form}`, value: of(form, figure), unit });
        rows.push({
          label: `${flow}: ${label}, binary / text`,
          value: of('binary', figure) / of('text', figure),
          unit: '×',
        });
      };
      both('bytesPerFrame', 'bytes a frame', 'B');
      both('usPerStep', 'CPU a change', 'µs');
      both('userUsPerStep', 'CPU a change without system calls', 'µs');
      both('usPerFrame', 'CPU a frame', 'µs');
    }
    return {
      name: 'fan-out',
      rows,
      checks: `${frames} frames received by ${size.sockets} sockets, one's read without a gap`,
    };
  } finally {
    bench.close();
    readers.close();
    venue.server.close();
  }
}
