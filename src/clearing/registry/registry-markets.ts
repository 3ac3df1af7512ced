/** Markets (operator-api.md 4.3, AMB-134, AMB-138): created once, changed within what never changes. */
import { powerOfTen } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { format18, formatRaw } from '../../core/decimal.ts';
import { type AssetId, USD } from '../../core/ids.ts';
import { MINIMUM_NOTIONAL, RAW_MAX } from '../../core/limits.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { MARKET_STATUS, MARKET_STATUS_WORD, type MarketStatus, TRIGGER } from '../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { NONE } from '../../core/pools.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { PutMarket } from '../inputs.ts';
import { MarketOrders } from '../live-orders.ts';
import { riskSlot } from '../risks.ts';
import { type MarketRow, NO_MATCH } from '../rows.ts';
import type { ClearingMarket, ClearingState } from '../state.ts';
import { emptyHeap } from '../trigger-heaps.ts';
import { assetNotFound, knowsAsset } from './registry-assets.ts';

type View = Readonly<Record<string, unknown>>;

/** Members of a market that a request gives, each valid by itself (src/operator/registry-bodies.ts). */
export interface MarketChange {
  readonly priceDecimals?: number;
  readonly quantityDecimals?: number;
  /** The step of prices, 18 decimals, above 0. */
  readonly tickSize?: Amount18;
  /** The smallest quantity of the base asset, 18 decimals, above 0. */
  readonly minimumQuantity?: Amount18;
  readonly minimumNotional?: Amount18;
  readonly makerFeeRate?: number;
  readonly takerFeeRate?: number;
  readonly status?: MarketStatus;
  readonly selfTradePrevention?: boolean;
  /** null: none. */
  readonly priceCollar?: Amount18 | null;
}

/** The first of the relations that does not hold. */
class Faults {
  first: Reject | null = null;

  unless(holds: boolean, field: string, message: string): void {
    if (!holds) this.first ??= reject('INVALID_REQUEST', message, field);
  }
}

/** A decimal as a raw integer of the market, at least 1: ticks and minimums are multiples of the raw unit (AMB-134). */
function rawSize(faults: Faults, field: string, amount: Amount18 | undefined, decimals: number, now: number): number {
  if (amount === undefined) return now;
  const unit = powerOfTen(18 - decimals);
  const raw = amount / unit;
  const isWithin = raw <= BigInt(RAW_MAX);
  faults.unless(amount % unit === 0n, field, 'a multiple of the raw unit is expected');
  faults.unless(isWithin, field, 'this is too large');
  return isWithin ? Number(raw) : now;
}

/** The decimals: needed at creation, never changed afterwards. */
function decimalsFault(change: MarketChange, now: MarketDefinition | undefined): Reject | null {
  const names = { priceDecimals: 'book_price_decimals', quantityDecimals: 'book_quantity_decimals' } as const;
  for (const member of ['priceDecimals', 'quantityDecimals'] as const) {
    const given = change[member] ?? now?.[member];
    if (given === undefined) return reject('INVALID_REQUEST', 'this member is needed', names[member]);
    if (now !== undefined && given !== now[member]) {
      return reject('IMMUTABLE_FIELD', 'the decimals of a market never change', names[member]);
    }
  }
  return null;
}

/** The definition that a market has after a change. */
function changedMarket(
  { assetId, method, change }: PutMarket,
  now: MarketDefinition | undefined,
  marketIndex: number,
): Outcome<MarketDefinition> {
  const fault = decimalsFault(change, now);
  if (fault !== null) return rejected(fault);
  const keeps = method === 'patch' ? now : undefined;
  const { priceDecimals = now?.priceDecimals ?? 0, quantityDecimals = now?.quantityDecimals ?? 0 } = change;
  const faults = new Faults();
  const sum = priceDecimals + quantityDecimals;
  faults.unless(sum <= 18, 'book_quantity_decimals', 'the two decimals add up to at most 18');
  const tickSize = rawSize(faults, 'tick_size', change.tickSize, priceDecimals, keeps?.tickSize ?? 1);
  const minimum = keeps?.minimumQuantity ?? 1;
  const minimumQuantity = rawSize(faults, 'min_order_size', change.minimumQuantity, quantityDecimals, minimum);
  const takerFeeRate = change.takerFeeRate ?? keeps?.takerFeeRate ?? 0;
  const makerFeeRate = change.makerFeeRate ?? keeps?.makerFeeRate ?? 0;
  faults.unless(makerFeeRate >= -takerFeeRate, 'maker_fee_rate', 'a rebate is at most the taker fee');
  if (faults.first !== null) return rejected(faults.first);
  return accepted({
    marketIndex,
    assetId,
    priceDecimals,
    quantityDecimals,
    tickSize: tickSize as RawPrice,
    minimumQuantity: minimumQuantity as RawQuantity,
    minimumNotional: change.minimumNotional ?? keeps?.minimumNotional ?? (MINIMUM_NOTIONAL as Amount18),
    makerFeeRate,
    takerFeeRate,
    status: change.status ?? keeps?.status ?? MARKET_STATUS.active,
    selfTradePrevention: change.selfTradePrevention ?? keeps?.selfTradePrevention ?? false,
    priceCollar: change.priceCollar !== undefined ? change.priceCollar : (keeps?.priceCollar ?? null),
  });
}

/** Puts a market in its place. @returns its slot, without orders. */
export function placeMarket(state: ClearingState, row: MarketRow): ClearingMarket {
  const { definition, sequence, lastTradeId, match } = row;
  assert(definition.marketIndex === state.markets.length, 'market indices are dense');
  const market: ClearingMarket = {
    definition,
    sequence,
    lastTradeId,
    match,
    decidedSequence: sequence,
    writtenSequence: sequence,
    decidedTradeId: lastTradeId,
    orders: new MarketOrders(state.orders, definition.marketIndex),
    signedTexts: [],
    quoteSets: new Map(),
    revisions: new Map(),
    triggers: [emptyHeap(TRIGGER.above, state.orders), emptyHeap(TRIGGER.below, state.orders)],
    entering: NONE,
    fillGroup: [],
    waiting: false,
    isTouched: false,
  };
  state.markets.push(market);
  state.marketOfAsset.set(definition.assetId, market);
  return market;
}

export function marketRow({ definition, sequence, lastTradeId, match }: ClearingMarket): MarketRow {
  return { definition, sequence, lastTradeId, match };
}

/** @returns the market in wire form; ASSET_NOT_FOUND, MARKET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD. */
export function applyPutMarket(state: ClearingState, input: PutMarket, effects: Effect[]): Outcome<View> {
  const known = state.marketOfAsset.get(input.assetId);
  const hasRisk = (state.assets.get(input.assetId)?.riskJson ?? null) !== null;
  const refusal = marketFault(input.assetId, input.method, {
    isKnown: knowsAsset(state, input.assetId),
    hasMarket: known !== undefined,
    mayCreate: state.settings.self_service_markets && hasRisk,
  });
  if (refusal !== null) return rejected(refusal);
  if (input.method === 'create' && known !== undefined) return accepted(marketView(known.definition));
  const index = known?.definition.marketIndex ?? state.markets.length;
  const outcome = changedMarket(input, known?.definition, index);
  if (!outcome.ok) return outcome;
  const definition = outcome.value;
  const zero = 0 as Sequence;
  const market = known ?? placeMarket(state, { definition, sequence: zero, lastTradeId: zero, match: NO_MATCH });
  // What balances hold follows the fee from here on, though nothing of them is touched (holds.ts).
  market.definition = definition;
  state.dirty.markets.add(market);
  // The gateway gets what there is to lend of the asset.
  if (known === undefined) state.touchedRisks.add(riskSlot(state, input.assetId));
  effects.push({ kind: 'registryChanged', change: { table: 'market', row: marketRow(market) } });
  return accepted(marketView(definition));
}

/** What decides on the target of a market request. */
interface MarketTarget {
  /** Whether the registry has the asset. */
  readonly isKnown: boolean;
  readonly hasMarket: boolean;
  /** Whether a user's request may create the market (AMB-130). */
  readonly mayCreate: boolean;
}

/** Why there cannot be a market of the asset, or none can be changed; null: it can. */
export function marketFault(asset: AssetId, method: PutMarket['method'], target: MarketTarget): Reject | null {
  if (asset === USD) return reject('INVALID_REQUEST', 'USD is what markets are quoted in', 'asset_id');
  if (target.hasMarket) return null;
  if (!target.isKnown) return assetNotFound(asset);
  return method === 'patch' || (method === 'create' && !target.mayCreate)
    ? reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`)
    : null;
}

/** The object of operator-api.md 4.3. */
export function marketView(definition: MarketDefinition): View {
  return {
    asset_id: definition.assetId,
    book_price_decimals: definition.priceDecimals,
    book_quantity_decimals: definition.quantityDecimals,
    tick_size: formatRaw(definition.tickSize, definition.priceDecimals),
    min_order_size: formatRaw(definition.minimumQuantity, definition.quantityDecimals),
    min_notional: format18(definition.minimumNotional),
    maker_fee_rate: definition.makerFeeRate,
    taker_fee_rate: definition.takerFeeRate,
    status: MARKET_STATUS_WORD[definition.status],
    self_trade_prevention: definition.selfTradePrevention,
    price_collar: definition.priceCollar === null ? null : format18(definition.priceCollar),
  };
}
