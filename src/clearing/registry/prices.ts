/**
 * Oracle prices (operator-api.md 5, AMB-108): the last accepted price of each asset with its publish time.
 *
 * A price that jumps further than the setting allows is refused and remembered; a nearly equal price of a second
 * source confirms it.
 *
 * Each accepted price moves the breaker of its oracle (CB-03, AMB-44).
 *
 * Not here: marks (risks.ts), when a price is stale (src/risk/prices.ts).
 */
import { mulDivFloor } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { format18, parseDecimal18 } from '../../core/decimal.ts';
import { type AssetId, USD } from '../../core/ids.ts';
import { CLOCK_SKEW_NS } from '../../core/limits.ts';
import { accepted, type Outcome } from '../../core/outcome.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../core/units.ts';
import { nextSource, ORACLE_STALE_NS } from '../../risk/prices.ts';
import type { Effect } from '../effects.ts';
import type { SetPrices } from '../inputs.ts';
import { placePrice, sourceOf } from '../risks.ts';
import type { PriceRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';

type PriceRefusal = 'UnknownAsset' | 'NotPositive' | 'NotNewer' | 'TooFarAhead' | 'Jump';

/** A price that a request gives. */
export interface GivenPrice {
  readonly asset: AssetId;
  readonly price: Amount18;
  /** null when it was left out. */
  readonly publishNs: bigint | null;
  readonly source: string;
}

/** Whether two prices differ by more than `maxJump` (18-decimal fraction) of `from`. */
function jumps(from: Amount18, to: Amount18, maxJump: bigint): boolean {
  const distance = to > from ? to - from : from - to;
  return distance > mulDivFloor(from, maxJump, ONE_18);
}

function publishTime(given: GivenPrice, last: PriceRow | undefined, nowNs: TimestampNs): TimestampNs {
  if (given.publishNs !== null) return given.publishNs as TimestampNs;
  return last !== undefined && nowNs <= last.publishNs ? ((last.publishNs + 1n) as TimestampNs) : nowNs;
}

function refuse(
  state: ClearingState,
  given: GivenPrice,
  publishNs: TimestampNs,
  nowNs: TimestampNs,
): PriceRefusal | null {
  // USD is 1 by definition, and a token on its chain has no oracle.
  const priced = given.asset !== USD && !given.asset.includes('@') && state.assets.has(given.asset);
  if (!priced) return 'UnknownAsset';
  if (given.price <= 0n) return 'NotPositive';
  const last = state.prices.get(given.asset);
  // mutant: newer-oracle-price
  if (last !== undefined && publishNs <= last.publishNs) return 'NotNewer';
  if (publishNs > nowNs + CLOCK_SKEW_NS) return 'TooFarAhead';
  return last !== undefined && isUnconfirmedJump(state, given, last) ? 'Jump' : null;
}

function isUnconfirmedJump(state: ClearingState, given: GivenPrice, last: PriceRow): boolean {
  const setting = state.settings.oracle_max_jump;
  if (setting === null) return false;
  const maxJump = parseDecimal18(setting);
  assert(maxJump !== null, 'settings hold decimals');
  if (!jumps(last.price, given.price, maxJump)) return false;
  const { jump } = last;
  return jump === null || jump.source === given.source || jumps(jump.price, given.price, maxJump);
}

function place(state: ClearingState, row: PriceRow): void {
  placePrice(state, row);
  state.dirty.prices.add(row.asset);
}

function acceptedRow(
  state: ClearingState,
  { asset, price, source }: GivenPrice,
  publishNs: TimestampNs,
  nowNs: TimestampNs,
): PriceRow {
  const last = state.prices.get(asset);
  const recoveryUpdates = state.settings.breaker_recovery_updates;
  const rule = { staleNs: ORACLE_STALE_NS, recoveryUpdates, nowNs };
  const { isTripped, goodUpdates } = nextSource(last === undefined ? null : sourceOf(last), price, publishNs, rule);
  return { asset, price, publishNs, source, jump: null, isTripped, goodUpdates, isSinceStart: true };
}

/** The node has started: no price counts as new before its next update (AMB-110). */
export function forgetUpdates(state: ClearingState): void {
  for (const row of state.prices.values()) if (row.isSinceStart) place(state, { ...row, isSinceStart: false });
}

/** @returns `{"accepted":[…],"rejected":[…]}`. */
export function applySetPrices(
  state: ClearingState,
  input: SetPrices,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  const taken: unknown[] = [];
  const refused: unknown[] = [];
  for (const item of input.prices) {
    const last = state.prices.get(item.asset);
    const publishNs = publishTime(item, last, nowNs);
    const reason = refuse(state, item, publishNs, nowNs);
    if (reason !== null) {
      if (reason === 'Jump' && last !== undefined)
        place(state, { ...last, jump: { price: item.price, source: item.source } });
      refused.push({ asset_id: item.asset, reason });
      continue;
    }
    const row = acceptedRow(state, item, publishNs, nowNs);
    place(state, row);
    taken.push({ asset_id: item.asset, price: format18(item.price), publish_time_ns: publishNs });
    effects.push({ kind: 'priceAccepted', row });
  }
  return accepted({ accepted: taken, rejected: refused });
}
