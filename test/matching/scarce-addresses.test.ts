// tier: quick
/** Where a process may have few addresses, arrays grow by being copied, and nothing else is different (`ulimit -v`). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { areAddressesBounded } from '../../src/runtime/address-limit.ts';

const CHILD: string = fileURLToPath(new URL('../support/scarce-addresses-main.js', import.meta.url));
/** Less than one large array reserves; a process without any takes a third. */
const FEW_KIB = 3_500_000;

async function grow(limit: string): Promise<{ isInPlace: boolean; buffers: number }> {
  const command = `ulimit -v ${limit} && exec "$0" "$1"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, CHILD]);
  return JSON.parse(stdout) as { isInPlace: boolean; buffers: number };
}

suite('few addresses', () => {
  test('a pool of 100,000 orders that may reserve nothing holds what it was given, and is copied a few times only', async () => {
    const { isInPlace, buffers } = await grow(`${FEW_KIB}`);
    assert.equal(isInPlace, false);
    // Doubled to 16,384 orders, then a quarter longer each time.
    assert.ok(buffers > 15 && buffers < 30, `${buffers} buffers`);
  });

  test('without a limit it grows in place', async () => {
    const { isInPlace, buffers } = await grow('unlimited');
    assert.equal(isInPlace, true);
    assert.equal(buffers, 15, 'it is in place from a mebibyte on');
  });

  test('a market knows a limit of its process', () => {
    assert.equal(
      areAddressesBounded('Max address space         unlimited            unlimited            bytes'),
      false,
    );
    assert.equal(areAddressesBounded('Limit  Soft\nMax address space         4294967296   unlimited   bytes\n'), true);
    assert.equal(areAddressesBounded(''), false);
  });
});
