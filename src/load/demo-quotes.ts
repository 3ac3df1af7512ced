/**
 * What the demo traders of the dev profile want to do next: pure decisions, from a seed.
 *
 *   oracle price ─▶ WanderingPrice ─▶ Ladder of each maker: at most a few changes a turn
 *                                 └─▶ order of the taker: immediate-or-cancel, a few quotes deep at most
 *
 * Invariants
 *   (1) The price stays within WANDER_PPM of the oracle's and is pulled back to it, so it never drifts off.
 *   (2) The bids of a ladder are below the price of the turn and its asks above; each level belongs to one maker.
 *   (3) A turn changes at most CHANGES_PER_TURN quotes, unless the ladder has holes, which are filled at once.
 *
 * Prices and quantities are raw book integers. Not here: users, orders and sockets (demo-traders.ts).
 */
import type { SideWord } from '../client/canonical.ts';

export interface DemoMarket {
  readonly assetId: string;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** Raw. */
  readonly tick: number;
  /** Raw. */
  readonly minQuantity: number;
}

/** A pseudo-random sequence (xorshift32), the same for the same seed. */
export class DemoRandom {
  #state: number;

  /** @param seed any integer. */
  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** @returns an integer from 0 to `bound` − 1. */
  below(bound: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state % bound;
  }

  /** @returns an integer from −`size` to `size`. */
  around(size: number): number {
    return this.below(2 * size + 1) - size;
  }
}

const PPM = 1_000_000;
/** How far the price may be from the oracle's. */
export const WANDER_PPM = 4_000;
/** The most that one step moves it. */
const STEP_PPM = 25;
/** A step takes back one part in so many of the distance to the oracle's price: half of it in about 50 minutes. */
const PULL = 6_000;

/** The price around which the demo traders trade. */
export class WanderingPrice {
  readonly #random: DemoRandom;
  #index: number;
  #ppm = 0;

  /** @param index oracle price, raw. */
  constructor(index: number, random: DemoRandom) {
    this.#index = index;
    this.#random = random;
  }

  get index(): number {
    return this.#index;
  }

  follow(index: number): void {
    this.#index = index;
  }

  step(): void {
    // mutant: demo-price-pulled-back
    const moved = this.#ppm + this.#random.around(STEP_PPM) - this.#ppm / PULL;
    this.#ppm = Math.max(-WANDER_PPM, Math.min(WANDER_PPM, moved));
  }

  /** Raw, at least 1. */
  get raw(): number {
    return Math.max(1, this.#index + Math.trunc((this.#index * this.#ppm) / PPM));
  }
}

export const LEVELS = 5;
export const CHANGES_PER_TURN = 2;
export const MAKERS = 2;
/** Between neighbouring quotes of the two makers together. */
const SPACING_PPM = 110;
/** From the price to the first quote. */
const HALF_SPREAD_PPM = 90;
/** A quote this far from where it belongs is moved. */
const TOLERANCE_PPM = 40;
/** USD of the first quote; each further one is larger. */
const QUOTE_USD = 900;

/** One quote of a maker: where it belongs, and the order that stands for it. */
interface Place {
  readonly side: SideWord;
  /** 0 is the best. */
  readonly level: number;
  order: { readonly orderId: string; price: number } | null;
}

export interface QuoteChange {
  /** Null: a new order. */
  readonly orderId: string | null;
  readonly side: SideWord;
  readonly level: number;
  readonly price: number;
  /** Of a new order. */
  readonly quantity: number;
}

/** The quotes of one maker in one market. */
export class Ladder {
  readonly #market: DemoMarket;
  readonly #maker: number;
  readonly #random: DemoRandom;
  readonly #places: readonly Place[] = (['Buy', 'Sell'] as const).flatMap((side) =>
    Array.from({ length: LEVELS }, (_, level): Place => ({ side, level, order: null })),
  );

  /** @param maker 0 to MAKERS − 1: the makers take turns in the levels. */
  constructor(market: DemoMarket, maker: number, random: DemoRandom) {
    this.#market = market;
    this.#maker = maker;
    this.#random = random;
  }

  /** New orders for every hole; where there is none, moves of the quotes that are farthest from their place. */
  changes(price: number): readonly QuoteChange[] {
    const holes = this.#places.filter(({ order }) => order === null);
    if (holes.length > 0) return holes.map((place) => this.#change(place, price));
    const off = this.#places
      .map((place) => ({ place, distance: Math.abs((place.order?.price ?? 0) - this.#priceOf(place, price)) }))
      .filter(({ distance }) => distance * PPM > TOLERANCE_PPM * price)
      // Relative to the room before the price: the best quotes are those that may cross.
      .map(({ place, distance }) => ({ place, urgency: distance / this.#distancePpm(place) }))
      .sort((one, other) => other.urgency - one.urgency);
    return off.slice(0, CHANGES_PER_TURN).map(({ place }) => this.#change(place, price));
  }

  /** The order of a change is on its way to the market. */
  placed({ side, level, price }: QuoteChange, orderId: string): void {
    const place = this.#places.find((one) => one.side === side && one.level === level);
    if (place !== undefined) place.order = { orderId, price };
  }

  /** An order has ended, or never began; one of another ladder is ignored. */
  ended(orderId: string): void {
    for (const place of this.#places) if (place.order?.orderId === orderId) place.order = null;
  }

  /** Every order has been cancelled. */
  clear(): void {
    for (const place of this.#places) place.order = null;
  }

  #change(place: Place, price: number): QuoteChange {
    return {
      orderId: place.order?.orderId ?? null,
      side: place.side,
      level: place.level,
      price: this.#priceOf(place, price),
      quantity: this.#quantityOf(place, price),
    };
  }

  /** From the price to a quote. */
  #distancePpm({ level }: Place): number {
    return HALF_SPREAD_PPM + SPACING_PPM * (MAKERS * level + this.#maker);
  }

  #priceOf(place: Place, price: number): number {
    const { side } = place;
    const { tick } = this.#market;
    const ticks = Math.max(1, Math.ceil((price * this.#distancePpm(place)) / PPM / tick));
    const middle = Math.round(price / tick);
    return Math.max(1, side === 'Buy' ? middle - ticks : middle + ticks) * tick;
  }

  #quantityOf({ level }: Place, price: number): number {
    const usd = QUOTE_USD * (1 + level) * (0.6 + this.#random.below(81) / 100);
    return quantityFor(usd, price, this.#market);
  }
}

/** The most and the least that one order of the taker is worth. */
const TAKE_USD_MAX = 2_600;
const TAKE_USD_MIN = 120;
/** Through so many parts per million the taker may trade: some quotes of each maker. */
const TAKE_PPM = HALF_SPREAD_PPM + 6 * SPACING_PPM;

interface Take {
  readonly side: SideWord;
  readonly price: number;
  readonly quantity: number;
}

/** An order of the taker: more often a small one. */
export function takeOf(price: number, market: DemoMarket, random: DemoRandom): Take {
  const side: SideWord = random.below(2) === 0 ? 'Buy' : 'Sell';
  const share = (random.below(1_000) / 1_000) ** 2;
  const usd = TAKE_USD_MIN + (TAKE_USD_MAX - TAKE_USD_MIN) * share;
  const ticks = Math.max(1, Math.ceil((price * TAKE_PPM) / PPM / market.tick));
  const middle = Math.round(price / market.tick);
  const limit = Math.max(1, side === 'Buy' ? middle + ticks : middle - ticks) * market.tick;
  return { side, price: limit, quantity: quantityFor(usd, price, market) };
}

/** The quantity that is worth about so much, at least the smallest of the market. */
function quantityFor(usd: number, price: number, { priceDecimals, quantityDecimals, minQuantity }: DemoMarket): number {
  const quantity = Math.round((usd * 10 ** (priceDecimals + quantityDecimals)) / price);
  return Math.max(minQuantity, quantity);
}
