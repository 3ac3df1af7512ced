/**
 * After a recovery: word to the front door, the markets and market data of everything that they hold a view of.
 *
 *   clearing ──users, accounts, balances──▶ front door          ┐ a part at a time, as the rings have room: who is told
 *            ──orders, market by market───▶ market, front door  │ reads while clearing writes, and nothing piles up
 *            ──past ids, then `restored`──▶ markets             ┘
 *
 * Not here: what is told when it is over (clearing-actor.ts).
 */
import { positionRow } from '../clearing/positions.ts';
import { riskSlot } from '../clearing/risks.ts';
import type { OrderRow } from '../clearing/rows.ts';
import type { ClearingState, MarketSlot } from '../clearing/state.ts';
import { must } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { isGiven } from '../orders/accounts.ts';
import type { Durability } from './durability.ts';
import {
  type EffectSinks,
  type RecordSink,
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
import { RestoredOrderWord } from './restored-word.ts';

/** Of users, orders or ids: a part is small against a ring. */
const PER_PART = 64;
const LOOKS_PER_PART = 1_024;

/** What is told, and to whom. */
export interface Restoring {
  readonly state: ClearingState;
  readonly durability: Pick<Durability, 'rememberedIds' | 'idWatermarks'>;
  readonly nowNs: TimestampNs;
  readonly to: EffectSinks;
}

/** Users and orders that `restoreParts` tells. */
export function restoredCount(state: ClearingState): number {
  return state.markets.reduce((sum, market) => sum + market.orders.size, state.users.size);
}

/** Tells everything; after each part how many users and orders have been told. */
export function* restoreParts(restoring: Restoring): Generator<number, void, undefined> {
  const { state, to } = restoring;
  for (const row of state.assets.values()) {
    writeNews({ kind: 'registryChanged', change: { table: 'asset', row } }, to.door);
  }
  for (const row of state.configs.values()) {
    writeNews({ kind: 'registryChanged', change: { table: 'config', row } }, to.door);
  }
  let told = 0;
  for (const _ of tellUsers(state, to)) {
    told += 1;
    if (told % PER_PART === 0) yield told;
  }
  for (const row of state.prices.values()) writeEffect({ kind: 'priceAccepted', row }, to);
  for (const isTold of tellMarkets(state, to)) {
    if (isTold) told += 1;
    if (!isTold || told % PER_PART === 0) yield told;
  }
  let ids = 0;
  for (const _ of tellIds(restoring)) {
    ids += 1;
    if (ids % PER_PART === 0) yield told;
  }
  for (const { definition, sequence, lastTradeId } of state.markets) {
    const { mark, credits, borrows } = riskSlot(state, definition.assetId);
    writeMarketRisk({ marketIndex: definition.marketIndex, mark, credits, borrows }, to.door);
    writeMarketRestored({ definition, sequence, lastTradeId }, to.market(definition.marketIndex));
  }
}

function* tellUsers(state: ClearingState, to: EffectSinks): Generator<void> {
  for (const user of state.users.values()) {
    writeUserChanged(user.row, to.door);
    for (const account of user.subAccounts.values()) {
      if (!isGiven(account.row)) writeNews({ kind: 'subAccountChanged', row: account.row }, to.door);
      for (const slot of account.balances.values()) writeBalance(slot, to.door);
      for (const slot of account.positions.values()) writePosition(positionRow(slot), to.door);
    }
    yield;
  }
}

/** True for an order that was told, false for a part of the work before that. */
function* tellMarkets(state: ClearingState, to: EffectSinks): Generator<boolean> {
  for (const market of state.markets) {
    const { definition, sequence, lastTradeId } = market;
    const shard = to.market(definition.marketIndex);
    const row = { definition, sequence, lastTradeId };
    for (const sink of [to.door, to.data, shard]) {
      writeNews({ kind: 'registryChanged', change: { table: 'market', row } }, sink);
    }
    const teller = new OrderTeller(market, [shard, to.door]);
    const turns = yield* turnsOf(market);
    for (const row of turns === null ? market.orders.looks() : looksAt(market, turns)) {
      teller.tell(row);
      yield true;
    }
  }
}

function* tellIds({ durability, nowNs, to }: Restoring): Generator<void> {
  for (const tombstone of durability.rememberedIds(nowNs)) {
    writeRememberedId(tombstone, to.market(tombstone.marketIndex));
    yield;
  }
  for (const mark of durability.idWatermarks()) {
    writeIdWatermark(mark, to.market(mark.marketIndex));
    yield;
  }
}

/**
 * Tells the orders of a market in the order of priorities, as it rebuilds its book, but a parent before its children: one
 * that was replaced may have a later priority than a child that was released before, and comes ahead of its turn.
 */
class OrderTeller {
  readonly #market: MarketSlot;
  readonly #sinks: readonly RecordSink[];
  readonly #word = new RestoredOrderWord();
  /** Parents that came ahead of their turn, until that. */
  readonly #ahead = new Set<Sequence>();

  constructor(market: MarketSlot, sinks: readonly RecordSink[]) {
    this.#market = market;
    this.#sinks = sinks;
  }

  /** In its turn. @param row a look, which is over when this returns. */
  tell(row: OrderRow): void {
    const { orderSequence: name, parentSequence } = row;
    if (this.#ahead.size > 0 && this.#ahead.delete(name)) return;
    // The parent that lives and may activate more of it. A child that was released whole is like any order (AMB-29).
    if (parentSequence === 0 || !this.#market.orders.has(parentSequence)) this.#say(row, 0);
    else this.#tellChild(row, parentSequence);
  }

  #tellChild({ orderSequence: name, prioritySequence }: OrderRow, parentName: Sequence): void {
    const parent = this.#look(parentName);
    if (!this.#ahead.has(parentName) && parent.prioritySequence > prioritySequence) {
      this.tell(parent);
      this.#ahead.add(parentName);
    }
    this.#say(this.#look(name), parentName);
  }

  #look(name: Sequence): OrderRow {
    return must(this.#market.orders.look(name), 'a live order is there');
  }

  #say(row: OrderRow, parent: Sequence | 0): void {
    this.#word.set(row, parent);
    for (const sink of this.#sinks) this.#word.write(sink);
  }
}

/**
 * Live orders stand in the order in which they were admitted, which most often is that of their priorities. Yields now and
 * then, as all of them are asked. @returns null when their order is right as it is, or their names in the right one.
 */
function* turnsOf({ orders }: MarketSlot): Generator<boolean, Float64Array | null> {
  const names = new Float64Array(orders.size);
  const priorities = new Float64Array(orders.size);
  let at = 0;
  let isSorted = true;
  for (const name of orders.keys()) {
    const priority = orders.priorityOf(name);
    names[at] = name;
    priorities[at] = priority;
    if (at > 0 && priority < (priorities[at - 1] as number)) isSorted = false;
    at += 1;
    if (at % LOOKS_PER_PART === 0) yield false;
  }
  if (isSorted) return null;
  const turns = Uint32Array.from(names, (_, index) => index);
  turns.sort((a, b) => (priorities[a] as number) - (priorities[b] as number));
  return Float64Array.from(turns, (index) => names[index] as number);
}

/** Looks in turns: on a walk through all that leaves out those whose turn comes later; these are looked up then. */
function* looksAt({ orders }: MarketSlot, names: Float64Array): Generator<OrderRow> {
  const walk = orders.looks();
  try {
    let ahead = walk.next();
    for (const name of names as Iterable<number> as Iterable<Sequence>) {
      while (ahead.done !== true && ahead.value.orderSequence < name) ahead = walk.next();
      if (ahead.done !== true && ahead.value.orderSequence === name) yield ahead.value;
      else yield must(orders.look(name), 'a live order is there');
    }
  } finally {
    walk.return();
  }
}
