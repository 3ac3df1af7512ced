// tier: quick
/** Replies that are written by their shapes have the bytes that the printers by hand gave them (test/judges). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type AccountEventView, accountEvent } from '../../src/codec/account-events.ts';
import { inventoryReply } from '../../src/codec/inventory-reply.ts';
import * as margin from '../../src/codec/margin-replies.ts';
import { type MarketView, marketObject } from '../../src/codec/market-reply.ts';
import { replyWriter } from '../../src/codec/reply-writer.ts';
import { type SettlementEvent, settlementEvent } from '../../src/codec/settlement-events.ts';
import type { InventoryView } from '../../src/codec/shapes/account-shapes.ts';
import { USER_POSITION } from '../../src/codec/shapes/account-shapes.ts';
import type { UserId } from '../../src/core/ids.ts';
import type { AtRiskFigures } from '../../src/core/market-figures.ts';
import * as judgedEvents from '../judges/account-events.ts';
import * as judgedInventory from '../judges/inventory-reply.ts';
import * as judgedMargin from '../judges/margin-replies.ts';
import * as judgedMarket from '../judges/market-reply.ts';
import * as judgedSettlement from '../judges/settlement-events.ts';
import { propertyParameters } from '../support/property.ts';

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const above = fc.bigInt({ min: 0n, max: 10n ** 30n });
const figure = fc.option(amount);
const asset = fc.constantFrom('0', '2', `${'ab'.repeat(32)}@${'0c'.repeat(9)}`);
const index = fc.integer({ min: 0, max: 255 });
const name = fc.string({ unit: 'grapheme', maxLength: 12 });
const decimal = fc.constantFrom('0', '12.5', '-0.000000000000000001');
const timestampNs = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n });
const user = 'ab'.repeat(32) as UserId;

const held = fc.record({ assetId: asset, base: amount, notional: amount, margin: amount, maintenance: amount });
const figures = {
  equity: amount,
  available: amount,
  utilized: amount,
  maintenanceSurplus: amount,
  initialSurplus: amount,
  leverage: figure,
  unrealizedPnl: amount,
  isSolvent: fc.boolean(),
  isLiquidatable: fc.boolean(),
  positions: fc.array(held, { maxLength: 3 }),
};
const warning = fc.record({ subAccount: index, code: fc.constantFrom('PRICE_MISSING', 'PRICE_STALE'), assetId: asset });
const shown = fc.record({ ...figures, maintenanceRequirement: figure, warnings: fc.array(warning, { maxLength: 2 }) });
const views = fc
  .uniqueArray(fc.tuple(index, shown), { maxLength: 3, selector: ([at]) => at })
  .map((all) => new Map(all) as unknown as margin.MarginViews);
const side = fc.record({ quantity: above, liquidationPrice: figure });

function equal<View>(
  what: string,
  view: fc.Arbitrary<unknown>,
  write: (of: View) => string,
  judge: (of: View) => string,
): void {
  test(`${what} has the same bytes`, () => {
    fc.assert(
      fc.property(view, (of) => {
        assert.equal(write(of as View), judge(of as View));
      }),
      propertyParameters(200),
    );
  });
}

suite('replies by their shapes and by hand', () => {
  const position = fc.record({
    ...{ assetId: asset, name, subAccount: index, side: fc.constantFrom('long', 'short', 'closed'), base: amount },
    ...{ quote: amount, entryPrice: figure, markPrice: figure, unrealizedPnl: figure, margin: figure },
    ...{ leverage: figure, liquidationPrice: figure },
  });
  equal<margin.PositionView>('a position', position, margin.position, judgedMargin.position);
  const basis = fc.record({
    ...{ subAccount: index, assetId: asset, isSpot: fc.boolean(), isLong: fc.boolean(), quantity: above, cost: amount },
    ...{ average: amount, markPrice: figure, unrealizedPnl: figure },
  });
  equal<readonly margin.BasisView[]>(
    'what positions cost',
    fc.array(basis, { maxLength: 3 }),
    margin.basisReply,
    judgedMargin.basisReply,
  );
  equal<margin.MarginViews>(
    'margin',
    views,
    (of) => margin.marginReply(of, false),
    (of) => judgedMargin.marginReply(of, false),
  );
  equal<margin.MarginViews>(
    'margin with positions',
    views,
    (of) => margin.marginReply(of, true),
    (of) => judgedMargin.marginReply(of, true),
  );
  equal<margin.MarginViews>('solvency', views, margin.solvencyReply, judgedMargin.solvencyReply);
  const order = fc.record({
    ...{ assetId: asset, side: fc.constantFrom(0, 1), quantity: above, oraclePrice: amount, priceDecimals: index },
    ...{ quantityDecimals: index, subAccount: index },
  });
  const preview = fc.record({
    orders: fc.array(order, { maxLength: 3 }),
    errors: name.map((text) => new Map([['2', text]])),
  });
  equal<margin.ClosePreviewView>(
    'a close-all preview',
    preview,
    margin.closePreviewReply,
    judgedMargin.closePreviewReply,
  );
  const simulation = fc.record({
    figures: fc.record(figures),
    impact: amount,
    isAccepted: fc.boolean(),
    liquidationPrice: figure,
  });
  equal<margin.SimulationView>('a simulated trade', simulation, margin.simulationReply, judgedMargin.simulationReply);
  const sides = fc.record({ assetId: asset, long: side, short: side });
  const atRisk = fc.record({
    timestampNs,
    assets: fc.uniqueArray(sides, { maxLength: 3, selector: ({ assetId }) => assetId }),
  });
  equal<AtRiskFigures>('what is at risk', atRisk, margin.atRisk, judgedMargin.atRisk);
  const nonce = fc.integer({ min: 0, max: 2 ** 40 });
  const chainId = fc.constant('0c'.repeat(9));
  const event = fc.oneof(
    fc.record({ kind: fc.constant('depositLanded'), asset, amount: above, chainId, depositNonce: nonce, timestampNs }),
    fc.record({
      ...{ kind: fc.constant('withdrawalCompleted'), asset, amount: fc.constantFrom('0x10', '16'), chainId },
      ...{ withdrawalNonce: nonce, timestampNs },
    }),
    fc.record({ kind: fc.constant('positionCleared'), asset, subAccount: index, timestampNs }),
    fc.record({
      kind: fc.constant('transferred'),
      asset,
      amount: above,
      sourceIndex: index,
      targetIndex: index,
      timestampNs,
    }),
  );
  equal<AccountEventView>(
    'an event of an account',
    event,
    (of) => accountEvent(user, of),
    (of) => judgedEvents.accountEvent(user, of),
  );
  const settlement = fc.record({
    ...{
      settlementId: fc.nat().map((count) => `0c:ab:1:${count}`),
      asset,
      side: fc.constantFrom('Buy', 'Sell'),
    },
    ...{ quantity: above, price: figure, user: fc.constant(user), subAccount: index, timestampNs },
  });
  equal<SettlementEvent>('a settlement', settlement, settlementEvent, judgedSettlement.settlementEvent);
  const legs = fc.record({ credits: decimal, liabilities: decimal });
  const account = fc.record(
    {
      ...{
        kind: fc.constantFrom('spot', 'cross_margin'),
        name,
        asset,
        spot: decimal.map((text) => new Map([['2', text]])),
      },
      margins: fc.record({ base: legs, quote: legs }).map((both) => new Map([['2', both]])),
    },
    { requiredKeys: ['kind', 'name', 'spot', 'margins'] },
  );
  const inventory = fc.record({
    is_mm: fc.boolean(),
    accounts: account.map(
      (one) =>
        new Map([
          ['7', one],
          ['1', one],
        ]),
    ),
  });
  equal<InventoryView>('an inventory', inventory, inventoryReply, judgedInventory.inventoryReply);
  const definition = fc.record({
    ...{
      assetId: asset,
      priceDecimals: fc.integer({ min: 0, max: 9 }),
      quantityDecimals: fc.integer({ min: 0, max: 9 }),
    },
    ...{ tickSize: fc.integer({ min: 1, max: 999 }), minimumQuantity: fc.integer({ min: 1, max: 999 }) },
    ...{ makerFeeRate: fc.integer({ min: -9, max: 9 }), takerFeeRate: index, status: fc.constantFrom(0, 1, 2) },
    selfTradePrevention: fc.boolean(),
  });
  const market = fc.record({ definition, maxLeverage: fc.option(index), isolatedOnly: fc.boolean(), feeAccount: name });
  equal<MarketView>('a market', market, marketObject, judgedMarket.marketObject);

  test('a view without a member of its reply is a fault', () => {
    assert.throws(() => replyWriter<object>(USER_POSITION)({ assetId: '2' }), /without its member name/);
  });
});
