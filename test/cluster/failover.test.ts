// tier: full, 90 s
/** Three takeovers of the campaign of `run.js failover`, in any order, in 90 s; more by command (docs/reliability.md). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { failoverCampaign } from '../support/failover-campaign.ts';
import { natsServer } from '../support/nats-servers.ts';

const TAKEOVERS = ['kill', 'pause', 'cut', 'leaderAndServer'];

test('three takeovers under load: nothing Confirmed is lost or doubled, two nodes never lead', async (t) => {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const { problems, counts } = await failoverCampaign(server.path, {
    seed: 3,
    runs: 3,
    kinds: TAKEOVERS,
    perSecond: 100,
  });
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(problems, []);
  assert.ok(counts.takeovers >= 3, `${counts.takeovers}`);
});
