// tier: quick
/** Co-signatures of the four schemes: what is accepted, and every single thing that makes one invalid. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
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
import { coSignersBytes, readCoSigners, writeCoSigners } from '../../src/codec/co-signer-bytes.ts';
import { type AdditionalSigner, ASSERTION_BYTES_MAX, SCHEMES, type SignerScheme } from '../../src/codec/signatures.ts';
import { must } from '../../src/core/assert.ts';
import { SIGNED_TEXT_BYTES_MAX } from '../../src/core/limits.ts';
import { verifyCoSignature } from '../../src/crypto/co-signature.ts';
import type { WebAuthnPolicy } from '../../src/crypto/webauthn.ts';
import { propertyParameters } from '../support/property.ts';

const POLICY: WebAuthnPolicy = {
  rpId: 'example.com',
  origins: ['https://app.example.com', 'https://example.com:8443'],
};
const OPTIONS = { rpId: 'example.com', origin: 'https://app.example.com' };
const SECRET = new Uint8Array(32).fill(9);
const TEXT = Buffer.from('{"tplus_user":"21","amount":"de0b6b3a7640000","nonce":null}');
const FLAGS_AT = 32;

function signerOf(scheme: SignerScheme): CoSigner {
  if (scheme === 'Ed25519') return ed25519CoSigner(SECRET);
  if (scheme === 'Secp256k1') return secp256k1CoSigner(SECRET);
  return scheme === 'P256' ? p256CoSigner(SECRET) : new SoftwareAuthenticator(SECRET, OPTIONS);
}

const entry = (coSigner: CoSigner, text: Uint8Array = TEXT): AdditionalSigner =>
  must(coSign([coSigner], text)[0], 'an entry');
const isValid = (given: AdditionalSigner, text: Uint8Array = TEXT, policy: WebAuthnPolicy | null = POLICY): boolean =>
  verifyCoSignature(given, text, policy);

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

suite('co-signatures', () => {
  for (const scheme of SCHEMES) {
    test(`${scheme}: its own signature is valid; over other bytes, changed or by another key it is not (MSG-16 to MSG-20)`, () => {
      const given = entry(signerOf(scheme));
      assert.equal(isValid(given), true);
      assert.equal(isValid(given, Buffer.concat([TEXT, Buffer.from(' ')])), false);
      assert.equal(isValid(given, flipped(TEXT, 5)), false);
      for (let at = 0; at < given.signature.length; at += 1) {
        assert.equal(isValid({ ...given, signature: flipped(given.signature, at) }), false, `byte ${at}`);
      }
      for (const at of [0, 1, 20, given.key.length - 1]) {
        // The other y of the same x is the negated key, under which neither the signature nor its twin is valid.
        assert.equal(isValid({ ...given, key: flipped(given.key, at) }), false, `byte ${at} of the key`);
      }
      for (const other of SCHEMES.filter((name) => name !== scheme)) {
        assert.equal(isValid({ ...given, scheme: other }), false, `as ${other} (MSG-29)`);
      }
    });
  }

  test('a key of 65 or 32 bytes is none of the ECDSA schemes, one of 33 bytes none of Ed25519 (MSG-16 to MSG-19)', () => {
    for (const scheme of SCHEMES) {
      const given = entry(signerOf(scheme));
      const lengths = scheme === 'Ed25519' ? [31, 33] : [32, 34, 65];
      for (const length of lengths) {
        const key = new Uint8Array(length);
        key.set(given.key.subarray(0, length));
        assert.equal(isValid({ ...given, key }), false, `${scheme} ${length}`);
      }
    }
    const whole = secp256k1.getPublicKey(SECRET, false);
    assert.equal(isValid({ ...entry(secp256k1CoSigner(SECRET)), key: whole }), false);
  });

  test('a high s is as valid as its low twin, in 64 bytes, in 65, in DER (MSG-21, AMB-31)', () => {
    const twinOf = (signature: Uint8Array, order: bigint): Uint8Array => {
      const s = BigInt(`0x${Buffer.from(signature.subarray(32, 64)).toString('hex')}`);
      const twin = Buffer.from(signature);
      twin.write((order - s).toString(16).padStart(64, '0'), 32, 'hex');
      return twin;
    };
    for (const [coSigner, order] of [
      [secp256k1CoSigner(SECRET), secp256k1.CURVE.n],
      [secp256k1CoSigner(SECRET, 'personal'), secp256k1.CURVE.n],
      [p256CoSigner(SECRET), p256.CURVE.n],
    ] as const) {
      const given = entry(coSigner);
      assert.equal(isValid({ ...given, signature: twinOf(given.signature, order) }), true);
    }
    const authenticator = new SoftwareAuthenticator(SECRET, OPTIONS);
    const parts = authenticator.parts(TEXT);
    const der = p256.Signature.fromDER(signatureOf(authenticator.assert(parts)));
    const high = new p256.Signature(der.r, p256.CURVE.n - der.s);
    assert.equal(high.hasHighS(), true);
    for (const signature of [high.toDERRawBytes(), high.toCompactRawBytes()]) {
      assert.equal(isValid({ ...authenticator.signer, signature: assertionBytes(parts, signature) }), true);
    }
  });

  test('secp256k1 in 65 bytes is the personal message of a wallet; v is 27, 28, 0 or 1 (MSG-17)', async () => {
    const account = privateKeyToAccount(`0x${Buffer.from(SECRET).toString('hex')}`);
    const wallet = Buffer.from((await account.signMessage({ message: { raw: TEXT } })).slice(2), 'hex');
    const ours = entry(secp256k1CoSigner(SECRET, 'personal'));
    assert.deepEqual(Buffer.from(ours.signature), wallet);
    for (let v = 0; v < 256; v += 1) {
      const signature = Uint8Array.from(wallet);
      signature[64] = v;
      assert.equal(isValid({ ...ours, signature }), [0, 1, 27, 28].includes(v), `v ${v}`);
    }
    assert.equal(isValid({ ...ours, signature: wallet.subarray(0, 64) }), false, 'each form has its own digest');
    const plain = entry(secp256k1CoSigner(SECRET)).signature;
    assert.equal(isValid({ ...ours, signature: Buffer.concat([plain, Buffer.from([27])]) }), false);
    assert.equal(
      isValid(entry(secp256k1CoSigner(SECRET, 'personal'), Buffer.alloc(1_000, 65)), Buffer.alloc(1_000, 65)),
      true,
    );
  });

  test('bytes of any kind are refused without an exception', () => {
    const scheme = fc.constantFrom(...SCHEMES);
    const hostile = fc.record({
      scheme,
      key: fc.uint8Array({ minLength: 0, maxLength: 40 }),
      signature: fc.oneof(
        fc.uint8Array({ maxLength: 100 }),
        fc.json().map((text) => Buffer.from(text)),
      ),
    });
    fc.assert(
      fc.property(hostile, (given) => assert.equal(isValid(given), false)),
      propertyParameters(),
    );
    const good = SCHEMES.map((name) => entry(signerOf(name)));
    const cut = fc.tuple(fc.nat(3), fc.nat(ASSERTION_BYTES_MAX));
    fc.assert(
      fc.property(cut, ([index, length]) => {
        const given = must(good[index], 'an entry');
        const signature = given.signature.subarray(0, length % given.signature.length);
        assert.equal(isValid({ ...given, signature }), false);
      }),
      propertyParameters(),
    );
    const zeroes = new Uint8Array(64);
    for (const given of good) assert.equal(isValid({ ...given, signature: zeroes }), false);
  });

  test('co-signers keep their bytes through a ring record', () => {
    const coSigners = coSign(SCHEMES.map(signerOf), TEXT);
    const bytes = new Uint8Array(new SharedArrayBuffer(coSignersBytes(coSigners) + 7));
    assert.equal(writeCoSigners(coSigners, bytes, 7), bytes.length);
    const read = readCoSigners(bytes, 7, coSigners.length);
    assert.deepEqual(
      read.map(({ scheme, key, signature }) => [scheme, Buffer.from(key), Buffer.from(signature)]),
      coSigners.map(({ scheme, key, signature }) => [scheme, Buffer.from(key), Buffer.from(signature)]),
    );
    assert.ok(read.every((given) => isValid(given)));
  });
});

function signatureOf(assertion: Uint8Array): Uint8Array {
  const { signature } = JSON.parse(Buffer.from(assertion).toString()) as { readonly signature: string };
  return Buffer.from(signature, 'base64url');
}

suite('WebAuthn assertions', () => {
  const authenticator = new SoftwareAuthenticator(SECRET, OPTIONS);
  const clientData = (changes: Readonly<Record<string, unknown>>): Uint8Array => {
    const json = JSON.parse(Buffer.from(authenticator.parts(TEXT).clientDataJson).toString()) as object;
    return Buffer.from(JSON.stringify({ ...json, ...changes }));
  };
  /** Signed after the change, so that only the change can make it invalid. */
  const withParts = (changes: Partial<AssertionParts>, text: Uint8Array = TEXT): AdditionalSigner => {
    const parts = { ...authenticator.parts(text), ...changes };
    return { ...authenticator.signer, signature: authenticator.assert(parts) };
  };
  const withJson = (json: string): AdditionalSigner => ({ ...authenticator.signer, signature: Buffer.from(json) });

  test('the signature inside is raw or DER (MSG-22)', () => {
    for (const form of ['raw', 'der'] as const) {
      const given = entry(new SoftwareAuthenticator(SECRET, { ...OPTIONS, form }));
      const { length } = signatureOf(given.signature);
      assert.ok(form === 'raw' ? length === 64 : length > 66, `${length}`);
      assert.equal(isValid(given), true);
    }
  });

  test('it is over authenticatorData and the hash of clientDataJSON: a change of either after signing is refused (MSG-22)', () => {
    const parts = authenticator.parts(TEXT);
    const signature = signatureOf(authenticator.assert(parts));
    const changed = [
      { ...parts, authenticatorData: flipped(parts.authenticatorData, 36) },
      { ...parts, clientDataJson: Buffer.concat([parts.clientDataJson, Buffer.from(' ')]) },
    ];
    for (const other of changed) {
      assert.equal(isValid({ ...authenticator.signer, signature: assertionBytes(other, signature) }), false);
    }
    assert.equal(isValid({ ...authenticator.signer, signature: assertionBytes(parts, signature) }), true);
  });

  test('the user-present flag is set (MSG-23); user verification is not required (AMB-119)', () => {
    const flags = (value: number): Uint8Array => {
      const data = Uint8Array.from(authenticator.parts(TEXT).authenticatorData);
      data[FLAGS_AT] = value;
      return data;
    };
    for (const value of [0x01, 0x05, 0x09, 0x1d])
      assert.equal(isValid(withParts({ authenticatorData: flags(value) })), true);
    for (const value of [0x00, 0x04, 0x1c, 0x11, 0x41, 0x81])
      assert.equal(isValid(withParts({ authenticatorData: flags(value) })), false);
    const short = flags(1).subarray(0, 36);
    assert.equal(isValid(withParts({ authenticatorData: short })), false, 'without its counter');
    const more = Buffer.from([0xa1, 0x61, 0x61, 0xf5]);
    assert.equal(isValid(withParts({ authenticatorData: Buffer.concat([flags(0x81), more]) })), true, 'extensions');
    assert.equal(isValid(withParts({ authenticatorData: Buffer.concat([flags(0x01), more]) })), false, 'bytes behind');
  });

  test('the type is webauthn.get (MSG-24)', () => {
    for (const type of ['webauthn.create', 'payment.get', 'WEBAUTHN.GET', '', 7, null]) {
      assert.equal(isValid(withParts({ clientDataJson: clientData({ type }) })), false, String(type));
    }
  });

  test('the relying party is the configured one (MSG-25)', () => {
    for (const rpId of ['app.example.com', 'EXAMPLE.com', 'example.com.', 'localhost']) {
      assert.equal(isValid(entry(new SoftwareAuthenticator(SECRET, { ...OPTIONS, rpId }))), false, rpId);
    }
  });

  test('the origin is one of the configured ones, letter by letter (MSG-26)', () => {
    for (const origin of POLICY.origins) {
      assert.equal(isValid(entry(new SoftwareAuthenticator(SECRET, { ...OPTIONS, origin }))), true, origin);
    }
    for (const origin of ['http://app.example.com', 'https://app.example.com/', 'https://example.com', 'null', '']) {
      assert.equal(isValid(entry(new SoftwareAuthenticator(SECRET, { ...OPTIONS, origin }))), false, origin);
    }
  });

  test('what was signed in a frame of another site is refused (MSG-26)', () => {
    for (const [changes, expected] of [
      [{ crossOrigin: false }, true],
      [{ crossOrigin: undefined }, true],
      [{ crossOrigin: true }, false],
      [{ crossOrigin: 'false' }, false],
      [{ crossOrigin: false, topOrigin: 'https://evil.example' }, false],
    ] as const) {
      assert.equal(isValid(withParts({ clientDataJson: clientData(changes) })), expected, JSON.stringify(changes));
    }
  });

  test('the challenge is the signed text in base64url without padding, nothing else (MSG-27)', () => {
    const hash = Buffer.from('0'.repeat(64), 'hex').toString('base64url');
    const texts = [TEXT.toString('base64'), `${TEXT.toString('base64url')}=`, TEXT.toString('utf8'), hash, ''];
    for (const challenge of texts) {
      assert.equal(isValid(withParts({ clientDataJson: clientData({ challenge }) })), false, challenge);
    }
    assert.equal(isValid(withParts({}, flipped(TEXT, 3))), false, 'of another text');
  });

  test('without a policy every assertion is refused, and the other schemes are not (AMB-119)', () => {
    for (const scheme of SCHEMES) assert.equal(isValid(entry(signerOf(scheme)), TEXT, null), scheme !== 'WebAuthn');
  });

  test('members that browsers add, in any order, change nothing; a member twice or another form is refused', () => {
    const parts = authenticator.parts(TEXT);
    const challenge = TEXT.toString('base64url');
    const reordered = `{"origin":"${OPTIONS.origin}","extra":{"a":[1,null]},"challenge":"${challenge}","type":"webauthn.get"}`;
    assert.equal(isValid(withParts({ clientDataJson: Buffer.from(reordered) })), true);
    const wrong = [
      reordered.replace('"extra"', '"origin"'),
      reordered.replace('{"origin"', '{"origin":"https://evil.example","origin"'),
      reordered.replace('"type":"webauthn.get"', '"type":["webauthn.get"]'),
      reordered.replace(',"type":"webauthn.get"', ''),
      `\ufeff${reordered}`,
      `${reordered}x`,
    ];
    for (const json of wrong) assert.equal(isValid(withParts({ clientDataJson: Buffer.from(json) })), false, json);
    const good = Buffer.from(authenticator.assert(parts)).toString();
    assert.equal(isValid(withJson(good)), true);
    for (const json of [
      good.replace('}', ',"userHandle":""}'),
      good.replace('"signature"', '"Signature"'),
      good.replace('{', '{"signature":"",'),
      good.replace('"}', '*"}'),
      `${good}{}`,
      `[${good}]`,
    ]) {
      assert.equal(isValid(withJson(json)), false, json.slice(0, 40));
    }
  });

  test('base64url has one spelling of the same bytes, padded or not', () => {
    const json = JSON.parse(Buffer.from(entry(authenticator).signature).toString()) as Record<string, string>;
    const padded = Object.fromEntries(
      Object.entries(json).map(([name, text]) => [name, text.padEnd(Math.ceil(text.length / 4) * 4, '=')]),
    );
    assert.equal(isValid(withJson(JSON.stringify(padded))), true);
    const data = json['authenticatorData'] ?? '';
    // 37 bytes leave four unused bits in the last character.
    assert.equal(data.length % 4, 2);
    const loose = `${data.slice(0, -1)}${String.fromCharCode(data.charCodeAt(data.length - 1) + 1)}`;
    assert.deepEqual(Buffer.from(loose, 'base64url'), Buffer.from(data, 'base64url'));
    for (const authenticatorData of [loose, `${data}=`, `${data}===`, `${data} `, data.replace('-', '+')]) {
      const isSame = authenticatorData === data;
      assert.equal(isValid(withJson(JSON.stringify({ ...json, authenticatorData }))), isSame, authenticatorData);
    }
  });

  test('the assertion of the longest text fits its bound, and that of a text of 2 KiB; a longer one is refused (AMB-124)', () => {
    const long = Buffer.alloc(SIGNED_TEXT_BYTES_MAX, 'x');
    const given = entry(authenticator, long);
    assert.ok(given.signature.length < 2_300, `${given.signature.length}`);
    assert.equal(isValid(given, long), true);
    const longer = entry(authenticator, Buffer.alloc(2_048, 'x')).signature.length;
    assert.ok(longer < ASSERTION_BYTES_MAX, `${longer}`);
    const spaced = withJson(Buffer.from(given.signature).toString().padEnd(ASSERTION_BYTES_MAX));
    assert.equal(isValid(spaced, long), true);
    assert.equal(isValid({ ...spaced, signature: Buffer.concat([spaced.signature, Buffer.from(' ')]) }, long), false);
  });
});
