// tier: quick
/**
 * The vectors of C2SP/wycheproof (Apache-2.0; commit and digests of the sources are in the fixture) for every scheme of
 * co-signers: each is judged exactly as the vectors say.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { verify as verifyEd25519 } from '../../src/crypto/ed25519.ts';
import { verifyP256 } from '../../src/crypto/p256.ts';
import { verifySecp256k1 } from '../../src/crypto/secp256k1.ts';

/** Number, key, message, signature, whether it is valid, flags, comment; bytes as hex. */
type Vector = readonly [number, string, string, string, boolean, string, string];

interface Fixture {
  readonly source: string;
  readonly commit: string;
  readonly licence: string;
  readonly files: Readonly<Record<string, { readonly sha256: string; readonly tests: readonly Vector[] }>>;
}

const FIXTURE = JSON.parse(gunzipSync(readFileSync('test/fixtures/wycheproof.json.gz')).toString()) as Fixture;
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

type Verify = (signature: Uint8Array, text: Uint8Array, key: Uint8Array) => boolean;

/** @returns how many are valid and how many are not, after each was judged. */
function judge(name: string, verify: Verify): { readonly valid: number; readonly invalid: number } {
  const file = FIXTURE.files[name];
  assert.ok(file !== undefined, name);
  const counts = { valid: 0, invalid: 0 };
  for (const [id, key, message, signature, isValid, flags, comment] of file.tests) {
    const verdict = verify(bytes(signature), bytes(message), bytes(key));
    assert.equal(verdict, isValid, `${name} ${id}: ${comment} (${flags})`);
    counts[isValid ? 'valid' : 'invalid'] += 1;
  }
  return counts;
}

suite('wycheproof', () => {
  test('secp256k1, r‖s over SHA-256: every vector (MSG-17, AMB-119)', () => {
    assert.deepEqual(judge('ecdsa_secp256k1_sha256_p1363_test', verifySecp256k1), { valid: 167, invalid: 85 });
  });

  test('P-256, r‖s: every vector (MSG-18)', () => {
    const verify: Verify = (signature, text, key) => verifyP256(signature, text, key, 'raw');
    assert.deepEqual(judge('ecdsa_secp256r1_sha256_p1363_test', verify), { valid: 173, invalid: 89 });
  });

  test('P-256, DER, as inside of an assertion: every vector (MSG-22)', () => {
    const verify: Verify = (signature, text, key) => verifyP256(signature, text, key, 'der');
    assert.deepEqual(judge('ecdsa_secp256r1_sha256_test', verify), { valid: 174, invalid: 310 });
  });

  test('the twin n − s of every valid ECDSA signature is valid too, whichever of the two is low (MSG-21, AMB-31)', () => {
    const raw: Verify = (signature, text, key) => verifyP256(signature, text, key, 'raw');
    const curves = [
      ['ecdsa_secp256k1_sha256_p1363_test', verifySecp256k1, secp256k1.CURVE.n],
      ['ecdsa_secp256r1_sha256_p1363_test', raw, p256.CURVE.n],
    ] as const;
    for (const [name, verify, order] of curves) {
      for (const [id, key, message, signature] of FIXTURE.files[name]?.tests.filter((vector) => vector[4]) ?? []) {
        const s = BigInt(`0x${signature.slice(64)}`);
        const twin = signature.slice(0, 64) + (order - s).toString(16).padStart(64, '0');
        assert.ok(verify(bytes(twin), bytes(message), bytes(key)), `${name} ${id}`);
      }
    }
  });

  test('Ed25519: every vector (MSG-16)', () => {
    assert.deepEqual(judge('ed25519_test', verifyEd25519), { valid: 88, invalid: 63 });
  });
});
