/**
 * The closed vocabularies of orders and fills. The numbers go into ring messages and the journal: they are written
 * out and never reused. The words are the wire's (wire.md 9.4, G2, G20 to G22).
 */
import { ORDER_LIFE_NS } from './limits.ts';
import type { TimestampNs } from './units.ts';

export const SIDE = { buy: 0, sell: 1 } as const;
export type Side = (typeof SIDE)[keyof typeof SIDE];
export const SIDE_WORD: Readonly<Record<Side, 'Buy' | 'Sell'>> = { 0: 'Buy', 1: 'Sell' };

/** Time in force. Post-only is a flag of its own: it goes with GTC and GTD. */
export const TIF = { gtc: 0, gtd: 1, ioc: 2, fok: 3 } as const;
export type Tif = (typeof TIF)[keyof typeof TIF];

/** How an order is sized and priced (wire.md 4.3). Market orders are `ioc` or `fok`. */
export const ORDER_KIND = { limit: 0, marketBase: 1, marketQuote: 2 } as const;
export type OrderKind = (typeof ORDER_KIND)[keyof typeof ORDER_KIND];

/** A release condition: at or above, at or below a confirmed trade price (AMB-28). */
export const TRIGGER = { none: 0, above: 1, below: 2 } as const;
export type TriggerKind = (typeof TRIGGER)[keyof typeof TRIGGER];

/** Bits of an order's `flags`. */
export const ORDER_FLAG = {
  postOnly: 1,
  reduceOnly: 2,
  isSpot: 4,
  /** Made by the node itself: unsigned (AMB-57). */
  nodeMade: 8,
  /** A cancel arrived while all of it was in pending fills: it cannot return to the book (AMB-23). Set by the node. */
  cancelPending: 16,
  /**
   * A fill of a market order was rolled back: its target is not met, even if its market published so (AMB-32 c). Set by
   * clearing.
   */
  rolledBack: 32,
  /**
   * A partly released child that never rests is being matched, until the market's next event about another order. Set
   * by clearing.
   */
  entering: 64,
  /** Sent by the node for an account below maintenance (LIQ-05). Always with `nodeMade`; its fills are liquidations. */
  liquidation: 128,
  /**
   * Created on a connection at whose end it is cancelled. Set by the gateway of a cluster alone: a node that takes over knows
   * no connection of the one before (cluster.md 8).
   */
  cancelOnDisconnect: 256,
} as const;

/** What a quote set did to an entry (QuoteSetChange in schemas/messages.fbs). */
export const QUOTE_CHANGE = { created: 1, resized: 2, left: 3, refused: 4, out: 5, kept: 6 } as const;
export type QuoteChangeKind = (typeof QUOTE_CHANGE)[keyof typeof QUOTE_CHANGE];

/** State of an order with a trigger (TRG-01, AMB-28). `live`: it has none, or was released. */
export const TRIGGER_STATE = { live: 0, dormant: 1, fired: 2 } as const;
export type TriggerState = (typeof TRIGGER_STATE)[keyof typeof TRIGGER_STATE];

/** Why an order left the book. The reasons of `Canceled` (G21) and of `Removed` (G20) share one numbering. */
export const ORDER_END = {
  userRequested: 1,
  selfTradePrevented: 2,
  autoReduced: 3,
  liquidation: 4,
  postOnlyWouldCross: 5,
  marginInsufficient: 6,
  reduceOnly: 7,
  parentCanceled: 8,
  /** Not produced any more (AMB-32 as revised), but present in older data. */
  rollbackRestoreWouldCross: 9,
  /** The order was at fault in a rollback; its reason on the wire is the rollback reason. */
  atFault: 10,
  /** Too many rollbacks by its user's fault (AMB-124). */
  rateLimited: 11,
  /** Its group has traded as much as it may (MMP-03). */
  marketMakerProtection: 12,
  filled: 32,
  expired: 33,
  immediateOrCancel: 34,
  fillOrKill: 35,
  rolledBack: 36,
} as const;
export type OrderEnd = (typeof ORDER_END)[keyof typeof ORDER_END];

export const ORDER_END_WORD: Readonly<Record<OrderEnd, string>> = {
  1: 'UserRequested',
  2: 'SelfTradePrevented',
  3: 'AutoReduced',
  4: 'Liquidation',
  5: 'PostOnlyWouldCross',
  6: 'MarginInsufficient',
  7: 'ReduceOnly',
  8: 'ParentCanceled',
  9: 'RollbackRestoreWouldCross',
  10: 'AtFault',
  11: 'RateLimited',
  12: 'MarketMakerProtection',
  32: 'Filled',
  33: 'Expired',
  34: 'ImmediateOrCancel',
  35: 'FillOrKill',
  36: 'RolledBack',
};

/** Whether `/orders` publishes the end as `Canceled`; the others are `Removed`. */
export function isCancel(end: OrderEnd): boolean {
  return end < ORDER_END.filled;
}

/** The limit of a group of protection that a fill reached, and its name in events (MMP-04). */
export const PROTECTION_LIMIT = { fills: 1, quantity: 2, notional: 3 } as const;
export type ProtectionLimit = (typeof PROTECTION_LIMIT)[keyof typeof PROTECTION_LIMIT];

export const PROTECTION_LIMIT_WORD: Readonly<Record<ProtectionLimit, string>> = {
  1: 'max_fills',
  2: 'max_quantity',
  3: 'max_notional',
};

/** Why clearing rejected a fill (G22). 0: not rejected. */
export const ROLLBACK_REASON = {
  none: 0,
  insufficientMargin: 1,
  insufficientInventory: 2,
  pricingFailure: 3,
  protocolCapBreach: 4,
  invalidSignature: 5,
  invalidOrder: 6,
  overfill: 7,
  staleMatch: 8,
  reduceOnlyViolation: 9,
  counterpartyAtFault: 10,
} as const;
export type RollbackReason = (typeof ROLLBACK_REASON)[keyof typeof ROLLBACK_REASON];

export const ROLLBACK_REASON_WORD: Readonly<Record<RollbackReason, string | null>> = {
  0: null,
  1: 'InsufficientMargin',
  2: 'InsufficientInventory',
  3: 'PricingFailure',
  4: 'ProtocolCapBreach',
  5: 'InvalidSignature',
  6: 'InvalidOrder',
  7: 'Overfill',
  8: 'StaleMatch',
  9: 'ReduceOnlyViolation',
  10: 'CounterpartyAtFault',
};

/**
 * For documents: the reasons in `Canceled`, `Removed` and `rollback_reason`. For an order at fault it is the rollback
 * reason.
 */
export const CANCEL_WORDS: readonly string[] = Object.values(ORDER_END)
  .filter((end) => isCancel(end) && end !== ORDER_END.atFault)
  .map((end) => ORDER_END_WORD[end]);
export const REMOVAL_WORDS: readonly string[] = Object.values(ORDER_END)
  .filter((end) => !isCancel(end))
  .map((end) => ORDER_END_WORD[end]);
export const ROLLBACK_WORDS: readonly string[] = Object.values(ROLLBACK_REASON_WORD).filter((word) => word !== null);

/** Whether a user with this reason is at fault: `StaleMatch` is no user's fault (AMB-33). */
export function isAtFault(reason: RollbackReason): boolean {
  return (
    reason !== ROLLBACK_REASON.none &&
    reason !== ROLLBACK_REASON.staleMatch &&
    reason !== ROLLBACK_REASON.counterpartyAtFault
  );
}

export const FILL_STATUS = { pending: 'Pending', confirmed: 'Confirmed', rolledBack: 'Rollbacked' } as const;
export type FillStatus = (typeof FILL_STATUS)[keyof typeof FILL_STATUS];

/** The states an order record reports (G2, AMB-128). */
export const ORDER_STATUSES = [
  'Untriggered',
  'Open',
  'PartiallyFilled',
  'Filled',
  'Canceled',
  'Expired',
  'Rejected',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const MARKET_STATUS = { active: 0, cancelOnly: 1, halted: 2 } as const;
export type MarketStatus = (typeof MARKET_STATUS)[keyof typeof MARKET_STATUS];
export const MARKET_STATUS_WORD: Readonly<Record<MarketStatus, 'Active' | 'CancelOnly' | 'Halted'>> = {
  0: 'Active',
  1: 'CancelOnly',
  2: 'Halted',
};

/** How a fill belongs to the fills of one fill-or-kill order: alone, with more of its group to follow, or the last. */
export const FILL_GROUP = { alone: 0, more: 1, last: 2 } as const;
export type FillGroup = (typeof FILL_GROUP)[keyof typeof FILL_GROUP];

/** The result of the check of an order's signature. Numbers are durable. */
export const SIGNATURE_VERDICT = { unknown: 0, valid: 1, invalid: 2 } as const;
export type SignatureVerdict = (typeof SIGNATURE_VERDICT)[keyof typeof SIGNATURE_VERDICT];

/** The earlier of good-until, if there is one, and creation + 30 days (ORD-20, AMB-127). @param goodUntilNs 0n for none. */
export function orderExpiryNs(creationNs: TimestampNs, goodUntilNs: TimestampNs): TimestampNs {
  const lifeEndNs = (creationNs + ORDER_LIFE_NS) as TimestampNs;
  return goodUntilNs !== 0n && goodUntilNs < lifeEndNs ? goodUntilNs : lifeEndNs;
}

/**
 * The revision of an order (wire-additions.md 4.3), for which an amend is made: the timestamp of the last applied replace or
 * amend, which both raise above the creation; null after its create.
 */
export function revisionOf<Time extends bigint>(order: {
  readonly timestampNs: Time;
  readonly creationNs: Time;
}): Time | null {
  return order.timestampNs === order.creationNs ? null : order.timestampNs;
}
