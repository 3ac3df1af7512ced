// tier: quick, 7 s
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Builder } from 'flatbuffers';
import { readBinaryReply } from '../../src/client/binary-control.ts';
import { decodeBinaryFrame } from '../../src/codec/binary-frame.ts';
import {
  binaryFailure,
  binaryResponse,
  binaryResync,
  binaryShutdown,
  binarySubmitted,
} from '../../src/codec/binary-replies.ts';
import { FlatReader } from '../../src/codec/flat-reader.ts';
import {
  Answer,
  BatchCreate,
  Body,
  Code,
  CoSigner,
  Create,
  Failure,
  Frame,
  Limit,
  Timing,
} from '../../src/codec/generated/control-tables.ts';
import { ActionHops } from '../../src/codec/hop-times.ts';
import { HOP } from '../../src/core/hops.ts';
import { BODY_BYTES_MAX } from '../../src/core/limits.ts';
import { isRetryable, pascalCase, REJECT_CODE, type RejectName, reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { flatFrame, type PlainTable, packageBody, packageReads, plain } from '../support/flat-frames.ts';
import { propertyParameters } from '../support/property.ts';

const NOW = 1_770_000_000_000_000_001n as TimestampNs;
const SIGNER = new Uint8Array(32).fill(0xab);
const SIGNATURE = new Uint8Array(64).fill(0x42);

function createTable(index: number): PlainTable {
  return plain(Create, {
    signer: SIGNER,
    orderId: `order-${index}`,
    baseAsset: '12',
    bookPriceDecimals: 2,
    detailsType: 1,
    details: plain(Limit, { limitPrice: 5n, quantity: 7n, timeInForce: 1 }),
    side: 1,
    creationTimestampNs: NOW,
    maxTradingFeesRate: 50_000,
    signature: SIGNATURE,
    additionalSigners: [plain(CoSigner, { scheme: 1, key: new Uint8Array(33), signature: SIGNATURE })],
    postSignTimestamp: NOW,
  });
}

const CREATE = flatFrame('Create', createTable(1));
const BATCH = flatFrame('BatchCreate', plain(BatchCreate, { orders: [createTable(1), createTable(2)] }));
const reader = new FlatReader();

/** The place of the root table, its vtable, and of the body and its vtable. */
function places(bytes: Uint8Array): { readonly frame: number; readonly vtable: number; readonly body: number } {
  const { buffer, frame, body } = packageBody(bytes);
  return { frame, vtable: frame - buffer.readInt32(frame), body };
}

function withU32(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  new DataView(changed.buffer).setUint32(at, value, true);
  return changed;
}

function withU16(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  new DataView(changed.buffer).setUint16(at, value, true);
  return changed;
}

function isSound(bytes: Uint8Array): boolean {
  reader.load(bytes, 0, bytes.length);
  return reader.root(Frame.table) !== 0;
}

suite('the reader of FlatBuffers messages', () => {
  test('reads what the package of the registry has written, field for field', () => {
    const { buffer, frame, body } = packageBody(CREATE);
    reader.load(CREATE, 0, CREATE.length);
    assert.equal(reader.root(Frame.table), frame);
    assert.equal(reader.referred(frame, Frame.body), body);
    for (const field of Create.table.fields) {
      const told = packageReads(buffer, body, field);
      if (field.kind === 'text') assert.equal(reader.text(body, field, 100), told);
      else if (field.kind === 'bytes') assert.equal(reader.hex(body, field), told);
      else if (field.kind === 'scalar' && field.bytes === 8) assert.equal(reader.ulong(body, field), told ?? 0n);
      else if (field.kind === 'scalar') assert.equal(reader.unsigned(body, field), told ?? field.initial);
    }
  });

  test('rejects every offset, vtable, length and alignment that is not inside the message', () => {
    assert.ok(isSound(CREATE));
    const { frame, vtable, body } = places(CREATE);
    const { buffer } = packageBody(CREATE);
    const idAt = body + buffer.__offset(body, Create.orderId.slot);
    const idText = idAt + buffer.readInt32(idAt);
    const bodyVtable = body - buffer.readInt32(body);
    const wrong: readonly [string, Uint8Array][] = [
      ['no bytes', CREATE.subarray(0, 0)],
      ['a root alone', CREATE.subarray(0, 4)],
      ['a root beyond the end', withU32(CREATE, 0, CREATE.length)],
      ['a root at the last byte', withU32(CREATE, 0, CREATE.length - 1)],
      ['a root of 0', withU32(CREATE, 0, 0)],
      ['a root of 2^32−1', withU32(CREATE, 0, 0xffff_ffff)],
      ['a root between two words', withU32(CREATE, 0, frame + 2)],
      ['a vtable before the message', withU32(CREATE, frame, frame + 2)],
      ['a vtable behind the message', withU32(CREATE, frame, -CREATE.length >>> 0)],
      ['a vtable at an odd place', withU32(CREATE, frame, frame - vtable + 1)],
      ['a vtable without its head', withU16(CREATE, vtable, 2)],
      ['a vtable of an odd size', withU16(CREATE, vtable, 11)],
      ['a vtable with a field that the schema lacks', withU16(CREATE, vtable, Frame.table.vtableBytes + 2)],
      ['a table without its head', withU16(CREATE, vtable + 2, 2)],
      ['a table beyond the end', withU16(CREATE, vtable + 2, 0xfffe)],
      ['a field outside of its table', withU16(CREATE, vtable + Frame.requestId.slot, 0xfff8)],
      ['a field in the head of its table', withU16(CREATE, vtable + Frame.bodyType.slot, 2)],
      ['a ulong at an odd place', withU16(CREATE, vtable + Frame.requestId.slot, 5)],
      ['a union without its type', withU16(CREATE, vtable + Frame.bodyType.slot, 0)],
      ['a type without its table', withU16(CREATE, vtable + Frame.body.slot, 0)],
      ['a string beyond the end', withU32(CREATE, idText, CREATE.length)],
      ['a string of 2^32−1 bytes', withU32(CREATE, idText, 0xffff_ffff)],
      ['a string without its zero', withU32(CREATE, idText, 6)],
      ['a string between two words', withU32(CREATE, idAt, idText - idAt + 1)],
      ['an offset of 0', withU32(CREATE, idAt, 0)],
      ['a field of the body outside of it', withU16(CREATE, bodyVtable + Create.side.slot, 0x7fff)],
      ['a message cut short', CREATE.subarray(0, CREATE.length - 1)],
    ];
    for (const [what, bytes] of wrong) assert.equal(isSound(bytes), false, what);
  });

  test('objects may be shared, as long as all that is reached has at most twice the bytes of the message', () => {
    const shared = (orders: number, idBytes: number): Uint8Array => {
      const builder = new Builder(256);
      const signer = builder.createByteVector(SIGNER);
      const signature = builder.createByteVector(SIGNATURE);
      const asset = builder.createString('12');
      const id = builder.createString('x'.repeat(idBytes));
      const index = (field: { readonly slot: number }): number => (field.slot - 4) / 2;
      const create = (): number => {
        builder.startObject(Create.table.fields.length);
        builder.addFieldOffset(index(Create.signer), signer, 0);
        builder.addFieldOffset(index(Create.baseAsset), asset, 0);
        builder.addFieldOffset(index(Create.orderId), id, 0);
        builder.addFieldOffset(index(Create.signature), signature, 0);
        builder.addFieldInt64(index(Create.creationTimestampNs), NOW, 0n);
        return builder.endObject();
      };
      const tables = Array.from({ length: orders }, create);
      // Every table four times, where the message has few of them.
      const listed = idBytes > 8 ? tables.flatMap((table) => new Array<number>(4).fill(table)) : tables;
      builder.startVector(4, listed.length, 4);
      for (const table of listed) builder.addOffset(table);
      const list = builder.endVector();
      builder.startObject(BatchCreate.table.fields.length);
      builder.addFieldOffset(index(BatchCreate.orders), list, 0);
      const batch = builder.endObject();
      builder.startObject(Frame.table.fields.length);
      builder.addFieldInt64(index(Frame.requestId), 7n, 0n);
      builder.addFieldInt8(index(Frame.bodyType), Body.BatchCreate, 0);
      builder.addFieldOffset(index(Frame.body), batch, 0);
      builder.finish(builder.endObject());
      return builder.asUint8Array().slice();
    };
    assert.ok(isSound(shared(2, 8)), 'one signer and one asset of two orders');
    const dear = shared(12, 1_024);
    assert.equal(isSound(dear), false);
    const refused = decodeBinaryFrame(dear, 0, dear.length);
    assert.ok(refused.kind === 'malformed' && refused.correlations.length === 0);
    assert.equal(refused.requestId, 7n, 'and its request id is repeated');
  });

  test('the request id is found in a frame that is not sound otherwise, also of a later schema', () => {
    const { vtable } = places(CREATE);
    for (const bytes of [
      withU16(CREATE, vtable + Frame.bodyType.slot, 0),
      withU16(CREATE, vtable + Frame.body.slot, 0),
      withU16(CREATE, vtable, Frame.table.vtableBytes + 2),
    ]) {
      const frame = decodeBinaryFrame(bytes, 0, bytes.length);
      assert.deepEqual([frame.kind, frame.requestId], ['malformed', 1n]);
    }
  });

  test('a vtable may lie behind its table, and not reach beyond the message', () => {
    const { frame, vtable } = places(CREATE);
    const bytes = new Uint8Array(CREATE.length + Frame.table.vtableBytes);
    bytes.set(CREATE);
    bytes.set(CREATE.subarray(vtable, vtable + Frame.table.vtableBytes), CREATE.length);
    const moved = withU32(bytes, frame, (frame - CREATE.length) >>> 0);
    assert.ok(isSound(moved));
    // What lies behind the shorter message in the reader is the end of the longer one.
    assert.equal(isSound(moved.subarray(0, moved.length - 2)), false);
  });

  test('rejects a type of union that the schema lacks, and a body of another table', () => {
    const { buffer, frame } = packageBody(CREATE);
    const typeAt = frame + buffer.__offset(frame, Frame.bodyType.slot);
    for (let type = 0; type < 256; type += 1) {
      const changed = CREATE.slice();
      changed[typeAt] = type;
      const decoded = decodeBinaryFrame(changed, 0, changed.length);
      if (type === Body.Create) assert.equal(decoded.kind, 'create');
      else assert.equal(decoded.kind, 'malformed', `type ${type}`);
    }
  });

  test('an unsound body still gives the id of its request, an unsound frame gives 0', () => {
    const { body } = places(CREATE);
    const broken = decodeBinaryFrame(withU32(CREATE, body, 0), 0, CREATE.length);
    assert.deepEqual([broken.kind, broken.requestId], ['malformed', 1n]);
    const none = decodeBinaryFrame(withU32(CREATE, 0, 1), 0, CREATE.length);
    assert.deepEqual([none.kind, none.requestId], ['malformed', 0n]);
  });

  test('a list whose entries all are one table costs no more than its limit', () => {
    const bytes = new Uint8Array(BODY_BYTES_MAX);
    bytes.set(BATCH);
    const { buffer, body } = packageBody(BATCH);
    const listAt = body + buffer.__offset(body, BatchCreate.orders.slot);
    const list = Math.ceil(BATCH.length / 8) * 8;
    const view = new DataView(bytes.buffer);
    // At the end a create without members; before it a list with as many entries as fit, each of them that create.
    const vtable = bytes.length - 64;
    view.setUint16(vtable, 4, true);
    view.setUint16(vtable + 2, 4, true);
    view.setInt32(vtable + 8, 8, true);
    const count = (vtable - list - 8) / 4;
    view.setUint32(listAt, list - listAt, true);
    view.setUint32(list, count, true);
    for (let index = 0; index < count; index += 1) {
      const at = list + 4 * (index + 1);
      view.setUint32(at, vtable + 8 - at, true);
    }
    assert.ok(count > 250_000);
    const started = process.cpuUsage();
    const frame = decodeBinaryFrame(bytes, 0, bytes.length);
    const { user } = process.cpuUsage(started);
    assert.ok(frame.kind === 'malformed' && frame.reject.field === 'signer', 'the list was read');
    assert.ok(user < 100_000, `${user} µs`);
  });

  test('changed bytes never throw, and nothing outside of a message changes what is read of it', () => {
    const fillers = [0x00, 0xff].map((byte) => new Uint8Array(4_096).fill(byte));
    const read = (bytes: Uint8Array, filler: Uint8Array): unknown => {
      decodeBinaryFrame(filler, 0, filler.length);
      return decodeBinaryFrame(bytes, 0, bytes.length);
    };
    const told = { malformed: 0, other: 0 };
    let seed = 20_261_123;
    const next = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 4_294_967_296) * below);
    };
    const interesting = [0, 1, 2, 4, 0x7f, 0x80, 0xfe, 0xff];
    for (let run = 0; run < 50_000; run += 1) {
      const bytes = (run % 2 === 0 ? CREATE : BATCH).slice();
      for (let change = next(3); change >= 0; change -= 1) {
        const value = next(4) === 0 ? next(256) : (interesting[next(interesting.length)] as number);
        bytes[next(bytes.length)] = value;
      }
      const end = next(8) === 0 ? next(bytes.length) : bytes.length;
      const [first, second] = fillers.map((filler) => read(bytes.subarray(0, end), filler));
      assert.deepEqual(second, first);
      if ((first as { readonly kind: string }).kind === 'malformed') told.malformed += 1;
      else told.other += 1;
    }
    assert.ok(told.malformed > 10_000 && told.other > 5_000, JSON.stringify(told));
  });

  test('bytes of any kind never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(64), (bytes, root) => {
        if (bytes.length >= 4) new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, root, true);
        assert.equal(decodeBinaryFrame(bytes, 0, bytes.length).kind, 'malformed');
      }),
      propertyParameters(5_000),
    );
  });
});

suite('what the node sends in FlatBuffers', () => {
  test('an answer is read by the package of the registry, and by the SDK as the JSON answer', () => {
    let clock = NOW - 1n;
    const hops = new ActionHops(1, null, () => {
      clock += 1n;
      return clock as TimestampNs;
    });
    for (const hop of [HOP.read, HOP.verified, HOP.taken, HOP.answered]) hops.pass(hop);
    const refusal = reject('INVALID_ORDER', 'größer', 'limit_price');
    const view = { orderId: 'öl-1', reject: refusal, processedNs: NOW, hops };
    const bytes = binaryResponse(77n, 'replace', view, '12');
    const { buffer, frame, body } = packageBody(bytes);
    assert.equal(packageReads(buffer, frame, Frame.requestId), 77n);
    assert.equal(packageReads(buffer, frame, Frame.timestampNs), NOW);
    assert.equal(packageReads(buffer, frame, Frame.bodyType), Body.Answer);
    const read = (
      name: 'action' | 'status' | 'orderId' | 'assetId' | 'processedAtNs' | 'code' | 'retryable' | 'message' | 'field',
    ) => packageReads(buffer, body, Answer[name]);
    assert.deepEqual(
      [read('action'), read('status'), read('orderId'), read('assetId'), read('processedAtNs'), read('code')],
      [2, 2, 'öl-1', '12', NOW, Code.INVALID_ORDER],
    );
    assert.deepEqual([read('retryable'), read('message'), read('field')], [0, 'größer', 'limit_price']);
    const timing = body + buffer.__offset(body, Answer.timing.slot);
    assert.equal(timing % 8, 0);
    assert.equal(buffer.readUint64(timing + Timing.answeredNs), NOW + 3n);
    assert.deepEqual(readBinaryReply(bytes), {
      kind: 'answer',
      requestId: 77n,
      action: 'Replace',
      assetId: '12',
      response: {
        orderId: 'öl-1',
        status: 'Rejected',
        reason: 'InvalidOrder',
        processedAtNs: NOW,
        detail: { code: 'INVALID_ORDER', field: 'limit_price', message: 'größer' },
        timing: { receivedNs: NOW, verifiedNs: NOW + 1n, sentNs: null, matchedNs: NOW + 2n, answeredNs: NOW + 3n },
      },
    });
  });

  test('every frame of any texts is sound, at whatever length of its texts', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(
        anyText,
        anyText,
        anyText,
        fc.option(anyText, { nil: undefined }),
        (orderId, asset, message, field) => {
          const refusal =
            field === undefined ? reject('RATE_LIMITED', message) : reject('RATE_LIMITED', message, field);
          const bytes = binaryResponse(1n, 'create', { orderId, reject: refusal, processedNs: NOW }, asset);
          assert.ok(isSound(bytes));
          const reply = readBinaryReply(bytes);
          assert.ok(reply.kind === 'answer');
          assert.deepEqual(reply.response.detail, { code: 'RATE_LIMITED', field: field ?? null, message: message });
          assert.equal(reply.assetId, asset);
          const details = { bucket: 'user', limit: 5 };
          const failure = binaryFailure(3n, NOW, { ...refusal, details });
          assert.ok(isSound(failure));
          const told = readBinaryReply(failure);
          assert.ok(told.kind === 'error' && told.requestId === 3n);
          assert.deepEqual([told.error.code, told.error.retryable], ['RATE_LIMITED', true]);
          assert.equal(told.error.details?.['bucket'], 'user');
          assert.equal(told.error.details?.['limit'], '5');
        },
      ),
      propertyParameters(300),
    );
    for (const bytes of [binarySubmitted(1n, NOW), binaryShutdown(NOW), binaryResync(NOW)]) assert.ok(isSound(bytes));
    assert.deepEqual(readBinaryReply(binarySubmitted(1n, NOW)), { kind: 'notice' });
    assert.deepEqual(readBinaryReply(binaryShutdown(NOW)), { kind: 'shutdown', timestampNs: NOW });
    assert.ok(readBinaryReply(binaryResync(NOW)).kind === 'error');
  });

  test('the longest ids that are repeated fit into an answer', () => {
    const longest = '\u{ffff}'.repeat(1_024);
    const view = { orderId: longest, reject: reject('INVALID_ORDER', 'x'.repeat(500), 'order_id'), processedNs: NOW };
    assert.ok(isSound(binaryResponse(1n, 'create', view, longest)));
  });

  test('the codes of the schema are those of the node, by name and number', () => {
    const { Unset, ...codes } = Code;
    assert.equal(Unset, 0);
    const client = Object.entries(REJECT_CODE).filter(([, number]) => number < 500);
    assert.deepEqual(Object.entries(codes), client);
    for (const [name, number] of client) {
      const refusal = reject(name as RejectName, 'm');
      const bytes = binaryResponse(1n, 'cancel', { orderId: 'o', reject: refusal, processedNs: NOW }, '1');
      const { buffer, body } = packageBody(bytes);
      assert.equal(packageReads(buffer, body, Answer.code), number);
      assert.equal(packageReads(buffer, body, Answer.retryable) === 1, isRetryable(name as RejectName));
      const reply = readBinaryReply(bytes);
      assert.ok(reply.kind === 'answer' && reply.response.reason === pascalCase(name as RejectName));
    }
    assert.equal(Failure.table.name, 'Failure');
  });
});
