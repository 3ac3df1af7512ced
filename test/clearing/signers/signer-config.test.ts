// tier: quick
/** Who may sign for an account, as tables and against a plain reference; which configurations an account may have. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type ConfiguredSigner,
  checkConfig,
  DEFAULT_SIGNERS,
  endOfSigners,
  MASTER_ALONE,
  refuseCancelSigners,
  refuseSigners,
  type SignedBy,
  type SignerConfig,
  type SignerTier,
  WEIGHT_MAX,
} from '../../../src/clearing/signers/signer-config.ts';
import type { SignerKey, SignerScheme } from '../../../src/codec/signatures.ts';
import type { UserId } from '../../../src/core/ids.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { nameOf, plainCode } from '../../support/plain-signers.ts';
import { propertyParameters } from '../../support/property.ts';

const NOW = 1_800_000_000_000_000_000n as TimestampNs;
const USER = '11'.repeat(32) as UserId;
const MASTER: SignerKey = { scheme: 'Ed25519', key: new Uint8Array(32).fill(0x11) };

function keyOf(byte: number, scheme: SignerScheme = 'Secp256k1'): SignerKey {
  return { scheme, key: new Uint8Array(scheme === 'Ed25519' ? 32 : 33).fill(byte) };
}

function signer(byte: number, members: Partial<ConfiguredSigner> = {}): ConfiguredSigner {
  const free = { weight: 1, addedNs: NOW, expiresAtNs: null, maxSigningWindowNs: null };
  return { ...keyOf(byte, members.scheme), ...free, ...members };
}

function config(signers: readonly ConfiguredSigner[], members: Partial<SignerConfig> = {}): SignerConfig {
  return { ...DEFAULT_SIGNERS, signers, ...members };
}

function code(of: SignerConfig, by: SignedBy, tier: SignerTier = 'low', at: bigint = NOW): string | null {
  return refuseSigners(of, by, tier, at as TimestampNs)?.code ?? null;
}

const by = (...coSigners: SignerKey[]): SignedBy => ({ hasMaster: false, coSigners });
const withMaster = (...coSigners: SignerKey[]): SignedBy => ({ hasMaster: true, coSigners });

suite('the signers of an account', () => {
  test('MSG-01: without a configuration the master key alone acts in every tier, and no signature acts in none', () => {
    for (const tier of ['low', 'medium', 'high'] as const) {
      assert.equal(code(DEFAULT_SIGNERS, MASTER_ALONE, tier), null);
      assert.equal(code(DEFAULT_SIGNERS, by(), tier), 'INSUFFICIENT_SIGNER_WEIGHT');
    }
  });

  test('MSG-11, MSG-12: the weights of those who signed reach the threshold of the tier, or the action is refused', () => {
    const of = config([signer(2, { weight: 2 }), signer(3, { weight: 3 })], {
      thresholds: { low: 3, medium: 5, high: 6 },
    });
    const table: readonly (readonly [SignedBy, readonly SignerTier[]])[] = [
      [MASTER_ALONE, []],
      [by(keyOf(2)), []],
      [withMaster(keyOf(2)), ['low']],
      [by(keyOf(3)), ['low']],
      [by(keyOf(2), keyOf(3)), ['low', 'medium']],
      [withMaster(keyOf(2), keyOf(3)), ['low', 'medium', 'high']],
    ];
    for (const [signedBy, passed] of table) {
      for (const tier of ['low', 'medium', 'high'] as const) {
        const expected = passed.includes(tier) ? null : 'INSUFFICIENT_SIGNER_WEIGHT';
        assert.equal(code(of, signedBy, tier), expected, `${signedBy.coSigners.length} ${tier}`);
      }
    }
  });

  test('MSG-11: weights of 32 bits are summed without overflow', () => {
    const signers = Array.from({ length: 16 }, (_, index) => signer(index + 2, { weight: WEIGHT_MAX }));
    const of = config(signers, {
      masterWeight: WEIGHT_MAX,
      thresholds: { low: WEIGHT_MAX, medium: WEIGHT_MAX, high: 1 },
    });
    assert.equal(code(of, withMaster(...signers), 'medium'), null);
    assert.equal(code(of, by(keyOf(2)), 'low'), null);
    const light = config([signer(2, { weight: WEIGHT_MAX - 1 })], {
      masterWeight: 0,
      thresholds: { low: WEIGHT_MAX, medium: 1, high: 1 },
    });
    assert.equal(code(light, withMaster(keyOf(2)), 'low'), 'INSUFFICIENT_SIGNER_WEIGHT');
  });

  test('MSG-29: the bytes of a registered key under another scheme are an unknown signer', () => {
    const of = config([signer(2, { scheme: 'P256' })]);
    assert.equal(code(of, by(keyOf(2, 'P256'))), null);
    assert.equal(code(of, by(keyOf(2, 'Secp256k1'))), 'SIGNER_UNKNOWN');
    assert.equal(code(of, by(keyOf(2, 'WebAuthn'))), 'SIGNER_UNKNOWN');
  });

  test('MSG-30, MSG-31: an unknown or a repeated co-signer refuses the whole request, whatever the others weigh', () => {
    const of = config([signer(2, { weight: 9 })]);
    assert.equal(code(of, withMaster(keyOf(2), keyOf(7))), 'SIGNER_UNKNOWN');
    assert.equal(code(of, withMaster(MASTER)), 'SIGNER_UNKNOWN');
    assert.equal(code(of, withMaster(keyOf(2), keyOf(2))), 'SIGNER_DUPLICATE');
  });

  test('MSG-32: a co-signer signs before it expires', () => {
    const of = config([signer(2, { expiresAtNs: NOW + 100n })]);
    assert.equal(code(of, by(keyOf(2)), 'low', NOW + 99n), null);
    assert.equal(code(of, by(keyOf(2)), 'low', NOW + 100n), 'SIGNER_EXPIRED');
    assert.equal(code(of, withMaster(keyOf(2)), 'low', NOW + 100n), 'SIGNER_EXPIRED');
  });

  test('MSG-33: the signing window of a co-signer is counted from when it was added', () => {
    const of = config([signer(2, { maxSigningWindowNs: 50n })]);
    assert.equal(code(of, by(keyOf(2)), 'low', NOW + 49n), null);
    assert.equal(code(of, by(keyOf(2)), 'low', NOW + 50n), 'SIGNER_EXPIRED');
  });

  test('MON-12: co-signers end with the first of them, by its expiry or its window', () => {
    const of = config([
      signer(2, { expiresAtNs: NOW + 9n }),
      signer(3, { maxSigningWindowNs: 5n }),
      signer(4, { maxSigningWindowNs: 8n, expiresAtNs: NOW + 7n }),
      signer(5),
    ]);
    const end = (...keys: number[]): bigint | null =>
      endOfSigners(
        of,
        keys.map((key) => keyOf(key)),
      );
    assert.deepEqual([end(2), end(3), end(4), end(5), end(2, 5)], [NOW + 9n, NOW + 5n, NOW + 7n, null, NOW + 9n]);
    assert.equal(end(2, 3, 4, 5), NOW + 5n);
  });

  test('MSG-36: a master key of weight 0 adds nothing', () => {
    const of = config([signer(2)], { masterWeight: 0 });
    assert.equal(code(of, MASTER_ALONE), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(code(of, by(keyOf(2))), null);
  });

  test('AMB-136, MON-13: a signer of the account with any weight cancels', () => {
    const signers = [signer(2, { weight: 1, expiresAtNs: NOW + 1n }), signer(4, { weight: 0 })];
    const of = config(signers, { masterWeight: 0, thresholds: { low: 9, medium: 9, high: 9 } });
    const cancels = (signedBy: SignedBy, at: bigint = NOW) =>
      refuseCancelSigners(of, signedBy, at as TimestampNs)?.code ?? null;
    assert.equal(cancels(MASTER_ALONE), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(cancels(by(keyOf(4))), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(cancels(by(keyOf(2))), null);
    assert.equal(cancels(by(keyOf(2), keyOf(4))), null);
    assert.equal(cancels(by()), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(cancels(by(keyOf(3))), 'SIGNER_UNKNOWN');
    assert.equal(cancels(by(keyOf(2)), NOW + 1n), 'SIGNER_EXPIRED');
  });

  test('MSG-11, MSG-29 to MSG-33, MSG-36: any signers of any configuration are judged as by a plain reference', () => {
    const scheme = fc.constantFrom<SignerScheme>('Ed25519', 'Secp256k1', 'P256', 'WebAuthn');
    const key = fc.tuple(fc.integer({ min: 1, max: 4 }), scheme).map(([byte, of]) => keyOf(byte, of));
    const weight = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(WEIGHT_MAX));
    const end = fc.option(fc.bigInt({ min: 0n, max: 4n }));
    const registered = fc.tuple(key, weight, end, end).map(([of, heavy, expires, window]) => ({
      ...of,
      weight: heavy,
      addedNs: NOW,
      expiresAtNs: expires === null ? null : NOW + expires,
      maxSigningWindowNs: window,
    }));
    const threshold = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(WEIGHT_MAX));
    const any = fc.record({
      masterWeight: weight,
      thresholds: fc.record({ low: threshold, medium: threshold, high: threshold }),
      setNs: fc.constant(NOW),
      signers: fc.uniqueArray(registered, { selector: nameOf, maxLength: 6 }),
    });
    const signed = fc.record({ hasMaster: fc.boolean(), coSigners: fc.array(key, { maxLength: 4 }) });
    const tier = fc.constantFrom<SignerTier>('low', 'medium', 'high');
    const later = fc.bigInt({ min: 0n, max: 4n });
    const seen = new Set<string | null>();
    fc.assert(
      fc.property(any, signed, tier, later, (of, signedBy, level, after) => {
        const judged = code(of, signedBy, level, NOW + after);
        assert.equal(judged, plainCode(of, signedBy, level, NOW + after));
        seen.add(judged);
      }),
      propertyParameters(3_000),
    );
    assert.equal(seen.size, 5, 'every outcome was met');
  });
});

suite('a configuration that an account may have', () => {
  const refusal = (of: SignerConfig): string | null => checkConfig(of, USER)?.code ?? null;

  test('MSG-06: each threshold is at least 1', () => {
    for (const tier of ['low', 'medium', 'high'] as const) {
      const thresholds = { ...DEFAULT_SIGNERS.thresholds, [tier]: 0 };
      assert.equal(refusal(config([], { thresholds })), 'INVALID_REQUEST', tier);
    }
    assert.equal(refusal(DEFAULT_SIGNERS), null);
  });

  test('MSG-07: all keys together weigh at least as much as the threshold high', () => {
    const thresholds = { low: 1, medium: 1, high: 5 };
    assert.equal(refusal(config([signer(2, { weight: 3 })], { thresholds })), 'INVALID_REQUEST');
    assert.equal(refusal(config([signer(2, { weight: 4 })], { thresholds })), null);
  });

  test('MSG-08: the master key is no additional signer', () => {
    assert.equal(refusal(config([signer(2), signer(0x11, { scheme: 'Ed25519' })])), 'INVALID_REQUEST');
    assert.equal(refusal(config([signer(0x12, { scheme: 'Ed25519' })])), null);
  });

  test('MSG-09: no key is there twice, and a P-256 key is the same key under WebAuthn', () => {
    assert.equal(refusal(config([signer(2), signer(3), signer(2, { weight: 7 })])), 'SIGNER_DUPLICATE');
    const p256 = signer(2, { scheme: 'P256' });
    assert.equal(refusal(config([p256, signer(2, { scheme: 'WebAuthn' })])), 'SIGNER_DUPLICATE');
    assert.equal(refusal(config([p256, signer(2, { scheme: 'Secp256k1' })])), null);
  });

  test('MSG-10: thresholds need not rise from low to high', () => {
    assert.equal(refusal(config([signer(2, { weight: 2 })], { thresholds: { low: 3, medium: 1, high: 2 } })), null);
  });

  test('AMB-124: an account has at most 16 additional signers', () => {
    const signers = (count: number) => Array.from({ length: count }, (_, index) => signer(index + 32));
    assert.equal(refusal(config(signers(16))), null);
    assert.equal(refusal(config(signers(17))), 'INVALID_REQUEST');
  });
});
