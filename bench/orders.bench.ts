/**
 * The order manager by itself, on one thread: what a create, its admission, a fill and a cancel cost, and the memory of a
 * live order. Rings, JSON and signatures are not in it.
 */

import { assert } from '../src/core/assert.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../src/core/ids.ts';
import { ORDER_END, SIDE, TRIGGER, TRIGGER_STATE } from '../src/core/order-terms.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, type TimestampNs } from '../src/core/units.ts';
import { viewsOf } from '../src/core/views.ts';
import type { OrderSink } from '../src/gateway/orders/book/order-events.ts';
import { OrderManager } from '../src/gateway/orders/order-manager.ts';
import { DEFAULT_ORDER_SETTINGS } from '../src/gateway/orders/settings.ts';
import { writeText, writeUser } from '../src/schema/fields.ts';
import { OrderRecord } from '../src/schema/generated/messages.ts';
import {
  BASE,
  cancelRequest,
  createRequest,
  EMPTY_RECORD,
  ID_KEY,
  MARKET,
  mustPass,
  NO_HISTORY,
  NOW,
} from '../test/support/order-fixture.ts';
import { type BenchResult, median, type Scale } from './bench-kit.ts';

const SIZES = {
  small: { users: 200, each: 20, rounds: 15 },
  full: { users: 10_000, each: 100, rounds: 15 },
} as const;
const IN_TURN = 20_000;

function silentSink(): OrderSink {
  const nothing = (): void => undefined;
  return {
    ...{ orderEvent: nothing, userTrade: nothing, fault: nothing, release: nothing, accountCleared: nothing },
    protectionTriggered: nothing,
    ...{ isOrderRead: () => false, isTradeRead: () => false, countFill: nothing },
    reduce: () => true,
    endQuoteSet: () => true,
  };
}

/** As different from others as a public key is. */
function userOf(at: number): UserId {
  const words = Array.from({ length: 8 }, (_, word) => Math.imul(at * 8 + word + 1, 0x9e37_79b1) >>> 0);
  return words.map((word) => word.toString(16).padStart(8, '0')).join('') as UserId;
}

/** Market and clearing at once: what is created is admitted, what is cancelled ends. */
class ClearingFixture {
  readonly manager: OrderManager = new OrderManager({ sink: silentSink(), history: NO_HISTORY, idKey: ID_KEY });
  readonly users: readonly UserId[];
  #sequence = 0;
  #trades = 0;
  #flushes = 0;

  constructor(users: number) {
    this.users = Array.from({ length: users }, (_, at) => userOf(at));
    this.manager.onMarketChanged(MARKET);
    const many = { ...DEFAULT_ORDER_SETTINGS, openOrdersMax: 1e9, openOrdersUserMax: 1e9, openOrdersNodeMax: 1e9 };
    this.manager.onSettingsChanged(many);
    for (const user of this.users) {
      for (const asset of [USD, BASE] as AssetId[]) {
        const owned = (10n ** 9n * ONE_18) as Amount18;
        this.manager.onBalanceChanged({ user, subAccount: 0, asset, owned, locked: 0n as Amount18 });
      }
    }
  }

  /** @returns the order's sequence. */
  create(user: UserId, id: string, side: 0 | 1): number {
    const creationNs = (NOW - BigInt(2 ** 32 - this.#sequence)) as TimestampNs;
    const wish = { user, id, side, price: 200_000 + (this.#sequence % 500) * 5 };
    const request = createRequest(wish, { creationNs });
    const prepared = mustPass(this.manager.requests.checkCreate(request, { user, now: NOW, looksUp: false }));
    const { requestId } = mustPass(this.manager.requests.reserveCreate(prepared, NOW));
    this.#sequence += 1;
    const answer = { requestId, marketIndex: 3, sequence: this.#sequence, timeNs: NOW };
    this.manager.onAccepted({ ...answer, rejectCode: 0 });
    this.manager.requests.onAck({ ...answer, rejectCode: 0 });
    return this.#sequence;
  }

  cancel(user: UserId, id: string, order: number): void {
    const prepared = mustPass(
      this.manager.requests.checkCancel(cancelRequest(id, user), { user, now: NOW, looksUp: true }),
    );
    const requestId = mustPass(this.manager.requests.reserveCancel(prepared));
    this.#sequence += 1;
    const word = { marketIndex: 3, sequence: this.#sequence, timeNs: NOW };
    this.manager.onEnded({ ...word, order, end: ORDER_END.userRequested, faultReason: 0 });
    this.manager.requests.onAck({ ...word, requestId, rejectCode: 0 });
  }

  fill(maker: number, taker: number): void {
    this.#sequence += 1;
    this.#trades += 1;
    const trade = { marketIndex: 3, tradeId: this.#trades, timeNs: NOW };
    this.manager.onMatched({
      ...trade,
      sequence: this.#sequence,
      makerOrder: maker,
      takerOrder: taker,
      price: 200_000 as RawPrice,
      quantity: 10 as RawQuantity,
      takerSide: SIDE.sell,
      makerFeeRate: MARKET.makerFeeRate,
      takerFeeRate: MARKET.takerFeeRate,
    });
    const fees = { makerFee: 1n as Amount18, takerFee: 2n as Amount18 };
    this.manager.onFillConfirmed({ ...trade, ...fees });
  }

  /** Clearing has decided and written all of it. */
  settle(): void {
    this.manager.onMarketDecided({ marketIndex: 3, sequence: this.#sequence });
    for (let before = -1; before !== this.manager.ordersInMemory || this.manager.uncheckpointedTrades > 0; ) {
      before = this.manager.ordersInMemory;
      this.#flushes += 1;
      this.manager.onJournalFlushed({ sequence: this.#flushes, checkpoint: this.#flushes - 1 });
    }
    this.manager.onJournalFlushed({ sequence: this.#flushes + 1, checkpoint: this.#flushes });
  }
}

/** Of CPU time, the collector's included: other processes take part of the machine. */
function usPer(count: number, work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / count;
}

/** Creates, fills and cancels beside `live` orders. */
function roundOf(
  fixture: ClearingFixture,
  round: number,
): { readonly create: number; readonly fill: number; readonly cancel: number } {
  const { users } = fixture;
  const userAt = (at: number): UserId => users[at % users.length] as UserId;
  const orders: number[] = [];
  const idAt = (at: number): string => `r${round}-${at}`;
  const create = usPer(IN_TURN, () => {
    for (let at = 0; at < IN_TURN; at += 1) orders.push(fixture.create(userAt(at), idAt(at), (at % 2) as 0 | 1));
  });
  const fill = usPer(IN_TURN / 2, () => {
    for (let at = 0; at < IN_TURN; at += 2) fixture.fill(orders[at] as number, orders[at + 1] as number);
  });
  const cancel = usPer(IN_TURN, () => {
    for (let at = 0; at < IN_TURN; at += 1) fixture.cancel(userAt(at), idAt(at), orders[at] as number);
  });
  fixture.settle();
  return { create, fill, cancel };
}

/** Orders of a start, some waiting for a trigger: what each costs this thread, and what it takes of memory. */
function restored(users: number, each: number): { readonly us: number; readonly bytes: number } {
  const fixture = new ClearingFixture(users);
  const v = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);
  OrderRecord.write(v, 0, EMPTY_RECORD);
  const count = users * each;
  const before = memory();
  const us = usPer(count, () => {
    for (let at = 0; at < count; at += 1) {
      const waits = at % 6 === 0;
      OrderRecord.setOrderSequence(v, 0, at + 1);
      OrderRecord.setPrice(v, 0, 200_000 + 5 * (at % 500));
      OrderRecord.setTimestampNs(v, 0, NOW + BigInt(at));
      OrderRecord.setTriggerKind(v, 0, waits ? TRIGGER.above : TRIGGER.none);
      OrderRecord.setTriggerState(v, 0, waits ? TRIGGER_STATE.dormant : TRIGGER_STATE.live);
      writeUser(v, OrderRecord.userAt, fixture.users[(at * 7_919) % users] as UserId);
      const id = `restored-${at}`;
      writeText(v, OrderRecord.orderIdAt, id);
      OrderRecord.setOrderIdBytes(v, 0, id.length);
      fixture.manager.restoreOrder(v, 0, { inForce: waits ? 0 : 10_000, parent: 0, parentId: '' });
    }
  });
  const bytes = (memory() - before) / count;
  assert(fixture.manager.openOrders(null) === count, 'every restored order is live');
  return { us, bytes };
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const { users, each, rounds } = SIZES[scale];
  const fixture = new ClearingFixture(users);
  const before = memory();
  for (let at = 0; at < users * each; at += 1) {
    fixture.create(fixture.users[at % users] as UserId, `order-number-${at}`, (at % 2) as 0 | 1);
  }
  fixture.settle();
  const perOrder = (memory() - before) / (users * each);
  const figures = Array.from({ length: rounds }, (_, round) => roundOf(fixture, round)).slice(1);
  assert(fixture.manager.ordersInMemory === users * each, 'what was cancelled has left memory');
  assert(
    fixture.manager.order({ user: fixture.users[0] as UserId, marketIndex: 3, orderId: 'order-number-0' as OrderId })
      ?.status === 'Open',
    'what was not is open',
  );
  const start = restored(users, each);
  const live = `beside ${users * each} live orders`;
  return {
    name: 'orders',
    rows: [
      { label: `create and admission, ${live}`, value: median(figures.map(({ create }) => create)), unit: 'us' },
      { label: `fill with its outcome, ${live}`, value: median(figures.map(({ fill }) => fill)), unit: 'us' },
      { label: `cancel and end, ${live}`, value: median(figures.map(({ cancel }) => cancel)), unit: 'us' },
      { label: 'memory of a live order', value: perOrder, unit: 'bytes' },
      { label: `restored order, of ${users * each}`, value: start.us, unit: 'us' },
      { label: 'memory of a restored order', value: start.bytes, unit: 'bytes' },
    ],
    checks: 'orders in memory and the status of one',
  };
}
