// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { getPublicKeyAsync, signAsync } from '@noble/ed25519';
import { parseHex } from '../../src/core/hex.ts';
import { verify, verifyRange } from '../../src/crypto/ed25519.ts';

const SEED = new Uint8Array(32).fill(0x42);
const TEXT = new TextEncoder().encode('{"order_id":"demo-order-1"}');

/** Both signs of the seven y values whose keys accept forged signatures (hazards: small-order keys). */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

function bytes(hex: string): Uint8Array {
  const parsed = parseHex(hex, hex.length / 2);
  assert.ok(parsed !== null);
  return parsed;
}

function shared(source: Uint8Array, padding: number): Uint8Array {
  const view = new Uint8Array(new SharedArrayBuffer(source.length + padding));
  view.set(source, padding);
  return view;
}

suite('Ed25519', () => {
  test('a valid signature verifies and any changed bit does not (SIG-05, SIG-09)', async () => {
    const signature = await signAsync(TEXT, SEED);
    const publicKey = await getPublicKeyAsync(SEED);
    assert.equal(verify(signature, TEXT, publicKey), true);
    for (const target of [signature, TEXT, publicKey]) {
      const broken = target.slice();
      broken[5] = (broken[5] ?? 0) ^ 1;
      const args = [signature, TEXT, publicKey].map((part) => (part === target ? broken : part));
      assert.equal(verify(args[0] ?? broken, args[1] ?? broken, args[2] ?? broken), false);
    }
  });

  test('bytes in shared memory are really verified: a forged signature there is refused', async () => {
    const signature = shared(await signAsync(TEXT, SEED), 8);
    const publicKey = shared(await getPublicKeyAsync(SEED), 16);
    const message = shared(TEXT, 24);
    const range = (view: Uint8Array, at: number) => ({ bytes: view, at, length: view.length - at });
    assert.equal(verifyRange(range(signature, 8), range(message, 24), range(publicKey, 16)), true);
    signature[20] = (signature[20] ?? 0) ^ 0x80;
    assert.equal(verifyRange(range(signature, 8), range(message, 24), range(publicKey, 16)), false);
  });

  test('a key of small order signs nothing', () => {
    for (const y of SMALL_ORDER_Y) {
      for (const sign of [0, 0x80]) {
        const key = bytes(y);
        key[31] = (key[31] ?? 0) | sign;
        const identity = bytes('01'.padEnd(64, '0'));
        const forged = new Uint8Array(64);
        for (const commitment of [identity, key]) {
          forged.set(commitment, 0);
          assert.equal(verify(forged, TEXT, key), false, `key ${y} sign ${sign}`);
        }
      }
    }
  });

  test('S at or above the group order is refused: no second signature for the same bytes', async () => {
    const signature = await signAsync(TEXT, SEED);
    const publicKey = await getPublicKeyAsync(SEED);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    let s = 0n;
    for (let index = 63; index >= 32; index -= 1) s = (s << 8n) | BigInt(signature[index] ?? 0);
    let twin = s + order;
    const malleable = signature.slice();
    for (let index = 32; index < 64; index += 1) {
      malleable[index] = Number(twin & 0xffn);
      twin >>= 8n;
    }
    assert.equal(verify(malleable, TEXT, publicKey), false);
  });

  test('signatures and keys of another length are not valid', () => {
    assert.equal(verify(new Uint8Array(63), TEXT, new Uint8Array(32)), false);
    assert.equal(verify(new Uint8Array(64), TEXT, new Uint8Array(31)), false);
  });
});
