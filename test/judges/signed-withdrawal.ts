/**
 * Frozen judge: how this was read and written by hand before shapes did.
 *
 * Signed withdrawals: `inner` of an init and of a cancel (wire.md 4.2, 7.18), with their canonical texts. Amounts are texts of 18-decimal units, in hex unless the node is set to decimal; the
 * received text is what is verified (AMB-11).
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import { readAsset, readUser, type SpelledAsset, type SpelledUser, signedString } from '../../src/codec/signed-text.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { type ActionRequest, readAction } from './signed-transfer.ts';

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
