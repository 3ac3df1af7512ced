/**
 * At a start: word to the front door, the markets and market data of everything that they hold a view of.
 *
 *   clearing ──users, accounts, assets, balances, positions─────────▶ front door             ┐
 *            ──configuration, prices, markets───────────────────────▶ front door, markets    │ a part at a time, as the
 *            ──orders, market by market─────────────────────────────▶ market, front door     │ rings have room: who is told
 *            ──what replay and restart have changed of all this──────▶ front door, markets    │ reads while clearing works,
 *            ──orders that they may have changed, or created─────────▶ market, front door     │ and nothing piles up
 *            ──past ids, then `restored`────────────────────────────▶ markets                ┘
 *
 * Rows are told in the walk that loads them (recovery.ts). What the row of an order says is what lives, but for those that
 * the journal behind it names or a price of it reaches, and the few that the restart itself may end or change. Their turn
 * comes after both. What is no order may be told twice: the later word is in force, as in life.
 *
 * Orders of a market are told in the order of their admission, which is what they lie in; so a parent comes before its
 * children. Whoever needs them by priority puts them so (AMB-110).
 *
 * Not here: what is told when it is over (clearing-actor.ts).
 */

import { assert, must } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { isGiven } from '../gateway/orders/accounts.ts';
import type { Durability } from './durability.ts';
import {
  type EffectSinks,
  writeBalance,
  writeEffect,
  writeIdWatermark,
  writeMarketRestored,
  writeMarketRisk,
  writeNews,
  writePosition,
  writeRememberedId,
  writeUserChanged,
} from './effect-codec.ts';
import type { LateOrders } from './late-orders.ts';
import type { OtherRow } from './loading.ts';
import { positionRow } from './positions.ts';
import type { LoadListener } from './recovery.ts';
import { marketRow } from './registry/registry-markets.ts';
import { RestoredOrderWord } from './restored-word.ts';
import { riskSlot } from './risks.ts';
import type { AssetRow, ConfigRow, OrderRow, PriceRow, SubAccountRow } from './rows.ts';
import type { BalanceSlot, ClearingState, MarketSlot, PositionSlot, SubAccountSlot, UserSlot } from './state.ts';

/** Of users, orders or ids: a part is small against a ring. */
const PER_PART = 64;

/** What is told from disk, and when that is. */
export interface RestoredIds {
  readonly durability: Pick<Durability, 'rememberedIds' | 'idWatermarks'>;
  readonly nowNs: TimestampNs;
}

/** Users and orders that are told when all is told. */
export function restoredCount(state: ClearingState): number {
  return state.markets.reduce((sum, market) => sum + market.orders.size, state.users.size);
}

/** What a replay and a restart have changed of what was told, or have added to it. */
interface Changed {
  readonly assets: readonly AssetRow[];
  readonly configs: readonly ConfigRow[];
  readonly users: readonly UserSlot[];
  readonly accounts: readonly SubAccountSlot[];
  readonly balances: readonly BalanceSlot[];
  readonly positions: readonly PositionSlot[];
  readonly prices: readonly PriceRow[];
  readonly markets: readonly MarketSlot[];
}

/** Of one start. A part of what it tells is told before each `yield`. */
export class Restorer implements LoadListener {
  readonly #to: EffectSinks;
  readonly #word = new RestoredOrderWord();
  #changed: Changed | null = null;
  #users = 0;
  #orders = 0;

  constructor(to: EffectSinks) {
    this.#to = to;
  }

  /** Users and orders that were told. */
  get told(): number {
    return this.#users + this.#orders;
  }

  row({ table, row }: OtherRow): void {
    const { door } = this.#to;
    if (table === 'user') {
      writeUserChanged(row, door);
      this.#users += 1;
    } else if (table === 'subAccount') this.#account(row);
    else if (table === 'asset') this.#asset(row);
    else if (table === 'balance') writeBalance(row, door);
    else if (table === 'position') writePosition(row, door);
  }

  *tables({ configs, prices, markets }: ClearingState): Generator<void, void, undefined> {
    for (const row of configs.values()) this.#config(row);
    for (const row of prices.values()) writeEffect({ kind: 'priceAccepted', row }, this.#to);
    for (const market of markets) {
      this.#market(market);
      yield;
    }
  }

  /** One that lives, and stays as it is. */
  order(row: OrderRow): void {
    // A child that stays as it is has a parent that lives.
    this.#tell(row, row.parentSequence);
  }

  /**
   * Everything is replayed and the restart was applied; no row that they changed is written yet.
   *
   * @throws InvariantError when they have changed an order that was told before.
   */
  restarted({ dirty, assets, configs, prices }: ClearingState, late: LateOrders): void {
    const promise = 'replay and restart change no order that was told before them';
    for (const { row } of dirty.orders) assert(late.has(row), promise);
    for (const row of dirty.finishedOrders) assert(late.has(row), promise);
    this.#changed = {
      assets: [...dirty.assets].map((id) => must(assets.get(id), 'a dirty asset exists')),
      configs: [...dirty.configs].map((key) => must(configs.get(key), 'a dirty object exists')),
      users: [...dirty.users],
      accounts: [...dirty.subAccounts],
      balances: [...dirty.balances],
      positions: [...dirty.positions],
      prices: [...dirty.prices].map((id) => must(prices.get(id), 'a dirty price exists')),
      markets: [...dirty.markets],
    };
  }

  /** What has not been told yet, and that everything is. @param late the orders that were not told before. */
  *rest(state: ClearingState, late: LateOrders, ids: RestoredIds): Generator<void, void, undefined> {
    if (this.#changed !== null) yield* this.#changes(this.#changed);
    this.#users = state.users.size;
    for (const market of state.markets) yield* this.#late(market, late.of(market));
    yield* this.#ids(ids);
    this.#openMarkets(state);
  }

  // ---- everything but orders

  /** As `row` and `tables`, of those that changed. */
  *#changes({ assets, configs, users, accounts, balances, positions, prices, markets }: Changed): Generator<void> {
    const { door } = this.#to;
    for (const row of assets) this.#asset(row);
    for (const row of configs) this.#config(row);
    yield* inParts(users, ({ row }) => writeUserChanged(row, door));
    yield* inParts(accounts, ({ row }) => this.#account(row));
    yield* inParts(balances, (slot) => writeBalance(slot, door));
    yield* inParts(positions, (slot) => writePosition(positionRow(slot), door));
    for (const row of prices) writeEffect({ kind: 'priceAccepted', row }, this.#to);
    for (const market of markets) this.#market(market);
  }

  #asset(row: AssetRow): void {
    writeNews({ kind: 'registryChanged', change: { table: 'asset', row } }, this.#to.door);
  }

  #config(row: ConfigRow): void {
    writeEffect({ kind: 'registryChanged', change: { table: 'config', row } }, this.#to);
  }

  #account(row: SubAccountRow): void {
    if (!isGiven(row)) writeNews({ kind: 'subAccountChanged', row }, this.#to.door);
  }

  #market(market: MarketSlot): void {
    const { door, data } = this.#to;
    for (const sink of [door, data, this.#to.market(market.definition.marketIndex)]) {
      writeNews({ kind: 'registryChanged', change: { table: 'market', row: marketRow(market) } }, sink);
    }
  }

  // ---- orders

  *#late(market: MarketSlot, rows: Iterable<OrderRow>): Generator<void> {
    for (const row of rows) {
      const { parentSequence: parent } = row;
      // The parent that lives and may activate more of it. A child that was released whole is like any order (AMB-29).
      this.#tell(row, parent === 0 || !market.orders.has(parent) ? 0 : parent);
      if (this.#orders % PER_PART === 0) yield;
    }
  }

  #tell(row: OrderRow, parent: Sequence | 0): void {
    const { door } = this.#to;
    this.#word.set(row, parent);
    this.#word.write(this.#to.market(row.marketIndex));
    this.#word.write(door);
    this.#orders += 1;
  }

  // ---- the end

  *#ids({ durability, nowNs }: RestoredIds): Generator<void> {
    const to = this.#to;
    let ids = 0;
    // mutant: finished-ids-restored
    for (const tombstone of durability.rememberedIds(nowNs)) {
      writeRememberedId(tombstone, to.market(tombstone.marketIndex));
      ids += 1;
      if (ids % PER_PART === 0) yield;
    }
    for (const mark of durability.idWatermarks()) {
      writeIdWatermark(mark, to.market(mark.marketIndex));
      ids += 1;
      if (ids % PER_PART === 0) yield;
    }
  }

  #openMarkets(state: ClearingState): void {
    const to = this.#to;
    for (const { definition, sequence, lastTradeId } of state.markets) {
      const { mark, credits, borrows } = riskSlot(state, definition.assetId);
      writeMarketRisk({ marketIndex: definition.marketIndex, mark, credits, borrows }, to.door);
      writeMarketRestored({ definition, sequence, lastTradeId }, to.market(definition.marketIndex));
    }
  }
}

function* inParts<T>(all: readonly T[], tell: (one: T) => void): Generator<void> {
  let told = 0;
  for (const one of all) {
    tell(one);
    told += 1;
    if (told % PER_PART === 0) yield;
  }
}
