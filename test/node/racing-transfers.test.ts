// tier: full, 3 s
/**
 * Transfers and orders that are sent together for the same money, over the wire of a whole node: never both (AMB-112,
 * TRF-04). Before, both succeeded in most tries, and again from the next account.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Json, TestNode } from '../support/test-node.ts';
import { closePositionText, innerBody, limit, transferText } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const TRIES = 12;
const WHOLE = `1000${'0'.repeat(18)}`;

suite('transfers that race orders', () => {
  let node: TestNode;
  let own: Trader;
  let nonce = 0;

  before(async () => {
    node = await TestNode.start();
    await node.oraclePrice('2000');
    own = await node.trader({ '0': '1000' });
  });
  after(() => node.stop());

  /** @returns `ok`, or the code of clearing's refusal. */
  async function transfer(source: number, target: number, amount = WHOLE, type = 'null'): Promise<string> {
    nonce += 1;
    const inner = transferText(own.userId, { source, target, amount, type, nonce });
    const { text } = await own.call('POST', '/account/transfer/sub-account', innerBody(own.key, inner));
    const { success, details } = JSON.parse(text) as { success: boolean; details?: Json };
    return success ? 'ok' : String(details?.['code']);
  }

  test('of a transfer and a create for the same money one succeeds, whichever came first (AMB-112, TRF-04)', async () => {
    const won = { transfer: 0, order: 0 };
    for (let round = 0; round < TRIES; round += 1) {
      const sendOrder = () => own.buy(limit(190_000, 5_000));
      const sendTransfer = () => transfer(0, 1);
      const [order, moved] =
        round % 2 === 0
          ? await Promise.all([sendOrder(), sendTransfer()])
          : await Promise.all([sendTransfer(), sendOrder()]).then(([first, second]) => [second, first] as const);
      const isOpen = order.word === 'Received';
      assert.notEqual(isOpen, moved === 'ok', `round ${round}: ${order.word}, ${moved}`);
      assert.equal(isOpen ? moved : order.word, 'INSUFFICIENT_INVENTORY');
      await node.rest();
      const total = await own.owned('0', isOpen ? 0 : 1);
      assert.equal(total, '1000');
      won[isOpen ? 'order' : 'transfer'] += 1;
      if (isOpen) await own.cancel(order.id);
      else assert.equal(await transfer(1, 0), 'ok', 'what was set aside is free again');
    }
    assert.ok(won.order + won.transfer === TRIES);
  });

  test('many at once from one account after another back at most what there is (AMB-112)', async () => {
    assert.equal(await transfer(0, 2, '1', '"Spot"'), 'ok');
    await transfer(2, 0, '1');
    const orders: Promise<{ readonly id: string; readonly word: string }>[] = [];
    for (const [source, target] of [
      [0, 2],
      [2, 0],
      [0, 2],
    ] as const) {
      for (let i = 0; i < 3; i += 1) orders.push(own.buy(limit(190_000, 5_000), { account: source }));
      await transfer(source, target);
    }
    const answers = await Promise.all(orders);
    await node.rest();
    const open = answers.filter(({ word }) => word === 'Received');
    const held = Number(await own.held('0')) + Number(await own.held('0', 2));
    assert.ok(open.length === 1 && held <= 1_000, `${open.length} orders hold ${held}`);
    for (const { id } of open) await own.cancel(id);
  });

  test('of a close-position of a loss and an order for the spot USD that it needs one succeeds (AMB-69, AMB-112, POS-04)', async () => {
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    const holder = await node.trader({ '0': '1000' }, [1]);
    const other = await node.trader({ '0': '10000' }, [1]);
    const margin = { account: 1, isSpot: false } as const;
    const won = { close: 0, order: 0 };
    for (let round = 0; round < 4; round += 1) {
      // Bought at 2,000 and sold at 1,980: flat, with a quote leg of −10.
      const bid = await holder.buy(limit(200_000, 5_000), margin);
      await other.sell(limit(200_000, 5_000, 'IOC'), margin);
      await holder.until(bid.id, 'Removed Filled');
      const back = await other.buy(limit(198_000, 5_000), margin);
      await holder.sell(limit(198_000, 5_000, 'IOC'), margin);
      await other.until(back.id, 'Removed Filled');
      await node.rest();
      const owned = Number(await holder.owned('0', 1));
      nonce += 1;
      const body = innerBody(holder.key, closePositionText(holder.userId, 1, '2', nonce));
      const close = () => holder.call('POST', '/account/transfer/close-position', body);
      const spend = () => holder.buy(limit(100_000, Math.floor((owned - 5) * 10)), { account: 1 });
      const [order, closed] =
        round % 2 === 0
          ? await Promise.all([spend(), close()])
          : await Promise.all([close(), spend()]).then(([first, second]) => [second, first] as const);
      const isOpen = order.word === 'Received';
      const isClosed = closed.text === '{"success":true}';
      assert.notEqual(isOpen, isClosed, `round ${round}: ${order.word}, ${closed.text}`);
      won[isOpen ? 'order' : 'close'] += 1;
      if (isOpen) {
        assert.match(closed.text, /"code":"INSUFFICIENT_INVENTORY"/);
        await holder.cancel(order.id);
        await node.rest();
        assert.equal((await close()).text, '{"success":true}', 'its nonce is free, and so is the money');
      }
      await node.rest();
    }
    assert.equal(won.close + won.order, 4);
  });

  test('an operator who takes money back ends the youngest orders that it backed (AMB-112)', async () => {
    await node.rest();
    for (const source of [1, 2]) await transfer(source, 0);
    await node.rest();
    const elder = await own.buy(limit(190_000, 2_000));
    const younger = await own.buy(limit(190_000, 2_000));
    assert.deepEqual([elder.word, younger.word], ['Received', 'Received']);
    await node.rest();
    const debit = { user_id: own.userId, sub_account: 0, asset_id: '0', amount: '-500' };
    await node.operate('POST', '/operator/faucet', debit);
    await own.until(younger.id, 'Canceled MarginInsufficient');
    await node.rest();
    assert.equal(await own.status(elder.id), 'Open');
  });
});
