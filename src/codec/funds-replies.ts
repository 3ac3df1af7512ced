/** Replies about money that leaves: the queue of withdrawals (wire.md 7.18) and approvals of settlements (wire.md 7.19). */
import type { ChainId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { bareArray } from './pages.ts';
import { type AmountText, amountText } from './signed-text.ts';

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
