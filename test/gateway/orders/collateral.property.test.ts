// tier: quick
/** What all margin accounts own of an asset, as order entry sums it, beside a plain recount after every step (CAP-08, AMB-54). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { quantity18 } from '../../../src/core/arithmetic.ts';
import { USD } from '../../../src/core/ids.ts';
import { SIDE } from '../../../src/core/order-terms.ts';
import type { RawQuantity } from '../../../src/core/units.ts';
import { ALICE } from '../../support/names.ts';
import { BASE } from '../../support/order-fixture.ts';
import { type PlainExchange, type PlainOrder, USERS } from '../../support/plain-exchange.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';
import { RacingExchange } from '../../support/racing-exchange.ts';

// A plain recount of the collateral that a gateway should sum: of everything that the gateway receives from the market
// and clearing of a plain exchange it notes the balances of margin accounts and the fills that they do not contain.

interface FillSide {
  readonly tradeId: number;
  readonly order: PlainOrder;
  readonly base: bigint;
}

class PlainCollateral {
  readonly #exchange: PlainExchange;
  readonly #owned = new Map<string, bigint>();
  readonly #sides: FillSide[] = [];
  /** Trades that clearing has confirmed, and of which users the balance that contains them was received. */
  readonly #confirmed = new Set<number>();
  readonly #contained = new Set<string>();
  readonly #rolledBack = new Set<number>();

  constructor(exchange: PlainExchange) {
    this.#exchange = exchange;
    const { manager } = exchange;
    for (const user of USERS) this.#owned.set(user, exchange.owned.get(`${user}/${BASE}`) ?? 0n);
    const gateway = {
      matched: manager.onMatched.bind(manager),
      confirmed: manager.onFillConfirmed.bind(manager),
      rolledBack: manager.onFillRolledBack.bind(manager),
      balance: manager.onBalanceChanged.bind(manager),
    };
    manager.onMatched = (match) => {
      const base = quantity18(match.quantity as RawQuantity, 4);
      for (const order of exchange.orders) {
        const isParty = order.sequence === match.makerOrder || order.sequence === match.takerOrder;
        if (isParty) this.#sides.push({ tradeId: match.tradeId, order, base: order.side === SIDE.buy ? base : -base });
      }
      gateway.matched(match);
    };
    manager.onFillConfirmed = (word) => {
      this.#confirmed.add(word.tradeId);
      gateway.confirmed(word);
    };
    manager.onFillRolledBack = (word) => {
      this.#rolledBack.add(word.tradeId);
      gateway.rolledBack(word);
    };
    manager.onBalanceChanged = (row) => {
      if (row.asset === BASE) {
        this.#owned.set(row.user, row.owned);
        for (const tradeId of this.#confirmed) this.#contained.add(`${tradeId}/${row.user}`);
      }
      gateway.balance(row);
    };
  }

  /** What the accounts of a margin type own once all that the gateway has received is booked. */
  get amount(): bigint {
    const margin = USERS.filter((user) => this.#exchange.accountOf(user) !== 0);
    let amount = margin.reduce((sum, user) => sum + (this.#owned.get(user) ?? 0n), 0n);
    for (const { tradeId, order, base } of this.#sides) {
      const isOut = this.#rolledBack.has(tradeId) || this.#contained.has(`${tradeId}/${order.user}`);
      if (margin.includes(order.user) && !isOut) amount += base;
    }
    return amount;
  }
}

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

const story = storyOf(STEPS, [20, 250]);

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
