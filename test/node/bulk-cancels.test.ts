/** Cancels that nobody waits for, at rings with little room (docs/trading.md, "When you may go away"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, OrderId } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { CancelOrder } from '../../src/messages/generated/messages.ts';
import { BulkCancels, CANCELS_PER_TURN } from '../../src/node/bulk-cancels.ts';
import { readOrderId } from '../../src/node/order-codec.ts';
import { Markets } from '../../src/orders/markets.ts';
import type { PreparedCancel } from '../../src/orders/prepared.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Outlet } from '../../src/runtime/outlet.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { ALICE, MARKET, NOW, OrderDesk } from '../support/order-desk.ts';

const FILLER = 9;
const OTHER = { ...MARKET, marketIndex: 4, assetId: '13' as AssetId };

function shard(capacityBytes = 1_024) {
  const ring = createRing({ capacityBytes, reservedBytes: 0 });
  const outlet = new Outlet(new RingWriter(ring), new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0), 'reject');
  const reader = new RingReader(ring);
  const read = (): string[] => {
    const ids: string[] = [];
    outlet.flush();
    reader.drain((typeId, at) => {
      const { views } = reader;
      const { orderIdAt } = CancelOrder;
      if (typeId !== FILLER) ids.push(readOrderId(views, at + orderIdAt, CancelOrder.orderIdBytes(views, at)));
      return true;
    }, 1_000);
    return ids;
  };
  const fill = (): void => {
    while (outlet.claim(FILLER, 8) >= 0) outlet.commit();
  };
  return { outlet, read, fill };
}

suite('cancels in advance at the rings', () => {
  test('a market without room holds up no other, and nothing is lost or sent twice', () => {
    const { manager } = new OrderDesk();
    const markets = new Markets();
    const [even, odd] = [shard(), shard()];
    const openMarkets = new Set([3]);
    let pokes = 0;
    const bulk = new BulkCancels({
      orders: manager,
      shards: [even.outlet, odd.outlet],
      idKey: hashKeyOf(0n),
      nowNs: () => NOW,
      openMarkets,
      unanswered: () => undefined,
      poke: () => {
        pokes += 1;
      },
    });
    const cancel = (id: string, definition: typeof MARKET): PreparedCancel => {
      return { market: markets.set(definition), user: ALICE, orderId: id as OrderId };
    };
    const wanted = [
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((id) => cancel(id, MARKET)),
      cancel('closed', OTHER),
    ];
    let left = bulk.cancelSome(wanted);
    const sent = odd.read();
    assert.ok(sent.length > 0 && sent.length < 10, `${sent.length} found room`);
    const turns = pokes;
    odd.fill();
    left = bulk.cancelSome(left);
    assert.deepEqual(
      [turns, pokes],
      [1, 1],
      'where nothing was sent no turn is asked for: the ring rings when it has room',
    );
    openMarkets.add(4);
    odd.fill();
    left = bulk.cancelSome(left);
    assert.deepEqual(even.read(), ['closed'], 'the full ring of the other market does not matter');
    for (let turn = 0; turn < 10; turn += 1) {
      sent.push(...odd.read());
      left = bulk.cancelSome(left);
    }
    assert.deepEqual([sent, left], [['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'], []]);
  });

  test('of thousands some go in one turn, in order, and the next turn is asked for, so that others get theirs (I20)', () => {
    const { manager } = new OrderDesk();
    const { outlet, read } = shard(1 << 20);
    let pokes = 0;
    const bulk = new BulkCancels({
      orders: manager,
      shards: [outlet],
      idKey: hashKeyOf(0n),
      nowNs: () => NOW,
      openMarkets: new Set([3]),
      unanswered: () => undefined,
      poke: () => {
        pokes += 1;
      },
    });
    const market = new Markets().set(MARKET);
    const ids = Array.from({ length: 2_000 }, (_, at) => `id-${at}`);
    let left: readonly PreparedCancel[] = ids.map((id) => ({ market, user: ALICE, orderId: id as OrderId }));
    const turns: number[] = [];
    const sent: string[] = [];
    while (left.length > 0) {
      const before = left.length;
      left = bulk.cancelSome(left);
      turns.push(before - left.length);
      sent.push(...read());
    }
    assert.ok(turns.every((count) => count > 0 && count <= CANCELS_PER_TURN));
    assert.deepEqual([sent, pokes], [ids, turns.length]);
  });
});
