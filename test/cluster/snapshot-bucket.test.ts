// tier: quick
/** Which snapshots the bucket of a cluster has (cluster.md 9). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { dueAfterMs, SnapshotBucket } from '../../src/cluster/snapshot-bucket.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

type Bucket = ConstructorParameters<typeof SnapshotBucket>[0];

/** Objects in memory. @param spoil what becomes of the bytes that are put. */
function objects(held: Map<string, Uint8Array>, spoil: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes): Bucket {
  return {
    snapshots: async () => [...held].map(([name, { length: bytes }]) => ({ name, bytes, storedMs: 0 })),
    snapshot: async (name) => {
      const bytes = held.get(name);
      return bytes === undefined ? null : new Blob([bytes]).stream();
    },
    putSnapshot: async (name, stream) => {
      held.set(name, spoil(new Uint8Array(await new Response(stream).arrayBuffer())));
    },
    deleteSnapshot: async (name) => void held.delete(name),
  };
}

suite('the bucket of snapshots', () => {
  test('what is put is read back, and is there as it was; a sequence goes by its number', async () => {
    const home = temporaryDirectory();
    const file = join(home, 'map');
    const bytes = Buffer.alloc(300_000, 5);
    writeFileSync(file, bytes);
    const held = new Map<string, Uint8Array>();
    const bucket = new SnapshotBucket(objects(held), 15);
    await bucket.put(1_000, file);
    await bucket.put(999, file);
    assert.deepEqual(
      (await bucket.list()).map(({ sequence }) => sequence),
      [999, 1_000],
    );
    const seen: number[] = [];
    await bucket.fetch(1_000, join(home, 'fetched'), (done) => seen.push(done));
    assert.deepEqual(readFileSync(join(home, 'fetched')), bytes);
    assert.equal(seen.at(-1), bytes.length);
    await assert.rejects(
      bucket.fetch(1_000, join(home, 'fetched'), () => undefined),
      /EEXIST/,
    );
    await assert.rejects(
      bucket.fetch(7, join(home, 'other'), () => undefined),
      /is not in the bucket any more/,
    );
    removeDirectory(home);
  });

  test('a snapshot that is not what was put is refused', async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, 'map'), 'a map');
    const bucket = new SnapshotBucket(
      objects(new Map(), (bytes) => bytes.map((byte) => byte ^ 1)),
      15,
    );
    await assert.rejects(bucket.put(1, join(home, 'map')), /is not what was put/);
    removeDirectory(home);
  });

  test('the newest stay; those of an older data version go when this one has as many as are kept', async () => {
    const names = ['14/50', '14/60', '15/99', '15/100', '15/1000', '16/5', 'something/else'];
    const held = new Map(names.map((name) => [name, new Uint8Array(1)]));
    const bucket = new SnapshotBucket(objects(held), 15);
    await bucket.removeOlder(4);
    assert.deepEqual([...held.keys()], names);
    await bucket.removeOlder(2);
    assert.deepEqual([...held.keys()], ['15/100', '15/1000', '16/5', 'something/else']);
  });

  test('a standby puts them, or a leader without one; the leader also when no standby gets to it', () => {
    const members = (...states: readonly string[]) =>
      states.map((state, at) => ({ node: 'abc'[at] ?? '', role: 'node', state }));
    assert.equal(dueAfterMs(members('leading', 'following'), 'b', 1_000), 500);
    assert.equal(dueAfterMs(members('leading', 'following'), 'a', 1_000), 2_000);
    assert.equal(dueAfterMs(members('leading'), 'a', 1_000), 500);
    assert.equal(dueAfterMs(members('leading', 'joining'), 'a', 1_000), 500);
    assert.equal(dueAfterMs([{ node: 'r', role: 'replica', state: 'following' }], 'a', 1_000), 500);
  });
});
