/**
 * Determines which deposits of a chain the node may credit now, from the data of the configured providers alone.
 *
 *   providers ──logs, heads, hashes──▶ due() ──▶ deposits ──▶ clearing ──next counter──▶ answered()
 *      └──────▶ lineage(): is everything that was booked still on the chain?
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
 *   (3) `booked` has every deposit that clearing has answered and a majority has shown since, or before the last start.
 *
 * The value of a deposit is out of scope. Withdrawals are watched by the same rules.
 */
import type { UserId } from '../core/ids.ts';
import { type ChainLog, type ConfirmedEvent, counterOwner, type VaultEvent } from './chain-events.ts';
import { decodeCredit } from './deposit-config.ts';
import { isMajority, isReplaced, majorityHash, majorityHead } from './range-verdict.ts';
import type { ProviderView } from './simulated-chain.ts';

/** Reads an event of the watched kind; null for any other log. */
type Decode = (log: ChainLog) => VaultEvent | null;

/** An event that clearing has answered, at its place on the chain. */
export interface BookedEvent {
  readonly user: UserId;
  /** Of a settlement; null for any other event. */
  readonly account: number | null;
  readonly nonce: number;
  readonly block: number;
  /** 64 hex. */
  readonly hash: string;
  /** Counter, token and base units, with `/` between them; of a settlement also sub-account, token in and its base units. */
  readonly what: string;
}

/**
 * `same`: nothing that was booked has another place. `moved`: some of it has, all is there. `undecided`: no majority shows
 * the newest block with a booked event or another one in its place, or none decides about an event. Else those that a majority has not.
 */
type Lineage = 'same' | 'moved' | 'undecided' | readonly BookedEvent[];

export interface WatchPolicy {
  /** 40 hex: only its logs count. */
  readonly vault: string;
  /** 0 and 1: as soon as the block exists. */
  readonly confirmations: number;
}

interface Candidate {
  readonly deposit: ConfirmedEvent;
  /** 64 hex, of its block. */
  readonly hash: string;
  votes: number;
}

export class DepositWatcher {
  /** The counter of each owner's next event, as clearing replied. */
  readonly #next = new Map<string, number>();
  /** Every deposit in lower blocks is answered. */
  #fromBlock = 0;
  readonly #decode: Decode;
  /** By user and counter. */
  readonly #booked = new Map<string, BookedEvent>();
  #changes = 0;

  /**
   * @param decode of the events that are watched: deposits, withdrawals or settlements, each with counters of their own.
   * @param booked of before the last start.
   */
  constructor(decode: Decode = decodeCredit, booked: readonly BookedEvent[] = []) {
    this.#decode = decode;
    for (const event of booked) this.#booked.set(placeOfBooked(event), event);
  }

  get booked(): readonly BookedEvent[] {
    return [...this.#booked.values()];
  }

  /** Number of changes of `booked`. */
  get changes(): number {
    return this.#changes;
  }

  /** Everything is read again, from the first block: a reorganisation or another provider may show more. */
  rescan(): void {
    this.#fromBlock = 0;
  }

  /**
   * Compares what was booked with the chain, beginning with the newest block of it: the hash of a block covers those below.
   * Moved events have their new places from then on.
   */
  lineage(views: readonly (ProviderView | null)[]): Lineage {
    let newest: BookedEvent | null = null;
    for (const event of this.#booked.values()) if (newest === null || event.block > newest.block) newest = event;
    if (newest === null) return 'same';
    const { block, hash } = newest;
    const hashes = views.map((view) => view?.hashOf(block) ?? null);
    if (majorityHash(hashes) === hash) return 'same';
    return isReplaced(hash, hashes) ? this.#moved(views) : 'undecided';
  }

  /** What a majority does not show is no longer expected. */
  forget(vanished: readonly BookedEvent[]): void {
    for (const event of vanished) this.#booked.delete(placeOfBooked(event));
    this.#changes += 1;
    this.rescan();
  }

  /** The counter of its owner is lower now, as clearing replied: the next event is offered whatever its number. */
  recount({ user, account }: BookedEvent): void {
    this.#next.delete(account === null ? user : `${user}/${account}`);
  }

  /** Events of these logs that a majority shows in canonical blocks with enough confirmations, whether answered or not. */
  again(
    logs: readonly ChainLog[],
    views: readonly (ProviderView | null)[],
    policy: WatchPolicy,
  ): readonly ConfirmedEvent[] {
    const given = new Set(logs.map(logKey));
    const shown = this.#candidates(views, policy, 0).filter(({ key }) => given.has(key));
    return shown.filter(({ votes }) => isMajority(votes, views.length)).map(({ deposit }) => deposit);
  }

  /**
   * @param views one per configured provider; null when it cannot be reached, which counts as disagreement.
   * @returns the deposits that may be credited, in chain order. The same again until `answered` is called.
   */
  due(views: readonly (ProviderView | null)[], policy: WatchPolicy): readonly ConfirmedEvent[] {
    const fromBlock = this.#fromBlock;
    const candidates = this.#candidates(views, policy, fromBlock);
    const open = candidates.filter(({ deposit }) => deposit.nonce >= (this.#next.get(counterOwner(deposit)) ?? 0));
    for (const candidate of candidates) {
      const isAnswered = candidate.deposit.nonce < (this.#next.get(counterOwner(candidate.deposit)) ?? 0);
      if (isAnswered && isMajority(candidate.votes, views.length)) this.#book(candidate);
    }
    const agreed = open.filter(({ votes }) => isMajority(votes, views.length)).map(({ deposit }) => deposit);
    // A log confirmed by only some providers keeps its block open: the others may follow.
    const agreedHead = majorityHead(views.map((view) => view?.head ?? null)) - Math.max(policy.confirmations, 1) + 1;
    this.#fromBlock = open.reduce((lowest, { deposit }) => Math.min(lowest, deposit.block), agreedHead + 1);
    const due = this.#inOrder(agreed);
    // An agreed deposit has to wait: an earlier deposit of its user is searched from the start.
    if (due.length < agreed.length) this.#fromBlock = 0;
    return due.length === 0 && this.#fromBlock < fromBlock ? this.due(views, policy) : due;
  }

  /** Processes clearing's reply to a deposit: the counter that the user's next deposit on this chain must have. */
  answered(offered: ConfirmedEvent, nextNonce: number): void {
    this.#next.set(counterOwner(offered), nextNonce);
    // A gap: an earlier deposit is missing, perhaps from a block that counted as complete.
    if (nextNonce < offered.nonce) this.#fromBlock = 0;
  }

  /** Logs of the vault with enough confirmations, each once, with the number of providers that show exactly it. */
  #candidates(
    views: readonly (ProviderView | null)[],
    policy: WatchPolicy,
    fromBlock: number,
  ): readonly (Candidate & { readonly key: string })[] {
    const found = new Map<string, Candidate & { readonly key: string }>();
    for (const view of views) {
      if (view === null) continue;
      const shown = new Set<string>();
      for (const log of view.logsFrom(fromBlock)) {
        const key = logKey(log);
        const deposit = shown.has(key) ? null : confirmed(view, log, policy, this.#decode);
        if (deposit === null) continue;
        shown.add(key);
        const candidate = found.get(key);
        if (candidate === undefined) found.set(key, { key, deposit, hash: log.blockHash, votes: 1 });
        else candidate.votes += 1;
      }
    }
    return [...found.values()];
  }

  #book({ deposit, hash }: Candidate): void {
    const { user, nonce, block } = deposit;
    const key = `${counterOwner(deposit)}/${nonce}`;
    // One with the counter of another is not taken in its place: that one has vanished.
    if (this.#booked.has(key)) return;
    this.#booked.set(key, { user, account: accountOf(deposit), nonce, block, hash, what: whatOf(deposit) });
    this.#changes += 1;
  }

  #moved(views: readonly (ProviderView | null)[]): Lineage {
    const shown = views.map((view) => (view === null ? null : this.#shownBy(view)));
    const places = new Map<string, BookedEvent>();
    const vanished: BookedEvent[] = [];
    for (const [key, event] of this.#booked) {
      const votes = shown.map((events) => events?.get(`${event.user}/${event.what}`) ?? null);
      const hash = majorityHash(votes.map((vote) => vote?.hash ?? null));
      const place = votes.find((vote) => vote?.hash === hash);
      const missing = shown.filter((events, index) => events !== null && votes[index] === null).length;
      if (hash !== null && place !== null && place !== undefined) places.set(key, place);
      else if (isMajority(missing, views.length)) vanished.push(event);
      else return 'undecided';
    }
    if (vanished.length > 0) return vanished;
    for (const [key, place] of places) this.#booked.set(key, place);
    this.#changes += 1;
    this.rescan();
    return 'moved';
  }

  /** Every event of a provider in a canonical block, by what it is. */
  #shownBy(view: ProviderView): ReadonlyMap<string, BookedEvent> {
    const events = new Map<string, BookedEvent>();
    for (const log of view.logsFrom(0)) {
      const event = view.hashOf(log.blockNumber) === log.blockHash ? this.#decode(log) : null;
      if (event === null) continue;
      const { user, nonce } = event;
      const what = whatOf(event);
      const place = { block: log.blockNumber, hash: log.blockHash };
      events.set(`${user}/${what}`, { user, account: accountOf(event), nonce, ...place, what });
    }
    return events;
  }

  /** Per owner of a counter: the contiguous run from its next counter on, or the newest event of an owner without one. */
  #inOrder(agreed: readonly ConfirmedEvent[]): readonly ConfirmedEvent[] {
    const byOwner = new Map<string, ConfirmedEvent[]>();
    for (const deposit of agreed) {
      const owner = counterOwner(deposit);
      const list = byOwner.get(owner);
      if (list === undefined) byOwner.set(owner, [deposit]);
      else list.push(deposit);
    }
    const due: ConfirmedEvent[] = [];
    for (const [owner, deposits] of byOwner) {
      deposits.sort((a, b) => a.nonce - b.nonce);
      let expected = this.#next.get(owner) ?? deposits.at(-1)?.nonce;
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
function confirmed(view: ProviderView, log: ChainLog, policy: WatchPolicy, decode: Decode): ConfirmedEvent | null {
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

function placeOfBooked({ user, account, nonce }: BookedEvent): string {
  return account === null ? `${user}/${nonce}` : `${user}/${account}/${nonce}`;
}

function accountOf({ settled }: VaultEvent): number | null {
  return settled?.account ?? null;
}

function whatOf({ nonce, token, baseUnits, settled }: VaultEvent): string {
  const into = settled === undefined ? '' : `/${settled.account}/${settled.tokenIn}/${settled.baseUnitsIn}`;
  return `${nonce}/${token}/${baseUnits}${into}`;
}
