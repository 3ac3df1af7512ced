/**
 * What the node has booked of one simulated chain, and whether it books more (AMB-74): the watchers of deposits, withdrawals,
 * settlements and forced withdrawals, and the stop that only the operator ends. Its state outlives a start (chain-store.ts).
 *
 *   running ──a booked event is no longer on the chain, or the vault paid what was not approved──▶ stopped ──resume()──▶ running
 *
 * Settlements are booked at once (DEP-23), so a reorganisation may take one away and the same approval bring it back:
 *
 *   booked ──gone──▶ missing: nothing is approved ──on the chain again──▶ booked
 *                       └──a final block past the end of its approval──▶ stopped
 *
 * Invariants
 *   (1) A stopped chain books nothing and approves nothing, also after a start.
 *   (2) A stop changes no booking: credits stay, and clearing's counters book no counter twice.
 *   (3) While a booked settlement is missing nothing is approved: what it brought is in the ledger and not in the vault.
 */
import { decodeSettlement, decodeWithdrawal, FORCED_TOPIC } from './chain-events.ts';
import { type BookedEvent, DepositWatcher } from './deposit-watcher.ts';
import { readStopped, type Stopped } from './event-cursor.ts';
import type { ProviderView } from './simulated-chain.ts';
import { type Json, StateReader } from './state-file.ts';

type Views = readonly (ProviderView | null)[];

const FORMAT = 1;
const READ = new StateReader('the file of what was booked of a simulated chain');

/** A booked settlement that is not on the chain now. */
interface MissingSettlement extends BookedEvent {
  /** Seconds: a block that is later ends its approval. */
  readonly until: number;
}

/** Times of a chain, seconds. */
export interface ChainTimes {
  /** The later of the newest block and the node's clock. */
  readonly latest: number;
  /** Of the last block with the confirmations of withdrawals, and of settlements; 0 while too few providers answer. */
  readonly final: number;
  /** How long an approval is valid. */
  readonly approvalValidity: number;
}

export interface VaultWatchState {
  readonly deposits: readonly BookedEvent[];
  readonly withdrawals: readonly BookedEvent[];
  readonly forced: readonly BookedEvent[];
  readonly settlements: readonly BookedEvent[];
  readonly missing: readonly MissingSettlement[];
  readonly stopped: Stopped | null;
}

export class VaultWatch {
  readonly deposits: DepositWatcher;
  readonly withdrawals: DepositWatcher;
  readonly settlements: DepositWatcher;
  /** Forced withdrawals (AMB-85). */
  readonly forced: DepositWatcher;
  #stopped: Stopped | null;
  #missing: readonly MissingSettlement[];
  /** Changes of `#stopped` and `#missing`. */
  #stops = 0;
  /** By a hook, and while the vault is in escape mode, there is no checkpoint and no approval. */
  isWithheld = false;

  constructor(state: VaultWatchState | null) {
    this.deposits = new DepositWatcher(undefined, state?.deposits);
    this.withdrawals = new DepositWatcher(decodeWithdrawal, state?.withdrawals);
    this.forced = new DepositWatcher((log) => decodeWithdrawal(log, FORCED_TOPIC), state?.forced);
    this.settlements = new DepositWatcher(decodeSettlement, state?.settlements);
    this.#missing = state?.missing ?? [];
    this.#stopped = state?.stopped ?? null;
  }

  /** Whether checkpoints and approvals are made. */
  get mayApprove(): boolean {
    // mutant: approved-while-missing
    return !this.isWithheld && this.#missing.length === 0;
  }

  get stopped(): Stopped | null {
    return this.#stopped;
  }

  /** Number of changes of the state. */
  get changes(): number {
    const watchers = [this.deposits, this.withdrawals, this.settlements, this.forced];
    return watchers.reduce((sum, { changes }) => sum + changes, this.#stops);
  }

  state(): VaultWatchState {
    const [deposits, withdrawals, forced] = [this.deposits.booked, this.withdrawals.booked, this.forced.booked];
    const settlements = { settlements: this.settlements.booked, missing: this.#missing };
    return { deposits, withdrawals, forced, ...settlements, stopped: this.#stopped };
  }

  /** Stops the chain when something that was booked is gone. @returns whether events may be booked now. */
  mayBook(views: Views, times: ChainTimes): boolean {
    if (this.#stopped !== null) return false;
    const lineages = [this.deposits, this.withdrawals, this.forced].map((watcher) => watcher.lineage(views));
    const vanished = lineages.flatMap((lineage) => (typeof lineage === 'string' ? [] : lineage));
    // mutant: simulated-vanished
    if (vanished.length > 0) {
      const lowest = vanished.reduce((block, event) => Math.min(block, event.block), Number.MAX_SAFE_INTEGER);
      this.stop({ reason: 'reorg', block: lowest - 1, deposits: vanished.length });
      return false;
    }
    return this.#areSettlementsDecided(views, times) && !lineages.includes('undecided');
  }

  /** Settlements that are gone have to come again. @returns whether a majority decides about them. */
  #areSettlementsDecided(views: Views, { latest, approvalValidity }: ChainTimes): boolean {
    for (;;) {
      const lineage = this.settlements.lineage(views);
      if (typeof lineage === 'string') return lineage !== 'undecided';
      this.settlements.forget(lineage);
      const until = latest + approvalValidity;
      this.#missing = [...this.#missing, ...lineage.map((event) => ({ ...event, until }))];
      this.#stops += 1;
    }
  }

  /** Whether a settlement is missing that cannot come again. */
  isLost({ final }: ChainTimes): boolean {
    return this.#missing.some(({ until }) => until < final);
  }

  /** Settlements are booked as far as they are on the chain: those that came again are not missing, a lost one stops the chain. */
  settle(times: ChainTimes): void {
    if (this.#missing.length === 0) return;
    const booked = new Set(this.settlements.booked.map(({ user, what }) => `${user}/${what}`));
    const missing = this.#missing.filter(({ user, what }) => !booked.has(`${user}/${what}`));
    if (missing.length < this.#missing.length) this.#stops += 1;
    this.#missing = missing;
    // mutant: simulated-lost-settlement
    if (this.#stopped !== null || !this.isLost(times)) return;
    const lost = missing.filter(({ until }) => until < times.final);
    this.stop({ reason: 'reorg', block: Math.min(...lost.map(({ block }) => block)) - 1, deposits: lost.length });
  }

  stop(stopped: Stopped): void {
    this.#stopped = stopped;
    this.#stops += 1;
  }

  /**
   * What a resumption takes back in the ledger, the highest counters first; empty while the chain is not stopped.
   * @returns null while no majority of the providers decides about what was booked: then nothing is resumed.
   */
  vanished(
    views: Views,
    { final }: ChainTimes,
  ): {
    readonly withdrawals: readonly BookedEvent[];
    readonly settlements: readonly BookedEvent[];
  } | null {
    if (this.#stopped === null) return { withdrawals: [], settlements: [] };
    const lineages = [this.withdrawals, this.deposits, this.forced].map((watcher) => watcher.lineage(views));
    // mutant: resumed-undecided
    if (lineages.includes('undecided')) return null;
    const [lineage = 'moved'] = lineages;
    const withdrawals = typeof lineage === 'string' ? [] : [...lineage];
    const settlements = this.#missing.filter(({ until }) => until < final);
    const byCounter = (a: BookedEvent, b: BookedEvent): number => b.nonce - a.nonce;
    return { withdrawals: withdrawals.sort(byCounter), settlements: settlements.sort(byCounter) };
  }

  /** Ends a stop: what is gone is no longer expected, but a settlement whose approval is valid. */
  resume(views: Views, { final }: ChainTimes): void {
    if (this.#stopped === null) return;
    for (const watcher of [this.deposits, this.withdrawals, this.forced]) {
      const lineage = watcher.lineage(views);
      watcher.forget(typeof lineage === 'string' ? [] : lineage);
    }
    this.#missing = this.#missing.filter(({ until }) => until >= final);
    this.#stopped = null;
    this.#stops += 1;
  }

  /** Everything is read again. */
  rescan(): void {
    this.deposits.rescan();
    this.withdrawals.rescan();
    this.settlements.rescan();
    this.forced.rescan();
  }
}

export function encodeWatch(state: VaultWatchState): string {
  return `${JSON.stringify({ format: FORMAT, ...state })}\n`;
}

/** @throws InvariantError unless `text` is a state written by `encodeWatch`. */
export function decodeWatch(text: string): VaultWatchState {
  const { format, deposits, withdrawals, forced, settlements, missing, stopped } = READ.root(text);
  READ.check(format === FORMAT, 'its format is known');
  return {
    deposits: READ.list(deposits).map((item) => bookedEvent(READ.object(item))),
    withdrawals: READ.list(withdrawals).map((item) => bookedEvent(READ.object(item))),
    forced: READ.list(forced).map((item) => bookedEvent(READ.object(item))),
    // Earlier files have none: settlements are then read from the first block.
    settlements: READ.list(settlements ?? []).map((item) => bookedEvent(READ.object(item))),
    missing: READ.list(missing ?? []).map((item) => {
      const event = READ.object(item);
      return { ...bookedEvent(event), until: READ.count(event['until']) };
    }),
    stopped: stopped === null ? null : readStopped(READ.object(stopped)),
  };
}

function bookedEvent(json: Json): BookedEvent {
  return {
    user: READ.user(json['user']),
    account: typeof json['account'] === 'number' ? READ.count(json['account']) : null,
    nonce: READ.count(json['nonce']),
    block: READ.count(json['block']),
    hash: READ.hex(json['hash'], 32),
    what: READ.string(json['what']),
  };
}
