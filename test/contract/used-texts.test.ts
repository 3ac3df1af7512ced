// tier: full, 8 s
/** A signed text that moves money is accepted once, at the public API of a whole node, over kills (MON-01, MON-02, MON-14). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { operator } from '../support/node-process.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import {
  makerOrderText,
  PlainKey,
  type SettlementWords,
  settlementText,
  withdrawalText,
} from '../support/wire-texts.ts';

const CHAIN = '000000000000007a69';
const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const [USD_TOKEN, ETH_TOKEN, VAULT, TARGET] = [address('5a'), address('6b'), address('0d'), address('7c')];
const USD = `${USD_TOKEN}@${CHAIN}`;
/** Registered by the seed. */
const SETTLER = new PlainKey(0x03);
const SECOND = 1_000_000_000n;
const VALIDITY_S = 3_600;
/** 18-decimal units in hex. */
const hex = (units: number): string => (BigInt(Math.round(units * 1e6)) * 10n ** 12n).toString(16);
const DONE = '{"success":true}';
const AGAIN = '{"success":true,"duplicate":true}';

suite('signed texts are accepted once', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  /** With units of the vault, and nothing else. */
  async function userWith(usd: number, eth = 0): Promise<PlainClient> {
    const user = await node.user({});
    for (const [token, units] of [
      [USD_TOKEN, BigInt(usd) * 10n ** 6n],
      [ETH_TOKEN, BigInt(eth) * 10n ** 18n],
    ] as const) {
      if (units === 0n) continue;
      const body = { user: user.id, token, amount_base_units: String(units) };
      await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, body);
    }
    await node.rest();
    return user;
  }

  const spot = async (user: PlainClient): Promise<Record<string, string>> => {
    const { accounts } = (await user.read(`/inventory/user/${user.id}`)) as {
      accounts: Record<string, { spot: Record<string, string> }>;
    };
    return accounts['0']?.spot ?? {};
  };
  const init = (user: PlainClient, body: string): Promise<HttpAnswer> => user.post('/withdrawal/init', body);
  /** Spellings of one wrapper with the same signed bytes. */
  const spellings = (user: PlainClient, text: string, signature = user.key.signature(text)): readonly string[] => {
    const members = [...Object.entries(JSON.parse(text) as Record<string, unknown>)].reverse();
    const turned = `{${members.map(([name, value]) => `${JSON.stringify(name)} :\t${JSON.stringify(value)}`).join(' ,\n')}}`;
    return [
      `{"inner":${text},"signature":${signature}}`,
      `{"signature":${signature},"additional_signers":[],"inner":${turned},"note":{"a":[1]}}`,
      `{"inner":${turned.replace('"tplus_user"', '"\\u0074plus_user"')},"signature":${signature}}`,
    ];
  };
  const ended = async (answer: Promise<HttpAnswer>, status: string): Promise<void> => {
    const told = await answer;
    assert.equal(toldBy(told), '409 ACTION_ALREADY_USED', told.text);
    assert.equal(errorOf(told).details?.['status'], status, told.text);
  };
  const queue = async (user: PlainClient): Promise<readonly Json[]> =>
    (await user.read(`/withdrawal/queue/${user.id}`)) as readonly Json[];
  const states = async (user: PlainClient): Promise<readonly unknown[]> =>
    (await queue(user)).map(({ status }) => (status as Json)['type']);
  const nonces = (user: PlainClient): Promise<unknown> => user.read(`/account/nonces/${user.id}/${CHAIN}`);
  const conserved = async (): Promise<void> => {
    const { assets } = (await node.operate('GET', '/operator/ledger')) as { assets: Record<string, Json> };
    for (const [asset, sums] of Object.entries(assets)) assert.equal(sums['difference'], '0', asset);
  };

  test('MON-01: 100 USD signed once pay 100, whoever sends the text again, in whatever spelling, over a kill', async () => {
    const user = await userWith(2_000);
    const text = withdrawalText(user.id, { asset: USD, amount: hex(100), target: TARGET });
    const bodies = spellings(user, text);
    assert.equal((await init(user, bodies[0] as string)).text, DONE);
    for (const body of [...bodies, ...bodies, ...bodies]) assert.equal((await init(user, body)).text, AGAIN);
    assert.deepEqual([await spot(user), await states(user)], [{ '0': '1900' }, ['queued']]);

    await node.restart('SIGKILL');
    await user.login();
    for (const body of bodies) assert.equal((await init(user, body)).text, AGAIN, 'another session, after a kill');
    await node.advance(31n * SECOND);
    assert.deepEqual(await states(user), ['approved']);
    for (const body of bodies) assert.equal((await init(user, body)).text, AGAIN);
    await node.operate('POST', `/operator/chains/${CHAIN}/withdrawals/execute`, { user: user.id, nonce: 0 });
    await node.rest();
    for (const body of bodies) await ended(init(user, body), 'executed');
    await node.restart('SIGKILL');
    await user.login();
    for (const body of bodies) await ended(init(user, body), 'executed');
    assert.deepEqual([await spot(user), await states(user)], [{ '0': '1900' }, ['executed']]);
    const { balance_base_units: paid } = await node.operate(
      'GET',
      `/operator/chains/${CHAIN}/balances?address=${TARGET}&token=${USD_TOKEN}`,
    );
    assert.equal(paid, '100000000', 'paid once');
    await conserved();
  });

  test('MON-01: a text of a row that was cancelled or lapsed moves nothing; with another request id the user asks again', async () => {
    const user = await userWith(1_000);
    for (const nonce of [null, 0]) {
      const words = { asset: USD, amount: hex(10), target: TARGET, nonce };
      const [body = ''] = spellings(user, withdrawalText(user.id, words));
      assert.equal((await init(user, body)).text, DONE);
      assert.equal((await user.cancelWithdrawal(USD, 0)).text, DONE);
      await ended(init(user, body), 'cancelled');
      const [next = ''] = spellings(user, withdrawalText(user.id, { ...words, requestId: 'again' }));
      assert.equal((await init(user, next)).text, DONE);
      await node.advance(31n * SECOND);
      assert.equal((await states(user)).at(-1), 'approved');
      await node.advance(BigInt(VALIDITY_S + 2) * SECOND);
      await node.operate('POST', `/operator/chains/${CHAIN}/mine`, { blocks: 3 });
      await node.rest();
      assert.equal((await states(user)).at(-1), 'expired');
      for (const used of [body, next]) {
        const told = await init(user, used);
        assert.equal(toldBy(told), '409 ACTION_ALREADY_USED');
      }
      assert.deepEqual(await spot(user), { '0': '1000' });
    }
    await conserved();
  });

  test('MON-01: who signs is judged first, also of a text that was used', async () => {
    const [user, other] = [await userWith(100), await userWith(100)];
    const text = withdrawalText(user.id, { asset: USD, amount: hex(10), target: TARGET });
    const [body = ''] = spellings(user, text);
    assert.equal((await init(user, body)).text, DONE);
    assert.equal(toldBy(await init(other, body)), '403 SIGNER_MISMATCH');
    const [forged = ''] = spellings(user, text, other.key.signature(text));
    assert.equal(toldBy(await init(user, forged)), '401 INVALID_SIGNATURE');
    assert.equal(toldBy(await user.post('/withdrawal/init', body, {})), '401 UNAUTHORIZED');
    assert.deepEqual(await spot(user), { '0': '90' });
  });

  test('MON-01: a cancel that names its row cancels that one; without the name, the live one of its nonce each time', async () => {
    const user = await userWith(100);
    const ask = (): Promise<HttpAnswer> => user.withdraw({ asset: USD, amount: hex(10), target: TARGET });
    const notFound = (answer: HttpAnswer): void => assert.match(answer.text, /"code":"WITHDRAWAL_NOT_FOUND"/);
    assert.equal((await ask()).text, DONE);
    const requestedNs = BigInt(
      /"requested_at_ns":(\d+)/.exec((await user.get(`/withdrawal/queue/${user.id}`)).text)?.[1] ?? 0,
    );
    assert.equal(requestedNs, node.nowNs);
    notFound(await user.cancelWithdrawal(USD, 0, requestedNs + 1n));
    assert.equal((await user.cancelWithdrawal(USD, 0, requestedNs)).text, DONE);
    await node.advance(1n * SECOND);
    assert.equal((await ask()).text, DONE);
    for (let time = 0; time < 3; time += 1) notFound(await user.cancelWithdrawal(USD, 0, requestedNs));
    assert.deepEqual((await states(user)).at(-1), 'queued', 'the later row of the same nonce is not cancelled');
    assert.equal((await user.cancelWithdrawal(USD, 0)).text, DONE);
    notFound(await user.cancelWithdrawal(USD, 0));
    assert.equal((await ask()).text, DONE);
    assert.equal((await user.cancelWithdrawal(USD, 0)).text, DONE, 'the money returns to its owner');
    assert.deepEqual(await spot(user), { '0': '100' });
  });

  test('MON-01: a settlement signed once locks once, and is answered with its approval as long as it lives', async () => {
    const user = await userWith(0, 5);
    await userWith(100_000);
    const words: SettlementWords = {
      ...{ settler: SETTLER.id, assetIn: USD_TOKEN, amountIn: hex(3_000), assetOut: ETH_TOKEN, amountOut: hex(1) },
    };
    const text = settlementText(user.id, words);
    const settle = (body: string): Promise<HttpAnswer> => user.post('/settlement/init', body);
    const bodies = spellings(user, text);
    const [first, ...same] = await Promise.all([bodies[0], ...bodies].map((body) => settle(body as string)));
    const answers = [first, ...same].map((answer) => answer?.text ?? '').sort((a, b) => a.length - b.length);
    const original = answers[0] ?? '';
    assert.match(original, /^\{"success":true,"approval":\{.*\}\}$/);
    const again = original.replace(/\}$/, ',"duplicate":true}');
    assert.deepEqual(answers.slice(1), [again, again, again], 'one of four that came at once made it');
    await node.restart('SIGKILL');
    await user.login();
    for (const body of bodies) assert.equal((await settle(body)).text, again);
    assert.equal((await spot(user))['2'], '4');
    await node.operate('POST', `/operator/chains/${CHAIN}/settlements/execute`, {
      ...{ user: user.id, sub_account: 0, nonce: 0 },
    });
    await node.rest();
    for (const body of bodies) await ended(settle(body), 'executed');
    const other = settlementText(user.id, { ...words, requestId: 'r-2' });
    assert.match((await settle(spellings(user, other)[0] as string)).text, /^\{"success":true,"approval":/);
    await node.advance(BigInt(VALIDITY_S + 2) * SECOND);
    await node.operate('POST', `/operator/chains/${CHAIN}/mine`, { blocks: 3 });
    await node.rest();
    await ended(settle(spellings(user, other)[0] as string), 'expired');
    assert.equal((await spot(user))['2'], '4');
    await conserved();
  });

  test("MON-01: a maker's order is attached once, to whose settlement ever", async () => {
    const [user, other, maker] = [await userWith(0, 2), await userWith(0, 2), await userWith(1_000)];
    await node.operate('PUT', `/operator/users/${maker.id}`, { is_mm: true });
    const until = node.nowNs + 1_000n * SECOND;
    const delegated = (by: PlainClient, requestId: string, expiresNs = until): Promise<HttpAnswer> => {
      const order = makerOrderText(maker.id, SETTLER.id, expiresNs);
      const attached = `,"maker_order":{"inner":${order},"signature":${maker.key.signature(order)}}}`;
      const body = by.settlementBody({
        ...{ settler: null, maker: maker.id, expiresNs: until, requestId },
        ...{ assetIn: USD_TOKEN, amountIn: hex(300), assetOut: ETH_TOKEN, amountOut: hex(0.1) },
      });
      return by.post('/settlement/init', body.slice(0, -1) + attached);
    };
    assert.equal((await delegated(user, 'a')).status, 200);
    assert.match((await delegated(user, 'a')).text, /"duplicate":true\}$/);
    for (const [by, requestId] of [
      [user, 'b'],
      [other, 'a'],
    ] as const) {
      const told = await delegated(by, requestId);
      assert.equal(toldBy(told), '409 ACTION_ALREADY_USED', told.text);
      assert.deepEqual([errorOf(told).details?.['field'], errorOf(told).details?.['status']], ['maker_order', 'live']);
    }
    assert.match((await delegated(other, 'a', until - 1n)).text, /^\{"success":true,"approval":/, 'another order');
    assert.deepEqual([(await spot(user))['2'], (await spot(other))['2']], ['1.9', '1.9']);
  });

  test('MON-02: the next nonces of a chain are those that no live row holds', async () => {
    const user = await userWith(100, 1);
    assert.deepEqual(await nonces(user), { withdrawal: 0, settlements: { '0': 0, '1': 0 } });
    const words = { asset: USD, amount: hex(10), target: TARGET };
    assert.equal((await user.withdraw({ ...words, nonce: 0 })).text, DONE);
    assert.equal((await user.withdraw({ ...words, nonce: 1 })).text, DONE);
    const settlement = await user.settle({
      ...{ settler: SETTLER.id, assetIn: USD_TOKEN, amountIn: hex(3), assetOut: ETH_TOKEN, amountOut: hex(0.001) },
    });
    assert.equal(settlement.status, 200);
    assert.deepEqual(await nonces(user), { withdrawal: 2, settlements: { '0': 1, '1': 0 } });
    assert.equal((await user.cancelWithdrawal(USD, 0)).text, DONE);
    assert.deepEqual(await nonces(user), { withdrawal: 0, settlements: { '0': 1, '1': 0 } });
    assert.equal(toldBy(await user.get(`/account/nonces/${user.id}/${'0'.repeat(18)}`)), '400 INVALID_REQUEST');
    assert.equal(toldBy(await user.get(`/account/nonces/${user.id}/7a69`)), '400 INVALID_REQUEST');
    const other = await node.user({});
    assert.equal(toldBy(await other.get(`/account/nonces/${user.id}/${CHAIN}`)), '401 UNAUTHORIZED');
  });

  test('MON-14: nothing is paid to the vault or to a token of the exchange', async () => {
    const user = await userWith(100);
    for (const target of [VAULT, USD_TOKEN, ETH_TOKEN]) {
      const told = await user.withdraw({ asset: USD, amount: hex(1), target });
      assert.equal(toldBy(told), '400 INVALID_REQUEST', told.text);
      assert.equal(errorOf(told).details?.['field'], 'target');
    }
    assert.deepEqual(await spot(user), { '0': '100' });
  });

  test('MON-14: a deposit for an id that is no key is listed as unclaimed, and credited to none', async () => {
    const noKey = 'a1'.repeat(32);
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, {
      ...{ user: noKey, token: USD_TOKEN, amount_base_units: '7000000' },
    });
    await node.rest();
    const unclaimed = await node.operate('GET', `/operator/chains/${CHAIN}/unclaimed`);
    const row = { user: noKey, counter: 0, token: USD_TOKEN, amount_base_units: '7000000' };
    assert.deepEqual(unclaimed['unclaimed'], [row]);
    const { accounts } = (await node.operate('GET', `/operator/users/${noKey}`)) as { accounts?: Json };
    assert.doesNotMatch(JSON.stringify(accounts ?? {}), /"owned":"[1-9]/);
    const credit = `/operator/chains/${CHAIN}/unclaimed/0/credit`;
    const told = await operator(node.process, 'POST', credit, { user: noKey });
    assert.deepEqual([told.status, /"field":"user"/.test(told.text)], [400, true], told.text);
    await conserved();
  });
});
