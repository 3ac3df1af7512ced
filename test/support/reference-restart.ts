/** A restart of the reference book from what clearing keeps: undecided fills never happened (AMB-110). */
import { isCancel, ORDER_END, type OrderEnd } from '../../src/core/order-terms.ts';
import type { ReferenceBook } from './reference-book.ts';
import type { Remembered } from './reference-ids.ts';
import { canRest, enabled, isAlive, isUnsized, left, type ReferenceOrder } from './reference-order.ts';
import { RAW_MAX } from './reference-state.ts';

export interface Durable {
  /** In order of admission, so that parents come before their children. */
  readonly orders: ReferenceOrder[];
  /** In the order in which they ended. */
  readonly remembered: Remembered[];
}

/** What clearing would hand back after a crash. */
export function durable(book: ReferenceBook): Durable {
  const restored = new Map<ReferenceOrder, ReferenceOrder>();
  const remembered = [...book.ids.remembered];
  for (const order of book.orders) {
    const lostParent = order.parent !== null && !restored.has(order.parent);
    const parent = order.parent === null ? null : (restored.get(order.parent) ?? null);
    const quantity = lostParent ? enabled(order) : order.quantity;
    const after = asKept({ ...order, quantity, parent, filled: order.confirmed, spent: order.paid });
    const isOrphan = lostParent && quantity === 0n;
    if (!isOrphan && livesOn(after)) restored.set(order, after);
    else remembered.push({ ...order, wasCancelled: wasCancelled(order) || (isOrphan && isAlive(order)) });
  }
  return { orders: [...restored.values()], remembered };
}

function wasCancelled({ state, end }: ReferenceOrder): boolean {
  return state === 'covered' || (state === 'ended' && isCancel(end as OrderEnd));
}

/** As the row has it: a fired order that was told, or one that was released as far as its market said. */
function asKept(order: ReferenceOrder): ReferenceOrder {
  if (order.state === 'ended' || order.state === 'covered') return order;
  const told = enabled(order);
  const kept = { ...order, granted: null, grantedBudget: 0n, isAwaited: false, told: null, toldAt: 0 };
  if (order.state === 'dormant' || (order.state === 'fired' && !order.wasTold)) return { ...kept, state: 'dormant' };
  const isReleased = order.activated > 0n;
  if (!isReleased) return { ...kept, told, isAwaited: told > 0n || isUnsized(order) };
  const { filled, spent, activated, quantity } = order;
  const live = { ...kept, told, budgetFrom: { filled, spent }, parent: activated === quantity ? null : order.parent };
  const rests = canRest(live) && left(live) > 0n;
  return { ...live, state: rests ? 'resting' : filled < quantity ? 'fired' : 'filled' };
}

function livesOn(order: ReferenceOrder): boolean {
  const waits = order.activated === 0n && (order.state === 'dormant' || order.state === 'fired');
  return waits || (isAlive(order) && (canRest(order) || mayGrow(order)));
}

/** A child that is released in part. What was in force of one that never rests has met all that it could. */
export function mayGrow({ activated, quantity }: ReferenceOrder): boolean {
  return activated > 0n && activated < quantity;
}

/** Every order is there again, and what crosses is uncrossed. Levels: silence. */
export function restart(book: ReferenceBook, nowNs: bigint, gap: number): void {
  const { orders, remembered } = durable(book);
  book.sequence += gap;
  book.lastTradeId += gap;
  book.undecided = [];
  book.tellQueue = orders.filter((order) => mayGrow(order) && enabled(order) > order.activated);
  book.placeQueue = [];
  book.ids.holds = [];
  book.ids.remembered = [];
  for (const id of remembered) book.ids.remember(id);
  book.orders = orders;
  const resting = orders.filter((order) => order.state === 'resting');
  for (const order of resting) order.state = 'placing';
  // Whoever has priority has the room of a level that is too full.
  resting.sort((a, b) => a.priority - b.priority);
  const misfits = resting.filter((order) => {
    const fits = book.levelOf(order.side, order.price) + left(order) <= RAW_MAX;
    if (fits) order.state = 'resting';
    return !fits;
  });
  for (const order of misfits) book.end(order, ORDER_END.rolledBack);
  book.nowNs = nowNs;
  book.expire(orders.length);
  book.isUncrossing = false;
  book.faults.clear();
  book.beginUncrossing();
  book.uncross();
  book.told = book.told.filter(([name]) => name !== 'levelChanged' && name !== 'depthCommitted');
  book.levelsTold = book.levels();
}
