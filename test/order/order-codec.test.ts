// tier: quick
/** A create as its message: to a market a command, from there an input of the clearing engine. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { BatchBuffer } from '../../src/clearing/journal-batch.ts';
import { type OrderRow, plainRow } from '../../src/clearing/rows.ts';
import { STORED_SIGNATURES_BYTES_MAX } from '../../src/codec/stored-signatures.ts';
import type { UserId } from '../../src/core/ids.ts';
import { hashId, hashKeyOf } from '../../src/core/key-words.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { orderExpiryNs } from '../../src/core/order-terms.ts';
import { fromWords } from '../../src/core/time-words.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { type Views, viewsOf } from '../../src/core/views.ts';
import { CommandReader } from '../../src/matching/market-commands.ts';
import { createBytes, passedCreateBytes, writeCreateHash } from '../../src/order/order-codec.ts';
import { writeText } from '../../src/schema/fields.ts';
import { NewOrder, OrderAdmitted } from '../../src/schema/generated/messages.ts';
import { propertyParameters } from '../support/property.ts';
import { orderRow } from '../support/row-arbitraries.ts';

const AT = 8;
const KEY = hashKeyOf(5n);
const RECEIVED_NS = 1_760_000_000_123_456_789n as TimestampNs;

interface Create {
  readonly order: OrderRow;
  readonly parentId: string;
  readonly text: string;
  readonly signatures: Uint8Array;
}

/** An order's life ends within 64 bits; carries of its words included. */
const creationNs = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n - ORDER_LIFE_NS }),
  fc.bigInt({ min: 1n, max: 64n }).map((n) => (n << 32n) - 1n),
);
const goodUntilNs = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: (1n << 64n) - 1n }));

/** Text around the parent's id, as a signature would cover it. */
const creates: fc.Arbitrary<Create> = fc
  .record({
    order: orderRow,
    creationNs,
    goodUntilNs,
    parentId: fc.stringMatching(/^[A-Za-z0-9+/=_-]{0,64}$/),
    signatures: fc.oneof(
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      fc.uint8Array({ minLength: 65, maxLength: 400 }),
      fc.constant(new Uint8Array(STORED_SIGNATURES_BYTES_MAX).fill(3)),
    ),
  })
  .map(({ order, parentId, signatures, ...times }) => {
    const text = `{"order_id":"${order.orderId}","trigger":{"parent_order_id":"${parentId}"}}`;
    const parent = { parentIdAt: text.length - parentId.length - 3, parentIdBytes: parentId.length };
    return { order: { ...order, ...times, ...parent } as OrderRow, parentId, text, signatures };
  });

/** The message behind what comes before it, as it lies in the ring of a market: with its hash. */
function written({ order, text, signatures }: Create, at = AT): { readonly v: Views; readonly bytes: number } {
  const isAlone = signatures.length === 64;
  const signaturesBytes = isAlone ? 0 : signatures.length;
  const signature = isAlone ? signatures : new Uint8Array();
  const bytes = createBytes(text.length, signaturesBytes);
  const room = (at + bytes + 7) & ~7;
  const v = viewsOf(new ArrayBuffer(room), 0, room);
  // What lay there before must not matter.
  v.u8.fill(0xa5);
  const lengths = { textBytes: text.length, signaturesBytes };
  NewOrder.write(v, at, { requestId: 77, receivedNs: RECEIVED_NS, order, signature, ...lengths });
  writeText(v, at + NewOrder.bytes, text);
  if (!isAlone) v.u8.set(signatures, at + NewOrder.bytes + text.length);
  writeCreateHash(v, at, bytes, KEY);
  return { v, bytes };
}

suite('a create as a message', () => {
  test('is read by the clearing engine as it was written, accepted or refused', () => {
    fc.assert(
      fc.property(creates, fc.boolean(), (create, isRefused) => {
        const { v } = written(create, OrderAdmitted.bytes);
        const batch = new BatchBuffer();
        const place = { marketIndex: 3, sequence: 9 as Sequence, timeNs: RECEIVED_NS };
        OrderAdmitted.write(v, 0, { ...place, refusal: isRefused ? 1 : 0 });
        const { order, text, signatures } = create;
        const kind = isRefused ? 'createRefused' : 'created';
        batch.add(OrderAdmitted.typeId, v, 0, OrderAdmitted.bytes + passedCreateBytes(v, OrderAdmitted.bytes));
        const [input] = batch.inputs();
        assert.ok(input?.kind === 'created' || input?.kind === 'createRefused');
        assert.deepEqual({ ...input, order: plainRow(input.order) }, { kind, ...place, order, text, signatures });
      }),
      propertyParameters(60),
    );
  });

  test('has its own user, whichever was read before: also one that differs only in the last byte', () => {
    const near = fc.tuple(fc.constantFrom('00000000', 'ffffffff', '0000ff00'), fc.nat({ max: 3 }), fc.nat({ max: 3 }));
    const users = fc.array(near, { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(users, creates, (names, create) => {
        for (const [first, middle, last] of names) {
          const user = `${first}${String(middle).repeat(16)}${'a'.repeat(39)}${last}` as UserId;
          const { v } = written({ ...create, order: { ...create.order, user } });
          assert.equal(NewOrder.read(v, AT).order.user, user);
        }
      }),
      propertyParameters(60),
    );
  });

  test('is a command to a market: keys and the parent as words, times as two words each', () => {
    const reader = new CommandReader();
    fc.assert(
      fc.property(creates, (create) => {
        const { v, bytes } = written(create);
        const { order, parentId } = create;
        const command = reader.readCreate(v, AT, bytes);
        const { words, userAt, orderIdAt, orderIdBytes } = command;
        assert.equal(command.idHash, hashId(KEY, words, userAt, orderIdAt, orderIdBytes));
        const textAt = (word: number, length: number): string =>
          Buffer.from(words.buffer, words.byteOffset).toString('latin1', 4 * word, 4 * word + length);
        assert.equal(Buffer.from(textAt(userAt, 32), 'latin1').toString('hex'), order.user);
        assert.equal(textAt(orderIdAt, orderIdBytes), order.orderId);
        const parent = Buffer.from(command.parentWords.buffer);
        assert.equal(parent.toString('latin1', 0, command.parentIdBytes), parentId);
        if (parentId !== '') assert.ok(parent.subarray(parentId.length).every((byte) => byte === 0));
        assert.equal(fromWords(command.creationHigh, command.creationLow), order.creationNs);
        assert.equal(
          fromWords(command.expiryHigh, command.expiryLow),
          orderExpiryNs(order.creationNs, order.goodUntilNs),
        );
        assert.equal(fromWords(command.receivedHigh, command.receivedLow), RECEIVED_NS);
        const { requestId, side, kind, tif, flags, price, quantity, amount, budget, subAccount } = command;
        const { triggerKind, triggerPrice } = command;
        assert.deepEqual(
          [requestId, side, kind, tif, flags, price, quantity, amount, budget, subAccount, triggerKind, triggerPrice],
          [
            77,
            order.side,
            order.kind,
            order.tif,
            order.flags,
            order.price,
            order.quantity,
            order.amount,
            order.budget,
            order.subAccount,
            order.triggerKind,
            order.triggerPrice,
          ],
        );
      }),
      propertyParameters(60),
    );
  });
});
