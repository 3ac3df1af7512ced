// tier: full, 19 s
/** The powers of the simulated chains over the operator API: reorganisations, faults of providers, replayed logs (DEP, AMB-74, AMB-84). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { parseExposition } from '../support/exposition.ts';
import { operator } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { type Json, TestNode } from '../support/test-node.ts';

/** One confirmation, and four. */
const DEV = '000000000000007a69';
const ONE = '000000000000000001';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const TOKENS: Readonly<Record<string, string>> = { [DEV]: address('5a'), [ONE]: address('c0') };
const TARGET = address('7c');
const SECOND = 1_000_000_000n;

interface Transaction extends Json {
  readonly tx: string;
  readonly block: number;
  readonly head: number;
  readonly nonce: number;
}

suite('powers of the simulated chains', () => {
  let node: TestNode;
  let alice: PlainClient;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const call = (chain: string, name: string, body: object): Promise<Json> =>
    node.operate('POST', `/operator/chains/${chain}/${name}`, body);
  const refused = async (chain: string, name: string, body: object): Promise<string> => {
    const { status, text } = await operator(node.process, 'POST', `/operator/chains/${chain}/${name}`, body);
    const { error } = JSON.parse(text) as { error: { code: string; details?: { field?: string } } };
    return `${status} ${error.code} ${error.details?.field ?? ''}`.trim();
  };
  /** Of so many USD. */
  const deposit = async (chain: string, user: PlainClient, usd: number, confirm = true): Promise<Transaction> => {
    const body = { user: user.id, token: TOKENS[chain], amount_base_units: `${usd}000000`, confirm };
    return (await call(chain, 'deposits', body)) as Transaction;
  };
  const reorg = async (chain: string, body: object): Promise<{ head: number; dropped: readonly string[] }> =>
    (await call(chain, 'reorg', body)) as unknown as { head: number; dropped: readonly string[] };
  const fault = (chain: string, provider: number, name: string, more: object = {}): Promise<Json> =>
    call(chain, 'providers', { provider, fault: name, ...more });
  const healthy = async (chain: string): Promise<void> => {
    for (const provider of [0, 1, 2]) await fault(chain, provider, 'none');
  };
  const counters = async (chain: string, user: PlainClient): Promise<Json> =>
    node.operate('GET', `/operator/chains/${chain}/counters?user=${user.id}`);
  const vaultUnits = async (chain: string): Promise<bigint> => {
    const { balances } = await node.operate('GET', `/operator/chains/${chain}/vault`);
    return BigInt((balances as Record<string, string>)[TOKENS[chain] ?? ''] ?? '0');
  };
  const owned = async (user: PlainClient): Promise<string> => {
    await node.rest();
    const { status, body } = await operator(node.process, 'GET', `/operator/users/${user.id}`);
    if (status === 404) return '0';
    const accounts = body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
    return accounts['0']?.balances['0']?.owned ?? '0';
  };
  const stopped = async (chain: string): Promise<number | undefined> => {
    const text = await (await fetch(`${node.process.ops}/metrics`)).text();
    return parseExposition(text).get('ringbook_chain_stopped')?.samples.get(`ringbook_chain_stopped{chain="${chain}"}`);
  };
  const resume = (chain: string): Promise<Json> => call(chain, 'resume', { accept: true });
  /** A line of the log, which comes by a thread of its own. */
  const logged = (line: RegExp): Promise<void> =>
    eventually(
      () => line.test(node.process.stderr()),
      () => `${line} in ${node.process.stderr()}`,
    );
  /** What credited deposits brought that a reorganisation dropped is missing: approvals go on nevertheless (MON-05). */
  const acceptMissing = (chain: string): Promise<Json> =>
    call(chain, 'accept-deviation', { asset_id: '0', amount: '1000000' });
  const queue = async (user: PlainClient): Promise<readonly string[]> => {
    await node.rest();
    const rows = (await user.read(`/withdrawal/queue/${user.id}`)) as readonly { status: { type: string } }[];
    return rows.map(({ status }) => status.type);
  };

  test('a reorganisation drops what is not kept: counters and vault follow, an unconfirmed deposit is never credited (DEP-09, DEP-11)', async () => {
    alice = await node.user({});
    const before = await vaultUnits(ONE);
    const [first, second] = [await deposit(ONE, alice, 5, false), await deposit(ONE, alice, 7, false)];
    assert.deepEqual([first.nonce, second.nonce], [0, 1]);
    assert.equal(await vaultUnits(ONE), before + 12_000_000n);
    const done = await reorg(ONE, { depth: 2, keep: [second.tx], blocks: 3 });
    assert.deepEqual(done, { head: second.head + 1, dropped: [first.tx] });
    assert.equal((await counters(ONE, alice))['depositCounts'], 1);
    assert.equal(await vaultUnits(ONE), before + 7_000_000n);
    assert.equal(await owned(alice), '0');
    await call(ONE, 'mine', { blocks: 1 });
    assert.equal(await owned(alice), '7', 'kept, it has the counter 0 and its own confirmations');
    assert.equal(await stopped(ONE), 0);
    await node.ledgerAddsUp();
  });

  test('CHN-04: a deposit whose log a majority omits is credited when they show it, by itself; units without an event are listed', async () => {
    const carol = await node.user({});
    await fault(DEV, 0, 'omit_logs');
    await fault(DEV, 1, 'omit_logs');
    await deposit(DEV, carol, 9);
    assert.equal(await owned(carol), '0');
    await healthy(DEV);
    await eventually(async () => (await owned(carol)) === '9');
    const { status, body } = await operator(
      node.process,
      'POST',
      `/operator/chains/${DEV}/read-again?from=1`,
      undefined,
    );
    assert.deepEqual([status, body['from']], [200, 1]);
    assert.equal(await owned(carol), '9', 'once');
    assert.equal(await refused(DEV, 'read-again?from=0', {}), '400 INVALID_REQUEST from');
    await node.ledgerAddsUp();
  });

  test('without members the last two blocks are replaced by three empty ones', async () => {
    const bob = await node.user({});
    const lost = await deposit(ONE, bob, 3, false);
    const { head, dropped } = await reorg(ONE, {});
    assert.deepEqual([head, dropped], [lost.head + 1, [lost.tx]]);
    await call(ONE, 'mine', { blocks: 8 });
    assert.equal(await owned(bob), '0');
    assert.equal((await counters(ONE, bob))['depositCounts'], 0);
  });

  test('a reorganisation that cannot be is refused with its field and changes nothing', async () => {
    const { tx, head } = await deposit(ONE, alice, 1, false);
    assert.equal(await refused(ONE, 'reorg', { depth: 0 }), '400 INVALID_REQUEST depth');
    assert.equal(await refused(ONE, 'reorg', { depth: head + 1 }), '400 INVALID_REQUEST depth');
    assert.equal(await refused(ONE, 'reorg', { depth: 1, keep: ['ab'.repeat(32)] }), '400 INVALID_REQUEST keep');
    assert.equal(await refused(ONE, 'reorg', { depth: 1, keep: [tx, tx] }), '400 INVALID_REQUEST keep');
    assert.equal(await refused(ONE, 'reorg', { depth: 1, keep: 'all' }), '400 INVALID_REQUEST keep');
    assert.equal(await refused(ONE, 'reorg', { depth: 1, keep: [tx], blocks: 0 }), '400 INVALID_REQUEST blocks');
    assert.equal(await refused(ONE, 'reorg', { deep: 1 }), '400 INVALID_REQUEST deep');
    assert.equal(await refused('0000000000000000aa', 'reorg', {}), '404 CHAIN_NOT_FOUND');
    const { head: now } = await node.operate('GET', `/operator/chains/${ONE}/vault`);
    assert.equal(now, head);
    await call(ONE, 'mine', { blocks: 3 });
    assert.equal(await owned(alice), '8');
  });

  test('a reorganisation deeper than the confirmations stops credits and approvals until the operator resumes, also after a kill; credits stay and no counter credits twice (DEP-09, DEP-10, AMB-74)', async () => {
    const carol = await node.user({});
    const lost = await deposit(DEV, carol, 10);
    assert.equal(await owned(carol), '10');
    const { dropped } = await reorg(DEV, { depth: 1 });
    assert.deepEqual(dropped, [lost.tx]);
    assert.equal(await stopped(DEV), 1);
    await logged(/"reason":"reorg".*the chain is stopped/);
    assert.equal(await stopped(ONE), 0, 'the other chain goes on');
    const other = await deposit(DEV, carol, 20);
    assert.equal(other.nonce, 0, 'the same counter is another deposit');
    assert.equal(await owned(carol), '10', 'nothing is credited');
    await node.restart('SIGKILL');
    assert.equal(await stopped(DEV), 1);
    await deposit(DEV, carol, 40);
    assert.equal(await owned(carol), '10');
    assert.equal(await refused(DEV, 'resume', { accept: false }), '400 INVALID_REQUEST accept');
    assert.deepEqual(await resume(DEV), {});
    assert.equal(await stopped(DEV), 0);
    assert.equal(await owned(carol), '50', 'counter 0 was credited before, counter 1 is new');
    await node.restart('SIGKILL');
    assert.equal(await stopped(DEV), 0);
    assert.equal(await owned(carol), '50');
    await node.ledgerAddsUp();
  });

  test('a credited deposit that the new blocks contain again stops nothing and is not credited twice (DEP-10)', async () => {
    const dave = await node.user({});
    const { tx } = await deposit(ONE, dave, 10);
    assert.equal(await owned(dave), '10');
    assert.deepEqual((await reorg(ONE, { depth: 4, keep: [tx] })).dropped, []);
    await call(ONE, 'mine', { blocks: 10 });
    assert.equal(await stopped(ONE), 0);
    assert.equal(await owned(dave), '10');
    assert.equal((await counters(ONE, dave))['depositCounts'], 1);
  });

  test('replayed logs credit nothing, neither of a credited deposit nor of one that was dropped (DEP-10)', async () => {
    const erin = await node.user({});
    const { tx } = await deposit(DEV, erin, 10);
    for (const _ of [1, 2]) assert.deepEqual(await call(DEV, 'logs/replay', { tx }), {});
    assert.equal(await owned(erin), '10');
    const unconfirmed = await deposit(ONE, erin, 5, false);
    await call(ONE, 'logs/replay', { tx: unconfirmed.tx });
    assert.equal(await owned(erin), '10', 'a replay is no confirmation');
    await reorg(ONE, { depth: 1 });
    await call(ONE, 'mine', { blocks: 4 });
    await call(ONE, 'logs/replay', { tx: unconfirmed.tx });
    assert.equal(await owned(erin), '10', 'its block is not canonical');
    assert.equal(await refused(DEV, 'logs/replay', { tx: 'ab'.repeat(32) }), '400 INVALID_REQUEST tx');
    assert.equal(await refused(DEV, 'logs/replay', {}), '400 INVALID_REQUEST tx');
  });

  test('the providers of a chain are listed with their faults, which a restart keeps', async () => {
    await fault(DEV, 1, 'lagging', { lag_blocks: 7 });
    await fault(DEV, 2, 'omit_logs');
    const expected = {
      providers: [
        { provider: 0, fault: 'none' },
        { provider: 1, fault: 'lagging', lag_blocks: 7 },
        { provider: 2, fault: 'omit_logs' },
      ],
    };
    assert.deepEqual(await node.operate('GET', `/operator/chains/${DEV}/providers`), expected);
    await node.restart('SIGKILL');
    assert.deepEqual(await node.operate('GET', `/operator/chains/${DEV}/providers`), expected);
    assert.equal(await refused(DEV, 'providers', { provider: 3 }), '400 INVALID_REQUEST provider');
    assert.equal(await refused(DEV, 'providers', { provider: 0, fault: 'evil' }), '400 INVALID_REQUEST fault');
    assert.equal(
      await refused(DEV, 'providers', { provider: 0, fault: 'omit_logs', lag_blocks: 1 }),
      '400 INVALID_REQUEST lag_blocks',
    );
    await healthy(DEV);
  });

  for (const name of ['unreachable', 'lagging', 'omit_logs', 'forge_amount']) {
    test(`${name}: one provider of three changes nothing, with two nothing is credited until one answers truly again (DEP-07, AMB-84)`, async () => {
      const user = await node.user({});
      const more = name === 'lagging' ? { lag_blocks: 100 } : {};
      await fault(DEV, 0, name, more);
      await deposit(DEV, user, 10);
      assert.equal(await owned(user), '10');
      await fault(DEV, 2, name, more);
      await deposit(DEV, user, 20);
      assert.equal(await owned(user), '10');
      await call(DEV, 'mine', { blocks: 5 });
      assert.equal(await owned(user), '10');
      await fault(DEV, 0, 'none');
      assert.equal(await owned(user), '30');
      assert.equal(await stopped(DEV), 0);
      await healthy(DEV);
      assert.equal(await owned(user), '30');
      await node.ledgerAddsUp();
    });
  }

  test('of two providers both, and of one that one: more than half of the configured ones (AMB-84)', async () => {
    const frank = await node.user({});
    const { providers: _providers, ...chain } = await node.operate('GET', `/operator/chains/${DEV}`);
    const { chain_id: _id, ...body } = chain;
    await node.operate('PUT', `/operator/chains/${DEV}`, { ...body, providers: 2 });
    await fault(DEV, 1, 'unreachable');
    await deposit(DEV, frank, 10);
    assert.equal(await owned(frank), '0');
    await node.operate('PUT', `/operator/chains/${DEV}`, { ...body, providers: 1 });
    assert.equal(await owned(frank), '10');
    await node.operate('PUT', `/operator/chains/${DEV}`, { ...body, providers: 3 });
    await healthy(DEV);
  });

  test('a reorganisation that a minority shows otherwise is the majority’s, and one that no majority shows credits nothing and stops nothing (DEP-09, AMB-84)', async () => {
    const grace = await node.user({});
    await deposit(ONE, grace, 10);
    await fault(ONE, 0, 'lagging', { lag_blocks: 4 });
    await fault(ONE, 1, 'unreachable');
    await reorg(ONE, { depth: 5, blocks: 5 });
    assert.equal(await stopped(ONE), 0, 'one provider alone shows the new blocks');
    await fault(ONE, 1, 'none');
    assert.equal(await stopped(ONE), 1);
    await healthy(ONE);
    await resume(ONE);
    assert.equal(await owned(grace), '10');
  });

  /** An approved withdrawal of so many USD of a new user with 100. */
  const approved = async (usd: number): Promise<PlainClient> => {
    const user = await node.user({});
    await deposit(DEV, user, 100);
    await node.rest();
    await acceptMissing(DEV);
    const amount = (BigInt(usd) * 10n ** 18n).toString(16);
    assert.equal(
      (await user.withdraw({ asset: `${TOKENS[DEV]}@${DEV}`, amount, target: TARGET })).text,
      '{"success":true}',
    );
    await node.advance(40n * SECOND);
    await node.advance(40n * SECOND);
    assert.deepEqual(await queue(user), ['approved']);
    return user;
  };
  const execute = (user: PlainClient): Promise<Json> => call(DEV, 'withdrawals/execute', { user: user.id, nonce: 0 });

  test('a withdrawal is booked with its own confirmations and by the majority, and completes though providers missed it (DEP-22, WDR-11)', async () => {
    const user = await approved(30);
    await fault(DEV, 0, 'omit_logs');
    await fault(DEV, 1, 'omit_logs');
    await execute(user);
    assert.deepEqual(await queue(user), ['approved']);
    await node.advance(3_700n * SECOND);
    await call(DEV, 'mine', { blocks: 2 });
    assert.deepEqual(await queue(user), ['approved'], 'past its validity, and the vault’s counter has moved');
    await fault(DEV, 0, 'none');
    assert.deepEqual(await queue(user), ['executed']);
    assert.equal(await owned(user), '70');
    await healthy(DEV);
    await node.ledgerAddsUp();
  });

  test('an approval lapses only with a block that a majority shows (WDR-10, AMB-79)', async () => {
    const user = await approved(30);
    await fault(DEV, 0, 'lagging', { lag_blocks: 1 });
    await fault(DEV, 1, 'unreachable');
    await node.advance(3_700n * SECOND);
    await call(DEV, 'mine', { blocks: 1 });
    assert.deepEqual(await queue(user), ['approved']);
    await healthy(DEV);
    assert.deepEqual(await queue(user), ['expired']);
    assert.equal(await owned(user), '100');
  });

  /** What is executed is dropped: the chain is stopped. */
  const dropped = async (user: PlainClient): Promise<void> => {
    const units = await vaultUnits(DEV);
    const { tx } = await execute(user);
    assert.deepEqual(await queue(user), ['executed']);
    assert.deepEqual((await reorg(DEV, { depth: 1 })).dropped, [tx]);
    assert.equal(await stopped(DEV), 1);
    assert.equal(await vaultUnits(DEV), units, 'the vault has it again');
    assert.equal((await counters(DEV, user))['withdrawalCounts'], 0);
    assert.deepEqual(await queue(user), ['executed']);
    assert.equal(await owned(user), '70');
  };

  test('an executed withdrawal that a reorganisation drops stops the chain; resumed, its approval lives again and is booked once when it is executed, after a kill too (DEP-22, AMB-74, NON-04)', async () => {
    const user = await approved(30);
    await dropped(user);
    await node.restart('SIGKILL');
    await user.login();
    assert.equal(await stopped(DEV), 1);
    await resume(DEV);
    await node.restart('SIGKILL');
    await user.login();
    assert.equal(await stopped(DEV), 0);
    await call(DEV, 'mine', { blocks: 1 });
    assert.deepEqual(await queue(user), ['approved']);
    assert.equal(await owned(user), '70', 'what may still be paid is locked');
    await node.ledgerAddsUp();
    assert.equal((await execute(user))['status'], 'mined');
    assert.deepEqual(await queue(user), ['executed']);
    assert.equal(await owned(user), '70');
    assert.equal(await stopped(DEV), 0);
    await node.ledgerAddsUp();
  });

  test('a dropped withdrawal that is not executed again returns with its expiry, and the next one has the vault’s counter (NON-04, WDR-10, AMB-74)', async () => {
    const user = await approved(30);
    await dropped(user);
    await resume(DEV);
    assert.deepEqual(await queue(user), ['approved']);
    await node.advance(3_700n * SECOND);
    await call(DEV, 'mine', { blocks: 2 });
    assert.deepEqual(await queue(user), ['expired']);
    assert.equal(await owned(user), '100');
    const amount = (20n * 10n ** 18n).toString(16);
    const terms = { asset: `${TOKENS[DEV]}@${DEV}`, amount, target: TARGET, nonce: 0 };
    assert.equal((await user.withdraw(terms)).text, '{"success":true}');
    for (const _ of [1, 2, 3]) await node.advance(40n * SECOND);
    assert.deepEqual(await queue(user), ['expired', 'approved']);
    assert.equal((await execute(user))['status'], 'mined');
    assert.deepEqual(await queue(user), ['expired', 'executed']);
    assert.equal(await owned(user), '80');
    await node.ledgerAddsUp();
  });

  test('nothing is approved on a stopped chain, and what waits is approved after the resumption (AMB-74)', async () => {
    const user = await node.user({});
    await deposit(DEV, user, 100);
    await reorg(DEV, { depth: 1 });
    assert.equal(await stopped(DEV), 1);
    const amount = (10n ** 18n).toString(16);
    await node.rest();
    await user.withdraw({ asset: `${TOKENS[DEV]}@${DEV}`, amount, target: TARGET });
    await node.advance(40n * SECOND);
    await node.advance(40n * SECOND);
    assert.deepEqual(await queue(user), ['filled']);
    await resume(DEV);
    assert.deepEqual(await queue(user), ['approved']);
  });

  for (const [name, vmId, confirmations] of [
    ['DEP-17', 1, 4],
    ['DEP-18', 42_161, 15],
    ['DEP-19', 143, 15],
    ['DEP-20', 8_453, 10],
  ] as const) {
    test(`${name}, DEP-08, DEP-21: chain ${vmId} credits with confirmation ${confirmations}, or with those of its vault`, async () => {
      const chain = vmId.toString(16).padStart(18, '0');
      const token = address((0x70 + confirmations).toString(16));
      const vault = `${vmId === 1 ? address('0e') : address('0f')}@${chain}`;
      const administrators = ['5d5c99edf529335160ff180fa141dd4967fc00d2'];
      await node.operate('PUT', `/operator/chains/${chain}`, { kind: 'simulated', block_time_ms: 1000, providers: 3 });
      await node.operate('PUT', `/operator/vaults/${vault}`, { administrators, quorum: 1 });
      const index = String(40 + vmId);
      const tokens = [{ token, chain_id: chain, decimals: 6 }];
      await node.operate('PUT', `/operator/assets/${index}`, { symbol: 'T', tokens });
      const user = await node.user({});
      const send = (confirm: boolean): Promise<Json> =>
        call(chain, 'deposits', { user: user.id, token, amount_base_units: '5000000', confirm });
      const credited = async (): Promise<string> => {
        await node.rest();
        const body = await node.operate('GET', `/operator/users/${user.id}`);
        const accounts = body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
        return accounts['0']?.balances[index]?.owned ?? '0';
      };
      await send(false);
      await call(chain, 'mine', { blocks: confirmations - 2 });
      assert.equal(await credited(), '0');
      await call(chain, 'mine', { blocks: 1 });
      assert.equal(await credited(), '5');
      await send(false);
      const own = { deposit: 1, withdrawal: 1, settlement: 0 };
      await node.operate('PUT', `/operator/vaults/${vault}`, { administrators, quorum: 1, confirmations: own });
      assert.equal(await credited(), '10', 'the vault has its own');
    });
  }

  const ledger = async (asset = '0'): Promise<Record<string, string | null>> => {
    const { assets } = await node.operate('GET', '/operator/ledger');
    return (assets as Record<string, Record<string, string | null>>)[asset] ?? {};
  };
  const metric = async (name: string, label: string): Promise<number | undefined> => {
    const text = await (await fetch(`${node.process.ops}/metrics`)).text();
    return parseExposition(text).get(name)?.samples.get(`${name}{${label}}`);
  };
  /** Of now: a read of the ledger compares. */
  const deviation = async (asset = '0'): Promise<number | undefined> => {
    await ledger(asset);
    return metric('ringbook_holdings_deviation', `asset="${asset}"`);
  };

  test('on_chain is what the vaults hold; what is not final is no deviation, what the ledger does not know is one, and difference is unaffected (AMB-116, GEN-06, DEP-11)', async () => {
    const twin = await TestNode.start();
    const [last, user] = [node, await twin.user({})];
    node = twin;
    try {
      await deposit(ONE, user, 50);
      await deposit(DEV, user, 30);
      const agreed = await ledger();
      assert.deepEqual([agreed['vault_holdings'], agreed['on_chain'], agreed['difference']], ['80', '80', '0']);
      assert.equal(await deviation(), 0);
      await deposit(ONE, user, 7, false);
      assert.equal((await ledger())['on_chain'], '80', 'not final yet');
      assert.equal(await deviation(), 0);
      await call(ONE, 'mine', { blocks: 3 });
      assert.deepEqual([(await ledger())['vault_holdings'], (await ledger())['on_chain']], ['87', '87']);

      const { vault } = await node.operate('GET', `/operator/chains/${DEV}/vault`);
      const to = String(vault).split('@')[0];
      await call(DEV, 'tokens/mint', { token: TOKENS[DEV], to, amount_base_units: '1500000' });
      const beyond = await ledger();
      assert.deepEqual([beyond['vault_holdings'], beyond['on_chain'], beyond['difference']], ['87', '88.5', '0']);
      assert.equal(await deviation(), 1.5);
      await logged(/"asset":"0","deviation":"1.5".*the vaults do not hold what the ledger says/);
      await node.restart('SIGKILL');
      assert.equal((await ledger())['on_chain'], '88.5');
      assert.equal(await deviation(), 1.5);
      await reorg(DEV, { depth: 1 });
      assert.equal(await deviation(), 0);
      await logged(/"asset":"0".*the vaults hold what the ledger says again/);

      await fault(DEV, 0, 'omit_logs');
      await fault(DEV, 1, 'omit_logs');
      await deposit(DEV, user, 2);
      assert.equal(await deviation(), 2, 'a deposit that a majority does not show');
      await healthy(DEV);
      assert.deepEqual([await deviation(), (await ledger())['on_chain']], [0, '89']);

      await deposit(DEV, user, 4);
      await reorg(DEV, { depth: 1 });
      assert.deepEqual([await deviation(), (await ledger())['vault_holdings']], [-4, '93'], 'a credited one is gone');
      assert.equal((await ledger())['difference'], '0');
      for (const provider of [0, 1]) await fault(DEV, provider, 'unreachable');
      assert.equal(await deviation(), -4, 'the last that was known');
    } finally {
      node = last;
      await twin.stop();
    }
  });

  test('a vault that lacks what was credited: nothing of the asset is approved there until it has it, or the operator accepts (MON-05)', async () => {
    const twin = await TestNode.start();
    const [last, user] = [node, await twin.user({})];
    node = twin;
    const stopped = async (): Promise<number | undefined> => {
      await ledger();
      return metric('ringbook_approvals_stopped_units', `asset="0",chain="${DEV}"`);
    };
    try {
      await deposit(DEV, user, 100);
      await deposit(DEV, user, 4);
      await reorg(DEV, { depth: 1 });
      await resume(DEV);
      await eventually(
        async () => (await stopped()) === 4,
        () => 'what is missing is seen',
      );
      const amount = (30n * 10n ** 18n).toString(16);
      assert.equal((await user.withdraw({ asset: `${TOKENS[DEV]}@${DEV}`, amount, target: TARGET })).status, 200);
      const checkpoint = async (): Promise<void> => {
        await node.advance(31n * SECOND);
        await node.advance(2n * SECOND);
      };
      await checkpoint();
      assert.deepEqual(await queue(user), ['filled']);
      await logged(/"missing":"4".*nothing of the asset is approved on the chain/);
      assert.equal(await refused(DEV, 'accept-deviation', { asset_id: '0' }), '400 INVALID_REQUEST amount');
      assert.equal(
        await refused(DEV, 'accept-deviation', { asset_id: '0', amount: '-1' }),
        '400 INVALID_REQUEST amount',
      );
      assert.equal(await refused(DEV, 'accept-deviation', { asset_id: '77', amount: '1' }), '404 ASSET_NOT_FOUND');
      assert.deepEqual(await call(DEV, 'accept-deviation', { asset_id: '0', amount: '3.9' }), {});
      await node.restart('SIGKILL');
      await user.login();
      await checkpoint();
      assert.deepEqual([await queue(user), await stopped()], [['filled'], 4], 'over a kill too');
      assert.deepEqual(await call(DEV, 'accept-deviation', { asset_id: '0', amount: '4' }), {});
      await checkpoint();
      assert.deepEqual([await queue(user), await stopped()], [['approved'], undefined]);
      assert.equal((await execute(user))['revert'], null);
      await node.ledgerAddsUp();
    } finally {
      node = last;
      await twin.stop();
    }
  });

  test('a withdrawal leaves ledger and chain together (AMB-116)', async () => {
    const twin = await TestNode.start();
    const last = node;
    node = twin;
    try {
      const user = await approved(30);
      assert.deepEqual([(await ledger())['on_chain'], await deviation()], ['100', 0]);
      await execute(user);
      assert.deepEqual([(await ledger())['on_chain'], (await ledger())['vault_holdings']], ['70', '70']);
      assert.equal(await deviation(), 0);
    } finally {
      node = last;
      await twin.stop();
    }
  });

  test('a withdrawal that is unconfirmed when it is dropped can be executed again, and each user, chain and action counts by itself (NON-02, NON-04, GEN-07)', async () => {
    const body = { kind: 'simulated', block_time_ms: 250, confirmations: { deposit: 1, withdrawal: 3, settlement: 0 } };
    await node.operate('PUT', `/operator/chains/${DEV}`, body);
    const user = await approved(30);
    const first = await call(DEV, 'withdrawals/execute', { user: user.id, nonce: 0, confirm: false });
    assert.deepEqual(await counters(DEV, user), { depositCounts: 1, withdrawalCounts: 1, settlementCounts: 0 });
    assert.deepEqual(await counters(ONE, user), { depositCounts: 0, withdrawalCounts: 0, settlementCounts: 0 });
    assert.deepEqual((await reorg(DEV, { depth: 1, blocks: 1 })).dropped, [first['tx']]);
    assert.deepEqual(await queue(user), ['approved']);
    const second = await execute(user);
    assert.deepEqual([second['revert'], second['nonce']], [null, 0]);
    assert.deepEqual(await queue(user), ['executed']);
    assert.equal((await execute(user).catch((error: unknown) => String(error))).toString().includes('404'), true);
    assert.equal(await owned(user), '70');
    await node.ledgerAddsUp();
  });
});
