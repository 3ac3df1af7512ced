// tier: quick
/** What an address may cost before it has logged in (AMB-91). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TimestampNs } from '../../../src/core/units.ts';
import { AddressLimits } from '../../../src/gateway/sessions/address-limits.ts';
import { addressKey, lastForwardedKey } from '../../../src/http/client-address.ts';

const START = 1n;
const later = (ms: number): TimestampNs => (START + BigInt(ms) * 1_000_000n) as TimestampNs;
const NOW = later(0);
const limitsOf = (capacity: bigint, entriesMax?: number): AddressLimits =>
  new AddressLimits({ size: { unitsPerSecond: 10n, capacity }, socketsMax: 2 }, entriesMax);

suite('the bucket of an address', () => {
  test('what is malformed costs 1, what is unauthorized 2, a signature that does not verify 10; the rest is free', () => {
    const limits = limitsOf(14n);
    for (const code of ['DUPLICATE_ORDER', 'SERVICE_UNAVAILABLE', 'MARKET_NOT_FOUND'] as const) {
      limits.chargeRefusal('a', code, NOW);
    }
    assert.equal(limits.bucketCount, 0);
    limits.chargeRefusal('a', 'INVALID_SIGNATURE', NOW);
    limits.chargeRefusal('a', 'UNAUTHORIZED', NOW);
    limits.chargeRefusal('a', 'INVALID_REQUEST', NOW);
    assert.equal(limits.refusal('a', NOW), null, 'one unit is left');
    limits.chargeRefusal('a', 'NOT_FOUND', NOW);
    assert.deepEqual(limits.refusal('a', NOW), {
      code: 'RATE_LIMITED',
      message: 'the budget of requests is used up; it refills all the time',
      details: { bucket: 'address', units_asked: '1', units_available: '0' },
    });
    assert.equal(limits.refusal('b', NOW), null, 'each address for itself');
    assert.equal(limits.refusal('a', later(99))?.code, 'RATE_LIMITED');
    assert.equal(limits.refusal('a', later(100)), null);
  });

  test('a refusal for want of budget costs a tenth (AMB-91)', () => {
    const limits = limitsOf(2n);
    for (let each = 0; each < 10; each += 1) limits.chargeRefusal('a', 'RATE_LIMITED', NOW);
    assert.equal(limits.refusal('a', NOW), null, 'one unit is left');
    limits.chargeRefusal('a', 'RATE_LIMITED', NOW);
    assert.equal(limits.refusal('a', NOW)?.code, 'RATE_LIMITED');
  });

  test('it can owe as much as it can hold, then not even its connections are taken; it comes back with time', () => {
    const limits = limitsOf(20n);
    for (let each = 0; each < 3; each += 1) limits.chargeRefusal('a', 'INVALID_SIGNATURE', NOW);
    assert.ok(!limits.isFlooding('a', NOW));
    for (let each = 0; each < 50; each += 1) limits.chargeRefusal('a', 'INVALID_SIGNATURE', NOW);
    assert.ok(limits.isFlooding('a', NOW));
    assert.ok(!limits.isFlooding('a', later(100)));
    assert.equal(limits.refusal('a', later(2_000))?.code, 'RATE_LIMITED');
    assert.equal(limits.refusal('a', later(2_100)), null);
  });

  test('memory is bounded: the address that was charged the longest time ago gives way, and full buckets go', () => {
    const limits = limitsOf(20n, 100);
    for (let each = 0; each < 1_000; each += 1) limits.charge(`a${each}`, 20n, NOW);
    assert.equal(limits.bucketCount, 100);
    assert.equal(limits.refusal('a0', NOW), null);
    assert.equal(limits.refusal('a999', NOW)?.code, 'RATE_LIMITED');
    for (let each = 0; each < 100; each += 1) limits.charge('b', 1n, later(60_000));
    assert.equal(limits.bucketCount, 1);
  });

  test('on production limits a hundred addresses cannot take all 32,768 connections: one more address still gets in', () => {
    const limits = new AddressLimits({ size: { unitsPerSecond: 100n, capacity: 2_000n }, socketsMax: 256 });
    let taken = 0;
    for (let round = 0; round < 5_000; round += 1) {
      for (let each = 0; each < 100; each += 1) {
        if (limits.takesConnection(`a${each}`, taken / 32_768, NOW)) taken += 1;
      }
    }
    assert.ok(taken > 24_576 && taken < 32_768, `${taken} taken`);
    assert.ok(limits.takesConnection('honest', taken / 32_768, NOW));
    assert.ok(!limits.takesConnection('a1', taken / 32_768, NOW), 'who has made many makes no more');
    assert.ok(limits.takesConnection('a1', 0.4, later(60_000)), 'and has as many as before when there is room');
  });

  test('the last quarter of the sockets goes eight to an address: 64 addresses with 256 each do not fill 16,384', () => {
    const limits = new AddressLimits({ size: { unitsPerSecond: 100n, capacity: 2_000n }, socketsMax: 256 });
    let open = 0;
    for (let round = 0; round < 256; round += 1) {
      for (let each = 0; each < 64; each += 1) {
        if (limits.socketRefusal(`a${each}`, open / 16_384) !== null) continue;
        limits.socketOpened(`a${each}`);
        open += 1;
      }
    }
    assert.ok(open < 12_288, `${open} open`);
    assert.equal(limits.socketRefusal('honest', open / 16_384), null);
    assert.deepEqual(limits.socketRefusal('a1', 0.8)?.details, { bucket: 'address', limit: 8 });
    assert.equal(limits.socketRefusal('honest', 0.99), null);
  });

  test('a small bucket makes connections all the same when it is full', () => {
    const limits = limitsOf(20n);
    assert.ok(limits.takesConnection('a', 0.95, NOW));
    assert.ok(!limits.takesConnection('a', 0.95, NOW));
    assert.ok(limits.takesConnection('a', 0.95, later(2_000)));
  });

  test('sockets are counted while they are open', () => {
    const limits = limitsOf(20n);
    limits.socketOpened('a');
    assert.equal(limits.socketRefusal('a'), null);
    limits.socketOpened('a');
    assert.deepEqual(limits.socketRefusal('a')?.details, { bucket: 'address', limit: 2 });
    limits.socketClosed('a');
    assert.equal(limits.socketRefusal('a'), null);
  });
});

suite('what counts as one address', () => {
  const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

  test('an IPv4 address, also inside IPv6; of IPv6 the first 64 bits', () => {
    assert.equal(addressKey(bytes('7f000001')), '127.0.0.1');
    assert.equal(addressKey(bytes(`${'00'.repeat(10)}ffff7f000001`)), '127.0.0.1');
    assert.equal(addressKey(bytes(`20010db800010002${'ab'.repeat(8)}`)), '20010db800010002');
    assert.equal(addressKey(bytes('')), '');
  });

  test('of X-Forwarded-For the last element, which the terminator wrote; what is no address is null', () => {
    for (const [header, key] of [
      ['1.2.3.4', '1.2.3.4'],
      ['9.9.9.9, 1.2.3.4', '1.2.3.4'],
      ['9.9.9.9,1.2.3.4:5678', '1.2.3.4'],
      ['2001:db8:1:2:3:4:5:6', '20010db800010002'],
      ['[2001:db8::1]:443', '20010db800000000'],
      ['::1', '0000000000000000'],
      ['::ffff:1.2.3.4', '1.2.3.4'],
      ['fe80::1%eth0', 'fe80000000000000'],
      ['1.2.3.4, unknown', null],
      ['1.2.3.4,', null],
      ['', null],
      ['999.1.1.1', null],
    ] as const) {
      assert.equal(lastForwardedKey(header), key, header);
    }
  });
});
