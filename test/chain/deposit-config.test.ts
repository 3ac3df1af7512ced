// tier: quick
/** The configuration of a deposit's event: its ABI form against another encoder, the signed text, and hostile data. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { DEPOSITED_WITH_CONFIG_TOPIC, encodeDeposit } from '../../src/chain/chain-events.ts';
import {
  CONFIG_SIGNERS_MAX,
  type ConfigSigner,
  configText,
  type DepositConfig,
  decodeConfig,
  decodeCredit,
  encodeConfig,
} from '../../src/chain/deposit-config.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ALICE } from '../support/names.ts';

import { propertyParameters } from '../support/property.ts';
import { PlainKey } from '../support/wire-texts.ts';

const ABI = parseAbiParameters(
  'uint256, uint32, uint32, uint32, uint32, (bytes32,uint8,uint8,uint32,uint64,uint64)[], bytes',
);
const WORD = 64;
const word = (value: bigint | number): string => value.toString(16).padStart(WORD, '0');

function byViem(amount: bigint, { masterWeight, low, medium, high, signers, signature }: DepositConfig): string {
  const rows = signers.map(
    ({ key, keyType, keyPrefix, weight, expiresAtNs, maxSigningWindowNs }) =>
      [`0x${key}`, keyType, keyPrefix, weight, expiresAtNs, maxSigningWindowNs] as const,
  );
  return encodeAbiParameters(ABI, [amount, masterWeight, low, medium, high, rows, `0x${signature}`]).slice(2);
}

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((of) => Buffer.from(of).toString('hex'));
function record<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;
}
const u8 = fc.integer({ min: 0, max: 255 });
const u32 = fc.integer({ min: 0, max: 4_294_967_295 });
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const anySigner: fc.Arbitrary<ConfigSigner> = record({
  key: hex(32),
  keyType: u8,
  keyPrefix: u8,
  weight: u32,
  expiresAtNs: u64,
  maxSigningWindowNs: u64,
});
const anyConfig: fc.Arbitrary<DepositConfig> = record({
  masterWeight: u32,
  low: u32,
  medium: u32,
  high: u32,
  signers: fc.array(anySigner, { maxLength: 20 }),
  signature: fc.integer({ min: 0, max: 64 }).chain(hex),
});

const ONE: DepositConfig = {
  ...{ masterWeight: 1, low: 1, medium: 1, high: 1 },
  signers: [{ key: '07'.repeat(32), keyType: 1, keyPrefix: 2, weight: 1, expiresAtNs: 0n, maxSigningWindowNs: 0n }],
  signature: '',
};
const USER_42 = new PlainKey(0x42);

function event(config: string, user = USER_42.id): ReturnType<typeof encodeDeposit> {
  return encodeDeposit(
    { user: user as UserId, nonce: 0, token: '5a'.repeat(20).padEnd(64, '0'), baseUnits: 5n },
    config,
  );
}

suite('the configuration of a deposit', () => {
  test('MSG-04: the data is that of the contract ABI, and is read as it was written', () => {
    fc.assert(
      fc.property(anyConfig, (config) => {
        const data = word(5n) + encodeConfig(config);
        assert.equal(data, byViem(5n, config));
        assert.deepEqual(decodeConfig(data), config);
      }),
      propertyParameters(200),
    );
  });

  test('MSG-04: the vector "deposit config" of wire.md 13 is the signed text, and its signature counts', () => {
    const signature =
      '94bada0729ca5c253bb92f65e8d16296b28990a9ee96e7d863aa89008b3cd79a8adadec3485479ebf156977e2746a09bcde7b09f418be6015079114da1c29c0b';
    const text = configText(ONE);
    assert.equal(text.length, 246);
    assert.equal(Buffer.from(USER_42.sign(text)).toString('hex'), signature);
    const log = event(encodeConfig({ ...ONE, signature }));
    assert.equal(log.topics[0], DEPOSITED_WITH_CONFIG_TOPIC);
    const { setup } = decodeCredit(log) ?? assert.fail();
    const key = Uint8Array.from([2, ...new Array(32).fill(7)]);
    assert.deepEqual(setup, {
      masterWeight: 1,
      thresholds: { low: 1, medium: 1, high: 1 },
      signers: [{ scheme: 'Secp256k1', key, weight: 1, expiresAtNs: null, maxSigningWindowNs: null }],
    });
    const other = decodeCredit(event(encodeConfig({ ...ONE, signature }), ALICE)) ?? assert.fail();
    assert.deepEqual([other.baseUnits, other.setup], [5n, undefined], 'another account has not signed it');
  });

  test('AMB-132: cut, overlong and pointless data is a deposit without a configuration, and never an error', () => {
    const signature = Buffer.from(USER_42.sign(configText(ONE))).toString('hex');
    const good = encodeConfig({ ...ONE, signature });
    assert.ok(decodeCredit(event(good))?.setup !== undefined);
    const broken = fc.oneof(
      fc.nat(good.length - 1).map((end) => good.slice(0, end)),
      fc
        .tuple(fc.nat(good.length / WORD - 1), fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }))
        .map(([at, value]) => good.slice(0, at * WORD) + word(value) + good.slice((at + 1) * WORD)),
      hex(320),
    );
    fc.assert(
      fc.property(broken, (config) => {
        if (config === '') return;
        const deposit = decodeCredit(event(config)) ?? assert.fail();
        assert.equal(deposit.baseUnits, 5n);
        const isSame = decodeConfig(word(5n) + config) !== null && deposit.setup !== undefined;
        assert.ok(deposit.setup === undefined || isSame);
      }),
      propertyParameters(2_000),
    );
  });

  test('AMB-132: as many signers as are read, and one more', () => {
    const signed = (count: number) => {
      const signers = Array.from({ length: count }, (_, index) => ({ ...ONE.signers[0], key: word(index + 1) }));
      const config = { ...ONE, signers: signers as readonly ConfigSigner[] };
      const signature = Buffer.from(USER_42.sign(configText(config))).toString('hex');
      return decodeCredit(event(encodeConfig({ ...config, signature }))) ?? assert.fail();
    };
    assert.equal(signed(CONFIG_SIGNERS_MAX).setup?.signers.length, 16);
    assert.equal(signed(CONFIG_SIGNERS_MAX + 1).setup, undefined);
  });
});
