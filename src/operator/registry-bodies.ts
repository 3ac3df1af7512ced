/**
 * Bodies of the registry as shapes: assets with their tokens (operator-api.md 4.1), risk parameters (4.2) and markets (4.3). Each
 * member is valid by itself; absent members stay absent.
 *
 * Not here: rules that depend on the current registry (src/clearing/registry).
 */
import { CURVE_K_MAX } from '../clearing/funds/rebalancing.ts';
import { ASSET_CLASSES, type AssetChange, type Rebalancing, tokenKey } from '../clearing/registry/registry-assets.ts';
import type { MarketChange } from '../clearing/registry/registry-markets.ts';
import { MILLION, NO_CAP, type RiskParameters } from '../clearing/registry/risk-parameters.ts';
import type { TokenDefinition } from '../clearing/rows.ts';
import {
  defaulted,
  either,
  FLAG,
  type InsideOf,
  inside,
  nullable,
  optional,
  type Shape,
  words,
} from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import { format18, parseDecimal18 } from '../core/decimal.ts';
import type { ChainId } from '../core/ids.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import { MARKET_STATUS, type MarketStatus } from '../core/order-terms.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { type Amount18, ONE_18 } from '../core/units.ts';
import { badMember, readBody } from './body-reader.ts';
import {
  ADDRESS,
  body,
  CHAIN,
  decimal,
  integer,
  integers,
  integerText,
  list,
  normalDecimal,
  parsed,
  parsedText,
  wholeOf,
} from './body-shapes.ts';

/** Caps and weights are members of the public rows (wire.md 7.3) and keep their encoding: integers of 256 bits. */
const WORD = integerText({ min: 0n, max: NO_CAP }) as Shape<string, Amount18>;
const SYMBOL = Type.String({ pattern: '^[!-~]{1,32}$', description: '1 to 32 visible characters' });
const NAME = Type.String({ pattern: '^[!-~](?:[ -~]{0,62}[!-~])?$', description: '1 to 64 printable characters' });
const FRACTION = { min: 0n, max: ONE_18 };
/** Rates are clamped when they are applied; any fraction may be configured. */
const RATE = defaulted(normalDecimal({ min: -ONE_18, max: ONE_18 }), '0');

const REBALANCING = either(
  body({ mode: words('fixed'), deposit_rate: RATE, withdrawal_rate: RATE }),
  body({
    mode: words('curve'),
    k: normalDecimal({ min: 0n, max: CURVE_K_MAX }),
    target_weights: byChain(normalDecimal(FRACTION)),
  }),
);

/** 10^decimals must fit in 256 bits. */
const TOKEN_DECIMALS = integer(0, 77);
const TOKEN = body({
  symbol: defaulted(nullable(SYMBOL), null),
  token: ADDRESS,
  chain_id: inside('chainId', CHAIN),
  decimals: TOKEN_DECIMALS,
  max_deposits: inside('maxDeposits', defaulted(nullable(WORD), null)),
  max_1hr_deposits: inside('max1hrDeposits', defaulted(nullable(WORD), null)),
  min_weight: inside('minWeight', defaulted(WORD, '0')),
  min_first_deposit_base_units: inside('minFirstDepositBaseUnits', defaulted(integerText({ min: 0n }), '0')),
});

/** A fraction, `none`, or null (MON-06). A mark below zero is none. */
const MARK_BAND = parsedText(
  Type.String({ description: 'a fraction below 1 as a decimal string, or none' }),
  markBandOf,
  'a fraction below 1, or none,',
);

const ASSET_BODY = body({
  symbol: optional(nullable(SYMBOL)),
  max_adl: optional(nullable(normalDecimal({ min: 0n }))),
  rebalancing: optional(REBALANCING),
  tokens: optional(list(TOKEN)),
  name: optional(nullable(NAME)),
  asset_class: optional(nullable(words(...ASSET_CLASSES))),
  mark_band: optional(nullable(MARK_BAND)),
  mark_min_notional: optional(normalDecimal({ min: 0n, max: AMOUNT18_MAX })),
});

/** An object with chains as its names. */
function byChain<S extends Shape>(values: S): Shape<unknown, ReadonlyMap<ChainId, InsideOf<S>>> {
  return Type.Unsafe({ type: 'object', propertyNames: CHAIN, additionalProperties: values });
}

function markBandOf(text: string): string | null {
  if (text === 'none') return text;
  const fraction = parseDecimal18(text);
  return fraction !== null && fraction >= 0n && fraction < ONE_18 ? format18(fraction) : null;
}

/** @returns INVALID_REQUEST with the failing member. */
export function readAsset(given: unknown): Outcome<AssetChange> {
  const read = readBody(ASSET_BODY, given);
  if (!read.ok) return read;
  const { rebalancing, tokens, ...change } = read.value;
  const rates = rebalancing === undefined ? null : rebalancingOf(rebalancing);
  if (rates?.ok === false) return rates;
  return accepted({
    ...change,
    ...(rates === null ? {} : { rebalancing: rates.value }),
    ...(tokens === undefined ? {} : { tokens: tokens.map(definitionOf), ...symbolsOf(tokens) }),
  });
}

function rebalancingOf(given: InsideOf<typeof REBALANCING>): Outcome<Rebalancing> {
  if (given.mode === 'fixed') return accepted(given);
  const weights = [...given.target_weights].map(([chain, text]) => [chain, text, parseDecimal18(text) ?? 0n] as const);
  if (weights.reduce((sum, [, , weight]) => sum + weight, 0n) !== ONE_18) {
    return badMember('rebalancing.target_weights', 'a list of weights that add up to 1');
  }
  return accepted({ ...given, target_weights: Object.fromEntries(weights) });
}

type NamedToken = InsideOf<typeof TOKEN>;

function definitionOf({ symbol: _, ...definition }: NamedToken): TokenDefinition {
  return definition;
}

/** Symbols that were given; left out when there are none. */
function symbolsOf(tokens: readonly NamedToken[]): Pick<AssetChange, 'tokenSymbols'> {
  const symbols = tokens.flatMap(({ token, chainId, symbol }) =>
    symbol === null ? [] : [[tokenKey(token, chainId), symbol] as const],
  );
  return symbols.length === 0 ? {} : { tokenSymbols: Object.fromEntries(symbols) };
}

const MILLIONTHS = optional(integers(0, MILLION));
const MAGNITUDE = optional(integer(0, Number.MAX_SAFE_INTEGER));
const MAGNITUDES = optional(integers(0, Number.MAX_SAFE_INTEGER));
const SIGNED = optional(integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
const PERCENT = optional(integer(0, 100));
const HOURLY_RATE = optional(integer(0, 1_142));
/** Null is no cap. */
const CAP = optional(
  parsed(
    nullable(WORD),
    (value) => (value === null ? NO_CAP : wholeOf(value, { min: 0n, max: NO_CAP }))?.toString() ?? null,
    'an integer string in range, or null for no cap,',
  ),
);

/** An integer that is stored as its text. */
function wholeText(max: bigint): Shape<string, string> {
  return parsedText(WORD, (text) => wholeOf(text, { min: 0n, max })?.toString() ?? null, 'an integer string in range');
}

const RISK_BODY: Shape<unknown, Partial<RiskParameters>> = body({
  collateral_factor: PERCENT,
  liability_factor: PERCENT,
  max_collateral: CAP,
  max_total_open_interest_notional: CAP,
  max_spot_open_interest: CAP,
  max_utilization: optional(wholeText(10n ** 18n)),
  isolated_only: optional(FLAG),
  initial_margin_clamps: MILLIONTHS,
  initial_margin_factors: MILLIONTHS,
  max_funding_rate: HOURLY_RATE,
  max_utilization_rate: HOURLY_RATE,
  utilization_kinks: MILLIONTHS,
  rate_at_kinks: MAGNITUDES,
  quote_utilization_kinks: MILLIONTHS,
  quote_rate_at_kinks: MAGNITUDES,
  skew_factor: MAGNITUDE,
  base_funding_rate: SIGNED,
  skew_cliff: MAGNITUDE,
  premium_clamp: MAGNITUDE,
  buffer_multiplier: optional(integer(MILLION, 2 * MILLION)),
  min_sub_account_balance: optional(wholeText(NO_CAP)),
});

/** @returns INVALID_REQUEST with the failing member. */
export function readRisk(given: unknown): Outcome<Partial<RiskParameters>> {
  return readBody(RISK_BODY, given);
}

/** 100 %: a fee never exceeds the proceeds from which it is deducted. */
const FEE_RATE_MAX = 1_000_000;
const WORD_STATUS: ReadonlyMap<string, MarketStatus> = new Map([
  ['Active', MARKET_STATUS.active],
  ['CancelOnly', MARKET_STATUS.cancelOnly],
  ['Halted', MARKET_STATUS.halted],
]);
const DECIMALS = optional(integer(0, 18));
const SIZE = optional(decimal({ min: 1n }));
const STATUS = parsedText(
  words('Active', 'CancelOnly', 'Halted'),
  (text) => WORD_STATUS.get(text) ?? null,
  'one of Active, CancelOnly, Halted',
);

const MARKET_BODY: Shape<unknown, MarketChange> = body({
  book_price_decimals: inside('priceDecimals', DECIMALS),
  book_quantity_decimals: inside('quantityDecimals', DECIMALS),
  tick_size: inside('tickSize', SIZE),
  min_order_size: inside('minimumQuantity', SIZE),
  min_notional: inside('minimumNotional', optional(decimal({ min: 0n, max: AMOUNT18_MAX }))),
  taker_fee_rate: inside('takerFeeRate', optional(integer(0, FEE_RATE_MAX))),
  maker_fee_rate: inside('makerFeeRate', optional(integer(-FEE_RATE_MAX, FEE_RATE_MAX))),
  status: optional(STATUS),
  self_trade_prevention: inside('selfTradePrevention', optional(FLAG)),
  price_collar: inside('priceCollar', optional(nullable(decimal({ min: 1n, max: AMOUNT18_MAX })))),
});

/** @returns INVALID_REQUEST with the failing member. */
export function readMarket(given: unknown): Outcome<MarketChange> {
  return readBody(MARKET_BODY, given);
}

/** The shapes of these bodies, for documents. */
export const REGISTRY_BODIES: Readonly<Record<'asset' | 'risk' | 'market', Shape>> = {
  asset: ASSET_BODY,
  risk: RISK_BODY,
  market: MARKET_BODY,
};
