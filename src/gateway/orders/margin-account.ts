/**
 * One margin-type sub-account as pre-flight sees it: its spot balances, its positions, its open orders (service spec 2.8,
 * MRG-12 to MRG-23, AMB-142).
 *
 *   flushed     what clearing has booked: what reads show
 *   optimistic  flushed, and every fill that is on its way: what orders are judged by
 *
 *   capacity = initial-margin surplus of the optimistic account − max(Σ buy pressure, Σ sell pressure)
 *
 * Each position has lanes of orders: margin buys and sells, which net against it; reduce-only buys and sells, which net
 * against it once more by themselves, so that only what exceeds it counts (MRG-22, AMB-27); and spot buys, which turn USD
 * into collateral of less weight and net against nothing (AMB-47). A spot sell presses nothing: it frees collateral.
 *
 * Invariants
 *   (1) The offset of a lane that nets is the opposite optimistic base, in lots.
 *   (2) pending = the sum of undecided fills; settling = confirmed ones until the position that contains them is told.
 *
 * Not here: what an order may still do (exposure.ts), who is admitted (margin-check.ts), the formulas (src/risk).
 */
import { assert } from '../../core/assert.ts';
import { type AssetId, USD, type UserId } from '../../core/ids.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { addInitial, addInitialUsd, emptyInitial, initialSurplus } from '../../risk/account.ts';
import type { Legs } from '../../risk/position.ts';
import { capacityOf, offsetLots, pressureOf } from '../../risk/pressure.ts';
import type { AssetDesk } from './asset-desk.ts';
import { moveLegs } from './cap-check.ts';
import { optimisticOf, type SpotAccount } from './holds.ts';
import type { LiveOrder } from './live-order.ts';
import type { MarketSlot } from './markets.ts';
import { PressureLane } from './pressure-lane.ts';

/** Both legs, signed, 18 decimals. */
interface LegPair {
  base: bigint;
  quote: bigint;
}

/** What one fill moves in a position, the fee in the quote. */
export interface LegMove {
  readonly base: bigint;
  readonly quote: bigint;
}

export type OrderLane = PressureLane<LiveOrder>;

/** A position with the orders in its market. Changed only by its account. */
export interface Position {
  readonly account: MarginAccount;
  readonly asset: AssetId;
  /** Null until an order of the account is in it. */
  market: MarketSlot | null;
  /** Flushed. */
  base: Amount18;
  quote: Amount18;
  /** What the open base cost, without fees. */
  entry: Amount18;
  readonly pending: LegPair;
  readonly settling: LegPair;
  /** The optimistic base as it stands in the legs of all users (cap-check.ts). */
  summed: bigint;
  messageNumber: number;
  readonly buys: OrderLane;
  readonly sells: OrderLane;
  readonly spotBuys: OrderLane;
  /** Null before the first. */
  reduceOnly: ReduceOnlyOrders | null;
}

/** Reduce-only orders of an account in one market; lanes by side. */
export interface ReduceOnlyOrders {
  readonly live: Set<LiveOrder>;
  /** Those that may rest or are sized in quote: what exceeds the position presses. */
  readonly pressing: readonly [OrderLane, OrderLane];
  /** Those that are judged on arrival and have not ended: they press nothing, and none is taken beyond the position. */
  readonly arriving: readonly [OrderLane, OrderLane];
}

/** Base leg with every fill on its way. */
export function optimisticBase({ base, pending, settling }: Position): bigint {
  return base + pending.base + settling.base;
}

export function optimisticQuote({ quote, pending, settling }: Position): bigint {
  return quote + pending.quote + settling.quote;
}

/** Whether no order of the account may press in this market. */
function isIdle({ buys, sells, spotBuys, reduceOnly }: Position): boolean {
  const isFree = reduceOnly === null || reduceOnly.pressing.every((lane) => lane.isEmpty);
  return buys.isEmpty && sells.isEmpty && spotBuys.isEmpty && isFree;
}

/** Whether an order of the account in this market might borrow. */
function mightBorrow({ buys, sells, reduceOnly }: Position): boolean {
  if (buys.counted > 0n || sells.counted > 0n) return true;
  return reduceOnly?.pressing.some(({ counted }) => counted > 0n) === true;
}

/** A lane as it would be, for a question. */
export interface WhatIf {
  readonly lane: OrderLane;
  readonly counted: bigint;
}

const NOTHING_ELSE: readonly WhatIf[] = [];

export interface Pressures {
  readonly buys: Amount18;
  readonly sells: Amount18;
}

export class MarginAccount {
  readonly user: UserId;
  readonly index: number;
  readonly spot: SpotAccount;
  readonly #desk: AssetDesk;
  readonly #positions = new Map<AssetId, Position>();
  /** Rises with every change of a position. */
  #changes = 0;
  #weighings = 0;
  readonly #seen = { desk: -1, spot: -1, own: -1 };
  readonly #sums = emptyInitial();

  constructor(user: UserId, index: number, spot: SpotAccount, desk: AssetDesk) {
    this.user = user;
    this.index = index;
    this.spot = spot;
    this.#desk = desk;
  }

  /** Made empty if there is none. */
  position(asset: AssetId): Position {
    const known = this.#positions.get(asset);
    if (known !== undefined) return known;
    const fresh: Position = {
      account: this,
      asset,
      market: null,
      base: ZERO_18,
      quote: ZERO_18,
      entry: ZERO_18,
      pending: { base: 0n, quote: 0n },
      settling: { base: 0n, quote: 0n },
      summed: 0n,
      messageNumber: 0,
      buys: new PressureLane(),
      sells: new PressureLane(),
      spotBuys: new PressureLane(),
      reduceOnly: null,
    };
    this.#positions.set(asset, fresh);
    return fresh;
  }

  /** Those that were ever open or traded in. */
  positions(): Iterable<Position> {
    return this.#positions.values();
  }

  find(asset: AssetId): Position | undefined {
    return this.#positions.get(asset);
  }

  /** Clearing's absolute legs; they contain every fill confirmed before them. */
  setLegs(position: Position, legs: Legs, messageNumber: number): void {
    position.base = legs.base;
    position.quote = legs.quote;
    position.entry = legs.entry;
    position.settling.base = 0n;
    position.settling.quote = 0n;
    position.messageNumber = messageNumber;
    this.#moved(position);
  }

  /** A fill whose outcome clearing owes. */
  pend(position: Position, move: LegMove): void {
    addTo(position.pending, move, 1n);
    this.#moved(position);
  }

  rollBack(position: Position, move: LegMove): void {
    addTo(position.pending, move, -1n);
    this.#moved(position);
  }

  /** @param confirmedAt the count of clearing's words when it said so; a position told later contains the fill. */
  confirm(position: Position, move: LegMove, confirmedAt: number): void {
    addTo(position.pending, move, -1n);
    if (position.messageNumber <= confirmedAt) addTo(position.settling, move, 1n);
    this.#moved(position);
  }

  /** The market of a position becomes known with the first order in it. */
  enter(position: Position, market: MarketSlot): void {
    if (position.market !== null) return;
    position.market = market;
    this.#moved(position);
  }

  /** The reduce-only orders of a position whose market is known, made with none in it. */
  reduceOnlyOf(position: Position): ReduceOnlyOrders {
    if (position.reduceOnly === null) {
      const lanes = (): readonly [OrderLane, OrderLane] => [new PressureLane(), new PressureLane()];
      position.reduceOnly = { live: new Set(), pressing: lanes(), arriving: lanes() };
      this.#moved(position);
    }
    return position.reduceOnly;
  }

  #moved(position: Position): void {
    this.#changes += 1;
    const { market, buys, sells, reduceOnly } = position;
    const base = optimisticBase(position);
    moveLegs(this.#desk.legs(position.asset), position.summed, base);
    position.summed = base;
    if (market === null) return;
    const { quantityDecimals } = market.definition;
    const short = offsetLots(SIDE.buy, base, quantityDecimals);
    const long = offsetLots(SIDE.sell, base, quantityDecimals);
    buys.setOffset(short);
    sells.setOffset(long);
    if (reduceOnly === null) return;
    for (const [shrinksShort, shrinksLong] of [reduceOnly.pressing, reduceOnly.arriving]) {
      shrinksShort.setOffset(short);
      shrinksLong.setOffset(long);
    }
  }

  /** Of the optimistic account: the smaller of both prices (AMB-49). */
  surplus(): Amount18 {
    this.#sum();
    return initialSurplus(this.#sums);
  }

  /** An order of the account weighs something else. */
  reweighed(): void {
    this.#weighings += 1;
  }

  /** Two equal ones: nothing of the account has changed in between, prices included. */
  get version(): number {
    return this.#desk.version + this.spot.changes + this.#changes + this.#weighings;
  }

  /** Rises whenever a position of it or what an order may do has changed; prices and balances aside. */
  get moves(): number {
    return this.#changes + this.#weighings;
  }

  /** Whether an oracle or mark price of anything that it owns, owes or trades is younger than this. */
  pricedSince(sinceNs: TimestampNs): boolean {
    const desk = this.#desk;
    for (const balance of this.spot.balances.values()) {
      if (optimisticOf(balance) !== 0n && desk.pricedSince(balance.asset, sinceNs)) return true;
    }
    for (const position of this.#positions.values()) {
      if (desk.pricedSince(position.asset, sinceNs)) return true;
    }
    return false;
  }

  /** Whether it has to do with an asset of which no price has come since the start (AMB-110). */
  get awaitsPrice(): boolean {
    const desk = this.#desk;
    if (!desk.awaitsPrices) return false;
    for (const balance of this.spot.balances.values()) {
      if (desk.awaitsPrice(balance.asset) && optimisticOf(balance) !== 0n) return true;
    }
    for (const position of this.#positions.values()) {
      const isFlat = optimisticBase(position) === 0n && isIdle(position);
      if (!isFlat && desk.awaitsPrice(position.asset)) return true;
    }
    return false;
  }

  /** Whether the optimistic account has a negative leg (MRG-13). */
  get hasBorrows(): boolean {
    this.#sum();
    return this.#sums.hasBorrows;
  }

  /** Whether margin counts for it now: it borrows, or has an order that might. */
  get isLeveraged(): boolean {
    if (this.hasBorrows) return true;
    for (const position of this.#positions.values()) if (mightBorrow(position)) return true;
    return false;
  }

  /** @param whatIf lanes that are taken to count something else. */
  pressures(whatIf: readonly WhatIf[] = NOTHING_ELSE): Pressures {
    let [buys, sells] = [0n, 0n];
    for (const position of this.#positions.values()) {
      buys += this.#pressureOf(position, SIDE.buy, position.buys, whatIf);
      buys += this.#pressureOf(position, SIDE.buy, position.spotBuys, whatIf);
      sells += this.#pressureOf(position, SIDE.sell, position.sells, whatIf);
      if (position.reduceOnly === null) continue;
      const [reduceOnlyBuys, reduceOnlySells] = position.reduceOnly.pressing;
      buys += this.#pressureOf(position, SIDE.buy, reduceOnlyBuys, whatIf);
      sells += this.#pressureOf(position, SIDE.sell, reduceOnlySells, whatIf);
    }
    return { buys: buys as Amount18, sells: sells as Amount18 };
  }

  #pressureOf(position: Position, side: Side, lane: OrderLane, whatIf: readonly WhatIf[]): Amount18 {
    let { counted } = lane;
    for (const other of whatIf) if (other.lane === lane) counted = other.counted;
    return this.pressureOf(position, side, counted);
  }

  /** Of a notional that a lane of this side counts. */
  pressureOf({ market, asset }: Position, side: Side, counted: bigint): Amount18 {
    if (counted === 0n) return ZERO_18;
    assert(market !== null, 'a position with orders knows its market');
    return pressureOf(side, counted as Amount18, this.#desk.terms(asset), market.definition.takerFeeRate);
  }

  /** The lanes that press on a side. */
  *lanes(side: Side): Iterable<{ readonly position: Position; readonly lane: OrderLane }> {
    for (const position of this.#positions.values()) {
      const { buys, sells, spotBuys, reduceOnly } = position;
      for (const lane of side === SIDE.buy ? [buys, spotBuys] : [sells]) yield { position, lane };
      if (reduceOnly !== null) yield { position, lane: reduceOnly.pressing[side] };
    }
  }

  /** Lots by which margin orders of a side may add to the position. */
  countedLots({ buys, sells, reduceOnly }: Position, side: Side): bigint {
    const own = side === SIDE.buy ? buys : sells;
    return own.countedLots + (reduceOnly === null ? 0n : reduceOnly.pressing[side].countedLots);
  }

  /** Whether any order of it weighs something. */
  get hasOrders(): boolean {
    for (const position of this.#positions.values()) if (!isIdle(position)) return true;
    return false;
  }

  /** What is left for more risk, also `available_margin` (MRG-16). */
  capacity(whatIf: readonly WhatIf[] = NOTHING_ELSE): Amount18 {
    const { buys, sells } = this.pressures(whatIf);
    return capacityOf(this.surplus(), buys, sells);
  }

  #sum(): void {
    const { spot } = this;
    const seen = this.#seen;
    if (seen.desk === this.#desk.version && seen.spot === spot.changes && seen.own === this.#changes) return;
    const sums = this.#sums;
    sums.initialOracle = 0n;
    sums.initialMark = 0n;
    sums.hasBorrows = false;
    for (const balance of spot.balances.values()) {
      const amount = optimisticOf(balance);
      if (balance.asset === USD) addInitialUsd(sums, amount);
      else addInitial(sums, this.#desk.terms(balance.asset), amount);
    }
    for (const position of this.#positions.values()) {
      addInitial(sums, this.#desk.terms(position.asset), optimisticBase(position));
      addInitialUsd(sums, optimisticQuote(position));
    }
    seen.desk = this.#desk.version;
    seen.spot = spot.changes;
    seen.own = this.#changes;
  }
}

function addTo(pair: LegPair, { base, quote }: LegMove, sign: bigint): void {
  pair.base += base * sign;
  pair.quote += quote * sign;
}
