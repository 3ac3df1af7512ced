/**
 * The balances that orders on their shelves spend, for whoever goes through all of them: found by the ordinals of their
 * users, as a look at the texts of a million of them would take seconds. One of these sees each order once and is
 * thrown away.
 */
import { must } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import { balanceSlot, SPOT_ACCOUNT } from './balances.ts';
import type { OrderRow, StoredOrders } from './rows.ts';
import type { BalanceSlot, ClearingState, MarketSlot, UserSlot } from './state.ts';

export class SpentBalances {
  readonly #state: ClearingState;
  /** In the order of their rows. */
  readonly #users: readonly UserSlot[];
  #market: MarketSlot | null = null;
  /** By ordinal, of accounts 0: as far as they were asked for. */
  readonly #usd: BalanceSlot[] = [];
  /** Of the asset of `#market`. */
  #base: BalanceSlot[] = [];

  constructor(state: ClearingState) {
    this.#state = state;
    this.#users = [...state.users.values()];
  }

  /** @param row the look at that place. */
  of(market: MarketSlot, stored: StoredOrders, place: number, row: OrderRow): BalanceSlot {
    const ordinal = stored.userAt(place);
    const owner = ordinal < 0 ? this.#state.users.get(row.user) : this.#users[ordinal];
    const user = must(owner, 'the user of an order is known');
    const { subAccount, side } = row;
    const asset = side === SIDE.buy ? USD : market.definition.assetId;
    if (ordinal < 0 || subAccount !== SPOT_ACCOUNT) return balanceSlot(this.#state, user, subAccount, asset);
    if (this.#market !== market) {
      this.#market = market;
      this.#base = [];
    }
    const found = side === SIDE.buy ? this.#usd : this.#base;
    found[ordinal] ??= balanceSlot(this.#state, user, subAccount, asset);
    return found[ordinal];
  }
}
