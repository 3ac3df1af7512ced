// tier: quick
/** `GET /account/ledger/{user_id}`: who may read it, what it asks of the row log, and what it answers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, suite, test } from 'node:test';
import type { LedgerSelection } from '../../src/codec/ledger-page.ts';
import { LEDGER_ENTRIES } from '../../src/core/ledger-entries.ts';
import { ask } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
const ROW =
  '{"n":7,"sequence":9007199254740991,"timestamp_ns":1795945286123456789,"sub_account":1,"asset":"0","leg":null,"kind":"trade","amount":"-1.5","balance_after":"3","reference":"2/9"}';
let asked: LedgerSelection[] = [];

beforeEach(() => {
  asked = [];
  oms.ledger = (query) => {
    asked.push(query);
    return { rows: [ROW], nextBefore: 7 };
  };
});

async function read(query = '', headers?: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> {
  const own = { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE };
  return ask(listener.port, `/account/ledger/${ALICE}${query}`, { headers: headers ?? own });
}

suite('LDG-01 the read of a ledger', () => {
  test('LDG-01 rows of the row log are answered as they are, with the limit that was applied and the next page', async () => {
    const { status, text } = await read();
    assert.equal(status, 200);
    assert.equal(text, `{"ledger":[${ROW}],"limit":100,"has_next_page":true,"next_before":7}`);
    const nothing = { subAccount: null, asset: null, entry: null, fromNs: null, toNs: null, before: null };
    assert.deepEqual(asked, [{ ...nothing, user: ALICE, limit: 100 }]);
  });

  test('LDG-01 every member of the query reaches the row log, and a limit above the cap is the cap', async () => {
    const times = 'start_time=1795945286123456789&end_time=1795945286123456790';
    const { status, text } = await read(`?before=18&limit=5000&${times}&sub_account=3&asset=0&kind=trading_fee`);
    assert.equal(status, 200, text);
    assert.deepEqual(asked, [
      {
        user: ALICE,
        before: 18,
        limit: 1_000,
        fromNs: 1_795_945_286_123_456_789n,
        toNs: 1_795_945_286_123_456_790n,
        subAccount: 3,
        asset: '0',
        entry: 'trading_fee',
      },
    ]);
  });

  test('LDG-01 what is wrong in the query is named, and nothing is read', async () => {
    for (const [query, field] of [
      ['?before=-1', 'before'],
      ['?before=9007199254740992', 'before'],
      ['?limit=0', 'limit'],
      ['?kind=Trade', 'kind'],
      ['?asset=no%20asset', 'asset'],
      ['?sub_account=256', 'sub_account'],
      ['?start_time=1795945286123456790&end_time=1795945286123456789', 'start_time'],
      ['?page=1', 'page'],
    ] as const) {
      const { status, text } = await read(query);
      assert.equal(status, 400, query);
      assert.equal(JSON.parse(text).error.details.field, field, text);
    }
    assert.deepEqual(asked, []);
  });

  test('LDG-01 a ledger is for its user alone, who has a session', async () => {
    assert.equal((await read('', {})).status, 401);
    assert.equal((await read('', { authorization: `Bearer ${oms.token(BOB)}`, 'user-id': BOB })).status, 401);
    assert.deepEqual(asked, []);
  });

  test('LDG-01 the contract lists every kind', () => {
    const text = readFileSync('docs/reference/wire-additions.md', 'utf8');
    const [, table = ''] = /\n\| `kind` \| Change \|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)/.exec(text) ?? [];
    const listed = table.split('\n').flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
    assert.deepEqual(
      listed.map(([, word]) => word),
      LEDGER_ENTRIES,
    );
  });

  test('LDG-01 a venue without a row log says so', async () => {
    oms.ledger = () => null;
    const { status, text } = await read();
    assert.equal(status, 404);
    assert.match(text, /"NOT_FOUND".*keeps no ledger/);
  });
});
