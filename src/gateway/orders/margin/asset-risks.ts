/**
 * Assets as pre-flight weighs them: prices with their breakers, risk rows, the initial-margin factor that follows from
 * what all users have open. Follows clearing's events; what time alone changes is found by `refresh` (AMB-43, AMB-44).
 *
 * Not here: the rules (src/risk), accounts (margin-account.ts).
 */
import { type AssetId, USD } from '../../../core/ids.ts';
import { SIDE, type Side } from '../../../core/order-terms.ts';
import type { TimestampNs } from '../../../core/units.ts';
import { type AssetTerms, termsInForce, USD_ASSET } from '../../../risk/asset-terms.ts';
import { type Interest, type InterestSums, isOverUtilized } from '../../../risk/caps.ts';
import { worstPrice } from '../../../risk/price-bounds.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, type PriceSource } from '../../../risk/prices.ts';
import { NO_ROW_TERMS, type RiskTerms } from '../../../risk/risk-terms.ts';
import type { MarketSlot } from '../book/markets.ts';

/** What clearing published of an asset: absolute. */
export interface AssetMarks {
  readonly oracle: PriceSource | null;
  readonly mark: PriceSource | null;
  readonly interest: Interest;
  /** What there is to lend (MON-10); 0 before it is known. */
  readonly holdings: bigint;
}

/** When a price last moved: times of the prices that were not those before. */
interface Moves {
  readonly roseNs: bigint;
  readonly fellNs: bigint;
}

interface Entry extends AssetMarks {
  readonly moves: Moves;
  readonly risk: RiskTerms;
  readonly terms: AssetTerms;
}

const NO_MARKS: AssetMarks = { oracle: null, mark: null, interest: { credits: 0n, borrows: 0n }, holdings: 0n };
const NO_TIME = 0n as TimestampNs;
const NO_MOVES: Moves = { roseNs: 0n, fellNs: 0n };
const NEVER = (1n << 64n) as TimestampNs;

export class AssetRisks {
  readonly #assets = new Map<AssetId, Entry>();
  readonly #unknown = entryOf(NO_ROW_TERMS, NO_MARKS, NO_TIME);
  /** Restored prices that may be old. */
  readonly #awaited = new Set<AssetId>();
  readonly #legs = new Map<AssetId, InterestSums>();
  /** Fraction of the worse price, 10^-18, above 0 and at most 1 (setting `market_order_band`). */
  marketOrderBand: bigint;
  #nowNs = NO_TIME;
  /** Until then nothing changes by itself. */
  #untilNs: bigint = NEVER;
  #version = 0;

  /** @param marketOrderBand as the member. */
  constructor(marketOrderBand: bigint) {
    this.marketOrderBand = marketOrderBand;
  }

  /** Rises whenever the terms of any asset or a taker fee change: figures of one version stay what they are. */
  get version(): number {
    return this.#version;
  }

  /** Optimistic legs of all users in an asset. */
  legs(asset: AssetId): InterestSums {
    let legs = this.#legs.get(asset);
    if (legs === undefined) {
      legs = { credits: 0n, borrows: 0n };
      this.#legs.set(asset, legs);
    }
    return legs;
  }

  /** The time of the last `refresh`. */
  get nowNs(): TimestampNs {
    return this.#nowNs;
  }

  /** Every price known by now is an old one, until its next. Assets that never had one are not waited for. */
  awaitPrices(): void {
    for (const [asset, { oracle }] of this.#assets) if (oracle !== null) this.#awaited.add(asset);
  }

  get awaitsPrices(): boolean {
    return this.#awaited.size > 0;
  }

  awaitsPrice(asset: AssetId): boolean {
    return this.#awaited.has(asset);
  }

  /** Whether the registry has it. */
  knows(asset: AssetId): boolean {
    return asset === USD || this.#assets.has(asset);
  }

  /** In force at the last `refresh`. */
  terms(asset: AssetId): AssetTerms {
    return asset === USD ? USD_ASSET : (this.#assets.get(asset) ?? this.#unknown).terms;
  }

  /** The sources themselves, to show their age. */
  marks(asset: AssetId): AssetMarks {
    return this.#assets.get(asset) ?? NO_MARKS;
  }

  /**
   * Whether the oracle or the mark price of the asset has fallen since then, or risen: the next at the same price is no
   * move.
   */
  movedSince(asset: AssetId, direction: 'rose' | 'fell', sinceNs: TimestampNs): boolean {
    const { roseNs, fellNs } = this.#assets.get(asset)?.moves ?? NO_MOVES;
    // mutant: price-against-account
    return (direction === 'rose' ? roseNs : fellNs) > sinceNs;
  }

  /**
   * The most that a market buy is taken to pay for one unit, or the least that a market sale is taken to fetch.
   *
   * @returns 10^-18 USD, above 0; null where nothing is known.
   */
  worstPrice(side: Side, { definition, bestSeen }: MarketSlot): bigint | null {
    const sources = this.marks(definition.assetId);
    const other = side === SIDE.buy ? SIDE.sell : SIDE.buy;
    const known = { sources, band: this.marketOrderBand, bestSeen: bestSeen.price(other), nowNs: this.#nowNs };
    return worstPrice(side, definition, known);
  }

  /** Whether shorts have borrowed more of the asset than its vaults may lend: then none is opened or grown (MON-10). */
  isLentOut(asset: AssetId): boolean {
    return isOverUtilized(this.terms(asset).risk, this.legs(asset), this.marks(asset).holdings);
  }

  setRisk(asset: AssetId, risk: RiskTerms): void {
    this.#put(asset, risk, this.marks(asset));
  }

  setOracle(asset: AssetId, oracle: PriceSource): void {
    this.#awaited.delete(asset);
    this.#put(asset, this.#riskOf(asset), { ...this.marks(asset), oracle });
  }

  /** The last price of trading in the asset, and what all users have open. */
  setTrading(asset: AssetId, trading: Pick<AssetMarks, 'mark' | 'interest' | 'holdings'>): void {
    this.#put(asset, this.#riskOf(asset), { ...trading, oracle: this.marks(asset).oracle });
  }

  #riskOf(asset: AssetId): RiskTerms {
    return this.#assets.get(asset)?.risk ?? NO_ROW_TERMS;
  }

  /** Pressure contains the taker's fee (MRG-17, MRG-18). */
  feeChanged(): void {
    this.#version += 1;
  }

  /** Time has come to `nowNs`: prices may have gone stale. */
  refresh(nowNs: TimestampNs): void {
    if (nowNs > this.#nowNs) this.#nowNs = nowNs;
    if (this.#nowNs <= this.#untilNs) return;
    this.#untilNs = NEVER;
    for (const [asset, { risk, oracle, mark, interest, holdings }] of this.#assets) {
      this.#put(asset, risk, { oracle, mark, interest, holdings });
    }
  }

  #put(asset: AssetId, risk: RiskTerms, marks: AssetMarks): void {
    const before = this.#assets.get(asset);
    const moves = movesAfter(
      movesAfter(before?.moves ?? NO_MOVES, before?.oracle, marks.oracle),
      before?.mark,
      marks.mark,
    );
    this.#assets.set(asset, { ...entryOf(risk, marks, this.#nowNs), moves });
    this.#version += 1;
    const { oracle, mark } = marks;
    const bandEnd = endOf(oracle, risk.markRule.bandAgeNs);
    const ends = [endOf(oracle, ORACLE_STALE_NS), endOf(mark, MARK_STALE_NS), bandEnd];
    for (const end of ends) if (end >= this.#nowNs && end < this.#untilNs) this.#untilNs = end;
  }
}

/** A first price counts as both. */
function movesAfter(moves: Moves, before: PriceSource | null | undefined, after: PriceSource | null): Moves {
  if (after === null || after.price === before?.price) return moves;
  const isFirst = before === null || before === undefined;
  return {
    roseNs: isFirst || after.price > before.price ? after.timeNs : moves.roseNs,
    fellNs: isFirst || after.price < before.price ? after.timeNs : moves.fellNs,
  };
}

/** The last instant at which a source is not stale. */
function endOf(source: PriceSource | null, staleNs: bigint): bigint {
  return source === null ? NEVER : source.timeNs + staleNs;
}

function entryOf(risk: RiskTerms, marks: AssetMarks, nowNs: TimestampNs): Entry {
  return { ...marks, risk, moves: NO_MOVES, terms: termsInForce(risk, marks, marks.interest, nowNs) };
}
