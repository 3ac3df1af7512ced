/**
 * The dormant orders of a market by the price that fires them: two binary heaps, the nearest trigger on top. Derived.
 *
 * What is fired, moved or over stays in its heap until it comes up or the heap is cleaned: an entry counts only while its
 * order is dormant with that very trigger. A heap is cleaned when it has grown to twice what its last cleaning left.
 */
import { TRIGGER, TRIGGER_STATE } from '../core/order-terms.ts';
import type { OrderSlot } from './state.ts';

type WaitingKind = typeof TRIGGER.above | typeof TRIGGER.below;

interface Entry {
  readonly slot: OrderSlot;
  readonly triggerPrice: number;
}

export interface TriggerHeap {
  readonly kind: WaitingKind;
  entries: Entry[];
  cleanAt: number;
}

const CLEAN_AT_MIN = 64;

export function emptyHeap(kind: WaitingKind): TriggerHeap {
  return { kind, entries: [], cleanAt: CLEAN_AT_MIN };
}

function isWaiting(kind: WaitingKind, { slot, triggerPrice }: Entry): boolean {
  const row = slot.look();
  const isDormant = row.end === 0 && row.triggerState === TRIGGER_STATE.dormant;
  return isDormant && row.triggerKind === kind && row.triggerPrice === triggerPrice;
}

/** Whether a trigger is reached before another one, or at that price. */
function isReached(kind: WaitingKind, triggerPrice: number, price: number): boolean {
  return kind === TRIGGER.above ? triggerPrice <= price : triggerPrice >= price;
}

/** Takes in a dormant order; none where the trigger is not of the heap's kind. */
export function addWaiting(heap: TriggerHeap, slot: OrderSlot): void {
  const entry = { slot, triggerPrice: slot.look().triggerPrice };
  if (!isWaiting(heap.kind, entry)) return;
  if (heap.entries.length >= heap.cleanAt) clean(heap);
  heap.entries.push(entry);
  rise(heap, heap.entries.length - 1);
}

/** Takes out the nearest order that this price fires, or nothing. */
export function takeReached(heap: TriggerHeap, price: number): OrderSlot | null {
  for (;;) {
    const [top] = heap.entries;
    if (top === undefined || !isReached(heap.kind, top.triggerPrice, price)) return null;
    const last = heap.entries.pop() as Entry;
    if (heap.entries.length > 0) {
      heap.entries[0] = last;
      sink(heap, 0);
    }
    if (isWaiting(heap.kind, top)) return top.slot;
  }
}

/** Leaves one entry of every order that waits. A sorted array is a heap. */
function clean(heap: TriggerHeap): void {
  const sign = heap.kind === TRIGGER.above ? 1 : -1;
  const waiting = new Map<OrderSlot, Entry>();
  for (const entry of heap.entries) if (isWaiting(heap.kind, entry)) waiting.set(entry.slot, entry);
  heap.entries = [...waiting.values()].sort((a, b) => sign * (a.triggerPrice - b.triggerPrice));
  heap.cleanAt = Math.max(CLEAN_AT_MIN, 2 * heap.entries.length);
}

function priceAt(heap: TriggerHeap, at: number): number {
  return (heap.entries[at] as Entry).triggerPrice;
}

function swap({ entries }: TriggerHeap, a: number, b: number): void {
  const entry = entries[a] as Entry;
  entries[a] = entries[b] as Entry;
  entries[b] = entry;
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
