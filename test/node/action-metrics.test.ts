/** Actions on a whole node, as `/metrics` counts and times them: every kind over REST and `/control`, by result, code and stage. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Family, parseExposition } from '../support/exposition.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '1': '100', '2': '1000' };
type Page = ReadonlyMap<string, Family>;

suite('metrics of actions', () => {
  let world: TestNode;
  let a: Trader;
  let b: Trader;

  before(async () => {
    world = await TestNode.start();
    a = await world.trader(FUNDS);
    b = await world.trader(FUNDS);
  });
  after(() => world.stop());

  async function page(): Promise<Page> {
    await world.rest();
    return parseExposition(await (await fetch(`${world.process.ops}/metrics`)).text());
  }

  function sampleOf(of: Page, sample: string): number {
    const family = sample.replace(/(?:_count|_sum)?\{.*$/, '');
    const samples = (of.get(family) ?? of.get(sample.replace(/\{.*$/, '')))?.samples;
    const value = samples?.get(sample);
    assert.ok(value !== undefined, `${sample} is on the page`);
    return value;
  }

  /** How much each sample has grown through the work. */
  async function growth(samples: readonly string[], work: () => Promise<unknown>): Promise<readonly number[]> {
    const before = await page();
    await work();
    const now = await page();
    return samples.map((sample) => sampleOf(now, sample) - sampleOf(before, sample));
  }

  const counted = (action: string, result: string): string =>
    `ringbook_actions_total{action="${action}",result="${result}"}`;
  const timed = (action: string): string => `ringbook_action_seconds_count{action="${action}"}`;
  const staged = (action: string, stage: string): string =>
    `ringbook_action_stage_seconds_count{action="${action}",stage="${stage}"}`;
  const refused = (code: string): string => `ringbook_refusals_total{code="${code}",service="oms"}`;
  const buy = (id: string, quantity = 100): { readonly id: string; readonly text: string } =>
    a.wrapper('Buy', limit(290_000, quantity), { id });

  test('single actions over REST are counted by result, their refusals by code, and timed as a whole', async () => {
    const kinds = ['create', 'replace', 'cancel'];
    const results = kinds.flatMap((kind) => [counted(kind, 'accepted'), counted(kind, 'rejected'), timed(kind)]);
    const codes = ['INVALID_SIGNATURE', 'ORDER_NOT_FOUND', 'INVALID_REQUEST'].map(refused);
    const grown = await growth([...results, ...codes], async () => {
      assert.equal((await a.buy(limit(290_000, 100), { id: 'm-1' })).word, 'Received');
      assert.equal((await a.buy(limit(290_000, 100), { id: 'm-2', isForged: true })).word, 'INVALID_SIGNATURE');
      assert.equal((await a.replace('m-1', { quantity: 200 })).word, 'Received');
      assert.equal((await a.replace('m-3', { quantity: 200 })).word, 'ORDER_NOT_FOUND');
      assert.equal((await a.cancel('m-1')).word, 'Received');
      assert.equal((await a.cancel('m-3')).word, 'ORDER_NOT_FOUND');
      assert.equal((await a.call('POST', '/orders/create', '{')).status, 400);
    });
    assert.deepEqual(grown, [1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 2, 1]);
  });

  test('an accepted action passes every stage once, at the gateway and in its market', async () => {
    const stages = ['parse', 'verify', 'reserve', 'market', 'reply', 'match'].map((stage) => staged('create', stage));
    const sums = ['parse', 'verify', 'reserve', 'market', 'reply'].map(
      (stage) => `ringbook_action_stage_seconds_sum{action="create",stage="${stage}"}`,
    );
    const whole = 'ringbook_action_seconds_sum{action="create"}';
    const grown = await growth([...stages, ...sums, whole], () => a.buy(limit(290_000, 100), { id: 's-1' }));
    assert.deepEqual(grown.slice(0, 6), [1, 1, 1, 1, 1, 1]);
    const total = grown.at(-1) ?? 0;
    const parts = grown.slice(6, -1).reduce((sum, seconds) => sum + seconds, 0);
    assert.ok(
      total > 0 && Math.abs(total - parts) < 1e-9,
      `stages follow each other without a gap: ${parts} of ${total}`,
    );
  });

  test('of an action that is refused before its market, only the stages that it passed are timed', async () => {
    const stages = ['parse', 'verify', 'reserve', 'market', 'reply'].map((stage) => staged('create', stage));
    const grown = await growth(stages, () => a.buy(limit(290_000, 100), { id: 's-2', isForged: true }));
    assert.deepEqual(grown, [1, 1, 0, 0, 0]);
  });

  test('batches are counted once each, as accepted, partial or rejected, and their orders like single ones', async () => {
    const batch = 'batch-create';
    const samples = ['accepted', 'partial', 'rejected'].map((result) => counted(batch, result));
    const orders = ['accepted', 'rejected'].map((result) => counted('create', result));
    const grown = await growth([...samples, timed(batch), ...orders, refused('INSUFFICIENT_INVENTORY')], async () => {
      await a.batchCreate(buy('b-1'), buy('b-2'));
      await a.batchCreate(buy('b-3'), buy('b-4', 90_000_000));
      await a.batchCreate(buy('b-5', 90_000_000));
    });
    assert.deepEqual(grown, [1, 1, 1, 3, 3, 2, 2]);
    const replaced = await growth([counted('batch-replace', 'accepted'), counted('replace', 'accepted')], () =>
      a.batchReplace(a.replaceWrapper('b-1', { quantity: 300 })),
    );
    assert.deepEqual(replaced, [1, 1]);
  });

  test('mass cancels and the dead-man timer are counted and timed', async () => {
    const kinds = ['cancel-all', 'cancel-batch', 'cancel-all-after'];
    const samples = kinds.flatMap((kind) => [counted(kind, 'accepted'), counted(kind, 'rejected'), timed(kind)]);
    const grown = await growth(samples, async () => {
      assert.match(await a.cancelAll(), /^202 /);
      assert.match(await a.cancelAll('/999'), /^404 /);
      assert.match(await a.cancelBatch({ order_ids: ['b-2'] }), /^(?:202|404) /);
      assert.equal((await a.call('POST', '/orders/cancel-all-after', '{"timeout_ms":0}')).status, 200);
      assert.equal((await a.call('GET', '/orders/cancel-all')).status, 405);
    });
    assert.deepEqual([grown[0], grown[1], grown[2]], [1, 1, 2]);
    assert.equal((grown[3] ?? 0) + (grown[4] ?? 0), 1);
    assert.deepEqual([grown[5], grown[6], grown[7], grown[8]], [1, 1, 0, 1]);
  });

  test('actions over /control count like those over REST, refusals too', async () => {
    const frames: Json[] = [];
    const samples = [
      counted('create', 'accepted'),
      counted('create', 'rejected'),
      counted('batch-create', 'partial'),
      staged('create', 'reply'),
      refused('INVALID_SIGNATURE'),
      refused('INVALID_REQUEST'),
    ];
    const grown = await growth(samples, async () => {
      const control = await a.listen('/control', frames);
      control.send(`{"CreateOrderRequest":${buy('c-1').text}}`);
      const forged = a.wrapper('Buy', limit(290_000, 100), { id: 'c-4', isForged: true });
      control.send(`{"CreateOrderRequest":${forged.text}}`);
      control.send(`{"BatchCreateRequest":{"orders":[${buy('c-2').text},${buy('c-3', 90_000_000).text}]}}`);
      control.send('{');
      while (frames.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
    });
    assert.deepEqual(grown, [2, 2, 1, 1, 1, 1]);
  });

  test('fills, checkpoints, threads, rings and the ledger are on the page of a node that traded', async () => {
    await b.sell(limit(300_000, 1_000), { id: 'f-1' });
    await a.buy(limit(300_000, 1_000), { id: 'f-2' });
    await a.until('f-2', 'Removed Filled');
    const now = await page();
    assert.ok(sampleOf(now, 'ringbook_stage_seconds_count{stage="confirm"}') > 0);
    assert.ok(sampleOf(now, 'ringbook_action_stage_seconds_count{action="create",stage="ring"}') > 0);
    assert.ok(sampleOf(now, 'ringbook_market_events_total{market="2"}') > 0);
    assert.equal(sampleOf(now, 'ringbook_market_pending_trades{market="2"}'), 0);
    assert.equal(sampleOf(now, 'ringbook_ledger_difference{}'), 0);
    assert.equal(sampleOf(now, 'ringbook_verifier_signatures{}'), 0);
    assert.ok(sampleOf(now, 'ringbook_thread_cpu_seconds_total{thread="main"}') > 0);
    assert.ok(sampleOf(now, 'ringbook_event_loop_delay_seconds_count{thread="main"}') > 0);
    assert.ok(sampleOf(now, 'ringbook_ring_capacity_bytes{from="front-door",to="market-0"}') > 0);
    assert.ok(sampleOf(now, 'process_resident_memory_bytes{}') > 0);
    assert.ok(sampleOf(now, 'nodejs_heap_size_used_bytes{}') > 0);
    const [build = ''] = now.get('ringbook_build_info')?.samples.keys() ?? [];
    assert.match(build, /^ringbook_build_info\{commit="[^"]+",node="v\d+[^"]*",profile="test",version="\d[^"]*"\}$/);
  });

  test('reads are counted and timed on both listeners', async () => {
    const samples = ['oms', 'mds'].flatMap((service) => [
      `ringbook_responses_total{code="200",service="${service}"}`,
      `ringbook_response_seconds_count{kind="read",service="${service}"}`,
    ]);
    const grown = await growth(samples, async () => {
      assert.equal((await fetch(`${world.process.oms}/markets`)).status, 200);
      assert.equal((await fetch(`${world.process.mds}/tickers`)).status, 200);
    });
    assert.deepEqual(grown, [1, 1, 1, 1]);
  });
});
