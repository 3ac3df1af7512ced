// tier: full, 8 s
/**
 * Margin fills that clearing refuses, as users see them, and positions over a kill (FIL-06 to FIL-08, FIL-13 to
 * FIL-15).
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { ask } from '../support/edge-client.ts';
import { TestNode } from '../support/test-node.ts';
import { limit, marketBase } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const MINUTE_NS = 60_000_000_000n;

suite('margin fills that clearing refuses', () => {
  let node: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    maker = await node.trader({ '0': '100000' }, [1]);
    taker = await node.trader({ '0': '1000' }, [1]);
  });
  afterEach(() => node.clear());
  after(() => node.stop());

  const price = (value: string): Promise<void> => node.oraclePrice(value);

  /** A pending fill of 1 at 2000 that the taker bought. */
  async function held(): Promise<{ readonly sold: string; readonly bought: string }> {
    await node.hook({ hold: { asset_id: '2' } });
    const sold = await maker.sell(limit(200_000, 10_000), MARGIN);
    const bought = await taker.buy(limit(200_000, 10_000), MARGIN);
    assert.deepEqual([sold.word, bought.word], ['Received', 'Received']);
    await node.rest();
    assert.deepEqual(taker.fillsOf(bought.id), ['Pending 2000 1']);
    return { sold: sold.id, bought: bought.id };
  }

  async function refused(reason: string, fill: { readonly sold: string; readonly bought: string }): Promise<void> {
    await node.hook({ release: true });
    await taker.until(fill.bought, `Canceled ${reason}`);
    assert.deepEqual(taker.fillsOf(fill.bought), ['Pending 2000 1', `Rollbacked 2000 1 ${reason}`]);
    assert.deepEqual(maker.fillsOf(fill.sold), ['Pending 2000 1', 'Rollbacked 2000 1 CounterpartyAtFault']);
    assert.equal(await maker.status(fill.sold), 'Open');
    await node.ledgerAddsUp();
  }

  test('a price that took the margin away before clearing looked (FIL-06, FIL-14, FIL-15, MRG-11)', async () => {
    await price('2000');
    const fill = await held();
    await price('900');
    await refused('InsufficientMargin', fill);
  });

  test('an oracle that grew stale before clearing looked (FIL-07, CB-01)', async () => {
    await price('2000');
    await node.advance(58n * MINUTE_NS);
    const fill = await held();
    await node.advance(3n * MINUTE_NS);
    await node.hook({ release: true });
    await taker.until(fill.bought, 'Canceled PricingFailure');
    assert.deepEqual(taker.fillsOf(fill.bought), ['Pending 2000 1', 'Rollbacked 2000 1 PricingFailure']);
    assert.deepEqual(maker.fillsOf(fill.sold), ['Pending 2000 1', 'Rollbacked 2000 1 PricingFailure']);
    for (let update = 0; update < 3; update += 1) await price('2000');
  });

  test('a cap that was lowered before clearing looked, on the side that raises it (FIL-08, CAP-07)', async () => {
    await price('2000');
    const fill = await held();
    await node.operate('PATCH', '/operator/risk-parameters/2', { max_total_open_interest_notional: '1' });
    await node.hook({ release: true });
    await taker.until(fill.bought, 'Canceled ProtocolCapBreach');
    assert.match(maker.fillsOf(fill.sold).at(-1) ?? '', / ProtocolCapBreach$/);
    await node.operate('PATCH', '/operator/risk-parameters/2', { max_total_open_interest_notional: null });
  });

  test('positions, their cost and the margin that follows are there after a kill (AMB-110, AMB-142)', async () => {
    await price('2000');
    await maker.sell(limit(200_000, 10_000), MARGIN);
    const bought = await taker.buy(limit(200_000, 10_000), MARGIN);
    await taker.until(bought.id, 'Removed Filled');
    await node.rest();
    const read = async (): Promise<readonly string[]> => {
      const reads = [`/positions/${taker.userId}`, `/margin/user/${taker.userId}`, `/inventory/user/${taker.userId}`];
      return Promise.all(reads.map(async (path) => (await taker.call('GET', path)).text));
    };
    const before = await read();
    assert.match(before[0] ?? '', /"side":"long","size":"1"/);
    await node.restart('SIGKILL');
    assert.deepEqual(await read(), before);
    await node.ledgerAddsUp();
  });
});

suite('a protocol cap that is full', () => {
  let node: TestNode;
  /** What `/api-doc.json` has about a status of a route. */
  const told = async (method: string, path: string, status: number): Promise<string> => {
    const { text } = await ask(node.ports.oms, '/api-doc.json');
    return JSON.parse(text).paths[path][method].responses[status].description as string;
  };

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await node.oraclePrice('2000');
    // 2 units.
    await node.operate('PATCH', '/operator/risk-parameters/2', {
      max_total_open_interest_notional: '4000000000000000000000',
    });
  });
  after(() => node.stop());

  test('takes no order that adds to it, so none is met; what reduces trades (A2, CAP-04, AMB-112)', async () => {
    const [long, short, rich, honest] = [
      await node.trader({ '0': '100000' }, [1]),
      await node.trader({ '0': '100000' }, [1]),
      await node.trader({ '0': '1000000' }, [1]),
      await node.trader({ '0': '100000' }, [1]),
    ] as const;
    const bid = await long.buy(limit(200_000, 20_000), MARGIN);
    await short.sell(limit(200_000, 20_000, 'IOC'), MARGIN);
    await long.until(bid.id, 'Removed Filled');
    await node.rest();
    for (const details of [limit(200_100, 10_000), limit(200_100, 10_000, 'POST'), limit(300_000, 10_000, 'IOC')]) {
      for (const side of ['Buy', 'Sell'] as const) {
        const { status, word } = await rich.create(side, details, MARGIN);
        assert.deepEqual([status, word], [400, 'PROTOCOL_CAP_EXCEEDED'], `${side} ${details}`);
        assert.ok((await told('post', '/orders/create', 400)).includes(`\`${word}\``));
      }
    }
    const [one, other] = [
      rich.wrapper('Buy', limit(200_100, 10_000), MARGIN),
      rich.wrapper('Sell', limit(1, 10_000), MARGIN),
    ];
    assert.deepEqual(
      await rich.batchCreate(one, other),
      [one.id, other.id].map((id) => `${id} ProtocolCapExceeded`),
    );
    assert.ok((await told('post', '/orders/batch-create', 200)).includes('`ProtocolCapExceeded`'));
    assert.deepEqual(await node.depth(), { asks: [], bids: [] });
    // Both sides close what they have with one another, and the limits have space again.
    const ask = await long.sell(limit(200_000, 10_000), MARGIN);
    await short.buy(limit(200_000, 10_000, 'IOC'), MARGIN);
    await long.until(ask.id, 'Removed Filled');
    await node.rest();
    const opened = await rich.buy(limit(200_000, 10_000), MARGIN);
    const taken = await honest.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    await rich.until(opened.id, 'Removed Filled');
    assert.deepEqual(honest.fillsOf(taken.id), ['Pending 2000 1', 'Confirmed 2000 1']);
    await node.ledgerAddsUp();
  });
});

suite('a cap of collateral that is full', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await node.oraclePrice('2000');
    await node.operate('PATCH', '/operator/risk-parameters/2', { max_collateral: '2000000000000000000' });
  });
  after(() => node.stop());

  test('takes no spot buy of a margin account, before and after a kill, so no fill of a seller is rolled back (A2, CAP-10, AMB-112)', async () => {
    const spot: Ticket = { account: 1 };
    const holder = await node.trader({ '0': '100000' }, [1]);
    const honest = await node.trader({ '0': '100', '2': '10' });
    const stranger = await node.trader({ '0': '5000' }, [1]);
    const ask = await honest.sell(limit(200_000, 20_000));
    const bought = await holder.buy(limit(200_000, 20_000, 'IOC'), spot);
    await holder.until(bought.id, 'Removed Filled');
    await honest.until(ask.id, 'Removed Filled');
    await node.rest();

    const refused = async (): Promise<void> => {
      for (const details of [limit(200_100, 10_000), limit(200_100, 10_000, 'POST'), marketBase(10_000)]) {
        const { status, word } = await stranger.create('Buy', details, spot);
        assert.deepEqual([status, word], [400, 'PROTOCOL_CAP_EXCEEDED'], details);
      }
    };
    await refused();
    const buyer = await node.trader({ '0': '5000' });
    const bid = await buyer.buy(limit(200_000, 10_000));
    const sold = await honest.sell(limit(200_000, 10_000, 'IOC'));
    await buyer.until(bid.id, 'Removed Filled');
    assert.deepEqual(honest.fillsOf(sold.id), ['Pending 2000 1', 'Confirmed 2000 1']);

    await node.rest();
    await node.restart('SIGKILL');
    await refused();
    const freed = await holder.sell(limit(200_000, 10_000), spot);
    const again = await buyer.buy(limit(200_000, 10_000, 'IOC'));
    await buyer.until(again.id, 'Removed Filled');
    await holder.until(freed.id, 'Removed Filled');
    await node.rest();
    const taken = await stranger.buy(limit(200_000, 10_000), spot);
    assert.equal(taken.word, 'Received');
    await honest.sell(limit(200_000, 10_000, 'IOC'));
    await stranger.until(taken.id, 'Removed Filled');
    await node.ledgerAddsUp();
  });
});
