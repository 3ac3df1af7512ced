/**
 * The dormant orders of a market that wait for a price above, or below: which of them a confirmed price has fired.
 * Derived. An order counts as fired from the input that confirmed the price; that its row says so may come later, some
 * orders at a time, so that a price that reaches 100,000 of them stops nobody.
 *
 *   added ──▶ heap, nearest trigger on top ◀──────────┐ not reached
 *     │ while `inForce` is worked off                 │
 *     └──▶ line, in the order of arrival ─────────────┴──▶ fired, some at a time (`nextFired`)
 *
 * Invariants
 *   (1) Whoever is in the heap came before the price in force, and is fired if that reaches it.
 *   (2) Whoever is in the line is fired if one of the prices that were confirmed since it came reaches it. Of these are
 *       kept, oldest first, the ones that no later one goes beyond.
 *   (3) An order is in at most one of both, and its slot knows where; in the line its entry counts only if the slot names it.
 */
import { must } from '../core/assert.ts';
import { TRIGGER, TRIGGER_STATE } from '../core/order-terms.ts';
import type { OrderRow } from './rows.ts';
import type { MarketSlot, OrderSlot } from './state.ts';

type WaitingKind = typeof TRIGGER.above | typeof TRIGGER.below;

/** A dormant order with the trigger that it had when it came. */
export interface WaitingTrigger {
  readonly heap: TriggerHeap;
  readonly slot: OrderSlot;
  readonly triggerPrice: number;
  /** Confirmed prices before it came. */
  readonly since: number;
  /** Place in the heap; below 0 while it stands in the line: ~ the place there. */
  at: number;
}

interface ConfirmedPrice {
  readonly price: number;
  /** How many were confirmed then, this one included. */
  readonly count: number;
}

export interface TriggerHeap {
  readonly kind: WaitingKind;
  readonly entries: WaitingTrigger[];
  /** What is worked off in the heap; null when nothing in it is reached. */
  inForce: number | null;
  line: WaitingTrigger[];
  lineHead: number;
  /** Since the first of the line came. */
  prices: ConfirmedPrice[];
  pricesHead: number;
  /** Prices that were confirmed while others were worked off. */
  count: number;
}

export function emptyHeap(kind: WaitingKind): TriggerHeap {
  return { kind, entries: [], inForce: null, line: [], lineHead: 0, prices: [], pricesHead: 0, count: 0 };
}

/** Whether a trigger is reached before another one, or at that price. */
function isReached(kind: WaitingKind, triggerPrice: number, price: number): boolean {
  return kind === TRIGGER.above ? triggerPrice <= price : triggerPrice >= price;
}

/** Whether a price has fired orders whose rows do not say so yet. */
export function isWorkingOff({ inForce, line, lineHead }: TriggerHeap): boolean {
  return inForce !== null || lineHead < line.length;
}

/** Takes in an order that became dormant, or whose trigger moved; any other one is let go. */
export function watchTrigger(market: MarketSlot, slot: OrderSlot, row: OrderRow): void {
  const { triggerPrice } = row;
  const heap =
    row.triggerState === TRIGGER_STATE.dormant ? market.triggers.find((of) => of.kind === row.triggerKind) : undefined;
  const { waits } = slot;
  if (waits !== null && waits.heap === heap && waits.triggerPrice === triggerPrice) return;
  unwatchTrigger(slot);
  if (heap === undefined) return;
  const entry: WaitingTrigger = { heap, slot, triggerPrice, since: heap.count, at: ~heap.line.length };
  slot.waits = entry;
  if (isWorkingOff(heap)) heap.line.push(entry);
  else push(heap, entry);
}

/** The order waits for nothing any more. */
export function unwatchTrigger(slot: OrderSlot): void {
  const entry = slot.waits;
  if (entry === null) return;
  slot.waits = null;
  if (entry.at >= 0) remove(entry.heap, entry.at);
}

/** A fill has confirmed at this price. @returns whether some order is to be fired, or to be looked at. */
export function confirmPrice(heap: TriggerHeap, price: number): boolean {
  const [top] = heap.entries;
  const goesBeyond = heap.inForce === null || isReached(heap.kind, heap.inForce, price);
  if (goesBeyond && top !== undefined && isReached(heap.kind, top.triggerPrice, price)) heap.inForce = price;
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

/** Whether a confirmed price has fired a dormant order, whatever its row says. */
export function isFired({ waits }: OrderSlot): boolean {
  if (waits === null) return false;
  const { heap, triggerPrice, since, at } = waits;
  // mutant: price-since-arrival
  const price = at < 0 ? farthestSince(heap, since) : heap.inForce;
  return price !== null && isReached(heap.kind, triggerPrice, price);
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

/** One step of the work. @returns an order that was fired, which waits on until its row says so; null for none in this step. */
export function nextFired(heap: TriggerHeap): OrderSlot | null {
  if (heap.inForce !== null) {
    const [top] = heap.entries;
    if (top !== undefined && isReached(heap.kind, top.triggerPrice, heap.inForce)) return top.slot;
    heap.inForce = null;
    return null;
  }
  return nextInLine(heap);
}

function nextInLine(heap: TriggerHeap): OrderSlot | null {
  const entry = must(heap.line[heap.lineHead], 'there is work while somebody is in the line');
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
  const { slot } = entry;
  if (slot.waits !== entry) return null;
  if (price !== undefined && isReached(heap.kind, entry.triggerPrice, price)) return slot;
  push(heap, entry);
  return null;
}

function push(heap: TriggerHeap, entry: WaitingTrigger): void {
  heap.entries.push(entry);
  entry.at = heap.entries.length - 1;
  rise(heap, entry.at);
}

function remove(heap: TriggerHeap, at: number): void {
  const last = heap.entries.pop() as WaitingTrigger;
  if (at === heap.entries.length) return;
  heap.entries[at] = last;
  last.at = at;
  rise(heap, at);
  sink(heap, last.at);
}

function priceAt(heap: TriggerHeap, at: number): number {
  return (heap.entries[at] as WaitingTrigger).triggerPrice;
}

function swap({ entries }: TriggerHeap, a: number, b: number): void {
  const entry = entries[a] as WaitingTrigger;
  const other = entries[b] as WaitingTrigger;
  entries[a] = other;
  other.at = a;
  entries[b] = entry;
  entry.at = b;
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
export function isWatchedRight(market: MarketSlot, slot: OrderSlot, row: OrderRow): boolean {
  const { triggerState, triggerKind, triggerPrice } = row;
  const { waits } = slot;
  const isWaiting = triggerState === TRIGGER_STATE.dormant && triggerKind !== TRIGGER.none;
  if (waits === null) return !isWaiting;
  const { heap, at } = waits;
  const isFound = at < 0 ? ~at >= heap.lineHead && heap.line[~at] === waits : heap.entries[at] === waits;
  return (
    isWaiting &&
    isFound &&
    market.triggers.includes(heap) &&
    heap.kind === triggerKind &&
    waits.triggerPrice === triggerPrice
  );
}
