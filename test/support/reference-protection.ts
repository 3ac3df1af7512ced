/**
 * Protection of market makers in the reference book (MMP-02, MMP-03): every fill of a group is kept, and what counts is
 * added up anew each time.
 */
import type { ReferenceOrder } from './reference-order.ts';

export interface ReferenceProtection {
  readonly windowNs: bigint;
  /** 0n: until it is reset. */
  readonly frozenNs: bigint;
  readonly maxFills: number | null;
  readonly maxLots: bigint | null;
  readonly maxMoney: bigint | null;
  readonly minMoney: bigint;
}

interface ProtectedFill {
  readonly tradeId: number;
  readonly ns: bigint;
  readonly lots: bigint;
  readonly money: bigint;
  readonly minMoney: bigint;
}

export interface ReferenceGroup {
  readonly user: string;
  readonly slot: number;
  /** Null: it was removed. */
  terms: ReferenceProtection | null;
  fills: ProtectedFill[];
  freeze: { readonly untilNs: bigint; readonly trip: number } | null;
  /** Sequence of the last trip; 0 for none. */
  trip: number;
}

export function newGroup(user: string, slot: number): ReferenceGroup {
  return { user, slot, terms: null, fills: [], freeze: null, trip: 0 };
}

/** What time alone changes. */
export function passGroup(group: ReferenceGroup, nowNs: bigint): void {
  const { freeze, terms } = group;
  if (freeze === null) group.fills = group.fills.filter(({ ns }) => terms !== null && nowNs - ns < terms.windowNs);
  else if (freeze.untilNs !== 0n && freeze.untilNs <= nowNs) endFreeze(group);
}

export function endFreeze(group: ReferenceGroup): void {
  group.freeze = null;
  group.fills = [];
}

/** The limit that the fills reach, by its number, or 0. */
export function limitReached({ terms }: ReferenceGroup, fills: readonly ProtectedFill[]): number {
  if (terms === null) return 0;
  const count = fills.filter(({ money, minMoney }) => money >= minMoney).length;
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0n);
  const money = fills.reduce((sum, fill) => sum + fill.money, 0n);
  if (terms.maxFills !== null && count >= terms.maxFills) return 1;
  if (terms.maxLots !== null && lots >= terms.maxLots) return 2;
  return terms.maxMoney !== null && money >= terms.maxMoney ? 3 : 0;
}

export function fillOf(
  { terms }: ReferenceGroup,
  trade: { readonly tradeId: number; readonly ns: bigint; readonly lots: bigint; readonly price: number },
): ProtectedFill {
  const { price, ...fill } = trade;
  return { ...fill, money: fill.lots * BigInt(price), minMoney: terms?.minMoney ?? 0n };
}

/** The makers that a match of this taker would meet, in its order: those that rest when it comes to them. */
export function metBy(
  taker: { readonly user: string },
  makers: readonly ReferenceOrder[],
  lotsOf: (order: ReferenceOrder) => bigint,
): ReferenceOrder[] {
  const more = new Map<ReferenceGroup, ProtectedFill[]>();
  return makers.filter((maker) => {
    const { group, price } = maker;
    if (group === null || group.user === taker.user) return true;
    const before = more.get(group) ?? [];
    if (before.length > 0 && limitReached(group, [...group.fills, ...before]) !== 0) return false;
    more.set(group, [...before, fillOf(group, { tradeId: 0, ns: 0n, lots: lotsOf(maker), price })]);
    return true;
  });
}
