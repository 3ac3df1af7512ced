// tier: full, 6 s
/** Withdrawals at the public API: requests, locks, the queue and cancels (wire.md 7.18; WDR, AMT, AMB-11). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { operator } from '../support/node-process.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const CHAIN = '000000000000007a69';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const USD = `${address('5a')}@${CHAIN}`;
const TARGET = address('7c');
const SECOND = 1_000_000_000n;
/** 18-decimal units in hex. */
const hex = (units: number): string => (BigInt(units) * 10n ** 18n).toString(16);

interface QueueRow {
  readonly tplus_user: string;
  readonly asset: string;
  readonly amount: string;
  readonly nonce: number;
  readonly target: string;
  readonly status: { readonly type: string };
}

suite('withdrawals', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({});
    bob = await node.user({});
    await deposit(alice, 1_000);
  });
  after(() => node?.stop());

  /** A real deposit on the simulated chain: units of the vault, and of account 0. */
  async function deposit(user: PlainClient, units: number): Promise<void> {
    const body = { user: user.id, token: address('5a'), amount_base_units: String(units * 1e6) };
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, body);
    await node.rest();
  }

  const execute = (nonce: number, overrides: object = {}): Promise<Record<string, unknown>> =>
    node.operate('POST', `/operator/chains/${CHAIN}/withdrawals/execute`, { user: alice.id, nonce, overrides });
  const request = (
    amount: string,
    more: { nonce?: number; target?: string; asset?: string } = {},
  ): Promise<HttpAnswer> => alice.withdraw({ asset: USD, amount, target: TARGET, ...more });
  const refusal = (answer: HttpAnswer): string => {
    assert.equal(answer.status, 200, answer.text);
    return /"success":false,"details":\{"code":"([A-Z_]+)"/.exec(answer.text)?.[1] ?? assert.fail(answer.text);
  };
  const done = (answer: HttpAnswer): void => assert.equal(answer.text, '{"success":true}', answer.text);
  const queue = async (): Promise<readonly QueueRow[]> =>
    (await alice.read(`/withdrawal/queue/${alice.id}`)) as readonly QueueRow[];
  const owned = async (): Promise<string | undefined> => {
    const { accounts } = (await alice.read(`/inventory/user/${alice.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    return accounts['0']?.spot['0'];
  };

  test('a request locks the amount at once, waits in the queue and returns with a cancel (WDR-01, WDR-13, WDR-25, AMB-72)', async () => {
    done(await request(hex(100)));
    assert.equal(await owned(), '900');
    const row = { tplus_user: alice.id, asset: USD, amount: hex(100), nonce: 0, target: TARGET };
    const requested = Number(node.nowNs);
    assert.deepEqual(await queue(), [{ ...row, status: { type: 'queued' }, requested_at_ns: requested }]);
    const user = await node.operate('GET', `/operator/users/${alice.id}`);
    assert.match(JSON.stringify(user), /"0":\{"owned":"900","held":"0","locked":"100"\}/);
    done(await alice.cancelWithdrawal(USD, 0));
    assert.equal(await owned(), '1000');
    assert.equal(refusal(await alice.cancelWithdrawal(USD, 0)), 'WITHDRAWAL_NOT_FOUND');
    const ledger = (await node.operate('GET', '/operator/ledger')) as {
      assets: Record<string, { difference: string }>;
    };
    assert.equal(ledger.assets['0']?.difference, '0');
  });

  test('an amount is hex, a decimal-looking one too, with or without prefix and zeros (AMT-01, AMT-05, AMB-11)', async () => {
    done(await request(`0x000${hex(16)}`));
    assert.equal(await owned(), '984');
    assert.equal((await queue()).at(-1)?.amount, hex(16), 'in its shortest form');
    done(await request(`1${'0'.repeat(12)}`));
    assert.equal(await owned(), '983.999718525023289344', '1000000000000 hex is 16^12');
    for (const nonce of [0, 0]) done(await alice.cancelWithdrawal(USD, nonce));
    for (const amount of ['0', '00', 'xyz', '1.5', '-1', 'f'.repeat(65)]) {
      assert.equal(toldBy(await request(amount)), '400 INVALID_REQUEST', amount);
    }
    assert.equal(refusal(await request('1')), 'INVALID_REQUEST', 'a payout of nothing (WDR-02)');
    assert.equal(await owned(), '1000');
  });

  test('what cannot be withdrawn is refused with its field and locks nothing (WDR-02, WDR-03, POS-09, AMB-80)', async () => {
    const before = (await queue()).length;
    assert.equal(toldBy(await request(hex(1), { asset: '0' })), '400 INVALID_REQUEST', 'an index names no token');
    assert.equal(refusal(await request(hex(1), { target: '0'.repeat(64) })), 'INVALID_REQUEST');
    assert.equal(refusal(await request(hex(1), { asset: `${address('99')}@${CHAIN}` })), 'ASSET_NOT_FOUND');
    assert.equal(refusal(await request(hex(1_001))), 'INSUFFICIENT_INVENTORY');
    assert.equal(refusal(await request(hex(1), { nonce: 5 })), 'INVALID_NONCE');
    const stranger = await bob.withdraw({ asset: USD, amount: hex(1), target: TARGET });
    assert.equal(refusal(stranger), 'INSUFFICIENT_INVENTORY');
    assert.equal((await queue()).length, before);
    assert.equal(await owned(), '1000');
  });

  test('a bad override of an execution is refused with the name of its member (operator-api.md 8)', async () => {
    const route = `/operator/chains/${CHAIN}/withdrawals/execute`;
    const cases: readonly (readonly [unknown, string])[] = [
      [{ signatures: 'none' }, 'overrides.signatures'],
      [{ target: 'aa' }, 'overrides.target'],
      [{ more: 1 }, 'overrides.more'],
      [5, 'overrides'],
    ];
    for (const [overrides, field] of cases) {
      const { status, text } = await operator(node.process, 'POST', route, { user: alice.id, nonce: 0, overrides });
      assert.equal(status, 400);
      assert.match(text, new RegExp(`"field":"${field}"`), text);
    }
  });

  test('who signs is the user of the session, and every byte counts (SIG-01, SIG-09, SIG-11)', async () => {
    const words = { asset: USD, amount: hex(1), target: TARGET };
    const forged = alice.withdrawalBody(words).replace(`"amount":"${hex(1)}"`, `"amount":"${hex(2)}"`);
    assert.equal(toldBy(await alice.post('/withdrawal/init', forged)), '401 INVALID_SIGNATURE');
    assert.equal(toldBy(await bob.post('/withdrawal/init', alice.withdrawalBody(words))), '403 SIGNER_MISMATCH');
    assert.equal(toldBy(await alice.post('/withdrawal/init', alice.withdrawalBody(words), {})), '401 UNAUTHORIZED');
    assert.equal(toldBy(await bob.get(`/withdrawal/queue/${alice.id}`)), '401 UNAUTHORIZED');
  });

  test('after its delay it is filled and signed at the next checkpoint, and what an open order holds cannot leave (WDR-04, WDR-05, AMB-79, AMB-112)', async () => {
    done(await request(hex(300)));
    await node.advance(29n * SECOND);
    assert.equal((await queue()).at(-1)?.status.type, 'queued');
    await node.advance(1n * SECOND);
    assert.equal((await queue()).at(-1)?.status.type, 'approved');
    // 0.2 ETH at 3000 hold 600 and the fee of 700 that are left.

    const held = await alice.create({
      id: 'hold',
      side: 'Buy',
      price: 300_000,
      quantity: 2_000,
      account: 0,
      isSpot: true,
    });
    assert.equal(held.status, 200, held.text);
    assert.equal(refusal(await request(hex(150))), 'INSUFFICIENT_INVENTORY');
    done(await request(hex(50)));
    done(await alice.cancelWithdrawal(USD, 1));
  });

  test('with the setting amount_text decimal amounts are base 10 (AMB-11)', async () => {
    await node.operate('PATCH', '/operator/settings', { amount_text: 'decimal' });
    done(await request(String(10n ** 18n)));
    assert.equal((await queue()).at(-1)?.amount, String(10n ** 18n));
    assert.equal(toldBy(await request('ff')), '400 INVALID_REQUEST');
    assert.equal(toldBy(await request('0x1000')), '400 INVALID_REQUEST', 'hex by its prefix');
    await node.operate('PATCH', '/operator/settings', { amount_text: 'hex' });
    assert.equal((await queue()).at(-1)?.amount, hex(1));
  });

  test('a kill keeps every lock and every row (WDR-01)', async () => {
    const [rows, left] = [await queue(), await owned()];
    await node.restart('SIGKILL');
    await alice.login();
    assert.deepEqual(await queue(), rows);
    assert.equal(await owned(), left);
  });

  test('from the checkpoint to the payout: signed by the quorum, executed on the chain, booked once (WDR-07 to WDR-09, WDR-26, GEN-07, APR-01 to APR-04)', async () => {
    for (const { nonce, status } of await queue()) {
      if (status.type === 'queued' || status.type === 'filled') done(await alice.cancelWithdrawal(USD, nonce));
    }
    const events = await alice.stream(`/account/events/${alice.id}`);
    const row = (await queue()).find(({ status }) => status.type === 'approved') as QueueRow & {
      status: { approvals: Approval[] };
    };
    assert.deepEqual([row.nonce, row.amount], [0, hex(300)]);
    const [approval] = row.status.approvals;
    assert.match(approval?.inner.signature ?? '', /^[0-9a-f]{128}1[bc]$/);
    assert.equal(approval?.expiry, Number(node.nowNs / SECOND) + 3_600);
    assert.equal(approval?.epoch_hash.length, 32);
    assert.equal(
      refusal(await alice.cancelWithdrawal(USD, row.nonce)),
      'WITHDRAWAL_NOT_FOUND',
      'only the chain ends it',
    );

    const wrong = await execute(row.nonce, { target: address('7d') });
    assert.deepEqual([wrong['status'], wrong['revert']], ['reverted', 'InvalidSignature'], 'bound to its target');
    const later = await execute(row.nonce, { valid_until: 4_000_000_000 });
    assert.equal(later['revert'], 'InvalidSignature');
    assert.equal((await execute(row.nonce, { nonce: row.nonce + 1 }))['revert'], 'InvalidNonce');
    assert.equal((await execute(row.nonce, { signatures: [] }))['revert'], 'MissedQuorum');

    const paid = await execute(row.nonce);
    assert.deepEqual([paid['status'], paid['revert'], paid['nonce']], ['mined', null, 0]);
    assert.equal(
      (await queue()).find(({ nonce, status }) => nonce === 0 && status.type === 'executed')?.amount,
      hex(300),
    );
    const balance = await node.operate(
      'GET',
      `/operator/chains/${CHAIN}/balances?address=${TARGET}&token=${address('5a')}`,
    );
    assert.equal(balance['balance_base_units'], '300000000');
    const counters = await node.operate('GET', `/operator/chains/${CHAIN}/counters?user=${alice.id}`);
    assert.equal(counters['withdrawalCounts'], 1);
    const ledger = (await node.operate('GET', '/operator/ledger')) as {
      assets: Record<string, Record<string, string>>;
    };
    assert.deepEqual([ledger.assets['0']?.['locks'], ledger.assets['0']?.['difference']], ['0', '0']);
    assert.match(
      await events.frame(),
      /^\{"WithdrawalCompleted":\{.*"amount":"0x1043561a8829300000","chain_id":"000000000000007a69","withdrawal_nonce":0,/,
    );
    events.socket.terminate();
  });

  test('an approval lapses with a block past its validity, not with the clock (WDR-10)', async () => {
    done(await request(hex(50)));
    await node.advance(31n * SECOND);
    await node.advance(1n * SECOND);
    assert.equal((await queue()).at(-1)?.status.type, 'approved');
    const approved = await queue();
    await node.restart('SIGKILL');
    await alice.login();
    assert.deepEqual(await queue(), approved, 'a kill changes no approval');
    const before = await owned();
    await node.advance(3_601n * SECOND);
    assert.equal((await queue()).at(-1)?.status.type, 'approved');
    const expired = await execute(1);
    assert.equal(expired['revert'], 'Expired');
    await node.operate('POST', `/operator/chains/${CHAIN}/mine`, { blocks: 1 });
    await node.rest();
    assert.equal((await queue()).at(-1)?.status.type, 'expired');
    assert.equal(Number(await owned()), Number(before) + 50);
  });

  test('the fee is of the rate at the request, and charged when the payout is confirmed (WDR-09, WDR-14, WDR-16)', async () => {
    const carol = await node.user({});
    await deposit(carol, 500);
    const rate = (rate: string): Promise<unknown> =>
      node.operate('PATCH', '/operator/assets/0', {
        rebalancing: { mode: 'fixed', deposit_rate: '0', withdrawal_rate: rate },
      });
    const figures = async (): Promise<Record<string, string>> => {
      const { assets } = (await node.operate('GET', '/operator/ledger')) as {
        assets: Record<string, Record<string, string>>;
      };
      return assets['0'] ?? {};
    };
    const { rebalancing_pool: pool = '', fees, locks } = await figures();
    await rate('0.01');
    done(await carol.withdraw({ asset: USD, amount: hex(100), target: TARGET }));
    await rate('0.02');
    const locked = await figures();
    assert.equal(Number(locked['locks']) - Number(locks), 101);
    await node.advance(31n * SECOND);
    await node.advance(1n * SECOND);
    assert.equal((await figures())['rebalancing_pool'], pool, 'nothing is charged before the chain has paid');
    const paid = await node.operate('POST', `/operator/chains/${CHAIN}/withdrawals/execute`, {
      user: carol.id,
      nonce: 0,
    });
    assert.equal(paid['revert'], null);
    const after = await figures();
    const charged = Number(after['rebalancing_pool']) - Number(pool);
    assert.deepEqual(
      [charged, after['fees'], after['locks'], after['difference']],
      [1, fees, locks, '0'],
      'to the pool (MON-03)',
    );
    const { sub_accounts: accounts } = (await node.operate('GET', `/operator/users/${carol.id}`)) as {
      sub_accounts: Record<string, { balances: Record<string, { owned: string }> }>;
    };
    assert.equal(accounts['0']?.balances['0']?.owned, '399');
    await rate('0');
  });

  test('delays are those that the operator has configured, and reads of a full queue are quick (WDR-04, WDR-23, LIM-23)', async () => {
    const dave = await node.user({});
    await deposit(dave, 500);
    const path = '/operator/withdrawal-delay-parameters';
    const parameters = { min_delay: 100, max_delay: 3_600, delay_clamps: [0], delay_values: [0], cap_floor: 50_000 };
    const before = await node.operate('GET', path);
    await node.operate('PUT', path, parameters);
    assert.deepEqual(await node.operate('GET', path), parameters);
    const rows = async (): Promise<readonly QueueRow[]> =>
      (await dave.read(`/withdrawal/queue/${dave.id}`)) as readonly QueueRow[];
    for (let count = 0; count < 64; count += 1) {
      done(await dave.withdraw({ asset: USD, amount: hex(1), target: TARGET }));
    }
    await node.advance(99n * SECOND);
    assert.deepEqual(new Set((await rows()).map(({ status }) => status.type)), new Set(['queued']));
    await node.advance(1n * SECOND);
    const startedMs = performance.now();
    const due = await rows();
    assert.ok(performance.now() - startedMs < 15_000);
    assert.deepEqual(
      [due.length, new Set(due.map(({ status }) => status.type))],
      [64, new Set(['approved', 'filled'])],
    );
    await node.operate('PUT', path, before);
  });
});

interface Approval {
  readonly inner: { readonly nonce: number; readonly signature: string };
  readonly expiry: number;
  readonly epoch_hash: readonly number[];
}
