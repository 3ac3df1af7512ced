// tier: full, 7 s
/** The SDK on a whole node: accounts, registry, trade events, and streams that go on where they were. */

import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { AccountEvent } from '../../src/client/account.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import type { PublicTradeEvent } from '../../src/client/replies.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { USD } from '../support/names.ts';
import { eventually } from '../support/patience.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const UNIT = 10n ** 18n;

/** Stands between a client and the node, so that a connection can be cut. */
class Cable {
  readonly #server: Server;
  readonly #ends = new Set<Socket>();
  base = '';

  /** @param to called for each connection: a node that starts again may have another port. */
  constructor(to: () => string) {
    this.#server = createServer((near) => {
      const far = connect(Number(new URL(to()).port), '127.0.0.1');
      for (const end of [near, far]) {
        this.#ends.add(end);
        end.on('error', () => end.destroy());
        end.on('close', () => this.#ends.delete(end));
      }
      near.pipe(far).pipe(near);
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    return this;
  }

  cut(): void {
    for (const end of this.#ends) end.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

suite('SDK', () => {
  let world: TestNode;
  let trader: Trader;
  let client: RingbookClient;
  let cable: Cable;

  before(async () => {
    world = await TestNode.start();
    trader = await world.trader({ '0': '1000000', '2': '100' });
    cable = await new Cable(() => world.process.oms).open();
    client = new RingbookClient({
      oms: cable.base,
      mds: world.process.mds,
      key: trader.sdkKey,
      nowNs: () => world.stamp(),
    });
  });
  after(async () => {
    client.close();
    cable.close();
    await world.stop();
  });

  test('sets, lists, resets and removes protection groups, and creates orders in one (MMP-01, MMP-02)', async () => {
    const made = await client.protect('2', {
      group: 'sdk',
      windowMs: 1_000,
      frozenMs: 0,
      maxFills: 3,
      maxQuantity: '5',
    });
    const limits = { group: 'sdk', windowMs: 1_000, frozenMs: 0, maxFills: 3, maxQuantity: '5', maxNotional: null };
    const state = { ...limits, minFillNotional: '10', liveOrders: 0, isFrozen: false, frozenUntilNs: null };
    assert.deepEqual(made, state);
    const order = await client.order({
      assetId: '2',
      side: 'Sell',
      price: '5000',
      quantity: '0.1',
      target: { account: 0, isSpot: true },
    });
    assert.equal((await client.create(order, undefined, 'sdk')).status, 'Received');
    assert.deepEqual(await client.protections('2'), [{ ...state, liveOrders: 1 }]);
    const isInUse = (error: unknown): boolean => error instanceof RingbookError && error.code === 'PROTECTION_IN_USE';
    await assert.rejects(client.removeProtection('2', 'sdk'), isInUse);
    assert.equal((await client.resetProtection('2', 'sdk')).isFrozen, false);
    await client.cancel('2', order.orderId);
    await world.rest();
    await client.removeProtection('2', 'sdk');
    assert.deepEqual(await client.protections('2'), []);
  });

  const move = (more: object = {}): Parameters<typeof client.account.transfer>[0] => ({
    sourceIndex: 0,
    targetIndex: 1,
    assetId: USD,
    amount18: UNIT,
    targetAccountType: null,
    nonce: world.stamp(),
    ...more,
  });
  const code = (expected: string) => (error: unknown) => error instanceof RingbookError && error.code === expected;

  test('accounts: transfer, name, close, multisig, and what clearing refuses is thrown (AMB-67)', async () => {
    const told: AccountEvent[] = [];
    const stop = (await client.account.events()).listen((event) => told.push(event));
    await client.account.transfer(move());
    await client.account.transfer(move({ targetIndex: 2, targetAccountType: 'Spot' }));
    const renaming = { oldName: 'Account 2', newName: 'Hedge book' };
    assert.deepEqual(await client.account.rename(2, 'Hedge book'), renaming);
    assert.equal((await client.inventory()).get(2)?.name, 'Hedge book');
    await assert.rejects(client.account.transfer(move({ amount18: 10n ** 40n })), code('INSUFFICIENT_INVENTORY'));
    await assert.rejects(client.account.transfer(move({ nonce: 1n })), code('INVALID_NONCE'));
    const close = { account: 1, assetId: '2' as AssetId, nonce: 1n };
    await assert.rejects(client.account.closePosition(close), code('POSITION_NOT_FOUND'));
    const { masterWeight, signers, thresholds } = await client.account.multisigConfig();
    assert.deepEqual([masterWeight, signers, thresholds], [1, [], { low: 1, medium: 1, high: 1 }]);
    await eventually(
      () => told.length === 2,
      () => `${told.length} events`,
    );
    const [first] = told;
    assert.deepEqual(first, {
      kind: 'SubAccountAssetTransferred',
      asset: '0',
      amount18: UNIT,
      sourceIndex: 0,
      targetIndex: 1,
      timestampNs: first?.timestampNs,
    });
    stop();
  });

  test('registry: tokens, vaults, risk rows, netting, decimals, and a market for all users (REG-04 to REG-09, AMB-130)', async () => {
    const { registry } = client;
    const tokens = await registry.tokens();
    const eth = tokens.find(({ symbol }) => symbol === 'ETH');
    assert.deepEqual([tokens.length, eth?.assetId, eth?.decimals, eth?.maxDeposits], [5, '2', 18, 200_000n * UNIT]);
    assert.equal((await registry.vaults()).length, 2);
    assert.deepEqual([...(await registry.riskParameters()).keys()], ['0', '1', '2', '3']);
    assert.deepEqual(await registry.nettingParameters(), [], 'netting is not offered');
    assert.deepEqual(await registry.decimals([eth?.address ?? '']), new Map([[eth?.address, 18]]));
    assert.equal((await registry.createMarket('2')).assetId, '2');
    await assert.rejects(registry.createMarket('9'), code('MARKET_NOT_FOUND'));
  });

  test('trade events: pending, then confirmed (wire.md 9.7)', async () => {
    const told: PublicTradeEvent[] = [];
    const stop = (await client.tradeEvents()).listen((event) => told.push(event));
    await trader.sell(limit(300_000, 10_000));
    await trader.buy(limit(300_000, 10_000));
    await eventually(
      () => told.length === 2,
      () => `${told.length} events`,
    );
    assert.deepEqual(
      told.map(({ status, trade }) => [status, trade.price]),
      [
        ['Pending', '3000'],
        ['Confirmed', '3000'],
      ],
    );
    stop();
  });

  test('history: orders and trades with filters, names and costs, with a login at either listener (wire-additions.md 8)', async () => {
    await world.advance(1_000_000_000n);
    const before = world.nowNs;
    const { id } = await trader.sell(limit(320_000, 10_000));
    await trader.buy(limit(320_000, 10_000), { account: 0, isSpot: true });
    await world.rest();
    const options = { key: trader.sdkKey, nowNs: () => world.stamp() };
    const readers = [
      client,
      new RingbookClient({ oms: cable.base, ...options }),
      new RingbookClient({ oms: cable.base, mds: `${world.process.oms}/market-data`, ...options }),
    ];
    for (const { history } of readers) {
      await history.login();
      const sells = await history.orders({
        assetId: '2',
        side: 'Sell',
        status: 'completed',
        startNs: before,
        limit: 1,
      });
      assert.deepEqual(
        sells.items.map((order) => [order.orderId, order.subAccount, order.isSpot, order.revisionNs, order.status]),
        [[id, 0, true, null, 'Filled']],
      );
      const bought = await history.trades({ side: 'Buy', subAccount: 0, startNs: before });
      assert.deepEqual(
        bought.items.map((trade) => [trade.price, trade.isBuyer, trade.subAccount]),
        [['3200', true, 0]],
      );
      assert.deepEqual((await history.trades({ subAccount: 7 })).items, []);
      await assert.rejects(history.orders({ startNs: 2n, endNs: 1n }), code('INVALID_REQUEST'));
      assert.deepEqual(await history.subAccountNames(), [{ subAccount: 2, name: 'Hedge book' }]);
      const [row, ...others] = await history.positionBasis({ subAccount: 0 });
      assert.deepEqual(others, []);
      assert.deepEqual(
        [row?.assetId, row?.domain, row?.side, row?.entryPrice, row?.averageAcquisitionPrice],
        ['2', 'spot', null, null, '3200'],
      );
      await assert.rejects(history.positionBasis({ assetId: '77' }), code('MARKET_NOT_FOUND'));
    }
    for (const other of readers.slice(1)) other.close();
    const figures = (await client.margin.figures()).get(1);
    assert.deepEqual([figures?.unrealizedPnl, figures?.maintenanceRequirement, figures?.warnings], ['0', '0', []]);
  });

  test('a stream that resumes loses nothing when its connection is cut, and reports when it has to begin anew', async () => {
    const told: OrderEvent[] = [];
    let rereads = 0;
    const stream = await client.orderEvents({ resume: true, delayMs: 5, onReconnected: () => (rereads += 1) });
    const stop = stream.listen((event) => told.push(event));
    const ids: string[] = [];
    const place = async (): Promise<void> => {
      const { id } = await trader.sell(limit(310_000, 10_000));
      ids.push(id);
      await trader.until(id, 'Created');
    };
    const created = (): string[] => told.flatMap((event) => (event.kind === 'Created' ? [event.orderId] : []));
    const all = (): Promise<void> =>
      eventually(
        () => created().length >= ids.length,
        () => `${created().length} of ${ids.length}`,
      );
    await place();
    await all();
    for (let round = 0; round < 3; round += 1) {
      cable.cut();
      await place();
      await place();
      await all();
    }
    assert.deepEqual(created(), ids, 'each once, in their order');
    assert.equal(rereads, 0);
    await world.restart();
    await eventually(
      () => rereads === 1,
      () => 'a node that started again keeps nothing of before, and says so',
    );
    await place();
    await all();
    assert.deepEqual([created(), rereads], [ids, 1]);
    stop();
  });
});
