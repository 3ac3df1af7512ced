// tier: full
/** The journal of a node of a cluster under kill -9: what was stored stays, what was dropped is kept beside it, one record is unknown. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toHex } from '../../src/core/hex.ts';
import type { Sequence } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { verifyMap } from '../../src/storage/verify-map.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CHILD = fileURLToPath(new URL('../support/replicating-child.js', import.meta.url));

/** Lines of a child that is killed behind so many of them; one that is cut by the kill is none. */
async function killedAfter(directory: string, lines: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [CHILD, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text;
    if (output.split('\n').length > lines) child.kill('SIGKILL');
  }
  await ended;
  return output.slice(0, output.lastIndexOf('\n')).split('\n');
}

suite('the journal of a cluster', () => {
  test('killed in any half: stored records are there, dropped ones beside it, and at most the last is unknown', async () => {
    const directory = temporaryDirectory();
    const stored = new Map<number, string>();
    let dropped = 0;
    let unknown = 0;
    for (let kill = 0; kill < 14; kill += 1) {
      const lines = await killedAfter(directory, 1 + 13 * kill);
      for (const line of lines) {
        const [what = '', at, hash = ''] = line.split(' ');
        const sequence = Number(at);
        if (what === 'stored') {
          assert.equal(stored.has(sequence), false, 'a record is stored once');
          stored.set(sequence, hash);
        } else if (what === 'dropped') {
          assert.equal(stored.has(sequence), false, 'what is stored is never dropped');
          const name = `${String(sequence).padStart(16, '0')}-${hash.slice(0, 16)}.record`;
          assert.ok(existsSync(join(directory, 'dropped', name)), name);
          dropped += 1;
        }
      }
      assert.equal(verifyMap(directory, { since: null }).mark.sequence >= Math.max(0, ...stored.keys()), true);
      const durability = new LmdbDurability(directory);
      const { lastSequence } = durability;
      for (const [sequence, hash] of stored) {
        assert.equal(toHex(durability.placeAt(sequence as Sequence).hash), hash, `record ${sequence}`);
      }
      const tail = durability.unknownTail();
      if (tail !== null) unknown += 1;
      assert.ok(tail === null || (tail.sequence === lastSequence && !stored.has(lastSequence)));
      // A record may be stored without its line; the next child goes on behind it.
      if (tail === null && lastSequence > 0) stored.set(lastSequence, toHex(durability.placeAt(lastSequence).hash));
      await durability.close();
    }
    assert.ok(stored.size > 100 && dropped > 10, `${stored.size} stored, ${dropped} dropped, ${unknown} unknown`);
  });
});
