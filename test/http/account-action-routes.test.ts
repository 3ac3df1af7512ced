// tier: quick, 3 s
/**
 * Account actions at the listener: what reaches the node, and how its verdicts are answered (wire.md 5.1, 7.17,
 * AMB-67).
 */

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';

import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
beforeEach(() => {
  oms.verdict = accepted(null);
  oms.accountAsks.length = 0;
});

const SIGNATURE = `"signature":[${new Array(64).fill(1)}]`;
const INNER =
  `{"inner":{"user":"${ALICE}","source_index":0,"target_index":2,"transfer_asset":"0","transfer_amount":"5",` +
  `"target_account_type":{"Isolated":{"asset":"12"}},"nonce":18446744073709551615},${SIGNATURE}}`;
const CLOSE = `{"inner":{"user":"${ALICE}","account":1,"asset_identifier":"12","nonce":1},${SIGNATURE}}`;
const ACTIONS: readonly [string, string, string][] = [
  ['POST', '/account/transfer/sub-account', INNER],
  ['POST', '/account/transfer/close-position', CLOSE],
  ['PATCH', `/account/${ALICE}/sub-account/2/name`, '{"name":"x"}'],
];
const act = (method: string, path: string, body: string, user = ALICE): Promise<HttpAnswer> =>
  ask(listener.port, path, {
    method,
    headers: { authorization: `Bearer ${oms.token(user)}`, 'user-id': user },
    body: Buffer.from(body),
  });
const codeOf = ({ status, text }: HttpAnswer): string => `${status} ${JSON.parse(text).error.code}`;

suite('account actions at the listener', () => {
  test('a request reaches the node exactly, with the user of the session (TRF-01, POS-10)', async () => {
    for (const [method, path, body] of ACTIONS) assert.equal((await act(method, path, body)).status, 200, path);
    const [transfer, close, rename] = oms.accountAsks as [string, Record<string, unknown>, string][];
    assert.deepEqual(transfer, [
      'transfer',
      {
        user: { id: ALICE, text: ALICE },
        sourceIndex: 0,
        targetIndex: 2,
        transferAsset: { id: '0', text: '0' },
        transferAmount: '5',
        targetAccountType: { kind: 'Isolated', asset: { id: '12', text: '12' } },
        nonce: 18446744073709551615n,
      },
      ALICE,
    ]);
    assert.deepEqual(
      [close?.[0], close?.[1]['account'], close?.[1]['asset']],
      ['closePosition', 1, { id: '12', text: '12' }],
    );
    assert.deepEqual(rename, ['rename', { user: ALICE, subAccount: 2, name: 'x' }, ALICE]);
  });

  test('a refusal of clearing is 200 and false for signed actions, the envelope for a name (AMB-67, wire.md 5.1)', async () => {
    oms.verdict = accepted(reject('POSITION_BUSY', 'fills are pending', 'asset_identifier'));
    for (const [method, path, body] of ACTIONS.slice(0, 2)) {
      const { status, text } = await act(method, path, body);
      assert.deepEqual(
        [status, text],
        [
          200,
          '{"success":false,"details":{"code":"POSITION_BUSY","message":"fills are pending","retryable":true,' +
            '"field":"asset_identifier"}}',
        ],
      );
    }
    oms.verdict = rejected(reject('SERVICE_UNAVAILABLE', 'clearing is busy'));
    for (const [method, path, body] of ACTIONS) {
      assert.equal(codeOf(await act(method, path, body)), '503 SERVICE_UNAVAILABLE');
    }
  });

  test('shape comes before the session, the session before the path user (AMB-91, G25)', async () => {
    for (const [method, path, body] of ACTIONS) {
      assert.equal(codeOf(await ask(listener.port, path, { method, body: Buffer.from('{') })), '400 INVALID_REQUEST');
      assert.equal(codeOf(await ask(listener.port, path, { method, body: Buffer.from(body) })), '401 UNAUTHORIZED');
    }
    const [method = '', path = '', body = ''] = ACTIONS[2] ?? [];
    assert.equal(codeOf(await act(method, path, body, BOB)), '401 UNAUTHORIZED');
    assert.deepEqual(oms.accountAsks, []);
  });

  test('without an answer in five seconds the state is unknown, which is 504 (wire.md 1, 5.3)', async () => {
    oms.verdict = null;
    const answers = await Promise.all(ACTIONS.map(([method, path, body]) => act(method, path, body)));
    for (const answer of answers) assert.equal(codeOf(answer), '504 TIMEOUT_UNKNOWN_STATE');
  });
});
