// tier: quick
/** Orders and answers of liquidation between clearing, the gateway and a market (service spec 3.6, AMB-57). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NodeOrderSent } from '../../src/clearing/effects.ts';
import type { ActionReply, OperatorCommand } from '../../src/clearing/inputs.ts';
import type { TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import { MARKET_STATUS, ROLLBACK_REASON, SIDE } from '../../src/core/order-terms.ts';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { REJECT_CODE, reject } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import { Liquidations } from '../../src/gateway/actions/liquidations.ts';
import { userTradeBody } from '../../src/gateway/orders/book/trade-view.ts';
import { SKIPPED_CHECKS } from '../../src/gateway/orders/entry/pending-requests.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { CommandRing, EntryWorld } from '../support/entry-world.ts';
import { riskRow, usd } from '../support/margin-fixture.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, createRequest, MARKET, NOW } from '../support/order-fixture.ts';

const BUSY: ActionReply = rejected(reject('SERVICE_UNAVAILABLE', 'clearing is busy, try again'));

class World extends EntryWorld {
  readonly commands: OperatorCommand[] = [];
  isBusy = false;
  readonly liquidations: Liquidations;

  constructor(rings?: readonly CommandRing[]) {
    super(rings);
    const { manager } = this.fixture;
    this.liquidations = new Liquidations({
      orders: manager,
      entry: this.entry,
      command: (command) => {
        if (this.isBusy) return Promise.resolve(BUSY);
        this.commands.push(command);
        return Promise.resolve(accepted({}));
      },
      wakeUp: () => undefined,
    });
    manager.onAllRestored();
    manager.margin.onRiskChanged(BASE, riskTerms(riskRow(90, 95, 1_000_000)));
    manager.margin.onPositionChanged({
      user: ALICE,
      subAccount: 1,
      asset: BASE,
      base: usd(2),
      quote: usd(-5),
      entry: usd(5),
    });
  }

  /** A turn of the gateway. */
  async turn(): Promise<void> {
    this.liquidations.sendWaiting();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function nodeOrder(change: Partial<NodeOrderSent> = {}): NodeOrderSent {
  return {
    kind: 'nodeOrder',
    user: ALICE,
    subAccount: 1,
    marketIndex: MARKET.marketIndex,
    orderId: 'sys-liq-17-1-12' as OrderId,
    side: SIDE.sell,
    price: 199_995 as RawPrice,
    quantity: 7 as RawQuantity,
    isSpot: false,
    isLiquidation: true,
    timeNs: NOW,
    ...change,
  };
}

suite('orders of the node at the gateway', () => {
  test('LIQ-05, AMB-57: the owner is the signer of an unsigned reduce-only order, seen like any other', () => {
    const world = new World();
    const { fixture } = world;
    world.liquidations.nodeOrder(nodeOrder());
    const [sent] = world.rings[0]?.read() ?? [];
    assert.equal(sent?.word, 'sys-liq-17-1-12');
    fixture.answer(sent.requestId, fixture.admit(sent.requestId));
    const [created] = fixture.sink.events;
    assert.ok(created?.event.kind === 'Created' && created.user === ALICE);
    assert.equal(created.event.signature.length, 0);
    assert.deepEqual(JSON.parse(Buffer.from(created.event.text).toString('latin1')), {
      signer: ALICE,
      order_id: 'sys-liq-17-1-12',
      base_asset: BASE,
      book_price_decimals: 2,
      book_quantity_decimals: 4,
      details: { Limit: { limit_price: 199_995, quantity: 7, time_in_force: { IOC: { fill_or_kill: false } } } },
      side: 'Sell',
      trigger: null,
      creation_timestamp_ns: Number(NOW),
      target: { account: 1, is_spot: false },
      reduce_only: true,
      max_trading_fees_rate: 4_294_967_295,
      protocol_version: 1,
    });
    const record = fixture.record(ALICE, 'sys-liq-17-1-12');
    assert.deepEqual(
      [record?.is_liquidation, record?.is_reduce_only, record?.is_immediate_or_cancel, record?.is_auto_deleverage],
      [true, true, true, false],
    );
  });

  test('AMB-57: neither minimum, nor CancelOnly, nor a bound of the user stops it', () => {
    const world = new World();
    world.fixture.manager.onMarketChanged({ ...MARKET, status: MARKET_STATUS.cancelOnly });
    world.fixture.manager.onSettingsChanged({
      ...world.fixture.manager.settings,
      openOrdersUserMax: 0,
      openOrdersMax: 0,
    });
    world.liquidations.nodeOrder(nodeOrder({ quantity: 1 as RawQuantity, price: 1 as RawPrice }));
    assert.equal(world.rings[0]?.words(), 'sys-liq-17-1-12');
  });

  test('AMB-57: a client cannot send one: not with its id, not by an injection past every check', () => {
    const world = new World();
    const answers: (string | undefined)[] = [];
    const request = createRequest({ id: 'sys-liq-17-1-12' });
    world.entry.inject(request, new Set(SKIPPED_CHECKS), ({ refusal }) => answers.push(refusal?.code));
    const origin = { user: ALICE, connection: 1, isControl: true };
    world.entry.submit({ kind: 'create', request }, origin, ({ refusal }) => answers.push(refusal?.code));
    world.entry.submitBatch({ kind: 'batch-create', requests: [request] }, origin, (_, { refusal }) =>
      answers.push(refusal?.code),
    );
    assert.deepEqual(answers, ['INVALID_ORDER', 'INVALID_ORDER', 'INVALID_ORDER']);
    assert.equal(world.rings[0]?.words(), '');
  });

  test('AMB-57: a halted market and an unknown one refuse it, and it may come again', async () => {
    const world = new World();
    world.fixture.manager.onMarketChanged({ ...MARKET, status: MARKET_STATUS.halted });
    world.liquidations.nodeOrder(nodeOrder());
    world.liquidations.nodeOrder(nodeOrder({ marketIndex: 9, orderId: 'sys-liq-17-1-9' as OrderId }));
    await world.turn();
    const refused = { kind: 'nodeOrderRefused', user: ALICE, subAccount: 1, isFinal: false };
    assert.deepEqual(world.commands, [
      { ...refused, orderId: 'sys-liq-17-1-12' },
      { ...refused, orderId: 'sys-liq-17-1-9' },
    ]);
    assert.equal(world.rings[0]?.words(), '');
  });

  test('AMB-57: a refusal by the market is final unless it is halted, and leaves nothing', async () => {
    const world = new World();
    for (const [code, isFinal] of [
      [REJECT_CODE.MARKET_HALTED, false],
      [REJECT_CODE.DUPLICATE_ORDER, true],
    ] as const) {
      world.liquidations.nodeOrder(nodeOrder());
      const [sent] = world.rings[0]?.read() ?? [];
      world.fixture.answer(sent?.requestId ?? 0, 0, code);
      const refused = world.commands.pop();
      assert.ok(refused?.kind === 'nodeOrderRefused' && refused.isFinal === isFinal);
      assert.equal(world.fixture.record(ALICE, 'sys-liq-17-1-12'), undefined);
    }
    await world.turn();
    assert.equal(world.liquidations.size, 0);
  });

  test('AMB-57: with a full ring, or before its market is open, it waits; with a full ring to clearing an answer does', async () => {
    const ring = new CommandRing(4_096, 1_024);
    const world = new World([ring]);
    ring.fill();
    while (world.rings[0]?.publication.hasRoom(64, true)) {
      ring.publication.claim(9, 8, true);
      ring.publication.commit();
    }
    world.liquidations.nodeOrder(nodeOrder());
    assert.equal(world.liquidations.size, 1);
    ring.read();
    world.openMarkets.clear();
    world.liquidations.sendWaiting();
    assert.equal(world.liquidations.size, 1);
    world.openMarkets.add(MARKET.marketIndex);
    world.liquidations.sendWaiting();
    assert.equal(ring.words(), 'sys-liq-17-1-12');
    world.isBusy = true;
    world.liquidations.accountCleared({ user: ALICE, subAccount: 1, through: [] });
    await world.turn();
    await world.turn();
    assert.deepEqual([world.liquidations.size, world.commands], [1, []]);
    world.isBusy = false;
    await world.turn();
    assert.deepEqual(world.commands, [{ kind: 'accountCleared', user: ALICE, subAccount: 1, through: [] }]);
    assert.equal(world.liquidations.size, 0);
  });

  test('FIL-01, AMB-35: both sides of its fills are is_liquidation from Pending on; a clip of the backstop is not', () => {
    for (const isLiquidation of [true, false]) {
      const world = new World();
      const { fixture } = world;
      const maker = fixture.place({ id: 'm', user: BOB, quantity: 100 });
      world.liquidations.nodeOrder(nodeOrder({ isLiquidation }));
      const requestId = world.rings[0]?.read()[0]?.requestId ?? 0;
      const taker = fixture.admit(requestId);
      fixture.answer(requestId, taker);
      fixture.confirm(fixture.match(maker, taker, 200_000, 3));
      fixture.rollBack(
        fixture.match(maker, taker, 200_000, 4),
        ROLLBACK_REASON.counterpartyAtFault,
        ROLLBACK_REASON.invalidOrder,
      );
      assert.deepEqual(
        fixture.sink.trades.map(({ user, trade }) => [user, trade.status, trade.isLiquidation]),
        ['Pending', 'Confirmed', 'Pending', 'Rollbacked'].flatMap((status) => [
          [BOB, status, isLiquidation],
          [ALICE, status, isLiquidation],
        ]),
      );
      assert.deepEqual(fixture.sink.faults, [], 'AMB-124: never the fault of the owner');
    }
  });
});

suite('an auto-deleveraging trade at the gateway', () => {
  test('ADL-08, AMB-59: both users see it as Confirmed, neither as maker, and REST has it before a checkpoint', () => {
    const world = new World();
    const side = { subAccount: 1, orderId: 'sys-adl-5' as OrderId, orderSequence: 0 as Sequence, fee: 0n as Amount18 };
    const row: TradeRow = {
      marketIndex: MARKET.marketIndex,
      tradeId: 5 as Sequence,
      price: 200_000 as RawPrice,
      quantity: 10_000 as RawQuantity,
      matchedNs: NOW,
      takerSide: SIDE.buy,
      isLiquidation: false,
      isAutoDeleverage: true,
      maker: { ...side, user: BOB },
      taker: { ...side, user: ALICE },
    };
    world.fixture.manager.onDeleveraged(row);
    const { trades, events } = world.fixture.sink;
    assert.deepEqual(events, []);
    for (const [at, [user, isBuyer]] of (
      [
        [BOB, false],
        [ALICE, true],
      ] as const
    ).entries()) {
      const seen = trades[at];
      assert.ok(seen?.user === user);
      assert.deepEqual(userTradeBody(seen.trade), {
        asset_id: BASE,
        trade_id: 5,
        order_id: 'sys-adl-5',
        price: '2000',
        quantity: '1',
        timestamp_ns: NOW,
        is_maker: false,
        is_buyer: isBuyer,
        status: 'Confirmed',
        rollback_reason: null,
        is_liquidation: false,
        is_auto_deleverage: true,
        sub_account: 1,
        trading_fee: '0',
      });
      const query = { user, marketIndex: null, subAccounts: null, page: 0, limit: 10 };
      const plan = world.fixture.manager.planTradePage(query, {
        order: (order) => order,
        trade: (trade) => trade as never,
      });
      assert.ok(plan.request?.kind === 'trades' && plan.request.held.tradeIds[0] === 5);
    }
    assert.equal(world.fixture.manager.uncheckpointedTrades, 2);
  });
});
