// tier: quick
/** What shorts may borrow of what the vaults hold (MON-10): at clearing, and over deposits, withdrawals and restarts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { applyBatch } from '../../src/clearing/clearing.ts';
import { riskHoldingsOf, riskSlot } from '../../src/clearing/risks.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { format18 } from '../../src/core/decimal.ts';
import { effectsOf, PlainTables } from '../support/clearing-world.ts';
import { MarginWorld, type Side18 } from '../support/margin-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const A = { user: ALICE };
const B = { user: BOB };
const SPOT = { user: CAROL, subAccount: 0, isSpot: true };
const BREACH = ['ProtocolCapBreach', 'CounterpartyAtFault'];

/** Alice and Bob have money on margin, Carol has it in spot; there are 10 ETH, of which shorts may borrow half. */
function world(utilization = '500000000000000000'): MarginWorld {
  const made = MarginWorld.make({ max_utilization: utilization });
  for (const user of [ALICE, BOB]) made.fund(user, USD, '1000000', 1);
  made.fund(CAROL, USD, '1000000');
  made.fund(CAROL, ETH, '10');
  return made;
}

function sell(of: MarginWorld, seller: Side18, buyer: Side18, quantity: number): string | readonly (string | null)[] {
  return of.trade({ seller, buyer, price: 2000, quantity });
}

suite('max_utilization', () => {
  test('MON-10: what is sold short to spot buyers is at most that part of the holdings; equal is allowed', () => {
    const one = world();
    assert.equal(sell(one, A, SPOT, 5), 'confirmed');
    assert.deepEqual(sell(one, A, SPOT, 0.0001), BREACH);
    one.fund(CAROL, ETH, '1');
    assert.equal(sell(one, A, SPOT, 0.5), 'confirmed', 'a deposit makes room');
    assert.deepEqual(sell(one, B, SPOT, 0.0001), BREACH);
  });

  test('MON-10: a short against a long borrows nothing, and opens none while more is borrowed than may be', () => {
    const one = world();
    assert.equal(sell(one, A, B, 100), 'confirmed', 'longs have what shorts owe');
    assert.equal(sell(one, A, SPOT, 5), 'confirmed');
    assert.equal(sell(one, A, B, 1), 'confirmed');
    one.fund(CAROL, ETH, '-1');
    assert.deepEqual(sell(one, A, B, 1), BREACH);
  });

  test('MON-10: reducing trades and spot orders are exempt', () => {
    const one = world();
    assert.equal(sell(one, A, B, 3), 'confirmed');
    assert.equal(sell(one, A, SPOT, 5), 'confirmed');
    one.fund(CAROL, ETH, '-10');
    // Bob closes his long into a spot buyer: it raises what is borrowed, and is not refused.
    assert.equal(sell(one, B, SPOT, 1), 'confirmed');
    assert.equal(sell(one, SPOT, SPOT, 1), 'confirmed');
    assert.equal(sell(one, SPOT, A, 1), 'confirmed', 'a short that is bought back');
    assert.deepEqual(sell(one, B, SPOT, 3), BREACH, 'a long that turns short');
  });

  test('MON-10: 0 lends nothing, and without holdings there is nothing to lend', () => {
    const none = world('0');
    assert.deepEqual(sell(none, A, SPOT, 0.0001), BREACH);
    assert.equal(sell(none, A, B, 1), 'confirmed');
    const empty = world('1000000000000000000');
    empty.fund(CAROL, ETH, '-10');
    assert.deepEqual(sell(empty, A, SPOT, 0.0001), BREACH);
  });

  test('MON-10: the gateway gets what there is to lend with each change, and of a new market', () => {
    const one = world();
    const slot = riskSlot(one.state, ETH);
    assert.equal(riskHoldingsOf(one.state, ETH), 10n * 10n ** 18n);
    const body = { user_id: CAROL, sub_account: 0, asset_id: ETH, amount: '2' };
    const [risk] = effectsOf(one.send({ kind: 'faucet', request: one.request(), body }), 'marketRiskChanged');
    assert.deepEqual([risk?.marketIndex, format18(risk?.holdings ?? (0n as never))], [0, '12']);
    assert.equal(slot.borrows, 0n);
  });

  test('MON-10: no history of trades, faucets and restarts lends more than was allowed when it was lent; a replay decides the same', () => {
    const move = fc.oneof(
      fc.record({
        kind: fc.constant('trade' as const),
        sides: fc.nat({ max: 8 }),
        lots: fc.integer({ min: 1, max: 40_000 }),
      }),
      fc.record({ kind: fc.constant('faucet' as const), eth: fc.integer({ min: -4, max: 4 }) }),
      fc.record({ kind: fc.constant('restart' as const), clean: fc.boolean() }),
    );
    const owners = [A, B, SPOT];
    let refused = 0;
    fc.assert(
      fc.property(fc.array(move, { minLength: 5, maxLength: 40 }), (moves) => {
        const one = world();
        for (const each of moves) {
          if (each.kind === 'faucet') one.fund(CAROL, ETH, String(each.eth));
          else if (each.kind === 'restart') one.send({ kind: 'restarted', clean: each.clean });
          else {
            one.pass(1n);
            one.prices({ [ETH]: '2000' });
            const [seller, buyer] = [owners[each.sides % 3] ?? A, owners[Math.trunc(each.sides / 3)] ?? B];
            const before = one.state.users.get(seller.user)?.subAccounts.get(1)?.positions.get(ETH)?.legs.base ?? 0n;
            const result = sell(one, seller, buyer, each.lots / 10_000);
            const after = one.state.users.get(seller.user)?.subAccounts.get(1)?.positions.get(ETH)?.legs.base ?? 0n;
            const { credits, borrows } = riskSlot(one.state, ETH);
            if (after < 0n && after < before) {
              assert.ok(2n * (borrows - credits) <= riskHoldingsOf(one.state, ETH), 'half of what there is');
            }
            if (typeof result !== 'string' && result.includes('ProtocolCapBreach')) refused += 1;
          }
        }
        const again = createClearingState();
        for (const batch of one.journal) applyBatch(again, batch, []);
        assert.equal(stateHash(again), stateHash(one.state));
        const tables = new PlainTables();
        tables.checkpoint(one.state);
        assert.equal(riskHoldingsOf(tables.load(), ETH), riskHoldingsOf(one.state, ETH));
      }),
      propertyParameters(60),
    );
    assert.ok(refused > 0, 'some of it was refused');
  });
});
