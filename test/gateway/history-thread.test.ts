// tier: quick
/** The thread that reads pages: what it answers, when it is busy, and how it ends. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { after, suite, test } from 'node:test';
import type { MarketRow, RowWrite } from '../../src/clearing/rows.ts';
import { NO_MATCH } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import {
  AS_JSON,
  answerHistory,
  type HeldTrades,
  type HistoryRequest,
  type OrderDoubts,
} from '../../src/gateway/orders/history/history-request.ts';
import { HistoryThread } from '../../src/gateway/queries/history-thread.ts';
import { threadTimes } from '../../src/runtime/thread-times.ts';
import { openReader } from '../../src/storage/environment.ts';
import { TableHistory } from '../../src/storage/order-history.ts';
import { CheckpointStore, order, trade, userOf } from '../support/checkpoint-store.ts';
import { marketOf } from '../support/market-figures.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ENTRY = new URL('../../workers/history.js', import.meta.url);
const MAP_BYTES = 2 ** 30;
const QUERY = { user: userOf(1), marketIndex: null, subAccounts: null };
const NO_DOUBTS: OrderDoubts = {
  marketIndexes: new Int32Array(),
  sequences: new Float64Array(),
  received: new Float64Array(),
  orderIds: [],
};
/** @param sides market and trade id. */
function heldOf(...sides: readonly (readonly [number, number])[]): HeldTrades {
  return {
    marketIndexes: Int32Array.from(sides, ([marketIndex]) => marketIndex),
    tradeIds: Float64Array.from(sides, ([, tradeId]) => tradeId),
    timesNs: BigInt64Array.from(sides, () => 1_000n),
  };
}
const ORDERS = {
  kind: 'orders',
  query: QUERY,
  rank: 2,
  limit: 5,
  pivots: { held: 0, ranks: [], places: [] },
  doubts: NO_DOUBTS,
  markets: { marketIndexes: [], received: [] },
} as const;

/** Of every thread of this process: the 19th field of its `stat`, the 17th behind its name. */
function nicenesses(): number[] {
  const tasks = '/proc/self/task';
  return readdirSync(tasks).map((thread) => {
    const stat = readFileSync(`${tasks}/${thread}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

suite('history thread', () => {
  const directory = temporaryDirectory();
  const store = new CheckpointStore(directory);
  const markets = ['12', '13'].map((asset, index): RowWrite => {
    const row = { definition: marketOf(index, asset), sequence: 40, lastTradeId: 20, match: NO_MATCH } as MarketRow;
    return { table: 'market', row };
  });
  const rows = Array.from({ length: 40 }, (_, at): RowWrite[] => {
    const more = { marketIndex: at % 2, subAccount: at % 3 };
    return [
      { table: 'order', row: order(at + 1, more) },
      { table: 'trade', row: trade(at + 1, { marketIndex: at % 2 }) },
    ];
  });
  store.checkpoint([...markets, ...rows.flat()]);
  const deaths: Error[] = [];
  const open = (at = directory): HistoryThread =>
    new HistoryThread({ dataDirectory: at, mapBytes: MAP_BYTES }, (error) => deaths.push(error), ENTRY);

  after(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('its answers are those of the tables, rows as JSON (QRY-01, QRY-03, PAG-02, PAG-03)', async () => {
    const thread = open();
    const history = new TableHistory(openReader(directory, { mapBytes: MAP_BYTES }));
    const filtered = { ...QUERY, subAccounts: [1, 2], marketIndex: 1 };
    const asks: HistoryRequest[] = [
      ORDERS,
      { ...ORDERS, query: filtered },
      {
        ...ORDERS,
        doubts: {
          marketIndexes: Int32Array.of(0, 0, 1, 1),
          sequences: Float64Array.of(1, 1, 0, 0),
          received: Float64Array.of(3, 40, 0, 0),
          orderIds: ['order-1', 'order-1', 'order-2', 'order-99'] as OrderId[],
        },
      },
      { kind: 'trades', query: QUERY, rank: 0, limit: 100, held: heldOf([1, 21], [0, 20], [7, 1]) },
      { kind: 'trades', query: filtered, rank: 3, limit: 2, held: heldOf() },
    ];
    const answers = await Promise.all(asks.map((request) => thread.read(request)));
    for (const [at, request] of asks.entries()) {
      const value = history.read((snapshot) => answerHistory(snapshot, request, AS_JSON));
      assert.deepEqual(answers[at], { ok: true, value });
    }
    const [first, , doubted, trades] = answers.map((answer) => (answer.ok ? answer.value : assert.fail()));
    assert.deepEqual([first?.total, first?.rows.length], [40, 5]);
    assert.match(first?.rows[0]?.value ?? '', /^{"order_id":"order-38","base_asset":"13"/);
    assert.deepEqual(doubted?.kind === 'orders' && doubted.inTables, [0, 2]);
    assert.deepEqual(trades?.kind === 'trades' && [trades.total, trades.inTables], [40, [1]]);
    await thread.close();
    assert.deepEqual(deaths, []);
  });

  test('it alone has a lower scheduler priority than the node: orders go first', {
    skip: threadTimes() === null ? 'no /proc' : false,
  }, async () => {
    const before = nicenesses();
    const thread = open();
    await thread.read(ORDERS);
    const others = nicenesses();
    assert.ok(others.includes(constants.priority.PRIORITY_BELOW_NORMAL), 'the thread of history');
    others.splice(others.indexOf(constants.priority.PRIORITY_BELOW_NORMAL), 1);
    assert.deepEqual([...new Set(others)], [...new Set(before)]);
    await thread.close();
  });

  test('pages beyond what may wait are refused, and the others answered, also while it closes', async () => {
    const thread = open();
    const asked = Array.from({ length: 300 }, () => thread.read(ORDERS));
    const closed = thread.close();
    const late = await thread.read(ORDERS);
    assert.equal(!late.ok && late.reject.code, 'SERVICE_UNAVAILABLE');
    const answers = await Promise.all(asked);
    assert.equal(answers.filter((answer) => answer.ok).length, 256);
    const refused = answers.find((answer) => !answer.ok);
    assert.equal(refused?.ok === false && refused.reject.code, 'SERVICE_UNAVAILABLE');
    await closed;
    assert.deepEqual(deaths, []);
  });

  test('it is loading until it has opened the tables, not until its first heartbeat, or has ended', async () => {
    const opened = open(directory);
    await opened.read(ORDERS);
    assert.equal(opened.isLoading, false);
    await opened.close();
    // A thread with a heartbeat that never opens them.
    const program = `import { parentPort, workerData } from 'node:worker_threads';
      Atomics.store(new Int32Array(workerData.words), 0, 1);
      Atomics.store(new Int32Array(workerData.words), 1, 7);
      parentPort.once('message', () => process.exit());`;
    const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const thread = new HistoryThread({ dataDirectory: directory, mapBytes: MAP_BYTES }, assert.fail, entry);
    await eventually(() => thread.kernelThread() === 7);
    const { isLoading } = thread;
    await thread.close();
    assert.equal(isLoading, true);
    assert.equal(thread.isLoading, false);
  });

  test('a thread that cannot read reports it and ends', async () => {
    const nowhere = temporaryDirectory();
    const thread = open(nowhere);
    void thread.read(ORDERS);
    await eventually(() => deaths.length > 0);
    assert.equal(deaths.length, 1);
    rmSync(nowhere, { recursive: true, force: true });
  });
});
