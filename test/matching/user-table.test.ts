// tier: quick
/** The table of users: numbers are given once, and keys with a common prefix are distinguished. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { USER_WORDS, UserTable } from '../../src/matching/user-table.ts';

const USERS = 3_000;

/** Keys one behind the other: by `shared` words the same, the next one counts in steps of `step`. */
function keys(shared: number, step: number): Int32Array {
  const words = new Int32Array(USERS * USER_WORDS).fill(0x5a5a5a5a);
  for (let user = 0; user < USERS; user++) words[user * USER_WORDS + shared] = Math.imul(user, step);
  return words;
}

suite('the table of users', () => {
  for (const seed of [0n, 1n, 0xfedcba9876543210n])
    for (const [shared, step] of [
      [0, 1],
      [0, 0x10000],
      [1, 1],
      [2, 1],
      [7, 0x9e3779b1],
    ] as const)
      test(`${USERS} keys that share ${shared} words and differ by ${step} have numbers of their own (AMB-07), under ${seed}`, () => {
        const words = keys(shared, step);
        const table = new UserTable(2, hashKeyOf(seed));
        for (let user = 0; user < USERS; user++) {
          assert.equal(table.find(words, user * USER_WORDS), -1);
          assert.equal(table.intern(words, user * USER_WORDS), user);
        }
        for (let user = 0; user < USERS; user++) assert.equal(table.intern(words, user * USER_WORDS), user);
        assert.equal(table.count, USERS);
        assert.deepEqual(table.words.subarray(0, words.length), words);
      });
});
