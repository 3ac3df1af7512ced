// tier: quick
/** Strangers who log in and request nonces, on the bounds of a node: whom they displace (SES-09, AMB-86, AMB-87). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../../src/core/ids.ts';
import { NONCES_MAX, SESSIONS_MAX, SESSIONS_PUBLIC_MAX } from '../../../src/core/limits.ts';
import { SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { Nonces } from '../../../src/gateway/sessions/nonces.ts';
import { Tokens } from '../../../src/gateway/sessions/tokens.ts';
import { propertyParameters } from '../../support/property.ts';

const START = 1_800_000_000_000_000_000n as TimestampNs;
const DAY = 86_400n;
const after = (seconds: bigint): TimestampNs => (START + seconds * SECOND_NS) as TimestampNs;
const userAt = (index: number): UserId => index.toString(16).padStart(64, '0') as UserId;
const HONEST = 'f'.repeat(64) as UserId;

interface Login {
  readonly tokens: Tokens;
  readonly user: UserId;
  readonly hash?: string;
  readonly address?: string;
  readonly key?: string;
  readonly endNs?: bigint;
  readonly isReadOnly?: boolean;
  readonly now?: TimestampNs;
}

function login({ tokens, user, hash = 'h', now = START, ...opening }: Login): boolean {
  if (!tokens.makeRoom(user, opening, now)) return false;
  tokens.issue(user, hash, now, opening);
  return true;
}

suite('sessions of several keys of a user', () => {
  test("a key has 32, and one more ends its own oldest: no key ends another key's (MON-13)", () => {
    const tokens = new Tokens();
    login({ tokens, user: HONEST, hash: 'master' });
    for (let at = 0; at < 40; at += 1) login({ tokens, user: HONEST, hash: `co-${at}`, key: 'a' });
    login({ tokens, user: HONEST, hash: 'other', key: 'b' });
    assert.equal(tokens.countOf(HONEST, START), 34);
    for (const hash of ['master', 'other', 'co-8', 'co-39']) assert.ok(tokens.isValid(HONEST, hash, START), hash);
    assert.ok(!tokens.isValid(HONEST, 'co-7', START));
  });

  test('one that co-signers opened ends with the first of them, any other one after a day (MON-12)', () => {
    const tokens = new Tokens();
    login({ tokens, user: HONEST, hash: 'short', key: 'a', endNs: START + 10n });
    login({ tokens, user: HONEST, hash: 'long', key: 'a', endNs: START + 2n * 86_400_000_000_000n });
    assert.ok(tokens.isValid(HONEST, 'short', (START + 9n) as TimestampNs));
    assert.ok(!tokens.isValid(HONEST, 'short', (START + 10n) as TimestampNs));
    assert.ok(tokens.isValid(HONEST, 'long', (START + 86_400_000_000_000n - 1n) as TimestampNs));
    assert.ok(!tokens.isValid(HONEST, 'long', (START + 86_400_000_000_000n) as TimestampNs));
  });

  test('one that only reads is known as such, and its logout ends itself alone (MON-13, RDO-01)', () => {
    const tokens = new Tokens();
    login({ tokens, user: HONEST, hash: 'reads', key: 'a', isReadOnly: true });
    login({ tokens, user: HONEST, hash: 'full' });
    const scopes = ['reads', 'full'].map((hash) => tokens.find(HONEST, hash, START)?.isReadOnly);
    assert.deepEqual(scopes, [true, false]);
    tokens.revoke(HONEST, 'reads');
    assert.deepEqual([tokens.isValid(HONEST, 'reads', START), tokens.isValid(HONEST, 'full', START)], [false, true]);
  });
});

suite('strangers who log in', () => {
  test('300,000 keys from a thousand addresses take their part of the table and no more, each login in constant time', () => {
    const tokens = new Tokens({ isFunded: (user) => user === HONEST, perAddressMax: 1_024 });
    assert.ok(login({ tokens, user: HONEST, address: 'a1' }));
    const begunMs = performance.now();
    for (let key = 0; key < 300_000; key += 1) {
      assert.ok(login({ tokens, user: userAt(key), address: `a${key % 1_000}` }), 'the newest login is let in');
    }
    const eachUs = ((performance.now() - begunMs) / 300_000) * 1_000;
    assert.ok(eachUs < 100, `${eachUs} us a login; a sweep of the table for each took 15,000`);
    assert.equal(tokens.count, SESSIONS_PUBLIC_MAX + 1);
    assert.ok(tokens.isValid(HONEST, 'h', START), 'the longest idle of all stays, because its user has funds');
    for (const hash of ['h2', 'h3']) assert.ok(login({ tokens, user: HONEST, hash }));
    assert.ok(!tokens.isValid(userAt(0), 'h', START), 'the longest idle stranger gave way');
    assert.ok(tokens.isValid(userAt(299_999), 'h', START));
  });

  test('one address holds at most its number of sessions: the oldest gives way, other addresses and funded users keep theirs', () => {
    const tokens = new Tokens({ isFunded: (user) => user === HONEST, perAddressMax: 3 });
    login({ tokens, user: HONEST, address: 'shared' });
    login({ tokens, user: userAt(99), address: 'other' });
    for (let key = 0; key < 10; key += 1) login({ tokens, user: userAt(key), address: 'shared' });
    const alive = Array.from({ length: 10 }, (_, key) => key).filter((key) => tokens.isValid(userAt(key), 'h', START));
    assert.deepEqual(alive, [7, 8, 9]);
    assert.ok(tokens.isValid(HONEST, 'h', START));
    assert.ok(tokens.isValid(userAt(99), 'h', START));
    for (let key = 0; key < 40; key += 1) assert.ok(login({ tokens, user: HONEST, hash: `${key}`, address: 'shared' }));
    assert.equal(tokens.countOf(HONEST, START), 32);
    assert.ok(tokens.isValid(userAt(9), 'h', START), 'logins with funds displace none of the others');
  });

  test('the longest idle goes first: who uses the session keeps it', () => {
    const tokens = new Tokens({ sessionsMax: 8, publicMax: 4 });
    for (let key = 0; key < 4; key += 1) login({ tokens, user: userAt(key) });
    for (let key = 4; key < 50; key += 1) {
      assert.ok(tokens.isValid(userAt(0), 'h', START));
      login({ tokens, user: userAt(key) });
    }
    assert.equal(tokens.count, 4);
  });

  test('who comes to funds after the login is kept from then on, and who has none any more is not', () => {
    const funded = new Set<UserId>();
    const tokens = new Tokens({ sessionsMax: 6, publicMax: 3, isFunded: (user) => funded.has(user) });
    login({ tokens, user: HONEST });
    funded.add(HONEST);
    for (let key = 0; key < 20; key += 1) assert.ok(login({ tokens, user: userAt(key) }));
    assert.ok(tokens.isValid(HONEST, 'h', START));
    funded.clear();
    assert.ok(tokens.isValid(HONEST, 'h', START));
    for (let key = 0; key < 20; key += 1) login({ tokens, user: userAt(key) });
    assert.ok(!tokens.isValid(HONEST, 'h', START));
  });

  test('a table full of users with funds gives up its longest idle for one of them, and for no stranger', () => {
    const tokens = new Tokens({ sessionsMax: 5, publicMax: 3, isFunded: (user) => user > userAt(99) });
    for (let key = 100; key < 110; key += 1) assert.ok(login({ tokens, user: userAt(key) }));
    assert.ok(!login({ tokens, user: userAt(1) }));
    assert.equal(tokens.count, 5);
    assert.deepEqual([tokens.isValid(userAt(104), 'h', START), tokens.isValid(userAt(105), 'h', START)], [false, true]);
  });

  test('expiry costs what expires, some at a time, and nothing while nothing does', () => {
    const tokens = new Tokens();
    for (let key = 0; key < 5_000; key += 1) login({ tokens, user: userAt(key) });
    assert.equal(tokens.sweep(after(DAY - 1n)), 0);
    const swept = Array.from({ length: 6 }, () => tokens.sweep(after(DAY)));
    assert.deepEqual(swept, [1_024, 1_024, 1_024, 1_024, 904, 0]);
    assert.equal(tokens.userCount, 0);
  });

  test('after any logins, uses, logouts and changes of funds: both bounds hold and no user with funds is displaced by others', () => {
    const step = fc.record({
      what: fc.constantFrom('login', 'login', 'login', 'use', 'logout', 'fund', 'spend'),
      key: fc.nat(11),
      address: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const funded = new Set<UserId>();
        const rules = { sessionsMax: 12, publicMax: 5, perAddressMax: 3, isFunded: (user: UserId) => funded.has(user) };
        const tokens = new Tokens(rules);
        let times = 0;
        for (const { what, key, address } of steps) {
          const user = userAt(key);
          const [keeper] = funded;
          const had = keeper === undefined ? 0 : tokens.countOf(keeper, START);
          times += 1;
          if (what === 'login') login({ tokens, user, hash: `${key}`, address: `a${address}` });
          else if (what === 'use') tokens.isValid(user, `${key}`, START);
          else if (what === 'logout') tokens.revokeAll(user);
          else if (what === 'fund') funded.add(user);
          else funded.delete(user);
          assert.ok(tokens.count <= 12, `${times}: ${tokens.count} sessions`);
          if (keeper !== undefined && keeper !== user && funded.has(keeper)) {
            assert.equal(
              tokens.countOf(keeper, START),
              had,
              `${times}: ${what} of another displaces no user with funds`,
            );
          }
        }
      }),
      propertyParameters(300),
    );
  });
});

suite('strangers who request nonces', () => {
  test('150,000 of them leave that of a user with funds as it was, and take constant time', () => {
    const nonces = new Nonces(NONCES_MAX, (user) => user === HONEST);
    const { value } = nonces.issue(HONEST, START, 'honest');
    const begunMs = performance.now();
    for (let key = 0; key < 150_000; key += 1) nonces.issue(userAt(key), START, 'x');
    const eachUs = ((performance.now() - begunMs) / 150_000) * 1_000;
    assert.ok(eachUs < 100, `${eachUs} us each`);
    assert.equal(nonces.find(HONEST)?.value, value);
    assert.equal(nonces.count, (NONCES_MAX * 3) / 4 + 1);
  });

  test('in a full table a nonce of a stranger gives way, and one of a user with funds only to another of them', () => {
    const nonces = new Nonces(4, (user) => user < userAt(10));
    for (const key of [1, 2, 11, 12, 13]) nonces.issue(userAt(key), START, `${key}`);
    const kept = (): readonly number[] => [1, 2, 3, 4, 5, 11, 12, 13].filter((key) => nonces.find(userAt(key)));
    assert.deepEqual(kept(), [1, 2, 12, 13]);
    for (const key of [3, 4, 5]) nonces.issue(userAt(key), START, `${key}`);
    assert.deepEqual(kept(), [2, 3, 4, 5]);
  });

  test("asking for another user's nonce changes nothing of one that has more than ten seconds left (SES-04)", () => {
    const nonces = new Nonces();
    const { value, expiryNs } = nonces.issue(HONEST, START, 'honest');
    for (let second = 0n; second < 290n; second += 1n) {
      assert.deepEqual(nonces.issue(HONEST, after(second), 'stranger'), { value, expiryNs });
    }
    assert.equal(nonces.issue(HONEST, after(290n), 'last').value, 'last');
    assert.equal(nonces.issue(HONEST, after(291n), 'stranger').value, 'last', 'and then five minutes again');
  });

  test('the bounds leave capacity for users with funds', () => {
    assert.ok(SESSIONS_MAX - SESSIONS_PUBLIC_MAX >= 100_000);
  });
});
