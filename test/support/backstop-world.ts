/** A margin world with the backstop: accounts are taken over, its rows are stepped, and its orders and trade ids are answered. */

import assert from 'node:assert/strict';
import type { Effect } from '../../src/clearing/effects.ts';
import { isBackstopStepDue } from '../../src/clearing/liquidation/backstop.ts';
import { takeOver } from '../../src/clearing/liquidation/take-over.ts';
import type { BackstopRow } from '../../src/clearing/rows.ts';
import { backstopView } from '../../src/clearing/views.ts';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, ROLLBACK_REASON, SIDE, TIF } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence } from '../../src/core/units.ts';
import { effectsOf, user } from './clearing-world.ts';
import { MarginWorld, type TradeTerms } from './margin-world.ts';
import { USD } from './names.ts';

export const BACKSTOP: UserId = '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382' as UserId;
/** The other side of trades that a test needs: it has funds, and its positions are its own. */
export const MAKER: UserId = user('ee');
/** The first index that the backstop has for a row. */
export const FIRST = 2;

type NodeOrderEffect = Extract<Effect, { kind: 'nodeOrder' }>;
type View = Readonly<Record<string, unknown>>;

export class BackstopWorld extends MarginWorld {
  /** ETH and BTC without fees; collateral and liability factors as given, by default 90 and 95, and 95 and 96. */
  static withBackstop(risk: View = {}): BackstopWorld {
    const world = MarginWorld.prepare(new BackstopWorld(), risk);
    for (const asset of ['1', '2'] as AssetId[]) world.put('putMarket', asset, { taker_fee_rate: 0 }, 'patch');
    return world;
  }

  /** A position of one of the two, against the other. */
  open(terms: TradeTerms): void {
    assert.equal(this.trade(terms), 'confirmed');
  }

  /** Takes back so much of spot USD. */
  drain(of: UserId, amount: string, subAccount: number = 1): void {
    assert.ok(this.fund(of, USD, `-${amount}`, subAccount).ok);
  }

  /** What the rounds do when the book has not absorbed the account. */
  takenOver(of: UserId, subAccount: number = 1): Effect[] {
    const account = this.state.users.get(of)?.subAccounts.get(subAccount);
    assert.ok(account !== undefined);
    const effects: Effect[] = [];
    assert.equal(takeOver(this.state, account, this.nowNs, effects), true);
    // Publishes what has changed and checks the ledger.
    return [...effects, ...this.send({ kind: 'clockMoved', request: this.request() })];
  }

  row(index: number = FIRST): BackstopRow {
    const row = this.state.backstopRows.get(index);
    assert.ok(row !== undefined);
    return row;
  }

  isDue(index: number = FIRST): boolean {
    return isBackstopStepDue(this.state, this.row(index), this.nowNs);
  }

  step(index: number = FIRST): Effect[] {
    return this.send({ kind: 'backstopStep', index });
  }

  /** Steps until nothing is due; trade ids are given away at once, orders are not answered. */
  stepAll(...indices: number[]): Effect[] {
    const all: Effect[] = [];
    const rows = indices.length === 0 ? [FIRST] : indices;
    for (let steps = 0; rows.some((index) => this.isDue(index)); steps += 1) {
      assert.ok(steps < 1_000, 'each step that is due leads on');
      for (const index of rows) {
        if (!this.isDue(index)) continue;
        const effects = this.step(index);
        all.push(...effects);
        for (const { marketIndex, count } of effectsOf(effects, 'tradeIdsWanted'))
          all.push(...this.reserve(marketIndex, count));
      }
    }
    return all;
  }

  /** The market gives trade ids away. */
  reserve(marketIndex: number, count: number): Effect[] {
    const firstTradeId = ((this.state.markets[marketIndex]?.lastTradeId ?? 0) + 1) as Sequence;
    return this.send({ kind: 'tradeIdsReserved', ...this.next(marketIndex), firstTradeId, count });
  }

  /** Admits an order of the node. @returns its sequence. */
  admit({ user: owner, subAccount, marketIndex, orderId, side, price, quantity, isSpot }: NodeOrderEffect): Sequence {
    const flags = ORDER_FLAG.nodeMade | (isSpot ? ORDER_FLAG.isSpot : ORDER_FLAG.reduceOnly);
    const maxFeeRate = 1_000_000;
    return this.create(
      { user: owner, subAccount, orderId, side, price, quantity, flags, tif: TIF.ioc, maxFeeRate },
      marketIndex,
    );
  }

  /** Fills a clip wholly against MAKER. @param price raw, by default the clip's limit. */
  fillClip(order: NodeOrderEffect, price: number = order.price): Effect[] {
    const effects = this.tryClip(order, price);
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 1);
    return effects;
  }

  /** The same; a clip that is rolled back, because its fill would raise the risk (LIQ-12), is over. */
  tryClip(order: NodeOrderEffect, price: number = order.price): Effect[] {
    const { marketIndex, quantity, isSpot } = order;
    const side = order.side === SIDE.buy ? SIDE.sell : SIDE.buy;
    const flags = isSpot ? ORDER_FLAG.isSpot : 0;
    const maker = this.create({ user: MAKER, subAccount: 1, side, price, quantity, flags }, marketIndex);
    const clip = this.admit(order);
    const effects = this.match(maker, clip, quantity, { marketIndex, price: price as RawPrice });
    if (effectsOf(effects, 'fillConfirmed').length === 1) return effects;
    const end = { end: ORDER_END.atFault, faultReason: ROLLBACK_REASON.invalidOrder };
    return [...effects, ...this.send({ kind: 'ended', ...this.next(marketIndex), order: clip, ...end })];
  }

  /** The book absorbs nothing of a clip. */
  endClip(order: NodeOrderEffect): Effect[] {
    const { marketIndex } = order;
    const sequence = this.admit(order);
    const end = { end: ORDER_END.immediateOrCancel, faultReason: 0 as const };
    return this.send({ kind: 'ended', ...this.next(marketIndex), order: sequence, ...end });
  }

  view(): View {
    return backstopView(this.state, this.nowNs);
  }

  /** A row of `GET /operator/backstop`. */
  rowView(index: number = FIRST): View {
    const rows = this.view()['sub_accounts'] as readonly View[];
    const row = rows.find((one) => one['index'] === index);
    assert.ok(row !== undefined);
    return row;
  }

  ownedText(of: UserId, asset: AssetId, subAccount: number = 0): string {
    return format18(this.owned(of, asset, subAccount) as Amount18);
  }
}

/** The only order of the node in these effects. */
export function clipOf(effects: readonly Effect[]): NodeOrderEffect {
  const [clip, ...others] = effectsOf(effects, 'nodeOrder');
  assert.ok(clip !== undefined && others.length === 0, 'one clip');
  return clip;
}

/** Trades of auto-deleveraging: seller or buyer on the other side, lots and raw price. */
export function deleveragedOf(effects: readonly Effect[]): readonly (readonly [UserId, number, number])[] {
  return effectsOf(effects, 'deleveraged').map(({ trade }) => [trade.maker.user, trade.quantity, trade.price]);
}
