/**
 * Inputs of the markets: each market in its own sequence, one input after the other, and the queue behind held fills.
 *
 *   arrives, sequence checked ──┬─▶ applied
 *                               └─▶ a fill under a hold: waits, and all that its market sends after it (AMB-36)
 *
 * Not here: when fills are held (hooks.ts).
 */
import { assert, must, unreachable } from '../core/assert.ts';
import { ORDER_END } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Effect } from './effects.ts';
import { applyMatched } from './fills.ts';
import { addPasses, endHolds, takesHold, WAITING_INPUTS_MAX } from './hooks.ts';
import type { MarketInput, Release } from './inputs.ts';
import { applyTradeIdsReserved } from './liquidation/deleveraging.ts';
import {
  applyCancelPending,
  applyCreated,
  applyCreateRefused,
  applyEnded,
  applyReplaced,
  applyRestored,
  dropUnmatched,
} from './orders.ts';
import { applyProtectionEnded, applyProtectionTriggered } from './protections.ts';
import { applyQuoteSet, applyQuoteSetEnded } from './quote-sets.ts';
import { plainRow } from './rows.ts';
import type { ClearingMarket, ClearingState } from './state.ts';
import { applyActivated, applyTriggered } from './triggers.ts';

function marketSlot(state: ClearingState, marketIndex: number): ClearingMarket {
  return must(state.markets[marketIndex], 'a market sends events only after clearing made it');
}

/** Takes an input of a market: applies it, or lets it wait. */
export function takeMarketInput(state: ClearingState, input: MarketInput, nowNs: TimestampNs, effects: Effect[]): void {
  const market = marketSlot(state, input.marketIndex);
  arrive(state, market, input);
  if (market.waiting || isHeld(state, market, input)) {
    assert(state.hooks.waiting.length < WAITING_INPUTS_MAX, 'fills are held for a while only');
    market.waiting = true;
    state.hooks.waiting.push(keptInput(input));
    return;
  }
  applyMarketInput(state, market, input, nowNs, effects);
}

/** The bytes of a batch are over when it is applied. */
function keptInput(input: MarketInput): MarketInput {
  const isCreate = input.kind === 'created' || input.kind === 'createRefused';
  return isCreate ? { ...input, order: plainRow(input.order) } : input;
}

function arrive(state: ClearingState, market: ClearingMarket, input: MarketInput): void {
  assert(input.sequence === market.sequence + 1, 'market sequences are contiguous');
  market.sequence = lastOf(input);
  if (input.kind === 'matched') {
    assert(input.tradeId > market.lastTradeId, 'trade ids only grow');
    market.lastTradeId = input.tradeId;
  } else if (input.kind === 'tradeIdsReserved') {
    assert(input.firstTradeId > market.lastTradeId && input.count > 0, 'trade ids only grow');
    market.lastTradeId = (input.firstTradeId + input.count - 1) as Sequence;
  }
  if (!market.isTouched) state.dirty.markets.add(market);
}

/** The last sequence that the input takes. */
function lastOf(input: MarketInput): Sequence {
  return input.kind === 'quoteSetApplied' ? ((input.sequence + input.sequences - 1) as Sequence) : input.sequence;
}

function isHeld(state: ClearingState, market: ClearingMarket, input: MarketInput): boolean {
  return input.kind === 'matched' && takesHold(state.hooks, market.definition.assetId);
}

function applyMarketInput(
  state: ClearingState,
  market: ClearingMarket,
  input: MarketInput,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  if (market.entering !== NONE && !isOfMatch(market, input)) dropUnmatched(state, market);
  applyByKind(state, market, input, nowNs, effects);
  market.decidedSequence = lastOf(input);
  touchMarket(state, market);
}

/** The batch has done something to the market. */
function touchMarket(state: ClearingState, market: ClearingMarket): void {
  if (market.isTouched) return;
  market.isTouched = true;
  state.touchedMarkets.add(market);
  state.dirty.markets.add(market);
}

/**
 * Whether the event is about the match that the entering order began: its fills, own orders in its way, and trips of makers. Ends of
 * protected orders follow behind its last fill.
 */
function isOfMatch({ orders, entering }: ClearingMarket, input: MarketInput): boolean {
  if (input.kind === 'protectionTriggered') return true;
  if (input.kind === 'matched') return input.takerOrder === orders.row(entering).orderSequence;
  return input.kind === 'ended' && input.end === ORDER_END.selfTradePrevented;
}

function applyByKind(
  state: ClearingState,
  market: ClearingMarket,
  input: MarketInput,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  switch (input.kind) {
    case 'created':
      applyCreated(state, market, input, effects);
      break;
    case 'createRefused':
      applyCreateRefused(state, market, input, effects);
      break;
    case 'replaced':
      applyReplaced(state, market, input);
      break;
    case 'ended':
      applyEnded(state, market, input);
      break;
    case 'restored':
      applyRestored(state, market, input);
      break;
    case 'triggered':
      applyTriggered(state, market, input);
      break;
    case 'activated':
      applyActivated(state, market, input);
      break;
    case 'cancelPending':
      applyCancelPending(state, market, input);
      break;
    case 'matched':
      applyMatched(state, market, input, nowNs, effects);
      break;
    case 'tradeIdsReserved':
      applyTradeIdsReserved(state, market, input, nowNs, effects);
      break;
    case 'protectionTriggered':
      applyProtectionTriggered(state, input);
      break;
    case 'protectionEnded':
      applyProtectionEnded(state, input);
      break;
    case 'quoteSetApplied':
      applyQuoteSet(state, market, input, effects);
      break;
    case 'quoteSetEnded':
      applyQuoteSetEnded(state, market, input);
      break;
    default:
      unreachable(input);
  }
}

/** Lets waiting inputs pass in the order in which they arrived, each market up to its next held fill. */
function passWaiting(state: ClearingState, nowNs: TimestampNs, effects: Effect[]): void {
  const waiting = state.hooks.waiting;
  state.hooks.waiting = [];
  for (const market of state.markets) market.waiting = false;
  for (const input of waiting) {
    const market = marketSlot(state, input.marketIndex);
    if (market.waiting || isHeld(state, market, input)) {
      market.waiting = true;
      state.hooks.waiting.push(input);
    } else {
      applyMarketInput(state, market, input, nowNs, effects);
    }
  }
}

/** Ends all holds, or lets the next fills pass and keeps them. */
export function applyRelease(state: ClearingState, input: Release, nowNs: TimestampNs, effects: Effect[]): void {
  if (input.fills === null) endHolds(state.hooks);
  else addPasses(state.hooks, input.fills);
  passWaiting(state, nowNs, effects);
}

/** At a restart: waiting matches are forgotten, everything else that waited behind them happened. */
export function dropWaitingFills(state: ClearingState, nowNs: TimestampNs, effects: Effect[]): void {
  state.hooks.waiting = state.hooks.waiting.filter((input) => input.kind !== 'matched');
  passWaiting(state, nowNs, effects);
}
