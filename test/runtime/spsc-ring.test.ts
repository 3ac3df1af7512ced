// tier: quick
/** The ring on one thread against a plain queue: sizes, wraps, the reserve, a reader that stops, index wrap, corruption. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import {
  DATA_OFFSET,
  HEAD_WORD,
  RECORD_HEADER_BYTES,
  recordBytes,
  TAIL_WORD,
  typeAndCheck,
} from '../../src/runtime/ring-layout.ts';
import {
  createRing,
  payloadBytesMax,
  RING_FULL,
  RingReader,
  RingWriter,
  ringDepth,
} from '../../src/runtime/spsc-ring.ts';
import { propertyParameters } from '../support/property.ts';

const SIZE = { capacityBytes: 2_048, reservedBytes: 256 };
const PARAMETERS = propertyParameters(200);

interface Written {
  readonly typeId: number;
  readonly payload: readonly number[];
}

function write(writer: RingWriter, { typeId, payload }: Written, urgent = false): boolean {
  const at = writer.claim(typeId, payload.length, urgent);
  if (at === RING_FULL) return false;
  assert.equal(at % 8, 0);
  writer.views.u8.set(payload, at);
  writer.commit();
  return true;
}

/** What is reported of the next record is what is handled next. */
function readAll(reader: RingReader, recordsMax: number): Written[] {
  const out: Written[] = [];
  const record = (typeId: number, at: number, bytes: number): Written => {
    return { typeId, payload: [...reader.views.u8.subarray(at, at + bytes)] };
  };
  let [now, next]: (Written | null)[] = [null, null];
  const handle = (...[typeId, at, bytes]: [number, number, number]): boolean => {
    const read = record(typeId, at, bytes);
    if (now !== null) assert.deepEqual(read, now);
    now = next ?? null;
    next = null;
    out.push(read);
    return true;
  };
  reader.drain(handle, recordsMax, (typeId, at, bytes) => {
    next = record(typeId, at, bytes);
  });
  return out;
}

function startAt(ring: SharedArrayBuffer, position: number): void {
  const words = new Int32Array(ring);
  words[HEAD_WORD] = position;
  words[TAIL_WORD] = position;
}

const written = fc.record(
  {
    typeId: fc.integer({ min: 0, max: 0xfffe }),
    payload: fc.oneof(
      fc.array(fc.nat(255), { maxLength: 64 }),
      fc.array(fc.nat(255), { minLength: 300, maxLength: 888 }),
    ),
  },
  { noNullPrototype: true },
);
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), record: written, urgent: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('publish' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('drain' as const), recordsMax: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold back' as const), after: fc.nat(3) }) },
);

suite('ring', () => {
  test('who drains is told of each record while the one before it is handled, and of none that was not seen yet', () => {
    const ring = createRing(SIZE);
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    const received: string[] = [];
    const drain = (recordsMax: number): void => {
      const handle = (typeId: number): boolean => received.push(`handle ${typeId}`) > 0;
      reader.drain(handle, recordsMax, (typeId) => received.push(`expect ${typeId}`));
    };
    for (const typeId of [1, 2, 3]) write(writer, { typeId, payload: [typeId] });
    writer.publish();
    write(writer, { typeId: 4, payload: [4] });
    drain(2);
    assert.deepEqual(received.splice(0), ['expect 2', 'handle 1', 'expect 3', 'handle 2']);
    drain(9);
    assert.deepEqual(received.splice(0), ['handle 3']);
    writer.publish();
    drain(9);
    assert.deepEqual(received, ['handle 4']);
  });

  test('what is drained is what was published, in order, from any position (also near the 32-bit wrap)', () => {
    const positions = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -400, max: 400 }),
      fc.constantFrom(0x7fff_ff00, -0x8000_0000),
    );
    fc.assert(
      fc.property(positions, fc.array(action, { maxLength: 120 }), (position, actions) => {
        const ring = createRing(SIZE);
        startAt(ring, position & ~7);
        const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
        const committed: Written[] = [];
        let visible = 0;
        for (const step of actions) {
          if (step.kind === 'write') {
            const room = writer.hasRoom(recordBytes(step.record.payload.length), step.urgent);
            const taken = write(writer, step.record, step.urgent);
            assert.ok(taken || !room, 'hasRoom never promises too much');
            if (taken) committed.push(step.record);
          } else if (step.kind === 'publish') {
            assert.equal(writer.publish(), committed.length > visible);
            visible = committed.length;
          } else {
            const most = step.kind === 'drain' ? step.recordsMax : step.after;
            const got = step.kind === 'drain' ? readAll(reader, most) : readUpTo(reader, most);
            assert.deepEqual(got, committed.slice(0, got.length));
            assert.ok(got.length <= Math.min(most, visible));
            assert.ok(got.length > 0 || most === 0 || visible === 0, 'a drain makes progress');
            committed.splice(0, got.length);
            visible -= got.length;
          }
          assert.equal(ringDepth(ring).records, visible);
        }
        writer.publish();
        while (committed.length > 0) {
          const got = readAll(reader, 1_000);
          assert.ok(got.length > 0);
          assert.deepEqual(got, committed.splice(0, got.length));
        }
        assert.equal(reader.hasRecords(), false);
        assert.equal(ringDepth(ring).bytes, 0);
      }),
      PARAMETERS,
    );
  });

  test('an empty ring takes its largest record at every position', () => {
    const most = payloadBytesMax(SIZE);
    for (let position = 0; position < SIZE.capacityBytes; position += 8) {
      const ring = createRing(SIZE);
      startAt(ring, position);
      assert.ok(write(new RingWriter(ring), { typeId: 1, payload: new Array(most).fill(7) }), `at ${position}`);
    }
  });

  test('only urgent claims use the reserved bytes', () => {
    const writer = new RingWriter(createRing(SIZE));
    const one = { typeId: 1, payload: new Array(56).fill(1) };
    let open = 0;
    while (write(writer, one)) open++;
    assert.equal(open, (SIZE.capacityBytes - SIZE.reservedBytes) / 64);
    assert.equal(writer.hasRoom(8), false);
    assert.equal(writer.hasRoom(SIZE.reservedBytes, true), true);
    assert.equal(writer.hasRoom(SIZE.reservedBytes + 8, true), false);
    let urgent = 0;
    while (write(writer, one, true)) urgent++;
    assert.equal(urgent, SIZE.reservedBytes / 64);
    assert.equal(writer.hasRoom(8, true), false);
  });

  test('a record that is held back stays first and unread', () => {
    const ring = createRing(SIZE);
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    for (const value of [1, 2, 3]) write(writer, { typeId: value, payload: [value] });
    writer.publish();
    assert.deepEqual(readUpTo(reader, 1), [{ typeId: 1, payload: [1] }]);
    assert.deepEqual(
      readAll(reader, 9).map((record) => record.typeId),
      [2, 3],
    );
  });

  test('a claim that is not committed leaves no trace', () => {
    const ring = createRing(SIZE);
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    writer.claim(9, 100);
    write(writer, { typeId: 1, payload: [5] });
    writer.publish();
    assert.deepEqual(readAll(reader, 9), [{ typeId: 1, payload: [5] }]);
    assert.throws(() => writer.commit(), InvariantError);
  });

  test('a new writer and a new reader go on where the last ones stopped', () => {
    const ring = createRing(SIZE);
    const first = new RingWriter(ring);
    write(first, { typeId: 1, payload: [1] });
    first.publish();
    write(first, { typeId: 2, payload: [2] });
    const second = new RingWriter(ring);
    write(second, { typeId: 3, payload: [3] });
    second.publish();
    assert.deepEqual(
      readAll(new RingReader(ring), 1).map((record) => record.typeId),
      [1],
    );
    assert.deepEqual(
      readAll(new RingReader(ring), 9).map((record) => record.typeId),
      [3],
    );
  });

  test('a consumer that resyncs finds nothing, and its producer hears of it once', () => {
    const ring = createRing(SIZE);
    const writer = new RingWriter(ring);
    write(writer, { typeId: 1, payload: [1] });
    writer.publish();
    const reader = new RingReader(ring);
    reader.resync();
    assert.deepEqual(readAll(reader, 9), []);
    assert.equal(ringDepth(ring).records, 0);
    assert.deepEqual([writer.takeResyncWanted(), writer.takeResyncWanted()], [true, false]);
  });
});

suite('ring corruption', () => {
  test('every flipped bit of a header is caught before the record is handled', () => {
    for (let bit = 0; bit < RECORD_HEADER_BYTES * 8; bit++) {
      const { ring, reader } = withOneRecord();
      const bytes = new Uint8Array(ring, DATA_OFFSET);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => readAll(reader, 9), InvariantError, `bit ${bit}`);
    }
  });

  test('a header of an earlier lap is caught', () => {
    const ring = createRing(SIZE);
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    const old = new Int32Array(ring, DATA_OFFSET, 2);
    const lap = { typeId: 4, payload: new Array(56).fill(1) };
    const before: number[] = [];
    for (let count = 0; count < SIZE.capacityBytes / 64; count++) {
      write(writer, lap, true);
      if (count === 0) before.push(...old);
    }
    writer.publish();
    readAll(reader, 100);
    write(writer, lap);
    writer.publish();
    old.set(before);
    assert.throws(() => readAll(reader, 9), InvariantError);
  });

  test('a record that claims more than was published is caught although its check is right', () => {
    const { ring, reader } = withOneRecord();
    const words = new Int32Array(ring, DATA_OFFSET, 2);
    words[0] = 512;
    words[1] = typeAndCheck(0, 512, 4);
    assert.throws(() => readAll(reader, 9), InvariantError);
  });

  test('a position that runs ahead of what is possible is caught on both sides', () => {
    const { ring, reader } = withOneRecord();
    new Int32Array(ring)[TAIL_WORD] = SIZE.capacityBytes + 8;
    assert.throws(() => readAll(reader, 9), InvariantError);
    const other = createRing(SIZE);
    const writer = new RingWriter(other);
    new Int32Array(other)[HEAD_WORD] = 8_192;
    assert.throws(() => {
      while (write(writer, { typeId: 1, payload: new Array(56).fill(1) }));
    }, InvariantError);
  });

  test('memory that is no ring, or of another size, is refused', () => {
    assert.throws(() => new RingReader(new SharedArrayBuffer(4_096)), InvariantError);
    assert.throws(() => createRing({ capacityBytes: 3_000, reservedBytes: 0 }), InvariantError);
    assert.throws(() => createRing({ capacityBytes: 2_048, reservedBytes: 1_032 }), InvariantError);
  });
});

function withOneRecord(): { ring: SharedArrayBuffer; reader: RingReader } {
  const ring = createRing(SIZE);
  const writer = new RingWriter(ring);
  write(writer, { typeId: 4, payload: new Array(64).fill(3) });
  writer.publish();
  return { ring, reader: new RingReader(ring) };
}

function readUpTo(reader: RingReader, count: number): Written[] {
  const out: Written[] = [];
  reader.drain((typeId, at, bytes) => {
    if (out.length === count) return false;
    out.push({ typeId, payload: [...reader.views.u8.subarray(at, at + bytes)] });
    return true;
  }, 1_000);
  return out;
}
