/**
 * Signed withdrawals: `inner` of an init and of a cancel (wire.md 4.2, 7.18), and the rows of `GET /withdrawal/queue/{user_id}`.
 * Amounts are texts of 18-decimal units, in hex unless the node is set to decimal; the received text is what is verified
 * (AMB-11).
 */
import type { ChainId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { bareArray } from './pages.ts';
import { WITHDRAWAL_CANCEL_REQUEST, WITHDRAWAL_REQUEST } from './shapes/account-shapes.ts';
import { type ActionRequest, decodeAction } from './signed-action.ts';
import type { SpelledAddress, SpelledAsset, SpelledUser } from './signed-text.ts';

/** How withdrawal and settlement amounts are written (setting `amount_text`). */
export type AmountText = 'hex' | 'decimal';

export interface SignedWithdrawal {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  /** As received: 1 to 78 visible characters. */
  readonly amount: string;
  /** null: the smallest one free. */
  readonly nonce: number | null;
  readonly target: SpelledAddress;
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

const HEX_FORM = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const DECIMAL_FORM = /^[0-9]{1,78}$/;

export function decodeWithdrawal(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedWithdrawal>> {
  return decodeAction(WITHDRAWAL_REQUEST, [bytes, start, end], (inner) => inner);
}

export function decodeWithdrawalCancel(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedWithdrawalCancel>> {
  return decodeAction(WITHDRAWAL_CANCEL_REQUEST, [bytes, start, end], (inner) => inner);
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

// ---- the queue

/** What the queue shows of a withdrawal. */
interface WithdrawalView {
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
