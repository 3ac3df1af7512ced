/**
 * The settlements of one simulated chain: what the vault does with a call of `executeAtomicSettlement` (wire.md 12.1), and the
 * steps of rows that the chain makes due, as settlement-approvals.ts has them for EVM chains.
 *
 *   expiry ─▶ settler approved ─▶ caller is its executor ─▶ exact nonce ─▶ signature ─▶ nonce bump ─▶ callback ─▶ pull token
 *   in ─▶ send token out ─▶ event
 *
 *   locked, approved ──a `Settled` event, as soon as a majority shows it──▶ executed
 *   executed ──its event is gone and its approval has ended──▶ the chain is stopped (simulated-watch.ts)
 *   locked, approved ──a block past `validUntil` with the confirmations of withdrawals, counter not past the nonce──▶ expired
 *
 * Clearing decides and journals each step and takes each once; nothing here has to survive a start.
 */
import type { OperatorCommand, SettlementLapsed } from '../clearing/inputs.ts';
import type { SettlementRow } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import type { SettlementApproval } from './approval-digests.ts';
import { bookingOf } from './bookings.ts';
import { U256_MAX } from './chain-events.ts';
import type { ChainSettings } from './chain-rows.ts';
import type { DepositWatcher } from './deposit-watcher.ts';
import { isPast } from './settlement-approvals.ts';
import type { ChainSight } from './simulated-providers.ts';
import type { ChainTimes, VaultWatch } from './simulated-watch.ts';

type View = Readonly<Record<string, unknown>>;

type Lapse = Omit<SettlementLapsed, 'kind' | 'request'>;

/** Approvals that `settlements/execute` finds, the latest ones. */
const APPROVALS_MAX = 1_024;

/** Error names of wire.md 12.2 for settlements. */
export type SettlementRevert =
  | 'Expired'
  | 'SettlerNotApproved'
  | 'NotExecutor'
  | 'InvalidNonce'
  | 'InvalidSignature'
  | 'InsufficientAmountFromExecutor'
  | 'TransferFromFailed'
  | 'TransferFailed';

/** What the executor does when the vault calls it back. null: exactly enough. */
export interface ExecutorConduct {
  /** Base units of token in that the vault may pull. */
  readonly allowance: bigint | null;
  /** What the callback returns, and the vault pulls. */
  readonly returns: bigint | null;
  /** Whether it calls the vault again from within. */
  readonly reenter: boolean;
}

/** A call of `executeAtomicSettlement`; addresses are 64 hex, right-padded. */
export interface SettleCall extends SettlementApproval {
  readonly vault: string;
  readonly caller: string;
  /** The executor that is registered for the settler; null for a settler that is not. */
  readonly registered: string | null;
  /** Who signed the digest of the call, 40 hex; null for what is no signature. */
  readonly signer: string | null;
  readonly administrators: readonly string[];
  readonly conduct: ExecutorConduct;
}

/** What the vault and its tokens are when a call comes. */
interface VaultAt {
  /** Unix seconds. */
  readonly nowS: bigint;
  /** `settlementCounts` of the call. */
  readonly counter: number;
  /** Base units of a token that an address has. */
  readonly balance: (token: string, holder: string) => bigint;
}

/** Why the vault reverts a call, in its order of checks; null when it settles. */
export function settlementRefusal(call: SettleCall, { nowS, counter, balance }: VaultAt): SettlementRevert | null {
  const { validUntil, registered, vault, caller, nonce, signer, administrators, conduct } = call;
  if (nowS > validUntil) return 'Expired';
  if (registered === null) return 'SettlerNotApproved';
  if (caller !== registered) return 'NotExecutor';
  if (nonce !== BigInt(counter)) return 'InvalidNonce';
  if (signer === null || !administrators.includes(signer)) return 'InvalidSignature';
  // The counter has moved before the callback, so the same call from within has a nonce of before.
  if (conduct.reenter) return 'InvalidNonce';
  const pulled = pulledBy(call);
  if (pulled < call.baseUnitsIn) return 'InsufficientAmountFromExecutor';
  if ((conduct.allowance ?? pulled) < pulled) return 'TransferFromFailed';
  // A token transfers nothing beyond the uint256 of the receiver.
  if (balance(call.tokenIn, vault) + pulled > U256_MAX) return 'TransferFromFailed';
  const inflow = call.tokenIn === call.tokenOut ? pulled : 0n;
  if (balance(call.tokenOut, vault) + inflow < call.baseUnitsOut) return 'TransferFailed';
  return balance(call.tokenOut, caller) + call.baseUnitsOut <= U256_MAX ? null : 'TransferFailed';
}

/** Base units of token in that the vault takes: what the callback returns. */
export function pulledBy({ baseUnitsIn, conduct }: Pick<SettleCall, 'baseUnitsIn' | 'conduct'>): bigint {
  return conduct.returns ?? baseUnitsIn;
}

export class SimulatedSettlements {
  readonly #chainId: ChainId;
  /** Clearing's reply; null: not now. */
  readonly #offer: (command: OperatorCommand) => Promise<View | null>;
  /** Live rows, by user and place. */
  readonly #rows = new Map<string, SettlementRow>();
  /** By user, sub-account and nonce: also of ended ones, which the vault refuses by itself. */
  readonly #approvals = new Map<string, SettlementRow>();

  constructor(chainId: ChainId, offer: (command: OperatorCommand) => Promise<View | null>) {
    this.#chainId = chainId;
    this.#offer = offer;
  }

  /** Clearing has flushed the row. */
  changed(row: SettlementRow): void {
    const key = `${row.user}/${row.place}`;
    if (row.status === 'locked' || row.status === 'approved') this.#rows.set(key, row);
    else this.#rows.delete(key);
    if (row.status !== 'approved') return;
    this.#approvals.delete(approvalKey(row));
    this.#approvals.set(approvalKey(row), row);
    for (const oldest of this.#approvals.keys()) {
      if (this.#approvals.size <= APPROVALS_MAX) break;
      this.#approvals.delete(oldest);
    }
  }

  /** The last approval for a counter of the vault. */
  approved(user: UserId, subAccount: number, nonce: number): SettlementRow | null {
    return this.#approvals.get(approvalKey({ user, subAccount, nonce })) ?? null;
  }

  /** Whether `act` would do something. */
  isDue(sight: ChainSight, watch: VaultWatch, settings: ChainSettings, times: ChainTimes): boolean {
    if (settings.vault === null) return false;
    if (watch.isLost(times)) return true;
    return this.#lapsed(sight, settings).length > 0 || dueEvents(sight, watch, settings).length > 0;
  }

  /** Makes every step that is due. @returns false when clearing did not answer in time. */
  async act(sight: ChainSight, watch: VaultWatch, settings: ChainSettings, times: ChainTimes): Promise<boolean> {
    if (settings.vault === null || watch.stopped !== null) return true;
    if (!(await this.#book(sight, watch, settings))) return false;
    watch.settle(times);
    if (watch.stopped !== null) return true;
    for (const lapse of this.#lapsed(sight, settings)) {
      if ((await this.#offer({ kind: 'settlementLapsed', ...lapse })) === null) return false;
    }
    return true;
  }

  /** Rows that can never be executed any more: by a counter that has passed one, it was executed. */
  #lapsed(sight: ChainSight, { withdrawalConfirmations }: ChainSettings): readonly Lapse[] {
    const blockTime = sight.confirmedTime(withdrawalConfirmations);
    const lapsed: Lapse[] = [];
    for (const row of this.#rows.values()) {
      if (!isPast(row, blockTime)) continue;
      const { user, place, requestedNs, subAccount, nonce } = row;
      const counter = sight.settlementCount(user, subAccount);
      if (counter !== null && counter <= nonce) lapsed.push({ user, place, requestedNs, blockTime, counter });
    }
    return lapsed;
  }

  async #book(sight: ChainSight, watch: VaultWatch, settings: ChainSettings): Promise<boolean> {
    for (;;) {
      const due = dueEvents(sight, watch, settings);
      if (due.length === 0) return true;
      for (const event of due) {
        const reply = await this.#offer(bookingOf(this.#chainId, 'settlement', event));
        if (reply === null) return false;
        const { result, next } = reply;
        assert(typeof next === 'number', 'clearing returns the next counter');
        if (result === 'unmatched' && next === event.nonce) {
          watch.stop({ reason: 'unmatched', block: event.block - 1, deposits: 1 });
          return true;
        }
        watch.settlements.answered(event, next);
      }
    }
  }
}

function dueEvents(
  { views }: ChainSight,
  { settlements }: VaultWatch,
  { vault, settlementConfirmations: confirmations }: ChainSettings,
): ReturnType<DepositWatcher['due']> {
  return vault === null ? [] : settlements.due(views, { vault: vault.address.slice(0, 40), confirmations });
}

function approvalKey({ user, subAccount, nonce }: Pick<SettlementRow, 'user' | 'subAccount' | 'nonce'>): string {
  return `${user}/${subAccount}/${nonce}`;
}
