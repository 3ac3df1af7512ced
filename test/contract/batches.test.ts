// tier: quick, 4 s
/** Batches over REST (wire.md 7.7, 7.8; BAT, CAN). */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

suite('batches', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());
  beforeEach(async () => {
    await alice.send('DELETE', '/orders/cancel-all');
    await node.rest();
  });

  const createAll = (bodies: readonly string[]): Promise<HttpAnswer> =>
    alice.post('/orders/batch-create', `{"orders":[${bodies}]}`);
  const replaceAll = (bodies: readonly string[]): Promise<HttpAnswer> =>
    alice.send('PATCH', '/orders/batch-replace', `{"requests":[${bodies}]}`);
  const resultsText = (items: readonly (readonly [string, string | null])[]): string => {
    const shown = items.map(([id, reason]) =>
      reason === null
        ? `{"order_id":"${id}","status":"Received","reason":null}`
        : `{"order_id":"${id}","status":"Rejected","reason":"${reason}"}`,
    );
    return `{"results":[${shown}]}`;
  };
  const openIds = async (): Promise<Set<string>> => {
    const orders = (await alice.read(`/orders/user/${alice.id}/2?open_only=true&limit=1000`)) as { order_id: string }[];
    return new Set(orders.map(({ order_id }) => order_id));
  };
  const depthSequence = async (asset: string): Promise<number> =>
    (JSON.parse((await alice.market(`/marketdepth/${asset}`)).text) as { sequence_number: number }).sequence_number;

  test('fifty orders are taken, each with its status, in the order sent (BAT-01, BAT-02)', async () => {
    const ids = Array.from({ length: 50 }, () => alice.newId());
    const answer = await createAll(ids.map((id, index) => alice.createBody({ id, price: 300_000 + index })));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.text, resultsText(ids.map((id) => [id, null])));
    assert.deepEqual(await openIds(), new Set(ids));
  });

  test('fifty-one, none, and what is no list are refused whole and change nothing (BAT-01, BAT-08, ERR-02)', async () => {
    const many = Array.from({ length: 51 }, () => alice.createBody());
    assert.equal(toldBy(await createAll(many)), '400 INVALID_REQUEST');
    const ids = Array.from({ length: 51 }, (_, index) => `none-${index}`);
    assert.equal(
      toldBy(await replaceAll(ids.map((id) => alice.replaceBody({ id, price: 1_000 })))),
      '400 INVALID_REQUEST',
    );
    for (const body of ['{"orders":[]}', '{"orders":null}', '{"orders":{}}', '{}', '', '[', '7', '{"orders":[1]}']) {
      assert.equal(toldBy(await alice.post('/orders/batch-create', body)), '400 INVALID_REQUEST', body);
      const replaces = body.replace('orders', 'requests');
      assert.equal(
        toldBy(await alice.send('PATCH', '/orders/batch-replace', replaces)),
        '400 INVALID_REQUEST',
        replaces,
      );
    }
    assert.equal((await openIds()).size, 0);
  });

  test('a broken shape anywhere is 400 for the whole body, before the session is looked at (AUT-04, wire.md 7.7)', async () => {
    const bodies = [alice.createBody(), alice.createBody().replace('"side":"Sell"', '"side":"sell"')];
    assert.equal(toldBy(await createAll(bodies)), '400 INVALID_REQUEST');
    assert.equal(toldBy(await alice.post('/orders/batch-create', `{"orders":[${bodies}]}`, {})), '400 INVALID_REQUEST');
    const good = `{"orders":[${alice.createBody()}]}`;
    assert.equal(toldBy(await alice.post('/orders/batch-create', good, {})), '401 UNAUTHORIZED');
    const replace = `{"requests":[${alice.replaceBody({ id: 'x', price: 1 })}]}`;
    assert.equal(toldBy(await alice.send('PATCH', '/orders/batch-replace', replace, {})), '401 UNAUTHORIZED');
    assert.equal((await openIds()).size, 0);
  });

  test('a bad item fails alone, with its word (BAT-03, BAT-06, BAT-10, ERR-11)', async () => {
    const ids = Array.from({ length: 7 }, () => alice.newId());
    const [good = '', poor = '', off = '', gone = '', forged = '', foreign = '', last = ''] = ids;
    const answer = await createAll([
      alice.createBody({ id: good }),
      alice.createBody({ id: poor, quantity: 999_999_999 }),
      alice.createBody({ id: off, quantity: 1 }),
      alice.createBody({ id: gone, asset: '77' }),
      alice.createBody({ id: forged }).replace(/"signature":\[\d+/, '"signature":[1'),
      alice.createBody({ id: good }),
      bob.createBody({ id: foreign }),
      alice.createBody({ id: last }),
    ]);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(
      answer.text,
      resultsText([
        [good, null],
        [poor, 'InsufficientInventory'],
        [off, 'InvalidOrder'],
        [gone, 'MarketNotFound'],
        [forged, 'InvalidSignature'],
        [good, 'DuplicateOrder'],
        [foreign, 'SignerMismatch'],
        [last, null],
      ]),
    );
    assert.deepEqual(await openIds(), new Set([good, last]));
  });

  test('two hundred even if every item fails (wire.md 7.7)', async () => {
    const ids = [alice.newId(), alice.newId()];
    const answer = await createAll(ids.map((id) => alice.createBody({ id, quantity: 999_999_999 })));
    assert.equal(answer.status, 200);
    assert.equal(answer.text, resultsText(ids.map((id) => [id, 'InsufficientInventory'])));
  });

  test('replaces of two markets are answered in the order sent, each checked as a single one (BAT-04, BAT-05, BAT-06)', async () => {
    const eth = [alice.newId(), alice.newId()];
    const btc = [alice.newId(), alice.newId()];
    for (const id of eth) assert.equal((await alice.create({ id })).status, 200);
    for (const id of btc) assert.equal((await alice.create({ id, asset: '1', price: 600_000 })).status, 200);
    const answer = await replaceAll([
      alice.replaceBody({ id: eth[0] ?? '', price: 301_000 }),
      alice.replaceBody({ id: btc[0] ?? '', asset: '1', price: 610_000 }),
      alice.replaceBody({ id: 'unknown', price: 301_000 }),
      alice.replaceBody({ id: btc[1] ?? '', asset: '1', quantity: 999_999_999 }),
      alice.replaceBody({ id: eth[1] ?? '', price: 302_000 }),
    ]);
    assert.equal(
      answer.text,
      resultsText([
        [eth[0] ?? '', null],
        [btc[0] ?? '', null],
        ['unknown', 'OrderNotFound'],
        [btc[1] ?? '', 'InsufficientInventory'],
        [eth[1] ?? '', null],
      ]),
    );
    const record = (await alice.read(`/orders/user/${alice.id}/1/${btc[0]}`)) as { limit_price: string };
    assert.equal(record.limit_price, '61000');
  });

  test('an id named twice refuses the whole batch of replaces, across markets too (BAT-09)', async () => {
    const id = alice.newId();
    for (const asset of ['1', '2']) assert.equal((await alice.create({ id, asset, price: 600_000 })).status, 200);
    const sequence = await depthSequence('2');
    for (const asset of ['1', '2']) {
      const twice = [alice.replaceBody({ id, price: 601_000 }), alice.replaceBody({ id, asset, price: 602_000 })];
      assert.equal(toldBy(await replaceAll(twice)), '400 INVALID_REQUEST');
    }
    assert.equal(await depthSequence('2'), sequence, 'nothing changed');
  });

  test('one message a market: depth takes one step for each (BAT-07)', async () => {
    const [eth, btc] = [await depthSequence('2'), await depthSequence('1')];
    const bodies = Array.from({ length: 20 }, (_, index) =>
      alice.createBody({ asset: index % 2 === 0 ? '2' : '1', price: 600_000 + 10 * index }),
    );
    assert.equal((await createAll(bodies)).status, 200);
    await node.rest();
    assert.deepEqual([await depthSequence('2'), await depthSequence('1')], [eth + 1, btc + 1]);
  });

  test('aliases: `orders`, `replaces` and a bare array name the replaces too (wire.md G5)', async () => {
    for (const form of ['{"orders":[X]}', '{"replaces":[X]}', '[X]']) {
      const id = alice.newId();
      assert.equal((await alice.create({ id })).status, 200);
      const body = form.replace('X', alice.replaceBody({ id, price: 303_000 }));
      const answer = await alice.send('PATCH', '/orders/batch-replace', body);
      assert.equal(answer.text, resultsText([[id, null]]), form);
    }
  });
});

suite('cancels of many', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  const accepted = async (path: string, body = ''): Promise<void> => {
    const answer = await alice.send('DELETE', path, body);
    assert.deepEqual([answer.status, answer.text], [202, '{"status":"accepted"}'], path);
    await node.rest();
  };
  const statusOf = async (id: string, asset = '2'): Promise<string> =>
    ((await alice.read(`/orders/user/${alice.id}/${asset}/${id}`)) as { status: string }).status;

  test('all, of one market, or before a time (CAN-05 to CAN-08, CAN-11)', async () => {
    const [eth, btc] = [alice.newId(), alice.newId()];
    assert.equal((await alice.create({ id: eth })).status, 200);
    assert.equal((await alice.create({ id: btc, asset: '1', price: 600_000 })).status, 200);
    await accepted('/orders/cancel-all/1');
    assert.deepEqual([await statusOf(eth), await statusOf(btc, '1')], ['Open', 'Canceled']);
    await node.advance(1_000n);
    const younger = alice.newId();
    assert.equal((await alice.create({ id: younger })).status, 200);
    const record = (await alice.get(`/orders/user/${alice.id}/2/${younger}`)).text;
    const acceptedNs = /"timestamp_ns":(\d+)/.exec(record)?.[1] ?? '';
    await accepted(`/orders/cancel-all?max_ts=${acceptedNs}`);
    assert.deepEqual([await statusOf(eth), await statusOf(younger)], ['Canceled', 'Open']);
    await accepted('/orders/cancel-all');
    assert.equal(await statusOf(younger), 'Canceled');
    for (const maxTs of ['-1', '1.5', 'x', '']) {
      const answer = await alice.send('DELETE', `/orders/cancel-all?max_ts=${maxTs}`);
      assert.equal(toldBy(answer), '400 INVALID_REQUEST', maxTs);
    }
    assert.equal(toldBy(await alice.send('DELETE', '/orders/cancel-all/77')), '404 MARKET_NOT_FOUND');
  });

  test('by ids: foreign and unknown ones are ignored, each own one is reported (CAN-09, CAN-10, CAN-12)', async () => {
    const stream = await alice.stream('/orders');
    const [first, second] = [alice.newId(), alice.newId()];
    const foreign = bob.newId();
    for (const id of [first, second]) assert.equal((await alice.create({ id })).status, 200);
    assert.equal((await bob.create({ id: foreign })).status, 200);
    await accepted('/orders/cancel-batch', JSON.stringify({ order_ids: [first, foreign, 'unknown', second, first] }));
    const frames = [await stream.frame(), await stream.frame(), await stream.frame(), await stream.frame()];
    const canceled = frames.filter((frame) => frame.startsWith('{"Canceled"'));
    assert.equal(canceled.length, 2);
    for (const frame of canceled) assert.match(frame, /"reason":"UserRequested"/);
    const theirs = (await bob.read(`/orders/user/${bob.id}/2/${foreign}`)) as { status: string };
    assert.equal(theirs.status, 'Open');
    stream.socket.terminate();
  });

  test('1 to 50 ids (wire.md 7.8)', async () => {
    for (const ids of [[], Array.from({ length: 51 }, (_, index) => `id-${index}`)]) {
      const answer = await alice.send('DELETE', '/orders/cancel-batch', JSON.stringify({ order_ids: ids }));
      assert.equal(toldBy(answer), '400 INVALID_REQUEST');
    }
  });

  test('a second cancel is 409, of a filled order too; an unknown one 404 (CAN-03, CAN-04)', async () => {
    const id = alice.newId();
    assert.equal((await alice.create({ id })).status, 200);
    assert.equal((await alice.cancel(id)).status, 200);
    const again = await alice.cancel(id);
    assert.equal(toldBy(again), '409 ALREADY_CANCELLED');
    assert.equal(errorOf(again).details?.['order_id'], id);
    assert.equal(toldBy(await alice.cancel('unknown')), '404 ORDER_NOT_FOUND');
    assert.equal(toldBy(await alice.cancel(id, '1')), '404 ORDER_NOT_FOUND', 'another market');
  });
});
