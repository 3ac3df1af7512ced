/**
 * Every sequence of commands up to a depth, over few users, prices and sizes and over every kind of order, played to the
 * engine and the reference. What a random test meets by chance is here met for certain.
 *
 * Sequences are not extended where nothing new can come of it:
 *   (1) Users are interchangeable: the first order is ada's.
 *   (2) A command about something that does not exist (an order, an undecided trade) is left out.
 *   (3) What leads to a state of the reference that was reached before (by changing nothing, or by another road) is
 *       compared event by event like everything else, and ends there. States are equal if they differ in names and in
 *       the distances of sequences alone; since every order comes to its state by the shortest sequences first, no
 *       sequence within the depth is lost.
 *
 * Every state is played to its end in all ways: everything confirmed, released and rebuilt; and everything rolled back.
 */
import {
  ORDER_FLAG,
  ORDER_KIND,
  ROLLBACK_REASON,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
} from '../../src/core/order-terms.ts';
import { MarketPair } from './market-pair.ts';
import { LIFE_NS, PLAIN_TERMS, type Terms } from './market-recorder.ts';
import type { ReferenceOrder } from './reference-order.ts';

const USERS = ['ada', 'bob'];
const SIDES: readonly Side[] = [SIDE.buy, SIDE.sell];
const LIMITS = { priceDecimals: 0, heldCancelNs: 5n, heldCancelsPerUserMax: 2, rememberedIdsPerUserMax: 100 };
const { counterpartyAtFault: OTHER, insufficientInventory: OWN, staleMatch } = ROLLBACK_REASON;
const BLAMES: readonly (readonly [RollbackReason, RollbackReason])[] = [
  [OWN, OTHER],
  [OTHER, OWN],
  [staleMatch, staleMatch],
];

export interface Scope {
  readonly depth: number;
  readonly prices: readonly number[];
  readonly sizes: readonly number[];
  readonly hasFamilies: boolean;
  readonly isPrevented: boolean;
  readonly collar: readonly [number, number];
}

/** One command, if it means something now. @returns whether it does. */
type Step = (pair: MarketPair) => boolean;

/** Limit orders of every time in force. */
function limitTerms({ prices, sizes }: Scope): Partial<Terms>[] {
  const kinds: readonly { tif: Tif; flags: number }[] = [
    { tif: TIF.gtc, flags: 0 },
    { tif: TIF.gtc, flags: ORDER_FLAG.postOnly },
    { tif: TIF.ioc, flags: 0 },
    { tif: TIF.fok, flags: 0 },
  ];
  return SIDES.flatMap((side) =>
    prices.flatMap((price) => sizes.flatMap((quantity) => kinds.map((kind) => ({ side, price, quantity, ...kind })))),
  );
}

/** Market orders: by lots, by money, by both, immediate or all. */
function marketTerms({ prices }: Scope): Partial<Terms>[] {
  const money = prices.reduce((sum, price) => sum + price, 0);
  const byLots = { kind: ORDER_KIND.marketBase, quantity: 2 };
  const byMoney = { kind: ORDER_KIND.marketQuote, amount: money };
  const sized: readonly Partial<Terms>[] = [
    { side: SIDE.buy, ...byLots, budget: money },
    { side: SIDE.buy, ...byLots, amount: money - 1 },
    { side: SIDE.buy, ...byMoney },
    { side: SIDE.sell, ...byLots },
    { side: SIDE.sell, ...byMoney, quantity: 1 },
    { side: SIDE.sell, ...byMoney, budget: 1 },
  ];
  return sized.flatMap((terms) => [
    { ...terms, tif: TIF.ioc },
    { ...terms, tif: TIF.fok },
  ]);
}

/** Orders that wait for a price; the first trade of either price fires half of them. */
function triggerTerms({ prices }: Scope): Partial<Terms>[] {
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  return [
    { side: SIDE.buy, price: high, quantity: 2, triggerKind: TRIGGER.above, triggerPrice: high },
    { side: SIDE.sell, price: low, quantity: 2, triggerKind: TRIGGER.below, triggerPrice: low },
    {
      side: SIDE.buy,
      price: low,
      quantity: 1,
      triggerKind: TRIGGER.above,
      triggerPrice: 1,
      flags: ORDER_FLAG.postOnly,
    },
    {
      side: SIDE.sell,
      kind: ORDER_KIND.marketBase,
      quantity: 1,
      triggerKind: TRIGGER.above,
      triggerPrice: 1,
      tif: TIF.fok,
    },
  ];
}

/** Every step of a scope. */
export function stepsOf(scope: Scope): readonly Step[] {
  const plain = [...limitTerms(scope), ...marketTerms(scope), ...triggerTerms(scope)];
  const creates = USERS.flatMap((user) =>
    plain.map(
      (terms): Step =>
        (pair) =>
          create(pair, user, terms),
    ),
  );
  const places = Array.from({ length: scope.depth }, (_, at) => at);
  const perOrder = places.flatMap((at) => stepsOfOrder(scope, at));
  return [...creates, ...perOrder, ...commonSteps()];
}

function stepsOfOrder({ prices, sizes, hasFamilies }: Scope, at: number): Step[] {
  const changes = [...prices.map((price) => ({ price })), ...sizes.map((quantity) => ({ quantity }))];
  const replaces = changes.map(
    (change): Step =>
      (pair) =>
        replace(pair, at, change),
  );
  const tifs = hasFamilies ? [TIF.gtc, TIF.ioc, TIF.fok] : [];
  const children = tifs.flatMap((tif) =>
    prices.map(
      (price): Step =>
        (pair) =>
          adopt(pair, at, { price, tif }),
    ),
  );
  const cancel: Step = (pair) => {
    const order = pair.reference.orders[at];
    if (order !== undefined) pair.cancel({ ...pair.named(order.user, order.orderId), hold: false });
    return order !== undefined;
  };
  return [...replaces, ...children, cancel];
}

function commonSteps(): Step[] {
  const rollbacks = BLAMES.map(
    ([maker, taker]): Step =>
      (pair) => {
        const trade = pair.reference.undecided[0];
        if (trade !== undefined) pair.rollback(trade, maker, taker);
        return trade !== undefined;
      },
  );
  const settle: Step = (pair) => {
    const isPending = pair.reference.undecided.length > 0;
    if (isPending) pair.settle(pair.reference.lastTradeId);
    return isPending;
  };
  const cancelAlls = USERS.map(
    (user): Step =>
      (pair) => {
        const hasOrders = pair.reference.orders.some((order) => order.user === user);
        if (hasOrders) pair.cancelAll(user, 0n);
        return hasOrders;
      },
  );
  return [...rollbacks, settle, ...cancelAlls, answer, restart];
}

function answer(pair: MarketPair): boolean {
  if (pair.reference.tellQueue.length === 0) return false;
  pair.pump();
  for (const order of pair.reference.orders.filter(({ isAwaited }) => isAwaited))
    pair.release(order.sequence, Number(order.told), 0);
  pair.pump();
  return true;
}

function restart(pair: MarketPair): boolean {
  if (pair.reference.undecided.length === 0) return false;
  pair.restart();
  return true;
}

function create(pair: MarketPair, user: string, terms: Partial<Terms>): boolean {
  const { nowNs, reference } = pair;
  if (reference.sequence === 0 && user !== USERS[0]) return false;
  const named = pair.named(user, `o${reference.sequence}`);
  const side = SIDE.buy;
  pair.create({ ...PLAIN_TERMS, side, ...named, creationNs: nowNs, expiryNs: nowNs + LIFE_NS, ...terms });
  return true;
}

/** A child of the order at this place, whatever that is. */
function adopt(pair: MarketPair, at: number, terms: { price: number; tif: Tif }): boolean {
  const parent = pair.reference.orders[at];
  if (parent === undefined) return false;
  const side = (1 - parent.side) as Side;
  const trigger = { triggerKind: TRIGGER.above, triggerPrice: 1, parentId: parent.orderId };
  return create(pair, parent.user, { side, quantity: 2, ...trigger, ...terms });
}

function replace(pair: MarketPair, at: number, change: { price?: number; quantity?: number }): boolean {
  const order = pair.reference.orders[at];
  if (order === undefined) return false;
  const named = pair.named(order.user, order.orderId);
  const trigger = { triggerKind: TRIGGER.none, triggerPrice: 0 };
  pair.replace({ ...named, timestampNs: order.timestampNs + 1n, price: 0, quantity: 0, ...trigger, ...change });
  return true;
}

/** How many sequences were compared, and how many different states they led to. */
export interface Played {
  sequences: number;
  states: number;
}

/** Plays all of them, the short ones first. @param report is told how far the sequences of a length are. */
export function playAll(scope: Scope, report: (length: number, done: number, of: number) => void = () => {}): Played {
  const steps = stepsOf(scope);
  let sequences = 0;
  const known = new Set<string>();
  let roads: readonly (readonly Step[])[] = [[]];
  for (let length = 1; length <= scope.depth; length++) {
    const longer: (readonly Step[])[] = [];
    for (const [done, road] of roads.entries()) {
      report(length, done, roads.length);
      for (const step of steps) {
        const next = [...road, step];
        const pair = play(scope, next);
        if (pair === null) continue;
        sequences++;
        const state = stateOf(pair);
        if (known.has(state)) continue;
        known.add(state);
        longer.push(next);
        playToItsEnd(pair, scope, next);
      }
    }
    roads = longer;
  }
  return { sequences, states: known.size };
}

/** @returns the pair after these steps, or null where the last one means nothing. */
function play({ isPrevented, collar }: Scope, path: readonly Step[]): MarketPair | null {
  const pair = new MarketPair(LIMITS, new Set());
  pair.setSelfTradePrevention(isPrevented);
  pair.setCollar(...collar);
  for (const step of path) if (!step(pair)) return null;
  return pair;
}

function playToItsEnd(pair: MarketPair, scope: Scope, path: readonly Step[]): void {
  const isPending = pair.reference.undecided.length > 0;
  pair.rebuildAtRest();
  if (!isPending) return;
  for (const [maker, taker] of BLAMES) {
    const other = play(scope, path) as MarketPair;
    for (let trade = other.reference.undecided[0]; trade !== undefined; trade = other.reference.undecided[0])
      other.rollback(trade, maker, taker);
  }
}

/** A state's text without names, and with ranks for sequences. */
function stateOf({ reference }: MarketPair): string {
  const { orders, undecided, tellQueue, placeQueue } = reference;
  const placeOf = (order: ReferenceOrder | null): number => (order === null ? -1 : orders.indexOf(order));
  const byPriority = [...orders].sort((a, b) => a.priority - b.priority);
  const told = orders.map(({ orderId, sequence, parent, priority, timestampNs, creationNs, ...order }) => [
    ...Object.values(order),
    placeOf(parent),
    timestampNs - creationNs,
  ]);
  const trades = undecided.map(({ maker, taker, quantity, price }) => [
    placeOf(maker),
    placeOf(taker),
    quantity,
    price,
  ]);
  const queues = [byPriority, tellQueue, placeQueue].map((queue) => queue.map(placeOf));
  return JSON.stringify([told, trades, queues], (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
