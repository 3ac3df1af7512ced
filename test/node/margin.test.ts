// tier: full, 4 s
/** Margin over the wire, through clearing: a long and a short are opened, marked, reduced, closed and folded. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit, marketBase } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const REDUCE: Ticket = { ...MARGIN, reduceOnly: true };

/** One market of decimals 2 and 4, no fees, CF .90, LF .95, oracle 2000. */
async function world(): Promise<TestNode> {
  const node = await TestNode.start();
  await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
  await node.oraclePrice('2000');
  return node;
}

async function read(trader: Trader, path: string): Promise<Json> {
  const { status, text } = await trader.call('GET', path.replace('U', trader.userId));
  assert.equal(status, 200, text);
  return JSON.parse(text) as Json;
}

async function margin(trader: Trader): Promise<Json> {
  const accounts = (await read(trader, '/margin/user/U'))['accounts'] as Record<string, Json>;
  return accounts['1'] ?? assert.fail('account 1 is a margin account');
}

async function positions(trader: Trader): Promise<readonly Json[]> {
  return (await read(trader, '/positions/U'))['positions'] as readonly Json[];
}

async function fold(trader: Trader, nonce: number): Promise<Json> {
  const inner = `{"user":"${trader.userId}","account":1,"asset_identifier":"2","nonce":${nonce}}`;
  const signature = [...trader.key.sign(Buffer.from(inner))];
  const body = `{"inner":${inner},"signature":[${signature}],"additional_signers":[]}`;
  return JSON.parse((await trader.call('POST', '/account/transfer/close-position', body)).text) as Json;
}

suite('margin', () => {
  let node: TestNode;
  let long: Trader;
  let short: Trader;

  before(async () => {
    node = await world();
    long = await node.trader({ '0': '1000' }, [1]);
    short = await node.trader({ '0': '1000' }, [1]);
  });
  after(() => node.stop());

  test('a long and a short are opened: each has an asset leg and a quote leg (SUB-15, ORD-19, MRG-06)', async () => {
    const bid = await long.buy(limit(200_000, 20_000), MARGIN);
    assert.equal(bid.word, 'Received');
    const ask = await short.sell(marketBase(20_000), MARGIN);
    await short.until(ask.id, 'Removed Filled');
    await long.until(bid.id, 'Removed Filled');
    await node.rest();
    const [of, against] = [(await positions(long))[0], (await positions(short))[0]];
    assert.deepEqual(
      [of?.['side'], of?.['size'], of?.['quote_liabilities'], of?.['entry_price']],
      ['long', '2', '4000', '2000'],
    );
    assert.deepEqual([against?.['side'], against?.['size'], against?.['quote_credits']], ['short', '2', '4000']);
    await node.ledgerAddsUp();
  });

  test('the price marks them (MRG-07 to 09, QRY-10)', async () => {
    await node.oraclePrice('2100');
    await node.advance(61_000_000_000n);
    assert.deepEqual(
      [(await margin(long))['unrealized_pnl'], (await margin(short))['unrealized_pnl']],
      ['200', '-200'],
    );
    assert.equal((await margin(long))['account_equity'], '1200');
    await node.oraclePrice('2000');
  });

  test('what does not fit is refused at the gateway, the position is not touched (MRG-24, SUB-06)', async () => {
    const refused = await long.buy(limit(200_000, 200_000), MARGIN);
    assert.deepEqual([refused.status, refused.word], [400, 'INSUFFICIENT_MARGIN']);
    const flipped = await long.sell(limit(200_000, 20_001, 'IOC'), REDUCE);
    assert.deepEqual([flipped.status, flipped.word], [400, 'REDUCE_ONLY_WOULD_INCREASE']);
    assert.equal((await positions(long))[0]?.['size'], '2');
  });

  test('available margin is what pre-flight uses, open orders included; a cancel gives it back (MRG-16, AMB-142)', async () => {
    const before = Number((await margin(long))['available_margin']);
    const order = await long.buy(limit(100_000, 10_000), MARGIN);
    assert.equal(order.word, 'Received');
    assert.equal(Number((await margin(long))['available_margin']), before - 100);
    await long.cancel(order.id);
    await long.until(order.id, 'Canceled UserRequested');
    assert.equal(Number((await margin(long))['available_margin']), before);
  });

  test('an operator sees what orders press on each side with (MRG-16 to 18, operator-api.md 4.7)', async () => {
    const pressure = async () => (await node.operate('GET', `/operator/users/${long.userId}`))['pressure'];
    assert.deepEqual(await pressure(), { 1: { buy: '0', sell: '0' } });
    const order = await long.buy(limit(100_000, 10_000), MARGIN);
    assert.deepEqual(await pressure(), { 1: { buy: '100', sell: '0' } });
    await long.cancel(order.id);
    await long.until(order.id, 'Canceled UserRequested');
  });

  test('a restart counts positions, orders and pressure once (AMB-110)', async () => {
    const order = await long.buy(limit(100_000, 10_000), MARGIN);
    const closing = await long.sell(limit(300_000, 10_000), MARGIN);
    assert.deepEqual([order.word, closing.word], ['Received', 'Received']);
    await node.rest();
    const before = [await margin(long), await positions(long)];
    await node.restart('SIGTERM');
    await node.rest();
    // Marks and rates are stale until fresh.
    await node.oraclePrice('2000');
    assert.deepEqual([await margin(long), await positions(long)], before);
    for (const { id } of [order, closing]) assert.equal((await long.cancel(id)).word, 'Received');
  });

  test('fills on their way are in the capacity at once and out of it after a rollback; reads show what is booked (AMB-142)', async () => {
    await node.hook({ hold: true });
    const before = Number((await margin(long))['available_margin']);
    const bid = await long.buy(limit(200_000, 1_000), MARGIN);
    const ask = await short.sell(limit(200_000, 1_000, 'IOC'), MARGIN);
    assert.deepEqual([bid.word, ask.word], ['Received', 'Received']);
    assert.equal(before - Number((await margin(long))['available_margin']), 20);
    assert.equal((await positions(long))[0]?.['size'], '2');
    await node.hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientMargin' } });
    await node.hook({ release: true });
    await node.rest();
    assert.deepEqual(short.fillsOf(ask.id).at(-1), 'Rollbacked 2000 0.1 InsufficientMargin');
    assert.equal(before - Number((await margin(long))['available_margin']), 20, 'the maker rests again');
    await node.clear();
    assert.equal(Number((await margin(long))['available_margin']), before);
  });

  test('what the gateway lets through clearing checks again: a price that moved undoes the fill (ORD-27, FIL-06)', async () => {
    await node.hook({ hold: true });
    const bid = await long.buy(limit(200_000, 10_000), MARGIN);
    const ask = await short.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    assert.deepEqual([bid.word, ask.word], ['Received', 'Received']);
    await node.oraclePrice('2400');
    await node.hook({ release: true });
    await short.until(ask.id, 'Canceled InsufficientMargin');
    assert.deepEqual(long.fillsOf(bid.id).at(-1), 'Rollbacked 2000 1 CounterpartyAtFault');
    await node.oraclePrice('2000');
    await node.clear();
  });

  test('a resting reduce-only order without its position fills no other order (TIF-10, MON-09)', async () => {
    const resting = await short.buy(limit(199_000, 20_000), REDUCE);
    const other = await short.buy(limit(200_000, 20_000), MARGIN);
    await long.sell(limit(200_000, 20_000, 'IOC'), MARGIN);
    await short.until(other.id, 'Removed Filled');
    // It is cancelled with the position, before a taker meets it (MON-09).
    await short.until(resting.id, 'Canceled ReduceOnly');
    const sold = await long.sell(limit(199_000, 10_000, 'IOC'), MARGIN);
    await long.until(sold.id, 'Removed ImmediateOrCancel');
    assert.deepEqual([short.fillsOf(resting.id), long.fillsOf(sold.id)], [[], []]);
    // Both stand again where they stood.
    await long.buy(limit(200_000, 20_000), MARGIN);
    await short.sell(limit(200_000, 20_000, 'IOC'), MARGIN);
    await node.rest();
    assert.equal((await positions(long))[0]?.['size'], '2');
  });

  for (const { skip, details, ticket, reason } of [
    { skip: 'margin', details: limit(200_000, 200_000, 'IOC'), ticket: MARGIN, reason: 'InsufficientMargin' },
    { skip: 'reduce_only', details: limit(200_000, 30_000, 'IOC'), ticket: REDUCE, reason: 'ReduceOnlyViolation' },
  ]) {
    test(`an order past the gateway's ${skip} check is caught by clearing (FIL-06, FIL-13, FIL-17)`, async () => {
      await node.operate('POST', '/operator/faucet', faucet(short, '100000'));
      await short.buy(limit(200_000, 200_000), MARGIN);
      const bad = long.wrapper('Sell', details, ticket);
      const fault = `{"kind":"inject_order","wrapper":${bad.text},"skip":["${skip}"]}`;
      await node.operate('POST', '/operator/clearing', `{"fault":${fault}}`);
      await long.until(bad.id, `Canceled ${reason}`);
      await node.operate('POST', '/operator/faucet', faucet(short, '-100000'));
      await node.clear();
    });
  }

  function faucet(trader: Trader, amount: string): object {
    return { user_id: trader.userId, sub_account: 1, asset_id: '0', amount };
  }

  test('simulate answers before what is true after (SIM-01, AMB-71)', async () => {
    const trade = { asset: '2', is_buy: false, size: `1${'0'.repeat(18)}`, limit_price: `2000${'0'.repeat(18)}` };
    const body = JSON.stringify({ sub_account: 1, trade: { ...trade, trade_type: 'margin' }, pending_transfers: [] });
    await node.market('2', { taker_fee_rate: 500 });
    const simulated = JSON.parse((await long.call('POST', `/account/simulate/${long.userId}`, body)).text) as Json;
    await short.buy(limit(200_000, 10_000), MARGIN);
    const sold = await long.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    await long.until(sold.id, 'Removed Filled');
    await node.rest();
    const now = await margin(long);
    assert.equal(simulated['trade_accepted'], true);
    for (const name of ['account_equity', 'available_margin', 'utilized_margin', 'account_leverage', 'is_solvent']) {
      assert.equal(simulated[name], now[name], name);
    }
    assert.equal(simulated['mm_surplus'], now['maintenance_margin_surplus']);
    await node.market('2', { taker_fee_rate: 0 });
  });

  test('the preview’s orders, signed and sent in a batch, close the account; then it is folded and empty (QRY-08, POS-11)', async () => {
    const preview = await read(short, '/positions/close-all/U/1');
    const orders = preview['orders'] as readonly Json[];
    assert.deepEqual(preview['errors'], {});
    assert.deepEqual(
      orders.map(({ asset_id, side, reduce_only }) => [asset_id, side, reduce_only]),
      [['2', 'Buy', true]],
    );
    const lots = Number(orders[0]?.['quantity']);
    await long.sell(limit(199_000, lots), MARGIN);
    const wrappers = orders.map(() => short.wrapper('Buy', marketBase(lots), REDUCE));
    assert.deepEqual(
      await short.batchCreate(...wrappers),
      wrappers.map(({ id }) => `${id} Received`),
    );
    await short.until(wrappers[0]?.id ?? '', 'Removed Filled');
    await node.rest();
    assert.deepEqual((await read(short, '/positions/close-all/U/1'))['orders'], []);
    assert.deepEqual(await fold(short, 1), { success: true });
    await node.rest();
    assert.deepEqual(await positions(short), []);
    // Open again for what follows.
    await short.sell(limit(200_000, lots), MARGIN);
    await long.buy(limit(200_000, lots, 'IOC'), MARGIN);
    await node.rest();
  });

  test('reduced, closed and folded: nothing of a position is left (POS-01 to 04, TIF-08, AMB-69)', async () => {
    const left = String((await positions(long))[0]?.['size']);
    const lots = Math.round(Number(left) * 10_000);
    await short.buy(limit(200_000, lots), REDUCE);
    const closed = await long.sell(limit(200_000, lots, 'IOC'), REDUCE);
    await long.until(closed.id, 'Removed Filled');
    await node.rest();
    assert.deepEqual(
      (await positions(long)).map(({ side }) => side),
      ['closed'],
    );
    assert.deepEqual(await fold(long, 1), { success: true });
    await node.rest();
    assert.deepEqual(await positions(long), []);
    const { accounts } = await read(long, '/inventory/user/U');
    assert.deepEqual((accounts as Record<string, Json>)['1']?.['margins'], {});
    await node.ledgerAddsUp();
  });
});
