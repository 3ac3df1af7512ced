// tier: full
/** Positions and account stats as streams of a whole node (STR-03, STR-04, AMB-118, wire.md 9.3). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };

suite('margin streams', () => {
  let node: TestNode;
  let long: Trader;
  let short: Trader;
  const frames: Json[] = [];
  const enveloped: Json[] = [];
  const stats: Json[] = [];

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await price('2000');
    long = await node.trader({ '0': '1000' }, [1]);
    short = await node.trader({ '0': '1000' }, [1]);
    await long.listen(`/positions/ws/${long.userId}`, frames);
    await long.listen(`/positions/ws/${long.userId}`, enveloped, ['svc.ws.v1']);
    await long.listen(`/account/stats/${long.userId}`, stats);
  });
  after(() => node.stop());

  const price = (value: string): Promise<void> => node.oraclePrice(value);

  /** Position objects of all frames, as `side size quote_liabilities`. */
  const shown = (): readonly string[] =>
    frames.flatMap((frame) => {
      assert.ok(Array.isArray(frame), 'a frame is an array');
      return (frame as readonly Json[]).map(({ side, size, quote_liabilities: quote }) => `${side} ${size} ${quote}`);
    });
  const until = (last: string): Promise<void> =>
    eventually(
      () => shown().at(-1) === last,
      () => `${shown()} — no ${last}`,
    );
  const equities = (): readonly unknown[] =>
    stats.map((frame) => (frame['accounts'] as Record<string, Json>)['1']?.['account_equity']);
  const untilEquity = (last: string): Promise<void> =>
    eventually(
      () => equities().at(-1) === last,
      () => `${equities()} — no ${last}`,
    );

  test('stats begin with the account as it is, in the shape of the margin reply (STR-04, wire.md 9.3)', async () => {
    await untilEquity('1000');
    const { text } = await long.call('GET', `/margin/user/${long.userId}?sub_account=1`);
    assert.deepEqual(stats.at(-1), JSON.parse(text));
  });

  test('a fill publishes the changed position once it is booked, on v1 in an envelope (STR-03, WS-04, AMB-118)', async () => {
    await node.hook({ hold: true });
    await long.buy(limit(200_000, 10_000), MARGIN);
    await short.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    const { text } = await long.call('GET', `/positions/${long.userId}`);
    assert.deepEqual(
      [shown(), (JSON.parse(text) as { positions: readonly Json[] }).positions],
      [[], []],
      'pending is not told',
    );
    await node.hook({ release: true });
    await until('long 1 2000');
    await eventually(
      () => enveloped.length > 0,
      () => 'no envelope',
    );
    const { type, channel, data, error } = enveloped[0] as Json;
    assert.deepEqual([type, channel, error], ['event', 'positions', null]);
    assert.deepEqual(data, frames[0], 'data is the v0 payload');
    const { positions } = JSON.parse((await long.call('GET', `/positions/${long.userId}`)).text) as {
      positions: unknown;
    };
    assert.deepEqual(frames[0], positions);
  });

  test('a price publishes the figures of the account, and no position (STR-04)', async () => {
    const before = shown().length;
    await node.advance(61_000_000_000n);
    await price('2100');
    await untilEquity('1100');
    await price('2000');
    await untilEquity('1000');
    assert.equal(shown().length, before);
  });

  test('a transfer into the account changes the figures of its positions (STR-03)', async () => {
    const before = shown().length;
    const inner =
      `{"user":"${long.userId}","source_index":1,"target_index":0,"transfer_asset":"0",` +
      `"transfer_amount":"100000000000000000000","target_account_type":null,"nonce":1}`;
    const body = `{"inner":${inner},"signature":[${[...long.key.sign(Buffer.from(inner))]}],"additional_signers":[]}`;
    assert.equal((await long.call('POST', '/account/transfer/sub-account', body)).text, '{"success":true}');
    await eventually(
      () => shown().length > before,
      () => 'no frame after the transfer',
    );
    assert.equal(shown().at(-1), 'long 1 2000');
    await untilEquity('900');
  });

  test('a position that ends is reported as closed, once with its rest and once without (AMB-69)', async () => {
    await short.buy(limit(200_000, 10_000), MARGIN);
    await long.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    await until('closed 0 0');
  });

  test('the streams are their user’s: another path ends with unauthorized (AUT-12, STR-08)', async () => {
    for (const path of [`/positions/ws/${short.userId}`, `/account/stats/${short.userId}`]) {
      const foreign: Json[] = [];
      const socket = await long.listen(path, foreign);
      const code = await new Promise((resolve) => socket.once('close', resolve));
      assert.equal(code, 1000);
      const [word = {}] = foreign;
      assert.equal((word['error'] as Json)['code'], 'unauthorized');
    }
    const answer = await long.call('GET', `/positions/ws/${long.userId}`);
    assert.equal(answer.status, 426);
  });
});
