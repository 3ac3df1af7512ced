// tier: quick
/**
 * Co-signatures of every scheme at the public API of a whole node, through the SDK: what is accepted, and each single thing that makes one
 * invalid (wire.md 4.4, G10, G26; MSG-16 to MSG-29).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type CoSignatures, signText } from '../../src/client/action-signers.ts';
import { RingbookClient } from '../../src/client/client.ts';
import {
  type AssertionParts,
  assertionBytes,
  type CoSigner,
  coSign,
  ed25519CoSigner,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from '../../src/client/co-signers.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import { type UnsignedAction, unsignedWithdrawal } from '../../src/client/signed-actions.ts';
import type { AdditionalSigner } from '../../src/codec/signatures.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { TestNode } from '../support/test-node.ts';

const CHAIN = '000000000000007a69';
const TOKEN = '5a'.repeat(20);
const WITHDRAWAL = { token: TOKEN, chainId: CHAIN, amount18: 10n ** 18n, target: '7c'.repeat(20) };
const SECRET = new Uint8Array(32).fill(0x61);
const FLAGS_AT = 32;

suite('co-signatures', () => {
  const master = keyFromSeed(new Uint8Array(32).fill(0x60));
  const account = master.userId;
  const ed25519 = ed25519CoSigner(SECRET);
  const plain = secp256k1CoSigner(SECRET);
  const wallet = secp256k1CoSigner(SECRET, 'personal');
  const nist = p256CoSigner(SECRET);
  /** The key of an authenticator, another one than that of P-256. */
  const credential = new Uint8Array(32).fill(0x62);
  let node: TestNode;
  let party: { readonly rpId: string; readonly origin: string };
  let authenticator: SoftwareAuthenticator;
  let owner: RingbookClient;

  before(async () => {
    node = await TestNode.start();
    const { webauthn } = (await node.operate('GET', '/operator/settings')) as {
      webauthn: { rp_id: string; origins: [string] };
    };
    party = { rpId: webauthn.rp_id, origin: webauthn.origins[0] };
    authenticator = new SoftwareAuthenticator(credential, party);
    owner = clientOf({ key: master });
    const deposit = { user: account, token: TOKEN.padEnd(64, '0'), amount_base_units: String(1_000 * 1e6) };
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, deposit);
    await node.rest();
    for (const { signer } of [ed25519, plain, nist, authenticator]) {
      await owner.account.addSigner({ signer, weight: 1, sessionDurationNs: null });
    }
  });
  after(async () => {
    owner?.close();
    await node?.stop();
  });

  function clientOf(signers: Pick<ConstructorParameters<typeof RingbookClient>[0], 'key' | 'account' | 'coSigners'>) {
    return new RingbookClient({ oms: node.process.oms, ...signers, nowNs: () => node.stamp() });
  }

  /** How many were accepted: each text is accepted once, so the next is another one. */
  let done = 0;
  const withdrawal = (): UnsignedAction => unsignedWithdrawal(account, { ...WITHDRAWAL, requestId: `request-${done}` });
  const entryOf = (coSigner: CoSigner, text: string = withdrawal().text): AdditionalSigner =>
    must(coSign([coSigner], text)[0], 'an entry');

  /** A withdrawal that these entries alone sign: `done`, after which it is cancelled, or the code of the refusal. */
  async function verdictOf(entries: readonly AdditionalSigner[], withMaster = false): Promise<string> {
    const signature = withMaster ? master.sign(Buffer.from(withdrawal().text)) : new Uint8Array();
    const before = (await owner.account.withdrawals()).length;
    try {
      await owner.account.submitSigned(withdrawal(), { signature, additionalSigners: entries });
    } catch (error) {
      assert.ok(error instanceof RingbookError, String(error));
      assert.equal((await owner.account.withdrawals()).length, before, 'a refusal changes nothing');
      return `${error.status} ${error.code}`;
    }
    const queue = await owner.account.withdrawals();
    assert.equal(queue.length, before + 1);
    done += 1;
    await owner.account.cancelWithdrawal({ ...WITHDRAWAL, nonce: queue.at(-1)?.nonce ?? -1 });
    return 'done';
  }

  test('the signers that were added are in the configuration, and the account is found by each key (MSG-16 to MSG-19, MSG-39, MSG-41)', async () => {
    const { signers, configNonce } = await owner.account.multisigConfig();
    const keys = [ed25519, plain, nist, authenticator].map(({ signer }) => signer);
    assert.deepEqual(
      signers.map(({ scheme, key }) => ({ scheme, key: Uint8Array.from(key) })),
      keys.map(({ scheme, key }) => ({ scheme, key: Uint8Array.from(key) })),
    );
    assert.equal(configNonce, 4);
    for (const key of keys) assert.deepEqual(await owner.account.accountsOfSigner(key), [account]);
  });

  test('a withdrawal is signed by a co-signer of each scheme, without the master key and with it (MSG-16 to MSG-19, MSG-22, MSG-28)', async () => {
    const raw = new SoftwareAuthenticator(credential, { ...party, form: 'raw' });
    for (const coSigner of [ed25519, plain, wallet, nist, authenticator, raw]) {
      assert.equal(await verdictOf([entryOf(coSigner)]), 'done', coSigner.signer.scheme);
      assert.equal(await verdictOf([entryOf(coSigner)], true), 'done', coSigner.signer.scheme);
    }
    assert.equal(
      await verdictOf(
        [ed25519, wallet, nist, authenticator].map((one) => entryOf(one)),
        true,
      ),
      'done',
    );
  });

  test('a co-signature over other bytes is refused, beside a valid master signature too (MSG-20, AMB-136)', async () => {
    const other = unsignedWithdrawal(account, { ...WITHDRAWAL, amount18: 2n * 10n ** 18n }).text;
    for (const coSigner of [ed25519, plain, wallet, nist, authenticator]) {
      for (const withMaster of [false, true]) {
        assert.equal(await verdictOf([entryOf(coSigner, other)], withMaster), '401 INVALID_SIGNATURE');
      }
    }
    assert.equal(await verdictOf([entryOf(nist), entryOf(plain, other)]), '401 INVALID_SIGNATURE', 'all of them count');
  });

  test('a high s is accepted, and a key counts once whatever the form of its signature (MSG-21, AMB-31)', async () => {
    const twinOf = (given: AdditionalSigner, order: bigint): AdditionalSigner => {
      const twin = Buffer.from(given.signature);
      const s = BigInt(`0x${twin.subarray(32, 64).toString('hex')}`);
      twin.write((order - s).toString(16).padStart(64, '0'), 32, 'hex');
      return { ...given, signature: twin };
    };
    for (const [coSigner, order] of [
      [plain, secp256k1.CURVE.n],
      [wallet, secp256k1.CURVE.n],
      [nist, p256.CURVE.n],
    ] as const) {
      const given = entryOf(coSigner);
      assert.equal(await verdictOf([twinOf(given, order)]), 'done');
      assert.equal(await verdictOf([given, twinOf(given, order)]), '400 SIGNER_DUPLICATE');
    }
    assert.equal(await verdictOf([entryOf(plain), entryOf(wallet)]), '400 SIGNER_DUPLICATE', 'both forms of one key');
  });

  test('an assertion needs the user-present flag, type, relying party, origin and challenge (MSG-22 to MSG-27)', async () => {
    const text = (): Buffer => Buffer.from(withdrawal().text);
    const of = (changes: Partial<AssertionParts>): AdditionalSigner => {
      const parts = { ...authenticator.parts(text()), ...changes };
      return { ...authenticator.signer, signature: authenticator.assert(parts) };
    };
    const data = (changes: object): Pick<AssertionParts, 'clientDataJson'> => {
      const json = JSON.parse(Buffer.from(authenticator.parts(text()).clientDataJson).toString()) as object;
      return { clientDataJson: Buffer.from(JSON.stringify({ ...json, ...changes })) };
    };
    const { authenticatorData } = authenticator.parts(text());
    const absent = Uint8Array.from(authenticatorData);
    absent[FLAGS_AT] = 0x04;
    assert.equal(await verdictOf([of({})]), 'done');
    const refused: readonly (readonly [string, AdditionalSigner])[] = [
      ['no user present', of({ authenticatorData: absent })],
      ['another type', of(data({ type: 'webauthn.create' }))],
      ['another relying party', entryOf(new SoftwareAuthenticator(credential, { ...party, rpId: 'example.org' }))],
      ['another origin', entryOf(new SoftwareAuthenticator(credential, { ...party, origin: 'https://example.org' }))],
      ['a padded challenge', of(data({ challenge: `${text().toString('base64url')}=` }))],
      [
        'the challenge of another text',
        of(data({ challenge: Buffer.from(`${withdrawal().text}x`).toString('base64url') })),
      ],
      ['another key', { ...entryOf(new SoftwareAuthenticator(SECRET, party)), key: authenticator.signer.key }],
      [
        'changed after it was signed',
        { ...authenticator.signer, signature: assertionBytes(authenticator.parts(text()), new Uint8Array(64)) },
      ],
      [
        'a bare signature',
        { ...authenticator.signer, signature: p256.sign(new Uint8Array(32), credential).toCompactRawBytes() },
      ],
    ];
    for (const [what, given] of refused) assert.equal(await verdictOf([given]), '401 INVALID_SIGNATURE', what);
  });

  test('an entry is of a registered signer by its scheme and its whole key (MSG-17, MSG-29, MSG-30)', async () => {
    const same = new SoftwareAuthenticator(SECRET, party);
    assert.deepEqual(same.signer.key, nist.signer.key, 'the key of P-256 as one of WebAuthn');
    assert.equal(await verdictOf([entryOf(same)]), '400 SIGNER_UNKNOWN');
    assert.equal(await verdictOf([{ ...entryOf(nist), scheme: 'Secp256k1' }]), '400 SIGNER_UNKNOWN');
    const negated = Uint8Array.from(plain.signer.key);
    negated[0] = (negated[0] ?? 0) ^ 1;
    assert.equal(
      await verdictOf([{ ...entryOf(plain), key: negated }]),
      '400 SIGNER_UNKNOWN',
      'the same x, the other y',
    );
    const body = `{"inner":${withdrawal().text},"signature":[],"additional_signers":[{"signer":{"Secp256k1":[${new Array(65).fill(4).join(',')}]},"signature":[${new Array(64).fill(1).join(',')}]}]}`;
    const answer = await fetch(`${node.process.oms}/withdrawal/init`, { method: 'POST', body });
    assert.equal(answer.status, 400, 'a key of 65 bytes has no shape (MSG-17)');
  });

  test('an account whose master key is offline logs in, trades, transfers and withdraws by its co-signers (SES-07, AMB-86, MSG-28)', async () => {
    const client = clientOf({ account, coSigners: [authenticator, wallet] });
    try {
      await client.login();
      assert.equal((await client.inventory()).get(0)?.spot.get('0'), '1000');
      const order = await client.order({
        ...{ assetId: '2', side: 'Buy', price: '1000', quantity: '0.1', target: { account: 0, isSpot: true } },
      });
      assert.equal((await client.create(order)).status, 'Received');
      assert.equal((await client.replace({ assetId: '2', orderId: order.orderId, price: '999' })).status, 'Received');
      assert.equal((await client.cancel('2', order.orderId)).status, 'Received');
      const move = { assetId: '0' as AssetId, amount18: 10n ** 18n, targetAccountType: null };
      await client.account.transfer({ ...move, sourceIndex: 0, targetIndex: 1, nonce: 1n });
      await client.account.transfer({ ...move, sourceIndex: 1, targetIndex: 0, nonce: 2n });
      await assert.rejects(
        client.account.closePosition({ account: 1, assetId: '2' as AssetId, nonce: 1n }),
        (error) => {
          return error instanceof RingbookError && error.code === 'POSITION_NOT_FOUND';
        },
      );
      await client.account.withdraw(WITHDRAWAL);
      const row = (await client.account.withdrawals()).at(-1);
      assert.equal(row?.status, 'queued');
      await client.account.cancelWithdrawal({ ...WITHDRAWAL, nonce: row?.nonce ?? -1 });
    } finally {
      client.close();
    }
  });

  test('a co-signer is added by co-signers, with both texts, and a login by an unknown key is refused (MSG-39, AMB-13, MSG-30)', async () => {
    const client = clientOf({ account, coSigners: [authenticator] });
    const added = [p256CoSigner(new Uint8Array(32).fill(0x71)), secp256k1CoSigner(new Uint8Array(32).fill(0x72))];
    try {
      for (const [index, { signer }] of added.entries()) {
        await client.account.addSigner({
          signer,
          weight: 2,
          sessionDurationNs: 3_600_000_000_000n,
          withNonce: index === 1,
        });
      }
      const { signers } = await client.account.multisigConfig();
      const last = signers.slice(-2);
      assert.deepEqual(
        last.map(({ weight }) => weight),
        [2, 2],
      );
      assert.ok(last.every(({ expiresAtNs, maxSigningWindowNs }) => (expiresAtNs ?? maxSigningWindowNs) !== null));
    } finally {
      client.close();
    }
    const stranger = clientOf({ account, coSigners: [p256CoSigner(new Uint8Array(32).fill(0x79))] });
    await assert.rejects(stranger.login(), /SIGNER_UNKNOWN/);
    stranger.close();
  });

  test('entries that were signed elsewhere and keys that are here sign together (MSG-28)', async () => {
    const also: CoSignatures = { coSigners: [nist], entries: [entryOf(authenticator)] };
    const { signature, additionalSigners } = signText(master, withdrawal().text, also);
    assert.equal(signature.length, 64);
    assert.equal(await verdictOf(additionalSigners, true), 'done');
  });
});
