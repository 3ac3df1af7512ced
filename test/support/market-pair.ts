/**
 * An engine and the reference book that take the same commands and must emit the same events. For tests of matching.
 */

import assert from 'node:assert/strict';
import type { OrderEnd, RollbackReason } from '../../src/core/order-terms.ts';
import {
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  ORDER_FLAG,
  TRIGGER_STATE,
  type TriggerState,
} from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { type MarketRules, ReplaceCommand } from '../../src/matching/commands.ts';
import type { MarketEngine } from '../../src/matching/market-engine.ts';
import { NO_BOUND } from '../../src/order/order-codec.ts';
import {
  HashingEngine,
  keyOf,
  MarketRecorder,
  newOrder,
  received,
  START_NS,
  type Terms,
  type Told,
} from './market-recorder.ts';
import { type EndWords, endOfSets, quoteSet } from './quote-fixture.ts';
import {
  type Durable,
  durable,
  mayGrow,
  type ReferenceAmend,
  ReferenceBook,
  type ReferenceReplace,
  restart,
} from './reference-book.ts';
import { canRest, type ReferenceOrder, type ReferenceTrade } from './reference-order.ts';
import type { ReferenceProtection } from './reference-protection.ts';
import type { ReferenceQuoteCommand, ReferenceQuoteSet } from './reference-quotes.ts';
import type { ReferenceLimits } from './reference-state.ts';

const EVERY = { sideOnly: 0, protectionGroup: 0 } as const;
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

/** A call of the engine; the commands in it are used again. */
type EngineCall = (engine: MarketEngine) => void;

/** How an engine is made, and its commands since then. */
interface Life {
  readonly birth: (recorder: MarketRecorder) => MarketEngine;
  readonly calls: readonly EngineCall[];
}

interface Kept extends Durable {
  readonly rules: MarketRules & { readonly collar: readonly [number, number] };
  readonly watermarks: readonly (readonly [user: string, creationNs: bigint])[];
}

export class MarketPair {
  readonly reference: ReferenceBook;
  engine: MarketEngine;
  nowNs: bigint = START_NS;
  readonly seen: Set<string>;
  readonly #limits: ReferenceLimits;
  #recorder: MarketRecorder = new MarketRecorder();
  #requestId = 0;
  /** Levels as they were published last, where a command begins with a book that is being uncrossed. */
  #uncrossedFrom: Map<string, bigint> | null = null;
  #birth: Life['birth'];
  /** Null: this pair will not be forked. */
  #calls: EngineCall[] | null = null;

  /** @param seen gathers the kinds of emitted events, so that silence is not taken for agreement. */
  constructor(
    limits: ReferenceLimits,
    seen: Set<string>,
    from: { life: Life; reference: ReferenceBook } | null = null,
  ) {
    this.#limits = limits;
    this.seen = seen;
    this.reference = from?.reference ?? new ReferenceBook(limits);
    this.#birth = from?.life.birth ?? ((recorder) => this.#newEngine(recorder, 7));
    this.engine = this.#birth(this.#recorder);
    if (from === null) return;
    for (const call of from.life.calls) call(this.engine);
    this.#recorder.take();
  }

  /** Keeps the commands of the engine from here on, for `fork`. @returns itself. */
  forkable(): this {
    this.#calls = [];
    return this;
  }

  /**
   * Another pair that stands where this one stands: a copy of the reference, and a new engine with the same commands,
   * without a comparison, since they were compared the first time.
   */
  fork(): MarketPair {
    assert.ok(this.#calls !== null, 'a pair that is forked was forkable from its beginning');
    const life = { birth: this.#birth, calls: this.#calls };
    const fork = new MarketPair(this.#limits, this.seen, { life, reference: this.reference.clone() });
    fork.nowNs = this.nowNs;
    fork.#requestId = this.#requestId;
    return fork;
  }

  #call(call: EngineCall): void {
    this.#calls?.push(call);
    this.#uncrossedFrom = this.reference.isUncrossing ? new Map(this.reference.levelsTold) : null;
    call(this.engine);
  }

  /** The user and the time of a command. */
  named(user: string, orderId: string): Named {
    return { user, orderId, requestId: ++this.#requestId, receivedNs: this.nowNs };
  }

  create(terms: Terms): Told[] {
    const command = newOrder(terms);
    this.#call((engine) => engine.create(command));
    this.reference.create(terms);
    return this.compare();
  }

  replace(terms: ReferenceReplace): Told[] {
    const { price, triggerKind, triggerPrice, isComplete = false } = terms;
    const command = { ...this.#change(terms), price, triggerKind, triggerPrice, isComplete };
    this.#call((engine) => engine.replace(command));
    this.reference.replace(terms);
    return this.compare();
  }

  amend(terms: ReferenceAmend): Told[] {
    const { expectedNs } = terms;
    const command = {
      ...this.#change(terms),
      isAmend: true,
      expectsRevision: expectedNs !== null,
      expectedHigh: highWord(expectedNs ?? 0n),
      expectedLow: lowWord(expectedNs ?? 0n),
    };
    this.#call((engine) => engine.replace(command));
    this.reference.amend(terms);
    return this.compare();
  }

  cancel(terms: Named & { mayPark: boolean; end?: OrderEnd }): Told[] {
    const { mayPark, end = ORDER_END.userRequested } = terms;
    const command = { ...this.#keyed(terms), mayPark, end };
    this.#call((engine) => engine.cancel(command));
    this.reference.cancel(terms);
    return this.compare();
  }

  cancelAll(user: string, beforeNs: bigint, end: OrderEnd = ORDER_END.userRequested): Told[] {
    const named = this.named(user, 'any');
    const command = {
      ...this.#keyed(named),
      beforeHigh: highWord(beforeNs),
      beforeLow: lowWord(beforeNs),
      end,
      ...EVERY,
    };
    this.#call((engine) => engine.cancelAll(command));
    this.reference.cancelAll({ ...named, beforeNs, end });
    return this.compare();
  }

  applyQuotes(terms: ReferenceQuoteCommand): Told[] {
    const command = quoteSet(terms);
    this.#call((engine) => engine.applyQuoteSet(command));
    this.reference.applyQuotes(terms);
    return this.compare();
  }

  /** @param name '': every set of the user. */
  endQuotes(
    user: string,
    name: string,
    end: OrderEnd = ORDER_END.userRequested,
    bounds: Pick<EndWords, 'beforeNs' | 'sideOnly'> = {},
  ): Told[] {
    const { requestId, receivedNs } = this.named(user, name);
    const command = { ...endOfSets(user, name, { receivedNs, end, ...bounds }), requestId };
    this.#call((engine) => engine.endQuoteSets(command));
    this.reference.endQuotes({ user, name, requestId, receivedNs, end, ...bounds });
    return this.compare();
  }

  /** @param words the answer to the last event, and no budget, if left out. */
  release(
    order: number,
    quantity: number,
    end: OrderEnd | 0,
    words: { late?: boolean; budget?: number; bound?: number } = {},
  ): Told[] {
    const publishedAt = this.reference.orders.find(({ sequence }) => sequence === order)?.publishedAt ?? 0;
    const triggered = words.late === true ? publishedAt - 1 : publishedAt;
    const command = {
      receivedNs: this.nowNs as TimestampNs,
      order,
      triggered,
      quantity,
      budget: words.budget ?? 0,
      ...NO_BOUND,
      bound: words.bound ?? 0,
      end,
    };
    this.#call((engine) => engine.release(command));
    this.reference.release(command);
    return this.compare();
  }

  /** @returns whether more waits. */
  poll(budget: number = PUMP_BUDGET): boolean {
    const { nowNs } = this;
    let isBusy = false;
    this.#call((engine) => {
      isBusy = engine.poll(nowNs, budget);
    });
    assert.equal(isBusy, this.reference.poll(nowNs, budget), 'whether more waits');
    this.compare();
    return isBusy;
  }

  settle(tradeId: number): Told[] {
    this.#call((engine) => engine.settled(tradeId));
    this.reference.settled(tradeId);
    return this.compare();
  }

  reserveTradeIds(count: number): Told[] {
    this.#call((engine) => engine.reserveTradeIds(count));
    this.reference.reserveTradeIds(count);
    return this.compare();
  }

  rollback(trade: ReferenceTrade, makerReason: RollbackReason, takerReason: RollbackReason): Told[] {
    const { tradeId, maker, taker, quantity } = trade;
    const orders = { makerOrder: maker.sequence, takerOrder: taker.sequence, quantity: Number(quantity) };
    const command = { receivedNs: this.nowNs as TimestampNs, tradeId, ...orders, makerReason, takerReason };
    this.#call((engine) => engine.rollback(command));
    this.reference.rollback(tradeId, { maker: makerReason, taker: takerReason }, this.nowNs);
    return this.compare();
  }

  /** Of what came back so many steps. @returns whether more is left. */
  uncross(budget: number = Number.POSITIVE_INFINITY): boolean {
    let isLeft = false;
    this.#call((engine) => {
      isLeft = engine.uncross(budget);
    });
    assert.equal(isLeft, this.reference.uncross(budget), 'whether more is left');
    this.compare();
    return isLeft;
  }

  tick(): Told[] {
    const { nowNs } = this;
    this.#call((engine) => engine.tick(nowNs));
    this.reference.tick(nowNs);
    return this.compare();
  }

  /** @param terms null: the group is removed. @param isReset the freeze in force is over. */
  setProtection(user: string, slot: number, terms: ReferenceProtection | null, isReset = false): void {
    const resetTrip = isReset ? (this.reference.groupOf(user, slot)?.freeze?.trip ?? 0) : 0;
    const command = { ...keyOf(user, 'any'), slot, terms, resetTrip };
    this.#call((engine) => engine.setProtection(command));
    this.reference.setProtection(user, slot, terms, resetTrip);
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
    this.#call((engine) => {
      engine.setMarket({ status, selfTradePrevention });
      engine.setCollar(...collar);
    });
  }

  /** Everything undecided is lost, numbers jump, and the book is rebuilt from what clearing keeps. */
  restart(): Told[] {
    const position = {
      sequence: this.engine.sequence + SEQUENCE_GAP,
      lastTradeId: this.engine.lastTradeId + SEQUENCE_GAP,
      nowNs: this.nowNs as TimestampNs,
    };
    const kept = this.#kept();
    this.#recorder = new MarketRecorder();
    this.#birth = (recorder) => {
      const engine = this.#rebuilt(recorder, kept, false);
      engine.finishRestore(position);
      return engine;
    };
    if (this.#calls !== null) this.#calls = [];
    this.engine = this.#birth(this.#recorder);
    restart(this.reference, this.nowNs, SEQUENCE_GAP);
    this.#compareLevels();
    return this.compare();
  }

  /** Confirms, publishes, releases until there is nothing to be done. @param end the answer of the gateway. */
  comeToRest(end: OrderEnd | 0 = 0): void {
    this.setStatus(MARKET_STATUS.active);
    const { reference } = this;
    for (let turn = 0; ; turn++) {
      this.settle(reference.lastTradeId);
      const isBusy = this.poll();
      const awaited = reference.orders.filter(({ isAnswerPending }) => isAnswerPending);
      const word = turn < TURNS_MAX ? end : ORDER_END.marginInsufficient;
      for (const { sequence, told } of awaited) this.release(sequence, Number(told), word);
      if (!isBusy && awaited.length === 0 && reference.undecided.length === 0) return;
    }
  }

  /** At rest, and with nothing overdue, a rebuilt book hashes like the one that lived through it all. */
  rebuildAtRest(): void {
    this.comeToRest();
    do this.tick();
    while (this.engine.isBehind);
    // Of orders that never rest, clearing keeps only those of which something was not released (AMB-110).
    for (const order of this.reference.orders)
      if (order.activated > 0n && !canRest(order) && !mayGrow(order))
        this.cancel({ ...this.named(order.user, order.orderId), mayPark: false });
    const recorder = new MarketRecorder();
    const rebuilt = this.#rebuilt(recorder, this.#kept(), true);
    const { sequence, lastTradeId } = this.engine;
    rebuilt.finishRestore({ sequence, lastTradeId, nowNs: this.nowNs as TimestampNs });
    rebuilt.checkInvariants();
    assert.deepEqual(recorder.take(), []);
    assert.equal(rebuilt.hash(), this.engine.hash());
    this.#compareLevels();
  }

  compare(): Told[] {
    const all = this.#recorder.take();
    // A level that came back and went again while the book was uncrossed may be published as it was.
    const told = this.#uncrossedFrom === null ? all : withoutUnchanged(all, this.#uncrossedFrom);
    const expected = this.reference.take();
    if (!isSame(told, expected)) assert.deepEqual(told, expected);
    for (const event of told) this.seen.add(kindOf(event));
    this.engine.checkInvariants();
    this.engine.checkBatch(this.#recorder.toldLevels);
    return told;
  }

  #compareLevels(): void {
    const levels = new Map<string, bigint>();
    for (const side of [0, 1] as const)
      this.engine.forEachLevel(side, (at, total) => levels.set(`${side} ${at}`, BigInt(total)));
    assert.deepEqual([...levels].sort(), [...this.reference.levels()].sort());
  }

  #newEngine(events: MarketRecorder, hashSeed: number): MarketEngine {
    return new HashingEngine({ events, ...this.#limits, hashSeed: BigInt(hashSeed), firstCapacity: 4 });
  }

  /** What survives a crash: the rules, and what clearing would hand back. */
  #kept(): Kept {
    const { status, selfTradePrevention, collar, ids } = this.reference;
    const rules = { status, selfTradePrevention, collar };
    return { ...durable(this.reference), rules, watermarks: [...ids.watermarks] };
  }

  /** An engine with everything that was kept, before its restore is finished. */
  #rebuilt(
    recorder: MarketRecorder,
    { orders, remembered, rules, watermarks, groups, sets }: Kept,
    backwards: boolean,
  ): MarketEngine {
    const engine = this.#newEngine(recorder, 11);
    engine.setMarket(rules);
    engine.setCollar(...rules.collar);
    for (const { user, orderId, creationNs, wasCancelled } of remembered) {
      const key = keyOf(user, orderId);
      engine.restoreRememberedId({ ...key, creationNs: creationNs as TimestampNs, wasCancelled });
    }
    for (const [user, creationNs] of watermarks) {
      const { words, userAt } = keyOf(user, 'any');
      engine.restoreWatermark(words, userAt, creationNs);
    }
    for (const { user, slot, terms, freeze } of groups)
      engine.restoreProtection({ ...keyOf(user, 'any'), slot, terms: terms as ReferenceProtection, freeze });
    for (const set of sets) restoreSet(engine, set);
    const inOrder = [...orders];
    if (backwards) inOrder.reverse().sort((a, b) => Number(a.parent !== null) - Number(b.parent !== null));
    for (const order of inOrder) restore(engine, order);
    return engine;
  }

  /** A replace of the total alone. */
  #change(terms: Named & { readonly timestampNs: bigint; readonly quantity: number }): ReplaceCommand {
    const { timestampNs, quantity } = terms;
    return {
      ...new ReplaceCommand(),
      ...this.#keyed(terms),
      timestampHigh: highWord(timestampNs),
      timestampLow: lowWord(timestampNs),
      quantity,
    };
  }

  #keyed({ user, orderId, requestId, receivedNs }: Named): ReturnType<typeof keyOf> & ReturnType<typeof received> {
    return { ...keyOf(user, orderId), ...received(requestId, receivedNs) };
  }
}

function withoutUnchanged(told: readonly Told[], levels: Map<string, bigint>): Told[] {
  let hasChanged = false;
  return told.filter(([name, ...numbers]) => {
    const isCommit = name === 'depthCommitted';
    if (name === 'levelChanged') {
      const [side, price, quantity] = numbers as number[];
      const key = `${side} ${price}`;
      if ((levels.get(key) ?? 0n) === BigInt(quantity as number)) return false;
      levels.set(key, BigInt(quantity as number));
      hasChanged = true;
    } else if (isCommit && !hasChanged) return false;
    if (isCommit) hasChanged = false;
    return true;
  });
}

/** Whether all is equal, without the time that finding a difference takes. */
function isSame(told: readonly Told[], expected: readonly Told[]): boolean {
  if (told.length !== expected.length) return false;
  for (let i = 0; i < told.length; i++) {
    const [one, other] = [told[i] as Told, expected[i] as Told];
    if (one.length !== other.length) return false;
    for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  }
  return true;
}

function restoreSet(engine: MarketEngine, set: ReferenceQuoteSet): void {
  const { user, name, terms, slot, isOver, lastNumber, numberFloor } = set;
  const { words, userAt, nameAt, nameBytes } = endOfSets(user, name, { receivedNs: 0n });
  engine.restoreQuoteSet({
    ...{ words, userAt, nameAt, nameBytes, slot, isOver, lastNumber, numberFloor, ...terms },
    flags: ORDER_FLAG.postOnly | ORDER_FLAG.isSpot,
    revisionNs: set.revisionNs as TimestampNs,
    markNs: set.markNs as TimestampNs,
    markFloorNs: set.markFloorNs as TimestampNs,
    goodUntilNs: terms.goodUntilNs as TimestampNs,
  });
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
    inForce: Number(order.activated),
    spent: order.spent,
    triggerState: triggerStateOf(order),
    triggerKind: order.triggerKind,
    triggerPrice: order.triggerPrice,
    parent: order.parent?.sequence ?? 0,
    quoteSet: order.set?.slot ?? 0,
    creationHigh: highWord(order.creationNs),
    creationLow: lowWord(order.creationNs),
    timestampHigh: highWord(order.timestampNs),
    timestampLow: lowWord(order.timestampNs),
    expiryHigh: highWord(order.expiryNs),
    expiryLow: lowWord(order.expiryNs),
    protectionGroup: order.group?.terms === null ? 0 : (order.group?.slot ?? 0),
  });
}

function triggerStateOf({ state, activated }: ReferenceOrder): TriggerState {
  if (state === 'dormant') return TRIGGER_STATE.dormant;
  return state === 'fired' && activated === 0n ? TRIGGER_STATE.fired : TRIGGER_STATE.live;
}

/** An event by its name and its members other than numbers. */
function kindOf([name, , second, third, ...rest]: Told): string {
  if (name === 'quotesEnded') return `${name} ${third}`;
  if (name === 'quotesApplied') return `${name} ${rest[2]}`;
  if (name === 'ended' || name === 'createRefused') return `${name} ${third}`;
  if (name.endsWith('Refused')) return `${name} ${second}`;
  if (name === 'triggered') return `${name} ${rest[0] === 0 ? 'nothing' : 'lots'}`;
  if (name === 'replaced') return `${name} ${rest[3] === 0 ? 'unasked' : 'on demand'}`;
  return name;
}
