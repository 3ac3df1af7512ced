/** The four answers to a full ring. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { type FullPolicy, Outlet } from '../../src/runtime/outlet.ts';
import { createRing, RING_FULL, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';

function full(policy: FullPolicy): { outlet: Outlet; reader: RingReader } {
  const ring = createRing({ capacityBytes: 1_024, reservedBytes: 128 });
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  const outlet = new Outlet(new RingWriter(ring), bell, policy);
  while (outlet.hasRoom(64)) send(outlet);
  outlet.flush();
  return { outlet, reader: new RingReader(ring) };
}

function send(outlet: Outlet, urgent = false): boolean {
  if (outlet.claim(1, 56, urgent) === RING_FULL) return false;
  outlet.commit();
  return true;
}

function drain(reader: RingReader): number {
  return reader.drain(() => true, 1_000);
}

suite('outlet', () => {
  test('reject: a claim is refused, a cancel still passes, and after a drain all is well', () => {
    const { outlet, reader } = full('reject');
    assert.equal(send(outlet), false);
    assert.equal(send(outlet, true), true);
    drain(reader);
    assert.equal(send(outlet), true);
    assert.equal(outlet.refused(), 1);
  });

  test('hold-back and never-full: a claim without room is a broken promise', () => {
    for (const policy of ['hold-back', 'never-full'] as const) {
      assert.throws(() => send(full(policy).outlet), InvariantError);
    }
  });

  test('drop-and-resync: nothing is sent across a gap until a snapshot begins', () => {
    const { outlet, reader } = full('drop-and-resync');
    assert.equal(outlet.needsResync(), false);
    assert.equal(send(outlet), false);
    drain(reader);
    assert.equal(send(outlet), false, 'there is room, but there is a gap');
    assert.equal(outlet.needsResync(), true);
    outlet.beginResync();
    assert.equal(send(outlet), true);
    assert.equal(outlet.needsResync(), false);
    assert.equal(outlet.refused(), 2);
  });

  test('drop-and-resync: a snapshot that does not fit leaves the gap open', () => {
    const { outlet } = full('drop-and-resync');
    send(outlet);
    outlet.beginResync();
    assert.equal(send(outlet), false);
    assert.equal(outlet.needsResync(), true);
  });

  test('drop-and-resync: a consumer that begins anew gets a snapshot before anything else', () => {
    const { outlet, reader } = full('drop-and-resync');
    reader.resync();
    assert.equal(outlet.needsResync(), true);
    assert.equal(send(outlet), false);
    outlet.beginResync();
    assert.equal(send(outlet), true);
  });

  test('only a drop-and-resync edge has gaps', () => {
    assert.throws(() => full('reject').outlet.beginResync(), InvariantError);
  });
});
