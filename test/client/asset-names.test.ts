// tier: quick, 2 s
/** Assets and markets by their symbols, and prices and quantities that a market takes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AssetNames } from '../../src/client/asset-names.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';
import type { Market } from '../../src/client/replies.ts';
import { rawOf } from '../../src/client/signed-actions.ts';
import { movePrice, priceOnTick, quantityInLots, ticksBetween } from '../../src/client/ticks.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import { propertyParameters } from '../support/property.ts';
import { startWireServer, withLogin } from '../support/wire-server.ts';

const isInvalid = (words: RegExp) => (error: unknown) =>
  error instanceof RingbookError && error.code === 'INVALID_ARGUMENT' && words.test(error.message);

function namesOf(...pairs: readonly (readonly [string, string])[]): { readonly names: AssetNames; reads: number } {
  const world = {
    reads: 0,
    names: new AssetNames(() => {
      world.reads += 1;
      return Promise.resolve(new Map(pairs));
    }),
  };
  return world;
}

suite('symbols', () => {
  test('a symbol in any case is its asset; an id is itself and reads nothing', async () => {
    const world = namesOf(['0', 'USD'], ['2', 'ETH']);
    assert.equal(await world.names.idOf('2'), '2');
    assert.equal(
      await world.names.idOf(`${'ab'.repeat(20)}@${'0'.repeat(18)}`),
      `${'ab'.repeat(20)}${'0'.repeat(24)}@${'0'.repeat(18)}`,
    );
    assert.equal(world.reads, 0);
    assert.equal(await world.names.idOf('eth'), '2');
    assert.equal(world.names.known('ETH'), '2');
    assert.equal(world.names.symbolOf('2'), 'ETH');
    assert.equal(world.reads, 1);
  });

  test('one that is not known is refused, with the nearest; one of several assets is named by its id', async () => {
    const { names } = namesOf(['2', 'ETH'], ['7', 'ABC'], ['8', 'abc']);
    assert.throws(() => names.known('ETH'), isInvalid(/"ETH" is no asset: .*assets\.read\(\)/));
    await assert.rejects(names.idOf('ETG'), isInvalid(/did you mean ETH\?/));
    await assert.rejects(names.idOf('ABC'), isInvalid(/assets 7, 8: name one by its id/));
    await assert.rejects(names.idOf(2 as never), isInvalid(/as a text/));
  });

  test('many unknown symbols cost one read; what a used symbol means does not change', async () => {
    let asset = '2';
    let reads = 0;
    const names = new AssetNames(() => {
      reads += 1;
      return Promise.resolve(new Map([[asset, 'ETH']]));
    });
    assert.equal(await names.idOf('ETH'), '2');
    asset = '9';
    for (const unknown of ['A', 'B', 'C']) await assert.rejects(names.idOf(unknown), isInvalid(/no asset/));
    assert.equal(reads, 1);
    assert.equal(await names.idOf('ETH'), '2');
  });

  test('every call that names a market or an asset takes its symbol', async () => {
    const market =
      '{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":100,"taker_fee_rate":450,"status":"Active"}';
    const symbols = '{"2":{"index":2,"symbol":"ETH","name":"ETH","asset_class":"crypto","representations":[]}}';
    const page = `{"markets":[${market}],"page":0,"limit":1,"next_page":null,"symbol_map":${symbols}}`;
    const server = await startWireServer({
      answer: withLogin(({ path }) => {
        if (path.startsWith('/markets')) return { body: page };
        if (path === '/market/2') return { body: market };
        return path.startsWith('/account/transfer') ? { body: '{"success":true}' } : { body: '{}' };
      }),
      socket: () => undefined,
    });
    const client = new RingbookClient({ oms: server.base, mds: server.base, key: devKey('a') });
    const unread = (): undefined => undefined;
    try {
      assert.equal((await client.market('ETH')).assetId, '2');
      assert.equal((await client.order({ assetId: 'ETH', side: 'Buy', price: '3000', quantity: '1' })).assetId, '2');
      assert.equal((await client.marketOrder({ assetId: 'ETH', side: 'Buy', amount: '30' })).assetId, '2');
      assert.equal(client.signCancel('ETH', 'o-1').assetId, '2');
      assert.equal((await client.signReplace({ assetId: 'ETH', orderId: 'o-1', price: '1' })).assetId, '2');
      const amend = { assetId: 'ETH', orderId: 'o-1', quantity: '1', expectedRevisionNs: null };
      assert.equal((await client.amendAction(amend)).assetId, '2');
      // Where the reply is not one that can be read, the request was sent all the same.
      const calls: readonly (() => Promise<unknown>)[] = [
        () => client.cancelAll({ assetId: 'ETH' }),
        () => client.cancelBatch(['o-1'], 'ETH'),
        () => client.orderRecord('ETH', 'o-1'),
        () => client.depth('ETH'),
        () => client.klines('ETH'),
        () => client.publicTrades('ETH'),
        () => client.ticker('ETH'),
        () => client.openInterest('ETH'),
        () => client.history.orders({ assetId: 'ETH' }),
        () => client.history.positionBasis({ assetId: 'ETH' }),
        () => client.margin.positions('ETH'),
        () => client.margin.simulate({ subAccount: 1, assetId: 'ETH', side: 'Buy', size: '1' }),
        () =>
          client.account.transfer({
            sourceIndex: 0,
            targetIndex: 1,
            assetId: 'ETH',
            amount18: 1n,
            targetAccountType: null,
            nonce: 1n,
          }),
        () => client.account.closePosition({ account: 1, assetId: 'ETH', nonce: 1n }),
        () => client.depthDiffs('ETH'),
        () => client.tradeStream('ETH'),
        () => client.klineStream('ETH'),
        () => client.tickerStream('ETH'),
      ];
      const before = server.requests.length;
      for (const call of calls) await call().catch(unread);
      const sent = server.requests.slice(before).map(({ path, body }) => `${path} ${body}`);
      const asked = [...sent, ...server.upgrades.map(({ path }) => path)].filter(
        (line) => !/^\/(?:nonce|auth)/.test(line),
      );
      assert.equal(asked.length, calls.length, asked.join('\n'));
      for (const line of asked) {
        assert.match(line, /\/2(?:\b|$)|"2"/, line);
        assert.ok(!line.includes('ETH'), line);
      }
      assert.equal(server.requests.filter(({ path }) => path.startsWith('/markets')).length, 1);
    } finally {
      client.close();
      await server.close();
    }
  });
});

suite('ticks and lots', () => {
  const market: Market = {
    assetId: '2',
    priceDecimals: 3,
    quantityDecimals: 4,
    tickSize: '0.005',
    minOrderSize: '0.001',
    makerFeeRate: 0,
    takerFeeRate: 0,
    status: 'Active',
  };

  test('a price is rounded to the tick: down, up, or to the nearest, halves up', () => {
    assert.equal(priceOnTick(market, '3000.0149', 'down'), '3000.01');
    assert.equal(priceOnTick(market, '3000.0101', 'up'), '3000.015');
    assert.equal(priceOnTick(market, '3000.0125'), '3000.015');
    assert.equal(priceOnTick(market, '3000.0124'), '3000.01');
    assert.equal(priceOnTick(market, '-0.0125', 'down'), '-0.015');
  });

  test('what doubles leave behind 15 digits moves no price', () => {
    assert.equal(priceOnTick(market, 0.1 + 0.2, 'up'), '0.3');
    assert.equal(priceOnTick(market, 0.3, 'down'), '0.3');
    assert.equal(priceOnTick(market, 1e-7, 'up'), '0.005');
    assert.equal(priceOnTick(market, 1.5e15), '1500000000000000');
    assert.throws(() => priceOnTick(market, Number.NaN), isInvalid(/no decimal/));
    assert.throws(() => priceOnTick(market, '1e3'), isInvalid(/price "1e3"/));
  });

  test('steps of ticks, and how many are between two prices', () => {
    assert.equal(movePrice(market, '3000', -2), '2999.99');
    assert.equal(ticksBetween(market, '2999.99', '3000'), 2);
    assert.throws(() => ticksBetween(market, '3000', '3000.001'), isInvalid(/whole ticks/));
    assert.throws(() => movePrice(market, '3000', 0.5), isInvalid(/whole number/));
  });

  test('a quantity is cut to lots, and is 0 below the smallest order', () => {
    assert.equal(quantityInLots(market, '1.23456'), '1.2345');
    assert.equal(quantityInLots(market, 0.00109), '0.001');
    assert.equal(quantityInLots(market, '0.00099'), '0');
  });

  test('for any raw price and any noise below a millionth of it the tick is the one of whole numbers', () => {
    const tick = 5;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (raw) => {
        const text = formatRaw(raw, market.priceDecimals);
        const expected = (rounded: number): string => formatRaw(rounded * tick, market.priceDecimals);
        for (const given of [text, Number(text)]) {
          assert.equal(priceOnTick(market, given, 'down'), expected(Math.floor(raw / tick)));
          assert.equal(priceOnTick(market, given, 'up'), expected(Math.ceil(raw / tick)));
          const nearest = priceOnTick(market, given);
          assert.ok(nearest === '0' || rawOf(nearest, market.priceDecimals, 'price') % tick === 0);
        }
      }),
      propertyParameters(300),
    );
  });
});
