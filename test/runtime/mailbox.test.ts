// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Mailbox } from '../../src/runtime/mailbox.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';

interface Setup {
  readonly mailbox: Mailbox;
  readonly handled: number[];
  readonly closed: Set<number>;
}

/** A mailbox with one channel per count, holding that many records. */
function withLanes(counts: readonly number[]): Setup {
  const [handled, closed]: [number[], Set<number>] = [[], new Set()];
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  const channels = counts.map((count) => {
    const ring = createRing({ capacityBytes: 4_096, reservedBytes: 0 });
    const writer = new RingWriter(ring);
    for (let record = 0; record < count; record++) {
      writer.claim(1, 8);
      writer.commit();
    }
    writer.publish();
    return { reader: new RingReader(ring), producerBell: bell };
  });
  const nothing = (): void => undefined;
  const actor = {
    name: 'clerk',
    start: nothing,
    ready: (channel: number) => !closed.has(channel),
    handle: (channel: number) => handled.push(channel),
    endBatch: nothing,
    tick: nothing,
    stop: nothing,
  };
  return { mailbox: new Mailbox(channels, actor), handled, closed };
}

suite('mailbox', () => {
  test('a busy channel does not keep a quiet one waiting', () => {
    const { mailbox, handled } = withLanes([100, 3, 3]);
    assert.equal(mailbox.drain(9), 9);
    assert.deepEqual(handled, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  test('when a batch is smaller than the number of channels, each channel has its turn', () => {
    const { mailbox, handled } = withLanes([5, 5, 5]);
    for (let batch = 0; batch < 3; batch++) assert.equal(mailbox.drain(1), 1);
    assert.deepEqual(handled, [0, 1, 2]);
  });

  test('a channel that the actor is not ready for stays, the others go on', () => {
    const { mailbox, handled, closed } = withLanes([2, 2]);
    closed.add(0);
    assert.equal(mailbox.drain(8), 2);
    assert.deepEqual(handled, [1, 1]);
    assert.deepEqual([mailbox.hasWork(), mailbox.isHeldBack(), mailbox.isEmpty()], [false, true, false]);
    assert.equal(mailbox.depth(), 2);
    closed.clear();
    assert.deepEqual([mailbox.hasWork(), mailbox.isHeldBack()], [true, false]);
    assert.equal(mailbox.drain(8), 2);
    assert.equal(mailbox.isEmpty(), true);
  });
});
