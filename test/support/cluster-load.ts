/**
 * Load for a cluster, and what must hold of the node that leads at its end (the checker of a campaign):
 *
 *   bank    the ledger adds up, and all that is owned follows from the Confirmed trades
 *   append  every side that any client saw as Confirmed is in the leader's history, once
 *   order   an order answered as received with durable acknowledgements is there, and its id is not taken a second time
 *
 * Two users trade with each other, spot and on margin; the client finds the leader, logs in and connects again by itself.
 */
import assert from 'node:assert/strict';
import type { Order } from '../../src/client/canonical.ts';
import type { RingbookClient } from '../../src/client/client.ts';
import type { ControlConnection } from '../../src/client/control.ts';
import { RingbookError } from '../../src/client/errors.ts';
import type { UserTrade } from '../../src/client/replies.ts';
import type { SignedAction } from '../../src/client/signed-actions.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { ETH } from './names.ts';
import { checkHistory } from './node-load.ts';
import { barrier } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import type { SeededRandom } from './simulation.ts';

const TRADERS = ['a', 'b'] as const;
const IN_FLIGHT_MAX = 16;
/** Of these orders' ids it is verified that they are not taken again. */
const AGAIN_MAX = 20;
const PAGE = 1_000;

interface Sent {
  readonly trader: number;
  readonly order: Order;
  readonly action: SignedAction;
  /** Null while it is not answered; `unknown` when its connection ended before. */
  answer: 'Received' | 'Rejected' | 'unknown' | null;
}

export interface ClusterLoadOptions {
  /** Orders a second, together. */
  readonly perSecond?: number;
}

export class ClusterLoad {
  /** Sides that any client saw, in all three statuses. */
  readonly told: { readonly user: string; readonly trade: UserTrade }[] = [];
  readonly sent: Map<string, Sent> = new Map();
  readonly marginIds: Set<string> = new Set();
  /** When orders were answered as received, in milliseconds of `performance.now()`. */
  readonly receivedAtMs: number[] = [];
  /** From the sending of an order that both filled and was confirmed to the Confirmed of its first side. */
  readonly confirmedAfterMs: number[] = [];
  /** Why orders were refused, and how often. */
  readonly refused: Map<string, number> = new Map();
  /** Epochs of the leaders that the clients have moved to. */
  readonly movedTo: number[] = [];
  readonly clients: readonly RingbookClient[];
  readonly #world: Pick<ClusterWorld, 'client' | 'untilLeading'>;
  readonly #random: SeededRandom;
  readonly #perSecond: number;
  readonly #sentAtMs = new Map<string, number>();
  readonly #controls: ControlConnection[] = [];
  readonly #ends: (() => void)[] = [];
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(
    world: Pick<ClusterWorld, 'client' | 'untilLeading'>,
    random: SeededRandom,
    { perSecond = 200 }: ClusterLoadOptions = {},
  ) {
    this.#world = world;
    this.#random = random;
    this.#perSecond = perSecond;
    this.clients = TRADERS.map((name) => world.client(name, (epoch) => this.movedTo.push(epoch)));
  }

  /** Until both are connected; then it goes on by itself. */
  async begin(): Promise<void> {
    for (const client of this.clients) {
      await client.login();
      const stream = await client.userTrades({ reconnect: true });
      const end = stream.listen(
        (trade) => this.#tell(client.userId, trade),
        () => undefined,
      );
      this.#ends.push(end);
      this.#controls.push(await client.control());
    }
    this.#running = this.#run();
  }

  confirmed(): readonly { readonly user: string; readonly trade: UserTrade }[] {
    return this.told.filter(({ trade }) => trade.status === 'Confirmed');
  }

  /** Trade id that any client saw. */
  highestTrade(): number {
    return this.told.reduce((highest, { trade }) => Math.max(highest, trade.tradeId), 0);
  }

  /** Until so many more sides are reported as confirmed. */
  async untilConfirmed(count: number): Promise<void> {
    const goal = this.confirmed().length + count;
    await eventually(
      () => this.confirmed().length >= goal,
      () => `${this.confirmed().length} of ${goal} sides are confirmed; refused: ${JSON.stringify([...this.refused])}`,
    );
  }

  /**
   * The longest time without an order that was answered as received, among those that were under way at `fromMs` or began later.
   *
   * @returns milliseconds.
   */
  longestSilenceMs(fromMs: number): number {
    const from = Math.max(0, this.receivedAtMs.findIndex((atMs) => atMs >= fromMs) - 1);
    const times = this.receivedAtMs.slice(from);
    return times.reduce((longest, atMs, at) => Math.max(longest, atMs - (times[at - 1] ?? atMs)), 0);
  }

  /** Sends nothing more, and waits for what was sent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  close(): void {
    this.#isStopped = true;
    for (const end of this.#ends) end();
    for (const control of this.#controls) control.close();
    for (const client of this.clients) client.close();
  }

  /**
   * The checker, against the node that leads now; call when the load is stopped.
   *
   * @param isDurable whether acknowledgements were durable all the time. @throws AssertionError
   */
  async check({ isDurable }: { readonly isDurable: boolean }): Promise<void> {
    const { node } = await this.#world.untilLeading();
    await barrier(node);
    await checkHistory(node, this, this.marginIds);
    if (isDurable) await this.#checkOrders();
    await this.#checkIds();
  }

  /** What was answered as received is there, in whatever state. */
  async #checkOrders(): Promise<void> {
    for (const [trader, client] of this.clients.entries()) {
      const there = new Set<string>();
      for (let page: number | null = 0; page !== null; ) {
        const found: Awaited<ReturnType<RingbookClient['orders']>> = await client.orders({ page, limit: PAGE });
        for (const { orderId } of found.items) there.add(orderId);
        page = found.nextPage;
      }
      const received = [...this.sent.values()].filter((each) => each.trader === trader && each.answer === 'Received');
      const lost = received.filter(({ order }) => !there.has(order.orderId)).map(({ order }) => order.orderId);
      assert.deepEqual(lost, [], 'an order that was received durably is gone');
    }
  }

  /** The ids of Confirmed orders are taken for ever: the same bytes are refused. */
  async #checkIds(): Promise<void> {
    const ids = [...new Set(this.confirmed().map(({ trade }) => trade.orderId))];
    const step = Math.max(1, Math.floor(ids.length / AGAIN_MAX));
    for (let at = 0; at < ids.length; at += step) {
      const sent = this.sent.get(ids[at] ?? '');
      const client = this.clients[sent?.trader ?? 0];
      if (sent === undefined || client === undefined) continue;
      const error = await client.send(sent.action).then(
        ({ status, reason }) => (status === 'Received' ? null : (reason ?? 'rejected')),
        (thrown: unknown) => (thrown instanceof RingbookError ? thrown.code : String(thrown)),
      );
      assert.notEqual(error, null, `the order ${sent.order.orderId} was taken a second time`);
    }
  }

  #tell(user: string, trade: UserTrade): void {
    this.told.push({ user, trade });
    const sentAtMs = this.#sentAtMs.get(trade.orderId);
    if (trade.status !== 'Confirmed' || trade.isMaker || sentAtMs === undefined) return;
    this.#sentAtMs.delete(trade.orderId);
    this.confirmedAfterMs.push(performance.now() - sentAtMs);
  }

  async #run(): Promise<void> {
    const startsAt = performance.now();
    const inFlight = new Set<Promise<unknown>>();
    let due = 0;
    while (!this.#isStopped) {
      const trader = this.#random.below(TRADERS.length);
      const client = this.clients[trader];
      const control = this.#controls[trader];
      assert.ok(client !== undefined && control !== undefined);
      const isDue = due <= ((performance.now() - startsAt) / 1_000) * this.#perSecond;
      if (!isDue || !control.isOpen) {
        // What could not be sent while there was no leader is not made up for.
        if (isDue) due = ((performance.now() - startsAt) / 1_000) * this.#perSecond;
        await aMoment();
        continue;
      }
      due += 1;
      const order = await this.#order(client).catch(() => null);
      if (order === null) continue;
      this.#send(trader, client, control, order, inFlight);
      if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
  }

  #send(
    trader: number,
    client: RingbookClient,
    control: ControlConnection,
    order: Order,
    inFlight: Set<Promise<unknown>>,
  ): void {
    if (!order.target.isSpot) this.marginIds.add(order.orderId);
    const sent: Sent = { trader, order, action: client.signCreate(order), answer: null };
    this.sent.set(order.orderId, sent);
    this.#sentAtMs.set(order.orderId, performance.now());
    const answer = control.send(sent.action).then(
      ({ status, reason }) => {
        sent.answer = status === 'Received' ? 'Received' : 'Rejected';
        if (status === 'Received') this.receivedAtMs.push(performance.now());
        else this.#refuse(reason ?? 'unknown');
      },
      (error: unknown) => {
        sent.answer = 'unknown';
        this.#refuse(error instanceof RingbookError ? error.code : String(error));
      },
    );
    inFlight.add(answer);
    void answer.finally(() => inFlight.delete(answer));
    if (this.#random.below(8) === 0) {
      const cancel = control.send(client.signCancel(ETH, order.orderId)).catch(() => undefined);
      inFlight.add(cancel);
      void cancel.finally(() => inFlight.delete(cancel));
    }
  }

  #refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }

  /** Mostly limit orders that cross; some at market; a third of all on margin. */
  #order(client: RingbookClient): Promise<Order> {
    const random = this.#random;
    const side = random.below(2) === 0 ? 'Buy' : 'Sell';
    const quantity = `0.0${1 + random.below(9)}`;
    const price = `${2_998 + random.below(5)}`;
    const target = { account: 1, isSpot: random.below(3) > 0 };
    if (random.below(6) === 0) return client.marketOrder({ assetId: ETH, side, quantity, target });
    return client.order({ assetId: ETH, side, price, quantity, target });
  }
}
