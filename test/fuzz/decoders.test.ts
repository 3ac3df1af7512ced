// tier: quick, 14 s
/** The readers of client input against texts that are nearly right, from a seed. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { checkDecoders } from './decoders.ts';
import { Dice } from './dice.ts';
import { mutatedJson } from './json-mutation.ts';
import { seedBodies, seedFrames } from './seeds.ts';

const SEED = 20_260_731;
const CASES = shareOf('texts for readers of client input');
const NOW_NS = 1_800_000_000_000_000_000n;

suite('readers of client input', () => {
  const bodies = seedBodies(NOW_NS);
  const seeds = [...bodies.map(({ body }) => body), ...seedFrames(bodies)];

  test('every seed is what it should be', () => {
    const accepted = seeds.map((seed) => checkDecoders(Buffer.from(seed)));
    assert.ok(accepted.filter((count) => count > 0).length >= 15);
  });

  test('no bytes make one throw, and cursor and tree agree about all of them (AMB-01, AMB-02, SIG-03, SIG-06, SIG-08)', () => {
    const dice = new Dice(SEED);
    let accepted = 0;
    for (let index = 0; index < CASES; index += 1) {
      const seed = dice.seed();
      const own = new Dice(seed);
      const bytes = mutatedJson(own, own.pick(seeds));
      try {
        accepted += checkDecoders(bytes);
      } catch (error) {
        assert.fail(`seed ${seed}: ${String(error)}\n${bytes.subarray(0, 2_000).toString('latin1')}`);
      }
    }
    assert.ok(accepted > CASES / 20 && accepted < CASES, `some are good, most are not: ${accepted}`);
  });
});
