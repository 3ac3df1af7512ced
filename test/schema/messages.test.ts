// tier: quick
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ByteBuffer } from 'flatbuffers';
import { generate } from '../../schemas/generate.ts';
import { readSchema } from '../../schemas/layout.ts';
import { AMOUNT18_MAX } from '../../src/core/limits.ts';
import { viewsOf } from '../../src/core/views.ts';
import { FillConfirmed, Matched, NewOrder, ReplaceOrder } from '../../src/schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../../src/schema/plain-values.ts';
import { propertyParameters } from '../support/property.ts';

const SCHEMA = readFileSync('schemas/messages.fbs', 'utf8');

suite('messages', () => {
  test('the generated accessors are those of the schema', () => {
    assert.equal(readFileSync('src/schema/generated/messages.ts', 'utf8'), generate(SCHEMA));
  });

  test('every field lies on its natural boundary and no two overlap', () => {
    for (const struct of readSchema(SCHEMA)) {
      let end = 0;
      for (const field of struct.fields) {
        assert.ok(field.offset >= end, `${struct.name}.${field.name}`);
        end = field.offset + 1;
      }
      assert.ok(struct.bytes >= end);
    }
  });

  test('keys of what a market reads lie on word boundaries, and so do times', () => {
    const keyed = ['OrderRecord', 'ReplaceOrder', 'CancelOrder', 'CancelAllOrders', 'OrderIdRemembered', 'IdWatermark'];
    for (const at of [NewOrder.orderAt, NewOrder.bytes])
      assert.equal(at % 8, 0, 'a record in a message lies as it does alone');
    for (const name of keyed) {
      const struct = readSchema(SCHEMA).find((candidate) => candidate.name === name);
      const keys = struct?.fields.filter((field) => field.name === 'user' || field.name === 'order_id') ?? [];
      assert.ok(keys.length > 0, name);
      for (const key of keys) assert.equal(key.offset % 4, 0, `${name}.${key.name}`);
      assert.equal((struct?.bytes ?? 1) % 8, 0, 'a tail begins where words can');
    }
  });

  test('the bytes are those of a FlatBuffers struct: its runtime reads what the accessors wrote', () => {
    const struct = readSchema(SCHEMA).find(({ name }) => name === 'Matched');
    const at = (field: string): number => struct?.fields.find(({ name }) => name === field)?.offset ?? -1;
    const buffer = new ArrayBuffer(Matched.bytes);
    const views = viewsOf(buffer, 0, Matched.bytes);
    Matched.setPrice(views, 0, 315_025);
    Matched.setTimeNs(views, 0, 1_760_000_000_123_456_789n);
    Matched.setMakerFeeRate(views, 0, -100);
    Matched.setTakerSide(views, 0, 1);
    const bytes = new ByteBuffer(new Uint8Array(buffer));
    assert.equal(bytes.readFloat64(at('price')), 315_025);
    assert.equal(bytes.readUint64(at('time_ns')), 1_760_000_000_123_456_789n);
    assert.equal(bytes.readInt32(at('maker_fee_rate')), -100);
    assert.equal(bytes.readUint8(at('taker_side')), 1);
  });

  test('amounts of 128 bits come back as they were written, and larger ones are refused', () => {
    const views = viewsOf(new ArrayBuffer(FillConfirmed.bytes), 0, FillConfirmed.bytes);
    fc.assert(
      fc.property(fc.bigInt({ min: -AMOUNT18_MAX, max: AMOUNT18_MAX }), (amount) => {
        FillConfirmed.setMakerFee(views, 0, amount);
        FillConfirmed.setTakerFee(views, 0, -amount);
        assert.equal(FillConfirmed.makerFee(views, 0), amount);
        assert.equal(FillConfirmed.takerFee(views, 0), -amount);
      }),
      propertyParameters(100),
    );
    assert.throws(() => FillConfirmed.setMakerFee(views, 0, AMOUNT18_MAX + 1n), /fits 128 bits/);
  });

  test('nanoseconds beyond 2^53 survive a message (AMB-01)', () => {
    const views = viewsOf(new ArrayBuffer(ReplaceOrder.bytes * 2), 0, ReplaceOrder.bytes * 2);
    ReplaceOrder.setTimestampNs(views, ReplaceOrder.bytes, 1_760_000_000_123_456_789n);
    assert.equal(ReplaceOrder.timestampNs(views, ReplaceOrder.bytes), 1_760_000_000_123_456_789n);
  });

  test('plain values keep bigints and bytes, and refuse doubles', () => {
    const value = { ns: 1_760_000_000_123_456_789n, list: [1, 'a', null, true], bytes: new Uint8Array([1, 2, 255]) };
    assert.deepEqual(decodePlain(encodePlain(value)), value);
    assert.throws(() => encodePlain({ price: 0.1 }), /safe integer/);
  });
});
