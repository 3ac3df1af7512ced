// tier: quick
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CommitWatch, openReader, openWriter, type Write } from '../../src/storage/environment.ts';
import { journalBounds } from '../../src/storage/journal.ts';
import { swapLeaves } from '../support/live-damage.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CHILD = fileURLToPath(new URL('../support/storage-child.js', import.meta.url));
const key = (...bytes: number[]) => Uint8Array.from(bytes);
const one = key(1);

suite('environment', () => {
  test('a commit is read back, also after closing and opening', async () => {
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    writer.commit([{ key: key(0x20, 7), value: key(1, 2, 3) }]);
    assert.deepEqual([...(writer.get(key(0x20, 7)) ?? [])], [1, 2, 3]);
    assert.equal(writer.get(key(0x20, 8)), null);
    await writer.close();

    const again = openWriter(directory);
    assert.deepEqual([...(again.get(key(0x20, 7)) ?? [])], [1, 2, 3]);
    await again.close();
  });

  test('a broken rule in the middle of a commit leaves nothing of it', async () => {
    const writer = openWriter(temporaryDirectory());
    writer.commit([{ key: key(0x20), value: one, rule: 'once' }]);
    assert.throws(
      () =>
        writer.commit([
          { key: key(0x21), value: one },
          { key: key(0x20), value: key(2), rule: 'once' },
        ]),
      { name: 'InvariantError', message: /key 20 is written once/ },
    );
    assert.throws(() => writer.commit([{ key: key(0x1f), value: one, rule: 'append' }]), { name: 'InvariantError' });
    assert.equal(writer.get(key(0x21)), null);
    assert.equal(writer.get(key(0x1f)), null);
    assert.deepEqual([...(writer.get(key(0x20)) ?? [])], [1]);
    await writer.close();
  });

  test('a watch receives what each write replaces, earlier ones of its commit included, and its own write is in it', async () => {
    const writer = openWriter(temporaryDirectory());
    writer.commit([{ key: key(0x20), value: key(1) }]);
    const received: (readonly (readonly number[] | null)[])[] = [];
    const watch: CommitWatch = {
      change: (at, before, after) =>
        received.push([at, before, after].map((bytes) => (bytes === null ? null : [...bytes]))),
      end: () => [{ key: key(0x2f), value: key(9) }],
    };
    const writes: readonly Write[] = [
      { key: key(0x20), value: key(2) },
      { key: key(0x20), value: key(3), rule: 'fresh' },
      { key: key(0x21), value: key(4), rule: 'fresh' },
      { key: key(0x21), value: null },
      { key: key(0x21), value: key(5), rule: 'once' },
    ];
    writer.commit(writes, watch);
    const expected = [
      [[0x20], [1], [2]],
      [[0x20], [2], [3]],
      [[0x21], null, [4]],
      [[0x21], [4], null],
      [[0x21], null, [5]],
    ];
    assert.deepEqual(received, expected);
    assert.deepEqual([...(writer.get(key(0x20)) ?? [])], [3], 'a key that was not fresh after all is written over');
    assert.deepEqual([...(writer.get(key(0x2f)) ?? [])], [9]);
    await writer.close();
  });

  test('a range holds its lower bound and not its upper, in both directions, with skip and limit', async () => {
    const writer = openWriter(temporaryDirectory());
    for (const last of [1, 2, 3, 4]) writer.commit([{ key: key(0x30, last), value: key(last) }]);
    writer.commit([{ key: key(0x31), value: one }]);
    const found = (range: { from: Uint8Array; to: Uint8Array; newestFirst?: boolean; skip?: number; limit: number }) =>
      writer.range(range).map((entry) => entry.key[1]);
    const all = { from: key(0x30, 1), to: key(0x30, 4), limit: 9 };
    assert.deepEqual(found(all), [1, 2, 3]);
    assert.deepEqual(found({ ...all, newestFirst: true }), [3, 2, 1]);
    assert.deepEqual(found({ ...all, newestFirst: true, skip: 1, limit: 1 }), [2]);
    assert.deepEqual(found({ ...all, newestFirst: true, skip: 3 }), []);
    assert.deepEqual(found({ ...all, to: key(0x30, 3, 0), newestFirst: true }), [3, 2, 1]);
    assert.deepEqual(found({ from: key(0x30), to: key(0x31), newestFirst: true, limit: 2 }), [4, 3]);
    assert.deepEqual(found({ from: key(0x40), to: key(0x50), newestFirst: true, limit: 2 }), []);
    await writer.close();
  });

  test('a value larger than a page and than the read buffer is read whole', async () => {
    const writer = openWriter(temporaryDirectory());
    const large = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) & 0xff);
    writer.commit([{ key: key(0x30), value: large }]);
    assert.equal(Buffer.compare(writer.get(key(0x30)) ?? one, large), 0);
    const [entry] = writer.range({ from: key(0x30), to: key(0x31), limit: 1 });
    assert.equal(Buffer.compare(entry?.value ?? one, large), 0);
    await writer.close();
  });

  test('entries that are read in place are those of the range, whatever their size, and the map is not read meanwhile', async () => {
    const writer = openWriter(temporaryDirectory());
    const sizes = [0, 1, 300, 5_000, 40_000, 300_000, 2];
    for (const [index, size] of sizes.entries()) {
      writer.commit([{ key: key(0x30, index), value: new Uint8Array(size).fill(index + 1) }]);
    }
    const all = { from: key(0x30), to: key(0x31), limit: 100 };
    for (const range of [all, { ...all, limit: 3 }, { ...all, from: key(0x30, 2), to: key(0x30, 5) }]) {
      const visited: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
      const last = writer.visit(range, (entry) =>
        visited.push({ key: entry.key, value: Uint8Array.from(entry.value) }),
      );
      const expected = writer.range(range).map((entry) => ({ ...entry, value: Uint8Array.from(entry.value) }));
      assert.deepEqual(visited, expected);
      assert.deepEqual(last, expected.at(-1)?.key);
    }
    assert.equal(
      writer.visit({ ...all, from: key(0x30, 50) }, () => assert.fail()),
      null,
    );
    const inside = () => writer.visit(all, () => void writer.get(key(0x30, 1)));
    assert.throws(inside, { name: 'InvariantError', message: /while values are visited/ });
    assert.throws(() => writer.visit(all, () => assert.fail('no more')), /no more/);
    // What was thrown has ended it: values are copies again.
    const [first, second] = writer.range(all).slice(1, 3);
    assert.deepEqual([first?.value[0], second?.value[0]], [2, 3]);
    await writer.close();
  });

  test('a directory that is open cannot be opened for writing again, here or in another process', async () => {
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    assert.throws(() => openWriter(directory), { name: 'StorageError', message: /in use by process/ });
    const child = spawnSync(process.execPath, [CHILD, 'hold', directory], { encoding: 'utf8' });
    assert.notEqual(child.status, 0);
    assert.match(child.stderr, new RegExp(`in use by process ${process.pid}`));
    await writer.close();
  });

  test('the directory of a killed process is taken over, with a higher epoch', async () => {
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, [CHILD, 'hold', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    assert.throws(() => openWriter(directory), { name: 'StorageError' });
    child.kill('SIGKILL');
    await once(child, 'exit');

    const writer = openWriter(directory);
    assert.equal(writer.epoch, 2);
    await writer.close();
    const third = openWriter(directory);
    assert.equal(third.epoch, 3);
    assert.equal(readdirSync(directory).filter((name) => name.startsWith('claim.')).length, 1);
    await third.close();
  });

  test('a claim of a process id that now belongs to another process is dead', async () => {
    const directory = temporaryDirectory();
    await openWriter(directory).close();
    const [claim = ''] = readdirSync(directory).filter((name) => name.startsWith('claim.'));
    renameSync(join(directory, claim), join(directory, `claim.9.${process.pid}.1.00000000`));
    const writer = openWriter(directory);
    assert.equal(writer.epoch, 10);
    await writer.close();
  });

  test('data of an unknown version is refused', async () => {
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    writer.commit([{ key: key(1, 1), value: Buffer.from('ringbook data 99') }]);
    await writer.close();
    const refusal = { name: 'StorageError', message: /holds "ringbook data 99"/ };
    assert.throws(() => openWriter(directory), refusal);
    assert.throws(() => openReader(directory), refusal);
    // The refusal gives the directory free again.
    assert.throws(() => openWriter(directory), refusal);
  });

  test('a file that is no database is refused', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'ledger.mdb'), Buffer.alloc(8192, 0x5a));
    assert.throws(() => openWriter(directory), { name: 'StorageError', message: /is not a database/ });
    assert.throws(() => openReader(temporaryDirectory()), { name: 'StorageError', message: /does not exist/ });
  });

  test('a damaged second meta page is refused', async () => {
    const directory = temporaryDirectory();
    await openWriter(directory).close();
    const path = join(directory, 'ledger.mdb');
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096 + 20, 4096 + 40);
    writeFileSync(path, bytes);
    assert.throws(() => openWriter(directory), { name: 'StorageError', message: /is not a database/ });
  });

  test('pages that lie in each other’s place are noticed by reads of a range over them, in both directions', async () => {
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    const writes = Array.from({ length: 1_000 }, (_, index) => {
      return { key: key(0x20, index >> 8, index & 0xff), value: new Uint8Array(64) };
    });
    writer.commit(writes);
    const all = { from: key(0x20), to: key(0x21), limit: 2_000 };
    assert.equal(writer.range(all).length, 1_000);
    swapLeaves(join(directory, 'ledger.mdb'), 2, 5);
    for (const newestFirst of [false, true]) {
      const range = { ...all, newestFirst };
      assert.throws(() => writer.view(() => writer.range(range)), {
        name: 'InvariantError',
        message: /not the one that belongs there/,
      });
    }
    assert.throws(() => writer.view(() => writer.visit(all, () => undefined)), /not the one that belongs there/);
    await writer.close();
  });

  test('when the disk refuses, the error reports it and what was flushed before is still there', async () => {
    const directory = temporaryDirectory();
    await openWriter(directory).close();
    // A file may not grow beyond 2,000 blocks of 512 bytes; the write is refused instead of killing the process.
    const shell = `trap '' XFSZ; ulimit -f 2000; exec "$0" "$@"`;
    const child = spawnSync('sh', ['-c', shell, process.execPath, CHILD, 'fill', directory], { encoding: 'utf8' });
    const lines = child.stdout.trim().split('\n');
    const [error, last] = (lines.at(-1) ?? '').split(' ');
    assert.equal(error, 'StorageError', child.stderr);
    assert.ok(Number(last) > 0);

    const writer = openWriter(directory);
    assert.equal(journalBounds(writer).lastSequence, Number(last));
    await writer.close();
  });
});
