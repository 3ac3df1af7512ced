// tier: quick
/** Ids, assets, amounts: how they are written and what is tolerated (wire.md 2; IDN, AMT). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const CHAIN = '000000000000007a69';
/** A token of the node's chain that is a market of its own, and its first 20 bytes. */
const SHORT = '7e'.repeat(20);
const TOKEN = `${SHORT}${'00'.repeat(12)}@${CHAIN}`;

suite('identifiers and amounts', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  test('a user id is 64 hex digits of any case, with 0x or without, answered in lower case (IDN-01)', async () => {
    const headers = { ...alice.headers, 'user-id': `0x${alice.id.toUpperCase()}` };
    assert.equal((await alice.get(`/inventory/user/0x${alice.id.toUpperCase()}`, headers)).status, 200);
    for (const id of [alice.id.slice(1), `${alice.id}0`, `${alice.id.slice(1)}g`, '0x', '0']) {
      for (const path of ['/nonce/', '/inventory/user/', '/orders/user/', '/trades/user/']) {
        assert.equal(toldBy(await alice.get(`${path}${id}`)), '400 INVALID_REQUEST', path + id);
      }
    }
  });

  test('one string names a market in orders, reads, balances and market data (IDN-02, IDN-10)', async () => {
    await node.trade(alice, bob, 2_000);
    const record = (await alice.read(`/orders/user/${alice.id}/2`)) as readonly Record<string, unknown>[];
    assert.equal(record[0]?.['base_asset'], '2');
    const { trades } = (await alice.read(`/trades/user/${alice.id}/2`)) as { trades: Record<string, unknown>[] };
    assert.equal(trades[0]?.['asset_id'], '2');
    const inventory = (await alice.read(`/inventory/user/${alice.id}`)) as { accounts: { 0: { spot: object } } };
    assert.ok('2' in inventory.accounts[0].spot);
    for (const path of ['/marketdepth/2', '/klines/2', '/trades/2', '/ticker/2']) {
      assert.equal((await alice.market(path)).status, 200, path);
    }
    assert.equal(JSON.parse((await alice.get('/market/2')).text).asset_id, '2');
    for (const symbol of ['ETH', 'eth', 'ETH-USD']) {
      assert.equal(toldBy(await alice.get(`/market/${symbol}`)), '404 MARKET_NOT_FOUND');
      assert.equal(toldBy(await alice.market(`/marketdepth/${symbol}`)), '404 MARKET_NOT_FOUND');
    }
  });

  test('0 is USD: a balance, never a market (IDN-03)', async () => {
    assert.equal(toldBy(await alice.get('/market/0')), '404 MARKET_NOT_FOUND');
    for (const path of ['/marketdepth/0', '/klines/0', '/trades/0', '/ticker/0']) {
      assert.equal(toldBy(await alice.market(path)), '404 MARKET_NOT_FOUND', path);
    }
    assert.equal(toldBy(await alice.create({ asset: '0' })), '404 MARKET_NOT_FOUND');
  });

  test('an asset is a string; another spelling of an index is another asset (IDN-02, ORD-03)', async () => {
    const body = alice.createBody().replace('"base_asset":"2"', '"base_asset":2');
    assert.equal(toldBy(await alice.post('/orders/create', body)), '400 INVALID_REQUEST');
    for (const asset of ['02', '+2', '2.0', '0x2', '', '-2', '65536', '99999999999999999999']) {
      const answer = await alice.create({ asset });
      assert.match(toldBy(answer), /^(400 INVALID_REQUEST|404 MARKET_NOT_FOUND|400 INVALID_ORDER)$/, asset);
      if (asset !== '') assert.equal(toldBy(await alice.get(`/market/${asset}`)), '404 MARKET_NOT_FOUND', asset);
    }
  });

  test('a token on a chain names an asset, with a raw or an encoded @, in any case, filled up on the right (IDN-04 to IDN-06)', async () => {
    const figures = { book_price_decimals: 2, book_quantity_decimals: 4 };
    await node.operate('PUT', `/operator/assets/${TOKEN}`, { symbol: null });
    await node.operate('PUT', `/operator/markets/${TOKEN}`, figures);
    await node.rest();
    const forms = [TOKEN, TOKEN.replace('@', '%40'), `${SHORT}@${CHAIN}`, `0x${SHORT}@0x${CHAIN}`, TOKEN.toUpperCase()];
    for (const form of forms) {
      const answer = await alice.get(`/market/${form}`);
      assert.equal(answer.status, 200, form);
      assert.equal(JSON.parse(answer.text).asset_id, TOKEN, form);
      assert.equal((await alice.market(`/marketdepth/${form}`)).status, 200, form);
      assert.equal((await alice.get(`/orders/user/${alice.id}/${form}`)).text, '[]', form);
    }
    for (const wrong of [`${SHORT}00@${CHAIN}`, `${SHORT}@${CHAIN}00`, `${SHORT}@7a69`, `${TOKEN}@${CHAIN}`, SHORT]) {
      assert.equal(toldBy(await alice.get(`/market/${wrong}`)), '404 MARKET_NOT_FOUND', wrong);
    }
  });

  test('a market without registry row has no symbol anywhere (IDN-11)', async () => {
    await node.operate('PUT', '/operator/assets/31', { symbol: null });
    await node.operate('PUT', '/operator/markets/31', { book_price_decimals: 2, book_quantity_decimals: 4 });
    await node.rest();
    const market = JSON.parse((await alice.get('/market/31')).text) as Record<string, unknown>;
    assert.equal('symbol' in market, false);
    const markets = JSON.parse((await alice.get('/markets')).text) as { asset_id: string }[];
    assert.ok(markets.some(({ asset_id }) => asset_id === '31'));
    assert.doesNotMatch((await alice.get('/markets')).text, /symbol/);
    assert.doesNotMatch((await alice.market('/ticker/31')).text, /symbol/);
  });

  test('raw integers in, human decimals out, exact (AMT-03, AMT-04, AMB-133)', async () => {
    const stream = await bob.stream(`/trades/user/events/${bob.id}`);
    const id = alice.newId();
    assert.equal((await alice.create({ id, price: 301_005, quantity: 12_345 })).status, 200);
    await node.rest();
    assert.match((await alice.market('/marketdepth/2')).text, /^\{"asks":\[\[3010\.05,1\.2345\]\],"bids":\[\],/);
    assert.equal((await bob.create({ side: 'Buy', price: 301_005, quantity: 2_340 })).status, 200);
    await node.rest();
    const trade = await stream.frame();
    assert.match(trade, /"price":"3010\.05","quantity":"0\.234",/);
    assert.match(trade, /"trading_fee":"0\.316958265"/, '4.5 bp of 704.3517');
    assert.match((await alice.market('/marketdepth/2')).text, /\[\[3010\.05,1\.0005\]\]/);
    const record = JSON.parse((await alice.get(`/orders/user/${alice.id}/2/${id}`)).text) as Record<string, unknown>;
    assert.deepEqual(
      ['limit_price', 'quantity', 'confirmed_filled_quantity', 'confirmed_filled_amount'].map((key) => record[key]),
      ['3010.05', '1.2345', '0.234', '704.3517'],
    );
    stream.socket.terminate();
    await alice.send('DELETE', '/orders/cancel-all');
  });

  test('prices and quantities are integers from 1 to 2^53−1, nothing else (AMT-03, AMB-02, ORD-06)', async () => {
    for (const price of ['"777777"', '777777.0', '7.77777e5', '0', '-1', '+1', '00777777', 'null', '[]', '0x10']) {
      const answer = await alice.post('/orders/create', alice.createBody().replace('300000', price));
      assert.match(toldBy(answer), /^400 INVALID_(REQUEST|ORDER)$/, price);
    }
    for (const price of ['9007199254740992', '9007199254740993', '18446744073709551616', `1${'0'.repeat(200)}`]) {
      const answer = await alice.post('/orders/create', alice.createBody().replace('300000', price));
      assert.match(toldBy(answer), /^400 INVALID_(REQUEST|ORDER)$/, price);
    }
    const most = await alice.create({ price: Number.MAX_SAFE_INTEGER, quantity: 10 });
    assert.equal(most.status, 200, most.text);
    await alice.send('DELETE', '/orders/cancel-all');
  });
});
