/**
 * Every code that a client of the public listeners can receive, with its meaning and remedy (wire.md 5.3, ERR-01 to
 * ERR-12). Statuses and retryability are in core/reject.ts. docs/errors.md and the API documents contain the same; a
 * test compares the three.
 */
import { isRetryable, pascalCase, REJECT_STATUS, type RejectName } from '../../core/reject.ts';

interface Meaning {
  readonly means: string;
  readonly remedy: string;
}

/** Complete by type; the operator's own codes are in operator-api.md. */
export type PublicCode = Exclude<
  RejectName,
  | 'USER_NOT_FOUND'
  | 'SETTLEMENT_NOT_FOUND'
  | 'IMMUTABLE_FIELD'
  | 'VAULT_EXISTS'
  | 'CLOCK_BACKWARDS'
  | 'HOST_NOT_SERVED'
  | 'ROLE_REQUIRED'
>;

export const ERROR_MEANINGS: Readonly<Record<PublicCode, Meaning>> = {
  INVALID_REQUEST: {
    means: 'malformed JSON, a missing, unknown or repeated member of body or query, a value of the wrong kind',
    remedy: 'correct the member in `details.field`',
  },
  NOT_FOUND: {
    means: 'no such path; for operators also no unclaimed deposit with this counter',
    remedy: 'correct the request',
  },
  METHOD_NOT_ALLOWED: { means: 'the path has other methods, listed in `Allow`', remedy: 'correct the request' },
  PAYLOAD_TOO_LARGE: {
    means: 'a body or frame longer than the limit in the message',
    remedy: 'send less at once',
  },
  URI_TOO_LONG: {
    means: 'a path and query of more than 4,096 bytes; the connection is closed',
    remedy: 'correct the request',
  },
  HEADERS_TOO_LARGE: {
    means: 'a request line and headers of more than 8,192 bytes; the connection is closed',
    remedy: 'send fewer or shorter headers',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    means: 'the body has a `Content-Encoding` other than `identity`',
    remedy: 'send the body as it is',
  },
  UPGRADE_REQUIRED: {
    means: 'the path is a WebSocket stream, or the protocol version is not 13 (`Sec-WebSocket-Version`)',
    remedy: 'open it as one',
  },
  INTERNAL_ERROR: {
    means: 'a fault of the node',
    remedy: 'read the affected state; report the `trace_id` to the operator',
  },
  TIMEOUT: { means: 'no reply in time', remedy: 'send it again' },
  TIMEOUT_UNKNOWN_STATE: {
    means: 'no reply in time; the action may have been executed',
    remedy: 'read the order or the account before you repeat it',
  },
  CE_COMMUNICATION_ERROR: {
    means: 'reserved, never sent: clearing is part of the node and ends with it',
    remedy: 'read the affected state, then try again',
  },
  SERVICE_UNAVAILABLE: {
    means:
      'a queue is full, or the order waited too long to be read, or this user has 2,048 orders and changes without a reply (market makers 16,384; 1,024 more cancels), or the node starts or stops; nothing was changed',
    remedy: 'send the same bytes again later',
  },
  NOT_LEADER: {
    means: 'this node of a cluster does not lead; nothing was changed',
    remedy: 'send the same bytes to the leader: `details` have its epoch and addresses, null while there is none',
  },
  RATE_LIMITED: {
    means: 'a budget is exhausted, or too many streams are open',
    remedy: 'wait; `details` contain the budget and the missing amount',
  },
  UNAUTHORIZED: { means: 'no session, an expired one, or one of another user', remedy: 'log in, then send it again' },
  NONCE_NOT_FOUND: { means: 'the nonce was already used, perhaps by a second login', remedy: 'start the login again' },
  NONCE_EXPIRED: { means: 'the nonce is older than five minutes', remedy: 'start the login again' },
  INVALID_NONCE: { means: 'not the issued nonce, or a number that did not increase', remedy: 'use a new one' },
  INVALID_SIGNATURE: {
    means: 'the signed bytes, or the key, differ from those the node computed',
    remedy: 'check your signer against the vectors: order of members, timestamps as integers, no spaces',
  },
  SIGNER_MISMATCH: { means: 'the signer of the body is not the user of the session', remedy: 'one session per key' },
  INSUFFICIENT_SIGNER_WEIGHT: {
    means: 'no signature, or the signers have less weight than the threshold of the action',
    remedy: 'read the multisig configuration, and sign with more keys of the account',
  },
  SIGNER_UNKNOWN: {
    means: 'a co-signer that is not configured for this account',
    remedy: 'check the multisig configuration',
  },
  SIGNER_EXPIRED: {
    means: 'a co-signer has expired, or is outside of its signing window',
    remedy: 'sign with other keys of the account',
  },
  SIGNER_DUPLICATE: {
    means: 'a co-signer is there twice, or a new signer is one of the account already',
    remedy: 'list each once',
  },
  INVALID_ORDER: {
    means:
      'an invalid figure or id: tick, minimum size, minimum notional (0.01 USD unless the operator set another value), decimals, fee rate, a cap on the wrong side, a parent that cannot have this child, an unsupported kind',
    remedy: 'correct the member in `details.field`',
  },
  ORDER_EXPIRED: { means: 'created 30 days ago or more', remedy: 'create a new order' },
  REQUEST_TOO_OLD: {
    means:
      '`post_sign_timestamp` over 60 s old or 5 s ahead; or an order created over 60 s ago with a co-signer that has expired since',
    remedy: 'check your clock; send directly after signing',
  },
  DUPLICATE_ORDER: {
    means: 'the id is already used; after a timeout: the first attempt arrived',
    remedy: 'read the order, or choose another id; `X-Ringbook-Resend` makes retries safe',
  },
  ORDER_NOT_FOUND: {
    means: 'no such order of yours, or it has left the book, or the node made it (`sys-`); of a child: no such parent',
    remedy: 'read your orders',
  },
  ALREADY_CANCELLED: { means: 'the order has ended', remedy: 'read the order' },
  WOULD_CROSS: {
    means: 'a post-only order would cross the other side; after a replace the order ends',
    remedy: 'quote further away',
  },
  REDUCE_ONLY_WOULD_INCREASE: {
    means: 'a reduce-only order with nothing to reduce, or one that takes at once and is larger than the position',
    remedy: 'check the position; `details.max_quantity` is the most it could be, in lots',
  },
  INSUFFICIENT_MARGIN: {
    means: 'the trading capacity does not cover the order, or the account is in liquidation and it would not reduce',
    remedy: 'cancel, reduce, or transfer',
  },
  INSUFFICIENT_INVENTORY: {
    means: 'the balance minus reservations does not cover the order, including fees',
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
    means: 'the operator halted the market, or permits only cancels; triggers wait',
    remedy: 'wait; cancels work',
  },
  PRICING_UNAVAILABLE: { means: 'no usable price of an asset', remedy: 'wait; actions that reduce risk work' },
  ORDERS_NOT_FOUND: { means: 'reserved, never sent: users without orders get empty pages', remedy: 'none needed' },
  ORDER_REVISION_MISMATCH: {
    means: 'an amend was made for other terms: the order was changed since, or has another revision',
    remedy: 'read `details.authorization_revision` or the order, and decide anew',
  },
  MMP_FROZEN: {
    means: 'the protection group is frozen: its members took as many fills as its limits permit',
    remedy: 'wait until `details.frozen_until_ns`, or reset the group where that is null',
  },
  QUOTE_ENTRY: {
    means: 'the order is an entry of a quote set, which no replace or amend changes',
    remedy: 'send the set again with other entries',
  },
  TOO_MANY_QUOTES: {
    means: 'four quote sets of yours are in force in this market',
    remedy: 'end one of them: a set without entries ends it',
  },
  PROTECTION_IN_USE: {
    means: 'the protection group has orders that live or have undecided fills',
    remedy: 'cancel them, and remove the group when their fills are decided',
  },
  EVIDENCE_EXPIRED: {
    means: 'rows of the order are kept no longer',
    remedy: 'use the evidence that you took while they were',
  },
  READ_ONLY_SESSION: {
    means: 'the session only reads: it was opened for reading, or by signers that weigh less than the threshold `low`',
    remedy: 'log in for everything, with more keys of the account where these weigh too little',
  },
  ACTION_ALREADY_USED: {
    means:
      "the signed text of a withdrawal, a settlement or a maker's order was accepted before, and what it made has ended: `details.status`",
    remedy: 'sign a new one, with another `request_id` or nonce',
  },
  POSITION_NOT_FOUND: { means: 'no such position', remedy: 'read your positions' },
  POSITION_NOT_FLAT: { means: 'the position still has a size', remedy: 'close it first' },
  POSITION_BUSY: { means: 'orders or fills of the position are pending', remedy: 'try again when they are decided' },
  PROTOCOL_CAP_EXCEEDED: {
    means: 'a limit of the whole exchange would be exceeded; status 200 in the result of a transfer or a settlement',
    remedy: 'reduce the amount, or wait',
  },
  ASSET_NOT_FOUND: {
    means: 'no such asset, or no asset has this token on that chain; status 200 in a result',
    remedy: 'read the registry',
  },
  CHAIN_NOT_FOUND: { means: 'no such chain; status 200 in the result of a settlement', remedy: 'read the registry' },
  VAULT_NOT_FOUND: {
    means: 'the chain has no vault, or another one; status 200 in a result',
    remedy: 'read the vaults of the registry',
  },
  SETTLER_NOT_FOUND: {
    means: 'the settler is not registered on the chain; status 200 in the result of a settlement',
    remedy: 'use a registered settler',
  },
  WITHDRAWAL_NOT_FOUND: {
    means: 'there is no withdrawal with this nonce that may still be cancelled; status 200 in the result of a cancel',
    remedy: 'read the queue',
  },
};

/**
 * Codes of the contract that this node never produces; their numbers and spellings are reserved (ERR-10). A test finds
 * every other one produced, and none of these.
 */
export const RESERVED_CODES: readonly RejectName[] = [
  'CE_COMMUNICATION_ERROR',
  'TOO_MANY_SUB_ACCOUNTS',
  'ORDERS_NOT_FOUND',
];

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

/** Codes that the operator API alone has (operator-api.md 2). */
export type OperatorCode =
  | 'USER_NOT_FOUND'
  | 'SETTLEMENT_NOT_FOUND'
  | 'IMMUTABLE_FIELD'
  | 'VAULT_EXISTS'
  | 'CLOCK_BACKWARDS'
  | 'HOST_NOT_SERVED'
  | 'ROLE_REQUIRED';

export const OPERATOR_MEANINGS: Readonly<Record<OperatorCode, { readonly means: string; readonly remedy: string }>> = {
  USER_NOT_FOUND: { means: 'this key was never seen', remedy: 'look at the id' },
  SETTLEMENT_NOT_FOUND: { means: 'no such live settlement', remedy: 'look at the nonce' },
  IMMUTABLE_FIELD: { means: 'this member never changes', remedy: 'leave it out, or give its value' },
  VAULT_EXISTS: { means: 'the chain has another vault', remedy: 'one vault a chain' },
  CLOCK_BACKWARDS: { means: 'the clock only goes forward', remedy: 'give a later time' },
  HOST_NOT_SERVED: { means: 'the listener is not served under this name', remedy: 'add it to `opsNames`' },
  ROLE_REQUIRED: { means: 'the token is not for this: `read`, `operate` or `funds`', remedy: 'use one with that role' },
};
