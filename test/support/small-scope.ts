/**
 * The small scope: every command over two users, two prices, two sizes and every kind of order, by name. What is done
 * with them is small-scope-walk.ts.
 *
 * What of "all flags" is not here loses nothing: the engine reads of a flag word only post-only and node-made
 * (reduce-only is clearing's), and an order good till a date is one good till cancelled until time passes, which it does
 * at the end of every road.
 */
import { RAW_MAX } from '../../src/core/limits.ts';
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
import type { MarketPair } from './market-pair.ts';
import { LIFE_NS, PLAIN_TERMS, type Terms } from './market-recorder.ts';
import { quoteBeginning, quoteSteps } from './quote-scope.ts';
import type { ReferenceProtection } from './reference-protection.ts';

const USERS = ['ada', 'bob'];
const SIDES: readonly Side[] = [SIDE.buy, SIDE.sell];
const { counterpartyAtFault: OTHER, insufficientInventory: OWN, staleMatch } = ROLLBACK_REASON;
export const BLAMES: readonly (readonly [RollbackReason, RollbackReason])[] = [
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
  /** Instead of every kind of order: a protected maker, takers through its orders, rollbacks, freezes and restarts. */
  readonly isProtected?: boolean;
  /** Instead of every kind of order: quote sets of one user, takers, rollbacks, ends and restarts (quote-scope.ts). */
  readonly quotes?: 'one' | 'two' | 'protected';
}

/** Two prices, two sizes, families; without self-trade prevention and collar. */
export const SMALL_SCOPE: Scope = {
  depth: 2,
  prices: [100, 101],
  sizes: [1, 2],
  hasFamilies: true,
  isPrevented: false,
  collar: [1, RAW_MAX],
};

/** One command, if it means something now. */
export interface Step {
  readonly name: string;
  /** @returns whether it means something; nothing was done if not. */
  play(pair: MarketPair): boolean;
}

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

/** Made by the node: no cancel-all takes them (AMB-18). */
function nodeTerms({ prices }: Scope): Partial<Terms>[] {
  const price = Math.min(...prices);
  return SIDES.map((side) => ({ side, price, quantity: 1, flags: ORDER_FLAG.nodeMade }));
}

/** Every step of a scope. */
export function stepsOf(scope: Scope): readonly Step[] {
  if (scope.quotes !== undefined) return quoteSteps(scope.quotes);
  if (scope.isProtected === true) return protectedSteps(scope);
  const plain = [...limitTerms(scope), ...marketTerms(scope), ...triggerTerms(scope), ...nodeTerms(scope)];
  const creates = USERS.flatMap((user) =>
    plain.map((terms): Step => {
      const name = `${user} creates ${JSON.stringify(terms)}`;
      return { name, play: (pair) => create(pair, user, terms) };
    }),
  );
  const places = Array.from({ length: scope.depth }, (_, at) => at);
  const perOrder = places.flatMap((at) => stepsOfOrder(scope, at));
  return [...creates, ...perOrder, ...commonSteps()];
}

/** What has happened before the first step: of a protected maker a group of two asks and a bid, with limits that the walk changes. */
export function beginningOf(scope: Scope): readonly Step[] {
  if (scope.quotes !== undefined) return quoteBeginning(scope.quotes);
  if (scope.isProtected !== true) return [];
  const steps = protectedSteps(scope);
  return steps.filter(({ name }, at) => at === 0 || /^ada creates .*"protectionGroup":1/.test(name)).slice(0, 5);
}

/** The first user quotes in a group, the second takes. */
function protectedSteps({ prices }: Scope): readonly Step[] {
  const [maker, taker] = USERS as [string, string];
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const quotes: readonly Partial<Terms>[] = [
    ...prices.map((price) => ({ side: SIDE.sell, price, quantity: 1 })),
    { side: SIDE.sell, price: low, quantity: 2 },
    { side: SIDE.buy, price: low - 1, quantity: 1 },
    { side: SIDE.buy, price: high, quantity: 1, triggerKind: TRIGGER.above, triggerPrice: high },
  ];
  const takes: readonly Partial<Terms>[] = [
    { side: SIDE.buy, price: high, quantity: 1, tif: TIF.ioc },
    { side: SIDE.buy, price: high, quantity: 3 },
    { side: SIDE.buy, price: high, quantity: 2, tif: TIF.fok },
    { side: SIDE.buy, price: high, quantity: 3, tif: TIF.fok },
    { side: SIDE.buy, kind: ORDER_KIND.marketQuote, amount: low + high, tif: TIF.ioc },
    { side: SIDE.sell, price: low - 1, quantity: 1, tif: TIF.ioc },
    { side: SIDE.sell, price: high, quantity: 1 },
  ];
  const none = { windowNs: 10n, frozenNs: 0n, maxFills: null, maxLots: null, maxMoney: null, minMoney: 0n };
  const limits: readonly ReferenceProtection[] = [
    { ...none, maxFills: 2, frozenNs: 5n },
    { ...none, maxFills: 1, minMoney: BigInt(high) },
    { ...none, maxLots: 2n },
    { ...none, maxMoney: BigInt(low + high) },
  ];
  const created = (user: string, terms: Partial<Terms>): Step => {
    const name = `${user} creates ${JSON.stringify(terms)}`;
    return { name, play: (pair) => create(pair, user, terms) };
  };
  return [
    ...limits.map((terms, at): Step => {
      const name = `the group gets limits ${at}`;
      return { name, play: (pair) => limit(pair, maker, terms) };
    }),
    ...quotes.map((terms) => created(maker, { ...terms, protectionGroup: 1 })),
    created(maker, { side: SIDE.buy, price: high, quantity: 1, tif: TIF.ioc }),
    ...takes.map((terms) => created(taker, terms)),
    { name: 'the group is reset', play: (pair) => reset(pair, maker) },
    { name: 'five nanoseconds pass', play: (pair) => pass(pair, 5n) },
    ...commonSteps(),
  ];
}

function limit(pair: MarketPair, user: string, terms: ReferenceProtection): boolean {
  pair.setProtection(user, 1, terms);
  return true;
}

function reset(pair: MarketPair, user: string): boolean {
  const group = pair.reference.groupOf(user, 1);
  const terms = group?.terms ?? null;
  if (group?.freeze == null || terms === null) return false;
  pair.setProtection(user, 1, terms, true);
  return true;
}

function pass(pair: MarketPair, ns: bigint): boolean {
  const isWaited = pair.reference.groups.some(({ fills, freeze }) => fills.length > 0 || freeze !== null);
  if (!isWaited) return false;
  pair.nowNs += ns;
  pair.tick();
  return true;
}

function stepsOfOrder({ prices, sizes, hasFamilies }: Scope, at: number): Step[] {
  const changes = [...prices.map((price) => ({ price })), ...sizes.map((quantity) => ({ quantity }))];
  const replaces = changes.map((change): Step => {
    const name = `order ${at} is replaced, ${JSON.stringify(change)}`;
    return { name, play: (pair) => replace(pair, at, change) };
  });
  const completes = prices.flatMap((price) =>
    sizes.map((quantity): Step => {
      const terms = { price, quantity };
      const name = `order ${at} gets the complete terms ${JSON.stringify(terms)}`;
      return { name, play: (pair) => complete(pair, at, terms) };
    }),
  );
  const amends = sizes.map(
    (quantity): Step => ({ name: `order ${at} is amended to ${quantity}`, play: (pair) => amend(pair, at, quantity) }),
  );
  const tifs = hasFamilies ? [TIF.gtc, TIF.ioc, TIF.fok] : [];
  const children = tifs.flatMap((tif) =>
    prices.map((price): Step => {
      const terms = { price, tif };
      return { name: `a child of order ${at}, ${JSON.stringify(terms)}`, play: (pair) => adopt(pair, at, terms) };
    }),
  );
  return [
    ...replaces,
    ...completes,
    ...amends,
    ...children,
    { name: `order ${at} is cancelled`, play: (pair) => cancel(pair, at) },
  ];
}

function commonSteps(): Step[] {
  const rollbacks = BLAMES.map(([maker, taker]): Step => {
    const play = (pair: MarketPair): boolean => {
      const trade = pair.reference.undecided[0];
      if (trade !== undefined) pair.rollback(trade, maker, taker);
      return trade !== undefined;
    };
    return { name: `the first trade is rolled back, ${maker} and ${taker}`, play };
  });
  const cancelAlls = USERS.map(
    (user): Step => ({ name: `${user} cancels all`, play: (pair) => cancelAll(pair, user) }),
  );
  return [
    ...rollbacks,
    { name: 'one step of uncrossing', play: uncrossOne },
    { name: 'all trades are confirmed', play: confirm },
    ...cancelAlls,
    { name: 'triggers are told and let go', play: answer },
    { name: 'kill and restart', play: restart },
  ];
}

function cancel(pair: MarketPair, at: number): boolean {
  const order = pair.reference.orders[at];
  if (order !== undefined) pair.cancel({ ...pair.named(order.user, order.orderId), mayPark: false });
  return order !== undefined;
}

function cancelAll(pair: MarketPair, user: string): boolean {
  const hasOrders = pair.reference.orders.some((order) => order.user === user);
  if (hasOrders) pair.cancelAll(user, 0n);
  return hasOrders;
}

function confirm(pair: MarketPair): boolean {
  const isPending = pair.reference.undecided.length > 0;
  if (isPending) pair.settle(pair.reference.lastTradeId);
  return isPending;
}

function uncrossOne(pair: MarketPair): boolean {
  const { isUncrossing } = pair.reference;
  if (isUncrossing) pair.uncross(1);
  return isUncrossing;
}

function answer(pair: MarketPair): boolean {
  if (pair.reference.tellQueue.length === 0) return false;
  pair.poll();
  for (const order of pair.reference.orders.filter(({ isAnswerPending }) => isAnswerPending))
    pair.release(order.sequence, Number(order.told), 0);
  pair.poll();
  return true;
}

function restart(pair: MarketPair): boolean {
  if (pair.reference.undecided.length === 0) return false;
  pair.restart();
  return true;
}

function create(pair: MarketPair, user: string, terms: Partial<Terms>): boolean {
  const { nowNs, reference } = pair;
  // Users are interchangeable: without live orders the next one is of the first.
  if (reference.orders.length === 0 && user !== USERS[0]) return false;
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

/** With the trigger that the order was created with, whether it has fired or not. */
function complete(pair: MarketPair, at: number, terms: { price: number; quantity: number }): boolean {
  const order = pair.reference.orders[at];
  if (order === undefined) return false;
  const { triggerKind, triggerPrice, timestampNs } = order;
  const named = pair.named(order.user, order.orderId);
  pair.replace({ ...named, ...terms, triggerKind, triggerPrice, timestampNs: timestampNs + 1n, isComplete: true });
  return true;
}

function amend(pair: MarketPair, at: number, quantity: number): boolean {
  const order = pair.reference.orders[at];
  if (order === undefined) return false;
  const { timestampNs, revisionNs } = order;
  const named = pair.named(order.user, order.orderId);
  pair.amend({ ...named, quantity, timestampNs: timestampNs + 1n, expectedNs: revisionNs });
  return true;
}

function replace(pair: MarketPair, at: number, change: { price?: number; quantity?: number }): boolean {
  const order = pair.reference.orders[at];
  if (order === undefined) return false;
  const named = pair.named(order.user, order.orderId);
  const trigger = { triggerKind: TRIGGER.none, triggerPrice: 0 };
  pair.replace({ ...named, timestampNs: order.timestampNs + 1n, price: 0, quantity: 0, ...trigger, ...change });
  return true;
}
