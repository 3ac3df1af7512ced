/**
 * The engine and the reference are given the same random commands and must tell the same events, one by one, while
 * every invariant holds after every command and both books hash alike, also when rebuilt from what clearing keeps.
 *
 * A command is two random words; what they mean depends on the state only where a command needs something that exists
 * (an undecided trade). 200,000 commands by default, more with RINGBOOK_PROPERTY_RUNS. A failure prints its seed at once;
 * with RINGBOOK_PROPERTY_SEED set to it, the failing commands are shrunk, which takes minutes.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { RAW_MAX } from '../../src/core/limits.ts';
import {
  MARKET_STATUS,
  type MarketStatus,
  ORDER_FLAG,
  ROLLBACK_REASON,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
} from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MarketEngine } from '../../src/matching/market-engine.ts';
import { keyOf, MarketRecorder, newOrder, START_NS } from '../support/market-recorder.ts';
import { ReferenceBook, type ReferenceOrder } from '../support/reference-book.ts';

const COMMANDS_PER_RUN_MAX = 1_100;
const RUNS = Number(process.env['RINGBOOK_PROPERTY_RUNS'] ?? 370);
const SEED = process.env['RINGBOOK_PROPERTY_SEED'];
const SEQUENCE_GAP = 1_000;
const LIMITS = { heldCancelNs: 5_000_000_000n, heldCancelsPerUserMax: 2, rememberedIdsPerUserMax: 5 };
const DAY_NS = 86_400_000_000_000n;
const LIFE_NS = 30n * DAY_NS;
const USERS = ['ada', 'bob', 'cyd'];
const REASONS: readonly RollbackReason[] = Object.values(ROLLBACK_REASON).filter((reason) => reason !== 0);

/** Deals numbers out of the two words of a command. */
class Dealer {
  #rest: bigint;

  constructor(high: number, low: number) {
    this.#rest = (BigInt(high) << 32n) | BigInt(low);
  }

  below(count: number): number {
    const dealt = Number(this.#rest % BigInt(count));
    this.#rest /= BigInt(count);
    return dealt;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

/** What a run must have heard at least once. */
const EVERYTHING: readonly string[] = [
  'accepted',
  'cancelAccepted',
  'cancelRefused ALREADY_CANCELLED',
  'cancelRefused ORDER_NOT_FOUND',
  'createRefused ALREADY_CANCELLED',
  'createRefused DUPLICATE_ORDER',
  'createRefused INVALID_ORDER',
  'createRefused MARKET_HALTED',
  'createRefused ORDER_EXPIRED',
  'createRefused REQUEST_TOO_OLD',
  'createRefused WOULD_CROSS',
  'depthCommitted',
  'ended AtFault',
  'ended Expired',
  'ended FillOrKill',
  'ended Filled',
  'ended ImmediateOrCancel',
  'ended PostOnlyWouldCross',
  'ended RollbackRestoreWouldCross',
  'ended RolledBack',
  'ended UserRequested',
  'heldCancelExpired',
  'levelChanged',
  'matched',
  'replaceRefused ALREADY_CANCELLED',
  'replaceRefused INVALID_ORDER',
  'replaceRefused MARKET_HALTED',
  'replaceRefused ORDER_NOT_FOUND',
  'replaceRefused REQUEST_TOO_OLD',
  'replaceRefused WOULD_CROSS',
  'replaceUnchanged',
  'replaced',
  'restored',
];

class Pair {
  readonly reference: ReferenceBook = new ReferenceBook(LIMITS);
  recorder: MarketRecorder = new MarketRecorder();
  engine: MarketEngine = new MarketEngine({ events: this.recorder, ...LIMITS, hashSeed: 7, firstCapacity: 2 });
  nowNs: bigint = START_NS;
  readonly seen: Set<string>;
  #requestId = 0;

  /** @param seen what kinds of events were told, so that nobody mistakes silence for agreement. */
  constructor(seen: Set<string>) {
    this.seen = seen;
  }

  step(dealer: Dealer): void {
    this.#passTime(dealer);
    const kind = dealer.below(64);
    if (kind < 26) this.#create(dealer);
    else if (kind < 38) this.#replace(dealer);
    else if (kind < 48) this.#cancel(dealer);
    else if (kind < 54) this.#rollback(dealer);
    else if (kind < 59) this.#settle(dealer);
    else if (kind < 61) this.#tick();
    else if (kind < 62) this.#setMarket(dealer);
    else if (kind < 63) this.#restart(dealer);
    else this.#settleAndRebuild();
    this.#compare();
  }

  #passTime(dealer: Dealer): void {
    const step = dealer.below(32);
    if (step < 26) this.nowNs += BigInt(step);
    else if (step < 30) this.nowNs += 1_500_000_000n;
    else if (step < 31) this.nowNs += DAY_NS / 2n;
    else if (dealer.below(8) === 0) this.nowNs += 20n * DAY_NS;
  }

  #create(dealer: Dealer): void {
    const creationNs = this.nowNs - dealer.pick([0n, 1n, 1_000n, 2_000_000_000n, DAY_NS]);
    const tif: Tif = dealer.pick([TIF.gtc, TIF.gtc, TIF.gtc, TIF.gtd, TIF.ioc, TIF.fok]);
    const life = tif === TIF.gtd ? dealer.pick([1_000_000_000n, 3n, DAY_NS + 1_000_000_000n]) : LIFE_NS;
    const terms = {
      ...this.#key(dealer),
      creationNs: creationNs as TimestampNs,
      expiryNs: (creationNs + life) as TimestampNs,
      side: dealer.below(2) as Side,
      tif,
      flags: tif <= TIF.gtd && dealer.below(6) === 0 ? ORDER_FLAG.postOnly : 0,
      price: price(dealer),
      quantity: quantity(dealer),
    };
    this.engine.create(newOrder(terms));
    this.reference.create(terms);
  }

  #replace(dealer: Dealer): void {
    const key = this.#key(dealer);
    const terms = {
      ...key,
      timestampNs: (this.nowNs + dealer.pick([0n, 0n, 1n, 2n, -1n, -3_000_000_000n])) as TimestampNs,
      price: dealer.below(2) === 0 ? 0 : price(dealer),
      quantity: dealer.below(2) === 0 ? 0 : quantity(dealer),
    };
    if (dealer.below(8) === 0) this.#repeat(terms);
    this.engine.replace({ ...terms, ...keyOf(key.user, key.orderId) });
    this.reference.replace(terms);
  }

  /** Makes it the replace (or create) once more that the order saw last. */
  #repeat(terms: { user: string; orderId: string; timestampNs: bigint; quantity: number }): void {
    const order = this.reference.orders.find(({ user, orderId }) => user === terms.user && orderId === terms.orderId);
    if (order === undefined) return;
    terms.timestampNs = order.timestampNs;
    terms.quantity = 0;
  }

  #cancel(dealer: Dealer): void {
    const terms = { ...this.#key(dealer), hold: dealer.below(2) === 0 };
    this.engine.cancel({ ...terms, ...keyOf(terms.user, terms.orderId) });
    this.reference.cancel(terms);
  }

  #rollback(dealer: Dealer): void {
    const { undecided } = this.reference;
    if (undecided.length === 0) return;
    const { tradeId, maker, taker, quantity: amount } = dealer.pick(undecided);
    const blame = dealer.below(4);
    const own = dealer.pick(REASONS);
    const makerReason = blame === 1 || blame === 3 ? own : ROLLBACK_REASON.counterpartyAtFault;
    const takerReason = blame === 2 || blame === 3 ? own : ROLLBACK_REASON.counterpartyAtFault;
    const receivedNs = this.nowNs as TimestampNs;
    const orders = { makerOrder: maker.sequence, takerOrder: taker.sequence };
    const command = { receivedNs, tradeId, ...orders, quantity: Number(amount), makerReason, takerReason };
    this.engine.rollback(command);
    this.reference.rollback(tradeId, { maker: makerReason, taker: takerReason }, this.nowNs);
  }

  #settle(dealer: Dealer): void {
    const trade = this.reference.undecided[dealer.below(6)];
    if (trade === undefined) return;
    this.engine.settled(trade.tradeId);
    this.reference.settled(trade.tradeId);
  }

  #tick(): void {
    this.engine.tick(this.nowNs);
    this.reference.passTo(this.nowNs);
  }

  #setMarket(dealer: Dealer): void {
    const { active, cancelOnly, halted } = MARKET_STATUS;
    const status: MarketStatus = dealer.pick([active, active, active, cancelOnly, halted]);
    this.engine.setMarket(status);
    this.reference.status = status;
  }

  #restart(dealer: Dealer): void {
    this.nowNs += dealer.pick([0n, 1_000_000_000n, DAY_NS]);
    const position = {
      sequence: this.engine.sequence + SEQUENCE_GAP,
      lastTradeId: this.engine.lastTradeId + SEQUENCE_GAP,
      nowNs: this.nowNs as TimestampNs,
    };
    this.recorder = new MarketRecorder();
    this.engine = this.#rebuilt(this.recorder, false);
    this.reference.restart(this.nowNs, SEQUENCE_GAP);
    this.engine.finishRestore(position);
    this.engine.setMarket(this.reference.status);
    this.#compareLevels();
  }

  /** With everything decided and nothing overdue, a rebuilt book hashes like the one that lived through it all. */
  #settleAndRebuild(): void {
    this.engine.settled(this.engine.lastTradeId);
    this.reference.settled(this.reference.lastTradeId);
    this.#tick();
    const recorder = new MarketRecorder();
    const rebuilt = this.#rebuilt(recorder, true);
    const { sequence, lastTradeId } = this.engine;
    rebuilt.finishRestore({ sequence, lastTradeId, nowNs: this.nowNs as TimestampNs });
    rebuilt.checkInvariants();
    assert.deepEqual(recorder.take(), []);
    assert.equal(rebuilt.hash(), this.engine.hash());
    this.#compareLevels();
  }

  /** An engine with everything that clearing would hand back, before its restore is finished. */
  #rebuilt(recorder: MarketRecorder, backwards: boolean): MarketEngine {
    const engine = new MarketEngine({ events: recorder, ...LIMITS, hashSeed: 11, firstCapacity: 4 });
    const { orders, remembered } = this.reference.durable();
    for (const { user, orderId, creationNs, wasCancelled } of remembered) {
      const key = keyOf(user, orderId);
      engine.restoreRememberedId({ ...key, creationNs: creationNs as TimestampNs, wasCancelled });
    }
    for (const [user, creationNs] of this.reference.watermarks) {
      const { bytes, userAt } = keyOf(user, 'x');
      engine.restoreWatermark(bytes, userAt, creationNs);
    }
    for (const order of backwards ? orders.reverse() : orders) restore(engine, order);
    return engine;
  }

  #compare(): void {
    const told = this.recorder.take();
    assert.deepEqual(told, this.reference.take());
    for (const [name, , second, third] of told) {
      const word = name === 'ended' || name === 'createRefused' ? third : second;
      const detail = name === 'ended' || name.endsWith('Refused') ? ` ${word}` : '';
      this.seen.add(name + detail);
    }
    this.engine.checkInvariants();
    this.engine.checkBest();
  }

  #compareLevels(): void {
    const levels = new Map<string, bigint>();
    for (const side of [0, 1] as const)
      this.engine.forEachLevel(side, (at, total) => levels.set(`${side} ${at}`, BigInt(total)));
    assert.deepEqual([...levels].sort(), [...this.reference.levels()].sort());
  }

  #key(dealer: Dealer): { user: string; orderId: string; requestId: number; receivedNs: TimestampNs } {
    const number = dealer.below(18);
    const orderId = `id-${'x'.repeat(number % 7)}${number}`;
    return { user: dealer.pick(USERS), orderId, requestId: ++this.#requestId, receivedNs: this.nowNs as TimestampNs };
  }
}

function restore(engine: MarketEngine, order: ReferenceOrder): void {
  engine.restoreOrder({
    ...keyOf(order.user, order.orderId),
    order: order.sequence,
    prioritySequence: order.priority,
    side: order.side,
    tif: order.tif,
    flags: order.flags,
    price: order.price,
    quantity: Number(order.quantity),
    filledQuantity: Number(order.filled),
    creationNs: order.creationNs as TimestampNs,
    timestampNs: order.timestampNs as TimestampNs,
    expiryNs: order.expiryNs as TimestampNs,
  });
}

/** Mostly a few neighbouring prices, sometimes far apart, up to the last one. */
function price(dealer: Dealer): number {
  const kind = dealer.below(16);
  if (kind < 13) return 1_000 + dealer.below(9);
  return dealer.pick([1, 31, 32, 970, 1_056, 5_000_000_000, RAW_MAX - 1, RAW_MAX]);
}

function quantity(dealer: Dealer): number {
  const kind = dealer.below(32);
  return kind < 31 ? 1 + (kind % 9) : dealer.pick([RAW_MAX, RAW_MAX - 3]);
}

suite('the market engine equals the reference', () => {
  test('event for event, with every invariant after every command', () => {
    let commands = 0;
    const seen = new Set<string>();
    const words = fc.uint32Array({ minLength: 0, maxLength: COMMANDS_PER_RUN_MAX * 2, size: 'max' });
    fc.assert(
      fc.property(words, (values) => {
        const pair = new Pair(seen);
        for (let at = 0; at + 1 < values.length; at += 2) {
          pair.step(new Dealer(values[at] as number, values[at + 1] as number));
          commands++;
        }
      }),
      {
        numRuns: RUNS,
        includeErrorInReport: true,
        endOnFailure: SEED === undefined,
        ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      },
    );
    assert.deepEqual([...seen].sort(), EVERYTHING);
    assert.ok(commands >= RUNS * 400, `only ${commands} commands`);
  });
});
