// tier: full
/**
 * Quote sets over REST, `/control` and `/orders` against a node in a process of its own (wire-additions.md 16), with texts written from the
 * contract alone.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { askUpgrade, type HttpAnswer } from '../support/edge-client.ts';
import { eventually } from '../support/patience.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import type { QuoteAnswer } from '../support/quote-texts.ts';
import { TestNode } from '../support/test-node.ts';

type Quotes = readonly (readonly [price: number, quantity: number])[];

interface Words {
  readonly bids?: Quotes;
  readonly asks?: Quotes;
  readonly id?: string;
  readonly revision?: bigint;
  readonly account?: number;
}

interface OrderOf {
  readonly order_id: string;
  readonly quantity: string;
  readonly limit_price: string;
  readonly confirmed_filled_quantity: string;
  readonly pending_filled_quantity: string;
  readonly status: string;
  readonly quote_set_id?: string;
}

function bodyOf(client: PlainClient, { bids = [], asks = [], id = 'mm', revision, account = 0 }: Words): string {
  const pairs = (quotes: Quotes): string => `[${quotes.map(([price, lots]) => `[${price},${lots}]`).join(',')}]`;
  const text =
    `{"signer":"${client.id}","set_id":"${id}","base_asset":"2","book_price_decimals":2,"book_quantity_decimals":4,` +
    `"revision":${revision ?? client.nowNs()},"bids":${pairs(bids)},"asks":${pairs(asks)},` +
    `"target":{"account":${account},"is_spot":true},"max_trading_fees_rate":50000,"protection_group":null,` +
    '"good_until_timestamp_ns":null,"protocol_version":1}';
  return `{"quotes":${text},"signature":${client.key.signature(text)},"post_sign_timestamp":${client.nowNs()}}`;
}

suite('quote sets', () => {
  let node: TestNode;
  let maker: PlainClient;
  let taker: PlainClient;

  before(async () => {
    node = await TestNode.start();
    maker = await node.user();
    taker = await node.user();
  });
  after(() => node?.stop());

  const send = (words: Words): Promise<HttpAnswer> => maker.send('PUT', '/orders/quotes', bodyOf(maker, words));
  const put = async (words: Words): Promise<QuoteAnswer> => {
    const answer = await send(words);
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text) as QuoteAnswer;
  };
  const counts = ({ created, changed, kept, cancelled }: QuoteAnswer): readonly number[] => [
    created,
    changed,
    kept,
    cancelled,
  ];
  const open = async (client = maker): Promise<readonly OrderOf[]> =>
    ((await client.read(`/orders/user/${client.id}?open_only=true&limit=200`)) as { orders: OrderOf[] }).orders;
  const resting = async (): Promise<readonly string[]> =>
    (await open()).map(({ limit_price, quantity }) => `${limit_price} ${quantity}`).sort();

  test('QTE-01, QTE-02, QTE-03, QTE-06: a set is created, changed, kept and taken away in one step, its entries are orders', async () => {
    const first = await put({
      bids: [
        [190_000, 1_000],
        [189_900, 2_000],
      ],
      asks: [[210_000, 1_000]],
    });
    assert.deepEqual(counts(first), [3, 0, 0, 0]);
    const orders = await open();
    assert.deepEqual([...new Set(orders.map(({ quote_set_id }) => quote_set_id))], ['mm']);
    assert.deepEqual(orders.map(({ order_id }) => order_id).sort(), ['mm:1', 'mm:2', 'mm:3']);
    const second = await put({
      bids: [
        [190_000, 500],
        [189_800, 1_000],
      ],
      asks: [[210_000, 1_000]],
    });
    assert.deepEqual(counts(second), [1, 1, 1, 1]);
    assert.deepEqual(await resting(), ['1898 0.1', '1900 0.05', '2100 0.1']);
    const left = await maker.send('GET', `/orders/user/${maker.id}/2/mm:2`, '');
    assert.equal(toldBy(left), '404 ORDER_NOT_FOUND', 'it left and never traded');
    const again = { id: 'mm:2', side: 'Buy', price: 180_000, quantity: 1_000 } as const;
    assert.equal(toldBy(await maker.create(again)), '409 DUPLICATE_ORDER');
    const third = await put({});
    assert.deepEqual(counts(third), [0, 0, 0, 3]);
    assert.deepEqual(await resting(), []);
  });

  test('QTE-01: after a fill what is sent is what rests', async () => {
    await put({ bids: [[190_000, 1_000]] });
    assert.equal((await taker.create({ side: 'Sell', price: 190_000, quantity: 400 })).status, 200);
    await put({ bids: [[190_000, 1_000]] });
    const [order] = await open();
    const filled = Number(order?.confirmed_filled_quantity) + Number(order?.pending_filled_quantity);
    assert.ok(Math.abs(Number(order?.quantity) - filled - 0.1) < 1e-9, JSON.stringify(order));
    await put({});
    await node.rest();
  });

  test('QTE-05: an entry that would cross is left out, the others rest', async () => {
    const id = taker.newId();
    assert.equal((await taker.create({ id, side: 'Buy', price: 195_000, quantity: 1_000 })).status, 200);
    const answer = await put({
      asks: [
        [194_000, 1_000],
        [196_000, 1_000],
      ],
    });
    assert.deepEqual(answer.refused, [{ side: 'Sell', price: 194_000, reason: 'PostOnlyWouldCross' }]);
    assert.deepEqual(counts(answer), [1, 0, 0, 0]);
    await put({});
    await taker.cancel(id);
  });

  test('QTE-04: what adds is refused as a whole, what takes away is applied, also while only cancels are', async () => {
    await put({
      bids: [
        [190_000, 1_000],
        [189_900, 1_000],
      ],
    });
    const poor = await put({
      bids: [
        [190_000, 500],
        [180_000, 90_000_000_000],
      ],
    });
    assert.deepEqual([poor.status, poor.reason, ...counts(poor)], ['Rejected', 'InsufficientInventory', 0, 1, 0, 1]);
    await node.operate('PATCH', '/operator/markets/2', { status: 'CancelOnly' });
    const halted = await put({
      bids: [
        [190_000, 400],
        [189_000, 1_000],
      ],
    });
    assert.deepEqual([halted.status, halted.reason, ...counts(halted)], ['Rejected', 'MarketHalted', 0, 1, 0, 0]);
    assert.equal(toldBy(await send({ id: 'other', bids: [[189_000, 1_000]] })), '503 MARKET_HALTED');
    const ended = await put({});
    assert.deepEqual(counts(ended), [0, 0, 0, 1]);
    await node.operate('PATCH', '/operator/markets/2', { status: 'Active' });
    assert.deepEqual(await resting(), []);
  });

  test('QTE-06: entries are cancelled as orders, and neither replaced nor amended', async () => {
    await put({
      bids: [
        [190_000, 1_000],
        [189_900, 1_000],
      ],
    });
    const [a, b] = await open();
    assert.ok(a !== undefined && b !== undefined);
    assert.equal(toldBy(await maker.replace({ id: a.order_id, price: 189_000 })), '409 QUOTE_ENTRY');
    assert.equal((await maker.cancel(a.order_id)).status, 200);
    assert.equal((await maker.send('DELETE', '/orders/cancel-all', '')).status, 202);
    await node.rest();
    assert.deepEqual(await resting(), []);
  });

  test('QTE-09: a cancel of all raises the mark: an older revision is refused and changes nothing', async () => {
    const revision = maker.nowNs();
    await put({ bids: [[190_000, 1_000]] });
    assert.equal((await maker.send('DELETE', '/orders/cancel-all', '')).status, 202);
    await node.rest();
    const late = await send({ bids: [[190_000, 1_000]], revision });
    assert.equal(toldBy(late), '400 REQUEST_TOO_OLD');
    assert.equal(errorOf(late).details?.['field'], 'revision');
    assert.deepEqual(await resting(), []);
  });

  for (const [what, path] of [
    ['all', ''],
    ['the set', '?quote_set_id=mm'],
  ] as const)
    test(`QTE-09: a cancel of ${what} raises the mark of a set of which nothing rests any more`, async () => {
      await put({ bids: [[190_000, 1_000]] });
      assert.equal((await taker.create({ side: 'Sell', price: 190_000, quantity: 1_000 })).status, 200);
      await node.rest();
      assert.deepEqual(await resting(), []);
      const revision = maker.nowNs();
      await node.advance(1_000_000n);
      assert.equal((await maker.send('DELETE', `/orders/cancel-all${path}`, '')).status, 202);
      await node.rest();
      assert.equal(toldBy(await send({ bids: [[190_000, 1_000]], revision })), '400 REQUEST_TOO_OLD');
      assert.deepEqual(await resting(), []);
    });

  test('QTE-09: a cancel of a part of a set keeps every older revision from putting back what it took', async () => {
    const quotes = { bids: [[190_000, 1_000]], asks: [[210_000, 1_000]] } as const;
    await put(quotes);
    const revision = maker.nowNs();
    await node.advance(1_000_000n);
    assert.equal((await maker.send('DELETE', '/orders/cancel-all?quote_set_id=mm&side=Buy', '')).status, 202);
    await node.rest();
    assert.deepEqual(await resting(), ['2100 0.1']);
    assert.equal(toldBy(await send({ ...quotes, revision })), '400 REQUEST_TOO_OLD');
    assert.deepEqual(counts(await put(quotes)), [1, 0, 1, 0]);
    await put({});
  });

  test('QTE-09: a cancel of all keeps older revisions of a name that was never seen from resting', async () => {
    for (const [id, query] of [
      ['n1', ''],
      ['n2', '?quote_set_id=n2'],
      ['n3', '?quote_set_id=n3&side=Sell'],
    ] as const) {
      const revision = maker.nowNs();
      await node.advance(1_000_000n);
      assert.equal((await maker.send('DELETE', `/orders/cancel-all${query}`, '')).status, 202);
      assert.equal(toldBy(await send({ id, bids: [[190_000, 1_000]], revision })), '400 REQUEST_TOO_OLD', id);
    }
    assert.deepEqual(await resting(), []);
  });

  test('UNS-01, QTE-09: a first revision of the same connection that is being verified goes with the cancel that overtook it', async () => {
    const control = await maker.stream('/control');
    // Ahead of the clock of the node, so that no mark of its time would keep it.
    const revision = maker.nowNs() + 2_000_000_000n;
    const set = `{"QuoteSetRequest":${bodyOf(maker, { id: 'n4', bids: [[190_000, 1_000]], revision })}}`;
    control.sendAtOnce([set, '{"CancelAllRequest":{"asset_id":"2"}}']);
    const frames = [await control.frame(), await control.frame()].join();
    assert.match(frames, /CancelAllResponse.*accepted/);
    assert.match(frames, /"status":"Rejected","reason":"RequestTooOld"/);
    await node.rest();
    assert.deepEqual(await resting(), []);
    control.socket.terminate();
  });

  test('QTE-10: sets in a row on one connection that end and return cost what one by one they cost', async () => {
    const limits = { units_per_second: 1, capacity: 1_000 };
    await node.operate('PUT', '/operator/rate-limits', { default: limits, market_maker: limits, global: limits });
    const level = async (): Promise<number> =>
      Number((await node.operate('GET', `/operator/rate-limits/${maker.id}`))['user_units']);
    const bids = Array.from({ length: 50 }, (_, at): readonly [number, number] => [180_000 - at, 100]);
    await put({ bids });
    const before = await level();
    const control = await maker.stream('/control');
    const sets = Array.from({ length: 8 }, (_, at) => bodyOf(maker, at % 2 === 0 ? {} : { bids }));
    for (const body of sets) control.socket.send(`{"QuoteSetRequest":${body}}`);
    const created: number[] = [];
    for (const _ of sets) {
      const frame = JSON.parse(await control.frame()) as { QuoteSetResponse: { response: QuoteAnswer } };
      created.push(frame.QuoteSetResponse.response.created);
    }
    assert.deepEqual(created, [0, 50, 0, 50, 0, 50, 0, 50]);
    // Four that end cost 2 each, four of 50 entries 2 and 5.
    assert.equal(before - (await level()), 36);
    const lifted = { units_per_second: 1_000_000_000 };
    await node.operate('PUT', '/operator/rate-limits', { default: lifted, market_maker: lifted, global: lifted });
    await put({});
  });

  test('UNS-03: with timing every hop of a set has its time, that of its market too, also of one that only takes away', async () => {
    const control = await maker.stream('/control?timing=true');
    for (const words of [{ bids: [[180_000, 1_000]] }, { bids: [[180_000, 500]] }, {}] as Words[]) {
      control.socket.send(`{"QuoteSetRequest":${bodyOf(maker, words)}}`);
      const frame = await control.frame();
      const times = /"timing":\{([^}]*)\}/.exec(frame)?.[1] ?? '';
      const hops = times.split(',').map((each) => BigInt(each.split(':')[1] ?? 0));
      assert.equal(hops.length, 5, frame);
      assert.deepEqual(
        [...hops],
        [...hops].sort((a, b) => (a < b ? -1 : 1)),
        'in their order',
      );
    }
    control.socket.terminate();
  });

  test('QTE-09: a set is of the connection whose revision is in force, and ends with it', async () => {
    const tied = async (words: Words): Promise<() => Promise<void>> => {
      const control = await maker.stream('/control?cancel_on_disconnect=true');
      control.socket.send(`{"QuoteSetRequest":${bodyOf(maker, words)}}`);
      assert.match(await control.frame(), /"status":"Received"/);
      return async () => {
        control.socket.terminate();
        await control.closed;
        await node.rest();
      };
    };
    const revised = await tied({ bids: [[180_000, 1_000]] });
    await put({ bids: [[180_000, 2_000]] });
    await revised();
    assert.deepEqual(await resting(), ['1800 0.2'], 'REST has revised it since');
    const lost = await tied({ bids: [[180_000, 3_000]] });
    await lost();
    await eventually(async () => (await resting()).length === 0);
    assert.equal(
      toldBy(await send({ bids: [[180_000, 1_000]], revision: maker.nowNs() - 1_000_000_000n })),
      '400 REQUEST_TOO_OLD',
    );
  });

  test('QTE-09: of hundreds of sets at once the newest is applied, older ones are superseded, and each is answered once', async () => {
    const control = await maker.stream('/control');
    const count = 400;
    const lots = (at: number): Quotes => [[180_000 + at, 1_000]];
    const revisions = Array.from({ length: count }, () => maker.nowNs());
    const bodies = revisions.map((revision, at) => bodyOf(maker, { id: 'many', bids: lots(at), revision }));
    control.sendAtOnce(bodies.map((body) => `{"QuoteSetRequest":${body}}`));
    const answers: (QuoteAnswer & { readonly at: number })[] = [];
    while (answers.length < count) {
      const frame = await control.frame();
      const { response } = (JSON.parse(frame) as { QuoteSetResponse: { response: QuoteAnswer } }).QuoteSetResponse;
      answers.push({ ...response, at: revisions.indexOf(BigInt(/"revision":(\d+)/.exec(frame)?.[1] ?? 0)) });
    }
    await node.rest();
    assert.equal(new Set(answers.map(({ at }) => at)).size, count, 'each once');
    const superseded = answers.filter((answer) => answer.superseded);
    const applied = answers
      .filter(({ status, superseded: isSkipped }) => status === 'Received' && !isSkipped)
      .map(({ at }) => at);
    assert.ok(superseded.length > 0, `${applied.length} applied of ${count}`);
    assert.ok(superseded.every((answer) => answer.status === 'Received' && answer.created + answer.cancelled === 0));
    const newest = Math.max(...applied);
    assert.ok(
      superseded.every(({ at }) => at < newest),
      'for a newer one',
    );
    assert.deepEqual(
      [...applied],
      [...applied].sort((a, b) => a - b),
      'in order',
    );
    assert.deepEqual(await resting(), [`${(180_000 + newest) / 100} 0.1`]);
    const others = answers.filter(({ status }) => status !== 'Received').map(({ reason }) => reason);
    assert.deepEqual(
      others.filter((reason) => reason !== 'ServiceUnavailable'),
      [],
    );
    await put({ id: 'many' });
    control.socket.terminate();
  });

  test('QTE-10: five sets are one too many', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await put({ id, bids: [[180_000, 1_000]] });
    assert.equal(toldBy(await send({ id: 'e', bids: [[180_000, 1_000]] })), '409 TOO_MANY_QUOTES');
    for (const id of ['a', 'b', 'c', 'd']) await put({ id });
  });

  test('QTE-06: a name takes the place of a set that was filled, which ends, durably, and loses no mark', async () => {
    const reader = await maker.stream('/orders?quotes=sets', ['svc.ws.v1']);
    const old = maker.nowNs();
    for (const id of ['a', 'b', 'c', 'd']) await put({ id, bids: [[190_000, 1_000]] });
    assert.equal((await taker.create({ side: 'Sell', price: 190_000, quantity: 1_000 })).status, 200);
    await node.rest();
    const answer = await put({ id: 'e', bids: [[180_000, 1_000]] });
    assert.deepEqual([answer.status, answer.created], ['Received', 1]);
    let end = '';
    while (!end.includes('QuoteSetEnded')) end = await reader.frame();
    assert.match(end, /"set_id":"a".*"reason":"UserRequested"/);
    assert.equal(toldBy(await send({ id: 'f', bids: [[180_000, 1_000]] })), '409 TOO_MANY_QUOTES');
    await node.restart('SIGKILL');
    await maker.login();
    await taker.login();
    await node.rest();
    await put({ id: 'e' });
    assert.equal(toldBy(await send({ id: 'a', bids: [[190_000, 1_000]], revision: old })), '400 REQUEST_TOO_OLD');
    assert.equal((await put({ id: 'a', bids: [[190_000, 1_000]] })).created, 1, 'the same name again');
    for (const id of ['a', 'b', 'c', 'd']) await put({ id });
    await node.rest();
    assert.deepEqual(await resting(), []);
  });

  test('QTE-08: after kill -9 between a set and its fill what was durable rests, in its place, and the ledger adds up', async () => {
    await put({
      bids: [
        [190_000, 1_000],
        [189_900, 2_000],
      ],
      asks: [[210_000, 500]],
    });
    await node.rest();
    assert.equal((await taker.create({ side: 'Sell', price: 190_000, quantity: 400 })).status, 200);
    await node.restart('SIGKILL');
    await maker.login();
    await taker.login();
    await node.rest();
    const orders = await open();
    assert.ok(
      orders.every(({ quote_set_id }) => quote_set_id === 'mm'),
      JSON.stringify(orders),
    );
    assert.equal(orders.length, 3);
    const answer = await put({ bids: [[190_000, 1_000]] });
    assert.equal(answer.status, 'Received');
    assert.equal(answer.cancelled, 2);
    await put({});
    await node.rest();
    await node.ledgerAddsUp();
  });

  test('QTE-09: /orders gives a set as a whole to who asks for it, and its entries to the others', async () => {
    const whole = await maker.stream('/orders?quotes=sets', ['svc.ws.v1']);
    const plain = await maker.stream('/orders');
    await put({ bids: [[190_000, 1_000]] });
    await put({});
    await node.rest();
    await maker.caughtUp();
    const all = async (reader: typeof plain): Promise<string> => {
      const frames: string[] = [];
      while (reader.unread > 0) frames.push(await reader.frame());
      return frames.join('\n');
    };
    const sets = await all(whole);
    const entries = await all(plain);
    assert.match(sets, /"QuoteSetApplied":\{"set_id":"mm".*"created":1,"changed":0,"cancelled":0/);
    assert.match(sets, /"QuoteSetEnded"/);
    assert.doesNotMatch(sets, /"Created"|"Canceled"/);
    assert.match(entries, /"Created":\{"user_order":\{"signer".*"order_id":"mm:\d+"/);
    assert.match(entries, /"Canceled"/);
    assert.doesNotMatch(entries, /QuoteSet/);
  });

  test('PRV-01, QTE-09: the private socket has entries as orders, as /orders has, and no form with sets as wholes', async () => {
    const feed = await maker.stream('/user/ws');
    feed.socket.send('{"type":"subscribe","channels":[{"name":"orders"}]}');
    const frames: string[] = [];
    while (!frames.some((frame) => frame.includes('"snapshot"'))) frames.push(await feed.frame());
    await put({ bids: [[190_000, 1_000]] });
    await put({});
    while (!frames.some((frame) => frame.includes('"Canceled"'))) frames.push(await feed.frame());
    const updates = frames.filter((frame) => frame.startsWith('{"type":"update"')).join('\n');
    assert.match(updates, /"Created":\{"user_order":\{"signer".*"order_id":"mm:\d+"/);
    assert.match(updates, /"Canceled":\{.*"mm:\d+"/);
    assert.doesNotMatch(updates, /QuoteSet/);
    const refused = await askUpgrade(node.ports.oms, '/user/ws?quotes=sets', maker.headers);
    assert.equal(refused.status, 400, 'a member that it does not have');
  });

  for (const by of ['/control', 'REST']) {
    test(`UNS-02, QTE-09: a cancel of all of one set over ${by} cancels its entries alone, and raises its mark alone, durably`, async () => {
      const kept = maker.newId();
      assert.equal((await maker.create({ id: kept, side: 'Buy', price: 187_000, quantity: 1_000 })).status, 200);
      await put({
        id: 'a',
        bids: [
          [190_000, 1_000],
          [189_900, 1_000],
        ],
      });
      await put({ id: 'b', bids: [[188_000, 1_000]] });
      const revision = maker.nowNs();
      await node.advance(1_000_000n);
      if (by === 'REST') {
        assert.equal((await maker.send('DELETE', '/orders/cancel-all?quote_set_id=a', '')).status, 202);
      } else {
        const control = await maker.stream('/control');
        control.socket.send('{"CancelAllRequest":{"quote_set_id":"a","asset_id":"2"}}');
        assert.match(await control.frame(), /"CancelAllResponse".*accepted/);
        control.socket.terminate();
      }
      await node.rest();
      assert.deepEqual((await open()).map(({ order_id }) => order_id.split(':')[0]).sort(), [kept, 'b'].sort());
      const late = { id: 'a', bids: [[190_000, 1_000]], revision } as const;
      assert.equal(toldBy(await send(late)), '400 REQUEST_TOO_OLD');
      await node.restart('SIGKILL');
      await maker.login();
      await taker.login();
      await node.rest();
      assert.equal(toldBy(await send(late)), '400 REQUEST_TOO_OLD', 'the mark is durable');
      const other = await put({ id: 'b', bids: [[188_100, 1_000]], revision });
      assert.deepEqual(counts(other), [1, 0, 0, 1], 'the mark of another set stays where it was');
      await put({ id: 'b' });
      await maker.cancel(kept);
      await node.rest();
      assert.deepEqual(await resting(), []);
    });
  }
});
