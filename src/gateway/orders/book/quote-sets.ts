/**
 * The quote sets of all users at the gateway (QTE-01 to QTE-10): what of each rests, by price, and the sets of it
 * that are on their way to the market.
 *
 *   reserved ──▶ waiting ──applied──▶ its entries are those in force ──▶ …      (order-book-view.ts changes the orders)
 *                   └──refused──▶ dropped
 *
 * The market is the authority on revision, mark and slot; from it a set gets them when it is applied.
 *
 * Invariants
 *   (1) An order with a slot of a set is in `entries` of that set from its creation until it left the set or memory, unless a
 *       later order of the set has its price.
 *   (2) A set that nothing refers to (no entry, none waiting) is remembered for its mark, a few a user and market.
 *
 * Not here: what a set holds (entry/quote-requests.ts), orders as such (live-orders.ts).
 */
import type { QuoteEntries } from '../../../codec/quote-entries.ts';
import { larger } from '../../../core/arithmetic.ts';
import type { UserId } from '../../../core/ids.ts';
import { SIDE, type Side } from '../../../core/order-terms.ts';
import type { RawQuantity, TimestampNs } from '../../../core/units.ts';
import { countLots } from '../../../order/quote-lots.ts';
import { filledOf, type LiveOrder } from './live-order.ts';
import type { MarketSlot } from './markets.ts';

/** Sets of a user in a market that may live at once (QTE-01). */
export const QUOTE_SETS_MAX = 4;
/** Remembered sets of a user in a market without anything that lives. */
const REMEMBERED_MAX = 16;
const NO_TIME = 0n as TimestampNs;

/** What a set on its way would have at rest. */
export interface WaitingQuotes {
  readonly revisionNs: TimestampNs;
  readonly bids: QuoteEntries;
  readonly asks: QuoteEntries;
  /** Of the connection that sent it; null for none. */
  readonly group?: QuoteSetHolder | null;
  /** Slot of the protection group in which its entries would be, 0 for none; without it they stay where they are. */
  readonly memberOf?: number;
  /** By how many entries that group may have more by it. */
  readonly joining?: number;
}

/** The cancel-on-disconnect group of a connection: the revisions that it sent end with it. */
export interface QuoteSetHolder {
  readonly isEnded: boolean;
}

/** One side of a set: its entries by price, and lots of it that were matched since the node started. */
export interface LiveQuoteSide {
  readonly side: Side;
  readonly entries: Map<number, LiveOrder>;
  matched: number;
  /** Stands for what the sets on their way may add (entry/quote-requests.ts); null while none is. */
  guard: LiveOrder | null;
}

export class LiveQuoteSet {
  readonly user: UserId;
  readonly market: MarketSlot;
  readonly setId: string;
  /** 1 to 4 once the market has given it one, else 0. */
  slot = 0;
  revisionNs: TimestampNs = NO_TIME;
  /** No revision up to it is applied. */
  markNs: TimestampNs = NO_TIME;
  subAccount = 0;
  /** Bits of ORDER_FLAG. */
  flags = 0;
  /** A rollback of a trade up to this one lowers the total of an entry, and restores nothing (QTE-07). */
  lastTradeId = 0;
  readonly buys: LiveQuoteSide = { side: SIDE.buy, entries: new Map(), matched: 0, guard: null };
  readonly sells: LiveQuoteSide = { side: SIDE.sell, entries: new Map(), matched: 0, guard: null };
  /** Of the connection that sent the revision in force; null for none. */
  group: QuoteSetHolder | null = null;
  /** In the order in which they were sent. */
  readonly waiting: WaitingQuotes[] = [];
  /** When the newest of them was sent; real milliseconds, monotonic. */
  sentMs = 0;

  constructor(user: UserId, market: MarketSlot, setId: string) {
    this.user = user;
    this.market = market;
    this.setId = setId;
  }

  sideOf(side: Side): LiveQuoteSide {
    return side === SIDE.buy ? this.buys : this.sells;
  }

  /** Whether a part of it rests or may come to rest. */
  get isLive(): boolean {
    return this.waiting.length > 0 || hasResting(this.buys) || hasResting(this.sells);
  }

  /** Whether its market may have it, and a mark of it: also when nothing of it rests any more. */
  get isKnown(): boolean {
    return this.waiting.length > 0 || this.slot !== 0;
  }

  /** Whether the newest revision that was sent and not refused came over this connection, or over one that has ended. */
  isHeldBy(group: QuoteSetHolder | 'ended'): boolean {
    const last = this.waiting.at(-1);
    return isSame((last === undefined ? this.group : last.group) ?? null, group);
  }

  /** Whether a revision that came so is in force, or may come into force if those behind it are refused. */
  mayBeHeldBy(group: QuoteSetHolder | 'ended'): boolean {
    return isSame(this.group, group) || this.waiting.some((each) => isSame(each.group ?? null, group));
  }

  /** The newest revision that was sent and not refused. */
  get sentNs(): TimestampNs {
    return this.waiting.at(-1)?.revisionNs ?? this.revisionNs;
  }

  /** What a new revision has to be above. */
  get newestNs(): TimestampNs {
    return larger(this.sentNs, this.markNs);
  }
}

function isSame(holder: QuoteSetHolder | null, group: QuoteSetHolder | 'ended'): boolean {
  return group === 'ended' ? holder?.isEnded === true : holder === group;
}

/** Lots of an entry that rest, as far as is known here. */
export function restsOf(order: LiveOrder): number {
  if (order.isClosed || order.end !== 0 || order.faultReason !== 0 || order.isCancelPending) return 0;
  return Math.max(0, order.quantity - filledOf(order));
}

function hasResting({ entries }: LiveQuoteSide): boolean {
  for (const order of entries.values()) if (restsOf(order) > 0) return true;
  return false;
}

/** What of a request adds: price, quantity and what rests there now of each such entry in turn. */
export interface QuoteAdds {
  readonly bids: readonly number[];
  readonly asks: readonly number[];
}

/** How a request differs from what rests, and from what the set on its way in front of it leaves. */
interface QuoteDifference {
  /** Null: nothing. What that set takes away is added again. */
  readonly adds: QuoteAdds | null;
  /** A price leaves, or a quantity is smaller. */
  readonly takes: boolean;
}

export function quoteDifferenceOf(set: LiveQuoteSet | undefined, { bids, asks }: WaitingQuotes): QuoteDifference {
  const before = set?.waiting.at(-1);
  const buys = sideDifference(set?.buys ?? null, bids, before?.bids ?? null);
  const sells = sideDifference(set?.sells ?? null, asks, before?.asks ?? null);
  const hasAdds = buys.adds.length + sells.adds.length > 0;
  return { adds: hasAdds ? { bids: buys.adds, asks: sells.adds } : null, takes: buys.takes || sells.takes };
}

function sideDifference(
  side: LiveQuoteSide | null,
  entries: QuoteEntries,
  before: QuoteEntries | null,
): { readonly adds: readonly number[]; readonly takes: boolean } {
  const left = before === null ? null : lotsByPrice(before);
  const adds: number[] = [];
  let takes = false;
  let met = 0;
  for (let at = 0; at < entries.length; at += 2) {
    const price = entries[at] as number;
    const quantity = entries[at + 1] as number;
    const order = side?.entries.get(price);
    const rests = order === undefined ? 0 : restsOf(order);
    if (order !== undefined) met += 1;
    // mutant: adds-behind-a-revision
    const stays = left === null ? rests : Math.min(rests, left.get(price) ?? 0);
    if (quantity > stays) adds.push(price, quantity, stays);
    if (quantity < rests) takes = true;
  }
  if (side !== null && !takes && met < side.entries.size) takes = leaves(side, entries);
  return { adds, takes };
}

/** By how many entries a group may have more by the sets on their way under one name: each replaces all of the one before. */
export function comingOf(set: LiveQuoteSet | undefined, slot: number): number {
  let most = 0;
  for (const { memberOf, joining = 0 } of set?.waiting ?? []) if (memberOf === slot && joining > most) most = joining;
  return most;
}

function lotsByPrice(entries: QuoteEntries): ReadonlyMap<number, number> {
  const lots = new Map<number, number>();
  for (let at = 0; at < entries.length; at += 2) lots.set(entries[at] as number, entries[at + 1] as number);
  return lots;
}

/** Whether something rests at a price that is not in `entries`. */
function leaves(side: LiveQuoteSide, entries: QuoteEntries): boolean {
  const prices = new Set<number>();
  for (let at = 0; at < entries.length; at += 2) prices.add(entries[at] as number);
  for (const [price, order] of side.entries) if (!prices.has(price) && restsOf(order) > 0) return true;
  return false;
}

/** Counts entries that rest, by whether their price stays in a revision. */
export function countResting(
  { buys, sells }: LiveQuoteSet,
  { bids, asks }: Pick<WaitingQuotes, 'bids' | 'asks'>,
  isCounted: (order: LiveOrder, stays: boolean) => boolean,
): number {
  let count = 0;
  const sides = [
    [buys.entries, lotsByPrice(bids)],
    [sells.entries, lotsByPrice(asks)],
  ] as const;
  for (const [entries, next] of sides)
    for (const [price, order] of entries) if (restsOf(order) > 0 && isCounted(order, next.has(price))) count += 1;
  return count;
}

/** A protection group. */
interface OfGroup {
  readonly user: UserId;
  readonly marketIndex: number;
  readonly slot: number;
}

/** The sets of one user in one market. */
interface UserSets {
  readonly bySlot: (LiveQuoteSet | undefined)[];
  readonly byId: Map<string, LiveQuoteSet>;
}

export class LiveQuoteSets {
  readonly #byUser = new Map<UserId, Map<number, UserSets>>();

  find(user: UserId, marketIndex: number, setId: string): LiveQuoteSet | undefined {
    return this.#byUser.get(user)?.get(marketIndex)?.byId.get(setId);
  }

  /** The set of an entry; undefined for every other order. */
  ofOrder({ user, market, quoteSet }: Pick<LiveOrder, 'user' | 'market' | 'quoteSet'>): LiveQuoteSet | undefined {
    return quoteSet === 0 ? undefined : this.atSlot(user, market.definition.marketIndex, quoteSet);
  }

  atSlot(user: UserId, marketIndex: number, slot: number): LiveQuoteSet | undefined {
    return this.#byUser.get(user)?.get(marketIndex)?.bySlot[slot];
  }

  /** Sets of the user in the market of which something lives, other than this one. */
  liveBeside(user: UserId, marketIndex: number, setId: string): number {
    let count = 0;
    for (const set of this.#byUser.get(user)?.get(marketIndex)?.byId.values() ?? [])
      if (set.setId !== setId && set.isLive) count += 1;
    return count;
  }

  /** By how many entries the protection group of this slot may have more by sets on their way. */
  comingTo({ user, marketIndex, slot }: OfGroup): number {
    let coming = 0;
    for (const set of this.#byUser.get(user)?.get(marketIndex)?.byId.values() ?? []) coming += comingOf(set, slot);
    return coming;
  }

  /** Whether a set on its way would have entries in the protection group of this slot. */
  isComingTo({ user, marketIndex, slot }: OfGroup): boolean {
    for (const { waiting } of this.#byUser.get(user)?.get(marketIndex)?.byId.values() ?? [])
      if (waiting.some((set) => set.memberOf === slot && set.bids.length + set.asks.length > 0)) return true;
    return false;
  }

  /** Markets in which a set of the user is on its way, rests, or has a mark. */
  *marketsOf(user: UserId): Generator<number, void, undefined> {
    for (const [marketIndex, { byId }] of this.#byUser.get(user) ?? [])
      for (const set of byId.values())
        if (set.isKnown) {
          yield marketIndex;
          break;
        }
  }

  /** Sets of a user in every market. */
  *ofUser(user: UserId): Generator<LiveQuoteSet, void, undefined> {
    for (const { byId } of this.#byUser.get(user)?.values() ?? []) yield* byId.values();
  }

  /** The known set, or a new one. */
  open(user: UserId, market: MarketSlot, setId: string): LiveQuoteSet {
    const { marketIndex } = market.definition;
    let markets = this.#byUser.get(user);
    if (markets === undefined) {
      markets = new Map();
      this.#byUser.set(user, markets);
    }
    let sets = markets.get(marketIndex);
    if (sets === undefined) {
      sets = { bySlot: [], byId: new Map() };
      markets.set(marketIndex, sets);
    }
    const known = sets.byId.get(setId);
    if (known !== undefined) return known;
    if (sets.byId.size >= REMEMBERED_MAX + QUOTE_SETS_MAX) forgetOne(sets);
    const set = new LiveQuoteSet(user, market, setId);
    sets.byId.set(setId, set);
    return set;
  }

  /** The market has given the set a slot. */
  seat(set: LiveQuoteSet, slot: number): void {
    if (set.slot === slot) return;
    const { bySlot } = this.#byUser.get(set.user)?.get(set.market.definition.marketIndex) ?? { bySlot: [] };
    const before = bySlot[slot];
    if (before !== undefined) forget(before);
    bySlot[slot] = set;
    set.slot = slot;
  }

  /** A refused set of which nothing was ever applied. */
  drop(set: LiveQuoteSet): void {
    if (set.slot !== 0 || set.waiting.length > 0) return;
    const markets = this.#byUser.get(set.user);
    const sets = markets?.get(set.market.definition.marketIndex);
    sets?.byId.delete(set.setId);
    if (sets?.byId.size === 0) markets?.delete(set.market.definition.marketIndex);
    if (markets?.size === 0) this.#byUser.delete(set.user);
  }

  /** A match of an order, which may be an entry. */
  traded(order: LiveOrder, lots: number): void {
    const side = this.ofOrder(order)?.sideOf(order.side);
    if (side !== undefined) side.matched = countLots(side.matched, lots);
  }

  /**
   * A fill is rolled back: of a revision before the one in force it restores nothing (QTE-07). An entry that left its set while all of
   * it was pending keeps its quantity, and ends as an order does whose cancel waited (AMB-32).
   */
  undone(order: LiveOrder, tradeId: number, lots: number): void {
    const set = this.ofOrder(order);
    // mutant: rollback-of-an-earlier-revision
    if (set === undefined || tradeId > set.lastTradeId) return;
    if (set.sideOf(order.side).entries.get(order.price)?.index !== order.index) return;
    order.quantity = Math.max(0, order.quantity - lots) as RawQuantity;
  }

  /** The order is no entry any more: it left its set, or memory. */
  left(order: LiveOrder): void {
    const entries = this.ofOrder(order)?.sideOf(order.side).entries;
    if (entries?.get(order.price)?.index === order.index) entries.delete(order.price);
  }
}

/** The market has given its slot to another name: nothing of it rests. Its lots count on, from here, if it comes again. */
function forget(set: LiveQuoteSet): void {
  set.slot = 0;
  // Orders that are still in memory would not be found by the slot.
  set.buys.entries.clear();
  set.sells.entries.clear();
}

/** The oldest that its market has forgotten too: one with a slot has a count of lots and a mark there. */
function forgetOne({ byId }: UserSets): void {
  for (const [setId, set] of byId) {
    if (set.isKnown) continue;
    byId.delete(setId);
    return;
  }
}
