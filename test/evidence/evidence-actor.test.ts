// tier: full
/** The way from clearing to the thread of the evidence and back: parts, what is durable, and when clearing takes no input (EVD-05). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { OutcomeFeed } from '../../src/clearing/outcome-codec.ts';
import { InvariantError } from '../../src/core/assert.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { EvidenceActor } from '../../src/evidence/evidence-actor.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { Salts } from '../../src/evidence/tree/record-leaf.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Publication } from '../../src/runtime/publication.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { freshFolder, openLog } from '../support/row-log-fixture.ts';

function edge(
  capacityBytes: number,
  policy: 'never-full' | 'reject',
): { publication: Publication; reader: RingReader } {
  const ring = createRing({ capacityBytes, reservedBytes: 0 });
  const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
  return { publication: new Publication(new RingWriter(ring), bell, policy), reader: new RingReader(ring) };
}

class World {
  ms = 0;
  readonly folder = freshFolder();
  readonly there = edge(1 << 22, 'never-full');
  readonly back = edge(1 << 16, 'reject');
  readonly feed = new OutcomeFeed({ publication: this.there.publication, channel: 0, extent: null }, () => this.ms);
  readonly log = openLog(this.folder);
  readonly actor = new EvidenceActor({
    openLog: () => this.log,
    salts: new Salts(new Uint8Array(32).fill(7)),
    clearing: this.back.publication,
    elapsedMs: () => this.ms,
    heartbeat: () => undefined,
  });

  constructor() {
    this.actor.start();
  }

  /** A record with so many rows of public prices. */
  send(sequence: number, rows: number, letter = 'x'): void {
    this.feed.recorder.begin();
    for (let row = 0; row < rows; row += 1)
      this.feed.recorder.fact({ kind: 'statement', subject: 'test', text: `${row} ${letter.repeat(400)}` });
    this.feed.recorder.close();
    const hash = new Uint8Array(32).fill(sequence);
    this.feed.send({ sequence: sequence as Sequence, timeNs: BigInt(sequence) as TimestampNs, epoch: 0, hash });
    this.feed.flush();
  }

  /** The thread takes what is there. */
  turn(): void {
    this.there.reader.drain((typeId, at) => {
      if (!this.actor.ready()) return false;
      this.actor.handle(0, typeId, this.there.reader.views, at);
      return true;
    }, 1_000);
    this.actor.tick(0n);
    this.actor.endBatch();
    this.feed.flush();
    this.back.reader.drain((typeId, at) => {
      this.feed.received(typeId, this.back.reader.views, at);
      return true;
    }, 1_000);
  }
}

suite('thread of the evidence', () => {
  test('EVD-05: what is sent is durable a tenth of a second later, or at once where a checkpoint waits', async () => {
    const world = new World();
    world.send(1, 3);
    world.turn();
    assert.equal(world.feed.isDurable(1 as Sequence), false);
    world.ms = 100;
    world.turn();
    assert.equal(world.feed.isDurable(1 as Sequence), true);
    world.send(2, 0);
    world.feed.wantDurable();
    world.turn();
    assert.equal(world.feed.isDurable(2 as Sequence), true);
    assert.equal(world.feed.isAtRest, true);
    const reader = RowLogReader.open(world.folder);
    assert.deepEqual(
      [...(reader?.records(1) ?? [])].map(({ rows }) => rows.length),
      [3, 0],
    );
    await reader?.close();
    await world.log.close();
  });

  test('EXP-00: a record that is larger than the ring comes in parts, and is whole', async () => {
    const world = new World();
    world.send(1, 20_000);
    for (let turn = 0; turn < 200 && !world.feed.isAtRest; turn += 1) {
      world.ms += 100;
      world.turn();
    }
    const reader = RowLogReader.open(world.folder);
    assert.equal(reader?.record(1)?.rows.length, 20_000);
    await reader?.close();
    await world.log.close();
  });

  test('EVD-05: 10 s behind, or with 256 MiB before the ring, clearing takes no input until it is less', async () => {
    const world = new World();
    world.send(1, 1);
    world.ms = 9_000;
    assert.equal(world.feed.isTooFarBehind(), false);
    world.ms = 10_051;
    assert.equal(world.feed.isTooFarBehind(), true);
    assert.equal(world.feed.behind().records, 1);
    world.turn();
    world.ms += 100;
    world.turn();
    assert.equal(world.feed.isTooFarBehind(), false);
    assert.deepEqual(world.feed.behind(), { records: 0, ms: 0, bytes: 0 });
    let sequence = 1;
    while (!world.feed.isTooFarBehind() && sequence < 100) {
      sequence += 1;
      world.send(sequence, 10_000);
    }
    assert.ok(sequence > 50 && sequence < 100, `${sequence}`);
    await world.log.close();
  });

  test('EXP-00: records that are there are compared and skipped; another one is a broken invariant', async () => {
    const world = new World();
    for (const sequence of [1, 2, 3]) world.send(sequence, sequence);
    world.ms = 200;
    world.turn();
    for (const sequence of [2, 3]) world.send(sequence, sequence);
    world.send(4, 1);
    world.turn();
    assert.equal(world.log.last, 4);
    world.send(2, 2);
    world.send(3, 3, 'y');
    assert.throws(() => world.turn(), InvariantError);
    await world.log.close();
  });
});
