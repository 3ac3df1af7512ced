// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { firstToken, hashOfToken, type OperatorToken } from '../../src/operator/operator-tokens.ts';
import { ADDRESSES_MAX, TokenGuard, WRONG_TOKENS } from '../../src/operator/token-guard.ts';

const TOKEN = 'f'.repeat(32);
const FIRST = firstToken(TOKEN);
const DESK: OperatorToken = { name: 'desk', role: 'read', hash: hashOfToken('d'.repeat(32)) };
const RIGHT = `Bearer ${TOKEN}`;
const WRONG = `Bearer ${'e'.repeat(32)}`;

suite('wrong operator tokens', () => {
  test('an address may be wrong some times, then it is limited until a second has passed; the right token never is (MCH-06)', () => {
    let nowMs = 0;
    const guard = new TokenGuard([DESK, FIRST], () => nowMs);
    for (let count = 0; count < WRONG_TOKENS; count += 1) assert.equal(guard.judge(WRONG, '192.0.2.1'), 'wrong');
    assert.equal(guard.judge(WRONG, '192.0.2.1'), 'limited');
    assert.equal(guard.judge(WRONG, '::ffff:192.0.2.1'), 'limited');
    assert.equal(guard.judge(RIGHT, '::ffff:192.0.2.1'), FIRST);
    assert.equal(guard.judge(RIGHT, '192.0.2.2'), FIRST);
    nowMs += 1_000;
    assert.equal(guard.judge(RIGHT, '192.0.2.1'), FIRST);
    assert.equal(guard.judge(WRONG, '192.0.2.1'), 'wrong');
    assert.equal(guard.judge(WRONG, '192.0.2.1'), 'limited');
  });

  test('right tokens and none at all cost nothing', () => {
    const guard = new TokenGuard([DESK, FIRST], () => 0);
    for (let count = 0; count < 3 * WRONG_TOKENS; count += 1) {
      assert.equal(guard.judge(RIGHT, '192.0.2.1'), FIRST);
      assert.equal(guard.judge(undefined, '192.0.2.1'), 'wrong');
    }
    assert.equal(guard.addresses, 0);
  });

  test('addresses of one IPv6 /64 are one, and the table is bounded', () => {
    const guard = new TokenGuard([DESK, FIRST], () => 0);
    for (let count = 0; count < WRONG_TOKENS; count += 1) guard.judge(WRONG, `2001:db8::${count.toString(16)}`);
    assert.equal(guard.judge(WRONG, '2001:db8::ffff'), 'limited');
    for (let count = 0; count < 2 * ADDRESSES_MAX; count += 1)
      guard.judge(WRONG, `10.${count >> 16}.${(count >> 8) & 255}.${count & 255}`);
    assert.equal(guard.addresses, ADDRESSES_MAX);
  });

  test('LDG-03: each token is the one it is, and tokens that were read again replace all that there were', () => {
    const guard = new TokenGuard([DESK, FIRST], () => 0);
    assert.equal(guard.judge(`Bearer ${'d'.repeat(32)}`, '192.0.2.1'), DESK);
    assert.equal(guard.judge(RIGHT, '192.0.2.1'), FIRST);
    guard.replace([DESK]);
    assert.equal(guard.judge(RIGHT, '192.0.2.1'), 'wrong');
    assert.equal(guard.judge(`Bearer ${'d'.repeat(32)}`, '192.0.2.1'), DESK);
  });
});
