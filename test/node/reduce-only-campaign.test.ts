// tier: full
/**
 * Hostile use of reduce-only orders on a whole node: keys with nothing, and with next to nothing, at the best price, and
 * honest users who meet what they could rest (MRG-22, AMB-27, AMB-61).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { limit, marketQuote, type Tif } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const REDUCE: Ticket = { ...MARGIN, reduceOnly: true };
/** 2,999 million USD at 2010. */
const HUGE = 14_920_000_000;

suite('reduce-only orders of keys that could not back them', () => {
  let node: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await node.oraclePrice('2000');
    maker = await node.trader({ '0': '100000' }, [1]);
    taker = await node.trader({ '0': '100000' }, [1]);
  });
  after(() => node.stop());

  /** What honest users send goes through: each of the taker's sells fills at the best of the maker's bids. */
  async function honestFlowIsUntouched(times: number): Promise<void> {
    const bids = await Promise.all(Array.from({ length: times }, () => maker.buy(limit(200_000, 100), MARGIN)));
    for (const { word } of bids) assert.equal(word, 'Received');
    for (let time = 0; time < times; time += 1) {
      const sell = await taker.sell(limit(200_000, 100, 'IOC'), MARGIN);
      assert.deepEqual((await taker.until(sell.id, 'Removed Filled')).at(-1), 'Removed Filled');
      assert.deepEqual(taker.fillsOf(sell.id), ['Pending 2000 0.01', 'Confirmed 2000 0.01']);
    }
    for (const { id } of bids) assert.equal((await maker.until(id, 'Removed Filled')).at(-1), 'Removed Filled');
    await node.ledgerAddsUp();
  }

  test('a key without money rests none, in any shape, on either side (MRG-22, AMB-27)', async () => {
    const pauper = await node.trader({});
    const gtd: Tif = { gtd: node.nowNs + 3_600_000_000_000n };
    const shapes = [
      limit(201_000, HUGE),
      limit(201_000, HUGE, 'POST'),
      limit(201_000, 100, gtd),
      marketQuote(200_000_000),
    ];
    for (const details of shapes) {
      for (const side of ['Buy', 'Sell'] as const) {
        const { status, word } = await pauper.create(side, details, REDUCE);
        assert.deepEqual([status, word], [400, 'INSUFFICIENT_MARGIN'], `${side} ${details}`);
      }
    }
    assert.deepEqual(await node.depth(), { asks: [], bids: [] });
    await honestFlowIsUntouched(8);
  });

  test('a key with a small position rests what that covers, and loses it with the position (MON-09, AMB-27)', async () => {
    const poor = await node.trader({ '0': '2.1' }, [1]);
    // Short 0.01, whose admission takes (2 − 0.95) × (2 − 0.95) × 20 − 20 = 2.05 USD (MON-07) and the fee.
    await maker.buy(limit(200_000, 100), MARGIN);
    const opened = await poor.sell(limit(200_000, 100, 'IOC'), MARGIN);
    assert.equal(opened.word, 'Received');
    await poor.until(opened.id, 'Removed Filled');
    const first = await poor.buy(limit(200_900, 100), REDUCE);
    assert.equal(first.word, 'Received', 'it closes the position');
    assert.equal((await poor.buy(limit(201_000, HUGE), REDUCE)).word, 'REDUCE_ONLY_WOULD_INCREASE');
    const second = await poor.buy(limit(200_800, 100), REDUCE);
    assert.equal(second.word, 'REDUCE_ONLY_WOULD_INCREASE', 'the first one has used the position');
    assert.deepEqual((await node.depth()).bids, ['2009,0.01']);

    // The position is closed at a loss: nothing is left that the first order could reduce.
    await maker.sell(limit(214_900, 100), MARGIN);
    const closing = await poor.buy(limit(214_900, 100, 'IOC'), REDUCE);
    assert.equal(closing.word, 'Received');
    await poor.until(first.id, 'Canceled ReduceOnly');
    assert.deepEqual((await node.depth()).bids, []);
    await honestFlowIsUntouched(8);
  });
});
