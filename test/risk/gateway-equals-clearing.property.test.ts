// tier: quick
/**
 * The gateway before and clearing for good: over random orders, fills and prices their answers are the same wherever
 * nothing is pending. One story goes to both; clearing's effects go to the gateway as they would in a node.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { capacityWith, isMarginBound } from '../../src/clearing/account-margin.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { spendOf as confirmedSpendOf, heldOf } from '../../src/clearing/holds.ts';
import { riskSlot } from '../../src/clearing/risks.ts';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderKind,
  SIDE,
  type Side,
  TRIGGER_STATE,
} from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import { spendFor } from '../../src/gateway/orders/balances/spending.ts';
import { type LiveOrder, RELEASED_WHOLE } from '../../src/gateway/orders/book/live-order.ts';
import { Markets } from '../../src/gateway/orders/book/markets.ts';
import { orderExposureOf as optimisticExposureOf } from '../../src/gateway/orders/margin/order-exposure.ts';
import { exposureOf } from '../../src/risk/exposure.ts';

import { MARKETS, MarginFixture, type MarginWish } from '../support/margin-fixture.ts';
import { MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { propertyParameters } from '../support/property.ts';

const DEFINITION = must(MARKETS[ETH], 'the market');

/** An order of Alice's that lives on both sides. */
interface Placed {
  readonly wish: MarginWish & { readonly side: Side; readonly price: number };
  readonly inGateway: number;
  readonly inClearing: Sequence;
  left: number;
}

/** Of an order that lives. */
const OPEN = {
  end: 0,
  faultReason: 0,
  isSpent: false,
  isCancelPending: false,
  isClosed: false,
  isIdle: false,
  replaces: [],
};

class Twins {
  readonly fixture: MarginFixture = new MarginFixture();
  readonly world: MarginWorld = MarginWorld.make();
  readonly placed: Placed[] = [];
  confirmed = 0;
  rolledBack = 0;
  #made = 0;

  constructor() {
    this.fixture.nowNs = this.world.nowNs;
    this.price(2_000);
    for (const [user, account] of [
      [ALICE, 0],
      [ALICE, 1],
      [BOB, 1],
    ] as const) {
      this.#fund(user, USD, 200_000, account);
      this.#fund(user, ETH, 5, account);
    }
  }

  price(price: number): void {
    this.world.pass(1n);
    this.fixture.nowNs = this.world.nowNs;
    this.world.prices({ [ETH]: String(price) });
    this.fixture.manager.margin.onOraclePrice(ETH, must(riskSlot(this.world.state, ETH).oracle, 'a price'));
  }

  #fund(user: UserId, asset: AssetId, amount: number, account: number): void {
    this.world.fund(user, asset, String(amount), account);
    this.fixture.spot(asset, amount, account, user);
  }

  /** As the gateway lets it through; what it refuses neither has. */
  create(wish: Placed['wish']): Placed | null {
    this.#made += 1;
    const { user = ALICE, side, price, quantity = 1, account = 1, isSpot = false, reduceOnly = false } = wish;
    const reserved = this.fixture.request({ ...wish, id: `t-${this.#made}`, ageNs: NOW - this.fixture.nowNs });
    if (!reserved.ok) return null;
    const inGateway = this.fixture.admit(reserved.value.requestId, ETH);
    const of = { user, subAccount: account, isSpot, reduceOnly };
    return {
      wish,
      inGateway,
      inClearing: this.world.place(side, of, price, quantity),
      left: Math.round(quantity * 10_000),
    };
  }

  cancel(order: Placed): void {
    this.placed.splice(this.placed.indexOf(order), 1);
    this.fixture.end(order.inGateway, ORDER_END.userRequested);
    this.world.end(order.inClearing, ORDER_END.userRequested);
  }

  /** Bob takes so much of it at its price. */
  fill(order: Placed, lots: number): void {
    const { side, price } = order.wish;
    const taker = this.create({
      user: BOB,
      side: side === SIDE.buy ? SIDE.sell : SIDE.buy,
      price,
      quantity: lots / 10_000,
    });
    if (taker === null) return;
    const effects = this.world.matchOf(order.inClearing, taker.inClearing, price, lots / 10_000);
    this.fixture.match(order.inGateway, taker.inGateway, price, lots / 10_000, taker.wish.side);
    order.left -= lots;
    for (const effect of effects) this.#receive(effect);
    if (effects.some(({ kind }) => kind === 'fillRolledBack')) this.cancelAll(order, taker);
    else if (order.left === 0) this.placed.splice(this.placed.indexOf(order), 1);
  }

  /** The market ends both orders of a fill that was undone. */
  cancelAll(order: Placed, taker: Placed): void {
    this.cancel(order);
    this.fixture.end(taker.inGateway, ORDER_END.userRequested);
    this.world.end(taker.inClearing, ORDER_END.userRequested);
  }

  #receive(effect: Effect): void {
    const { manager } = this.fixture;
    const marketIndex = DEFINITION.marketIndex;
    if (effect.kind === 'fillConfirmed') {
      this.confirmed += 1;
      const { tradeId, maker, taker, matchedNs } = effect.trade;
      const word = { marketIndex, tradeId, timeNs: matchedNs, makerFee: maker.fee, takerFee: taker.fee };
      manager.onFillConfirmed(word);
    } else if (effect.kind === 'fillRolledBack') {
      this.rolledBack += 1;
      const { tradeId, makerReason, takerReason } = effect;
      manager.onFillRolledBack({ marketIndex, tradeId, timeNs: this.fixture.nowNs, makerReason, takerReason });
    } else if (effect.kind === 'balanceChanged') {
      manager.onBalanceChanged(effect.row);
    } else if (effect.kind === 'positionChanged') {
      manager.margin.onPositionChanged(effect.row);
    } else if (effect.kind === 'marketRiskChanged') {
      const { mark, credits, borrows, holdings } = effect;
      manager.margin.onMarketRisk({ marketIndex, mark, interest: { credits, borrows }, holdings });
    }
  }

  compare(): void {
    const { state, nowNs } = this.world;
    const alice = must(state.users.get(ALICE), 'Alice');
    const { manager } = this.fixture;
    const { margin } = manager;
    for (const [index, account] of alice.subAccounts) {
      for (const slot of account.balances.values()) {
        const key = { user: ALICE, subAccount: index, asset: slot.asset };
        const funds = manager.funds(key);
        assert.deepEqual(
          [funds.held, funds.available],
          [heldOf(slot), slot.owned - heldOf(slot)],
          `held of ${slot.asset}`,
        );
      }
    }
    const account = must(alice.subAccounts.get(1), 'her margin account');
    const slot = must(account.balances.get(USD), 'her USD');
    assert.equal(this.fixture.capacity(), capacityWith(account, { slot, owned: slot.owned }, nowNs), 'capacity');
    assert.equal(margin.accounts.peek(ALICE, 1).isLeveraged, isMarginBound(account, nowNs), 'bound by margin');
    const { credits, borrows, collateral } = riskSlot(state, ETH);
    assert.deepEqual(margin.accounts.measures(ETH), { credits, borrows, collateral }, 'measures of caps');
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
      cents: fc.integer({ min: 150_000, max: 250_000 }),
      lots: fc.oneof(fc.integer({ min: 100, max: 20_000 }), fc.integer({ min: 100, max: 900_000 })),
      of: fc.constantFrom<Pick<MarginWish, 'account' | 'isSpot' | 'reduceOnly'>>(
        { account: 0, isSpot: true },
        { account: 1, isSpot: true },
        { account: 1, reduceOnly: true },
        { account: 1 },
        { account: 1 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fill' as const), at: fc.nat(20), part: fc.integer({ min: 1, max: 4 }) }),
  },
  fc.record({ kind: fc.constant('cancel' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('price' as const), price: fc.integer({ min: 1_500, max: 2_500 }) }),
);

suite('the gateway equals clearing', () => {
  test('reservations, capacity and the measures of caps are the same where nothing is pending (AMB-52, MRG-16, CAP-01, AMB-65)', () => {
    let [confirmed, refused, placed] = [0, 0, 0];
    const property = fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (script) => {
      const twins = new Twins();
      for (const one of script) {
        const chosen = 'at' in one ? twins.placed[one.at % Math.max(1, twins.placed.length)] : undefined;
        if (one.kind === 'create') {
          const order = twins.create({
            ...one.of,
            side: one.side,
            price: one.cents / 100,
            quantity: one.lots / 10_000,
          });
          if (order === null) refused += 1;
          else twins.placed.push(order);
          placed += order === null ? 0 : 1;
        } else if (one.kind === 'price') twins.price(one.price);
        else if (chosen !== undefined && one.kind === 'cancel') twins.cancel(chosen);
        else if (chosen !== undefined && one.kind === 'fill') {
          twins.fill(chosen, Math.max(1, Math.floor(chosen.left / one.part)));
        }
        twins.compare();
      }
      confirmed += twins.confirmed;
    });
    fc.assert(property, propertyParameters(60));
    assert.ok(
      confirmed > 50 && refused > 20 && placed > 200,
      `${confirmed} fills, ${refused} refused, ${placed} placed`,
    );
  });

  test('one order may spend and adds the same, whatever its kind and however far it has come (AMB-29, AMB-39, AMB-49)', () => {
    const drawn = fc.record({
      side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
      kind: fc.constantFrom<OrderKind>(ORDER_KIND.limit, ORDER_KIND.marketBase, ORDER_KIND.marketQuote),
      isSpot: fc.boolean(),
      isChild: fc.boolean(),
      price: fc.integer({ min: 1, max: 1_000_000 }),
      quantity: fc.nat(1_000),
      amount: fc.nat(2_000_000),
      budget: fc.nat(2_000_000),
      enabled: fc.nat(1_000),
      dropped: fc.nat(50),
      filled: fc.nat(1_000),
      notional: fc.bigInt({ min: 0n, max: 10n ** 22n }),
      marketPrice: fc.bigInt({ min: 0n, max: 10n ** 22n }),
    });
    const market = new Markets().set(DEFINITION);
    let spending = 0;
    const property = fc.property(drawn, (one) => {
      const isChild = one.isChild && one.kind !== ORDER_KIND.marketQuote;
      const quantity = (one.kind === ORDER_KIND.marketQuote ? one.quantity : one.quantity + 1) as RawQuantity;
      const amount =
        one.kind === ORDER_KIND.limit ? 0 : one.kind === ORDER_KIND.marketQuote ? one.amount + 1 : one.amount;
      const enabledQuantity = isChild ? 1 + (one.enabled % quantity) : quantity;
      const droppedQuantity = isChild ? Math.min(one.dropped, enabledQuantity) : 0;
      const filledQuantity = Math.min(one.filled, enabledQuantity - droppedQuantity);
      const price = (one.kind === ORDER_KIND.limit ? one.price : 0) as RawPrice;
      const flags = one.isSpot ? ORDER_FLAG.isSpot : 0;
      const common = { side: one.side, kind: one.kind, flags, amount };
      const row = {
        ...common,
        price,
        quantity,
        budget: one.budget,
        enabledQuantity,
        droppedQuantity,
        filledQuantity,
        filledNotional: one.notional,
        triggerState: TRIGGER_STATE.live,
      };
      // What is pending counts as what is confirmed.
      const confirmed = Math.floor(filledQuantity / 2);
      const optimistic = {
        pendingQuantity: filledQuantity - confirmed,
        filledQuantity: confirmed,
        pendingNotional: one.notional - one.notional / 3n,
        filledNotional: one.notional / 3n,
        releasedQuantity: isChild ? enabledQuantity : RELEASED_WHOLE,
      };
      const order = { ...row, ...OPEN, ...optimistic, market } as unknown as LiveOrder;
      const spend = spendFor(order);
      assert.equal(spend, confirmedSpendOf(row as OrderRow, DEFINITION));
      if (spend > 0n) spending += 1;
      const exposure = exposureOf(
        { ...row, filledNotional: one.notional as Amount18 },
        enabledQuantity - droppedQuantity,
        one.marketPrice,
        DEFINITION,
      );
      assert.deepEqual(optimisticExposureOf(order, one.marketPrice), exposure);
    });
    const parameters = propertyParameters(2_000);
    fc.assert(property, parameters);
    assert.ok(spending > parameters.numRuns / 10, `${spending} of ${parameters.numRuns} spend something`);
  });
});
