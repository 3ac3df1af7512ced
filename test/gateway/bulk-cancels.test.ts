/** Cancels that nobody waits for, at rings with little room (docs/trading.md, "When you may go away"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { BulkCancels } from '../../src/gateway/bulk-cancels.ts';
import { Lifeline, Tie } from '../../src/gateway/orders/lifeline.ts';
import { SafetyCancels } from '../../src/gateway/safety-cancels.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Outlet } from '../../src/runtime/outlet.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { readOrderId } from '../../src/schema/fields.ts';
import { CancelOrder } from '../../src/schema/generated/messages.ts';
import { ALICE, createRequest, MARKET, mustPass, NOW, OrderDesk } from '../support/order-desk.ts';

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
    const desk = new OrderDesk();
    desk.manager.onMarketChanged(OTHER);
    const [even, odd] = [shard(), shard()];
    const openMarkets = new Set([3]);
    let pokes = 0;
    const poke = (): void => {
      pokes += 1;
    };
    const nowNs = (): typeof NOW => NOW;
    const bulk = new BulkCancels({
      orders: desk.manager,
      shards: [even.outlet, odd.outlet],
      idKey: hashKeyOf(0n),
      nowNs,
      openMarkets,
      poke,
    });
    const cancels = new SafetyCancels({ bulk, holderOf: () => 'user', nowNs, poke });
    const lifeline = new Lifeline();
    const create = (id: string, asset: AssetId): void => {
      const request = createRequest({ id, quantity: 10 }, { baseAsset: { id: asset, text: asset } });
      const checked = mustPass(desk.manager.requests.checkCreate(request, { user: ALICE, now: NOW, looksUp: true }));
      desk.manager.requests.tie(
        mustPass(desk.manager.requests.reserveCreate(checked, NOW)).requestId,
        new Tie(lifeline),
      );
    };
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    for (const id of ids) create(id, MARKET.assetId);
    create('closed', OTHER.assetId);

    cancels.cut(lifeline);
    cancels.sendWaiting();
    const sent = odd.read();
    assert.ok(sent.length > 0 && sent.length < 10, `${sent.length} found room`);
    const turns = pokes;
    odd.fill();
    cancels.sendWaiting();
    assert.deepEqual(
      [turns, pokes],
      [2, 2],
      'where nothing was sent no turn is asked for: the ring rings when it has room',
    );
    openMarkets.add(4);
    odd.fill();
    cancels.sendWaiting();
    assert.deepEqual(even.read(), ['closed'], 'the full ring of the other market does not matter');
    for (let turn = 0; turn < 10; turn += 1) {
      sent.push(...odd.read());
      cancels.sendWaiting();
    }
    assert.deepEqual([sent, cancels.size], [ids, 0]);
  });
});
