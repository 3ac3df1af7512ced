// tier: full
/** Fills that clearing refuses, each for its cause, as users see it (FIL-09 to FIL-11, FIL-14 to FIL-16). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { metricOf, operator } from '../support/node-process.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '2': '1000' };
const MINUTE_NS = 60_000_000_000n;

suite('fills that clearing refuses', () => {
  let world: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    world = await TestNode.start();
    maker = await world.trader(FUNDS);
    taker = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  test('an order with a forged signature fills no other order (FIL-09, FIL-14, FIL-15)', async () => {
    const honest = await maker.sell(limit(300_000, 10_000));
    const forged = taker.wrapper('Buy', limit(300_000, 10_000), { isForged: true });
    const refused = await taker.create('Buy', limit(300_000, 10_000), { isForged: true });
    assert.equal(refused.word, 'INVALID_SIGNATURE', 'the gateway does not let it in');
    await world.operate(
      'POST',
      '/operator/clearing',
      `{"fault":{"kind":"inject_order","wrapper":${forged.text},"skip":["signature"]}}`,
    );
    await taker.until(forged.id, 'Canceled InvalidSignature');
    assert.deepEqual(taker.fillsOf(forged.id), ['Pending 3000 1', 'Rollbacked 3000 1 InvalidSignature']);
    assert.deepEqual(maker.fillsOf(honest.id), ['Pending 3000 1', 'Rollbacked 3000 1 CounterpartyAtFault']);
    assert.equal(await maker.status(honest.id), 'Open');
    await world.rest();
    assert.equal((await world.depth()).asks.length, 1);
  });

  test('GEN-05: what the verifier attested of an order vouches for no other order of its user, and for no other text', async () => {
    const judged = (by: string): Promise<number> =>
      metricOf(world.process, `ringbook_orders_verified_total{by="${by}"}`);
    const honest = await maker.sell(limit(300_000, 10_000));
    const before = { attested: await judged('attestation'), verified: await judged('clearing') };
    const attested = taker.wrapper('Buy', limit(300_000, 2_000));
    assert.equal((await taker.call('POST', '/orders/create', attested.text)).status, 200);
    await taker.until(attested.id, 'Removed Filled');
    await world.rest();
    assert.equal(await judged('attestation'), before.attested + 2, 'both orders of the fill were attested');
    const signature = /"signature":\[[^\]]*\]/;
    const [theirs] = signature.exec(attested.text) ?? [''];
    const other = taker.wrapper('Buy', limit(300_000, 3_000));
    const moved = taker.wrapper('Buy', limit(300_000, 4_000), { isForged: true });
    for (const { id, text } of [{ id: other.id, text: other.text.replace(signature, theirs) }, moved]) {
      const fault = `{"fault":{"kind":"inject_order","wrapper":${text},"skip":["signature"]}}`;
      await world.operate('POST', '/operator/clearing', fault);
      await taker.until(id, 'Canceled InvalidSignature');
    }
    await world.rest();
    assert.equal(await judged('attestation'), before.attested + 2);
    assert.equal(await judged('clearing'), before.verified + 2);
    assert.equal(await maker.status(honest.id), 'PartiallyFilled');
    await maker.cancel(honest.id);
  });

  test('a rate that was raised after an order was placed breaks its condition (FIL-10, AMB-09)', async () => {
    const order = await maker.sell(limit(300_000, 10_000, 'POST'), { maxFee: 450 });
    await world.market('2', { maker_fee_rate: 500, taker_fee_rate: 900 });
    const took = await taker.buy(limit(300_000, 10_000));
    await maker.until(order.id, 'Canceled InvalidOrder');
    assert.deepEqual(taker.fillsOf(took.id), ['Pending 3000 1', 'Rollbacked 3000 1 CounterpartyAtFault']);
    await world.market('2', { maker_fee_rate: 100, taker_fee_rate: 450 });
  });

  for (const { skip, details, maxFee, reason } of [
    { skip: 'fees', details: limit(300_000, 10_000), maxFee: 0, reason: 'InvalidOrder' },
    { skip: 'inventory', details: limit(300_000, 5_000_000), maxFee: 50_000, reason: 'InsufficientInventory' },
  ]) {
    test(`what the gateway would have refused for its ${skip} clearing refuses too (FIL-10, AMB-52)`, async () => {
      const bad = taker.wrapper('Buy', details, { maxFee });
      const refused = await taker.create('Buy', details, { maxFee });
      assert.ok(['INVALID_ORDER', 'INSUFFICIENT_INVENTORY'].includes(refused.word), refused.word);
      const honest = await maker.sell(limit(300_000, 5_000_000));
      const fault = `{"kind":"inject_order","wrapper":${bad.text},"skip":["${skip}"]}`;
      await world.operate('POST', '/operator/clearing', `{"fault":${fault}}`);
      await taker.until(bad.id, `Canceled ${reason}`);
      assert.match(taker.fillsOf(bad.id).at(-1) ?? '', new RegExp(`^Rollbacked .* ${reason}$`));
      assert.match(maker.fillsOf(honest.id).at(-1) ?? '', /CounterpartyAtFault$/);
      await world.ledgerAddsUp();
    });
  }

  /** A fill between a resting buy and a resting sell, as if they had matched. */
  function fillBetween(buy: string, sell: string, quantity: number, more = ''): string {
    const bought = `{"user_id":"${taker.userId}","order_id":"${buy}"}`;
    const sold = `{"user_id":"${maker.userId}","order_id":"${sell}"}`;
    const fill = `"asset_id":"2","maker":${bought},"taker":${sold},"price":300000,"quantity":${quantity}${more}`;
    return `{"fault":{"kind":"inject_fill",${fill}}}`;
  }

  async function injectFill(buy: string, sell: string, quantity: number, more = ''): Promise<void> {
    await world.operate('POST', '/operator/clearing', fillBetween(buy, sell, quantity, more));
    await world.rest();
  }

  test('a fill beyond what an order has left is an overfill (FIL-11)', async () => {
    const small = await maker.sell(limit(300_000, 10_000));
    const large = await taker.buy(limit(299_000, 50_000));
    await injectFill(large.id, small.id, 10_001);
    await maker.until(small.id, 'Canceled Overfill');
    assert.deepEqual(maker.fillsOf(small.id), ['Pending 3000 1.0001', 'Rollbacked 3000 1.0001 Overfill']);
    assert.deepEqual(taker.fillsOf(large.id).at(-1), 'Rollbacked 3000 1.0001 InvalidOrder', 'it is above its limit');
    await world.rest();
    assert.deepEqual(await world.depth(), { asks: [], bids: [] });
    await world.ledgerAddsUp();
  });

  test('a fill beyond the limit of an order breaks its condition, one from long ago is stale (FIL-10, FIL-12)', async () => {
    const sell = await maker.sell(limit(301_000, 20_000));
    const buy = await taker.buy(limit(299_000, 50_000));
    const longAgo = `,"matched_at_ns":${world.nowNs - 5n * MINUTE_NS - 1n}`;
    await injectFill(buy.id, sell.id, 100, longAgo);
    assert.deepEqual(maker.fillsOf(sell.id).at(-1), 'Rollbacked 3000 0.01 StaleMatch');
    assert.deepEqual([await maker.status(sell.id), await taker.status(buy.id)], ['Open', 'Open']);
    await injectFill(buy.id, sell.id, 100);
    await maker.until(sell.id, 'Canceled InvalidOrder');
    await taker.until(buy.id, 'Canceled InvalidOrder');
    const late = await operator(world.process, 'POST', '/operator/clearing', fillBetween(buy.id, sell.id, 1));
    assert.equal(late.status, 404, 'nobody fills what is gone');
  });

  test('what is decided more than five minutes after its match is stale, no side is at fault, and it matches again (FIL-16, FIL-12, AMB-32, AMB-33)', async () => {
    const rests = await maker.sell(limit(300_000, 20_000));
    await world.hook({ hold: true });
    const took = await taker.buy(limit(300_000, 10_000));
    await world.rest();
    await world.advance(5n * MINUTE_NS + 1n);
    await world.hook({ release: true });
    await world.rest();
    const told = ['Confirmed 3000 1', 'Pending 3000 1', 'Pending 3000 1', 'Rollbacked 3000 1 StaleMatch'];
    assert.deepEqual([...maker.fillsOf(rests.id)].sort(), told);
    assert.deepEqual([...taker.fillsOf(took.id)].sort(), told);
    assert.equal(await maker.status(rests.id), 'PartiallyFilled');
    assert.equal((await maker.record(rests.id))['confirmed_filled_quantity'], '1');
  });
});
