/**
 * Transfers and orders that are sent together for the same money, over the wire of a whole node: never both (AMB-112,
 * TRF-04). Before, both succeeded in most tries, and again from the next account.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { limit } from '../support/wire-orders.ts';
import { TestNode, type Trader } from '../support/wire-trader.ts';

type Json = Readonly<Record<string, unknown>>;
const TRIES = 12;
const WHOLE = `1000${'0'.repeat(18)}`;

suite('transfers that race orders', () => {
  let node: TestNode;
  let own: Trader;
  let nonce = 0;

  before(async () => {
    node = await TestNode.start();
    await node.operate('POST', '/operator/prices', { prices: [{ asset_id: '2', price: '2000' }] });
    own = await node.trader({ '0': '1000' });
  });
  after(() => node.stop());

  /** @returns `ok`, or the code of clearing's refusal. */
  async function transfer(source: number, target: number, amount = WHOLE, type = 'null'): Promise<string> {
    nonce += 1;
    const inner =
      `{"user":"${own.userId}","source_index":${source},"target_index":${target},"transfer_asset":"0",` +
      `"transfer_amount":"${amount}","target_account_type":${type},"nonce":${nonce}}`;
    const signature = [...own.key.sign(Buffer.from(inner))];
    const body = `{"inner":${inner},"signature":[${signature}],"additional_signers":[]}`;
    const { text } = await own.call('POST', '/account/transfer/sub-account', body);
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
