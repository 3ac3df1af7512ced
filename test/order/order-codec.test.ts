/** A new order and the market's events through their messages, for every field of every kind. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { NewOrder as OrderFields } from '../../src/clearing/inputs.ts';
import type { UserId } from '../../src/core/ids.ts';
import { hashId, hashKeyOf } from '../../src/core/key-words.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { orderExpiryNs } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { CommandReader } from '../../src/matching/market-commands.ts';
import {
  createBytes,
  newOrderBytes,
  readNewOrder,
  writeCreateHash,
  writeNewOrder,
} from '../../src/order/order-codec.ts';
import { propertyParameters } from '../support/property.ts';

const raw = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
/** An order's life ends within 64 bits. */
const ns = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n - ORDER_LIFE_NS }),
  fc.bigInt({ min: 1n, max: 64n }).map((n) => (n << 32n) - 1n),
);
const orderId = fc.stringMatching(/^[A-Za-z0-9+/=_-]{1,64}$/);
const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });
const user = fc.stringMatching(/^[0-9a-f]{64}$/);

/** Text around the parent's id, as a signature would cover it. */
function textOf(parentId: string, before: string): string {
  return `{"order_id":"${before}","trigger":{"parent_order_id":${parentId === '' ? 'null' : `"${parentId}"`}}}`;
}

const orders = fc
  .record({
    user,
    subAccount: fc.integer({ min: 0, max: 65_535 }),
    orderId,
    side: fc.constantFrom(0, 1),
    kind: fc.constantFrom(0, 1, 2),
    tif: fc.constantFrom(0, 1, 2, 3),
    flags: fc.integer({ min: 0, max: 63 }),
    price: raw,
    quantity: raw,
    amount: raw,
    budget: raw,
    triggerKind: fc.constantFrom(0, 1, 2),
    triggerPrice: raw,
    parentId: fc.oneof(fc.constant(''), orderId),
    maxFeeRate: fc.integer({ min: 0, max: 0xffff_ffff }),
    creationNs: ns,
    goodUntilNs: fc.oneof(fc.constant(0n), ns),
    signature,
  })
  .map((order) => {
    const expiryNs = orderExpiryNs(order.creationNs as TimestampNs, order.goodUntilNs as TimestampNs);
    return { ...order, expiryNs, text: textOf(order.parentId, order.orderId) } as unknown as OrderFields;
  });

const KEY = hashKeyOf(5n);
const envelope = { requestId: 77, receivedNs: 1_760_000_000_123_456_789n, marketIndex: 5 };

function written(order: OrderFields) {
  const bytes = (newOrderBytes(order) + 23) & ~7;
  const views = viewsOf(new ArrayBuffer(bytes + 8), 8, bytes);
  // What lay there before must not matter.
  views.u8.fill(0xa5);
  writeNewOrder(views, 8, order, envelope);
  return views;
}

suite('a new order as a message', () => {
  test('comes back as it was written', () => {
    fc.assert(
      fc.property(orders, (order) => assert.deepEqual(readNewOrder(written(order), 8), order)),
      propertyParameters(60),
    );
  });

  test('is its user’s, whoever was read before: also one of whom only the end is another', () => {
    const near = fc.tuple(fc.constantFrom('00000000', 'ffffffff', '0000ff00'), fc.nat({ max: 3 }), fc.nat({ max: 3 }));
    const users = fc.array(near, { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(users, orders, (names, order) => {
        for (const [first, middle, last] of names) {
          const own = `${first}${String(middle).repeat(16)}${'a'.repeat(39)}${last}`;
          assert.equal(readNewOrder(written({ ...order, user: own as UserId }), 8).user, own);
        }
      }),
      propertyParameters(60),
    );
  });

  test('is the same to a market: keys and the parent as words, times as two', () => {
    const reader = new CommandReader();
    fc.assert(
      fc.property(orders, (order) => {
        const views = written(order);
        const record = createBytes(order.text.length);
        writeCreateHash(views, 8, record, KEY);
        assert.deepEqual(readNewOrder(views, 8), order, 'the hash lies behind everything else');
        const command = reader.readCreate(views, 8, record);
        const { words, userAt, orderIdAt, orderIdBytes } = command;
        assert.equal(command.idHash, hashId(KEY, words, userAt, orderIdAt, orderIdBytes));
        const bytes = new Uint8Array(command.words.buffer, command.words.byteOffset);
        const text = (at: number, length: number): string =>
          Buffer.from(bytes.slice(4 * at, 4 * at + length)).toString('latin1');
        assert.equal(Buffer.from(text(command.userAt, 32), 'latin1').toString('hex'), order.user);
        assert.equal(text(command.orderIdAt, command.orderIdBytes), order.orderId);
        const parent = Buffer.from(command.parentWords.buffer).toString('latin1', 0, command.parentIdBytes);
        assert.equal(parent, order.parentId);
        const rest = Buffer.from(command.parentWords.buffer).subarray(command.parentIdBytes);
        if (command.parentIdBytes > 0)
          assert.ok(
            rest.every((byte) => byte === 0),
            'filled up with zeros',
          );
        const time = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low);
        assert.equal(time(command.creationHigh, command.creationLow), order.creationNs);
        assert.equal(time(command.expiryHigh, command.expiryLow), order.expiryNs);
        assert.equal(time(command.receivedHigh, command.receivedLow), envelope.receivedNs);
        const { requestId, side, kind, tif, flags, price, quantity, amount, budget, subAccount } = command;
        assert.deepEqual(
          { requestId, side, kind, tif, flags, price, quantity, amount, budget, subAccount },
          {
            requestId: envelope.requestId,
            side: order.side,
            kind: order.kind,
            tif: order.tif,
            flags: order.flags,
            price: order.price,
            quantity: order.quantity,
            amount: order.amount,
            budget: order.budget,
            subAccount: order.subAccount,
          },
        );
        assert.deepEqual([command.triggerKind, command.triggerPrice], [order.triggerKind, order.triggerPrice]);
      }),
      propertyParameters(60),
    );
  });
});
