// tier: quick
/** What follows from the free space under the data directory, and how an end for lack of it is named (MCH-04). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DiskWatch, diskState } from '../../src/node/disk-watch.ts';
import { diedOf, lineOf } from '../../src/runtime/ending.ts';
import { storageError } from '../../src/storage/storage-error.ts';

const MIB = 1_048_576;

suite('the disk of a node (MCH-04)', () => {
  test('below the reserve it is low, a tenth above it enough again, below an eighth full', () => {
    assert.equal(diskState('enough', 512 * MIB, 512), 'enough');
    assert.equal(diskState('enough', 512 * MIB - 1, 512), 'low');
    assert.equal(diskState('low', 520 * MIB, 512), 'low');
    assert.equal(diskState('low', 564 * MIB, 512), 'enough');
    assert.equal(diskState('low', 64 * MIB, 512), 'low');
    assert.equal(diskState('low', 64 * MIB - 1, 512), 'full');
    assert.equal(diskState('enough', 0, 0), 'enough');
  });

  test('a change is reported once, and a full disk ends the watching', async () => {
    const seen: unknown[] = [];
    let reserveMib = 0;
    const watch = new DiskWatch({
      directory: '/',
      reserveMib: () => reserveMib,
      low: (isLow) => seen.push(isLow),
      full: (reason) => seen.push(reason),
    });
    await watch.look();
    assert.deepEqual([seen, watch.isLow], [[], false]);
    // More than any disk has.
    reserveMib = 2 ** 50;
    await watch.look();
    await watch.look();
    assert.equal(seen.length, 2);
    assert.match(String(seen[1]), /^\d+ MiB are free under \/, less than an eighth of disk_reserve_mib/);
  });

  test('a directory without figures changes nothing', async () => {
    const parts = { reserveMib: () => 512, low: assert.fail, full: assert.fail };
    const watch = new DiskWatch({ directory: '/there/is/none', ...parts });
    await watch.look();
    assert.equal(watch.isLow, false);
  });

  test('ENOSPC is named as such, ends with advice, and other errors keep their words', () => {
    const full = storageError('committing', Object.assign(new Error('No space left on device'), { code: 28 }), '/data');
    assert.equal(full.message, 'committing: no space is left on the disk under /data (No space left on device)');
    const line = JSON.parse(lineOf('fail-stop', diedOf('clearing', `${full.stack}`))) as Record<string, unknown>;
    assert.equal(line['cause'], 'disk full');
    assert.match(String(line['advice']), /^make space on the disk/);
    for (const words of ['ENOSPC: no space left on device, write', 'Disk quota exceeded']) {
      assert.match(storageError('writing', new Error(words)).message, /no space is left/);
    }
    // The machine of the test has space: a read error is a read error.
    assert.equal(
      storageError('committing', new Error('Input/output error'), '/').message,
      'committing: Input/output error',
    );
    assert.equal(diedOf('clearing', 'StorageError: committing: Input/output error').cause, 'died');
  });
});
