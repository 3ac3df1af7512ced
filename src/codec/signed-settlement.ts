/**
 * Signed settlements: the body of `POST /settlement/init`, the texts that the user and the market maker sign (wire.md 4.2,
 * 7.19, 14 C2), and the replies with approvals.
 *
 *   {"inner":{…},"signature":[…],"additional_signers":[…],"maker_order":{"inner":{…},"signature":[…]}}
 *
 * Amounts are texts of 18-decimal units, in hex unless the node is set to decimal; the received text is what is verified
 * (AMB-11). Without a nonce two texts verify: one without the member, and one that ends with `"nonce":null`; only `request_id`
 * stands behind that.
 */
import { accepted, type Outcome } from '../core/outcome.ts';
import type { TimestampNs } from '../core/units.ts';
import { canonicalText } from './canonical-text.ts';
import { bareArray } from './pages.ts';
import { decodeShape } from './shape-reader.ts';
import { type ActionRead, MAKER_ORDER, SETTLEMENT_REQUEST } from './shapes/account-shapes.ts';
import { type ActionRequest, actionOf } from './signed-action.ts';
import { type SpelledAddress, type SpelledChain, type SpelledUser, signingBytes } from './signed-text.ts';

type SettlementMode = 'margin' | 'spot';

export interface SignedSettlement {
  readonly user: SpelledUser;
  readonly subAccount: number;
  readonly settler: SpelledUser | null;
  readonly mode: SettlementMode;
  readonly assetIn: SpelledAddress;
  /** Both as received: 1 to 78 visible characters. */
  readonly amountIn: string;
  readonly assetOut: SpelledAddress;
  readonly amountOut: string;
  readonly chainId: SpelledChain;
  /** null: the next managed one. */
  readonly nonce: number | null;
  readonly expiresNs: bigint | null;
  /** `mm_pubkey`. */
  readonly maker: SpelledUser | null;
  readonly vault: SpelledAddress | null;
  /** Tells it from an equal request (MON-01); null without one. */
  readonly requestId: string | null;
}

/** What a market maker signs. */
export interface MakerOrder {
  readonly maker: SpelledUser;
  readonly settler: SpelledUser;
  readonly expiresNs: bigint;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
}

export interface SettlementRequest extends ActionRequest<SignedSettlement> {
  /** The other text that verifies; null with a nonce. */
  readonly otherText: Uint8Array | null;
  readonly makerOrder: MakerOrder | null;
}

/** A `nonce` or `vault` that is undefined is absent. */
export type SettlementRead = Omit<SignedSettlement, 'nonce' | 'vault'> & {
  readonly nonce: number | null | undefined;
  readonly vault: SpelledAddress | null | undefined;
};

export interface MakerOrderRead {
  readonly maker: SpelledUser;
  readonly settler: SpelledUser;
  readonly expiresNs: TimestampNs;
}

export interface SettlementRequestRead extends ActionRead<SettlementRead> {
  readonly makerOrder: { readonly inner: MakerOrderRead; readonly signature: Uint8Array } | null;
}

export function decodeSettlement(bytes: Uint8Array, start: number, end: number): Outcome<SettlementRequest> {
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
): Pick<SettlementRequest, 'text' | 'otherText'> {
  if (typeof nonce === 'number') return { text: plain, otherText: null };
  const tail = requestId === null ? '}' : `,"request_id":"${requestId}"}`;
  const head = Buffer.from(plain).toString('latin1').slice(0, -tail.length);
  const ended = signingBytes(`${head},"nonce":null${tail}`);
  return nonce === null ? { text: ended, otherText: plain } : { text: plain, otherText: ended };
}

function makerOrderOf({ inner, signature }: NonNullable<SettlementRequestRead['makerOrder']>): MakerOrder {
  return { ...inner, signature, text: signingBytes(canonicalText(MAKER_ORDER, inner)) };
}

// ---- approvals

interface SettlementApprovalView {
  readonly nonce: number;
  /** 130 hex. */
  readonly signature: string;
  /** Seconds: `validUntil` of the vault. */
  readonly validUntil: number;
}

/** Reply of `GET /settlement/signatures/{user_id}`. */
export function settlementApprovals(rows: readonly SettlementApprovalView[]): string {
  return bareArray(rows.map(approval));
}

/** Reply of `POST /settlement/init`. @param isDuplicate of a text that was accepted before (MON-01). */
export function settlementReply(row: SettlementApprovalView, isDuplicate: boolean): string {
  return `{"success":true,"approval":${approval(row)}${isDuplicate ? ',"duplicate":true' : ''}}`;
}

function approval({ nonce, signature, validUntil }: SettlementApprovalView): string {
  return `{"inner":{"nonce":${nonce},"signature":"${signature}"},"expiry":${validUntil}}`;
}
