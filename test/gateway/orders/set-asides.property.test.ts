// tier: quick
/** Orders and actions that race for the same money (A5; AMB-112, TRF-04): never both, and nothing set aside is forgotten. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../../src/core/ids.ts';
import { BASE } from '../../support/order-fixture.ts';
import { USERS } from '../../support/plain-exchange.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';
import { RacingExchange } from '../../support/racing-exchange.ts';

/** A pick with which clearing refuses nothing but what is not funded. */
const UNFORCED = 1;

const STEPS: readonly ((exchange: RacingExchange, pick: number) => void)[] = [
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.change(pick),
  (exchange, pick) => exchange.transfer(pick),
  (exchange, pick) => exchange.transfer(pick),
  (exchange, pick) => exchange.decideAction(pick),
  (exchange, pick) => exchange.decideAction(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange) => exchange.clearing(UNFORCED),
  (exchange, pick) => exchange.hearMarket(1 + (pick % 6)),
  (exchange, pick) => exchange.hearClearing(1 + (pick % 6)),
];

const story = storyOf(STEPS, [20, 250]);

suite('what actions set aside, properties', () => {
  test('no fill and no action fails for want of money that the other has spent, and at rest nothing is set aside (AMB-112, TRF-04)', () => {
    let [booked, fills] = [0, 0];
    const property = fc.property(story, (steps) => {
      const exchange = new RacingExchange();
      for (const [step, pick] of steps) STEPS[step]?.(exchange, pick);
      exchange.settle();
      const reasons = exchange.sink.trades.map(({ trade }) => trade.rollbackReason).filter((reason) => reason !== null);
      assert.deepEqual(reasons, [], 'every fill that was let through is paid');
      for (const user of USERS) {
        for (const asset of [USD, BASE]) {
          const funds = exchange.manager.funds({ user, subAccount: 0, asset });
          assert.equal(funds.owned, exchange.owned.get(`${user}/${asset}`));
          assert.equal(funds.setAside, 0n);
          assert.ok(funds.available >= 0n);
        }
      }
      booked += exchange.booked;
      fills += exchange.confirmedTrades.length;
    });
    fc.assert(property, propertyParameters(60));
    assert.ok(booked > 20 && fills > 20, `${booked} actions and ${fills} fills were booked`);
  });
});
