// tier: full, 74 s
/**
 * What becomes of a whole node when one of its threads dies or freezes: the process is gone within 3 s, whichever
 * thread it was, and the next start on the same directory finds everything. Market data alone is restarted, and its
 * clients see only a reconnect.
 *
 * One data directory goes through all the deaths: each start is also the recovery from the one before.
 */

import assert from 'node:assert/strict';
import { after, afterEach, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { Depth, PublicTrade } from '../../src/client/replies.ts';

import { BLOCKED_MAX_MS, FREEZE_TO_END_MS } from '../../src/core/limits.ts';
import { threadTimes } from '../../src/runtime/thread-times.ts';
import { SocketReader } from '../support/edge-client.ts';
import { BROKEN_PROMISE, cueEnvironment, type Fault, giveCue } from '../support/fault-cue.ts';
import { buildShim } from '../support/io-shim.ts';
import { ETH } from '../support/names.ts';
import { barrier, type NodeProcess, startNode } from '../support/node-process.ts';
import { aMoment, eventually, SLOWEST } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../support/faulty-node-main.js', import.meta.url));
/** Null: no C compiler, no disk that stalls. */
const SHIM = buildShim();

/** A faulty node with two traders on it. */
class ClearingFixture {
  readonly node: NodeProcess;
  readonly a: RingbookClient;
  readonly b: RingbookClient;
  readonly #cue: string;

  private constructor(node: NodeProcess, cue: string) {
    this.node = node;
    this.#cue = cue;
    const { oms, mds } = node;
    this.a = new RingbookClient({ oms, mds, key: devKey('a') });
    this.b = new RingbookClient({ oms, mds, key: devKey('b') });
  }

  static async open(dataDirectory: string): Promise<ClearingFixture> {
    const cue = `${dataDirectory}.cue`;
    const env = { ...cueEnvironment(cue), ...(SHIM === null ? {} : { LD_PRELOAD: SHIM }) };
    const fixture = new ClearingFixture(await startNode({ profile: 'dev', program: PROGRAM, dataDirectory, env }), cue);
    await Promise.all([fixture.a.login(), fixture.b.login()]);
    return fixture;
  }

  get isAlive(): boolean {
    const { exitCode, signalCode } = this.node.child;
    return exitCode === null && signalCode === null;
  }

  /** How often market data was restarted so far. */
  get restarts(): number {
    return this.node.stderr().split('thread restarted').length - 1;
  }

  /** One confirmed trade; b buys from a. */
  async trade(price = '3000', quantity = '0.01'): Promise<void> {
    await this.a.create(await this.a.order({ assetId: ETH, side: 'Sell', price, quantity }));
    await this.b.create(await this.b.order({ assetId: ETH, side: 'Buy', price, quantity }));
    await barrier(this.node);
  }

  giveCue(thread: string, fault: Fault): void {
    giveCue(this.#cue, thread, fault);
  }

  /** @returns how the process ended, and that it did so in time. */
  async endsAfter(thread: string, fault: Fault): Promise<number | string> {
    this.giveCue(thread, fault);
    const fromMs = performance.now();
    const how = await this.node.ended;
    this.close();
    const tookMs = performance.now() - fromMs;
    const boundMs = fault === 'stalls' ? BLOCKED_MAX_MS + FREEZE_TO_END_MS : FREEZE_TO_END_MS;
    assert.ok(tookMs < 4 * SLOWEST * boundMs, `${thread} ${fault}: the process ended after ${tookMs} ms`);
    return how;
  }

  close(): void {
    this.a.close();
    this.b.close();
    this.node.child.kill('SIGKILL');
  }
}

suite('a node with a failing thread', () => {
  const dataDirectory = temporaryDirectory();
  let fixture: ClearingFixture | null = null;
  let watch: Watcher | null = null;
  let tradesMade = 0;

  /** The living node, or a new one on what the dead one left. */
  async function opened(): Promise<ClearingFixture> {
    if (fixture?.isAlive === true) return fixture;
    fixture = await ClearingFixture.open(dataDirectory);
    assert.equal((await fixture.a.trades({ limit: 1000 })).items.length, tradesMade, 'no confirmed trade is lost');
    await fixture.trade();
    tradesMade += 1;
    return fixture;
  }

  afterEach(() => watch?.close());
  after(() => {
    fixture?.close();
    removeDirectory(dataDirectory);
  });

  for (const { thread, fault, exit, says } of [
    { thread: 'market-0', fault: 'throws', exit: 70, says: BROKEN_PROMISE },
    { thread: 'market-0', fault: 'loops', exit: 70, says: 'thread market-0: hung in computation' },
    { thread: 'clearing', fault: 'throws', exit: 70, says: BROKEN_PROMISE },
    { thread: 'clearing', fault: 'waits', exit: 70, says: 'thread clearing: waits without end' },
    { thread: 'verify', fault: 'exits', exit: 70, says: 'thread verify' },
    { thread: 'verify', fault: 'loops', exit: 70, says: 'thread verify: hung in computation' },
    { thread: 'history', fault: 'loops', exit: 70, says: 'thread history: hung in computation' },
    { thread: 'main', fault: 'throws', exit: 70, says: BROKEN_PROMISE },
    { thread: 'main', fault: 'loops', exit: 'SIGKILL', says: 'thread main: hung in computation' },
    // A hanging thread with a listener cannot be ended in order: nothing but a signal is safe (fail-stop.ts).
    { thread: 'market-data', fault: 'loops', exit: 'SIGKILL', says: 'thread market-data: hung in computation' },
  ] as const) {
    test(`${thread} ${fault}: the process ends with ${exit} within 3 s of CPU time, and the next start has every confirmed trade`, async () => {
      const here = await opened();
      assert.equal(await here.endsAfter(thread, fault), exit, here.node.stderr());
      assert.ok(here.node.stderr().includes(says), here.node.stderr());
    });
  }

  const skip = SHIM === null || threadTimes() === null ? 'no C compiler, or no /proc' : false;
  test('a disk that stalls under clearing ends the process once it has held it for 10 s, and no trade is lost', {
    skip,
  }, async () => {
    const here = await opened();
    assert.equal(await here.endsAfter('clearing', 'stalls'), 'SIGKILL', here.node.stderr());
    assert.match(here.node.stderr(), /thread clearing: blocked in the kernel, 10\.[0-9] s of/);
    assert.match(here.node.stderr(), /"advice":"look at the disk/);
  });

  test('market data dies: it is back on its port alone, its book, trades and klines are whole, and the rest went on', async () => {
    const here = await opened();
    const { a, b, node } = here;
    watch = await Watcher.open(here);
    const control = await a.control();
    const resting = await a.order({ assetId: ETH, side: 'Sell', price: '3100', quantity: '1' });
    assert.equal((await control.send(a.signCreate(resting))).status, 'Received');
    await barrier(node);
    const before = { sequenceNumber: (await a.depth(ETH)).sequenceNumber, restarts: here.restarts };
    const passed = await SocketReader.open(Number(new URL(node.oms).port), `/trades/${ETH}`);
    here.giveCue('market-data', 'throws');
    // Confirmed without a subscriber: found in the tables by the successor.
    await eventually(async () => here.restarts > before.restarts || (await isGone(node.mds)));
    for (let count = 0; count < 5; count += 1) await here.trade(`${2990 + count}`);
    const bid = await b.order({ assetId: ETH, side: 'Buy', price: '2900.5', quantity: '2' });
    await b.create(bid);
    tradesMade += 5;
    await eventually(async () => here.restarts > before.restarts && !(await isGone(node.mds)));
    // A socket of market data at the order listener ends, and a new one has its stream.
    assert.deepEqual(await passed.closed, { code: 1001, reason: 'going_away' });
    const next = await SocketReader.open(Number(new URL(node.oms).port), `/trades/${ETH}`);
    assert.match(await next.frame(), /"subscriptions"/);
    next.socket.close();
    await barrier(node);
    const later = await a.depth(ETH);
    assert.deepEqual(later.asks, [{ price: '3100', quantity: '1' }]);
    assert.deepEqual(later.bids, [{ price: '2900.5', quantity: '2' }]);
    assert.ok(later.sequenceNumber > before.sequenceNumber, `${later.sequenceNumber} > ${before.sequenceNumber}`);
    await watch.isWhole(here, tradesMade);
    assert.equal((await control.send(a.signCancel(ETH, resting.orderId))).status, 'Received');
    await b.cancel(ETH, bid.orderId);
    await watch.isWhole(here, tradesMade);
    control.close();
  });

  test('a process that was suspended for longer than a thread may be silent goes on', async () => {
    const here = await opened();
    here.node.child.kill('SIGSTOP');
    await aMoment(2_500);
    here.node.child.kill('SIGCONT');
    await here.trade();
    tradesMade += 1;
    await aMoment(300);
    assert.ok(here.isAlive, here.node.stderr());
  });

  /** On a slow machine some of the deaths are more than a minute ago: then it takes more of them. */
  test('market data dies again and again: the sixth time within a minute ends the node', async () => {
    const here = await opened();
    const { node } = here;
    while (here.isAlive) {
      const deaths = here.restarts;
      here.giveCue('market-data', 'throws');
      await eventually(() => here.restarts > deaths || !here.isAlive);
    }
    here.close();
    assert.equal(await node.ended, 70, node.stderr());
    assert.ok(here.restarts >= 5, node.stderr());
  });
});

async function isGone(mds: string): Promise<boolean> {
  return fetch(`${mds}/marketdepth/${ETH}`).then(
    (answer) => answer.status !== 200,
    () => true,
  );
}

/** A subscriber of market data that reconnects, and remembers what it saw. */
class Watcher {
  readonly #stop: (() => void)[] = [];
  readonly #sequences: number[] = [];
  readonly #trades: PublicTrade[] = [];
  #book: Awaited<ReturnType<RingbookClient['liveBook']>> | null = null;

  static async open({ a }: ClearingFixture): Promise<Watcher> {
    const watcher = new Watcher();
    watcher.#book = await a.liveBook(ETH);
    const diffs = await a.depthDiffs(ETH, {});
    const trades = await a.tradeStream(ETH, {});
    watcher.#stop.push(
      diffs.listen(({ sequenceNumber }: Depth) => watcher.#sequences.push(sequenceNumber)),
      trades.listen((trade) => watcher.#trades.push(trade)),
      () => watcher.#book?.close(),
    );
    return watcher;
  }

  /** Everything that can be watched agrees with everything that happened. */
  async isWhole({ a, node }: ClearingFixture, tradesMade: number): Promise<void> {
    await barrier(node);
    const snapshot = await a.depth(ETH);
    const book = this.#book;
    await eventually(() => book?.isCurrent === true && book.sequenceNumber >= snapshot.sequenceNumber);
    assert.deepEqual(
      { asks: book?.asks(), bids: book?.bids() },
      { asks: snapshot.asks, bids: snapshot.bids },
      'snapshot and diffs are the same book',
    );
    const sorted = [...this.#sequences].sort((one, other) => one - other);
    assert.deepEqual(this.#sequences, sorted, 'sequence numbers never go back');
    const trades = await a.publicTrades(ETH, { limit: 1000 });
    const ids = trades.map(({ tradeId }) => tradeId);
    assert.equal(new Set(ids).size, tradesMade, 'every confirmed trade is public, once');
    assert.equal(
      new Set(this.#trades.map(({ tradeId }) => tradeId)).size,
      this.#trades.length,
      'no trade is told twice',
    );
    await eventually(async () => klineVolume(await a.klines(ETH, { limit: 1000 })) === volumeOf(trades));
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }
}

/** Quote volume in hundredths of a hundredth, exact for prices and quantities of at most two decimals. */
function volumeOf(trades: readonly PublicTrade[]): number {
  return trades.reduce((sum, { price, quantity }) => sum + Math.round(Number(price) * Number(quantity) * 1e4), 0);
}

function klineVolume({ items }: Awaited<ReturnType<RingbookClient['klines']>>): number {
  return items.reduce((sum, { volume }) => sum + Math.round(Number(volume) * 1e4), 0);
}
