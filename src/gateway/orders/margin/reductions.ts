/**
 * Accounts with a negative capacity, and the reduction of their orders (AR-01 to AR-06, AMB-61, EX-17).
 *
 *   price, position, order ─▶ capacity < 0 ─▶ plan ─▶ replace or cancel, made by the node ─▶ market ─▶ Replaced, Canceled
 *                                 ▲             ▲ not enough in one look: the next one goes on          │
 *                                 │             └──────────────────────────────────────────────────────┤
 *                                 └────────────────── cooldown of the sub-account ◀────────────────────┘
 *
 * Exempt: market makers; orders that a plan leaves alone (below); after a start, accounts until each of their assets has
 * had a new price (AMB-110).
 *
 * Checked in rounds, a bounded number of accounts and orders a time, as the gateway does nothing else meanwhile. An account
 * that has more to reduce than that is checked again in the next round: what was sent counts as reduced, and the rest is
 * planned by what is known then. Its cooldown begins with the first of them. Not here: the messages (src/node).
 */
import { larger, powerOfTen } from '../../../core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TIF } from '../../../core/order-terms.ts';
import type { TimestampNs } from '../../../core/units.ts';
import { offsetLots } from '../../../risk/exposure.ts';
import type { ExposureEntry } from '../../../risk/exposure-queue.ts';
import type { Accounts } from '../balances/accounts.ts';
import { isOver, lotsWith } from '../balances/spending.ts';
import { filledOf, isChild, isWhole, type LiveOrder } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { OrderSettings } from '../settings.ts';
import type { AssetRisks } from './asset-risks.ts';
import type { AccountPosition, MarginAccount } from './margin-account.ts';
import type { UserMarginAccounts } from './margin-accounts.ts';

/** Accounts that one check passes, and those of them with a computed capacity. */
const PASSED_MAX = 1_024;
const WORKED_OUT_MAX = 64;
/** Orders that one check reduces, and planned orders after which it leaves the other accounts to the next. */
export const REDUCED_MAX = 1_024;
const PLANNED_OVER_MAX = 4_096;

/** Sends a reduction to the market; false: the ring is full, nothing was done. */
type Reduce = (reduction: Reduction) => boolean;

interface AutoReduceParts {
  readonly orders: LiveOrders;
  readonly reduce: Reduce;
}

/** Reductions of one side that exceed one check. */
interface Unfinished {
  readonly side: Side;
  /** By the exposure entry of the order, the requested total. */
  readonly sent: Map<ExposureEntry, number>;
}

/** What is remembered of an account with orders: its last check, and the end of its cooldown. */
interface Watched {
  version: number;
  isExempt: boolean;
  cooldownEndNs: bigint;
  unfinished: Unfinished | null;
}

const NOTHING_SENT: Sent = new Map();

export class AutoReduce {
  readonly #accounts: Accounts;
  readonly #margins: UserMarginAccounts;
  readonly #orders: LiveOrders;
  readonly #reduce: Reduce;
  readonly #watched = new Map<MarginAccount, Watched>();
  /** What one check may still do. */
  readonly #left = { reduced: 0, plannedOver: 0 };
  #round: Iterator<MarginAccount> = [].values();

  constructor(accounts: Accounts, margins: UserMarginAccounts, { orders, reduce }: AutoReduceParts) {
    this.#orders = orders;
    this.#accounts = accounts;
    this.#margins = margins;
    this.#reduce = reduce;
  }

  /**
   * Every turn. The caller has brought the asset assets up to `nowNs`.
   *
   * @returns whether it could not finish: the next turn should not wait for something to happen.
   */
  look(settings: OrderSettings, nowNs: TimestampNs): boolean {
    this.#left.reduced = REDUCED_MAX;
    this.#left.plannedOver = PLANNED_OVER_MAX;
    if (!settings.autoReduces || this.#margins.withOrders.size === 0) return false;
    const most = Math.min(PASSED_MAX, this.#margins.withOrders.size);
    let workedOut = 0;
    for (let passed = 0; passed < most && workedOut < WORKED_OUT_MAX; passed += 1) {
      const account = this.#next();
      if (account !== null && this.#lookAt(account, settings, nowNs)) workedOut += 1;
      if (this.#left.reduced <= 0 || this.#left.plannedOver <= 0) return true;
    }
    return false;
  }

  /** In rounds; null at the end of a round. */
  #next(): MarginAccount | null {
    const next = this.#round.next();
    if (next.done !== true) return next.value;
    this.#round = this.#margins.withOrders.values();
    const first = this.#round.next();
    return first.done === true ? null : first.value;
  }

  /** @returns whether there was something to work out. */
  #lookAt(account: MarginAccount, { autoReduceCooldownNs }: OrderSettings, nowNs: TimestampNs): boolean {
    if (!account.hasOrders) {
      this.#margins.withOrders.delete(account);
      this.#watched.delete(account);
      return false;
    }
    const watched = this.#watched.get(account) ?? newWatched();
    const { version } = account;
    const isExempt = this.#accounts.isMarketMaker(account.user);
    const isSeen = watched.version === version && watched.isExempt === isExempt;
    if (isSeen || (nowNs < watched.cooldownEndNs && watched.unfinished === null)) return false;
    if (account.awaitsPrice) return true;
    watched.isExempt = isExempt;
    this.#watched.set(account, watched);
    if (isExempt || account.capacity() >= 0n) {
      watched.version = version;
      watched.unfinished = null;
      return true;
    }
    if (this.#reduceOrders(account, watched)) watched.cooldownEndNs = nowNs + autoReduceCooldownNs;
    return true;
  }

  /** @returns whether a cooldown begins. */
  #reduceOrders(account: MarginAccount, watched: Watched): boolean {
    const { version } = account;
    const { unfinished } = watched;
    const parts = { orders: this.#orders, assets: this.#margins.assets, sent: unfinished?.sent ?? NOTHING_SENT };
    const plan = planReductions(account, parts, this.#left.reduced);
    this.#left.plannedOver -= plan.candidates;
    watched.unfinished = null;
    if (unfinished !== null && unfinished.side !== plan.side) return false;
    const sent = unfinished?.sent ?? new Map<ExposureEntry, number>();
    const isSent = plan.reductions.every((reduction) => {
      sent.set(reduction.entry, reduction.total);
      return this.#reduce(reduction);
    });
    this.#left.reduced -= plan.reductions.length;
    if (plan.isCut && isSent) watched.unfinished = { side: plan.side, sent };
    else if (plan.reductions.length === 0 && isSent) watched.version = version;
    return plan.reductions.length > 0 && unfinished === null;
  }
}

function newWatched(): Watched {
  return { version: -1, isExempt: false, cooldownEndNs: 0n, unfinished: null };
}

// The open orders of an account that are reduced (AR-01, AR-02, AR-04, AMB-61, EX-17): of the heavier side, farthest from
// the market first, by the fewest lots that suffice.
//
//   orders that count ─▶ farthest first ─▶ whole, whole, … in part ─▶ what is left is bearable, or so many are planned
//                                                                          as one plan may have
//
// Left alone: orders that never rest; those about which a request is on its way; those that add no exposure, as what waits
// for a trigger and what the position covers, of reduce-only orders too. What is left below the market's minimum is
// cancelled, and so is a child that may be released further.
//
// Not here: when an account is checked, and which are exempt (above).

/**
 * Distances that differ by less, in parts of the two limits over their references, are compared exactly. A quotient of
 * two rounded numbers is off by 2^-51 of itself; this is eight times that.
 */
const CLOSE = 2 ** -48;

export interface Reduction {
  readonly order: LiveOrder;
  /** Its own exposure in its queue. */
  readonly entry: ExposureEntry;
  /** The new total, filled part included; 0: the order is cancelled. */
  readonly total: number;
}

/** Reductions that were sent before: while they are on their way their orders are as good as reduced. */
type Sent = ReadonlyMap<ExposureEntry, number>;

interface PlanParts {
  readonly orders: LiveOrders;
  readonly assets: AssetRisks;
  readonly sent: Sent;
}

interface ReductionPlan {
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
  readonly position: AccountPosition;
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
function planReductions(account: MarginAccount, parts: PlanParts, most: number): ReductionPlan {
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
function isReducible(order: LiveOrder): boolean {
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

// Resting reduce-only orders that together are more than their position, which has shrunk: they are cut or cancelled by the
// node, youngest first by their admission (MON-09). Each lot beyond the position would be depth with a fill that clearing
// undoes, at the cost of its taker.
//
//   position moved, order changed, answer arrived ─▶ to check ─turn─▶ more lots than the position? ─▶ cuts, cancels ─▶ market
//                                                       ▲                                                        │
//                                                       └──────────── a full ring, more than one turn cuts ◀─────┘
//
// The position counts as clearing has booked it, with what is undecided: all fills of orders that took, which the account
// sent in this moment, and those fills of resting orders that make it larger. What a resting order may have closed is not
// gone before it is confirmed.
//
// Invariant: with nothing on its way, the lots of a side that rest are at most the position.
//
// Not here: the room of one order that comes, is replaced or is released (margin-check.ts, src/matching/room.ts).

/** Positions that one turn passes, those of them with a walk of their orders, and orders that one walk cuts. */
const POSITIONS_PASSED_MAX = 1_024;
const WALKED_MAX = 64;
const CUT_MAX = 1_024;

/** A cut of an order to this total, filled part included; 0: it is cancelled. */
export interface Cut {
  readonly order: LiveOrder;
  readonly total: number;
}

/** Sends a cut to the market; false: the ring is full, nothing was done. */
type SendCut = (cut: Cut) => boolean;

/**
 * How the check of a position ended: there is nothing beyond it; cuts are on their way; more must be sent; a ring was
 * full.
 */
type Checked = 'quiet' | 'cutting' | 'more' | 'full';

export class ReduceOnlyExcess {
  readonly #orders: LiveOrders;
  readonly #margins: UserMarginAccounts;
  readonly #send: SendCut;
  /** Orders with a cut that their market has not answered, by index. */
  readonly #cutting = new Set<number>();

  constructor(orders: LiveOrders, margins: UserMarginAccounts, send: SendCut) {
    this.#orders = orders;
    this.#margins = margins;
    this.#send = send;
  }

  /** @returns whether positions are left to check: the next turn should not wait for something to happen. */
  look(): boolean {
    const toCheck = this.#margins.reduceOnlyToCheck;
    if (toCheck.size === 0) return false;
    let [passed, walked] = [0, 0];
    const again: AccountPosition[] = [];
    let isMore = false;
    for (const position of toCheck) {
      if (passed === POSITIONS_PASSED_MAX || walked === WALKED_MAX) {
        isMore = true;
        break;
      }
      passed += 1;
      toCheck.delete(position);
      const checked = this.#check(position);
      if (checked !== 'quiet') walked += 1;
      if (checked === 'more') isMore = true;
      if (checked === 'more' || checked === 'full') again.push(position);
    }
    for (const position of again) toCheck.add(position);
    return isMore;
  }

  /** The market has answered a reduction or a cancel of the node. */
  answered({ index, exposure }: LiveOrder): void {
    if (!this.#cutting.delete(index) || exposure === null) return;
    exposure.position.account.reduceOnlyChanged(exposure.position);
  }

  #check(position: AccountPosition): Checked {
    const { market, reduceOnly } = position;
    if (market === null || reduceOnly === null) return 'quiet';
    const sides = [SIDE.buy, SIDE.sell].map((side) => this.#checkSide(position, side, reduceOnly.resting[side]));
    for (const checked of ['full', 'more', 'cutting'] as const) if (sides.includes(checked)) return checked;
    // What an earlier trade has undone of the position is made good: later fills beyond it are the user's.
    if (position.forcedThrough === Number.POSITIVE_INFINITY) position.forcedThrough = market.lastTradeId;
    return 'quiet';
  }

  #checkSide(position: AccountPosition, side: Side, queue: AccountPosition['buys']): Checked {
    let left = reducibleLots(position, side);
    if (queue.lots <= BigInt(left)) return 'quiet';
    let [cuts, checked]: [number, Checked] = [0, 'quiet'];
    for (const { owner } of queue.entries()) {
      const order = this.#orders.at(owner);
      const lots = restingLots(order);
      const kept = Math.min(lots, left);
      left -= kept;
      if (kept === lots) continue;
      if (this.#cutting.has(owner)) checked = 'cutting';
      if (!this.#mayCut(order)) continue;
      checked = 'cutting';
      if (cuts === CUT_MAX) return 'more';
      cuts += 1;
      // mutant: reduce-only-excess
      if (!this.#send({ order, total: kept === 0 ? 0 : order.quantity - (lots - kept) })) return 'full';
      this.#cutting.add(order.index);
    }
    return checked;
  }

  /** It rests, and no cut of it is on its way; one that is changed by its user meanwhile is not larger afterwards. */
  #mayCut(order: LiveOrder): boolean {
    const isUsers = (order.flags & ORDER_FLAG.nodeMade) === 0;
    return isUsers && order.sequence !== 0 && !isOver(order) && !this.#cutting.has(order.index);
  }
}

/** Lots in force that have not matched, without replaces that are on their way. */
function restingLots(order: LiveOrder): number {
  if (isOver(order) || order.releasedQuantity === 0) return 0;
  return Math.max(0, lotsWith(order, order, order) - filledOf(order));
}

/** Lots by which orders of the side may rest. */
function reducibleLots({ market, base, settling, pending, restingFills }: AccountPosition, side: Side): number {
  if (market === null) return 0;
  const { bought, sold } = restingFills;
  // Without the fills of resting orders, and with those of them that make the position of this side larger.
  const taken = pending.base - bought + sold;
  const grown = side === SIDE.sell ? bought : -sold;
  return offsetLots(side, base + settling.base + taken + grown, market.definition.quantityDecimals);
}
