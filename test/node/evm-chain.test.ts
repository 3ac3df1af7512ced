// tier: full, 30 s
/**
 * The unmodified node against a real EVM chain: anvil with the vault of test/contracts, behind three JSON-RPC providers
 * that falsify what they answer on request. Deposits are credited once, when they are final, whatever a minority sends.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Address } from 'viem';
import { ANVIL_DEPOSITOR, Anvil, deployVault, depositOnAnvil, padded, type VaultOnAnvil } from '../support/anvil.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually, SLOWEST } from '../support/patience.ts';
import { type ProxyFault, RpcProxy } from '../support/rpc-proxy.ts';
import { PlainKey } from '../support/wire-texts.ts';

const VM_ID = 1_337;
const ADMINISTRATOR: Address = '0x5d5c99edf529335160ff180fa141dd4967fc00d2';
/** Deposits for what is no key are not credited (MON-14). */
const USER = new PlainKey(0x11).id;
const UNIT = 1_000_000n;
const CONFIRMATIONS = 3;
const ASSET = '7';
/** One poll of a chain that stands still. */
const ONE_POLL_MS = 2_100;

suite('EVM chain', () => {
  let anvil: Anvil;
  let proxies: RpcProxy[] = [];
  let node: NodeProcess;
  let contracts: VaultOnAnvil;
  let registered = 0;
  const chain = (): string => `/operator/chains/${anvil.chainId}`;

  before(async () => {
    anvil = await Anvil.start(VM_ID);
    contracts = await deployVault(anvil, [ADMINISTRATOR]);
    proxies = await Promise.all([anvil.url, anvil.url, anvil.url].map((url) => RpcProxy.start(url)));
    node = await startNode({ env: { RINGBOOK_LOG_LEVEL: 'warn' } });
    await register();
    const vault = `${padded(contracts.vault)}@${anvil.chainId}`;
    await put(`/operator/vaults/${vault}`, { administrators: [ADMINISTRATOR.slice(2)], quorum: 1 });
    const token = { token: padded(contracts.token), chain_id: anvil.chainId, decimals: 6 };
    await put(`/operator/assets/${ASSET}`, { symbol: 'EVM', tokens: [token] });
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await anvil.stop();
  });

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await operator(node, 'PUT', path, body);
    assert.equal(status, 200, `${path}: ${text}`);
  }

  /** Other addresses make the node begin with rested providers. */
  async function register(deposit = CONFIRMATIONS): Promise<void> {
    registered += 1;
    const rpcUrls = proxies.map(({ url }) => `${url}/?${registered}`);
    await put(chain(), { kind: 'evm', rpc_urls: rpcUrls, confirmations: { deposit } });
  }

  function setFaults(...faults: readonly ProxyFault[]): void {
    for (const [index, proxy] of proxies.entries()) proxy.fault = faults[index] ?? 'none';
  }

  /** Whole units of the asset that all users own. */
  async function credited(): Promise<number> {
    const { body } = await operator(node, 'GET', '/operator/ledger');
    const assets = body['assets'] as Record<string, { spot: string; difference: string }>;
    assert.equal(assets[ASSET]?.difference ?? '0', '0', 'the ledger balances');
    return Number(assets[ASSET]?.spot ?? '0');
  }

  async function metric(name: string): Promise<number> {
    const page = await (await fetch(`${node.ops}/metrics`)).text();
    const line = page.split('\n').find((text) => text.startsWith(`${name}{chain="${anvil.chainId}"}`));
    return line === undefined ? Number.NaN : Number(line.split(' ')[1]);
  }

  const becomes = (units: number): Promise<void> =>
    eventually(
      async () => (await credited()) === units,
      () => `${units} never were credited:\n${node.stderr()}`,
    );
  /** The node has seen the head and read what is final. */
  const stays = async (units: number): Promise<void> => {
    const head = await anvil.head();
    await eventually(async () => (await metric('ringbook_chain_head')) === head);
    await eventually(async () => (await metric('ringbook_chain_processed_block')) === head - CONFIRMATIONS + 1);
    assert.equal(await credited(), units);
  };
  /** For a chain that reads nothing. */
  const staysUnread = async (units: number): Promise<void> => {
    await aMoment(ONE_POLL_MS);
    assert.equal(await credited(), units);
  };
  const deposit = async (units: bigint, user = USER): Promise<void> =>
    assert.equal(await depositOnAnvil(anvil, contracts, user, units * UNIT), null);

  /** Who agreed with the last range is shown until the next one: one that answered while its fault ended agrees with none before. */
  const allAgree = (): Promise<void> =>
    eventually(
      async () => {
        if ((await metric('ringbook_chain_providers_agreeing')) === 3) return true;
        await anvil.mine(1);
        await aMoment(ONE_POLL_MS);
        return false;
      },
      () => `three never agree:\n${node.stderr()}`,
    );

  test('DEP-08, DEP-11: in the vault and not credited with 2 confirmations, credited once with the third, within a poll', async () => {
    await deposit(5n);
    assert.equal(await anvil.read('Token', contracts.token, 'balanceOf', [contracts.vault]), 5n * UNIT);
    await anvil.mine(CONFIRMATIONS - 2);
    await stays(0);
    const startedMs = performance.now();
    await anvil.mine(1);
    await becomes(5);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 2_500 * SLOWEST, `credited ${tookMs} ms after the confirmation`);
    await stays(5);
    assert.equal(await metric('ringbook_chain_stopped'), 0);
    assert.equal(await metric('ringbook_chain_head'), await anvil.head());
  });

  test('DEP-10: a kill in the middle, deposits while it is down, two restarts: each is credited once', async () => {
    await deposit(1n);
    await stopNode(node, 'SIGKILL');
    await deposit(2n);
    await anvil.mine(CONFIRMATIONS);
    node = await startNode({ dataDirectory: node.dataDirectory });
    await becomes(8);
    await stopNode(node, 'SIGTERM');
    await deposit(4n);
    await anvil.mine(CONFIRMATIONS);
    node = await startNode({ dataDirectory: node.dataDirectory });
    await becomes(12);
    await stays(12);
  });

  test('DEP-09: a reorganisation before finality drops a deposit, and it is not credited', async () => {
    await deposit(3n);
    await anvil.reorg(1);
    await anvil.mine(CONFIRMATIONS);
    await stays(12);
    assert.equal(await metric('ringbook_chain_stopped'), 0);
  });

  test('DEP-07: one of three that lags, omits, forges, forks, refuses, limits, is slow, silent or gone changes nothing', async () => {
    let units = await credited();
    for (const fault of [
      'lagging',
      'omits',
      'forges',
      'forked',
      'refuses',
      'limited',
      'garbage',
      'unreachable',
      'otherChain',
      'slow',
      'silent',
    ] as const) {
      setFaults(fault);
      await register();
      await deposit(1n);
      await anvil.mine(CONFIRMATIONS - 1);
      units += 1;
      await becomes(units);
    }
    assert.equal(await metric('ringbook_chain_stopped'), 0);
    setFaults();
  });

  test('AMB-84: without a majority nothing is credited; with it again all is', async () => {
    const units = await credited();
    for (const faults of [
      ['unreachable', 'unreachable'],
      ['forges', 'unreachable'],
    ] as const) {
      setFaults(...faults);
      await register();
      await deposit(1n);
      await anvil.mine(CONFIRMATIONS - 1);
      await staysUnread(units);
    }
    setFaults();
    await register();
    await becomes(units + 2);
  });

  test('CHN-04: what all providers hid when its block was processed is credited as soon as they show it, by itself and by hand', async () => {
    const units = await credited();
    setFaults('omits', 'omits', 'omits');
    await deposit(1n);
    await anvil.mine(CONFIRMATIONS - 1);
    await stays(units);
    await aMoment(6_000);
    setFaults();
    await becomes(units + 1);
    setFaults('omits', 'omits', 'omits');
    await deposit(1n);
    await anvil.mine(CONFIRMATIONS - 1);
    await stays(units + 1);
    setFaults();
    const again = await operator(node, 'POST', `${chain()}/read-again?from=1`, undefined);
    // Withdrawals have one confirmation.
    assert.deepEqual(again.body, { from: 1, to: await anvil.head() });
    await becomes(units + 2);
    assert.equal(await metric('ringbook_chain_stopped'), 0);
    for (const query of ['', '?from=0', '?from=x', '?from=1&to=2']) {
      assert.equal((await operator(node, 'POST', `${chain()}/read-again${query}`, undefined)).status, 400, query);
    }
    assert.equal((await operator(node, 'POST', `${chain()}/read-again?from=99999999`, undefined)).status, 503);
  });

  test('CHN-05: two of three dead: the metrics have who answers and who agrees', async () => {
    await allAgree();
    setFaults('unreachable', 'unreachable');
    await eventually(async () => (await metric('ringbook_chain_providers_agreeing')) === 0);
    const names = ['configured', 'answering'].map((name) => metric(`ringbook_chain_providers_${name}`));
    assert.deepEqual(await Promise.all(names), [3, 1]);
    setFaults();
    await register();
    await allAgree();
  });

  test('AMB-74: a majority on another fork stops the chain, also after a restart, until it is resumed', async () => {
    const units = await credited();
    setFaults('forked', 'forked');
    await register();
    await deposit(1n);
    await anvil.mine(CONFIRMATIONS - 1);
    await eventually(async () => (await metric('ringbook_chain_stopped')) === 1);
    await eventually(() => /"level":"error".*the chain is stopped/.test(node.stderr()), node.stderr);
    setFaults();
    await stopNode(node, 'SIGKILL');
    node = await startNode({ dataDirectory: node.dataDirectory });
    await eventually(async () => (await metric('ringbook_chain_stopped')) === 1);
    await staysUnread(units);
    assert.equal((await operator(node, 'POST', `${chain()}/resume`, {})).status, 400);
    assert.deepEqual((await operator(node, 'POST', `${chain()}/resume`, { accept: true })).body, {});
    await becomes(units + 1);
    await eventually(async () => (await metric('ringbook_chain_stopped')) === 0);
  });

  test('AMB-74: a credited deposit that vanishes after finality stops the chain; its counter never credits again', async () => {
    const units = await credited();
    await deposit(1n);
    await anvil.mine(CONFIRMATIONS - 1);
    await becomes(units + 1);
    await anvil.reorg(CONFIRMATIONS + 1);
    await eventually(async () => (await metric('ringbook_chain_stopped')) === 1);
    await eventually(() => /booked events vanished/.test(node.stderr()), node.stderr);
    // The same counter as the one that vanished, and one behind it.
    await deposit(10n);
    await deposit(20n);
    await anvil.mine(CONFIRMATIONS);
    await staysUnread(units + 1);
    await operator(node, 'POST', `${chain()}/resume`, { accept: true });
    await becomes(units + 21);
    await stays(units + 21);
  });

  test('AMB-116: on_chain is what the vault holds at a processed block, with other confirmations for withdrawals too; tokens that came without an event are a deviation', async () => {
    const onChain = async (): Promise<readonly string[]> => {
      const { body } = await operator(node, 'GET', '/operator/ledger');
      const { on_chain, vault_holdings } = (body['assets'] as Record<string, Record<string, string>>)[ASSET] ?? {};
      const page = await (await fetch(`${node.ops}/metrics`)).text();
      const deviation = page
        .split('\n')
        .find((line) => line.startsWith(`ringbook_holdings_deviation{asset="${ASSET}"}`));
      return [on_chain ?? '', vault_holdings ?? '', deviation?.split(' ')[1] ?? ''];
    };
    const shows = async (beyond: number): Promise<void> => {
      const units = await credited();
      const expected = [`${units + beyond}`, `${units}`, `${beyond}`];
      await eventually(
        async () => JSON.stringify(await onChain()) === JSON.stringify(expected),
        () => `never ${expected}\n${node.stderr()}`,
      );
    };
    // The test before has left a credited deposit of 1 that is no longer on the chain, and one of 10 with its counter.
    const before = 9;
    await shows(before);
    await deposit(3n);
    await shows(before);
    const units = await credited();
    await anvil.mine(CONFIRMATIONS - 1);
    await becomes(units + 3);
    await shows(before);
    await eventually(
      () => /"deviation":"-?[1-9]\d*".*the vaults do not hold what the ledger says/.test(node.stderr()),
      node.stderr,
    );
    const gift = [contracts.vault, 5n * UNIT];
    assert.equal(await anvil.send({ contract: 'Token', at: contracts.token, name: 'mint', args: gift }), null);
    await anvil.mine(CONFIRMATIONS);
    await shows(before + 5);
    setFaults('forges');
    await stopNode(node, 'SIGKILL');
    node = await startNode({ dataDirectory: node.dataDirectory });
    await shows(before + 5);
    setFaults();
  });

  test('10,000 deposits in one range are credited once each', { timeout: 240_000 }, async () => {
    const units = await credited();
    await register(5_000);
    const depositor = await anvil.deploy('Depositor');
    const many = 1_000;
    const call = { contract: 'Token', at: contracts.token, name: 'mint', args: [depositor, 10_000n * UNIT] } as const;
    await anvil.send(call);
    await anvil.send({ contract: 'VaultV1', at: contracts.vault, name: 'setDepositorStatus', args: [depositor, true] });
    // None of them is the backstop or the fee account, whose funds are no part of `spot`.
    const users = Array.from({ length: 150 }, (_, index) => `0x${new PlainKey(index + 20).id}`);
    for (let rounds = 0; rounds < 10; rounds += 1) {
      const args = [contracts.vault, contracts.token, users, BigInt(many), UNIT];
      const from = ANVIL_DEPOSITOR;
      assert.equal(await anvil.send({ contract: 'Depositor', at: depositor, name: 'depositMany', args, from }), null);
    }
    const startedMs = performance.now();
    await register(1);
    await becomes(units + 10_000);
    const tookMs = performance.now() - startedMs;
    process.stderr.write(`10,000 deposits in one range: ${Math.round(tookMs)} ms\n`);
    assert.ok(tookMs < 20_000 * SLOWEST, `${tookMs} ms`);
  });
});
