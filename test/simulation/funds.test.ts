// tier: quick, 5 s
/** Short histories of deposits and withdrawals over simulated chains with faults. Long ones: `reliability/run.js funds`. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { playAll } from './histories.ts';
import { Tally } from './playing.ts';

const SEEDS = 4;
const OPERATIONS = shareOf('operations of a history of funds');

/** What short histories must have had. */
const HAPPENINGS = [
  ...['depositLanded', 'withdrawalCompleted', 'approvalSigned', 'approvalLapsed', 'cancelWithdrawal', 'kill', 'rests'],
  ...['reorg done', 'replay done', 'provider lagging done', 'stopped: reorg', 'resumed', 'execute Expired'],
];

suite('funds between ledger and vaults', () => {
  test('each final deposit is credited once, each payout booked once, one approval of a counter lives, a stopped chain books nothing, over reorganisations, faulty providers, kills and power cuts (DEP-07 to DEP-10, WDR-01, WDR-07 to WDR-13, APR-01 to APR-04, AMB-72, AMB-74, AMB-84)', async (t) => {
    const tally = new Tally();
    await playAll({ seed: 1, seeds: SEEDS, operations: OPERATIONS, topic: 'funds' }, tally);
    const [credits, payouts] = ['depositLanded', 'withdrawalCompleted'].map((name) => tally.of(name));
    t.diagnostic(
      `${tally.of('operations')} operations, ${credits} credits, ${payouts} payouts, ${tally.of('kill')} kills`,
    );
    if (OPERATIONS >= 350)
      assert.deepEqual(
        HAPPENINGS.filter((name) => tally.of(name) === 0),
        [],
      );
  });
});
