/** What all margin accounts own of an asset, as order entry sums it, beside a plain recount after every step (CAP-08, AMB-54). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../../src/core/ids.ts';
import { ALICE, BASE } from '../../support/order-desk.ts';
import { PlainCollateral } from '../../support/plain-collateral.ts';
import { USERS } from '../../support/plain-exchange.ts';
import { propertyParameters } from '../../support/property.ts';
import { RacingExchange } from '../../support/racing-exchange.ts';

const STEPS: readonly ((exchange: RacingExchange, pick: number) => void)[] = [
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.create(pick),
  (exchange, pick) => exchange.change(pick),
  (exchange, pick) => exchange.transfer(pick),
  (exchange, pick) => exchange.decideAction(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.market(pick),
  (exchange, pick) => exchange.clearing(pick),
  (exchange, pick) => exchange.clearing(pick),
  (exchange, pick) => exchange.hearMarket(1 + (pick % 6)),
  (exchange, pick) => exchange.hearMarket(1 + (pick % 6)),
  (exchange, pick) => exchange.hearClearing(1 + (pick % 6)),
];

const story = fc.array(fc.tuple(fc.nat(STEPS.length - 1), fc.nat(1_000_000)), {
  minLength: 20,
  maxLength: 250,
  size: 'max',
});

suite('collateral of all users, properties', () => {
  test('the sum equals a recount of balances and of fills on their way, over transfers and rollbacks (CAP-08, AMB-54)', () => {
    let [confirmed, rolledBack] = [0, 0];
    const property = fc.property(story, fc.boolean(), (steps, areBoth) => {
      const exchange = new RacingExchange((user) => (areBoth || user === ALICE ? 1 : 0));
      const { accounts } = exchange.manager.margin;
      const plain = new PlainCollateral(exchange);
      for (const [step, pick] of steps) {
        STEPS[step]?.(exchange, pick);
        assert.equal(accounts.measures(BASE).collateral, plain.amount);
      }
      exchange.settle();
      const margin = USERS.filter((user) => exchange.accountOf(user) === 1);
      const owned = margin.map((user) => exchange.owned.get(`${user}/${BASE}`) ?? 0n);
      assert.equal(
        accounts.measures(BASE).collateral,
        owned.reduce((sum, amount) => sum + amount, 0n),
      );
      assert.equal(accounts.measures(USD).collateral, 0n);
      confirmed += exchange.confirmedTrades.length;
      rolledBack += exchange.sink.trades.filter(({ trade }) => trade.rollbackReason !== null).length;
    });
    fc.assert(property, propertyParameters(60));
    assert.ok(confirmed > 20 && rolledBack > 20, `${confirmed} fills were confirmed, ${rolledBack} sides rolled back`);
  });
});
