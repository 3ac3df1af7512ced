/**
 * What stored rows have of approvals when a signer begins, at a start or after a takeover (cluster.md 8): the signer counts those of the
 * last hour again, and signs no other approval of a counter while one of them lives (approval-signer.ts).
 *
 *   counted   every approval that was signed within the last hour, whatever became of its row (clearing/funds/signed-approvals.ts). Of a
 *             hour that began before version 16 of the data, what the rows of withdrawals and of live settlements still have
 *   live      the approvals of rows: of withdrawals with signatures, of settlements that are approved
 */
import type { SettlementRow, SignedApprovalRow, WithdrawalRow } from '../clearing/rows.ts';
import type { ChainId } from '../core/ids.ts';
import { type ApprovedBefore, chargeOf, type SigningRequest } from './approval-signer.ts';
import type { CommonSettings } from './chain-rows.ts';
import { settlementRequest } from './settlement-approvals.ts';
import { withdrawalRequest } from './withdrawal-approvals.ts';

const HOUR_S = 3_600;

interface Stored {
  readonly withdrawals: Iterable<WithdrawalRow>;
  readonly settlements: Iterable<SettlementRow>;
  /** Those of the last hour. */
  readonly signed: readonly SignedApprovalRow[];
  /** null: the chain is not watched. */
  readonly settings: (chainId: ChainId) => Pick<CommonSettings, 'vault' | 'approvalValidityS'> | null;
  /** Of the node's clock, seconds. */
  readonly nowS: number;
}

export function approvedBefore({ withdrawals, settlements, signed, settings, nowS }: Stored): ApprovedBefore {
  const live: SigningRequest[] = [];
  for (const row of withdrawals) {
    const chain = settings(row.chainId);
    if (chain?.vault && row.signatures.length > 0) live.push(withdrawalRequest(row, chain.vault, chain));
  }
  for (const row of settlements) {
    const vault = settings(row.chainId)?.vault ?? null;
    if (vault !== null && row.status === 'approved') live.push(settlementRequest(row, vault));
  }
  const known = new Set(signed.map(nameOfRow));
  const older = live.filter((request) => request.validFrom > nowS - HOUR_S && !known.has(nameOf(request)));
  const rows = signed.map(({ kind, user, token, chainId, baseUnits }) => {
    return { kind, user, token: `${token}@${chainId}`, baseUnits };
  });
  return { live, counted: [...rows, ...older.map(chargeOf)] };
}

function nameOfRow({ kind, chainId, user, subAccount, nonce, validUntil }: SignedApprovalRow): string {
  return `${kind}/${chainId}/${user}/${subAccount}/${nonce}/${validUntil}`;
}

function nameOf(request: SigningRequest): string {
  const { kind, chainId, approval } = request;
  const subAccount = request.kind === 'settlement' ? request.approval.account : 0;
  return `${kind}/${chainId}/${approval.user}/${subAccount}/${approval.nonce}/${approval.validUntil}`;
}
