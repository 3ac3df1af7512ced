import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verifyOrder } from '../../src/clearing/order-verdict.ts';
import type { OrderRow, SignedText } from '../../src/clearing/rows.ts';
import type { Order } from '../../src/client/canonical.ts';
import { devKey } from '../../src/client/keys.ts';
import { limitOrder, marketOrder, signCreate } from '../../src/client/signed-actions.ts';
import { decodeCreate } from '../../src/codec/signed-order.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, type OrderKind, TIF, type Tif, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity } from '../../src/core/units.ts';
import { order as orderRow } from '../support/checkpoint-store.ts';

const ETH = '2' as AssetId;
const NOW = 1_760_000_000_123_456_789n;

const KEY = devKey('a');
const CONTEXT = { signer: KEY.userId, decimals: { priceDecimals: 2, quantityDecimals: 4 }, nowNs: NOW };
const NAME = { assetId: ETH, side: 'Sell', orderId: 'verdict-1' } as const;
const LIMIT = { ...NAME, price: '3000.25', quantity: '0.5' };

/** A row and what was signed. */
type SignedRow = OrderRow & SignedText;

/** A row as clearing would hold it for an order that A signed; `terms` are those that the gateway read. */
function signedRow(signed: Order = limitOrder(LIMIT, CONTEXT), terms: Partial<OrderRow> = LIMIT_TERMS): SignedRow {
  const { body } = signCreate(KEY, signed, NOW);
  const bytes = Buffer.from(body);
  const decoded = decodeCreate(bytes, 0, bytes.length);
  assert.ok(decoded.ok);
  const { order, text, signature } = decoded.value;
  const row = orderRow(1, {
    user: KEY.userId,
    subAccount: order.account,
    orderId: order.orderId,
    side: order.side,
    flags: 4,
    ...terms,
    maxFeeRate: order.maxTradingFeesRate,
    creationNs: order.creationNs,
    timestampNs: order.creationNs,
    goodUntilNs: 0n as never,
  });
  return { ...row, text: Buffer.from(text).toString('latin1'), signatures: signature };
}

function verified(row: SignedRow, asset: AssetId): boolean {
  return verifyOrder(row, row, asset);
}

const LIMIT_TERMS = { tif: TIF.gtc, price: 300_025 as RawPrice, quantity: 5_000 as RawQuantity };

/** A market order has no price, and what it does not use is 0. */
function marketTerms(kind: OrderKind, quantity: number, amount: number, tif: Tif = TIF.ioc): Partial<OrderRow> {
  return { kind, tif, price: 0 as RawPrice, quantity: quantity as RawQuantity, amount };
}

suite("clearing's own verdict on an order", () => {
  test('the order that was signed passes (GEN-05)', () => {
    assert.equal(verified(signedRow(), ETH), true);
  });

  test('a forged signature fails (FIL-09)', () => {
    const row = signedRow();
    const signatures = row.signatures.slice();
    signatures[7] = (signatures[7] ?? 0) ^ 1;
    assert.equal(verified({ ...row, signatures }, ETH), false);
  });

  test('terms other than the signed ones fail, whichever it is', () => {
    const row = signedRow();
    const changes: Partial<SignedRow>[] = [
      { price: 300_026 as never },
      { quantity: 5_001 as never },
      { side: 0 },
      { subAccount: 0 },
      { orderId: 'verdict-2' as never },
      { tif: 2 },
      { flags: 5 },
      { maxFeeRate: 1 },
      { creationNs: (NOW + 1n) as never },
      { goodUntilNs: 1n as never },
      { text: row.text.replace('300025', '300026') },
    ];
    for (const change of changes)
      assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(Object.keys(change)));
    assert.equal(verified(row, '1' as AssetId), false, 'another market');
  });

  test('a resting limit order may be smaller than it was signed, one that never rests may not (AR-01, AMB-61, GEN-05)', () => {
    const row = signedRow();
    assert.equal(verified({ ...row, quantity: 4_999 as RawQuantity }, ETH), true);
    assert.equal(verified({ ...row, quantity: 5_001 as RawQuantity }, ETH), false);
    const timeInForce = { kind: 'FOK' } as const;
    const immediate = signedRow(limitOrder({ ...LIMIT, timeInForce }, CONTEXT), { ...LIMIT_TERMS, tif: TIF.fok });
    assert.equal(verified(immediate, ETH), true);
    assert.equal(verified({ ...immediate, quantity: 4_999 as RawQuantity }, ETH), false);
  });

  test('after a replace price and quantity are no longer the signed ones', () => {
    const row = signedRow();
    assert.equal(verified({ ...row, price: 1 as never, timestampNs: (NOW + 5n) as never }, ETH), true);
  });

  test('a market order passes with its size, its cap and its time in force, and with no other', () => {
    const base = { ...NAME, side: 'Buy', quantity: '0.5', maxAmount: '1500', fillOrKill: true } as const;
    const quote = { ...NAME, amount: '900', maxQuantity: '0.25' } as const;
    const rows = [
      signedRow(marketOrder(base, CONTEXT), marketTerms(ORDER_KIND.marketBase, 5_000, 15_000_000, TIF.fok)),
      signedRow(marketOrder(quote, CONTEXT), marketTerms(ORDER_KIND.marketQuote, 2_500, 9_000_000)),
    ];
    for (const row of rows) {
      assert.equal(verified(row, ETH), true);
      assert.equal(verified({ ...row, budget: 77 }, ETH), true, 'what it may use is not signed');
      const changes: Partial<SignedRow>[] = [
        { quantity: (row.quantity + 1) as RawQuantity },
        { amount: row.amount + 1 },
        { amount: 0 },
        { tif: row.tif === TIF.fok ? TIF.ioc : TIF.fok },
        { kind: ORDER_KIND.limit },
        { kind: row.kind === ORDER_KIND.marketBase ? ORDER_KIND.marketQuote : ORDER_KIND.marketBase },
        { triggerKind: TRIGGER.above, triggerPrice: 1 as RawPrice },
      ];
      for (const change of changes) assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(change));
    }
  });

  test('a trigger and its parent are signed; a replace moves the trigger, a finished parent cuts the child (AMB-20, AMB-29)', () => {
    const trigger = { when: 'above', price: '3100', parentOrderId: 'the-parent' } as const;
    const terms = { triggerKind: TRIGGER.above, triggerPrice: 310_000 as RawPrice, parentIdBytes: 'the-parent'.length };
    const signed = signedRow(limitOrder({ ...LIMIT, trigger }, CONTEXT), { ...LIMIT_TERMS, ...terms });
    const row = { ...signed, parentIdAt: signed.text.indexOf('the-parent') };
    assert.equal(verified(row, ETH), true);
    assert.equal(verified({ ...row, quantity: 100 as RawQuantity }, ETH), true, 'cut with its parent');
    const changes: Partial<SignedRow>[] = [
      { triggerKind: TRIGGER.below },
      { triggerPrice: 310_001 as RawPrice },
      { triggerKind: TRIGGER.none },
      { parentIdBytes: 0 },
      { parentIdAt: row.parentIdAt + 1 },
      { parentIdBytes: row.parentIdBytes - 1 },
      { quantity: 5_001 as RawQuantity },
    ];
    for (const change of changes) assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(change));
    const replaced = { ...row, timestampNs: (NOW + 5n) as never };
    assert.equal(verified({ ...replaced, triggerKind: TRIGGER.below, triggerPrice: 1 as RawPrice }, ETH), true);
    assert.equal(verified({ ...replaced, parentIdBytes: 0 }, ETH), false);
  });

  test('flags that the node sets on its own do not matter (AMB-23, AMB-29, AMB-32)', () => {
    const row = signedRow();
    for (const own of ['cancelPending', 'rolledBack', 'entering'] as const)
      assert.equal(verified({ ...row, flags: row.flags | ORDER_FLAG[own] }, ETH), true, own);
    assert.equal(verified({ ...row, flags: row.flags | ORDER_FLAG.nodeMade }, ETH), false);
  });
});
