// tier: quick
/** Holds under every event that a market may send: they equal the sum over the orders after every word (AMB-112). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type AssetId, USD } from '../../../src/core/ids.ts';
import { SIDE } from '../../../src/core/order-terms.ts';
import type { Amount18 } from '../../../src/core/units.ts';
import { Holds } from '../../../src/gateway/orders/balances/holds.ts';
import { ASSETS, LooseMarket, type LooseOrder, plainNeed, USERS } from '../../support/loose-market.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

interface OnItsWay {
  readonly order: LooseOrder;
  readonly price: number;
  readonly quantity: number;
}

const STEPS: readonly ((market: LooseMarket, pick: number) => void)[] = [
  (market, pick) => market.create(pick),
  (market, pick) => market.create(pick),
  (market, pick) => market.create(pick),
  (market, pick) => market.match(pick),
  (market, pick) => market.match(pick),
  (market, pick) => market.decide(pick),
  (market, pick) => market.decide(pick),
  (market, pick) => market.fire(pick),
  (market, pick) => market.fire(pick),
  (market, pick) => market.replace(pick, (replace) => checkBalances(market, replace)),
  (market, pick) => market.endOne(pick),
  (market, pick) => {
    if (pick % 3 === 0) market.cancel(pick >> 2);
  },
  (market, pick) => {
    if (pick % 16 === 0) market.cancelAll(pick >> 4);
  },
];

const story = storyOf(STEPS, [30, 200]);

function play(steps: readonly (readonly [number, number])[], look: (market: LooseMarket) => void): LooseMarket {
  const market = new LooseMarket();
  market.look = () => look(market);
  for (const [step, pick] of steps) {
    STEPS[step]?.(market, pick);
    market.hear();
    look(market);
  }
  return market;
}

function checkBalances(market: LooseMarket, onItsWay: OnItsWay | null = null): void {
  for (const user of USERS) {
    for (const asset of ASSETS) {
      const { owned, held, pending, settling } = market.fixture.manager.funds({ user, subAccount: 0, asset });
      assert.equal(owned, market.ownedBy(user, asset));
      assert.equal(held, heldBy(market, user, asset === USD, onItsWay));
      assert.equal(pending, market.pendingOf(user, asset));
      assert.ok(settling >= 0n);
    }
  }
}

function heldBy(market: LooseMarket, user: string, isBuy: boolean, onItsWay: OnItsWay | null): bigint {
  let held = 0n;
  for (const order of market.orders) {
    if (order.user !== user || (order.side === SIDE.buy) !== isBuy) continue;
    const needs = [plainNeed(order)];
    if (onItsWay?.order === order) needs.push(plainNeed(order, onItsWay.price, onItsWay.quantity));
    held += largest(needs);
  }
  return held;
}

function largest(needs: readonly bigint[]): bigint {
  return [...needs].sort((a, b) => Number(b - a))[0] ?? 0n;
}

suite('holds, properties', () => {
  test('at every moment holds equal the sum over the orders and pending the sum over undecided fills (AMB-52, AMB-112)', () => {
    const property = (steps: readonly (readonly [number, number])[]): void => {
      play(steps, (market) => checkBalances(market));
    };
    fc.assert(fc.property(story, property), propertyParameters(60));
  });

  test('an order that waits for its trigger holds nothing, one that is let through was covered when it was (AMB-28)', () => {
    const property = (steps: readonly (readonly [number, number])[]): void => {
      play(steps, ({ fixture, orders, answers }) => {
        for (const { order, end } of answers.splice(0)) {
          const told = orders.find(({ sequence }) => sequence === order);
          assert.ok(told !== undefined);
          const asset = ASSETS[told.side === SIDE.buy ? 0 : 1] ?? USD;
          if (end === 0) assert.ok(fixture.available(told.user, asset) >= 0n || plainNeed(told) === 0n);
          else assert.ok(told.isEnded);
        }
      });
    };
    fc.assert(fc.property(story, property), propertyParameters(30));
  });

  test('when all is over nothing is held or pending, each order had one end published, and nothing is left to cancel', () => {
    const property = (steps: readonly (readonly [number, number])[]): void => {
      const market = play(steps, () => undefined);
      market.finish();
      checkBalances(market);
      for (const user of USERS) {
        for (const asset of ASSETS) {
          const { held, pending } = market.fixture.manager.funds({ user, subAccount: 0, asset });
          assert.deepEqual([held, pending], [0n, 0n]);
        }
        const open = market.fixture.manager.requests.checkCancelAll({ user, assetId: null });
        assert.ok(open.ok && open.value.length === 0);
      }
      for (const order of market.orders) {
        const kinds = market.fixture.told(order.user, order.id).map((word) => word.split(' ')[0]);
        assert.equal(kinds[0], 'Created');
        const terminal = kinds.filter((kind) => kind === 'Canceled' || kind === 'Removed');
        assert.equal(terminal.length, 1, `${order.id}: ${kinds.join(', ')}`);
        assert.equal(kinds.at(-1), terminal[0]);
        assert.ok(kinds.filter((kind) => kind === 'Triggered').length <= 1);
      }
    };
    fc.assert(fc.property(story, property), propertyParameters(60));
  });
});

suite('balances of a user', () => {
  test('are found by sub-account and asset, however many there are, and each account has its own alone', () => {
    const balance = fc.record({ user: fc.constantFrom(...USERS), subAccount: fc.nat(3), asset: fc.nat(20) });
    const owned = fc.tuple(balance, fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(owned, { maxLength: 120 }), balance, (rows, other) => {
        const holds = new Holds();
        const plain = new Map<string, bigint>();
        const keyOf = ({ user, subAccount, asset }: typeof other) => ({
          user,
          subAccount,
          asset: `${asset}` as AssetId,
        });
        for (const [key, amount] of rows) {
          holds.setOwned(keyOf(key), BigInt(amount) as Amount18);
          plain.set(JSON.stringify(keyOf(key)), BigInt(amount));
        }
        for (const [key] of rows) assert.equal(holds.find(keyOf(key))?.owned, plain.get(JSON.stringify(keyOf(key))));
        assert.equal(holds.find(keyOf(other))?.owned, plain.get(JSON.stringify(keyOf(other))));
        const { user, subAccount } = other;
        const listed = holds.balancesOf(user, subAccount).map(({ asset, owned: amount }) => [asset, amount]);
        const kept = [...plain].map(([key, amount]) => [JSON.parse(key), amount] as const);
        const own = kept.filter(([key]) => key.user === user && key.subAccount === subAccount);
        assert.deepEqual(
          listed,
          own.map(([{ asset }, amount]) => [asset, amount]),
        );
      }),
      propertyParameters(100),
    );
  });
});
