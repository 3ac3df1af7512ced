/**
 * The asset registry: assets with their tokens (operator-api.md 4.1) and risk rows (4.2).
 *
 * The decimals of a token on its chain are its own for ever: balances were counted with them. An asset remembers those of
 * tokens that it no longer has, so that neither it nor another takes such a token with others.
 *
 * Not here: what a risk row may hold (risk-parameters.ts).
 */
import { format18 } from '../../core/decimal.ts';
import { type AssetId, parseAddress, parseChainId, USD } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { Method, PutAsset, PutRisk } from '../inputs.ts';
import { placeRisk } from '../risks.ts';
import type { AssetRow, TokenDefinition } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { BodyReader, readEach } from './body-reader.ts';
import {
  DEFAULT_RISK,
  keepsUsdFixed,
  parseRisk,
  type RiskParameters,
  readRiskParameters,
  riskView,
  USD_RISK,
} from './risk-parameters.ts';

type View = Readonly<Record<string, unknown>>;

/** Rebalancing at deposit and withdrawal (AMB-75), in wire form. */
type Rebalancing =
  | { readonly mode: 'fixed'; readonly deposit_rate: string; readonly withdrawal_rate: string }
  | { readonly mode: 'curve'; readonly k: string; readonly target_weights: Readonly<Record<string, string>> };

interface AssetSettings {
  readonly max_adl: string | null;
  readonly rebalancing: Rebalancing;
  /** Decimals of tokens that the asset no longer has, by `tokenKey`; not shown, left out when there are none. */
  readonly dropped?: Readonly<Record<string, number>>;
}

const DEFAULT_SETTINGS_JSON = JSON.stringify({
  max_adl: null,
  rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0' },
} satisfies AssetSettings);

/** Tokens that an asset may ever have dropped. */
const DROPPED_MAX = 1_024;

const TOKEN_MEMBERS = [
  'token',
  'chain_id',
  'decimals',
  'max_deposits',
  'max_1hr_deposits',
  'min_weight',
  'min_first_deposit_base_units',
];
/** So that 10^decimals fits in 256 bits. */
const TOKEN_DECIMALS = { min: 0, max: 77 };
const SYMBOL_FORM = /^[!-~]{1,32}$/;
const NOT_NEGATIVE = { min: 0n };
/** Caps and weights are members of the public rows (wire.md 7.3) and keep their encoding: integers of 256 bits. */
const WORD = { min: 0n, max: (1n << 256n) - 1n };
/** Rates are clamped when they are applied; what may be configured is any fraction. */
const ANY_RATE = { min: -ONE_18, max: ONE_18 };

export function tokenKey(token: string, chainId: string): string {
  return `${token}@${chainId}`;
}

function readToken(reader: BodyReader): TokenDefinition {
  return {
    token: reader.form('token', parseAddress, 'a token address is', undefined, ''),
    chainId: reader.form('chain_id', parseChainId, 'a chain id is', undefined, '' as TokenDefinition['chainId']),
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
  const k = format18(reader.decimal('k', NOT_NEGATIVE, undefined));
  const chains = Object.keys((reader.raw('target_weights') ?? {}) as object);
  const weights = new BodyReader(reader.raw('target_weights'), chains, `${path}target_weights.`);
  const targets = chains.map((chain): [string, string] => {
    const id = parseChainId(chain);
    if (id === null) weights.fail(chain, 'a chain id is expected');
    return [id ?? chain, format18(weights.decimal(chain, { min: 0n, max: ONE_18 }, undefined))];
  });
  return (
    mode.failure ??
    reader.failure ??
    weights.failure ??
    accepted({ mode: 'curve', k, target_weights: Object.fromEntries(targets) })
  );
}

/** The tokens of the body; `decimals` of one that exists never change, and a token belongs to one asset. */
function readTokens(state: ClearingState, assetId: AssetId, reader: BodyReader): readonly TokenDefinition[] {
  const items = reader.list('tokens', []).map((item, at) => new BodyReader(item, TOKEN_MEMBERS, `tokens[${at}].`));
  const tokens = readEach(reader, items, readToken);
  const seen = new Set<string>();
  tokens.forEach((token, at) => {
    const key = tokenKey(token.token, token.chainId);
    const field = `tokens[${at}]`;
    const registered = state.tokens.get(key);
    if (seen.has(key)) reader.fail(field, 'this token is named twice');
    seen.add(key);
    if (registered !== undefined && registered.asset !== assetId) {
      reader.fail(field, `this token belongs to asset ${registered.asset}`);
    } else if ((state.tokenDecimals.get(key) ?? token.decimals) !== token.decimals) {
      reader.keep(reject('IMMUTABLE_FIELD', 'the decimals of a token never change', `${field}.decimals`));
    }
  });
  return tokens;
}

/** What the asset remembers of tokens that it has no longer. */
function droppedAfter(
  before: AssetRow | undefined,
  tokens: readonly TokenDefinition[],
): Pick<AssetSettings, 'dropped'> {
  if (before === undefined) return {};
  const dropped = new Map(Object.entries((JSON.parse(before.settingsJson) as AssetSettings).dropped ?? {}));
  for (const { token, chainId, decimals } of before.tokens) dropped.set(tokenKey(token, chainId), decimals);
  for (const { token, chainId } of tokens) dropped.delete(tokenKey(token, chainId));
  return dropped.size === 0 ? {} : { dropped: Object.fromEntries(dropped) };
}

function readAsset(state: ClearingState, assetId: AssetId, method: Method, body: unknown): Outcome<AssetRow> {
  const now = state.assets.get(assetId);
  const keeps = method === 'patch' ? now : undefined;
  const reader = new BodyReader(body, ['symbol', 'max_adl', 'rebalancing', 'tokens']);
  const settings = JSON.parse(keeps?.settingsJson ?? DEFAULT_SETTINGS_JSON) as AssetSettings;
  const symbol = reader.textOrNull('symbol', keeps?.symbol ?? null);
  if (symbol !== null && !SYMBOL_FORM.test(symbol)) reader.fail('symbol', '1 to 32 visible characters are expected');
  const maxAdl = reader.decimalOrNull('max_adl', NOT_NEGATIVE, null);
  const rebalancing = reader.has('rebalancing')
    ? readRebalancing(reader.raw('rebalancing'))
    : accepted(settings.rebalancing);
  const tokens = reader.has('tokens') ? readTokens(state, assetId, reader) : (keeps?.tokens ?? []);
  if (!rebalancing.ok) return rejected(rebalancing.reject);
  const next: AssetSettings = {
    max_adl: reader.has('max_adl') ? (maxAdl === null ? null : format18(maxAdl)) : settings.max_adl,
    rebalancing: rebalancing.value,
    ...droppedAfter(now, tokens),
  };
  if (Object.keys(next.dropped ?? {}).length > DROPPED_MAX) {
    reader.fail('tokens', `an asset drops at most ${DROPPED_MAX} tokens in its life`);
  }
  const riskJson = now?.riskJson ?? (assetId === USD ? JSON.stringify(USD_RISK) : null);
  return reader.failure ?? accepted({ assetId, symbol, settingsJson: JSON.stringify(next), tokens, riskJson });
}

/** Puts an asset row in its place, with the tokens that follow from it. */
export function placeAsset(state: ClearingState, row: AssetRow): void {
  for (const token of state.assets.get(row.assetId)?.tokens ?? []) {
    state.tokens.delete(tokenKey(token.token, token.chainId));
  }
  for (const token of row.tokens) {
    const key = tokenKey(token.token, token.chainId);
    state.tokens.set(key, { asset: row.assetId, decimals: token.decimals });
    state.tokenDecimals.set(key, token.decimals);
  }
  const { dropped = {} } = JSON.parse(row.settingsJson) as AssetSettings;
  for (const [key, decimals] of Object.entries(dropped)) state.tokenDecimals.set(key, decimals);
  state.assets.set(row.assetId, row);
  placeRisk(state, row);
}

function changeAsset(state: ClearingState, row: AssetRow, effects: Effect[]): void {
  placeAsset(state, row);
  state.dirty.assets.add(row.assetId);
  effects.push({ kind: 'registryChanged', change: { table: 'asset', row } });
}

/** @returns the asset in wire form; ASSET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD. */
export function applyPutAsset(state: ClearingState, input: PutAsset, effects: Effect[]): Outcome<View> {
  const { assetId, method, body } = input;
  if (method === 'patch' && !state.assets.has(assetId)) return rejected(assetNotFound(assetId));
  const outcome = readAsset(state, assetId, method, body);
  if (!outcome.ok) return outcome;
  changeAsset(state, outcome.value, effects);
  return accepted(assetView(outcome.value));
}

/** @returns the risk row; ASSET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD for USD. */
export function applyPutRisk(state: ClearingState, input: PutRisk, effects: Effect[]): Outcome<View> {
  const asset = state.assets.get(input.assetId);
  if (asset === undefined) return rejected(assetNotFound(input.assetId));
  const outcome = readRiskParameters(input.body, input.method === 'put' ? DEFAULT_RISK : riskOf(asset));
  if (!outcome.ok) return outcome;
  if (asset.assetId === USD && !keepsUsdFixed(outcome.value)) {
    return rejected(reject('IMMUTABLE_FIELD', 'the factors of USD are fixed', 'collateral_factor'));
  }
  changeAsset(state, { ...asset, riskJson: JSON.stringify(outcome.value) }, effects);
  return accepted(riskView(outcome.value));
}

/** The risk row in force: the defaults with CF 0 until one is put. */
export function riskOf(asset: AssetRow): RiskParameters {
  return asset.riskJson === null ? DEFAULT_RISK : parseRisk(asset.riskJson);
}

/** An index of the registry, or one of its tokens on its chain: such an asset has no row, hence no collateral value (AMB-108). */
export function knowsAsset(state: ClearingState, assetId: AssetId): boolean {
  return state.assets.has(assetId) || state.tokens.has(assetId);
}

export function assetNotFound(assetId: AssetId): ReturnType<typeof reject> {
  return reject('ASSET_NOT_FOUND', `asset ${assetId} is not in the registry`);
}

/** The object of operator-api.md 4.1. */
export function assetView(row: AssetRow): View {
  const settings = JSON.parse(row.settingsJson) as AssetSettings;
  return {
    asset_id: row.assetId,
    symbol: row.symbol,
    max_adl: settings.max_adl,
    rebalancing: settings.rebalancing,
    tokens: row.tokens.map((token) => ({
      token: token.token,
      chain_id: token.chainId,
      decimals: token.decimals,
      max_deposits: token.maxDeposits?.toString() ?? null,
      max_1hr_deposits: token.max1hrDeposits?.toString() ?? null,
      min_weight: token.minWeight.toString(),
      min_first_deposit_base_units: token.minFirstDepositBaseUnits.toString(),
    })),
  };
}
