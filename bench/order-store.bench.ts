/**
 * The order store with a million orders of 50,000 users in 20 markets: insertion, lookups in random order by sequence and
 * by user and id, removal, and the memory of one order.
 */
import { assert } from '../src/core/assert.ts';
import type { OrderId, UserId } from '../src/core/ids.ts';
import { hashKeyOf } from '../src/core/key-words.ts';
import { NONE } from '../src/core/pools.ts';
import { type Views, viewsOf } from '../src/core/views.ts';
import { OrderStore } from '../src/order/order-store.ts';
import { OrderRecord } from '../src/schema/generated/messages.ts';
import type { BenchResult, BenchRow, Scale } from './bench-kit.ts';

const ORDERS: Readonly<Record<Scale, number>> = { small: 10_000, full: 1_000_000 };
const USERS = 50_000;
const MARKETS = 20;
const STEP = 7_919;

function userOf(n: number): UserId {
  return Math.imul(n % USERS, 0x9e3779b1)
    .toString(16)
    .replace('-', 'f')
    .padStart(8, '0')
    .repeat(8) as UserId;
}

function idOf(n: number): OrderId {
  return `client-order-${n}` as OrderId;
}

function write(v: Views, n: number): void {
  OrderRecord.setUser(v, 0, userOf(n));
  OrderRecord.setOrderId(v, 0, idOf(n));
  OrderRecord.setMarketIndex(v, 0, n % MARKETS);
  OrderRecord.setOrderSequence(v, 0, n + 1);
}

/** Calls `work` for every number below `count`, in an order that jumps. @returns nanoseconds of processor time for one. */
function timed(count: number, work: (n: number) => void, step = STEP): number {
  const began = process.cpuUsage();
  for (let turn = 0; turn < count; turn += 1) work((turn * step) % count);
  const { user, system } = process.cpuUsage(began);
  return ((user + system) * 1e3) / count;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const count = ORDERS[scale];
  const store = new OrderStore({ ordersMax: count, key: hashKeyOf(0x1234_5678_9abc_def0n) });
  const v = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);
  const writing = timed(count, (n) => write(v, n), 1);
  const insertion = timed(
    count,
    (n) => {
      write(v, n);
      assert(store.insertCopy(v, 0) !== NONE, 'the store has room');
    },
    1,
  );
  const rows: BenchRow[] = [
    { label: 'insert a copy', value: insertion - writing, unit: 'ns' },
    { label: 'memory', value: store.bytes / count, unit: 'bytes/order' },
  ];
  let checksum = 0;
  const bySequence = timed(count, (n) => {
    checksum += store.findSequence(n % MARKETS, n + 1);
  });
  const byId = timed(count, (n) => {
    checksum -= store.findId(userOf(n), n % MARKETS, idOf(n));
  });
  assert(checksum === 0, 'both lookups find the same orders');
  const texts = timed(count, (n) => {
    checksum += userOf(n).length + idOf(n).length;
  });
  const sum = timed(count, (n) => {
    const index = store.findSequence(n % MARKETS, n + 1);
    checksum += OrderRecord.orderSequence(store.viewsOf(index), store.at(index));
  });
  const removal = timed(count, (n) => store.remove(store.findSequence(n % MARKETS, n + 1)));
  assert(store.size === 0, 'every order is removed');
  rows.push(
    { label: 'find by sequence', value: bySequence, unit: 'ns' },
    { label: 'find by sequence and read a field', value: sum, unit: 'ns' },
    { label: 'find by user and id, texts apart', value: byId - texts, unit: 'ns' },
    { label: 'find by sequence and remove', value: removal, unit: 'ns' },
  );
  return { name: 'order-store', rows, checks: `${count} orders in and out, each found twice` };
}
