/**
 * Determines which deposits of a chain the node may credit now, from the data of the configured providers alone.
 *
 *   providers ──logs, heads, hashes──▶ due() ──▶ deposits ──▶ clearing ──next counter──▶ answered()
 *
 * A deposit is due when more than half of the configured providers show the same log, in the same canonical block, with
 * the confirmations of the chain (DEP-07 to DEP-09, AMB-84). The block of a log is its first confirmation: with 4 it is
 * due at head = block + 3, with 0 at once.
 *
 * Invariants
 *   (1) Deposits of a user are returned in the order of the vault's counter, without a gap (AMB-74).
 *   (2) A deposit that clearing has answered is not returned again, also after a replay (DEP-10). Clearing's reply decides
 *       what was credited; for a user without a reply so far the watcher returns the newest deposit, and the reply contains
 *       the first counter that is still to be credited.
 *
 * The value of a deposit, and blocks dropped after their deposit was credited, are out of scope.
 */
import type { UserId } from '../core/ids.ts';
import { type ChainLog, type DepositEvent, decodeDeposit } from './chain-events.ts';

/** Reads an event of the watched kind; null for any other log. */
type Decode = (log: ChainLog) => DepositEvent | null;

import type { ProviderView } from './simulated-chain.ts';

/** With the chain id: the identity of a deposit. */
export interface ConfirmedDeposit extends DepositEvent {
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  readonly block: number;
}

export interface WatchPolicy {
  /** 40 hex: only its logs count. */
  readonly vault: string;
  /** 0 and 1: as soon as the block exists. */
  readonly confirmations: number;
}

interface Candidate {
  readonly deposit: ConfirmedDeposit;
  votes: number;
}

export class DepositWatcher {
  /** The counter of each user's next deposit, as clearing replied. */
  readonly #next = new Map<UserId, number>();
  /** Every deposit in lower blocks is answered. */
  #fromBlock = 0;
  readonly #decode: Decode;

  /** @param decode of the events that are watched: deposits, or withdrawals, which have a counter of their own. */
  constructor(decode: Decode = decodeDeposit) {
    this.#decode = decode;
  }

  /**
   * @param views one per configured provider; null when it cannot be reached, which counts as disagreement.
   * @returns the deposits that may be credited, in chain order. The same again until `answered` is called.
   */
  due(views: readonly (ProviderView | null)[], policy: WatchPolicy): readonly ConfirmedDeposit[] {
    const fromBlock = this.#fromBlock;
    const candidates = this.#candidates(views, policy);
    const open = candidates.filter(({ deposit }) => deposit.nonce >= (this.#next.get(deposit.user) ?? 0));
    const agreed = open.filter(({ votes }) => isMajority(votes, views.length)).map(({ deposit }) => deposit);
    // A log confirmed by only some providers keeps its block open: the others may follow.
    const agreedHead = majorityHead(views) - Math.max(policy.confirmations, 1) + 1;
    this.#fromBlock = open.reduce((lowest, { deposit }) => Math.min(lowest, deposit.block), agreedHead + 1);
    const due = this.#inOrder(agreed);
    // An agreed deposit has to wait: an earlier deposit of its user is searched from the start.
    if (due.length < agreed.length) this.#fromBlock = 0;
    return due.length === 0 && this.#fromBlock < fromBlock ? this.due(views, policy) : due;
  }

  /** Processes clearing's reply to a deposit: the counter that the user's next deposit on this chain must have. */
  answered(offered: ConfirmedDeposit, nextNonce: number): void {
    this.#next.set(offered.user, nextNonce);
    // A gap: an earlier deposit is missing, perhaps from a block that counted as complete.
    if (nextNonce < offered.nonce) this.#fromBlock = 0;
  }

  /** Logs of the vault with enough confirmations, each once, with the number of providers that show exactly it. */
  #candidates(views: readonly (ProviderView | null)[], policy: WatchPolicy): readonly Candidate[] {
    const found = new Map<string, Candidate>();
    for (const view of views) {
      if (view === null) continue;
      const shown = new Set<string>();
      for (const log of view.logsFrom(this.#fromBlock)) {
        const key = logKey(log);
        const deposit = shown.has(key) ? null : confirmed(view, log, policy, this.#decode);
        if (deposit === null) continue;
        shown.add(key);
        const candidate = found.get(key);
        if (candidate === undefined) found.set(key, { deposit, votes: 1 });
        else candidate.votes += 1;
      }
    }
    return [...found.values()];
  }

  /** Per user: the contiguous run from its next counter on, or the newest deposit of a user without one. */
  #inOrder(agreed: readonly ConfirmedDeposit[]): readonly ConfirmedDeposit[] {
    const byUser = new Map<UserId, ConfirmedDeposit[]>();
    for (const deposit of agreed) {
      const list = byUser.get(deposit.user);
      if (list === undefined) byUser.set(deposit.user, [deposit]);
      else list.push(deposit);
    }
    const due: ConfirmedDeposit[] = [];
    for (const [user, deposits] of byUser) {
      deposits.sort((a, b) => a.nonce - b.nonce);
      let expected = this.#next.get(user) ?? deposits.at(-1)?.nonce;
      for (const deposit of deposits) {
        if (deposit.nonce !== expected) continue;
        due.push(deposit);
        expected += 1;
      }
    }
    return due.sort((a, b) => a.block - b.block || a.logIndex - b.logIndex);
  }
}

/** Validates one log of one provider: the vault wrote it, its block is canonical and deep enough. */
function confirmed(view: ProviderView, log: ChainLog, policy: WatchPolicy, decode: Decode): ConfirmedDeposit | null {
  if (log.address !== policy.vault || view.hashOf(log.blockNumber) !== log.blockHash) return null;
  const confirmations = view.head - log.blockNumber + 1;
  if (confirmations < Math.max(policy.confirmations, 1)) return null;
  const event = decode(log);
  return event === null ? null : { ...event, tx: log.tx, logIndex: log.logIndex, block: log.blockNumber };
}

/** Everything that providers must agree on. */
function logKey(log: ChainLog): string {
  return [log.blockNumber, log.blockHash, log.tx, log.logIndex, log.address, ...log.topics, log.data].join('|');
}

function isMajority(votes: number, configured: number): boolean {
  return votes * 2 > configured;
}

/** The highest head that more than half of the configured providers have reached. */
function majorityHead(views: readonly (ProviderView | null)[]): number {
  const heads = views.map((view) => view?.head ?? -1).sort((a, b) => b - a);
  return heads[Math.floor(heads.length / 2)] ?? -1;
}
