// tier: quick
/** What a question about margin costs, counted in orders looked at and not in time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { countedOf } from '../../src/clearing/exposures.ts';
import type { ClearingInput } from '../../src/clearing/inputs.ts';
import { orderAt } from '../../src/clearing/live-orders.ts';
import { changeOrder } from '../../src/clearing/orders.ts';
import { assetTermsOf } from '../../src/clearing/risks.ts';
import type { OrderRow } from '../../src/clearing/rows.ts';
import type { ClearingMarket } from '../../src/clearing/state.ts';
import { must } from '../../src/core/assert.ts';
import { ORDER_END, ORDER_KIND, SIDE, TIF } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import type { Exposure } from '../../src/risk/exposure-queue.ts';
import { codeOf, PlainTables, reply } from '../support/clearing-world.ts';
import { e18, MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, BTC, ETH, USD } from '../support/names.ts';

const ORDERS = 10_000;
const BOOKS = 4;

/** One batch, without the recount of everything that other tests make after each. */
function apply(world: MarginWorld, inputs: readonly ClearingInput[]): readonly Effect[] {
  const effects: Effect[] = [];
  world.nowNs = (world.nowNs + 1n) as TimestampNs;
  applyBatch(world.state, { timeNs: world.nowNs, inputs, verdicts: [] }, effects);
  return effects;
}

/** Alice with 10,000 margin orders: both sides of two markets. */
function withOrders(): MarginWorld {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '100000000', 1);
  world.fund(BOB, USD, '100000000', 1);
  for (const marketIndex of [0, 1]) {
    const inputs = Array.from({ length: ORDERS / 2 }, (_, at) => ({
      kind: 'created' as const,
      ...world.admission(
        {
          user: ALICE,
          subAccount: 1,
          flags: 0,
          side: at % 2 === 0 ? SIDE.buy : SIDE.sell,
          price: 100_000 + (at % 100),
          quantity: 10,
        },
        world.next(marketIndex, at + 1),
      ),
    }));
    apply(world, inputs);
  }
  return world;
}

function sequencesOf({ orders }: ClearingMarket): Sequence[] {
  return [...orders.rows()].map(({ orderSequence }) => orderSequence);
}

/** Counts how often the exposure of any order of the account is read from here on. */
function countLooks(world: MarginWorld): { looks: number } {
  const account = must(world.state.users.get(ALICE)?.subAccounts.get(1), "Alice's account 1");
  const counter = { looks: 0 };
  const books = account.exposures.flatMap((side) => [...side.values()]);
  assert.deepEqual([books.length, books.reduce((sum, { entries }) => sum + entries.size, 0)], [BOOKS, ORDERS]);
  for (const { queue } of books) {
    for (const entry of queue.entries()) {
      let { exposure } = entry;
      Object.defineProperty(entry, 'exposure', {
        get: () => {
          counter.looks += 1;
          return exposure;
        },
        set: (next: Exposure) => {
          exposure = next;
        },
      });
    }
  }
  return counter;
}

test('a transfer reads no orders but those that the position covers, and the next one none (TRF-08, AMB-50, AMB-65, I19)', () => {
  const world = withOrders();
  const counter = countLooks(world);
  let nonce = 0n;
  /** How many orders a refused transfer looks at. */
  const looks = (): number => {
    nonce += 1n;
    const before = counter.looks;
    const move = { sourceIndex: 1, targetIndex: 0, asset: USD, amount: e18('99999999'), targetType: null, nonce };
    const answer = reply(apply(world, [{ kind: 'transfer', request: world.request(), user: ALICE, ...move }]));
    assert.equal(codeOf(answer), 'INSUFFICIENT_MARGIN');
    return counter.looks - before;
  };
  for (let times = 0; times < 30; times += 1) {
    assert.equal(looks(), 0);
    if (times % 10 === 9) world.prices({ [ETH]: String(2000 + times), [BTC]: String(50_000 + times) });
  }
  const [buy, sell, next] = sequencesOf(must(world.state.markets[0], 'the market'));
  const end = (order: Sequence | undefined): void => {
    const how = { end: ORDER_END.userRequested, faultReason: 0 } as const;
    apply(world, [{ kind: 'ended', ...world.next(), order: must(order, 'one lives'), ...how }]);
  };
  end(buy);
  assert.equal(looks(), 0, 'the sum has followed');
  checkLedger(world.state);

  // 95 lots long: of the sells of 10 lots nine are covered, and half of the tenth.
  assert.equal(
    world.trade({ buyer: { user: ALICE }, seller: { user: BOB }, price: 2000, quantity: 0.0095 }),
    'confirmed',
  );
  end(sell);
  const [first, second] = [looks(), looks()];
  assert.ok(first > 0 && first < 100, `${first}: of the last that the position covers`);
  assert.equal(second, 0);
  end(next);
  assert.equal(looks(), 0, 'a buy covers and is covered by nothing');
  checkLedger(world.state);
});

test('after a start a question about margin is answered as before it (TRF-08, AMB-50, AMB-65, AMB-110)', () => {
  const world = withOrders();
  // 95 lots short: of the buys of 10 lots nine are covered, and half of the tenth.
  world.trade({ buyer: { user: BOB }, seller: { user: ALICE }, price: 2000, quantity: 0.0095 });
  const tables = new PlainTables();
  tables.checkpoint(world.state);
  world.state = tables.load();
  const counter = countLooks(world);
  let nonce = 0n;
  const answer = (amount: string): string | null => {
    nonce += 1n;
    const move = { sourceIndex: 1, targetIndex: 0, asset: USD, amount: e18(amount), targetType: null, nonce };
    return codeOf(reply(apply(world, [{ kind: 'transfer', request: world.request(), user: ALICE, ...move }])));
  };
  assert.deepEqual([answer('99999990'), answer('1')], ['INSUFFICIENT_MARGIN', null]);
  assert.ok(counter.looks < ORDERS / 100, `${counter.looks} looks`);
  world.prices({ [ETH]: '2001' });
  assert.equal(answer('99999990'), 'INSUFFICIENT_MARGIN');
  checkLedger(world.state);
});

test('what orders count follows fills, replaces, releases and the position (MRG-19 to MRG-23, AMB-50)', () => {
  const world = MarginWorld.make();
  for (const user of [ALICE, BOB]) world.fund(user, USD, '100000', 1);
  world.fund(BOB, USD, '100000');
  const left = (): string | null =>
    codeOf(world.transfer({ user: ALICE, amount: '99000', sourceIndex: 1, targetIndex: 0 }));
  const sell = world.place(SIDE.sell, { user: ALICE }, 2000, 10);
  // 20000 of notional need 5 % and a fee of 0.05 %: 1010.
  assert.equal(left(), 'INSUFFICIENT_MARGIN');
  world.replace(sell, { price: 200_000 as RawPrice, quantity: 99_000 as never });
  assert.equal(left(), null);
  world.transfer({ user: ALICE, amount: '99000' });
  world.replace(sell, { price: 200_000 as RawPrice, quantity: 100_000 as never });
  assert.equal(left(), 'INSUFFICIENT_MARGIN');
  world.end(sell, ORDER_END.userRequested);
  assert.equal(left(), null);
});

test('an order that comes after a query of its account counts in the next one (TRF-08, AMB-50, AMB-65)', () => {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '10000', 1);
  let nonce = 0n;
  const ask = (amount: string): string | null => {
    nonce += 1n;
    const move = { sourceIndex: 1, targetIndex: 0, asset: USD, amount: e18(amount), targetType: null, nonce };
    return codeOf(reply(apply(world, [{ kind: 'transfer', request: world.request(), user: ALICE, ...move }])));
  };
  const buy = (quantity: number): void => {
    const terms = { user: ALICE, subAccount: 1, flags: 0, side: SIDE.buy, price: 100_000, quantity };
    apply(world, [{ kind: 'created', ...world.admission(terms) }]);
  };
  buy(10_000);
  assert.equal(ask('1'), null);
  buy(10_000_000);
  assert.equal(ask('1'), 'INSUFFICIENT_MARGIN');
  checkLedger(world.state);
});

test('a child that has filled all that is in force adds no exposure, whatever is left of its cap (TRG-07, MRG-22)', () => {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '100000', 1);
  const market = { kind: ORDER_KIND.marketBase, tif: TIF.ioc, price: 0, quantity: 64, amount: 204_159 };
  world.create({ user: ALICE, subAccount: 1, flags: 0, side: SIDE.buy, ...market });
  const account = must(world.state.users.get(ALICE)?.subAccounts.get(1), "Alice's account 1");
  const book = must([...(account.exposures[SIDE.buy]?.values() ?? [])][0], 'a book of buys');
  const [index] = book.entries.keys();
  const order = orderAt(book.market, must(index, 'her order'));
  const counted = (change: Partial<OrderRow>): bigint => {
    changeOrder(world.state, order, (row) => Object.assign(row, change));
    return countedOf(book, assetTermsOf(book.risk, world.nowNs));
  };
  assert.ok(counted({}) > 0n, 'nothing is filled yet');
  assert.ok(counted({ filledQuantity: 62, enabledQuantity: 64 }) > 0n, 'two lots are in force');
  assert.equal(counted({ filledQuantity: 62, enabledQuantity: 62 }), 0n);
});
