/**
 * Do stalled readers slow down others? A whole node, many sockets on the depth of one market, of which a fifth read
 * nothing; measured is the time from sending an order to its diff at each steady socket, with and without the stalled
 * ones, in turn. Generator and node share the machine, so only the ratio is meaningful.
 *
 * Data for the stalled sockets is queued in the kernel first, some megabytes per socket; then in the node, up to the
 * limit at which a socket is closed (tested by test/contract/stalled.test.ts).
 */
import WebSocket from 'ws';
import { assert } from '../src/core/assert.ts';
import type { PlainClient } from '../test/support/plain-client.ts';
import { TestNode } from '../test/support/test-node.ts';
import { type BenchResult, median, percentile, type Scale } from './bench-kit.ts';

interface Size {
  readonly steady: number;
  readonly stalled: number;
  readonly rounds: number;
  /** Orders per round, each published to every socket. */
  readonly orders: number;
}
const SIZES: Readonly<Record<Scale, Size>> = {
  small: { steady: 800, stalled: 200, rounds: 1, orders: 20 },
  full: { steady: 800, stalled: 200, rounds: 5, orders: 100 },
};
const DIFF = '/marketdepth/diff/2';

/** A socket that records the time of each step of the book. */
class Listener {
  readonly socket: WebSocket;
  readonly receivedAtMs = new Map<number, number>();
  last = 0;

  constructor(port: number) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${DIFF}`, { perMessageDeflate: false });
    this.socket.on('message', (data: Buffer) => {
      const [, text] = /"sequence_number":(\d+)/.exec(data.toString('latin1')) ?? [];
      if (text === undefined) return;
      const step = Number(text);
      assert(this.last === 0 || step === this.last + 1, 'a steady reader skips nothing');
      this.last = step;
      this.receivedAtMs.set(step, performance.now());
    });
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
    });
  }
}

async function listeners(port: number, count: number): Promise<Listener[]> {
  const made = Array.from({ length: count }, () => new Listener(port));
  await Promise.all(made.map((listener) => listener.opened()));
  return made;
}

async function sequence(user: PlainClient): Promise<number> {
  return (JSON.parse((await user.market('/marketdepth/2')).text) as { sequence_number: number }).sequence_number;
}

/** Milliseconds from sending each order to its diff at each socket. */
async function round(
  node: TestNode,
  user: PlainClient,
  steady: readonly Listener[],
  orders: number,
): Promise<number[]> {
  await node.rest();
  const first = await sequence(user);
  for (const listener of steady) [listener.last] = [first];
  const sentAtMs: number[] = [];
  for (let order = 1; order <= orders; order += 1) {
    const body = user.createBody({ price: 300_000 + order, quantity: 10 });
    sentAtMs.push(performance.now());
    const answer = await user.post('/orders/create', body);
    assert(answer.status === 200, 'an order rests');
    while (steady.some(({ last }) => last < first + order)) {
      assert(
        steady.every(({ socket }) => socket.readyState === socket.OPEN),
        'a steady reader is not closed',
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const delays = steady.flatMap(({ receivedAtMs }) =>
    sentAtMs.map((atMs, index) => (receivedAtMs.get(first + index + 1) ?? Number.NaN) - atMs),
  );
  for (const { receivedAtMs } of steady) receivedAtMs.clear();
  assert((await user.send('DELETE', '/orders/cancel-all')).status === 202, 'the book is empty again');
  return delays;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const { steady: steadyCount, stalled: stalledCount, rounds, orders } = SIZES[scale];
  const node = await TestNode.start();
  try {
    const user = await node.user();
    const port = node.ports.mds;
    const steady = await listeners(port, steadyCount);
    const figures = { alone: [] as number[][], among: [] as number[][] };
    await round(node, user, steady, orders); // warms up
    for (let turn = 0; turn < rounds; turn += 1) {
      figures.alone.push(await round(node, user, steady, orders));
      const stalled = await listeners(port, stalledCount);
      for (const { socket } of stalled) socket.pause();
      figures.among.push(await round(node, user, steady, orders));
      for (const { socket } of stalled) socket.terminate();
    }
    const p = (rows: readonly number[][], fraction: number): number =>
      median(rows.map((row) => percentile(row, fraction)));
    const received = 2 * rounds * orders * steadyCount;
    const rows = (['alone', 'among'] as const).flatMap((name) => [
      {
        label: `${steadyCount} steady, ${name === 'alone' ? 'alone' : `${stalledCount} stalled`}, p50`,
        value: p(figures[name], 0.5),
        unit: 'ms',
      },
      {
        label: `${steadyCount} steady, ${name === 'alone' ? 'alone' : `${stalledCount} stalled`}, p99`,
        value: p(figures[name], 0.99),
        unit: 'ms',
      },
    ]);
    const ratio = p(figures.among, 0.99) / p(figures.alone, 0.99);
    return {
      name: 'stalled',
      rows: [...rows, { label: 'p99 with stalled ones / without', value: ratio, unit: '×' }],
      checks: `${received} diffs received without a gap`,
    };
  } finally {
    await node.stop();
  }
}
