/**
 * A market of its own asset on a test node, with a risk row and prices, and the margin accounts that trade it: what a
 * test of liquidations sets up and reads, over the public and the operator API alone.
 */
import assert from 'node:assert/strict';
import type { Json, TestNode } from './test-node.ts';
import { limit, type Tif } from './wire-texts.ts';
import type { Answered, Ticket, Trader } from './wire-trader.ts';

const HOUSE_USD = '100000000';
const MARK_STALE_NS = 61_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const QUANTITY_DECIMALS = 4;
/** The backstop of the seed. */
export const BACKSTOP = '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382';

export interface MarginTerms {
  /** Percent. */
  readonly cf: number;
  readonly lf: number;
  readonly oracle: string;
  /** 2 by default. */
  readonly priceDecimals?: number;
}

/** A fill on a user's stream of trades. */
export interface UserFill extends Json {
  readonly order_id: string;
  readonly status: string;
  readonly price: string;
  readonly quantity: string;
  readonly is_liquidation: boolean;
  readonly is_auto_deleverage: boolean;
  readonly trading_fee: string;
}

export interface BackstopView {
  readonly account: string;
  readonly capital: string;
  readonly sub_accounts: readonly BackstopSubAccount[];
}

export interface BackstopSubAccount {
  readonly index: number;
  readonly source_user: string;
  readonly source_index: number;
  readonly state: 'working' | 'deleveraging' | 'closed';
  readonly spot: Readonly<Record<string, string>>;
  readonly positions: Readonly<Record<string, { readonly base: string; readonly quote: string }>>;
  readonly provisional_collateral: string;
  readonly posted_collateral: string;
  readonly equity: string;
  readonly im_surplus: string;
  readonly im_requirement: string;
  readonly adl_closed: Readonly<Record<string, string>>;
}

export class MarginMarket {
  readonly node: TestNode;
  readonly asset: string;
  /** Two accounts with more money than all others lose. */
  readonly house: readonly [Trader, Trader];
  readonly #priceDecimals: number;

  private constructor(node: TestNode, asset: string, house: readonly [Trader, Trader], priceDecimals: number) {
    this.node = node;
    this.asset = asset;
    this.house = house;
    this.#priceDecimals = priceDecimals;
  }

  /** Two accounts that make every market of a node. */
  static async house(node: TestNode): Promise<readonly [Trader, Trader]> {
    return [await node.trader({ '0': HOUSE_USD }, [0, 1]), await node.trader({ '0': HOUSE_USD }, [0, 1])];
  }

  /** Without fees and without a bound on sizes. */
  static async open(
    node: TestNode,
    asset: string,
    house: readonly [Trader, Trader],
    { cf, lf, oracle, priceDecimals = 2 }: MarginTerms,
  ): Promise<MarginMarket> {
    await node.addMarket(asset, [priceDecimals, QUANTITY_DECIMALS], { maker_fee_rate: 0, taker_fee_rate: 0 });
    const risk = { collateral_factor: cf, liability_factor: lf };
    await node.operate('PUT', `/operator/risk-parameters/${asset}`, risk);
    const market = new MarginMarket(node, asset, house, priceDecimals);
    await market.oracle(oracle);
    return market;
  }

  get margin(): Ticket {
    return { asset: this.asset, account: 1, isSpot: false };
  }

  async oracle(price: string): Promise<void> {
    await this.node.oraclePrice(price, this.asset);
  }

  /** So many seconds, one by one: what is due once a second is done once in each. */
  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second += 1) {
      await this.node.advance(SECOND_NS);
      await this.node.rest();
    }
  }

  /** The mark is the oracle's from here on. */
  async forgetMark(): Promise<void> {
    await this.node.advance(MARK_STALE_NS);
    await this.node.rest();
  }

  async trader(usd: string): Promise<Trader> {
    return this.node.trader({ '0': usd }, [1]);
  }

  details(price: number, quantity: number, tif: Tif = 'GTC'): string {
    return limit(Math.round(price * 10 ** this.#priceDecimals), Math.round(quantity * 10 ** QUANTITY_DECIMALS), tif);
  }

  /** A resting order of the margin account. */
  async rest(trader: Trader, side: 'Buy' | 'Sell', price: number, quantity: number): Promise<Answered> {
    const order = await trader.create(side, this.details(price, quantity), this.margin);
    assert.equal(order.word, 'Received');
    return order;
  }

  /** A confirmed trade between two margin accounts. */
  async trade(buyer: Trader, seller: Trader, price: number, quantity: number): Promise<void> {
    const ask = await this.rest(seller, 'Sell', price, quantity);
    const bid = await this.rest(buyer, 'Buy', price, quantity);
    await buyer.until(bid.id, 'Removed Filled');
    await seller.until(ask.id, 'Removed Filled');
  }

  /** The trader is long, or short with a negative quantity; one of the house is on the other side. */
  async enter(trader: Trader, price: number, quantity: number): Promise<void> {
    const [house] = this.house;
    if (quantity > 0) await this.trade(trader, house, price, quantity);
    else await this.trade(house, trader, price, -quantity);
  }

  /** A last trade at this price, of the smallest size. */
  async mark(price: number): Promise<void> {
    const [buyer, seller] = this.house;
    await this.trade(buyer, seller, price, 0.0001);
  }

  // ---- reads

  /** Fills of this market on a trader's stream, of orders of the node. */
  nodeFills(trader: Trader, prefix = 'sys-'): readonly UserFill[] {
    return (trader.fills as unknown as readonly UserFill[]).filter(
      ({ asset_id: asset, order_id: id }) => asset === this.asset && id.startsWith(prefix),
    );
  }

  /** Ids of the node's orders on a trader's stream of orders, each once, in the order in which they came. */
  nodeOrders(trader: Trader): readonly string[] {
    const ids = trader.events.flatMap((frame) => {
      const [told] = Object.values(frame) as readonly { order_id?: string; user_order?: Json }[];
      const id = told?.order_id ?? told?.user_order?.['order_id'];
      return typeof id === 'string' && id.startsWith('sys-') ? [id] : [];
    });
    return [...new Set(ids)];
  }

  /** `long 2`, `short 1.5`, or `flat`. */
  async position(trader: Trader): Promise<string> {
    const { text } = await trader.call('GET', `/positions/${trader.userId}`);
    const { positions } = JSON.parse(text) as { readonly positions: readonly Json[] };
    const own = positions.find((each) => each['asset_id'] === this.asset);
    return own === undefined ? 'flat' : `${own['side']} ${own['size']}`;
  }

  async figures(trader: Trader, account = 1): Promise<Json> {
    const { text } = await trader.call('GET', `/margin/user/${trader.userId}`);
    const { accounts } = JSON.parse(text) as { readonly accounts: Readonly<Record<string, Json>> };
    return accounts[account] ?? assert.fail(`account ${account} is a margin account`);
  }

  async backstop(): Promise<BackstopView> {
    await this.node.rest();
    return (await this.node.operate('GET', '/operator/backstop')) as unknown as BackstopView;
  }

  /** What the backstop has taken over of a trader. */
  async takenFrom(trader: Trader): Promise<BackstopSubAccount | undefined> {
    const { sub_accounts: rows } = await this.backstop();
    return rows.find(({ source_user: user }) => user === trader.userId);
  }

  /** Public trades of the market, newest first. */
  async tape(): Promise<readonly Json[]> {
    await this.node.rest();
    const answer = await fetch(`${this.node.process.mds}/trades/${this.asset}`);
    const body = (await answer.json()) as { readonly trades?: readonly Json[] } | readonly Json[];
    return (Array.isArray(body) ? body : ((body as { trades?: readonly Json[] }).trades ?? [])) as readonly Json[];
  }
}
