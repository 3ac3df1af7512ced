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
  'quotes',
  'batch-create',
  'batch-replace',
  'cancel-all',
  'cancel-batch',
  'cancel-all-after',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Actions that name one market, or may do so: these and the orders of batches are counted by market too. */
export const NAMING_ACTIONS = ['create', 'replace', 'cancel', 'amend', 'quotes', 'cancel-all', 'cancel-batch'] as const;

/**
 * The stages of an action at the gateway. Of a single action and of a batch they follow each other without a gap.
 * `verify` includes the checks before and the wait for the verifier, of a batch until its last signature; `market` is
 * from the ring's write to the market's answer, of a batch to its last one, both rings included; `reply` ends when the
 * reply is written, with durable acks after the flush. Mass cancels are answered when they are in the rings: their
 * `reply` follows `reserve`, and `market` is beside it.
 */
const GATEWAY_STAGES = ['parse', 'verify', 'reserve', 'market', 'reply'] as const;
export type GatewayStage = (typeof GATEWAY_STAGES)[number];

/** Without a signature; a timer is not sent to any market. */
const STAGES_OF_MASS_CANCELS: readonly GatewayStage[] = ['parse', 'reserve', 'market', 'reply'];
const STAGES_OF_TIMERS: readonly GatewayStage[] = ['parse', 'reserve', 'reply'];

export function gatewayStagesOf(action: Action): readonly GatewayStage[] {
  if (action === 'cancel-all-after') return STAGES_OF_TIMERS;
  return action === 'cancel-all' || action === 'cancel-batch' ? STAGES_OF_MASS_CANCELS : GATEWAY_STAGES;
}

/** The two that a market measures; both are a part of the gateway's `market`. */
export const MARKET_STAGES = ['ring', 'match'] as const;
export type MarketStage = (typeof MARKET_STAGES)[number];

/**
 * What a market times: its commands, and the part of a batch that it gets. The cancels of `cancel-batch` are commands
 * `cancel`.
 */
export const MARKET_ACTIONS = [
  'create',
  'replace',
  'cancel',
  'amend',
  'batch-create',
  'batch-replace',
  'cancel-all',
] as const;
export type MarketAction = (typeof MARKET_ACTIONS)[number];

/** How an action ended. Only a batch may be `partial`: some of its orders were accepted, others not. */
const ACTION_RESULTS = ['accepted', 'partial', 'rejected'] as const;
export type ActionResult = (typeof ACTION_RESULTS)[number];

export function resultsOf(action: Action): readonly ActionResult[] {
  return action === 'batch-create' || action === 'batch-replace' ? ACTION_RESULTS : ['accepted', 'rejected'];
}
