/**
 * kill -9 under load, again and again on one data directory: what was told as confirmed is there, once, and everything
 * adds up. RINGBOOK_KILLS=<n> tries more kills.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Order } from '../../src/client/canonical.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { UserTrade } from '../../src/client/replies.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { auditData } from '../../src/node/audit-data.ts';
import { SeededRandom } from '../../src/runtime/simulation.ts';
import { type NodeProcess, operator, removeDirectory, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually, PATIENCE_MS } from '../support/patience.ts';
import { recoveredAndReplayed } from '../support/recovered.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const KILLS = Number(process.env['RINGBOOK_KILLS'] ?? '2');
const SEED = Number(process.env['RINGBOOK_KILL_SEED'] ?? '20261121');
const ETH = '2' as AssetId;
const FULL_AT_KIB = 400;
const SIDES_BEFORE_A_KILL = 20;
const START = { usd: 500_000n * 10n ** 18n, eth: 100n * 10n ** 18n };

/** Two users who trade with each other until the node goes away. */
class Load {
  readonly told: UserTrade[] = [];
  readonly clients: readonly RingbookClient[];
  private readonly random: SeededRandom;

  constructor(node: NodeProcess, random: SeededRandom) {
    this.random = random;
    this.clients = (['a', 'b'] as const).map(
      (name) => new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) }),
    );
  }

  /** Trades until the node is gone; it always is before a test loses its patience. */
  async run(): Promise<void> {
    const controls = [];
    for (const client of this.clients) {
      await client.login();
      const stream = await client.userTrades();
      stream.listen(
        (trade) => this.told.push(trade),
        () => undefined,
      );
      controls.push(await client.control());
    }
    const endsAt = performance.now() + PATIENCE_MS;
    const inFlight = new Set<Promise<unknown>>();
    while (performance.now() < endsAt) {
      const who = this.random.below(2);
      const client = this.clients[who];
      const control = controls[who];
      assert.ok(client !== undefined && control !== undefined);
      const order = await this.order(client);
      const answer = control.send(client.signCreate(order)).catch(() => undefined);
      inFlight.add(answer);
      void answer.finally(() => inFlight.delete(answer));
      if (inFlight.size >= 32) await Promise.race(inFlight);
      if (this.random.below(8) === 0) void client.cancel(ETH, order.orderId).catch(() => undefined);
    }
  }

  /** Mostly limit orders; some at market, some that wait for a price. */
  private async order(client: RingbookClient): Promise<Order> {
    const { random } = this;
    const side = random.below(2) === 0 ? 'Buy' : 'Sell';
    const quantity = `0.0${1 + random.below(9)}`;
    const price = `${2_998 + random.below(5)}`;
    if (random.below(6) === 0) return client.marketOrder({ assetId: ETH, side, quantity });
    const when = random.below(2) === 0 ? 'above' : 'below';
    const trigger = random.below(5) === 0 ? { trigger: { when, price: `${2_998 + random.below(5)}` } as const } : {};
    return client.order({ assetId: ETH, side, price, quantity, ...trigger });
  }

  close(): void {
    for (const client of this.clients) client.close();
  }
}

async function everyTrade(client: RingbookClient): Promise<readonly UserTrade[]> {
  const trades: UserTrade[] = [];
  for (let page: number | null = 0; page !== null; ) {
    const found: { items: readonly UserTrade[]; nextPage: number | null } = await client.trades({ page, limit: 1000 });
    trades.push(...found.items);
    page = found.nextPage;
  }
  return trades;
}

function amount(text: string): bigint {
  const parsed = parseDecimal18(text);
  assert.ok(parsed !== null, text);
  return parsed;
}

/** What a user must own after these trades, to the unit. */
function ownedAfter(trades: readonly UserTrade[]): { readonly usd: string; readonly eth: string } {
  let { usd, eth } = START;
  for (const trade of trades) {
    const quantity = amount(trade.quantity);
    const notional = (amount(trade.price) * quantity) / 10n ** 18n;
    eth += trade.isBuyer ? quantity : -quantity;
    usd += (trade.isBuyer ? -notional : notional) - amount(trade.tradingFee ?? '0');
  }
  return { usd: format18(usd), eth: format18(eth) };
}

async function checkHistory(node: NodeProcess, load: Load, seenIds: Set<number>): Promise<void> {
  for (const [index, name] of (['a', 'b'] as const).entries()) {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    await client.login();
    const trades = await everyTrade(client);
    const sides = trades.map((trade) => `${trade.tradeId} ${trade.isMaker}`);
    assert.equal(new Set(sides).size, sides.length, 'no trade stands twice in history');
    const durable = new Set(sides);
    for (const trade of load.told) {
      if (trade.status === 'Confirmed' && load.clients[index]?.userId === client.userId && isOf(trade, trades)) {
        assert.ok(durable.has(`${trade.tradeId} ${trade.isMaker}`), `confirmed trade ${trade.tradeId} is lost`);
      }
    }
    const view = await operator(node, 'GET', `/operator/users/${client.userId}`);
    const accounts = view.body['sub_accounts'] as Record<
      string,
      { balances: Record<string, { owned: string; held: string }> }
    >;
    const expected = ownedAfter(trades);
    assert.equal(accounts['1']?.balances['0']?.owned, expected.usd, `USD of ${name}`);
    assert.equal(accounts['1']?.balances[ETH]?.owned, expected.eth, `ETH of ${name}`);
    for (const trade of trades) seenIds.add(trade.tradeId);
    client.close();
  }
  const ledger = await operator(node, 'GET', '/operator/ledger');
  for (const [asset, row] of Object.entries(ledger.body['assets'] as Record<string, { difference: string }>)) {
    assert.equal(row.difference, '0', `asset ${asset} adds up`);
  }
}

/** Both users' confirmed sides arrive in one list: a side belongs to the user whose history names its order. */
function isOf(trade: UserTrade, trades: readonly UserTrade[]): boolean {
  return trades.some((own) => own.orderId === trade.orderId);
}

/** The book as market data shows it equals the open orders as REST shows them. */
async function checkBook(node: NodeProcess): Promise<void> {
  const sums = new Map<string, bigint>();
  let depth: {
    asks: readonly { price: string; quantity: string }[];
    bids: readonly { price: string; quantity: string }[];
  } | null = null;
  for (const name of ['a', 'b'] as const) {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    await client.login();
    for (let page: number | null = 0; page !== null; ) {
      const found: Awaited<ReturnType<RingbookClient['orders']>> = await client.orders({
        openOnly: true,
        page,
        limit: 1000,
      });
      for (const order of found.items) {
        // Orders that wait for their trigger rest in a book of their own (TRG-01).
        if (order.status === 'Untriggered') continue;
        const rest =
          amount(order.quantity ?? '0') - amount(order.confirmedFilledQuantity) - amount(order.pendingFilledQuantity);
        const key = `${order.side} ${order.limitPrice}`;
        sums.set(key, (sums.get(key) ?? 0n) + rest);
      }
      page = found.nextPage;
    }
    depth = await client.depth(ETH);
    client.close();
  }
  assert.ok(depth !== null);
  const shown = [
    ...depth.asks.map((level) => ['Sell', level] as const),
    ...depth.bids.map((level) => ['Buy', level] as const),
  ];
  const levels = new Map(shown.map(([side, { price, quantity }]) => [`${side} ${price}`, amount(quantity)]));
  assert.deepEqual([...levels].sort(), [...sums].filter(([, rest]) => rest > 0n).sort());
}

/** Until so many sides were told as confirmed. */
async function untilTold(load: Load, count = 1): Promise<void> {
  await eventually(() => load.told.filter((trade) => trade.status === 'Confirmed').length >= count);
}

/** A start that is killed at some moment before it is ready, or soon after. */
async function killedWhileStarting(dataDirectory: string, random: SeededRandom): Promise<void> {
  const starting = startNode({ profile: 'dev', dataDirectory, killAfterMs: 100 + random.below(1_000) });
  await starting.then(
    (node) => stopNode(node, 'SIGKILL'),
    () => undefined,
  );
}

suite('recovery of a whole node', () => {
  test(`kill -9 under load, ${KILLS} times: no confirmed trade is lost or doubled, balances are exact, ids go on (AMB-110, AMB-116, I5)`, async () => {
    const dataDirectory = temporaryDirectory();
    const random = new SeededRandom(SEED);
    let node = await startNode({ profile: 'dev', dataDirectory });
    const seenIds = new Set<number>();
    let confirmed = 0;
    let highest = 0;
    try {
      for (let round = 0; round < KILLS; round += 1) {
        const load = new Load(node, random);
        const running = load.run().catch(() => undefined);
        await untilTold(load, SIDES_BEFORE_A_KILL);
        await aMoment(random.below(700));
        await stopNode(node, 'SIGKILL');
        load.close();
        void running;
        await recoveredAndReplayed(dataDirectory);
        if (round % 2 === 1) await killedWhileStarting(dataDirectory, random);
        const told = [...load.told];
        const lowest = Math.min(...told.map((trade) => trade.tradeId));
        if (told.length > 0) assert.ok(lowest > highest, `trade ids go on: ${lowest} after ${highest}`);
        highest = Math.max(highest, ...told.map((trade) => trade.tradeId));
        confirmed += told.filter((trade) => trade.status === 'Confirmed').length;
        node = await startNode({ profile: 'dev', dataDirectory });
        await checkHistory(node, load, seenIds);
        await checkBook(node);
      }
      assert.ok(confirmed >= KILLS * SIDES_BEFORE_A_KILL, `the load trades: ${confirmed} confirmed sides`);
      assert.equal(await stopNode(node), 0);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(dataDirectory);
    }
  });

  for (const point of ['before_flush', 'after_flush'] as const) {
    test(`a crash ${point.replace('_', ' ')} leaves each fill either whole or absent`, async () => {
      const dataDirectory = temporaryDirectory();
      let node = await startNode({ profile: 'dev', dataDirectory });
      try {
        const load = new Load(node, new SeededRandom(SEED + 1));
        const running = load.run().catch(() => undefined);
        await untilTold(load);
        await operator(node, 'POST', '/operator/clearing', {
          fault: { kind: 'crash', point, after_transactions: 5 },
        }).catch(() => undefined);
        assert.equal(await node.ended, 'SIGKILL');
        load.close();
        void running;
        node = await startNode({ profile: 'dev', dataDirectory });
        await checkHistory(node, load, new Set());
        await checkBook(node);
      } finally {
        await stopNode(node, 'SIGKILL');
        removeDirectory(dataDirectory);
      }
    });
  }

  test('SIGTERM under load drains: the last checkpoint is clean, and everything told is there (AMB-110)', async () => {
    const dataDirectory = temporaryDirectory();
    let node = await startNode({ profile: 'dev', dataDirectory });
    try {
      const load = new Load(node, new SeededRandom(SEED + 2));
      const running = load.run().catch(() => undefined);
      await untilTold(load);
      assert.equal(await stopNode(node), 0, node.stderr());
      load.close();
      void running;
      assert.equal((await auditData(dataDirectory, () => undefined)).clean, true);
      node = await startNode({ profile: 'dev', dataDirectory });
      await checkHistory(node, load, new Set());
      await checkBook(node);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(dataDirectory);
    }
  });

  test('a data file that cannot grow ends the node at once with 70 and one line, and what was told is there', async () => {
    const dataDirectory = temporaryDirectory();
    let node = await startNode({ profile: 'dev', dataDirectory, fileKiBMax: FULL_AT_KIB });
    try {
      const load = new Load(node, new SeededRandom(SEED + 3));
      const running = load.run().catch(() => undefined);
      assert.equal(await node.ended, 70, node.stderr());
      load.close();
      void running;
      assert.match(node.stderr(), /"reason":"thread clearing: StorageError: committing/);
      await recoveredAndReplayed(dataDirectory);
      node = await startNode({ profile: 'dev', dataDirectory });
      await checkHistory(node, load, new Set());
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(dataDirectory);
    }
  });

  test('two nodes cannot share a data directory: the second refuses to start with 78 (I24)', async () => {
    const node = await startNode({ profile: 'dev' });
    try {
      await assert.rejects(startNode({ profile: 'dev', dataDirectory: node.dataDirectory }), /ended with 78/);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });
});
