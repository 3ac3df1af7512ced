/**
 * Converts bodies of the registry into typed changes: assets with their tokens (operator-api.md 4.1), risk parameters
 * (4.2) and markets (4.3). Each member is valid by itself; absent members stay absent.
 *
 * Not here: rules that depend on the current registry (src/clearing/registry).
 */
import { CURVE_K_MAX } from '../../../src/clearing/funds/rebalancing.ts';
import {
  ASSET_CLASSES,
  type AssetChange,
  type AssetClass,
  type Rebalancing,
  tokenKey,
} from '../../../src/clearing/registry/registry-assets.ts';
import type { MarketChange } from '../../../src/clearing/registry/registry-markets.ts';
import { DEFAULT_RISK, MILLION, NO_CAP, type RiskParameters } from '../../../src/clearing/registry/risk-parameters.ts';
import type { TokenDefinition } from '../../../src/clearing/rows.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { parseAddress, parseChainId } from '../../../src/core/ids.ts';
import { AMOUNT18_MAX } from '../../../src/core/limits.ts';
import { MARKET_STATUS, type MarketStatus } from '../../../src/core/order-terms.ts';
import { accepted, type Outcome } from '../../../src/core/outcome.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../../src/core/units.ts';
import { BodyReader, type Bounds, CHAIN_ID_WORDS, readEach, readMembers } from './body-reader.ts';

const TOKEN_MEMBERS = [
  'token',
  'chain_id',
  'decimals',
  'max_deposits',
  'max_1hr_deposits',
  'min_weight',
  'min_first_deposit_base_units',
  'symbol',
];
/** 10^decimals must fit in 256 bits. */
const TOKEN_DECIMALS = { min: 0, max: 77 };
const SYMBOL_FORM = /^[!-~]{1,32}$/;
const NAME_FORM = /^[!-~](?:[ -~]{0,62}[!-~])?$/;
const NOT_NEGATIVE = { min: 0n };
const CURVE_K = { min: 0n, max: CURVE_K_MAX };
/** Caps and weights are members of the public rows (wire.md 7.3) and keep their encoding: integers of 256 bits. */
const WORD = { min: 0n, max: NO_CAP };
/** Rates are clamped when they are applied; any fraction may be configured. */
const ANY_RATE = { min: -ONE_18, max: ONE_18 };

const ASSET_MEMBERS = [
  'symbol',
  'max_adl',
  'rebalancing',
  'tokens',
  'name',
  'asset_class',
  'mark_band',
  'mark_min_notional',
];
/** A mark below zero is none. */
const MARK_BAND = { min: 0n, max: ONE_18 - 1n };
const MARK_MINIMUM = { min: 0n, max: AMOUNT18_MAX };

/** @returns INVALID_REQUEST with the failing member. */
export function readAsset(body: unknown): Outcome<AssetChange> {
  const reader = new BodyReader(body, ASSET_MEMBERS);
  const symbol = reader.textOrNull('symbol', null);
  if (symbol !== null && !SYMBOL_FORM.test(symbol)) reader.fail('symbol', '1 to 32 visible characters are expected');
  const maxAdl = reader.decimalOrNull('max_adl', NOT_NEGATIVE, null);
  const rebalancing = reader.has('rebalancing') ? readRebalancing(reader.raw('rebalancing')) : null;
  const tokens = readTokens(reader);
  const name = reader.textOrNull('name', null);
  if (name !== null && !NAME_FORM.test(name)) reader.fail('name', '1 to 64 printable characters are expected');
  const assetClass = readAssetClass(reader);
  const markBand = readMarkBand(reader);
  const markMinimum = reader.decimal('mark_min_notional', MARK_MINIMUM, ZERO_18);
  if (rebalancing?.ok === false) return rebalancing;
  return (
    reader.failure ??
    accepted({
      ...(reader.has('symbol') ? { symbol } : {}),
      ...(reader.has('max_adl') ? { max_adl: maxAdl === null ? null : format18(maxAdl) } : {}),
      ...(rebalancing === null ? {} : { rebalancing: rebalancing.value }),
      ...(reader.has('tokens') ? { tokens: tokens.map(({ definition }) => definition), ...symbolsOf(tokens) } : {}),
      ...(reader.has('name') ? { name } : {}),
      ...(reader.has('asset_class') ? { asset_class: assetClass } : {}),
      ...(reader.has('mark_band') ? { mark_band: markBand } : {}),
      ...(reader.has('mark_min_notional') ? { mark_min_notional: format18(markMinimum) } : {}),
    })
  );
}

/** A fraction, `none`, or null (MON-06). */
function readMarkBand(reader: BodyReader): string | null {
  if (reader.raw('mark_band') === 'none') return 'none';
  const fraction = reader.decimalOrNull('mark_band', MARK_BAND, null);
  return fraction === null ? null : format18(fraction);
}

function readAssetClass(reader: BodyReader): AssetClass | null {
  const text = reader.textOrNull('asset_class', null);
  const known = ASSET_CLASSES.find((each) => each === text) ?? null;
  if (text !== null && known === null) reader.fail('asset_class', `one of ${ASSET_CLASSES.join(', ')} is expected`);
  return known;
}

interface NamedToken {
  readonly definition: TokenDefinition;
  readonly symbol: string | null;
}

/** Symbols that were given; left out when there are none. */
function symbolsOf(tokens: readonly NamedToken[]): Pick<AssetChange, 'tokenSymbols'> {
  const symbols = tokens.flatMap(({ definition: { token, chainId }, symbol }) =>
    symbol === null ? [] : [[tokenKey(token, chainId), symbol] as const],
  );
  return symbols.length === 0 ? {} : { tokenSymbols: Object.fromEntries(symbols) };
}

function readTokens(reader: BodyReader): readonly NamedToken[] {
  const items = reader.list('tokens', []).map((item, at) => new BodyReader(item, TOKEN_MEMBERS, `tokens[${at}].`));
  return readEach(reader, items, readToken);
}

function readToken(reader: BodyReader): NamedToken {
  const symbol = reader.textOrNull('symbol', null);
  if (symbol !== null && !SYMBOL_FORM.test(symbol)) reader.fail('symbol', '1 to 32 visible characters are expected');
  return { definition: readDefinition(reader), symbol };
}

function readDefinition(reader: BodyReader): TokenDefinition {
  return {
    token: reader.form('token', parseAddress, 'a token address is', undefined, ''),
    chainId: reader.form('chain_id', parseChainId, `${CHAIN_ID_WORDS} is`, undefined, '' as TokenDefinition['chainId']),
    decimals: reader.integer('decimals', TOKEN_DECIMALS, undefined),
    maxDeposits: reader.integerTextOrNull('max_deposits', WORD, null) as Amount18 | null,
    max1hrDeposits: reader.integerTextOrNull('max_1hr_deposits', WORD, null) as Amount18 | null,
    minWeight: reader.integerText('min_weight', WORD, 0n) as Amount18,
    minFirstDepositBaseUnits: reader.integerText('min_first_deposit_base_units', NOT_NEGATIVE, 0n),
  };
}

function readRebalancing(body: unknown): Outcome<Rebalancing> {
  const path = 'rebalancing.';
  const mode = new BodyReader(body, ['mode', 'deposit_rate', 'withdrawal_rate', 'k', 'target_weights'], path);
  if (mode.word('mode', ['fixed', 'curve'], undefined) === 'fixed') {
    const reader = new BodyReader(body, ['mode', 'deposit_rate', 'withdrawal_rate'], path);
    const deposit = format18(reader.decimal('deposit_rate', ANY_RATE, ZERO_18));
    const withdrawal = format18(reader.decimal('withdrawal_rate', ANY_RATE, ZERO_18));
    return (
      mode.failure ?? reader.failure ?? accepted({ mode: 'fixed', deposit_rate: deposit, withdrawal_rate: withdrawal })
    );
  }
  const reader = new BodyReader(body, ['mode', 'k', 'target_weights'], path);
  const k = format18(reader.decimal('k', CURVE_K, undefined));
  const chains = Object.keys((reader.raw('target_weights') ?? {}) as object);
  const weights = new BodyReader(reader.raw('target_weights'), chains, `${path}target_weights.`);
  let sum = 0n;
  const targets = chains.map((chain): [string, string] => {
    const id = parseChainId(chain);
    if (id === null) weights.fail(chain, `${CHAIN_ID_WORDS} is expected`);
    const weight = weights.decimal(chain, { min: 0n, max: ONE_18 }, undefined);
    sum += weight;
    return [id ?? chain, format18(weight)];
  });
  if (weights.failure === null && sum !== ONE_18)
    reader.fail('target_weights', 'weights that add up to 1 are expected');
  return (
    mode.failure ??
    reader.failure ??
    weights.failure ??
    accepted({ mode: 'curve', k, target_weights: Object.fromEntries(targets) })
  );
}

const PERCENT: Bounds = { min: 0, max: 100 };
const FRACTION: Bounds = { min: 0, max: MILLION };
const RATE: Bounds = { min: 0, max: 1_142 };
const MAGNITUDE: Bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
const SIGNED: Bounds = { min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
const BUFFER: Bounds = { min: MILLION, max: 2 * MILLION };
const ONE_IN_18_DECIMALS = { min: 0n, max: 10n ** 18n };

type Member<T> = (reader: BodyReader, name: string) => T;

function integer(bounds: Bounds): Member<number> {
  return (reader, name) => reader.integer(name, bounds, undefined);
}

function integers(bounds: Bounds): Member<readonly number[]> {
  return (reader, name) => reader.integers(name, bounds, []);
}

function amount(bounds: { readonly min: bigint; readonly max: bigint }): Member<string> {
  return (reader, name) => reader.integerText(name, bounds, undefined).toString();
}

const cap: Member<string> = (reader, name) => (reader.integerTextOrNull(name, WORD, NO_CAP) ?? NO_CAP).toString();
const flag: Member<boolean> = (reader, name) => reader.flag(name, undefined);

const RISK: { readonly [Name in keyof RiskParameters]: Member<RiskParameters[Name]> } = {
  collateral_factor: integer(PERCENT),
  liability_factor: integer(PERCENT),
  max_collateral: cap,
  max_total_open_interest_notional: cap,
  max_spot_open_interest: cap,
  max_utilization: amount(ONE_IN_18_DECIMALS),
  isolated_only: flag,
  initial_margin_clamps: integers(FRACTION),
  initial_margin_factors: integers(FRACTION),
  max_funding_rate: integer(RATE),
  max_utilization_rate: integer(RATE),
  utilization_kinks: integers(FRACTION),
  rate_at_kinks: integers(MAGNITUDE),
  quote_utilization_kinks: integers(FRACTION),
  quote_rate_at_kinks: integers(MAGNITUDE),
  skew_factor: integer(MAGNITUDE),
  base_funding_rate: integer(SIGNED),
  skew_cliff: integer(MAGNITUDE),
  premium_clamp: integer(MAGNITUDE),
  buffer_multiplier: integer(BUFFER),
  min_sub_account_balance: amount(WORD),
};

/** @returns INVALID_REQUEST with the failing member. */
export function readRisk(body: unknown): Outcome<Partial<RiskParameters>> {
  return readMembers(new BodyReader(body, Object.keys(DEFAULT_RISK)), RISK);
}

const DECIMALS = { min: 0, max: 18 };
/** 100 %: a fee never exceeds the proceeds from which it is deducted. */
const FEE_RATE_MAX = 1_000_000;
const WORD_STATUS = {
  Active: MARKET_STATUS.active,
  CancelOnly: MARKET_STATUS.cancelOnly,
  Halted: MARKET_STATUS.halted,
} as const;

const size: Member<Amount18> = (reader, name) => reader.decimal(name, { min: 1n }, undefined);
const status: Member<MarketStatus> = (reader, name) =>
  WORD_STATUS[reader.word(name, ['Active', 'CancelOnly', 'Halted'], undefined)];
const notional: Member<Amount18> = (reader, name) => reader.decimal(name, { min: 0n, max: AMOUNT18_MAX }, undefined);
const collar: Member<Amount18 | null> = (reader, name) =>
  reader.decimalOrNull(name, { min: 1n, max: AMOUNT18_MAX }, null);

/** By wire name, in the order in which they are read. */
const MARKET = {
  book_price_decimals: integer(DECIMALS),
  book_quantity_decimals: integer(DECIMALS),
  tick_size: size,
  min_order_size: size,
  min_notional: notional,
  taker_fee_rate: integer({ min: 0, max: FEE_RATE_MAX }),
  maker_fee_rate: integer({ min: -FEE_RATE_MAX, max: FEE_RATE_MAX }),
  status,
  self_trade_prevention: flag,
  price_collar: collar,
} as const;

/** @returns INVALID_REQUEST with the failing member. */
export function readMarket(body: unknown): Outcome<MarketChange> {
  const outcome = readMembers<{ readonly [Name in keyof typeof MARKET]: ReturnType<(typeof MARKET)[Name]> }>(
    new BodyReader(body, Object.keys(MARKET)),
    MARKET,
  );
  if (!outcome.ok) return outcome;
  const given = outcome.value;
  return accepted({
    ...(given.book_price_decimals === undefined ? {} : { priceDecimals: given.book_price_decimals }),
    ...(given.book_quantity_decimals === undefined ? {} : { quantityDecimals: given.book_quantity_decimals }),
    ...(given.tick_size === undefined ? {} : { tickSize: given.tick_size }),
    ...(given.min_order_size === undefined ? {} : { minimumQuantity: given.min_order_size }),
    ...(given.min_notional === undefined ? {} : { minimumNotional: given.min_notional }),
    ...(given.taker_fee_rate === undefined ? {} : { takerFeeRate: given.taker_fee_rate }),
    ...(given.maker_fee_rate === undefined ? {} : { makerFeeRate: given.maker_fee_rate }),
    ...(given.status === undefined ? {} : { status: given.status }),
    ...(given.self_trade_prevention === undefined ? {} : { selfTradePrevention: given.self_trade_prevention }),
    ...(given.price_collar === undefined ? {} : { priceCollar: given.price_collar }),
  });
}
