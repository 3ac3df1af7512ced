// tier: quick
/** Multisig routes at the listener: reads, add-signer's shapes, and the route that always refuses (wire.md 7.20, MSG-39 to MSG-41). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DEFAULT_SIGNERS } from '../../src/clearing/signers/signer-config.ts';
import type { UserId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { ask, type HttpAnswer } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';

import { ScriptedOms } from '../support/scripted-oms.ts';

suite('multisig', () => {
  const oms = new ScriptedOms();
  const listener = listenTo(oms);

  const signers = (body: string, method = 'POST', query = ''): Promise<HttpAnswer> =>
    ask(listener.port, `/multisig/signers${query}`, { method, body: Buffer.from(body) });
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
    for (const body of wrong) {
      assert.equal(code(await signers(body)), '400 INVALID_REQUEST', body);
      assert.equal(code(await signers(body, 'GET')), '400 INVALID_REQUEST', body);
    }
  });

  test('GET and POST find the accounts that list a key, at most 1,000 of them, as an object or bare (MSG-41, AMB-117)', async () => {
    const key = new Uint8Array(33).fill(9);
    const accounts = Array.from({ length: 1_001 }, (_, index) => index.toString(16).padStart(64, '0') as UserId);
    const times = { addedNs: 0n as TimestampNs, expiresAtNs: null, maxSigningWindowNs: null };
    const listed = [{ scheme: 'P256' as const, key, weight: 1, ...times }];
    for (const user of accounts)
      oms.signers.changed({ ...DEFAULT_SIGNERS, user, isUnfunded: false, signers: listed }, 1);
    const body = `{"P256":[${key.join(',')}]}`;
    const first = accounts.slice(0, 1_000);
    for (const method of ['GET', 'POST'] as const) {
      assert.deepEqual(JSON.parse((await signers(body, method)).text), { accounts: first });
      assert.deepEqual(JSON.parse((await signers(body, method, '?bare=true')).text), first);
      assert.equal(code(await signers(body, method, '?bare=yes')), '400 INVALID_REQUEST');
      assert.equal(code(await signers(body, method, '?bare=true&bare=true')), '400 INVALID_REQUEST');
    }
    assert.equal((await signers(`{"Secp256k1":[${key.join(',')}]}`)).text, '{"accounts":[]}', 'another scheme');
  });

  test('add-signer takes either order of members and nothing else (MSG-39, AMB-13)', async () => {
    const headers = { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE };
    const add = (inner: string): Promise<HttpAnswer> => {
      const body = Buffer.from(`{"inner":{"user":"${ALICE}",${inner}},"signature":[${new Array(64).fill(1)}]}`);
      return ask(listener.port, '/multisig/add-signer', { method: 'POST', headers, body });
    };
    const signer = `"signer":{"P256":[${new Array(33).fill(2)}]}`;
    const good = [
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":0`,
      `"oms_nonce":"abc","ce_nonce":0,${signer},"weight":4294967295,"session_duration_ns":18446744073709551615`,
      `${signer},"weight":1,"session_duration_ns":null,"ce_nonce":9007199254740991`,
      `${signer},"weight":1,"ce_nonce":0`,
    ];
    for (const inner of good) assert.equal((await add(inner)).status, 200, inner);
    const wrong = [
      `${signer},"weight":0,"session_duration_ns":1,"ce_nonce":0`,
      `${signer},"weight":4294967296,"session_duration_ns":1,"ce_nonce":0`,
      `${signer},"weight":1,"session_duration_ns":18446744073709551616,"ce_nonce":0`,
      `${signer},"weight":1,"session_duration_ns":-1,"ce_nonce":0`,
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":-1`,
      `${signer},"weight":1,"session_duration_ns":1`,
      `"weight":1,"session_duration_ns":1,"ce_nonce":0`,
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":0,"more":1`,
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":0,"oms_nonce":""`,
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":0,"oms_nonce":"a b"`,
      `${signer},"weight":1,"session_duration_ns":1,"ce_nonce":0,"oms_nonce":null`,
    ];
    for (const inner of wrong) assert.equal(code(await add(inner)), '400 INVALID_REQUEST', inner);
    const entry = `{"signer":{"Ed25519":[${new Array(32).fill(2)}]},"signature":[${new Array(64).fill(1)}]}`;
    const many = `"additional_signers":[${new Array(17).fill(entry).join(',')}],"signature":[]`;
    const body = Buffer.from(`{"inner":{"user":"${ALICE}",${good[0]}},${many}}`);
    const refused = await ask(listener.port, '/multisig/add-signer', { method: 'POST', headers, body });
    assert.deepEqual(
      [code(refused), JSON.parse(refused.text).error.details.field],
      ['400 INVALID_REQUEST', 'additional_signers'],
    );
  });
});
