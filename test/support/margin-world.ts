/** A clearing world with margin: two markets with prices, and trades that are two orders and their match. */

import assert from 'node:assert/strict';
import { maintenanceOf } from '../../src/clearing/account-margin.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { Transfer } from '../../src/clearing/inputs.ts';
import { assetTermsOf } from '../../src/clearing/risks.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_FLAG, ROLLBACK_REASON_WORD, SIDE, type Side } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, figuresOf, type MaintenanceSums } from '../../src/risk/account.ts';
import { type Answer, CHAIN, ClearingWorld, effectsOf, reasonsOf, reply } from './clearing-world.ts';
import { BTC, ETH, USD } from './names.ts';

export function e18(text: string): Amount18 {
  const amount = parseDecimal18(text);
  assert.ok(amount !== null);
  return amount as Amount18;
}

/** One side of a trade. A margin order of account 1 by default. */
export interface Side18 {
  readonly user: UserId;
  readonly subAccount?: number;
  readonly isSpot?: boolean;
  readonly reduceOnly?: boolean;
}

export interface TradeTerms {
  readonly buyer: Side18;
  readonly seller: Side18;
  /** Human units. */
  readonly price: number;
  readonly quantity: number;
  readonly marketIndex?: number;
}

export class MarginWorld extends ClearingWorld {
  #nonces = 0n;

  /** ETH is market 0, BTC market 1: 2 price and 4 quantity decimals, fees of 0 and 500, prices 2000 and 50000. */
  static make(risk: Readonly<Record<string, unknown>> = {}): MarginWorld {
    return MarginWorld.prepare(new MarginWorld(), risk);
  }

  /** The same in an empty world. */
  static prepare<World extends MarginWorld>(world: World, risk: Readonly<Record<string, unknown>>): World {
    const token = { token: '5a'.repeat(32), chain_id: CHAIN, decimals: 6 };
    world.put('putAsset', USD, { symbol: 'USD', tokens: [token] });
    const market = { book_price_decimals: 2, book_quantity_decimals: 4, maker_fee_rate: 0, taker_fee_rate: 500 };
    for (const [asset, body] of [
      [ETH, { collateral_factor: 90, liability_factor: 95, ...risk }],
      [BTC, { collateral_factor: 95, liability_factor: 96, initial_margin_factors: [900_000] }],
    ] as const) {
      world.put('putAsset', asset, { symbol: asset, tokens: [{ ...token, token: `6${asset}`.repeat(32) }] });
      world.put('putRisk', asset, body);
      world.put('putMarket', asset, market);
    }
    world.prices({ [ETH]: '2000', [BTC]: '50000' });
    return world;
  }

  /** Oracle prices, published now. */
  prices(prices: Readonly<Record<string, string>>): Answer {
    const list = Object.entries(prices).map(([asset_id, price]) => ({ asset_id, price }));
    return reply(this.send({ kind: 'setPrices', request: this.request(), body: { prices: list } }));
  }

  pass(nanoseconds: bigint): void {
    this.nowNs = (this.nowNs + nanoseconds) as TimestampNs;
  }

  /** @returns its name. */
  place(side: Side, of: Side18, price: number, quantity: number, marketIndex = 0): Sequence {
    const flags = (of.isSpot === true ? ORDER_FLAG.isSpot : 0) | (of.reduceOnly === true ? ORDER_FLAG.reduceOnly : 0);
    return this.create(
      {
        user: of.user,
        subAccount: of.subAccount ?? 1,
        side,
        flags,
        price: Math.round(price * 100),
        quantity: Math.round(quantity * 10_000),
      },
      marketIndex,
    );
  }

  /** Two orders and their match; the buyer takes. @returns 'confirmed', or the words of seller and buyer. */
  trade({ buyer, seller, price, quantity, marketIndex = 0 }: TradeTerms): string | readonly (string | null)[] {
    const maker = this.place(SIDE.sell, seller, price, quantity, marketIndex);
    const taker = this.place(SIDE.buy, buyer, price, quantity, marketIndex);
    return this.outcome(this.matchOf(maker, taker, price, quantity, marketIndex));
  }

  matchOf(maker: Sequence, taker: Sequence, price: number, quantity: number, marketIndex = 0): Effect[] {
    const lots = Math.round(quantity * 10_000);
    return this.match(maker, taker, lots, { marketIndex, price: Math.round(price * 100) as RawPrice });
  }

  outcome(effects: readonly Effect[]): string | readonly (string | null)[] {
    const [reasons] = reasonsOf(effects);
    if (reasons !== undefined) return reasons.map((reason) => ROLLBACK_REASON_WORD[reason]);
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 1);
    return 'confirmed';
  }

  transfer(move: Partial<Omit<Transfer, 'amount'>> & { readonly user: UserId; readonly amount: string }): Answer {
    this.#nonces += 1n;
    return reply(
      this.send({
        kind: 'transfer',
        request: this.request(),
        sourceIndex: 0,
        targetIndex: 1,
        asset: USD,
        targetType: null,
        nonce: this.#nonces,
        ...move,
        amount: e18(move.amount),
      }),
    );
  }

  closePosition(user: UserId, account = 1, asset: AssetId = ETH): Effect[] {
    this.#nonces += 1n;
    return this.send({ kind: 'closePosition', request: this.request(), user, account, asset, nonce: this.#nonces });
  }

  /** Base leg, quote leg and cost of the open base, as decimals. */
  legs(user: UserId, account = 1, asset: AssetId = ETH): readonly string[] {
    const legs = this.state.users.get(user)?.subAccounts.get(account)?.positions.get(asset)?.legs;
    return legs === undefined ? [] : [legs.base, legs.quote, legs.entry].map(format18);
  }

  figures(user: UserId, account = 1): ReturnType<typeof figuresOf> {
    const slot = this.state.users.get(user)?.subAccounts.get(account);
    assert.ok(slot !== undefined);
    const sums = emptySums();
    for (const { collateral, owned } of slot.balances.values()) {
      addSpot(sums, collateral === null ? null : assetTermsOf(collateral, this.nowNs), owned);
    }
    for (const { risk, legs } of slot.positions.values()) addPosition(sums, assetTermsOf(risk, this.nowNs), legs);
    // What a price checks is the same figure.
    assert.deepEqual(pick(sums), pick(maintenanceOf(slot, this.nowNs)));
    return figuresOf(sums);
  }
}

function pick({ maintenance, hasBorrows, shield }: MaintenanceSums): MaintenanceSums {
  return { maintenance, hasBorrows, shield };
}
