/** Markets (operator-api.md 4.3, AMB-134, AMB-138): created once, changed within what never changes. */
import { powerOfTen } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { format18, formatRaw } from '../../core/decimal.ts';
import { type AssetId, USD } from '../../core/ids.ts';
import { AMOUNT18_MAX, MINIMUM_NOTIONAL, RAW_MAX } from '../../core/limits.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { MARKET_STATUS, MARKET_STATUS_WORD, TRIGGER } from '../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { PutMarket } from '../inputs.ts';
import { LiveOrders } from '../live-orders.ts';
import { tiesOfRow, unshelved } from '../orders.ts';
import type { MarketRow } from '../rows.ts';
import type { ClearingState, MarketSlot } from '../state.ts';
import { emptyHeap } from '../trigger-heaps.ts';
import { BodyReader } from './body-reader.ts';
import { assetNotFound, knowsAsset } from './registry-assets.ts';

type View = Readonly<Record<string, unknown>>;

const MEMBERS = [
  'book_price_decimals',
  'book_quantity_decimals',
  'tick_size',
  'min_order_size',
  'min_notional',
  'maker_fee_rate',
  'taker_fee_rate',
  'status',
  'self_trade_prevention',
  'price_collar',
];
const DECIMALS = { min: 0, max: 18 };
/** 100 %: so that a fee never exceeds the proceeds that it is taken from. */
const FEE_RATE_MAX = 1_000_000;
const WORD_STATUS = {
  Active: MARKET_STATUS.active,
  CancelOnly: MARKET_STATUS.cancelOnly,
  Halted: MARKET_STATUS.halted,
};
type StatusWord = keyof typeof WORD_STATUS;

/** A decimal as a raw integer of the market, at least 1: ticks and minimums are multiples of the raw unit (AMB-134). */
function rawSize(reader: BodyReader, name: string, decimals: number, fallback: number): number {
  if (!reader.has(name)) return fallback;
  const amount = reader.decimal(name, { min: 1n }, 1n as Amount18);
  const unit = powerOfTen(18 - decimals);
  if (amount % unit !== 0n) reader.fail(name, 'a multiple of the raw unit is expected');
  const raw = amount / unit;
  if (raw > BigInt(RAW_MAX)) reader.fail(name, 'this is too large');
  return raw >= 1n && raw <= BigInt(RAW_MAX) ? Number(raw) : fallback;
}

/** The decimals: needed at creation, never changed afterwards. */
function bookDecimals(reader: BodyReader, name: string, current: number | undefined): number {
  const decimals = reader.integer(name, DECIMALS, current);
  if (current !== undefined && decimals !== current && reader.failure === null) {
    reader.keep(reject('IMMUTABLE_FIELD', 'the decimals of a market never change', name));
  }
  return decimals;
}

function readMarket(input: PutMarket, market: MarketSlot | undefined, marketIndex: number): Outcome<MarketDefinition> {
  const now = market?.definition;
  const keeps = input.method === 'patch' ? now : undefined;
  const reader = new BodyReader(input.body, MEMBERS);
  const priceDecimals = bookDecimals(reader, 'book_price_decimals', now?.priceDecimals);
  const quantityDecimals = bookDecimals(reader, 'book_quantity_decimals', now?.quantityDecimals);
  if (priceDecimals + quantityDecimals > 18) {
    reader.fail('book_quantity_decimals', 'the two decimals add up to at most 18');
  }
  const tickSize = rawSize(reader, 'tick_size', priceDecimals, keeps?.tickSize ?? 1);
  const minimum = rawSize(reader, 'min_order_size', quantityDecimals, keeps?.minimumQuantity ?? 1);
  const notionalNow = keeps?.minimumNotional ?? (MINIMUM_NOTIONAL as Amount18);
  const minimumNotional = reader.decimal('min_notional', { min: 0n, max: AMOUNT18_MAX }, notionalNow);
  const takerFeeRate = reader.integer('taker_fee_rate', { min: 0, max: FEE_RATE_MAX }, keeps?.takerFeeRate ?? 0);
  const makerBounds = { min: -FEE_RATE_MAX, max: FEE_RATE_MAX };
  const makerFeeRate = reader.integer('maker_fee_rate', makerBounds, keeps?.makerFeeRate ?? 0);
  if (makerFeeRate < -takerFeeRate) reader.fail('maker_fee_rate', 'a rebate is at most the taker fee');
  const statusNow: StatusWord = MARKET_STATUS_WORD[keeps?.status ?? MARKET_STATUS.active];
  const status = WORD_STATUS[reader.word('status', ['Active', 'CancelOnly', 'Halted'], statusNow)];
  const stp = reader.flag('self_trade_prevention', keeps?.selfTradePrevention ?? false);
  const collarNow = (keeps?.priceCollar ?? null) as Amount18 | null;
  const priceCollar = reader.decimalOrNull('price_collar', { min: 1n, max: AMOUNT18_MAX }, collarNow);
  return (
    reader.failure ??
    accepted({
      marketIndex,
      assetId: input.assetId,
      priceDecimals,
      quantityDecimals,
      tickSize: tickSize as RawPrice,
      minimumQuantity: minimum as RawQuantity,
      minimumNotional,
      makerFeeRate,
      takerFeeRate,
      status,
      selfTradePrevention: stp,
      priceCollar,
    })
  );
}

/** Puts a market in its place. @returns its slot, without orders. */
export function placeMarket(state: ClearingState, row: MarketRow): MarketSlot {
  const { definition, sequence, lastTradeId } = row;
  assert(definition.marketIndex === state.markets.length, 'market indices are dense');
  const market: MarketSlot = {
    definition,
    sequence,
    lastTradeId,
    decidedSequence: sequence,
    decidedTradeId: lastTradeId,
    orders: new LiveOrders(
      (stored, place) => unshelved(state, market, stored, place),
      () => state.beat(),
    ),
    tiesOf: (row) => tiesOfRow(state, market, row),
    children: new Map(),
    triggers: [emptyHeap(TRIGGER.above), emptyHeap(TRIGGER.below)],
    entering: null,
    unit: [],
    waiting: false,
    isTouched: false,
  };
  state.markets.push(market);
  state.marketOfAsset.set(definition.assetId, market);
  return market;
}

export function marketRow(market: MarketSlot): MarketRow {
  return { definition: market.definition, sequence: market.sequence, lastTradeId: market.lastTradeId };
}

/** @returns the market in wire form; ASSET_NOT_FOUND, MARKET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD. */
export function applyPutMarket(state: ClearingState, input: PutMarket, effects: Effect[]): Outcome<View> {
  const known = state.marketOfAsset.get(input.assetId);
  const refusal = refuseMarket(state, input, known);
  if (refusal !== null) return rejected(refusal);
  if (input.method === 'create' && known !== undefined) return accepted(marketView(known.definition));
  const index = known?.definition.marketIndex ?? state.markets.length;
  const outcome = readMarket(input, known, index);
  if (!outcome.ok) return outcome;
  const definition = outcome.value;
  const zero = 0 as Sequence;
  const market = known ?? placeMarket(state, { definition, sequence: zero, lastTradeId: zero });
  // What balances hold follows the fee from here on, though nothing of them is touched (holds.ts).
  market.definition = definition;
  state.dirty.markets.add(market);
  effects.push({ kind: 'registryChanged', change: { table: 'market', row: marketRow(market) } });
  return accepted(marketView(definition));
}

function refuseMarket(
  state: ClearingState,
  input: PutMarket,
  known: MarketSlot | undefined,
): ReturnType<typeof reject> | null {
  const asset: AssetId = input.assetId;
  if (asset === USD) return reject('INVALID_REQUEST', 'USD is what markets are quoted in', 'asset_id');
  if (known === undefined && !knowsAsset(state, asset)) return assetNotFound(asset);
  const hasRisk = (state.assets.get(asset)?.riskJson ?? null) !== null;
  const mayCreate = state.settings.self_service_markets && hasRisk;
  if (known === undefined && (input.method === 'patch' || (input.method === 'create' && !mayCreate))) {
    return reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`);
  }
  return null;
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
