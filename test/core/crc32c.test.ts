// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { crc32c } from '../../src/core/crc32c.ts';
import { propertyParameters } from '../support/property.ts';

suite('crc32c', () => {
  test('the vectors of RFC 3720 B.4 and the check value', () => {
    assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
    assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
    assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
    assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index)), 0x46dd794e);
    assert.equal(crc32c(new Uint8Array(0)), 0);
  });

  test('the checksum of two pieces is that of the whole', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (a, b) => {
        assert.equal(crc32c(b, crc32c(a)), crc32c(Buffer.concat([a, b])));
      }),
      propertyParameters(),
    );
  });

  test('with a view of the bytes it is the same, wherever they begin and end', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 120 }),
        fc.nat(20),
        fc.nat(20),
        fc.nat(0xffff_ffff),
        (bytes, head, tail, seed) => {
          const from = Math.min(head, bytes.length);
          const to = Math.max(from, bytes.length - tail);
          const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
          assert.equal(crc32c(bytes, seed, from, to, view), crc32c(bytes.slice(from, to), seed));
        },
      ),
      propertyParameters(),
    );
    const check = Buffer.from('123456789123456789');
    const view = new DataView(check.buffer, check.byteOffset, check.byteLength);
    assert.equal(crc32c(check, 0, 9, 18, view), 0xe3069283);
    const ff = new Uint8Array(32).fill(0xff);
    assert.equal(crc32c(ff, 0, 0, 32, new DataView(ff.buffer)), 0x62a8ab43);
  });

  test('one flipped bit changes it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.nat(), (bytes, where) => {
        const flipped = Uint8Array.from(bytes);
        const bit = where % (bytes.length * 8);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.notEqual(crc32c(flipped), crc32c(bytes));
      }),
      propertyParameters(),
    );
  });
});
