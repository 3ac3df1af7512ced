// tier: full, 30 s
/**
 * What a whole node leaves behind, however it ends under load: what was reported as confirmed is there, once, and
 * everything adds up. A share of what `node dist/test/reliability/run.js node-kills`, `drain` and `full-disk` try.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { crashAtFlush, drainUnderLoad, fillTheDisk, killAcknowledged, killNodes } from '../support/node-campaigns.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { shareOf } from '../support/shares.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const KILLS = shareOf('kills of a whole node');
const SEED = 20_261_121;

suite('recovery of a whole node', () => {
  test(`kill -9 under load, ${KILLS} times: no confirmed trade is lost or doubled, balances and legs are exact, ids go on (AMB-110, AMB-116, I5)`, async () => {
    const { confirmed } = await killNodes(SEED, KILLS);
    assert.ok(confirmed > KILLS, `the load trades: ${confirmed} confirmed sides`);
  });

  for (const point of ['before_flush', 'after_flush'] as const) {
    test(`a crash ${point.replace('_', ' ')} leaves each fill either whole or absent`, async () => {
      assert.ok((await crashAtFlush(SEED + 1, point)).confirmed > 0);
    });
  }

  for (const acks of ['durable', 'optimistic'] as const) {
    test(`kill -9 while orders are acknowledged, acks: ${acks}: ${acks === 'durable' ? 'each of them is there' : 'what is gone was decided last'} (AMB-16, AMB-110)`, async () => {
      const { acknowledged, lost } = await killAcknowledged(SEED + 4, acks);
      assert.ok(acknowledged > 0 && lost < acknowledged, `${lost} of ${acknowledged}`);
    });
  }

  test('SIGTERM under load drains: the last checkpoint is clean, and everything published is there (AMB-110)', async () => {
    assert.ok((await drainUnderLoad(SEED + 2)).confirmed > 0);
  });

  test('a data file that cannot grow ends the node at once with 70 and one line, and what was published is there', async () => {
    assert.ok((await fillTheDisk(SEED + 3)).confirmed > 0);
  });

  test('two nodes cannot share a data directory: the second refuses to start with 78 (I24)', async () => {
    const node = await startNode({ profile: 'dev' });
    try {
      await assert.rejects(startNode({ profile: 'dev', dataDirectory: node.dataDirectory }), /ended with 78/);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });
});
