// tier: full, 7 s
/** Accounts that a deposit has configured: what counts, what is ignored, and what follows for actions and logins (wire.md 12.2; MSG-04 to 10). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { act, actions, add, ceNonceOf, configOf, configure, deposit } from '../support/signed-accounts.ts';
import { TestNode } from '../support/test-node.ts';
import {
  type ConfigRow,
  type ConfigTerms,
  configText,
  coSignatures,
  depositConfig,
  type WireSigner,
  wireSigner,
} from '../support/wire-signers.ts';

const HOUR = 3_600_000_000_000n;

suite('accounts that a deposit has configured', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const owned = async (user: PlainClient): Promise<string | undefined> => {
    const { accounts } = (await user.read(`/inventory/user/${user.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    return accounts['0']?.spot['0'];
  };
  /** Deposits with a configuration signed by the user. @returns whether it is in force, once the deposit was credited. */
  async function isTaken(
    terms: ConfigTerms,
    rows: readonly ConfigRow[],
    by?: (text: string) => Uint8Array,
  ): Promise<boolean> {
    const user = await node.user({});
    const text = configText(terms, rows);
    await deposit(node, user.id, depositConfig(text, (by ?? ((of: string) => user.key.sign(of)))(text)), 5);
    assert.equal(await owned(user), '5', 'credited in any case');
    const { signers, master_weight, thresholds } = await configOf(user);
    const isDefault = master_weight === 1 && JSON.stringify(thresholds) === '{"low":1,"medium":1,"high":1}';
    return signers.length > 0 || !isDefault;
  }

  test('MSG-04, AMB-132, DEP-06: the overload of a first deposit sets the account up; config_nonce stays 0', async () => {
    const user = await node.user({});
    const [point, plain] = [wireSigner(0x21, 'P256'), wireSigner(0x22, 'Ed25519')];
    const rows = [
      { signer: point, weight: 3, expiresAtNs: node.nowNs + HOUR },
      { signer: plain, maxSigningWindowNs: HOUR },
    ];
    await configure(node, user, { master: 2, low: 3, medium: 1, high: 4 }, rows);
    assert.equal(await owned(user), '1');
    const answer = await user.get(`/multisig/config/${user.id}`);
    assert.equal(
      answer.text,
      `{"master_weight":2,"signers":[{"key":{"P256":[${[...point.key].join(',')}]},"weight":3,` +
        `"expires_at_ns":${node.nowNs + HOUR},"max_signing_window_ns":null},` +
        `{"key":{"Ed25519":[${[...plain.key].join(',')}]},"weight":1,"expires_at_ns":null,` +
        `"max_signing_window_ns":${HOUR}}],"thresholds":{"low":3,"medium":1,"high":4},"config_nonce":0}`,
    );
    assert.equal(await ceNonceOf(user), 0);
  });

  test('MSG-05, AMB-132: it counts once: not after another, not after add-signer, though it is a second deposit as well', async () => {
    const [a, b, c] = [await node.user({}), await node.user({}), await node.user({})];
    const first = configText({}, [{ signer: wireSigner(0x21) }]);
    const second = configText({ master: 9 }, [{ signer: wireSigner(0x22) }]);
    await deposit(node, a.id, depositConfig(first, a.key.sign(first)));
    await deposit(node, a.id, depositConfig(second, a.key.sign(second)));
    assert.deepEqual([(await configOf(a)).master_weight, (await configOf(a)).signers.length], [1, 1]);
    assert.equal(await add(b, { signer: wireSigner(0x23), ceNonce: 0 }), '200');
    await deposit(node, b.id, depositConfig(second, b.key.sign(second)));
    assert.deepEqual([(await configOf(b)).master_weight, (await configOf(b)).config_nonce], [1, 1]);
    assert.equal(await owned(b), '1');
    await deposit(node, c.id, null);
    await deposit(node, c.id, depositConfig(second, c.key.sign(second)));
    assert.equal((await configOf(c)).master_weight, 9, 'the first deposit configured nothing');
  });

  test('MSG-06 to MSG-10, AMB-132: one that breaks a rule is ignored, and the deposit credited', async () => {
    const [a, b] = [wireSigner(0x21), wireSigner(0x22)];
    const master = wireSigner(0x33, 'Ed25519');
    for (const tier of ['low', 'medium', 'high'])
      assert.equal(await isTaken({ [tier]: 0 }, [{ signer: a }]), false, tier);
    assert.equal(await isTaken({ high: 3 }, [{ signer: a }]), false, 'total weight');
    assert.equal(await isTaken({ high: 2 }, [{ signer: a }]), true);
    assert.equal(
      await isTaken({ low: 3, medium: 1, high: 2 }, [{ signer: a }, { signer: b }]),
      true,
      'no order of tiers',
    );
    assert.equal(await isTaken({}, [{ signer: a }, { signer: b }, { signer: a }]), false, 'a key twice');
    const user = await node.user({});
    const own: WireSigner = { ...master, key: Buffer.from(user.id, 'hex') };
    const text = configText({}, [{ signer: own }]);
    await deposit(node, user.id, depositConfig(text, user.key.sign(text)));
    assert.deepEqual((await configOf(user)).signers, [], 'the master key');
  });

  test('AMB-132: without the signature of the account over exactly this configuration it is ignored', async () => {
    const rows = [{ signer: wireSigner(0x21) }];
    const stranger = wireSigner(0x44, 'Ed25519');
    assert.equal(await isTaken({}, rows, (text) => stranger.sign(text)), false);
    assert.equal(await isTaken({}, rows, () => new Uint8Array(64)), false);
    assert.equal(await isTaken({}, rows, () => new Uint8Array()), false);
    const user = await node.user({});
    const text = configText({}, rows);
    await deposit(node, user.id, depositConfig(configText({ master: 2 }, rows), user.key.sign(text)));
    assert.deepEqual((await configOf(user)).signers, []);
  });

  test('AMB-132, AMB-124: of more than 16 signers the rest is ignored, and no type and no prefix is guessed', async () => {
    const user = await node.user({});
    const rows = Array.from({ length: 20 }, (_, index) => ({ signer: wireSigner(0x21 + index) }));
    const text = configText({ high: 17 }, rows);
    await deposit(node, user.id, depositConfig(text, user.key.sign(text)));
    assert.equal((await configOf(user)).signers.length, 16);
    for (const [before, after] of [
      ['"key_type":1', '"key_type":4'],
      ['"key_prefix":2', '"key_prefix":4'],
    ] as const) {
      const other = await node.user({});
      const even = [0x21, 0x22, 0x23, 0x24].map((byte) => wireSigner(byte)).find(({ key }) => key[0] === 2);
      const wrong = configText({}, [{ signer: even ?? assert.fail() }]).replace(before, after);
      assert.match(wrong, new RegExp(after));
      await deposit(node, other.id, depositConfig(wrong, other.key.sign(wrong)));
      assert.deepEqual((await configOf(other)).signers, [], after);
    }
  });

  test('MSG-04: a set-up survives kill and restart, from the journal and from a checkpoint', async () => {
    const user = await node.user({});
    await configure(node, user, { master: 2, high: 3 }, [{ signer: wireSigner(0x21) }]);
    const shown = (await user.get(`/multisig/config/${user.id}`)).text;
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await node.restart(signal);
      await user.login();
      assert.equal((await user.get(`/multisig/config/${user.id}`)).text, shown, signal);
    }
  });

  test('MSG-13 to MSG-15, AMB-121, MSG-28, MSG-36: each action needs the weight of its tier, with the master key or without', async () => {
    const user = await node.user({ '0': '10' });
    const light = wireSigner(0x21);
    await configure(node, user, { master: 0, low: 1, medium: 2, high: 3 }, [
      { signer: light },
      { signer: wireSigner(0x22, 'P256') },
      { signer: wireSigner(0x23, 'Ed25519') },
    ]);
    const coSigners = [light, wireSigner(0x22, 'P256'), wireSigner(0x23, 'Ed25519')];
    const needed: Readonly<Record<string, number>> = { low: 1, medium: 2, high: 3 };
    for (const [tier, path, text, passed] of actions(user)) {
      for (const master of [null, user.key]) {
        for (let count = 0; count <= 3; count += 1) {
          const isEnough = count >= (needed[tier] ?? 0);
          const hands = { master, coSigners: coSigners.slice(0, count) };
          const expected = isEnough ? passed : '400 INSUFFICIENT_SIGNER_WEIGHT';
          assert.equal(await act(user, path, text, hands), expected, `${path} ${master === null} ${count}`);
        }
      }
    }
    const signer = { signer: wireSigner(0x24), ceNonce: 0 };
    assert.equal(await add(user, signer), '400 INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(await add(user, signer, { master: null, coSigners }), '200');
  });

  test('MSG-33: a signing window is counted from the set-up', async () => {
    const user = await node.user({ '0': '10' });
    const signer = wireSigner(0x21);
    await configure(node, user, {}, [{ signer, maxSigningWindowNs: HOUR }]);
    const [, path, text, passed] = actions(user)[0] ?? assert.fail();
    await node.advance(HOUR - 1n);
    assert.equal(await act(user, path, text, { master: null, coSigners: [signer] }), passed);
    await node.advance(1n);
    assert.equal(await act(user, path, text, { master: null, coSigners: [signer] }), '400 SIGNER_EXPIRED');
  });

  test('SES-07, AMB-86, MSG-13, MON-12, MON-13: co-signers log in without the master key: from low on in full, below it to read, until the first of them ends', async () => {
    const user = await node.user({ '0': '10' });
    const [first, second] = [wireSigner(0x21), wireSigner(0x22, 'P256')];
    await configure(node, user, { master: 0, low: 2, medium: 2, high: 2 }, [
      { signer: first },
      { signer: second, expiresAtNs: node.nowNs + HOUR },
    ]);
    const login = async (coSigners: readonly WireSigner[], nonce?: string, own = ''): Promise<HttpAnswer> => {
      const value = nonce ?? (await user.nonce());
      const signatures = `"signature":[${own}],"additional_signers":${coSignatures(coSigners, value)}`;
      return user.post('/auth', `{"user_id":"${user.id}","nonce":"${value}",${signatures}}`, {});
    };
    const refused = async (coSigners: readonly WireSigner[], nonce?: string) => toldBy(await login(coSigners, nonce));
    const session = async (answer: HttpAnswer): Promise<Readonly<Record<string, string>>> => {
      assert.equal(answer.status, 200, answer.text);
      const { token } = JSON.parse(answer.text) as { token: string };
      return { authorization: `Bearer ${token}`, 'user-id': user.id };
    };
    const reads = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await user.get(`/inventory/user/${user.id}`, headers)).status;
    const cancels = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      toldBy(await user.send('DELETE', '/orders/cancel-all', '', headers));
    assert.equal(await refused([]), '400 INSUFFICIENT_SIGNER_WEIGHT');
    const light = await session(await login([first]));
    assert.equal(await reads(light), 200);
    assert.equal(await cancels(light), '403 READ_ONLY_SESSION', 'it weighs less than low');
    assert.equal(await refused([first, first]), '400 SIGNER_DUPLICATE');
    assert.equal(await refused([first, wireSigner(0x31)]), '400 SIGNER_UNKNOWN');
    assert.equal(await refused([first, { ...second, sign: first.sign }]), '401 INVALID_SIGNATURE');
    assert.equal(await refused([first, second], 'another'), '400 INVALID_NONCE');
    const full = await session(await login([first, second]));
    assert.equal(await reads(full), 200);
    assert.match(await cancels(full), /^202 /);
    assert.equal(await refused([first, second], 'another'), '400 NONCE_NOT_FOUND', 'success consumes the nonce');
    await node.advance(HOUR);
    assert.equal(await refused([first, second]), '400 SIGNER_EXPIRED');
    assert.equal(await reads(full), 401, 'it ended with the first of its signers');
    assert.equal(await reads(light), 200, 'its only signer has no end');
    assert.equal(toldBy(await user.auth(await user.nonce())), '400 INSUFFICIENT_SIGNER_WEIGHT', 'a master of weight 0');
  });
});
