// tier: quick
/** The cancels that a session alone authorizes, over HTTP. */

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { reject } from '../../src/core/reject.ts';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';

import { aMoment, eventually } from '../support/patience.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
beforeEach(() => {
  oms.script = 'received';
  oms.bulkCancels.length = 0;
});

const session = (user = ALICE): Record<string, string> => ({
  authorization: `Bearer ${oms.token(user)}`,
  'user-id': user,
});
const remove = (path: string, body?: string, headers = session()): Promise<HttpAnswer> =>
  ask(listener.port, path, { method: 'DELETE', headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) });
const told = ({ status, text }: HttpAnswer): [number, string] => [status, JSON.parse(text).error.code];
const ACCEPTED = [202, '{"status":"accepted"}'];

suite('cancel-all', () => {
  test('a session is enough, and 202 means dispatched (CAN-05, CAN-07, CAN-11, SIG-13)', async () => {
    const { status, text } = await remove('/orders/cancel-all');
    assert.deepEqual([status, text], ACCEPTED);
    assert.deepEqual(oms.bulkCancels, [{ user: ALICE, assetId: null, beforeNs: null }]);
  });

  test('of one market (CAN-08); an unknown one is 404', async () => {
    const { status, text } = await remove('/orders/cancel-all/12?max_ts=7');
    assert.deepEqual([status, text], ACCEPTED);
    assert.deepEqual(oms.bulkCancels, [{ user: ALICE, assetId: '12', beforeNs: 7n }]);
    for (const market of ['13', 'x', '0x1']) {
      assert.deepEqual(told(await remove(`/orders/cancel-all/${market}`)), [404, 'MARKET_NOT_FOUND']);
    }
  });

  test('max_ts is exact beyond 2^53 and strictly before it; 0 concerns nothing, never everything (CAN-06, AMB-18)', async () => {
    await remove('/orders/cancel-all?max_ts=1770000000000000003');
    await remove('/orders/cancel-all?max_ts=0');
    await remove('/orders/cancel-all?max_ts=18446744073709551615');
    const befores = oms.bulkCancels.map((request) => ('beforeNs' in request ? request.beforeNs : 'batch'));
    assert.deepEqual(befores, [1770000000000000003n, 1n, 18446744073709551615n]);
  });

  test('a negative or non-integer max_ts is 400, before the session is looked at (AMB-18, AMB-91)', async () => {
    for (const query of ['-1', '1.5', '1e3', 'x', '', '01', '18446744073709551616', '1&max_ts=2']) {
      for (const path of ['/orders/cancel-all', '/orders/cancel-all/12']) {
        assert.deepEqual(told(await remove(`${path}?max_ts=${query}`, undefined, {})), [400, 'INVALID_REQUEST'], query);
      }
    }
    assert.deepEqual(oms.bulkCancels, []);
  });
});

suite('of a leader without a lease', () => {
  test('mass cancels are answered when they are stored, with 202 (cluster.md 7.4)', async () => {
    for (const [path, body] of [
      ['/orders/cancel-all'],
      ['/orders/cancel-all/12'],
      ['/orders/cancel-batch', '{"order_ids":["a"]}'],
    ] as const) {
      oms.isStalled = true;
      let isAnswered = false;
      const asked = remove(path, body).then((answer) => {
        isAnswered = true;
        return answer;
      });
      await eventually(() => oms.unstored.length === 1 || isAnswered);
      await aMoment(20);
      assert.equal(isAnswered, false, path);
      oms.isStalled = false;
      oms.unstored.pop()?.();
      const { status, text } = await asked;
      assert.deepEqual([status, text], ACCEPTED, path);
    }
  });
});

suite('cancel-batch', () => {
  const path = '/orders/cancel-batch';
  const ids = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, index) => `o-${index}`));

  test('an object or a bare array, with a market or without (CAN-10, AMB-24, G6)', async () => {
    for (const body of ['{"order_ids":["a","b"]}', '["a","b"]', '{"order_ids":["a","b"],"asset_id":null,"more":1}']) {
      const { status, text } = await remove(path, body);
      assert.deepEqual([status, text], ACCEPTED);
      assert.deepEqual(oms.bulkCancels.pop(), { user: ALICE, orderIds: ['a', 'b'], assetId: null });
    }
    await remove(path, '{"asset_id":"12","order_ids":["a"]}');
    assert.deepEqual(oms.bulkCancels.pop(), { user: ALICE, orderIds: ['a'], assetId: '12' });
    assert.deepEqual(told(await remove(path, '{"asset_id":"13","order_ids":["a"]}')), [404, 'MARKET_NOT_FOUND']);
  });

  test('duplicates collapse, and an id that no order can have is unknown (CAN-09)', async () => {
    const { status, text } = await remove(path, '["a","a","b c","sys-1","a"]');
    assert.deepEqual([status, text], ACCEPTED);
    assert.deepEqual(oms.bulkCancels.pop(), { user: ALICE, orderIds: ['a'], assetId: null });
  });

  test('every id that is sent is paid for, also one that no order can have and one named twice (LIM-11)', async () => {
    for (const body of [ids(50), JSON.stringify(new Array(50).fill('b c')), JSON.stringify(new Array(50).fill('a'))]) {
      oms.charged.length = 0;
      assert.equal((await remove(path, body)).status, 202);
      assert.deepEqual(oms.charged, [[ALICE, { bulkCancel: 50 }]]);
    }
  });

  test('1 to 50 ids, counted as sent; a broken shape is 400 before the session is looked at (AMB-24, AMB-91)', async () => {
    assert.equal((await remove(path, ids(50))).status, 202);
    const wrong = [
      ids(51),
      `{"order_ids":${ids(51)}}`,
      '[]',
      '{"order_ids":[]}',
      '{}',
      '',
      '"a"',
      '[1]',
      '[null]',
      '{"order_ids":["a"],"asset_id":"x"}',
    ];
    for (const body of wrong) assert.deepEqual(told(await remove(path, body, {})), [400, 'INVALID_REQUEST'], body);
  });
});

suite('both', () => {
  const paths = [
    ['/orders/cancel-all', undefined],
    ['/orders/cancel-all/12', undefined],
    ['/orders/cancel-batch', '["a"]'],
  ] as const;

  test('need a session of the user (AUT-01, AUT-02)', async () => {
    for (const [path, body] of paths) {
      assert.deepEqual(told(await remove(path, body, {})), [401, 'UNAUTHORIZED']);
      const foreign = { ...session(ALICE), 'user-id': BOB };
      assert.deepEqual(told(await remove(path, body, foreign)), [401, 'UNAUTHORIZED']);
    }
    assert.deepEqual(oms.bulkCancels, []);
  });

  test('are refused whole when not all of it fits (AMB-111)', async () => {
    oms.script = reject('SERVICE_UNAVAILABLE', 'busy');
    for (const [path, body] of paths) assert.deepEqual(told(await remove(path, body)), [503, 'SERVICE_UNAVAILABLE']);
  });
});
