// tier: quick
/** The four answers to a full ring. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { type FullPolicy, Publication } from '../../src/runtime/publication.ts';
import { createRing, RING_FULL, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';

function full(policy: FullPolicy): { publication: Publication; reader: RingReader } {
  const ring = createRing({ capacityBytes: 1_024, reservedBytes: 128 });
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  const publication = new Publication(new RingWriter(ring), bell, policy);
  while (publication.hasRoom(64)) send(publication);
  publication.flush();
  return { publication, reader: new RingReader(ring) };
}

function send(publication: Publication, urgent = false): boolean {
  if (publication.claim(1, 56, urgent) === RING_FULL) return false;
  publication.commit();
  return true;
}

function drain(reader: RingReader): number {
  return reader.drain(() => true, 1_000);
}

suite('publication', () => {
  test('reject: a claim is refused, a cancel still passes, and after a drain all is well', () => {
    const { publication, reader } = full('reject');
    assert.equal(send(publication), false);
    assert.equal(send(publication, true), true);
    drain(reader);
    assert.equal(send(publication), true);
    assert.equal(publication.refused(), 1);
  });

  test('never-full: a claim without room is a broken promise', () => {
    assert.throws(() => send(full('never-full').publication), InvariantError);
  });

  test('drop-and-resync: nothing is sent across a gap until a snapshot begins', () => {
    const { publication, reader } = full('drop-and-resync');
    assert.equal(publication.needsResync(), false);
    assert.equal(send(publication), false);
    drain(reader);
    assert.equal(send(publication), false, 'there is room, but there is a gap');
    assert.equal(publication.needsResync(), true);
    publication.beginResync();
    assert.equal(send(publication), true);
    assert.equal(publication.needsResync(), false);
    assert.equal(publication.refused(), 2);
  });

  test('drop-and-resync: a snapshot that does not fit leaves the gap open', () => {
    const { publication } = full('drop-and-resync');
    send(publication);
    publication.beginResync();
    assert.equal(send(publication), false);
    assert.equal(publication.needsResync(), true);
  });

  test('drop-and-resync: a consumer that begins anew gets a snapshot before anything else', () => {
    const { publication, reader } = full('drop-and-resync');
    reader.resync();
    assert.equal(publication.needsResync(), true);
    assert.equal(send(publication), false);
    publication.beginResync();
    assert.equal(send(publication), true);
  });

  test('only a drop-and-resync edge has gaps', () => {
    assert.throws(() => full('reject').publication.beginResync(), InvariantError);
  });
});
