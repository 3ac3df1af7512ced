// tier: quick, 3 s
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow } from '../../src/clearing/rows.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { FinishedLimits } from '../../src/storage/finished-orders.ts';
import { loadIdWatermarks, loadRememberedIds } from '../../src/storage/id-runs.ts';
import { RUN_ENTRIES_MAX } from '../../src/storage/runs.ts';
import { CheckpointStore, order, past, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const USERS = [userOf(1), userOf(2)];
const MARKETS = [0, 1, 256];
const time = (ns: number | bigint): TimestampNs => BigInt(ns) as TimestampNs;

/** Few instants, in no order: an order that rested for long ends late, and many are equal. */
const instant = fc.bigInt({ min: 1n, max: 30n }) as fc.Arbitrary<TimestampNs>;
const checkpoints = fc.array(
  fc.record({
    orders: fc.array(
      fc.record({
        user: fc.constantFrom(...USERS),
        marketIndex: fc.constantFrom(...MARKETS),
        timestampNs: instant,
        creationNs: instant,
        lastUpdateNs: instant,
      }),
      { maxLength: 12 },
    ),
    forgetBeforeNs: instant,
  }),
  { minLength: 1, maxLength: 12 },
);
const limits: fc.Arbitrary<FinishedLimits> = fc.record({
  recordsPerUser: fc.integer({ min: 1, max: 8 }),
  idsPerList: fc.integer({ min: 1, max: 6 }),
});

const listOf = ({ user, marketIndex }: OrderRow): string => `${user}/${String(marketIndex).padStart(5, '0')}`;

/** Finished orders as a list in the order in which they ended: what the tables must be equal to. */
class PlainForgetting {
  ids: OrderRow[] = [];
  records: OrderRow[] = [];
  readonly watermarks = new Map<string, bigint>();
  readonly #limits: FinishedLimits;

  constructor(max: FinishedLimits) {
    this.#limits = max;
  }

  checkpoint(added: readonly OrderRow[], beforeNs: TimestampNs): void {
    const gone = this.ids.filter((row) => row.lastUpdateNs < beforeNs);
    const touched = new Set([...gone, ...added].map(listOf));
    const users = new Set([...gone.filter((row) => this.records.includes(row)), ...added].map((row) => row.user));
    this.#drop(gone);
    for (const list of touched) if ((this.watermarks.get(list) ?? beforeNs) < beforeNs) this.watermarks.delete(list);
    for (const user of users) {
      const own = this.records.filter((row) => row.user === user);
      const excess = own.length + added.filter((row) => row.user === user).length - this.#limits.recordsPerUser;
      if (excess > 0) for (const row of own) touched.add(listOf(row));
      const going = mergedByUpdate(own).slice(0, Math.max(0, excess));
      this.records = this.records.filter((row) => !going.includes(row));
    }
    for (const list of touched) this.#makeRoom(list, added.filter((row) => listOf(row) === list).length);
    this.ids.push(...added);
    this.records.push(...added);
  }

  #makeRoom(list: string, addedCount: number): void {
    const own = this.ids.filter((row) => listOf(row) === list);
    const going = own.slice(0, Math.max(0, own.length + addedCount - this.#limits.idsPerList));
    for (const { creationNs } of going) {
      if (creationNs > (this.watermarks.get(list) ?? -1n)) this.watermarks.set(list, creationNs);
    }
    this.#drop(going);
  }

  #drop(gone: readonly OrderRow[]): void {
    this.ids = this.ids.filter((row) => !gone.includes(row));
    this.records = this.records.filter((row) => !gone.includes(row));
  }
}

/** Orders of one user: each market as they ended, the markets merged by the last updates of their first. */
function mergedByUpdate(rows: readonly OrderRow[]): OrderRow[] {
  const lists = MARKETS.map((market) => rows.filter((row) => row.marketIndex === market)).filter((list) => list.length);
  const merged: OrderRow[] = [];
  for (;;) {
    const first = lists.reduce<OrderRow[] | undefined>((least, list) => {
      const [head] = list;
      if (head === undefined) return least;
      return least === undefined || head.lastUpdateNs < (least[0] as OrderRow).lastUpdateNs ? list : least;
    }, undefined);
    const next = first?.shift();
    if (next === undefined) return merged;
    merged.push(next);
  }
}

function assertKept(store: CheckpointStore, plain: PlainForgetting): void {
  const ids = [...loadRememberedIds(store.writer, time(0))];
  const byList = (a: OrderRow, b: OrderRow): number => (listOf(a) < listOf(b) ? -1 : Number(listOf(a) > listOf(b)));
  assert.deepEqual(
    ids.map((id) => id.orderSequence),
    [...plain.ids].sort(byList).map((row) => row.orderSequence),
  );
  const watermarks = [...loadIdWatermarks(store.writer)].map(({ user, marketIndex, creationNs }) => {
    return [`${user}/${String(marketIndex).padStart(5, '0')}`, creationNs];
  });
  assert.deepEqual(
    watermarks,
    [...plain.watermarks].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  for (const user of USERS) {
    const { rows, total } = store.history.finishedOrders({ user, marketIndex: null, skip: 0, limit: 1_000 });
    assert.equal(rows.length, total);
    const own = plain.records.filter((row) => row.user === user).map((row) => row.orderSequence);
    assert.deepEqual(rows.map((row) => row.orderSequence).sort(numerically), own.sort(numerically));
  }
}

const numerically = (a: number, b: number): number => a - b;
const finished = (rows: readonly OrderRow[]) => rows.map((row) => ({ table: 'order', row }) as const);

function idOf(store: CheckpointStore, user: UserId, orderId: string): OrderRow | null {
  return store.history.finishedOrder(user, 0, orderId as OrderId);
}

suite('finished orders', () => {
  test('what is dropped is what a plain list drops: by age, by user, and by list (AMB-08, AMB-17)', async () => {
    await fc.assert(
      fc.asyncProperty(checkpoints, limits, async (steps, max) => {
        const store = new CheckpointStore(temporaryDirectory(), max);
        const plain = new PlainForgetting(max);
        let sequence = 0;
        for (const { orders, forgetBeforeNs } of steps) {
          const added = orders.map((fields) => {
            sequence += 1;
            return order(sequence, fields);
          });
          store.checkpoint(finished(added), { forgetBeforeNs });
          plain.checkpoint(added, forgetBeforeNs);
          assertKept(store, plain);
        }
        await store.close();
      }),
      propertyParameters(40),
    );
  });

  test('an id is taken until 30 days after its creation, however long its order lived (AMB-08)', async () => {
    const store = new CheckpointStore();
    const longLived = order(1, { creationNs: time(5), lastUpdateNs: time(ORDER_LIFE_NS) });
    store.checkpoint(finished([longLived]), { forgetBeforeNs: time(1) });
    const taken = (nowNs: bigint): number => [...loadRememberedIds(store.writer, time(nowNs))].length;
    assert.equal(taken(ORDER_LIFE_NS + 4n), 1);
    assert.equal(taken(ORDER_LIFE_NS + 5n), 0);
    // Its record is kept for 30 days from its end, and is found by its id as long.
    store.checkpoint([], { forgetBeforeNs: time(ORDER_LIFE_NS) });
    assert.deepEqual(idOf(store, userOf(1), 'order-1'), past(longLived));
    store.checkpoint([], { forgetBeforeNs: time(ORDER_LIFE_NS + 1n) });
    assert.equal(idOf(store, userOf(1), 'order-1'), null);
    await store.close();
  });

  test('a cancelled id stays known as cancelled when its record is gone (AMB-23)', async () => {
    const store = new CheckpointStore(temporaryDirectory(), { recordsPerUser: 1 });
    store.checkpoint(finished([order(1, { end: ORDER_END.userRequested })]));
    store.checkpoint(finished([order(2, { end: ORDER_END.expired })]));
    assert.equal(idOf(store, userOf(1), 'order-1'), null);
    const ids = [...loadRememberedIds(store.writer, time(0))];
    assert.deepEqual(
      ids.map((id) => [id.orderId, id.wasCancelled]),
      [
        ['order-1', true],
        ['order-2', false],
      ],
    );
    await store.close();
  });

  test('an evicted id leaves the largest creation time of its list, which outlives a start (AMB-08)', async () => {
    const store = new CheckpointStore(temporaryDirectory(), { idsPerList: 2 });
    store.checkpoint(finished([order(1, { creationNs: time(7) }), order(2, { creationNs: time(5) })]));
    store.checkpoint(finished([order(3), order(4), order(5, { marketIndex: 1 })]));
    await store.close();
    const again = new CheckpointStore(store.directory);
    assert.deepEqual([...loadIdWatermarks(again.writer)], [{ user: userOf(1), marketIndex: 0, creationNs: 7n }]);
    assert.equal([...loadRememberedIds(again.writer, time(0))].length, 3);
    again.checkpoint(finished([order(6)]), { forgetBeforeNs: time(8) });
    assert.deepEqual([...loadIdWatermarks(again.writer)], [], 'creates as old as that are too old in any case');
    await again.close();
  });

  test('a long-rested order that ends last is the last to go, whatever its timestamp (AMB-17)', async () => {
    const store = new CheckpointStore(temporaryDirectory(), { recordsPerUser: 2 });
    store.checkpoint(finished([order(10), order(20)]));
    store.checkpoint(finished([order(1, { lastUpdateNs: time(30) })]));
    store.checkpoint(finished([order(40)]));
    const kept = store.history.finishedOrders({ user: userOf(1), marketIndex: null, skip: 0, limit: 9 }).rows;
    assert.deepEqual(
      kept.map((row) => row.orderSequence),
      [40, 1],
    );
    await store.close();
  });

  test('what ended in one checkpoint is remembered as it ended, across its runs (AMB-08)', async () => {
    const store = new CheckpointStore();
    const count = 2 * RUN_ENTRIES_MAX + 5;
    const ended = Array.from({ length: count }, (_, index) => order(count - index));
    store.checkpoint(finished(ended));
    assert.deepEqual(
      [...loadRememberedIds(store.writer, time(0))].map((id) => id.orderSequence),
      ended.map((row) => row.orderSequence),
    );
    await store.close();
  });
});
