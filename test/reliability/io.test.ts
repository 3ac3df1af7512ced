// tier: full, 11 s
/** Power losses and failing calls, a share of what `node dist/test/reliability/run.js power-loss` and `io` try. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { callsOf, faultCampaign, powerLossCampaign } from '../support/io-campaigns.ts';
import { buildShim } from '../support/io-shim.ts';
import { shareOf } from '../support/shares.ts';
import { SeededRandom } from '../support/simulation.ts';

const SEED = 20_261_121;
const IMAGES = shareOf('power losses');
const LIES = shareOf('lying disks');
const POINTS = shareOf('failing calls');

suite('what a disk can do to a commit', () => {
  const shim = buildShim();
  const options =
    shim === null ? { skip: 'there is no C compiler: the shim between lmdb and the disk is not built' } : {};
  const built = shim ?? '';

  test(
    `after ${IMAGES} power losses everything that was promised is there, and the state is that of its record`,
    options,
    async () => {
      const { images, whole, refused, problems } = await powerLossCampaign(built, {
        seed: SEED,
        images: IMAGES,
        lies: false,
      });
      assert.deepEqual(problems, []);
      assert.deepEqual([images, whole, refused], [IMAGES, IMAGES, 0]);
    },
  );

  test('a disk that lies about its syncs is noticed at the start, and never silent', options, async () => {
    const { refused, problems } = await powerLossCampaign(built, { seed: SEED, images: LIES, lies: true });
    assert.deepEqual(problems, []);
    assert.ok(refused > LIES / 2, `damage is refused: ${refused} of ${LIES}`);
  });

  test(
    `an error or a short write at ${POINTS} of all calls ends the life at once, and a start finds what was promised`,
    options,
    async () => {
      const random = new SeededRandom(SEED);
      const calls = callsOf(built, SEED);
      const points = Array.from({ length: POINTS }, () => 1 + random.below(calls));
      const { ended, crashed, problems } = await faultCampaign(built, SEED, points);
      assert.deepEqual(problems, []);
      assert.ok(ended + crashed >= 0.9 * POINTS, `faults end lives: ${ended} and ${crashed} of ${POINTS}`);
    },
  );
});
