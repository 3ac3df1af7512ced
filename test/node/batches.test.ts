// tier: quick, 4 s
/** Batches over the wire, through real threads and clearing, and over a restart (BAT-01 to BAT-10, AMB-26). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { below, limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '1': '100', '2': '1000' };

suite('batches', () => {
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

  const buy = (id: string, price: number, quantity: number, ticket: Ticket = {}): { id: string; text: string } =>
    a.wrapper('Buy', limit(price, quantity), { id, ...ticket });

  test('fifty orders rest, each with its result, in order (BAT-01, BAT-02)', async () => {
    const orders = Array.from({ length: 50 }, (_, index) => buy(`many-${index}`, 290_000 - 100 * index, 100));
    assert.deepEqual(
      await a.batchCreate(...orders),
      orders.map(({ id }) => `${id} Received`),
    );
    await world.rest();
    assert.equal((await world.depth()).bids.length, 50);
    assert.deepEqual(await a.batchCreate(...orders, buy('many-50', 1_000, 100)), ['400 INVALID_REQUEST']);
  });

  test('a failing item fails alone, with its own word (BAT-03, BAT-06, BAT-10, ERR-11)', async () => {
    const told = await a.batchCreate(
      buy('good-1', 290_000, 100),
      buy('too-much', 290_000, 90_000_000),
      buy('forged', 290_000, 100, { isForged: true }),
      buy('good-1', 280_000, 100),
      a.wrapper('Buy', limit(290_000, 0), { id: 'nothing' }),
      buy('nowhere', 290_000, 100, { asset: '2', account: 9 }),
      b.wrapper('Buy', limit(290_000, 100), { id: 'not-mine' }),
      buy('good-2', 280_000, 100),
    );
    assert.deepEqual(told, [
      'good-1 Received',
      'too-much InsufficientInventory',
      'forged InvalidSignature',
      'good-1 DuplicateOrder',
      'nothing InvalidOrder',
      'nowhere InvalidOrder',
      'not-mine SignerMismatch',
      'good-2 Received',
    ]);
    await world.rest();
    assert.deepEqual((await world.depth()).bids, ['2900,0.01', '2800,0.01']);
    assert.deepEqual([await a.status('forged'), await a.status('good-1')], ['ORDER_NOT_FOUND', 'Open']);
  });

  test('what an item holds is not there for the next (AMB-112)', async () => {
    const third = Math.floor(100_000_000_0000 / 300_000 / 3);
    const told = await a.batchCreate(...['h1', 'h2', 'h3', 'h4'].map((id) => buy(id, 300_000, third - 1_000)));
    assert.deepEqual(told, ['h1 Received', 'h2 Received', 'h3 Received', 'h4 InsufficientInventory']);
  });

  test('an item may trade with another user, and a child follows its parent in one batch (TRG-04)', async () => {
    await b.sell(limit(300_000, 10_000), { id: 'maker' });
    const told = await a.batchCreate(
      buy('parent', 300_000, 10_000),
      a.wrapper('Sell', limit(290_000, 10_000), { id: 'child', trigger: below(295_000, 'parent') }),
      a.wrapper('Sell', limit(290_000, 10_000), { id: 'orphan', trigger: below(295_000, 'nobody') }),
    );
    assert.deepEqual(told, ['parent Received', 'child Received', 'orphan OrderNotFound']);
    await a.until('parent', 'Removed Filled');
    await world.rest();
    assert.equal(await a.status('child'), 'Untriggered');
    await world.ledgerAddsUp();
  });

  test('replaces of two markets interleave, each with its result (BAT-04, BAT-05, BAT-09)', async () => {
    await a.batchCreate(buy('r1', 290_000, 100), buy('r2', 280_000, 100));
    await a.batchCreate(a.wrapper('Buy', limit(500_000, 1_000), { id: 'q1', asset: '1' }));
    const told = await a.batchReplace(
      a.replaceWrapper('r1', { price: 291_000 }),
      a.replaceWrapper('q1', { asset: '1', price: 510_000 }),
      a.replaceWrapper('missing', { price: 1_000 }),
      a.replaceWrapper('r2', { quantity: 90_000_000 }),
    );
    assert.deepEqual(told, ['r1 Received', 'q1 Received', 'missing OrderNotFound', 'r2 InsufficientInventory']);
    await world.rest();
    assert.deepEqual((await world.depth()).bids, ['2910,0.01', '2800,0.01']);
    assert.deepEqual((await world.depth('1')).bids, ['51000,0.01']);
    const twice = await a.batchReplace(
      a.replaceWrapper('r1', { price: 1_000 }),
      a.replaceWrapper('r1', { price: 2_000 }),
    );
    assert.deepEqual(twice, ['400 INVALID_REQUEST']);
    await world.rest();
    assert.deepEqual((await world.depth()).bids, ['2910,0.01', '2800,0.01']);
  });

  test('a batch is one step of the depth in each market (BAT-07)', async () => {
    const diffs: { readonly asset: string; readonly frames: Json[] }[] = [];
    for (const asset of ['1', '2']) {
      const frames: Json[] = [];
      await world.listen(`/marketdepth/diff/${asset}`, frames);
      diffs.push({ asset, frames });
    }
    const seen = diffs.map(({ frames }) => frames.length);
    await a.batchCreate(
      ...Array.from({ length: 20 }, (_, index) => buy(`d${index}`, 290_000 - 100 * index, 100)),
      ...Array.from({ length: 20 }, (_, index) =>
        a.wrapper('Buy', limit(500_000 - 100 * index, 1_000), { id: `e${index}`, asset: '1' }),
      ),
    );
    await world.rest();
    for (const [index, { frames }] of diffs.entries()) {
      await eventually(
        () => frames.length > (seen[index] ?? 0),
        () => 'a diff of the depth',
      );
      const told = frames.slice(seen[index]);
      assert.equal(told.length, 1);
      assert.equal((told[0] as { bids?: unknown[] }).bids?.length, 20);
    }
  });

  test('kill and restart: what a batch placed is there as single orders are, and the books are the same', async () => {
    await b.sell(limit(300_000, 5_000), { id: 'k-maker' });
    await a.batchCreate(buy('k1', 300_000, 10_000), buy('k2', 280_000, 100), buy('k3', 270_000, 100));
    await a.batchReplace(a.replaceWrapper('k3', { price: 275_000 }), a.replaceWrapper('k2', { quantity: 200 }));
    await world.rest();
    const before = await world.depth();
    assert.deepEqual(before.bids, ['3000,0.5', '2800,0.02', '2750,0.01']);
    await world.restart('SIGKILL');
    assert.deepEqual(await world.depth(), before);
    assert.deepEqual(await a.batchCreate(buy('k2', 260_000, 100), buy('k4', 260_000, 100)), [
      'k2 DuplicateOrder',
      'k4 Received',
    ]);
    await world.ledgerAddsUp();
  });

  test('on /control singles and batches of one connection keep their order (AMB-92, CTL-06)', async () => {
    for (const protocols of [[], ['svc.ws.v1']]) {
      const frames: Json[] = [];
      const control = await a.listen('/control', frames, protocols);
      const name = `c${protocols.length}`;
      const rounds = 6;
      for (let round = 0; round < rounds; round += 1) {
        const id = `${name}-${round}`;
        control.send(`{"CreateOrderRequest":${buy(id, 250_000, 100).text}}`);
        control.send(`{"BatchReplaceRequest":[${a.replaceWrapper(id, { price: 251_000 })}]}`);
        control.send(`{"ReplaceOrderRequest":${a.replaceWrapper(id, { price: 252_000 })}}`);
        control.send(
          `{"BatchCreateRequest":{"orders":[${buy(`${id}-x`, 249_000, 100).text},${buy(id, 1_000, 100).text}]}}`,
        );
      }
      await eventually(
        () => frames.length === rounds * 7,
        () => `${frames.length} frames`,
      );
      const words = frames
        .map(
          (frame) => (frame['data'] ?? frame) as Record<string, { response?: { order_id: string; reason: unknown } }>,
        )
        .flatMap((frame) =>
          Object.entries(frame).map(([tag, { response }]) => `${tag} ${response?.reason ?? ''}`.trim()),
        );
      const counted = (word: string): number => words.filter((other) => other === word).length;
      assert.deepEqual(
        ['request', 'CreateOrderResponse', 'ReplaceOrderResponse', 'CreateOrderResponse DuplicateOrder'].map(counted),
        [2 * rounds, 2 * rounds, 2 * rounds, rounds],
        String(words),
      );
      await world.rest();
      const bids = (await world.depth()).bids;
      assert.deepEqual(bids, [`2520,0.0${rounds}`, `2490,0.0${rounds}`]);
      await world.clear();
    }
  });
});
