/**
 * One kind of events of a vault: deposits, withdrawals, settlements or forced withdrawals. Which are final and true by a majority of the
 * chain's providers, those of a user in the order of the chain, each offered to clearing until it has answered, across restarts, gaps and
 * reorganisations. The same for every kind of chain (chain-provider.ts).
 *
 *   poll ─▶ heads, hash of the last processed block (the anchor)
 *            │ a majority has the anchor ─▶ next range up to the last final block ─▶ logs by majority ─▶ clearing ─▶ cursor
 *            │ a majority has another hash ─▶ what is the same? is every booked event there again, final or not?
 *            │       yes ─▶ the cursor goes back, the range is read again (counters book nothing twice)
 *            │       settlements ─▶ the same; one that does not come again while its approval is valid: stopped (DEP-23)
 *            │       no  ─▶ stopped: booking ends, metric and log, until the operator resumes (AMB-74)
 *            └ neither: nothing is booked, the next poll looks again
 *
 *   an event that was there again in a block that is not final, and is not any more ─▶ stopped
 *
 *   an event with a gap before it ─▶ all events of its user are read again from the first block, 8 times in 4 minutes
 *            still a gap ─▶ stopped
 *
 *   processed blocks are read again when logs may have come late (CHN-04, late-reads.ts), while no new block is final
 *
 * A final block has the confirmations of the chain or of its vault; the block of an event is the first (DEP-08). Invariants:
 *   (1) Only events that a majority of the configured providers shows, in a final block of the chain that leads through
 *       the anchor, are offered.
 *   (2) The cursor passes a block after clearing has flushed its events.
 *   (3) A stopped chain offers nothing, also after a restart.
 *   (4) No booked event is forgotten while it is not on the chain, but by a resumption (event-cursor.ts).
 *
 * Not here: what an event books (clearing/funds), the four kinds together and a resumption (vault-watch.ts), threads and time.
 */
import {
  type Anchor,
  type CursorStep,
  type EventCursor,
  freshCursor,
  type RecentEvent,
  STEP_EVENTS_MAX,
  STEP_RANGES_MAX,
  type Stopped,
  stepped,
} from '../clearing/funds/chain-cursor.ts';
import { must } from '../core/assert.ts';
import type { ChainId } from '../core/ids.ts';
import {
  type ChainLog,
  type ConfirmedEvent,
  counterOwner,
  decodeVaultEvent,
  type VaultEventKind,
} from './chain-events.ts';
import type { ChainProvider, RangeReply, Sight } from './chain-provider.ts';
import { decodeCredit } from './deposit-config.ts';
import { type CursorKeeper, movesOf, recentOf } from './event-cursor.ts';
import { logKey } from './evm-answers.ts';
import { pauseMs, READS_MAX } from './late-reads.ts';
import {
  isConclusive,
  isMajority,
  isReplaced,
  majorityHash,
  majorityHead,
  type RangeAnswer,
  type RangeVerdict,
  rangeVerdict,
} from './range-verdict.ts';

/** Deposits in one message to clearing's thread. */
export const OFFER_MAX = 256;
/** Ranges that are read as short as the minority needs before it is left out again. */
const RANGES_LIMITED = 16;
/** Ranges without deposits between two saved cursors: what a restart reads again. */
const RANGES_UNTIL_SAVED = 32;

/** The vault's counter at a processed block. */
export interface CounterAt {
  /** Seconds. */
  readonly blockTime: number;
  readonly counter: number;
}

/** What clearing did with a deposit. */
export interface BookingReply {
  readonly result: string;
  /** The counter that the user's next deposit must have. */
  readonly nextNonce: number;
}

export interface WatchLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Seconds, of the chain's time. */
interface ApprovalEnds {
  /** When an approval has ended that may have been given until now. @param blockTime of a block that was read now. */
  readonly latest: (blockTime: number) => number;
  /** Of a block that is not replaced any more: it has the confirmations of withdrawals. */
  readonly final: () => number;
}

interface WatchParts {
  readonly chainId: ChainId;
  readonly event: VaultEventKind;
  /** 40 hex. */
  readonly vault: string;
  readonly store: CursorKeeper;
  /** One for each configured address. */
  readonly providers: readonly ChainProvider[];
  readonly confirmations: () => number;
  /** Whether a reorganisation is complete when it is seen; else judged is a fork that is as long as what it replaces. */
  readonly isForkWhole: boolean;
  /** Of settlements: when the approval of one that is gone has ended; null for other events. */
  readonly approvalEnds: ApprovalEnds | null;
  /** Passes deposits to clearing, in order. @returns a reply for each; null where clearing did not accept it. */
  readonly offer: (deposits: readonly ConfirmedEvent[]) => Promise<readonly (BookingReply | null)[]>;
  readonly log: WatchLog;
  readonly nowMs: () => number;
  /** While nothing is booked, a cursor is not saved more often. */
  readonly savedEveryMs: number;
}

/** Of a stopped chain. */
export interface Vanished {
  /** The last block that is the same as before. */
  readonly same: Anchor;
  /** As the cursor has them. */
  readonly events: readonly string[];
}

/** `again`: more can be done at once. `idle`: nothing until the chain or a provider changes. */
export type Poll = 'again' | 'idle';

export interface WatchState {
  /** The highest block that a majority has reached; −1 before one has. */
  readonly head: number;
  /** The last block with all deposits credited; −1 before the first. */
  readonly processed: number;
  readonly stopped: Stopped | null;
  /** Of the last processed block, seconds; 0 before a majority has shown it since the start. */
  readonly blockTime: number;
  /** Whether every booked event is on the chain, as far as is known; else nothing is approved. */
  readonly isWhole: boolean;
  /** Configured providers (CHN-05). */
  readonly providers: number;
  /** Those that answered when they were last looked at. */
  readonly answering: number;
  /** Those of them whose last answers are those of the majority. */
  readonly agreeing: number;
  /** Answers of providers beyond their bounds, since they were opened (CHN-03). */
  readonly bombs: number;
}

/** Of one provider, by its last answers: late ones count when they come. */
interface Standing {
  answers: boolean;
  /** Null: it was not compared yet. */
  hasSameAnchor: boolean | null;
  hasSameRange: boolean | null;
}

interface Gap {
  readonly user: string;
  /** Of the counter (chain-events.ts). */
  readonly owner: string;
  /** The counter that clearing expects. */
  readonly expected: number;
  readonly through: number;
  from: number;
}

/** Blocks that are read again (CHN-04). */
interface Again {
  from: number;
  readonly through: number;
  /** The next range ends here: the block behind it is undecided. */
  endsAt: number;
}

/** What clearing answers when all is as it should be. */
const BOOKED: ReadonlySet<string> = new Set(['credited', 'executed', 'debited', 'duplicate']);

export class EventWatch {
  readonly #parts: WatchParts;
  #cursor: EventCursor;
  #head = -1;
  #blockTime = 0;
  readonly #standings: readonly Standing[];
  #spanLimit = Number.MAX_SAFE_INTEGER;
  #rangesLimited = 0;
  /** Ends of processed ranges that are not saved yet: nothing was booked in them. */
  #unsaved: readonly Anchor[] = [];
  /** Whether there is a cursor that the next step follows. */
  #isKept: boolean;
  #savedMs: number;
  /** The next range ends here: a later block is undecided. */
  #endsAt: number | null = null;
  #gap: Gap | null = null;
  /** The gap that was searched for last, how often, and when again. */
  #searched: { readonly key: string; readonly times: number; readonly nextMs: number } | null = null;
  /** Processed blocks that are read again. */
  #again: Again | null = null;
  /** Of the last offer: what clearing has acted on for the first time. */
  #booked: ConfirmedEvent[] = [];
  #isReorgLogged = false;
  #isWaitLogged = false;

  /** Loads the cursor; one of another vault is not used. */
  static async open(parts: WatchParts): Promise<EventWatch> {
    const saved = await parts.store.load(parts.chainId, parts.event);
    const isKept = saved?.vault === parts.vault;
    const cursor = isKept ? saved : await EventWatch.#first(parts);
    if (cursor.stopped !== null)
      parts.log.error({ ...cursor.stopped }, 'this chain is stopped: no deposit is credited');
    return new EventWatch(parts, cursor, isKept);
  }

  /**
   * Where a watch without a cursor begins: with the first block. That of forced withdrawals begins where deposits are read to, as a node
   * that read deposits without it had no vault with an escape hatch.
   */
  static async #first({ chainId, event, vault, store }: WatchParts): Promise<EventCursor> {
    const fresh = freshCursor(vault);
    const deposits = event === 'forced' ? await store.load(chainId, 'deposit') : null;
    if (deposits === null || deposits.vault !== vault || deposits.anchors.length === 0) return fresh;
    return { ...fresh, nextBlock: deposits.nextBlock, anchors: deposits.anchors };
  }

  private constructor(parts: WatchParts, cursor: EventCursor, isKept: boolean) {
    this.#parts = parts;
    this.#cursor = cursor;
    this.#isKept = isKept;
    this.#savedMs = parts.nowMs();
    this.#standings = parts.providers.map(() => ({ answers: false, hasSameAnchor: null, hasSameRange: null }));
  }

  state(): WatchState {
    const { nextBlock, stopped } = this.#cursor;
    const { providers } = this.#parts;
    const agreeing = this.#standings.filter(
      ({ answers, hasSameAnchor, hasSameRange }) => answers && hasSameAnchor === true && hasSameRange !== false,
    );
    return {
      head: this.#head,
      processed: nextBlock - 1,
      stopped,
      blockTime: this.#blockTime,
      // mutant: approved-while-missing
      isWhole: !this.#isReorgLogged && (this.#parts.event !== 'settlement' || this.#cursor.missing.length === 0),
      providers: providers.length,
      answering: this.#standings.filter(({ answers }) => answers).length,
      agreeing: agreeing.length,
      bombs: providers.reduce((sum, { bombs }) => sum + bombs, 0),
    };
  }

  /** The last processed block; null before one. */
  place(): Anchor | null {
    return this.#cursor.anchors.at(-1) ?? null;
  }

  /** Base units by token that processed events behind a block brought into the vault; null when they are not known any more. */
  movesBehind(block: number): readonly (readonly [string, bigint])[] | null {
    const { anchors, recent, missing } = this.#cursor;
    const { event } = this.#parts;
    if ((anchors[0]?.number ?? Number.MAX_SAFE_INTEGER) > block) return null;
    const behind: readonly { readonly what: string }[] = recent.filter((one) => one.block > block);
    // What is missing of any other kind is on the chain, in blocks that are read again.
    const all = event === 'settlement' ? behind : [...behind, ...missing];
    return all.flatMap(({ what }) => movesOf(event, what));
  }

  /** Looks at the chain once and does one step. One call at a time. */
  async poll(): Promise<Poll> {
    const anchor = this.#cursor.anchors.at(-1);
    const sights = await this.#look(anchor?.number ?? 0);
    this.#head = majorityHead(sights.map((sight) => sight?.head ?? null));
    if (this.#cursor.stopped !== null) return 'idle';
    // mutant: evm-confirmations
    const final = this.#head - Math.max(this.#parts.confirmations(), 1) + 1;
    const hashes = sights.map((sight) => sight?.hash ?? null);
    if (anchor === undefined) return this.#begin(majorityHash(hashes));
    if (isReplaced(anchor.hash, hashes)) return this.#reorganised(final);
    if (majorityHash(hashes) !== anchor.hash) {
      if (this.#head < anchor.number && (await this.#isShorterFork())) return this.#reorganised(final);
      return this.#waits('no majority has the last processed block');
    }
    this.#isReorgLogged = false;
    this.#blockTime = timeOf(anchor, sights) ?? this.#blockTime;
    if (!(await this.#areMissingShown(anchor))) return 'idle';
    if (this.#gap !== null) return this.#searchGap(this.#gap, anchor);
    const { nextBlock } = this.#cursor;
    if (final < nextBlock) return this.#again === null ? 'idle' : this.#readOnceMore(this.#again, anchor);
    return this.#readRange(Math.min(final, nextBlock + this.#span - 1, this.#endsAt ?? final), anchor);
  }

  /** The first block is the first anchor: no vault has logs in it. @param first its hash by majority. */
  #begin(first: string | null): Poll {
    if (first === null) return this.#waits('no majority has the first block');
    const nextBlock = Math.max(this.#cursor.nextBlock, 1);
    this.#cursor = { ...this.#cursor, nextBlock, anchors: [{ number: 0, hash: first }] };
    return 'again';
  }

  /**
   * What a resumption forgets: booked events that a majority does not show, and the block up to which the chain is the same.
   *
   * @param finalTime seconds, of a block that stays: settlements whose approval has ended before it do not come again.
   * @returns null while no majority decides about each: then nothing is resumed.
   */
  async vanished(finalTime: number): Promise<Vanished | null> {
    const anchor = this.#cursor.anchors.at(-1);
    const sights = await this.#look(anchor?.number ?? 0);
    const head = majorityHead(sights.map((sight) => sight?.head ?? null));
    const ancestor = await this.#ancestor(head);
    const same = ancestor === null ? await this.#firstBlock() : ancestor;
    // mutant: resumed-undecided
    if (same === null || same === 'undecided') return null;
    const { recent, missing } = this.#cursor;
    const isNone = missing.length === 0 && recent.every(({ block }) => block <= same.number);
    const found = isNone ? new Set<string>() : await this.#shownBehind(same, head);
    if (found === null) return null;
    const ends = this.#parts.approvalEnds;
    const behind = ends === null ? recent.filter(({ block }) => block > same.number).map(({ what }) => what) : [];
    const waiting = missing.filter(({ until }) => ends === null || (until > 0 && until < finalTime));
    const events = [...behind, ...waiting.map(({ what }) => what)].filter((what) => !found.has(what));
    return { same, events: [...new Set(events)] };
  }

  /** Ends a stop: what has vanished is not expected any more, and the chain is read again from where it is the same. */
  async resume({ same, events }: Vanished): Promise<void> {
    const { stopped } = this.#cursor;
    this.#searched = null;
    this.#isReorgLogged = false;
    for (const forgotten of pieces(events)) {
      await this.#save({ kind: 'forget', behind: same.number, events: forgotten });
    }
    await this.#save({ kind: 'resume', same });
    if (stopped !== null) this.#parts.log.warn({ ...stopped }, 'the chain is resumed');
  }

  async #firstBlock(): Promise<Anchor | null> {
    const hash = majorityHash((await this.#look(0)).map((sight) => sight?.hash ?? null));
    return hash === null ? null : { number: 0, hash };
  }

  /**
   * Reads processed blocks again, between new ones: what was hidden when they were processed is booked as soon as a majority shows it, and
   * what is booked stays (CHN-04).
   *
   * @param from 1 or more. @returns the last block that is read again; null when none is: the chain is stopped, or not read so far.
   */
  readAgain(from: number): number | null {
    const through = this.#cursor.nextBlock - 1;
    if (this.#cursor.stopped !== null || from > through) return null;
    const first = Math.min(from, this.#again?.from ?? from);
    this.#again = { from: first, through, endsAt: through };
    return through;
  }

  /** Offers the events of a processed block again, as far as a majority shows them. */
  async replay(block: number): Promise<void> {
    const anchor = this.#cursor.anchors.at(-1);
    if (anchor === undefined || this.#cursor.stopped !== null || block > anchor.number) return;
    const verdict = await this.#agreed(block, block, anchor, null);
    if (verdict.kind === 'agreed') await this.#offerAll(verdict.logs.map((log) => this.#eventOf(log)));
  }

  /** Saves how far it came, so that the next start reads nothing again. */
  async close(): Promise<void> {
    if (this.#unsaved.length > 0) await this.#saveRanges();
  }

  /**
   * The vault's counter of a user's withdrawals at the last processed block, by majority: every withdrawal up to it is
   * booked. null when no majority answers, or no block was read since the start.
   */
  withdrawalCount(user: string): Promise<CounterAt | null> {
    return this.#counter((provider, vault, at) => provider.withdrawalCount(vault, user, at));
  }

  /** The same of the settlements of a sub-account; whether they are booked up to that block is the caller's to check. */
  settlementCount(user: string, account: number): Promise<CounterAt | null> {
    return this.#counter((provider, vault, at) => provider.settlementCount(vault, user, account, at));
  }

  async #counter(
    ask: (provider: ChainProvider, vault: string, at: Anchor) => Promise<number | null>,
  ): Promise<CounterAt | null> {
    const at = this.#cursor.anchors.at(-1);
    const blockTime = this.#blockTime;
    if (at === undefined || blockTime === 0 || this.#cursor.stopped !== null) return null;
    const counter = await this.#counterAt(ask, at);
    return counter === null ? null : { blockTime, counter };
  }

  /** The vault's counter at the newest block of a majority, whether it is final or not; null without a majority. */
  async counterNow(account: number | null, user: string): Promise<number | null> {
    const at = await this.blockNow(1);
    if (at === null) return null;
    return this.#counterAt(
      (provider, vault) =>
        account === null
          ? provider.withdrawalCount(vault, user, at)
          : provider.settlementCount(vault, user, account, at),
      at,
    );
  }

  /** The last block with so many confirmations, by majority, whatever is processed; null without one. */
  async blockNow(confirmations: number): Promise<(Anchor & { readonly time: number }) | null> {
    const head = majorityHead((await this.#look(0)).map((sight) => sight?.head ?? null));
    const number = head - Math.max(confirmations, 1) + 1;
    if (number < 0) return null;
    const sights = await this.#look(number);
    const hash = majorityHash(sights.map((sight) => sight?.hash ?? null));
    const time = hash === null ? null : timeOf({ number, hash }, sights);
    return hash === null || time === null ? null : { number, hash, time };
  }

  async #counterAt(
    ask: (provider: ChainProvider, vault: string, at: Anchor) => Promise<number | null>,
    at: Anchor,
  ): Promise<number | null> {
    const { providers, vault } = this.#parts;
    const answers = await gathered(
      providers.map((provider) => ask(provider, vault, at)),
      (given) => majorityHash(given.map(textOf)) !== null,
    );
    const counter = majorityHash(answers.map(textOf));
    return counter === null ? null : Number(counter);
  }

  // Ranges.

  async #readRange(to: number, anchor: Anchor): Promise<Poll> {
    const from = this.#cursor.nextBlock;
    this.#endsAt = null;
    const verdict = await this.#agreed(from, to, anchor, null);
    if (verdict.kind === 'undecided') {
      // The blocks before it are decided.
      if (verdict.block > from) this.#endsAt = verdict.block - 1;
      return verdict.block > from ? 'again' : this.#waits('no majority shows a deposit, and none misses it', verdict);
    }
    if (verdict.kind === 'noMajority') {
      const isShorter = this.#span < to - from + 1;
      return isShorter ? 'again' : this.#waits('no majority has read the next blocks', { from, to });
    }
    this.#isWaitLogged = false;
    const deposits = verdict.logs.map((log) => this.#eventOf(log));
    const beyond = deposits[STEP_EVENTS_MAX]?.block ?? from;
    if (beyond > from) {
      // A step of the cursor has room for the events of fewer blocks.
      this.#endsAt = beyond - 1;
      return 'again';
    }
    const outcome = await this.#offerAll(deposits);
    // mutant: event-cursor-waits
    if (outcome === 'later') return 'idle';
    if (outcome === 'unmatched') return this.#stop({ reason: 'unmatched', block: from - 1, deposits: 1 });
    if (outcome !== 'done') return this.#foundGap(outcome.deposit, outcome.expected);
    this.#searched = null;
    this.#blockTime = verdict.endTime;
    const seen = deposits.map(recentOf);
    const isTimed = this.#cursor.missing.every(({ until }) => until > 0) || this.#parts.approvalEnds === null;
    const end = { number: to, hash: verdict.endHash };
    // Until when a settlement may come again is not to be found later.
    if (seen.length > 0 || !isTimed) await this.#saveRange(end, seen, verdict.endTime);
    else {
      this.#cursor = stepped(this.#cursor, { kind: 'advance', ends: [end], booked: [], until: 0 });
      this.#unsaved = [...this.#unsaved, end];
      if (this.#isSaveDue) await this.#saveRanges();
    }
    return 'again';
  }

  /** A settlement that is gone and whose approval has ended by a block that stays does not come again: then the chain is stopped. */
  async #stopIfLost(anchor: Anchor): Promise<boolean> {
    const final = this.#parts.approvalEnds?.final() ?? 0;
    // mutant: lost-settlement
    const lost = this.#cursor.missing.filter(({ until }) => until > 0 && until < final);
    if (lost.length > 0) await this.#stop({ reason: 'reorg', block: anchor.number, deposits: lost.length });
    return lost.length > 0;
  }

  /**
   * Events that were there again when their blocks were replaced have to stay there until they are read again; settlements may come
   * later. @returns whether the poll goes on.
   */
  async #areMissingShown(anchor: Anchor): Promise<boolean> {
    const { missing } = this.#cursor;
    if (missing.length === 0) return true;
    if (this.#parts.event === 'settlement') return !(await this.#stopIfLost(anchor));
    const found = await this.#shownBehind(anchor, this.#head);
    if (found === null) {
      this.#waits('the replacing blocks have no majority');
      return false;
    }
    const gone = missing.filter(({ what }) => !found.has(what));
    // mutant: missing-again
    if (gone.length > 0) await this.#stopAt(anchor, gone);
    return gone.length === 0;
  }

  /** One range of what is read again. One that no majority shows is left to the next time. */
  async #readOnceMore(again: Again, anchor: Anchor): Promise<Poll> {
    // A reorganisation may have taken the cursor back meanwhile.
    const through = Math.min(again.through, this.#cursor.nextBlock - 1);
    if (again.from > through) {
      this.#again = null;
      return 'idle';
    }
    const to = Math.min(through, again.from + this.#span - 1, again.endsAt);
    const verdict = await this.#agreed(again.from, to, anchor, null);
    if (verdict.kind === 'noMajority') {
      if (this.#span < to - again.from + 1) return 'again';
      this.#again = null;
      return 'idle';
    }
    if (verdict.kind === 'undecided' && verdict.block > again.from) {
      again.endsAt = verdict.block - 1;
      return 'again';
    }
    if (verdict.kind === 'agreed') {
      const known = new Set(this.#cursor.recent.map(({ block, what }) => `${block}/${what}`));
      const events = verdict.logs.map((log) => this.#eventOf(log));
      const unknown = events.filter((event) => {
        const { block, what } = recentOf(event);
        return !known.has(`${block}/${what}`);
      });
      const outcome = await this.#offerAll(unknown);
      if (outcome === 'later') return 'idle';
      await this.#keepBooked();
      if (outcome === 'unmatched') return this.#stop({ reason: 'unmatched', block: again.from - 1, deposits: 1 });
      if (outcome !== 'done') return this.#foundGap(outcome.deposit, outcome.expected);
    }
    again.from = to + 1;
    again.endsAt = again.through;
    if (again.from > again.through) this.#again = null;
    return 'again';
  }

  /** Events that were hidden when their blocks were processed are part of the cursor from now on. */
  async #keepBooked(): Promise<void> {
    const late = this.#booked.map(recentOf);
    this.#booked = [];
    if (late.length === 0) return;
    const first = late.slice(0, 10).map(({ what }) => what);
    this.#parts.log.warn({ events: late.length, first }, 'events that were hidden are booked');
    for (const piece of pieces(late)) await this.#save({ kind: 'join', late: piece });
  }

  /** @param user 64 hex: deposits of this user only. */
  async #agreed(from: number, to: number, anchor: Anchor, user: string | null): Promise<RangeVerdict> {
    const { event, vault, providers } = this.#parts;
    const filter = { event, vault, fromBlock: from, toBlock: to, user };
    let verdict: RangeVerdict | null = null;
    const early: number[] = [];
    const settled = (index: number, reply: RangeReply): void => {
      if (verdict === null) early.push(index);
      else this.#compareRange(index, reply, verdict);
    };
    const replies = await gathered(
      providers.map((provider) => provider.range(filter, anchor)),
      (given) => isConclusive(given.map(answerOf)),
      settled,
    );
    const found = rangeVerdict(replies.map(answerOf));
    verdict = found;
    this.#adjustSpan(found, replies);
    for (const index of early) this.#compareRange(index, replies[index] ?? null, found);
    return found;
  }

  /** One that does not read so long a range is compared by the next that it reads. */
  #compareRange(index: number, reply: RangeReply, verdict: RangeVerdict): void {
    const standing = this.#standings[index];
    if (standing === undefined || reply === 'refused') return;
    if (verdict.kind !== 'agreed') standing.hasSameRange = null;
    else standing.hasSameRange = reply !== null && sameAnswer(reply, verdict);
  }

  /**
   * Blocks of the next range: what a majority of the providers reads at once (CHN-01), of those that answer. When that is no majority
   * because others are wrong, the next ranges are as short as those need that were asked for too much.
   */
  get #span(): number {
    const spans = this.#parts.providers.map(({ span }, index) => (this.#standings[index]?.answers === true ? span : 0));
    return Math.max(1, Math.min(majorityHead(spans), this.#spanLimit));
  }

  #adjustSpan(verdict: RangeVerdict, replies: readonly RangeReply[]): void {
    const short = this.#parts.providers.filter((_, index) => replies[index] === 'refused').map(({ span }) => span);
    if (verdict.kind === 'agreed') {
      this.#rangesLimited += 1;
      if (this.#rangesLimited >= RANGES_LIMITED) this.#spanLimit = Number.MAX_SAFE_INTEGER;
    } else if (short.length > 0) {
      this.#spanLimit = Math.max(1, Math.min(...short));
      this.#rangesLimited = 0;
    }
  }

  async #look(block: number): Promise<readonly (Sight | null)[]> {
    const { providers } = this.#parts;
    let agreed: string | null = null;
    let isDecided = false;
    const settled = (index: number, sight: Sight | null): void => {
      const standing = this.#standings[index];
      if (standing === undefined) return;
      standing.answers = sight !== null;
      if (isDecided) standing.hasSameAnchor = agreed !== null && sight?.hash === agreed;
    };
    const sights = await gathered(
      providers.map((provider) => provider.look(block)),
      (given) => {
        // A majority has the highest head that was named, and one hash: no further answer changes that.
        const heads = given.filter((sight) => sight !== null).map(({ head }) => head);
        const highest = Math.max(-1, ...heads);
        const hash = majorityHash(given.map((sight) => sight?.hash ?? null));
        return hash !== null && isMajority(heads.filter((head) => head === highest).length, providers.length);
      },
      settled,
    );
    agreed = majorityHash(sights.map((sight) => sight?.hash ?? null));
    isDecided = true;
    for (const [index, sight] of sights.entries()) if (sight !== null || agreed === null) settled(index, sight);
    return sights;
  }

  // Clearing.

  /**
   * Passes deposits on in their order, a bounded number at a time, until clearing has replied to each.
   *
   * @returns the first one with a gap before it; `later` when clearing does not accept them now.
   */
  async #offerAll(
    deposits: readonly ConfirmedEvent[],
  ): Promise<'done' | 'later' | 'unmatched' | { readonly deposit: ConfirmedEvent; readonly expected: number }> {
    this.#booked = [];
    let next = 0;
    while (next < deposits.length) {
      const window = deposits.slice(next, next + OFFER_MAX);
      const replies = await this.#parts.offer(window);
      for (const [index, deposit] of window.entries()) {
        const reply = replies[index] ?? null;
        // Those behind it may have been acted on: then they are duplicates when they are offered again.
        if (reply === null) return 'later';
        if (reply.result === 'gap') return { deposit, expected: reply.nextNonce };
        if (reply.result === 'unmatched') {
          this.#note(deposit, reply);
          return 'unmatched';
        }
        this.#note(deposit, reply);
      }
      next += window.length;
    }
    return 'done';
  }

  #note(event: ConfirmedEvent, { result }: BookingReply): void {
    // mutant: late-event-kept
    if (result !== 'duplicate' && result !== 'unmatched') this.#booked.push(event);
    if (BOOKED.has(result)) return;
    const { user, nonce, token, baseUnits, block, tx } = event;
    const details = { user, counter: nonce, address: token, baseUnits: baseUnits.toString(), block, tx, result };
    this.#parts.log.warn(details, 'an event of the vault is not booked');
  }

  // Gaps.

  async #foundGap(deposit: ConfirmedEvent, expected: number): Promise<Poll> {
    const { user, nonce, block } = deposit;
    const owner = counterOwner(deposit);
    const key = `${owner}/${expected}`;
    const times = this.#searched?.key === key ? this.#searched.times : 0;
    const nowMs = this.#parts.nowMs();
    // Its logs may be late: the chain waits for them before it stops.
    if (times > 0 && nowMs < (this.#searched?.nextMs ?? 0)) return 'idle';
    if (times >= READS_MAX) {
      return this.#stop({ reason: 'gap', block: this.#cursor.nextBlock - 1, deposits: nonce - expected });
    }
    if (times === 0) {
      this.#parts.log.warn({ user, counter: nonce, expected, block }, 'an event is missing: its user is read again');
    }
    this.#searched = { key, times: times + 1, nextMs: nowMs + pauseMs(times) };
    this.#gap = { user, owner, expected, through: block, from: 0 };
    return 'again';
  }

  /** One range of the search; the range of the cursor is read again behind the last one. */
  async #searchGap(gap: Gap, anchor: Anchor): Promise<Poll> {
    const to = Math.min(gap.through, gap.from + this.#span - 1);
    const verdict = await this.#agreed(gap.from, to, anchor, gap.user);
    if (verdict.kind !== 'agreed')
      return this.#waits('the search for a deposit has no majority', { from: gap.from, to });
    const missing = verdict.logs
      .map((log) => this.#eventOf(log))
      .filter((event) => event.nonce >= gap.expected && counterOwner(event) === gap.owner);
    const outcome = await this.#offerAll(missing);
    if (outcome === 'later') return 'idle';
    await this.#keepBooked();
    if (outcome === 'unmatched') return this.#stop({ reason: 'unmatched', block: gap.from - 1, deposits: 1 });
    gap.from = to + 1;
    if (outcome !== 'done' || gap.from > gap.through) this.#gap = null;
    return 'again';
  }

  // Reorganisations behind the last final block.

  /** Whether a majority, which has not reached the last processed block, has other blocks below it. */
  async #isShorterFork(): Promise<boolean> {
    const anchor = this.#cursor.anchors.findLast(({ number }) => number <= this.#head);
    if (anchor === undefined) return false;
    const sights = await this.#look(anchor.number);
    return isReplaced(
      anchor.hash,
      sights.map((sight) => sight?.hash ?? null),
    );
  }

  async #reorganised(final: number): Promise<Poll> {
    const ancestor = await this.#ancestor(this.#head);
    if (ancestor === 'undecided') return this.#waits('a reorganisation has no majority');
    const { anchors, recent, missing } = this.#cursor;
    const end = must(anchors.at(-1), 'a reorganisation is seen at an anchor').number;
    const details = { lastSame: ancestor?.number ?? -1, processed: end };
    if (!this.#isReorgLogged) this.#parts.log.error(details, 'final blocks were replaced');
    this.#isReorgLogged = true;
    if (ancestor === null) return this.#stop({ reason: 'reorg', block: -1, deposits: recent.length });
    // What is gone may come in blocks that follow.
    if (final < end && !this.#parts.isForkWhole) return 'idle';
    const found = await this.#shownBehind(ancestor, this.#head);
    if (found === null) return this.#waits('the replacing blocks have no majority');
    const gone = [...recent.filter(({ block }) => block > ancestor.number), ...missing].filter(
      ({ what }) => !found.has(what),
    );
    // mutant: evm-vanished
    if (gone.length > 0 && this.#parts.event !== 'settlement') return this.#stopAt(ancestor, gone, details);
    if (gone.length > 0)
      this.#parts.log.warn({ ...details, vanished: gone.length }, 'booked settlements have to come again');
    await this.#save({ kind: 'rewind', to: ancestor });
    return 'again';
  }

  async #stopAt(same: Anchor, gone: readonly { readonly what: string }[], details: object = {}): Promise<Poll> {
    const first = gone.slice(0, 10).map(({ what }) => what);
    this.#parts.log.error({ ...details, vanished: gone.length, first }, 'booked events vanished');
    return this.#stop({ reason: 'reorg', block: same.number, deposits: gone.length });
  }

  /** The newest anchor that a majority still has; null when the oldest is replaced too. */
  async #ancestor(head: number): Promise<Anchor | null | 'undecided'> {
    const anchors = this.#cursor.anchors.filter(({ number }) => number <= head);
    // Below `low` all are the same, from `high` on all are replaced.
    let low = 0;
    let high = anchors.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const anchor = must(anchors[middle], 'an index between two others');
      const hashes = (await this.#look(anchor.number)).map((sight) => sight?.hash ?? null);
      if (majorityHash(hashes) === anchor.hash) low = middle + 1;
      else if (isReplaced(anchor.hash, hashes)) high = middle;
      else return 'undecided';
    }
    return anchors[low - 1] ?? null;
  }

  /** What a majority shows behind an anchor, final or not, as `recent` has it; null while no majority decides. */
  async #shownBehind(anchor: Anchor, end: number): Promise<ReadonlySet<string> | null> {
    const found = new Set<string>();
    for (let from = anchor.number + 1; from <= end; ) {
      const to = Math.min(end, from + this.#span - 1);
      const verdict = await this.#agreed(from, to, anchor, null);
      if (verdict.kind !== 'agreed') return null;
      for (const log of verdict.logs) found.add(recentOf(this.#eventOf(log)).what);
      from = to + 1;
    }
    return found;
  }

  async #stop(stopped: Stopped): Promise<Poll> {
    await this.#save({ kind: 'stop', stopped });
    this.#parts.log.error({ ...stopped }, 'the chain is stopped: no deposit is credited until it is resumed');
    return 'idle';
  }

  /** @param log validated by evm-answers.ts. */
  #eventOf(log: ChainLog): ConfirmedEvent {
    const kind = this.#parts.event;
    const decoded = kind === 'deposit' ? decodeCredit(log) : decodeVaultEvent(kind, log);
    const event = must(decoded, 'a log of a verdict is an event of its kind');
    return { ...event, tx: log.tx, logIndex: log.logIndex, block: log.blockNumber };
  }

  #waits(why: string, details: object = {}): Poll {
    if (!this.#isWaitLogged) this.#parts.log.warn({ ...details, why }, 'deposits wait');
    this.#isWaitLogged = true;
    return 'idle';
  }

  get #isSaveDue(): boolean {
    const { nowMs, savedEveryMs } = this.#parts;
    const ranges = this.#unsaved.length;
    if (!this.#isKept && ranges > 0) return true;
    // mutant: idle-cursor-rests
    return ranges >= STEP_RANGES_MAX || (ranges >= RANGES_UNTIL_SAVED && nowMs() - this.#savedMs >= savedEveryMs);
  }

  /** A processed range with its events, and those before it. A block with more events than one step has room for is saved in several. */
  async #saveRange(end: Anchor, seen: readonly RecentEvent[], endTime: number): Promise<void> {
    const [booked = [], ...late] = pieces(seen);
    await this.#begun();
    const step = { kind: 'advance', booked, until: this.#parts.approvalEnds?.latest(endTime) ?? 0 } as const;
    const next = stepped(this.#cursor, { ...step, ends: [end] });
    await this.#keep({ ...step, ends: [...this.#unsaved, end] }, next);
    for (const piece of late) await this.#save({ kind: 'join', late: piece });
  }

  /** Processed ranges in which nothing was booked; the cursor has passed them. */
  async #saveRanges(): Promise<void> {
    await this.#begun();
    if (this.#unsaved.length === 0) return;
    await this.#keep({ kind: 'advance', ends: this.#unsaved, booked: [], until: 0 }, this.#cursor);
  }

  async #save(step: CursorStep): Promise<void> {
    await this.#saveRanges();
    await this.#keep(step, stepped(this.#cursor, step));
  }

  /** The first step of a fresh cursor, which has passed ranges without events. */
  async #begun(): Promise<void> {
    if (this.#isKept) return;
    await this.#keep({ kind: 'begin', cursor: this.#cursor }, this.#cursor);
    this.#isKept = true;
  }

  /** @param cursor the one behind the step, which has passed what is unsaved. */
  async #keep(step: CursorStep, cursor: EventCursor): Promise<void> {
    const { chainId, event, store, nowMs } = this.#parts;
    this.#cursor = await store.save(chainId, event, step, cursor);
    this.#unsaved = [];
    this.#savedMs = nowMs();
  }
}

/** As many in one step as it has room for. */
function pieces<T>(all: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / STEP_EVENTS_MAX);
  return Array.from({ length: count }, (_, at) => all.slice(at * STEP_EVENTS_MAX, (at + 1) * STEP_EVENTS_MAX));
}

/** When a block was mined, by majority; null without one. */
function timeOf({ hash }: Anchor, sights: readonly (Sight | null)[]): number | null {
  const time = majorityHash(sights.map((sight) => (sight?.hash === hash ? `${sight.time}` : null)));
  return time === null ? null : Number(time);
}

function textOf(value: number | null): string | null {
  return value === null ? null : `${value}`;
}

function answerOf(reply: RangeReply): RangeAnswer | null {
  return reply === 'refused' ? null : reply;
}

/** Whether a provider's own answer to a range is the verdict about it. */
function sameAnswer(answer: RangeAnswer, verdict: RangeAnswer): boolean {
  return answer.endHash === verdict.endHash && answer.logs.map(logKey).join() === verdict.logs.map(logKey).join();
}

/**
 * Waits for all answers, or until those given so far are conclusive.
 *
 * @param settled is called with each answer, also with those that come later.
 * @returns one for each request, null where there is none yet. Requests never reject, and end by themselves.
 */
function gathered<T>(
  questions: readonly Promise<T | null>[],
  isEnough: (answers: readonly (T | null)[]) => boolean,
  settled: (index: number, answer: T | null) => void = () => undefined,
): Promise<readonly (T | null)[]> {
  const answers: (T | null)[] = questions.map(() => null);
  let waiting = questions.length;
  return new Promise((resolve) => {
    for (const [index, question] of questions.entries()) {
      void question.then((answer) => {
        answers[index] = answer;
        settled(index, answer);
        waiting -= 1;
        if (waiting === 0 || (answer !== null && isEnough(answers))) resolve([...answers]);
      });
    }
  });
}
