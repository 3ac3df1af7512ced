// tier: full, 3 s
/**
 * The worked example of docs/margin.md on a whole node: an account is sold out on the book, healthy again, taken over, and what is
 * left is closed against a short; with the stream of what is at risk and what operators read beside it (STR-06, AMB-62).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { eventually, PATIENCE_MS } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
/** After it the last trade is no mark. */
const MARK_GONE_NS = 61_000_000_000n;
const SECOND_NS = 1_000_000_000n;

suite('the worked example of liquidation', () => {
  let node: TestNode;
  let owner: Trader;
  let short: Trader;
  let bidder: Trader;
  const atRisk: Json[] = [];
  const enveloped: Json[] = [];

  before(async () => {
    node = await TestNode.start();
    owner = await node.trader({ '0': '300' }, [1]);
    short = await node.trader({ '0': '2000' }, [1]);
    bidder = await node.trader({ '0': '100000' }, [1]);
    await bidder.listen('/liquidation/at_risk/ws', atRisk);
    await bidder.listen('/liquidation/at_risk/ws', enveloped, ['svc.ws.v1']);
    await node.oraclePrice('2000');
    await short.sell(limit(200_000, 10_000), MARGIN);
    await owner.buy(limit(200_000, 10_000, 'IOC'), MARGIN);
    await node.rest();
  });
  after(() => node.stop());

  /** The oracle, when the last trade is no mark any more. */
  async function price(usd: string): Promise<void> {
    await node.advance(MARK_GONE_NS);
    await node.oraclePrice(usd);
  }

  async function figures(): Promise<Json> {
    const { text } = await owner.call('GET', `/margin/user/${owner.userId}?sub_account=1`);
    const { accounts } = JSON.parse(text) as { accounts: Record<string, Json> };
    return accounts['1'] ?? {};
  }

  async function position(): Promise<Json> {
    const { text } = await owner.call('GET', `/positions/${owner.userId}/2`);
    return (JSON.parse(text) as { positions: readonly Json[] }).positions[0] ?? {};
  }

  async function trades(trader: Trader): Promise<readonly Json[]> {
    const { text } = await trader.call('GET', `/trades/user/${trader.userId}`);
    return (JSON.parse(text) as { trades: readonly Json[] }).trades;
  }

  async function listed(): Promise<readonly Json[]> {
    return (await node.operate('GET', '/operator/accounts-at-risk'))['accounts'] as readonly Json[];
  }

  /** What operators read of the account at risk: accounts are counted once a second, in real time. */
  async function untilListed(): Promise<Json> {
    const endMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const [account] = await listed();
      if (account !== undefined) return account;
      assert.ok(performance.now() < endMs, 'an account at risk is listed');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The long side of ETH in the last frame, `null` for a frame without assets. */
  const longAtRisk = (): unknown => {
    const assets = atRisk.at(-1)?.['assets'] as Record<string, { readonly long: Json }> | undefined;
    return assets === undefined ? 'no frame' : (assets['2']?.long ?? null);
  };
  const untilAtRisk = (expected: unknown): Promise<void> =>
    eventually(
      () => JSON.stringify(longAtRisk()) === JSON.stringify(expected),
      () => `${JSON.stringify(atRisk)} — no ${JSON.stringify(expected)}`,
    );

  test('AMB-62, STR-06: the price that liquidates; at risk below a tenth of the requirement, without user ids', async () => {
    const { quote_liabilities: quote, liquidation_price: liquidated } = await position();
    assert.deepEqual([quote, liquidated], ['2000.9', '1889.888888888888888888']);
    await price('1912');
    assert.deepEqual(await listed(), []);
    assert.deepEqual(atRisk, []);
    await price('1911');
    await untilAtRisk({ quantity: '1', liquidation_price: '1889.888888888888888888' });
    const text = JSON.stringify(atRisk);
    assert.ok(![owner, short, bidder].some(({ userId }) => text.includes(userId)));
    const [{ type, channel, data } = {}] = enveloped;
    assert.deepEqual([type, channel, data], ['event', 'at_risk', atRisk[0]]);
    const account = await untilListed();
    assert.deepEqual(
      [account['user_id'], account['maintenance_surplus'], account['maintenance_requirement'], account['liquidation']],
      [owner.userId, '19', '191.1', null],
    );
  });

  test('LIQ-05, LIQ-06: an order of the node sells at the midpoint into the book, flagged, and stops when the account is healthy', async () => {
    await bidder.buy(limit(184_000, 4_000), MARGIN);
    await price('1850');
    assert.equal((await position())['quote_liabilities'], '1265.2312');
    const { maintenance_margin_surplus: surplus, is_liquidatable: isBelow } = await figures();
    assert.deepEqual([surplus, isBelow], ['33.7688', false]);
    const [trade = {}] = await trades(owner);
    assert.match(String(trade['order_id']), /^sys-liq-1-\d+$/);
    assert.deepEqual(
      [trade['price'], trade['quantity'], trade['trading_fee'], trade['is_liquidation'], trade['is_auto_deleverage']],
      ['1840', '0.4', '0.3312', true, false],
    );
    const record = await owner.record(String(trade['order_id']));
    assert.deepEqual(
      [record['limit_price'], record['quantity'], record['is_liquidation'], record['is_reduce_only']],
      ['1757.5', '1', true, true],
    );
    assert.equal((await trades(bidder))[0]?.['is_liquidation'], true, 'the counterparty sees it');
    await untilAtRisk(null);
  });

  test('BKS-01, BKS-02, BKS-03: three rounds into an empty book, then the backstop takes it over with 2 % above its margin', async () => {
    await price('1500');
    for (let round = 2; round <= 3; round += 1) {
      assert.equal(((await untilListed())['liquidation'] as Json)['round'], round - 1);
      await node.advance(SECOND_NS);
      await node.rest();
    }
    const { capital, sub_accounts: rows } = await node.operate('GET', '/operator/backstop');
    assert.equal(capital, '-157.0312');
    const [row = {}] = rows as readonly Json[];
    assert.deepEqual(
      [row['source_user'], row['source_index'], row['state'], row['positions'], row['provisional_collateral']],
      [owner.userId, 1, 'working', { '2': { base: '0.6', quote: '-1265.2312' } }, '157.0312'],
    );
    assert.deepEqual([row['equity'], row['im_requirement'], row['im_surplus']], ['91.8', '90', '1.8']);
    assert.deepEqual(await position(), {}, 'the owner has no position any more');
    assert.equal(await owner.owned('0', 1), '0');
    await untilAtRisk(null);
    await node.ledgerAddsUp();
  });

  test('ADL-01, ADL-05, ADL-07, ADL-09: below its margin the fewest lots are closed against the short, without a fee', async () => {
    await price('1480');
    const [trade = {}] = await trades(short);
    assert.match(String(trade['order_id']), /^sys-adl-/);
    assert.deepEqual(
      [trade['price'], trade['quantity'], trade['is_buyer'], trade['trading_fee'], trade['is_liquidation']],
      ['1480', '0.0714', true, '0', false],
    );
    assert.equal(trade['is_auto_deleverage'], true);
    const [row = {}] = (await node.operate('GET', '/operator/backstop'))['sub_accounts'] as readonly Json[];
    assert.deepEqual(
      [row['im_surplus'], row['im_requirement'], row['adl_closed'], row['posted_collateral']],
      ['1.5672', '78.2328', { '2': '0.0714' }, '0'],
    );
    await node.ledgerAddsUp();
  });

  test('the metrics have counted it, and the log has a line for each', async () => {
    const text = await (await fetch(`${node.process.ops}/metrics`)).text();
    for (const [family, value] of [
      ['ringbook_liquidations_total{event="begun"}', '2'],
      ['ringbook_liquidations_total{event="healthy"}', '1'],
      ['ringbook_liquidations_total{event="taken_over"}', '1'],
      ['ringbook_shortfall_usd_total', '65.2312'],
      ['ringbook_backstop_credited_usd_total', '157.0312'],
      ['ringbook_adl_trades_total', '1'],
    ] as const) {
      assert.ok(
        text.includes(`\n${family} ${value}\n`),
        `${family}: ${text.split('\n').find((line) => line.startsWith(family))}`,
      );
    }
    const lines = node.process.stderr().split('\n');
    for (const [event, member] of [
      ['takenOver', `"shortfall":"65.2312"`],
      ['deleveraged', `"quantity":"0.0714"`],
    ] as const) {
      const found = lines.filter((line) => line.includes(`"event":"${event}"`) && line.includes(member));
      assert.equal(found.length, 1, node.process.stderr());
    }
  });
});
