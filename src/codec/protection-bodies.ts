/** Bodies and replies of `/account/protection` (MMP-01). Amounts are human decimals. */
import { format18, parseDecimal18 } from '../core/decimal.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { quote } from './json-writer.ts';
import { decodeShape } from './shape-reader.ts';
import { PROTECTION_REQUEST } from './shapes/protection-shapes.ts';

/** USD: a fill below costs an attacker little. */
const MIN_FILL_NOTIONAL: Amount18 = (10n * 10n ** 18n) as Amount18;

/** Limits of a group; null: no such limit. */
interface Limits {
  readonly windowMs: number;
  readonly frozenMs: number;
  readonly maxFills: number | null;
  readonly maxQuantity: Amount18 | null;
  readonly maxNotional: Amount18 | null;
  readonly minFillNotional: Amount18;
}

/** A group with its state. */
interface ProtectionView extends Limits {
  readonly group: string;
  readonly liveOrders: number;
  readonly isFrozen: boolean;
  /** null: not frozen, or until it is reset. */
  readonly frozenUntilNs: TimestampNs | null;
}

interface ProtectionRequest {
  readonly group: string;
  readonly terms: Limits;
}

/** @returns INVALID_REQUEST for a limit out of its range, and without any limit. */
export function decodeProtection(body: Uint8Array): Outcome<ProtectionRequest> {
  const read = decodeShape(PROTECTION_REQUEST, body);
  if (!read.ok) return read;
  const { group, windowMs, frozenMs, maxFills = null } = read.value;
  const maxQuantity = amountOf(read.value.maxQuantity ?? null, 1n);
  if (maxQuantity === undefined) return invalid('max_quantity', 'a base quantity above 0');
  const maxNotional = amountOf(read.value.maxNotional ?? null, 1n);
  if (maxNotional === undefined) return invalid('max_notional', 'an amount of USD above 0');
  const minimum = amountOf(read.value.minFillNotional ?? null, 0n);
  if (minimum === undefined) return invalid('min_fill_notional', 'an amount of USD, 0 or more');
  if (maxFills === null && maxQuantity === null && maxNotional === null)
    return invalid('max_fills', 'one of max_fills, max_quantity and max_notional is given');
  const minFillNotional = minimum ?? MIN_FILL_NOTIONAL;
  return accepted({ group, terms: { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } });
}

/** @returns undefined for what is no amount in range. */
function amountOf(text: string | null, least: bigint): Amount18 | null | undefined {
  if (text === null) return null;
  const amount = parseDecimal18(text);
  return amount === null || amount < least || amount > AMOUNT18_MAX ? undefined : (amount as Amount18);
}

function invalid(field: string, message: string): Outcome<never> {
  return rejected(reject('INVALID_REQUEST', message, field));
}

export function protectionReply(view: ProtectionView): string {
  const { group, windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } = view;
  return (
    `{"group":${quote(group)},"window_ms":${windowMs},"frozen_ms":${frozenMs},"max_fills":${maxFills},` +
    `"max_quantity":${decimal(maxQuantity)},"max_notional":${decimal(maxNotional)},` +
    `"min_fill_notional":${decimal(minFillNotional)},"live_orders":${view.liveOrders},` +
    `"is_frozen":${view.isFrozen},"frozen_until_ns":${view.frozenUntilNs}}`
  );
}

export function protectionsReply(views: readonly ProtectionView[]): string {
  return `{"groups":[${views.map(protectionReply).join(',')}]}`;
}

function decimal(amount: Amount18 | null): string {
  return amount === null ? 'null' : `"${format18(amount)}"`;
}
