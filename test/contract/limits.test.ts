// tier: quick
/** Budgets as a client meets them (wire.md 5.3, G23; ERR-07, ERR-08, LIM), and what is reserved and not served. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const COSTS = {
  action: 2,
  cancel: 1,
  cancel_all: 50,
  bulk_item: 1.5,
  bulk_minimum: 2,
  history_page: 25,
  public_read: 2,
};
const OPEN = { units_per_second: 1_000_000, capacity: 1_000_000 };

suite('budgets', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  /** Buckets start full with this call. */
  const limit = (units: number, global = OPEN): Promise<unknown> =>
    node.operate('PUT', '/operator/rate-limits', {
      default: { units_per_second: units, capacity: units },
      market_maker: OPEN,
      global,
      costs: COSTS,
    });

  test('an empty bucket is 429, retryable, with its figures and no header about time (ERR-07, ERR-08, LIM-08)', async () => {
    await limit(5);
    assert.equal((await alice.create()).status, 200);
    assert.equal((await alice.create()).status, 200);
    const refused = await alice.create();
    assert.equal(toldBy(refused), '429 RATE_LIMITED');
    assert.equal(errorOf(refused).retryable, true);
    assert.equal(errorOf(refused).details?.['bucket'], 'user');
    for (const name of Object.keys(refused.headers)) assert.doesNotMatch(name, /retry|reset|rate|limit/i);
    assert.equal((await bob.create()).status, 200, 'another user has their own');
  });

  test('a refusal costs nothing and changes nothing, time refills (LIM-01, LIM-07)', async () => {
    await limit(3);
    const id = alice.newId();
    assert.equal((await alice.create()).status, 200);
    const body = alice.createBody({ id });
    for (let turn = 0; turn < 3; turn += 1)
      assert.equal(toldBy(await alice.post('/orders/create', body)), '429 RATE_LIMITED');
    await node.advance(400_000_000n);
    assert.equal((await alice.post('/orders/create', body)).status, 200, 'one unit left and 1.2 more');
  });

  test('each kind has its price (LIM-09 to LIM-11, LIM-13, EX-13)', async () => {
    const cost = async (units: number, action: () => Promise<{ readonly status: number }>): Promise<void> => {
      for (const [capacity, isEnough] of [
        [units, true],
        [units - 1, false],
      ] as const) {
        await limit(Math.max(1, capacity));
        if (capacity === 0) assert.equal((await alice.cancel('none')).status, 404, 'the bucket is emptied');
        assert.equal((await action()).status !== 429, isEnough, `${units} units`);
      }
    };
    await cost(2, () => alice.create());
    await cost(1, () => alice.cancel('none'));
    await cost(50, () => alice.send('DELETE', '/orders/cancel-all'));
    await cost(2, () => alice.send('DELETE', '/orders/cancel-batch', '{"order_ids":["a"]}'));
    await cost(5, () => alice.send('DELETE', '/orders/cancel-batch', '{"order_ids":["a","b","c"]}'));
    await cost(5, () => alice.post('/orders/batch-create', `{"orders":[${[1, 2, 3].map(() => alice.createBody())}]}`));
    await cost(25, () => alice.get(`/trades/user/${alice.id}`));
    await cost(25, () => alice.get(`/orders/user/${alice.id}`));
  });

  test('/control pays what REST pays (CTL-07, LIM-15)', async () => {
    const control = await alice.stream('/control');
    await limit(5);
    const answers: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      control.socket.send(`{"CreateOrderRequest":${alice.createBody()}}`);
      answers.push(
        /"status":"(\w+)","reason":(null|"\w+")/
          .exec(await control.frame())
          ?.slice(1)
          .join(' ') ?? '',
      );
    }
    assert.deepEqual(answers, ['Received null', 'Received null', 'Rejected "RateLimited"']);
    control.socket.terminate();
  });

  test('public reads pay from the global bucket alone, on both services (LIM-02, LIM-06, LIM-14)', async () => {
    await limit(10, { units_per_second: 4, capacity: 4 });
    assert.equal((await alice.market('/marketdepth/2')).status, 200);
    assert.equal((await alice.get('/markets', {})).status, 200);
    for (const answer of [
      await alice.market('/marketdepth/2'),
      await alice.get('/markets', {}),
      await alice.create(),
    ]) {
      assert.equal(toldBy(answer), '429 RATE_LIMITED');
      assert.equal(errorOf(answer).details?.['bucket'], 'global');
    }
    await limit(100);
    assert.equal((await alice.create()).status, 200);
  });

  test('a login costs no budget at either listener, and goes on when it is empty (wire-additions.md 12)', async () => {
    await limit(10, { units_per_second: 4, capacity: 4 });
    for (let asked = 0; asked < 3; asked += 1) {
      assert.equal((await alice.get(`/nonce/${alice.id}`, {})).status, 200);
      assert.equal((await alice.market(`/nonce/${alice.id}`)).status, 200);
    }
    assert.equal((await alice.auth(await alice.nonce())).status, 200);
    assert.equal((await alice.market('/marketdepth/2')).status, 200);
    assert.equal((await alice.get('/markets', {})).status, 200, 'all four units were there');
    assert.equal(toldBy(await alice.get('/markets', {})), '429 RATE_LIMITED');
    assert.equal((await alice.auth(await alice.nonce())).status, 200);
    await limit(100);
  });

  test('funding history is not served; what needs a session on market data are reads of users (LIM-05, LIM-12, PAG-05, AMB-40)', async () => {
    for (const path of ['/funding/2', '/funding-history/2', `/funding/user/${alice.id}`, '/positions-basis/2']) {
      assert.equal(toldBy(await alice.market(path)), '404 NOT_FOUND', path);
      assert.equal(toldBy(await alice.get(path)), '404 NOT_FOUND', path);
    }
    const { paths } = JSON.parse((await alice.market('/api-doc.json')).text) as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    const secured = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).some(({ security }) => (security ?? []).length > 0) ? [path] : [],
    );
    assert.ok(secured.length > 0 && secured.every((path) => path.includes('/user/')), 'those of wire-additions.md 8.3');
  });
});
