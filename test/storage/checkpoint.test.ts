// tier: quick
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import type { OrderRow, RowWrite } from '../../src/clearing/rows.ts';
import type { AssetId, OrderId } from '../../src/core/ids.ts';
import type { Amount18, Sequence, TimestampNs } from '../../src/core/units.ts';
import { ByteWriter } from '../../src/schema/byte-writer.ts';
import { readCheckpoint } from '../../src/storage/checkpoint.ts';
import { IdLists } from '../../src/storage/id-lists.ts';
import { loadRememberedIds } from '../../src/storage/id-runs.ts';
import { KeyWriter, keyWriter, TABLE } from '../../src/storage/key-layout.ts';
import { loadRows } from '../../src/storage/load-rows.ts';
import { RowWrites } from '../../src/storage/row-writes.ts';
import { UserCounts } from '../../src/storage/user-counts.ts';
import { CheckpointStore, order, past, trade, userOf } from '../support/checkpoint-store.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { plainRows } from '../support/plain-rows.ts';
import { propertyParameters } from '../support/property.ts';
import { rowWrite } from '../support/row-arbitraries.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const orderWrite = (...args: Parameters<typeof order>): RowWrite => ({ table: 'order', row: order(...args) });
const balanceWrite = (owned: bigint, asset = 2): RowWrite => {
  const row = {
    user: userOf(1),
    subAccount: 0,
    asset: `${asset}` as AssetId,
    owned: owned as Amount18,
    locked: 0n as Amount18,
  };
  return { table: 'balance', row };
};
const tradeWrite = (...args: Parameters<typeof trade>): RowWrite => ({ table: 'trade', row: trade(...args) });
const time = (ns: number) => BigInt(ns) as TimestampNs;

suite('checkpoint', () => {
  test('rows load as they were last written, through any number of checkpoints', async () => {
    const live = rowWrite.filter(({ table }) => table !== 'trade' && table !== 'signedText');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(live, { maxLength: 20 }), { maxLength: 3 }), async (checkpoints) => {
        const store = new CheckpointStore();
        const counted = { counts: new UserCounts(store.writer), lists: new IdLists(store.writer), checkpoint: 1 };
        const naming = new RowWrites(store.writer, new ByteWriter(1 << 12), counted);
        const nameOf = (change: RowWrite): string => {
          naming.add(change);
          return Buffer.from(naming.end().at(-1)?.key ?? []).toString('hex');
        };
        const model = new Map<string, RowWrite>();
        for (const rows of checkpoints) {
          const changes = rows.map((change) =>
            change.table === 'order' ? ({ table: 'order', row: { ...change.row, end: 0 } } as const) : change,
          );
          store.checkpoint(changes);
          for (const change of changes) {
            model.set(nameOf(change), change);
          }
        }
        const loaded = plainRows(store.writer);
        const sorted = (rows: Iterable<RowWrite>) => [...rows].map((row) => JSON.stringify(row, memberText)).sort();
        assert.deepEqual(sorted(loaded), sorted(model.values()));
        await store.close();
      }),
      propertyParameters(15),
    );
  });

  test('it names its journal record, and is found again after opening', async () => {
    const store = new CheckpointStore();
    assert.equal(readCheckpoint(store.writer), null);
    store.checkpoint([]);
    store.checkpoint([orderWrite(1, { end: 0 })], { clean: true });
    const { lastHash } = store.journal;
    await store.close();

    const again = new CheckpointStore(store.directory);
    assert.deepEqual(readCheckpoint(again.writer), {
      sequence: 2,
      journalHash: lastHash,
      stateHash: new Uint8Array(32).fill(2),
      clean: true,
      journalBytes: 0,
    });
    assert.equal(plainRows(again.writer).length, 1);
    await again.close();
  });

  test('a checkpoint that cannot be encoded changes nothing', async () => {
    const store = new CheckpointStore();
    store.checkpoint([orderWrite(1, { end: 0 })]);
    function* failing(): Generator<RowWrite> {
      yield orderWrite(1);
      yield orderWrite(2, { end: 0 });
      throw new Error('no more rows');
    }
    assert.throws(() => store.checkpoint(failing()), { message: 'no more rows' });
    assert.throws(() => store.checkpoint([orderWrite(1), balanceWrite(2n ** 127n)]), {
      name: 'InvariantError',
    });
    assert.equal(readCheckpoint(store.writer)?.sequence, 1);
    assert.deepEqual(plainRows(store.writer), [orderWrite(1, { end: 0 })]);
    await store.close();
  });

  test('a finished order or a trade written twice is refused, and with it the whole checkpoint', async () => {
    const store = new CheckpointStore();
    store.checkpoint([orderWrite(1), tradeWrite(1)]);
    for (const twice of [orderWrite(1), tradeWrite(1)]) {
      assert.throws(() => store.checkpoint([orderWrite(2), twice]), {
        name: 'InvariantError',
        message: /written once/,
      });
    }
    assert.equal(store.history.finishedOrder(userOf(1), 0, 'order-2' as OrderId), null);
    assert.equal(readCheckpoint(store.writer)?.sequence, 1);
    await store.close();
  });

  test('a finished order is refused the second time wherever it is in a block, and in one checkpoint too', async () => {
    const store = new CheckpointStore();
    const orders = Array.from({ length: 12 }, (_, at) => orderWrite(at + 1));
    store.checkpoint(orders);
    const refused = { name: 'InvariantError', message: /written once/ };
    for (const twice of [orderWrite(1), orderWrite(2), orderWrite(7), orderWrite(12)]) {
      assert.throws(() => store.checkpoint([twice, orderWrite(20), orderWrite(21)]), refused);
      assert.throws(() => store.checkpoint([orderWrite(20), orderWrite(21), twice]), refused);
    }
    assert.throws(() => store.checkpoint([orderWrite(20), orderWrite(21), orderWrite(21)]), refused);
    assert.equal(store.history.finishedOrder(userOf(1), 0, 'order-20' as OrderId), null);
    assert.equal(readCheckpoint(store.writer)?.sequence, 1);
    assert.equal(store.history.finishedOrder(userOf(1), 0, 'order-7' as OrderId)?.orderSequence, 7);
    await store.close();
  });

  test('a checkpoint behind the last one, or of another journal, is refused', async () => {
    const store = new CheckpointStore();
    store.checkpoint([]);
    const first = readCheckpoint(store.writer);
    assert.ok(first !== null);
    store.checkpoint([]);
    assert.throws(() => store.checkpoints.write({ ...first, rows: [] }), { message: /never goes backwards/ });
    assert.throws(() => store.checkpoint([], { journalHash: new Uint8Array(32) }), { message: /names the hash/ });
    await store.close();
  });

  test('a checkpoint whose journal record is gone or another one is found at reading', async () => {
    const store = new CheckpointStore();
    store.checkpoint([]);
    store.journal.append(time(1), new Uint8Array(3));
    const key = keyWriter().journal(1);
    store.writer.commit([{ key, value: null }]);
    assert.throws(() => readCheckpoint(store.writer), { message: 'journal: record 1 is missing' });
    await store.close();
  });

  test('an order that ends leaves the open orders in the checkpoint that finishes it', async () => {
    const store = new CheckpointStore();
    store.checkpoint([orderWrite(1, { end: 0 }), orderWrite(2, { end: 0 })]);
    assert.deepEqual([...loadRememberedIds(store.writer, time(0))], []);
    store.checkpoint([orderWrite(1), orderWrite(3)]);
    assert.deepEqual(plainRows(store.writer), [orderWrite(2, { end: 0 })]);
    assert.deepEqual(store.history.finishedOrder(userOf(1), 0, 'order-1' as OrderId), past(order(1)));
    assert.deepEqual([...loadRememberedIds(store.writer, time(0))], [remembered(1), remembered(3)]);
    await store.close();
  });

  test('whichever of a market’s orders end, the others and only they stay open', async () => {
    const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), sequences, sequences), { maxLength: 6 }), async (steps) => {
        const store = new CheckpointStore();
        const open = new Set<string>();
        const ended = new Set<string>();
        for (const [marketIndex, opening, ending] of steps) {
          const changes: RowWrite[] = [];
          for (const [list, end] of [[opening, 0] as const, [ending, 1] as const]) {
            for (const sequence of list) {
              const name = `${marketIndex}/${sequence}`;
              if (ended.has(name)) continue;
              changes.push(orderWrite(sequence, { marketIndex, end }));
              if (end === 0) open.add(name);
              else {
                open.delete(name);
                ended.add(name);
              }
            }
          }
          store.checkpoint(changes);
        }
        const loaded = plainRows(store.writer).flatMap((change) => {
          return change.table === 'order' ? [`${change.row.marketIndex}/${change.row.orderSequence}`] : [];
        });
        assert.deepEqual(loaded.sort(), [...open].sort());
        await store.close();
      }),
      propertyParameters(20),
    );
  });

  test('tables that are larger than what is read at a time load whole, each order valid until the next row', async () => {
    const store = new CheckpointStore();
    const count = 10_000;
    const orders = Array.from({ length: count }, (_, index) =>
      orderWrite(index + 1, { end: 0, marketIndex: index % 3 }),
    );
    const balances = Array.from({ length: 5_000 }, (_, index) => balanceWrite(BigInt(index), index));
    store.checkpoint([...orders, ...balances]);
    const rows = [...plainRows(store.writer)];
    const seen = rows.flatMap(({ table, row }) => (table === 'order' ? [row] : []));
    const byKey = (a: OrderRow, b: OrderRow) => a.marketIndex - b.marketIndex || a.orderSequence - b.orderSequence;
    assert.deepEqual(seen, orders.map(({ row }) => row as OrderRow).sort(byKey));
    assert.equal(rows.length, count + balances.length);
    // Whoever takes the rows one by one may read the map between two of them.
    let taken = 0;
    for (const loaded of loadRows(store.writer)) {
      if (taken % 1_000 === 0) assert.notEqual(readCheckpoint(store.writer), null);
      if (loaded.table === 'order') assert.equal(loaded.row.orderId, `order-${loaded.row.orderSequence}`);
      taken += 1;
    }
    assert.equal(taken, rows.length);
    await store.close();
  });

  test('a damaged row stops the load', async () => {
    const store = new CheckpointStore();
    store.checkpoint([orderWrite(1, { end: 0 })]);
    const key = new KeyWriter(new ByteWriter(64)).ofMarket(TABLE.openOrder, 0, 1);
    const value = Uint8Array.from(store.writer.get(key) ?? []);
    value[60] = (value[60] ?? 0) ^ 0x10;
    store.writer.commit([{ key, value }]);
    assert.throws(() => plainRows(store.writer), { name: 'InvariantError', message: /is damaged/ });
    await store.close();
  });

  test('an open order that is forgotten is there no more, and in no list; one that was never written is passed over (QTE-06)', async () => {
    const store = new CheckpointStore();
    store.checkpoint([orderWrite(1, { end: 0 }), orderWrite(2, { end: 0 })]);
    const gone = [orderWrite(1, { end: 0 }), orderWrite(9, { end: 0 })].map((write) => ({
      ...write,
      isForgotten: true,
    }));
    store.checkpoint(gone);
    assert.deepEqual(
      plainRows(store.writer).map((loaded) => loaded.table === 'order' && loaded.row.orderSequence),
      [2],
    );
    const { user, marketIndex, orderId } = order(1);
    assert.equal(store.history.isFinished(user, marketIndex, orderId, 1 as Sequence), false);
    await store.close();
  });

  test('finished orders past their time are forgotten with their ids (AMB-08, AMB-17)', async () => {
    const store = new CheckpointStore();
    store.checkpoint([1, 2, 3, 4].map((sequence) => orderWrite(sequence)));
    store.checkpoint([orderWrite(5)], { forgetBeforeNs: time(3) });
    const page = store.history.finishedOrders({ user: userOf(1), marketIndex: null, skip: 0, limit: 9 });
    assert.deepEqual(page, { rows: [order(5), order(4), order(3)].map(past), total: 3, checkpoint: 2 as Sequence });
    assert.deepEqual(
      [...loadRememberedIds(store.writer, time(0))].map((id) => id.orderSequence),
      [3, 4, 5],
    );
    await store.close();
  });

  test('an id that a later order has taken stays when the earlier order is forgotten', async () => {
    const store = new CheckpointStore();
    const orderId = 'again' as OrderId;
    store.checkpoint([orderWrite(1, { orderId })]);
    store.checkpoint([orderWrite(50, { orderId })]);
    store.checkpoint([], { forgetBeforeNs: time(2) });
    assert.deepEqual(store.history.finishedOrder(userOf(1), 0, orderId), past(order(50, { orderId })));
    await store.close();
  });

  test('beyond the limit of a user the oldest records go and their ids stay (AMB-17)', async () => {
    const store = new CheckpointStore(temporaryDirectory(), { recordsPerUser: 10 });
    store.checkpoint(Array.from({ length: 10 }, (_, index) => orderWrite(index + 1, { marketIndex: index % 2 })));
    // Two more: the two oldest go; one of them is past its time as well and is counted once.
    store.checkpoint([orderWrite(21), orderWrite(22)], { forgetBeforeNs: time(2) });
    const request = { user: userOf(1), marketIndex: null, skip: 9, limit: 9 };
    const page = store.history.finishedOrders(request);
    assert.equal(page.total, 10);
    assert.deepEqual(
      page.rows.map((row) => row.orderSequence),
      [3],
    );
    assert.equal(store.history.finishedOrder(userOf(1), 1, 'order-2' as OrderId), null);
    const ids = new Set([...loadRememberedIds(store.writer, time(0))].map((id) => id.orderSequence as number));
    assert.equal(ids.has(1), false);
    assert.equal(ids.has(2), true);
    const perMarket = [0, 1].map((marketIndex) => store.history.finishedOrders({ ...request, marketIndex }).total);
    assert.deepEqual(perMarket, [6, 4]);
    store.checkpoint([], { forgetBeforeNs: time(3) });
    assert.equal([...loadRememberedIds(store.writer, time(0))].length, 10);
    await store.close();
  });

  test('a reader on another thread sees each checkpoint, though it never returns to its event loop', async () => {
    const store = new CheckpointStore();
    const signal = new Int32Array(new SharedArrayBuffer(8));
    const thread = new Worker(new URL('../support/storage-reader-thread.js', import.meta.url), {
      workerData: { directory: store.directory, signal },
    });
    await once(thread, 'online');
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      store.checkpoint([orderWrite(sequence)]);
      Atomics.store(signal, 0, sequence);
      Atomics.notify(signal, 0);
      Atomics.wait(signal, 1, sequence - 1, PATIENCE_MS);
      assert.equal(Atomics.load(signal, 1), sequence);
    }
    Atomics.store(signal, 0, -1);
    Atomics.notify(signal, 0);
    const [code] = await once(thread, 'exit');
    assert.equal(code, 0);
    store.checkpoint([orderWrite(100)]);
    await store.close();
  });
});

function remembered(sequence: number): object {
  const { user, marketIndex, orderSequence, orderId, creationNs } = order(sequence);
  return { user, marketIndex, orderSequence, orderId, creationNs, wasCancelled: false };
}

/** Rows with equal members have the same text, in whatever order their members were written. */
function memberText(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
