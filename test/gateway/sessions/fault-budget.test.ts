// tier: quick
/** Rollbacks by a user's own fault have a budget (AMB-124). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../../src/core/ids.ts';
import { isAtFault, ROLLBACK_REASON, type RollbackReason } from '../../../src/core/order-terms.ts';
import { SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { FAULT_RULE, FaultBudget } from '../../../src/gateway/sessions/fault-budget.ts';
import { propertyParameters } from '../../support/property.ts';

const user = (name: string | number): UserId => `${name}` as UserId;
const at = (seconds: number): TimestampNs => BigInt(Math.round(seconds * 1e9)) as TimestampNs;

/** @returns at which fault, counted from 1, the user began to cool down; 0: at none. Each is of an order of its own. */
function tripsAt(budget: FaultBudget, times: readonly number[], isMarketMaker = false): number {
  return times.findIndex((time) => budget.fault(user('ada'), isMarketMaker, at(time), true)) + 1;
}

suite('the budget of faults', () => {
  test('20 orders in 60 s are borne, the 21st is not; of market makers 200 (MON-08, AMB-124)', () => {
    const many = Array.from({ length: 300 }, (_, each) => 1 + each / 10);
    assert.equal(tripsAt(new FaultBudget(), many), 21);
    assert.equal(tripsAt(new FaultBudget(), many, true), 201);
  });

  test('of one order 200 undone fills are borne, the 201st is not; of a market maker 2,000 (MON-08)', () => {
    for (const [isMarketMaker, most] of [
      [false, 200],
      [true, 2_000],
    ] as const) {
      const budget = new FaultBudget();
      const all = Array.from({ length: 3_000 }, (_, each) => each);
      const trips = all.findIndex((each) => budget.fault(user('ada'), isMarketMaker, at(1 + each / 1e6), each === 0));
      assert.equal(trips + 1, most + 1);
    }
  });

  test('the window slides: who has 20 in every 60 s never cools down', () => {
    const budget = new FaultBudget();
    assert.equal(
      tripsAt(
        budget,
        Array.from({ length: 500 }, (_, each) => 1 + each * 3),
      ),
      0,
    );
    assert.equal(budget.fault(user('ada'), false, at(1 + 499 * 3 + 1), true), true, 'one more within is one too many');
  });

  test('new orders are refused for 60 s from then on, however many faults follow, and the budget is whole after that', () => {
    const budget = new FaultBudget();
    tripsAt(
      budget,
      Array.from({ length: 21 }, () => 1),
    );
    assert.equal(budget.coolsForNs(user('ada'), at(1)), 60n * SECOND_NS);
    for (let each = 0; each < 50; each++) assert.equal(budget.fault(user('ada'), false, at(30), true), false);
    assert.equal(budget.coolsForNs(user('ada'), at(60.9)), SECOND_NS / 10n);
    assert.equal(budget.coolsForNs(user('ada'), at(61)), 0n);
    assert.equal(
      tripsAt(
        budget,
        Array.from({ length: 30 }, () => 62),
      ),
      21,
    );
  });

  test('a cool-down is as often as long as the undone fills are the budget of fills, an hour at most (MON-08)', () => {
    for (const [undone, isMarketMaker, seconds] of [
      [201, false, 60],
      [399, false, 60],
      [400, false, 120],
      [1_416, false, 420],
      [1_416, true, 0],
      [4_000, true, 120],
      [100_000, false, 3_600],
    ] as const) {
      const budget = new FaultBudget();
      let begun = 0;
      for (let each = 0; each < undone; each += 1) {
        if (budget.fault(user('ada'), isMarketMaker, at(1), each === 0)) begun += 1;
      }
      assert.equal(begun, seconds === 0 ? 0 : 1, 'once');
      assert.equal(budget.coolsForNs(user('ada'), at(1)), BigInt(seconds) * SECOND_NS, `${undone}`);
    }
    const budget = new FaultBudget();
    budget.settings = { ...budget.settings, cooldownNs: 7_200n * SECOND_NS };
    for (let each = 0; each < 1_000; each += 1) budget.fault(user('ada'), false, at(1), each === 0);
    assert.equal(budget.coolsForNs(user('ada'), at(1)), 7_200n * SECOND_NS, 'a longer setting stays');
  });

  test('users have budgets of their own, and a budget of 0 bears nothing', () => {
    for (const none of [{ orders: 0 }, { fills: 0 }]) {
      const budget = new FaultBudget();
      budget.settings = { ...budget.settings, ...none };
      assert.equal(budget.fault(user('ada'), false, at(1), true), true);
      assert.deepEqual([budget.coolsForNs(user('ada'), at(2)) > 0n, budget.coolsForNs(user('bob'), at(2))], [true, 0n]);
    }
  });

  test('it equals two lists of all times (MON-08, AMB-124)', () => {
    const step = fc.record({ user: fc.nat(2), after: fc.nat(9), isNewOrder: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (played) => {
        const budget = new FaultBudget();
        budget.settings = {
          ...{ orders: 3, ordersMarketMaker: 5, fills: 6, fillsMarketMaker: 8 },
          ...{ windowNs: 10n * SECOND_NS, cooldownNs: 7n * SECOND_NS },
        };
        const orders = new Map<number, number[]>();
        const fills = new Map<number, number[]>();
        const until = new Map<number, number>();
        const cooling = new Map<number, { from: number; undone: number }>();
        let now = 1;
        for (const { user: who, after, isNewOrder } of played) {
          now += after;
          const isCooling = (until.get(who) ?? 0) > now;
          const [ofOrders, ofFills] = [orders, fills].map((times) =>
            (times.get(who) ?? []).filter((time) => time > now - 10),
          ) as [number[], number[]];
          if (!isCooling) ofFills.push(now);
          if (!isCooling && isNewOrder) ofOrders.push(now);
          const isOver = ofOrders.length > (who === 2 ? 5 : 3) || ofFills.length > (who === 2 ? 8 : 6);
          const trips = !isCooling && isOver;
          orders.set(who, trips ? [] : ofOrders);
          fills.set(who, trips ? [] : ofFills);
          const most = who === 2 ? 8 : 6;
          if (trips) cooling.set(who, { from: now, undone: ofFills.length });
          const long = cooling.get(who);
          if (long !== undefined && (trips || isCooling)) {
            if (isCooling) long.undone += 1;
            until.set(who, long.from + 7 * Math.max(1, Math.floor(long.undone / most)));
          }
          assert.equal(budget.fault(user(who), who === 2, at(now), isNewOrder), trips);
          const left = Math.max(0, (until.get(who) ?? 0) - now);
          assert.equal(budget.coolsForNs(user(who), at(now)), BigInt(left) * SECOND_NS);
        }
      }),
      propertyParameters(300),
    );
  });

  test('only users with recent faults are remembered, so many at most: the oldest gives way (AMB-111)', () => {
    const budget = new FaultBudget(100);
    for (let each = 0; each < 1_000; each++) budget.fault(user(each), false, at(1 + each / 1_000), true);
    assert.equal(budget.userCount, 100);
    for (let each = 0; each < 100; each++) budget.fault(user('late'), false, at(200 + each * 100), true);
    assert.equal(budget.userCount, 1);
  });
});

suite('which rollbacks count', () => {
  test('every reason has its rule; a side that is not at fault, and what prices and breakers do, counts for no user (AMB-33, AMB-124)', () => {
    const reasons = Object.values(ROLLBACK_REASON);
    const rules = (rule: string): RollbackReason[] => reasons.filter((reason) => FAULT_RULE[reason] === rule);
    const { none, staleMatch, counterpartyAtFault, pricingFailure, insufficientMargin, protocolCapBreach } =
      ROLLBACK_REASON;
    assert.deepEqual(rules('never'), [none, pricingFailure, staleMatch, counterpartyAtFault]);
    assert.deepEqual(rules('unlessPriceMoved'), [insufficientMargin]);
    assert.deepEqual(rules('unlessForOthers'), [protocolCapBreach]);
    assert.equal(rules('always').length, reasons.length - 6);
    for (const reason of rules('always')) assert.ok(isAtFault(reason));
  });
});
