// tier: quick, 4 s
/** Settings that markets and market data act on, changed while the node runs and after a kill (operator-api.md 4.10). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type WebSocket from 'ws';
import { eventually } from '../support/patience.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '2': '1000' };

suite('settings of the operator', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;
  let control: WebSocket;
  const answers: Readonly<Record<string, unknown>>[] = [];

  before(async () => {
    world = await TestNode.start();
    own = await world.trader(FUNDS);
    other = await world.trader(FUNDS);
  });

  after(() => world.stop());

  async function listen(): Promise<void> {
    answers.length = 0;
    control = await own.listen('/control', answers);
  }

  /** @returns `Received`, or the reason. */
  async function cancelAhead(id: string): Promise<string> {
    const before = answers.length;
    control.send(`{"CancelOrderRequest":${own.cancelWrapper(id)}}`);
    await eventually(
      () => answers.length > before,
      () => `${id}: no answer`,
    );
    const { CancelOrderResponse: answer } = answers.at(-1) as {
      CancelOrderResponse: { response: { status: string; reason: string | null } };
    };
    return answer.response.reason ?? answer.response.status;
  }

  async function publicTrades(): Promise<readonly number[]> {
    await world.rest();
    const answer = await fetch(`${world.process.mds}/trades/2?limit=1000`);
    return ((await answer.json()) as readonly { trade_id: number }[]).map(({ trade_id: id }) => id);
  }

  async function trade(): Promise<void> {
    const { id } = await own.sell(limit(300_000, 10));
    await other.buy(limit(300_000, 10));
    await own.until(id, 'Removed Filled');
  }

  test('held_cancels_per_user and held_cancel_ms bound what waits for its create (AMB-25)', async () => {
    await listen();
    await world.operate('PATCH', '/operator/settings', { held_cancels_per_user: 2, held_cancel_ms: 1_000 });
    const words = [await cancelAhead('a'), await cancelAhead('b'), await cancelAhead('c'), await cancelAhead('b')];
    assert.deepEqual(words, ['Received', 'Received', 'OrderNotFound', 'Received']);
    await world.advance(999_999_999n);
    assert.equal((await own.sell(limit(300_000, 10), { id: 'a' })).word, 'ALREADY_CANCELLED');
    await world.advance(1n);
    assert.deepEqual(await own.until('b', 'CancelFailed OrderNotFound'), ['CancelFailed OrderNotFound']);
    assert.equal((await own.sell(limit(300_000, 10), { id: 'b' })).word, 'Received');
    await world.clear();
  });

  test('public_trade_cache is how many public trades of a market are kept (PTR-02)', async () => {
    for (let i = 0; i < 4; i += 1) await trade();
    assert.equal((await publicTrades()).length, 4);
    await world.operate('PATCH', '/operator/settings', { public_trade_cache: 2 });
    assert.deepEqual(await publicTrades(), [4, 3]);
    await trade();
    assert.deepEqual(await publicTrades(), [5, 4]);
  });

  test('they are in force after a kill', async () => {
    await world.rest();
    await world.restart('SIGKILL');
    await listen();
    assert.deepEqual(await publicTrades(), [5, 4]);
    const words = [await cancelAhead('d'), await cancelAhead('e'), await cancelAhead('f')];
    assert.deepEqual(words, ['Received', 'Received', 'OrderNotFound']);
    await world.operate('PATCH', '/operator/settings', { public_trade_cache: 3, held_cancels_per_user: 3 });
    assert.equal(await cancelAhead('f'), 'Received');
    await trade();
    assert.equal((await publicTrades()).length, 3);
  });
});
