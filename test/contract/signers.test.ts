// tier: full, 7 s
/** Signers of accounts at the public API: add-signer, co-signed actions, login by co-signers, reads (wire.md 3, 4.4, 7.20; MSG). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { toldBy } from '../support/plain-client.ts';
import { act, actions, add, ceNonceOf, configOf, verdictOf } from '../support/signed-accounts.ts';
import { TestNode } from '../support/test-node.ts';
import {
  actionBody,
  addSignerText,
  keyText,
  type NewSigner,
  type WireSigner,
  wireSigner,
} from '../support/wire-signers.ts';

const HOUR = 3_600_000_000_000n;

suite('signers of accounts', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  test('MSG-01, MSG-02, MSG-03, MSG-38, MSG-39: a signer that was added is in the configuration until now and its duration', async () => {
    const user = await node.user({ '0': '10' });
    const [first, second, third] = [wireSigner(0x21), wireSigner(0x22, 'P256'), wireSigner(0x23, 'Ed25519')];
    assert.equal((await configOf(user)).config_nonce, 0);
    assert.equal(await add(user, { signer: first, weight: 3, duration: HOUR, ceNonce: 0 }), '200');
    const answer = await user.get(`/multisig/config/${user.id}`);
    assert.equal(
      answer.text,
      `{"master_weight":1,"signers":[{"key":${keyText(first)},"weight":3,"expires_at_ns":${node.nowNs + HOUR},` +
        '"max_signing_window_ns":null}],"thresholds":{"low":1,"medium":1,"high":1},"config_nonce":1}',
    );
    assert.equal(await add(user, { signer: second, duration: 2n ** 64n - 1n, ceNonce: 1 }), '200');
    assert.equal(await add(user, { signer: third, ceNonce: 2 }), '200');
    const { signers } = await configOf(user);
    assert.deepEqual(
      signers.slice(1).map(({ weight, expires_at_ns }) => [weight, expires_at_ns]),
      [
        [1, null],
        [1, null],
      ],
      'an end beyond 64 bits is none',
    );
    await node.operate('GET', `/operator/users/${user.id}`).then((of) => assert.equal(of['config_nonce'], 3));
  });

  test('NON-05, NON-01: each change adds 1 to config_nonce, which GET /nonce shows; another one is INVALID_NONCE and changes nothing', async () => {
    const user = await node.user({ '0': '10' });
    assert.equal(await ceNonceOf(user), 0);
    assert.equal(await add(user, { signer: wireSigner(0x21), ceNonce: 1 }), '200 INVALID_NONCE');
    assert.equal(await add(user, { signer: wireSigner(0x21), ceNonce: 0 }), '200');
    assert.equal(await ceNonceOf(user), 1);
    assert.equal(await add(user, { signer: wireSigner(0x22), ceNonce: 0 }), '200 INVALID_NONCE', 'stale');
    assert.equal(await ceNonceOf(user), 1);
    assert.equal((await configOf(user)).signers.length, 1);
    assert.equal(await add(user, { signer: wireSigner(0x22), ceNonce: 1 }), '200');
  });

  test('MSG-08, MSG-09, MSG-39, AMB-132, AMB-124: no weight of 0, not the master key, no key twice, no 17th signer', async () => {
    const user = await node.user({ '0': '10' });
    const refused = (signer: Partial<NewSigner>) => add(user, { signer: wireSigner(0x21), ceNonce: 0, ...signer });
    assert.equal(await refused({ weight: 0 }), '400 INVALID_REQUEST');
    assert.equal(await refused({ weight: 4_294_967_296 }), '400 INVALID_REQUEST');
    const master = { scheme: 'Ed25519' as const, key: Buffer.from(user.id, 'hex') };
    assert.equal(await refused({ signer: master }), '200 INVALID_REQUEST');
    for (let count = 0; count < 16; count += 1) {
      assert.equal(await add(user, { signer: wireSigner(0x21 + count), ceNonce: count }), '200');
    }
    assert.equal(await refused({ ceNonce: 16 }), '200 SIGNER_DUPLICATE');
    assert.equal(await refused({ signer: wireSigner(0x71), ceNonce: 16 }), '200 INVALID_REQUEST');
    assert.equal((await configOf(user)).signers.length, 16);
  });

  test('MSG-39, AMB-13: with oms_nonce the other text is signed; the nonce is judged as at a login and consumed by success alone', async () => {
    const user = await node.user({ '0': '10' });
    const other = await node.user({});
    const signer = wireSigner(0x21);
    assert.equal(await add(user, { signer, ceNonce: 0, omsNonce: 'none' }), '400 NONCE_NOT_FOUND');
    const omsNonce = await user.nonce();
    assert.equal(await add(user, { signer, ceNonce: 0, omsNonce: 'another' }), '400 INVALID_NONCE');
    assert.equal(await add(user, { signer, ceNonce: 9, omsNonce }), '200 INVALID_NONCE');
    const text = addSignerText(user.id, { signer, ceNonce: 0, omsNonce });
    const plain = addSignerText(user.id, { signer, ceNonce: 0 });
    const mixed = actionBody(text, { master: user.key }).replace(/"signature":\[[^\]]*\]/, () => {
      return `"signature":[${[...user.key.sign(plain)].join(',')}]`;
    });
    assert.equal(verdictOf(await user.post('/multisig/add-signer', mixed)), '401 INVALID_SIGNATURE');
    assert.equal(await user.nonce(), omsNonce, 'no refusal has consumed it');
    assert.equal(await add(user, { signer, ceNonce: 0, omsNonce }), '200');
    assert.equal(await add(user, { signer: wireSigner(0x22), ceNonce: 1, omsNonce }), '400 NONCE_NOT_FOUND');
    const late = await other.nonce();
    await node.advance(300_000_000_000n);
    assert.equal(await add(other, { signer, ceNonce: 0, omsNonce: late }), '400 NONCE_EXPIRED');
  });

  test('MSG-20, MSG-29 to MSG-31, MSG-12, AMB-91: an unknown, repeated or wrong co-signer refuses the whole request', async () => {
    const user = await node.user({ '0': '10' });
    const signer = wireSigner(0x21);
    assert.equal(await add(user, { signer, weight: 5, ceNonce: 0 }), '200');
    const [, path, text] = actions(user)[0] ?? assert.fail();
    const master = user.key;
    const refused = (coSigners: readonly WireSigner[]) => act(user, path, text, { master, coSigners });
    assert.equal(await refused([signer, wireSigner(0x31)]), '400 SIGNER_UNKNOWN');
    assert.equal(
      await refused([{ ...signer, scheme: 'P256' }]),
      '400 SIGNER_UNKNOWN',
      'the bytes under another scheme',
    );
    assert.equal(await refused([signer, signer]), '400 SIGNER_DUPLICATE');
    assert.equal(await refused([{ ...signer, sign: () => signer.sign(`${text} `) }]), '401 INVALID_SIGNATURE');
    assert.equal(await refused([{ ...signer, sign: wireSigner(0x31).sign }]), '401 INVALID_SIGNATURE');
    const forged = { master: { sign: () => new Uint8Array(64) } as unknown as typeof master, coSigners: [signer] };
    assert.equal(await act(user, path, text, forged), '401 INVALID_SIGNATURE', 'the co-signer would suffice');
    assert.equal(await act(user, path, text, { master: null, coSigners: [] }), '400 INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(await act(user, path, text, { master: null, coSigners: [signer] }), '200 POSITION_NOT_FOUND');
    const stranger = await node.user({ '0': '10' });
    assert.equal(await act(stranger, path, text, { master, coSigners: [signer] }), '403 SIGNER_MISMATCH');
  });

  test('NON-05: of changes that are sent together with one config_nonce one is applied', async () => {
    const user = await node.user({ '0': '10' });
    const sent = [0x21, 0x22, 0x23, 0x24, 0x25].map((byte) => add(user, { signer: wireSigner(byte), ceNonce: 0 }));
    const verdicts = (await Promise.all(sent)).sort();
    assert.deepEqual(verdicts, ['200', ...new Array(4).fill('200 INVALID_NONCE')]);
    const { signers, config_nonce } = await configOf(user);
    assert.deepEqual([signers.length, config_nonce], [1, 1]);
  });

  test('LIM-08, MSG-28: every signature of an action behind the first costs as much as an action', async () => {
    const user = await node.user({ '0': '10' });
    const signers = [wireSigner(0x21), wireSigner(0x22), wireSigner(0x23)];
    for (const [ceNonce, signer] of signers.entries()) assert.equal(await add(user, { signer, ceNonce }), '200');
    const [, path, text, passed] = actions(user)[0] ?? assert.fail();
    const left = async (): Promise<number> => {
      const { units } = (await user.read(`/limits/${user.id}`)) as { units: string };
      return Number(units);
    };
    const costOf = async (hands: Parameters<typeof act>[3]): Promise<number> => {
      const before = await left();
      assert.equal(await act(user, path, text, hands), passed);
      return before - (await left());
    };
    const plain = await costOf({ master: user.key });
    assert.equal(await costOf({ master: null, coSigners: signers.slice(0, 1) }), plain);
    assert.equal(await costOf({ master: user.key, coSigners: signers }), plain + 6);
    assert.equal(await costOf({ master: null, coSigners: signers }), plain + 4);
  });

  test('MSG-42: the documents have no route that takes a signer out, changes a threshold or recovers a configuration', async () => {
    const document = JSON.parse((await (await node.user({})).get('/api-doc.json', {})).text) as {
      paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      path.includes('multisig') ? Object.keys(methods).map((method) => `${method} ${path}`) : [],
    );
    const reads = ['get /multisig/config/{user_id}', 'get /multisig/signers'];
    assert.deepEqual(routes.sort(), [...reads, 'post /multisig/add-signer', 'post /multisig/signers']);
  });

  test('MSG-32, AMB-136: a co-signer that has expired signs no more, whoever signs beside it', async () => {
    const user = await node.user({ '0': '10' });
    const signer = wireSigner(0x21);
    assert.equal(await add(user, { signer, duration: HOUR, ceNonce: 0 }), '200');
    const [, path, text, passed] = actions(user)[0] ?? assert.fail();
    await node.advance(HOUR - 1n);
    assert.equal(await act(user, path, text, { master: null, coSigners: [signer] }), passed);
    await node.advance(1n);
    for (const master of [null, user.key]) {
      assert.equal(await act(user, path, text, { master, coSigners: [signer] }), '400 SIGNER_EXPIRED');
    }
    assert.equal(await act(user, path, text, { master: user.key }), passed);
  });

  test('SES-16: a session stays when signers change', async () => {
    const user = await node.user({ '0': '10' });
    assert.equal(await add(user, { signer: wireSigner(0x21), ceNonce: 0 }), '200');
    assert.equal((await user.get(`/inventory/user/${user.id}`)).status, 200);
  });

  test('MSG-41: the accounts that list a key are found by anyone, by GET and by POST, as an object or as a bare array', async () => {
    const [a, b] = [await node.user({ '0': '1' }), await node.user({ '0': '1' })];
    const signer = wireSigner(0x41, 'P256');
    assert.equal(await add(a, { signer, ceNonce: 0 }), '200');
    assert.equal(await add(b, { signer, ceNonce: 0 }), '200');
    for (const method of ['GET', 'POST']) {
      const find = async (query = '') => (await a.send(method, `/multisig/signers${query}`, keyText(signer), {})).text;
      assert.equal(await find(), `{"accounts":["${a.id}","${b.id}"]}`, method);
      assert.equal(await find('?bare=true'), `["${a.id}","${b.id}"]`);
      assert.equal(await find('?bare=false'), `{"accounts":["${a.id}","${b.id}"]}`);
      assert.equal(
        toldBy(await a.send(method, '/multisig/signers?bare=1', keyText(signer), {})),
        '400 INVALID_REQUEST',
      );
      const secp = keyText({ ...signer, scheme: 'Secp256k1' });
      assert.equal((await a.send(method, '/multisig/signers', secp, {})).text, '{"accounts":[]}', 'another scheme');
    }
    assert.equal(toldBy(await a.send('GET', '/multisig/signers', '', {})), '400 INVALID_REQUEST');
  });

  test('AMB-139: a user without funds adds signers too, and is durable from then on', async () => {
    const user = await node.user({});
    const signer = wireSigner(0x51);
    assert.equal(await add(user, { signer, ceNonce: 1 }), '200 INVALID_NONCE');
    assert.equal(await add(user, { signer, ceNonce: 0 }), '200');
    await node.restart();
    await user.login();
    const { signers, config_nonce } = await configOf(user);
    assert.deepEqual([signers.length, signers[0]?.key, config_nonce], [1, { Secp256k1: [...signer.key] }, 1]);
  });

  test('MSG-37, MSG-39: a signer survives kill and restart, with its end, and signs behind it', async () => {
    const user = await node.user({ '0': '10' });
    const signer = wireSigner(0x61);
    assert.equal(await add(user, { signer, weight: 2, duration: HOUR, ceNonce: 0 }), '200');
    const shown = (await user.get(`/multisig/config/${user.id}`)).text;
    await node.restart('SIGKILL');
    await user.login();
    assert.equal((await user.get(`/multisig/config/${user.id}`)).text, shown);
    assert.equal(await ceNonceOf(user), 1);
    const [, path, text, passed] = actions(user)[0] ?? assert.fail();
    assert.equal(await act(user, path, text, { master: null, coSigners: [signer] }), passed);
    await node.restart('SIGTERM');
    await user.login();
    assert.equal((await user.get(`/multisig/config/${user.id}`)).text, shown, 'also from a checkpoint');
  });
});
