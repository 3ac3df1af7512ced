// tier: full, 6 s
/** Pages over memory and tables of a whole node, over a kill, and how little of a turn they take (QRY-01 to QRY-04, PAG-01 to PAG-03). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { accepted } from '../../src/core/outcome.ts';
import type { PagePlan } from '../../src/gateway/orders/history/pages.ts';
import { PageQueue } from '../../src/gateway/queries/order-queries.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const userOf = (number: number): UserId => `u${number}` as UserId;
const EMPTY = { kind: 'trades', total: 0, rows: [], inTables: [], heldFrom: 0, offset: 0 } as const;

const NO_BASIS = (): never => assert.fail('only pages are read here');

async function nextTurns(count: number): Promise<undefined> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return undefined;
}

suite('page queries', () => {
  const fixture = new PageQueue({ read: async () => accepted(EMPTY), basis: NO_BASIS, ledger: NO_BASIS });
  const planOf = (count: number, made: (row: number) => void): PagePlan<string> => ({
    request: {
      kind: 'trades',
      query: { user: 'u' as never, marketIndex: null, subAccounts: null },
      rank: 0,
      limit: 1,
      held: { marketIndexes: new Int32Array(), tradeIds: new Float64Array(), timesNs: new BigInt64Array() },
    },
    finish: () => ({
      total: count,
      rows: Array.from({ length: count }, (_, row) => () => {
        made(row);
        return `${row}`;
      }),
    }),
    requestAll: () => null,
    release: () => undefined,
  });

  test('pages of users without funds have a part of the capacity, and users with funds the rest', async () => {
    const waiting = new PageQueue({ read: () => new Promise(() => undefined), basis: NO_BASIS, ledger: NO_BASIS });
    let users = 0;
    const request = (isPublic: boolean): Promise<unknown> => {
      users += 1;
      return waiting.page(userOf(users), () => planOf(1, () => undefined), isPublic);
    };
    const refused = (page: Promise<unknown>): Promise<unknown> => Promise.race([page, nextTurns(3)]);
    for (let each = 0; each < 64; each += 1) void request(true);
    assert.equal(((await refused(request(true))) as { ok?: boolean } | undefined)?.ok, false);
    assert.equal(await refused(request(false)), undefined, 'it is taken and waits');
  });

  test('a turn of the event loop has one plan or some rows of one page, however many are requested', async () => {
    let madeThisTurn = 0;
    let most = 0;
    let running = true;
    const turn = (): void => {
      most = Math.max(most, madeThisTurn);
      madeThisTurn = 0;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    const pages = Array.from({ length: 20 }, (_, page) =>
      fixture.page(userOf(page % 4), () => {
        madeThisTurn += 50;
        return planOf(1_000, () => {
          madeThisTurn += 1;
        });
      }),
    );
    for (const page of await Promise.all(pages)) {
      assert.deepEqual(page, {
        ok: true,
        value: { total: 1_000, rows: Array.from({ length: 1_000 }, (_, row) => `${row}`) },
      });
    }
    running = false;
    assert.ok(most <= 100, `${most} rows in one turn`);
  });

  test('too many pages are an answer, and those under way are served', async () => {
    const pages = Array.from({ length: 600 }, (_, at) => fixture.page(userOf(at), () => planOf(1, () => undefined)));
    const done = await Promise.all(pages);
    assert.equal(done.filter((page) => page.ok).length, 512);
    const refused = done.find((page) => !page.ok);
    assert.equal(refused?.ok === false && refused.reject.code, 'SERVICE_UNAVAILABLE');
    assert.ok((await fixture.page(userOf(1), () => planOf(1, () => undefined))).ok, 'and room comes back');
  });

  test("one user's pages hold up another's for one page at most, and take no room that others need", async () => {
    let served = 0;
    const deep = Array.from({ length: 600 }, async () => {
      const page = await fixture.page(userOf(1), () => planOf(1_000, () => undefined));
      served += page.ok ? 1 : 0;
      return page.ok;
    });
    const others = [2, 3].map(async (number) => {
      const page = await fixture.page(userOf(number), () => planOf(1_000, () => undefined));
      return { isServed: page.ok, before: served };
    });
    for (const { isServed, before } of await Promise.all(others)) {
      assert.ok(isServed);
      assert.ok(before <= 2, `${before} pages of the other user came first`);
    }
    const kept = (await Promise.all(deep)).filter((isServed) => isServed).length;
    assert.equal(kept, 64, 'what one user may request for at once');
  });

  test('a page whose tables are ahead of memory is planned again, and then requested with all of memory', async () => {
    const asked: string[] = [];
    const ahead = new PageQueue({
      read: async (request) => {
        asked.push(request.kind);
        return accepted(EMPTY);
      },
      basis: NO_BASIS,
      ledger: NO_BASIS,
    });
    let [plans, answers, released] = [0, 0, 0];
    const release = (): void => {
      released += 1;
    };
    const plan = (most: number) => (): PagePlan<string> => {
      plans += 1;
      const { request } = planOf(0, () => undefined);
      const finish = (): { rows: []; total: number } | null => {
        answers += 1;
        return answers <= most ? null : { rows: [], total: 0 };
      };
      return { request, finish, requestAll: () => request, release };
    };
    assert.ok((await ahead.page(userOf(1), plan(1))).ok);
    assert.deepEqual([plans, asked.length, released], [2, 2, 2]);
    [plans, answers] = [0, 0];
    assert.ok((await ahead.page(userOf(1), plan(3))).ok);
    assert.deepEqual([plans, asked.length, released], [3, 6, 5], 'every plan is released');
  });

  test('a page that fails leaves the queries as they were', async () => {
    await assert.rejects(
      fixture.page(userOf(1), () => {
        throw new Error('no plan');
      }),
      /no plan/,
    );
    assert.ok((await fixture.page(userOf(1), () => planOf(2, () => undefined))).ok);
  });
});

suite('pages of a node', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;

  before(async () => {
    world = await TestNode.start();
    own = await world.trader({ '0': '1000000', '1': '100', '2': '100' }, [0, 1]);
    other = await world.trader({ '0': '1000000', '2': '100' });
  });
  after(() => world.stop());

  interface Row {
    readonly order_id: string;
    readonly trade_id?: number;
    readonly asset_id?: string;
    readonly timestamp_ns: number;
  }
  const pages = async (path: string, name: 'orders' | 'trades', size: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let page = 0; ; page += 1) {
      const join = path.includes('?') ? '&' : '?';
      const { status, text } = await own.call('GET', `${path}${join}page=${page}&limit=${size}`);
      assert.equal(status, 200);
      const body = JSON.parse(text) as Record<string, unknown> & { has_next_page: boolean };
      const rows = body[name] as Row[];
      ids.push(...rows.map((row) => `${row.asset_id ?? ''} ${row.trade_id ?? row.order_id}`));
      if (!body.has_next_page) {
        assert.equal(body[`total_${name}`], ids.length);
        return ids;
      }
    }
  };

  test('finished orders and trades of sub-accounts and markets are paged alike before and after a kill', async () => {
    const ids: Record<string, string[]> = { '0': [], '1': [] };
    for (let round = 0; round < 12; round += 1) {
      const account = round % 2;
      const asset = round % 3 === 0 ? '1' : '2';
      const price = asset === '1' ? 600_000 : 300_000;
      const order = await own.sell(limit(price + 10, 10_000), { account, asset });
      ids[account]?.push(` ${order.id}`);
      await own.cancel(order.id, asset);
      const filled = await own.sell(limit(300_000, 1_000), { account, asset: '2' });
      ids[account]?.push(` ${filled.id}`);
      await other.buy(limit(300_000, 1_000));
    }
    await world.rest();
    const seen = async (): Promise<Record<string, string[]>> => ({
      all: await pages(`/orders/user/${own.userId}`, 'orders', 5),
      zero: await pages(`/orders/user/${own.userId}?sub_account=0`, 'orders', 4),
      one: await pages(`/orders/user/${own.userId}?sub_account=1`, 'orders', 100),
      open: await pages(`/orders/user/${own.userId}?open_only=true`, 'orders', 5),
      trades: await pages(`/trades/user/${own.userId}`, 'trades', 5),
      market: await pages(`/trades/user/${own.userId}/2`, 'trades', 7),
    });
    const before = await seen();
    assert.deepEqual(before['zero'], [...(ids['0'] ?? [])].reverse());
    assert.deepEqual(before['one'], [...(ids['1'] ?? [])].reverse());
    assert.deepEqual([before['all']?.length, before['open']?.length, before['trades']?.length], [24, 0, 12]);
    assert.deepEqual(before['market'], before['trades']);
    await world.restart('SIGKILL');
    assert.deepEqual(await seen(), before);
    await world.restart('SIGTERM');
    assert.deepEqual(await seen(), before);
  });
});
