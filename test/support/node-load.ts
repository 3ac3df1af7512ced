/**
 * Load for whole nodes that are about to be killed, drained or filled up, and what must hold of the node that comes
 * after: nothing that was published is lost or doubled, everything owned follows from history, the book is that of the
 * open orders.
 */

import assert from 'node:assert/strict';
import type { Order } from '../../src/client/canonical.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { UserTrade } from '../../src/client/replies.ts';
import type { NowNs } from '../../src/client/time.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { ETH } from './names.ts';
import { type NodeProcess, operator } from './node-process.ts';
import { aMoment, eventually, PATIENCE_MS } from './patience.ts';
import type { SeededRandom } from './simulation.ts';

const START = { usd: 500_000n * 10n ** 18n, eth: 100n * 10n ** 18n };

/** A side of a fill that was published to a user. */
interface ToldSide {
  readonly user: string;
  readonly trade: UserTrade;
}

/** Two users who trade with each other, spot and margin, until the node goes away. */
export class Load {
  readonly told: ToldSide[] = [];
  /** Every order that was sent, by its id. */
  readonly orders: Map<string, Order> = new Map();
  /** Ids of those that were answered as received, in the order of the answers. */
  readonly acknowledged: string[] = [];
  /** How often orders were refused, by the reason. */
  readonly refused: Map<string, number> = new Map();
  readonly clients: readonly RingbookClient[];
  /** How long orders waited for their answers; the reader takes them out. */
  readonly answeredAfterMs: number[] = [];
  readonly #random: SeededRandom;
  readonly #marginIds: Set<string>;
  readonly #perSecond: number;
  #isStopped = false;

  /**
   * @param marginIds ids of margin orders, those of earlier lives of the node as well.
   * @param perSecond orders; without it as many as there can be.
   * @param clock of its signatures, for a node whose time is not that of this machine.
   */
  constructor(
    node: NodeProcess,
    random: SeededRandom,
    marginIds: Set<string>,
    perSecond: number = Infinity,
    clock: { readonly nowNs?: NowNs } = {},
  ) {
    this.#random = random;
    this.#marginIds = marginIds;
    this.#perSecond = perSecond;
    this.clients = (['a', 'b'] as const).map(
      (name) => new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name), ...clock }),
    );
  }

  /**
   * Trades until it is stopped or the node is gone. At full speed one of them comes before a test loses its patience; at a
   * pace it has no end of its own.
   */
  async run(): Promise<void> {
    const controls = [];
    for (const client of this.clients) {
      await client.login();
      const stream = await client.userTrades();
      stream.listen(
        (trade) => this.told.push({ user: client.userId, trade }),
        () => undefined,
      );
      controls.push(await client.control());
    }
    const startsAt = performance.now();
    const endsAt = this.#perSecond === Infinity ? startsAt + PATIENCE_MS : Infinity;
    const inFlight = new Set<Promise<unknown>>();
    while (performance.now() < endsAt && !this.#isStopped && controls.every(({ isOpen }) => isOpen)) {
      // One order too many at the most: what is due rises while it is waited for.
      if (this.orders.size > ((performance.now() - startsAt) / 1_000) * this.#perSecond) {
        await aMoment();
        continue;
      }
      const who = this.#random.below(2);
      const client = this.clients[who];
      const control = controls[who];
      assert.ok(client !== undefined && control !== undefined);
      const order = await this.#order(client);
      if (!order.target.isSpot) this.#marginIds.add(order.orderId);
      this.orders.set(order.orderId, order);
      const sentAt = performance.now();
      const answer = control.send(client.signCreate(order)).then(
        ({ status, reason }) => {
          this.answeredAfterMs.push(performance.now() - sentAt);
          if (status === 'Received') this.acknowledged.push(order.orderId);
          else this.refused.set(reason ?? 'unknown', (this.refused.get(reason ?? 'unknown') ?? 0) + 1);
        },
        () => undefined,
      );
      inFlight.add(answer);
      void answer.finally(() => inFlight.delete(answer));
      if (inFlight.size >= 32) await Promise.race(inFlight);
      if (this.#random.below(8) === 0) void client.cancel(ETH, order.orderId).catch(() => undefined);
    }
    await Promise.all(inFlight);
  }

  /** Sends nothing more; `run` comes to its end when everything that was sent is answered. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Mostly limit orders; some at market, some that wait for a price; a third of all on margin. */
  async #order(client: RingbookClient): Promise<Order> {
    const random = this.#random;
    const side = random.below(2) === 0 ? 'Buy' : 'Sell';
    const quantity = `0.0${1 + random.below(9)}`;
    const price = `${2_998 + random.below(5)}`;
    const target = { account: 1, isSpot: random.below(3) > 0 };
    if (random.below(6) === 0) return client.marketOrder({ assetId: ETH, side, quantity, target });
    const when = random.below(2) === 0 ? 'above' : 'below';
    const trigger = random.below(5) === 0 ? { trigger: { when, price: `${2_998 + random.below(5)}` } as const } : {};
    return client.order({ assetId: ETH, side, price, quantity, target, ...trigger });
  }

  /** Sides that were reported as confirmed. */
  confirmed(): readonly ToldSide[] {
    return this.told.filter(({ trade }) => trade.status === 'Confirmed');
  }

  /** Until so many sides were reported as confirmed. */
  untilTold(count = 1): Promise<void> {
    return eventually(() => this.confirmed().length >= count);
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

interface Wealth {
  readonly usd: string;
  readonly eth: string;
  /** Legs of the margin position. */
  readonly base: string;
  readonly quote: string;
}

/** What a user must own after these trades, to the unit. */
function wealthAfter(trades: readonly UserTrade[], marginIds: ReadonlySet<string>): Wealth {
  const spot = { ...START };
  const legs = { usd: 0n, eth: 0n };
  for (const trade of trades) {
    const quantity = amount(trade.quantity);
    const notional = (amount(trade.price) * quantity) / 10n ** 18n;
    const of = marginIds.has(trade.orderId) ? legs : spot;
    of.eth += trade.isBuyer ? quantity : -quantity;
    of.usd += (trade.isBuyer ? -notional : notional) - amount(trade.tradingFee ?? '0');
  }
  return { usd: format18(spot.usd), eth: format18(spot.eth), base: format18(legs.eth), quote: format18(legs.usd) };
}

interface AccountView {
  readonly balances: Readonly<Record<string, { readonly owned: string }>>;
  readonly positions: Readonly<Record<string, { readonly base: string; readonly quote: string }>>;
}

/** Every side that was reported as confirmed is in history, once, and all that is owned follows from history. */
export async function checkHistory(
  node: Pick<NodeProcess, 'oms' | 'mds' | 'ops'>,
  load: Pick<Load, 'confirmed'>,
  marginIds: ReadonlySet<string>,
): Promise<void> {
  for (const name of ['a', 'b'] as const) {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    await client.login();
    const trades = await everyTrade(client);
    const sides = trades.map((trade) => `${trade.tradeId} ${trade.isMaker}`);
    const durable = new Set(sides);
    assert.equal(durable.size, sides.length, 'no trade stands twice in history');
    for (const { user, trade } of load.confirmed()) {
      if (user !== client.userId) continue;
      assert.ok(durable.has(`${trade.tradeId} ${trade.isMaker}`), `confirmed trade ${trade.tradeId} is lost`);
    }
    const view = await operator(node, 'GET', `/operator/users/${client.userId}`);
    const account = (view.body['sub_accounts'] as Readonly<Record<string, AccountView>>)['1'];
    const { base = '0', quote = '0' } = account?.positions[ETH] ?? {};
    const owned = { usd: account?.balances['0']?.owned, eth: account?.balances[ETH]?.owned, base, quote };
    assert.deepEqual(owned, wealthAfter(trades, marginIds), `what ${name} owns`);
    client.close();
  }
  const ledger = await operator(node, 'GET', '/operator/ledger');
  for (const [asset, row] of Object.entries(ledger.body['assets'] as Record<string, { difference: string }>)) {
    assert.equal(row.difference, '0', `asset ${asset} adds up`);
  }
}

/** The book as market data shows it equals the open orders as REST shows them. */
export async function checkBook(node: NodeProcess): Promise<void> {
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
