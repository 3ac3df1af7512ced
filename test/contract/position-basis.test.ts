// tier: full, 8 s
/** What positions cost, on a whole node, at both listeners, and again after a restart (wire-additions.md 8.3, 8.4). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { errorOf, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const SPOT: Ticket = { account: 1, isSpot: true };
const PATHS = [
  ['oms', ''],
  ['oms', '/market-data'],
  ['mds', ''],
  ['mds', '/market-data'],
] as const;

suite('what positions cost', () => {
  let node: TestNode;
  let trader: Trader;
  let maker: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await node.oraclePrice('2000');
    trader = await node.trader({ '0': '100000', '2': '50' }, [0, 1]);
    maker = await node.trader({ '0': '100000', '2': '50' }, [0, 1]);
  });
  after(() => node?.stop());

  const at = (
    [port, below]: (typeof PATHS)[number],
    path: string,
    session: Trader | null = trader,
  ): Promise<HttpAnswer> => {
    const headers = session === null ? {} : session.session();
    return ask(node.ports[port], `${below}${path.replace('U', trader.userId)}`, { headers });
  };
  /** The same at each listener and path. */
  async function basis(more = ''): Promise<unknown> {
    const answers: string[] = [];
    for (const place of PATHS) {
      let answer = await at(place, `/positions/user/U/basis${more}`);
      // Tables are read at a low priority: on a busy machine that may take longer than a deadline.
      for (let tries = 1; answer.status === 504 && tries < 10; tries += 1) {
        answer = await at(place, `/positions/user/U/basis${more}`);
      }
      assert.equal(answer.status, 200, answer.text);
      answers.push(answer.text);
    }
    assert.equal(new Set(answers).size, 1, answers.join('\n'));
    return JSON.parse(answers[0] ?? '');
  }
  async function traded(side: 'buy' | 'sell', price: number, lots: number, ticket: Ticket): Promise<void> {
    const other = side === 'buy' ? 'sell' : 'buy';
    const resting = await maker[other](limit(price, lots), ticket);
    assert.equal(resting.word, 'Received');
    const taking = await trader[side](limit(price, lots), ticket);
    assert.equal(taking.word, 'Received');
    await trader.until(taking.id, 'Removed Filled');
    await node.rest();
  }
  const row = (more: object): object => ({ sub_account: 1, asset_id: '2', mark_price: '2000', ...more });
  const long = { domain: 'margin', side: 'long', avg_acquisition_price: null };
  const bought = { domain: 'spot', side: null, entry_price: null };

  test('nothing traded is an empty array; another user, an unknown market and a wrong member are refused', async () => {
    assert.deepEqual(await basis(), []);
    for (const place of PATHS) {
      assert.equal(toldBy(await at(place, '/positions/user/U/basis', null)), '401 UNAUTHORIZED');
      assert.equal(toldBy(await at(place, '/positions/user/U/basis', maker)), '401 UNAUTHORIZED');
      assert.equal(toldBy(await at(place, '/positions/user/U/basis/77')), '404 MARKET_NOT_FOUND');
      for (const [query, field] of [
        ['sub_account=256', 'sub_account'],
        ['sub_account=1&sub_account=2', 'sub_account'],
        ['page=0', 'page'],
      ]) {
        const { code, details } = errorOf(await at(place, `/positions/user/U/basis?${query}`));
        assert.deepEqual([code, details?.['field']], ['INVALID_REQUEST', field]);
      }
    }
  });

  test('a read costs 2 units of the user at either listener (LIM-12)', async () => {
    const units = async (): Promise<number> => {
      const { status, text } = await trader.call('GET', `/limits/${trader.userId}`);
      assert.equal(status, 200, text);
      return Number((JSON.parse(text) as { units: string }).units);
    };
    const before = await units();
    await basis();
    // The read of the limits is 2 units too.
    assert.equal(before - (await units()), 2 * PATHS.length + 2);
  });

  test('basis and names are read from the bucket of tier default, a second one for a market maker (LIM-05, LIM-12)', async () => {
    const [units, many] = [10, 1_000];
    const size = (capacity: number): object => ({ units_per_second: 1, capacity });
    await node.operate('PUT', '/operator/rate-limits', { default: size(units), market_maker: size(many) });
    const read = async (session: Trader, number: number): Promise<string> => {
      const place = PATHS[number % PATHS.length] ?? PATHS[0];
      const path = number % 3 === 0 ? '/sub-accounts/user/' : '/positions/user/';
      const answer = await at(place, `${path}${session.userId}${number % 3 === 0 ? '' : '/basis'}`, session);
      return answer.status === 200 ? '200' : `${toldBy(answer)} ${errorOf(answer).details?.['bucket']}`;
    };
    const reads = async (session: Trader): Promise<number> => {
      let count = 0;
      let last = await read(session, count);
      for (; last === '200'; last = await read(session, count)) count += 1;
      assert.equal(last, '429 RATE_LIMITED user');
      return count;
    };
    const canCancel = async (session: Trader): Promise<boolean> =>
      (await session.call('DELETE', '/orders/cancel-all')).status !== 429;
    const isMarketMaker = (isMaker: boolean): Promise<unknown> =>
      node.operate('PUT', `/operator/users/${maker.userId}`, { is_mm: isMaker });
    try {
      await isMarketMaker(true);
      assert.equal(await reads(trader), units / 2, 'whichever listener and path');
      assert.equal(await canCancel(trader), false, 'one bucket for both');
      assert.equal(await reads(maker), units / 2, 'not the budget of its orders');
      assert.equal(await canCancel(maker), true, 'which is untouched');
    } finally {
      await isMarketMaker(false);
      await node.operate('PUT', '/operator/rate-limits', { default: size(1e9), market_maker: size(1e9) });
    }
  });

  test('margin and spot of one account are told apart by the order, and a restart changes nothing', async () => {
    await traded('buy', 200_000, 10_000, MARGIN);
    await traded('buy', 203_000, 20_000, MARGIN);
    await traded('sell', 210_000, 10_000, MARGIN);
    await traded('buy', 199_000, 5_000, SPOT);
    await node.oraclePrice('2000');
    await node.advance(61_000_000_000n);
    const margin = row({ ...long, quantity: '2', cost: '4040', entry_price: '2020', unrealized_pnl: '-40' });
    const spot = row({ ...bought, quantity: '0.5', cost: '995', avg_acquisition_price: '1990', unrealized_pnl: '5' });
    assert.deepEqual(await basis(), [margin, spot]);
    assert.deepEqual(Object.keys(((await basis('/2')) as object[])[0] ?? {}), [
      ...['sub_account', 'asset_id', 'domain', 'side', 'quantity', 'cost', 'entry_price', 'avg_acquisition_price'],
      ...['mark_price', 'unrealized_pnl'],
    ]);
    assert.deepEqual(await basis('?sub_account=1'), [margin, spot]);
    assert.deepEqual(await basis('?sub_account=0'), []);
    await node.restart();
    assert.deepEqual(await basis(), [margin, spot], 'of the tables alone');
    // Beyond what was bought, and through zero; the tables have the trades before.
    await traded('sell', 200_000, 9_000, SPOT);
    await traded('sell', 202_000, 50_000, MARGIN);
    await node.oraclePrice('2000');
    await node.advance(61_000_000_000n);
    const short = row({
      ...long,
      side: 'short',
      quantity: '3',
      cost: '6060',
      entry_price: '2020',
      unrealized_pnl: '60',
    });
    assert.deepEqual(await basis(), [short]);
    await node.restart();
    assert.deepEqual(await basis(), [short]);
  });
});
