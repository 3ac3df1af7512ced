/**
 * A plain recount of the collateral that a gateway should sum: of everything that the door receives from the market and
 * clearing of a plain exchange it notes the balances of margin accounts and the fills that they do not contain.
 */
import { quantity18 } from '../../src/core/arithmetic.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawQuantity } from '../../src/core/units.ts';
import { BASE } from './order-desk.ts';
import { type PlainExchange, type PlainOrder, USERS } from './plain-exchange.ts';

interface FillSide {
  readonly tradeId: number;
  readonly order: PlainOrder;
  readonly base: bigint;
}

export class PlainCollateral {
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
    const door = {
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
      door.matched(match);
    };
    manager.onFillConfirmed = (word) => {
      this.#confirmed.add(word.tradeId);
      door.confirmed(word);
    };
    manager.onFillRolledBack = (word) => {
      this.#rolledBack.add(word.tradeId);
      door.rolledBack(word);
    };
    manager.onBalanceChanged = (row) => {
      if (row.asset === BASE) {
        this.#owned.set(row.user, row.owned);
        for (const tradeId of this.#confirmed) this.#contained.add(`${tradeId}/${row.user}`);
      }
      door.balance(row);
    };
  }

  /** What the accounts of a margin type own once all that the door knows of is booked. */
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
