/**
 * What the node has booked of one simulated chain, and whether it books more (AMB-74): the watchers of deposits,
 * withdrawals and forced withdrawals, and the stop that only the operator ends. Its state outlives a start (chain-store.ts).
 *
 *   running ──a booked event is no longer on the chain, or the vault paid what was not approved──▶ stopped ──resume()──▶ running
 *
 * Invariants
 *   (1) A stopped chain books nothing and approves nothing, also after a start.
 *   (2) A stop changes no booking: credits stay, and clearing's counters book no counter twice.
 */
import { decodeSettlement, decodeWithdrawal, FORCED_TOPIC } from './chain-events.ts';
import { type BookedEvent, DepositWatcher } from './deposit-watcher.ts';
import { readStopped, type Stopped } from './evm-cursor.ts';
import type { ProviderView } from './simulated-chain.ts';
import { type Json, StateReader } from './state-file.ts';

type Views = readonly (ProviderView | null)[];

const FORMAT = 1;
const READ = new StateReader('the file of what was booked of a simulated chain');

export interface VaultWatchState {
  readonly deposits: readonly BookedEvent[];
  readonly withdrawals: readonly BookedEvent[];
  readonly forced: readonly BookedEvent[];
  readonly stopped: Stopped | null;
}

export class VaultWatch {
  readonly deposits: DepositWatcher;
  readonly withdrawals: DepositWatcher;
  /** Booked at once (DEP-23): one that vanishes may come again while its approval is valid, and counts once. */
  readonly settlements: DepositWatcher = new DepositWatcher(decodeSettlement);
  /** Forced withdrawals (AMB-85). */
  readonly forced: DepositWatcher;
  #stopped: Stopped | null;
  #stops = 0;
  /** Whether checkpoints and approvals are made; they are withheld by a hook, and while the vault is in escape mode. */
  mayApprove = true;

  constructor(state: VaultWatchState | null) {
    this.deposits = new DepositWatcher(undefined, state?.deposits);
    this.withdrawals = new DepositWatcher(decodeWithdrawal, state?.withdrawals);
    this.forced = new DepositWatcher((log) => decodeWithdrawal(log, FORCED_TOPIC), state?.forced);
    this.#stopped = state?.stopped ?? null;
  }

  get stopped(): Stopped | null {
    return this.#stopped;
  }

  /** Number of changes of the state. */
  get changes(): number {
    return this.deposits.changes + this.withdrawals.changes + this.forced.changes + this.#stops;
  }

  state(): VaultWatchState {
    const [deposits, withdrawals, forced] = [this.deposits.booked, this.withdrawals.booked, this.forced.booked];
    return { deposits, withdrawals, forced, stopped: this.#stopped };
  }

  /** Stops the chain when something that was booked is gone. @returns whether events may be booked now. */
  mayBook(views: Views): boolean {
    if (this.#stopped !== null) return false;
    const lineages = [this.deposits, this.withdrawals, this.forced].map((watcher) => watcher.lineage(views));
    const vanished = lineages.flatMap((lineage) => (typeof lineage === 'string' ? [] : lineage));
    // mutant: simulated-vanished
    if (vanished.length > 0) {
      const lowest = vanished.reduce((block, event) => Math.min(block, event.block), Number.MAX_SAFE_INTEGER);
      this.stop({ reason: 'reorg', block: lowest - 1, deposits: vanished.length });
      return false;
    }
    return !lineages.includes('undecided');
  }

  stop(stopped: Stopped): void {
    this.#stopped = stopped;
    this.#stops += 1;
  }

  /** Ends a stop: what is gone is no longer expected. */
  resume(views: Views): void {
    if (this.#stopped === null) return;
    for (const watcher of [this.deposits, this.withdrawals, this.forced]) {
      const lineage = watcher.lineage(views);
      watcher.forget(typeof lineage === 'string' ? [] : lineage);
    }
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
  const { format, deposits, withdrawals, forced, stopped } = READ.root(text);
  READ.check(format === FORMAT, 'its format is known');
  return {
    deposits: READ.list(deposits).map((item) => bookedEvent(READ.object(item))),
    withdrawals: READ.list(withdrawals).map((item) => bookedEvent(READ.object(item))),
    forced: READ.list(forced).map((item) => bookedEvent(READ.object(item))),
    stopped: stopped === null ? null : readStopped(READ.object(stopped)),
  };
}

function bookedEvent(json: Json): BookedEvent {
  return {
    user: READ.user(json['user']),
    nonce: READ.count(json['nonce']),
    block: READ.count(json['block']),
    hash: READ.hex(json['hash'], 32),
    what: READ.string(json['what']),
  };
}
