// tier: full, 3 s
/**
 * Actions and reads on a whole node, as `/metrics` counts and times them: every kind over REST and `/control`, by result, code and
 * stage, and by market.
 */
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

  /** Undefined: the page has no such sample yet. */
  function seen(of: Page, sample: string): number | undefined {
    const family = sample.replace(/(?:_count|_sum)?\{.*$/, '');
    return (of.get(family) ?? of.get(sample.replace(/\{.*$/, '')))?.samples.get(sample);
  }

  function sampleOf(of: Page, sample: string): number {
    return seen(of, sample) ?? assert.fail(`${sample} is on the page`);
  }

  /** Those of a family that have this label. */
  function samplesWith(of: Page, family: string, label: string): readonly string[] {
    return [...(of.get(family)?.samples.keys() ?? assert.fail(family))].filter((sample) => sample.includes(label));
  }

  /** How much each sample has grown through the work. */
  async function growth(samples: readonly string[], work: () => Promise<unknown>): Promise<readonly number[]> {
    const before = await page();
    await work();
    const now = await page();
    return samples.map((sample) => sampleOf(now, sample) - (seen(before, sample) ?? 0));
  }

  /**
   * The growth of the counts of an action's stages, and of its whole time in seconds less the stages that it ends with.
   *
   * @param inTurn those that follow each other until the answer.
   */
  async function stagesOf(
    action: string,
    inTurn: readonly string[],
    work: () => Promise<unknown>,
  ): Promise<{ readonly counts: Readonly<Record<string, number>>; readonly gap: number }> {
    const before = await page();
    await work();
    const now = await page();
    const grown = (sample: string): number => sampleOf(now, sample) - (seen(before, sample) ?? 0);
    const sum = (stage: string): number => grown(staged(action, stage).replace('_count', '_sum'));
    const stages = samplesWith(now, 'ringbook_action_stage_seconds', `_count{action="${action}",`);
    const counts = stages.map((sample) => [/stage="(\w+)"/.exec(sample)?.[1] ?? '', grown(sample)] as const);
    const whole = grown(timed(action).replace('_count', '_sum'));
    assert.ok(whole > 0, `${action} took some time`);
    return { counts: Object.fromEntries(counts), gap: whole - inTurn.reduce((total, stage) => total + sum(stage), 0) };
  }

  const counted = (action: string, result: string): string =>
    `ringbook_actions_total{action="${action}",result="${result}"}`;
  const timed = (action: string): string => `ringbook_action_seconds_count{action="${action}"}`;
  const staged = (action: string, stage: string): string =>
    `ringbook_action_stage_seconds_count{action="${action}",stage="${stage}"}`;
  const IN_TURN = ['parse', 'verify', 'reserve', 'market', 'reply'];
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
      total > 0 && Math.abs(total - parts) < 1e-8,
      `stages follow each other without a gap: ${parts} of ${total}`,
    );
  });

  test('of an action that is refused before its market, only the stages that it passed are timed', async () => {
    const stages = ['parse', 'verify', 'reserve', 'market', 'reply'].map((stage) => staged('create', stage));
    const grown = await growth(stages, () => a.buy(limit(290_000, 100), { id: 's-2', isForged: true }));
    assert.deepEqual(grown, [1, 1, 0, 0, 0]);
  });

  const EACH_ONCE = { parse: 1, verify: 1, reserve: 1, market: 1, reply: 1, ring: 1, match: 1 };

  test('a batch passes every stage once, whatever its length; its orders are matched one by one', async () => {
    const matched = ['create', 'replace'].map((action) => staged(action, 'match'));
    const reserved = staged('create', 'reserve');
    const orders = await growth([...matched, reserved], async () => {
      const created = await stagesOf('batch-create', IN_TURN, () => a.batchCreate(buy('g-1'), buy('g-2'), buy('g-3')));
      assert.deepEqual(created.counts, EACH_ONCE);
      assert.ok(Math.abs(created.gap) < 1e-8, `the stages have a gap of ${created.gap} s`);
      const replaced = await stagesOf('batch-replace', IN_TURN, () =>
        a.batchReplace(a.replaceWrapper('g-1', { quantity: 300 }), a.replaceWrapper('g-2', { quantity: 300 })),
      );
      assert.deepEqual(replaced.counts, EACH_ONCE);
      assert.ok(Math.abs(replaced.gap) < 1e-8, `the stages have a gap of ${replaced.gap} s`);
    });
    assert.deepEqual(orders, [3, 2, 0]);
  });

  test('a batch of two markets is matched in each; one that no order passes ends at its reservation', async () => {
    const both = await stagesOf('batch-create', IN_TURN, () =>
      a.batchCreate(buy('g-4'), a.wrapper('Buy', limit(100_000, 100), { id: 'g-5', asset: '1' })),
    );
    assert.deepEqual(both.counts, { ...EACH_ONCE, ring: 2, match: 2 });
    const none = await stagesOf('batch-create', ['parse', 'verify'], () => a.batchCreate(buy('g-6', 90_000_000)));
    assert.deepEqual(none.counts, { parse: 1, verify: 1, reserve: 0, market: 0, reply: 0, ring: 0, match: 0 });
  });

  test('a batch over /control passes the stages of one over REST', async () => {
    const frames: Json[] = [];
    const { counts, gap } = await stagesOf('batch-create', IN_TURN, async () => {
      const control = await a.listen('/control', frames);
      control.send(`{"BatchCreateRequest":{"orders":[${buy('g-7').text},${buy('g-8').text}]}}`);
      while (frames.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    });
    assert.deepEqual(counts, EACH_ONCE);
    assert.ok(Math.abs(gap) < 1e-8, `the stages have a gap of ${gap} s`);
  });

  test('with durable acks the flush is in the last stage of a batch, and the stages still have no gap', async () => {
    await world.operate('PATCH', '/operator/settings', { acks: 'durable' });
    const { counts, gap } = await stagesOf('batch-create', IN_TURN, () =>
      a.batchCreate(buy('g-9'), a.wrapper('Buy', limit(100_000, 100), { id: 'g-10', asset: '1' })),
    ).finally(() => world.operate('PATCH', '/operator/settings', { acks: 'optimistic' }));
    assert.deepEqual(counts, { ...EACH_ONCE, ring: 2, match: 2 });
    assert.ok(Math.abs(gap) < 1e-8, `the stages have a gap of ${gap} s`);
  });

  test('mass cancels are answered before their markets, whose last answer ends the stage market', async () => {
    const inTurn = ['parse', 'reserve', 'reply'];
    const asked = { order_ids: ['g-1', 'g-2', 'g-3'] };
    const cancels = staged('cancel', 'match');
    const cancelled = await growth([cancels], async () => {
      const some = await stagesOf('cancel-batch', inTurn, () => a.cancelBatch(asked));
      assert.deepEqual(some.counts, { parse: 1, reserve: 1, market: 1, reply: 1 });
      assert.ok(Math.abs(some.gap) < 1e-8, `the stages have a gap of ${some.gap} s`);
    });
    assert.deepEqual(cancelled, [3]);
    const all = await stagesOf('cancel-all', inTurn, () => a.cancelAll());
    assert.deepEqual({ ...all.counts, ring: 0 }, { parse: 1, reserve: 1, market: 1, reply: 1, ring: 0, match: 2 });
    assert.ok(Math.abs(all.gap) < 1e-8, `the stages have a gap of ${all.gap} s`);
    const nothing = await stagesOf('cancel-all', inTurn, () => a.cancelAll());
    assert.deepEqual(nothing.counts, { parse: 1, reserve: 1, market: 0, reply: 1, ring: 0, match: 0 });
    const timer = await stagesOf('cancel-all-after', inTurn, () =>
      a.call('POST', '/orders/cancel-all-after', '{"timeout_ms":0}'),
    );
    assert.deepEqual(timer.counts, { parse: 1, reserve: 1, reply: 1 });
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

  test('actions are counted by the market that they name, orders of batches too; an unknown market is not on the page', async () => {
    const market = (action: string, result: string, asset = '2'): string =>
      `ringbook_market_actions_total{action="${action}",market="${asset}",result="${result}"}`;
    const times = 'ringbook_market_action_seconds_count{market="2"}';
    const before = await page();
    assert.deepEqual(samplesWith(before, 'ringbook_market_actions_total', 'market="3"'), []);
    const kinds = ['create', 'replace', 'cancel'];
    const samples = kinds.flatMap((kind) => [market(kind, 'accepted'), market(kind, 'rejected')]);
    const grown = await growth([...samples, market('cancel-all', 'accepted'), times], async () => {
      await a.buy(limit(290_000, 100), { id: 'k-1' });
      await a.batchCreate(buy('k-2'), buy('k-3', 90_000_000));
      await a.replace('k-1', { quantity: 200 });
      await a.replace('k-9', { quantity: 200 });
      await a.cancel('k-1');
      await a.cancelAll('/2');
      await a.cancelAll('/999');
      await a.cancel('k-1', '999');
    });
    assert.deepEqual(grown, [2, 1, 1, 1, 1, 0, 1, 5]);
    const now = await page();
    const matching = 'ringbook_market_match_seconds_total';
    const spent = sampleOf(now, `${matching}{market="2"}`) - sampleOf(before, `${matching}{market="2"}`);
    assert.ok(spent > 0 && spent < 1, `${spent} s`);
    const others = sampleOf(now, `${matching}{market="1"}`) - sampleOf(before, `${matching}{market="1"}`);
    assert.equal(others, 0);
    assert.deepEqual(samplesWith(now, matching, 'market="3"'), []);
    assert.deepEqual(samplesWith(now, 'ringbook_market_actions_total', 'market="999"'), []);
    assert.deepEqual(samplesWith(now, 'ringbook_market_actions_total', 'market="3"'), []);
    assert.deepEqual(samplesWith(now, 'ringbook_market_actions_total', 'amend'), []);
  });

  test('reads are counted by what they read and by result, and timed, on the listener that answers', async () => {
    const read = (service: string, kind: string, result: string): string =>
      `ringbook_reads_total{read="${kind}",result="${result}",service="${service}"}`;
    const timedRead = (service: string, kind: string): string =>
      `ringbook_read_seconds_count{read="${kind}",service="${service}"}`;
    const samples = [
      ...[read('oms', 'markets', 'accepted'), read('oms', 'orders', 'accepted'), read('oms', 'orders', 'rejected')],
      ...[read('oms', 'user-trades', 'accepted'), read('oms', 'other', 'rejected'), timedRead('oms', 'orders')],
      ...[read('mds', 'book', 'accepted'), read('mds', 'book', 'rejected'), timedRead('mds', 'book')],
    ];
    const { oms, mds } = world.process;
    const grown = await growth(samples, async () => {
      const statuses = [
        await fetch(`${oms}/markets`),
        await fetch(`${oms}/market/2`, { method: 'HEAD' }),
        await a.call('GET', `/orders/user/${a.userId}`),
        await a.call('GET', `/orders/user/${a.userId}?page=x`),
        await a.call('GET', `/trades/user/${a.userId}`),
        await fetch(`${oms}/orders/create`),
        await fetch(`${oms}/nothing`),
        await fetch(`${mds}/market-data/marketdepth/2`),
        await fetch(`${mds}/marketdepth/999`),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [200, 200, 200, 400, 200, 405, 404, 200, 404]);
    });
    assert.deepEqual(grown, [2, 1, 1, 1, 2, 2, 1, 1, 2]);
    assert.deepEqual(samplesWith(await page(), 'ringbook_reads_total', 'read="klines"'), []);
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
