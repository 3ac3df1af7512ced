/**
 * The balances that orders spend whose rows lie where a start found them, for whoever goes through all of them: found by
 * the ordinals of their users, as looking at the texts of a million of them would take seconds. One of these serves one
 * walk and is thrown away.
 */
import { must } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import { balanceSlot, SPOT_ACCOUNT } from './balances.ts';
import type { OrderRow } from './rows.ts';
import type { BalanceSlot, ClearingState, MarketSlot, UserSlot } from './state.ts';

export class SpentBalances {
  readonly state: ClearingState;
  /** In the order of their rows, as ordinals count them. */
  readonly users: readonly UserSlot[];
  #market: MarketSlot | null = null;
  /** By ordinal, of accounts 0: as far as they were asked for. */
  readonly #usd: BalanceSlot[] = [];
  /** Of the asset of `#market`. */
  #base: BalanceSlot[] = [];

  /** Once all users are there. */
  constructor(state: ClearingState) {
    this.state = state;
    this.users = [...state.users.values()];
  }

  /** @param ordinal as StoredOrders says it. */
  userOf(ordinal: number, row: OrderRow): UserSlot {
    const user = ordinal < 0 ? this.state.users.get(row.user) : this.users[ordinal];
    return must(user, 'the user of an order is known');
  }

  of(market: MarketSlot, ordinal: number, row: OrderRow): BalanceSlot {
    const { subAccount, side } = row;
    const isBuy = side === SIDE.buy;
    const asset = isBuy ? USD : market.definition.assetId;
    if (ordinal < 0 || subAccount !== SPOT_ACCOUNT) {
      return balanceSlot(this.state, this.userOf(ordinal, row), subAccount, asset);
    }
    if (this.#market !== market) {
      this.#market = market;
      this.#base = [];
    }
    const found = isBuy ? this.#usd : this.#base;
    const known = found[ordinal];
    if (known !== undefined) return known;
    const slot = balanceSlot(this.state, this.userOf(ordinal, row), subAccount, asset);
    found[ordinal] = slot;
    return slot;
  }
}
