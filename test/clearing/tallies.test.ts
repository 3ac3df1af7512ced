// tier: quick
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { portableSha256 } from '../../src/clearing/state.ts';
import { PIECE_BYTES, Tally } from '../../src/clearing/tally.ts';
import { propertyParameters } from '../support/property.ts';

const facts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 400 }), { maxLength: 60 });

function add(tally: Tally, fact: Uint8Array): void {
  tally.raw(fact);
  tally.endFact(portableSha256);
}

/** Of the bytes of all facts: how many there are, and the digest of whole pieces. */
function plainTally(list: readonly Uint8Array[]): { readonly digest: string; readonly pending: string } {
  let digest = Buffer.alloc(32);
  let pending = Buffer.alloc(0);
  for (const fact of list) {
    pending = Buffer.concat([pending, fact]);
    if (pending.length < PIECE_BYTES) continue;
    digest = createHash('sha256').update(digest).update(pending).digest();
    pending = Buffer.alloc(0);
  }
  return { digest: digest.toString('hex'), pending: pending.toString('hex') };
}

suite('tallies', () => {
  test('a digest depends on its facts alone, wherever it was carried on from its row', () => {
    fc.assert(
      fc.property(facts, fc.array(fc.nat(60), { maxLength: 4 }), (list, carriedAt) => {
        let tally = new Tally('trades');
        for (const [index, fact] of list.entries()) {
          if (carriedAt.includes(index)) {
            const { row } = tally;
            tally = new Tally('trades');
            tally.restore(row);
          }
          add(tally, fact);
        }
        const { count, digest, pending } = tally.row;
        assert.deepEqual({ digest, pending: Buffer.from(pending).toString('hex') }, plainTally(list));
        assert.equal(count, list.length);
      }),
      propertyParameters(100),
    );
  });

  test('a row that no tally has written is refused', () => {
    const { row } = new Tally('deposits');
    for (const wrong of [
      { ...row, name: 'trades' as const },
      { ...row, digest: row.digest.slice(2) },
      { ...row, digest: row.digest.replace('0', 'g') },
      { ...row, pending: new Uint8Array(PIECE_BYTES) },
    ]) {
      assert.throws(() => new Tally('deposits').restore(wrong), { name: 'InvariantError' });
    }
  });
});
