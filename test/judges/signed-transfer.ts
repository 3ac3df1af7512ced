/**
 * Frozen judge: how this was read and written by hand before shapes did.
 *
 * Signed account actions: `inner` of a transfer between sub-accounts and of a close-position (wire.md 4.2, 7.17), with
 * their canonical texts. `target_account_type` is verified in the received shape (C10); if omitted it signs as null
 * (AMB-15).
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { choiceShape, objectShape } from '../../src/codec/json-shape.ts';
import { readAdditionalSigners, readSignature, type Signatures } from '../../src/codec/signatures.ts';
import {
  readAsset,
  readUser,
  type SpelledAsset,
  type SpelledUser,
  signedString,
  signingBytes,
} from '../../src/codec/signed-text.ts';
import type { Outcome } from '../../src/core/outcome.ts';

/** The kind of a sub-account that a transfer creates, in its received spelling: `"Spot"` or `{"Spot":null}`. */
export type TargetAccountType =
  | { readonly kind: 'Spot' | 'CrossMargin'; readonly shape: 'name' | 'object' }
  | { readonly kind: 'Isolated'; readonly asset: SpelledAsset };

export interface SignedTransfer {
  readonly user: SpelledUser;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly transferAsset: SpelledAsset;
  /** Base-10 text of 18-decimal units, below 2^256. */
  readonly transferAmount: string;
  readonly targetAccountType: TargetAccountType | null;
  /** u64. */
  readonly nonce: bigint;
}

export interface SignedClosePosition {
  readonly user: SpelledUser;
  readonly account: number;
  readonly asset: SpelledAsset;
  /** u64. */
  readonly nonce: bigint;
}

/** An action wrapper: `inner`, its signatures, and the signed bytes. */
export interface ActionRequest<Inner> extends Signatures {
  readonly inner: Inner;
  readonly text: Uint8Array;
}

const WRAPPER = objectShape('skip', ['inner', 'signature', 'additional_signers?']);
const TRANSFER = objectShape('refuse', [
  'user',
  'source_index',
  'target_index',
  'transfer_asset',
  'transfer_amount',
  'target_account_type?',
  'nonce',
]);
const CLOSE_POSITION = objectShape('refuse', ['user', 'account', 'asset_identifier', 'nonce']);
const ACCOUNT_TYPE = choiceShape(['Spot', 'CrossMargin', 'Isolated']);
const ISOLATED = objectShape('refuse', ['asset']);

const ACCOUNT_INDEX_MAX = 65_535;
const AMOUNT_FORM = /^(?:0|[1-9][0-9]{0,77})$/;
const AMOUNT_LIMIT = 1n << 256n;

export function decodeTransfer(bytes: Uint8Array, start: number, end: number): Outcome<ActionRequest<SignedTransfer>> {
  return decodeText(bytes, start, end, (cursor) => readAction(cursor, readTransfer, transferText));
}

export function decodeClosePosition(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedClosePosition>> {
  return decodeText(bytes, start, end, (cursor) => readAction(cursor, readClosePosition, closePositionText));
}

/** Reads an action wrapper at the cursor. @returns null exactly when the cursor has failed. */
export function readAction<Inner>(
  cursor: JsonCursor,
  readInner: (cursor: JsonCursor) => Inner,
  textOf: (inner: Inner) => string,
): ActionRequest<Inner> | null {
  let inner: Inner | null = null;
  let signature: Uint8Array = new Uint8Array();
  let additionalSigners: Signatures['additionalSigners'] = [];
  cursor.enterObject();
  for (let name = cursor.nextMember(WRAPPER); name !== null; name = cursor.nextMember(WRAPPER)) {
    if (name === 'inner') inner = readInner(cursor);
    else if (name === 'signature') signature = readSignature(cursor);
    else additionalSigners = readAdditionalSigners(cursor);
  }
  if (cursor.hasFailed || inner === null) return null;
  return { inner, signature, additionalSigners, text: signingBytes(textOf(inner)) };
}

function readTransfer(cursor: JsonCursor): SignedTransfer {
  const inner: Partial<Draft<SignedTransfer>> = { targetAccountType: null };
  cursor.enterObject();
  for (let name = cursor.nextMember(TRANSFER); name !== null; name = cursor.nextMember(TRANSFER)) {
    if (name === 'user') inner.user = readUser(cursor);
    else if (name === 'source_index') inner.sourceIndex = cursor.readInteger(0, ACCOUNT_INDEX_MAX);
    else if (name === 'target_index') inner.targetIndex = cursor.readInteger(0, ACCOUNT_INDEX_MAX);
    else if (name === 'transfer_asset') inner.transferAsset = readAsset(cursor);
    else if (name === 'transfer_amount') inner.transferAmount = readAmount(cursor);
    else if (name === 'target_account_type') inner.targetAccountType = readAccountType(cursor);
    else inner.nonce = cursor.readU64();
  }
  return inner as SignedTransfer;
}

function readAmount(cursor: JsonCursor): string {
  const text = cursor.readString();
  if (!AMOUNT_FORM.test(text) || BigInt(text) >= AMOUNT_LIMIT) cursor.fail('expected a base-10 integer below 2^256');
  return text;
}

function readAccountType(cursor: JsonCursor): TargetAccountType | null {
  if (cursor.readNull()) return null;
  if (cursor.kind() === 'string') {
    const name = cursor.readString();
    if (name === 'Spot' || name === 'CrossMargin') return { kind: name, shape: 'name' };
    cursor.fail('expected Spot, CrossMargin or {"Isolated":{"asset":…}}');
    return null;
  }
  let type: TargetAccountType | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(ACCOUNT_TYPE); name !== null; name = cursor.nextMember(ACCOUNT_TYPE)) {
    if (name === 'Isolated') type = readIsolated(cursor);
    else if (cursor.readNull()) type = { kind: name, shape: 'object' };
    else cursor.fail('expected null');
  }
  return type;
}

function readIsolated(cursor: JsonCursor): TargetAccountType | null {
  let type: TargetAccountType | null = null;
  cursor.enterObject();
  while (cursor.nextMember(ISOLATED) !== null) type = { kind: 'Isolated', asset: readAsset(cursor) };
  return type;
}

function readClosePosition(cursor: JsonCursor): SignedClosePosition {
  const inner: Partial<Draft<SignedClosePosition>> = {};
  cursor.enterObject();
  for (let name = cursor.nextMember(CLOSE_POSITION); name !== null; name = cursor.nextMember(CLOSE_POSITION)) {
    if (name === 'user') inner.user = readUser(cursor);
    else if (name === 'account') inner.account = cursor.readInteger(0, ACCOUNT_INDEX_MAX);
    else if (name === 'asset_identifier') inner.asset = readAsset(cursor);
    else inner.nonce = cursor.readU64();
  }
  return inner as SignedClosePosition;
}

/** Canonical text of a transfer's `inner`. */
export function transferText(inner: SignedTransfer): string {
  return (
    `{"user":"${signedString(inner.user.text)}","source_index":${inner.sourceIndex},` +
    `"target_index":${inner.targetIndex},"transfer_asset":"${signedString(inner.transferAsset.text)}",` +
    `"transfer_amount":"${signedString(inner.transferAmount)}",` +
    `"target_account_type":${accountTypeText(inner.targetAccountType)},"nonce":${inner.nonce}}`
  );
}

function accountTypeText(type: TargetAccountType | null): string {
  if (type === null) return 'null';
  if (type.kind === 'Isolated') return `{"Isolated":{"asset":"${signedString(type.asset.text)}"}}`;
  return type.shape === 'name' ? `"${type.kind}"` : `{"${type.kind}":null}`;
}

/** Canonical text of a close-position's `inner`. */
export function closePositionText(inner: SignedClosePosition): string {
  return (
    `{"user":"${signedString(inner.user.text)}","account":${inner.account},` +
    `"asset_identifier":"${signedString(inner.asset.text)}","nonce":${inner.nonce}}`
  );
}
