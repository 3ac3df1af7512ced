/**
 * What the orders of a start hold, summed up on the way. Most are limit orders in accounts 0, of which one spends an
 * integer of its market's units: lots, or price × lots. A million of those are added as plain numbers by the ordinals of
 * their users, as long as that is exact, and go into the balances market by market; a sum in a balance for each order
 * would be most of what loading it costs.
 *
 *   order ──┬─ raw units ──▶ sum of its user and side ──settle()──▶ balance
 *           └─ anything else ────────────────────────────────────▶ balance
 *
 * Not here: what an order may spend (holds.ts).
 */
import { powerOfTen } from '../core/arithmetic.ts';
import { USD } from '../core/ids.ts';
import { ORDER_KIND, SIDE } from '../core/order-terms.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import { balanceSlot, SPOT_ACCOUNT } from './balances.ts';
import { changeSpend, rawSpendOf, spendOf } from './holds.ts';
import type { OrderRow } from './rows.ts';
import { SpentBalances } from './spent-balances.ts';
import type { ClearingState, MarketSlot, UserSlot } from './state.ts';

/** Sums by ordinal; those that are not 0 are listed. */
interface Sums {
  readonly raw: Float64Array;
  ordinals: number[];
}

/** Markets with more decimals count the rests of each buy (core/buy-holds.ts). */
const RESTLESS_DECIMALS_MAX = 12;

export class LoadedHolds {
  readonly state: ClearingState;
  readonly #spent: SpentBalances;
  readonly #buys: Sums;
  readonly #sells: Sums;
  /** Of which the sums are. */
  #market: MarketSlot | null = null;
  #countsRests = false;

  /** Once all users are there. */
  constructor(state: ClearingState) {
    this.state = state;
    this.#spent = new SpentBalances(state);
    this.#buys = { raw: new Float64Array(state.users.size), ordinals: [] };
    this.#sells = { raw: new Float64Array(state.users.size), ordinals: [] };
  }

  /** @param ordinal as StoredOrders says it. */
  userOf(ordinal: number, row: OrderRow): UserSlot {
    return this.#spent.userOf(ordinal, row);
  }

  /** The order holds what it needs, from the next `settle` on. @param row a look. */
  add(market: MarketSlot, ordinal: number, row: OrderRow): void {
    if (market !== this.#market) this.#begin(market);
    const isBuy = row.side === SIDE.buy;
    const isPlain = ordinal >= 0 && row.subAccount === SPOT_ACCOUNT && row.kind === ORDER_KIND.limit;
    if (!isPlain || (isBuy && this.#countsRests)) {
      this.#addWhole(market, ordinal, row);
      return;
    }
    const raw = rawSpendOf(row);
    if (raw === 0) return;
    const sums = isBuy ? this.#buys : this.#sells;
    const before = sums.raw[ordinal] as number;
    if (before + raw > Number.MAX_SAFE_INTEGER) {
      this.#addWhole(market, ordinal, row);
      return;
    }
    if (before === 0) sums.ordinals.push(ordinal);
    sums.raw[ordinal] = before + raw;
  }

  /** Balances have what was added. */
  settle(): void {
    const market = this.#market;
    if (market === null) return;
    const { assetId, priceDecimals, quantityDecimals } = market.definition;
    const users = this.#spent.users;
    for (const [sums, asset, decimals] of [
      [this.#buys, USD, priceDecimals + quantityDecimals],
      [this.#sells, assetId, quantityDecimals],
    ] as const) {
      const unit = powerOfTen(18 - decimals);
      this.state.beat();
      for (const ordinal of sums.ordinals) {
        const slot = balanceSlot(this.state, users[ordinal] as UserSlot, SPOT_ACCOUNT, asset);
        changeSpend(slot, market, ZERO_18, (BigInt(sums.raw[ordinal] as number) * unit) as Amount18);
        sums.raw[ordinal] = 0;
      }
      sums.ordinals = [];
    }
  }

  #begin(market: MarketSlot): void {
    this.settle();
    this.#market = market;
    const { priceDecimals, quantityDecimals } = market.definition;
    this.#countsRests = priceDecimals + quantityDecimals > RESTLESS_DECIMALS_MAX;
  }

  #addWhole(market: MarketSlot, ordinal: number, row: OrderRow): void {
    const spend = spendOf(row, market.definition);
    if (spend !== ZERO_18) changeSpend(this.#spent.of(market, ordinal, row), market, ZERO_18, spend);
  }
}
