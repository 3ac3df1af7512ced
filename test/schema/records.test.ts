// tier: quick
/** The generated accessors of a record: in place, as a plain value, as a view and field by field they are one thing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { generate } from '../../schemas/generate.ts';
import { readSchema } from '../../schemas/layout.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { AMOUNT18_MAX } from '../../src/core/limits.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import type { FieldSink } from '../../src/schema/fields.ts';
import { OrderRecord, type OrderRecordFields, OrderRecordView } from '../../src/schema/generated/messages.ts';
import { propertyParameters } from '../support/property.ts';

const ROOM = OrderRecord.bytes + 16;
const AT = 8;
const BYTES: Readonly<Record<string, number>> = { ubyte: 1, ushort: 2, uint: 4, double: 8, ulong: 8, Int128: 16 };

const safe = fc.maxSafeNat();
const time = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const amount = fc.bigInt({ min: -AMOUNT18_MAX, max: AMOUNT18_MAX });
const uint = fc.nat({ max: 0xffff_ffff });
const ushort = fc.nat({ max: 0xffff });
const ubyte = fc.nat({ max: 0xff });

/** Every value that a field can hold, whatever it means. */
const fields = fc
  .record({
    ...Object.fromEntries(
      [
        'orderSequence prioritySequence parentSequence price quantity amount budget triggerPrice enabledQuantity',
        'activatedQuantity droppedQuantity filledQuantity',
      ]
        .join(' ')
        .split(' ')
        .map((name) => [name, safe]),
    ),
    ...Object.fromEntries(
      'creationNs timestampNs goodUntilNs admittedNs lastUpdateNs'.split(' ').map((name) => [name, time]),
    ),
    ...Object.fromEntries(
      'side kind tif triggerKind triggerState end faultReason verdict parentIdBytes'.split(' ').map((n) => [n, ubyte]),
    ),
    filledNotional: amount,
    fees: amount,
    maxFeeRate: uint,
    marketIndex: uint,
    quoteSet: uint,
    protectionGroup: uint,
    subAccount: ushort,
    parentIdAt: ushort,
    flags: ushort,
    user: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    orderId: fc.stringMatching(/^[A-Za-z0-9+/=_\-.:]{1,64}$/),
  })
  .map((order) => ({ ...order })) as unknown as fc.Arbitrary<OrderRecordFields>;

function dirty(): ReturnType<typeof viewsOf> {
  const v = viewsOf(new ArrayBuffer(ROOM), 0, ROOM);
  v.u8.fill(0xa5);
  return v;
}

class Fed implements FieldSink {
  readonly values: unknown[] = [];
  number(value: number): void {
    this.values.push(value);
  }
  nanoseconds(value: bigint): void {
    this.values.push(value);
  }
  amount(value: bigint): void {
    this.values.push(value);
  }
  text(value: string): void {
    this.values.push(value);
  }
  hex(bytes: Uint8Array): void {
    this.values.push(Buffer.from(bytes).toString('hex'));
  }
}

suite('records', () => {
  test('an order is read as it was written, equal orders are equal bytes, and nothing beside them is touched', () => {
    fc.assert(
      fc.property(fields, (order) => {
        const v = dirty();
        const clean = viewsOf(new ArrayBuffer(ROOM), 0, ROOM);
        OrderRecord.write(v, AT, order);
        OrderRecord.write(clean, AT, order);
        assert.deepEqual(OrderRecord.read(v, AT), order);
        assert.deepEqual(v.u8.subarray(AT, AT + OrderRecord.bytes), clean.u8.subarray(AT, AT + OrderRecord.bytes));
        for (const beside of [...v.u8.subarray(0, AT), ...v.u8.subarray(AT + OrderRecord.bytes)])
          assert.equal(beside, 0xa5);
      }),
      propertyParameters(),
    );
  });

  test('a view reads what is there and writes what is read there; each setter writes its own field alone', () => {
    fc.assert(
      fc.property(fields, fields, (order, other) => {
        const v = dirty();
        OrderRecord.write(v, AT, order);
        const view = new OrderRecordView(v, AT);
        const expected: Record<string, unknown> = { ...order };
        for (const name of Object.keys(order) as (keyof OrderRecordFields)[]) {
          assert.equal(view[name], order[name], name);
          Object.assign(view, { [name]: other[name] });
          expected[name] = other[name];
          assert.deepEqual(OrderRecord.read(v, AT), expected, name);
        }
      }),
      propertyParameters(20),
    );
  });

  test('a time is the same as a bigint and as two words', () => {
    const v = dirty();
    fc.assert(
      fc.property(time, (ns) => {
        const high = Number(ns >> 32n);
        const low = Number(ns & 0xffff_ffffn);
        OrderRecord.setCreationNs(v, AT, ns);
        assert.deepEqual([OrderRecord.creationNsHigh(v, AT), OrderRecord.creationNsLow(v, AT)], [high, low]);
        OrderRecord.setAdmittedNsWords(v, AT, high, low);
        assert.equal(OrderRecord.admittedNs(v, AT), ns);
      }),
      propertyParameters(20),
    );
  });

  test('a copy has the same bytes', () => {
    fc.assert(
      fc.property(fields, (order) => {
        const from = dirty();
        const to = dirty();
        OrderRecord.write(from, AT, order);
        OrderRecord.copy(from, AT, to, AT);
        assert.deepEqual(to.u8, from.u8);
      }),
      propertyParameters(20),
    );
  });

  test('a digest is fed with every field, once', () => {
    fc.assert(
      fc.property(fields, (order) => {
        const v = dirty();
        OrderRecord.write(v, AT, order);
        const fed = new Fed();
        OrderRecord.hash(v, AT, fed);
        assert.deepEqual(fed.values, Object.values(OrderRecord.read(v, AT)));
        assert.deepEqual(fed.values.map(String).sort(), Object.values(order).map(String).sort());
      }),
      propertyParameters(20),
    );
  });

  test('JSON can carry it, with every digit', () => {
    const v = viewsOf(new ArrayBuffer(ROOM), 0, ROOM);
    const view = new OrderRecordView(v, AT);
    view.user = 'ab'.repeat(32) as UserId;
    view.orderId = 'a-1' as OrderId;
    view.fees = -AMOUNT18_MAX as Amount18;
    const said = JSON.parse(JSON.stringify(view)) as Record<string, unknown>;
    assert.equal(said['fees'], `-${AMOUNT18_MAX}`);
    assert.equal(said['user'], 'ab'.repeat(32));
    assert.equal(said['orderId'], 'a-1');
  });

  test('a text that is longer than its field is refused', () => {
    const v = viewsOf(new ArrayBuffer(ROOM), 0, ROOM);
    assert.throws(() => OrderRecord.setOrderId(v, AT, 'a'.repeat(65) as OrderId), /not longer than its field/);
  });

  test('the layout of an order has no gap: what is hashed or compared as bytes has a meaning', () => {
    const schema = readSchema(readFileSync('schemas/messages.fbs', 'utf8'));
    const order = schema.find(({ name }) => name === 'OrderRecord');
    let end = 0;
    for (const { name, type, offset, arrayLength } of order?.fields ?? []) {
      assert.equal(offset, end, name);
      end += (BYTES[type] as number) * Math.max(1, arrayLength);
    }
    assert.equal(end, OrderRecord.bytes);
    assert.ok(OrderRecord.bytes <= 296 && OrderRecord.bytes % 8 === 0);
  });
});

const SCHEMA_OF_ORDER = `attribute "type_id";
attribute "ascii";
struct Inner { a: ubyte; b: double; }
/// Holds another.
struct Outer (type_id: 3) {
  first: ubyte;
  /// What it holds.
  inner: Inner;
  is_set: bool;
  name: [ubyte:4] (ascii: "first");
}
`;

suite('the schema', () => {
  test('a struct inside another lies at its own alignment', () => {
    const outer = readSchema(SCHEMA_OF_ORDER).find(({ name }) => name === 'Outer');
    assert.deepEqual(
      outer?.fields.map(({ name, offset }) => [name, offset]),
      [
        ['first', 0],
        ['inner', 8],
        ['is_set', 24],
        ['name', 25],
      ],
    );
    assert.equal(outer?.bytes, 32);
    const text = generate(SCHEMA_OF_ORDER);
    assert.match(text, /inner: Inner\.read\(v, at \+ 8\)/);
    assert.match(text, /readonly isSet: boolean;/);
    assert.doesNotMatch(text, /readonly first:/, 'the length of a text is no member of the plain form');
  });

  test('what leaves the subset is refused with its place', () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      ['struct A { a: float; }', /A\.a: unknown type float/],
      ['struct A { a: [double:2]; }', /A\.a: an array of double/],
      ['struct A { a: double }', /A: cannot read the field "a: double"/],
      ['struct A { a: double (ts: "X"); }', /A\.a: the attribute "ts" is not declared/],
      ['attribute "hex";\nstruct A { a: [ubyte:8] (hex); }', /A\.a: a user id has 32 bytes/],
      [
        'attribute "ascii";\nstruct A { a: [ubyte:8] (ascii: "b"); }',
        /A\.a: its length is an ubyte of the same struct/,
      ],
      ['struct A { a: double; }\nstruct A { a: double; }', /two structs are called A/],
      [
        'attribute "type_id";\nstruct A (type_id: 1) { a: int; }\nstruct B (type_id: 1) { a: int; }',
        /two structs have one type id/,
      ],
    ];
    for (const [schema, message] of refused) assert.throws(() => generate(schema), message, schema);
  });
});
