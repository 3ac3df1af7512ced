// tier: quick
/** The keys that P-256 keeps in OpenSSL's form: a bounded number, and a verdict that does not depend on them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { coSign, p256CoSigner } from '../../src/client/co-signers.ts';
import { must } from '../../src/core/assert.ts';
import { KEYS_MAX, keptKeys, verifyP256 } from '../../src/crypto/p256.ts';

const TEXT = Buffer.from('{"nonce":7}');

suite('kept keys of P-256', () => {
  test('the verdict is the same for a key that is kept, dropped or no point; no more than the bound are kept', () => {
    const signers = Array.from({ length: KEYS_MAX + 20 }, (_, index) => {
      const secret = new Uint8Array(32).fill(1);
      new DataView(secret.buffer).setUint32(0, index);
      return p256CoSigner(secret);
    });
    const [first, second] = coSign(signers.slice(0, 2), TEXT);
    assert.ok(first !== undefined && second !== undefined);
    const isValid = (): boolean => verifyP256(first.signature, TEXT, first.key, 'raw');
    const isForged = (): boolean => verifyP256(second.signature, TEXT, first.key, 'raw');
    for (let round = 0; round < 3; round += 1) assert.deepEqual([isValid(), isForged()], [true, false]);
    for (const { signer } of signers) verifyP256(first.signature, TEXT, signer.key, 'raw');
    assert.equal(keptKeys(), KEYS_MAX);
    assert.deepEqual([isValid(), isForged()], [true, false]);
    const before = keptKeys();
    const noPoint = Uint8Array.from(must(signers[0], 'a signer').signer.key);
    for (let byte = 0; byte < 40; byte += 1) {
      noPoint[5] = byte;
      noPoint[0] = 5;
      assert.equal(verifyP256(first.signature, TEXT, noPoint, 'raw'), false);
    }
    assert.equal(keptKeys(), before);
  });
});
