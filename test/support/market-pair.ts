/** An engine and the reference book that hear the same commands and must tell the same. For tests of matching. */
import assert from 'node:assert/strict';
import type { OrderEnd, RollbackReason } from '../../src/core/order-terms.ts';
import {
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  TRIGGER_STATE,
  type TriggerState,
} from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MarketEngine } from '../../src/matching/market-engine.ts';
import { keyOf, MarketRecorder, newOrder, received, START_NS, type Terms, type Told } from './market-recorder.ts';
import { ReferenceBook, type ReferenceReplace } from './reference-book.ts';
import { canRest, type ReferenceOrder, type ReferenceTrade } from './reference-order.ts';
import { durable, restart } from './reference-restart.ts';
import type { ReferenceLimits } from './reference-state.ts';

const SEQUENCE_GAP = 1_000;
const PUMP_BUDGET = 64;
/** A child that trades with its own parent activates itself: after so many turns it is let go no more. */
const TURNS_MAX = 20;

/** A command's name and time, without the key's bytes. */
interface Named {
  readonly user: string;
  readonly orderId: string;
  readonly requestId: number;
  readonly receivedNs: bigint;
}

export class MarketPair {
  readonly reference: ReferenceBook;
  engine: MarketEngine;
  nowNs: bigint = START_NS;
  readonly seen: Set<string>;
  readonly #limits: ReferenceLimits;
  #recorder: MarketRecorder = new MarketRecorder();
  #requestId = 0;

  /** @param seen gathers what kinds of events were told, so that nobody mistakes silence for agreement. */
  constructor(limits: ReferenceLimits, seen: Set<string>) {
    this.#limits = limits;
    this.seen = seen;
    this.reference = new ReferenceBook(limits);
    this.engine = this.#newEngine(this.#recorder, 7);
  }

  /** The part of a command that says who asks when. */
  named(user: string, orderId: string): Named {
    return { user, orderId, requestId: ++this.#requestId, receivedNs: this.nowNs };
  }

  create(terms: Terms): Told[] {
    this.engine.create(newOrder(terms));
    this.reference.create(terms);
    return this.compare();
  }

  replace(terms: ReferenceReplace): Told[] {
    this.engine.replace({
      ...this.#keyed(terms),
      timestampHigh: highWord(terms.timestampNs),
      timestampLow: lowWord(terms.timestampNs),
      price: terms.price,
      quantity: terms.quantity,
      triggerKind: terms.triggerKind,
      triggerPrice: terms.triggerPrice,
      isNodeMade: false,
    });
    this.reference.replace(terms);
    return this.compare();
  }

  cancel(terms: Named & { hold: boolean }): Told[] {
    this.engine.cancel({ ...this.#keyed(terms), hold: terms.hold, end: ORDER_END.userRequested });
    this.reference.cancel(terms);
    return this.compare();
  }

  cancelAll(user: string, beforeNs: bigint): Told[] {
    const named = this.named(user, 'any');
    this.engine.cancelAll({ ...this.#keyed(named), beforeHigh: highWord(beforeNs), beforeLow: lowWord(beforeNs) });
    this.reference.cancelAll({ ...named, beforeNs });
    return this.compare();
  }

  /** @param words the answer to what was told last, and no budget, if left out. */
  release(order: number, quantity: number, end: OrderEnd | 0, words: { late?: boolean; budget?: number } = {}): Told[] {
    const toldAt = this.reference.orders.find(({ sequence }) => sequence === order)?.toldAt ?? 0;
    const triggered = words.late === true ? toldAt - 1 : toldAt;
    const command = { order, triggered, quantity, budget: words.budget ?? 0, end };
    this.engine.release({ receivedNs: this.nowNs as TimestampNs, ...command });
    this.reference.release({ receivedNs: this.nowNs, ...command });
    return this.compare();
  }

  /** @returns whether more waits. */
  pump(budget: number = PUMP_BUDGET): boolean {
    const isBusy = this.engine.pump(this.nowNs, budget);
    assert.equal(isBusy, this.reference.pump(this.nowNs, budget), 'whether more waits');
    this.compare();
    return isBusy;
  }

  settle(tradeId: number): Told[] {
    this.engine.settled(tradeId);
    this.reference.settled(tradeId);
    return this.compare();
  }

  rollback(trade: ReferenceTrade, makerReason: RollbackReason, takerReason: RollbackReason): Told[] {
    const { tradeId, maker, taker, quantity } = trade;
    const orders = { makerOrder: maker.sequence, takerOrder: taker.sequence, quantity: Number(quantity) };
    this.engine.rollback({ receivedNs: this.nowNs as TimestampNs, tradeId, ...orders, makerReason, takerReason });
    this.reference.rollback(tradeId, { maker: makerReason, taker: takerReason }, this.nowNs);
    return this.compare();
  }

  tick(): Told[] {
    this.engine.tick(this.nowNs);
    this.reference.passTo(this.nowNs);
    return this.compare();
  }

  setStatus(status: MarketStatus): void {
    this.reference.status = status;
    this.#setRules();
  }

  setSelfTradePrevention(isOn: boolean): void {
    this.reference.selfTradePrevention = isOn;
    this.#setRules();
  }

  setCollar(lowest: number, highest: number): void {
    this.reference.collar = [lowest, highest];
    this.#setRules();
  }

  #setRules(): void {
    const { status, selfTradePrevention, collar } = this.reference;
    this.engine.setMarket({ status, selfTradePrevention });
    this.engine.setCollar(...collar);
  }

  /** Everything undecided is lost, numbers jump, and the book is rebuilt from what clearing keeps. */
  restart(): Told[] {
    const position = {
      sequence: this.engine.sequence + SEQUENCE_GAP,
      lastTradeId: this.engine.lastTradeId + SEQUENCE_GAP,
      nowNs: this.nowNs as TimestampNs,
    };
    this.#recorder = new MarketRecorder();
    this.engine = this.#rebuilt(this.#recorder, false);
    restart(this.reference, this.nowNs, SEQUENCE_GAP);
    this.#setRules();
    this.engine.finishRestore(position);
    this.#compareLevels();
    return this.compare();
  }

  /** Confirms, tells, releases until there is nothing to be done. @param end what the front door says. */
  comeToRest(end: OrderEnd | 0 = 0): void {
    this.setStatus(MARKET_STATUS.active);
    const { reference } = this;
    for (let turn = 0; ; turn++) {
      this.settle(reference.lastTradeId);
      const isBusy = this.pump();
      const awaited = reference.orders.filter(({ isAwaited }) => isAwaited);
      const word = turn < TURNS_MAX ? end : ORDER_END.marginInsufficient;
      for (const { sequence, told } of awaited) this.release(sequence, Number(told), word);
      if (!isBusy && awaited.length === 0 && reference.undecided.length === 0) return;
    }
  }

  /** At rest, and with nothing overdue, a rebuilt book hashes like the one that lived through it all. */
  rebuildAtRest(): void {
    this.comeToRest();
    this.tick();
    // Of orders that never rest, clearing keeps only what was not released (AMB-110).
    for (const order of this.reference.orders)
      if (order.activated > 0n && !canRest(order))
        this.cancel({ ...this.named(order.user, order.orderId), hold: false });
    const recorder = new MarketRecorder();
    const rebuilt = this.#rebuilt(recorder, true);
    const { sequence, lastTradeId } = this.engine;
    rebuilt.finishRestore({ sequence, lastTradeId, nowNs: this.nowNs as TimestampNs });
    rebuilt.checkInvariants();
    assert.deepEqual(recorder.take(), []);
    assert.equal(rebuilt.hash(), this.engine.hash());
    this.#compareLevels();
  }

  compare(): Told[] {
    const told = this.#recorder.take();
    assert.deepEqual(told, this.reference.take());
    for (const event of told) this.seen.add(kindOf(event));
    this.engine.checkInvariants();
    this.engine.checkBest();
    return told;
  }

  #compareLevels(): void {
    const levels = new Map<string, bigint>();
    for (const side of [0, 1] as const)
      this.engine.forEachLevel(side, (at, total) => levels.set(`${side} ${at}`, BigInt(total)));
    assert.deepEqual([...levels].sort(), [...this.reference.levels()].sort());
  }

  #newEngine(events: MarketRecorder, hashSeed: number): MarketEngine {
    return new MarketEngine({ events, ...this.#limits, hashSeed, firstCapacity: 4 });
  }

  /** An engine with everything that clearing would hand back, before its restore is finished. */
  #rebuilt(recorder: MarketRecorder, backwards: boolean): MarketEngine {
    const engine = this.#newEngine(recorder, 11);
    const { status, selfTradePrevention, collar, ids } = this.reference;
    engine.setMarket({ status, selfTradePrevention });
    engine.setCollar(...collar);
    const { orders, remembered } = durable(this.reference);
    for (const { user, orderId, creationNs, wasCancelled } of remembered) {
      const key = keyOf(user, orderId);
      engine.restoreRememberedId({ ...key, creationNs: creationNs as TimestampNs, wasCancelled });
    }
    for (const [user, creationNs] of ids.watermarks) {
      const { words, userAt } = keyOf(user, 'any');
      engine.restoreWatermark(words, userAt, creationNs);
    }
    if (backwards) orders.reverse().sort((a, b) => Number(a.parent !== null) - Number(b.parent !== null));
    for (const order of orders) restore(engine, order);
    return engine;
  }

  #keyed({ user, orderId, requestId, receivedNs }: Named): ReturnType<typeof keyOf> & ReturnType<typeof received> {
    return { ...keyOf(user, orderId), ...received(requestId, receivedNs) };
  }
}

function restore(engine: MarketEngine, order: ReferenceOrder): void {
  engine.restoreOrder({
    ...keyOf(order.user, order.orderId),
    order: order.sequence,
    prioritySequence: order.priority,
    subAccount: order.subAccount,
    side: order.side,
    kind: order.kind,
    tif: order.tif,
    flags: order.flags,
    price: order.price,
    quantity: Number(order.quantity),
    amount: Number(order.amount),
    budget: Number(order.budget),
    filledQuantity: Number(order.filled),
    triggerState: triggerStateOf(order),
    triggerKind: order.triggerKind,
    triggerPrice: order.triggerPrice,
    parent: order.parent?.sequence ?? 0,
    creationNs: order.creationNs as TimestampNs,
    timestampNs: order.timestampNs as TimestampNs,
    expiryNs: order.expiryNs as TimestampNs,
  });
}

function triggerStateOf({ state, activated }: ReferenceOrder): TriggerState {
  if (state === 'dormant') return TRIGGER_STATE.dormant;
  return state === 'fired' && activated === 0n ? TRIGGER_STATE.fired : TRIGGER_STATE.live;
}

/** An event by its name and by what it says beside numbers. */
function kindOf([name, , second, third, ...rest]: Told): string {
  if (name === 'ended' || name === 'createRefused') return `${name} ${third}`;
  if (name.endsWith('Refused')) return `${name} ${second}`;
  if (name === 'triggered') return `${name} ${rest[0] === 0 ? 'nothing' : 'lots'}`;
  if (name === 'replaced') return `${name} ${rest[3] === 0 ? 'unasked' : 'on demand'}`;
  return name;
}
