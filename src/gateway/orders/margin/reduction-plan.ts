/**
 * The open orders of an account that are reduced (AR-01, AR-02, AR-04, AMB-61, EX-17): of the heavier side, farthest from the
 * market first, by the fewest lots that suffice.
 *
 *   orders that count ─▶ farthest first ─▶ whole, whole, … in part ─▶ what is left is bearable, or so many are planned
 *                                                                          as one plan may have
 *
 * Left alone: orders that never rest; those about which a request is on its way; those that add no exposure, as what waits
 * for a trigger and what the position covers, of reduce-only orders too. What is left below the market's minimum is
 * cancelled, and so is a child of which more may come.
 *
 * Not here: when an account is checked, and which are exempt (auto-reduce.ts).
 */
import { larger, powerOfTen } from '../../../core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TIF } from '../../../core/order-terms.ts';
import type { ExposureEntry } from '../../../risk/exposure-queue.ts';
import { isOver } from '../balances/spending.ts';
import { filledOf, isChild, isWhole, type LiveOrder } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { AssetRisks } from './asset-risks.ts';
import type { MarginAccount, Position } from './margin-account.ts';

/**
 * Distances that differ by less, in parts of the two limits over their references, are compared exactly. A quotient of
 * two rounded numbers is off by 2^-51 of itself; this is eight times that.
 */
const CLOSE = 2 ** -48;

export interface Reduction {
  readonly order: LiveOrder;
  /** Its own in its queue. */
  readonly entry: ExposureEntry;
  /** The new total, filled part included; 0: the order is cancelled. */
  readonly total: number;
}

/** Reductions that were sent before: while they are on their way their orders are as good as reduced. */
export type Sent = ReadonlyMap<ExposureEntry, number>;

export interface PlanParts {
  readonly orders: LiveOrders;
  readonly assets: AssetRisks;
  readonly sent: Sent;
}

export interface ReductionPlan {
  readonly side: Side;
  /** In this order; nothing where the capacity is not negative. */
  readonly reductions: readonly Reduction[];
  /** Whether it has as many as it may have, and they do not suffice. */
  readonly isCut: boolean;
  /** How many orders might have given way. */
  readonly candidates: number;
}

/** One queue of the heavier side while a plan is made: its counts and weights without the reductions so far. */
interface PlannedQueue {
  readonly position: Position;
  /** In 10^-18 USD of one unit. */
  readonly reference: bigint;
  counted: bigint;
  requirement: bigint;
}

/** One order of the heavier side that may be reduced. */
interface Candidate {
  readonly queue: PlannedQueue;
  readonly order: LiveOrder;
  readonly entry: ExposureEntry;
  readonly lots: number;
  readonly counted: number;
  readonly lotPrice: bigint;
  /** |limit − reference| / reference, nearly: where it cannot separate two orders their prices do. */
  readonly distance: number;
}

/** @param most as many reductions as the plan may have. */
export function planReductions(account: MarginAccount, parts: PlanParts, most: number): ReductionPlan {
  const { buys, sells } = account.requirements();
  const side: Side = buys >= sells ? SIDE.buy : SIDE.sell;
  const reductions: Reduction[] = [];
  const surplus = account.surplus();
  const bearable = surplus > 0n ? surplus : 0n;
  if (larger(buys, sells) <= bearable) return { side, reductions, isCut: false, candidates: 0 };
  const { queues, candidates } = heavierSide(account, side, parts);
  let requirement = queues.reduce((sum, queue) => sum + queue.requirement, 0n);
  for (const { queue, order, entry, lots, lotPrice, counted } of farthest(candidates, most)) {
    if (requirement <= bearable || reductions.length === most) break;
    const others = requirement - queue.requirement;
    const less = (off: number): bigint =>
      account.requirementOf(queue.position, side, queue.counted - lotPrice * BigInt(off));
    // Most of many are cancelled whole: one test, where the search takes as many as the number of lots has bits.
    const without = less(counted);
    const suffices = (off: number): boolean => others + less(off) <= bearable;
    const off = others + without <= bearable ? fewestLots(counted, suffices) : counted;
    const isCancelled = lots - off < order.market.definition.minimumQuantity || (isChild(order) && !isWhole(order));
    const gone = isCancelled ? counted : off;
    queue.requirement = gone === counted ? without : less(gone);
    queue.counted -= lotPrice * BigInt(gone);
    requirement = others + queue.requirement;
    reductions.push({ order, entry, total: isCancelled ? 0 : order.quantity - off });
  }
  const isCut = requirement > bearable && reductions.length === most && most < candidates.length;
  return { side, reductions, isCut, candidates: candidates.length };
}

/** The smallest number of lots that suffices, or all of them. */
function fewestLots(all: number, suffices: (lots: number) => boolean): number {
  let [low, high] = [1, all];
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    if (suffices(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface HeavierSide {
  readonly queues: readonly PlannedQueue[];
  readonly candidates: Candidate[];
}

function heavierSide(account: MarginAccount, side: Side, { orders, assets, sent }: PlanParts): HeavierSide {
  const queues: PlannedQueue[] = [];
  const candidates: Candidate[] = [];
  for (const { position, queue } of account.queues(side)) {
    const reference = assets.terms(position.asset).prices.mark;
    const planned: PlannedQueue = { position, reference, counted: queue.counted, requirement: 0n };
    const tick = Number(powerOfTen(18 - (position.market?.definition.priceDecimals ?? 0))) / Number(reference);
    for (const entry of queue.counting()) {
      const { exposure, netted } = entry;
      const { lots, lotPrice } = exposure;
      const order = orders.at(entry.owner);
      const total = order.requests === 0 ? undefined : sent.get(entry);
      if (total !== undefined) planned.counted -= lotPrice * BigInt(goneOf(order, total, lots, netted));
      if (!isReducible(order)) continue;
      const distance = Math.abs(order.price * tick - 1);
      candidates.push({ queue: planned, order, entry, lots, counted: lots - netted, lotPrice, distance });
    }
    planned.requirement = account.requirementOf(position, side, planned.counted);
    queues.push(planned);
  }
  return { queues, candidates };
}

/** Counted lots that will be gone with a reduction to `total`. */
function goneOf(order: LiveOrder, total: number, lots: number, netted: number): number {
  const left = total === 0 ? 0 : Math.max(0, total - filledOf(order));
  return lots - Math.min(lots, Math.max(netted, left));
}

/** In 10^-18 USD of one unit. */
function limitOf({ price, market }: LiveOrder): bigint {
  return BigInt(price) * powerOfTen(18 - market.definition.priceDecimals);
}

/** It rests, nothing about it is on its way, and a user made it (AR-04). */
export function isReducible(order: LiveOrder): boolean {
  const { kind, tif, flags } = order;
  const rests = kind === ORDER_KIND.limit && (tif === TIF.gtc || tif === TIF.gtd);
  return rests && order.sequence !== 0 && order.requests === 0 && !isOver(order) && (flags & ORDER_FLAG.nodeMade) === 0;
}

/** The first `most` of them in their order, and maybe some that come after. */
function farthest(candidates: Candidate[], most: number): readonly Candidate[] {
  if (candidates.length <= most) return candidates.sort(farthestFirst);
  const distances = Float64Array.from(candidates, ({ distance }) => distance).sort();
  const last = distances[distances.length - most] ?? 0;
  // All are infinitely far from a price that never was.
  const isFar = ({ distance }: Candidate): boolean => distance === last || distance >= last - slack(distance, last);
  return candidates.filter(isFar).sort(farthestFirst);
}

/** By distance in parts of the reference; equal ones the newest first (AMB-61). */
function farthestFirst(a: Candidate, b: Candidate): number {
  const gap = b.distance - a.distance;
  // mutant: farthest-first
  if (Math.abs(gap) > slack(a.distance, b.distance)) return gap;
  const exact = exactGap(a, b);
  if (exact !== 0) return exact;
  // mutant: newest-of-equal-distance
  if (a.order.timestampNs !== b.order.timestampNs) return a.order.timestampNs > b.order.timestampNs ? -1 : 1;
  return b.order.sequence - a.order.sequence;
}

function slack(a: number, b: number): number {
  return (a + b + 2) * CLOSE;
}

/** Negative: `a` is farther. */
function exactGap(a: Candidate, b: Candidate): number {
  if (a.queue === b.queue && a.order.price === b.order.price) return 0;
  const [far, near] = [offBy(a) * b.queue.reference, offBy(b) * a.queue.reference];
  if (far === near) return 0;
  return far > near ? -1 : 1;
}

/** |limit − reference|, in 10^-18 USD of one unit. */
function offBy({ order, queue }: Candidate): bigint {
  const off = limitOf(order) - queue.reference;
  return off > 0n ? off : -off;
}
