/**
 * The asset registry: assets with their tokens (operator-api.md 4.1) and risk rows (4.2).
 *
 * The decimals of a token on its chain are its own for ever: balances were counted with them. An asset remembers those of
 * tokens that it no longer has, so that neither it nor another takes such a token with others.
 *
 * Not here: what a risk row may hold (risk-parameters.ts), shapes of requests (src/operator/registry-bodies.ts).
 */
import { must } from '../../core/assert.ts';
import { format18, parseDecimal18 } from '../../core/decimal.ts';
import { type AssetId, USD } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Amount18 } from '../../core/units.ts';
import { markBandMax, type RiskTerms, termsOfRow } from '../../risk/risk-terms.ts';
import type { Effect } from '../effects.ts';
import type { PutAsset, PutRisk } from '../inputs.ts';
import { placeRisk } from '../risks.ts';
import type { AssetRow, TokenDefinition } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import {
  changedRisk,
  DEFAULT_RISK,
  keepsUsdFixed,
  parseRisk,
  type RiskParameters,
  riskView,
  USD_RISK,
} from './risk-parameters.ts';
import { markBandAgeNs } from './stored-settings.ts';

type View = Readonly<Record<string, unknown>>;

/** Rebalancing at deposit and withdrawal (AMB-75), in wire form. */
export type Rebalancing =
  | { readonly mode: 'fixed'; readonly deposit_rate: string; readonly withdrawal_rate: string }
  | { readonly mode: 'curve'; readonly k: string; readonly target_weights: Readonly<Record<string, string>> };

export const ASSET_CLASSES = ['crypto', 'fiat', 'equity', 'commodity', 'index'] as const;
export type AssetClass = (typeof ASSET_CLASSES)[number];

/** Members of an asset that a request gives, each valid by itself (src/operator/registry-bodies.ts). */
export interface AssetChange {
  readonly symbol?: string | null;
  /** A decimal. */
  readonly max_adl?: string | null;
  readonly rebalancing?: Rebalancing;
  readonly tokens?: readonly TokenDefinition[];
  /** Symbols of the tokens, by `tokenKey`; given with `tokens`. */
  readonly tokenSymbols?: Readonly<Record<string, string>>;
  readonly name?: string | null;
  readonly asset_class?: AssetClass | null;
  /** A decimal, 'none', or null: as the factors have it (MON-06). */
  readonly mark_band?: string | null;
  /** A decimal, USD. */
  readonly mark_min_notional?: string;
}

/** How an asset and its tokens are called; a member that is not configured is left out. */
interface AssetNames {
  readonly name?: string;
  readonly asset_class?: AssetClass;
  /** By `tokenKey`. */
  readonly token_symbols?: Readonly<Record<string, string>>;
}

interface AssetSettings extends AssetNames {
  readonly max_adl: string | null;
  readonly rebalancing: Rebalancing;
  /** Left out where it follows from the factors. */
  readonly mark_band?: string;
  /** Left out where any trade is enough. */
  readonly mark_min_notional?: string;
  /** Decimals of tokens that the asset no longer has, by `tokenKey`; not shown, left out when there are none. */
  readonly dropped?: Readonly<Record<string, number>>;
}

const DEFAULT_SETTINGS_JSON = JSON.stringify({
  max_adl: null,
  rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0' },
} satisfies AssetSettings);

/** Tokens that an asset may ever have dropped. */
const DROPPED_MAX = 1_024;

/** Asset units that auto-deleveraging may close per market in any 24 hours; null for no cap (ADL-06). */
export function maxAdlOf({ settingsJson }: AssetRow): Amount18 | null {
  const { max_adl: cap } = JSON.parse(settingsJson) as AssetSettings;
  return cap === null ? null : (must(parseDecimal18(cap), 'settings hold decimals') as Amount18);
}

/** `mark_band` as it was given. */
function markBandOf({ settingsJson }: AssetRow): string | null {
  return (JSON.parse(settingsJson) as AssetSettings).mark_band ?? null;
}

/** USD: what a match has to be worth to set the mark. */
function markMinimumOf({ settingsJson }: AssetRow): Amount18 {
  const { mark_min_notional: minimum = '0' } = JSON.parse(settingsJson) as AssetSettings;
  return must(parseDecimal18(minimum), 'settings hold decimals') as Amount18;
}

/** What margin has of an asset. @param bandAgeNs the setting `mark_band_age_ms`. */
export function riskTermsOf(row: AssetRow, bandAgeNs: bigint): RiskTerms {
  const risk = row.riskJson === null ? null : parseRisk(row.riskJson);
  return termsOfRow(row.assetId, risk, { markBand: markBandOf(row), bandAgeNs });
}

/** A band that is wider than the factors permit, or a member of an asset whose mark nothing reads (MON-06, MON-10). */
function markFault(row: AssetRow): Reject | null {
  const given = markBandOf(row);
  if (row.assetId === USD && markMinimumOf(row) !== 0n) {
    return reject('INVALID_REQUEST', 'USD has no mark', 'mark_min_notional');
  }
  if (given === null) return null;
  if (row.assetId === USD) return reject('INVALID_REQUEST', 'USD has no mark', 'mark_band');
  if (given === 'none') return null;
  const widest = markBandMax(termsOfRow(row.assetId, assetRiskOf(row)));
  if (must(parseDecimal18(given), 'settings hold decimals') <= widest) return null;
  return reject(
    'INVALID_REQUEST',
    `the factors of the asset permit a band of at most ${format18(widest)}`,
    'mark_band',
  );
}

export function tokenKey(token: string, chainId: string): string {
  return `${token}@${chainId}`;
}

/** `decimals` of a token that exists never change, and a token belongs to one asset. */
function tokensFault(state: ClearingState, assetId: AssetId, tokens: readonly TokenDefinition[]): Reject | null {
  const seen = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const key = tokenKey(token.token, token.chainId);
    const field = `tokens[${at}]`;
    const registered = state.tokens.get(key);
    if (seen.has(key)) return reject('INVALID_REQUEST', 'this token is named twice', field);
    seen.add(key);
    if (registered !== undefined && registered.asset !== assetId) {
      return reject('INVALID_REQUEST', `this token belongs to asset ${registered.asset}`, field);
    }
    const held = state.vaultTokens.get(key);
    if (held !== undefined && held.baseUnits > 0n && held.asset !== assetId) {
      return reject('INVALID_REQUEST', `the units of this token in its vault belong to asset ${held.asset}`, field);
    }
    if ((state.tokenDecimals.get(key) ?? token.decimals) !== token.decimals) {
      return reject('IMMUTABLE_FIELD', 'the decimals of a token never change', `${field}.decimals`);
    }
  }
  return null;
}

/** Decimals of the tokens that an asset had and has no longer, by `tokenKey`. */
export function droppedTokens({ settingsJson }: AssetRow): ReadonlyMap<string, number> {
  return new Map(Object.entries((JSON.parse(settingsJson) as AssetSettings).dropped ?? {}));
}

/** What the asset remembers of tokens that it has no longer. */
function droppedAfter(
  before: AssetRow | undefined,
  tokens: readonly TokenDefinition[],
): Pick<AssetSettings, 'dropped'> {
  if (before === undefined) return {};
  const dropped = new Map(droppedTokens(before));
  for (const { token, chainId, decimals } of before.tokens) dropped.set(tokenKey(token, chainId), decimals);
  for (const { token, chainId } of tokens) dropped.delete(tokenKey(token, chainId));
  return dropped.size === 0 ? {} : { dropped: Object.fromEntries(dropped) };
}

/** Names after a change; null removes one. Without any, the settings are those of before there were names. */
function namesAfter(settings: AssetNames, change: AssetChange): AssetNames {
  const { name = settings.name ?? null, asset_class: kind = settings.asset_class ?? null } = change;
  const symbols = change.tokens === undefined ? (settings.token_symbols ?? {}) : (change.tokenSymbols ?? {});
  return {
    ...(name === null ? {} : { name }),
    ...(kind === null ? {} : { asset_class: kind }),
    ...(Object.keys(symbols).length === 0 ? {} : { token_symbols: symbols }),
  };
}

/** The row that an asset has after a change. */
function changedAsset(state: ClearingState, { assetId, method, change }: PutAsset): Outcome<AssetRow> {
  const now = state.assets.get(assetId);
  const keeps = method === 'patch' ? now : undefined;
  const tokens = change.tokens ?? keeps?.tokens ?? [];
  const fault = change.tokens === undefined ? null : tokensFault(state, assetId, change.tokens);
  if (fault !== null) return rejected(fault);
  const settings = JSON.parse(keeps?.settingsJson ?? DEFAULT_SETTINGS_JSON) as AssetSettings;
  const { symbol = keeps?.symbol ?? null, max_adl = settings.max_adl, rebalancing = settings.rebalancing } = change;
  const { mark_band = settings.mark_band ?? null, mark_min_notional = settings.mark_min_notional ?? '0' } = change;
  const next: AssetSettings = {
    max_adl,
    rebalancing,
    ...(mark_band === null ? {} : { mark_band }),
    ...(mark_min_notional === '0' ? {} : { mark_min_notional }),
    ...droppedAfter(now, tokens),
    ...namesAfter(settings, change),
  };
  if (Object.keys(next.dropped ?? {}).length > DROPPED_MAX) {
    return rejected(reject('INVALID_REQUEST', `an asset drops at most ${DROPPED_MAX} tokens in its life`, 'tokens'));
  }
  const riskJson = now?.riskJson ?? (assetId === USD ? JSON.stringify(USD_RISK) : null);
  const row = { assetId, symbol, settingsJson: JSON.stringify(next), tokens, riskJson };
  const refused = markFault(row);
  return refused === null ? accepted(row) : rejected(refused);
}

/** The rebalancing rates of an asset, as given. */
export function rebalancingOf(state: ClearingState, assetId: AssetId): Rebalancing {
  const settings = JSON.parse(state.assets.get(assetId)?.settingsJson ?? DEFAULT_SETTINGS_JSON) as AssetSettings;
  return settings.rebalancing;
}

/** Puts an asset row in its place, with the tokens that follow from it. */
export function placeAsset(state: ClearingState, row: AssetRow): void {
  for (const token of state.assets.get(row.assetId)?.tokens ?? []) {
    state.tokens.delete(tokenKey(token.token, token.chainId));
  }
  for (const token of row.tokens) {
    const key = tokenKey(token.token, token.chainId);
    const { decimals, maxDeposits, max1hrDeposits } = token;
    state.tokens.set(key, { asset: row.assetId, decimals, maxDeposits, max1hrDeposits });
    state.tokenDecimals.set(key, token.decimals);
  }
  for (const [key, decimals] of droppedTokens(row)) state.tokenDecimals.set(key, decimals);
  state.assets.set(row.assetId, row);
  state.lots.capsChanged();
  placeTerms(state, row);
}

/** The terms of an asset follow from its row and from a setting. */
export function placeTerms(state: ClearingState, row: AssetRow): void {
  const risk = riskTermsOf(row, markBandAgeNs(state.settings));
  placeRisk(state, row.assetId, { risk, markMinimum: markMinimumOf(row) });
}

function changeAsset(state: ClearingState, row: AssetRow, effects: Effect[]): void {
  placeAsset(state, row);
  state.dirty.assets.add(row.assetId);
  effects.push({ kind: 'registryChanged', change: { table: 'asset', row } });
}

/** @returns the asset in wire form; ASSET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD. */
export function applyPutAsset(state: ClearingState, input: PutAsset, effects: Effect[]): Outcome<View> {
  const { assetId, method } = input;
  if (method === 'patch' && !state.assets.has(assetId)) return rejected(assetNotFound(assetId));
  const outcome = changedAsset(state, input);
  if (!outcome.ok) return outcome;
  changeAsset(state, outcome.value, effects);
  return accepted(assetView(outcome.value));
}

/** @returns the risk row; ASSET_NOT_FOUND, INVALID_REQUEST, IMMUTABLE_FIELD for USD. */
export function applyPutRisk(state: ClearingState, input: PutRisk, effects: Effect[]): Outcome<View> {
  const asset = state.assets.get(input.assetId);
  if (asset === undefined) return rejected(assetNotFound(input.assetId));
  const outcome = changedRisk(input.method === 'put' ? DEFAULT_RISK : assetRiskOf(asset), input.change);
  if (!outcome.ok) return outcome;
  if (asset.assetId === USD && !keepsUsdFixed(outcome.value)) {
    return rejected(reject('IMMUTABLE_FIELD', 'the factors of USD are fixed', 'collateral_factor'));
  }
  const row = { ...asset, riskJson: JSON.stringify(outcome.value) };
  const refused = markFault(row);
  if (refused !== null) return rejected(refused);
  changeAsset(state, row, effects);
  return accepted(riskView(outcome.value));
}

/** The risk row in force: the defaults with CF 0 until one is put. */
export function assetRiskOf(asset: AssetRow): RiskParameters {
  return asset.riskJson === null ? DEFAULT_RISK : parseRisk(asset.riskJson);
}

/**
 * An index of the registry, or one of its tokens on its chain: such an asset has no row, hence no collateral value
 * (AMB-108).
 */
export function knowsAsset(state: ClearingState, assetId: AssetId): boolean {
  return state.assets.has(assetId) || state.tokens.has(assetId);
}

export function assetNotFound(assetId: AssetId): ReturnType<typeof reject> {
  return reject('ASSET_NOT_FOUND', `asset ${assetId} is not in the registry`);
}

/** How an indexed asset is shown to users (wire-additions.md 5); null for one without a symbol. */
interface SymbolView {
  readonly symbol: string;
  readonly name: string;
  readonly assetClass: AssetClass;
  /** Symbols of its tokens, in the order of their registration. */
  readonly representations: readonly string[];
}

export function symbolOf(row: AssetRow): SymbolView | null {
  if (row.symbol === null) return null;
  const { name = row.symbol, asset_class: kind, token_symbols = {} } = JSON.parse(row.settingsJson) as AssetSettings;
  const symbols = row.tokens.flatMap(({ token, chainId }) => token_symbols[tokenKey(token, chainId)] ?? []);
  const assetClass = row.assetId === USD ? 'fiat' : (kind ?? 'crypto');
  return { symbol: row.symbol, name, assetClass, representations: [...new Set(symbols)] };
}

/** The object of operator-api.md 4.1; names are shown once they are configured (wire-additions.md 5). */
export function assetView(row: AssetRow): View {
  const settings = JSON.parse(row.settingsJson) as AssetSettings;
  const symbolFor = (key: string): string | undefined => settings.token_symbols?.[key];
  return {
    asset_id: row.assetId,
    symbol: row.symbol,
    max_adl: settings.max_adl,
    rebalancing: settings.rebalancing,
    mark_band: settings.mark_band ?? null,
    mark_min_notional: settings.mark_min_notional ?? '0',
    tokens: row.tokens.map((token) => ({
      token: token.token,
      chain_id: token.chainId,
      decimals: token.decimals,
      max_deposits: token.maxDeposits?.toString() ?? null,
      max_1hr_deposits: token.max1hrDeposits?.toString() ?? null,
      min_weight: token.minWeight.toString(),
      min_first_deposit_base_units: token.minFirstDepositBaseUnits.toString(),
      ...given('symbol', symbolFor(tokenKey(token.token, token.chainId))),
    })),
    ...given('name', settings.name),
    ...given('asset_class', settings.asset_class),
  };
}

function given(name: string, value: string | undefined): View {
  return value === undefined ? {} : { [name]: value };
}
