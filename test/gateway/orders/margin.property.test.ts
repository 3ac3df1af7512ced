// tier: quick
/** Pressure and capacity under everything clients, markets and clearing may do: equal to a plain recount after every step. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { tradingFee18 } from '../../../src/core/arithmetic.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { afterFill } from '../../../src/risk/position.ts';
import { ALICE, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../../support/names.ts';

import { PlainPressure, USERS } from '../../support/plain-pressure.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

const STEPS: readonly ((plain: PlainPressure, pick: number) => void)[] = [
  (plain, pick) => plain.create(pick),
  (plain, pick) => plain.create(pick),
  (plain, pick) => plain.create(pick),
  (plain, pick) => plain.admit(pick),
  (plain, pick) => plain.admit(pick),
  (plain, pick) => plain.admit(pick),
  (plain, pick) => plain.match(pick, false),
  (plain, pick) => plain.match(pick, false),
  (plain, pick) => plain.match(pick, pick % 3 === 0),
  (plain, pick) => plain.decide(pick),
  (plain, pick) => plain.decide(pick),
  (plain) => plain.tellPositions(),
  (plain, pick) => plain.replace(pick),
  (plain, pick) => plain.answerReplace(pick),
  (plain, pick) => plain.cancel(pick),
  (plain, pick) => plain.price(pick % 2 === 0 ? ETH : BTC, 1_000 + (pick % 3_000), 1_000 + ((pick >> 3) % 3_000)),
  (plain, pick) => plain.fund(USERS[pick % 2] ?? ALICE, pick % 40_000),
];

const story = storyOf(STEPS, [30, 200], 1_000_000_000);

suite('margin at the gateway', () => {
  test('capacity equals a plain recount over all orders, fills and positions after every step (MRG-16 to 23, AMB-50, AMB-112)', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const plain = new PlainPressure();
        plain.check();
        for (const [step, pick] of steps) {
          STEPS[step]?.(plain, pick);
          plain.check();
        }
      }),
      propertyParameters(60),
    );
  });

  test('when nothing is on its way, the optimistic legs are what clearing has booked (AMB-142)', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const plain = new PlainPressure();
        for (const [step, pick] of steps) STEPS[step]?.(plain, pick);
        plain.settle();
        plain.check();
        for (const user of USERS) {
          for (const asset of [ETH, BTC]) {
            const query = { assetId: asset, subAccounts: null };
            const [shown] = plain.fixture.manager.margin
              .view(plain.fixture.nowNs)
              .positions(user, query, plain.fixture.nowNs);
            const { base, quote } = plain.booked(user, asset);
            assert.deepEqual([shown?.base ?? 0n, shown?.quote ?? 0n], [base, quote]);
          }
        }
      }),
      propertyParameters(30),
    );
  });

  test('a simulated trade is what really happens: the verdict of the gateway, and every figure once it is booked (SIM-01, AMB-71)', () => {
    const trades = fc.record({
      isBuy: fc.boolean(),
      asset: fc.constantFrom(ETH, BTC),
      lots: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1_000, max: 100_000 })),
      price: fc.integer({ min: 1_000, max: 60_000 }),
    });
    let [taken, refused] = [0, 0];
    fc.assert(
      fc.property(story, trades, (steps, { isBuy, asset, lots, price }) => {
        const plain = new PlainPressure();
        for (const [step, pick] of steps) STEPS[step]?.(plain, pick);
        plain.settle();
        const { fixture } = plain;
        const { margin } = fixture.manager;
        const [side, other] = isBuy ? [SIDE.buy, SIDE.sell] : [SIDE.sell, SIDE.buy];
        const trial = { user: ALICE, subAccount: 1, asset, side, isSpot: false, transfers: [] };
        const size = (BigInt(lots) * 10n ** 14n) as Amount18;
        const simulated = margin.simulate({ ...trial, size, price: usd(price) }, fixture.nowNs);
        const quantity = lots / 10_000;
        const request = fixture.request({ user: ALICE, asset, side, quantity, price, tif: TIF.ioc });
        assert.ok(simulated.ok);
        assert.equal(simulated.value.isAccepted, request.ok);
        if (!request.ok) {
          refused += 1;
          return;
        }
        taken += 1;
        fixture.spot(USD, 1_000_000_000, 1, BOB);
        const maker = fixture.place({ user: BOB, asset, side: other, quantity, price });
        const taker = fixture.admit(request.value.requestId, asset);
        fixture.confirm(fixture.match(maker, taker, price, quantity, side, asset), asset);
        const { base, quote } = plain.booked(ALICE, asset);
        const notional = (size * usd(price)) / ONE_18;
        const legs = afterFill(
          { base: base as Amount18, quote: quote as Amount18, entry: usd(0) },
          isBuy ? size : -size,
          notional as Amount18,
          tradingFee18(notional as Amount18, 500),
        );
        margin.onPositionChanged({ user: ALICE, subAccount: 1, asset, ...legs });
        const shownFigures = margin.view(fixture.nowNs).figures(ALICE, [1], fixture.nowNs).get(1);
        const { maintenanceRequirement: _, warnings: __, ...figures } = shownFigures ?? assert.fail();
        assert.deepEqual(simulated.value.figures, figures);
        const [shown] = margin
          .view(fixture.nowNs)
          .positions(ALICE, { assetId: asset, subAccounts: null }, fixture.nowNs);
        assert.equal(simulated.value.liquidationPrice, shown?.liquidationPrice ?? null);
      }),
      propertyParameters(60),
    );
    assert.ok(taken > 5 && refused > 5, `${taken} taken, ${refused} refused`);
  });
});
