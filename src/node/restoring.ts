/**
 * At a start: word to the front door, the markets and market data of everything that they hold a view of.
 *
 *   clearing ──registry, users, accounts, balances, prices, markets──▶ front door, markets    ┐ a part at a time, as the
 *            ──orders, market by market─────────────────────────────▶ market, front door     │ rings have room: who is told
 *            ──those that the restart may have changed──────────────▶ market, front door     │ reads while clearing works,
 *            ──past ids, then `restored`────────────────────────────▶ markets                ┘ and nothing piles up
 *
 * Where nothing lies behind the checkpoint, orders are told in the walk that loads them (recovery.ts): what such a row
 * says is what lives, but for the few that the restart itself may end or change, whose turn comes after it. Else all are
 * told from the state, when the journal was replayed.
 *
 * Orders of a market are told in the order of their admission, which is what they lie in; so a parent comes before its
 * children. Whoever needs them by priority puts them so (AMB-110).
 *
 * Not here: what is told when it is over (clearing-actor.ts).
 */
import { positionRow } from '../clearing/positions.ts';
import { restartGap } from '../clearing/restart.ts';
import { riskSlot } from '../clearing/risks.ts';
import type { OrderRow } from '../clearing/rows.ts';
import type { ClearingState, MarketSlot } from '../clearing/state.ts';
import { assert } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { isGiven } from '../orders/accounts.ts';
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
import type { LoadListener } from './recovery.ts';
import { RestoredOrderWord } from './restored-word.ts';

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

/** Of one start. A part of what it tells is told before each `yield`. */
export class Restorer implements LoadListener {
  readonly #to: EffectSinks;
  readonly #word = new RestoredOrderWord();
  /** Names of orders that a walk has left for later, by market. */
  readonly #late = new Map<number, Set<Sequence>>();
  #hasTables = false;
  #told = 0;

  constructor(to: EffectSinks) {
    this.#to = to;
  }

  /** Users and orders that were told. */
  get told(): number {
    return this.#told;
  }

  *tables(state: ClearingState, isClean: boolean): Generator<void, void, undefined> {
    yield* this.#tables(state, restartGap(isClean));
  }

  order(row: OrderRow, isSettled: boolean): void {
    // A child that is settled has a parent that lives.
    if (isSettled) this.#tell(row, row.parentSequence);
    else this.#lateOf(row.marketIndex).add(row.orderSequence);
  }

  /** @throws InvariantError when a restart that was just applied has changed an order that was told before it. */
  checkRestarted({ dirty }: ClearingState): void {
    if (!this.#hasTables) return;
    const promise = 'a restart changes no order that was told before it';
    for (const { row } of dirty.orders) assert(this.#isLate(row), promise);
    for (const row of dirty.finishedOrders) assert(this.#isLate(row), promise);
  }

  /** What has not been told yet, and that everything is. The restart was applied. */
  *rest(state: ClearingState, ids: RestoredIds): Generator<void, void, undefined> {
    if (this.#hasTables) yield* this.#lateOrders(state);
    else {
      yield* this.#tables(state, 0);
      for (const market of state.markets) yield* this.#orders(market, market.orders.looks());
    }
    yield* this.#ids(ids);
    this.#openMarkets(state);
  }

  // ---- everything but orders

  /** @param gap by which sequences of markets are yet to jump. */
  *#tables(state: ClearingState, gap: number): Generator<void> {
    const { door, data } = this.#to;
    this.#hasTables = true;
    for (const row of state.assets.values()) {
      writeNews({ kind: 'registryChanged', change: { table: 'asset', row } }, door);
    }
    for (const row of state.configs.values()) {
      writeNews({ kind: 'registryChanged', change: { table: 'config', row } }, door);
    }
    yield* this.#users(state);
    for (const row of state.prices.values()) writeEffect({ kind: 'priceAccepted', row }, this.#to);
    for (const { definition, sequence, lastTradeId } of state.markets) {
      const row = {
        definition,
        sequence: (sequence + gap) as Sequence,
        lastTradeId: (lastTradeId + gap) as Sequence,
      };
      for (const sink of [door, data, this.#to.market(definition.marketIndex)]) {
        writeNews({ kind: 'registryChanged', change: { table: 'market', row } }, sink);
      }
      yield;
    }
  }

  *#users(state: ClearingState): Generator<void> {
    const { door } = this.#to;
    for (const user of state.users.values()) {
      writeUserChanged(user.row, door);
      for (const account of user.subAccounts.values()) {
        if (!isGiven(account.row)) writeNews({ kind: 'subAccountChanged', row: account.row }, door);
        for (const slot of account.balances.values()) writeBalance(slot, door);
        for (const slot of account.positions.values()) writePosition(positionRow(slot), door);
      }
      this.#told += 1;
      if (this.#told % PER_PART === 0) yield;
    }
  }

  // ---- orders

  *#lateOrders({ markets }: ClearingState): Generator<void> {
    for (const [marketIndex, names] of this.#late) {
      const market = markets[marketIndex];
      if (market !== undefined) yield* this.#orders(market, looksAt(market, names));
    }
  }

  *#orders(market: MarketSlot, rows: Iterable<OrderRow>): Generator<void> {
    for (const row of rows) {
      const { parentSequence: parent } = row;
      // The parent that lives and may activate more of it. A child that was released whole is like any order (AMB-29).
      this.#tell(row, parent === 0 || !market.orders.has(parent) ? 0 : parent);
      if (this.#told % PER_PART === 0) yield;
    }
  }

  #tell(row: OrderRow, parent: Sequence | 0): void {
    const { door } = this.#to;
    this.#word.set(row, parent);
    this.#word.write(this.#to.market(row.marketIndex));
    this.#word.write(door);
    this.#told += 1;
  }

  #lateOf(marketIndex: number): Set<Sequence> {
    const known = this.#late.get(marketIndex);
    if (known !== undefined) return known;
    const names = new Set<Sequence>();
    this.#late.set(marketIndex, names);
    return names;
  }

  #isLate({ marketIndex, orderSequence }: OrderRow): boolean {
    return this.#late.get(marketIndex)?.has(orderSequence) === true;
  }

  // ---- the end

  *#ids({ durability, nowNs }: RestoredIds): Generator<void> {
    const to = this.#to;
    let ids = 0;
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

/** Those of these names that live. */
function* looksAt({ orders }: MarketSlot, names: Iterable<Sequence>): Generator<OrderRow> {
  for (const name of names) {
    const row = orders.look(name);
    if (row !== undefined) yield row;
  }
}
