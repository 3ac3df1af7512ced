// tier: quick
/** Sub-accounts, transfers in and out of margin, closing positions. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TargetType } from '../../../src/clearing/inputs.ts';
import { ledgerView, userView } from '../../../src/clearing/views.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { ORDER_END, ORDER_FLAG, SIDE, TIF, TRIGGER } from '../../../src/core/order-terms.ts';
import { isRetryable } from '../../../src/core/reject.ts';
import { DutyCycle } from '../../../src/runtime/duty-cycle.ts';
import { type Answer, acceptedValue, codeOf, effectsOf, PlainTables, reply } from '../../support/clearing-world.ts';
import { e18, MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

const A = { user: ALICE };
const B = { user: BOB };
const CROSS: TargetType = { kind: 'cross_margin', asset: null };
const SPOT: TargetType = { kind: 'spot', asset: null };
const ISOLATED: TargetType = { kind: 'isolated_margin', asset: ETH };

function funded(risk: Readonly<Record<string, unknown>> = {}): MarginWorld {
  const world = MarginWorld.make(risk);
  for (const user of [ALICE, BOB]) {
    world.fund(user, USD, '10000', 1);
    for (const [asset, amount] of [
      [USD, '10000'],
      [ETH, '10'],
      [BTC, '1'],
    ] as const) {
      world.fund(user, asset, amount);
    }
  }
  return world;
}

/** The content of the answer: 'done', or the code and the field. */
function said(answer: Answer): string {
  return answer.ok ? 'done' : `${answer.reject.code} ${answer.reject.field ?? ''}`.trim();
}

suite('sub-accounts', () => {
  test('a transfer into an unused index creates an account of each type (SUB-05, SUB-09, TRF-06, AMB-63)', () => {
    const world = funded();
    const types = [SPOT, CROSS, ISOLATED];
    types.forEach((targetType, at) => {
      assert.equal(said(world.transfer({ ...A, targetIndex: 2 + at, targetType, amount: '1' })), 'done');
    });
    const kinds = [...(world.state.users.get(ALICE)?.subAccounts.values() ?? [])].map(({ row }) => [
      row.subAccount,
      row.kind,
      row.asset,
      row.name,
    ]);
    assert.deepEqual(kinds.slice(2), [
      [2, 'spot', null, 'Account 2'],
      [3, 'cross_margin', null, 'Account 3'],
      [4, 'isolated_margin', ETH, 'Account 4'],
    ]);
  });

  test('the type is given exactly when the target does not exist, and a refusal creates nothing (TRF-05, TRF-06)', () => {
    const world = funded();
    const refused: readonly (readonly [Parameters<MarginWorld['transfer']>[0], string])[] = [
      [{ ...A, targetIndex: 1, targetType: CROSS, amount: '1' }, 'INVALID_REQUEST target_account_type'],
      [{ ...A, targetIndex: 2, amount: '1' }, 'INVALID_REQUEST target_account_type'],
      [{ ...A, targetIndex: 256, targetType: SPOT, amount: '1' }, 'INVALID_REQUEST target_index'],
      [{ ...A, targetIndex: 2, targetType: CROSS, amount: '10001' }, 'INSUFFICIENT_INVENTORY transfer_amount'],
      [{ ...A, targetIndex: 2, targetType: ISOLATED, asset: BTC, amount: '1' }, 'INVALID_REQUEST transfer_asset'],
      [
        { ...A, targetIndex: 2, targetType: { kind: 'isolated_margin', asset: USD }, amount: '1' },
        'INVALID_REQUEST target_account_type',
      ],
      [{ ...A, sourceIndex: 7, amount: '1' }, 'INVALID_REQUEST source_index'],
    ];
    for (const [move, expected] of refused) assert.equal(said(world.transfer(move)), expected);
    assert.equal(world.state.users.get(ALICE)?.subAccounts.size, 2);
    assert.equal(world.state.users.get(ALICE)?.row.transferNonce, 0n);
    assert.equal(said(world.transfer({ ...A, targetIndex: 255, targetType: SPOT, amount: '1' })), 'done');
  });

  test('names have 1 to 32 characters, no control characters, and are not reserved; duplicates may be (SUB-11 to SUB-14, AMB-64)', () => {
    const world = funded();
    for (const index of [2, 3]) world.transfer({ ...A, targetIndex: index, targetType: SPOT, amount: '1' });
    const rename = (name: string, index = 2): Answer =>
      reply(world.send({ kind: 'renameSubAccount', request: world.request(), user: ALICE, index, name }));
    for (const name of ['', 'x'.repeat(33), 'a\u0000', 'a\u001f', '\u007f', '\u0085', 'Spot', 'Margin']) {
      assert.equal(said(rename(name)), 'INVALID_REQUEST name', JSON.stringify(name));
    }
    for (const index of [0, 1, 4]) assert.equal(said(rename('Mine', index)), 'INVALID_REQUEST account_index');
    for (const name of ['x', '𝒳'.repeat(32), 'spot', 'Hedge book']) {
      assert.deepEqual(acceptedValue(rename(name)), { sub_account_index: 2, name });
    }
    assert.equal(said(rename('Hedge book', 3)), 'done');
  });
});

suite('transfers and margin', () => {
  test('out of margin the capacity stays at zero or above, to the last unit (TRF-08, EX-03, AMB-65)', () => {
    const world = MarginWorld.make({ liability_factor: 92, initial_margin_factors: [950_000] });
    world.fund(ALICE, USD, '602', 1);
    for (const user of [BOB, CAROL]) world.fund(user, USD, '10000', 1);
    const maker = world.place(SIDE.sell, B, 2000, 2);
    const taker = world.place(SIDE.buy, A, 2000, 2);
    world.match(maker, taker, 20_000, { takerFeeRate: 500 });
    world.trade({ buyer: { user: CAROL }, seller: B, price: 1990, quantity: 0.0001 });
    assert.equal(format18(world.figures(ALICE).initialSurplus), '2.9');
    const out = { ...A, sourceIndex: 1, targetIndex: 0 };
    assert.equal(
      said(world.transfer({ ...out, amount: '2.900000000000000001' })),
      'INSUFFICIENT_MARGIN transfer_amount',
    );
    assert.equal(said(world.transfer({ ...out, amount: '2.9' })), 'done');
  });

  test('open margin orders count, dormant ones do not, and holds of spot orders are not available (TRF-04, AMB-28, AMB-65)', () => {
    const world = funded();
    const order = world.place(SIDE.buy, A, 2000, 10);
    const out = { ...A, sourceIndex: 1, targetIndex: 0 };
    // 10 % of 20000 and a fee of 10 press.
    assert.equal(
      said(world.transfer({ ...out, amount: '7990.000000000000000001' })),
      'INSUFFICIENT_MARGIN transfer_amount',
    );
    assert.equal(said(world.transfer({ ...out, amount: '7990' })), 'done');
    world.end(order, 1);
    const dormant = { user: ALICE, subAccount: 1, flags: 0, triggerKind: TRIGGER.above, triggerPrice: 300_000 };
    world.create({ ...dormant, quantity: 100_000 });
    // Immediate or cancel: it is judged when it comes, and presses nothing (AMB-27).
    const reduceOnly = { user: ALICE, subAccount: 1, flags: ORDER_FLAG.reduceOnly };
    world.create({ ...reduceOnly, tif: TIF.ioc, quantity: 100_000 });
    assert.equal(said(world.transfer({ ...out, amount: '1010' })), 'done');
    world.create({ user: ALICE, subAccount: 1, flags: ORDER_FLAG.isSpot, quantity: 4_000 });
    assert.equal(
      said(world.transfer({ ...out, amount: '199.600000000000000001' })),
      'INSUFFICIENT_INVENTORY transfer_amount',
    );
    assert.equal(said(world.transfer({ ...out, amount: '199.6' })), 'done');
  });

  test('resting reduce-only orders press on nothing, before and after a start (MRG-22, MON-09, AMB-65)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 2 });
    const sell = { user: ALICE, subAccount: 1, flags: ORDER_FLAG.reduceOnly, side: SIDE.sell, price: 210_000 };
    const first = world.create({ ...sell, quantity: 15_000 });
    const out = { ...A, sourceIndex: 1, targetIndex: 0 };
    const short = 'INSUFFICIENT_MARGIN transfer_amount';
    // 10000 + .9·4000 − 4002.
    assert.equal(said(world.transfer({ ...out, amount: '9598.000000000000000001' })), short);
    // What of it has no room is cut by the gateway, or taken back where it would be filled.
    world.create({ ...sell, quantity: 10_000 });
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    assert.equal(said(world.transfer({ ...out, amount: '9598.000000000000000001' })), short);
    assert.equal(said(world.transfer({ ...out, amount: '9000' })), 'done');
    world.end(first, ORDER_END.userRequested);
    assert.equal(said(world.transfer({ ...out, amount: '598.000000000000000001' })), short);
    assert.equal(said(world.transfer({ ...out, amount: '598' })), 'done');
  });

  test('a spot buy of the account presses like any other buy, a spot sale does not (MRG-23, AMB-65)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 40 });
    world.create({ user: ALICE, subAccount: 1, side: SIDE.sell, quantity: 20_000 });
    // 10000 + .9·80000 − 80040; 10 % of 4000 and a fee of 2 press.
    world.create({ user: ALICE, subAccount: 1, quantity: 20_000 });
    const out = { ...A, sourceIndex: 1, targetIndex: 0 };
    assert.equal(
      said(world.transfer({ ...out, amount: '1558.000000000000000001' })),
      'INSUFFICIENT_MARGIN transfer_amount',
    );
    assert.equal(said(world.transfer({ ...out, amount: '1558' })), 'done');
  });

  test('an open asset leg cannot be transferred (POS-08)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    const move = { ...A, sourceIndex: 1, targetIndex: 0, asset: ETH, amount: '1' };
    assert.equal(said(world.transfer(move)), 'INSUFFICIENT_INVENTORY transfer_amount');
  });

  test('assets without collateral value, isolated-only ones and foreign ones stay out (TRF-11, TRF-12, TRF-13, AMB-66)', () => {
    const world = funded();
    const into = (targetIndex: number, asset: typeof ETH, targetType: TargetType | null = null): string =>
      said(world.transfer({ ...A, targetIndex, asset, targetType, amount: '1' }));
    world.put('putRisk', ETH, { isolated_only: true }, 'patch');
    assert.equal(into(1, ETH), 'INVALID_REQUEST transfer_asset');
    assert.equal(into(2, ETH, ISOLATED), 'done');
    assert.equal(into(2, USD), 'done');
    assert.equal(into(2, BTC), 'INVALID_REQUEST transfer_asset');
    world.put('putRisk', ETH, { collateral_factor: 0 }, 'patch');
    assert.equal(into(2, ETH), 'INVALID_REQUEST transfer_asset');
    assert.equal(into(3, ETH, SPOT), 'INVALID_REQUEST transfer_asset');
    const back = { ...A, sourceIndex: 2, targetIndex: 0, asset: ETH, amount: '1' };
    assert.equal(said(world.transfer(back)), 'done');
  });

  test('a minimum balance: the source keeps it or nothing, the target reaches it (TRF-09, TRF-10, AMB-140)', () => {
    const world = funded({ min_sub_account_balance: e18('4000').toString() });
    const move = (sourceIndex: number, targetIndex: number, amount: string): string =>
      said(world.transfer({ ...A, sourceIndex, targetIndex, asset: ETH, amount }));
    assert.equal(move(0, 1, '1.999999999999999999'), 'INVALID_REQUEST transfer_amount');
    assert.equal(move(0, 1, '3'), 'done');
    assert.equal(move(1, 0, '1.000000000000000001'), 'INVALID_REQUEST transfer_amount');
    assert.equal(move(1, 0, '1'), 'done');
    assert.equal(move(1, 0, '2'), 'done');
    world.put('putRisk', USD, { min_sub_account_balance: e18('100').toString() }, 'patch');
    assert.equal(
      said(world.transfer({ ...A, sourceIndex: 1, targetIndex: 0, amount: '9900.01' })),
      'INVALID_REQUEST transfer_amount',
    );
    assert.equal(said(world.transfer({ ...A, sourceIndex: 1, targetIndex: 0, amount: '9900' })), 'done');
  });

  test('a balance reaches its minimum at the mark, not at the oracle (TRF-10, AMB-140)', () => {
    const world = funded({ min_sub_account_balance: e18('4000').toString() });
    const moveIn = (amount: string): string =>
      said(world.transfer({ ...A, sourceIndex: 0, targetIndex: 1, asset: ETH, amount }));
    world.trade({ buyer: A, seller: B, price: 1600, quantity: 0.01 });
    // The mark is 1904.76: the band around the oracle of 2000 (MON-06).
    assert.equal(moveIn('2.099'), 'INVALID_REQUEST transfer_amount');
    assert.equal(moveIn('2.101'), 'done');
    world.trade({ buyer: A, seller: B, price: 2500, quantity: 0.01 });
    const other = { ...B, sourceIndex: 0, targetIndex: 1, asset: ETH };
    assert.equal(said(world.transfer({ ...other, amount: '1.908' })), 'INVALID_REQUEST transfer_amount');
    assert.equal(said(world.transfer({ ...other, amount: '1.91' })), 'done');
  });

  test('the collateral cap binds what enters margin accounts from outside (CAP-08, CAP-09, AMB-54)', () => {
    const world = funded({ max_collateral: e18('5').toString() });
    const move = (who: { user: typeof ALICE }, sourceIndex: number, targetIndex: number, amount: string): string =>
      said(world.transfer({ ...who, sourceIndex, targetIndex, asset: ETH, amount }));
    assert.equal(move(A, 0, 1, '3'), 'done');
    assert.equal(move(B, 0, 1, '2.000000000000000001'), 'PROTOCOL_CAP_EXCEEDED transfer_amount');
    assert.equal(move(B, 0, 1, '2'), 'done');
    world.transfer({ ...A, targetIndex: 2, targetType: CROSS, amount: '1' });
    assert.equal(move(A, 1, 2, '3'), 'done');
    assert.equal(move(A, 2, 0, '1'), 'done');
    assert.equal(move(B, 0, 1, '1'), 'done');
  });

  test('the nonce is consumed by what is applied only, transfer and close-position apart (NON-06, NON-07, AMB-68)', () => {
    const world = funded();
    const send = (nonce: bigint, amount: string): Answer => world.transfer({ ...A, nonce, amount });
    assert.equal(said(send(9n, '20000')), 'INSUFFICIENT_INVENTORY transfer_amount');
    assert.equal(said(send(9n, '1')), 'done');
    const again = send(9n, '1');
    assert.ok(!again.ok);
    assert.deepEqual([again.reject.code, again.reject.details], ['INVALID_NONCE', { last_nonce: 9n }]);
    assert.equal(said(send((1n << 64n) - 1n, '1')), 'done');
    assert.equal(world.state.users.get(ALICE)?.row.closePositionNonce, 0n);
  });
});

suite('closing a position', () => {
  /** Bought 2 at `bought`, sold at `sold`, spot USD of account 1 set to `usd`. */
  function flat(bought: number, sold: number, usd: string): MarginWorld {
    const world = funded();
    world.put('putMarket', ETH, { maker_fee_rate: 500 }, 'patch');
    world.trade({ buyer: A, seller: B, price: bought, quantity: 2 });
    world.trade({ buyer: B, seller: A, price: sold, quantity: 2 });
    world.fund(ALICE, USD, format18(e18(usd) - e18('10000')), 1);
    return world;
  }

  test('a gain is folded into spot USD, the position goes, and the account’s event is published (EX-23, POS-04, POS-05)', () => {
    const world = flat(1990, 2010, '1000');
    assert.deepEqual(world.legs(ALICE), ['0', '36', '0']);
    const effects = world.closePosition(ALICE);
    assert.deepEqual(
      effects.map(({ kind }) => kind),
      ['userChanged', 'positionCleared', 'balanceChanged', 'positionChanged', 'replied'],
    );
    const [cleared] = effectsOf(effects, 'positionCleared');
    assert.deepEqual([cleared?.user, cleared?.subAccount, cleared?.asset], [ALICE, 1, ETH]);
    assert.equal(world.owned(ALICE, USD, 1), e18('1036'));
    assert.equal(said(reply(world.closePosition(ALICE))), 'POSITION_NOT_FOUND asset_identifier');
  });

  test('a loss needs spot USD to cover it (EX-23, POS-07)', () => {
    const poor = flat(2010, 1990, '43.99');
    assert.equal(said(reply(poor.closePosition(ALICE))), 'INSUFFICIENT_INVENTORY account');
    assert.deepEqual(poor.legs(ALICE), ['0', '-44', '0']);
    const world = flat(2010, 1990, '44');
    assert.equal(said(reply(world.closePosition(ALICE))), 'done');
    assert.equal(world.owned(ALICE, USD, 1), 0n);
  });

  test('what open orders hold does not cover it', () => {
    const world = flat(2010, 1990, '44');
    world.create({ user: ALICE, subAccount: 1, price: 100, quantity: 10_000 });
    assert.equal(said(reply(world.closePosition(ALICE))), 'INSUFFICIENT_INVENTORY account');
  });

  test('an open asset leg, an unknown position, an unknown account and an old nonce are refused (POS-06, AMB-69)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    const closed = (user: typeof ALICE, account = 1, asset = ETH): string =>
      said(reply(world.closePosition(user, account, asset)));
    assert.equal(closed(ALICE), 'POSITION_NOT_FLAT asset_identifier');
    assert.equal(closed(ALICE, 1, BTC), 'POSITION_NOT_FOUND asset_identifier');
    assert.equal(closed(ALICE, 0), 'POSITION_NOT_FOUND asset_identifier');
    assert.equal(closed(ALICE, 5), 'INVALID_REQUEST account');
    world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 });
    assert.equal(closed(ALICE), 'done');
    const old = { kind: 'closePosition' as const, request: 0, user: BOB, account: 1, asset: ETH, nonce: 0n };
    assert.equal(codeOf(reply(world.send(old))), 'INVALID_NONCE');
  });

  test('while a fill of it is pending it is busy, which may be tried again (AMB-69, POSITION_BUSY)', () => {
    const world = flat(1990, 2010, '1000');
    const maker = world.place(SIDE.sell, A, 2000, 1);
    const taker = world.place(SIDE.buy, B, 2000, 1);
    world.send({ kind: 'hold', request: 0, asset: ETH });
    world.matchOf(maker, taker, 2000, 1);
    const busy = reply(world.closePosition(ALICE));
    assert.ok(!busy.ok);
    assert.deepEqual([busy.reject.code, isRetryable(busy.reject.code)], ['POSITION_BUSY', true]);
    world.send({ kind: 'fault', request: 0, fault: { party: 'taker', reason: 1, asset: null, skip: 0, count: 1 } });
    world.send({ kind: 'release', request: 0, fills: null });
    assert.equal(said(reply(world.closePosition(ALICE))), 'done');
  });

  test('a position whose two legs are zero has vanished by itself (AMB-69)', () => {
    const world = funded();
    world.put('putMarket', ETH, { taker_fee_rate: 0 }, 'patch');
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 });
    assert.equal(said(reply(world.closePosition(ALICE))), 'POSITION_NOT_FOUND asset_identifier');
  });
});

suite('what operators read of margin', () => {
  test('the ledger counts legs of all users, quote legs under USD, and adds up (AMB-116)', () => {
    const world = funded();
    world.put('putMarket', ETH, { maker_fee_rate: 500 }, 'patch');
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 2 });
    world.fund(CAROL, ETH, '1');
    world.trade({ buyer: A, seller: { user: CAROL, subAccount: 0, isSpot: true }, price: 2000, quantity: 1 });
    const { assets } = DutyCycle.unwatched.finish(ledgerView(world.state)) as {
      assets: Record<string, Record<string, string>>;
    };
    const read = (asset: string): readonly (string | undefined)[] =>
      ['margin_legs', 'fees', 'difference'].map((name) => assets[asset]?.[name]);
    // Two fees of 2 from quote legs, one of 1, and the 2000 that Carol was paid.
    assert.deepEqual(read(USD), ['-2005', '6', '0']);
    assert.deepEqual(read(ETH), ['1', '0', '0']);
  });

  test('a user is shown with legs, and with what fills that are not decided would move (operator-api.md 4.7)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1.5 });
    const maker = world.place(SIDE.sell, A, 2100, 1);
    const taker = world.place(SIDE.buy, B, 2100, 1);
    world.send({ kind: 'hold', request: 0, asset: ETH });
    world.matchOf(maker, taker, 2100, 1);
    const positions = (user: typeof ALICE): unknown => {
      const view = acceptedValue(userView(world.state, user, world.nowNs)) as {
        sub_accounts: Record<string, { positions: unknown }>;
      };
      return view.sub_accounts['1']?.positions;
    };
    assert.deepEqual(positions(ALICE), {
      [ETH]: { base: '1.5', quote: '-3001.5', pending_base: '-1', pending_quote: '2100' },
    });
    assert.deepEqual(positions(BOB), {
      [ETH]: { base: '-1.5', quote: '3000', pending_base: '1', pending_quote: '-2101.05' },
    });
  });
});
