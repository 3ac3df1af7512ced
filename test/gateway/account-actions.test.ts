// tier: quick, 3 s
/**
 * Transfers, position closes and names over the wire of a whole node: who may, what clearing's refusals look like, and
 * what is published (SIG-14, TRF-01 to TRF-07, TRF-14, POS-10, NON-06, NON-07, SUB-09 to SUB-14, AMB-64, AMB-67,
 * AMB-68).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import type { Trader } from '../support/wire-trader.ts';

interface Move {
  readonly source?: number;
  readonly target?: number;
  readonly asset?: string;
  readonly amount?: string;
  /** JSON text of the type in the body and in what is signed. */
  readonly type?: string;
  readonly nonce: number | bigint;
}

const USD_1 = '1000000000000000000';

suite('account actions', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;
  const told: Json[] = [];

  before(async () => {
    world = await TestNode.start();
    own = await world.trader({ '0': '1000', '2': '10' });
    other = await world.trader({ '0': '1000' });
    await own.listen(`/account/events/${own.userId}`, told);
  });
  after(() => world.stop());

  const inner = (
    { source = 0, target = 1, asset = '0', amount = USD_1, type = 'null', nonce }: Move,
    user = own,
  ): string =>
    `{"user":"${user.userId}","source_index":${source},"target_index":${target},"transfer_asset":"${asset}",` +
    `"transfer_amount":"${amount}","target_account_type":${type},"nonce":${nonce}}`;
  const close = (account: number, asset: string, nonce: number): string =>
    `{"user":"${own.userId}","account":${account},"asset_identifier":"${asset}","nonce":${nonce}}`;
  const signed = (text: string, by = own, body = text): string =>
    `{"inner":${body},"signature":[${[...by.key.sign(Buffer.from(text))]}],"additional_signers":[]}`;
  const transfer = async (move: Move): Promise<[number, Json]> => send(signed(inner(move)));
  const send = async (body: string, path = 'sub-account', by = own): Promise<[number, Json]> => {
    const { status, text } = await by.call('POST', `/account/transfer/${path}`, body);
    return [status, JSON.parse(text)];
  };
  const codeOf = ([status, body]: [number, Json]): string => `${status} ${(body['error'] as { code: string })?.code}`;
  const refusalOf = ([status, body]: [number, Json]): unknown[] => {
    const { code, field } = (body['details'] ?? {}) as Json;
    return [status, body['success'], code, field];
  };
  const lastTold = async (count: number): Promise<Json> => {
    await eventually(
      () => told.length >= count,
      () => JSON.stringify(told),
    );
    return told[count - 1] ?? {};
  };

  test('a transfer moves, answers success, and is published with its amount in hex (TRF-01, TRF-14, STR-05, G15)', async () => {
    assert.deepEqual(await transfer({ nonce: 1, amount: '2500000000000000000' }), [200, { success: true }]);
    assert.deepEqual([await own.owned('0'), await own.owned('0', 1)], ['997.5', '2.5']);
    const event = (await lastTold(1))['SubAccountAssetTransferred'] as Json;
    assert.deepEqual(
      { ...event, timestamp_ns: 0 },
      {
        user: own.userId,
        asset: '0',
        amount: '0x22b1c8c1227a0000',
        source_sub_account_index: 0,
        target_sub_account_index: 1,
        timestamp_ns: 0,
      },
    );
  });

  test('a nonce is used once and only upwards; the refusal is a 200 that names the last one (NON-06, NON-07, AMB-67, AMB-68)', async () => {
    const body = signed(inner({ nonce: 5 }));
    assert.deepEqual(await send(body), [200, { success: true }]);
    const again = await send(body);
    assert.deepEqual(again, [
      200,
      {
        success: false,
        details: {
          code: 'INVALID_NONCE',
          message: 'the nonce is above the last one applied',
          retryable: false,
          field: 'nonce',
          last_nonce: 5,
        },
      },
    ]);
    assert.deepEqual(refusalOf(await transfer({ nonce: 4 })), [200, false, 'INVALID_NONCE', 'nonce']);
    assert.deepEqual(refusalOf(await transfer({ nonce: 9, amount: '0' })), [
      200,
      false,
      'INVALID_REQUEST',
      'transfer_amount',
    ]);
    assert.deepEqual(
      await transfer({ nonce: 6 }),
      [200, { success: true }],
      'a refused transfer leaves its nonce free',
    );
    assert.deepEqual(await transfer({ nonce: 2n ** 53n + 1n }), [200, { success: true }]);
    const beyond = await own.call('POST', '/account/transfer/sub-account', signed(inner({ nonce: 7 })));
    assert.match(beyond.text, /"last_nonce":9007199254740993\}/, 'to the last digit');
    assert.equal(await own.owned('0', 1), '5.5', 'each applied once');
  });

  test('what clearing refuses is answered with status 200, and nothing moves (AMB-67, TRF-02 to TRF-06)', async () => {
    const top = 2n ** 60n;
    const refusals: [Move, string, string][] = [
      [{ nonce: top, target: 0 }, 'INVALID_REQUEST', 'target_index'],
      [{ nonce: top, amount: '1000000000000000000000' }, 'INSUFFICIENT_INVENTORY', 'transfer_amount'],
      [{ nonce: top, type: '"CrossMargin"' }, 'INVALID_REQUEST', 'target_account_type'],
      [{ nonce: top, target: 7 }, 'INVALID_REQUEST', 'target_account_type'],
      [{ nonce: top, asset: '99' }, 'ASSET_NOT_FOUND', 'transfer_asset'],
      [{ nonce: top, source: 9 }, 'INVALID_REQUEST', 'source_index'],
    ];
    const count = told.length;
    for (const [move, code, field] of refusals) {
      assert.deepEqual(refusalOf(await transfer(move)), [200, false, code, field], JSON.stringify(field));
    }
    await world.rest();
    assert.equal(told.length, count);
  });

  test('what the gateway refuses is 4xx and consumes nothing (AMB-67, AMB-68, AMB-91, SIG-09, SIG-14, NON-01)', async () => {
    const nonce = 2n ** 61n;
    const text = inner({ nonce });
    assert.equal(codeOf(await send(signed(text, other))), '401 INVALID_SIGNATURE');
    assert.equal(codeOf(await send(signed(text), 'sub-account', other)), '403 SIGNER_MISMATCH');
    assert.equal(codeOf(await send(signed(inner({ nonce, amount: '1' }), own, text))), '401 INVALID_SIGNATURE');
    const unsigned = `{"inner":${text},"signature":[],"additional_signers":[]}`;
    assert.equal(codeOf(await send(unsigned)), '400 INSUFFICIENT_SIGNER_WEIGHT');
    const cosigner = `[{"signer":{"P256":[${new Array(33).fill(2)}]},"signature":[${new Array(64).fill(1)}]}]`;
    const cosigned = `{"inner":${text},"signature":[${[...own.key.sign(Buffer.from(text))]}],"additional_signers":${cosigner}}`;
    assert.equal(codeOf(await send(cosigned)), '400 SIGNER_UNKNOWN');
    for (const bad of ['', '{}', signed(text).replace('"nonce"', '"n"'), signed(text).replace(USD_1, '1.5')]) {
      assert.equal(codeOf(await send(bad)), '400 INVALID_REQUEST', bad.slice(0, 40));
    }
    const anonymous = await fetch(`${world.process.oms}/account/transfer/sub-account`, {
      method: 'POST',
      body: signed(text),
    });
    assert.equal(anonymous.status, 401);
    assert.equal(codeOf(await send(signed(close(1, '2', 1)))), '400 INVALID_REQUEST', 'another kind of action');
    assert.deepEqual(await transfer({ nonce }), [200, { success: true }], 'none of these used the nonce');
  });

  test('each form of the account type creates its account and is verified as it was sent (TRF-07, SUB-05, SUB-09, C10)', async () => {
    const base = 2n ** 62n;
    const types: [string, string][] = [
      ['"Spot"', 'spot'],
      ['{"Spot":null}', 'spot'],
      ['"CrossMargin"', 'cross_margin'],
      ['{"CrossMargin":null}', 'cross_margin'],
      ['{"Isolated":{"asset":"2"}}', 'isolated_margin'],
    ];
    for (const [at, [type, kind]] of types.entries()) {
      const target = at + 2;
      const move = { nonce: base + BigInt(at), target, type, amount: '1000' };
      assert.deepEqual(await transfer(move), [200, { success: true }], type);
      const inventory = JSON.parse((await own.call('GET', `/inventory/user/${own.userId}?sub_account=${target}`)).text);
      assert.equal(inventory.accounts[target].kind, kind);
    }
    const otherForm = inner({ nonce: base + 10n, target: 20, type: '"Spot"' });
    const bodyForm = otherForm.replace('"Spot"', '{"Spot":null}');
    assert.equal(codeOf(await send(signed(otherForm, own, bodyForm))), '401 INVALID_SIGNATURE');
    const absent = inner({ nonce: base + 11n }).replace('"target_account_type":null,', '');
    assert.deepEqual(await send(signed(inner({ nonce: base + 11n }), own, absent)), [200, { success: true }], 'AMB-15');
  });

  test('a user-created account gets a name, the first two keep theirs (SUB-10 to SUB-14, AMB-64)', async () => {
    const rename = (index: string, name: unknown, path = own.userId): Promise<{ status: number; text: string }> =>
      own.call('PATCH', `/account/${path}/sub-account/${index}/name`, JSON.stringify({ name }));
    const members = '"account_index":2,"old_name":"Account 2","new_name":"Hedge book"';
    assert.deepEqual(await rename('2', 'Hedge book'), {
      status: 200,
      text: `{"sub_account_index":2,"name":"Hedge book",${members}}`,
    });
    let oldName = 'Hedge book';
    for (const name of ['x', '💰'.repeat(32), 'spot', ' Margin', '日本', '"\\']) {
      const names = { name, old_name: oldName, new_name: name };
      assert.deepEqual(JSON.parse((await rename('2', name)).text), {
        sub_account_index: 2,
        account_index: 2,
        ...names,
      });
      oldName = name;
      const inventory = await own.call('GET', `/inventory/user/${own.userId}?sub_account=2`);
      assert.equal(JSON.parse(inventory.text).accounts[2].name, name, 'the answer comes when the name is there');
    }
    const bad = ['', 'x'.repeat(33), 'a\u0000', '\u001f', '\u007f', '\u0085', 'Spot', 'Margin', '\ud800', 5, null];
    for (const name of bad) {
      const { status, text } = await rename('2', name);
      assert.deepEqual([status, JSON.parse(text).error.code], [400, 'INVALID_REQUEST'], JSON.stringify(name));
    }
    for (const index of ['0', '1', '77', '256', '02', '-1', 'x']) {
      const { status, text } = await rename(index, 'name');
      assert.deepEqual([status, JSON.parse(text).error.details.field], [400, 'account_index'], index);
    }
    assert.equal((await rename('2', 'mine', other.userId)).status, 401);
    const anonymous = await fetch(`${world.process.oms}/account/${own.userId}/sub-account/2/name`, {
      method: 'PATCH',
      body: '{"name":"x"}',
    });
    assert.equal(anonymous.status, 401);
  });

  test('a position that does not exist cannot be closed; nonces of closes are their own (POS-10, NON-01, AMB-69)', async () => {
    const refused = await send(signed(close(1, '2', 1)), 'close-position');
    assert.deepEqual(refusalOf(refused), [200, false, 'POSITION_NOT_FOUND', 'asset_identifier']);
    assert.deepEqual(refusalOf(await send(signed(close(99, '2', 1)), 'close-position')), [
      200,
      false,
      'INVALID_REQUEST',
      'account',
    ]);
    assert.equal(codeOf(await send(signed(close(1, 'ETH', 1)), 'close-position')), '400 INVALID_REQUEST');
    assert.equal(codeOf(await send(signed(close(1, '2', 1), other), 'close-position')), '401 INVALID_SIGNATURE');
  });

  test('names, accounts and nonces are there after a kill (AMB-64, AMB-68)', async () => {
    await world.restart();
    const inventory = JSON.parse((await own.call('GET', `/inventory/user/${own.userId}`)).text);
    assert.deepEqual([inventory.accounts[2].name, inventory.accounts[6].kind], ['"\\', 'isolated_margin']);
    assert.deepEqual(refusalOf(await transfer({ nonce: 2n ** 62n })), [200, false, 'INVALID_NONCE', 'nonce']);
    assert.deepEqual(await transfer({ nonce: 2n ** 63n }), [200, { success: true }]);
  });
});
