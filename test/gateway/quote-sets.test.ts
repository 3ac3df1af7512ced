// tier: quick, 3 s
/**
 * Quote sets at the gateway: what they hold, judged against a plain market that takes them in their order, matches behind the
 * gateway's back and publishes late (QTE-01, QTE-04, QTE-09, QTE-10). The real market and clearing: test/contract/quotes.test.ts.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ProtectionRow } from '../../src/clearing/rows.ts';
import type { QuoteSetRequest, SignedQuoteSet } from '../../src/codec/order-actions.ts';
import { notional18, quantity18 } from '../../src/core/arithmetic.ts';
import { USD } from '../../src/core/ids.ts';
import { PROTECTED_ORDERS_MAX } from '../../src/core/limits.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  QUOTE_CHANGE,
  ROLLBACK_REASON,
  SIDE,
  type Side,
  TRIGGER,
} from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { REJECT_CODE, type Reject, reject } from '../../src/core/reject.ts';
import {
  type Amount18,
  ONE_18,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
} from '../../src/core/units.ts';
import type { EntryChange } from '../../src/gateway/orders/book/quote-set-view.ts';
import type { ActionAnswer, ReservedQuoteSet } from '../../src/gateway/orders/entry/pending-requests.ts';
import { countLots, lotsSince } from '../../src/order/quote-lots.ts';
import { reservationOf } from '../../src/risk/reservation.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, codeOf, MARKET, mustPass, NOW, OrderFixture } from '../support/order-fixture.ts';
import { propertyParameters } from '../support/property.ts';
import { type QuoteWordsOfSide, setRequest } from '../support/quote-request.ts';

const CALLER = { user: ALICE, now: NOW };
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'busy');

interface Entry {
  readonly side: Side;
  readonly price: number;
  readonly sequence: number;
  rests: number;
  /** Lots of fills without a decision, and of which trades. */
  readonly trades: Map<number, number>;
}

interface Sent extends ReservedQuoteSet {
  readonly request: QuoteSetRequest;
}

/** Applies sets as the contract states it, in their order, without crossing. */
class World extends OrderFixture {
  readonly answers: ActionAnswer[] = [];
  readonly commands: Sent[] = [];
  readonly late: (() => void)[] = [];
  readonly entries = new Map<string, Entry>();
  readonly undecided = new Map<number, { readonly entry: Entry; readonly lots: number }>();
  readonly counts: [bought: number, sold: number] = [0, 0];
  #number = 0;
  #appliedTrade = 0;
  #group = 0;
  #revision = NOW - 1_000_000n;
  readonly #takers: readonly [number, number];

  constructor() {
    super();
    this.setOwned(BOB, USD, 10n ** 9n * ONE_18);
    this.setOwned(BOB, BASE, 10n ** 9n * ONE_18);
    const taker = (side: Side, price: number): number =>
      this.place({ user: BOB, id: `taker-${side}`, side, price, quantity: 10 ** 9 });
    this.#takers = [taker(SIDE.buy, 5), taker(SIDE.sell, 10 ** 7)];
  }

  send(
    bids: QuoteWordsOfSide,
    asks: QuoteWordsOfSide,
    given: Reject | null = null,
    change: Partial<SignedQuoteSet> = {},
  ): Outcome<Sent> {
    this.#revision += 1n;
    const request = setRequest(bids, asks, { revisionNs: this.#revision as TimestampNs, ...change });
    const { quotes } = this.manager.requests;
    const prepared = quotes.check(request, CALLER, given);
    if (!prepared.ok) return prepared;
    const reply = { answer: (answer: ActionAnswer) => this.answers.push(answer), hops: null };
    const reserved = quotes.reserve(prepared.value, NOW, reply, given);
    if (!reserved.ok) return reserved;
    const sent = { ...reserved.value, request };
    this.commands.push(sent);
    return { ok: true, value: sent };
  }

  /** The market takes the next set. Its event waits. */
  take(): void {
    const sent = this.commands.shift();
    if (sent === undefined) return;
    const { quotes } = sent.request;
    const changes: EntryChange[] = [];
    const wanted = new Map<string, readonly [Side, number, number]>();
    const unseen = [lotsSince(sent.boughtSeen, this.counts[0]), lotsSince(sent.soldSeen, this.counts[1])];
    for (const [side, flat] of [
      [SIDE.buy, quotes.bids],
      [SIDE.sell, quotes.asks],
    ] as const) {
      let off = sent.onlyTakes ? 0 : (unseen[side] as number);
      for (let at = flat.length - 2; at >= 0; at -= 2) {
        const lots = flat[at + 1] as number;
        const less = Math.min(off, lots);
        off -= less;
        wanted.set(`${side} ${flat[at]}`, [side, flat[at] as number, lots - less]);
      }
    }
    const first = this.nextSequence;
    let kept = 0;
    for (const [key, entry] of this.entries) {
      const want = wanted.get(key)?.[2] ?? 0;
      const { side, price, sequence: order } = entry;
      const common = { side, price, order, number: 0 };
      if (entry.rests === 0) {
        changes.push({ ...common, change: QUOTE_CHANGE.out, rests: 0 });
        this.entries.delete(key);
      } else if (want === 0) {
        changes.push({ ...common, change: QUOTE_CHANGE.left, rests: entry.rests });
        this.entries.delete(key);
      } else if (want === entry.rests || (sent.onlyTakes && want > entry.rests)) {
        kept += 1;
        changes.push({ ...common, change: QUOTE_CHANGE.kept, rests: entry.rests });
      } else {
        entry.rests = want;
        changes.push({ ...common, change: QUOTE_CHANGE.resized, rests: want });
      }
    }
    for (const [key, [side, price, lots]] of wanted) {
      if (lots === 0 || this.entries.has(key) || sent.onlyTakes) continue;
      const order = this.nextSequence;
      this.#number += 1;
      this.entries.set(key, { side, price, sequence: order, rests: lots, trades: new Map() });
      changes.push({ change: QUOTE_CHANGE.created, side, price, order, rests: lots, number: this.#number });
    }
    this.#appliedTrade = this.tradeId;
    const isMoved = !sent.onlyTakes && sent.protectionGroup !== this.#group;
    if (isMoved) this.#group = sent.protectionGroup;
    const event = {
      ...{ marketIndex: MARKET.marketIndex, sequence: this.sequence, timeNs: NOW, requestId: sent.requestId },
      ...{ user: ALICE, setId: 'mm', slot: 1, revisionNs: quotes.revisionNs, goodUntilNs: 0n as TimestampNs },
      ...{ lastTradeId: this.tradeId, maxFeeRate: 500, subAccount: 0, protectionGroup: this.#group, kept, addCode: 0 },
      ...{ flags: ORDER_FLAG.isSpot | ORDER_FLAG.postOnly, termsChanged: isMoved, changes },
      isOver: quotes.bids.length + quotes.asks.length === 0,
    };
    assert.ok(first > 0);
    this.late.push(() => this.manager.onQuoteSetApplied(event));
  }

  /** The market matches lots of an entry. */
  trade(at: number, lots: number): void {
    const live = [...this.entries.values()].filter(({ rests }) => rests > 0);
    const entry = live[at % Math.max(1, live.length)];
    if (entry === undefined) return;
    const taken = Math.min(lots, entry.rests);
    entry.rests -= taken;
    this.counts[entry.side] = countLots(this.counts[entry.side], taken);
    this.tradeId += 1;
    const { tradeId } = this;
    this.undecided.set(tradeId, { entry, lots: taken });
    const takerSide = entry.side === SIDE.buy ? SIDE.sell : SIDE.buy;
    const event = {
      ...{ marketIndex: MARKET.marketIndex, sequence: this.nextSequence, timeNs: NOW, tradeId },
      ...{ makerOrder: entry.sequence, takerOrder: this.#takers[takerSide], takerSide },
      ...{ price: entry.price as RawPrice, quantity: taken as RawQuantity, makerFeeRate: 0, takerFeeRate: 0 },
    };
    this.late.push(() => this.manager.onMatched(event));
  }

  /** A fill is undone; of the revision in force it rests again. */
  undo(at: number): void {
    const trades = [...this.undecided.keys()];
    const tradeId = trades[at % Math.max(1, trades.length)];
    const trade = tradeId === undefined ? undefined : this.undecided.get(tradeId);
    if (tradeId === undefined || trade === undefined) return;
    this.undecided.delete(tradeId);
    const { marketIndex } = MARKET;
    const reasons = {
      makerReason: ROLLBACK_REASON.counterpartyAtFault,
      takerReason: ROLLBACK_REASON.counterpartyAtFault,
    };
    const { entry, lots } = trade;
    const key = `${entry.side} ${entry.price}`;
    const isBack = tradeId > this.#appliedTrade && this.entries.get(key) === entry;
    if (isBack) entry.rests += lots;
    const sequence = this.nextSequence;
    this.late.push(() => this.manager.onFillRolledBack({ marketIndex, tradeId, timeNs: NOW, ...reasons }));
    const back = { marketIndex, sequence, timeNs: NOW, order: entry.sequence };
    if (isBack) this.late.push(() => this.manager.onRestored(back));
  }

  deliver(): void {
    this.late.shift()?.();
  }

  settle(): void {
    while (this.commands.length > 0) this.take();
    while (this.late.length > 0) this.deliver();
  }

  /** What the resting entries hold. */
  expected(side: Side): bigint {
    let sum = 0n;
    for (const entry of this.entries.values()) {
      if (entry.side !== side || entry.rests === 0) continue;
      const lots = entry.rests as RawQuantity;
      sum +=
        side === SIDE.sell
          ? quantity18(lots, 4)
          : reservationOf(side, notional18(entry.price as RawPrice, lots, MARKET) as Amount18, MARKET.takerFeeRate);
    }
    return sum;
  }
}

suite('what quote sets hold', () => {
  test('QTE-04: what adds is refused as a whole where the balance does not cover it; nothing is taken', () => {
    const world = new World();
    const refused = world.send([[200_000, 60_000]], []);
    assert.equal(codeOf(refused), 'INSUFFICIENT_INVENTORY');
    assert.equal(world.held(ALICE, USD), 0n);
    assert.equal(world.commands.length, 0);
  });

  test('QTE-02: a set that moves its prices needs the difference, not both', () => {
    const world = new World();
    mustPass(world.send([[200_000, 45_000]], []));
    world.settle();
    const moved = mustPass(world.send([[200_005, 45_000]], []));
    assert.equal(moved.onlyTakes, false);
    world.settle();
    assert.equal(world.held(ALICE, USD), world.expected(SIDE.buy));
  });

  test('QTE-04: without budget, in a market that takes only cancels, a set still takes away what left it', () => {
    const world = new World();
    mustPass(
      world.send(
        [
          [200_000, 1_000],
          [199_995, 1_000],
        ],
        [[200_100, 1_000]],
      ),
    );
    world.settle();
    const halted = mustPass(
      world.send(
        [
          [200_000, 500],
          [199_990, 1_000],
        ],
        [],
        BUSY,
      ),
    );
    assert.equal(halted.onlyTakes, true);
    world.settle();
    const last = world.answers.at(-1);
    assert.equal(last?.refusal, BUSY);
    assert.deepEqual([last?.quotes?.created, last?.quotes?.changed, last?.quotes?.cancelled], [0, 1, 2]);
    assert.equal(world.held(ALICE, USD), world.expected(SIDE.buy));
    assert.equal(world.held(ALICE, BASE), 0n);
  });

  test('QTE-09: a revision that is not above the newest one sent, and a fifth set, are refused', () => {
    const world = new World();
    mustPass(world.send([[200_000, 100]], []));
    const again = world.send([[200_000, 100]], [], null, { revisionNs: (NOW - 999_999n) as TimestampNs });
    assert.equal(codeOf(again), 'REQUEST_TOO_OLD');
    for (const setId of ['b', 'c', 'd']) mustPass(world.send([[100_000, 100]], [], null, { setId }));
    assert.equal(codeOf(world.send([[100_000, 100]], [], null, { setId: 'e' })), 'TOO_MANY_QUOTES');
  });

  test('QTE-09: of a set that its market does not know no revision from before a cancel is sent, also with its signature out', () => {
    const world = new World();
    const { requests } = world.manager;
    const at = (ns: bigint): TimestampNs => (NOW - ns) as TimestampNs;
    const revised = (ns: bigint, setId = 'mm'): Outcome<Sent> =>
      world.send([[200_000, 100]], [], null, { revisionNs: at(ns), setId });
    // Judged before its signature, and cancelled before that was verified.
    const prepared = mustPass(
      requests.quotes.check(setRequest([[200_000, 100]], [], { revisionNs: at(9n) }), CALLER, null),
    );
    requests.noteCancel({ user: ALICE, assetId: null }, at(5n), NOW);
    const reply = { answer: () => undefined, hops: null };
    assert.equal(codeOf(requests.quotes.reserve(prepared, NOW, reply, null)), 'REQUEST_TOO_OLD');
    assert.equal(world.held(ALICE, USD), 0n);
    assert.equal(codeOf(revised(5n)), 'REQUEST_TOO_OLD');
    mustPass(revised(4n));
    requests.noteCancel({ user: ALICE, assetId: BASE, quoteSetId: 'b' }, at(2n), NOW);
    assert.equal(codeOf(revised(2n, 'b')), 'REQUEST_TOO_OLD');
    mustPass(revised(3n));
    mustPass(revised(3n, 'c'));
    // What the market knows has its mark there.
    world.take();
    requests.noteCancel({ user: ALICE, assetId: BASE }, at(0n), NOW);
    mustPass(revised(1n));
  });

  test('QTE-09: 16 revisions of a set may be on their way; one more is refused and holds nothing', () => {
    const world = new World();
    const ONE_SET: QuoteWordsOfSide = [[200_000, 100]];
    for (let count = 0; count < 16; count += 1) mustPass(world.send(ONE_SET, []));
    const held = world.held(ALICE, USD);
    assert.equal(codeOf(world.send(ONE_SET, [])), 'SERVICE_UNAVAILABLE');
    assert.equal(world.held(ALICE, USD), held);
    world.take();
    world.deliver();
    mustPass(world.send(ONE_SET, []));
    world.settle();
    assert.equal(world.held(ALICE, USD), world.expected(SIDE.buy));
  });

  test('QTE-10: what a set on its way takes away is added, and paid for, by the one behind it', () => {
    const world = new World();
    const bids: QuoteWordsOfSide = [
      [200_000, 100],
      [199_995, 200],
    ];
    mustPass(world.send(bids, []));
    world.settle();
    const { quotes } = world.manager.requests;
    const priced = (): number => quotes.priced(setRequest(bids, [], { revisionNs: (NOW + 1n) as TimestampNs }), ALICE);
    assert.equal(priced(), 0, 'it rests');
    mustPass(world.send([[200_000, 100]], []));
    assert.equal(priced(), 2, 'a price is on its way out');
    world.settle();
    mustPass(world.send(bids, []));
    world.settle();
    mustPass(world.send([], []));
    assert.equal(priced(), 2, 'all of it is on its way out');
    const refused = mustPass(world.send(bids, [], BUSY));
    assert.equal(refused.onlyTakes, true, 'what may not be added is not');
    world.settle();
    assert.equal(world.held(ALICE, USD), 0n);
  });

  test('QTE-01: figures of what adds are those of an order, of what stays they are not looked at', () => {
    const world = new World();
    assert.equal(codeOf(world.send([[200_001, 100]], [])), 'INVALID_ORDER');
    assert.equal(codeOf(world.send([[200_000, 9]], [])), 'INVALID_ORDER');
    mustPass(world.send([[200_000, 100]], []));
    world.settle();
    // Below the minimum, but it takes away.
    assert.equal(mustPass(world.send([[200_000, 9]], [])).onlyTakes, false);
  });

  test('QTE-06: a refusal of the market releases what the set held', () => {
    const world = new World();
    const { requestId } = mustPass(world.send([[200_000, 10_000]], [[200_100, 1_000]]));
    assert.ok(world.held(ALICE, USD) > 0n && world.held(ALICE, BASE) > 0n);
    world.answer(requestId, 0, REJECT_CODE.REQUEST_TOO_OLD);
    assert.equal(world.held(ALICE, USD) + world.held(ALICE, BASE), 0n);
    assert.equal(world.answers[0]?.refusal?.code, 'REQUEST_TOO_OLD');
    assert.equal(world.manager.openOrders(ALICE), 0);
  });

  test('QTE-07: an entry of which nothing is left after a rollback has a quantity of 0, as every limit order has one', () => {
    const world = new World();
    mustPass(world.send([[200_000, 10]], []));
    world.settle();
    world.trade(0, 10);
    world.settle();
    const { sequence: order } = [...world.entries.values()][0] ?? assert.fail('it is an entry');
    const { marketIndex } = MARKET;
    const reasons = { makerReason: ROLLBACK_REASON.pricingFailure, takerReason: ROLLBACK_REASON.counterpartyAtFault };
    world.manager.onFillRolledBack({ marketIndex, tradeId: world.tradeId, timeNs: NOW, ...reasons });
    // The node had taken off all that rested then.
    const figures = { price: 200_000 as RawPrice, quantity: 10 as RawQuantity, timestampNs: NOW, isCut: true };
    const trigger = { triggerKind: TRIGGER.none, triggerPrice: 0 as RawPrice, requestId: 0 };
    world.manager.onReplaced({ marketIndex, sequence: world.nextSequence, timeNs: NOW, order, ...figures, ...trigger });
    const { quantity, limit_price, confirmed_filled_quantity } =
      world.record(ALICE, 'mm:1') ?? assert.fail('it is known');
    assert.deepEqual([quantity, limit_price, confirmed_filled_quantity], ['0', '2000', '0']);
  });

  test('QTE-07: a filled entry of a set that has ended is no entry of its next revision: what is undone lowers no total', () => {
    for (const end of [ORDER_END.expired, ORDER_END.marketMakerProtection]) {
      const world = new World();
      mustPass(world.send([[200_000, 10]], []));
      world.settle();
      world.trade(0, 10);
      world.settle();
      const { sequence: order } = [...world.entries.values()][0] ?? assert.fail('it is an entry');
      world.entries.clear();
      const { marketIndex } = MARKET;
      const at = { marketIndex, timeNs: NOW };
      const markNs = (NOW - 2_000_000n) as TimestampNs;
      world.manager.onQuoteSetEnded({ ...at, sequence: world.nextSequence, markNs, user: ALICE, slot: 1, end });
      mustPass(world.send([], []));
      world.settle();
      world.undo(0);
      world.settle();
      assert.deepEqual([world.status(ALICE, 'mm:1'), world.record(ALICE, 'mm:1')?.quantity], ['Open', '0.001']);
      assert.equal(world.held(ALICE, USD), 0n, 'nothing of it comes back');
      const ended = { remaining: 10, requestId: 0, end: ORDER_END.rolledBack, faultReason: ROLLBACK_REASON.none };
      world.manager.onEnded({ ...at, sequence: world.nextSequence, order, ...ended });
      assert.deepEqual(world.told(ALICE, 'mm:1').slice(-1), ['Removed RolledBack']);
    }
  });

  test('QTE-01: nothing rests without its hold, whatever is on its way, matched unseen or undone', () => {
    const side = (from: number, sign: 1 | -1) =>
      fc
        .uniqueArray(fc.tuple(fc.nat(5), fc.integer({ min: 10, max: 60 })), {
          selector: ([level]) => level,
          maxLength: 4,
        })
        .map((levels) =>
          levels
            .sort(([a], [b]) => a - b)
            .map(([level, lots]) => [from + sign * 50_000 * (level / 5), lots * 500] as const)
            .map(([price, lots]) => [Math.round(price / 5) * 5, lots] as const),
        );
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('send'), side(199_000, -1), side(201_000, 1)) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('take'), fc.nat(3), fc.nat(3)) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('trade'), fc.nat(7), fc.integer({ min: 1, max: 20_000 })) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('undo'), fc.nat(7), fc.nat(3)) },
      { weight: 5, arbitrary: fc.tuple(fc.constant('deliver'), fc.nat(3), fc.nat(3)) },
    );
    let refused = 0;
    let unseen = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const world = new World();
        for (const [kind, a, b] of steps) {
          if (kind === 'send') {
            if (!world.send(a as QuoteWordsOfSide, b as QuoteWordsOfSide).ok) refused += 1;
          } else if (kind === 'take') world.take();
          else if (kind === 'trade') {
            world.trade(a as number, b as number);
            if (world.commands.length > 0) unseen += 1;
          } else if (kind === 'undo') world.undo(a as number);
          else world.deliver();
          for (const asset of [USD, BASE]) assert.ok(world.available(ALICE, asset) >= 0n, `${kind}: ${asset}`);
        }
        world.settle();
        assert.equal(world.held(ALICE, USD), world.expected(SIDE.buy));
        assert.equal(world.held(ALICE, BASE), world.expected(SIDE.sell));
        assert.ok(world.available(ALICE, USD) >= 0n && world.available(ALICE, BASE) >= 0n);
        const live = [...world.entries.values()].filter(({ rests }) => rests > 0).length;
        assert.ok(world.manager.openOrders(ALICE) >= live);
      }),
      propertyParameters(600),
    );
    assert.ok(refused > 50 && unseen > 50, `${refused} refused, ${unseen} matched unseen`);
  });
});

suite('a quote set and its protection group', () => {
  const BIDS: QuoteWordsOfSide = [
    [200_000, 100],
    [199_000, 100],
  ];
  const IN_G = { protectionGroup: 'g' } as const;

  function group(change: Partial<ProtectionRow> = {}): ProtectionRow {
    return {
      ...{ user: ALICE, marketIndex: MARKET.marketIndex, slot: 1, group: 'g', windowMs: 1_000, frozenMs: 5 },
      ...{ maxFills: 2, maxQuantity: null, maxNotional: null, minFillNotional: 0n as Amount18 },
      ...{ trip: 0 as Sequence, endedTrip: 0 as Sequence, frozenUntilNs: 0n as TimestampNs, isGone: false },
      ...change,
    };
  }

  /** A set in force in no group, and a group. */
  function inForce(): World {
    const world = new World();
    world.setOwned(ALICE, USD, 10n ** 9n * ONE_18);
    world.manager.protections.changed(group());
    mustPass(world.send(BIDS, []));
    world.settle();
    return world;
  }

  const members = (world: World): number => world.manager.protections.liveOrders(group());

  test('MMP-02: what is kept joins a group as what is new does, and leaves it without being asked', () => {
    const world = inForce();
    for (const [words, count] of [
      [IN_G, 2],
      [{}, 0],
    ] as const) {
      mustPass(world.send(BIDS, [], null, words));
      world.settle();
      assert.equal(members(world), count);
    }
  });

  test('MMP-02, QTE-04: of a group that there is not, or no more, what is kept stays where it is, and what leaves leaves', () => {
    const unknown = (): [World, Partial<SignedQuoteSet>] => [inForce(), { protectionGroup: 'typo' }];
    const leaving = (): [World, Partial<SignedQuoteSet>] => {
      const world = inForce();
      world.manager.protections.leaving(group());
      return [world, IN_G];
    };
    for (const made of [unknown, leaving]) {
      const [world, words] = made();
      assert.equal(codeOf(world.send(BIDS, [], null, words)), 'INVALID_ORDER');
      assert.equal(mustPass(world.send(BIDS.slice(1), [], null, words)).onlyTakes, true);
      world.settle();
      assert.equal(world.answers.at(-1)?.refusal?.code, 'INVALID_ORDER');
      assert.deepEqual([world.answers.at(-1)?.quotes?.cancelled, world.entries.size], [1, 1]);
      mustPass(world.send([], [], null, words));
      world.settle();
      assert.deepEqual([world.answers.at(-1)?.refusal, world.entries.size], [null, 0], 'nothing is left to join');
    }
  });

  test('MMP-02: a group that has its 400 is joined by nothing that is kept', () => {
    const world = inForce();
    for (let at = 0; at < PROTECTED_ORDERS_MAX - 1; at += 1)
      world.place({ id: `o${at}`, price: 100_000, quantity: 100, protectionGroup: 'g' });
    assert.equal(members(world), PROTECTED_ORDERS_MAX - 1);
    assert.equal(codeOf(world.send(BIDS, [], null, IN_G)), 'TOO_MANY_OPEN_ORDERS');
    mustPass(world.send(BIDS.slice(1), []));
    world.settle();
    mustPass(world.send(BIDS.slice(1), [], null, IN_G));
    world.settle();
    assert.equal(members(world), PROTECTED_ORDERS_MAX);
  });

  test('MMP-02: what sets on their way may bring counts, once for each name, and keeps the group', () => {
    const world = inForce();
    const { protections } = world.manager;
    for (let at = 0; at < 2; at += 1) mustPass(world.send(BIDS, [], null, IN_G));
    assert.deepEqual([members(world), protections.isUsed(group())], [0, true]);
    const of = { user: ALICE, marketIndex: MARKET.marketIndex, slot: 1 };
    assert.equal(protections.refusalToAdd(of, NOW, PROTECTED_ORDERS_MAX - 2), null);
    assert.equal(protections.refusalToAdd(of, NOW, PROTECTED_ORDERS_MAX - 1)?.code, 'TOO_MANY_OPEN_ORDERS');
    world.settle();
    assert.deepEqual([members(world), protections.isUsed(group())], [2, true]);
    mustPass(world.send([], []));
    world.settle();
    assert.equal(protections.isUsed(group()), false);
  });

  test('MMP-02: a set whose group is removed during its verification is in no other one of that slot', () => {
    const world = inForce();
    const { quotes } = world.manager.requests;
    const request = setRequest(BIDS, [], { revisionNs: NOW, ...IN_G });
    const prepared = mustPass(quotes.check(request, CALLER, null));
    world.manager.protections.changed(group({ isGone: true }));
    world.manager.protections.changed(group({ group: 'other' }));
    assert.equal(codeOf(quotes.reserve(prepared, NOW, { answer: () => undefined, hops: null }, null)), 'INVALID_ORDER');
  });
});
