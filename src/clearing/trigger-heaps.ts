/**
 * The dormant orders of a market that wait for a price above, or below: which of them a confirmed price has fired.
 * Derived. An order counts as fired from the input that confirmed the price; its record is updated later, some
 * orders at a time: a price that reaches 100,000 of them delays nothing.
 *
 *   added ──▶ heap, nearest trigger on top ◀──────────┐ not reached
 *     │ while `inForce` is worked off                 │
 *     └──▶ line, in the order of arrival ─────────────┴──▶ fired, some at a time (`nextFired`)
 *
 * The heap holds indexes of orders; what sorts it is the trigger price of their records, which does not change while they
 * wait (orders.ts).
 *
 * Invariants
 *   (1) An order in the heap came before the price in force, and is fired if that reaches it.
 *   (2) An order in the line is fired if one of the prices that were confirmed since it came reaches it. Of these are
 *       kept, oldest first, the ones that no later one goes beyond.
 *   (3) An order is in at most one of both: its place in the heap stands beside its record (live-orders.ts), its entry of
 *       the line in `waiting`. An entry of the line that is not in `waiting` counts no more.
 */
import { assert, must } from '../core/assert.ts';
import { TRIGGER, TRIGGER_STATE } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { ClearingOrder, ClearingOrders, OrderIndex } from './live-orders.ts';
import type { OrderRow } from './rows.ts';
import type { ClearingMarket } from './state.ts';

type WaitingKind = typeof TRIGGER.above | typeof TRIGGER.below;

/** A dormant order in the line. */
interface WaitingTrigger {
  readonly index: OrderIndex;
  /** Confirmed prices before it came. */
  readonly since: number;
}

interface ConfirmedPrice {
  readonly price: number;
  /** How many were confirmed then, this one included. */
  readonly count: number;
}

export interface TriggerHeap {
  readonly kind: WaitingKind;
  /** The live orders of all markets: here lie the records. */
  readonly orders: ClearingOrders;
  readonly entries: OrderIndex[];
  /** What is worked off in the heap; null when nothing in it is reached. */
  inForce: number | null;
  line: WaitingTrigger[];
  lineHead: number;
  /** The entry in the line of each order that stands there. */
  readonly waiting: Map<OrderIndex, WaitingTrigger>;
  /** Since the first of the line came. */
  prices: ConfirmedPrice[];
  pricesHead: number;
  /** Prices that were confirmed while others were worked off. */
  count: number;
}

export function emptyHeap(kind: WaitingKind, orders: ClearingOrders): TriggerHeap {
  const line = { line: [], lineHead: 0, waiting: new Map(), prices: [], pricesHead: 0, count: 0 };
  return { kind, orders, entries: [], inForce: null, ...line };
}

/** Whether a trigger is reached before another one, or at that price. */
function isReached(kind: WaitingKind, triggerPrice: number, price: number): boolean {
  return kind === TRIGGER.above ? triggerPrice <= price : triggerPrice >= price;
}

/** Whether a price has fired orders that are still dormant in their records. */
export function isWorkingOff({ inForce, line, lineHead }: TriggerHeap): boolean {
  return inForce !== null || lineHead < line.length;
}

function heapOf({ triggers }: ClearingMarket, { triggerKind }: OrderRow): TriggerHeap | undefined {
  return triggers.find(({ kind }) => kind === triggerKind);
}

/** Takes in an order that became dormant; any other one is left out. It waits nowhere yet. */
export function watchTrigger({ index, row, market }: ClearingOrder): void {
  if (row.triggerState !== TRIGGER_STATE.dormant) return;
  const heap = heapOf(market, row);
  if (heap === undefined) return;
  assert(heap.orders.heapPlace(index) === NONE && !heap.waiting.has(index), 'an order waits in one place');
  if (isWorkingOff(heap)) {
    const entry: WaitingTrigger = { index, since: heap.count };
    heap.line.push(entry);
    heap.waiting.set(index, entry);
  } else push(heap, index);
}

/** The order waits for nothing any more. Its trigger is still the one that it waited for. */
export function unwatchTrigger({ index, row, market }: ClearingOrder): void {
  const heap = heapOf(market, row);
  if (heap === undefined) return;
  const place = heap.orders.heapPlace(index);
  if (place !== NONE) remove(heap, place);
  else heap.waiting.delete(index);
}

/** A fill has confirmed at this price. @returns whether some order is to be fired, or to be looked at. */
export function confirmPrice(heap: TriggerHeap, price: number): boolean {
  const [top] = heap.entries;
  const goesBeyond = heap.inForce === null || isReached(heap.kind, heap.inForce, price);
  if (goesBeyond && top !== undefined && isReached(heap.kind, priceOf(heap, top), price)) heap.inForce = price;
  if (heap.lineHead < heap.line.length) {
    dropOutdone(heap, price);
    heap.count += 1;
    heap.prices.push({ price, count: heap.count });
  }
  return isWorkingOff(heap);
}

function dropOutdone({ kind, prices, pricesHead }: TriggerHeap, price: number): void {
  while (prices.length > pricesHead && isReached(kind, (prices.at(-1) as ConfirmedPrice).price, price)) prices.pop();
}

/** Whether a confirmed price has fired an order that is dormant in its record. */
export function isFired({ index, row, market }: Omit<ClearingOrder, 'account'>): boolean {
  if (row.triggerState !== TRIGGER_STATE.dormant) return false;
  const heap = heapOf(market, row);
  if (heap === undefined) return false;
  const entry = heap.waiting.get(index);
  // mutant: price-since-arrival
  const price = entry === undefined ? heap.inForce : farthestSince(heap, entry.since);
  return price !== null && isReached(heap.kind, row.triggerPrice, price);
}

/** The first price behind `since`: no later one goes beyond it. */
function farthestSince({ prices, pricesHead }: TriggerHeap, since: number): number | null {
  let [low, high] = [pricesHead, prices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((prices[middle] as ConfirmedPrice).count > since) high = middle;
    else low = middle + 1;
  }
  return prices[low]?.price ?? null;
}

/** One step of the work. @returns a fired order, which waits on until its record is updated; null for none in this step. */
export function nextFired(heap: TriggerHeap): OrderIndex | null {
  if (heap.inForce !== null) {
    const [top] = heap.entries;
    if (top !== undefined && isReached(heap.kind, priceOf(heap, top), heap.inForce)) return top;
    heap.inForce = null;
    return null;
  }
  return nextInLine(heap);
}

function nextInLine(heap: TriggerHeap): OrderIndex | null {
  const entry = must(heap.line[heap.lineHead], 'there is work while the line is not empty');
  heap.lineHead += 1;
  const isOver = heap.lineHead === heap.line.length;
  // mutant: trigger-after-price
  while ((heap.prices[heap.pricesHead]?.count ?? Number.POSITIVE_INFINITY) <= entry.since) heap.pricesHead += 1;
  const price = heap.prices[heap.pricesHead]?.price;
  if (isOver) {
    heap.line = [];
    heap.prices = [];
    heap.lineHead = 0;
    heap.pricesHead = 0;
  }
  const { index } = entry;
  if (heap.waiting.get(index) !== entry) return null;
  if (price !== undefined && isReached(heap.kind, priceOf(heap, index), price)) return index;
  heap.waiting.delete(index);
  push(heap, index);
  return null;
}

function push(heap: TriggerHeap, index: OrderIndex): void {
  const place = heap.entries.length;
  heap.entries.push(index);
  heap.orders.setHeapPlace(index, place);
  rise(heap, place);
}

function remove(heap: TriggerHeap, place: number): void {
  heap.orders.setHeapPlace(heap.entries[place] as OrderIndex, NONE);
  const last = heap.entries.pop() as OrderIndex;
  if (place === heap.entries.length) return;
  heap.entries[place] = last;
  heap.orders.setHeapPlace(last, place);
  rise(heap, place);
  sink(heap, heap.orders.heapPlace(last));
}

function priceOf({ orders }: TriggerHeap, index: OrderIndex): number {
  return orders.triggerPrice(index);
}

function priceAt(heap: TriggerHeap, place: number): number {
  return priceOf(heap, heap.entries[place] as OrderIndex);
}

function swap({ entries, orders }: TriggerHeap, a: number, b: number): void {
  const entry = entries[a] as OrderIndex;
  const other = entries[b] as OrderIndex;
  entries[a] = other;
  orders.setHeapPlace(other, a);
  entries[b] = entry;
  orders.setHeapPlace(entry, b);
}

function rise(heap: TriggerHeap, from: number): void {
  let at = from;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (isReached(heap.kind, priceAt(heap, above), priceAt(heap, at))) return;
    swap(heap, at, above);
    at = above;
  }
}

function sink(heap: TriggerHeap, from: number): void {
  let at = from;
  for (;;) {
    let first = at;
    for (const below of [2 * at + 1, 2 * at + 2]) {
      if (below < heap.entries.length && !isReached(heap.kind, priceAt(heap, first), priceAt(heap, below)))
        first = below;
    }
    if (first === at) return;
    swap(heap, at, first);
    at = first;
  }
}

/** For checks: the order waits where it is found, and only if it has to (3). */
export function isWatchedRight({ index, row, market }: ClearingOrder): boolean {
  const isWaiting = row.triggerState === TRIGGER_STATE.dormant && row.triggerKind !== TRIGGER.none;
  const heap = heapOf(market, row);
  const places = market.triggers.filter(
    ({ entries, waiting, orders }) => waiting.has(index) || entries[orders.heapPlace(index)] === index,
  );
  if (!isWaiting || heap === undefined) return !isWaiting && places.length === 0;
  const isInHeap = heap.entries[heap.orders.heapPlace(index)] === index;
  return places.length === 1 && places[0] === heap && isInHeap !== heap.waiting.has(index);
}
