/**
 * Requests of account actions, read by their shapes (wire.md 3.2, 4.2, 7.17 to 7.20): a wrapper with `inner`, the object that is
 * signed, and its signatures. What is verified is the text of the received members, in the spelling in which they were received.
 *
 *   transfer     `target_account_type` has two spellings of some kinds (C10); if omitted it signs as null (AMB-15)
 *   withdrawal   amounts are texts of 18-decimal units, in hex unless the node is set to decimal (AMB-11)
 *   settlement   without a nonce two texts verify: one without the member, and one that ends with `"nonce":null`; only
 *                `request_id` stands behind that (C2)
 *   add signer   the members received select one of two texts (AMB-13):
 *                user, signer, weight, session_duration_ns, ce_nonce
 *                user, oms_nonce, ce_nonce, signer, weight, session_duration_ns, with a fresh value of `GET /nonce/{user_id}`
 *   login        no wrapper: what is signed is the nonce, in its UTF-8 bytes
 */
import type { TSchema } from '@sinclair/typebox';
import { accepted, type Outcome } from '../core/outcome.ts';
import type {
  AccountTypeRead,
  ActionRequest,
  AttachedMakerOrder,
  AuthRequest,
  SettlementAction,
  SettlementRead,
  SettlementRequestRead,
  SignedAddSigner,
  SignedRead,
  SignedSettlement,
  SignedTransfer,
  TransferRead,
} from './action-types.ts';
import { canonicalText } from './canonical-text.ts';
import { decodeShape } from './shape-reader.ts';
import {
  ADD_SIGNER_REQUEST,
  AUTH_REQUEST,
  MAKER_ORDER,
  SETTLEMENT_REQUEST,
  TRANSFER_REQUEST,
} from './shapes/account-shapes.ts';
import type { Shape } from './shapes/shape-kit.ts';
import { NO_SIGNERS } from './signatures.ts';
import { signingBytes } from './signed-text.ts';

/** Reads bytes[start … end) as the wrapper of an action with which the node works as it was read. */
export function decodeSigned<Inner>(
  shape: Shape<unknown, SignedRead<Inner>>,
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
): Outcome<ActionRequest<Inner>> {
  return decodeAction(shape, [bytes, start, end], (inner) => inner);
}

/**
 * Reads bytes[start … end) as the wrapper of an action.
 *
 * @param toDomain makes of `inner` as it was read, and signed, what the node works with.
 */
function decodeAction<Read, Inner>(
  shape: Shape<unknown, SignedRead<Read>>,
  [bytes, start, end]: readonly [bytes: Uint8Array, start: number, end: number],
  toDomain: (read: Read) => Inner,
): Outcome<ActionRequest<Inner>> {
  const read = decodeShape(shape, bytes, start, end);
  return read.ok ? accepted(actionOf(shape, read.value, toDomain)) : read;
}

/** The request that was read with `shape`. */
function actionOf<Read, Inner>(
  shape: TSchema,
  { inner, signature, additionalSigners }: SignedRead<Read>,
  toDomain: (read: Read) => Inner,
): ActionRequest<Inner> {
  const text = signingBytes(canonicalText(signedMember(shape), inner));
  return { inner: toDomain(inner), signature, additionalSigners: additionalSigners ?? NO_SIGNERS, text };
}

/** The shape of `inner`. */
function signedMember(shape: TSchema): TSchema {
  return (shape['properties'] as { readonly inner: TSchema }).inner;
}

export function decodeTransfer(bytes: Uint8Array, start: number, end: number): Outcome<ActionRequest<SignedTransfer>> {
  return decodeAction(TRANSFER_REQUEST, [bytes, start, end], (read) => ({
    ...read,
    targetAccountType: read.targetAccountType === null ? null : accountType(read.targetAccountType),
  }));
}

function accountType(type: NonNullable<TransferRead['targetAccountType']>): AccountTypeRead {
  if (typeof type === 'string') return { kind: type };
  if ('Isolated' in type) return { kind: 'Isolated', asset: type.Isolated.asset };
  return { kind: 'Spot' in type ? 'Spot' : 'CrossMargin' };
}

export function decodeSettlement(bytes: Uint8Array, start: number, end: number): Outcome<SettlementAction> {
  const read = decodeShape(SETTLEMENT_REQUEST, bytes, start, end);
  if (!read.ok) return read;
  const { inner, makerOrder } = read.value;
  const action = actionOf(SETTLEMENT_REQUEST, read.value, toDomain);
  const { text, otherText } = textsOf(inner, action.text);
  return accepted({ ...action, text, otherText, makerOrder: makerOrder === null ? null : makerOrderOf(makerOrder) });
}

function toDomain(read: SettlementRead): SignedSettlement {
  return { ...read, nonce: read.nonce ?? null, vault: read.vault ?? null };
}

/** Without a nonce two texts verify (C2): the one of the received members is tried first. @param plain names no nonce. */
function textsOf(
  { nonce, requestId }: SettlementRead,
  plain: Uint8Array,
): Pick<SettlementAction, 'text' | 'otherText'> {
  if (typeof nonce === 'number') return { text: plain, otherText: null };
  const tail = requestId === null ? '}' : `,"request_id":"${requestId}"}`;
  const head = Buffer.from(plain).toString('latin1').slice(0, -tail.length);
  const ended = signingBytes(`${head},"nonce":null${tail}`);
  return nonce === null ? { text: ended, otherText: plain } : { text: plain, otherText: ended };
}

function makerOrderOf({ inner, signature }: NonNullable<SettlementRequestRead['makerOrder']>): AttachedMakerOrder {
  return { ...inner, signature, text: signingBytes(canonicalText(MAKER_ORDER, inner)) };
}

export function decodeAddSigner(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedAddSigner>> {
  return decodeAction(ADD_SIGNER_REQUEST, [bytes, start, end], (read) => ({ omsNonce: null, ...read }));
}

export function decodeAuth(bytes: Uint8Array, start: number, end: number): Outcome<AuthRequest> {
  const read = decodeShape(AUTH_REQUEST, bytes, start, end);
  if (!read.ok) return read;
  const { user, nonce, signature, additionalSigners, scope } = read.value;
  return accepted({
    ...{ userId: user.id, nonce, signature, additionalSigners: additionalSigners ?? NO_SIGNERS },
    scope: scope ?? 'full',
  });
}
