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

/**
 * 128 users that had one hash under every seed, while each word was multiplied by an odd seed and shifted into itself by
 * 15: bit 31 of a word came out as bits 31 and 16, which the next word takes back.
 */
function usersMadeToMeet(base: number): Uint8Array[] {
  return Array.from({ length: 128 }, (_, flips) => {
    const bytes = new Uint8Array(USER_BYTES).fill(base + 1);
    const view = new DataView(bytes.buffer);
    for (let word = 0; word < 7; word += 1) {
      if (((flips >> word) & 1) === 0) continue;
      const at = 4 * word;
      view.setUint32(at, view.getUint32(at, true) ^ 0x8000_0000, true);
      view.setUint32(at + 4, view.getUint32(at + 4, true) ^ 0x8001_0000, true);
    }
    return bytes;
  });
}

suite('ordinals of users', () => {
  test('each user is found by its bytes, wherever they lie, and no other', () => {
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

  test('10,000 users are found as 10 are, even if they were made to meet', () => {
    const ordinals = new UserOrdinals();
    const users = Array.from({ length: 80 }, (_, base) => usersMadeToMeet(base)).flat();
    assert.equal(new Set(users.map(hex)).size, 10_240);
    for (const bytes of users) ordinals.add(bytes, 0);
    for (const [ordinal, bytes] of users.entries()) assert.equal(ordinals.find(bytes, 0), ordinal);
    assert.equal(ordinals.find(new Uint8Array(USER_BYTES).fill(0xff), 0), -1);
    // Of random ones, under a third of the places, one in a billion looks at so many.
    assert.ok(ordinals.searchMax <= 64, `a search looks at ${ordinals.searchMax} places`);
  });
});
