// tier: quick
/** Nonces, tokens and logging in. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { reject } from '../../../src/core/reject.ts';
import { SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { checkLoginNonce, completeLogin } from '../../../src/gateway/sessions/login.ts';
import { Nonces } from '../../../src/gateway/sessions/nonces.ts';
import { Tokens } from '../../../src/gateway/sessions/tokens.ts';
import { ALICE, BOB } from '../../support/names.ts';

const START = 1_760_000_000_000_000_001n as TimestampNs;

function after(seconds: number): TimestampNs {
  return (START + BigInt(seconds) * SECOND_NS) as TimestampNs;
}

function codeOf(outcome: ReturnType<typeof completeLogin> | ReturnType<typeof checkLoginNonce>): string {
  return outcome.ok ? 'ok' : outcome.reject.code;
}

suite('nonces', () => {
  test('the same nonce is given out while more than 10 s of it are left (SES-04)', () => {
    const nonces = new Nonces();
    const first = nonces.issue(ALICE, START, 'one');
    assert.deepEqual(nonces.issue(ALICE, after(289), 'two'), first);
    assert.equal(nonces.issue(ALICE, (after(290) - 1n) as TimestampNs, 'two').value, 'one');
  });

  test('with 10 s or less left another one takes its place (SES-05)', () => {
    const nonces = new Nonces();
    nonces.issue(ALICE, START, 'one');
    assert.deepEqual(nonces.issue(ALICE, after(290), 'two'), { value: 'two', expiryNs: after(590) });
  });

  test('callers without a session cannot grow the table: the least recently used nonce gives way', () => {
    const nonces = new Nonces(3);
    const users = ['1', '2', '3', '4'].map((digit) => digit.repeat(64) as UserId);
    for (const user of users.slice(0, 3)) nonces.issue(user, START, user);
    nonces.issue(users[0] as UserId, START, 'again');
    nonces.issue(users[3] as UserId, START, 'last');
    assert.equal(nonces.count, 3);
    assert.deepEqual(
      users.map((user) => nonces.find(user) !== undefined),
      [true, false, true, true],
    );
    assert.equal(nonces.find(users[0] as UserId)?.value, users[0]);
  });

  test('a second request when the table is full evicts no user', () => {
    const nonces = new Nonces(2);
    nonces.issue(ALICE, START, 'a');
    nonces.issue(BOB, START, 'b');
    nonces.issue(BOB, after(295), 'b2');
    assert.equal(nonces.find(ALICE)?.value, 'a');
  });
});

suite('login', () => {
  const proof = (now: TimestampNs, isValid = true) => ({
    refusal: isValid ? null : reject('INVALID_SIGNATURE', 'the signature does not verify'),
    tokenHash: 'hash',
    now,
  });

  test('the checks run in the order not found, expired, different, signature (AMB-86, SES-10)', () => {
    const sessions = { nonces: new Nonces(), tokens: new Tokens() };
    const wrong = { user: ALICE, nonce: 'other' };
    assert.equal(codeOf(completeLogin(sessions, wrong, proof(START, false))), 'NONCE_NOT_FOUND');
    sessions.nonces.issue(ALICE, START, 'value');
    assert.equal(codeOf(completeLogin(sessions, wrong, proof(after(300), false))), 'NONCE_EXPIRED');
    assert.equal(codeOf(completeLogin(sessions, wrong, proof(after(1), false))), 'INVALID_NONCE');
    const right = { user: ALICE, nonce: 'value' };
    assert.equal(codeOf(completeLogin(sessions, right, proof(after(1), false))), 'INVALID_SIGNATURE');
    assert.equal(codeOf(completeLogin(sessions, right, proof(after(1)))), 'ok');
  });

  test('a nonce is valid up to, not at, five minutes (SES-03)', () => {
    const nonces = new Nonces();
    nonces.issue(ALICE, START, 'value');
    const claim = { user: ALICE, nonce: 'value' };
    assert.equal(codeOf(checkLoginNonce(nonces, claim, (after(300) - 1n) as TimestampNs)), 'ok');
    assert.equal(codeOf(checkLoginNonce(nonces, claim, after(300))), 'NONCE_EXPIRED');
  });

  test('success consumes the nonce, failure does not (SES-08)', () => {
    const sessions = { nonces: new Nonces(), tokens: new Tokens() };
    sessions.nonces.issue(ALICE, START, 'value');
    const claim = { user: ALICE, nonce: 'value' };
    assert.equal(codeOf(completeLogin(sessions, claim, proof(START, false))), 'INVALID_SIGNATURE');
    assert.equal(codeOf(completeLogin(sessions, claim, proof(START))), 'ok');
    assert.equal(codeOf(completeLogin(sessions, claim, proof(START))), 'NONCE_NOT_FOUND');
    assert.equal(sessions.tokens.isValid(ALICE, 'hash', after(1)), true);
  });

  test('when users with funds have the whole table the next without is asked to retry, and keeps its nonce', () => {
    const sessions = { nonces: new Nonces(), tokens: new Tokens({ sessionsMax: 1, isFunded: (user) => user === BOB }) };
    sessions.tokens.issue(BOB, 'h', START);
    sessions.nonces.issue(ALICE, after(86_300), 'value');
    const claim = { user: ALICE, nonce: 'value' };
    assert.equal(codeOf(completeLogin(sessions, claim, proof(after(86_300)))), 'SERVICE_UNAVAILABLE');
    assert.equal(codeOf(completeLogin(sessions, claim, proof(after(86_400)))), 'ok');
    assert.equal(sessions.tokens.userCount, 1);
  });

  test('a nonce is bound to its user (SES-02)', () => {
    const nonces = new Nonces();
    nonces.issue(ALICE, START, 'value');
    assert.equal(codeOf(checkLoginNonce(nonces, { user: BOB, nonce: 'value' }, START)), 'NONCE_NOT_FOUND');
  });
});

suite('tokens', () => {
  test('a token is valid while now is before its expiry, 24 h after issue (SES-09, AMB-86)', () => {
    const tokens = new Tokens();
    const expiryNs = tokens.issue(ALICE, 'h', START);
    assert.equal(expiryNs, after(86_400));
    assert.equal(tokens.isValid(ALICE, 'h', (expiryNs - 1n) as TimestampNs), true);
    assert.equal(tokens.isValid(ALICE, 'h', expiryNs), false);
    assert.equal(tokens.userCount, 0);
  });

  test("another user's token is not valid (SES-15)", () => {
    const tokens = new Tokens();
    tokens.issue(ALICE, 'h', START);
    assert.equal(tokens.isValid(BOB, 'h', START), false);
  });

  test('logout revokes every token of the caller and of no other user (SES-12)', () => {
    const tokens = new Tokens();
    for (const hash of ['h1', 'h2']) tokens.issue(ALICE, hash, START);
    tokens.issue(BOB, 'h3', START);
    tokens.revokeAll(ALICE);
    assert.deepEqual(
      ['h1', 'h2'].map((hash) => tokens.isValid(ALICE, hash, START)),
      [false, false],
    );
    assert.equal(tokens.isValid(BOB, 'h3', START), true);
  });

  test('the thirty-third token drops the oldest (AMB-87)', () => {
    const tokens = new Tokens();
    for (let index = 0; index < 33; index += 1) tokens.issue(ALICE, `h${index}`, after(index));
    assert.equal(tokens.isValid(ALICE, 'h0', after(40)), false);
    assert.equal(tokens.isValid(ALICE, 'h1', after(40)), true);
    assert.equal(tokens.isValid(ALICE, 'h32', after(40)), true);
  });

  test('a sweep drops what has expired and keeps what has not', () => {
    const tokens = new Tokens();
    tokens.issue(ALICE, 'h1', START);
    tokens.issue(BOB, 'h3', START);
    tokens.issue(ALICE, 'h2', after(10));
    assert.equal(tokens.sweep(after(86_400)), 2);
    assert.equal(tokens.userCount, 1);
    assert.equal(tokens.isValid(ALICE, 'h2', after(86_400)), true);
  });
});
