// tier: quick
/** Real threads: what the ring and the doorbell promise when two processors look at them at once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Doorbell, Sleeper } from '../../src/runtime/doorbell.ts';
import { HEAD_WORD, TAIL_WORD } from '../../src/runtime/ring-layout.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { isNumbered } from '../support/numbered-records.ts';
import type { PeerTask } from '../support/ring-peer.ts';

const SIZE = { capacityBytes: 65_536, reservedBytes: 1_024 };

function peer(task: PeerTask): Worker {
  return new Worker(new URL('../support/ring-peer.js', import.meta.url), { workerData: task });
}

suite('ring between threads', () => {
  test('a million records of every size cross the 4 GiB wrap, each whole and in order', async () => {
    const records = 1_000_000;
    const ring = createRing(SIZE);
    const words = new Int32Array(ring);
    words[HEAD_WORD] = -65_536_000;
    words[TAIL_WORD] = -65_536_000;
    const bells = new SharedArrayBuffer(1_024);
    const reader = new RingReader(ring);
    const sleeper = new Sleeper(new Int32Array(bells), 0);
    const worker = peer({ kind: 'produce', out: ring, in: ring, bells, records });
    const ended = once(worker, 'exit');
    let next = 0;
    while (next < records) {
      const handled = reader.drain((typeId, at, bytes) => {
        assert.ok(typeId === 1 + (next % 100) && isNumbered(reader.views, at, bytes, next), `record ${next}`);
        next++;
        return true;
      }, 256);
      if (handled > 0) continue;
      sleeper.prepare();
      if (reader.hasRecords()) sleeper.wake();
      else sleeper.park(100);
    }
    assert.equal(reader.hasRecords(), false);
    assert.ok((words[HEAD_WORD] ?? 0) > 0, 'the position wrapped');
    await ended;
  });

  test('no wake-up is lost: a sleeper with a record is always rung', async () => {
    const rounds = 30_000;
    const [there, back] = [createRing(SIZE), createRing(SIZE)];
    const bells = new SharedArrayBuffer(1_024);
    const words = new Int32Array(bells);
    const [writer, reader] = [new RingWriter(there), new RingReader(back)];
    const [bell, sleeper] = [new Doorbell(words, 64), new Sleeper(words, 0)];
    const worker = peer({ kind: 'echo', out: back, in: there, bells, records: rounds });
    const lost = once(worker, 'message');
    for (let round = 0; round < rounds; round++) {
      const at = writer.claim(1, 8);
      writer.views.i32[at >> 2] = round;
      writer.commit();
      writer.publish();
      bell.ring();
      let answer = -1;
      const keep = (_typeId: number, from: number): boolean => {
        answer = reader.views.i32[from >> 2] ?? -1;
        return true;
      };
      while (reader.drain(keep, 1) === 0) {
        sleeper.prepare();
        if (reader.hasRecords()) sleeper.wake();
        else sleeper.park(100);
      }
      assert.equal(answer, round);
    }
    assert.deepEqual(await lost, [0]);
  });
});
