/**
 * At a start: everything that lives is sent to the gateway, the markets and market data, once the state is as the restart
 * leaves it.
 *
 *   users, accounts, assets, balances, positions ─▶ gateway              ┐ a part at a time, as the rings have room: the
 *   configuration, prices, markets ───────────────▶ gateway, markets     │ receivers read while clearing writes, and nothing
 *   groups of protection ─────────────────────────▶ gateway, markets     │
 *   orders, market by market ─────────────────────▶ market, gateway      │ piles up
 *   ids of the past, then `MarketRestored` ───────▶ markets              │
 *   accounts whose orders are to be cancelled ────▶ gateway              ┘
 *
 * Orders of a market are sent in the order of their admission, so a parent comes before its children. The market puts them
 * in order of priority (AMB-110).
 *
 * Not here: what is sent when it is over (clearing-actor.ts).
 */
import { must } from '../core/assert.ts';
import type { OrderId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { TimestampNs } from '../core/units.ts';
import { isOpen } from '../risk/position.ts';
import { allAccounts, allBalances, allUsers } from './balances.ts';
import { hasLiveParent } from './children.ts';
import type { Durability } from './durability.ts';
import {
  type EffectSinks,
  type RecordSink,
  writeBalance,
  writeClearingEvent,
  writeEffect,
  writeIdWatermark,
  writeMarketRestored,
  writeMarketRisk,
  writePosition,
  writeRememberedId,
  writeRestoredOrder,
  writeRestoredQuoteSet,
  writeUserChanged,
} from './effect-codec.ts';
import { liquidationRow } from './liquidation/liquidation-rows.ts';
import { type ClearingOrder, orderAt } from './live-orders.ts';
import { keptSignedText } from './orders.ts';
import { allPositions, positionRow } from './positions.ts';
import { quoteSetRows } from './quote-set-slots.ts';
import { configKey } from './registry/registry-config.ts';
import { marketRow } from './registry/registry-markets.ts';
import { riskHoldingsOf, riskSlot } from './risks.ts';
import { isGiven, type LiquidationRow, type OrderRow } from './rows.ts';
import type { ClearingMarket, ClearingState } from './state.ts';

/** Users, orders or ids in one part: a part is small compared with a ring. */
const PER_PART = 64;

/** What is read from disk, and when that is. */
interface RestoredPast {
  readonly durability: Pick<Durability, 'rememberedIds' | 'idWatermarks' | 'signedText'>;
  readonly nowNs: TimestampNs;
}

/** Users and orders that are sent when all is sent. */
export function restoredCount(state: ClearingState): number {
  return state.markets.reduce((sum, market) => sum + market.orders.size, state.users.size);
}

/** Every live order, market by market in the order of their admission. */
export function* liveOrders(state: ClearingState): Generator<ClearingOrder, void, undefined> {
  for (const market of state.markets) {
    for (const index of market.orders.indexes()) yield orderAt(market, index);
  }
}

/**
 * @param orders as `liveOrders` gives them; one is sent as it is when it is given, and the next is asked for later. All
 *   else is in the state. @yields after each part how many users and orders were sent so far.
 */
export function* restore(
  state: ClearingState,
  orders: Iterable<ClearingOrder>,
  to: EffectSinks,
  past: RestoredPast,
): Generator<number, void, undefined> {
  yield* inParts(allUsers(state), 0, ({ row }) => writeUserChanged(row, to.gateway));
  let sent = state.users.size;
  yield* restoreLedger(state, to, sent);
  for (const market of state.markets) writeMarket(market, to);
  yield* inParts(state.protections.values(), sent, (row) => {
    for (const sink of [to.gateway, to.market(row.marketIndex)])
      writeClearingEvent({ kind: 'protectionChanged', row }, sink);
  });
  yield* inParts(quoteSetRows(state), sent, (row) => {
    // mutant: quote-sets-restored
    writeRestoredQuoteSet(row, to.market(row.marketIndex));
    writeRestoredQuoteSet(row, to.gateway);
  });
  for (const order of orders) {
    writeOrder(order, to, past);
    sent += 1;
    if (sent % PER_PART === 0) yield sent;
  }
  yield sent;
  yield* restoreIds(past, to, sent);
  openMarkets(state, to);
  yield* inParts(liquidations(state), sent, (row) => cancelAgain(row, to));
}

function* liquidations({ liquidations }: ClearingState): Generator<LiquidationRow> {
  for (const account of liquidations) yield liquidationRow(account);
}

/** The gateway has lost what it was asked for; it clears the account once all of its orders are there. */
function cancelAgain({ user, subAccount, stage, roundNs }: LiquidationRow, to: EffectSinks): void {
  // mutant: cancels-after-restart
  if (stage === 'cancelling') writeEffect({ kind: 'cancelAccount', user, subAccount, timeNs: roundNs }, to);
}

function* restoreLedger(state: ClearingState, to: EffectSinks, sent: number): Generator<number> {
  const { gateway } = to;
  yield* inParts(allAccounts(state), sent, ({ row }) => {
    if (!isGiven(row)) writeClearingEvent({ kind: 'subAccountChanged', row }, gateway);
  });
  yield* inParts(state.signers.rows(), sent, (row) => {
    const { configNonce } = must(state.users.get(row.user), 'who has signers is known').row;
    writeClearingEvent({ kind: 'signersChanged', row, configNonce }, gateway);
  });
  for (const row of state.assets.values()) {
    writeEffect({ kind: 'registryChanged', change: { table: 'asset', row } }, to);
  }
  yield* inParts(allBalances(state), sent, (slot) => {
    if (slot.owned !== 0n || slot.locked !== 0n) writeBalance(slot, gateway);
  });
  yield* inParts(allPositions(state), sent, (slot) => {
    if (isOpen(slot.legs)) writePosition(positionRow(slot), gateway);
  });
  yield* inParts(state.withdrawals.all(), sent, ({ row }) =>
    writeClearingEvent({ kind: 'withdrawalChanged', row }, gateway),
  );
  yield* inParts(state.settlements.all(), sent, (row) =>
    writeClearingEvent({ kind: 'settlementChanged', row }, gateway),
  );
  yield* inParts(liquidations(state), sent, ({ user, subAccount, startedNs }) => {
    writeClearingEvent({ kind: 'liquidationChanged', user, subAccount, stage: 'begun', timeNs: startedNs }, gateway);
  });
  for (const row of state.configs.values()) {
    writeEffect({ kind: 'registryChanged', change: { table: 'config', row } }, to);
  }
  for (const row of state.prices.values()) writeEffect({ kind: 'priceAccepted', row }, to);
}

function writeMarket(market: ClearingMarket, to: EffectSinks): void {
  for (const sink of [to.gateway, to.data, to.market(market.definition.marketIndex)]) {
    writeClearingEvent({ kind: 'registryChanged', change: { table: 'market', row: marketRow(market) } }, sink);
  }
}

/** Writes an order to its market and to the gateway. */
function writeOrder({ row, market }: ClearingOrder, to: EffectSinks, { durability }: RestoredPast): void {
  // No parent may activate more of a child that was released whole, or is left by its parent (AMB-29).
  const parent = hasLiveParent(market, row) ? row.parentSequence : 0;
  const state = { parent, parentId: parentIdOf(market, row, durability) };
  writeRestoredOrder(row, state, to.market(market.definition.marketIndex));
  writeRestoredOrder(row, state, to.gateway);
}

/** As signed; '' of an order that is no child. */
function parentIdOf(market: ClearingMarket, row: OrderRow, durability: RestoredPast['durability']): OrderId | '' {
  const { marketIndex, orderSequence, parentIdAt, parentIdBytes } = row;
  if (parentIdBytes === 0) return '';
  const stored = keptSignedText(market, orderSequence) ?? durability.signedText(marketIndex, orderSequence);
  const { text } = must(stored, 'the signed text of a child is kept');
  return text.slice(parentIdAt, parentIdAt + parentIdBytes) as OrderId;
}

function* restoreIds({ durability, nowNs }: RestoredPast, to: EffectSinks, sent: number): Generator<number> {
  // mutant: finished-ids-restored
  yield* inParts(durability.rememberedIds(nowNs), sent, (id) => writeRememberedId(id, to.market(id.marketIndex)));
  yield* inParts(durability.idWatermarks(), sent, (mark) => writeIdWatermark(mark, to.market(mark.marketIndex)));
}

function openMarkets(state: ClearingState, to: EffectSinks): void {
  for (const { definition, sequence, lastTradeId } of state.markets) {
    writeRisk(state, definition, to.gateway);
    writeRisk(state, definition, to.data);
    writeMarketRestored({ definition, sequence, lastTradeId }, to.market(definition.marketIndex));
  }
}

function writeRisk(state: ClearingState, { assetId, marketIndex }: MarketDefinition, sink: RecordSink): void {
  const { mark, credits, borrows } = riskSlot(state, assetId);
  writeMarketRisk({ marketIndex, mark, credits, borrows, holdings: riskHoldingsOf(state, assetId) }, sink);
}

/** Everything that market data has from clearing beside trades: settings, assets, markets, their figures, oracle prices. */
export function sendMarketFigures(state: ClearingState, sink: RecordSink): void {
  const settings = state.configs.get(configKey('settings', ''));
  if (settings !== undefined)
    writeClearingEvent({ kind: 'registryChanged', change: { table: 'config', row: settings } }, sink);
  for (const row of state.assets.values()) {
    writeClearingEvent({ kind: 'registryChanged', change: { table: 'asset', row } }, sink);
  }
  for (const market of state.markets) {
    writeClearingEvent({ kind: 'registryChanged', change: { table: 'market', row: marketRow(market) } }, sink);
    writeRisk(state, market.definition, sink);
  }
  for (const row of state.prices.values()) writeClearingEvent({ kind: 'priceAccepted', row }, sink);
}

/** @yields `sent` after each part. */
function* inParts<T>(all: Iterable<T>, sent: number, write: (one: T) => void): Generator<number> {
  let written = 0;
  for (const one of all) {
    write(one);
    written += 1;
    if (written % PER_PART === 0) yield sent;
  }
}
