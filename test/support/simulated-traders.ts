/** Random traders of the simulated node, who remember what they sent: every kind of order, replace and cancel. */

import type { PositionSlot } from '../../src/clearing/state.ts';
import { writeSignedOrder } from '../../src/codec/generated/order-json.ts';
import type { CreateRequest, ReplaceRequest } from '../../src/codec/order-actions.ts';
import { textBytes } from '../../src/codec/text-writer.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import { SIDE, TIF, type Tif } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, TimestampNs } from '../../src/core/units.ts';
import { magnitude } from '../../src/risk/position.ts';
import { cancelRequest, createRequest, type OrderWish, replaceRequest } from './order-fixture.ts';
import { SIMULATED_MARKETS, type SimulatedNode, simulatedUser } from './simulated-node.ts';
import { SeededRandom } from './simulation.ts';

export const SIMULATED_USERS: readonly UserId[] = [1, 2, 3, 4].map(simulatedUser);

const LIMIT_TIFS: readonly Tif[] = [TIF.gtc, TIF.gtc, TIF.gtc, TIF.gtd, TIF.ioc, TIF.fok];
const PRICES = 8;
const RECENT = 30;

/** An order as its owner sent it. */
export interface Sent {
  readonly user: UserId;
  readonly id: string;
  readonly market: AssetId;
  readonly side: 0 | 1;
  /** Whether it trades on margin, in account 1. */
  readonly isMargin: boolean;
}

/** Confirmed positions of all users, in the order of users. */
function positionsOf(node: SimulatedNode): readonly PositionSlot[] {
  return SIMULATED_USERS.flatMap((user) => [
    ...(node.clearing.ledger.users.get(user)?.subAccounts.get(1)?.positions.values() ?? []),
  ]);
}

export class Traders {
  readonly random: SeededRandom;
  /** Orders with a signature that clearing is to find forged. */
  readonly forged: Set<string> = new Set();
  /** Orders on margin that were sent, by id: whether they may only reduce. */
  readonly margin: Map<string, boolean> = new Map();
  /** How far apart neighbouring prices lie, in ticks. */
  spread = 1;
  /** Whether oracle prices change now and then. */
  movesPrices = true;
  readonly #sent: Sent[] = [];
  readonly #prefix: string;
  readonly #reduceOnlyShare: number;
  #nonce = 0n;

  /**
   * @param prefix of order ids: traders of another life on the same data take another, as ids stay taken.
   * @param reduceOnlyShare of the orders on margin one in so many may only reduce.
   */
  constructor(seed: number, prefix = 'o-', reduceOnlyShare = 6) {
    this.#reduceOnlyShare = reduceOnlyShare;
    this.#prefix = prefix;
    this.random = new SeededRandom(seed ^ 0x5eed);
  }

  act(node: SimulatedNode): void {
    const draw = this.random.below(25);
    if (draw > 22) this.#flatten(node);
    else if (draw === 20) this.#transfer(node);
    else if (draw === 21) this.#closePosition(node);
    else if (draw === 22 && this.movesPrices) this.#oracle(node);
    else if (draw < 10 || this.#sent.length === 0) this.#create(node);
    else if (draw < 11) this.#createBatch(node);
    else if (draw < 12) this.#replaceBatch(node);
    else if (draw < 16) this.#cancel(node);
    else if (draw < 19) this.#replace(node);
    else this.#cancelMany(node);
  }

  /** The same id once more, for next to nothing, so that every user can pay for it. */
  again(node: SimulatedNode, { user, id, market }: Pick<Sent, 'user' | 'id' | 'market'>): void {
    this.#send(node, { user, id, market, side: SIDE.buy, isMargin: false }, { price: 5, quantity: 10 });
  }

  #transfer(node: SimulatedNode): void {
    this.#nonce += 1n;
    const sourceIndex = this.random.below(2);
    void node.errand({
      kind: 'transfer',
      user: this.#pick(SIMULATED_USERS),
      sourceIndex,
      targetIndex: 1 - sourceIndex,
      asset: this.#pick([USD, USD, ...SIMULATED_MARKETS]),
      amount: (BigInt(1 + this.random.below(4)) * 10n ** 15n) as Amount18,
      targetType: null,
      nonce: this.#nonce,
    });
  }

  #closePosition(node: SimulatedNode): void {
    this.#nonce += 1n;
    const flat = positionsOf(node).filter(({ legs }) => legs.base === 0n && legs.quote !== 0n);
    const aim =
      flat.length === 0
        ? { user: this.#pick(SIMULATED_USERS), asset: this.#pick(SIMULATED_MARKETS) }
        : this.#pick(flat);
    void node.errand({ kind: 'closePosition', user: aim.user, account: 1, asset: aim.asset, nonce: this.#nonce });
  }

  /** An order over a whole position, at a price that others meet. */
  #flatten(node: SimulatedNode): void {
    const open = positionsOf(node).filter(({ legs }) => legs.base !== 0n);
    if (open.length === 0) return;
    const { user, asset, legs } = this.#pick(open);
    const side = legs.base > 0n ? SIDE.sell : SIDE.buy;
    const order: Sent = { user, id: `${this.#prefix}${this.#sent.length + 1}`, market: asset, side, isMargin: true };
    this.#sent.push(order);
    const quantity = Number(magnitude(legs.base) / 10n ** 14n);
    this.#send(node, order, { price: side === SIDE.buy ? 200_000 + 5 * (PRICES - 1) : 200_000, quantity });
  }

  /** Mostly near what is traded, now and then far enough to force a liquidation. */
  #oracle(node: SimulatedNode): void {
    const far = this.random.below(4) === 0 ? 40 : 1;
    const price = `${2_000 + far * (this.random.below(5) - 2)}.${this.random.below(10)}`;
    void node.errand({ kind: 'setPrices', body: { prices: [{ asset_id: this.#pick(SIMULATED_MARKETS), price }] } });
  }

  #create(node: SimulatedNode): void {
    const { order, wish } = this.#wish(node, this.#pick(SIMULATED_USERS));
    this.#send(node, order, wish);
  }

  /** Orders of one user in any markets, an id twice now and then. */
  #createBatch(node: SimulatedNode): void {
    const user = this.#pick(SIMULATED_USERS);
    const requests = Array.from({ length: 2 + this.random.below(6) }, () => {
      const { order, wish } = this.#wish(node, user);
      return this.#requestOf(node, order, wish);
    });
    const twice = this.random.below(8) === 0 ? [...requests, this.#pick(requests)] : requests;
    const origin = { user, connection: 1, isControl: this.random.below(2) === 0 };
    node.gateway.entry.submitBatch({ kind: 'batch-create', requests: twice }, origin, (_index, answer) =>
      node.answers.push(answer),
    );
  }

  #replaceBatch(node: SimulatedNode): void {
    const { user } = this.#pick(this.#recent());
    const own = this.#recent().filter((sent) => sent.user === user);
    const requests = own.slice(0, 1 + this.random.below(6)).map((sent) => this.#change(node, sent));
    const origin = { user, connection: 1, isControl: this.random.below(2) === 0 };
    node.gateway.entry.submitBatch({ kind: 'batch-replace', requests }, origin, (_index, answer) =>
      node.answers.push(answer),
    );
  }

  #wish(node: SimulatedNode, user: UserId): { readonly order: Sent; readonly wish: OrderWish } {
    const order: Sent = {
      user,
      id: `${this.#prefix}${this.#sent.length + 1}`,
      market: this.#pick(SIMULATED_MARKETS),
      side: this.random.below(2) === 0 ? SIDE.buy : SIDE.sell,
      isMargin: this.random.below(2) === 0,
    };
    if (this.random.below(40) === 0) this.forged.add(order.id);
    const kind = this.random.below(10);
    const wish = kind < 3 ? this.#market(order) : this.#limit(node);
    const trigger = this.random.below(10);
    const condition = trigger < 2 ? this.#condition() : trigger < 4 ? this.#childOf(order) : {};
    this.#sent.push(order);
    return { order, wish: { ...wish, ...condition } };
  }

  #limit(node: SimulatedNode): OrderWish {
    const tif = this.#pick(LIMIT_TIFS);
    return {
      price: this.#price(),
      quantity: this.#quantity(),
      tif,
      postOnly: (tif === TIF.gtc || tif === TIF.gtd) && this.random.below(5) === 0,
      goodUntilNs: node.nowNs + BigInt(1 + this.random.below(40_000_000)),
    };
  }

  #market({ side }: Sent): OrderWish {
    const fok = this.random.below(3) === 0;
    const isCapped = this.random.below(2) === 0;
    if (this.random.below(2) === 0) {
      const cap = isCapped && side === SIDE.buy ? { cap: this.#money() } : {};
      return { market: { base: this.#quantity(), ...cap, fok } };
    }
    const cap = isCapped && side === SIDE.sell ? { cap: this.#quantity() } : {};
    return { market: { quote: this.#money(), ...cap, fok } };
  }

  #condition(): OrderWish {
    return this.random.below(2) === 0 ? { above: this.#price() } : { below: this.#price() };
  }

  /** Of a recent order, mostly of one that may be a parent. */
  #childOf({ user, market, side, isMargin }: Sent): OrderWish {
    const own = this.#recent().filter((of) => of.user === user && of.market === market && of.side !== side);
    const fits = own.filter((of) => of.isMargin === isMargin);
    const parent = fits.length > 0 ? this.#pick(fits) : undefined;
    return parent === undefined ? this.#condition() : { ...this.#condition(), parent: parent.id };
  }

  #send(node: SimulatedNode, order: Sent, wish: OrderWish): void {
    const origin = { user: order.user, connection: 1, isControl: true };
    node.gateway.entry.submit({ kind: 'create', request: this.#requestOf(node, order, wish) }, origin, (answer) =>
      node.answers.push(answer),
    );
  }

  #requestOf(node: SimulatedNode, { user, id, market, side, isMargin }: Sent, wish: OrderWish): CreateRequest {
    const asset = { id: market, text: market };
    const target = {
      account: isMargin ? 1 : 0,
      // Now and then a spot order of the margin account, or one that may only reduce.
      isSpot: !isMargin || this.random.below(6) === 0,
    };
    const reduceOnly = !target.isSpot && this.random.below(this.#reduceOnlyShare) === 0;
    if (!target.isSpot) this.margin.set(id, reduceOnly);
    const request = createRequest(
      { ...wish, user, id, side, postSignNs: node.nowNs },
      { baseAsset: asset, creationNs: node.nowNs as TimestampNs, ...target, reduceOnly },
    );
    const text = request.fault === null ? textBytes(request.order, writeSignedOrder) : request.text;
    return { ...request, text };
  }

  #cancel(node: SimulatedNode): void {
    const { user, id, market } = this.#pick(this.#recent());
    const request = cancelRequest(id, user);
    const aimed = {
      ...request,
      cancel: { ...request.cancel, asset: { id: market, text: market } },
      postSignNs: node.nowNs as TimestampNs,
    };
    const isControl = this.random.below(2) === 0;
    node.gateway.entry.submit({ kind: 'cancel', request: aimed }, { user, connection: 1, isControl }, (answer) =>
      node.answers.push(answer),
    );
  }

  #cancelMany(node: SimulatedNode): void {
    const user = this.#pick(SIMULATED_USERS);
    const assetId = this.random.below(2) === 0 ? null : this.#pick(SIMULATED_MARKETS);
    if (this.random.below(2) === 0) {
      const beforeNs = this.random.below(2) === 0 ? null : ((node.nowNs - 5_000_000n) as TimestampNs);
      node.gateway.cancels.cancelAll({ user, assetId, beforeNs });
      return;
    }
    const orderIds = this.#recent().map(({ id }) => id as OrderId);
    node.gateway.cancels.cancelBatch({ user, assetId, orderIds: orderIds.slice(0, 1 + this.random.below(5)) });
  }

  #replace(node: SimulatedNode): void {
    const sent = this.#pick(this.#recent());
    const origin = { user: sent.user, connection: 1, isControl: true };
    node.gateway.entry.submit({ kind: 'replace', request: this.#change(node, sent) }, origin, (answer) =>
      node.answers.push(answer),
    );
  }

  #change(node: SimulatedNode, { user, id, market }: Sent): ReplaceRequest {
    const direction = this.random.below(2) === 0 ? 'PriceAbove' : 'PriceBelow';
    const condition = { direction, price: this.#price() as RawPrice } as const;
    const newTrigger = this.random.below(4) === 0 ? ({ shape: 'bare', parentOrderId: null, condition } as const) : null;
    const request = replaceRequest({
      user,
      orderId: id as OrderId,
      timestampNs: node.nowNs as TimestampNs,
      newPriceLimit: this.random.below(2) === 0 ? null : (this.#price() as never),
      newQuantity: this.random.below(2) === 0 ? null : (this.#quantity() as never),
      newTrigger,
    });
    return { ...request, asset: { id: market, text: market }, postSignNs: node.nowNs as TimestampNs };
  }

  #recent(): readonly Sent[] {
    return this.#sent.slice(-RECENT);
  }

  #price(): number {
    return 200_000 + 5 * this.spread * this.random.below(PRICES);
  }

  #quantity(): number {
    return 10 + this.random.below(200);
  }

  /** A quote integer of four decimals that buys some hundredths. */
  #money(): number {
    return 20_000 + this.random.below(400_000);
  }

  #pick<T>(from: readonly T[]): T {
    const chosen = from[this.random.below(from.length)];
    if (chosen === undefined) throw new Error('there is something to pick from');
    return chosen;
  }
}
