/**
 * The withdrawals of one simulated chain (WDR-07 to WDR-11, AMB-79): what makes the next step of a row due, as
 * withdrawal-approvals.ts does for EVM chains, but by the node's clock and without waiting.
 *
 *   filled ──checkpoint, each interval of the node's clock──▶ signing ──signatures──▶ approved
 *   signing, approved ──a confirmed block past `validUntil`, the vault's counter not moved──▶ expired
 *   signing, approved ──a confirmed `Withdrew`──▶ executed
 *
 * Clearing decides and journals each step and takes each once; nothing here has to survive a start. Nothing is done on a
 * stopped chain (simulated-watch.ts), and no checkpoint while too few providers answer.
 */
import type { OperatorCommand } from '../clearing/inputs.ts';
import type { WithdrawalRow } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { MILLISECOND_NS } from '../core/units.ts';
import type { Signer } from './approval-signer.ts';
import { bookingOf } from './bookings.ts';
import type { ChainSettings } from './chain-rows.ts';
import type { DepositWatcher } from './deposit-watcher.ts';
import type { ChainSight } from './simulated-providers.ts';
import type { VaultWatch } from './simulated-watch.ts';
import { approvalOf, isLapsed, isLive, Refusals } from './withdrawal-approvals.ts';

type View = Readonly<Record<string, unknown>>;

interface SimulatedWithdrawalParts {
  readonly chainId: ChainId;
  readonly signer: Signer;
  /** Clearing's reply; null: not now. */
  readonly offer: (command: OperatorCommand) => Promise<View | null>;
  /** Why an approval is not signed. */
  readonly refused: (chainId: ChainId, reason: string) => void;
  /** Whether nothing of the token is approved on the chain (MON-05). */
  readonly isHeld: (token: string) => boolean;
}

export class SimulatedWithdrawals {
  readonly #parts: SimulatedWithdrawalParts;
  /** Filled, signing and approved ones, by user and place. */
  readonly #rows = new Map<string, WithdrawalRow>();
  readonly #refusals: Refusals;
  #checkpointNs = 0n;

  constructor(parts: SimulatedWithdrawalParts) {
    this.#parts = parts;
    this.#refusals = new Refusals(parts.refused);
  }

  /** Clearing has flushed the row. */
  changed(row: WithdrawalRow): void {
    const key = `${row.user}/${row.place}`;
    if (isLive(row)) this.#rows.set(key, row);
    else this.#rows.delete(key);
  }

  /** The live approval for a counter of the vault. */
  approved(user: UserId, nonce: number): WithdrawalRow | null {
    for (const row of this.#rows.values()) {
      if (row.user === user && row.nonce === nonce && row.status === 'approved') return row;
    }
    return null;
  }

  /** Whether `act` would do something. */
  isDue(sight: ChainSight, watch: VaultWatch, settings: ChainSettings, nowNs: bigint): boolean {
    if (settings.vault === null) return false;
    if (dueEvents(sight, watch, settings).length > 0) return true;
    const blockTime = sight.confirmedTime(settings.withdrawalConfirmations);
    for (const row of this.#rows.values()) {
      if (isLapsed(row, blockTime)) return true;
      if (!watch.mayApprove || this.#parts.isHeld(row.token)) continue;
      if (row.status === 'signing') return true;
      if (row.status === 'filled' && this.#isCheckpointDue(sight, settings, nowNs)) return true;
    }
    return false;
  }

  /** Makes every step that is due. @returns false when clearing did not answer in time. */
  async act(sight: ChainSight, watch: VaultWatch, settings: ChainSettings, nowNs: bigint): Promise<boolean> {
    if (settings.vault === null) return true;
    if (!(await this.#book(sight, watch, settings))) return false;
    if (watch.stopped !== null) return true;
    const blockTime = sight.confirmedTime(settings.withdrawalConfirmations);
    const { isHeld } = this.#parts;
    const isFilled = [...this.#rows.values()].some(({ status, token }) => status === 'filled' && !isHeld(token));
    if (watch.mayApprove && isFilled && this.#isCheckpointDue(sight, settings, nowNs)) {
      this.#checkpointNs = nowNs;
      const { chainId } = this.#parts;
      if ((await this.#parts.offer({ kind: 'vaultCheckpoint', chainId, blockTime })) === null) return false;
    }
    for (const row of [...this.#rows.values()]) {
      const isAnswered = isLapsed(row, blockTime)
        ? await this.#lapse(row, blockTime, sight.withdrawalCount(row.user))
        : row.status !== 'signing' || !watch.mayApprove || isHeld(row.token) || (await this.#sign(row, settings));
      if (!isAnswered) return false;
    }
    return true;
  }

  #isCheckpointDue({ head }: ChainSight, { checkpointIntervalMs }: ChainSettings, nowNs: bigint): boolean {
    return head >= 0 && nowNs - this.#checkpointNs >= BigInt(checkpointIntervalMs) * MILLISECOND_NS;
  }

  async #book(sight: ChainSight, watch: VaultWatch, settings: ChainSettings): Promise<boolean> {
    for (;;) {
      const due = dueEvents(sight, watch, settings);
      if (due.length === 0) return true;
      for (const event of due) {
        const { nonce, block } = event;
        const reply = await this.#parts.offer(bookingOf(this.#parts.chainId, 'withdrawal', event));
        if (reply === null) return false;
        const { result, next } = reply;
        assert(typeof next === 'number', 'clearing returns the next counter');
        if (result === 'unmatched' && next === nonce) {
          watch.stop({ reason: 'unmatched', block: block - 1, deposits: 1 });
          return true;
        }
        watch.withdrawals.answered(event, next);
      }
    }
  }

  /** @returns false when clearing did not answer in time. */
  async #sign(row: WithdrawalRow, { vault, approvalValidityS }: ChainSettings): Promise<boolean> {
    if (vault === null) return true;
    const { user, place, sequence } = row;
    const { chainId, signer, offer } = this.#parts;
    const validFrom = row.validUntil - approvalValidityS;
    const signed = await signer.sign({ kind: 'withdrawal', chainId, vault, approval: approvalOf(row), validFrom });
    if (signed.kind === 'refused') {
      this.#refusals.refused(chainId, signed.reason);
      return true;
    }
    this.#refusals.signed(chainId);
    return (await offer({ kind: 'approvalSigned', user, place, sequence, signatures: signed.signatures })) !== null;
  }

  /** @param counter null: too few providers show the vault's counter. One that has moved on: the payout will be booked. */
  async #lapse(row: WithdrawalRow, blockTime: number, counter: number | null): Promise<boolean> {
    const { user, place, sequence, nonce } = row;
    if (counter === null || counter > nonce) return true;
    return (await this.#parts.offer({ kind: 'approvalLapsed', user, place, sequence, blockTime, counter })) !== null;
  }
}

function dueEvents(
  { views }: ChainSight,
  { withdrawals }: VaultWatch,
  { vault, withdrawalConfirmations: confirmations }: ChainSettings,
): ReturnType<DepositWatcher['due']> {
  return vault === null ? [] : withdrawals.due(views, { vault: vault.address.slice(0, 40), confirmations });
}
