/**
 * What stored rows have of approvals when a signer begins, at a start or after a takeover (cluster.md 8): the signer counts those of the
 * last hour again, and signs no other approval of a counter while one of them lives (approval-signer.ts).
 *
 * A withdrawal's row is kept for a day after its end, unless 64 later requests of its user displace it. A settlement's row leaves with
 * its end, so executed settlements of the last hour are not counted.
 */
import type { SettlementRow, WithdrawalRow } from '../clearing/rows.ts';
import type { ChainId } from '../core/ids.ts';
import type { ApprovedBefore, SigningRequest } from './approval-signer.ts';
import type { CommonSettings } from './chain-rows.ts';
import { settlementRequest } from './settlement-approvals.ts';
import { withdrawalRequest } from './withdrawal-approvals.ts';

const HOUR_S = 3_600;

interface Stored {
  readonly withdrawals: Iterable<WithdrawalRow>;
  readonly settlements: Iterable<SettlementRow>;
  /** null: the chain is not watched. */
  readonly settings: (chainId: ChainId) => Pick<CommonSettings, 'vault' | 'approvalValidityS'> | null;
  /** Of the node's clock, seconds. */
  readonly nowS: number;
}

export function approvedBefore({ withdrawals, settlements, settings, nowS }: Stored): readonly ApprovedBefore[] {
  const found: SigningRequest[] = [];
  for (const row of withdrawals) {
    const chain = settings(row.chainId);
    if (chain?.vault && row.signatures.length > 0) found.push(withdrawalRequest(row, chain.vault, chain));
  }
  for (const row of settlements) {
    const vault = settings(row.chainId)?.vault ?? null;
    if (vault !== null && row.status === 'approved') found.push(settlementRequest(row, vault));
  }
  return found.map((request) => ({ request, isOfHour: request.validFrom > nowS - HOUR_S }));
}
