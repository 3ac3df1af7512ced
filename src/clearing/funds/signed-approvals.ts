/**
 * The approvals that were signed within the last hour, of withdrawals and settlements on all chains: what `approval_limits` and the counts of the
 * signer go by at a start and after a takeover (chain/approved-before.ts, cluster.md 8). A row is written with the signature, before that is
 * shown to anybody, and stays whatever becomes of the withdrawal or settlement.
 *
 *   approvalSigned, settlementSigned ─▶ a row in the lowest free place, with the time of the record ─▶ an hour later its place is free
 *
 * Bounded: SIGNED_MAX rows. The signer's own counts of an hour are less than half of that; beyond it nothing is signed.
 */
import type { UserId } from '../../core/ids.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';
import type { SettlementRow, SignedApprovalRow, WithdrawalRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';

export const SIGNED_MAX = 16_384;
const HOUR_NS: bigint = 3_600n * SECOND_NS;

/** Plain storage. */
export class SignedApprovals {
  /** By the time of their signature, then by place; sorted when it is read. */
  #rows: SignedApprovalRow[] = [];
  readonly #used = new Set<number>();
  /** No lower place is free. */
  #lowest = 0;
  #isSorted = true;

  get size(): number {
    return this.#rows.length;
  }

  load(row: SignedApprovalRow): void {
    if (row.isGone) return;
    this.#rows.push(row);
    this.#used.add(row.place);
    this.#isSorted = false;
  }

  /** In the order of their signatures. */
  all(): readonly SignedApprovalRow[] {
    if (!this.#isSorted) this.#rows.sort((a, b) => Number(a.signedNs - b.signedNs) || a.place - b.place);
    this.#isSorted = true;
    return this.#rows;
  }

  /** Takes those out that are an hour old. */
  expire(nowNs: TimestampNs): readonly SignedApprovalRow[] {
    const old = this.all().findIndex((row) => isOfHour(row, nowNs));
    const gone = this.#rows.splice(0, old < 0 ? this.#rows.length : old);
    for (const { place } of gone) {
      this.#used.delete(place);
      this.#lowest = Math.min(this.#lowest, place);
    }
    return gone;
  }

  add(row: Omit<SignedApprovalRow, 'place' | 'isGone'>): SignedApprovalRow {
    while (this.#used.has(this.#lowest)) this.#lowest += 1;
    const placed = { ...row, place: this.#lowest, isGone: false };
    this.load(placed);
    return placed;
  }
}

/** Whether an approval counts at a time. */
function isOfHour({ signedNs }: Pick<SignedApprovalRow, 'signedNs'>, nowNs: TimestampNs): boolean {
  return nowNs - signedNs < HOUR_NS;
}

/** Why no more can be signed now; null: it can. */
export function refuseSigned(state: ClearingState, nowNs: TimestampNs): Reject | null {
  for (const row of state.signedApprovals.expire(nowNs)) {
    state.dirty.signedApprovals.set(row.place, { ...row, isGone: true });
  }
  // mutant: signed-approvals-bound
  return state.signedApprovals.size < SIGNED_MAX
    ? null
    : reject('SERVICE_UNAVAILABLE', 'too many approvals were signed within an hour');
}

function keep(state: ClearingState, row: Omit<SignedApprovalRow, 'place' | 'isGone'>): void {
  const placed = state.signedApprovals.add(row);
  state.dirty.signedApprovals.set(placed.place, placed);
}

interface Terms {
  readonly user: UserId;
  readonly chainId: SignedApprovalRow['chainId'];
  readonly nonce: number;
  readonly validUntil: number;
}

function termsOf({ user, chainId, nonce, validUntil }: Terms): Terms {
  return { user, chainId, nonce, validUntil };
}

/** A withdrawal was signed; refuseSigned has found room. */
export function keepWithdrawal(state: ClearingState, row: WithdrawalRow, signedNs: TimestampNs): void {
  const { token, payout: baseUnits } = row;
  // mutant: signed-withdrawal-counts
  keep(state, { kind: 'withdrawal', ...termsOf(row), subAccount: 0, token, baseUnits, signedNs });
}

/** A settlement was signed; refuseSigned has found room. */
export function keepSettlement(state: ClearingState, row: SettlementRow, signedNs: TimestampNs): void {
  const { subAccount, tokenOut: token, baseUnitsOut: baseUnits } = row;
  // mutant: signed-settlement-counts
  keep(state, { kind: 'settlement', ...termsOf(row), subAccount, token, baseUnits, signedNs });
}

/** A page of the approvals of the last hour. */
export interface ApprovalsPage {
  readonly approvals: readonly SignedApprovalRow[];
  /** Where the next page begins; null: this is the last one. */
  readonly next: number | null;
}

const PAGE = 1_000;

/** @param from where the page begins, by places; 0 of the first one. */
export function approvalsOfHour(state: ClearingState, from: number, nowNs: TimestampNs): ApprovalsPage {
  const through = from + PAGE;
  const approvals = state.signedApprovals.all().filter((row) => row.place >= from && row.place < through);
  return { approvals: approvals.filter((row) => isOfHour(row, nowNs)), next: through < SIGNED_MAX ? through : null };
}
