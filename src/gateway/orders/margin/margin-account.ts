/**
 * One margin-type sub-account as pre-flight sees it: its spot balances, its positions, its open orders (service spec 2.8,
 * MRG-12 to MRG-23, AMB-142).
 *
 *   flushed     what clearing has booked: what reads show
 *   optimistic  flushed, and every fill that is on its way: what orders are judged by
 *
 *   capacity = initial-margin surplus of the optimistic account − max(Σ buys' requirement, Σ sells' requirement)
 *
 * Each position has queues of orders: margin buys and sells, which net against it; spot buys, which turn USD into
 * collateral of less weight and net against nothing (AMB-47); and reduce-only buys and sells, which add no exposure: what
 * the position nets of them is their room (MRG-22, MON-09). A spot sell adds no exposure either: it frees collateral.
 *
 * Invariants
 *   (1) The offset of a queue that nets is the opposite optimistic base, in lots.
 *   (2) pending = the sum of undecided fills, `undecided` of them; settling = confirmed ones until the position that contains them
 *       arrives.
 *
 * What fills of its orders may cost is kept beside the pressure that is reported: an order is taken only if the surplus
 * covers every fill that it and all others allow (MON-07, src/risk/worst-loss.ts).
 *
 * Not here: what an order may still add (order-exposure.ts), the check of an order (margin-check.ts), the formulas
 * (src/risk).
 */
import { mulDivFloor, powerOfTen } from '../../../core/arithmetic.ts';
import { assert } from '../../../core/assert.ts';
import { type AssetId, USD, type UserId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import { SIDE, type Side } from '../../../core/order-terms.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../../../core/units.ts';
import {
  addInitial,
  addInitialUsd,
  addStored,
  addStoredUsd,
  emptyInitial,
  emptyStoredEquity,
  type InitialSums,
  initialSurplus,
  type StoredEquity,
} from '../../../risk/account.ts';
import { type AssetTerms, WEIGHT_ONE } from '../../../risk/asset-terms.ts';
import type { Measures } from '../../../risk/caps.ts';
import { moveInterest } from '../../../risk/caps.ts';
import { capacityOf, offsetLots, requirementOf } from '../../../risk/exposure.ts';
import type { ExposureEntry } from '../../../risk/exposure-queue.ts';
import { ExposureQueue } from '../../../risk/exposure-queue.ts';
import type { Legs } from '../../../risk/position.ts';
import type { AssetPrices } from '../../../risk/prices.ts';
import type { RiskTerms } from '../../../risk/risk-terms.ts';
import type { LossEntry, LossSide } from '../../../risk/worst-loss.ts';
import {
  type LossAtPrice,
  lossOf,
  MarketLosses,
  NO_LOSS,
  priceWorth,
  type WorstLoss,
} from '../../../risk/worst-loss.ts';
import { optimisticOf, type SpotAccount } from '../balances/balance.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { AssetRisks } from './asset-risks.ts';

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
export interface AccountPosition {
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
  /** The part of `pending` that resting orders of the account have bought and have sold, in base. */
  readonly restingFills: { bought: bigint; sold: bigint };
  /**
   * The position has shrunk without its user: by an order of the node, by deleveraging, by the rollback of a fill for
   * another's fault. Reduce-only fills of trades through this one that it no longer covers are no fault of the user
   * (MON-09); infinite until its reduce-only orders are cut.
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
  /** What fills of its orders may cost, and that figure as it was last worked out. */
  readonly losses: MarketLosses;
  readonly worst: KnownLoss;
}

/** What others have in an asset when an order is taken, what its vaults hold, and what binds it. */
export interface OthersMeasures extends Measures {
  readonly holdings: bigint;
  readonly risk: RiskTerms;
  readonly prices: AssetPrices;
  /** What the user's fills of this kind had undone by then for what others have, 10^-18 of the asset. */
  readonly excused: bigint;
}

/** Where an order of a margin-type account counts, and what its fills move if it is no spot order. */
export interface OrderExposure {
  readonly position: AccountPosition;
  /** Null of a spot sell, which presses on nothing. */
  readonly queue: OrderQueue | null;
  /** Owned by the order, by its index. */
  readonly entry: ExposureEntry<number>;
  readonly losses: LossSide;
  readonly loss: LossEntry;
  /** What a market order is taken to trade at; set when it is released. */
  marketPrice: bigint;
  /**
   * The account's count of undone fills when its terms were taken, and what others had in the asset; null: no cap binds
   * it.
   */
  undone: number;
  others: OthersMeasures | null;
  /** Raw price beyond which a market order is not matched; 0: not known. Set when it is released. */
  bound: number;
}

/** A figure of a position, and what it was worked out from. */
interface KnownLoss {
  terms: AssetTerms | null;
  market: MarketDefinition | null;
  base: bigint;
  version: number;
  loss: WorstLoss;
}

/** Reduce-only orders of an account in one market; queues by side. They add no exposure. */
interface ReduceOnlyOrders {
  /** Orders that may rest, in the order of their admission. */
  readonly resting: readonly [OrderQueue, OrderQueue];
  /** Orders that match on arrival and have not ended: no further one is accepted beyond the position that these leave. */
  readonly arriving: readonly [OrderQueue, OrderQueue];
}

/** Base leg with every fill on its way. */
export function optimisticBase({ base, pending, settling }: AccountPosition): bigint {
  return base + pending.base + settling.base;
}

/** Base leg with the fills that clearing has confirmed. */
export function decidedBase({ base, settling }: AccountPosition): bigint {
  return base + settling.base;
}

export function optimisticQuote({ quote, pending, settling }: AccountPosition): bigint {
  return quote + pending.quote + settling.quote;
}

/** Whether no order of the account may add exposure in this market. */
function isIdle({ buys, sells, spotBuys }: AccountPosition): boolean {
  return buys.isEmpty && sells.isEmpty && spotBuys.isEmpty;
}

/** Whether an order of the account in this market might borrow. */
function mightBorrow(position: AccountPosition): boolean {
  const { buys, sells, market, losses } = position;
  if (buys.counted > 0n || sells.counted > 0n) return true;
  // Reduce-only orders may leave less of the position than the others net against.
  return market !== null && losses.mayOpen(optimisticBase(position), market.definition.quantityDecimals);
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
  readonly #toCheck: Set<AccountPosition>;
  readonly #positions = new Map<AssetId, AccountPosition>();
  /** Fills of it that were undone, not for its own fault. */
  undone = 0;
  /** Rises with every change of a position. */
  #changes = 0;
  #exposures = 0;
  readonly #seen = { assets: -1, spot: -1, own: -1 };
  readonly #sums = emptyInitial();

  /** @param toCheck gets positions with reduce-only orders that have moved (reductions.ts). */
  constructor(user: UserId, index: number, spot: SpotAccount, assets: AssetRisks, toCheck: Set<AccountPosition>) {
    this.#toCheck = toCheck;
    this.user = user;
    this.index = index;
    this.spot = spot;
    this.#assets = assets;
  }

  /** Made empty if there is none. */
  position(asset: AssetId): AccountPosition {
    const known = this.#positions.get(asset);
    if (known !== undefined) return known;
    const fresh = newPosition(this, asset);
    this.#positions.set(asset, fresh);
    return fresh;
  }

  /** Positions that were ever open, or in which the account ever traded. */
  positions(): Iterable<AccountPosition> {
    return this.#positions.values();
  }

  find(asset: AssetId): AccountPosition | undefined {
    return this.#positions.get(asset);
  }

  /** Clearing's absolute legs; they contain every fill confirmed before them. */
  setLegs(position: AccountPosition, legs: Legs, messageNumber: number): void {
    position.base = legs.base;
    position.quote = legs.quote;
    position.entry = legs.entry;
    position.settling.base = 0n;
    position.settling.quote = 0n;
    position.messageNumber = messageNumber;
    this.#moved(position);
  }

  /** A fill without an outcome. */
  pend(position: AccountPosition, move: LegMove): void {
    this.#addPending(position, move, 1);
    this.#moved(position);
  }

  rollBack(position: AccountPosition, move: LegMove): void {
    this.#addPending(position, move, -1);
    this.#moved(position);
  }

  #addPending(position: AccountPosition, move: LegMove, sign: 1 | -1): void {
    addTo(position.pending, move, BigInt(sign));
    position.undecided += sign;
    if (!move.isMaker) return;
    const { restingFills } = position;
    if (move.base > 0n) restingFills.bought += move.base * BigInt(sign);
    else restingFills.sold -= move.base * BigInt(sign);
  }

  /**
   * @param confirmedAt the count of clearing's events at its confirmation; a position that came after it contains the
   * fill.
   */
  confirm(position: AccountPosition, move: LegMove, confirmedAt: number): void {
    this.#addPending(position, move, -1);
    if (position.messageNumber <= confirmedAt) addTo(position.settling, move, 1n);
    this.#moved(position);
  }

  /** The market of a position becomes known with the first order in it. */
  enter(position: AccountPosition, market: MarketSlot): void {
    if (position.market !== null) return;
    position.market = market;
    this.#moved(position);
  }

  /** The reduce-only orders of a position with a known market, created empty. */
  reduceOnlyOf(position: AccountPosition): ReduceOnlyOrders {
    if (position.reduceOnly === null) {
      const queues = (): readonly [OrderQueue, OrderQueue] => [new ExposureQueue(), new ExposureQueue()];
      position.reduceOnly = { resting: queues(), arriving: queues() };
      this.#moved(position);
    }
    return position.reduceOnly;
  }

  #moved(position: AccountPosition): void {
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

  /** The surplus of the optimistic account, at the worse of both prices (AMB-49). */
  surplus(): Amount18 {
    this.#sum();
    return initialSurplus(this.#sums);
  }

  /** An order of the account has another exposure. */
  exposureChanged(): void {
    this.#exposures += 1;
  }

  /** A reduce-only order of the position has changed, or what was on its way about one has arrived. */
  reduceOnlyChanged(position: AccountPosition): void {
    this.#toCheck.add(position);
  }

  /** Two equal ones: nothing of the account has changed in between, prices included. */
  get version(): number {
    return this.#assets.version + this.spot.changes + this.#changes + this.#exposures;
  }

  /** Whether an oracle or mark price of what it owns has fallen since then, or one of what it owes has risen. */
  hasLostSince(sinceNs: TimestampNs): boolean {
    const assets = this.#assets;
    for (let balance = this.spot.first; balance !== null; balance = balance.next) {
      const owned = optimisticOf(balance);
      if (owned !== 0n && assets.movedSince(balance.asset, owned > 0n ? 'fell' : 'rose', sinceNs)) return true;
    }
    for (const position of this.#positions.values()) {
      const base = optimisticBase(position);
      if (base !== 0n && assets.movedSince(position.asset, base > 0n ? 'fell' : 'rose', sinceNs)) return true;
    }
    return false;
  }

  /** Whether it has a part in an asset that has had no price since the start (AMB-110). */
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

  #requirementOf(position: AccountPosition, side: Side, queue: OrderQueue, whatIf: readonly WhatIf[]): Amount18 {
    let { counted } = queue;
    for (const other of whatIf) if (other.queue === queue) counted = other.counted;
    return this.requirementOf(position, side, counted);
  }

  /** The requirement of a notional that a queue of this side counts. */
  requirementOf({ market, asset }: AccountPosition, side: Side, counted: bigint): Amount18 {
    if (counted === 0n) return ZERO_18;
    assert(market !== null, 'a position with orders knows its market');
    return requirementOf(side, counted, this.#assets.terms(asset), market.definition.takerFeeRate);
  }

  /** The queues that count on a side. */
  *queues(side: Side): Iterable<{ readonly position: AccountPosition; readonly queue: OrderQueue }> {
    for (const position of this.#positions.values()) {
      const { buys, sells, spotBuys } = position;
      for (const queue of side === SIDE.buy ? [buys, spotBuys] : [sells]) yield { position, queue };
    }
  }

  /** Lots by which margin orders of a side may add to the position. */
  countedLots({ buys, sells }: AccountPosition, side: Side): bigint {
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

  /**
   * Whether fills that the order's terms allow may leave the account less than it needs (MON-07): with these terms its
   * orders may cost more of the surplus than there is beyond `minimum`; or, where there is none left, more of its equity.
   *
   * @param change sets what the order may still match; it is undone.
   * @param means what the account has; as it stands unless given.
   */
  lacksFor(
    { position, losses, loss: entry }: Pick<OrderExposure, 'position' | 'losses' | 'loss'>,
    minimum: Amount18,
    change: () => void,
    means: AccountMeans | null = null,
  ): boolean {
    const { lots, price, others, reach } = entry;
    const { version } = losses;
    change();
    const after = this.#initialLoss(position);
    const left = this.#leftBeside(position, after, means?.initial ?? this.#initial());
    const isBare = left.oracle < 0n || left.mark < 0n;
    const then = isBare ? this.#distress(position) : null;
    losses.set(entry, lots, price, others, reach);
    losses.version = version;
    // Most accounts have enough: then nothing of before matters.
    if (left.oracle > minimum && left.mark > minimum) return false;
    const before = this.#worstOf(position);
    for (const at of AT_PRICES) {
      // mutant: admission-covers-fills
      if (!adds(before[at], after[at])) continue;
      if (left[at] <= minimum) return true;
    }
    return then !== null && this.#isDistressed(position, then, left, means?.equity() ?? this.#equity());
  }

  #distress(position: AccountPosition): Distress {
    const { market, losses, asset } = position;
    if (market === null) return { worth: NO_LOSS, opening: { oracle: 0n, mark: 0n } };
    const opening = losses.opening(optimisticBase(position), this.#assets.terms(asset), market.definition);
    return { worth: this.#equityLoss(position), opening };
  }

  /**
   * For an account whose surplus does not cover its orders: whether this order may open a position at a loss, whatever
   * the reducing ones bring, or may cost more than the equity that is there.
   */
  #isDistressed(position: AccountPosition, after: Distress, left: AtPrices, equity: StoredEquity): boolean {
    const before = this.#distress(position);
    for (const at of AT_PRICES) {
      if (left[at] >= 0n) continue;
      if (after.opening[at] > before.opening[at]) return true;
      if (!adds(before.worth[at], after.worth[at])) continue;
      let loss = lossOf(after.worth[at]);
      for (const other of this.#positions.values()) {
        if (other !== position) loss += lossOf(this.#equityLoss(other)[at]);
      }
      // mutant: admission-covers-equity
      if (loss > equity[at]) return true;
    }
    return false;
  }

  /**
   * The worst raw price at which the equity covers so many lots of an order that only reduces, whatever else is filled.
   *
   * @returns 0: it covers none.
   */
  coveredPrice(position: AccountPosition, side: Side, lots: number): number {
    const { market, asset } = position;
    if (market === null || lots <= 0) return 0;
    const { prices } = this.#assets.terms(asset);
    const { definition } = market;
    const amount = BigInt(lots) * powerOfTen(18 - definition.quantityDecimals);
    const equity = this.#equity();
    const bounds = AT_PRICES.map((at) => {
      let free = equity[at] - BigInt(lots);
      for (const other of this.#positions.values()) free -= lossOf(this.#equityLoss(other)[at]);
      if (free < 0n) return 0;
      const perUnit = mulDivFloor(free, ONE_18, amount);
      const value = side === SIDE.buy ? prices[at] + perUnit : prices[at] - perUnit;
      return value <= 0n ? 1 : priceWorth(side, value * WEIGHT_ONE, definition);
    });
    if (bounds.includes(0)) return 0;
    return side === SIDE.buy ? Math.min(...bounds) : Math.max(...bounds);
  }

  #leftBeside(position: AccountPosition, loss: WorstLoss, { initialOracle, initialMark }: InitialSums): AtPrices {
    const others = this.#lossBeside(position);
    return {
      oracle: initialOracle - others.oracle - lossOf(loss.oracle),
      mark: initialMark - others.mark - lossOf(loss.mark),
    };
  }

  #initial(): InitialSums {
    this.#sum();
    return this.#sums;
  }

  /** Whether its surplus covers whatever of its orders is filled (MON-07). */
  get coversOrders(): boolean {
    this.#sum();
    const more = this.#lossBeside(null);
    return this.#sums.initialOracle >= more.oracle && this.#sums.initialMark >= more.mark;
  }

  #worstOf(position: AccountPosition): WorstLoss {
    const { market, losses, worst } = position;
    if (market === null || losses.isEmpty) return NO_LOSS;
    const terms = this.#assets.terms(position.asset);
    const base = optimisticBase(position);
    const isKnown =
      worst.terms === terms &&
      worst.market === market.definition &&
      worst.base === base &&
      worst.version === losses.version;
    if (isKnown) return worst.loss;
    worst.terms = terms;
    worst.market = market.definition;
    worst.base = base;
    worst.version = losses.version;
    worst.loss = losses.initial(base, terms, market.definition);
    return worst.loss;
  }

  #initialLoss(position: AccountPosition): WorstLoss {
    const { market, losses, asset } = position;
    if (market === null) return NO_LOSS;
    return losses.initial(optimisticBase(position), this.#assets.terms(asset), market.definition);
  }

  #equityLoss(position: AccountPosition): WorstLoss {
    const { market, losses, asset } = position;
    if (market === null || losses.isEmpty) return NO_LOSS;
    return losses.equity(optimisticBase(position), this.#assets.terms(asset), market.definition);
  }

  /** By what the orders of all positions but one may lower the surplus. */
  #lossBeside(except: AccountPosition | null): AtPrices {
    let [oracle, mark] = [0n, 0n];
    for (const position of this.#positions.values()) {
      if (position === except) continue;
      const loss = this.#worstOf(position);
      if (loss === NO_LOSS) continue;
      oracle += lossOf(loss.oracle);
      mark += lossOf(loss.mark);
    }
    return { oracle, mark };
  }

  /** At the last stored prices, as clearing holds every fill to it (docs/decisions/0014). */
  #equity(): StoredEquity {
    const sums = emptyStoredEquity();
    for (let balance = this.spot.first; balance !== null; balance = balance.next) {
      const amount = optimisticOf(balance);
      if (balance.asset === USD) addStoredUsd(sums, amount);
      else addStored(sums, this.#assets.terms(balance.asset), amount);
    }
    for (const position of this.#positions.values()) {
      addStored(sums, this.#assets.terms(position.asset), optimisticBase(position));
      addStoredUsd(sums, optimisticQuote(position));
    }
    return sums;
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

/** A position that is in no account's list, to answer a question about an asset in which the account has none. */
export function newPosition(account: MarginAccount, asset: AssetId): AccountPosition {
  return {
    account,
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
    losses: new MarketLosses(),
    worst: { terms: null, market: null, base: 0n, version: -1, loss: NO_LOSS },
  };
}

const AT_PRICES = ['oracle', 'mark'] as const;

interface AtPrices {
  readonly oracle: bigint;
  readonly mark: bigint;
}

/** What decides where the surplus does not cover the orders of a position. */
interface Distress {
  readonly worth: WorstLoss;
  readonly opening: AtPrices;
}

/** What an account has. */
export interface AccountMeans {
  readonly initial: InitialSums;
  readonly equity: () => StoredEquity;
}

function adds(before: LossAtPrice, after: LossAtPrice): boolean {
  return after.long > before.long || after.short > before.short || after.spot > before.spot;
}

function addTo(pair: LegPair, { base, quote }: Pick<LegMove, 'base' | 'quote'>, sign: bigint): void {
  pair.base += base * sign;
  pair.quote += quote * sign;
}
