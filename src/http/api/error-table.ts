/**
 * Every code a client of the public listeners can meet, in words: what it means and what to do (wire.md 5.3, ERR-01 to
 * ERR-12). Statuses and what can be retried are core/reject.ts. docs/errors.md and the API documents say the same; a
 * test holds the three together.
 */
import { isRetryable, pascalCase, REJECT_CODE, REJECT_STATUS, type RejectName } from '../../core/reject.ts';

interface Meaning {
  readonly means: string;
  readonly remedy: string;
}

/** Complete by type; the operator's own codes are those of operator-api.md. */
export type PublicCode = Exclude<
  RejectName,
  | 'ASSET_NOT_FOUND'
  | 'CHAIN_NOT_FOUND'
  | 'VAULT_NOT_FOUND'
  | 'SETTLER_NOT_FOUND'
  | 'USER_NOT_FOUND'
  | 'WITHDRAWAL_NOT_FOUND'
  | 'SETTLEMENT_NOT_FOUND'
  | 'IMMUTABLE_FIELD'
  | 'VAULT_EXISTS'
  | 'CLOCK_BACKWARDS'
>;

export const ERROR_MEANINGS: Readonly<Record<PublicCode, Meaning>> = {
  INVALID_REQUEST: {
    means: 'malformed JSON, a missing, unknown or repeated member, a value of the wrong kind',
    remedy: 'mend the member that `details.field` names',
  },
  NOT_FOUND: { means: 'no such path', remedy: 'mend the request' },
  METHOD_NOT_ALLOWED: { means: 'the path has other methods, named in `Allow`', remedy: 'mend the request' },
  PAYLOAD_TOO_LARGE: {
    means: 'a body or frame longer than its request can need; the message says how long it may be',
    remedy: 'send less at once',
  },
  UPGRADE_REQUIRED: {
    means:
      'the path is a WebSocket stream, or the version of the protocol is not 13, which `Sec-WebSocket-Version` names',
    remedy: 'open it as one',
  },
  INTERNAL_ERROR: { means: 'a fault of ours', remedy: 'read the state concerned; tell the operator the `trace_id`' },
  TIMEOUT: { means: 'no answer in time', remedy: 'send it again' },
  TIMEOUT_UNKNOWN_STATE: {
    means: 'no answer in time; the action may have happened',
    remedy: 'read the order or the account before you repeat it',
  },
  CE_COMMUNICATION_ERROR: {
    means: 'reserved, never sent: clearing is part of the node, which ends with it',
    remedy: 'read the state concerned, then try again',
  },
  SERVICE_UNAVAILABLE: {
    means:
      'a queue is full, or this user has 2,048 orders and changes without an answer (market makers 16,384; 1,024 more cancels), or the node starts or stops; nothing was changed',
    remedy: 'send the same bytes again a little later',
  },
  RATE_LIMITED: {
    means: 'a budget is spent, or too many streams are open',
    remedy: 'wait; `details` say which budget and how much is missing',
  },
  UNAUTHORIZED: { means: 'no session, an expired one, or one of another user', remedy: 'log in, send it once more' },
  NONCE_NOT_FOUND: { means: 'the nonce was used already, perhaps by a second login', remedy: 'start the login again' },
  NONCE_EXPIRED: { means: 'the nonce is older than five minutes', remedy: 'start the login again' },
  INVALID_NONCE: { means: 'not the nonce that was given, or a number that did not grow', remedy: 'take a fresh one' },
  INVALID_SIGNATURE: {
    means: 'the signed bytes differ from those the node rebuilt, or the key does',
    remedy: 'check your signer against the vectors: order of members, timestamps as integers, no spaces',
  },
  SIGNER_MISMATCH: { means: 'the body is signed by somebody else than the session', remedy: 'one session per key' },
  INSUFFICIENT_SIGNER_WEIGHT: { means: 'no signature of the account’s key', remedy: 'sign with the account’s key' },
  SIGNER_UNKNOWN: { means: 'a co-signer who is none of this account', remedy: 'look at the multisig configuration' },
  SIGNER_EXPIRED: {
    means: 'reserved until co-signers are served: one whose time is over',
    remedy: 'look at the multisig configuration',
  },
  SIGNER_DUPLICATE: { means: 'reserved until co-signers are served: one named twice', remedy: 'name each once' },
  INVALID_ORDER: {
    means:
      'a figure or an id outside its rule: tick, minimum size, minimum notional (0.01 USD unless the operator set another), decimals, fee rate, a cap on the wrong side, a parent that may not have this child, a kind that is not served',
    remedy: 'mend the member that `details.field` names',
  },
  ORDER_EXPIRED: { means: 'created 30 days ago or more', remedy: 'make a new order' },
  REQUEST_TOO_OLD: {
    means: '`post_sign_timestamp` over 60 s old or 5 s ahead',
    remedy: 'mind your clock; sign and send at once',
  },
  DUPLICATE_ORDER: {
    means: 'the id is taken; after a timeout: your first try arrived',
    remedy: 'read the order, or choose another id; `X-Ringbook-Resend` makes repeats safe',
  },
  ORDER_NOT_FOUND: {
    means: 'no such order of yours, or it has left the book; of a child: no such parent',
    remedy: 'read your orders',
  },
  ALREADY_CANCELLED: { means: 'the order has ended', remedy: 'read the order' },
  WOULD_CROSS: {
    means: 'a post-only order met the other side; by a replace it costs the order its life',
    remedy: 'quote further away',
  },
  REDUCE_ONLY_WOULD_INCREASE: { means: 'a reduce-only order with nothing to reduce', remedy: 'look at the position' },
  INSUFFICIENT_MARGIN: {
    means: 'the trading capacity does not cover the order',
    remedy: 'cancel, reduce, or transfer',
  },
  INSUFFICIENT_INVENTORY: {
    means: 'the balance less holds does not cover the order, fees included',
    remedy: 'cancel, or quote less',
  },
  TOO_MANY_OPEN_ORDERS: {
    means:
      '1,000 live orders per sub-account and market, 20,000 per user, ten times as many and more for market makers; the node is full ([operating.md](operating.md#open-orders)); 16 children of a parent',
    remedy: 'cancel first',
  },
  TOO_MANY_SUB_ACCOUNTS: {
    means: 'reserved, never sent: an index above 255 is `INVALID_REQUEST`, and there are no more accounts than indices',
    remedy: 'use one that you have',
  },
  MARKET_NOT_FOUND: { means: 'no such market', remedy: 'read `/markets`' },
  MARKET_HALTED: {
    means: 'the operator halted the market, or lets it cancel only; triggers wait',
    remedy: 'wait; cancels work',
  },
  PRICING_UNAVAILABLE: { means: 'no usable price of an asset', remedy: 'wait; what reduces risk works' },
  ORDERS_NOT_FOUND: { means: 'reserved, never sent: who has no orders reads empty pages', remedy: 'none needed' },
  POSITION_NOT_FOUND: { means: 'no such position', remedy: 'read your positions' },
  POSITION_NOT_FLAT: { means: 'the position still has a size', remedy: 'close it first' },
  POSITION_BUSY: { means: 'orders or fills of the position are under way', remedy: 'try again when they are done' },
  PROTOCOL_CAP_EXCEEDED: { means: 'a limit of the whole exchange would be passed', remedy: 'do less, or wait' },
};

/**
 * Codes of the contract that no path of this node produces, so that their numbers and spelling stay free for it (ERR-10). A test
 * finds every other one produced, and none of these.
 */
export const RESERVED_CODES: readonly RejectName[] = [
  'CE_COMMUNICATION_ERROR',
  'SIGNER_EXPIRED',
  'SIGNER_DUPLICATE',
  'TOO_MANY_SUB_ACCOUNTS',
  'ORDERS_NOT_FOUND',
  // Of the operator API, whose withdrawals and settlements are not served yet.
  'WITHDRAWAL_NOT_FOUND',
  'SETTLEMENT_NOT_FOUND',
];

/** Where a code is met. */
export function placeOf(code: PublicCode): 'envelope' | 'result' {
  return REJECT_CODE[code] >= 400 ? 'result' : 'envelope';
}

/** The table of docs/errors.md. */
export function errorTable(): string {
  const rows = (Object.keys(ERROR_MEANINGS) as PublicCode[]).map((code) => {
    const { means, remedy } = ERROR_MEANINGS[code];
    const again = isRetryable(code) ? 'yes' : '';
    return `| \`${code}\` | ${REJECT_STATUS[code]} | ${again} | \`${pascalCase(code)}\` | ${means} | ${remedy} |`;
  });
  return [
    '| Code | Status | Retry | Word in results | Means | Do |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
