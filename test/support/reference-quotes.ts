/**
 * Quote sets in the reference book (QTE-01 to QTE-09), from the contract: what shall rest is compared with what rests. A set
 * has no list of its entries: they are the orders of it that rest.
 */
import {
  MARKET_STATUS,
  ORDER_END,
  ORDER_END_WORD,
  ORDER_FLAG,
  type OrderEnd,
  SIDE,
  type Side,
  TIF,
} from '../../src/core/order-terms.ts';
import { LIFE_NS, PLAIN_TERMS, type Told } from './market-recorder.ts';
import { left, orderOf, type ReferenceOrder } from './reference-order.ts';
import type { ReferenceState } from './reference-state.ts';

/** What shall rest of one side: price and lots, best price first. */
export type ReferenceQuotes = readonly (readonly [price: number, lots: number])[];

interface QuoteTerms {
  readonly subAccount: number;
  readonly maxFeeRate: number;
  /** 0n: none. */
  readonly goodUntilNs: bigint;
  readonly protectionGroup: number;
}

export interface ReferenceQuoteCommand extends QuoteTerms {
  readonly user: string;
  readonly name: string;
  readonly requestId: number;
  readonly receivedNs: bigint;
  readonly revisionNs: bigint;
  readonly bids: ReferenceQuotes;
  readonly asks: ReferenceQuotes;
  readonly boughtSeen: number;
  readonly soldSeen: number;
  readonly onlyTakes: boolean;
}

export interface ReferenceQuoteSet {
  readonly user: string;
  readonly slot: number;
  name: string;
  revisionNs: bigint;
  markNs: bigint;
  terms: QuoteTerms;
  /** The revision whose terms the entries got; null: none since the start. */
  termsNs: bigint | null;
  isOver: boolean;
  lastNumber: number;
  /** Lots since the start, by side. */
  traded: Readonly<Record<Side, number>>;
  /** Trades up to it are of earlier revisions. */
  appliedTrade: number;
  /** Of names that were forgotten. */
  markFloorNs: bigint;
  numberFloor: number;
}

const SETS_MAX = 4;
/** Entries that are kept longer get the life of a new one. */
const DAY_NS = 20_116n << 32n;
const SIDES: readonly Side[] = [SIDE.buy, SIDE.sell];

/** Whether an entry of the user's has had the id, or it was passed over: that of an entry that left and never traded is remembered nowhere. */
export function isGiven(book: ReferenceState, user: string, orderId: string): boolean {
  const [, name, number] = /^(.+):([1-9][0-9]{0,15})$/.exec(orderId) ?? [];
  return book.sets.some((set) => set.user === user && set.name === name && Number(number) <= set.lastNumber);
}

export function setNamed(book: ReferenceState, user: string, name: string): ReferenceQuoteSet | undefined {
  return book.sets.find((set) => set.user === user && set.name === name);
}

/** What rests of a set, best price first, bids before asks. */
export function entriesOf(book: ReferenceState, set: ReferenceQuoteSet): ReferenceOrder[] {
  return lastEntriesOf(book, set).filter(({ state }) => state === 'resting');
}

/** What rests of a set, and what of its last revision a rollback may bring back. */
export function lastEntriesOf(book: ReferenceState, set: ReferenceQuoteSet): ReferenceOrder[] {
  const resting = book.orders.filter(
    ({ set: of, isOut, state }) => of === set && !isOut && (state === 'resting' || state === 'filled'),
  );
  return SIDES.flatMap((side) => {
    const sign = side === SIDE.buy ? -1 : 1;
    return resting.filter((order) => order.side === side).sort((a, b) => sign * (a.price - b.price));
  });
}

/** The fill is of an entry, and from before the revision in force: what becomes of it changes nothing at its price (QTE-07). */
export function isOldFill({ set, isOut }: ReferenceOrder, tradeId: number): boolean {
  return set !== null && !isOut && tradeId <= set.appliedTrade;
}

/** What was filled leaves the set for ever. @returns those that might have come back by themselves. */
function leaveFilled(book: ReferenceState, set: ReferenceQuoteSet): ReferenceOrder[] {
  const over = book.orders.filter(
    ({ set: own, isOut, state }) => own === set && !isOut && (state === 'filled' || state === 'cancelPending'),
  );
  for (const order of over) order.isOut = true;
  return over.filter(({ state }) => state === 'filled');
}

/** Raises the mark, and ends the set where an end is given. */
export function endSet(book: ReferenceState, set: ReferenceQuoteSet, ns: bigint, end: OrderEnd | 0): void {
  const isRaised = set.markNs < ns;
  const isEnded = end !== 0 && !set.isOver;
  if (isRaised) set.markNs = ns;
  if (isEnded) {
    set.isOver = true;
    set.appliedTrade = book.lastTradeId;
    leaveFilled(book, set);
  }
  if (isRaised || isEnded)
    book.told.push(['quotesEnded', ++book.sequence, set.slot, isEnded ? ORDER_END_WORD[end] : '', set.markNs]);
}

function expiryOf({ revisionNs, goodUntilNs }: ReferenceQuoteCommand): bigint {
  const life = revisionNs + LIFE_NS;
  return goodUntilNs !== 0n && goodUntilNs < life ? goodUntilNs : life;
}

function refusalOf(book: ReferenceState, command: ReferenceQuoteCommand): string | null {
  const own = book.sets.filter(({ user }) => user === command.user);
  const set = setNamed(book, command.user, command.name);
  if (expiryOf(command) <= command.receivedNs) return 'ORDER_EXPIRED';
  if (set === undefined && own.length >= SETS_MAX && replacedOf(book, own) === undefined) return 'TOO_MANY_QUOTES';
  if (command.revisionNs <= (set?.markNs ?? floorOf(book, own).markNs)) return 'REQUEST_TOO_OLD';
  const hasOtherTarget = set !== undefined && set.terms.subAccount !== command.subAccount;
  return hasOtherTarget && entriesOf(book, set).length > 0 ? 'INVALID_ORDER' : null;
}

/** The set that gives its slot to a new name: one that is over, or one of which nothing rests or can come back. */
function replacedOf(book: ReferenceState, own: readonly ReferenceQuoteSet[]): ReferenceQuoteSet | undefined {
  if (own.length < SETS_MAX) return undefined;
  const isEmpty = (set: ReferenceQuoteSet): boolean =>
    !book.orders.some(
      ({ set: of, isOut, state }) => of === set && !isOut && (state === 'resting' || state === 'filled'),
    );
  return own.find(({ isOver }) => isOver) ?? own.find(isEmpty);
}

/** Of the names that are forgotten once a new one has come. */
function floorOf(book: ReferenceState, own: readonly ReferenceQuoteSet[]): { markNs: bigint; number: number } {
  const forgotten = replacedOf(book, own);
  let markNs = forgotten?.markNs ?? 0n;
  let number = forgotten?.lastNumber ?? 0;
  for (const { markFloorNs, numberFloor } of own) {
    if (markFloorNs > markNs) markNs = markFloorNs;
    number = Math.max(number, numberFloor);
  }
  return { markNs, number };
}

function openSet(book: ReferenceState, command: ReferenceQuoteCommand): ReferenceQuoteSet {
  const { user, name, boughtSeen, soldSeen } = command;
  const own = book.sets.filter((set) => set.user === user);
  const { markNs, number } = floorOf(book, own);
  const traded = { 0: boughtSeen, 1: soldSeen };
  const fresh = { name, markNs, lastNumber: number, markFloorNs: markNs, numberFloor: number, traded };
  const over = replacedOf(book, own);
  if (over !== undefined) {
    endSet(book, over, 0n, ORDER_END.userRequested);
    return Object.assign(over, fresh);
  }
  const terms = { subAccount: 0, maxFeeRate: 0, goodUntilNs: 0n, protectionGroup: 0 };
  const empty = { revisionNs: 0n, terms, termsNs: null, isOver: false, appliedTrade: 0 };
  const set: ReferenceQuoteSet = { user, slot: own.length + 1, ...empty, ...fresh };
  book.sets.push(set);
  return set;
}

/** A quote of the command and what becomes of it. */
interface Wanted {
  readonly side: Side;
  readonly price: number;
  lots: number;
  order: ReferenceOrder | null;
  hasChanged: boolean;
}

export function applyQuotes(book: ReferenceState, command: ReferenceQuoteCommand): void {
  const refusal = refusalOf(book, command);
  if (refusal !== null) {
    book.told.push(['quotesRefused', command.requestId, refusal]);
    return;
  }
  const set = setNamed(book, command.user, command.name) ?? openSet(book, command);
  const listed: Told[] = [];
  const tell = (word: string, order: ReferenceOrder, place: number, rests: number, number = 0): void => {
    listed.push([word, order.side, order.price, order.sequence, place, rests, number]);
  };
  for (const order of leaveFilled(book, set)) tell('quoteOut', order, 0, 0);

  const wanted: Wanted[] = SIDES.flatMap((side) =>
    (side === SIDE.buy ? command.bids : command.asks).map(([price, lots]) => {
      const order = entriesOf(book, set).find((each) => each.side === side && each.price === price) ?? null;
      return { side, price, lots, order, hasChanged: false };
    }),
  );
  const leave = (order: ReferenceOrder): void => {
    tell('quoteLeft', order, 0, Number(left(order)));
    order.state = 'ended';
    order.end = ORDER_END.userRequested;
    book.releaseIfDone(order, !hasTraded(book, order));
  };
  for (const order of entriesOf(book, set)) if (!wanted.some((each) => each.order === order)) leave(order);

  let addCode = refusalToAdd(book, command);
  const adds = addCode === '' && !command.onlyTakes;
  if (adds) takeUnseen(set, command, wanted);
  for (const each of wanted) {
    const { order, lots } = each;
    if (order === null || BigInt(lots) >= left(order)) continue;
    if (lots === 0) {
      leave(order);
      each.order = null;
      continue;
    }
    restWith(order, lots);
    each.hasChanged = true;
    tell('quoteResized', order, order.priority, lots);
  }
  const isJoining = command.protectionGroup !== 0 && command.protectionGroup !== set.terms.protectionGroup;
  const isMore = wanted.some(({ order, lots }) => order === null || isJoining || BigInt(lots) > left(order));
  // Of a set that only takes away nothing is refused (QTE-04).
  if (!isMore) addCode = '';
  if (adds) clearWay(book, command, wanted, listed);
  const termsChanged = takeTerms(book, set, command, { adds, wanted });

  const first = ++book.sequence;
  let kept = 0;
  for (const { side, price, lots, order, hasChanged } of wanted) {
    if (order === null) {
      if (!adds || lots === 0) continue;
      const created = insert(book, set, command, { side, price, lots });
      tell('quoteCreated', created, created.sequence, lots, set.lastNumber);
    } else if (adds && BigInt(lots) > left(order)) {
      restWith(order, lots);
      order.priority = ++book.sequence;
      tell('quoteResized', order, order.priority, lots);
    } else if (!hasChanged) {
      kept++;
      if (book.undecided.some(({ legs }) => legs.includes(order)))
        tell('quoteKept', order, order.priority, Number(left(order)));
    }
  }
  set.appliedTrade = book.lastTradeId;
  set.isOver = wanted.length === 0;
  const counts = [first, book.sequence - first + 1, set.slot, set.name, kept, addCode];
  book.told.push(['quotesApplied', ...counts, termsChanged ? 1 : 0, set.lastNumber]);
  book.told.push(...listed.sort((a, b) => Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2])));
}

function hasTraded({ undecided, orders }: ReferenceState, order: ReferenceOrder): boolean {
  const isUndecided = undecided.some(({ legs }) => legs.includes(order));
  return order.filled > 0n || isUndecided || orders.some(({ parent }) => parent === order);
}

function restWith(order: ReferenceOrder, lots: number): void {
  order.quantity = order.filled + BigInt(lots);
  order.activated = order.quantity;
}

function refusalToAdd(book: ReferenceState, { user, onlyTakes, protectionGroup }: ReferenceQuoteCommand): string {
  if (onlyTakes) return '';
  if (book.status !== MARKET_STATUS.active) return 'MARKET_HALTED';
  if (protectionGroup === 0) return '';
  const group = book.groupOf(user, protectionGroup);
  if (group === undefined) return 'INVALID_ORDER';
  return group.freeze === null ? '' : 'MMP_FROZEN';
}

/** Farthest from the market first (QTE-01). */
function takeUnseen(set: ReferenceQuoteSet, command: ReferenceQuoteCommand, wanted: readonly Wanted[]): void {
  const unseen = { 0: set.traded[0] - command.boughtSeen, 1: set.traded[1] - command.soldSeen };
  for (const each of [...wanted].reverse()) {
    const off = Math.min(unseen[each.side], each.lots);
    each.lots -= off;
    unseen[each.side] -= off;
  }
}

/** New entries that would cross are left out; own orders of others give way with self-trade prevention (QTE-05). */
function clearWay(book: ReferenceState, command: ReferenceQuoteCommand, wanted: readonly Wanted[], told: Told[]): void {
  for (const each of wanted) {
    const { side, price, lots, order } = each;
    if (order !== null || lots === 0) continue;
    const crossed = book.crossedBy({ side, price });
    const { user, subAccount } = command;
    const isOwn = (maker: ReferenceOrder): boolean => maker.user === user && maker.subAccount === subAccount;
    if (crossed.some((maker) => !book.selfTradePrevention || !isOwn(maker))) {
      told.push(['quoteRefused', side, price, 0, 0, lots, 0]);
      each.lots = 0;
    } else for (const own of crossed) book.end(own, ORDER_END.selfTradePrevented);
  }
}

/** @returns whether the entries that are kept have other terms now. */
function takeTerms(
  book: ReferenceState,
  set: ReferenceQuoteSet,
  command: ReferenceQuoteCommand,
  { adds, wanted }: { adds: boolean; wanted: readonly Wanted[] },
): boolean {
  const { subAccount, maxFeeRate, goodUntilNs, revisionNs, user } = command;
  // A group that takes no members is not joined by those that are kept either.
  const protectionGroup = adds ? command.protectionGroup : set.terms.protectionGroup;
  const before = set.terms;
  const isSame =
    before.maxFeeRate === maxFeeRate &&
    before.goodUntilNs === goodUntilNs &&
    before.protectionGroup === protectionGroup &&
    set.termsNs !== null &&
    revisionNs - set.termsNs < DAY_NS;
  set.terms = { subAccount, maxFeeRate, goodUntilNs, protectionGroup };
  set.revisionNs = revisionNs;
  if (set.markNs < revisionNs) set.markNs = revisionNs;
  if (isSame) return false;
  set.termsNs = revisionNs;
  const group = book.groupOf(user, protectionGroup) ?? null;
  for (const { order } of wanted) {
    if (order === null) continue;
    order.creationNs = revisionNs;
    order.timestampNs = revisionNs;
    order.expiryNs = expiryOf(command);
    order.tif = goodUntilNs === 0n ? TIF.gtc : TIF.gtd;
    if (order.group !== group) order.joinedAt = book.sequence;
    order.group = group;
  }
  return true;
}

function insert(
  book: ReferenceState,
  set: ReferenceQuoteSet,
  command: ReferenceQuoteCommand,
  quote: { readonly side: Side; readonly price: number; readonly lots: number },
): ReferenceOrder {
  const { user, requestId, receivedNs, revisionNs, goodUntilNs, subAccount } = command;
  const { side, price, lots: quantity } = quote;
  const orderId = nextId(book, set);
  const terms = {
    ...{ ...PLAIN_TERMS, user, orderId, requestId, receivedNs, subAccount, side, price, quantity },
    creationNs: revisionNs,
    expiryNs: expiryOf(command),
    tif: goodUntilNs === 0n ? TIF.gtc : TIF.gtd,
    flags: ORDER_FLAG.postOnly | ORDER_FLAG.isSpot,
  };
  const group = book.groupOf(user, set.terms.protectionGroup) ?? null;
  const order = orderOf(terms, ++book.sequence, null, group);
  order.state = 'resting';
  order.set = set;
  book.orders.push(order);
  return order;
}

/** Ids that are taken are passed over, in steps that double. */
function nextId(book: ReferenceState, set: ReferenceQuoteSet): string {
  for (let step = 1, next = 1; ; step = next, next *= 2) {
    set.lastNumber += step;
    const orderId = `${set.name}:${set.lastNumber}`;
    const known = [...book.orders, ...book.ids.remembered, ...book.ids.holds];
    if (!known.some((each) => each.user === set.user && each.orderId === orderId)) return orderId;
  }
}
