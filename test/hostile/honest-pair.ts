/**
 * A maker and a taker who do nothing wrong, at a steady pace: what they are refused, what they lose and how long they wait
 * is the verdict of the campaign.
 *
 *   maker   `/control`: a post-only sell, its cancel half a second later, so many a second
 *   taker   REST: an immediate-or-cancel buy that meets the best sell, a batch of cancels, a cancel-all now and then
 *
 * Latency is measured from the time at which an order was meant to be sent. Every order must end as its owner wanted: filled,
 * cancelled by him, or for want of a counterparty. Fills of strangers are fills.
 */

import { RingbookClient } from '../../src/client/client.ts';
import type { ControlConnection } from '../../src/client/control.ts';
import { RingbookError } from '../../src/client/errors.ts';
import type { SigningKey } from '../../src/client/keys.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';

const ETH = '2';
const SPOT = { account: 0, isSpot: true } as const;
/** Reasons with which an order of an honest user may end; an immediate one with rolled-back fills is a rollback. */
const ORDINARY = ['UserRequested', 'Filled', 'ImmediateOrCancel', 'PostOnlyWouldCross', 'RolledBack'];

export interface Phase {
  readonly seconds: number;
  readonly creates: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of creates, by code. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Verdict {
  /** Cancels of any kind that were refused or not answered, by code. */
  readonly cancelsRefused: Readonly<Record<string, number>>;
  readonly cancels: number;
  readonly confirmedSides: number;
  /** Fills that were taken back, by reason. */
  readonly rollbacks: Readonly<Record<string, number>>;
  /** Orders that ended for a reason that their owner did not cause, or never ended. */
  readonly lost: readonly string[];
}

type Counts = Map<string, number>;
const add = (counts: Counts, what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

/** A node that ends a connection or refuses is counted; anything else is a fault of the campaign. */
function codeOf(error: unknown): string {
  if (error instanceof RingbookError) return error.code;
  throw error;
}

export class HonestPair {
  readonly maker: RingbookClient;
  readonly taker: RingbookClient;
  readonly #perSecond: number;
  readonly #ends = new Map<string, string>();
  readonly #accepted = new Set<string>();
  readonly #cancelsRefused: Counts = new Map();
  readonly #rollbacks: Counts = new Map();
  readonly #underWay = new Set<Promise<unknown>>();
  #cancels = 0;
  #confirmedSides = 0;
  #control: ControlConnection | null = null;

  constructor(node: NodeProcess, keys: readonly [SigningKey, SigningKey], perSecond: number) {
    const { oms, mds } = node;
    this.maker = new RingbookClient({ oms, mds, key: keys[0] });
    this.taker = new RingbookClient({ oms, mds, key: keys[1] });
    this.#perSecond = perSecond;
  }

  async start(): Promise<void> {
    for (const client of [this.maker, this.taker]) {
      await client.login();
      await client.market(ETH);
      const reconnect = { resume: true };
      (await client.orderEvents(reconnect)).listen(
        (event) => {
          if (event.kind === 'Canceled' || event.kind === 'Removed') this.#ends.set(event.orderId, event.reason ?? '');
        },
        () => undefined,
      );
      (await client.userTrades(reconnect)).listen(
        ({ status, rollbackReason }) => {
          if (status === 'Confirmed') this.#confirmedSides += 1;
          if (status === 'Rollbacked') add(this.#rollbacks, rollbackReason ?? 'unknown');
        },
        () => undefined,
      );
    }
    this.#control = await this.maker.control();
  }

  /** Trades for so long. @returns what the maker's creates went through. */
  async trade(seconds: number): Promise<Phase> {
    const waits: number[] = [];
    const refused: Counts = new Map();
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1_000;
    const taking = this.#take(endsAt);
    let creates = 0;
    while (performance.now() < endsAt) {
      const dueAt = startedAt + (creates * 1_000) / this.#perSecond;
      if (performance.now() < dueAt) {
        await aMoment(1);
        continue;
      }
      creates += 1;
      this.#follow(this.#quote(dueAt, waits, refused));
    }
    await taking;
    await Promise.all(this.#underWay);
    waits.sort((one, other) => one - other);
    const at = (part: number): number => Math.round((waits[Math.floor(waits.length * part)] ?? Infinity) * 100) / 100;
    const maxMs = Math.round((waits.at(-1) ?? Infinity) * 100) / 100;
    return { seconds, creates, p50Ms: at(0.5), p99Ms: at(0.99), maxMs, refused: Object.fromEntries(refused) };
  }

  /** Cancels everything, waits until every order has ended, and returns how they ended. */
  async finish(): Promise<Verdict> {
    // Refusals are judged while it trades; here everything must end.
    for (const client of [this.maker, this.taker]) {
      await eventually(() =>
        client.cancelAll().then(
          () => true,
          (error: unknown) => codeOf(error) === '',
        ),
      );
    }
    const open = (): string[] => [...this.#accepted].filter((id) => !this.#ends.has(id));
    await eventually(() => open().length === 0).catch(() => undefined);
    const strange = [...this.#ends].filter(([id, reason]) => this.#accepted.has(id) && !ORDINARY.includes(reason));
    for (const client of [this.maker, this.taker]) client.close();
    this.#control?.close();
    return {
      cancelsRefused: Object.fromEntries(this.#cancelsRefused),
      cancels: this.#cancels,
      confirmedSides: this.#confirmedSides,
      rollbacks: Object.fromEntries(this.#rollbacks),
      lost: [...strange.map(([id, reason]) => `${id} ${reason}`), ...open().map((id) => `${id} never ended`)],
    };
  }

  #follow(work: Promise<unknown>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  /** A quote of the maker and its cancel. */
  async #quote(dueAt: number, waits: number[], refused: Counts): Promise<void> {
    const price = `${3_000 + (Math.round(dueAt) % 40) / 10}`;
    const timeInForce = { kind: 'GTC', postOnly: true } as const;
    const ticket = { assetId: ETH, side: 'Sell', price, quantity: '0.001', target: SPOT, timeInForce } as const;
    const order = await this.maker.order(ticket);
    try {
      const { status, reason } = await this.#socket().send(this.maker.signCreate(order));
      waits.push(performance.now() - dueAt);
      if (status === 'Received') this.#accepted.add(order.orderId);
      else if (reason === 'WouldCross') return;
      else return add(refused, reason ?? 'unknown');
    } catch (error) {
      return add(refused, codeOf(error));
    }
    await aMoment(500);
    this.#cancels += 1;
    try {
      const { status, reason } = await this.#socket().send(this.maker.signCancel(ETH, order.orderId));
      // Filled or ended meanwhile.
      const isGone = reason === 'OrderNotFound' || reason === 'AlreadyCancelled';
      if (status === 'Rejected' && !isGone) add(this.#cancelsRefused, reason ?? 'unknown');
    } catch (error) {
      add(this.#cancelsRefused, codeOf(error));
    }
  }

  async #take(endsAt: number): Promise<void> {
    for (let turn = 1; performance.now() < endsAt; turn += 1) {
      const timeInForce = { kind: 'IOC' } as const;
      const ticket = {
        assetId: ETH,
        side: 'Buy',
        price: '3010',
        quantity: '0.001',
        target: SPOT,
        timeInForce,
      } as const;
      const order = await this.taker.order(ticket);
      try {
        const { status } = await this.taker.create(order);
        if (status === 'Received') this.#accepted.add(order.orderId);
      } catch (error) {
        codeOf(error);
      }
      if (turn % 5 === 0) await this.#cancelling('batch', () => this.taker.cancelBatch([order.orderId], ETH));
      if (turn % 10 === 0) await this.#cancelling('all', () => this.taker.cancelAll());
      await aMoment(200);
    }
  }

  async #cancelling(what: string, cancel: () => Promise<void>): Promise<void> {
    this.#cancels += 1;
    try {
      await cancel();
    } catch (error) {
      add(this.#cancelsRefused, `${what} ${codeOf(error)}`);
    }
  }

  #socket(): ControlConnection {
    if (this.#control === null) throw new Error('started first');
    return this.#control;
  }
}
