/**
 * Quote sets at order entry: judged before their signature, reserved after it, answered when their market has applied them.
 *
 *   set ─check: shape, market, times─▶ (signature) ─reserve: what it may add─▶ market ─applied─▶ answer
 *             └─ what it adds ─▶ figures, status, budget ─▶ refused as a whole: only what it takes away goes (QTE-04)
 *
 * What the sets of one name on their way may add is held by a guard of each side: a draft of an order that no list has. It
 * spends what their largest total needs beyond what the entries hold, so a price that moves needs the difference, not both. A
 * fill that the market had matched and the gateway had not seen brings back a better price and costs a worse one (QTE-01): the
 * guard covers that too. In a margin account the guard counts as the entries that are new or larger, until the answer.
 *
 * Invariants
 *   (1) Entries and guard of a side together hold what each state that its market may come to needs.
 *   (2) A guard exists while a set of its name is on its way, and holds nothing after the last answer.
 *
 * Not here: the terms of a request (pre-flight.ts), what is applied to orders (book/quote-set-view.ts).
 */

import type { QuoteSetRequest } from '../../../codec/order-actions.ts';
import type { QuoteEntries } from '../../../codec/quote-entries.ts';
import { storedSignatures } from '../../../codec/stored-signatures.ts';
import { must } from '../../../core/assert.ts';
import { USD, type UserId } from '../../../core/ids.ts';
import { MARKET_STATUS, ORDER_FLAG, ORDER_KIND, SIDE, type Side } from '../../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import { ZERO_18 } from '../../../core/units.ts';
import { lotsSince } from '../../../order/quote-lots.ts';
import { spendLeft, spendOfAll } from '../../../risk/reservation.ts';
import type { Accounts } from '../balances/accounts.ts';
import { availableIn, type Balance } from '../balances/balance.ts';
import type { Holds } from '../balances/holds.ts';
import { holdFor } from '../balances/spending.ts';
import { isSpot, type LiveOrder } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { OrderBookView } from '../book/order-book-view.ts';
import {
  comingOf,
  countResting,
  type LiveQuoteSet,
  type LiveQuoteSets,
  type LiveQuoteSide,
  QUOTE_SETS_MAX,
  type QuoteAdds,
  type QuoteSetHolder,
  quoteDifferenceOf,
  restsOf,
  type WaitingQuotes,
} from '../book/quote-sets.ts';
import type { MarginSide } from '../margin/margin-side.ts';
import type { CancelMarks } from './cancel-marks.ts';
import type { EntryReply, PendingRequests, PreparedQuoteSet, ReservedQuoteSet } from './pending-requests.ts';
import { checkOpenOrders, checkQuoteSet, type PreFlightView, quoteAddsFault } from './pre-flight.ts';
import type { ProtectionGroups } from './protection-groups.ts';

const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests are on their way');
const TOO_MANY_OWN: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'too many requests of this user are on their way, try again',
);
const TOO_MANY_WAIT: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'too many revisions of this set are on their way, try again',
);
export const TOO_OLD: Reject = reject(
  'REQUEST_TOO_OLD',
  'a newer revision was sent, or the set was ended since',
  'revision',
);
const TOO_MANY: Reject = reject(
  'TOO_MANY_QUOTES',
  `at most ${QUOTE_SETS_MAX} quote sets of a user in a market`,
  'set_id',
);
const OTHER_TARGET: Reject = reject(
  'INVALID_ORDER',
  'the target of a set does not change while it has entries',
  'target',
);
const NO_SET: Reject = reject('ORDER_NOT_FOUND', 'there is no such quote set', 'set_id');
const NO_GROUP: Reject = reject('INVALID_ORDER', 'there is no such protection group', 'protection_group');
const INSUFFICIENT: Reject = reject('INSUFFICIENT_INVENTORY', 'the available balance does not cover the quotes');
const NO_MARGIN: Reject = reject('INSUFFICIENT_MARGIN', 'the user has neither a balance nor a position');
/** Revisions of a set that may be on their way: each answer looks at all of them. */
const WAITING_MAX = 16;

interface QuoteRequestParts {
  readonly view: PreFlightView;
  readonly accounts: Accounts;
  readonly holds: Holds;
  readonly orders: LiveOrders;
  readonly pending: PendingRequests;
  readonly book: OrderBookView;
  readonly margin: MarginSide;
  readonly sets: LiveQuoteSets;
  readonly protections: ProtectionGroups;
  readonly cancelMarks: Pick<CancelMarks, 'markOf'>;
}

const NO_ADDS: QuoteAdds = { bids: [], asks: [] };

/** A set on its way, with what of it decides on its guards. */
interface Waiting extends WaitingQuotes {
  readonly onlyTakes: boolean;
  /** What it counts against the caps of open orders until it is answered: at least 1 (live-orders.ts). */
  readonly coming: number;
  readonly buys: SideNeed;
  readonly sells: SideNeed;
}

interface SideNeed {
  readonly entries: QuoteEntries;
  /** What all of its entries spend together; 0n of a margin target. */
  readonly total: Amount18;
  /** Of all of its entries. */
  readonly lots: number;
  /** Its farthest price. */
  readonly far: number;
  /** Lots of the set that the gateway had seen matched. */
  readonly seen: number;
}

export class QuoteRequests {
  readonly #parts: QuoteRequestParts;

  constructor(parts: QuoteRequestParts) {
    this.#parts = parts;
  }

  /** Entries of the request if it adds something to what is known to rest; 0 if it only takes away (QTE-10). */
  priced({ quotes }: Pick<QuoteSetRequest, 'quotes'>, user: UserId): number {
    const { view, sets } = this.#parts;
    const market = view.markets.find(quotes.baseAsset.id);
    const set = market === undefined ? undefined : sets.find(user, market.definition.marketIndex, quotes.setId);
    const count = (quotes.bids.length + quotes.asks.length) / 2;
    return count === 0 || quoteDifferenceOf(set, quotes).adds === null ? 0 : count;
  }

  /**
   * Whether a newer revision of the set has gone to its market while this one waited, to be read or for its signature: it is skipped
   * for that one, which has passed every check (QTE-09).
   *
   * @param sinceMs since when it may have waited.
   */
  isSuperseded({ quotes }: Pick<QuoteSetRequest, 'quotes'>, user: UserId, sinceMs: number): boolean {
    const { view, sets } = this.#parts;
    const market = view.markets.find(quotes.baseAsset.id);
    const set = market === undefined ? undefined : sets.find(user, market.definition.marketIndex, quotes.setId);
    // mutant: superseded-while-it-waited
    return set !== undefined && set.sentNs > quotes.revisionNs && set.sentMs > sinceMs;
  }

  /**
   * Everything before the signature.
   *
   * @param given why nothing may be added, whatever the set, or null.
   * @returns rejects what holds of the whole set, and what it adds where it takes nothing away.
   */
  check(
    request: QuoteSetRequest,
    { user, now }: { readonly user: UserId; readonly now: TimestampNs },
    given: Reject | null,
  ): Outcome<PreparedQuoteSet> {
    const { view, sets, margin } = this.#parts;
    const checked = checkQuoteSet(view, request, user, now);
    if (!checked.ok) return checked;
    const market = checked.value;
    const { marketIndex } = market.definition;
    const { quotes } = request;
    const set = sets.find(user, marketIndex, quotes.setId);
    const refusal = this.#setRefusal(set, quotes, user, marketIndex);
    if (refusal !== null) return rejected(refusal);
    const { adds, takes } = quoteDifferenceOf(set, quotes);
    margin.assets.refresh(now);
    const slot = this.#groupOf(quotes.protectionGroup, user, marketIndex);
    const more = adds ?? (joins(set, quotes, slot) ? NO_ADDS : null);
    const fault = more === null ? null : (given ?? this.#addFault(quotes, more, { market, now, user, slot, set }));
    if (fault !== null && !takes && (set === undefined || set.waiting.length === 0)) return rejected(fault);
    return accepted({
      kind: 'quotes',
      market,
      user,
      quotes,
      text: request.text,
      signature: request.signature,
      signatures: storedSignatures(request),
      addFault: fault,
    });
  }

  /** Why the whole set is refused, or null. */
  #setRefusal(
    set: LiveQuoteSet | undefined,
    quotes: PreparedQuoteSet['quotes'],
    user: UserId,
    marketIndex: number,
  ): Reject | null {
    const { sets, view, cancelMarks } = this.#parts;
    // Of a set that its market knows the market has the mark.
    // mutant: cancel-of-an-unknown-set
    if (set?.isKnown !== true && quotes.revisionNs <= cancelMarks.markOf(user, marketIndex, quotes.setId))
      return TOO_OLD;
    if (set === undefined) {
      if (quotes.bids.length + quotes.asks.length === 0 && !view.isFunded(user)) return NO_SET;
      return sets.liveBeside(user, marketIndex, quotes.setId) < QUOTE_SETS_MAX ? null : TOO_MANY;
    }
    if (quotes.revisionNs <= set.newestNs) return TOO_OLD;
    if (set.waiting.length >= WAITING_MAX) return TOO_MANY_WAIT;
    if (!set.isLive) return sets.liveBeside(user, marketIndex, quotes.setId) < QUOTE_SETS_MAX ? null : TOO_MANY;
    return set.subAccount === quotes.account && set.flags === flagsOf(quotes) ? null : OTHER_TARGET;
  }

  #groupOf(group: string | null, user: UserId, marketIndex: number): number | undefined {
    return group === null ? 0 : this.#parts.protections.slotOf(user, marketIndex, group);
  }

  #addFault(
    quotes: PreparedQuoteSet['quotes'],
    adds: QuoteAdds,
    at: {
      readonly market: MarketSlot;
      readonly now: TimestampNs;
      readonly user: UserId;
      readonly slot: number | undefined;
      readonly set: LiveQuoteSet | undefined;
    },
  ): Reject | null {
    const { view, protections } = this.#parts;
    const { market, now, user, slot, set } = at;
    const { marketIndex } = market.definition;
    if (slot === undefined) return NO_GROUP;
    // The last of the sets on their way under one name takes the place of the others.
    const more = slot === 0 ? 0 : Math.max(0, this.#moreMembers(set, quotes, slot) - comingOf(set, slot));
    const ofGroup = slot === 0 ? null : protections.refusalToAdd({ user, marketIndex, slot }, now, more);
    if (ofGroup !== null) return ofGroup;
    const fault = quoteAddsFault(view, quotes, adds, market, now);
    if (fault !== null) return fault;
    const count = this.#moreEntries(set, quotes, adds);
    const cap = checkOpenOrders(view, { user, subAccount: quotes.account, marketIndex, isParked: false, count });
    return cap.ok || count === 0 ? null : cap.reject;
  }

  /**
   * By how many entries a set has more when the revision is applied: what it inserts, less what leaves in the same step (QTE-03). Behind another
   * revision on its way nothing is taken off: that one may leave the same entries.
   */
  #moreEntries(set: LiveQuoteSet | undefined, quotes: PreparedQuoteSet['quotes'], adds: QuoteAdds): number {
    const inserted = newEntriesOf(adds);
    if (set === undefined || set.waiting.length > 0) return inserted;
    // mutant: leaving-entries-counted
    return Math.max(0, inserted - countResting(set, quotes, (_, stays) => !stays));
  }

  /** The same of a protection group, which entries that stay may join. */
  #moreMembers(set: LiveQuoteSet | undefined, quotes: PreparedQuoteSet['quotes'], slot: number): number {
    const entries = (quotes.bids.length + quotes.asks.length) / 2;
    if (slot === 0 || set === undefined) return slot === 0 ? 0 : entries;
    const isAlone = set.waiting.length === 0;
    return entries - countResting(set, quotes, (order, stays) => order.protectionGroup === slot && (isAlone || stays));
  }

  // ---- after the signature

  /**
   * Takes what the set may add. @param given why nothing may be added now, or null. @param group of its connection.
   *
   * @returns rejects REQUEST_TOO_OLD, TOO_MANY_QUOTES, INVALID_ORDER, SERVICE_UNAVAILABLE: nothing was taken.
   */
  reserve(
    prepared: PreparedQuoteSet,
    now: TimestampNs,
    reply: EntryReply,
    given: Reject | null,
    group: QuoteSetHolder | null = null,
  ): Outcome<ReservedQuoteSet> {
    const { sets, pending, accounts } = this.#parts;
    const { market, user, quotes } = prepared;
    const { marketIndex } = market.definition;
    const known = sets.find(user, marketIndex, quotes.setId);
    const refusal = this.#setRefusal(known, quotes, user, marketIndex);
    if (refusal !== null) return rejected(refusal);
    const { adds, takes } = quoteDifferenceOf(known, quotes);
    // Another group may have its slot by now.
    const slot = this.#groupOf(quotes.protectionGroup, user, marketIndex);
    const more = adds ?? (joins(known, quotes, slot) ? NO_ADDS : null);
    const at = { market, now, user, slot, set: known };
    const early = more === null ? null : (given ?? prepared.addFault ?? this.#addFault(quotes, more, at));
    const isTaking = adds === null || early !== null;
    if (!pending.hasRoomFor(isTaking ? 'cancel' : 'quotes')) return rejected(BUSY);
    if (!pending.isWithinShare(isTaking ? 'cancel' : 'quotes', user, accounts.isMarketMaker(user)))
      return rejected(TOO_MANY_OWN);
    const set = known ?? sets.open(user, market, quotes.setId);
    if (!set.isLive) {
      set.subAccount = quotes.account;
      set.flags = flagsOf(quotes);
    }
    const mayNotAdd = early ?? given ?? (market.definition.status === MARKET_STATUS.active ? null : prepared.addFault);
    const waiting = this.#waitingOf(set, prepared, adds, mayNotAdd !== null);
    const fault = waiting.onlyTakes ? early : this.#guard(set, waiting, adds !== null);
    if (fault !== null && !takes && set.waiting.length === 0) {
      sets.drop(set);
      return rejected(fault);
    }
    const protectionGroup = slot ?? 0;
    const sent =
      waiting.onlyTakes || fault !== null
        ? { ...waiting, group, onlyTakes: true }
        : { ...waiting, group, memberOf: protectionGroup, joining: this.#moreMembers(known, quotes, protectionGroup) };
    set.waiting.push(sent);
    this.#parts.orders.coming.change(user, groupOf(set), sent.coming);
    const requestId = pending.add({
      kind: 'quotes',
      user,
      market,
      set,
      terms: sent,
      addFault: more === null ? null : fault,
      reply,
    });
    const onlyTakes = sent.onlyTakes || (adds === null && market.definition.status !== MARKET_STATUS.active);
    const { buys, sells } = sent;
    return accepted({ requestId, set, boughtSeen: buys.seen, soldSeen: sells.seen, protectionGroup, onlyTakes });
  }

  #waitingOf(
    set: LiveQuoteSet,
    { quotes, market }: PreparedQuoteSet,
    adds: QuoteAdds | null,
    onlyTakes: boolean,
  ): Waiting {
    const { revisionNs, bids, asks, isSpot: isOfSpot } = quotes;
    const need = (side: LiveQuoteSide, entries: QuoteEntries): SideNeed => ({
      entries,
      total: isOfSpot && !onlyTakes ? spendOfAll(side.side, entries, market.definition) : ZERO_18,
      lots: lotsOf(entries),
      far: entries.at(-2) ?? 0,
      seen: side.matched,
    });
    const coming = adds === null ? 1 : Math.max(1, this.#moreEntries(set, quotes, adds));
    return { revisionNs, bids, asks, onlyTakes, coming, buys: need(set.buys, bids), sells: need(set.sells, asks) };
  }

  /**
   * Lets the guards cover one more set. @param isWeighed false: it adds nothing that is known, and is refused nothing.
   *
   * @returns why it is not covered, or null; then the guards are as they were.
   */
  #guard(set: LiveQuoteSet, waiting: Waiting, isWeighed: boolean): Reject | null {
    const hasNothing = !this.#parts.holds.funded.has(set.user) && !this.#parts.accounts.isMarketMaker(set.user);
    if (hasNothing && isWeighed) return (set.flags & ORDER_FLAG.isSpot) === 0 ? NO_MARGIN : INSUFFICIENT;
    const all = [...waitingIn(set), waiting];
    for (const side of [set.buys, set.sells]) {
      const fault = this.#setGuard(set, side, all, true);
      if (fault === null) continue;
      this.#settleGuards(set);
      return fault;
    }
    return null;
  }

  /** The guards follow what is on its way now. */
  #settleGuards(set: LiveQuoteSet): void {
    const all = waitingIn(set);
    for (const side of [set.buys, set.sells]) this.#setGuard(set, side, all, false);
  }

  #setGuard(set: LiveQuoteSet, side: LiveQuoteSide, all: readonly Waiting[], isJudged: boolean): Reject | null {
    const lots = all.length === 0 ? NO_LOTS : addedLots(side, all);
    const spend = all.length === 0 ? ZERO_18 : guardedSpend(set, side, all);
    if (side.guard === null) {
      if (lots.lots === 0 && spend === 0n) return null;
      side.guard = this.#draftGuard(set, side.side);
      if (side.guard === null) return isJudged ? BUSY : null;
    }
    const { guard } = side;
    const balance = guard.balance;
    if (isJudged && balance !== null) {
      const more = holdFor(guard, spend) - holdFor(guard, guard.spend);
      if (more > 0n && more > availableIn(balance)) return INSUFFICIENT;
    }
    if (guard.exposure !== null) {
      guard.price = (lots.lots === 0 ? 0 : lots.best) as RawPrice;
      guard.quantity = lots.lots as RawQuantity;
      guard.replaces =
        lots.far === lots.best ? [] : [{ price: lots.far as RawPrice, quantity: lots.lots as RawQuantity }];
      const fault = isJudged && lots.lots > 0 ? this.#parts.margin.check.admissionFault(guard) : null;
      if (fault !== null) return fault;
    } else if (isJudged && lots.lots > 0) {
      const fault = this.#parts.margin.check.unweighedFault(guard);
      if (fault !== null) return fault;
    }
    this.#parts.book.guard(guard, spend);
    if (all.length > 0 || spend > 0n || lots.lots > 0) return null;
    this.#parts.orders.abandon(guard);
    side.guard = null;
    return null;
  }

  /** @returns null: the store is full. */
  #draftGuard(set: LiveQuoteSet, side: Side): LiveOrder | null {
    const { orders, margin } = this.#parts;
    const { user, market, subAccount, flags, setId } = set;
    const none = 0n as TimestampNs;
    const order = orders.draftEntry({
      ...{ user, market, subAccount, flags, side, orderId: setId, price: 0, quantity: 0, maxFeeRate: 0, slot: 0 },
      ...{ protectionGroup: 0, creationNs: none, goodUntilNs: none, timeNs: none },
    });
    if (order === null) return null;
    order.balance = this.balanceOf(order);
    margin.check.place(order);
    return order;
  }

  /** What a spot entry spends from; null of a margin entry. */
  balanceOf(order: LiveOrder): Balance | null {
    if (!isSpot(order)) return null;
    const { user, subAccount, side, market } = order;
    return this.#parts.holds.balance({ user, subAccount, asset: side === SIDE.buy ? USD : market.definition.assetId });
  }

  // ---- answers

  /** The market has answered, and what it applied is applied here. */
  answered(set: LiveQuoteSet, terms: WaitingQuotes, isApplied: boolean): void {
    if (isApplied) set.group = terms.group ?? null;
    const at = set.waiting.indexOf(terms);
    must(at < 0 ? undefined : at, 'a set is answered once');
    set.waiting.splice(at, 1);
    this.#parts.orders.coming.change(set.user, groupOf(set), -(terms as Waiting).coming);
    this.#settleGuards(set);
    this.#parts.sets.drop(set);
  }
}

/**
 * Whether entries that are kept would join a group: they are judged as what is new (MMP-02). Of a group that there is not (`slot` undefined)
 * nothing is a member.
 */
function joins(
  set: LiveQuoteSet | undefined,
  quotes: Pick<WaitingQuotes, 'bids' | 'asks'>,
  slot: number | undefined,
): boolean {
  if (slot === undefined) return quotes.bids.length + quotes.asks.length > 0;
  if (slot === 0 || set === undefined) return false;
  if (set.waiting.some(({ memberOf = slot }) => memberOf !== slot)) return true;
  // mutant: joining-is-judged
  return countResting(set, quotes, (order, stays) => stays && order.protectionGroup !== slot) > 0;
}

/** This file alone adds to the list. */
function waitingIn({ waiting }: LiveQuoteSet): readonly Waiting[] {
  return waiting as readonly WaitingQuotes[] as readonly Waiting[];
}

function groupOf({ market, subAccount }: LiveQuoteSet): { readonly marketIndex: number; readonly subAccount: number } {
  return { marketIndex: market.definition.marketIndex, subAccount };
}

/** Bits of ORDER_FLAG of the entries of a set. */
function flagsOf({ isSpot: isOfSpot }: { readonly isSpot: boolean }): number {
  return ORDER_FLAG.postOnly | (isOfSpot ? ORDER_FLAG.isSpot : 0);
}

function newEntriesOf({ bids, asks }: QuoteAdds): number {
  let count = 0;
  for (const adds of [bids, asks]) for (let at = 2; at < adds.length; at += 3) if (adds[at] === 0) count += 1;
  return count;
}

function lotsOf(entries: QuoteEntries): number {
  let lots = 0;
  for (let at = 1; at < entries.length; at += 2) lots += entries[at] as number;
  return lots;
}

/** What all entries of a side spend. */
function spendOf(side: Side, price: number, lots: number, definition: MarketSlot['definition']): Amount18 {
  const order = { side, kind: ORDER_KIND.limit, amount: 0, budget: 0, filledQuantity: 0, filledNotional: 0n };
  return spendLeft({ ...order, price: price as RawPrice }, lots, definition);
}

interface Lots {
  readonly lots: number;
  readonly best: number;
  readonly far: number;
}

const NO_LOTS: Lots = { lots: 0, best: 0, far: 0 };

/** Lots by which the entries of a side may grow: of the set on its way that adds most, at the best and the farthest of their prices. */
function addedLots({ side, entries }: LiveQuoteSide, all: readonly Waiting[]): Lots {
  let most = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const waiting of all) {
    if (waiting.onlyTakes) continue;
    const wanted = side === SIDE.buy ? waiting.bids : waiting.asks;
    let lots = 0;
    for (let at = 0; at < wanted.length; at += 2) {
      const price = wanted[at] as number;
      const order = entries.get(price);
      const more = (wanted[at + 1] as number) - (order === undefined ? 0 : restsOf(order));
      if (more <= 0) continue;
      lots += more;
      if (price < low) low = price;
      if (price > high) high = price;
    }
    if (lots > most) most = lots;
  }
  if (most === 0) return NO_LOTS;
  return side === SIDE.buy ? { lots: most, best: high, far: low } : { lots: most, best: low, far: high };
}

/**
 * What the sets on their way may spend beyond what the entries of the side hold; 0n of a margin target.
 *
 * Each of them may come to be in force, and before that lots may be matched which it did not know: they cost their own prices, and it
 * rests so many less at its farthest one. No more lots are matched so than one of the states before it has.
 */
function guardedSpend(set: LiveQuoteSet, { side, entries, matched }: LiveQuoteSide, all: readonly Waiting[]): Amount18 {
  if ((set.flags & ORDER_FLAG.isSpot) === 0) return ZERO_18;
  const { definition } = set.market;
  let held = 0n;
  let lots = 0;
  let best = 0;
  for (const [price, order] of entries) {
    held += order.spend;
    const rests = restsOf(order);
    lots += rests;
    if (rests > 0 && price > best) best = price;
  }
  let top = held;
  let most = held;
  for (const waiting of all) {
    if (waiting.onlyTakes) continue;
    const need = side === SIDE.buy ? waiting.buys : waiting.sells;
    const { far } = need;
    // What was matched since is taken off at the farthest price.
    const left = need.total - spendOf(side, far, lotsSince(need.seen, matched), definition);
    if (left > top) top = left;
    const isDearer = side === SIDE.buy && far > 0 && best > far && lots > 0;
    const cost = isDearer ? spendOf(side, best, lots, definition) - spendOf(side, far, lots, definition) : 0n;
    if (top + cost > most) most = top + cost;
    lots = Math.max(lots, need.lots);
    best = Math.max(best, need.entries[0] ?? 0);
  }
  return (most - held) as Amount18;
}
