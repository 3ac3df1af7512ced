/**
 * What the node watches of one vault: its four kinds of events over the same providers (event-watch.ts), and the resumption of a
 * chain on which booked events are gone. The same for every kind of chain; the caller polls, and passes commands to clearing.
 *
 *   poll ─▶ forced withdrawals, deposits, withdrawals, settlements; when one of them is stopped, all rest (AMB-74)
 *
 *   resume ─▶ which booked events does a majority not show? ─▶ payouts and settlements of these are taken back (CHN-06), the highest
 *             counter of an owner first ─▶ the watches go on without them; credits of deposits stay
 *                └ undecided, or clearing does not answer ─▶ the chain stays stopped
 *
 * A payout that is taken back is in its approved row again, with its lock; it ends when its approval is executed or lapses. A settlement
 * is taken back when its approval has ended. Killed in between, the chain is stopped still, and clearing takes each back once.
 */
import type { OperatorCommand } from '../clearing/inputs.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { bookingOf, payoutVanished, replyOf, settlementVanished, type View } from './bookings.ts';
import type { ConfirmedEvent, VaultEventKind } from './chain-events.ts';
import type { ChainProvider } from './chain-provider.ts';
import { type CursorKeeper, termsOf } from './event-cursor.ts';
import {
  type BookingReply,
  type CounterAt,
  EventWatch,
  type Poll,
  type Vanished,
  type WatchLog,
  type WatchState,
} from './event-watch.ts';
import { balancesAt, type Held, heldBy } from './held-units.ts';
import { majorityHash } from './range-verdict.ts';

/** The policy of a chain, as its vault has it. */
interface WatchPolicy {
  readonly depositConfirmations: number;
  readonly withdrawalConfirmations: number;
  readonly settlementConfirmations: number;
  readonly approvalValidityS: number;
}

interface VaultWatchParts {
  readonly chainId: ChainId;
  /** 40 hex. */
  readonly vault: string;
  readonly store: CursorKeeper;
  /** One for each configured provider. */
  readonly providers: readonly ChainProvider[];
  readonly policy: () => WatchPolicy;
  /** As of an event watch. */
  readonly isForkWhole: boolean;
  /** Passes commands to clearing, in order. @returns a reply for each; null where clearing did not accept it. */
  readonly book: (commands: readonly OperatorCommand[]) => Promise<readonly (View | null)[]>;
  readonly log: (bindings: object) => WatchLog;
  /** The clock by which approvals are given, seconds; 0: what keeps the cursors adds the time of the record. */
  readonly nowS: () => number;
  /** Of pauses between searches. */
  readonly nowMs: () => number;
  /** As of an event watch. */
  readonly savedEveryMs: number;
}

/** Blocks that are read again (CHN-04). */
export interface BlocksAgain {
  readonly from: number;
  readonly to: number;
}

/** Whether the vault of a chain is in escape mode, by majority, and whether what it has paid by then is booked. */
export interface EscapeAnswer {
  readonly isOpen: boolean;
  readonly isBooked: boolean;
}

type Watches = Readonly<Record<VaultEventKind, EventWatch>>;

export class VaultWatch {
  readonly #parts: VaultWatchParts;
  readonly #watches: Watches;

  static async open(parts: VaultWatchParts): Promise<VaultWatch> {
    const { chainId, vault, store, providers, policy, isForkWhole, log, nowMs, savedEveryMs } = parts;
    const open = (event: VaultEventKind, confirmations: () => number, ends: boolean): Promise<EventWatch> =>
      EventWatch.open({
        chainId,
        event,
        vault,
        store,
        providers,
        confirmations,
        isForkWhole,
        approvalEnds: ends ? { latest: (blockTime) => latestEnd(parts, blockTime), final: () => finalTime() } : null,
        offer: (events) => offered(parts, event, events),
        log: log({ chain: chainId, event }),
        nowMs,
        savedEveryMs,
      });
    const watches = {
      deposit: await open('deposit', () => policy().depositConfirmations, false),
      withdrawal: await open('withdrawal', () => policy().withdrawalConfirmations, false),
      settlement: await open('settlement', () => policy().settlementConfirmations, true),
      forced: await open('forced', () => policy().withdrawalConfirmations, false),
    };
    const finalTime = (): number =>
      Math.min(watches.withdrawal.state().blockTime, watches.settlement.state().blockTime);
    return new VaultWatch(parts, watches);
  }

  private constructor(parts: VaultWatchParts, watches: Watches) {
    this.#parts = parts;
    this.#watches = watches;
  }

  /** One step of each kind. One call at a time, of this and of every other method that returns a promise. */
  async poll(): Promise<Poll> {
    const polls: Poll[] = [];
    for (const watch of this.#pollable) polls.push(await watch.poll());
    return polls.includes('again') ? 'again' : 'idle';
  }

  state(): WatchState {
    const { deposit, withdrawal } = this.#watches;
    const states = this.#all.map((watch) => watch.state());
    return {
      ...deposit.state(),
      head: Math.max(...states.map(({ head }) => head)),
      stopped: states.find(({ stopped }) => stopped !== null)?.stopped ?? null,
      blockTime: withdrawal.state().blockTime,
      isWhole: states.every(({ isWhole }) => isWhole),
      answering: Math.min(...states.map(({ answering }) => answering)),
      agreeing: Math.min(...states.map(({ agreeing }) => agreeing)),
    };
  }

  /**
   * Ends a stop (AMB-74): deposits that are no longer on the chain stay credited, payouts and settlements are taken back (CHN-06).
   *
   * @returns false while clearing or a majority of the providers does not answer: the chain stays stopped.
   */
  async resume(): Promise<boolean> {
    if (this.state().stopped === null) return true;
    const { withdrawalConfirmations, settlementConfirmations } = this.#parts.policy();
    const final = await this.#watches.withdrawal.blockNow(Math.max(withdrawalConfirmations, settlementConfirmations));
    if (final === null) return false;
    const found: [EventWatch, Vanished][] = [];
    for (const watch of this.#all) {
      const vanished = await watch.vanished(final.time);
      if (vanished === null) return false;
      found.push([watch, vanished]);
    }
    const eventsOf = (watch: EventWatch): readonly string[] => found.find(([one]) => one === watch)?.[1].events ?? [];
    const { withdrawal, settlement } = this.#watches;
    // mutant: counters-of-the-vault
    if (!(await this.#takeBack(withdrawal, eventsOf(withdrawal), false))) return false;
    if (!(await this.#takeBack(settlement, eventsOf(settlement), true))) return false;
    for (const [watch, vanished] of found) await watch.resume(vanished);
    return true;
  }

  async #takeBack(watch: EventWatch, events: readonly string[], isSettlement: boolean): Promise<boolean> {
    const { chainId, book } = this.#parts;
    for (const terms of events.map(termsOf).sort((a, b) => b.nonce - a.nonce)) {
      const counter = await watch.counterNow(isSettlement ? terms.account : null, terms.user);
      if (counter === null) return false;
      const command = (isSettlement ? settlementVanished : payoutVanished)(chainId, terms, counter);
      const [reply = null] = await book([command]);
      if (reply === null) return false;
    }
    return true;
  }

  /** @returns the blocks that are read again; null: there are none so far, or the chain is stopped. */
  readAgain(from: number): BlocksAgain | null {
    const ends = this.#all.map((watch) => watch.readAgain(from));
    const read = ends.filter((end) => end !== null);
    return read.length === 0 ? null : { from, to: Math.max(...read) };
  }

  /** Offers the events of a processed block to clearing again. */
  async replay(block: number): Promise<void> {
    for (const watch of this.#all) await watch.replay(block);
  }

  /** Forced withdrawals are booked when all final blocks are read, as far as the vault's answer is about. */
  async escape(): Promise<EscapeAnswer | null> {
    const { providers, vault, policy } = this.#parts;
    const answers = await Promise.all(providers.map((provider) => provider.escapeMode(vault)));
    const agreed = majorityHash(answers.map((answer) => answer?.toString() ?? null));
    const { head, processed } = this.#watches.forced.state();
    const isBooked = head >= 0 && processed >= head - Math.max(policy().withdrawalConfirmations, 1) + 1;
    return agreed === null ? null : { isOpen: agreed === 'true', isBooked };
  }

  withdrawalCount(user: UserId): Promise<CounterAt | null> {
    return this.#watches.withdrawal.withdrawalCount(user);
  }

  /**
   * Of a block with the confirmations of withdrawals, as settlements are booked at once: a block that may still be replaced
   * does not end an approval. null while settlements are not booked up to that block.
   */
  async settlementCount(user: UserId, account: number): Promise<CounterAt | null> {
    const { withdrawal, settlement } = this.#watches;
    if (settlement.state().processed < withdrawal.state().processed) return null;
    return withdrawal.settlementCount(user, account);
  }

  /**
   * What the vault holds of these tokens, 64 hex each; null: not known now. Of a stopped chain at a block that is final for every kind of
   * events: what the ledger has booked and the chain has no longer is missing there.
   */
  async held(tokens: readonly string[]): Promise<Held | null> {
    const { providers, vault, policy } = this.#parts;
    if (this.state().stopped === null) return heldBy(this.#all, providers, vault, tokens);
    const { depositConfirmations, withdrawalConfirmations, settlementConfirmations } = policy();
    const confirmations = Math.max(depositConfirmations, withdrawalConfirmations, settlementConfirmations);
    const at = await this.#watches.deposit.blockNow(confirmations);
    return at === null ? null : balancesAt(providers, vault, tokens, at);
  }

  async close(): Promise<void> {
    for (const watch of this.#all) await watch.close();
  }

  get #all(): readonly EventWatch[] {
    const { forced, deposit, withdrawal, settlement } = this.#watches;
    // What left the vault without the node is debited first.
    return [forced, deposit, withdrawal, settlement];
  }

  /** When one kind of events is stopped, the others are not read either: credits and approvals end together (AMB-74). */
  get #pollable(): readonly EventWatch[] {
    const stopped = this.#all.filter((watch) => watch.state().stopped !== null);
    return stopped.length > 0 ? stopped : this.#all;
  }
}

/** When every approval has ended that was given until now. */
function latestEnd({ nowS, policy }: VaultWatchParts, blockTime: number): number {
  return Math.max(blockTime, nowS()) + policy().approvalValidityS;
}

async function offered(
  { chainId, book }: VaultWatchParts,
  kind: VaultEventKind,
  events: readonly ConfirmedEvent[],
): Promise<readonly (BookingReply | null)[]> {
  if (events.length === 0) return [];
  const replies = await book(events.map((event) => bookingOf(chainId, kind, event)));
  return events.map((event, index) => {
    const reply = replies[index] ?? null;
    return reply === null ? null : replyOf(kind, event, reply);
  });
}
