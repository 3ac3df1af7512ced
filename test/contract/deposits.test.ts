// tier: full, 6 s
/** Deposits at the public API and at the operator's: caps, isolated lots, rebalancing, unclaimed ones (operator-api.md 4.1, 4.4, 4.7, 6). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer, SocketReader } from '../support/edge-client.ts';
import { operator } from '../support/node-process.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const CHAIN = '000000000000007a69';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const TARGET = address('7c');
const E18 = 10n ** 18n;
const whole = (units: number): string => (BigInt(units) * E18).toString();
const hex = (units: number): string => (BigInt(units) * E18).toString(16);

interface Lot {
  readonly asset: string;
  readonly amount: string;
  readonly credited_at_ns: number;
}

suite('deposits', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    [alice, bob] = [await node.user({}), await node.user({})];
  });
  after(() => node?.stop());

  /** An asset with one token of 18 decimals. */
  const putAsset = (asset: string, byte: string, more: object = {}, caps: object = {}): Promise<unknown> =>
    node.operate('PUT', `/operator/assets/${asset}`, {
      symbol: `A${asset}`,
      tokens: [{ token: address(byte), chain_id: CHAIN, decimals: 18, ...caps }],
      ...more,
    });
  const patchCaps = (asset: string, byte: string, caps: object): Promise<unknown> =>
    node.operate('PATCH', `/operator/assets/${asset}`, {
      tokens: [{ token: address(byte), chain_id: CHAIN, decimals: 18, ...caps }],
    });
  const capsOf = (total: number, hour: number): object => ({
    max_deposits: whole(total),
    max_1hr_deposits: whole(hour),
  });
  const deposit = (user: PlainClient, byte: string, baseUnits: string): Promise<Record<string, unknown>> =>
    node.operate('POST', `/operator/chains/${CHAIN}/deposits`, {
      user: user.id,
      token: address(byte),
      amount_base_units: baseUnits,
    });
  const tokenOf = (byte: string): string => `${address(byte)}@${CHAIN}`;
  /** Pooled and isolated units as inventory shows them. */
  async function owned(user: PlainClient, asset: string, byte: string): Promise<readonly [string, string]> {
    await node.rest();
    const { accounts } = (await user.read(`/inventory/user/${user.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    const { spot = {} } = accounts['0'] ?? {};
    return [spot[asset] ?? '0', spot[tokenOf(byte)] ?? '0'];
  }
  const lotsOf = async (user: PlainClient): Promise<readonly Lot[]> => {
    const view = await node.operate('GET', `/operator/users/${user.id}`);
    return view['isolated_lots'] as readonly Lot[];
  };
  async function ledger(asset: string): Promise<Record<string, string>> {
    const { assets } = (await node.operate('GET', '/operator/ledger')) as {
      assets: Record<string, Record<string, string>>;
    };
    for (const [id, entry] of Object.entries(assets)) assert.equal(entry['difference'], '0', id);
    return assets[asset] ?? assert.fail('there is an entry');
  }
  const withdraw = (user: PlainClient, byte: string, units: number): Promise<HttpAnswer> =>
    user.withdraw({ asset: tokenOf(byte), amount: hex(units), target: TARGET });
  /** From request to payout. */
  async function paidOut(user: PlainClient, byte: string, units: number, nonce: number): Promise<void> {
    assert.equal((await withdraw(user, byte, units)).text, '{"success":true}');
    for (const seconds of [31n, 1n]) await node.advance(seconds * SECOND);
    const paid = await node.operate('POST', `/operator/chains/${CHAIN}/withdrawals/execute`, { user: user.id, nonce });
    assert.equal(paid['status'], 'mined', JSON.stringify(paid));
  }
  async function refusal(method: string, path: string, body?: object): Promise<string> {
    const answer = await operator(node.process, method, path, body);
    const code = /"code":"([A-Z_]+)"/.exec(answer.text)?.[1];
    return `${answer.status} ${code}`;
  }

  test('EX-19 over the API: caps by the node clock, lots, conversions, no event of them (DEP-12, DEP-13, DEP-15, IDN-04, AMB-73)', async () => {
    await putAsset('4', 'd4', {}, capsOf(1_000, 300));
    const events = await alice.stream(`/account/events/${alice.id}`);
    const start = node.nowNs;
    const at = (ns: bigint): Promise<void> => node.advance(start + ns - node.nowNs);
    const funds = (): Promise<readonly [string, string]> => owned(alice, '4', 'd4');

    await deposit(alice, 'd4', whole(250));
    await at(10n * MINUTE);
    await deposit(alice, 'd4', whole(60));
    assert.deepEqual(await funds(), ['250', '60']);
    const [lot, ...others] = await lotsOf(alice);
    assert.deepEqual(
      [lot?.asset, lot?.amount, lot?.credited_at_ns, others.length],
      [tokenOf('d4'), '60', Number(node.nowNs), 0],
    );
    await at(20n * MINUTE);
    await deposit(alice, 'd4', whole(50));
    await at(59n * MINUTE + 59n * SECOND);
    await deposit(alice, 'd4', whole(1));
    assert.deepEqual(await funds(), ['300', '61']);
    const { isolated, spot, vault_holdings: held } = await ledger('4');
    assert.deepEqual([spot, isolated, held], ['300', '61', '361']);
    await at(60n * MINUTE - 1n);
    assert.deepEqual(await funds(), ['300', '61']);
    await at(60n * MINUTE);
    assert.deepEqual(await funds(), ['361', '0'], 'the 250 have left the hour');
    await at(61n * MINUTE);
    await deposit(alice, 'd4', whole(640));
    assert.deepEqual(await funds(), ['361', '640']);
    await patchCaps('4', 'd4', capsOf(1_000, 2_000));
    assert.deepEqual(await funds(), ['361', '640'], '1001 in all');

    const landed: unknown[] = [];
    for (let count = 0; count < 5; count += 1) landed.push(/"asset":"([^"]+)"/.exec(await events.frame())?.[1]);
    assert.deepEqual(landed, ['4', tokenOf('d4'), '4', tokenOf('d4'), tokenOf('d4')]);
    await patchCaps('4', 'd4', capsOf(1_001, 2_000));
    assert.deepEqual(await funds(), ['1001', '0']);
    await deposit(alice, 'd4', '1');
    assert.match(await events.frame(), /"deposit_nonce":5,/, 'conversions send no event');
    events.socket.terminate();
  });

  test('EX-19: a payout of another user makes room, at once (DEP-15, AMB-73)', async () => {
    await patchCaps('4', 'd4', { max_deposits: null, max_1hr_deposits: null });
    const raw = '0.000000000000000001';
    assert.deepEqual(await owned(alice, '4', 'd4'), [`1001${raw.slice(1)}`, '0']);
    await deposit(bob, 'd4', whole(5));
    await patchCaps('4', 'd4', { max_deposits: `${whole(1_010)}`.replace(/.$/, '1'), max_1hr_deposits: null });
    await deposit(alice, 'd4', whole(5));
    assert.deepEqual(await owned(alice, '4', 'd4'), [`1001${raw.slice(1)}`, '5'], '1006 and 5 are 1011');
    await paidOut(bob, 'd4', 1, 0);
    assert.deepEqual(await owned(alice, '4', 'd4'), [`1006${raw.slice(1)}`, '0']);
    assert.deepEqual(await owned(bob, '4', 'd4'), ['4', '0']);
  });

  test('a lot is withdrawn on its chain first, beside the pool it is neither spent nor moved (DEP-14, POS-09, AMB-66, AMB-73)', async () => {
    await putAsset('5', 'd5', {}, capsOf(10, 10));
    await deposit(alice, 'd5', whole(10));
    await deposit(alice, 'd5', whole(40));
    const funds = (): Promise<readonly [string, string]> => owned(alice, '5', 'd5');
    assert.deepEqual(await funds(), ['10', '40']);
    const sell = { asset: '5', side: 'Sell', price: 100, quantity: 200_000, account: 0, isSpot: true } as const;
    await node.openMarket('5', [2, 4], { maker_fee_rate: 100, taker_fee_rate: 450 });
    assert.notEqual((await alice.create({ id: 'lot', ...sell })).status, 200, '20 of 10 that are pooled');
    const moved = await alice.transfer({ asset: tokenOf('d5'), amount: whole(1), source: 0, target: 1, nonce: 1 });
    assert.match(moved.text, /"success":false,"details":\{"code":"INVALID_REQUEST".*"field":"transfer_asset"/);
    assert.equal((await withdraw(alice, 'd5', 45)).text, '{"success":true}');
    assert.deepEqual(await funds(), ['5', '0']);
    assert.deepEqual(await lotsOf(alice), []);
    assert.equal((await ledger('5'))['locks'], '45');
    assert.equal((await alice.cancelWithdrawal(tokenOf('d5'), 0)).text, '{"success":true}');
    assert.deepEqual(await funds(), ['10', '40']);
    await paidOut(alice, 'd5', 45, 0);
    assert.deepEqual(await funds(), ['5', '0']);
    const { spot, isolated, vault_holdings: held } = await ledger('5');
    assert.deepEqual([spot, isolated, held], ['5', '0', '5']);
    assert.match((await withdraw(alice, 'd5', 6)).text, /INSUFFICIENT_INVENTORY/);
  });

  test('a kill keeps lots, the hour and what is unclaimed, and the conversion comes at its time (AMB-73, AMB-74)', async () => {
    await putAsset('6', 'd6', {}, capsOf(1_000, 100));
    await deposit(alice, 'd6', whole(100));
    await node.advance(MINUTE);
    await deposit(alice, 'd6', whole(30));
    const before = await owned(alice, '6', 'd6');
    assert.deepEqual(before, ['100', '30']);
    const lots = await lotsOf(alice);
    await node.restart('SIGKILL');
    await alice.login();
    await bob.login();
    assert.deepEqual(await lotsOf(alice), lots);
    assert.deepEqual(await owned(alice, '6', 'd6'), before);
    await node.advance(58n * MINUTE);
    assert.deepEqual(await owned(alice, '6', 'd6'), before);
    await node.advance(MINUTE);
    assert.deepEqual(await owned(alice, '6', 'd6'), ['130', '0']);
  });

  test('EX-01 over the API: tokens of other decimals, and the dust of more than 18 (GEN-11, AMT-06, AMB-116)', async () => {
    const tokens = (decimals: readonly number[]): object[] =>
      decimals.map((count) => ({ token: address(`e${count % 10}`), chain_id: CHAIN, decimals: count }));
    const body = { symbol: 'EX', tokens: tokens([6, 8, 20, 24]) };
    await node.operate('PUT', '/operator/assets/7', body);
    await deposit(alice, 'e6', '1234567');
    await deposit(alice, 'e8', '1');
    await deposit(alice, 'e0', '123456789012345678901');
    await deposit(alice, 'e4', '1999999');
    const sum = 1_234_567_000_000_000_000n + 10_000_000_000n + 1_234_567_890_123_456_789n + 1n;
    const text = `${sum / E18}.${String(sum % E18).padStart(18, '0')}`;
    assert.equal((await owned(alice, '7', 'e4'))[0], text.replace(/0+$/, ''));
    const reverted = await deposit(bob, 'e4', '999999');
    assert.equal(reverted['revert'], 'NormalizationRoundsToZero');
    await deposit(bob, 'e4', '1000001');
    assert.equal((await ledger('7'))['dust'], '0.000000000000000001', '1.999999 and 1.000001 are 3, credited are 2');
  });

  test('a fee or rebate of rebalancing is in the event, in the balance and in the pool (DEP-16, DEP-24, AMB-75)', async () => {
    const rates = (rate: string): object => ({
      rebalancing: { mode: 'fixed', deposit_rate: rate, withdrawal_rate: '0' },
    });
    await putAsset('8', 'd8', rates('0.5'));
    const events: SocketReader = await alice.stream(`/account/events/${alice.id}`);
    await deposit(alice, 'd8', whole(200));
    assert.match(await events.frame(), new RegExp(`"asset":"8","amount":"0x${hex(195)}"`), 'clamped to 2.5 %');
    assert.deepEqual(await owned(alice, '8', 'd8'), ['195', '0']);
    assert.equal((await ledger('8'))['rebalancing_pool'], '5');
    await node.operate('PATCH', '/operator/assets/8', rates('-0.02'));
    await deposit(bob, 'd8', whole(500));
    assert.deepEqual(await owned(bob, '8', 'd8'), ['505', '0'], 'the pool had 5 (MON-03)');
    const { rebalancing_pool: pool, spot, vault_holdings: held } = await ledger('8');
    assert.deepEqual([pool, spot, held], ['0', '700', '700']);
    events.socket.terminate();
  });

  test('a deposit of an unregistered token is listed, and credited once after registration (AMB-74)', async () => {
    const unclaimed = `/operator/chains/${CHAIN}/unclaimed`;
    const carol = await node.user({});
    await deposit(carol, 'd9', whole(3));
    await deposit(carol, '5a', '2000000');
    assert.equal((await owned(carol, '0', 'd9'))[0], '2', 'later deposits go on');
    assert.deepEqual(await node.operate('GET', unclaimed), {
      unclaimed: [{ user: carol.id, counter: 0, token: address('d9'), amount_base_units: whole(3) }],
    });
    const body = { user: carol.id };
    assert.equal(await refusal('POST', `${unclaimed}/0/credit`, body), '404 ASSET_NOT_FOUND');
    assert.equal(await refusal('POST', `${unclaimed}/1/credit`, body), '404 NOT_FOUND');
    assert.equal(await refusal('POST', `${unclaimed}/0/credit`, { user: alice.id }), '404 NOT_FOUND');
    assert.equal(await refusal('POST', `${unclaimed}/x/credit`, body), '400 INVALID_REQUEST');
    assert.equal(await refusal('POST', `${unclaimed}/0/credit`, {}), '400 INVALID_REQUEST');
    assert.equal(await refusal('POST', `${unclaimed}/0/credit`, { ...body, more: 1 }), '400 INVALID_REQUEST');
    assert.equal(await refusal('GET', '/operator/chains/000000000000009999/unclaimed'), '404 CHAIN_NOT_FOUND');
    await node.restart('SIGKILL');
    await carol.login();
    await putAsset('9', 'd9');
    const events = await carol.stream(`/account/events/${carol.id}`);
    assert.deepEqual(await node.operate('POST', `${unclaimed}/0/credit`, body), {});
    assert.match(await events.frame(), /"DepositLanded":\{.*"asset":"9".*"deposit_nonce":0,/);
    assert.deepEqual(await owned(carol, '9', 'd9'), ['3', '0']);
    assert.equal(await refusal('POST', `${unclaimed}/0/credit`, body), '404 NOT_FOUND', 'once');
    assert.deepEqual(await node.operate('GET', unclaimed), { unclaimed: [] });
    await ledger('9');
    events.socket.terminate();
  });
});
