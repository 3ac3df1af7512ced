/**
 * Signed withdrawals: `inner` of an init and of a cancel (wire.md 4.2, 7.18), with their canonical texts, and the rows of
 * `GET /withdrawal/queue/{user_id}`. Amounts are texts of 18-decimal units, in hex unless the node is set to decimal; the
 * received text is what is verified (AMB-11).
 */
import type { ChainId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { type Draft, decodeText } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { objectShape } from './json-shape.ts';
import { bareArray } from './pages.ts';
import { readAsset, readUser, type SpelledAsset, type SpelledUser, signedString } from './signed-text.ts';
import { type ActionRequest, readAction } from './signed-transfer.ts';

/** How withdrawal and settlement amounts are written (setting `amount_text`). */
export type AmountText = 'hex' | 'decimal';

export interface SignedWithdrawal {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  /** As received: 1 to 78 visible characters. */
  readonly amount: string;
  /** null: the smallest one free. */
  readonly nonce: number | null;
  /** As received, and 64 hex digits of it, right-padded. */
  readonly target: { readonly text: string; readonly address: string };
  /** Tells it from an equal request (MON-01); null without one. */
  readonly requestId: string | null;
}

export interface SignedWithdrawalCancel {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  readonly nonce: number;
  /** When the row was requested, u64 (MON-01); null: the live row of that number. */
  readonly requestedNs: bigint | null;
}

const WITHDRAWAL = objectShape('refuse', ['tplus_user', 'asset', 'amount', 'nonce?', 'target', 'request_id?']);
const CANCEL = objectShape('refuse', ['tplus_user', 'asset_address', 'nonce', 'requested_at_ns?']);
const REQUEST_ID_FORM = /^[A-Za-z0-9+/=_\-.:]{1,40}$/;
const TARGET_FORM = /^(?:0[xX])?([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;
const HEX_FORM = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const DECIMAL_FORM = /^[0-9]{1,78}$/;
const AMOUNT_FORM = /^[0-9a-zA-Z]{1,78}$/;

export function decodeWithdrawal(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedWithdrawal>> {
  return decodeText(bytes, start, end, (cursor) => readAction(cursor, readWithdrawal, withdrawalText));
}

export function decodeWithdrawalCancel(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedWithdrawalCancel>> {
  return decodeText(bytes, start, end, (cursor) => readAction(cursor, readCancel, withdrawalCancelText));
}

function readWithdrawal(cursor: JsonCursor): SignedWithdrawal {
  const inner: Partial<Draft<SignedWithdrawal>> = { nonce: null, requestId: null };
  cursor.enterObject();
  for (let name = cursor.nextMember(WITHDRAWAL); name !== null; name = cursor.nextMember(WITHDRAWAL)) {
    if (name === 'tplus_user') inner.user = readUser(cursor);
    else if (name === 'asset') inner.asset = readTokenAsset(cursor);
    else if (name === 'amount') inner.amount = readAmountText(cursor);
    else if (name === 'target') inner.target = readTarget(cursor);
    else if (name === 'request_id') inner.requestId = readRequestId(cursor);
    else inner.nonce = cursor.readNull() ? null : readNonce(cursor);
  }
  return inner as SignedWithdrawal;
}

function readCancel(cursor: JsonCursor): SignedWithdrawalCancel {
  const inner: Partial<Draft<SignedWithdrawalCancel>> = { requestedNs: null };
  cursor.enterObject();
  for (let name = cursor.nextMember(CANCEL); name !== null; name = cursor.nextMember(CANCEL)) {
    if (name === 'tplus_user') inner.user = readUser(cursor);
    else if (name === 'asset_address') inner.asset = readTokenAsset(cursor);
    else if (name === 'requested_at_ns') inner.requestedNs = cursor.readTime();
    else inner.nonce = readNonce(cursor);
  }
  return inner as SignedWithdrawalCancel;
}

/** A token on its chain: an index names no token. */
function readTokenAsset(cursor: JsonCursor): SpelledAsset {
  const asset = readAsset(cursor);
  if (asset.id !== '' && !asset.id.includes('@')) cursor.fail('expected <token>@<chain id>');
  return asset;
}

function readNonce(cursor: JsonCursor): number {
  return cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
}

/** What tells a request from an equal one: up to 40 characters of an order id. */
export function readRequestId(cursor: JsonCursor): string {
  const text = cursor.readString();
  if (!REQUEST_ID_FORM.test(text)) cursor.fail('expected 1 to 40 characters of an order id');
  return text;
}

/** The last member of a signed text that has one. */
export function requestIdMember(requestId: string | null): string {
  return requestId === null ? '' : `,"request_id":"${signedString(requestId)}"`;
}

/** The text of an amount, as received: parseAmountText reads it. */
export function readAmountText(cursor: JsonCursor): string {
  const text = cursor.readString();
  if (!AMOUNT_FORM.test(text)) cursor.fail('expected an amount as a text');
  return text;
}

function readTarget(cursor: JsonCursor): SignedWithdrawal['target'] {
  const text = cursor.readString();
  const digits = TARGET_FORM.exec(text)?.[1] ?? null;
  if (digits === null) cursor.fail('expected an address of 64 hex digits');
  return { text, address: (digits ?? '').toLowerCase().padEnd(64, '0') };
}

/** The amount that a text stands for; null when it is none, zero, or above 256 bits. */
export function parseAmountText(text: string, form: AmountText): Amount18 | null {
  const digits = form === 'hex' ? HEX_FORM.exec(text)?.[1] : DECIMAL_FORM.exec(text)?.[0];
  if (digits === undefined) return null;
  const amount = BigInt(form === 'hex' ? `0x${digits}` : digits);
  return amount > 0n && amount < 1n << 256n ? (amount as Amount18) : null;
}

/** The text of an amount: lower-case hex without prefix, or decimal. */
export function amountText(amount: Amount18, form: AmountText): string {
  return amount.toString(form === 'hex' ? 16 : 10);
}

/** Canonical text of a withdrawal's `inner`; an unset nonce signs as null. */
export function withdrawalText(inner: SignedWithdrawal): string {
  return (
    `{"tplus_user":"${signedString(inner.user.text)}","asset":"${signedString(inner.asset.text)}",` +
    `"amount":"${signedString(inner.amount)}","nonce":${inner.nonce},"target":"${signedString(inner.target.text)}"` +
    `${requestIdMember(inner.requestId)}}`
  );
}

/** Canonical text of a withdrawal cancel's `inner`. */
export function withdrawalCancelText(inner: SignedWithdrawalCancel): string {
  return (
    `{"tplus_user":"${signedString(inner.user.text)}","asset_address":"${signedString(inner.asset.text)}",` +
    `"nonce":${inner.nonce}${inner.requestedNs === null ? '' : `,"requested_at_ns":${inner.requestedNs}`}}`
  );
}

// ---- the queue

/** What the queue shows of a withdrawal. */
export interface WithdrawalView {
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly amount: Amount18;
  readonly nonce: number;
  /** 64 hex, right-padded. */
  readonly target: string;
  readonly status: string;
  /** Of an approved one: 130 hex each, seconds, 64 hex. */
  readonly signatures: readonly string[];
  readonly validUntil: number;
  readonly epochHash: string;
  readonly requestedNs: TimestampNs;
}

/** Reply of `GET /withdrawal/queue/{user_id}`, oldest first (AMB-135). */
export function withdrawalQueue(rows: readonly WithdrawalView[], form: AmountText): string {
  return bareArray(rows.map((row) => queueRow(row, form)));
}

function queueRow(row: WithdrawalView, form: AmountText): string {
  return (
    `{"tplus_user":"${row.user}","asset":"${row.token}@${row.chainId}","amount":"${amountText(row.amount, form)}",` +
    `"nonce":${row.nonce},"target":"${row.target}","status":${status(row)},"requested_at_ns":${row.requestedNs}}`
  );
}

/** What is to be signed is shown as filled: an approval is shown once all of its signatures are there. */
function status({ status, nonce, signatures, validUntil, epochHash }: WithdrawalView): string {
  if (status !== 'approved') return `{"type":"${status === 'signing' ? 'filled' : status}"}`;
  const epoch = `[${Buffer.from(epochHash, 'hex').join(',')}]`;
  const approvals = signatures.map(
    (signature) =>
      `{"inner":{"nonce":${nonce},"signature":"${signature}"},"expiry":${validUntil},"epoch_hash":${epoch}}`,
  );
  return `{"type":"approved","approvals":${bareArray(approvals)}}`;
}
