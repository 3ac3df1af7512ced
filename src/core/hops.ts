/**
 * The hops of a signed action and the stages of clearing, as the numbers under which the trace records them
 * (runtime/trace-log.ts). Numbers below FIRST_HOP are the runtime's own.
 *
 *   gateway   read ─▶ parsed ─▶ queued ─────────────▶ verified ─▶ sent ─▶ published     acknowledged ─▶ answered
 *   verifier                       └▶ verifying ─▶ verdict ─┘                  │              ▲
 *   market                                                                     └▶ taken ─▶ matched ─▶ published
 *   clearing                                                   batch taken ─▶ flushed ─▶ confirmed, checkpoint
 *
 * A record has a key and a further value:
 *
 *   read                            action, microseconds that its bytes may have waited to be read
 *   parsed verified answered        action
 *   queued                          action, ticket of the verifier
 *   sent                            action, request id
 *   verifying verdict               ticket
 *   taken                           request id, market
 *   matched                         request id
 *   acknowledged                    request id, sequence of the market
 *   decided                         market, sequence up to which clearing has decided it
 *   published                       none: everything written before it on this thread was passed on
 *   flushed confirmed checkpoint    journal sequence, and microseconds that it took
 *
 * A signature that the gateway's thread verifies itself has no `queued`.
 */
export const HOP = {
  read: 16,
  parsed: 17,
  queued: 18,
  verifying: 19,
  verdict: 20,
  verified: 21,
  sent: 22,
  published: 23,
  taken: 24,
  matched: 25,
  acknowledged: 26,
  answered: 27,
  decided: 28,
  flushed: 29,
  confirmed: 30,
  checkpoint: 31,
} as const;
export type Hop = (typeof HOP)[keyof typeof HOP];

/** Requests that change orders, as they are counted and timed: the last part of their path. */
export const ACTIONS = [
  'create',
  'replace',
  'cancel',
  'amend',
  'batch-create',
  'batch-replace',
  'cancel-all',
  'cancel-batch',
  'cancel-all-after',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Of those the ones about one order, which are timed stage by stage. */
export const ORDER_ACTIONS = ['create', 'replace', 'cancel', 'amend'] as const;
export type OrderAction = (typeof ORDER_ACTIONS)[number];

/**
 * The stages of one signed action at the gateway, without a gap between them. `verify` includes the checks before and the wait
 * for the verifier; `market` is from the ring's write to the market's answer, both rings included; `reply` ends when
 * the reply is written, with durable acks after the flush.
 */
export const GATEWAY_STAGES = ['parse', 'verify', 'reserve', 'market', 'reply'] as const;
export type GatewayStage = (typeof GATEWAY_STAGES)[number];

/** How an action ended. Only a batch may be `partial`: some of its orders were accepted, others not. */
export const ACTION_RESULTS = ['accepted', 'partial', 'rejected'] as const;
export type ActionResult = (typeof ACTION_RESULTS)[number];
