/**
 * Applies a quote set in one step: compared with what rests, it takes away, then adds (QTE-01 to QTE-05, QTE-09).
 *
 *   what is in force ─▶ prices that left, smaller quantities ─▶ may the rest be added, as a whole? ─▶ refused or own orders in the way end
 *                       applied in any case                                                          ─▶ larger ones to the tail, new ones
 *
 * All of it is one event, which takes a sequence for itself, one for every new order and one for every order that moved to the tail. Orders of
 * the owner that self-trade prevention ends are published before it, as always. Levels are published once, behind everything.
 *
 * Allocates nothing for a set once the pools have grown, but for the first revision of a name.
 */
import { ORDER_LIFE_NS, QUOTES_PER_SIDE_MAX } from '../core/limits.ts';
import {
  MARKET_STATUS,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  QUOTE_CHANGE,
  SIDE,
  type Side,
  TIF,
} from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import { highWord, isBefore, lowWord } from '../core/time-words.ts';
import { lotsSince } from '../order/quote-lots.ts';
import type { Book } from './book.ts';
import { type MarketEvents, QuoteChanges, type QuoteSetCommand, type RestoredQuoteSet } from './commands.ts';
import { endExpiredWithin, endIfDue } from './expired-orders.ts';
import { type OrderIds, UNKNOWN } from './order-ids.ts';
import { MARK } from './order-records.ts';
import type { MarketQuoteSet } from './quote-set.ts';
import type { UserTable } from './user-table.ts';

const ID_BYTES = 64;
const COLON = 0x3a;
const ZERO = 0x30;
const TEN = 10;
const LIFE_HIGH: number = highWord(ORDER_LIFE_NS);
const LIFE_LOW: number = lowWord(ORDER_LIFE_NS);
const WORD = 2 ** 32;
/** High words of a day: entries that are kept so long get the life of a new one (wire: `good_until_timestamp_ns` null). */
const TERMS_HIGH_MAX = 20_116;
const SIDES: readonly Side[] = [SIDE.buy, SIDE.sell];

/** The parts of the engine that a set changes. */
interface QuotePlace {
  readonly book: Book;
  readonly ids: OrderIds;
  readonly users: UserTable;
  readonly events: MarketEvents;
  readonly ordersMax: number;
  /** Why a set may not add to what rests: its group is frozen (MMP-03); 0 when it may. */
  readonly addRefusal: (user: number, group: number) => RejectCode | 0;
  /** Makes an order a member of a group that exists. */
  readonly protect: (index: number, group: number) => void;
}

/** What becomes of the entries of one side of a command, by their places in it. */
class SidePlan {
  /** The resting order at that price, or NONE. */
  readonly orders: Int32Array = new Int32Array(QUOTES_PER_SIDE_MAX);
  /** What shall rest. */
  readonly wanted: Float64Array = new Float64Array(QUOTES_PER_SIDE_MAX);
}

export class QuoteSets {
  readonly #place: QuotePlace;
  readonly #changes = new QuoteChanges();
  readonly #plans: readonly [SidePlan, SidePlan] = [new SidePlan(), new SidePlan()];
  /** The id of an entry: the name, a colon, the number. */
  readonly #id = new Uint8Array(ID_BYTES);
  readonly #idWords = new Int32Array(this.#id.buffer);
  /** Terms of new entries, refilled for each. */
  readonly #terms = {
    side: SIDE.buy as Side,
    kind: ORDER_KIND.limit,
    tif: TIF.gtc as (typeof TIF)['gtc'] | (typeof TIF)['gtd'],
    flags: 0,
    subAccount: 0,
    price: 0,
    creationHigh: 0,
    creationLow: 0,
    expiryHigh: 0,
    expiryLow: 0,
  };

  constructor(place: QuotePlace) {
    this.#place = place;
  }

  /**
   * Rejects: ORDER_EXPIRED; REQUEST_TOO_OLD unless the revision is above the high-water mark; TOO_MANY_QUOTES; INVALID_ORDER for another
   * target than that of the entries.
   */
  apply(command: QuoteSetCommand, status: number): void {
    const { book, users, events } = this.#place;
    const { quoteSets } = book;
    this.#setExpiry(command);
    const known = users.find(command.words, command.userAt);
    const found = known === NONE ? null : quoteSets.find(known, command.words, command.nameAt, command.nameBytes);
    const refusal = this.#refusalOf(known, found, command);
    if (refusal !== 0) {
      events.quoteSetRefused(command.requestId, refusal);
      return;
    }
    const user = users.intern(command.words, command.userAt);
    const set = found ?? this.#open(user, command);
    if (set === null) {
      events.quoteSetRefused(command.requestId, REJECT_CODE.REQUEST_TOO_OLD);
      return;
    }
    // After this point the command must succeed.
    this.#changes.begin();
    if (book.expiries.isBehind) this.#endExpired(set, command);
    for (const side of SIDES) this.#compare(set, side, command);
    this.#changes.addCode = this.#refusalToAdd(user, command, status);
    const adds = this.#changes.addCode === 0 && !command.onlyTakes;
    if (adds) {
      this.#takeUnseen(SIDE.buy, command.bids, lotsSince(command.boughtSeen, set.bought));
      this.#takeUnseen(SIDE.sell, command.asks, lotsSince(command.soldSeen, set.sold));
    }
    for (const side of SIDES) this.#takeAway(side, command);
    // mutant: frozen-set-takes-away
    if (this.#changes.addCode !== 0 && !this.#isMore(set, command)) this.#changes.addCode = 0;
    const isWhole = adds && this.#hasRoom(command);
    if (adds && !isWhole) this.#changes.addCode = REJECT_CODE.INVALID_ORDER;
    if (isWhole) for (const side of SIDES) this.#clearWay(set, side, command);
    this.#takeTerms(set, command, isWhole);
    this.#changes.first = book.nextSequence();
    for (const side of SIDES) this.#rest(set, side, command, isWhole);
    this.#changes.sequences = book.sequence - this.#changes.first + 1;
    set.appliedTrade = book.trades.lastTradeId;
    set.isOver = command.bids + command.asks === 0;
    events.quoteSetApplied(command, set, this.#changes);
    book.commitDepth();
  }

  /** A group of protection is no more: no set keeps its slot, which another group may get. */
  leaveGroup(user: number, slot: number): void {
    for (const set of this.#place.book.quoteSets.ofUser(user))
      if (set.protectionGroup === slot) set.protectionGroup = 0;
  }

  /** At boot: a set, behind the groups of its user and before its entries. */
  restore(restored: RestoredQuoteSet): void {
    const { book, users } = this.#place;
    const set = book.quoteSets.addAt(users.intern(restored.words, restored.userAt), restored.slot);
    set.setUser(restored.words, restored.userAt);
    set.setName(restored.words, restored.nameAt, restored.nameBytes);
    set.revisionHigh = highWord(restored.revisionNs);
    set.revisionLow = lowWord(restored.revisionNs);
    set.markHigh = highWord(restored.markNs);
    set.markLow = lowWord(restored.markNs);
    set.markFloorHigh = highWord(restored.markFloorNs);
    set.markFloorLow = lowWord(restored.markFloorNs);
    set.goodUntilHigh = highWord(restored.goodUntilNs);
    set.goodUntilLow = lowWord(restored.goodUntilNs);
    set.lastNumber = restored.lastNumber;
    set.numberFloor = restored.numberFloor;
    set.maxFeeRate = restored.maxFeeRate;
    set.subAccount = restored.subAccount;
    set.flags = restored.flags;
    // One whose group was removed is in none.
    // mutant: restored-group-removed
    const hasGroup = this.#place.book.protection.find(set.user, restored.protectionGroup) !== undefined;
    set.protectionGroup = hasGroup ? restored.protectionGroup : 0;
    set.isOver = restored.isOver;
  }

  /** At boot: a restored order is an entry of the set in that slot; `sortRestored` follows. */
  restoreEntry(index: number, slot: number): void {
    const { orders, quoteSets } = this.#place.book;
    const set = quoteSets.inSlot(orders.userOf(index), slot);
    if (set === null) return;
    quoteSets.enter(set, index);
    set.side(orders.sideOf(index)).push(index, orders.sequenceOf(index));
  }

  /** Puts the restored entries of every set in the order of their prices. */
  sortRestored(): void {
    const { orders, quoteSets } = this.#place.book;
    quoteSets.forEach((set) => {
      for (const side of SIDES) {
        const list = set.side(side);
        const sign = side === SIDE.buy ? -1 : 1;
        const indexes = [...list.indexes.subarray(0, list.count)];
        indexes.sort((a, b) => sign * (orders.priceOf(a) - orders.priceOf(b)));
        list.count = 0;
        for (const index of indexes) list.push(index, orders.sequenceOf(index));
      }
      set.appliedTrade = this.#place.book.trades.lastTradeId;
    });
  }

  #refusalOf(user: number, set: MarketQuoteSet | null, command: QuoteSetCommand): RejectCode | 0 {
    const { book } = this.#place;
    const { revisionHigh, revisionLow, receivedHigh, receivedLow } = command;
    if (book.expiries.isPast(this.#terms.expiryHigh, this.#terms.expiryLow, receivedHigh, receivedLow))
      return REJECT_CODE.ORDER_EXPIRED;
    if (set === null) {
      return user !== NONE && !book.quoteSets.hasRoom(user) ? REJECT_CODE.TOO_MANY_QUOTES : 0;
    }
    // mutant: revision-above-mark
    if (!isBefore(set.markHigh, set.markLow, revisionHigh, revisionLow)) return REJECT_CODE.REQUEST_TOO_OLD;
    const isSameTarget = set.subAccount === command.subAccount && isSameExceptHolder(set.flags, command.flags);
    return isSameTarget || book.quoteSets.countResting(set) === 0 ? 0 : REJECT_CODE.INVALID_ORDER;
  }

  /**
   * A set with a new name. One without an entry whose slot it takes ends by it, with the mark that it has: nothing was made to
   * be cancelled. @returns null when the revision is not above what was forgotten in its slot.
   */
  #open(user: number, command: QuoteSetCommand): MarketQuoteSet | null {
    const { book } = this.#place;
    const { quoteSets } = book;
    const floor = quoteSets.floorOf(user);
    if (!isBefore(floor.high, floor.low, command.revisionHigh, command.revisionLow)) return null;
    const replaced = quoteSets.replaced(user);
    if (replaced !== null) book.endSet(replaced, replaced.markHigh, replaced.markLow, ORDER_END.userRequested);
    const set = quoteSets.open(user);
    // Nothing of it has traded: what the gateway has counted of the name is where the count goes on.
    // mutant: count-of-a-new-name
    set.bought = command.boughtSeen;
    set.sold = command.soldSeen;
    set.setUser(command.words, command.userAt);
    set.setName(command.words, command.nameAt, command.nameBytes);
    return set;
  }

  /** Ends expired entries, and expired orders in the way of the best prices. */
  #endExpired(set: MarketQuoteSet, command: QuoteSetCommand): void {
    const { book } = this.#place;
    const { quoteSets } = book;
    for (const { indexes, count } of [set.bids, set.asks])
      for (let at = 0; at < count; at += 1) {
        const index = indexes[at] as number;
        if (quoteSets.of(index) === set) endIfDue(book, index);
      }
    for (const side of SIDES) {
      if (countOf(command, side) === 0) continue;
      const bound = command.prices[side === SIDE.buy ? 0 : command.bids] as number;
      endExpiredWithin(book, {
        side,
        user: set.user,
        subAccount: command.subAccount,
        bound,
        lots: 1,
        target: null,
      });
    }
  }

  /** Finds the resting order of every price; what rests at prices that left the set is taken off. */
  #compare(set: MarketQuoteSet, side: Side, command: QuoteSetCommand): void {
    const { book } = this.#place;
    const { orders } = book;
    const changes = this.#changes;
    const list = set.side(side);
    book.dropEntries(list, this.#noteOut);
    const plan = this.#plans[side];
    const from = side === SIDE.buy ? 0 : command.bids;
    const count = countOf(command, side);
    let next = 0;
    for (let at = 0; at < list.count; at += 1) {
      const index = list.indexes[at] as number;
      const price = orders.priceOf(index);
      for (; next < count && isBetter(side, command.prices[from + next] as number, price); next += 1)
        this.#planNew(plan, next, command.quantities[from + next] as number);
      if (next < count && command.prices[from + next] === price) {
        plan.orders[next] = index;
        plan.wanted[next] = command.quantities[from + next] as number;
        next += 1;
        continue;
      }
      const rests = orders.remaining(index);
      changes.orders[changes.add(QUOTE_CHANGE.left, side, price, rests)] = orders.sequenceOf(index);
      book.takeOff(index);
      book.leaveSet(index);
    }
    for (; next < count; next += 1) this.#planNew(plan, next, command.quantities[from + next] as number);
  }

  #planNew(plan: SidePlan, at: number, quantity: number): void {
    plan.orders[at] = NONE;
    plan.wanted[at] = quantity;
  }

  readonly #noteOut = (index: number): void => {
    const { orders } = this.#place.book;
    const at = this.#changes.add(QUOTE_CHANGE.out, orders.sideOf(index), orders.priceOf(index), 0);
    this.#changes.orders[at] = orders.sequenceOf(index);
  };

  /** What the gateway did not see is off what it has a hold for, farthest from the market first (QTE-01). */
  #takeUnseen(side: Side, count: number, unseen: number): void {
    const { wanted } = this.#plans[side];
    let left = unseen;
    for (let at = count - 1; at >= 0 && left > 0; at -= 1) {
      const lots = Math.min(left, wanted[at] as number);
      wanted[at] = (wanted[at] as number) - lots;
      left -= lots;
    }
  }

  #refusalToAdd(user: number, { protectionGroup, onlyTakes }: QuoteSetCommand, status: number): RejectCode | 0 {
    if (onlyTakes) return 0;
    if (status !== MARKET_STATUS.active) return REJECT_CODE.MARKET_HALTED;
    return protectionGroup === 0 ? 0 : this.#place.addRefusal(user, protectionGroup);
  }

  /** Smaller quantities, in place (QTE-02). What shall not rest at all leaves. */
  #takeAway(side: Side, command: QuoteSetCommand): void {
    const { book } = this.#place;
    const { orders } = book;
    const changes = this.#changes;
    const plan = this.#plans[side];
    const own = book.ownSide(side);
    for (let at = 0; at < countOf(command, side); at += 1) {
      const index = plan.orders[at] as number;
      if (index === NONE) continue;
      const rests = orders.remaining(index);
      const wanted = plan.wanted[at] as number;
      if (wanted >= rests) continue;
      const price = orders.priceOf(index);
      if (wanted === 0) {
        changes.orders[changes.add(QUOTE_CHANGE.left, side, price, rests)] = orders.sequenceOf(index);
        book.takeOff(index);
        book.leaveSet(index);
        plan.orders[at] = NONE;
        continue;
      }
      orders.setPriceAndQuantity(index, price, orders.filledOf(index) + wanted);
      own.adjust(index, wanted - rests);
      const change = changes.add(QUOTE_CHANGE.resized, side, price, wanted);
      changes.orders[change] = orders.sequenceOf(index);
      changes.priorities[change] = orders.priorityOf(index);
    }
  }

  /** Whether something was to be added: a new entry, lots, or what is kept to another group (QTE-04). What leaves has left. */
  #isMore(set: MarketQuoteSet, command: QuoteSetCommand): boolean {
    const { orders } = this.#place.book;
    const isJoining = command.protectionGroup !== 0 && command.protectionGroup !== set.protectionGroup;
    for (const side of SIDES) {
      const plan = this.#plans[side];
      for (let at = 0; at < countOf(command, side); at += 1) {
        const index = plan.orders[at] as number;
        if (index === NONE || isJoining || (plan.wanted[at] as number) > orders.remaining(index)) return true;
      }
    }
    return false;
  }

  /** Whether all that the set adds fits into its levels and into the market. */
  #hasRoom(command: QuoteSetCommand): boolean {
    const { book, ordersMax } = this.#place;
    const { orders } = book;
    let news = 0;
    for (const side of SIDES) {
      const plan = this.#plans[side];
      const from = side === SIDE.buy ? 0 : command.bids;
      for (let at = 0; at < countOf(command, side); at += 1) {
        const index = plan.orders[at] as number;
        const growth = (plan.wanted[at] as number) - (index === NONE ? 0 : orders.remaining(index));
        if (growth <= 0) continue;
        if (!book.ownSide(side).fits(command.prices[from + at] as number, growth)) return false;
        if (index === NONE) news += 1;
      }
    }
    return orders.count + news <= ordersMax;
  }

  /** New entries that would cross are left out; own orders of others in the way of the rest end (QTE-05, STP-04). */
  #clearWay(set: MarketQuoteSet, side: Side, command: QuoteSetCommand): void {
    const { book } = this.#place;
    const plan = this.#plans[side];
    const from = side === SIDE.buy ? 0 : command.bids;
    for (let at = 0; at < countOf(command, side); at += 1) {
      if (plan.orders[at] !== NONE || plan.wanted[at] === 0) continue;
      const price = command.prices[from + at] as number;
      // Worse prices do not cross either.
      if (!book.otherSide(side).crosses(price)) return;
      // mutant: quote-post-only
      if (book.wouldTakeOf(side, price, set.user, command.subAccount)) {
        this.#changes.add(QUOTE_CHANGE.refused, side, price, plan.wanted[at] as number);
        plan.wanted[at] = 0;
      } else book.cancelCrossing(side, price);
    }
  }

  /** The set has the terms of the command, and so have the entries that it keeps. */
  #takeTerms(set: MarketQuoteSet, command: QuoteSetCommand, adds: boolean): void {
    // A group that takes no members is not joined by those that it keeps either.
    const group = adds ? command.protectionGroup : set.protectionGroup;
    const isSame =
      set.maxFeeRate === command.maxFeeRate &&
      set.goodUntilHigh === command.goodUntilHigh &&
      set.goodUntilLow === command.goodUntilLow &&
      set.protectionGroup === group &&
      command.revisionHigh - set.termsHigh < TERMS_HIGH_MAX;
    set.maxFeeRate = command.maxFeeRate;
    set.goodUntilHigh = command.goodUntilHigh;
    set.goodUntilLow = command.goodUntilLow;
    set.protectionGroup = group;
    set.subAccount = command.subAccount;
    set.flags = command.flags;
    set.revisionHigh = command.revisionHigh;
    set.revisionLow = command.revisionLow;
    set.raiseMark(command.revisionHigh, command.revisionLow);
    if (isSame) return;
    this.#changes.termsChanged = true;
    set.termsHigh = command.revisionHigh;
    const { book } = this.#place;
    for (const side of SIDES) {
      const plan = this.#plans[side];
      for (let at = 0; at < countOf(command, side); at += 1) {
        const index = plan.orders[at] as number;
        if (index === NONE) continue;
        book.orders.setCreation(index, command.revisionHigh, command.revisionLow);
        book.orders.setTimestamp(index, command.revisionHigh, command.revisionLow);
        book.orders.setTif(index, tifOf(command));
        book.orders.setExpiry(index, this.#terms.expiryHigh, this.#terms.expiryLow);
        book.expiries.change(index);
        this.#join(index, group);
      }
    }
  }

  /** The entry is a member of that group, or of none, and of no other. */
  #join(index: number, group: number): void {
    const { orders, protection } = this.#place.book;
    if (orders.hasMark(index, MARK.isMember)) {
      if (protection.groupOf(index).slot === group) return;
      protection.leave(index);
      orders.unmark(index, MARK.isMember);
    }
    if (group !== 0) this.#place.protect(index, group);
  }

  /** Grows entries, inserts new ones, and lists what the side consists of. */
  #rest(set: MarketQuoteSet, side: Side, command: QuoteSetCommand, adds: boolean): void {
    const { book } = this.#place;
    const plan = this.#plans[side];
    const list = set.side(side);
    const from = side === SIDE.buy ? 0 : command.bids;
    list.count = 0;
    for (let at = 0; at < countOf(command, side); at += 1) {
      let index = plan.orders[at] as number;
      const wanted = plan.wanted[at] as number;
      if (index !== NONE) this.#keep(side, index, wanted, adds);
      else if (adds && wanted > 0)
        index = this.#insert(set, side, command.prices[from + at] as number, wanted, command);
      if (index !== NONE) list.push(index, book.orders.sequenceOf(index));
    }
  }

  #keep(side: Side, index: number, wanted: number, adds: boolean): void {
    const { book } = this.#place;
    const { orders } = book;
    const changes = this.#changes;
    const rests = orders.remaining(index);
    if (!adds || wanted <= rests) {
      this.#listKept(side, index, rests);
      return;
    }
    orders.setPriceAndQuantity(index, orders.priceOf(index), orders.filledOf(index) + wanted);
    orders.setPriority(index, book.nextSequence());
    const own = book.ownSide(side);
    own.adjust(index, wanted - rests);
    // mutant: quote-grows-to-tail
    own.moveToBack(index);
    const change = changes.add(QUOTE_CHANGE.resized, side, orders.priceOf(index), wanted);
    changes.orders[change] = orders.sequenceOf(index);
    changes.priorities[change] = orders.priorityOf(index);
  }

  /** An entry that keeps its place. What of it is undecided may be decided otherwise: then its total is published again. */
  #listKept(side: Side, index: number, rests: number): void {
    const { orders } = this.#place.book;
    const changes = this.#changes;
    const sequence = orders.sequenceOf(index);
    for (let at = 0; at < changes.count; at += 1) if (changes.orders[at] === sequence) return;
    changes.kept += 1;
    // mutant: kept-entry-restated
    if (orders.pendingOf(index) === 0) return;
    const change = changes.add(QUOTE_CHANGE.kept, side, orders.priceOf(index), rests);
    changes.orders[change] = sequence;
    changes.priorities[change] = orders.priorityOf(index);
  }

  #insert(set: MarketQuoteSet, side: Side, price: number, quantity: number, command: QuoteSetCommand): number {
    const { book, ids } = this.#place;
    const changes = this.#changes;
    // Levels that others of the set have opened may have filled the index of prices.
    if (!book.ownSide(side).fits(price, quantity)) {
      changes.add(QUOTE_CHANGE.refused, side, price, quantity);
      return NONE;
    }
    const bytes = this.#nextId(set);
    const terms = this.#terms;
    terms.side = side;
    terms.tif = tifOf(command);
    terms.flags = command.flags;
    terms.subAccount = command.subAccount;
    terms.price = price;
    terms.creationHigh = command.revisionHigh;
    terms.creationLow = command.revisionLow;
    const sequence = book.nextSequence();
    const index = book.orders.begin(terms, set.user, quantity, sequence);
    ids.addLive(index, ids.hashOf(set.user, this.#idWords, 0, bytes), this.#idWords, 0, bytes);
    book.quoteSets.enter(set, index);
    if (set.protectionGroup !== 0) this.#place.protect(index, set.protectionGroup);
    book.rest(index);
    const change = changes.add(QUOTE_CHANGE.created, side, price, quantity);
    changes.orders[change] = sequence;
    changes.priorities[change] = sequence;
    changes.numbers[change] = set.lastNumber;
    return index;
  }

  /**
   * Writes the id of the next entry: ids that are taken are passed over, in steps that double, as a user may have taken many.
   * @returns its length.
   */
  #nextId(set: MarketQuoteSet): number {
    const { ids } = this.#place;
    for (let step = 1, next = 1; ; step = next, next *= 2) {
      set.lastNumber += step;
      const bytes = this.#writeId(set);
      const hash = ids.hashOf(set.user, this.#idWords, 0, bytes);
      // mutant: quote-id-taken
      if (ids.find(hash, set.user, this.#idWords, 0, bytes) === UNKNOWN) return bytes;
    }
  }

  #writeId(set: MarketQuoteSet): number {
    const id = this.#id;
    this.#idWords.fill(0);
    this.#idWords.set(set.nameWords);
    let digits = 1;
    for (let rest = set.lastNumber; rest >= TEN; rest = Math.floor(rest / TEN)) digits += 1;
    const bytes = set.nameBytes + 1 + digits;
    id[set.nameBytes] = COLON;
    let rest = set.lastNumber;
    for (let at = bytes - 1; at > set.nameBytes; at -= 1) {
      id[at] = ZERO + (rest % TEN);
      rest = Math.floor(rest / TEN);
    }
    return bytes;
  }

  /** The earlier of good-until and revision + 30 days. */
  #setExpiry({ revisionHigh, revisionLow, goodUntilHigh, goodUntilLow }: QuoteSetCommand): void {
    const terms = this.#terms;
    const low = revisionLow + LIFE_LOW;
    terms.expiryLow = low >>> 0;
    terms.expiryHigh = revisionHigh + LIFE_HIGH + (low >= WORD ? 1 : 0);
    if (goodUntilHigh === 0 && goodUntilLow === 0) return;
    if (!isBefore(goodUntilHigh, goodUntilLow, terms.expiryHigh, terms.expiryLow)) return;
    terms.expiryHigh = goodUntilHigh;
    terms.expiryLow = goodUntilLow;
  }
}

/** Whether `a` is nearer to the market than `b`. */
function isBetter(side: Side, a: number, b: number): boolean {
  return side === SIDE.buy ? a > b : a < b;
}

function tifOf({ goodUntilHigh, goodUntilLow }: QuoteSetCommand): (typeof TIF)['gtc'] | (typeof TIF)['gtd'] {
  return goodUntilHigh === 0 && goodUntilLow === 0 ? TIF.gtc : TIF.gtd;
}

/** Whether a connection holds the set may change with each revision. */
function isSameExceptHolder(flags: number, others: number): boolean {
  return ((flags ^ others) & ~ORDER_FLAG.cancelOnDisconnect) === 0;
}

function countOf({ bids, asks }: QuoteSetCommand, side: Side): number {
  return side === SIDE.buy ? bids : asks;
}
