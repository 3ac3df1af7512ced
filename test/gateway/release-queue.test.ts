// tier: quick
/** Releases, cancels of many and new orders at a ring that is full (AMB-28, CAN-05, CAN-11). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { ReleaseQueue } from '../../src/gateway/actions/release-queue.ts';
import type { ReleaseEvent } from '../../src/gateway/orders/book/order-events.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Publication } from '../../src/runtime/publication.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { ReleaseOrder } from '../../src/schema/generated/messages.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { createRequest } from '../support/order-fixture.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';

const FILLER = 9;
const FIELDS = ['order', 'triggered', 'quantity', 'budget', 'bound', 'roomToTake', 'roomToRest', 'end'] as const;

const release = (marketIndex: number, order: number, quantity: number, end: 0 | 6 = 0): ReleaseEvent => ({
  marketIndex,
  order,
  triggered: 100 + order,
  quantity,
  budget: 2 * quantity,
  bound: 5 * quantity,
  room: { roomToTake: 3 * quantity, roomToRest: 4 * quantity },
  end,
});

function shard() {
  const ring = createRing({ capacityBytes: 1_024, reservedBytes: 0 });
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  const publication = new Publication(new RingWriter(ring), bell, 'reject');
  const reader = new RingReader(ring);
  const released: string[] = [];
  const drain = (): void => {
    publication.flush();
    reader.drain((typeId, at) => {
      const { views } = reader;
      if (typeId === ReleaseOrder.typeId) {
        const word = FIELDS.map((field) => ReleaseOrder[field](views, at));
        released.push(word.join(' '));
      }
      return true;
    }, 1_000);
  };
  const fill = (): void => {
    while (publication.claim(FILLER, 8) >= 0) publication.commit();
  };
  return { publication, released, drain, fill };
}

suite('releases on their way to their market', () => {
  test('go straight into a ring with space, in order', () => {
    const { publication, released, drain } = shard();
    const queue = new ReleaseQueue([publication], () => 5n);
    for (const order of [3, 1, 2]) queue.add(release(0, order, 10 * order));
    drain();
    assert.deepEqual(released, ['3 103 30 60 150 90 120 0', '1 101 10 20 50 30 40 0', '2 102 20 40 100 60 80 0']);
    assert.equal(queue.size, 0);
  });

  test('wait while it is full, the last word on an order in the place of the one before, and none is lost', () => {
    const [full, free] = [shard(), shard()];
    const queue = new ReleaseQueue([full.publication, free.publication], () => 5n);
    full.fill();
    queue.add(release(0, 1, 10));
    queue.add(release(2, 1, 7, 6));
    queue.add(release(1, 1, 99));
    queue.add(release(0, 1, 20));
    assert.equal(queue.size, 2);
    assert.equal(queue.send(0), false, 'new orders of this shard wait behind them');
    assert.equal(queue.send(1), true);
    full.drain();
    free.drain();
    assert.deepEqual(free.released, ['1 101 99 198 495 297 396 0'], 'another shard does not wait');
    queue.sendAll();
    full.drain();
    assert.deepEqual(full.released, ['1 101 7 14 35 21 28 6', '1 101 20 40 100 60 80 0']);
    assert.equal(queue.size, 0);
  });
});

suite('cancels of many at a full ring', () => {
  const user = simulatedUser(1);

  function busyNode(): SimulatedNode {
    const node = new SimulatedNode({
      seed: 1,
      durability: new MemoryDurability(),
      forged: new Set(),
      startNs: SIMULATION_START_NS,
    });
    node.command({ kind: 'putAsset', method: 'put', assetId: '0' as AssetId, body: {} });
    for (const assetId of SIMULATED_MARKETS) {
      node.command({ kind: 'putAsset', method: 'put', assetId, body: {} });
      const body = { book_price_decimals: 2, book_quantity_decimals: 4 };
      node.command({ kind: 'putMarket', method: 'put', assetId, body });
    }
    node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: '0', amount: '1000000' } });
    return node;
  }

  function create(node: SimulatedNode, id: string, market: AssetId): void {
    const wish = { user, id, side: SIDE.buy, price: 100, quantity: 100, postSignNs: node.nowNs };
    const change = { baseAsset: { id: market, text: market }, creationNs: node.nowNs as never };
    const request = createRequest(wish, change);
    node.gateway.entry.submit({ kind: 'create', request }, { user, connection: 1, isControl: true }, (answer) =>
      node.answers.push(answer),
    );
  }

  function refused(node: SimulatedNode): number {
    return node.answers.filter(({ refusal }) => refusal?.code === 'SERVICE_UNAVAILABLE').length;
  }

  /** Orders until the ring of this market's shard takes no more. @returns how many it took. */
  function fill(node: SimulatedNode, market: AssetId, prefix: string): number {
    const before = refused(node);
    for (let count = 0; ; count += 1) {
      create(node, `${prefix}${count}`, market);
      if (refused(node) > before) return count;
    }
  }

  const all = { user, assetId: null, beforeNs: null };

  test('get in where new orders do not, and take all that is before them', () => {
    const node = busyNode();
    for (const market of SIMULATED_MARKETS) assert.ok(fill(node, market, `m${market}-`) > 10);
    assert.equal(node.gateway.cancels.cancelAll(all), null);
    node.settle();
    for (const market of node.clearing.ledger.markets) assert.equal(market.orders.size, 0);
    assert.equal(node.gateway.actionsInFlight, 0);
  });

  test('where not all of them fit nothing is sent', () => {
    const node = busyNode();
    const [first, second] = SIMULATED_MARKETS;
    assert.ok(first !== undefined && second !== undefined);
    create(node, 'stays', first);
    node.settle();
    fill(node, second, 'x');
    let sent = 0;
    while (node.gateway.cancels.cancelAll({ ...all, assetId: second }) === null) sent += 1;
    assert.ok(sent > 5, `${sent} use the reserve`);
    const onTheWay = node.gateway.orders.requests.count;
    assert.equal(node.gateway.cancels.cancelAll(all)?.code, 'SERVICE_UNAVAILABLE');
    assert.equal(node.gateway.orders.requests.count, onTheWay, 'nothing was reserved either');
    node.settle();
    assert.equal(node.clearing.ledger.markets[0]?.orders.size, 1);
    assert.equal(node.clearing.ledger.markets[1]?.orders.size, 0);
  });
});
