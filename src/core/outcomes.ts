/**
 * The closed vocabularies of outcome bytes, by which clearing hands to the evidence thread what a journal record decided
 * (schemas/messages.fbs, OutcomeHead). No file keeps them: both ends are of one build.
 */
export const OUTCOME = {
  market: 1,
  balance: 2,
  position: 3,
  order: 4,
  fill: 5,
  ledger: 6,
  quoteSet: 7,
  fact: 8,
  closing: 9,
} as const;

/** What happened to an order. */
export const ORDER_OUTCOME = {
  accepted: 0,
  /** It would have crossed (AMB-16): no order. */
  refused: 1,
  /** By its user: a replace or an amend. */
  replaced: 2,
  /** By the node: less of it is in force. */
  cut: 3,
  triggered: 4,
  activated: 5,
  cancelPending: 6,
  /** After a rollback it is in the book again. */
  restored: 7,
  ended: 8,
  /** A cut by a restart, which is the time of its record. */
  cutAtRestart: 9,
} as const;
export type OrderOutcome = (typeof ORDER_OUTCOME)[keyof typeof ORDER_OUTCOME];

export const QUOTE_SET_OUTCOME = { applied: 0, marked: 1, ended: 2 } as const;
export type QuoteSetOutcome = (typeof QUOTE_SET_OUTCOME)[keyof typeof QUOTE_SET_OUTCOME];

/** Which part of an account changed. */
export const LEG = { balance: 0, base: 1, quote: 2 } as const;
export type Leg = (typeof LEG)[keyof typeof LEG];
