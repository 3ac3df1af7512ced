/**
 * The most initial margin that the open orders of an account may cost it, whatever of them is filled, in whatever order and
 * at whatever better prices (MON-07, docs/decisions/0042). Order entry takes an order only if the surplus covers this.
 *
 * A position of base b is worth f(b) = c·b if it is long and w·b if it is short, with c = im·CF·P ≤ w = (2−im)(2−LF)·P: the
 * smaller of the two lines. So after fills of x lots bought and y lots sold the surplus has fallen by the larger of
 *
 *   as a long    Σ (cost − c)·x + Σ (c − proceeds)·y      less (w−c)·|b| if it was short
 *   as a short   Σ (cost − w)·x + Σ (w − proceeds)·y      less (w−c)·|b| if it was long
 *
 * and each sum is largest with exactly the orders whose lots add to it. Cost and proceeds are those of the order's worst
 * price with the fee. No order of admission is in it: the sums do not depend on which order is filled first.
 *
 *   buy         above c it costs margin as an opening buy, above w even as one that reduces a short
 *   sell        below w it costs margin as an opening sale, below c even as one that reduces a long
 *   spot        the same with c alone: spot balances are never short
 *   reduce-only as the others, but no more lots than there may be of the position; it never opens one
 *
 * What opens is weighed with the im of the next lower step, what reduces with that in force: neither is ever less than what
 * clearing will find while the step stands.
 *
 * Each sum over orders beyond a price is kept: an order, a fill and a cancel cost a few additions. A price that passes no order
 * of the side costs none, one that passes some costs a walk of the side.
 *
 * Not here: which orders an account has, its surplus (src/gateway/orders/margin/margin-account.ts), the pressure that is reported
 * (exposure.ts).
 */
import { larger, mulDivCeil, mulDivFloor, powerOfTen, RATE_SCALE, smaller } from '../core/arithmetic.ts';
import { RAW_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { ONE_18 } from '../core/units.ts';
import { type AssetTerms, WEIGHT_ONE } from './asset-terms.ts';
import { roundsFees } from './buy-holds.ts';

/** A price for one unit times a weight has this scale. */
const WEIGHED = ONE_18 * WEIGHT_ONE;
const HIGHEST_RATE = RATE_SCALE - 1n;

/** Decimals and fee rates of the market. */
type LossMarket = Pick<MarketDefinition, 'priceDecimals' | 'quantityDecimals' | 'makerFeeRate' | 'takerFeeRate'>;

/** What an order may still match, and its worst price. */
export interface LossTerms {
  /** Whole lots, not negative. */
  readonly lots: number;
  /** Raw, above 0. */
  readonly price: number;
}

/** An order in its side. Changed only by the side. */
export interface LossEntry {
  lots: number;
  price: number;
  /** Terms of pending replaces as well: it may come to stand under any of them. Empty for most orders. */
  others: readonly LossTerms[];
  /** The most lots that it may match at any price: of one that is sized in money more than at its worst price. */
  reach: number;
  /** Its index in the side; −1: it is not in. */
  at: number;
}

const NO_OTHERS: readonly LossTerms[] = [];

export function newLossEntry(): LossEntry {
  return { lots: 0, price: 0, others: NO_OTHERS, reach: 0, at: -1 };
}

/** One sum for each price with which orders are compared, so that each follows its own price. */
const SUM = { openOracle: 0, openMark: 1, closeOracle: 2, closeMark: 3, worthOracle: 4, worthMark: 5 } as const;
type Sum = (typeof SUM)[keyof typeof SUM];

/** Orders of a side beyond a price: buys above `cut`, sells at or below it. */
interface Beyond {
  /** What `cut` was worked out from. */
  value: bigint;
  market: LossMarket;
  /** Raw. */
  cut: number;
  lots: bigint;
  /** Σ lots × raw price. */
  notional: bigint;
  /** No price of an order lies between these and `cut`: below ≤ cut < above. */
  below: number;
  above: number;
}

/** Open orders of one side, of one kind, in one market of one sub-account. */
export class LossSide {
  readonly #side: Side;
  readonly #least: bigint;
  readonly #entries: LossEntry[] = [];
  /** Entries with terms of pending replaces: every question visits each of them. */
  readonly #unsettled: Set<LossEntry> = new Set();
  readonly #sums: (Beyond | undefined)[] = [];
  /** The lots of all orders, at their worst prices. */
  #lots = 0n;
  #reach = 0n;
  /** Rises with every change. */
  version = 0;

  /**
   * @param isSpot a fill that costs nothing costs a unit then: of an account below its margin clearing takes a spot order only
   *   if it improves the margin (MRG-15), and a reducing one if it does not lower it.
   */
  constructor(side: Side, isSpot = false) {
    this.#side = side;
    this.#least = isSpot ? 1n : 0n;
  }

  /** Lots that all orders may match at any price. */
  get reach(): bigint {
    return this.#reach;
  }

  get isEmpty(): boolean {
    return this.#lots === 0n;
  }

  /**
   * What the order may still do; no lots: nothing.
   *
   * @param others terms of pending replaces beside the first ones.
   * @param reach the most lots that it may match at any price; those of its terms unless given.
   */
  set(entry: LossEntry, lots: number, price: number, others: readonly LossTerms[] = NO_OTHERS, reach = 0): void {
    this.version += 1;
    this.#remove(entry);
    entry.lots = lots;
    entry.price = price;
    entry.others = others;
    const most = mostLots(entry);
    entry.reach = Math.max(reach, most);
    this.#lots += BigInt(most);
    this.#reach += BigInt(entry.reach);
    if (others.length > 0) this.#unsettled.add(entry);
    else if (lots > 0) this.#add(entry);
  }

  #add(entry: LossEntry): void {
    const { lots, price } = entry;
    entry.at = this.#entries.push(entry) - 1;
    for (const sum of this.#sums) {
      if (sum === undefined) continue;
      if (price > sum.cut) sum.above = Math.min(sum.above, price);
      else sum.below = Math.max(sum.below, price);
      if (this.#isBeyond(price, sum.cut)) grow(sum, BigInt(lots), price);
    }
  }

  #remove(entry: LossEntry): void {
    this.#lots -= BigInt(mostLots(entry));
    this.#reach -= BigInt(entry.reach);
    if (entry.others.length > 0) this.#unsettled.delete(entry);
    if (entry.at < 0) return;
    for (const sum of this.#sums) {
      if (sum !== undefined && this.#isBeyond(entry.price, sum.cut)) grow(sum, -BigInt(entry.lots), entry.price);
    }
    const last = this.#entries.pop() as LossEntry;
    if (last !== entry) {
      this.#entries[entry.at] = last;
      last.at = entry.at;
    }
    entry.at = -1;
  }

  #isBeyond(price: number, cut: number): boolean {
    return price > cut === (this.#side === SIDE.buy);
  }

  /**
   * What fills of these orders may cost against a value of the asset: of a buy its cost above it, of a sell its proceeds
   * below it, each lot that adds to it counted.
   *
   * @param value of one unit, USD × WEIGHT_ONE, 18 decimals.
   * @returns USD, 18 decimals, rounded up, and one unit for each lot where every fill rounds its fee by itself.
   */
  loss(at: Sum, value: bigint, market: LossMarket): bigint {
    if (this.#lots === 0n) return 0n;
    const { cut, lots, notional } = this.#beyond(at, value, market);
    let loss = this.#lossOf(lots, notional, value, market);
    for (const entry of this.#unsettled) loss += this.#heaviest(entry, cut, value, market);
    return loss;
  }

  /** As `loss`, for at most `most` lots in all, at the worst price of any order. */
  lossOfAtMost(most: bigint, at: Sum, value: bigint, market: LossMarket): bigint {
    if (most <= 0n || this.#lots === 0n) return 0n;
    const loss = this.loss(at, value, market);
    if (loss === 0n || this.#lots <= most) return loss;
    const atWorst = this.#lossOf(most, most * BigInt(this.#worstPrice()), value, market);
    return smaller(atWorst, loss);
  }

  /** Each order by itself: for tests, and what the kept sums are compared with. */
  lossAnew(value: bigint, market: LossMarket): bigint {
    const cut = cutOf(this.#side, value, market);
    let loss = 0n;
    for (const entry of [...this.#entries, ...this.#unsettled]) loss += this.#heaviest(entry, cut, value, market);
    return loss;
  }

  #heaviest(entry: LossEntry, cut: number, value: bigint, market: LossMarket): bigint {
    let heaviest = this.#lossOfTerms(entry, cut, value, market);
    for (const terms of entry.others) {
      const loss = this.#lossOfTerms(terms, cut, value, market);
      if (loss > heaviest) heaviest = loss;
    }
    return heaviest;
  }

  #lossOfTerms({ lots, price }: LossTerms, cut: number, value: bigint, market: LossMarket): bigint {
    if (lots === 0 || !this.#isBeyond(price, cut)) return 0n;
    return this.#lossOf(BigInt(lots), BigInt(lots) * BigInt(price), value, market);
  }

  /** @param notional Σ lots × raw price. */
  #lossOf(lots: bigint, notional: bigint, value: bigint, market: LossMarket): bigint {
    if (lots === 0n) return 0n;
    const { priceDecimals, quantityDecimals } = market;
    const paid = notional * powerOfTen(18 - priceDecimals - quantityDecimals);
    const amount = lots * powerOfTen(18 - quantityDecimals);
    const rate = highestRate(market);
    // mutant: worst-loss-fee
    const loss =
      this.#side === SIDE.buy
        ? mulDivCeil(paid, RATE_SCALE + rate, RATE_SCALE) - mulDivFloor(amount, value, WEIGHED)
        : mulDivCeil(amount, value, WEIGHED) - mulDivFloor(paid, RATE_SCALE - rate, RATE_SCALE);
    return (loss > 0n ? loss : 0n) + (roundsFees(market) ? lots : 0n) + this.#least;
  }

  #beyond(at: Sum, value: bigint, market: LossMarket): Beyond {
    const known = this.#sums[at];
    if (known !== undefined && known.value === value && known.market === market) return known;
    const cut = cutOf(this.#side, value, market);
    if (known !== undefined && known.below <= cut && cut < known.above) {
      known.cut = cut;
      known.value = value;
      known.market = market;
      return known;
    }
    const bounds = { below: Number.NEGATIVE_INFINITY, above: Number.POSITIVE_INFINITY };
    const sum: Beyond = { value, market, cut, lots: 0n, notional: 0n, ...bounds };
    for (const { lots, price } of this.#entries) {
      if (price > cut) sum.above = Math.min(sum.above, price);
      else sum.below = Math.max(sum.below, price);
      if (this.#isBeyond(price, cut)) grow(sum, BigInt(lots), price);
    }
    this.#sums[at] = sum;
    return sum;
  }

  #worstPrice(): number {
    const isBuy = this.#side === SIDE.buy;
    let worst = isBuy ? 0 : RAW_MAX;
    const look = ({ lots, price }: LossTerms): void => {
      if (lots > 0 && price > worst === isBuy) worst = price;
    };
    for (const entry of this.#entries) look(entry);
    for (const entry of this.#unsettled) {
      look(entry);
      entry.others.forEach(look);
    }
    return worst;
  }
}

/** The raw price that parts the orders which cost something from those which do not; where it is equal it counts. */
function cutOf(side: Side, value: bigint, market: LossMarket): number {
  const rate = highestRate(market);
  const raw = value * powerOfTen(market.priceDecimals) * RATE_SCALE;
  const divisor = WEIGHED * (side === SIDE.buy ? RATE_SCALE + rate : RATE_SCALE - rate);
  const cut = side === SIDE.buy ? (raw + divisor - 1n) / divisor - 1n : raw / divisor;
  return cut > BigInt(RAW_MAX) ? RAW_MAX : Number(cut);
}

/**
 * The worst raw price at which fills cost nothing against a value of the asset, the fee included.
 *
 * @param value of one unit, USD × WEIGHT_ONE, 18 decimals.
 * @returns 0: there is none.
 */
export function priceWorth(side: Side, value: bigint, market: LossMarket): number {
  const cut = cutOf(side, value, market);
  return side === SIDE.buy ? Math.max(cut, 0) : Math.min(Math.max(cut + 1, 1), RAW_MAX);
}

/** The worst raw price at which an order that reduces costs no margin. @returns 0: there is none. */
export function freePrice(side: Side, { credit, borrow }: AssetTerms, market: LossMarket): number {
  const [oracle, mark] =
    side === SIDE.buy ? [borrow.initialOracle, borrow.initialMark] : [credit.initialOracle, credit.initialMark];
  return priceWorth(side, side === SIDE.buy ? smaller(oracle, mark) : larger(oracle, mark), market);
}

function grow(sum: Beyond, lots: bigint, price: number): void {
  sum.lots += lots;
  sum.notional += lots * BigInt(price);
}

function mostLots({ lots, others }: LossEntry): number {
  let most = lots;
  for (const terms of others) most = Math.max(most, terms.lots);
  return most;
}

/** Which of the two rates a fill has is not known before; a rebate counts as one. */
function highestRate({ makerFeeRate, takerFeeRate }: LossMarket): bigint {
  const rate = BigInt(Math.max(makerFeeRate, takerFeeRate));
  return rate < HIGHEST_RATE ? rate : HIGHEST_RATE;
}

/** By what a surplus may fall at one price; none is negative. USD, 18 decimals. */
export interface LossAtPrice {
  /** The loss of the position if the fills leave it long, and if they leave it short. */
  readonly long: bigint;
  readonly short: bigint;
  readonly spot: bigint;
}

export interface WorstLoss {
  readonly oracle: LossAtPrice;
  readonly mark: LossAtPrice;
}

const NOTHING: LossAtPrice = { long: 0n, short: 0n, spot: 0n };
export const NO_LOSS: WorstLoss = { oracle: NOTHING, mark: NOTHING };

/** Either leaves the position long or short, and spot orders are filled as well. */
export function lossOf({ long, short, spot }: LossAtPrice): bigint {
  return (long > short ? long : short) + spot;
}

/** Values of one unit at one price, USD × WEIGHT_ONE: what opens, and what reduces. */
interface Values {
  readonly openLong: bigint;
  readonly closeLong: bigint;
  readonly openShort: bigint;
  readonly closeShort: bigint;
}

/** The open orders of a sub-account in one market. */
export class MarketLosses {
  readonly buys: LossSide = new LossSide(SIDE.buy);
  readonly sells: LossSide = new LossSide(SIDE.sell);
  readonly reducingBuys: LossSide = new LossSide(SIDE.buy);
  readonly reducingSells: LossSide = new LossSide(SIDE.sell);
  readonly spotBuys: LossSide = new LossSide(SIDE.buy, true);
  readonly spotSells: LossSide = new LossSide(SIDE.sell, true);

  get version(): number {
    const { buys, sells, reducingBuys, reducingSells, spotBuys, spotSells } = this;
    const margin = buys.version + sells.version + reducingBuys.version + reducingSells.version;
    return margin + spotBuys.version + spotSells.version;
  }

  get isEmpty(): boolean {
    const { buys, sells, reducingBuys, reducingSells, spotBuys, spotSells } = this;
    const hasMargin = !(buys.isEmpty && sells.isEmpty && reducingBuys.isEmpty && reducingSells.isEmpty);
    return !hasMargin && spotBuys.isEmpty && spotSells.isEmpty;
  }

  /** Whether margin orders may open a position, or turn one over. @param base signed, 18 decimals. */
  mayOpen(base: bigint, quantityDecimals: number): boolean {
    return this.#mayBuyOpen(base, quantityDecimals) || this.#maySellOpen(base, quantityDecimals);
  }

  #mayBuyOpen(base: bigint, quantityDecimals: number): boolean {
    const { buys, reducingBuys } = this;
    return !buys.isEmpty && (base >= 0n || buys.reach + reducingBuys.reach > heldLots(-base, quantityDecimals));
  }

  #maySellOpen(base: bigint, quantityDecimals: number): boolean {
    const { sells, reducingSells } = this;
    return !sells.isEmpty && (base <= 0n || sells.reach + reducingSells.reach > heldLots(base, quantityDecimals));
  }

  /**
   * What fills that open a position may cost, whatever other fills have brought before: an account below its initial margin may
   * trade only what improves it (MRG-15).
   */
  opening(base: bigint, { next }: AssetTerms, market: LossMarket): { readonly oracle: bigint; readonly mark: bigint } {
    const { quantityDecimals } = market;
    const [buys, sells] = [this.#mayBuyOpen(base, quantityDecimals), this.#maySellOpen(base, quantityDecimals)];
    const at = (price: 'initialOracle' | 'initialMark', sum: Sum): bigint => {
      const bought = buys ? this.buys.loss(sum, next.credit[price], market) : 0n;
      return bought + (sells ? this.sells.loss(sum, next.borrow[price], market) : 0n);
    };
    return { oracle: at('initialOracle', SUM.openOracle), mark: at('initialMark', SUM.openMark) };
  }

  /** The most that the initial-margin surplus may fall by. @param base signed, 18 decimals. */
  initial(base: bigint, terms: AssetTerms, market: LossMarket): WorstLoss {
    const { credit, borrow, next } = terms;
    const at = (price: 'initialOracle' | 'initialMark'): Values => ({
      openLong: next.credit[price],
      closeLong: credit[price],
      openShort: next.borrow[price],
      closeShort: borrow[price],
    });
    const { openOracle, openMark, closeOracle, closeMark } = SUM;
    const oracle = this.#at(base, at('initialOracle'), [openOracle, closeOracle], market);
    const isOne = terms.prices.oracle === terms.prices.mark;
    return { oracle, mark: isOne ? oracle : this.#at(base, at('initialMark'), [openMark, closeMark], market) };
  }

  /** The most that equity at the last stored prices may fall by. */
  equity(base: bigint, { prices }: AssetTerms, market: LossMarket): WorstLoss {
    const at = (price: bigint, sum: Sum): LossAtPrice => {
      const value = price * WEIGHT_ONE;
      return this.#at(
        base,
        { openLong: value, closeLong: value, openShort: value, closeShort: value },
        [sum, sum],
        market,
      );
    };
    return { oracle: at(prices.oracle, SUM.worthOracle), mark: at(prices.mark, SUM.worthMark) };
  }

  #at(base: bigint, values: Values, [open, close]: readonly [Sum, Sum], market: LossMarket): LossAtPrice {
    const { openLong, closeLong, openShort, closeShort } = values;
    const { buys, sells, reducingBuys, reducingSells, spotBuys, spotSells } = this;
    const spot = spotBuys.loss(open, openLong, market) + spotSells.loss(close, closeLong, market);
    const hasReducing = !reducingBuys.isEmpty || !reducingSells.isEmpty;
    if (buys.isEmpty && sells.isEmpty && !hasReducing) return { ...NOTHING, spot };
    const { quantityDecimals } = market;
    // Reduce-only orders never open: they take what there is of the position, and what others may add to it.
    const long = hasReducing ? (base > 0n ? lotsOf(base, quantityDecimals) : 0n) + buys.reach : 0n;
    const short = hasReducing ? (base < 0n ? lotsOf(-base, quantityDecimals) : 0n) + sells.reach : 0n;
    return {
      spot,
      long: mayBe(base, buys)
        ? positive(
            buys.loss(open, openLong, market) +
              reducingBuys.lossOfAtMost(short, open, openLong, market) +
              sells.loss(close, closeLong, market) +
              reducingSells.lossOfAtMost(long, close, closeLong, market) -
              (base < 0n ? mulDivFloor(-base, closeShort - openLong, WEIGHED) : 0n),
          )
        : 0n,
      short: mayBe(-base, sells)
        ? positive(
            buys.loss(close, closeShort, market) +
              reducingBuys.lossOfAtMost(short, close, closeShort, market) +
              sells.loss(open, openShort, market) +
              reducingSells.lossOfAtMost(long, open, openShort, market) -
              (base > 0n ? mulDivFloor(base, openShort - closeLong, WEIGHED) : 0n),
          )
        : 0n,
    };
  }
}

/** Whether a position can come to be on the side of `opening`: it is there, or is flat, or an order that is no reduce-only one opens it. */
function mayBe(onThatSide: bigint, opening: LossSide): boolean {
  return onThatSide >= 0n || !opening.isEmpty;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

/** Whole lots. @param amount above 0. */
function heldLots(amount: bigint, quantityDecimals: number): bigint {
  return amount / powerOfTen(18 - quantityDecimals);
}

/** Rounded up. */
function lotsOf(amount: bigint, quantityDecimals: number): bigint {
  const lot = powerOfTen(18 - quantityDecimals);
  return (amount + lot - 1n) / lot;
}
