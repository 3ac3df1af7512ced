/**
 * A start on what the disk holds (design §4, AMB-110): tables, then the journal behind them through the same function
 * that ran before, then word to everyone of what lives.
 *
 *   checkpoint clean, nothing behind it    the state of the stop
 *   checkpoint, journal behind it          replay; then the restart is marked and sequences jump
 *   no checkpoint, journal                 replay from the first record
 *   nothing                                an empty node
 */
import { loadState } from '../clearing/checkpoint.ts';
import { checkLedger } from '../clearing/checks.ts';
import { applyBatch } from '../clearing/clearing.ts';
import { positionRow } from '../clearing/positions.ts';
import { riskSlot } from '../clearing/risks.ts';
import type { OrderRow } from '../clearing/rows.ts';
import type { ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { liveOrders } from '../clearing/views.ts';
import { assert } from '../core/assert.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Durability, JournaledBatch } from './durability.ts';
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
  writeRestoredOrder,
} from './effect-codec.ts';
import { decodeBatch } from './journal-batch.ts';

export interface Boot {
  readonly state: ClearingState;
  readonly sequence: Sequence;
  readonly checkpointed: Sequence;
  /** Time of the last batch; the clock must not go behind it. 0n when there is none. */
  readonly timeNs: TimestampNs;
  readonly clean: boolean;
  readonly isEmpty: boolean;
}

export const RECOVERY_STEPS = ['loading', 'replaying', 'restoring'] as const;
export type RecoveryStep = (typeof RECOVERY_STEPS)[number];
/** Told now and then: rows loaded, records replayed, orders restored. */
export type RecoveryProgress = (step: RecoveryStep, done: number) => void;

const TELL_EVERY = 4_096;

/** @throws InvariantError when the disk contradicts itself: the node does not start. */
export function recoverState(durability: Pick<Durability, 'recover'>, tell: RecoveryProgress = () => undefined): Boot {
  const recovery = durability.recover();
  const checkpointed = recovery.checkpoint?.sequence ?? (0 as Sequence);
  const state = loadState(counted(recovery.rows, (done) => tell('loading', done)));
  const batches = counted(recovery.batches, (done) => tell('replaying', done));
  const sequence = replay(state, batches, checkpointed);
  const clean = recovery.checkpoint?.clean === true && sequence === checkpointed;
  if (clean && recovery.checkpoint?.stateHash !== null) {
    assert(stateHash(state) === recovery.checkpoint?.stateHash, 'the tables give the state of the stop');
  }
  checkLedger(state);
  return { state, sequence, checkpointed, timeNs: recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
}

/** The same items; says now and then how many there were. */
function* counted<T>(items: Iterable<T>, tell: (done: number) => void): Generator<T> {
  let done = 0;
  for (const item of items) {
    yield item;
    done += 1;
    if (done % TELL_EVERY === 0) tell(done);
  }
}

function replay(state: ClearingState, batches: Iterable<JournaledBatch>, from: Sequence): Sequence {
  let sequence = from;
  for (const record of batches) {
    assert(record.sequence === sequence + 1, 'the journal goes on behind the checkpoint without a gap');
    applyBatch(state, decodeBatch(record.payload), []);
    sequence = record.sequence;
  }
  return sequence;
}

/** Tells the front door, the markets and market data everything that they hold a view of. */
export function sendRestored(state: ClearingState, durability: Durability, nowNs: TimestampNs, to: EffectSinks): void {
  for (const row of state.assets.values()) {
    writeNews({ kind: 'registryChanged', change: { table: 'asset', row } }, to.door);
  }
  for (const row of state.configs.values()) {
    writeNews({ kind: 'registryChanged', change: { table: 'config', row } }, to.door);
  }
  for (const user of state.users.values()) {
    writeNews({ kind: 'userChanged', row: user.row }, to.door);
    for (const account of user.subAccounts.values()) {
      writeNews({ kind: 'subAccountChanged', row: account.row }, to.door);
      for (const slot of account.balances.values()) writeBalance(slot, to.door);
      for (const slot of account.positions.values()) writePosition(positionRow(slot), to.door);
    }
  }
  for (const row of state.prices.values()) writeEffect({ kind: 'priceAccepted', row }, to);
  sendMarkets(state, durability, nowNs, to);
}

function sendMarkets(state: ClearingState, durability: Durability, nowNs: TimestampNs, to: EffectSinks): void {
  for (const market of state.markets) {
    const { definition, sequence, lastTradeId } = market;
    const shard = to.market(definition.marketIndex);
    const row = { definition, sequence, lastTradeId };
    for (const sink of [to.door, to.data, shard]) {
      writeNews({ kind: 'registryChanged', change: { table: 'market', row } }, sink);
    }
    sendOrders(liveOrders(market), [shard, to.door]);
  }
  for (const tombstone of durability.rememberedIds(nowNs)) {
    writeRememberedId(tombstone, to.market(tombstone.marketIndex));
  }
  for (const mark of durability.idWatermarks()) writeIdWatermark(mark, to.market(mark.marketIndex));
  for (const { definition, sequence, lastTradeId } of state.markets) {
    const { mark, credits, borrows } = riskSlot(state, definition.assetId);
    writeMarketRisk({ marketIndex: definition.marketIndex, mark, credits, borrows }, to.door);
    writeMarketRestored({ definition, sequence, lastTradeId }, to.market(definition.marketIndex));
  }
}

/**
 * In the order of priorities, as the market rebuilds its book, but a parent before its children: one that was replaced
 * may have a later priority than a child that was released before, and comes ahead of its turn.
 */
function sendOrders(orders: readonly OrderRow[], sinks: readonly RecordSink[]): void {
  const byName = new Map<number, OrderRow>(orders.map((order) => [order.orderSequence, order]));
  const sent = new Set<OrderRow>();
  const send = (order: OrderRow): void => {
    if (sent.has(order)) return;
    sent.add(order);
    const parent = mayGrow(order) ? byName.get(order.parentSequence) : undefined;
    if (parent !== undefined) send(parent);
    for (const sink of sinks) writeRestoredOrder(order, parent?.orderSequence ?? 0, sink);
  };
  for (const order of orders) send(order);
}

/** A child that its parent may activate more of. One that was released whole is an order like any other (AMB-29). */
function mayGrow({ parentSequence, triggerState, enabledQuantity, quantity }: OrderRow): boolean {
  const isWhole = triggerState === TRIGGER_STATE.live && enabledQuantity === quantity;
  return parentSequence !== 0 && !isWhole;
}
