/**
 * A gateway with margin: two markets with prices and risk rows, Alice's cross-margin account 1, all events of the
 * market and of clearing made by hand.
 */
import assert from 'node:assert/strict';
import type { SignedOrder } from '../../src/codec/order-actions.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import { type OrderEnd, type RollbackReason, SIDE, type Side, TIF, type Tif } from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, type TimestampNs } from '../../src/core/units.ts';
import type { LiveOrder } from '../../src/gateway/orders/book/live-order.ts';
import type { PreparedCreate, PreparedReplace } from '../../src/gateway/orders/entry/pending-requests.ts';
import { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import type { OrderSettings } from '../../src/gateway/orders/settings.ts';
import type { Room } from '../../src/order/order-codec.ts';
import type { PriceSource } from '../../src/risk/prices.ts';
import { DEFAULT_MARK_TERMS, type RiskRow, riskTerms } from '../../src/risk/risk-terms.ts';
import { ImitationMarket } from './imitation-market.ts';
import { ALICE, BTC, ETH } from './names.ts';
import {
  codeOf,
  createRequest,
  ID_KEY,
  MARKET,
  type MarketWish,
  mustPass,
  NO_HISTORY,
  NOW,
  RecordingSink,
  replaceRequest,
} from './order-fixture.ts';

/** Of EX-17: quantity decimals 3. */
export const TOY = '3' as AssetId;

/** Price decimals 2, quantity decimals 4 (of the toy 3), tick and minimum 1, taker 500. */
export const MARKETS: Readonly<Record<string, MarketDefinition>> = {
  [ETH]: { ...MARKET, marketIndex: 0, assetId: ETH, tickSize: 1 as RawPrice, minimumQuantity: 1 as RawQuantity },
  [BTC]: { ...MARKET, marketIndex: 1, assetId: BTC, tickSize: 1 as RawPrice, minimumQuantity: 1 as RawQuantity },
  [TOY]: {
    ...MARKET,
    marketIndex: 2,
    assetId: TOY,
    quantityDecimals: 3,
    tickSize: 1 as RawPrice,
    minimumQuantity: 1 as RawQuantity,
  },
};

const NO_CAP = String((1n << 256n) - 1n);

/** Percent. @param im 1e-6. */
export function riskRow(cf: number, lf: number, im: number, change: Partial<RiskRow> = {}): RiskRow {
  return {
    collateral_factor: cf,
    liability_factor: lf,
    max_collateral: NO_CAP,
    max_total_open_interest_notional: NO_CAP,
    max_spot_open_interest: NO_CAP,
    max_utilization: '1000000000000000000',
    isolated_only: false,
    initial_margin_clamps: [0],
    initial_margin_factors: [im],
    min_sub_account_balance: '0',
    ...change,
  };
}

export function usd(text: number | string): Amount18 {
  const [whole = '0', fraction = ''] = String(text).split('.');
  const sign = whole.startsWith('-') ? -1n : 1n;
  return (BigInt(whole) * ONE_18 + sign * BigInt(fraction.padEnd(18, '0'))) as Amount18;
}

export function source(price: Amount18, timeNs: TimestampNs = NOW): PriceSource {
  return { price, timeNs, isTripped: false, goodUpdates: 0 };
}

/** In human units; market decimals are 2 and 4. */
export interface MarginWish {
  readonly id?: string;
  readonly user?: UserId;
  readonly asset?: AssetId;
  readonly side: Side;
  readonly quantity?: number;
  readonly price?: number;
  readonly tif?: Tif;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly isSpot?: boolean;
  readonly account?: number;
  /** Raw. */
  readonly market?: MarketWish;
  readonly above?: number;
  /** How long before NOW it was created. */
  readonly ageNs?: bigint;
}

function lotsOf(asset: AssetId, quantity: number): RawQuantity {
  return Math.round(quantity * 10 ** (MARKETS[asset]?.quantityDecimals ?? 0)) as RawQuantity;
}

export class MarginFixture {
  readonly sink: RecordingSink = new RecordingSink();
  readonly manager: OrderManager;
  nowNs: TimestampNs = NOW;
  readonly #markets: ReadonlyMap<string, ImitationMarket>;
  /** By id: sequence and price. */
  readonly #placed = new Map<string, readonly [number, number]>();
  #ids = 0;

  /** EX-05's world: ETH at 2000, BTC at 50000. */
  constructor() {
    this.manager = new OrderManager({ sink: this.sink, history: NO_HISTORY, idKey: ID_KEY });
    const options = { nowNs: () => this.nowNs, feeRates: { makerFeeRate: 500, takerFeeRate: 500 } };
    this.#markets = new Map(
      Object.entries(MARKETS).map(([asset, market]) => [asset, new ImitationMarket(this.manager, market, options)]),
    );
    for (const market of Object.values(MARKETS)) this.manager.onMarketChanged(market);
    this.risk(ETH, riskRow(90, 95, 1_000_000));
    this.risk(BTC, riskRow(95, 96, 900_000));
    this.risk(TOY, riskRow(90, 95, 1_000_000));
    this.price(ETH, 2_000);
    this.price(BTC, 50_000);
  }

  /** @param markBand as an asset has it. */
  risk(asset: AssetId, row: RiskRow, markBand: string | null = null): void {
    this.manager.margin.onRiskChanged(asset, riskTerms(row, { ...DEFAULT_MARK_TERMS, markBand }));
  }

  /** What there is to lend of each asset with the next price: more than any test borrows. */
  holdings: bigint = usd(1_000_000_000);

  /** Oracle, and a mark if there is one. */
  price(asset: AssetId, oracle: number | string, mark: number | string | null = null): void {
    this.manager.margin.onOraclePrice(asset, source(usd(oracle), this.nowNs));
    this.manager.margin.onMarketRisk({
      marketIndex: this.#market(asset).definition.marketIndex,
      mark: mark === null ? null : source(usd(mark), this.nowNs),
      interest: { credits: 0n, borrows: 0n },
      holdings: this.holdings,
    });
  }

  spot(asset: AssetId, owned: number | string, subAccount = 1, user: UserId = ALICE): void {
    this.manager.onBalanceChanged({ user, subAccount, asset, owned: usd(owned), locked: usd(0) });
  }

  position(asset: AssetId, base: number | string, quote: number | string, subAccount = 1, user: UserId = ALICE): void {
    const legs = { base: usd(base), quote: usd(quote), entry: usd(0) };
    this.manager.margin.onPositionChanged({ user, subAccount, asset, ...legs });
  }

  settings(change: Partial<OrderSettings>): void {
    this.manager.onSettingsChanged({ ...this.manager.settings, ...change });
  }

  /** Check and reserve. @returns the code, or `ok`; with `orders` what the market will name it by. */
  request(wish: MarginWish): Outcome<{ readonly requestId: number; readonly order: LiveOrder }> {
    const user = wish.user ?? ALICE;
    const checked = this.manager.requests.checkCreate(this.#create(wish, user), {
      user,
      now: this.nowNs,
      looksUp: true,
    });
    return checked.ok ? this.manager.requests.reserveCreate(checked.value, this.nowNs) : checked;
  }

  /** A create that passes, as it goes to its market. */
  prepared(wish: MarginWish): PreparedCreate {
    const caller = { user: wish.user ?? ALICE, now: this.nowNs, looksUp: true };
    const prepared = mustPass(this.manager.requests.checkCreate(this.#create(wish, caller.user), caller));
    mustPass(this.manager.requests.reserveCreate(prepared, this.nowNs));
    return prepared;
  }

  verdict(wish: MarginWish): string {
    return codeOf(this.request(wish));
  }

  /** A create that the market admits. @returns its sequence. */
  place(wish: MarginWish): number {
    const { requestId } = mustPass(this.request(wish));
    const sequence = this.admit(requestId, wish.asset ?? ETH);
    this.#placed.set(wish.id ?? `o-${this.#ids}`, [sequence, wish.price ?? 2_000]);
    return sequence;
  }

  /** The market admits a create and answers it. @returns the order's sequence. */
  admit(requestId: number, asset: AssetId): number {
    const market = this.#market(asset);
    const sequence = market.admit(requestId);
    market.answer(requestId, sequence);
    return sequence;
  }

  /** The id that the next match of a market has. */
  nextTrade(asset: AssetId): number {
    return this.#market(asset).tradeId + 1;
  }

  replace(id: string, change: { price?: number; quantity?: number }, asset: AssetId = ETH): Outcome<number> {
    const checked = this.#checkReplace(id, change, asset);
    return checked.ok ? this.manager.requests.reserveReplace(checked.value) : checked;
  }

  /** What a replace that passes, and is refused by the market, has room for. */
  roomOfReplace(id: string, change: { price?: number; quantity?: number }): Readonly<Room> {
    const prepared = mustPass(this.#checkReplace(id, change, ETH));
    this.acknowledge(mustPass(this.manager.requests.reserveReplace(prepared)), ETH, REJECT_CODE.REQUEST_TOO_OLD);
    return prepared.room;
  }

  #checkReplace(id: string, change: { price?: number; quantity?: number }, asset: AssetId): Outcome<PreparedReplace> {
    const request = {
      ...replaceRequest({
        orderId: id as OrderId,
        bookQuantityDecimals: MARKETS[asset]?.quantityDecimals ?? 0,
        newPriceLimit: change.price === undefined ? null : (Math.round(change.price * 100) as RawPrice),
        newQuantity: change.quantity === undefined ? null : lotsOf(asset, change.quantity),
      }),
      asset: { id: asset, text: asset },
    };
    return this.manager.requests.checkReplace(request, { user: ALICE, now: this.nowNs, looksUp: true });
  }

  /** A replace is applied. */
  replaced(requestId: number, order: number, price: number, quantity: number, asset: AssetId = ETH): void {
    const market = this.#market(asset);
    const sequence = market.replaced(order, Math.round(price * 100), lotsOf(asset, quantity));
    market.answer(requestId, sequence);
  }

  /** @returns the trade's id. */
  match(maker: number, taker: number, price: number, quantity: number, takerSide: Side, asset: AssetId = ETH): number {
    return this.#market(asset).match(maker, taker, Math.round(price * 100), lotsOf(asset, quantity), takerSide);
  }

  confirm(tradeId: number, asset: AssetId = ETH): void {
    this.#market(asset).confirm(tradeId);
  }

  rollBack(tradeId: number, asset: AssetId = ETH): void {
    this.#market(asset).rollBack(tradeId, 1, 10);
  }

  /** As `rollBack`, with these reasons of maker and taker. */
  undo(tradeId: number, makerReason: RollbackReason, takerReason: RollbackReason, asset: AssetId = ETH): void {
    this.#market(asset).rollBack(tradeId, makerReason, takerReason);
  }

  /** For want of margin of one party. */
  rollBackFor(tradeId: number, party: 'maker' | 'taker', asset: AssetId = ETH): void {
    const [maker, taker] = party === 'maker' ? [1, 10] : [10, 1];
    this.#market(asset).rollBack(tradeId, maker as 1 | 10, taker as 1 | 10);
  }

  /** Markets obey the reductions that were sent since the last call. @returns `o-1 444`, `o-2 cancelled`. */
  obey(): readonly string[] {
    return this.sink.reductions.splice(0).map(({ orderId, assetId, total, requestId, end }) => {
      const [order, price] = this.#placed.get(orderId) ?? [0, 0];
      if (total !== 0) {
        this.replaced(requestId, order, price, total / 10 ** (MARKETS[assetId]?.quantityDecimals ?? 0), assetId);
        return `${orderId} ${total}`;
      }
      this.end(order, end, assetId);
      this.acknowledge(requestId, assetId);
      return `${orderId} cancelled`;
    });
  }

  /** The market answers a request; 0 stands for yes. */
  acknowledge(requestId: number, asset: AssetId = ETH, rejectCode = 0): void {
    this.#market(asset).answer(requestId, 0, rejectCode);
  }

  /** A trigger of ETH's market fires for so many raw lots. */
  trigger(order: number, quantity: number): void {
    this.#market(ETH).trigger(order, quantity);
  }

  /** Clearing has passed all events of ETH's market. */
  decide(): void {
    this.#market(ETH).decide();
  }

  end(order: number, end: OrderEnd, asset: AssetId = ETH): void {
    this.#market(asset).end(order, end);
  }

  capacity(subAccount = 1, user: UserId = ALICE): Amount18 {
    return this.manager.margin.capacity(user, subAccount, this.nowNs);
  }

  #market(asset: AssetId): ImitationMarket {
    return this.#markets.get(asset) ?? assert.fail(`there is no market of asset ${asset}`);
  }

  #create(wish: MarginWish, user: UserId): ReturnType<typeof createRequest> {
    this.#ids += 1;
    const asset = wish.asset ?? ETH;
    const change: Partial<SignedOrder> = {
      baseAsset: { id: asset, text: asset },
      bookQuantityDecimals: MARKETS[asset]?.quantityDecimals ?? 0,
      account: wish.account ?? 1,
      isSpot: wish.isSpot ?? false,
      reduceOnly: wish.reduceOnly ?? false,
      creationNs: (NOW - (wish.ageNs ?? 0n)) as TimestampNs,
    };
    const base = {
      user,
      id: wish.id ?? `o-${this.#ids}`,
      side: wish.side,
      price: Math.round((wish.price ?? 2_000) * 100),
      quantity: lotsOf(asset, wish.quantity ?? 1),
      tif: wish.tif ?? TIF.gtc,
      postOnly: wish.postOnly ?? false,
      postSignNs: this.nowNs,
    };
    const market = wish.market === undefined ? {} : { market: wish.market };
    const above = wish.above === undefined ? {} : { above: wish.above };
    return createRequest({ ...base, ...market, ...above }, change);
  }
}

export { ALICE, SIDE, TIF, USD };
