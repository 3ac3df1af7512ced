// tier: quick
/** Named tokens of the operator API, their roles, and what is journaled of a call (LDG-03). */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { memberChanges } from '../../src/operator/member-changes.ts';
import { hashOfToken, type OperatorToken, parseTokens, ROLES, TOKENS_MAX } from '../../src/operator/operator-tokens.ts';
import { type Answer, OpsFixture } from '../support/ops-client.ts';

const CHAIN = '000000000000007a69';
const SETTLER = 'ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1';

suite('files of tokens', () => {
  const entry = { name: 'desk', role: 'operate', sha256: 'ab'.repeat(32) };
  const file = (...tokens: readonly unknown[]): string => JSON.stringify({ tokens });

  test('LDG-03: a file has names, roles and hashes', () => {
    const other = { name: 'a-1.b_c', role: 'read', sha256: 'cd'.repeat(32) };
    const tokens = parseTokens(file(entry, other));
    assert.ok(typeof tokens !== 'string');
    assert.deepEqual(
      tokens.map(({ name, role, hash }) => [name, role, hash.toString('hex')]),
      [
        ['desk', 'operate', 'ab'.repeat(32)],
        ['a-1.b_c', 'read', 'cd'.repeat(32)],
      ],
    );
  });

  test('LDG-03: what is wrong with a file is named, and no hash is repeated', () => {
    const many = Array.from({ length: TOKENS_MAX + 1 }, (_, at) => ({ ...entry, name: `n${at}` }));
    const faults: [string, RegExp][] = [
      ['', /no JSON/],
      ['[]', /"tokens", a list/],
      ['{"tokens":[],"more":1}', /"tokens", a list/],
      [file(), /0 tokens/],
      [file(...many), /65 tokens/],
      [file(7), /tokens\[0\]" no object/],
      [file(entry, { ...entry, token: 'x' }), /tokens\[1\]" the unknown member "token"/],
      [file({ ...entry, name: 'Desk' }), /"name"/],
      [file({ ...entry, name: '' }), /"name"/],
      [file({ ...entry, name: 'operator' }), /RINGBOOK_OPERATOR_TOKEN/],
      [file({ ...entry, role: 'admin' }), /"role" of read, operate, funds/],
      [file({ ...entry, sha256: 'AB'.repeat(32) }), /"sha256"/],
      [file({ ...entry, sha256: 'ab' }), /"sha256"/],
      [file(entry, { ...entry, sha256: 'cd'.repeat(32) }), /two tokens with the name "desk"/],
      [file(entry, { ...entry, name: 'other' }), /two names: "other"/],
    ];
    for (const [text, says] of faults) {
      const fault = parseTokens(text);
      assert.ok(typeof fault === 'string', text);
      assert.match(fault, says);
      assert.doesNotMatch(fault, /abab/i);
    }
  });
});

suite('what a call has changed', () => {
  test('LDG-03: members that differ are listed by their paths, lists as a whole, with what was and is there', () => {
    assert.deepEqual(
      memberChanges({ a: 1, b: { c: 'x', d: [1] }, e: null }, { a: 1, b: { c: 'y', d: [1, 2] }, f: 2n }),
      [
        { member: 'b.c', before: '"x"', after: '"y"' },
        { member: 'b.d', before: '[1]', after: '[1,2]' },
        { member: 'f', before: null, after: '2' },
        { member: 'e', before: 'null', after: null },
      ],
    );
    assert.deepEqual(memberChanges(null, { a: true }), [{ member: 'a', before: null, after: 'true' }]);
    assert.deepEqual(memberChanges({ a: true }, { a: true }), []);
    const rpc = { rpc_urls: ['https://me:pw@rpc.example:8545/v2/SECRET?key=SECRET', 'http://b.example'] };
    assert.deepEqual(memberChanges({ rpc_urls: ['https://rpc.example:8545/v2/OTHER'] }, rpc), [
      {
        member: 'rpc_urls',
        before: '["https://rpc.example:8545/…"]',
        after: '["https://rpc.example:8545/…","http://b.example/…"]',
      },
    ]);
    const large = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, 'x'.repeat(5_000)]));
    const changes = memberChanges(null, large);
    assert.equal(changes.length, 100);
    assert.ok(changes.every(({ after }) => after?.length === 1_000));
  });
});

suite('roles', () => {
  let fixture: OpsFixture;
  const secretOf = (role: string): string => `${role}-`.repeat(8);
  const TOKENS: readonly OperatorToken[] = ROLES.map((role) => ({
    ...{ name: `desk-${role}`, role, hash: hashOfToken(secretOf(role)) },
  }));

  beforeEach(async () => {
    fixture = await new OpsFixture('test', null, TOKENS).open();
  });
  afterEach(() => fixture.close());

  const as = (role: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    fixture.send(method, path, body, { authorization: `Bearer ${secretOf(role)}` });

  test('LDG-03: a token for reading reads and changes nothing; one for operating moves no money; one for funds does all', async () => {
    const moving: string[] = [];
    for (const { method, path, role } of fixture.routes) {
      if (!path.startsWith('/operator')) continue;
      const needed = role ?? (method === 'GET' ? 'read' : 'operate');
      if (method === 'GET') assert.equal(needed, 'read', path);
      if (needed === 'funds') moving.push(`${method} ${path}`);
      const target = path.replaceAll(/\{[^}]+\}/g, 'x');
      for (const own of ROLES) {
        if (ROLES.indexOf(own) >= ROLES.indexOf(needed)) continue;
        const { status, json } = await as(own, method, target, method === 'DELETE' ? undefined : {});
        assert.deepEqual([status, json.error.code], [403, 'ROLE_REQUIRED'], `${own} ${method} ${path}`);
      }
    }
    assert.equal(fixture.world.commands, 0);
    for (const path of [
      'vaults/{vault}',
      'settlers/{settler}',
      'settings',
      'assets/{asset_id}',
      'faucet',
      'chains/{chain_id}',
    ])
      assert.ok(
        moving.some((name) => name.endsWith(`/operator/${path}`)),
        path,
      );
    for (const path of ['markets/{asset_id}', 'risk-parameters/{asset_id}', 'users/{user_id}', 'prices', 'rate-limits'])
      assert.ok(!moving.some((name) => name.endsWith(`/operator/${path}`)), path);
    assert.equal((await as('read', 'GET', '/operator/assets')).status, 200);
    assert.equal((await as('operate', 'GET', '/operator/assets')).status, 200);
    assert.equal((await as('funds', 'PUT', '/operator/assets/2', { symbol: 'ETH' })).status, 200);
    assert.equal((await as('operate', 'PATCH', '/operator/risk-parameters/2', { collateral_factor: 80 })).status, 200);
  });

  test('LDG-03: a change is logged and journaled with the name of the token and each member, before and after', async () => {
    await as('funds', 'PUT', '/operator/assets/2', { symbol: 'ETH' });
    await as('funds', 'PATCH', '/operator/assets/2', {
      max_adl: '5',
      rebalancing: { mode: 'fixed', deposit_rate: '0.01', withdrawal_rate: '0' },
    });
    await as('funds', 'PUT', `/operator/chains/${CHAIN}`, { kind: 'simulated' });
    await as('funds', 'PUT', `/operator/settlers/${SETTLER}`, { chain_id: CHAIN, executor: 'e3'.repeat(20) });
    await as('funds', 'DELETE', `/operator/settlers/${SETTLER}`);
    await as('operate', 'PUT', `/operator/users/${SETTLER}`, { is_mm: true });
    await as('operate', 'PUT', '/operator/stream-caps', { default: 11 });
    const { operatorCalls, askedBy } = fixture.world;
    assert.deepEqual(
      operatorCalls.map(({ by, method, path }) => `${by} ${method} ${path}`),
      [
        'desk-funds PUT /operator/assets/2',
        'desk-funds PATCH /operator/assets/2',
        `desk-funds PUT /operator/chains/${CHAIN}`,
        `desk-funds PUT /operator/settlers/${SETTLER}`,
        `desk-funds DELETE /operator/settlers/${SETTLER}`,
        `desk-operate PUT /operator/users/${SETTLER}`,
        'desk-operate PUT /operator/stream-caps',
      ],
    );
    const changes = operatorCalls.map((call) => call.changes);
    assert.deepEqual(changes[1], [
      { member: 'max_adl', before: 'null', after: '"5"' },
      { member: 'rebalancing.deposit_rate', before: '"0"', after: '"0.01"' },
    ]);
    assert.deepEqual(changes[3], [
      { member: 'settler', before: null, after: `"${SETTLER}"` },
      { member: 'chain_id', before: null, after: `"${CHAIN}"` },
      { member: 'executor', before: null, after: `"${'e3'.repeat(20)}"` },
    ]);
    assert.deepEqual(
      changes[4]?.map(({ after }) => after),
      [null, null, null],
    );
    assert.deepEqual(changes[5], [{ member: 'is_mm', before: 'false', after: 'true' }]);
    assert.deepEqual(changes[6], [{ member: 'default', before: '10', after: '11' }]);
    assert.deepEqual(
      askedBy.slice(0, 3),
      ['desk-funds', 'desk-funds', 'desk-funds'],
      'the command has the name itself',
    );
    const lines = fixture.logged.map((line) => JSON.parse(line) as { by?: string; changes?: unknown });
    const logged = lines.filter(({ by }) => by !== undefined);
    assert.deepEqual(
      logged.map((line) => line.changes),
      changes,
    );
    assert.deepEqual(
      logged.map(({ by }) => by),
      operatorCalls.map(({ by }) => by),
    );
    for (const line of fixture.logged) assert.doesNotMatch(line, /funds-funds|operate-operate/, 'no token is logged');
  });

  test('LDG-03: a refused call, and one without a change, is journaled as changing nothing', async () => {
    assert.equal((await as('funds', 'PATCH', '/operator/assets/9', { symbol: 'X' })).status, 404);
    assert.equal(fixture.world.operatorCalls.length, 0);
    await as('funds', 'PUT', '/operator/assets/2', { symbol: 'ETH' });
    await as('funds', 'PUT', '/operator/assets/2', { symbol: 'ETH' });
    assert.deepEqual(fixture.world.operatorCalls[1]?.changes, []);
  });

  test('LDG-03: prices and test hooks are not journaled beside their commands, which have the name of the token', async () => {
    await as('funds', 'PUT', '/operator/assets/2', { symbol: 'ETH' });
    await as('operate', 'POST', '/operator/prices', { prices: [{ asset_id: '2', price: '3000' }] });
    assert.equal(fixture.world.operatorCalls.length, 1);
    assert.equal(fixture.world.askedBy.at(-1), 'desk-operate');
  });
});
