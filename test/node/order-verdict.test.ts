import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { devKey } from '../../src/client/keys.ts';
import { limitOrder, signCreate } from '../../src/client/signed-actions.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { verifyOrder } from '../../src/node/order-verdict.ts';
import { decodeCreate } from '../../src/wire/signed-order.ts';
import { order as orderRow } from '../support/checkpoint-store.ts';

const ETH = '2' as AssetId;
const NOW = 1_760_000_000_123_456_789n;

/** A row as clearing would hold it for an order that A signed. */
function signedRow(): OrderRow {
  const key = devKey('a');
  const decimals = { priceDecimals: 2, quantityDecimals: 4 };
  const ticket = { assetId: ETH, side: 'Sell', price: '3000.25', quantity: '0.5', orderId: 'verdict-1' } as const;
  const { body } = signCreate(key, limitOrder(ticket, { signer: key.userId, decimals, nowNs: NOW }), NOW);
  const bytes = Buffer.from(body);
  const decoded = decodeCreate(bytes, 0, bytes.length);
  assert.ok(decoded.ok);
  const { order, text, signature } = decoded.value;
  assert.ok(order.details.kind === 'limit');
  return orderRow(1, {
    user: key.userId,
    subAccount: order.account,
    orderId: order.orderId,
    side: order.side,
    tif: order.details.tif,
    flags: 4,
    price: order.details.limitPrice,
    quantity: order.details.quantity,
    maxFeeRate: order.maxTradingFeesRate,
    creationNs: order.creationNs,
    timestampNs: order.creationNs,
    goodUntilNs: 0n as never,
    text: Buffer.from(text).toString('latin1'),
    signature,
  });
}

suite("clearing's own verdict on an order", () => {
  test('the order that was signed passes (GEN-05)', () => {
    assert.equal(verifyOrder(signedRow(), ETH), true);
  });

  test('a forged signature fails (FIL-09)', () => {
    const row = signedRow();
    const signature = row.signature.slice();
    signature[7] = (signature[7] ?? 0) ^ 1;
    assert.equal(verifyOrder({ ...row, signature }, ETH), false);
  });

  test('terms other than the signed ones fail, whichever it is', () => {
    const row = signedRow();
    const changes: Partial<OrderRow>[] = [
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
      assert.equal(verifyOrder({ ...row, ...change }, ETH), false, JSON.stringify(Object.keys(change)));
    assert.equal(verifyOrder(row, '1' as AssetId), false, 'another market');
  });

  test('after a replace price and quantity are no longer the signed ones', () => {
    const row = signedRow();
    assert.equal(verifyOrder({ ...row, price: 1 as never, timestampNs: (NOW + 5n) as never }, ETH), true);
  });
});
