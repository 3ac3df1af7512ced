// tier: full, 5 s
/** After a restart what is at risk is found anew: the stream and operators see it again, though nothing has changed (STR-06). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };

suite('what is at risk, over a restart', () => {
  let node: TestNode;
  let owner: Trader;

  before(async () => {
    node = await TestNode.start();
    owner = await node.trader({ '0': '300' }, [1]);
    const short = await node.trader({ '0': '2000' }, [1]);
    await node.oraclePrice('2000');
    await short.sell(limit(200_000, 10_000), MARGIN);
    await owner.buy(limit(200_000, 10_000, 'IOC'), MARGIN);
    await node.rest();
    await node.advance(61_000_000_000n);
    await node.oraclePrice('1900');
  });
  after(() => node.stop());

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    test(`STR-06: after ${signal} a reader gets the aggregate as it is, without a new price`, async () => {
      await node.restart(signal);
      const frames: Json[] = [];
      await owner.listen('/liquidation/at_risk/ws', frames);
      await eventually(
        () => frames.length > 0,
        () => 'no frame after the restart',
      );
      assert.deepEqual(frames[0]?.['assets'], {
        '2': {
          long: { quantity: '1', liquidation_price: '1889.888888888888888888' },
          short: { quantity: '0', liquidation_price: null },
        },
      });
      const { accounts } = await node.operate('GET', '/operator/accounts-at-risk');
      assert.deepEqual(
        (accounts as readonly Json[]).map((account) => account['user_id']),
        [owner.userId],
      );
    });
  }
});
