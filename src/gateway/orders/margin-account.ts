/**
 * One margin-type sub-account as pre-flight sees it: its spot balances, its positions, its open orders (service spec 2.8,
 * MRG-12 to MRG-23, AMB-142).
 *
 *   flushed     what clearing has booked: what reads show
 *   optimistic  flushed, and every fill that is on its way: what orders are judged by
 *
 *   capacity = initial-margin surplus of the optimistic account − max(Σ buys' requirement, Σ sells' requirement)
 *
 * Each position has queues of orders: margin buys and sells, which net against it; spot buys, which turn USD into collateral of
 * less weight and net against nothing (AMB-47); and reduce-only buys and sells, which add no exposure: what the position
 * nets of them is their room (MRG-22, MON-09). A spot sell adds no exposure either: it frees collateral.
 *
 * Invariants
 *   (1) The offset of a queue that nets is the opposite optimistic base, in lots.
 *   (2) pending = the sum of undecided fills, `undecided` of them; settling = confirmed ones until the position that contains them
 *       arrives.
 *
 * Not here: what an order may still add (order-exposure.ts), the check of an order (margin-check.ts), the formulas (src/risk).
 */
import { assert } from '../../core/assert.ts';
import { type AssetId, USD, type UserId } from '../../core/ids.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { addInitial, addInitialUsd, emptyInitial, initialSurplus } from '../../risk/account.ts';
import { moveInterest } from '../../risk/caps.ts';
import { capacityOf, offsetLots, requirementOf } from '../../risk/exposure.ts';
import { ExposureQueue } from '../../risk/exposure-queue.ts';
import type { Legs } from '../../risk/position.ts';
import type { AssetRisks } from './asset-risks.ts';
import { optimisticOf, type SpotAccount } from './holds.ts';
import type { MarketSlot } from './markets.ts';

/** Both legs, signed, 18 decimals. */
interface LegPair {
  base: bigint;
  quote: bigint;
}

/** What one fill moves in a position, the fee in the quote. */
export interface LegMove {
  readonly base: bigint;
  readonly quote: bigint;
  /** Its order rested: the account did not ask for it in this moment. */
  readonly isMaker: boolean;
}

/** Entries are owned by orders, by their index. */
export type OrderQueue = ExposureQueue<number>;

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
  /** Fills of the account in this market without an outcome. */
  undecided: number;
  /** Of `pending` the base that orders of the account which rested have bought, and have sold. */
  readonly restingFills: { bought: bigint; sold: bigint };
  /**
   * The position has shrunk without its user: by an order of the node, by deleveraging, by the rollback of a fill for another's
   * fault. Reduce-only fills of trades through this one that it no longer covers are no fault of the user (MON-09); infinite
   * until its reduce-only orders are cut.
   */
  forcedThrough: number;
  /** The optimistic base as it stands in the legs of all users (src/risk/caps.ts). */
  summed: bigint;
  messageNumber: number;
  readonly buys: OrderQueue;
  readonly sells: OrderQueue;
  readonly spotBuys: OrderQueue;
  /** Null before the first. */
  reduceOnly: ReduceOnlyOrders | null;
}

/** Reduce-only orders of an account in one market; queues by side. They add no exposure. */
export interface ReduceOnlyOrders {
  /** Those that may rest, by their admission. */
  readonly resting: readonly [OrderQueue, OrderQueue];
  /** Those that take at once and have not ended: none is taken beyond the position that they leave. */
  readonly arriving: readonly [OrderQueue, OrderQueue];
}

/** Base leg with every fill on its way. */
export function optimisticBase({ base, pending, settling }: Position): bigint {
  return base + pending.base + settling.base;
}

export function optimisticQuote({ quote, pending, settling }: Position): bigint {
  return quote + pending.quote + settling.quote;
}

/** Whether no order of the account may add exposure in this market. */
function isIdle({ buys, sells, spotBuys }: Position): boolean {
  return buys.isEmpty && sells.isEmpty && spotBuys.isEmpty;
}

/** Whether an order of the account in this market might borrow. */
function mightBorrow({ buys, sells }: Position): boolean {
  return buys.counted > 0n || sells.counted > 0n;
}

/** A queue as it would be, for a question. */
export interface WhatIf {
  readonly queue: OrderQueue;
  readonly counted: bigint;
}

const NOTHING_ELSE: readonly WhatIf[] = [];

/** Margin requirement of open orders by side. */
export interface Requirements {
  readonly buys: Amount18;
  readonly sells: Amount18;
}

export class MarginAccount {
  readonly user: UserId;
  readonly index: number;
  readonly spot: SpotAccount;
  readonly #assets: AssetRisks;
  readonly #toCheck: Set<Position>;
  readonly #positions = new Map<AssetId, Position>();
  /** Rises with every change of a position. */
  #changes = 0;
  #exposures = 0;
  readonly #seen = { assets: -1, spot: -1, own: -1 };
  readonly #sums = emptyInitial();

  /** @param toCheck gets positions with reduce-only orders that have moved (reduce-only-excess.ts). */
  constructor(user: UserId, index: number, spot: SpotAccount, assets: AssetRisks, toCheck: Set<Position>) {
    this.#toCheck = toCheck;
    this.user = user;
    this.index = index;
    this.spot = spot;
    this.#assets = assets;
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
      undecided: 0,
      restingFills: { bought: 0n, sold: 0n },
      forcedThrough: 0,
      summed: 0n,
      messageNumber: 0,
      buys: new ExposureQueue(),
      sells: new ExposureQueue(),
      spotBuys: new ExposureQueue(),
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

  /** A fill without an outcome. */
  pend(position: Position, move: LegMove): void {
    this.#addPending(position, move, 1);
    this.#moved(position);
  }

  rollBack(position: Position, move: LegMove): void {
    this.#addPending(position, move, -1);
    this.#moved(position);
  }

  #addPending(position: Position, move: LegMove, sign: 1 | -1): void {
    addTo(position.pending, move, BigInt(sign));
    position.undecided += sign;
    if (!move.isMaker) return;
    const { restingFills } = position;
    if (move.base > 0n) restingFills.bought += move.base * BigInt(sign);
    else restingFills.sold -= move.base * BigInt(sign);
  }

  /** @param confirmedAt the count of clearing's events at its confirmation; a position that came after it contains the fill. */
  confirm(position: Position, move: LegMove, confirmedAt: number): void {
    this.#addPending(position, move, -1);
    if (position.messageNumber <= confirmedAt) addTo(position.settling, move, 1n);
    this.#moved(position);
  }

  /** The market of a position becomes known with the first order in it. */
  enter(position: Position, market: MarketSlot): void {
    if (position.market !== null) return;
    position.market = market;
    this.#moved(position);
  }

  /** The reduce-only orders of a position with a known market, created empty. */
  reduceOnlyOf(position: Position): ReduceOnlyOrders {
    if (position.reduceOnly === null) {
      const queues = (): readonly [OrderQueue, OrderQueue] => [new ExposureQueue(), new ExposureQueue()];
      position.reduceOnly = { resting: queues(), arriving: queues() };
      this.#moved(position);
    }
    return position.reduceOnly;
  }

  #moved(position: Position): void {
    this.#changes += 1;
    const { market, buys, sells, reduceOnly } = position;
    const base = optimisticBase(position);
    moveInterest(this.#assets.legs(position.asset), position.summed, base);
    position.summed = base;
    if (market === null) return;
    const { quantityDecimals } = market.definition;
    const short = offsetLots(SIDE.buy, base, quantityDecimals);
    const long = offsetLots(SIDE.sell, base, quantityDecimals);
    buys.setOffset(short);
    sells.setOffset(long);
    if (reduceOnly === null) return;
    this.#toCheck.add(position);
    for (const [shrinksShort, shrinksLong] of [reduceOnly.resting, reduceOnly.arriving]) {
      shrinksShort.setOffset(short);
      shrinksLong.setOffset(long);
    }
  }

  /** Of the optimistic account: the smaller of both prices (AMB-49). */
  surplus(): Amount18 {
    this.#sum();
    return initialSurplus(this.#sums);
  }

  /** An order of the account has another exposure. */
  exposureChanged(): void {
    this.#exposures += 1;
  }

  /** A reduce-only order of the position has changed, or what was on its way about one has arrived. */
  reduceOnlyChanged(position: Position): void {
    this.#toCheck.add(position);
  }

  /** Two equal ones: nothing of the account has changed in between, prices included. */
  get version(): number {
    return this.#assets.version + this.spot.changes + this.#changes + this.#exposures;
  }

  /** Whether an oracle or mark price of any of its assets, debts or markets is younger than this. */
  pricedSince(sinceNs: TimestampNs): boolean {
    const assets = this.#assets;
    for (let balance = this.spot.first; balance !== null; balance = balance.next) {
      if (optimisticOf(balance) !== 0n && assets.pricedSince(balance.asset, sinceNs)) return true;
    }
    for (const position of this.#positions.values()) {
      if (assets.pricedSince(position.asset, sinceNs)) return true;
    }
    return false;
  }

  /** Whether it has to do with an asset of which no price has come since the start (AMB-110). */
  get awaitsPrice(): boolean {
    const assets = this.#assets;
    if (!assets.awaitsPrices) return false;
    for (let balance = this.spot.first; balance !== null; balance = balance.next) {
      if (assets.awaitsPrice(balance.asset) && optimisticOf(balance) !== 0n) return true;
    }
    for (const position of this.#positions.values()) {
      const isFlat = optimisticBase(position) === 0n && isIdle(position);
      if (!isFlat && assets.awaitsPrice(position.asset)) return true;
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

  /** @param whatIf queues that are taken to count something else. */
  requirements(whatIf: readonly WhatIf[] = NOTHING_ELSE): Requirements {
    let [buys, sells] = [0n, 0n];
    for (const position of this.#positions.values()) {
      buys += this.#requirementOf(position, SIDE.buy, position.buys, whatIf);
      buys += this.#requirementOf(position, SIDE.buy, position.spotBuys, whatIf);
      sells += this.#requirementOf(position, SIDE.sell, position.sells, whatIf);
    }
    return { buys: buys as Amount18, sells: sells as Amount18 };
  }

  #requirementOf(position: Position, side: Side, queue: OrderQueue, whatIf: readonly WhatIf[]): Amount18 {
    let { counted } = queue;
    for (const other of whatIf) if (other.queue === queue) counted = other.counted;
    return this.requirementOf(position, side, counted);
  }

  /** Of a notional that a queue of this side counts. */
  requirementOf({ market, asset }: Position, side: Side, counted: bigint): Amount18 {
    if (counted === 0n) return ZERO_18;
    assert(market !== null, 'a position with orders knows its market');
    return requirementOf(side, counted, this.#assets.terms(asset), market.definition.takerFeeRate);
  }

  /** The queues that count on a side. */
  *queues(side: Side): Iterable<{ readonly position: Position; readonly queue: OrderQueue }> {
    for (const position of this.#positions.values()) {
      const { buys, sells, spotBuys } = position;
      for (const queue of side === SIDE.buy ? [buys, spotBuys] : [sells]) yield { position, queue };
    }
  }

  /** Lots by which margin orders of a side may add to the position. */
  countedLots({ buys, sells }: Position, side: Side): bigint {
    return (side === SIDE.buy ? buys : sells).countedLots;
  }

  /** Whether any order of it adds exposure. */
  get hasOrders(): boolean {
    for (const position of this.#positions.values()) if (!isIdle(position)) return true;
    return false;
  }

  /** What is left for more risk, also `available_margin` (MRG-16). */
  capacity(whatIf: readonly WhatIf[] = NOTHING_ELSE): Amount18 {
    const { buys, sells } = this.requirements(whatIf);
    return capacityOf(this.surplus(), buys, sells);
  }

  #sum(): void {
    const { spot } = this;
    const seen = this.#seen;
    if (seen.assets === this.#assets.version && seen.spot === spot.changes && seen.own === this.#changes) return;
    const sums = this.#sums;
    sums.initialOracle = 0n;
    sums.initialMark = 0n;
    sums.hasBorrows = false;
    for (let balance = spot.first; balance !== null; balance = balance.next) {
      const amount = optimisticOf(balance);
      if (balance.asset === USD) addInitialUsd(sums, amount);
      else addInitial(sums, this.#assets.terms(balance.asset), amount);
    }
    for (const position of this.#positions.values()) {
      addInitial(sums, this.#assets.terms(position.asset), optimisticBase(position));
      addInitialUsd(sums, optimisticQuote(position));
    }
    seen.assets = this.#assets.version;
    seen.spot = spot.changes;
    seen.own = this.#changes;
  }
}

function addTo(pair: LegPair, { base, quote }: Pick<LegMove, 'base' | 'quote'>, sign: bigint): void {
  pair.base += base * sign;
  pair.quote += quote * sign;
}
