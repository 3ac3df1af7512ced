// tier: full, 7 s
/** Account events and numbered streams of a whole node, over kills and restarts (STR-05, wire.md 9.5). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SocketReader } from '../support/edge-client.ts';
import { eventually } from '../support/patience.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const CHAIN = '000000000000007a69';
const ETH = '6b'.repeat(20);

suite('account events of a node', () => {
  let world: TestNode;
  let user: Trader;

  before(async () => {
    world = await TestNode.start();
    user = await world.trader({ '0': '1000000', '2': '10' });
  });
  after(() => world.stop());

  const deposit = (units: string): Promise<unknown> =>
    world.operate('POST', `/operator/chains/${CHAIN}/deposits`, {
      user: user.userId,
      token: ETH,
      amount_base_units: units,
    });
  const numbered = (query: string): Promise<SocketReader> =>
    SocketReader.open(Number(new URL(world.process.oms).port), `/orders?${query}`, ['svc.ws.v1'], user.session());

  test('a deposit is published once it is credited, with the counter of its vault (STR-05, DEP-08, DEP-24)', async () => {
    const told: Record<string, Record<string, unknown>>[] = [];
    const socket = await user.listen(`/account/events/${user.userId}`, told as Record<string, unknown>[]);
    await deposit('1500000000000000000');
    await eventually(
      () => told.length === 1,
      () => JSON.stringify(told),
    );
    const landed = told[0]?.['DepositLanded'];
    assert.deepEqual(
      { ...landed, timestamp_ns: undefined },
      {
        user: user.userId,
        asset: '2',
        amount: '0x14d1120d7b160000',
        chain_id: CHAIN,
        deposit_nonce: 0,
        timestamp_ns: undefined,
      },
    );
    assert.equal(await user.owned('2'), '11.5');
    await deposit('1');
    await eventually(
      () => told.length === 2,
      () => JSON.stringify(told),
    );
    assert.equal(told[1]?.['DepositLanded']?.['deposit_nonce'], 1);
    socket.terminate();
  });

  test('what is not flushed is not published: after a kill before the flush there is neither event nor credit', async () => {
    const told: Record<string, unknown>[] = [];
    await user.listen(`/account/events/${user.userId}`, told);
    await world.hook({ fault: { kind: 'crash', point: 'before_flush' } });
    await deposit('1000000000000000000').catch(() => undefined);
    await world.process.ended;
    assert.deepEqual(told, []);
    await world.restart();
    await world.rest();
    assert.equal(await user.owned('2'), '12.500000000000000001', 'the chain tells it again, and it is credited once');
  });

  test('numbers of an earlier start are answered with RESYNC_REQUIRED, new ones are higher', async () => {
    const reader = await numbered('sequence=true');
    const start = JSON.parse(await reader.frame()).sequence as number;
    const order = await user.sell(limit(300_000, 10_000));
    await user.until(order.id, 'Created');
    const { sequence, data } = JSON.parse(await reader.frame());
    assert.deepEqual([sequence, Object.keys(data)], [start + 1, ['Created']]);
    reader.socket.terminate();
    const again = await numbered(`from_sequence=${start + 1}`);
    await again.frame();
    assert.equal(JSON.parse(await again.frame()).sequence, start + 1);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await world.restart(signal);
      for (const from of [start + 1, start + 2]) {
        const late = await numbered(`from_sequence=${from}`);
        assert.equal(JSON.parse(await late.frame()).error.code, 'RESYNC_REQUIRED', signal);
        assert.deepEqual(await late.closed, { code: 1013, reason: 'resync_required' });
      }
      const anew = await numbered('sequence=true');
      assert.ok(JSON.parse(await anew.frame()).sequence > start + 1, signal);
    }
  });
});
