/**
 * The rows of the row log, as data (EXP-00): every kind with its members in the order in which a row has them. Rows are
 * encoded by it, exports take their columns from it, and the document of columns is compared with it.
 *
 * A row is one JSON object of one line. It begins with the members of `ROW_HEAD`, a private one goes on with those of
 * `PRIVATE_HEAD`; then come the members of its kind, in this order. A member that does not apply to a row is absent: none is
 * null. A private row names no user but its own.
 */

import { LEDGER_ENTRIES } from '../core/ledger-entries.ts';
import { FILL_STATUS, ORDER_END_WORD, ROLLBACK_WORDS, SIDE_WORD } from '../core/order-terms.ts';

/**
 * How the value of a member is written in JSON:
 *
 *   raw      an integer in raw units of its book: a price of scale 10^-price decimals, a quantity of 10^-quantity decimals
 *   integer  an integer without a unit, or with the one that its meaning says
 *   units    base units of a token, an integer of any size, as a string of digits
 *   amount   an exact decimal string with at most 18 decimals, without zeros at its end
 *   time     nanoseconds since 1970, as a string of digits
 *   id       a string that names something
 *   text     any other string
 *   hex      a string of lower-case hex digits
 *   base64   a string, canonical base64 with padding
 *   flag     true; absent for false
 *   enum     a string of `words`
 *   json     an object or an array
 */
type MemberType =
  | 'raw'
  | 'integer'
  | 'units'
  | 'amount'
  | 'time'
  | 'id'
  | 'text'
  | 'hex'
  | 'base64'
  | 'flag'
  | 'enum'
  | 'json';

export interface RowMember {
  readonly name: string;
  readonly type: MemberType;
  /** One sentence. */
  readonly meaning: string;
  /** Every value there is, of an enum alone. */
  readonly words?: readonly string[];
  /** Whether rows of the kind may lack it. */
  readonly isOptional: boolean;
}

interface RowKind {
  readonly isPrivate: boolean;
  readonly meaning: string;
  readonly members: readonly RowMember[];
}

function always(name: string, type: Exclude<MemberType, 'enum'>, meaning: string): RowMember {
  return { name, type, meaning, isOptional: false };
}

function maybe(name: string, type: Exclude<MemberType, 'enum'>, meaning: string): RowMember {
  return { name, type, meaning, isOptional: true };
}

function oneOf(name: string, words: readonly string[], meaning: string): RowMember {
  return { name, type: 'enum', meaning, words, isOptional: false };
}

function maybeOneOf(name: string, words: readonly string[], meaning: string): RowMember {
  return { name, type: 'enum', meaning, words, isOptional: true };
}

/** The form of rows. */
export const ROW_VERSION = 1;

/** What every row begins with. */
const ROW_HEAD: readonly RowMember[] = [
  always('v', 'integer', 'The form of the row, 1.'),
  always('sequence', 'units', 'The journal record that decided it, as a string of digits.'),
  always('index', 'integer', 'Its place among the rows of that record, from 0.'),
  always('time_ns', 'time', 'The time of that record.'),
  always('kind', 'id', 'What the row is.'),
];

/** What a private row goes on with. */
const PRIVATE_HEAD: readonly RowMember[] = [
  always('user', 'hex', 'The user of the row: 64 digits.'),
  always('n', 'integer', 'The number of the row among all rows of its user, from 1 without a gap.'),
  always('previous', 'hex', 'The leaf hash of the row n − 1 of the user: 64 digits, zeros for n = 1.'),
];

/** By ORDER_OUTCOME. */
export const ORDER_EVENT_WORDS: readonly string[] = [
  'accepted',
  'refused',
  'replaced',
  'cut',
  'triggered',
  'activated',
  'cancel_pending',
  'restored',
  'ended',
  'cut',
];

const SIDE_WORDS = Object.values(SIDE_WORD);
/** By ORDER_KIND. */
export const ORDER_TYPE_WORDS: readonly string[] = ['Limit', 'MarketBase', 'MarketQuote'];
/** By TIF. */
export const TIF_WORDS: readonly string[] = ['GTC', 'GTD', 'IOC', 'FOK'];
const TRIGGER_WORDS = ['above', 'below'] as const;
const ROLE_WORDS = ['Maker', 'Taker'] as const;
/** By QUOTE_SET_OUTCOME. */
export const QUOTE_SET_EVENTS: readonly string[] = ['applied', 'marked', 'ended'];
/** By QUOTE_CHANGE. */
export const QUOTE_CHANGE_WORDS: readonly string[] = ['', 'created', 'resized', 'left', 'refused', 'out', 'kept'];
const PROTECTION_EVENTS = ['set', 'removed', 'tripped', 'ended'] as const;
const DEPOSIT_EVENTS = ['credited', 'unclaimed', 'claimed'] as const;
const WITHDRAWAL_EVENTS = ['queued', 'filled', 'signing', 'approved', 'executed', 'expired', 'cancelled'] as const;
const SETTLEMENT_EVENTS = ['locked', 'approved', 'executed', 'expired', 'refused', 'reversed'] as const;
const LIQUIDATION_EVENTS = ['begun', 'ended'] as const;
const ACCOUNT_EVENTS = ['signers', 'sub_account'] as const;

const MARKET: RowMember = always('asset_id', 'id', 'The base asset of the market.');
const EVENT_NS: RowMember = maybe('event_ns', 'time', 'When its market decided it, where a market did.');
const CHAIN: RowMember = always('chain_id', 'id', 'The chain.');

const ORDER_MEMBERS: readonly RowMember[] = [
  oneOf('event', [...new Set(ORDER_EVENT_WORDS)], 'What happened to the order.'),
  MARKET,
  always(
    'order_id',
    'id',
    'The order, as its user named it; of an entry of a quote set the id of the set, a colon and its number.',
  ),
  always('order_sequence', 'integer', 'The sequence of its admission in its market, which is never used again.'),
  EVENT_NS,
  maybe('sub_account', 'integer', 'The sub-account that trades.'),
  maybeOneOf('side', SIDE_WORDS, 'The side.'),
  maybeOneOf('order_type', ORDER_TYPE_WORDS, 'How it is sized and priced.'),
  maybe('price', 'raw', 'The limit price in force.'),
  maybe('quantity', 'raw', 'The quantity in force, what is filled of it included.'),
  maybe(
    'amount',
    'raw',
    'The quote amount that a market order spends or is capped by, of scale 10^-quantity decimals.',
  ),
  maybeOneOf('time_in_force', TIF_WORDS, 'How long it may rest.'),
  maybe('post_only', 'flag', 'It never takes.'),
  maybe('reduce_only', 'flag', 'It only reduces a position.'),
  maybe('is_spot', 'flag', 'It trades balances and not a position.'),
  maybe('is_liquidation', 'flag', 'The node sent it for an account below its maintenance margin.'),
  maybe('is_node_made', 'flag', 'The node made it, and it has no signature.'),
  maybeOneOf('trigger', TRIGGER_WORDS, 'On which side of the trigger price a confirmed trade releases it.'),
  maybe('trigger_price', 'raw', 'The trigger price.'),
  maybe('parent_id', 'id', 'The order whose fills enable it.'),
  maybe('protection_slot', 'integer', 'The slot of its protection group in this user and market.'),
  maybe('max_fee_rate', 'integer', 'The signed limit of its fee rate, in 10^-6.'),
  maybe('creation_ns', 'time', 'The signed time of its creation.'),
  maybe('timestamp_ns', 'time', 'The signed time of the replace or amend in force.'),
  maybe('good_until_ns', 'time', 'The signed end of its life.'),
  maybe('filled_quantity', 'raw', 'The confirmed fills so far.'),
  maybe('filled_amount', 'amount', 'What they were worth in USD.'),
  maybe('fees', 'amount', 'What they cost in USD, negative for rebates.'),
  maybeOneOf('reason', Object.values(ORDER_END_WORD), 'Why it ended.'),
  maybeOneOf('fault', ROLLBACK_WORDS, 'The rollback that it ended for, with the reason AtFault.'),
  maybe('text_hash', 'hex', 'SHA-256 of the signed text.'),
  maybe('text', 'text', 'The text that was signed, as canonical JSON.'),
  maybe(
    'signatures',
    'base64',
    'Its signatures as they are stored: the 64 bytes of the master key, or the form with co-signers.',
  ),
];

const QUOTE_SET_MEMBERS: readonly RowMember[] = [
  oneOf('event', QUOTE_SET_EVENTS, 'A revision is in force, the mark of the set was raised, or it ended.'),
  MARKET,
  always('set_id', 'id', 'The set, as its user named it.'),
  always('revision_sequence', 'integer', 'The sequence of the revision in its market, which names it.'),
  EVENT_NS,
  maybe('sub_account', 'integer', 'The sub-account that trades.'),
  maybe('post_only', 'flag', 'Its entries never take.'),
  maybe('is_spot', 'flag', 'Its entries trade balances and not a position.'),
  maybe('protection_slot', 'integer', 'The slot of its protection group in this user and market.'),
  maybe('max_fee_rate', 'integer', 'The signed limit of its fee rate, in 10^-6.'),
  maybe('revision_ns', 'time', 'The signed time of the revision.'),
  maybe('mark_ns', 'time', 'No revision up to it is applied any more.'),
  maybe('good_until_ns', 'time', 'The signed end of its life.'),
  maybe(
    'entries',
    'json',
    'What the revision did, a list of [change, number, side, price, rests, order_sequence]: words, and raw integers; an entry that is not listed is as it was.',
  ),
  maybeOneOf('reason', Object.values(ORDER_END_WORD), 'Why it ended.'),
  maybe('text_hash', 'hex', 'SHA-256 of the signed text.'),
  maybe('text', 'text', 'The text that was signed, as canonical JSON.'),
  maybe('signatures', 'base64', 'Its signatures as they are stored, as those of an order.'),
];

const FILL_MEMBERS: readonly RowMember[] = [
  oneOf('status', [FILL_STATUS.confirmed, FILL_STATUS.rolledBack], 'What clearing decided.'),
  MARKET,
  always('trade_id', 'integer', 'The trade, unique in its market for ever.'),
  always('order_id', 'id', 'The order of this side.'),
  always('order_sequence', 'integer', 'The sequence of its admission, 0 for none.'),
  always('sub_account', 'integer', 'The sub-account that traded.'),
  oneOf('side', SIDE_WORDS, 'The side of the order.'),
  oneOf('role', ROLE_WORDS, 'Whether its order rested.'),
  always('price', 'raw', 'The price.'),
  always('quantity', 'raw', 'The quantity.'),
  always('event_ns', 'time', 'When its market matched it.'),
  maybe('amount', 'amount', 'What it was worth in USD, of a confirmed one.'),
  maybe('fee', 'amount', 'What it cost in USD, negative for a rebate, of a confirmed one.'),
  maybeOneOf('reason', ROLLBACK_WORDS, 'Why it was rolled back, as this side sees it.'),
  maybe('is_spot', 'flag', 'It moved balances and not a position.'),
  maybe(
    'is_liquidation',
    'flag',
    'The taker was an order that the node sent for an account below its maintenance margin.',
  ),
  maybe(
    'is_auto_deleverage',
    'flag',
    'No order was part of it: the backstop closed a position against a user with a profit.',
  ),
];

const LEDGER_MEMBERS: readonly RowMember[] = [
  always('sub_account', 'integer', 'The sub-account.'),
  always('asset', 'id', 'The asset of the balance, 0 for USD.'),
  maybe('leg', 'id', 'The base asset of the market of a position, where the balance is one of its legs.'),
  oneOf('entry', LEDGER_ENTRIES, 'Why it changed.'),
  always('amount', 'amount', 'By how much, signed.'),
  always('balance_after', 'amount', 'The balance after it, locks included, signed.'),
  maybe(
    'reference',
    'id',
    'What it belongs to: of a trade the base asset and the trade id, of others as the document says.',
  ),
];

const POSITION_MEMBERS: readonly RowMember[] = [
  always('sub_account', 'integer', 'The sub-account.'),
  MARKET,
  always('base', 'amount', 'The asset leg at the end of the record, signed.'),
  always('quote', 'amount', 'The USD leg, signed.'),
  always('entry', 'amount', 'What the open part was entered for, in USD, signed.'),
];

const DEPOSIT_MEMBERS: readonly RowMember[] = [
  oneOf('event', DEPOSIT_EVENTS, 'Whether it was credited, kept for an operator, or credited by one.'),
  CHAIN,
  always('tx', 'hex', 'The transaction: 64 digits.'),
  always('log_index', 'integer', 'The place of its event in the block.'),
  always('token', 'hex', 'The token: 64 digits, padded on the right.'),
  always('base_units', 'units', 'What the vault received, in base units of the token.'),
  always('counter', 'integer', 'The counter of the user in the vault before the deposit.'),
  maybe('asset', 'id', 'What was credited; token@chain for a lot that is kept apart.'),
  maybe('amount', 'amount', 'How much was credited, after the fee.'),
  maybe('fee', 'amount', 'The fee of rebalancing, negative for a rebate.'),
];

const WITHDRAWAL_MEMBERS: readonly RowMember[] = [
  oneOf('event', WITHDRAWAL_EVENTS, 'Where it stands from here on.'),
  always('withdrawal', 'integer', 'The number of the request; parts of it have the same.'),
  always('place', 'integer', 'Its place among those of its user, which is used again.'),
  CHAIN,
  always('token', 'hex', 'The token: 64 digits, padded on the right.'),
  always('asset', 'id', 'The asset that it is taken from.'),
  always('amount', 'amount', 'What is withdrawn.'),
  always('fee', 'amount', 'The fee of rebalancing.'),
  always('payout', 'units', 'What the vault pays, in base units of the token.'),
  always('target', 'hex', 'Where to: 64 digits, padded on the right.'),
  always('nonce', 'integer', 'The counter of the vault for it.'),
  always('requested_ns', 'time', 'When it was requested.'),
  always('due_ns', 'time', 'When its delay is over.'),
  maybe('valid_until', 'integer', 'The last second in which its approval is valid.'),
  maybe('approvals', 'json', 'The signatures of the administrators, a list of hex.'),
];

const SETTLEMENT_MEMBERS: readonly RowMember[] = [
  oneOf('event', SETTLEMENT_EVENTS, 'Where it stands from here on.'),
  always('sub_account', 'integer', 'The sub-account.'),
  maybe('place', 'integer', 'Its place among those of its user, which is used again.'),
  CHAIN,
  maybeOneOf('mode', ['spot', 'margin'], 'What it settles.'),
  always('token_out', 'hex', 'What leaves: 64 digits, padded on the right.'),
  always('base_units_out', 'units', 'How much the vault sends.'),
  always('token_in', 'hex', 'What comes in.'),
  always('base_units_in', 'units', 'How much the vault takes.'),
  maybe('asset_out', 'id', 'The asset that leaves.'),
  maybe('amount_out', 'amount', 'How much of it is locked.'),
  maybe('asset_in', 'id', 'The asset that comes in.'),
  maybe('amount_in', 'amount', 'How much of it was signed.'),
  always('nonce', 'integer', 'The counter of the vault for it.'),
  maybe('requested_ns', 'time', 'When it was requested.'),
  maybe('valid_until', 'integer', 'The last second in which its approval is valid.'),
  maybe('approval', 'hex', 'The signature of the administrator.'),
];

const LIQUIDATION_MEMBERS: readonly RowMember[] = [
  oneOf('event', LIQUIDATION_EVENTS, 'Whether it begins or ends.'),
  always('sub_account', 'integer', 'The sub-account.'),
  maybe('is_taken_over', 'flag', 'The backstop took everything of the account over.'),
  maybe('shortfall', 'amount', 'What the account was worth below zero then, in USD.'),
  maybe('taken', 'json', 'The positions that were taken over, a list of [asset, base].'),
];

const PROTECTION_MEMBERS: readonly RowMember[] = [
  oneOf('event', PROTECTION_EVENTS, 'What happened to the group.'),
  MARKET,
  always('protection_slot', 'integer', 'Its slot in this user and market.'),
  maybe('group', 'id', 'The group, as its user named it.'),
  EVENT_NS,
  maybe('trip', 'integer', 'The sequence of its last trip in its market.'),
  maybe('frozen_until_ns', 'time', 'When the freeze ends by itself.'),
  maybe('limits', 'json', 'Its limits, as they were set.'),
];

const ACCOUNT_MEMBERS: readonly RowMember[] = [
  oneOf('event', ACCOUNT_EVENTS, 'What was configured.'),
  maybe('sub_account', 'integer', 'The sub-account that was made or renamed.'),
  maybe('account_type', 'id', 'Its type.'),
  maybe('name', 'text', 'Its name.'),
  maybe('asset', 'id', 'Its asset, where it is isolated.'),
  maybe('config_nonce', 'integer', 'The count of changes of signers.'),
  maybe('signers', 'json', 'All signers from here on, with weights and thresholds.'),
];

const TRADE_MEMBERS: readonly RowMember[] = [
  MARKET,
  always('trade_id', 'integer', 'The trade, unique in its market for ever.'),
  always('price', 'raw', 'The price.'),
  always('quantity', 'raw', 'The quantity.'),
  oneOf('taker_side', SIDE_WORDS, 'The side of the taker.'),
  always('event_ns', 'time', 'When its market matched it.'),
  maybe(
    'is_liquidation',
    'flag',
    'The taker was an order that the node sent for an account below its maintenance margin.',
  ),
  maybe('is_auto_deleverage', 'flag', 'No order was part of it.'),
];

const PRICES_MEMBERS: readonly RowMember[] = [
  always('asset', 'id', 'The asset.'),
  always('price', 'amount', 'The oracle price in USD that is in force from here on.'),
  always('publish_ns', 'time', 'When its source published it.'),
  always('source', 'text', 'Its source.'),
];

const CONFIG_MEMBERS: readonly RowMember[] = [
  always(
    'table',
    'id',
    'What was configured: asset, market, or the kind of another operator object; operator_call for who called what.',
  ),
  always('key', 'id', 'Which one.'),
  maybe('value', 'json', 'All of it from here on, without addresses of providers; absent when it was removed.'),
];

const STATEMENT_MEMBERS: readonly RowMember[] = [
  always('subject', 'id', 'What it is about.'),
  always('text', 'text', 'What the venue states, often a signed note.'),
];

export type RowKindName =
  | 'order'
  | 'quote_set'
  | 'fill'
  | 'ledger'
  | 'position'
  | 'deposit'
  | 'withdrawal'
  | 'settlement'
  | 'liquidation'
  | 'protection'
  | 'account'
  | 'trade'
  | 'prices'
  | 'config'
  | 'statement';

export const ROW_KINDS: Readonly<Record<RowKindName, RowKind>> = {
  order: { isPrivate: true, meaning: 'Something happened to an order.', members: ORDER_MEMBERS },
  quote_set: { isPrivate: true, meaning: 'A quote set changed its entries, or ended.', members: QUOTE_SET_MEMBERS },
  fill: { isPrivate: true, meaning: 'One side of a match, as it was decided.', members: FILL_MEMBERS },
  ledger: { isPrivate: true, meaning: 'A balance changed.', members: LEDGER_MEMBERS },
  position: { isPrivate: true, meaning: 'A position is other than before the record.', members: POSITION_MEMBERS },
  deposit: { isPrivate: true, meaning: 'A vault received something.', members: DEPOSIT_MEMBERS },
  withdrawal: {
    isPrivate: true,
    meaning: 'A withdrawal was requested, went on, or ended.',
    members: WITHDRAWAL_MEMBERS,
  },
  settlement: {
    isPrivate: true,
    meaning: 'A settlement was requested, went on, or ended.',
    members: SETTLEMENT_MEMBERS,
  },
  liquidation: {
    isPrivate: true,
    meaning: 'The liquidation of an account began or ended.',
    members: LIQUIDATION_MEMBERS,
  },
  protection: {
    isPrivate: true,
    meaning: 'A protection group was configured, tripped, or is free.',
    members: PROTECTION_MEMBERS,
  },
  account: { isPrivate: true, meaning: 'Signers or a sub-account were configured.', members: ACCOUNT_MEMBERS },
  trade: { isPrivate: false, meaning: 'A confirmed trade.', members: TRADE_MEMBERS },
  prices: { isPrivate: false, meaning: 'An oracle price was accepted.', members: PRICES_MEMBERS },
  config: { isPrivate: false, meaning: 'An operator configured something.', members: CONFIG_MEMBERS },
  statement: { isPrivate: false, meaning: 'The venue states something.', members: STATEMENT_MEMBERS },
};

export const ROW_KIND_NAMES: readonly RowKindName[] = Object.keys(ROW_KINDS) as RowKindName[];

/** All members of a row of this kind, in their order. */
export function rowMembersOf(kind: RowKindName): readonly RowMember[] {
  const { isPrivate, members } = ROW_KINDS[kind];
  return isPrivate ? [...ROW_HEAD, ...PRIVATE_HEAD, ...members] : [...ROW_HEAD, ...members];
}
