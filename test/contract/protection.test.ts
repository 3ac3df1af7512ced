// tier: full
/** Protection groups of a market maker over REST and `/control`, their trips, and what a kill leaves of them (MMP-01 to MMP-04). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer, SocketReader } from '../support/edge-client.ts';
import { metricsOf } from '../support/node-process.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const PATH = '/account/protection/2';
const LIMITS = '"window_ms":60000,"frozen_ms":0,"max_fills":2,"min_fill_notional":"0"';

/** The frames that have come. */
async function framesOf(reader: SocketReader): Promise<string[]> {
  const frames: string[] = [];
  while (reader.unread > 0) frames.push(await reader.frame());
  return frames;
}

interface Group {
  readonly group: string;
  readonly live_orders: number;
  readonly is_frozen: boolean;
  readonly frozen_until_ns: unknown;
}

suite('protection of a market maker', () => {
  let node: TestNode;
  let maker: PlainClient;
  let taker: PlainClient;
  let price = 200_000;

  before(async () => {
    node = await TestNode.start();
    maker = await node.user();
    taker = await node.user();
  });
  after(() => node?.stop());

  const put = (body: string): Promise<HttpAnswer> => maker.send('PUT', PATH, `{${body}}`);
  const groups = async (): Promise<readonly Group[]> =>
    ((await maker.read(PATH)) as { groups: readonly Group[] }).groups;
  const groupOf = async (name: string): Promise<Group | undefined> =>
    (await groups()).find(({ group }) => group === name);
  const reset = (group: string): Promise<HttpAnswer> => maker.post(`${PATH}/${group}/reset`, '');
  const withGroup = (body: string, group: string): string => `${body.slice(0, -1)},"protection_group":"${group}"}`;
  const quote = (group: string, words: Parameters<PlainClient['create']>[0]): Promise<HttpAnswer> =>
    maker.post('/orders/create', withGroup(maker.createBody(words), group));
  /** A sell of the maker in the group, above all others; its id. */
  const ask = async (group: string): Promise<string> => {
    const id = maker.newId();
    price += 100;
    const answer = await quote(group, { id, side: 'Sell', price, quantity: 100 });
    assert.equal(answer.status, 200, answer.text);
    return id;
  };
  const statusOf = async (id: string): Promise<string> =>
    ((await maker.read(`/orders/user/${maker.id}/2/${id}`)) as { status: string }).status;
  const take = (quantity: number): Promise<HttpAnswer> =>
    taker.create({ side: 'Buy', price, quantity, tif: '{"IOC":{"fill_or_kill":false}}' });

  test('groups are put, listed, changed and removed; limits have their ranges (MMP-01)', async () => {
    const body = `"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":20,"max_quantity":"5","max_notional":"100000"`;
    const expected =
      '{"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":20,"max_quantity":"5","max_notional":"100000",' +
      '"min_fill_notional":"10","live_orders":0,"is_frozen":false,"frozen_until_ns":null}';
    assert.equal((await put(body)).text, expected);
    assert.equal((await maker.get(PATH)).text, `{"groups":[${expected}]}`);
    for (const [member, wrong] of [
      ['"window_ms":1000', '"window_ms":9'],
      ['"window_ms":1000', '"window_ms":60001'],
      ['"frozen_ms":0', '"frozen_ms":600001'],
      ['"frozen_ms":0', '"frozen_ms":-1'],
      ['"max_fills":20', '"max_fills":0'],
      ['"max_fills":20', '"max_fills":1001'],
      ['"max_quantity":"5"', '"max_quantity":"0"'],
      ['"max_notional":"100000"', '"max_notional":"-1"'],
      ['"group":"g1"', '"group":"12345678901234567"'],
      ['"group":"g1"', '"group":""'],
    ] as const)
      assert.equal(toldBy(await put(body.replace(member, wrong))), '400 INVALID_REQUEST', wrong);
    const none = '"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":null';
    assert.equal(toldBy(await put(none)), '400 INVALID_REQUEST', 'no limit at all');
    for (let at = 2; at <= 8; at += 1) assert.equal((await put(body.replace('g1', `g${at}`))).status, 200);
    assert.equal(toldBy(await put(body.replace('g1', 'g9'))), '400 INVALID_REQUEST');
    for (let at = 1; at <= 8; at += 1)
      assert.equal((await maker.send('DELETE', `${PATH}/g${at}`)).text, '{}', `g${at}`);
    assert.deepEqual(await groups(), []);
    assert.equal(toldBy(await maker.send('DELETE', `${PATH}/g1`)), '404 NOT_FOUND');
    assert.equal(toldBy(await maker.send('PUT', '/account/protection/99', `{${body}}`)), '404 MARKET_NOT_FOUND');
    assert.equal((await maker.send('PUT', PATH, `{${body}}`, {})).status, 401);
    const stranger = await node.stranger().login();
    assert.equal(toldBy(await stranger.send('PUT', PATH, `{${body}}`)), '400 INSUFFICIENT_INVENTORY');
  });

  test('an unknown group is INVALID_ORDER, in a batch the order alone; a group with orders stays (MMP-02)', async () => {
    assert.deepEqual(
      [
        toldBy(await quote('none', { side: 'Sell', price: 300_000 })),
        errorOf(await quote('none', {})).details?.['field'],
      ],
      ['400 INVALID_ORDER', 'protection_group'],
    );
    assert.equal((await put(`"group":"m",${LIMITS}`)).status, 200);
    const [good, bad] = [maker.newId(), maker.newId()];
    const items = [
      withGroup(maker.createBody({ id: good, side: 'Sell', price: 300_000, quantity: 100 }), 'm'),
      withGroup(maker.createBody({ id: bad, side: 'Sell', price: 300_000, quantity: 100 }), 'none'),
    ];
    const batch = await maker.post('/orders/batch-create', `{"orders":[${items.join(',')}]}`);
    assert.match(batch.text, /"Received".*"InvalidOrder"/s);
    await node.rest();
    assert.equal((await groupOf('m'))?.live_orders, 1);
    assert.equal(toldBy(await maker.send('DELETE', `${PATH}/m`)), '409 PROTECTION_IN_USE');
    assert.equal((await maker.cancel(good)).status, 200);
    assert.equal((await maker.send('DELETE', `${PATH}/m`)).status, 200, 'right behind the cancel');
  });

  for (const by of ['cancel-all', 'cancel-all?protection_group=m'])
    test(`a group is removed right behind a ${by} of its orders, which is answered before its market has it (MMP-02)`, async () => {
      assert.equal((await put(`"group":"m",${LIMITS}`)).status, 200);
      const one = (): string =>
        withGroup(maker.createBody({ id: maker.newId(), side: 'Sell', price: 300_000, quantity: 100 }), 'm');
      for (let round = 0; round < 5; round += 1) {
        const items = Array.from({ length: 50 }, one).join(',');
        const batch = await maker.post('/orders/batch-create', `{"orders":[${items}]}`);
        assert.equal(batch.text.match(/"Received"/g)?.length, 50, batch.text);
        assert.equal((await maker.send('DELETE', `/orders/${by}`, '')).status, 202);
        assert.equal(toldBy(await maker.send('DELETE', `${PATH}/m`)).slice(0, 3), '200');
        assert.equal((await put(`"group":"m",${LIMITS}`)).status, 200);
      }
      assert.equal((await maker.send('DELETE', `${PATH}/m`)).status, 200);
    });

  test('a trip takes all members off the book within one match, is published, and freezes until the reset (MMP-03, MMP-04)', async () => {
    assert.equal((await put(`"group":"t",${LIMITS}`)).status, 200);
    const events = await maker.stream('/orders', ['1']);
    const quoted = await maker.stream('/orders?quotes=sets', ['svc.ws.v1']);
    const asks = [await ask('t'), await ask('t'), await ask('t')];
    const bid = maker.newId();
    assert.equal((await quote('t', { id: bid, side: 'Buy', price: 100_000, quantity: 100 })).status, 200);
    const taken = await take(300);
    assert.equal(taken.status, 200, taken.text);
    await node.rest();
    assert.deepEqual(await Promise.all([...asks, bid].map(statusOf)), ['Filled', 'Filled', 'Canceled', 'Canceled']);
    const frames = (await framesOf(events)).filter((frame) => /ProtectionTriggered|MarketMakerProtection/.test(frame));
    assert.match(
      frames[0] ?? '',
      /"ProtectionTriggered":\{"group":"t","asset_id":"2","user_id":"[0-9a-f]{64}","limit":"max_fills","frozen_until_ns":null,"timestamp_ns":\d{19}\}/,
    );
    assert.equal(frames.filter((frame) => frame.includes('"Canceled"')).length, 2);
    const ofQuoted = (await framesOf(quoted)).filter((frame) => frame.includes('"ProtectionTriggered"'));
    assert.equal(ofQuoted.length, 1, 'readers of quote sets as wholes get it too');
    const refused = await quote('t', { side: 'Sell', price: 400_000, quantity: 100 });
    assert.deepEqual(
      [toldBy(refused), errorOf(refused).details?.['frozen_until_ns'], errorOf(refused).retryable],
      ['409 MMP_FROZEN', null, false],
    );
    assert.equal(toldBy(await maker.send('DELETE', `${PATH}/t`)), '409 MMP_FROZEN');
    assert.equal((await groupOf('t'))?.is_frozen, true);
    assert.match((await reset('t')).text, /"is_frozen":false/);
    assert.equal((await quote('t', { side: 'Sell', price: 400_000, quantity: 100 })).status, 200);
    assert.match(await metricsOf(node.process), /^ringbook_protection_trips_total 1$/m);
  });

  test('over /control in v0, v1 and the short form the member is taken, and a frozen group refused (MMP-02)', async () => {
    assert.equal((await put(`"group":"c",${LIMITS.replace('"frozen_ms":0', '"frozen_ms":600000')}`)).status, 200);
    const control = await maker.stream('/control', ['1']);
    const create = (words: Parameters<PlainClient['create']>[0]): string => withGroup(maker.createBody(words), 'c');
    price += 100;
    control.socket.send(`{"CreateOrderRequest":${create({ side: 'Sell', price, quantity: 100 })}}`);
    price += 100;
    control.socket.send(`{"CreateOrderRequest":${create({ side: 'Sell', price, quantity: 100 })}}`);
    await node.rest();
    assert.equal((await groupOf('c'))?.live_orders, 2);
    assert.equal((await take(200)).status, 200);
    await node.rest();
    const group = await groupOf('c');
    assert.equal(group?.is_frozen, true);
    assert.equal(typeof group?.frozen_until_ns, 'number');
    control.socket.send(`{"CreateOrderRequest":${create({ side: 'Sell', price: 400_000, quantity: 100 })}}`);
    await node.rest();
    assert.match((await framesOf(control)).at(-1) ?? '', /"MmpFrozen"/);
    await node.advance(600_000_000_000n);
    assert.equal((await groupOf('c'))?.is_frozen, false, 'its time is over');
  });

  test('kill -9 after a trip: the group is frozen, its members are gone, its window is empty (MMP-04)', async () => {
    assert.equal((await put(`"group":"k",${LIMITS}`)).status, 200);
    assert.equal((await put(`"group":"w",${LIMITS}`)).status, 200);
    const tripped = [await ask('k'), await ask('k'), await ask('k')];
    assert.equal((await take(200)).status, 200);
    await node.rest();
    const counted = await ask('w');
    assert.equal((await take(100)).status, 200);
    await node.rest();
    assert.equal(await statusOf(counted), 'Filled');
    await node.restart('SIGKILL');
    for (const user of [maker, taker]) await user.login();
    assert.deepEqual(await Promise.all(tripped.map(statusOf)), ['Filled', 'Filled', 'Canceled']);
    assert.equal((await groupOf('k'))?.is_frozen, true);
    assert.equal(toldBy(await quote('k', { side: 'Sell', price: 400_000, quantity: 100 })), '409 MMP_FROZEN');
    assert.equal((await reset('k')).status, 200);
    assert.equal((await quote('k', { side: 'Sell', price: 400_000, quantity: 100 })).status, 200);
    const [first, second] = [await ask('w'), await ask('w')];
    assert.equal((await take(100)).status, 200);
    await node.rest();
    assert.deepEqual(
      [await statusOf(first), await statusOf(second), (await groupOf('w'))?.is_frozen],
      ['Filled', 'Open', false],
      'the fill of before the kill is not counted',
    );
    assert.equal((await take(100)).status, 200);
    await node.rest();
    assert.equal((await groupOf('w'))?.is_frozen, true);
  });
});
