/** Groups that protect a market maker: bodies and replies of `/account/protection` (wire-additions.md, MMP-01). */
import {
  PROTECTED_FILLS_MAX,
  PROTECTION_FROZEN_MS_MAX,
  PROTECTION_GROUP_BYTES_MAX,
  PROTECTION_WINDOW_MS_MAX,
  PROTECTION_WINDOW_MS_MIN,
} from '../../core/limits.ts';
import type { ProtectionState } from '../reply-types.ts';
import {
  COUNT,
  DECIMAL,
  described,
  FLAG,
  listOf,
  NANOSECONDS,
  named,
  nullable,
  open,
  optional,
  type Shape,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

interface ProtectionRead {
  readonly group: string;
  readonly windowMs: number;
  readonly frozenMs: number;
  readonly maxFills: number | null;
  readonly maxQuantity: string | null;
  readonly maxNotional: string | null;
  readonly minFillNotional: string | null;
}

/** The name of a group, in paths and bodies that are not signed. */
export const GROUP_NAME: Shape<string> = Type.String({
  pattern: `^[A-Za-z0-9+/=_\\-.:]{1,${PROTECTION_GROUP_BYTES_MAX}}$`,
  description: `1 to ${PROTECTION_GROUP_BYTES_MAX} characters of an order id`,
});

const WINDOW_MS = Type.Integer({ minimum: PROTECTION_WINDOW_MS_MIN, maximum: PROTECTION_WINDOW_MS_MAX });
const FROZEN_MS = Type.Integer({
  minimum: 0,
  maximum: PROTECTION_FROZEN_MS_MAX,
  description: 'how long a trip freezes the group; 0: until it is reset',
});
const MAX_FILLS = nullable(
  Type.Integer({ minimum: 1, maximum: PROTECTED_FILLS_MAX, description: 'fills in the window; null: no such limit' }),
);

export const PROTECTION_REQUEST: Shape<unknown, ProtectionRead> = named(
  'ProtectionRequest',
  'The limits of a group of orders, what it has traded as maker within `window_ms`; one of the three limits at least',
  open({
    group: GROUP_NAME,
    window_ms: WINDOW_MS,
    frozen_ms: FROZEN_MS,
    max_fills: optional(MAX_FILLS),
    max_quantity: optional(nullable(described(DECIMAL, 'base quantity, above 0; null: no such limit'))),
    max_notional: optional(nullable(described(DECIMAL, 'USD, above 0; null: no such limit'))),
    min_fill_notional: optional(nullable(described(DECIMAL, 'USD from which a fill counts as one; 10 if left out'))),
  }),
);

export const PROTECTION: Shape<unknown, ProtectionState> = named(
  'Protection',
  'A protection group, its live orders, and its freeze',
  open({
    group: GROUP_NAME,
    window_ms: WINDOW_MS,
    frozen_ms: FROZEN_MS,
    max_fills: MAX_FILLS,
    max_quantity: nullable(DECIMAL),
    max_notional: nullable(DECIMAL),
    min_fill_notional: DECIMAL,
    live_orders: described(COUNT, 'those with undecided fills among them'),
    is_frozen: FLAG,
    frozen_until_ns: nullable(described(NANOSECONDS, 'null: not frozen, or until it is reset')),
  }),
);

export const PROTECTIONS: Shape<unknown, { readonly groups: readonly ProtectionState[] }> = named(
  'Protections',
  'Your groups in a market, in the order in which they were made',
  open({ groups: listOf(PROTECTION) }),
);
