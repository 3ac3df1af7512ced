import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { UserOrdinals } from '../../src/storage/user-ordinals.ts';
import { propertyParameters } from '../support/property.ts';

const USER_BYTES = 32;
/** Many that differ in one byte only. */
const user = fc.oneof(
  fc.uint8Array({ minLength: USER_BYTES, maxLength: USER_BYTES }),
  fc.tuple(fc.nat({ max: USER_BYTES - 1 }), fc.nat({ max: 255 })).map(([at, byte]) => {
    const bytes = new Uint8Array(USER_BYTES);
    bytes[at] = byte;
    return bytes;
  }),
);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

suite('ordinals of users', () => {
  test('each user is found by its bytes, wherever they lie, and nobody else', () => {
    const users = fc.uniqueArray(user, { selector: hex, maxLength: 60 });
    fc.assert(
      fc.property(users, fc.array(user), fc.nat({ max: 9 }), (known, asked, at) => {
        const ordinals = new UserOrdinals();
        for (const bytes of known) ordinals.add(bytes, 0);
        const names = known.map(hex);
        for (const bytes of [...known, ...asked]) {
          const around = Buffer.concat([Buffer.alloc(at, 0xff), bytes, Buffer.from([0xff])]);
          assert.equal(ordinals.find(around, at), names.indexOf(hex(bytes)));
        }
        for (const bytes of known) assert.throws(() => ordinals.add(bytes, 0), { name: 'InvariantError' });
      }),
      propertyParameters(),
    );
  });

  test('10,000 users are found as 10 are', () => {
    const ordinals = new UserOrdinals();
    const bytesOf = (index: number): Uint8Array => {
      const bytes = new Uint8Array(USER_BYTES);
      new DataView(bytes.buffer).setUint32(4 * (index % 8), index);
      return bytes;
    };
    for (let index = 1; index <= 10_000; index += 1) ordinals.add(bytesOf(index), 0);
    for (let index = 1; index <= 10_000; index += 1) assert.equal(ordinals.find(bytesOf(index), 0), index - 1);
    assert.equal(ordinals.find(bytesOf(10_001), 0), -1);
  });
});
