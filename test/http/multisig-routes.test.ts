/** Multisig reads and the route that always refuses (wire.md 7.20, MSG-40, MSG-41). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/order-fixture.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

suite('multisig', () => {
  const oms = new ScriptedOms();
  const listener = listenTo(oms);

  const signers = (body: string): Promise<HttpAnswer> =>
    ask(listener.port, '/multisig/signers', { method: 'POST', body: Buffer.from(body) });
  const code = ({ status, text }: HttpAnswer): string => `${status} ${JSON.parse(text).error.code}`;

  test('an account without a configuration has the default one, thresholds nested (wire.md 7.20, C9)', async () => {
    const headers = { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE };
    const own = await ask(listener.port, `/multisig/config/${ALICE}`, { headers });
    assert.deepEqual(
      [own.status, own.text],
      [200, '{"master_weight":1,"signers":[],"thresholds":{"low":1,"medium":1,"high":1},"config_nonce":0}'],
    );
    assert.equal(code(await ask(listener.port, `/multisig/config/${BOB}`, { headers })), '401 UNAUTHORIZED');
    assert.equal(code(await ask(listener.port, `/multisig/config/${ALICE}`)), '401 UNAUTHORIZED');
  });

  test('POST /multisig/config is 405 for every caller and every body (MSG-40, ERR-06)', async () => {
    for (const method of ['POST', 'GET', 'PUT', 'DELETE']) {
      const refused = await ask(listener.port, '/multisig/config', { method, body: Buffer.from('{') });
      assert.deepEqual([code(refused), refused.headers.allow], ['405 METHOD_NOT_ALLOWED', ''], method);
    }
  });

  test('a key that no account lists has no accounts, which is no failure; no session is needed (MSG-41)', async () => {
    const keys = { Ed25519: 32, Secp256k1: 33, P256: 33, WebAuthn: 33 };
    for (const [scheme, length] of Object.entries(keys)) {
      const body = JSON.stringify({ [scheme]: new Array(length).fill(2) });
      const { status, text } = await signers(body);
      assert.deepEqual([status, text], [200, '{"accounts":[]}'], scheme);
    }
    const wrong = ['', '{}', '[]', '{"Secp256k1":[2]}', '{"Rsa":[1]}', '{"P256":[256]}', '{"Ed25519":"00"}'];
    for (const body of wrong) assert.equal(code(await signers(body)), '400 INVALID_REQUEST', body);
  });
});
