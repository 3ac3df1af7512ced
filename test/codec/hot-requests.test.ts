// tier: quick, 4 s
/**
 * The generated readers, texts and tables of the hot requests against the ones written by hand that they replaced, which stay
 * in test/judges: what is taken and refused, with which code and member, the values and the signed bytes (ORD-01, RPL-01,
 * CAN-01, BAT-01).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { binaryRequest } from '../../src/client/binary-control.ts';
import type { OrderAction } from '../../src/client/signed-actions.ts';
import { decodeBinaryFrame } from '../../src/codec/binary-frame.ts';
import { isJsonObject, type JsonValue } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { decodeAmend, decodeCancel, decodeCreate, decodeReplace } from '../../src/codec/order-actions.ts';
import { decodeBatchCreate, decodeBatchReplace } from '../../src/codec/order-batches.ts';
import {
  AMEND_REQUEST,
  BATCH_CREATE_REQUEST,
  BATCH_REPLACE_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  REPLACE_REQUEST,
} from '../../src/codec/shapes/order-shapes.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Reject } from '../../src/core/reject.ts';
import { decodeAmend as judgeAmend } from '../judges/amend-request.ts';
import { binaryRequest as judgeBinaryRequest } from '../judges/binary-control.ts';
import { decodeBinaryFrame as judgeBinaryFrame } from '../judges/binary-frame.ts';
import {
  decodeBatchCreate as judgeBatchCreate,
  decodeBatchReplace as judgeBatchReplace,
} from '../judges/order-batches.ts';
import { decodeCancel as judgeCancel } from '../judges/signed-cancel.ts';
import { decodeCreate as judgeCreate } from '../judges/signed-order.ts';
import { decodeReplace as judgeReplace } from '../judges/signed-replace.ts';
import { propertyParameters } from '../support/property.ts';
import { damaged, fitting } from '../support/shape-arbitrary.ts';

type Decode = (bytes: Uint8Array, start: number, end: number) => Outcome<object>;

interface Request {
  readonly what: string;
  readonly shape: Shape;
  readonly decode: Decode;
  readonly judge: Decode;
  /** In FlatBuffers. */
  readonly action?: OrderAction;
}

/** The shape that the judges had: a create named no protection group. */
function beforeGroups(shape: unknown): Shape {
  if (Array.isArray(shape)) return shape.map(beforeGroups) as unknown as Shape;
  if (typeof shape !== 'object' || shape === null) return shape as Shape;
  const copy = { ...shape } as Record<string, unknown>;
  delete copy['protection_group'];
  for (const [name, member] of Object.entries(copy)) copy[name] = beforeGroups(member);
  return copy as unknown as Shape;
}

const REQUESTS: readonly Request[] = [
  { what: 'a create', shape: beforeGroups(CREATE_REQUEST), decode: decodeCreate, judge: judgeCreate, action: 'Create' },
  { what: 'a replace', shape: REPLACE_REQUEST, decode: decodeReplace, judge: judgeReplace, action: 'Replace' },
  { what: 'a cancel', shape: CANCEL_REQUEST, decode: decodeCancel, judge: judgeCancel, action: 'Cancel' },
  { what: 'an amend', shape: AMEND_REQUEST, decode: decodeAmend, judge: judgeAmend, action: 'Amend' },
  {
    what: 'a batch of creates',
    shape: beforeGroups(BATCH_CREATE_REQUEST),
    decode: decodeBatchCreate,
    judge: judgeBatchCreate,
  },
  { what: 'a batch of replaces', shape: BATCH_REPLACE_REQUEST, decode: decodeBatchReplace, judge: judgeBatchReplace },
];

/** A value without the wording of refusals, which may change. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) => {
      if (name === 'protectionGroup' && member === null) return undefined;
      if (typeof member === 'bigint') return `${member}n`;
      if (member instanceof Uint8Array) return Buffer.from(member).toString('latin1');
      return (name === 'fault' || name === 'reject') && member !== null ? verdict(member as Reject) : member;
    }),
  );
}

function verdict({ code, field }: Reject): object {
  return { code, field };
}

function result(decode: Decode, text: string): unknown {
  const bytes = Buffer.from(text);
  const read = decode(bytes, 0, bytes.length);
  return read.ok ? plain(read.value) : verdict(read.reject);
}

function isTaken(decode: Decode, text: string): boolean {
  const bytes = Buffer.from(text);
  const read = decode(bytes, 0, bytes.length);
  return read.ok && ((read.value as { fault?: unknown }).fault ?? null) === null;
}

/** Values at the edges of what members may be, which a shape makes seldom or never. */
const EDGES: readonly JsonValue[] = [
  null,
  0n,
  1n,
  -1n,
  -128n,
  -129n,
  127n,
  128n,
  65_535n,
  65_536n,
  4_294_967_295n,
  4_294_967_296n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 64n - 1n,
  2n ** 64n,
  true,
  '',
  'sys-1',
  'Buy',
  'x'.repeat(65),
  '12',
  '65536',
  [],
  new Map(),
];

/** The value with one member, at any depth, at an edge, left out, twice under another name, or in another place. */
function bent(value: JsonValue): fc.Arbitrary<JsonValue> {
  return fc.tuple(fc.nat(), fc.constantFrom(...EDGES), fc.nat(3)).map(([place, edge, how]) => {
    const root = structuredClone(value) as JsonValue;
    const objects: Map<string, JsonValue>[] = [];
    const walk = (node: JsonValue): void => {
      if (isJsonObject(node)) objects.push(node as Map<string, JsonValue>);
      if (isJsonObject(node)) for (const member of node.values()) walk(member);
      else if (Array.isArray(node)) for (const item of node.slice(0, 3)) walk(item as JsonValue);
    };
    walk(root);
    const members = objects.flatMap((object) => [...object.keys()].map((name) => ({ object, name })));
    const chosen = members[place % Math.max(1, members.length)];
    if (chosen === undefined) return root;
    const { object, name } = chosen;
    const old = object.get(name) as JsonValue;
    if (how < 2) object.set(name, edge);
    else object.delete(name);
    if (how === 3) object.set(place % 2 === 0 ? name : `${name}_too`, old);
    return root;
  });
}

suite('generated readers and the judges written by hand', () => {
  for (const { what, shape, decode, judge } of REQUESTS) {
    test(`${what}: values of the shape are read alike, and signed alike`, () => {
      fc.assert(
        fc.property(fitting(shape), (value) => {
          const text = writeJson(value);
          assert.ok(isTaken(decode, text), text);
          assert.deepEqual(result(decode, text), result(judge, text), text);
        }),
        propertyParameters(200),
      );
    });

    test(`${what}: damaged values are refused alike, with code and member`, () => {
      let refused = 0;
      fc.assert(
        fc.property(
          fc.oneof(fitting(shape).chain(damaged), fitting(shape).chain(bent), fitting(shape).chain(bent).chain(bent)),
          (value) => {
            const text = writeJson(value);
            if (!isTaken(decode, text)) refused += 1;
            assert.deepEqual(result(decode, text), result(judge, text), text);
          },
        ),
        propertyParameters(600),
      );
      assert.ok(refused > 150, `${refused} refused`);
    });
  }
});

/** The text as a table holds it: users in one spelling, and no revision of 0, which is none there. */
function tabular(text: string): string {
  const revised = text.replace(/("expected_authorization_revision":)0(?=[,}])/, '$1null');
  return revised.replace(/"(signer|user_id)":"(?:0[xX])?([0-9a-fA-F]{64})"/g, (_, name: string, hex: string) => {
    return `"${name}":"${hex.toLowerCase()}"`;
  });
}

/** The frame of a request, by either writer; what no table can hold is refused by both. */
function framesOf(action: OrderAction, body: string): readonly [Uint8Array | string, Uint8Array | string] {
  const signed = { action, assetId: '12' as AssetId, orderId: 'x', body };
  const [made, judged] = [binaryRequest, judgeBinaryRequest].map((write) => {
    try {
      return write(7n, signed);
    } catch (error) {
      return String(error);
    }
  });
  return [made as Uint8Array | string, judged as Uint8Array | string];
}

function frame(decode: typeof decodeBinaryFrame, bytes: Uint8Array): unknown {
  return plain(decode(bytes, 0, bytes.length));
}

suite('generated tables and the judges written by hand', () => {
  for (const { what, shape, action, decode } of REQUESTS) {
    if (action === undefined) continue;

    test(`${what}: a frame has the values of the JSON that it was made of, with either writer and reader`, () => {
      let sent = 0;
      fc.assert(
        fc.property(fitting(shape), (value) => {
          const text = tabular(writeJson(value));
          const [made, judged] = framesOf(action, text);
          if (typeof made === 'string' || typeof judged === 'string') {
            assert.equal(made, judged);
            return;
          }
          sent += 1;
          const expected = {
            version: 'binary',
            requestId: '7n',
            kind: action.toLowerCase(),
            request: result(decode, text),
          };
          assert.deepEqual(frame(decodeBinaryFrame, made), expected);
          assert.deepEqual(frame(decodeBinaryFrame, judged), expected);
          assert.deepEqual(frame(judgeBinaryFrame, made), expected);
        }),
        propertyParameters(400),
      );
      assert.ok(sent > 100, `${sent} sent`);
    });

    test(`${what}: damaged frames are refused alike, with code and member`, () => {
      let refused = 0;
      fc.assert(
        fc.property(
          fitting(shape),
          fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2, 3, 4, 5, 32, 127, 128, 255)), {
            minLength: 1,
            maxLength: 3,
          }),
          (value, changes) => {
            const [made] = framesOf(action, tabular(writeJson(value)));
            if (typeof made === 'string') return;
            const bytes = Uint8Array.from(made);
            for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
            const read = decodeBinaryFrame(bytes, 0, bytes.length);
            if (read.kind === 'malformed') refused += 1;
            assert.deepEqual(frame(decodeBinaryFrame, bytes), frame(judgeBinaryFrame, bytes));
          },
        ),
        propertyParameters(800),
      );
      assert.ok(refused > 100, `${refused} refused`);
    });
  }
});

suite('the protection group of a create', () => {
  const body = (group: JsonValue | undefined): string => {
    const text =
      `{"order":{"signer":"${'ab'.repeat(32)}","order_id":"x","base_asset":"12","book_price_decimals":2,` +
      '"book_quantity_decimals":4,"details":{"Limit":{"limit_price":100,"quantity":10,' +
      '"time_in_force":{"GTC":{"post_only":false}}}},"side":"Sell","trigger":null,' +
      '"creation_timestamp_ns":1770000000000000000,"target":{"account":0,"is_spot":true},"reduce_only":false,' +
      `"max_trading_fees_rate":500,"protocol_version":1},"signature":[${'1,'.repeat(63)}1],` +
      '"post_sign_timestamp":1770000000000000000';
    return `${text}${group === undefined ? '' : `,"protection_group":${writeJson(group)}`}}`;
  };
  const groupOf = (text: string): unknown => {
    const read = decodeCreate(Buffer.from(text), 0, Buffer.byteLength(text));
    return read.ok ? (read.value.fault?.field ?? read.value.protectionGroup) : read.reject.field;
  };

  test('is read from JSON and from FlatBuffers alike, is not signed, and has its form (MMP-02)', () => {
    for (const [given, expected] of [
      [undefined, null],
      [null, null],
      ['g1', 'g1'],
      ['1234567890123456', '1234567890123456'],
    ] as const) {
      const text = body(given);
      assert.equal(groupOf(text), expected);
      const frame = binaryRequest(7n, { action: 'Create', assetId: '12' as AssetId, orderId: 'x', body: text });
      const read = decodeBinaryFrame(frame, 0, frame.length);
      assert.ok(read.kind === 'create');
      assert.equal(read.request.protectionGroup, expected);
      const plainText = decodeCreate(Buffer.from(body(undefined)), 0, Buffer.byteLength(body(undefined)));
      assert.ok(plainText.ok);
      assert.deepEqual(read.request.text, plainText.value.text, 'what is signed does not name it');
    }
    for (const wrong of ['', '12345678901234567', 'a b', 7n]) assert.equal(groupOf(body(wrong)), 'protection_group');
  });
});
