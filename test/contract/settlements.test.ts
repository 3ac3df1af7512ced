// tier: full, 12 s
/** Settlements at the public API of a whole node: approvals, the vault's rules, events, nonces, stream (wire.md 7.19, 12; STL). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { parseExposition } from '../support/exposition.ts';
import { eventually } from '../support/patience.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { makerOrderText, PlainKey, type SettlementWords, settlementText } from '../support/wire-texts.ts';

const CHAIN = '000000000000007a69';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const [USD, ETH, VAULT, EXECUTOR] = [address('5a'), address('6b'), address('0d'), address('e3')];
/** Registered by the seed, with the executor e3. */
const SETTLER = new PlainKey(0x03);
const SECOND = 1_000_000_000n;
const VALIDITY_S = 3_600;
/** 18-decimal units in hex. */
const hex = (units: number): string => (BigInt(Math.round(units * 1e6)) * 10n ** 12n).toString(16);

interface Approval {
  readonly inner: { readonly nonce: number; readonly signature: string };
  readonly expiry: number;
}

suite('settlements', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  let maker: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({});
    bob = await node.user({});
    maker = await node.user({});
    await node.operate('PUT', `/operator/users/${maker.id}`, { is_mm: true });
    await deposit(alice, ETH, 10n ** 19n);
    await deposit(bob, USD, 100_000_000_000n);
  });
  after(() => node?.stop());

  async function deposit(user: PlainClient, token: string, baseUnits: bigint): Promise<void> {
    const body = { user: user.id, token, amount_base_units: String(baseUnits) };
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, body);
    await node.rest();
  }

  /** Alice gives ETH for 3,000 USD each. */
  const words = (more: Partial<SettlementWords> = {}): SettlementWords => ({
    settler: SETTLER.id,
    assetIn: USD,
    amountIn: hex(3_000),
    assetOut: ETH,
    amountOut: hex(1),
    ...more,
  });
  const settle = (more: Partial<SettlementWords> = {}): Promise<HttpAnswer> => alice.settle(words(more));
  const approvalOf = (answer: HttpAnswer): Approval => {
    assert.equal(answer.status, 200, answer.text);
    assert.match(
      answer.text,
      /^\{"success":true,"approval":\{"inner":\{"nonce":\d+,"signature":"[0-9a-f]{130}"\},"expiry":\d+\}\}$/,
    );
    return (JSON.parse(answer.text) as { approval: Approval }).approval;
  };
  const refusal = (answer: HttpAnswer): string => {
    assert.equal(answer.status, 200, answer.text);
    return /"success":false,"details":\{"code":"([A-Z_]+)"/.exec(answer.text)?.[1] ?? assert.fail(answer.text);
  };
  const signatures = async (): Promise<readonly Approval[]> =>
    (await alice.read(`/settlement/signatures/${alice.id}`)) as readonly Approval[];
  const execute = (nonce: number, more: Record<string, unknown> = {}): Promise<Json> =>
    node.operate('POST', `/operator/chains/${CHAIN}/settlements/execute`, {
      user: alice.id,
      sub_account: 0,
      nonce,
      ...more,
    });
  const reverted = async (nonce: number, more: Record<string, unknown>): Promise<unknown> => {
    const transaction = await execute(nonce, more);
    assert.equal(transaction['status'], 'reverted', JSON.stringify(transaction));
    return transaction['revert'];
  };
  const spot = async (): Promise<Record<string, string>> => {
    const { accounts } = (await alice.read(`/inventory/user/${alice.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    return accounts['0']?.spot ?? {};
  };
  const counter = async (): Promise<unknown> => {
    const path = `/operator/chains/${CHAIN}/counters?user=${alice.id}&sub_account=0`;
    return (await node.operate('GET', path))['settlementCounts'];
  };
  const balance = async (holder: string, token: string): Promise<bigint> => {
    const path = `/operator/chains/${CHAIN}/balances?address=${holder}&token=${token}`;
    return BigInt(String((await node.operate('GET', path))['balance_base_units']));
  };
  const conserved = async (): Promise<void> => {
    const { assets } = (await node.operate('GET', '/operator/ledger')) as { assets: Record<string, Json> };
    for (const [asset, sums] of Object.entries(assets)) assert.equal(sums['difference'], '0', asset);
  };
  const counts = async (): Promise<Json> => (await node.operate('GET', '/operator/state'))['counts'] as Json;
  const mine = (blocks: number): Promise<Json> => node.operate('POST', `/operator/chains/${CHAIN}/mine`, { blocks });

  /** Everything live has lapsed. */
  async function lapse(): Promise<void> {
    await node.advance(BigInt(VALIDITY_S + 2) * SECOND);
    await mine(3);
    await node.rest();
    assert.deepEqual(await signatures(), []);
  }

  test('STL-01 to STL-04, STL-14, GEN-07, AMB-72, AMB-82: init answers with the approval, the executor settles, Settled is booked at once', async () => {
    const approval = approvalOf(await settle());
    assert.equal(approval.inner.nonce, 0);
    assert.equal(approval.expiry, Number(node.nowNs / SECOND) + VALIDITY_S);
    assert.deepEqual(await signatures(), [approval]);
    assert.deepEqual(await spot(), { '0': '0', '2': '9' }, 'what is locked is not owned');
    const user = await node.operate('GET', `/operator/users/${alice.id}`);
    assert.match(JSON.stringify(user), /"2":\{"owned":"9","held":"0","locked":"1"\}/);
    assert.equal((await counts())['settlements_live'], 1);
    const { assets } = (await node.operate('GET', '/operator/ledger')) as { assets: Record<string, Json> };
    assert.deepEqual([assets['2']?.['locks'], assets['2']?.['difference']], ['1', '0']);

    const [vaultUsd, vaultEth] = [await balance(VAULT, USD), await balance(VAULT, ETH)];
    const transaction = await execute(0);
    assert.deepEqual([transaction['status'], transaction['revert'], transaction['nonce']], ['mined', null, 0]);
    assert.deepEqual(await signatures(), []);
    assert.deepEqual(await spot(), { '0': '3000', '2': '9' });
    assert.equal(await counter(), 1);
    assert.equal(await balance(EXECUTOR, ETH), 10n ** 18n);
    assert.equal(await balance(VAULT, USD), vaultUsd + 3_000_000_000n);
    assert.equal(await balance(VAULT, ETH), vaultEth - 10n ** 18n);
    assert.equal((await counts())['settlements_live'], 0);
    await conserved();
    assert.equal(await reverted(0, {}), 'InvalidNonce', 'replayed');
  });

  test('STL-09, STL-08, STL-10, STL-12, GEN-07: the vault refuses in its order, and nothing moves', async () => {
    const { inner } = approvalOf(await settle());
    const { nonce } = inner;
    assert.equal(nonce, 1);
    const before = [await balance(VAULT, USD), await balance(VAULT, ETH), await spot(), await counter()];
    const all = { valid_until: 1, settler: alice.id, caller: '11'.repeat(20), nonce: 9, signature: '00' };
    const order: readonly [string, string][] = [
      ['valid_until', 'Expired'],
      ['settler', 'SettlerNotApproved'],
      ['caller', 'NotExecutor'],
      ['nonce', 'InvalidNonce'],
      ['signature', 'InvalidSignature'],
    ];
    for (const [at, [name, revert]] of order.entries()) {
      const overrides = Object.fromEntries(
        order.slice(at).map(([member]) => [member, all[member as keyof typeof all]]),
      );
      assert.equal(await reverted(nonce, { overrides }), revert, name);
      const alone = { [name]: all[name as keyof typeof all] };
      assert.equal(await reverted(nonce, { overrides: alone }), revert, `${name} alone`);
    }
    const bound: readonly Record<string, unknown>[] = [
      { token_in: ETH },
      { token_out: USD },
      { amount_in_base_units: '1' },
      { amount_out_base_units: String(2n * 10n ** 18n) },
      { mode: 'margin' },
      { valid_until: 4_000_000_000 },
    ];
    for (const overrides of bound) {
      assert.equal(await reverted(nonce, { overrides }), 'InvalidSignature', Object.keys(overrides)[0]);
    }
    assert.equal(
      await reverted(nonce, { executor: { reenter: true } }),
      'InvalidNonce',
      'the counter has moved before',
    );
    const less = { returns_base_units: '2999999999' };
    assert.equal(await reverted(nonce, { executor: less }), 'InsufficientAmountFromExecutor');
    const unapproved = { allowance_base_units: '2999999999' };
    assert.equal(await reverted(nonce, { executor: unapproved }), 'TransferFromFailed');
    assert.deepEqual([await balance(VAULT, USD), await balance(VAULT, ETH), await spot(), await counter()], before);
    assert.equal((await execute(nonce, { executor: { returns_base_units: '3000000005' } }))['status'], 'mined');
    assert.equal(
      await balance(VAULT, USD),
      (before[0] as bigint) + 3_000_000_005n,
      'pulled is what the executor returned',
    );
    assert.equal((await spot())['0'], '6000', 'credited is what the event says');
    await conserved();
  });

  test('STL-05 to STL-07, NON-02 to NON-04: nonces count by sub-account; the vault takes them in their order', async () => {
    assert.equal(approvalOf(await settle()).inner.nonce, 2);
    assert.equal(approvalOf(await settle()).inner.nonce, 3);
    assert.equal(refusal(await settle({ nonce: 3 })), 'INVALID_NONCE', 'in use');
    assert.equal(refusal(await settle({ nonce: 1 })), 'INVALID_NONCE', 'below the counter');
    assert.equal(approvalOf(await settle({ nonce: 5 })).inner.nonce, 5);
    assert.equal(approvalOf(await settle()).inner.nonce, 4);
    assert.equal(await reverted(3, {}), 'InvalidNonce', 'not yet');
    assert.equal((await execute(2))['status'], 'mined');
    assert.equal((await execute(3))['status'], 'mined');
    const { settlementCounts, withdrawalCounts } = (await node.operate(
      'GET',
      `/operator/chains/${CHAIN}/counters?user=${alice.id}&sub_account=0`,
    )) as Record<string, number>;
    assert.deepEqual([settlementCounts, withdrawalCounts], [4, 0]);
    const other = await node.operate('GET', `/operator/chains/${CHAIN}/counters?user=${alice.id}&sub_account=1`);
    assert.equal(other['settlementCounts'], 0);
    assert.deepEqual(
      (await signatures()).map(({ inner }) => inner.nonce),
      [4, 5],
    );
    await lapse();
    assert.equal((await spot())['2'], '6', 'what was not executed has returned');
    await conserved();
  });

  test('STL-03, AMB-82: an approval ends with a block past its expiry, not with the clock', async () => {
    const { inner, expiry } = approvalOf(await settle());
    await node.advance(BigInt(VALIDITY_S + 1) * SECOND);
    assert.equal((await signatures()).length, 1);
    assert.equal(await reverted(inner.nonce, {}), 'Expired');
    await mine(3);
    await node.rest();
    assert.deepEqual(await signatures(), []);
    assert.equal((await spot())['2'], '6');
    const again = approvalOf(await settle({ expiresNs: node.nowNs + 90n * SECOND + 5n }));
    assert.equal(again.inner.nonce, inner.nonce, 'its nonce is used again');
    assert.equal(again.expiry, Number(node.nowNs / SECOND) + 90, 'not later than expires_at');
    assert.ok(again.expiry > expiry);
    await lapse();
  });

  test('what cannot be settled is refused with its code and locks nothing (STL-01, STL-02, IDN-07 to IDN-09, AMT-01, AMT-05)', async () => {
    const before = await spot();
    const cases: readonly [string, Partial<SettlementWords>][] = [
      ['SETTLER_NOT_FOUND', { settler: bob.id }],
      ['SETTLER_NOT_FOUND', { settler: null }],
      ['VAULT_NOT_FOUND', { vault: address('0e') }],
      ['CHAIN_NOT_FOUND', { chainId: '0000000000000000ff' }],
      ['ASSET_NOT_FOUND', { assetOut: address('99') }],
      ['ASSET_NOT_FOUND', { assetIn: address('99') }],
      ['INVALID_REQUEST', { mode: 'margin' }],
      ['INVALID_REQUEST', { subAccount: 9 }],
      ['INVALID_REQUEST', { expiresNs: node.nowNs }],
      ['INSUFFICIENT_INVENTORY', { amountOut: hex(7) }],
    ];
    for (const [code, more] of cases)
      assert.equal(refusal(await settle(more)), code, JSON.stringify(Object.keys(more)));
    for (const amountOut of ['0', 'xyz', '1.5', 'f'.repeat(65)]) {
      assert.equal(toldBy(await settle({ amountOut })), '400 INVALID_REQUEST', amountOut);
      assert.equal(toldBy(await settle({ amountIn: amountOut })), '400 INVALID_REQUEST', amountOut);
    }
    assert.equal(refusal(await settle({ assetOut: USD, amountOut: 'ff' })), 'INVALID_REQUEST', 'floors to nothing');
    assert.equal(toldBy(await settle({ assetOut: `${ETH}@${CHAIN}` })), '400 INVALID_REQUEST');
    assert.deepEqual(await spot(), before);
    const hexadecimal = approvalOf(await settle({ amountOut: '10', assetIn: ETH, amountIn: '0x0010', vault: VAULT }));
    assert.equal((await spot())['2'], '5.999999999999999984', '"10" is sixteen base units');
    assert.equal((await execute(hexadecimal.inner.nonce))['status'], 'mined');
    assert.equal((await spot())['2'], '6');
  });

  test('STL-01: the vault has to have what leaves, and promises it once', async () => {
    await node.fund(alice.id, { '1': '2' });
    const btc = { assetOut: address('b1'), amountOut: hex(1) };
    assert.equal(refusal(await settle(btc)), 'INSUFFICIENT_INVENTORY', 'no unit of it is in the vault');
    await deposit(bob, address('b1'), 150_000_000n);
    const { inner } = approvalOf(await settle(btc));
    assert.equal(refusal(await settle(btc)), 'INSUFFICIENT_INVENTORY', 'half a unit is free');
    assert.equal((await execute(inner.nonce))['status'], 'mined');
    await conserved();
  });

  test('SIG-12, AMB-13, SIG-01: every byte of the view is signed; without a nonce both texts verify', async () => {
    const body = alice.settlementBody(words());
    const forged = body.replace(`"amount_out":"${hex(1)}"`, `"amount_out":"${hex(2)}"`);
    assert.equal(toldBy(await alice.post('/settlement/init', forged)), '401 INVALID_SIGNATURE');
    assert.equal(toldBy(await bob.post('/settlement/init', body)), '403 SIGNER_MISMATCH');
    assert.equal(toldBy(await alice.post('/settlement/init', body, {})), '401 UNAUTHORIZED');
    const text = settlementText(alice.id, words({ amountOut: hex(0.1) }));
    const named = `${text.slice(0, -1)},"nonce":null}`;
    const sending = (sent: string, signed: string): Promise<HttpAnswer> =>
      alice.post('/settlement/init', `{"inner":${sent},"signature":${alice.key.signature(signed)}}`);
    const first = await sending(text, named);
    approvalOf(first);
    approvalOf(await sending(named, text));
    // What is signed is the same text as the first one, in whichever of the two forms it comes (MON-01).
    const again = first.text.replace(/\}$/, ',"duplicate":true}');
    assert.equal((await sending(named, named)).text, again);
    assert.equal((await sending(text, named)).text, again);
    assert.equal((await counts())['settlements_live'], 2);
    await lapse();
  });

  test('IDN-09, AMB-137: a delegated settlement is signed by its maker, and its settler is the one of the maker order', async () => {
    const until = node.nowNs + 1_000n * SECOND;
    const delegated = (
      more: Partial<SettlementWords> = {},
      order: { by?: PlainKey; maker?: string; settler?: string; expiresNs?: bigint } = {},
    ): Promise<HttpAnswer> => {
      const { by = maker.key, maker: named = maker.id, settler = SETTLER.id, expiresNs = until } = order;
      const text = makerOrderText(named, settler, expiresNs);
      const attachment = `,"maker_order":{"inner":${text},"signature":${by.signature(text)}}}`;
      const terms = words({
        settler: null,
        maker: maker.id,
        expiresNs: until,
        amountOut: hex(0.1),
        requestId: randomUUID(),
        ...more,
      });
      return alice.post('/settlement/init', alice.settlementBody(terms).slice(0, -1) + attachment);
    };
    const mismatch = await delegated({}, { maker: bob.id, by: bob.key });
    assert.equal(toldBy(mismatch), '400 INVALID_REQUEST');
    assert.match(errorOf(mismatch).message, /MmPubkeyMismatch/);
    assert.match(errorOf(await settle({ maker: maker.id })).message, /MmPubkeyMismatch/, 'without a maker order');
    assert.equal(toldBy(await delegated({}, { by: bob.key })), '401 INVALID_SIGNATURE');
    assert.equal(toldBy(await delegated({ expiresNs: null })), '400 INVALID_REQUEST');
    assert.equal(toldBy(await delegated({ settler: SETTLER.id })), '400 INVALID_REQUEST');
    assert.equal(refusal(await delegated({}, { settler: bob.id })), 'SETTLER_NOT_FOUND');
    assert.equal(refusal(await delegated({}, { expiresNs: node.nowNs })), 'INVALID_REQUEST', 'expired');
    assert.equal(
      refusal(await delegated({ maker: bob.id }, { maker: bob.id, by: bob.key })),
      'SETTLER_NOT_FOUND',
      'bob is no maker',
    );
    const early = approvalOf(await delegated({}, { expiresNs: until - 900n * SECOND }));
    assert.equal(early.expiry, Number(until / SECOND) - 900);
    const { inner, expiry } = approvalOf(await delegated());
    assert.equal(expiry, Number(until / SECOND));
    assert.equal((await execute(early.inner.nonce))['status'], 'mined');
    assert.equal(
      (await execute(inner.nonce))['status'],
      'mined',
      'by the executor of the settler that the maker named',
    );
    await lapse();
  });

  test('AMB-112: what an open order holds is not settled, and what is locked is not sold', async () => {
    const [eth] = [Number((await spot())['2'])];
    const order = { side: 'Sell', price: 400_000, account: 0, isSpot: true } as const;
    assert.equal((await alice.create({ id: 'holds', ...order, quantity: (eth - 1) * 10_000 })).status, 200);
    assert.equal(refusal(await settle({ amountOut: hex(1.5) })), 'INSUFFICIENT_INVENTORY');
    approvalOf(await settle({ amountOut: hex(1) }));
    const sold = await alice.create({ id: 'locked', ...order, quantity: 1_000 });
    assert.equal(toldBy(sold), '400 INSUFFICIENT_INVENTORY');
    await alice.cancel('holds');
    await lapse();
  });

  test('STR-07, AMB-137: market makers see every approved settlement, others are unauthorized', async () => {
    const stream = await maker.stream('/sync/pending_settlements');
    const enveloped = await maker.stream('/sync/pending_settlements', ['svc.ws.v1']);
    const stranger = await bob.stream('/sync/pending_settlements');
    assert.match(await stranger.frame(), /"code":"unauthorized"/);
    assert.deepEqual((await stranger.closed).code, 1_000);
    const { inner } = approvalOf(await settle({ amountOut: hex(2), amountIn: hex(7_000) }));
    const id = (nonce: number): string => `${CHAIN}:${alice.id}:0:${nonce}`;
    const frame = await stream.frame();
    assert.equal(
      frame,
      `{"settlement_id":"${id(inner.nonce)}","asset_id":"2","side":"Buy","quantity":"2","price":"3500","user":"${alice.id}","sub_account":0,"timestamp_ns":${node.nowNs}}`,
    );
    assert.equal(
      await enveloped.frame(),
      `{"type":"event","channel":"pending_settlements","request_id":null,"timestamp_ns":${node.nowNs},"data":${frame},"error":null}`,
    );
    const sold = approvalOf(await settle({ assetOut: USD, amountOut: hex(100), assetIn: ETH, amountIn: hex(3) }));
    const price = '33.333333333333333333';
    assert.match(
      await stream.frame(),
      new RegExp(`"${id(sold.inner.nonce)}","asset_id":"2","side":"Sell","quantity":"3","price":"${price}"`),
    );
    approvalOf(await settle({ assetIn: address('b1'), amountIn: hex(1) }));
    assert.match(await stream.frame(), /"asset_id":"2","side":"Buy","quantity":"1","price":null/);
    await node.operate('PUT', `/operator/users/${maker.id}`, { is_mm: false });
    approvalOf(await settle({ amountOut: hex(0.1) }));
    assert.match(await stream.frame(), /"code":"unauthorized"/, 'a maker that is none any more');
    await node.operate('PUT', `/operator/users/${maker.id}`, { is_mm: true });
    for (const one of [stream, enveloped]) one.socket.terminate();
    await lapse();
  });

  test('STL-13, AMB-14, AMB-81: there is no approval socket and no batch route', async () => {
    assert.equal((await alice.upgrade(`/settlement/approvals/${SETTLER.id}`)).status, 404);
    assert.equal((await alice.post('/settlement/batch', '{}')).status, 404);
  });

  test('STL-04, STL-03: a kill changes no lock and no approval; what was executed meanwhile is booked once', async () => {
    const [first, second] = [
      approvalOf(await settle({ amountOut: hex(0.1) })),
      approvalOf(await settle({ amountOut: hex(0.1) })),
    ];
    const before = [await signatures(), await spot()];
    await node.restart('SIGKILL');
    await alice.login();
    assert.deepEqual([await signatures(), await spot()], before);
    assert.equal((await execute(first.inner.nonce))['status'], 'mined');
    const [left, owned] = [await signatures(), await spot()];
    assert.deepEqual(left, [second]);
    await node.restart('SIGKILL');
    await alice.login();
    assert.deepEqual([await signatures(), await spot()], [left, owned]);
    assert.equal((await execute(second.inner.nonce))['status'], 'mined');
    await conserved();
  });

  test('DEP-23: a reorganisation that takes a settlement away and brings it again books it once', async () => {
    const { inner } = approvalOf(await settle({ amountOut: hex(0.1) }));
    const { tx } = await execute(inner.nonce);
    const owned = await spot();
    const reorg = (keep: unknown[]): Promise<Json> =>
      node.operate('POST', `/operator/chains/${CHAIN}/reorg`, { depth: 1, keep, blocks: 2 });
    await reorg([tx]).catch(() => assert.fail('the block of the settlement is the last one'));
    assert.deepEqual(await spot(), owned, 'kept: shown again in another block');
    const next = approvalOf(await settle({ amountOut: hex(0.1) }));
    const taken = await execute(next.inner.nonce);
    const after = await spot();
    assert.deepEqual((await reorg([]))['dropped'], [taken['tx']]);
    assert.equal(await counter(), next.inner.nonce, 'the counter of the vault went back');
    assert.deepEqual(await spot(), after, 'the ledger did not');
    assert.equal((await execute(next.inner.nonce))['status'], 'mined', 'the same approval is executed again');
    assert.deepEqual(await spot(), after);
    assert.equal(await counter(), next.inner.nonce + 1);
    await conserved();
  });

  const reorg = (body: object): Promise<Json> => node.operate('POST', `/operator/chains/${CHAIN}/reorg`, body);
  const stopped = async (): Promise<number | undefined> => {
    const text = await (await fetch(`${node.process.ops}/metrics`)).text();
    const label = `ringbook_chain_stopped{chain="${CHAIN}"}`;
    return parseExposition(text).get('ringbook_chain_stopped')?.samples.get(label);
  };
  const withdrawals = async (user: PlainClient): Promise<readonly string[]> => {
    await node.rest();
    const rows = (await user.read(`/withdrawal/queue/${user.id}`)) as readonly { status: { type: string } }[];
    return rows.map(({ status }) => status.type);
  };
  const withdraw = (user: PlainClient, asset: string, amount: string): Promise<HttpAnswer> =>
    user.withdraw({ asset: `${asset}@${CHAIN}`, amount, target: address('7c') });

  test('DEP-23, AMB-74: while a booked settlement is gone nothing is approved on its chain, also after a kill; it comes again and approvals go on', async () => {
    const { inner } = approvalOf(await settle({ amountOut: hex(0.1) }));
    const { tx } = await execute(inner.nonce);
    const owned = await spot();
    assert.deepEqual((await reorg({ depth: 1 }))['dropped'], [tx]);
    assert.equal(await stopped(), 0);
    assert.deepEqual(await spot(), owned);
    assert.equal(toldBy(await settle({ amountOut: hex(0.1) })), '503 SERVICE_UNAVAILABLE');
    await withdraw(alice, USD, hex(100));
    for (const _ of [1, 2, 3]) await node.advance(40n * SECOND);
    assert.deepEqual(await withdrawals(alice), ['filled']);
    await node.restart('SIGKILL');
    await alice.login();
    assert.equal(toldBy(await settle({ amountOut: hex(0.1) })), '503 SERVICE_UNAVAILABLE');
    await node.advance(40n * SECOND);
    assert.deepEqual(await withdrawals(alice), ['filled']);
    assert.deepEqual(await spot(), { ...owned, '0': String(Number(owned['0']) - 100) }, 'nothing else is locked');
    assert.equal(await counter(), inner.nonce);
  });

  test('AMB-74, DEP-23: a settlement that is gone and whose approval has ended stops its chain, after a kill too', async () => {
    await node.advance(BigInt(VALIDITY_S) * SECOND);
    await mine(3);
    assert.equal(await stopped(), 1, 'its final block is past every approval');
    await eventually(() => /"reason":"reorg".*the chain is stopped/.test(node.process.stderr()), node.process.stderr);
    assert.deepEqual(await withdrawals(alice), ['filled']);
    assert.equal(toldBy(await settle({ amountOut: hex(0.1) })), '503 SERVICE_UNAVAILABLE');
    await node.restart('SIGKILL');
    await alice.login();
    assert.equal(await stopped(), 1);
    const owned = await spot();
    await node.operate('POST', `/operator/chains/${CHAIN}/resume`, { accept: true });
    assert.equal(await stopped(), 0);
    await node.restart('SIGKILL');
    await alice.login();
    const [usd, eth] = [Number(owned['0']) - 3_000, Number(owned['2']) + 0.1];
    const reversed = { ...owned, '0': String(usd), '2': String(Number(eth.toFixed(6))) };
    assert.deepEqual(await spot(), reversed, 'both legs are taken back');
    // The vault lacked what the settlement had brought: nothing is approved before it is compared with the ledger again (MON-05).
    await eventually(
      async () => {
        await conserved();
        await node.advance(40n * SECOND);
        return (await withdrawals(alice))[0] === 'approved';
      },
      () => `not approved: ${node.process.stderr()}`,
    );
    const next = approvalOf(await settle({ amountOut: hex(0.1), nonce: Number(await counter()) }));
    assert.equal((await execute(next.inner.nonce))['status'], 'mined', 'the counters agree again');
    assert.equal(await counter(), next.inner.nonce + 1);
    await conserved();
  });

  test('SERVICE_UNAVAILABLE without a lock while checkpoints are withheld, and while the vault is in escape mode (STL-01, AMB-85)', async () => {
    const before = await spot();
    const refused = async (): Promise<void> => {
      assert.equal(toldBy(await settle({ amountOut: hex(0.1) })), '503 SERVICE_UNAVAILABLE');
      assert.deepEqual(await spot(), before);
    };
    await node.hook({ fault: { kind: 'withhold_checkpoints', chain_id: CHAIN } });
    await refused();
    await node.hook({ release: true });
    await node.operate('POST', `/operator/chains/${CHAIN}/escape`, { accept: true });
    await refused();
    await node.operate('POST', `/operator/chains/${CHAIN}/resume`, { accept: true });
  });

  test('SERVICE_UNAVAILABLE without a lock where no approval could be signed (STL-01)', async () => {
    const vault = { administrators: ['11'.repeat(20)], quorum: 1 };
    await node.operate('PUT', `/operator/vaults/${VAULT}@${CHAIN}`, vault);
    const before = await spot();
    assert.equal(toldBy(await settle({ amountOut: hex(0.1) })), '503 SERVICE_UNAVAILABLE');
    assert.deepEqual(await spot(), before);
    vault.administrators = ['5d5c99edf529335160ff180fa141dd4967fc00d2'];
    await node.operate('PUT', `/operator/vaults/${VAULT}@${CHAIN}`, vault);
    approvalOf(await settle({ amountOut: hex(0.1) }));
  });
});
