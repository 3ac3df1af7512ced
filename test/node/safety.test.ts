// tier: full, 7 s
/**
 * What traders arrange for when things go wrong, on a whole node: orders that go with their connection, the dead-man
 * timer, creates that are sent again, and the times of each hop (docs/safety.md).
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { askUpgrade } from '../support/edge-client.ts';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { above, limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '1': '100', '2': '1000' };

suite('arranged in advance', () => {
  let world: TestNode;
  let a: Trader;
  let b: Trader;

  before(async () => {
    world = await TestNode.start();
    a = await world.trader(FUNDS);
    b = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  const order = (id: string, ticket: Ticket & { price?: number } = {}): string =>
    a.wrapper('Buy', limit(ticket.price ?? 290_000, 100), { id, ...ticket }).text;
  const answers = async (frames: readonly Json[], count: number): Promise<void> =>
    eventually(
      () => frames.length >= count,
      () => `${frames.length} of ${count} frames`,
    );
  const statuses = (...ids: string[]): Promise<readonly unknown[]> => Promise.all(ids.map((id) => a.status(id)));

  suite('cancel on disconnect', () => {
    test('what was created or replaced over the connection goes with it, and nothing else', async () => {
      const frames: Json[] = [];
      await a.buy(limit(280_000, 100), { id: 'cd-rest' });
      await a.buy(limit(280_000, 100), { id: 'cd-replaced' });
      const plain = await a.listen('/control', frames);
      const tied = await a.listen('/control?cancel_on_disconnect=true', frames);
      plain.send(`{"CreateOrderRequest":${order('cd-plain')}}`);
      tied.send(`{"CreateOrderRequest":${order('cd-tied')}}`);
      tied.send(`{"CreateOrderRequest":${order('cd-waiting', { trigger: above(400_000) })}}`);
      tied.send(
        `{"BatchCreateRequest":{"orders":[${order('cd-batch')},${order('cd-other', { asset: '1', price: 500_000 })}]}}`,
      );
      tied.send(`{"ReplaceOrderRequest":${a.replaceWrapper('cd-replaced', { price: 281_000 })}}`);
      await answers(frames, 7);
      plain.terminate();
      tied.terminate();
      for (const id of ['cd-tied', 'cd-waiting', 'cd-batch', 'cd-other', 'cd-replaced']) {
        await a.until(id, 'Canceled UserRequested');
      }
      await world.rest();
      assert.deepEqual(await statuses('cd-rest', 'cd-plain', 'cd-tied'), ['Open', 'Open', 'Canceled']);
    });

    test('an order that its market refused to replace stays', async () => {
      const frames: Json[] = [];
      await a.buy(limit(280_000, 100), { id: 'cd-refused' });
      const tied = await a.listen('/control?cancel_on_disconnect=true', frames);
      const old = a.replaceWrapper('cd-refused', { price: 281_000 });
      await a.replace('cd-refused', { price: 282_000 });
      tied.send(`{"ReplaceOrderRequest":${old}}`);
      await answers(frames, 1);
      assert.match(JSON.stringify(frames[0]), /RequestTooOld/);
      tied.terminate();
      await world.login();
      await world.rest();
      assert.equal(await a.status('cd-refused'), 'Open');
    });

    test('orders on their way when it ends are not left behind, whatever the place where it meets them', async () => {
      for (let round = 0; round < 3; round += 1) {
        const frames: Json[] = [];
        const tied = await a.listen('/control?cancel_on_disconnect=true', frames);
        const ids = Array.from({ length: 40 }, (_, index) => `way-${round}-${index}`);
        for (const id of ids) tied.send(`{"CreateOrderRequest":${order(id)}}`);
        await answers(frames, round * 8);
        tied.terminate();
        await world.rest();
        await eventually(
          () => ids.every((id) => ['Canceled UserRequested', undefined].includes(a.eventsOf(id).at(-1))),
          () => String(ids.map((id) => a.eventsOf(id))),
        );
        await world.rest();
        const open = JSON.parse((await a.call('GET', `/orders/user/${a.userId}?open_only=true&limit=1000`)).text);
        assert.deepEqual(open.orders, []);
      }
    });

    test('a connection that the session ends takes its orders with it as well', async () => {
      const frames: Json[] = [];
      const tied = await b.listen('/control?cancel_on_disconnect=true', frames);
      tied.send(`{"CreateOrderRequest":${b.wrapper('Sell', limit(310_000, 100), { id: 'cd-logout' }).text}}`);
      await answers(frames, 1);
      await b.call('POST', '/logout');
      await world.login();
      await world.rest();
      assert.equal(await b.status('cd-logout'), 'Canceled');
    });

    test('what cannot be read as true or false is refused before the upgrade', async () => {
      const port = Number(new URL(world.process.oms).port);
      for (const query of ['cancel_on_disconnect=yes', 'timing=1', 'resend=true&resend=true']) {
        const { status, text } = await askUpgrade(port, `/control?${query}`, {});
        assert.deepEqual([status, JSON.parse(text).error.code], [400, 'INVALID_REQUEST'], query);
      }
    });
  });

  suite('the dead-man timer', () => {
    const arm = (timeoutMs: unknown): Promise<{ status: number; text: string }> =>
      a.call('POST', '/orders/cancel-all-after', `{"timeout_ms":${timeoutMs}}`);

    test('cancels everything when its time is over, in every market, and nothing before', async () => {
      await a.buy(limit(290_000, 100), { id: 'dm-1' });
      await a.buy(limit(500_000, 1_000), { id: 'dm-2', asset: '1' });
      await b.sell(limit(310_000, 100), { id: 'dm-b' });
      const { status, text } = await arm(5_000);
      assert.deepEqual([status, text], [200, `{"timeout_ms":5000,"fires_at_ns":${world.nowNs + 5_000_000_000n}}`]);
      await world.advance(4_999_999_999n);
      assert.deepEqual(await statuses('dm-1'), ['Open']);
      await world.advance(1n);
      await a.until('dm-1', 'Canceled UserRequested');
      await a.until('dm-2', 'Canceled UserRequested');
      await world.rest();
      assert.equal(await b.status('dm-b'), 'Open');
      await a.buy(limit(290_000, 100), { id: 'dm-3' });
      await world.advance(60_000_000_000n);
      assert.deepEqual(await statuses('dm-3'), ['Open'], 'it fires once');
    });

    test('started again in time it does not fire, and 0 ends it', async () => {
      await a.buy(limit(290_000, 100), { id: 'dm-4' });
      for (let beat = 0; beat < 4; beat += 1) {
        await arm(2_000);
        await world.advance(1_900_000_000n);
      }
      const { text } = await arm(0);
      assert.equal(text, '{"timeout_ms":0,"fires_at_ns":null}');
      await world.advance(10_000_000_000n);
      assert.deepEqual(await statuses('dm-4'), ['Open']);
    });

    test('waits for space: a market that stands still does not lose it', async () => {
      await a.buy(limit(290_000, 100), { id: 'dm-5' });
      await world.hook({ fault: { kind: 'stall_market', asset_id: '2' } });
      await arm(1_000);
      await world.advance(1_000_000_000n);
      await world.hook({ release: true });
      await a.until('dm-5', 'Canceled UserRequested');
    });

    test('is refused with a time that it cannot keep, and without a session', async () => {
      for (const timeout of ['-1', '1', '999', '86400001', '1.5', '"5000"', 'null']) {
        const { status, text } = await arm(timeout);
        assert.deepEqual([status, JSON.parse(text).error.details.field], [400, 'timeout_ms'], timeout);
      }
      const { status } = await a.call('POST', '/orders/cancel-all-after', '{"timeout_ms":0}', { authorization: '' });
      assert.equal(status, 401);
    });
  });

  suite('the same signed create again', () => {
    const RESEND = { 'x-ringbook-resend': 'true' };
    const create = (body: string, headers = RESEND): Promise<{ status: number; text: string }> =>
      a.call('POST', '/orders/create', body, headers);

    test('is answered as the first was, to the byte, and makes no second order', async () => {
      const body = order('re-1');
      const first = await create(body);
      assert.equal(first.status, 200);
      await world.advance(1_000_000_000n);
      assert.deepEqual(await create(body), first);
      assert.deepEqual(await create(body.replace(/"post_sign_timestamp":\d+/, '"post_sign_timestamp":1')), first);
      const control: Json[] = [];
      const socket = await a.listen('/control?resend=true', control);
      socket.send(`{"CreateOrderRequest":${body}}`);
      await answers(control, 1);
      const { CreateOrderResponse: told } = control[0] as { CreateOrderResponse: { response: Json } };
      assert.equal(told.response['status'], 'Received');
      await world.rest();
      assert.deepEqual(a.eventsOf('re-1'), ['Created']);
    });

    test('over a connection that takes its orders with it goes with that one, and no longer with the one before', async () => {
      const frames: Json[] = [];
      const body = `{"CreateOrderRequest":${order('re-tied')}}`;
      const sent: Awaited<ReturnType<Trader['listen']>>[] = [];
      for (const query of ['', '&cancel_on_disconnect=true', '&cancel_on_disconnect=true', '']) {
        const socket = await a.listen(`/control?resend=true${query}`, frames);
        socket.send(body);
        sent.push(socket);
        await answers(frames, sent.length);
      }
      assert.equal(JSON.stringify(frames).match(/"Received"/g)?.length, 4);
      sent[1]?.terminate();
      sent[3]?.terminate();
      await a.call('POST', '/orders/cancel-all-after', '{"timeout_ms":0}');
      await world.rest();
      assert.equal(await a.status('re-tied'), 'Open');
      sent[2]?.terminate();
      await a.until('re-tied', 'Canceled UserRequested');
    });

    test('is a duplicate without the option, for another text, and after a restart', async () => {
      const body = order('re-2');
      await create(body, { 'x-ringbook-resend': 'false' });
      const code = async (text: string, headers = RESEND): Promise<string> =>
        JSON.parse((await create(text, headers)).text).error.code;
      assert.equal(await code(body), 'DUPLICATE_ORDER', 'the first was not sent like this');
      assert.equal(await code(order('re-2', { price: 291_000 })), 'DUPLICATE_ORDER');
      const again = order('re-3');
      assert.equal((await create(again)).status, 200);
      assert.equal(await code(again, { 'x-ringbook-resend': 'false' }), 'DUPLICATE_ORDER');
      assert.equal(await code(order('re-4'), { 'x-ringbook-resend': 'yes' }), 'INVALID_REQUEST');
      await world.rest();
      await world.restart();
      assert.equal(await code(again), 'DUPLICATE_ORDER');
      assert.equal(await a.status('re-3'), 'Open', 'which the order itself answers');
    });

    test('begins anew when the first left its id free', async () => {
      const body = a.wrapper('Buy', limit(300_000, 40_000_000), { id: 're-5' }).text;
      const refused = await create(body);
      assert.equal(JSON.parse(refused.text).error.code, 'INSUFFICIENT_INVENTORY');
      const funds = { user_id: a.userId, sub_account: 0, asset_id: '0', amount: '20000000' };
      await world.operate('POST', '/operator/faucet', funds);
      await world.rest();
      assert.equal((await create(body)).status, 200);
    });
  });

  suite('hop times', () => {
    const ascending = (timing: Json): void => {
      const keys = ['received_ns', 'verified_ns', 'sent_ns', 'matched_ns', 'answered_ns'];
      assert.deepEqual(Object.keys(timing), keys);
      for (const key of keys) assert.equal(timing[key], Number(world.nowNs), 'the clock of the node stands still');
    };

    test('are in the answers of clients that opted in, over REST and /control, and in no other', async () => {
      const timed = { 'x-ringbook-timing': 'true' };
      const { text } = await a.call('POST', '/orders/create', order('ti-1'), timed);
      assert.match(text, /,"processed_at_ns":\d+,"timing":\{"received_ns":\d+,.*\}\}$/);
      ascending(JSON.parse(text).timing);
      const replaced = await a.call('PATCH', '/orders/replace', a.replaceWrapper('ti-1', { price: 291_000 }), timed);
      ascending(JSON.parse(replaced.text).timing);
      const frames: Json[] = [];
      const socket = await a.listen('/control?timing=true', frames);
      socket.send(`{"CreateOrderRequest":${order('ti-2')}}`);
      socket.send(`{"CreateOrderRequest":${order('ti-3', { isForged: true })}}`);
      await answers(frames, 2);
      const told = frames.map(
        (frame) => (frame as { CreateOrderResponse: { response: Json } }).CreateOrderResponse.response,
      );
      const timingOf = (id: string): Json => told.find(({ order_id }) => order_id === id)?.['timing'] as Json;
      ascending(timingOf('ti-2'));
      assert.deepEqual(
        ['sent_ns', 'matched_ns'].map((hop) => timingOf('ti-3')[hop]),
        [null, null],
      );
      assert.equal((await a.call('POST', '/orders/create', order('ti-4'))).text.includes('timing'), false);
    });
  });

  test('a planned stop cancels what goes with its connection, a crash does not', async () => {
    const frames: Json[] = [];
    const open = async (id: string): Promise<void> => {
      const tied = await a.listen('/control?cancel_on_disconnect=true', frames);
      frames.length = 0;
      tied.send(`{"CreateOrderRequest":${order(id)}}`);
      await answers(frames, 1);
    };
    await open('stop-1');
    await a.buy(limit(290_000, 100), { id: 'stop-2' });
    await world.restart('SIGTERM');
    assert.deepEqual(await statuses('stop-1', 'stop-2'), ['Canceled', 'Open']);
    await open('stop-3');
    await world.rest();
    await world.restart('SIGKILL');
    assert.deepEqual(await statuses('stop-2', 'stop-3'), ['Open', 'Open']);
  });
});
