/**
 * A plain account of what the gateway should have of two users' margin: lists and sums, walked anew for every question.
 * It plays market and clearing for a MarginFixture and keeps its own book of orders, fills and legs.
 */

import assert from 'node:assert/strict';
import { larger, notional18 } from '../../src/core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import { ORDER_END, SIDE, type Side } from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity } from '../../src/core/units.ts';
import { addInitial, addInitialUsd, emptyInitial, initialSurplus } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms } from '../../src/risk/asset-terms.ts';
import { capacityOf, offsetLots, requirementOf } from '../../src/risk/exposure.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { moveOf, pickOf } from './imitation-market.ts';
import { MARKETS, MarginFixture, riskRow, usd } from './margin-fixture.ts';
import { ALICE, BOB, BTC, ETH } from './names.ts';

import { widestBand } from './plain-risk.ts';

export const USERS: readonly UserId[] = [ALICE, BOB];
const ASSETS: readonly AssetId[] = [ETH, BTC];
const RISKS = { [ETH]: riskRow(90, 95, 1_000_000), [BTC]: riskRow(95, 96, 900_000) };

interface PlainOrder {
  readonly id: string;
  readonly user: UserId;
  readonly asset: AssetId;
  readonly side: Side;
  readonly isReduceOnly: boolean;
  readonly requestId: number;
  price: number;
  lots: number;
  filled: number;
  confirmed: number;
  /** 0 until the market has admitted it. */
  sequence: number;
  isOver: boolean;
  replace: { readonly requestId: number; readonly price: number; readonly lots: number } | null;
}

interface PlainFill {
  readonly tradeId: number;
  readonly asset: AssetId;
  readonly maker: PlainOrder;
  readonly taker: PlainOrder;
  readonly price: number;
  readonly lots: number;
}

/** Price and what is left. */
interface Terms {
  readonly price: number;
  readonly lots: number;
}

interface Legs {
  base: bigint;
  quote: bigint;
}

export class PlainPressure {
  readonly fixture: MarginFixture = new MarginFixture();
  readonly #orders: PlainOrder[] = [];
  /** Received by the gateway, undecided; per market in order. */
  #pending: PlainFill[] = [];
  /** Confirmed, in no published position. */
  #untold: PlainFill[] = [];
  readonly #booked = new Map<string, Legs>();
  readonly #told = new Map<string, Legs>();
  readonly #spot = new Map<UserId, bigint>();
  readonly #prices = new Map<AssetId, readonly [bigint, bigint]>();
  #made = 0;

  constructor() {
    for (const user of USERS) this.fund(user, 20_000);
    this.price(ETH, 2_000, 2_000);
    this.price(BTC, 50_000, 50_000);
  }

  fund(user: UserId, amount: number): void {
    this.#spot.set(user, usd(amount));
    this.fixture.spot(USD, amount, 1, user);
  }

  price(asset: AssetId, oracle: number, mark: number): void {
    this.#prices.set(asset, [usd(oracle), usd(mark)]);
    this.fixture.price(asset, oracle, mark);
  }

  // ---- clients

  create(pick: number): void {
    const [user, asset, side] = [
      USERS[pick % 2] as UserId,
      ASSETS[(pick >> 1) % 2] as AssetId,
      ((pick >> 2) % 2) as Side,
    ];
    const isReduceOnly = (pick >> 3) % 3 === 0;
    const lots = 1 + ((pick >> 6) % 40);
    const price = this.#aPrice(asset, pick >> 9);
    this.#made += 1;
    const id = `p-${this.#made}`;
    const wish = { id, user, asset, side, price: price / 100, quantity: lots / 10_000, reduceOnly: isReduceOnly };
    const reserved = this.fixture.request(wish);
    if (!reserved.ok) return;
    const { requestId } = reserved.value;
    const figures = { price, lots, filled: 0, confirmed: 0, sequence: 0, isOver: false, replace: null };
    this.#orders.push({ id, user, asset, side, isReduceOnly, requestId, ...figures });
  }

  replace(pick: number): void {
    const order = this.#choose(
      pick,
      (one) => one.sequence > 0 && !one.isOver && one.replace === null && one.user === ALICE,
    );
    if (order === undefined) return;
    // Now and then far more for far less, so that the full notional is independent of what goes beyond the position.
    const isCheap = pick % 3 === 0;
    const lots = 1 + ((pick >> 4) % (isCheap ? 600 : 60));
    const price = Math.floor(this.#aPrice(order.asset, pick >> 10) / (isCheap ? 50 : 1));
    const asked = this.fixture.replace(order.id, { price: price / 100, quantity: lots / 10_000 }, order.asset);
    if (asked.ok) order.replace = { requestId: asked.value, price, lots };
  }

  // ---- the market

  /** The oldest create on its way in a market. */
  admit(pick: number): void {
    const order = this.#orders.find(
      ({ sequence, isOver, asset }) => sequence === 0 && !isOver && asset === ASSETS[pick % 2],
    );
    if (order === undefined) return;
    if (pick % 7 === 0) {
      order.isOver = true;
      this.fixture.acknowledge(order.requestId, order.asset, REJECT_CODE.DUPLICATE_ORDER);
    } else order.sequence = this.fixture.admit(order.requestId, order.asset);
  }

  answerReplace(pick: number): void {
    const order = this.#choose(pick, ({ replace }) => replace !== null);
    const { replace } = order ?? { replace: null };
    if (order === undefined || replace === null) return;
    order.replace = null;
    if (pick % 3 === 0 || order.isOver) {
      this.fixture.acknowledge(replace.requestId, order.asset, REJECT_CODE.REQUEST_TOO_OLD);
      return;
    }
    order.price = replace.price;
    order.lots = replace.lots;
    this.fixture.replaced(replace.requestId, order.sequence, replace.price / 100, replace.lots / 10_000, order.asset);
    this.#complete({ maker: order, taker: order });
  }

  cancel(pick: number): void {
    const order = this.#choose(pick, ({ sequence, isOver }) => sequence > 0 && !isOver);
    if (order === undefined || order.filled >= order.lots) return;
    order.isOver = true;
    this.fixture.end(order.sequence, ORDER_END.userRequested, order.asset);
  }

  /**
   * @param isEarly the decision of clearing arrives before the event of the market, and perhaps on the position too.
   */
  match(pick: number, isEarly: boolean): void {
    const maker = this.#choose(pick, isOpen);
    if (maker === undefined) return;
    const taker = this.#choose(pick >> 5, (one) => isOpen(one) && one.asset === maker.asset && one.side !== maker.side);
    if (taker === undefined) return;
    const most = Math.min(leftOf(maker), leftOf(taker));
    const lots = 1 + ((pick >> 8) % most);
    const fill = {
      tradeId: this.fixture.nextTrade(maker.asset),
      asset: maker.asset,
      maker,
      taker,
      price: maker.price,
      lots,
    };
    if (isEarly && !this.#pending.some(({ asset }) => asset === fill.asset)) {
      this.fixture.confirm(fill.tradeId, fill.asset);
      this.#book(fill);
      if (pick % 2 === 0) this.tellPositions();
    } else this.#pending.push(fill);
    maker.filled += lots;
    taker.filled += lots;
    this.fixture.match(maker.sequence, taker.sequence, fill.price / 100, lots / 10_000, taker.side, fill.asset);
    this.#complete(fill);
  }

  // ---- clearing

  /** Decides the oldest fill of a market. */
  decide(pick: number): void {
    const fill = this.#pending.find(({ asset }) => asset === ASSETS[pick % 2]);
    if (fill === undefined) return;
    this.#pending = this.#pending.filter((other) => other !== fill);
    if (pick % 4 === 0) {
      fill.maker.filled -= fill.lots;
      fill.taker.filled -= fill.lots;
      fill.maker.isOver = true;
      this.fixture.rollBack(fill.tradeId, fill.asset);
      this.#complete(fill);
      return;
    }
    this.fixture.confirm(fill.tradeId, fill.asset);
    this.#book(fill);
    this.#complete(fill);
  }

  /** All of it is booked: a market refuses what is still on its way to such an order. */
  #complete({ maker, taker }: Pick<PlainFill, 'maker' | 'taker'>): void {
    for (const order of [maker, taker]) {
      if (order.confirmed >= order.lots && order.filled === order.confirmed) order.isOver = true;
    }
  }

  #book(fill: PlainFill): void {
    for (const order of [fill.maker, fill.taker]) {
      const legs = this.#legs(this.#booked, order.user, order.asset);
      const { base, quote } = legsOf(fill, order);
      legs.base += base;
      legs.quote += quote;
      order.confirmed += fill.lots;
    }
    this.#untold.push(fill);
  }

  /** Clearing's word on everything that was booked. */
  tellPositions(): void {
    for (const [key, { base, quote }] of this.#booked) {
      const [user, asset] = key.split('/') as [UserId, AssetId];
      Object.assign(this.#legs(this.#told, user, asset), { base, quote });
      const amounts = { base: base as Amount18, quote: quote as Amount18, entry: usd(0) };
      this.fixture.manager.margin.onPositionChanged({ user, subAccount: 1, asset, ...amounts });
    }
    this.#untold = [];
  }

  settle(): void {
    while (this.#pending.length > 0) for (const pick of [1, 2]) this.decide(pick * 4 + pick);
    this.tellPositions();
  }

  // ---- questions

  /** Both legs as clearing has booked them. */
  booked(user: UserId, asset: AssetId): Legs {
    return this.#legs(this.#booked, user, asset);
  }

  check(): void {
    for (const user of USERS)
      assert.equal(this.fixture.capacity(1, user), this.#capacity(user), `capacity of ${user[0]}`);
    for (const asset of ASSETS) {
      const bases = USERS.map((user) => this.#optimistic(user, asset).base);
      const sum = (legs: readonly bigint[]): bigint => legs.reduce((total, leg) => total + (leg > 0n ? leg : 0n), 0n);
      const { credits, borrows } = this.fixture.manager.margin.assets.legs(asset);
      assert.deepEqual([credits, borrows], [sum(bases), sum(bases.map((base) => -base))], `legs of ${asset}`);
    }
  }

  #capacity(user: UserId): Amount18 {
    const sums = emptyInitial();
    addInitialUsd(sums, this.#spot.get(user) ?? 0n);
    const pressure = { [SIDE.buy]: 0n, [SIDE.sell]: 0n };
    for (const asset of ASSETS) {
      const terms = this.#terms(asset);
      const { base, quote } = this.#optimistic(user, asset);
      addInitial(sums, terms, base);
      addInitialUsd(sums, quote);
      for (const side of [SIDE.buy, SIDE.sell]) {
        const market = MARKETS[asset];
        assert.ok(market !== undefined);
        const offset = offsetLots(side, base, market.quantityDecimals);
        // Reduce-only orders press on nothing, and use nothing of the offset (MON-09).
        const counted = this.#counted(offset, this.#open(user, asset, { side, isReduceOnly: false }), market);
        pressure[side] += requirementOf(side, counted, terms, market.takerFeeRate);
      }
    }
    return capacityOf(initialSurplus(sums), pressure[SIDE.buy] as Amount18, pressure[SIDE.sell] as Amount18);
  }

  #optimistic(user: UserId, asset: AssetId): Legs {
    const sum = { ...this.#legs(this.#told, user, asset) };
    for (const fill of [...this.#pending, ...this.#untold]) {
      for (const order of [fill.maker, fill.taker]) {
        if (order.user !== user || order.asset !== asset) continue;
        const { base, quote } = legsOf(fill, order);
        sum.base += base;
        sum.quote += quote;
      }
    }
    return sum;
  }

  /** What the offset does not cover: each order nets the most that it may come to, and counts the worst of its terms. */
  #counted(offset: number, orders: readonly (readonly Terms[])[], market: MarketDefinition): Amount18 {
    let [left, sum] = [offset, 0n];
    for (const terms of orders) {
      const netted = Math.min(left, Math.max(...terms.map(({ lots }) => lots)));
      left -= netted;
      const notionals = terms.map(({ price, lots }) => {
        return notional18(price as RawPrice, Math.max(lots - netted, 0) as RawQuantity, market);
      });
      sum += notionals.reduce((worst, one) => larger(worst, one));
    }
    return sum as Amount18;
  }

  /** In the order of admission, those on their way last; while a replace is pending with its new terms, too. */
  #open(user: UserId, asset: AssetId, of: Pick<PlainOrder, 'side' | 'isReduceOnly'>): (readonly Terms[])[] {
    const own = this.#orders.filter((order) => {
      const isOf = order.side === of.side && order.isReduceOnly === of.isReduceOnly;
      return order.user === user && order.asset === asset && isOf && !order.isOver;
    });
    const slot = ({ sequence }: PlainOrder): number => (sequence === 0 ? Number.MAX_SAFE_INTEGER : sequence);
    return [...own]
      .sort((a, b) => slot(a) - slot(b))
      .map(({ price, lots, filled, replace }) => {
        const inForce = { price, lots: lots - filled };
        const all = replace === null ? [inForce] : [inForce, { price: replace.price, lots: replace.lots - filled }];
        return all.filter((terms) => terms.lots > 0);
      })
      .filter((terms) => terms.length > 0);
  }

  #terms(asset: AssetId): AssetTerms {
    const [oracle = 0n, trade = 0n] = this.#prices.get(asset) ?? [];
    const row = RISKS[asset as keyof typeof RISKS] ?? assert.fail();
    const risk = riskTerms(row);
    // A trade is a mark within the band that the factors permit (MON-06).
    const { n, d } = widestBand({ cf: row.collateral_factor, lf: row.liability_factor });
    const away = (oracle * n) / d;
    const [, mark = 0n] = [oracle - away, trade, oracle + away].sort((a, b) => (a < b ? -1 : 1));
    const prices = { oracle: oracle as Amount18, mark: mark as Amount18, isBroken: false, shield: 0n as Amount18 };
    return assetTerms(risk, prices, risk.factors[0] ?? 0n);
  }

  #legs(of: Map<string, Legs>, user: UserId, asset: AssetId): Legs {
    const key = `${user}/${asset}`;
    const known = of.get(key) ?? { base: 0n, quote: 0n };
    of.set(key, known);
    return known;
  }

  #choose(pick: number, fits: (order: PlainOrder) => boolean): PlainOrder | undefined {
    return pickOf(this.#orders, pick, fits);
  }

  #aPrice(asset: AssetId, pick: number): number {
    return (asset === ETH ? 150_000 : 4_000_000) + (pick % 100) * (asset === ETH ? 1_000 : 20_000);
  }
}

function isOpen(order: PlainOrder): boolean {
  return order.sequence > 0 && !order.isOver && leftOf(order) > 0;
}

function leftOf({ lots, filled }: PlainOrder): number {
  return lots - filled;
}

/** Base and USD of one side, the fee in the USD. */
function legsOf({ price, lots }: PlainFill, order: PlainOrder): Legs {
  const market = MARKETS[order.asset] ?? assert.fail(order.asset);
  return moveOf({ price, quantity: lots }, order.side, 500, market);
}
