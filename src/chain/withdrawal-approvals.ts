/**
 * The chain's side of withdrawals (WDR-07, WDR-10, AMB-79): checkpoints, signatures, and approvals that
 * lapse. Clearing decides and journals each step; here is what makes the next one due.
 *
 *   filled ──checkpoint, each interval of the chain──▶ signing ──the signer's signatures──▶ approved
 *   signing, approved ──a processed block past `validUntil`, the vault's counter not moved──▶ expired
 *   signing, approved ──a confirmed `Withdrew` (event-watch.ts)──▶ executed
 *
 * Every step may be repeated: clearing takes each once, and the signer signs the same bytes again. So nothing is kept here
 * that a restart needs, and a kill between two steps costs the time of the next tick.
 *
 * A stopped chain has no checkpoint, no signature and no lapse (AMB-74).
 */
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import type { WithdrawalRow } from '../clearing/rows.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import type { WithdrawalApproval } from './approval-digests.ts';
import type { Signed, SigningRequest } from './approval-signer.ts';
import type { VaultSettings } from './chain-rows.ts';
import type { CounterAt } from './event-watch.ts';

const TICK_MS = 250;
/** Rows of one chain in one tick; the others follow in the next. */
const STEPS_MAX = 64;

/** What the steps of a chain need. */
interface ApprovalChain {
  readonly vault: VaultSettings | null;
  readonly checkpointIntervalMs: number;
  readonly approvalValidityS: number;
}

export interface ChainProgress {
  /** Why the chain is stopped; null: it is not. */
  readonly stopped: object | null;
  /** Of a confirmed block up to which all withdrawals are booked, seconds; 0 before one is known. */
  readonly blockTime: number;
}

interface ApprovalParts {
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** null: there is no such chain. */
  readonly settings: (chainId: ChainId) => ApprovalChain | null;
  /** What is known of a chain; undefined before its first poll. */
  readonly state: (chainId: ChainId) => ChainProgress | undefined;
  /** Whether there are keys for the quorum of a vault: without them nothing is bound to an approval. */
  readonly canSign: (chainId: ChainId, vault: VaultSettings) => boolean;
  /** Whether no checkpoint and no approval is made on a chain: by a hook, in escape mode, and while booked events are not on the chain. */
  readonly isWithheld: (chainId: ChainId) => boolean;
  /** Whether nothing of a token, 64 hex, is approved on a chain (MON-05). */
  readonly isHeld: (chainId: ChainId, token: string) => boolean;
  /** null: not now. */
  readonly sign: (request: SigningRequest) => Promise<Signed | null>;
  /** null: not now. */
  readonly withdrawalCount: (chainId: ChainId, user: UserId) => Promise<CounterAt | null>;
  /** The vault's counter has passed a row: its event is read again. @returns whether it stays hidden after the last read (CHN-04). */
  readonly isHidden: (row: WithdrawalRow) => boolean;
  readonly refused: (chainId: ChainId, reason: string) => void;
  /** Whether the timer makes the steps of a chain; else what moves the chain calls `step`. */
  readonly isTimed: (chainId: ChainId) => boolean;
  /** By the clock of the chain's checkpoints. */
  readonly nowMs: (chainId: ChainId) => number;
}

/** A refusal of the signer is passed on once for each chain and reason, until something is signed. */
export class Refusals {
  readonly #passOn: ApprovalParts['refused'];
  readonly #last = new Map<ChainId, string>();

  constructor(passOn: ApprovalParts['refused']) {
    this.#passOn = passOn;
  }

  refused(chainId: ChainId, reason: string): void {
    if (this.#last.get(chainId) === reason) return;
    this.#last.set(chainId, reason);
    this.#passOn(chainId, reason);
  }

  signed(chainId: ChainId): void {
    this.#last.delete(chainId);
  }
}

export class WithdrawalApprovals {
  readonly #parts: ApprovalParts;
  /** Filled, signing and approved ones, by user and place. */
  readonly #rows = new Map<ChainId, Map<string, WithdrawalRow>>();
  readonly #checkpointMs = new Map<ChainId, number>();
  readonly #refusals: Refusals;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> | null = null;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
    this.#refusals = new Refusals(parts.refused);
  }

  /** Whether a step is with clearing or the signer. */
  get isBusy(): boolean {
    return this.#work !== null;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Clearing has flushed this row. */
  changed(row: WithdrawalRow): void {
    const rows = this.#rows.get(row.chainId) ?? new Map<string, WithdrawalRow>();
    const key = `${row.user}/${row.place}`;
    if (isLive(row)) rows.set(key, row);
    else rows.delete(key);
    if (rows.size === 0) this.#rows.delete(row.chainId);
    else this.#rows.set(row.chainId, rows);
  }

  /** Resolves when the running steps have ended. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#work;
  }

  /** One round of steps on each chain whose steps the timer makes. */
  async tick(): Promise<void> {
    for (const chainId of [...this.#rows.keys()]) if (this.#parts.isTimed(chainId)) await this.step(chainId);
  }

  /** One round of steps. */
  async step(chainId: ChainId): Promise<void> {
    const settings = this.#parts.settings(chainId);
    const rows = this.#rows.get(chainId);
    const state = this.#parts.state(chainId);
    if (settings === null || rows === undefined || state === undefined || state.stopped !== null) return;
    await this.#checkpoint(chainId, settings, state, rows);
    const due = [...rows.values()].filter((row) => this.#isDue(row, state.blockTime));
    for (const row of due.slice(0, STEPS_MAX)) {
      if (isLapsed(row, state.blockTime)) await this.#lapse(row);
      else await this.#sign(row, settings);
      moveBehind(rows, `${row.user}/${row.place}`, row);
    }
  }

  /** Whether `step` would do something. */
  isDue(chainId: ChainId): boolean {
    const settings = this.#parts.settings(chainId);
    const rows = this.#rows.get(chainId);
    const state = this.#parts.state(chainId);
    if (settings === null || rows === undefined || state === undefined || state.stopped !== null) return false;
    if (this.#isCheckpointDue(chainId, settings, rows)) return true;
    return [...rows.values()].some((row) => this.#isDue(row, state.blockTime));
  }

  /** The live approval for a counter of the vault. */
  approved(chainId: ChainId, user: UserId, nonce: number): WithdrawalRow | null {
    for (const row of this.#rows.get(chainId)?.values() ?? []) {
      if (row.user === user && row.nonce === nonce && row.status === 'approved') return row;
    }
    return null;
  }

  #isDue(row: WithdrawalRow, blockTime: number): boolean {
    return isLapsed(row, blockTime) || (row.status === 'signing' && this.#maySign(row));
  }

  #maySign({ chainId, token }: WithdrawalRow): boolean {
    return !this.#parts.isWithheld(chainId) && !this.#parts.isHeld(chainId, token);
  }

  #tick(): void {
    if (this.#work !== null || this.#rows.size === 0) return;
    this.#work = this.tick().finally(() => {
      this.#work = null;
    });
  }

  async #checkpoint(
    chainId: ChainId,
    settings: ApprovalChain,
    { blockTime }: ChainProgress,
    rows: ReadonlyMap<string, WithdrawalRow>,
  ): Promise<void> {
    if (settings.vault === null || !this.#isCheckpointDue(chainId, settings, rows)) return;
    this.#checkpointMs.set(chainId, this.#parts.nowMs(chainId));
    // The user can still cancel a filled row.
    if (!this.#parts.canSign(chainId, settings.vault))
      return this.#refusals.refused(chainId, 'too few keys of administrators of the vault');
    await this.#parts.command({ kind: 'vaultCheckpoint', chainId, blockTime });
  }

  #isCheckpointDue(
    chainId: ChainId,
    { vault, checkpointIntervalMs }: ApprovalChain,
    rows: ReadonlyMap<string, WithdrawalRow>,
  ): boolean {
    const last = this.#checkpointMs.get(chainId) ?? Number.NEGATIVE_INFINITY;
    if (vault === null || this.#parts.nowMs(chainId) - last < checkpointIntervalMs) return false;
    return [...rows.values()].some((row) => row.status === 'filled' && this.#maySign(row));
  }

  async #sign(row: WithdrawalRow, settings: ApprovalChain): Promise<void> {
    if (settings.vault === null) return;
    const { user, place, sequence, chainId } = row;
    const signed = await this.#parts.sign(withdrawalRequest(row, settings.vault, settings));
    if (signed === null) return;
    if (signed.kind === 'signed') {
      this.#refusals.signed(chainId);
      await this.#parts.command({ kind: 'approvalSigned', user, place, sequence, signatures: signed.signatures });
    } else this.#refusals.refused(chainId, signed.reason);
  }

  /**
   * The vault has executed the approval of a row whose event no majority shows: the counter of a confirmed block, by majority, is the
   * proof, as nothing else than this approval can have used it. No row waits for ever (CHN-04).
   */
  async #executed(row: WithdrawalRow): Promise<void> {
    if (!this.#parts.isHidden(row)) return;
    const { user, chainId, token, payout, nonce } = row;
    // mutant: hidden-payout-booked
    await this.#parts.command({ kind: 'withdrew', chainId, user, token, baseUnits: payout, nonce });
  }

  /** Clearing compares counter and time with the row once more. */
  async #lapse(row: WithdrawalRow): Promise<void> {
    const { user, place, sequence, chainId, nonce } = row;
    const found = await this.#parts.withdrawalCount(chainId, user);
    if (found === null) return;
    if (found.counter > nonce) return this.#executed(row);
    await this.#parts.command({ kind: 'approvalLapsed', user, place, sequence, ...found });
  }
}

/** A row that had its step and is as it was, refused or without an answer, lets all others go first. */
export function moveBehind<Row>(rows: Map<string, Row>, key: string, row: Row): void {
  // mutant: approvals-in-turn
  if (rows.get(key) !== row) return;
  rows.delete(key);
  rows.set(key, row);
}

/** Wall clocks are no proof: the block that is past `validUntil` is one with all its withdrawals booked. */
function isLapsed({ status, validUntil }: WithdrawalRow, blockTime: number): boolean {
  return (status === 'signing' || status === 'approved') && blockTime > validUntil;
}

/** Whether the chain makes a step of the row due. */
function isLive({ status }: WithdrawalRow): boolean {
  return status === 'filled' || status === 'signing' || status === 'approved';
}

/** What the signer is to sign. */
export function withdrawalRequest(
  row: WithdrawalRow,
  vault: VaultSettings,
  { approvalValidityS }: Pick<ApprovalChain, 'approvalValidityS'>,
): SigningRequest {
  const validFrom = row.validUntil - approvalValidityS;
  return { kind: 'withdrawal', chainId: row.chainId, vault, approval: approvalOf(row), validFrom };
}

/** What the signer signs for a row. */
export function approvalOf(row: WithdrawalRow): WithdrawalApproval {
  return {
    token: row.token,
    baseUnits: row.payout,
    user: row.user,
    nonce: BigInt(row.nonce),
    validUntil: BigInt(row.validUntil),
    epochHash: row.epochHash,
    target: row.target,
  };
}
