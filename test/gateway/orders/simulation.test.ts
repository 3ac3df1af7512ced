// tier: quick
/** Simulated trades and the preview of a close where there is little to go by: no account, no price, no order so large. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../../src/core/ids.ts';
import { RAW_MAX } from '../../../src/core/limits.ts';
import type { Trial } from '../../../src/gateway/orders/margin/simulation.ts';
import { ALICE, MARKETS, MarginFixture, riskRow, SIDE, TOY, USD, usd } from '../../support/margin-fixture.ts';
import { BTC, ETH } from '../../support/names.ts';

const TRIAL: Trial = {
  user: ALICE,
  subAccount: 1,
  asset: ETH,
  side: SIDE.buy,
  isSpot: false,
  size: usd(1),
  price: usd(2_000),
  transfers: [],
};

function tried(fixture: MarginFixture, change: Partial<Trial> = {}): string {
  const answer = fixture.manager.margin.simulate({ ...TRIAL, ...change }, fixture.nowNs);
  return answer.ok ? String(answer.value.isAccepted) : answer.reject.code;
}

suite('a simulated trade', () => {
  test('changes nothing: no account, no position, no version (SIM-01)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000, 0);
    const { accounts } = fixture.manager.margin;
    assert.equal(tried(fixture, { subAccount: 0, isSpot: true, size: usd('0.1') }), 'true');
    assert.equal(tried(fixture), 'false');
    assert.deepEqual([...accounts.of(ALICE)], [], 'neither of the spot account nor of one that clearing never named');
    fixture.spot(USD, 1_000, 1);
    fixture.position(BTC, 0, 0);
    const before = fixture.manager.margin.view(fixture.nowNs).versionOf(ALICE, 1);
    assert.equal(tried(fixture), 'true');
    assert.equal(accounts.find(ALICE, 1)?.find(ETH), undefined);
    assert.equal(fixture.manager.margin.view(fixture.nowNs).versionOf(ALICE, 1), before);
  });

  test('nets against a position in whose market the account never had an order (SIM-01, MRG-19)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10);
    fixture.position(ETH, -2, 4_000);
    assert.ok(fixture.capacity() < 0n);
    assert.equal(tried(fixture, { size: usd(2) }), 'true');
    assert.equal(tried(fixture, { size: usd('2.0001') }), 'false');
    assert.equal(fixture.verdict({ side: SIDE.buy, quantity: 2 }), 'ok', 'as the gateway says');
  });

  test('pending transfers take no more out together than there is, each after those before it (SIM-02)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 100);
    const of = (...amounts: number[]): string => {
      return tried(fixture, { transfers: amounts.map((amount) => ({ asset: USD, amount: usd(amount) })) });
    };
    assert.equal(of(-60, -60), 'INVALID_REQUEST');
    assert.notEqual(of(-60, -40), 'INVALID_REQUEST');
    assert.notEqual(of(20, -60, -60), 'INVALID_REQUEST');
    assert.equal(of(-60, -60, 20), 'INVALID_REQUEST');
  });

  test('a pending transfer is of an asset of the registry (SIM-02)', () => {
    const fixture = new MarginFixture();
    const of = (asset: string): string => {
      return tried(fixture, { transfers: [{ asset: asset as AssetId, amount: usd(1) }] });
    };
    assert.notEqual(of(USD), 'INVALID_REQUEST');
    assert.notEqual(of(ETH), 'INVALID_REQUEST');
    assert.equal(of('99'), 'INVALID_REQUEST');
    assert.equal(of(`${'ab'.repeat(32)}@000000000000007a69`), 'INVALID_REQUEST');
  });

  test('is refused without a price of its own where there never was one (AMB-71)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    assert.equal(tried(fixture, { asset: TOY, price: null }), 'PRICING_UNAVAILABLE');
    assert.equal(tried(fixture, { asset: TOY }), 'false', 'of a broken asset the gateway takes nothing that adds risk');
    fixture.price(TOY, 100);
    assert.equal(tried(fixture, { asset: TOY, price: null }), 'true');
  });

  test('gets out of what became isolated only, and not in (SUB-07)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    fixture.position(ETH, 1, -2_000);
    fixture.risk(ETH, riskRow(90, 95, 1_000_000, { isolated_only: true }));
    assert.equal(tried(fixture, { side: SIDE.sell }), 'true');
    assert.equal(tried(fixture, { side: SIDE.sell, size: usd('1.0001') }), 'false');
    assert.equal(tried(fixture, { size: usd('0.1') }), 'false');
  });
});

suite('the preview of a close', () => {
  test('names no order that could not be signed (QRY-08, ORD-29)', () => {
    const fixture = new MarginFixture();
    const lot = 10n ** 14n;
    const preview = (lots: bigint) => {
      const legs = { base: (lots * lot) as never, quote: usd(0), entry: usd(0) };
      fixture.manager.margin.onPositionChanged({ user: ALICE, subAccount: 1, asset: ETH, ...legs });
      return fixture.manager.margin.view(fixture.nowNs).closePreview(ALICE, 1);
    };
    assert.equal(MARKETS[ETH]?.quantityDecimals, 4);
    assert.equal(preview(BigInt(RAW_MAX)).orders[0]?.quantity, BigInt(RAW_MAX));
    const { orders, errors } = preview(BigInt(RAW_MAX) + 1n);
    assert.deepEqual(orders, []);
    assert.deepEqual([...errors], [[ETH as AssetId, 'larger than an order may be']]);
  });
});
