// tier: quick
/** Cancels ordered in advance are not lost, however full the rings are (docs/safety.md, "When your connection or program may fail"). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { AutomaticCancels, CANCELS_PER_TURN } from '../../src/gateway/actions/automatic-cancels.ts';
import { MARKET_BUSY } from '../../src/gateway/actions/order-cancels.ts';
import { DisconnectGroup, Membership } from '../../src/gateway/orders/entry/disconnect-group.ts';
import { ALICE } from '../support/names.ts';
import { createRequest, MARKET, mustPass, NOW, OrderFixture } from '../support/order-fixture.ts';

class World {
  readonly fixture = new OrderFixture();
  readonly sent: string[] = [];
  /** Of what was sent. */
  readonly markets: number[] = [];
  readonly swept: UserId[] = [];
  /** Cancels that fit the ring. */
  room = 0;
  wakeUps = 0;
  nowNs = 1_000n as TimestampNs;
  readonly holders: Map<UserId, 'user' | 'maker'> = new Map([[ALICE, 'user']]);
  readonly cancels: AutomaticCancels = new AutomaticCancels({
    holderOf: (user) => this.holders.get(user) ?? null,
    cancels: {
      hasRoomForCancel: () => this.room > 0,
      sendCancel: ({ market, orderId }) => {
        this.room -= 1;
        this.sent.push(orderId);
        this.markets.push(market.definition.marketIndex);
      },
      endQuoteSet: () => true,
      cancelAll: ({ user }) => {
        if (this.room === 0) return MARKET_BUSY;
        this.room -= 1;
        this.swept.push(user);
        return null;
      },
    },
    nowNs: () => this.nowNs,
    wakeUp: () => {
      this.wakeUps += 1;
    },
  });

  /** As many orders on their way to a market as there are ids. */
  onTheWay(ids: readonly string[], marketIndex: number, group: DisconnectGroup): void {
    const asset = `${20 + marketIndex}` as AssetId;
    this.fixture.manager.onMarketChanged({ ...MARKET, marketIndex, assetId: asset });
    for (const id of ids) {
      const request = createRequest({ id, quantity: 10, price: 1_000 }, { baseAsset: { id: asset, text: asset } });
      const checked = mustPass(
        this.fixture.manager.requests.checkCreate(request, { user: ALICE, now: NOW, looksUp: true }),
      );
      this.fixture.manager.requests.join(
        mustPass(this.fixture.manager.requests.reserveCreate(checked, NOW)).requestId,
        new Membership(group),
      );
    }
  }

  /** An order that rests and is tied to this connection. @returns its sequence. */
  tied(id: string, group: DisconnectGroup): number {
    const requestId = mustPass(this.fixture.request({ id, quantity: 10, price: 1_000 }));
    this.fixture.manager.requests.join(requestId, new Membership(group));
    const sequence = this.fixture.nextSequence;
    this.fixture.manager.onAccepted({ requestId, marketIndex: 3, sequence, timeNs: this.nowNs, rejectCode: 0 });
    this.fixture.answer(requestId, sequence);
    return sequence;
  }
}

suite('cancels ordered in advance', () => {
  test('orders of a connection wait for space, in order, until the last has gone', () => {
    const world = new World();
    const [group, other] = [new DisconnectGroup(), new DisconnectGroup()];
    for (const id of ['a', 'b', 'c']) world.tied(id, group);
    world.tied('other', other);
    world.room = 1;
    world.cancels.connectionEnded(group);
    assert.deepEqual([group.isEnded, world.wakeUps], [true, 1], 'the next turn is asked for');
    world.cancels.sendWaiting();
    assert.deepEqual([world.sent, world.cancels.size], [['a'], 2]);
    world.cancels.sendWaiting();
    assert.deepEqual([world.cancels.size, world.wakeUps], [2, 2], 'without room it is the ring that rings');
    world.room = 10;
    world.cancels.sendWaiting();
    assert.deepEqual([world.sent, world.cancels.size, other.size], [['a', 'b', 'c'], 0, 1]);
  });

  test('what ends before its turn comes is not cancelled, and nothing waits for it', () => {
    const world = new World();
    const group = new DisconnectGroup();
    const [first, , last] = ['first', 'stays', 'last'].map((id) => world.tied(id, group)) as [number, number, number];
    world.cancels.connectionEnded(group);
    world.fixture.end(first, ORDER_END.userRequested);
    world.room = 1;
    world.cancels.sendWaiting();
    world.fixture.end(last, ORDER_END.userRequested);
    assert.deepEqual([world.sent, world.cancels.size], [['stays'], 0]);
    world.cancels.sendWaiting();
    assert.deepEqual([world.sent, world.cancels.size], [['stays'], 0]);
  });

  test('a turn cancels so many of what ended connections left, however many ended, the first one first (I20)', () => {
    const world = new World();
    world.room = Number.POSITIVE_INFINITY;
    const groups = Array.from({ length: 5 }, () => new DisconnectGroup());
    const ids = groups.map((group, at) =>
      Array.from({ length: 150 }, (_, number) => {
        world.tied(`${at}-${number}`, group);
        return `${at}-${number}`;
      }),
    );
    for (const group of groups) world.cancels.connectionEnded(group);
    assert.deepEqual(world.sent, [], 'a lost connection by itself is no work');
    const turns: number[] = [];
    while (world.cancels.size > 0) {
      const before = world.sent.length;
      world.cancels.sendWaiting();
      turns.push(world.sent.length - before);
    }
    assert.deepEqual(turns, [CANCELS_PER_TURN, CANCELS_PER_TURN, 750 - 2 * CANCELS_PER_TURN]);
    assert.deepEqual(world.sent, ids.flat());
    assert.equal(world.wakeUps, groups.length + turns.length);
  });

  test('each market gets its share of a turn, so that none waits until another one is through', () => {
    const world = new World();
    world.room = Number.POSITIVE_INFINITY;
    const group = new DisconnectGroup();
    const counts = [700, 40, 500];
    for (const [at, count] of counts.entries()) {
      const ids = Array.from({ length: count }, (_, number) => `${at}-${number}`);
      world.onTheWay(ids, 10 + at, group);
    }
    world.cancels.connectionEnded(group);
    world.cancels.sendWaiting();
    const share = Math.ceil(CANCELS_PER_TURN / counts.length);
    const sentTo = (at: number): number => world.markets.filter((market) => market === 10 + at).length;
    assert.deepEqual(
      counts.map((_, at) => sentTo(at)),
      [share, 40, share],
    );
    while (world.cancels.size > 0) world.cancels.sendWaiting();
    assert.deepEqual(
      counts.map((_, at) => sentTo(at)),
      counts,
    );
    assert.equal(new Set(world.sent).size, 1_240);
  });

  test('a timer that is over is tried until every market has it, and then dropped', () => {
    const world = new World();
    assert.deepEqual(world.cancels.cancelAllAfter(ALICE, 1_000), { ok: true, value: 1_000_001_000n });
    world.cancels.sendWaiting();
    assert.equal(world.cancels.size, 0);
    world.nowNs = 1_000_001_000n as TimestampNs;
    world.cancels.sendWaiting();
    assert.deepEqual([world.swept, world.cancels.size], [[], 1]);
    world.room = 5;
    world.cancels.sendWaiting();
    world.cancels.sendWaiting();
    assert.deepEqual([world.swept, world.cancels.size], [[ALICE], 0]);
  });

  test('a key that holds nothing takes no place and is refused; once it held something it may go on, and end it', () => {
    const world = new World();
    for (let key = 0; key < 100_000; key += 1) {
      const who = key.toString(16).padStart(64, '0') as UserId;
      const answer = world.cancels.cancelAllAfter(who, 60_000);
      assert.equal(answer.ok ? 'armed' : answer.reject.code, 'INSUFFICIENT_INVENTORY');
    }
    assert.ok(world.cancels.cancelAllAfter(ALICE, 60_000).ok);
    world.holders.clear();
    assert.ok(world.cancels.cancelAllAfter(ALICE, 60_000).ok, 'who has a timer may start it again');
    assert.deepEqual(world.cancels.cancelAllAfter(ALICE, 0), { ok: true, value: null });
    assert.ok(!world.cancels.cancelAllAfter(ALICE, 60_000).ok);
    assert.deepEqual(world.cancels.cancelAllAfter(ALICE, 0), { ok: true, value: null }, 'ending none is no error');
  });
});
