/** Protection groups of a market maker: limits of what a group of orders may trade (MMP-01). */
import type { JsonValue } from '../codec/json-tree.ts';
import type { ProtectionState } from '../codec/reply-types.ts';
import { PROTECTION, PROTECTIONS } from '../codec/shapes/protection-shapes.ts';
import { replyReader } from './reply-reader.ts';

/** Limits of a group; what is left out is no limit, but one of the three is given. Amounts are decimals, as `0.25`. */
export interface ProtectionTicket {
  /** 1 to 16 characters of an order id. */
  readonly group: string;
  /** 10 to 60,000. */
  readonly windowMs: number;
  /** 0 to 600,000; 0: until it is reset. */
  readonly frozenMs: number;
  /** 1 to 1,000. */
  readonly maxFills?: number | null;
  /** Base quantity. */
  readonly maxQuantity?: string | null;
  /** USD. */
  readonly maxNotional?: string | null;
  /** USD from which a fill counts as one; 10 if left out. */
  readonly minFillNotional?: string;
}

export const readProtection: (value: JsonValue) => ProtectionState = replyReader('protection group', PROTECTION);

const readList = replyReader('protection groups', PROTECTIONS);

export function readProtections(value: JsonValue): readonly ProtectionState[] {
  return readList(value).groups;
}

export function protectionBody(ticket: ProtectionTicket): string {
  const { group, windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } = ticket;
  return JSON.stringify({
    group,
    window_ms: windowMs,
    frozen_ms: frozenMs,
    max_fills: maxFills,
    max_quantity: maxQuantity,
    max_notional: maxNotional,
    min_fill_notional: minFillNotional,
  });
}
