/**
 * The chain's side of settlements (STL-01, AMB-82): signatures, at once, and approvals that lapse. Clearing decides and
 * journals each step; here is what makes the next one due.
 *
 *   locked ──the signer's signature──▶ approved
 *   locked ──the signer refuses what it has never signed──▶ refused: the lock ends, the caller gets the reason
 *   locked, approved ──a confirmed block past `validUntil`, the vault's counter not past the nonce──▶ expired
 *   locked, approved ──a `Settled` event──▶ executed (event-watch.ts)
 *
 * Every step may be repeated: clearing takes each once, and the signer signs the same bytes again. So nothing is kept here
 * that a restart needs. A row that was locked before the start may have been signed then: a refusal does not end it.
 *
 * A stopped chain has no signature and no lapse (AMB-74).
 */
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import type { SettlementRow } from '../clearing/rows.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import type { SettlementApproval } from './approval-digests.ts';
import type { Signed, SigningRequest } from './approval-signer.ts';
import type { VaultSettings } from './chain-rows.ts';
import type { CounterAt } from './event-watch.ts';
import { type ChainProgress, moveBehind, Refusals } from './withdrawal-approvals.ts';

const TICK_MS = 250;
/** Rows in one tick; the others follow in the next. */
const STEPS_MAX = 64;

interface SettlementApprovalParts {
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** The vault of a chain that is not stopped; null: nothing is signed now. */
  readonly vault: (chainId: ChainId) => VaultSettings | null;
  /** null: not now. */
  readonly sign: (request: SigningRequest) => Promise<Signed | null>;
  /** undefined before the first poll of a chain. */
  readonly progress: (chainId: ChainId) => ChainProgress | undefined;
  /** null: not now. */
  readonly settlementCount: (chainId: ChainId, user: UserId, subAccount: number) => Promise<CounterAt | null>;
  /** The vault's counter has passed a row: its event is read again. @returns whether it stays hidden after the last read (CHN-04). */
  readonly isHidden: (row: SettlementRow) => boolean;
  readonly refused: (chainId: ChainId, reason: string) => void;
  /** Whether the timer ends approvals of a chain; else what moves the chain calls `step`. */
  readonly isTimed: (chainId: ChainId) => boolean;
}

/** What the signer is to sign. */
export function settlementRequest(row: SettlementRow, vault: VaultSettings): SigningRequest {
  const { chainId, validFrom } = row;
  return { kind: 'settlement', chainId, vault, approval: settlementApprovalOf(row), validFrom };
}

/** What the signer signs for a row. */
export function settlementApprovalOf(row: SettlementRow): SettlementApproval {
  return {
    tokenOut: row.tokenOut,
    baseUnitsOut: row.baseUnitsOut,
    tokenIn: row.tokenIn,
    baseUnitsIn: row.baseUnitsIn,
    mode: row.mode,
    user: row.user,
    account: row.subAccount,
    nonce: BigInt(row.nonce),
    validUntil: BigInt(row.validUntil),
    settler: row.settler,
  };
}

/** Whether a confirmed block of that time has ended the approval, where the vault's counter has not passed it. */
function isPast({ validUntil }: SettlementRow, blockTime: number): boolean {
  return blockTime > validUntil;
}

export class SettlementApprovals {
  readonly #parts: SettlementApprovalParts;
  /** Live rows by user and place. */
  readonly #rows = new Map<string, SettlementRow>();
  /** Names of rows that were locked before the start. */
  readonly #inherited = new Set<string>();
  /** Keys of rows that are with the signer or with clearing. */
  readonly #steps = new Map<string, Promise<void>>();
  readonly #refusals: Refusals;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: SettlementApprovalParts) {
    this.#parts = parts;
    this.#refusals = new Refusals(parts.refused);
  }

  /** Whether a step is with clearing or the signer. */
  get isBusy(): boolean {
    return this.#steps.size > 0;
  }

  /** @param rows those of before the start. */
  start(rows: Iterable<SettlementRow>): void {
    for (const row of rows) {
      if (row.status === 'locked') this.#inherited.add(nameOf(row));
      this.#rows.set(keyOf(row), row);
    }
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
    this.tick();
  }

  /** Clearing has flushed this row; a locked one is signed at once. */
  changed(row: SettlementRow): void {
    if (row.status === 'locked' || row.status === 'approved') this.#rows.set(keyOf(row), row);
    else this.#rows.delete(keyOf(row));
    if (row.status !== 'locked') this.#inherited.delete(nameOf(row));
    else this.#step(row);
  }

  /** Resolves when the running steps have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#steps.values());
  }

  /** What was not signed at once, and what has lapsed. */
  tick(): void {
    let steps = 0;
    for (const row of this.#rows.values()) {
      if (steps >= STEPS_MAX) return;
      const isLapse = this.#isLapsed(row) && this.#parts.isTimed(row.chainId);
      if (row.status !== 'locked' && !isLapse) continue;
      steps += 1;
      this.#step(row);
    }
  }

  /** Ends the approvals of a chain that have lapsed. */
  async step(chainId: ChainId): Promise<void> {
    const lapsed = [...this.#rows.values()].filter((row) => row.chainId === chainId && this.#isLapsed(row));
    for (const row of lapsed.slice(0, STEPS_MAX)) this.#step(row);
    await Promise.all(lapsed.map((row) => this.#steps.get(keyOf(row))));
  }

  /** Whether `step` would do something. */
  isDue(chainId: ChainId): boolean {
    return [...this.#rows.values()].some((row) => row.chainId === chainId && this.#isLapsed(row));
  }

  #isLapsed(row: SettlementRow): boolean {
    const progress = this.#parts.progress(row.chainId);
    return progress !== undefined && progress.stopped === null && isPast(row, progress.blockTime);
  }

  #step(row: SettlementRow): void {
    const key = keyOf(row);
    if (this.#isStopped || this.#steps.has(key)) return;
    const step = (this.#isLapsed(row) ? this.#lapse(row) : this.#sign(row)).finally(() => {
      this.#steps.delete(key);
      moveBehind(this.#rows, key, row);
    });
    this.#steps.set(key, step);
  }

  async #sign(row: SettlementRow): Promise<void> {
    const { chainId, user, place, requestedNs } = row;
    const vault = this.#parts.vault(chainId);
    if (vault === null) return;
    const signed = await this.#parts.sign(settlementRequest(row, vault));
    if (signed === null) return;
    const name = { user, place, requestedNs };
    const [signature] = signed.kind === 'signed' ? signed.signatures : [];
    if (signature !== undefined) {
      this.#refusals.signed(chainId);
      await this.#parts.command({ kind: 'settlementSigned', ...name, signature });
      return;
    }
    this.#refusals.refused(chainId, signed.kind === 'refused' ? signed.reason : 'there is no signature');
    // mutant: settlement-refused-after-restart
    if (!this.#inherited.has(nameOf(row))) await this.#parts.command({ kind: 'settlementRefused', ...name });
  }

  /** As of a withdrawal: the vault's counter is the proof when no majority shows the event (CHN-04). */
  async #executed(row: SettlementRow): Promise<void> {
    if (!this.#parts.isHidden(row)) return;
    const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler } = row;
    const terms = { tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler };
    await this.#parts.command({ kind: 'settled', chainId, user, subAccount, nonce, ...terms });
  }

  /** Clearing compares counter and time with the row once more. */
  async #lapse(row: SettlementRow): Promise<void> {
    const { user, place, requestedNs, chainId, subAccount, nonce } = row;
    const found = await this.#parts.settlementCount(chainId, user, subAccount);
    if (found === null) return;
    // By a counter that has passed the row it was executed.
    if (found.counter > nonce) return this.#executed(row);
    await this.#parts.command({ kind: 'settlementLapsed', user, place, requestedNs, ...found });
  }
}

function keyOf({ user, place }: Pick<SettlementRow, 'user' | 'place'>): string {
  return `${user}/${place}`;
}

function nameOf(row: SettlementRow): string {
  return `${keyOf(row)}/${row.requestedNs}`;
}
