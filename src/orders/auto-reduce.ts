/**
 * Open orders of an account whose capacity has become negative (AR-01 to AR-06, AMB-61, EX-17): the heavier side gives
 * way, farthest from the market first, by the fewest lots that suffice.
 *
 *   price, position, order ─▶ capacity < 0 ─▶ plan ─▶ replace or cancel, made by the node ─▶ market ─▶ Replaced, Canceled
 *                                 ▲                                                                    │
 *                                 └────────────────── cooldown of the sub-account ◀────────────────────┘
 *
 * Left alone: market makers; orders that never rest; those about which a request is on its way; those that press nothing,
 * as reduce-only ones, what waits for a trigger, and what the position covers; after a start, accounts until every asset
 * that they have to do with has had a new price (AMB-110). What is left below the market's minimum
 * is cancelled, and so is a child of which more may come.
 *
 * Looked at in rounds, a bounded number of accounts a time. Not here: the messages (src/node).
 */
import { larger, powerOfTen } from '../core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TIF } from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Accounts } from './accounts.ts';
import type { AssetDesk } from './asset-desk.ts';
import { isChild, isWhole, type LiveOrder } from './live-order.ts';
import type { MarginAccount, OrderLane, Position } from './margin-account.ts';
import type { MarginAccounts } from './margin-accounts.ts';
import { isOver } from './needs.ts';
import type { OrderSettings } from './settings.ts';

/** Accounts that one look passes, and those of them whose capacity it works out. */
const PASSED_MAX = 1_024;
const WORKED_OUT_MAX = 64;

export interface Reduction {
  readonly order: LiveOrder;
  /** The new total, filled part included; 0: the order is cancelled. */
  readonly total: number;
}

/** Takes a reduction to the market; false: there is no room, nothing was done. */
export type Reduce = (reduction: Reduction) => boolean;

/** One order of the heavier side that may give way. */
interface Candidate {
  readonly position: Position;
  readonly lane: OrderLane;
  readonly order: LiveOrder;
  readonly lots: number;
  readonly counted: number;
  readonly lotPrice: bigint;
  /** |limit − reference|, and the reference, in 10^-18 USD of one unit. */
  readonly distance: bigint;
  readonly reference: bigint;
}

/** What to reduce, in this order; nothing where the capacity is not negative. */
export function planReductions(account: MarginAccount, desk: AssetDesk): readonly Reduction[] {
  const { buys, sells } = account.pressures();
  const side: Side = buys >= sells ? SIDE.buy : SIDE.sell;
  const heavier = larger(buys, sells);
  const surplus = account.surplus();
  const bearable = surplus > 0n ? surplus : 0n;
  if (heavier <= bearable) return [];
  const reductions: Reduction[] = [];
  const counted = new Map<OrderLane, bigint>();
  let pressure: bigint = heavier;
  for (const candidate of candidatesOf(account, side, desk).sort(farthestFirst)) {
    if (pressure <= bearable) break;
    const { lane, position, order, lots, lotPrice } = candidate;
    const before = counted.get(lane) ?? lane.counted;
    const pressed = account.pressureOf(position, side, before);
    const others = pressure - pressed;
    const suffices = (off: number): boolean =>
      others + account.pressureOf(position, side, before - lotPrice * BigInt(off)) <= bearable;
    // Most of many go whole: one question, where the search asks as often as the number of lots has bits.
    const off = suffices(candidate.counted) ? fewestLots(candidate.counted, suffices) : candidate.counted;
    const isCancelled = lots - off < order.market.definition.minimumQuantity || (isChild(order) && !isWhole(order));
    const after = before - lotPrice * BigInt(isCancelled ? candidate.counted : off);
    counted.set(lane, after);
    pressure = others + account.pressureOf(position, side, after);
    reductions.push({ order, total: isCancelled ? 0 : order.quantity - off });
  }
  return reductions;
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

function candidatesOf(account: MarginAccount, side: Side, desk: AssetDesk): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { position, lane } of account.lanes(side)) {
    const reference = desk.terms(position.asset).prices.mark;
    for (const { owner: order, exposure, netted } of lane.counting()) {
      const { lots, lotPrice } = exposure;
      if (!isReducible(order)) continue;
      const limit = BigInt(order.price) * powerOfTen(18 - order.market.definition.priceDecimals);
      const distance = limit > reference ? limit - reference : reference - limit;
      candidates.push({ position, lane, order, lots, counted: lots - netted, lotPrice, distance, reference });
    }
  }
  return candidates;
}

/** It rests, nothing about it is on its way, and a user made it (AR-04). */
export function isReducible(order: LiveOrder): boolean {
  const { kind, tif, flags } = order.terms;
  const rests = kind === ORDER_KIND.limit && (tif === TIF.gtc || tif === TIF.gtd);
  return rests && order.sequence !== 0 && order.requests === 0 && !isOver(order) && (flags & ORDER_FLAG.nodeMade) === 0;
}

/** By distance in parts of the reference; equal ones the newest first (AMB-61). */
function farthestFirst(a: Candidate, b: Candidate): number {
  const [far, near] = [a.distance * b.reference, b.distance * a.reference];
  if (far !== near) return far > near ? -1 : 1;
  if (a.order.timestampNs !== b.order.timestampNs) return a.order.timestampNs > b.order.timestampNs ? -1 : 1;
  return b.order.sequence - a.order.sequence;
}

/** Of an account that has orders: when it was looked at last, and until when it is left alone. */
interface Watched {
  version: number;
  isExempt: boolean;
  cooldownEndNs: bigint;
}

export class AutoReduce {
  readonly #accounts: Accounts;
  readonly #margins: MarginAccounts;
  readonly #reduce: Reduce;
  readonly #watched = new Map<MarginAccount, Watched>();
  #round: Iterator<MarginAccount> = [].values();

  constructor(accounts: Accounts, margins: MarginAccounts, reduce: Reduce) {
    this.#accounts = accounts;
    this.#margins = margins;
    this.#reduce = reduce;
  }

  /** Every turn. The caller has brought the asset desk up to `nowNs`. */
  look(settings: OrderSettings, nowNs: TimestampNs): void {
    if (!settings.autoReduces || this.#margins.withOrders.size === 0) return;
    const most = Math.min(PASSED_MAX, this.#margins.withOrders.size);
    let workedOut = 0;
    for (let passed = 0; passed < most && workedOut < WORKED_OUT_MAX; passed += 1) {
      const account = this.#next();
      if (account !== null && this.#lookAt(account, settings, nowNs)) workedOut += 1;
    }
  }

  /** In rounds; null when nobody is left. */
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
    const watched = this.#watched.get(account) ?? { version: -1, isExempt: false, cooldownEndNs: 0n };
    const { version } = account;
    const isExempt = this.#accounts.isMarketMaker(account.user);
    const isSeen = watched.version === version && watched.isExempt === isExempt;
    if (isSeen || nowNs < watched.cooldownEndNs) return false;
    if (account.awaitsPrice) return true;
    watched.isExempt = isExempt;
    this.#watched.set(account, watched);
    if (isExempt || account.capacity() >= 0n) {
      watched.version = version;
      return true;
    }
    const reductions = planReductions(account, this.#margins.desk);
    const isSent = reductions.every((reduction) => this.#reduce(reduction));
    if (reductions.length > 0) watched.cooldownEndNs = nowNs + autoReduceCooldownNs;
    else if (isSent) watched.version = version;
    return true;
  }
}
