// tier: quick
/** All signatures of an order in one piece of bytes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  ADDITIONAL_SIGNERS_MAX,
  type AdditionalSigner,
  CO_SIGNERS_BYTES_MAX,
  keyBytesOf,
  SCHEMES,
  type Signatures,
} from '../../src/codec/signatures.ts';
import { STORED_SIGNATURES_BYTES_MAX, signaturesOf, storedSignatures } from '../../src/codec/stored-signatures.ts';
import { SIGNED_TEXT_BYTES_MAX } from '../../src/core/limits.ts';
import { createBytes } from '../../src/order/order-codec.ts';
import { payloadBytesMax } from '../../src/runtime/spsc-ring.ts';
import { OrderAdmitted } from '../../src/schema/generated/messages.ts';
import { propertyParameters } from '../support/property.ts';

const exactly = (count: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: count, maxLength: count });
const master = fc.oneof(exactly(64), fc.constant(new Uint8Array(64)), fc.constant(new Uint8Array()));
const coSigner: fc.Arbitrary<AdditionalSigner> = fc
  .constantFrom(...SCHEMES)
  .chain((scheme) => {
    const signature = scheme === 'WebAuthn' ? fc.uint8Array({ maxLength: 1_500 }) : exactly(64);
    return fc.tuple(fc.constant(scheme), exactly(keyBytesOf(scheme)), signature);
  })
  .map(([scheme, key, signature]) => ({ scheme, key, signature }));
const signatures: fc.Arbitrary<Signatures> = fc
  .tuple(master, fc.array(coSigner, { maxLength: ADDITIONAL_SIGNERS_MAX }))
  .map(([signature, additionalSigners]) => ({ signature, additionalSigners }));

suite('the signatures of an order as bytes', () => {
  test('AMB-136: they are read as they were written; a master signature of zeros is not an absent one', () => {
    fc.assert(
      fc.property(signatures, (given) => {
        const bytes = storedSignatures(given);
        assert.ok(bytes.length <= STORED_SIGNATURES_BYTES_MAX);
        assert.deepEqual(signaturesOf(bytes), given);
      }),
      propertyParameters(300),
    );
  });

  test('the signature of a master that signs alone is not copied', () => {
    const signature = new Uint8Array(64).fill(9);
    assert.equal(storedSignatures({ signature, additionalSigners: [] }), signature);
  });

  test('AMB-124: the longest order with its co-signers fits each ring that a configuration may have', () => {
    const order = createBytes(SIGNED_TEXT_BYTES_MAX, STORED_SIGNATURES_BYTES_MAX);
    assert.ok(STORED_SIGNATURES_BYTES_MAX > CO_SIGNERS_BYTES_MAX && STORED_SIGNATURES_BYTES_MAX < 65_536);
    assert.ok(order <= payloadBytesMax({ capacityBytes: 65_536, reservedBytes: 65_536 - 53_248 }));
    assert.ok(OrderAdmitted.bytes + order <= payloadBytesMax({ capacityBytes: 65_536, reservedBytes: 0 }));
  });
});
