/**
 * The demo traders of the dev profile: two makers and a taker, users of their own, who trade gently over the public API so
 * that what shows a market moves. They run on a thread of the node that no other thread waits for.
 *
 *   open: log in, cancel what an earlier run left, fund ─▶ turn: one maker in one market, now and then the taker ─▶ …
 *                    ▲                                         │ any failure
 *                    └──────────── pause, twice as long each time
 *
 * Markets 1 and 3 only: in market 2 the walk of the README, and whatever else a user tries, meets no other orders.
 *
 * Bounds: one request at a time, one turn a TURN_MS, in a turn at most CHANGES_PER_TURN replaces (holes of a ladder are filled
 * by one batch) and one order of the taker; LEVELS orders on each side of each market for each maker; the balances of each trader
 * are kept between half and twice what it began with, by the faucet of the dev profile.
 */

import type { LimitOrder } from '../client/canonical.ts';
import { RingbookClient } from '../client/client.ts';
import { invalidResponse, RingbookError } from '../client/errors.ts';
import type { EventStream } from '../client/event-stream.ts';
import { keyFromSeed } from '../client/keys.ts';
import { OperatorClient } from '../client/operator.ts';
import type { OrderEvent } from '../client/order-events.ts';
import { isJsonObject, MemberReader } from '../codec/json-tree.ts';
import { powerOfTen } from '../core/arithmetic.ts';
import { format18, formatRaw, parseDecimal18 } from '../core/decimal.ts';
import { parseHex } from '../core/hex.ts';
import { type DemoMarket, DemoRandom, Ladder, type QuoteChange, takeOf, WanderingPrice } from './demo-quotes.ts';

export interface DemoSettings {
  readonly oms: string;
  readonly ops: string;
  readonly operatorToken: string;
  /** Ed25519 seeds, 64 hex digits. */
  readonly makers: readonly string[];
  readonly taker: string;
  /** Of the pseudo-random numbers. */
  readonly seed: number;
}

/** What the thread reports to its parent. */
export type DemoReport =
  | { readonly kind: 'trading'; readonly markets: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string };

export const DEMO_MARKETS: readonly string[] = ['1', '3'];
const TURN_MS = 700;
/** One turn in so many has an order of the taker. */
const TURNS_PER_TAKE = 4;
/** How often prices and the clock of the node are read, and balances compared. */
const READ_PRICES_MS = 10_000;
const FUND_MS = 60_000;
const PAUSE_MS = 2_000;
const PAUSE_MS_MAX = 60_000;
/** How long the cancels at the end may take. */
const STOP_MS_MAX = 1_500;
/** The quotes of a market are taken off when its oracle price jumps by more than one part in so many. */
const JUMP_PART = 100;
/** Only an account of type spot may hold every asset. */
const SPOT = { account: 0, isSpot: true } as const;
/** What each trader begins with, in units of the asset. */
const FUNDS: readonly (readonly [asset: string, units: bigint])[] = [
  ['0', 1_000_000n],
  ['1', 5n],
  ['3', 100_000n],
];
/** Refused before anything was done: the next turn tries again. */
const PASSING_CODES: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'RATE_LIMITED']);
/** So many refused turns one after the other are a failure. */
const PASSING_MAX = 10;
/** Ends of an order that a maker meets in normal operation: its place is empty again. */
const ENDED_CODES: ReadonlySet<string> = new Set(['ORDER_NOT_FOUND', 'ALREADY_CANCELLED', 'WOULD_CROSS']);

interface Traded {
  readonly market: DemoMarket;
  readonly price: WanderingPrice;
}

/** The clock of the node, which an operator of the dev profile may push forward. */
class NodeClock {
  #aheadNs = 0n;
  #lastNs = 0n;

  set(nodeNs: bigint): void {
    this.#aheadNs = nodeNs - systemNs();
  }

  readonly nowNs = (): bigint => {
    const nowNs = systemNs() + this.#aheadNs;
    this.#lastNs = nowNs > this.#lastNs ? nowNs : this.#lastNs + 1n;
    return this.#lastNs;
  };
}

function systemNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** One of the makers: its orders, by market. */
class DemoMaker {
  readonly client: RingbookClient;
  readonly #number: number;
  readonly #random: DemoRandom;
  readonly #ladders = new Map<string, Ladder>();
  #events: EventStream<OrderEvent> | null = null;

  constructor(client: RingbookClient, number: number, random: DemoRandom) {
    this.client = client;
    this.#number = number;
    this.#random = random;
  }

  /** Begins with no orders, and subscribes to the end of each. */
  async open(): Promise<void> {
    this.close();
    const events = await this.client.orderEvents();
    this.#events = events;
    events.listen(
      (event) => {
        if (event.kind !== 'Canceled' && event.kind !== 'Removed' && event.kind !== 'CreateFailed') return;
        for (const ladder of this.#ladders.values()) ladder.ended(event.orderId);
      },
      () => {
        if (this.#events === events) this.#events = null;
      },
    );
    await this.cancelAll();
  }

  /** Ends the stream of order events only. */
  close(): void {
    const events = this.#events;
    this.#events = null;
    events?.close();
  }

  async cancelAll(assetId?: string): Promise<void> {
    await this.client.cancelAll(assetId === undefined ? {} : { assetId });
    if (assetId === undefined) this.#ladders.clear();
    else this.#ladders.delete(assetId);
  }

  async turn({ market, price }: Traded): Promise<void> {
    if (this.#events === null) await this.open();
    const ladder = this.#ladderOf(market);
    const changes = ladder.changes(price.raw);
    const moves = changes.filter(({ orderId }) => orderId !== null);
    for (const move of moves) await this.#move(ladder, market, move);
    if (moves.length === 0 && changes.length > 0) await this.#fill(ladder, market, changes);
  }

  #ladderOf(market: DemoMarket): Ladder {
    const known = this.#ladders.get(market.assetId);
    if (known !== undefined) return known;
    const ladder = new Ladder(market, this.#number, this.#random);
    this.#ladders.set(market.assetId, ladder);
    return ladder;
  }

  async #move(ladder: Ladder, market: DemoMarket, change: QuoteChange): Promise<void> {
    const orderId = change.orderId ?? '';
    const price = formatRaw(change.price, market.priceDecimals);
    try {
      await this.client.replace({ assetId: market.assetId, orderId, price });
      ladder.placed(change, orderId);
    } catch (error) {
      if (!(error instanceof RingbookError) || !ENDED_CODES.has(error.code)) throw error;
      ladder.ended(orderId);
    }
  }

  /** The orders are entered before they are sent: their ends may be published before the reply. */
  async #fill(ladder: Ladder, market: DemoMarket, changes: readonly QuoteChange[]): Promise<void> {
    const orders: LimitOrder[] = [];
    for (const change of changes) {
      const order = await this.client.order({
        assetId: market.assetId,
        side: change.side,
        price: formatRaw(change.price, market.priceDecimals),
        quantity: formatRaw(change.quantity, market.quantityDecimals),
        timeInForce: { kind: 'GTC', postOnly: true },
        target: SPOT,
      });
      ladder.placed(change, order.orderId);
      orders.push(order);
    }
    const results = await this.client
      .batchCreate(orders.map((order) => this.client.signCreate(order)))
      .catch((error) => {
        for (const { orderId } of orders) ladder.ended(orderId);
        throw error;
      });
    for (const { orderId, status } of results) if (status === 'Rejected') ladder.ended(orderId);
    // One that would cross finds its place when the quotes of the other maker have moved.
    const refused = results.filter(({ status, reason }) => status === 'Rejected' && reason !== 'WouldCross');
    if (refused.length > 0 && refused.length === results.length)
      throw new Error(`market ${market.assetId} takes no quote: ${refused[0]?.reason ?? 'no reason'}`);
  }
}

export class DemoTraders {
  readonly #report: (report: DemoReport) => void;
  readonly #clock = new NodeClock();
  readonly #random: DemoRandom;
  readonly #operator: OperatorClient;
  readonly #makers: readonly DemoMaker[];
  readonly #taker: RingbookClient;
  #traded: readonly Traded[] = [];
  #turns = 0;
  #pricesReadMs = Number.NEGATIVE_INFINITY;
  #fundedMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  #wakeUp: () => void = () => undefined;

  constructor({ oms, ops, operatorToken, makers, taker, seed }: DemoSettings, report: (report: DemoReport) => void) {
    this.#report = report;
    this.#random = new DemoRandom(seed);
    this.#operator = new OperatorClient(ops, operatorToken);
    const client = (hex: string): RingbookClient =>
      new RingbookClient({ oms, key: keyFromSeed(parseHex(hex, 32) ?? new Uint8Array()), nowNs: this.#clock.nowNs });
    this.#makers = makers.map((hex, number) => new DemoMaker(client(hex), number, this.#random));
    this.#taker = client(taker);
  }

  /** Trades until `stop`; then cancels every order. A failure is reported once until it has passed. */
  async run(): Promise<void> {
    let failures = 0;
    let refused = 0;
    while (!this.#isStopping) {
      let pauseMs = TURN_MS;
      try {
        if (this.#traded.length === 0) await this.#begin();
        await this.#turn();
        failures = 0;
        refused = 0;
      } catch (error) {
        if (this.#isStopping) break;
        refused += 1;
        if (error instanceof RingbookError && PASSING_CODES.has(error.code) && refused < PASSING_MAX) {
          await this.#pause(TURN_MS);
          continue;
        }
        pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** failures);
        failures += 1;
        if (failures === 1)
          this.#report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
        this.#traded = [];
      }
      if (!this.#isStopping) await this.#pause(pauseMs);
    }
    await this.#end();
  }

  stop(): void {
    this.#isStopping = true;
    this.#wakeUp();
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #begin(): Promise<void> {
    await this.#setClock();
    for (const { client } of this.#makers) await client.login();
    await this.#taker.login();
    await this.#fund();
    for (const maker of this.#makers) await maker.open();
    const prices = await this.#oraclePrices();
    const traded: Traded[] = [];
    for (const assetId of DEMO_MARKETS) {
      const { priceDecimals, quantityDecimals, tickSize, minOrderSize } = await this.#taker.market(assetId);
      const index = scaledOf(prices.get(assetId) ?? '0', priceDecimals);
      if (index < 1) continue;
      const tick = Math.max(1, scaledOf(tickSize, priceDecimals));
      const minQuantity = Math.max(1, scaledOf(minOrderSize, quantityDecimals));
      const market = { assetId, priceDecimals, quantityDecimals, tick, minQuantity };
      traded.push({ market, price: new WanderingPrice(index, this.#random) });
    }
    if (traded.length === 0) throw new Error(`no market of ${DEMO_MARKETS.join(', ')} has an oracle price`);
    this.#pricesReadMs = performance.now();
    this.#traded = traded;
    this.#report({ kind: 'trading', markets: traded.map(({ market }) => market.assetId) });
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#pricesReadMs > READ_PRICES_MS) await this.#readPrices();
    if (performance.now() - this.#fundedMs > FUND_MS) await this.#fund();
    for (const { price } of this.#traded) price.step();
    const traded = this.#traded[this.#turns % this.#traded.length];
    const maker = this.#makers[Math.floor(this.#turns / this.#traded.length) % this.#makers.length];
    this.#turns += 1;
    if (traded === undefined || maker === undefined) return;
    await maker.turn(traded);
    if (this.#random.below(TURNS_PER_TAKE) === 0) await this.#take(traded);
  }

  async #take({ market, price }: Traded): Promise<void> {
    const take = takeOf(price.raw, market, this.#random);
    const order = await this.#taker.order({
      assetId: market.assetId,
      side: take.side,
      price: formatRaw(take.price, market.priceDecimals),
      quantity: formatRaw(take.quantity, market.quantityDecimals),
      timeInForce: { kind: 'IOC' },
      target: SPOT,
    });
    await this.#taker.create(order);
  }

  async #setClock(): Promise<void> {
    this.#clock.set(await this.#taker.systemTime());
  }

  async #readPrices(): Promise<void> {
    this.#pricesReadMs = performance.now();
    await this.#setClock();
    const prices = await this.#oraclePrices();
    for (const { market, price } of this.#traded) {
      const index = scaledOf(prices.get(market.assetId) ?? '0', market.priceDecimals);
      if (index < 1 || index === price.index) continue;
      const hasJumped = Math.abs(index - price.index) * JUMP_PART > price.index;
      price.follow(index);
      if (hasJumped) for (const maker of this.#makers) await maker.cancelAll(market.assetId);
    }
  }

  /** Human decimals by asset; an asset without a price is left out. */
  async #oraclePrices(): Promise<ReadonlyMap<string, string>> {
    const rows = new MemberReader(await this.#operator.call('GET', '/operator/prices')).object('prices');
    const prices = new Map<string, string>();
    for (const [assetId, row] of rows) {
      const oracle = isJsonObject(row) ? row.get('oracle') : null;
      const price = isJsonObject(oracle) ? oracle.get('price') : null;
      if (typeof price === 'string') prices.set(assetId, price);
    }
    return prices;
  }

  /** Brings balances below half or above twice of what a trader began with back to that. */
  async #fund(): Promise<void> {
    this.#fundedMs = performance.now();
    for (const client of [...this.#makers.map((maker) => maker.client), this.#taker]) {
      const spot = (await client.inventory()).get(SPOT.account)?.spot;
      for (const [assetId, units] of FUNDS) {
        const wanted = units * powerOfTen(18);
        const owned = parseDecimal18(spot?.get(assetId) ?? '0');
        if (owned === null) throw invalidResponse('inventory', `${assetId} is not a decimal`);
        if (2n * owned >= wanted && owned <= 2n * wanted) continue;
        const grant = { userId: client.userId, subAccount: SPOT.account, assetId, amount: format18(wanted - owned) };
        await this.#operator.faucet(grant);
      }
    }
  }

  async #end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS_MAX);
    });
    // The node may be gone already, and its next start cancels what is left.
    const cancels = Promise.allSettled(this.#makers.map((maker) => maker.cancelAll()));
    await Promise.race([cancels, late]);
    clearTimeout(timer);
    for (const maker of this.#makers) {
      maker.close();
      maker.client.close();
    }
    this.#taker.close();
    this.#operator.close();
  }
}

/** A human decimal in raw units, rounded down; 0 for what is none. */
function scaledOf(text: string, decimals: number): number {
  return Number((parseDecimal18(text) ?? 0n) / powerOfTen(18 - decimals));
}
