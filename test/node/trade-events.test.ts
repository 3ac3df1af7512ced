// tier: full, 5 s
/** Public trade events of a whole node: pending, confirmed and rolled back, in that order (wire.md 9.7). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import WebSocket from 'ws';
import { eventually } from '../support/patience.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

type Frame = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

suite('public trade events', () => {
  let world: TestNode;
  let maker: Trader;
  let taker: Trader;
  let socket: WebSocket;
  const frames: Frame[] = [];

  before(async () => {
    world = await TestNode.start();
    maker = await world.trader({ '0': '1000000', '2': '100' });
    taker = await world.trader({ '0': '1000000', '2': '100' });
    socket = new WebSocket(`${world.process.mds.replace('http', 'ws')}/trades/events`);
    socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame));
    await eventually(
      () => frames.length === 1,
      () => 'no welcome',
    );
    assert.deepEqual(frames.shift(), { type: 'subscriptions', channels: [{ name: 'trade_events' }], errors: [] });
  });
  after(async () => {
    socket.terminate();
    await world.stop();
  });

  const told = (): readonly string[] =>
    frames.flatMap((frame) =>
      Object.entries(frame).map(([tag, trade]) => `${tag} ${trade['trade_id']} ${trade['status']}`),
    );
  const until = (count: number): Promise<void> =>
    eventually(
      () => frames.length >= count,
      () => told().join(),
    );
  const trade = async (): Promise<void> => {
    await maker.sell(limit(300_000, 10_000));
    await taker.buy(limit(300_000, 10_000));
  };

  test('a match is public at once, its confirmation when clearing has flushed it', async () => {
    await world.hook({ hold: true });
    await trade();
    await until(1);
    const { Pending: pending } = frames[0] ?? {};
    assert.deepEqual(
      Object.keys(pending ?? {}).join(),
      'asset_id,trade_id,price,quantity,timestamp_ns,buyer_is_maker,status',
    );
    assert.deepEqual([pending?.['price'], pending?.['quantity'], pending?.['buyer_is_maker']], ['3000', '1', false]);
    assert.deepEqual(
      await (await fetch(`${world.process.mds}/trades/2`)).json(),
      [],
      'REST tells confirmed trades only',
    );
    await world.rest();
    assert.deepEqual(told(), ['Pending 1 Pending']);
    await world.hook({ release: true });
    await until(2);
    assert.deepEqual(told(), ['Pending 1 Pending', 'Confirmed 1 Confirmed']);
    assert.deepEqual(frames[1]?.['Confirmed'], { ...pending, status: 'Confirmed' });
  });

  test('a rolled-back trade is reported as such, and never as confirmed', async () => {
    frames.length = 0;
    await world.hook({ fault: { kind: 'reject_fill', party: 'maker', reason: 'InvalidOrder' } });
    await taker.buy(limit(290_000, 10_000));
    await maker.sell(limit(290_000, 10_000));
    await until(2);
    await world.rest();
    assert.deepEqual(told(), ['Pending 2 Pending', 'Rollbacked 2 Rollbacked']);
    assert.equal(frames[1]?.['Rollbacked']?.['buyer_is_maker'], true);
    assert.equal(frames.length, 2);
  });

  test('many trades are each pending before they are decided, in the order of their ids', async () => {
    await world.clear();
    frames.length = 0;
    const count = 60;
    for (let made = 0; made < count; made += 1) await trade();
    await until(2 * count);
    const seen = new Map<unknown, string>();
    let lastPending = 0;
    let lastConfirmed = 0;
    for (const frame of frames) {
      const [tag = '', body = {}] = Object.entries(frame)[0] ?? [];
      const id = Number(body['trade_id']);
      if (tag === 'Pending') {
        assert.equal(seen.get(id), undefined);
        assert.ok(id > lastPending);
        lastPending = id;
      } else {
        assert.deepEqual([tag, seen.get(id)], ['Confirmed', 'Pending']);
        assert.ok(id > lastConfirmed);
        lastConfirmed = id;
      }
      seen.set(id, tag);
    }
    assert.deepEqual([seen.size, new Set(seen.values())], [count, new Set(['Confirmed'])]);
  });
});
