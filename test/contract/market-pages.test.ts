// tier: quick, 3 s
/** Pages of markets with the names of assets, and parameters of netting (wire-additions.md 5, 9.5). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ask } from '../support/edge-client.ts';
import { errorOf, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

type Row = Readonly<Record<string, unknown>>;
const CHAIN = '000000000000007a69';
const TOKEN = '6e'.repeat(20);

suite('markets in pages', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const get = async (query: string): Promise<Row> =>
    JSON.parse((await ask(node.ports.oms, `/markets${query}`)).text) as Row;
  const idsOf = (page: Row): unknown[] => (page['markets'] as Row[]).map((row) => row['asset_id']);

  test('without page and limit the reply is the array it was', async () => {
    const { text } = await ask(node.ports.oms, '/markets');
    assert.ok(Array.isArray(JSON.parse(text)));
    const page = (await ask(node.ports.oms, '/markets?page=0')).text;
    assert.ok(
      page.startsWith(`{"markets":${text},"total_markets":3,"page":0,"limit":100,"total_pages":1,`),
      'the same rows in the same order',
    );
  });

  test('a page has its counters, ascending by asset, and an empty one past the end', async () => {
    const all = idsOf(await get('?limit=1000'));
    assert.deepEqual(
      all,
      [...all].sort((a, b) => Number(a) - Number(b)),
    );
    const { markets, ...counters } = await get('?limit=2');
    assert.equal((markets as Row[]).length, 2);
    assert.deepEqual(Object.entries(counters), [
      ['total_markets', all.length],
      ['page', 0],
      ['limit', 2],
      ['total_pages', Math.ceil(all.length / 2)],
      ['cursor_size', 2],
      ['has_next_page', true],
      ['next_page', 1],
    ]);
    const last = await get(`?limit=2&page=${Math.ceil(all.length / 2) - 1}`);
    assert.deepEqual([last['has_next_page'], last['next_page']], [false, null]);
    const past = await get('?page=9007199254740991&limit=1000');
    assert.deepEqual([past['markets'], past['total_markets']], [[], all.length]);
    assert.equal((await get('?limit=99999999999999999999999'))['limit'], 1_000);
  });

  test('the symbol map has every indexed asset with a symbol, on every page alike, and only when it is asked for', async () => {
    const token = { token: TOKEN, chain_id: CHAIN, decimals: 18, symbol: 'WNINE' };
    const named = { symbol: 'NINE', name: 'Nine Shares', asset_class: 'equity', tokens: [token] };
    const reply = await node.operate('PUT', '/operator/assets/9', named);
    assert.deepEqual([reply['name'], reply['asset_class']], ['Nine Shares', 'equity']);
    assert.equal((reply['tokens'] as Row[])[0]?.['symbol'], 'WNINE');
    await node.operate('PUT', '/operator/assets/10', {});
    const first = await get('?limit=1&include_symbol_map=true');
    assert.equal(Object.keys(first).at(-1), 'symbol_map');
    const map = first['symbol_map'] as Readonly<Record<string, Row>>;
    assert.deepEqual(map['9'], {
      index: 9,
      symbol: 'NINE',
      name: 'Nine Shares',
      asset_class: 'equity',
      representations: ['WNINE'],
    });
    assert.deepEqual(map['0'], { index: 0, symbol: 'USD', name: 'USD', asset_class: 'fiat', representations: [] });
    assert.deepEqual([map['2']?.['name'], map['2']?.['asset_class'], map['10']], ['ETH', 'crypto', undefined]);
    assert.deepEqual((await get('?limit=1&page=1&include_symbol_map=true'))['symbol_map'], map);
    assert.ok(!('symbol_map' in (await get('?limit=1&include_symbol_map=false'))));
    const patched = await node.operate('PATCH', '/operator/assets/9', { name: null, max_adl: '5' });
    assert.ok(!('name' in patched));
    assert.deepEqual([patched['asset_class'], (patched['tokens'] as Row[])[0]?.['symbol']], ['equity', 'WNINE']);
    await node.restart();
    const after = (await get('?limit=1&include_symbol_map=true'))['symbol_map'] as Readonly<Record<string, Row>>;
    assert.deepEqual(after['9'], { ...map['9'], name: 'NINE' }, 'names are as durable as the registry');
  });

  test('the symbol map without a page, and values outside of the table, are 400', async () => {
    for (const [query, field] of [
      ['?include_symbol_map=true', 'include_symbol_map'],
      ['?include_symbol_map=false', 'include_symbol_map'],
      ['?limit=1&include_symbol_map=1', 'include_symbol_map'],
      ['?limit=0', 'limit'],
      ['?page=9007199254740992', 'page'],
    ] as const) {
      const { code, details } = errorOf(await ask(node.ports.oms, `/markets${query}`));
      assert.deepEqual([code, details?.['field']], ['INVALID_REQUEST', field], query);
    }
  });

  test('netting is not offered: its parameters are an empty array', async () => {
    assert.equal(toldBy(await ask(node.ports.oms, '/registry/netting-parameters')), '200 []');
  });
});
