/** Restored orders that sleep as bytes: nobody can tell them from those in memory (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { RestoredCommandReader, RestoredOrderWord, readRestoredRow } from '../../src/clearing/restored-word.ts';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { USD } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_KIND, SIDE, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { fromWords } from '../../src/core/time-words.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { KEPT_PER_USER_MAX } from '../../src/gateway/kept-orders.ts';
import { source, usd } from '../support/margin-desk.ts';
import { NOW } from '../support/order-desk.ts';
import { propertyParameters } from '../support/property.ts';
import { ASSETS, RestoredDoors, USERS, type Wish, WORD_AT, WordTape } from '../support/restored-doors.ts';
import { RestoredStory } from '../support/restored-story.ts';
import { orderRow } from '../support/row-arbitraries.ts';

const wish: fc.Arbitrary<Wish> = fc.record({
  user: fc.nat(2),
  market: fc.nat(1),
  side: fc.constantFrom(SIDE.buy, SIDE.sell),
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant(ORDER_KIND.limit) },
    { weight: 1, arbitrary: fc.constantFrom(ORDER_KIND.marketBase, ORDER_KIND.marketQuote) },
  ),
  isMargin: fc.boolean(),
  isReduceOnly: fc.boolean(),
  waits: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: fc.constantFrom(...Object.values(TRIGGER_STATE)) },
  ),
  lots: fc.integer({ min: 1, max: 4 }),
  filled: fc.nat(3),
  parent: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) }),
  later: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(9) }),
});

const steps = fc.array(fc.tuple(fc.nat(13), fc.nat(1_000)), { maxLength: 60, size: 'max' });

function limit(change: Partial<Wish> = {}): Wish {
  const plain = { user: 0, market: 0, side: SIDE.buy, kind: ORDER_KIND.limit, isMargin: false, isReduceOnly: false };
  return { ...plain, waits: null, lots: 2, filled: 0, parent: 0, later: 0, ...change };
}

suite('restored orders that sleep', () => {
  test('whatever follows, a door that keeps them as bytes says what one says that has them in memory (AMB-110)', () => {
    let slept = 0;
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 14 }), steps, (wishes, story) => {
        const doors = new RestoredDoors(wishes);
        slept += doors.slept;
        const told = new RestoredStory(doors);
        for (const [what, pick] of story) told.step(what, pick);
        told.readAll();
        assert.equal(doors.kept.count, 0, 'who is asked about is awake');
      }),
      propertyParameters(150),
    );
    assert.ok(slept > 0);
  });

  test('of a user nothing sleeps once anything was asked about it, of another everything does', () => {
    const doors = new RestoredDoors([limit(), limit({ user: 1 }), limit({ user: 1, market: 1 }), limit()]);
    assert.equal(doors.kept.count, 4);
    doors.both((manager) => manager.funds({ user: userOf(0), subAccount: 0, asset: USD }));
    assert.equal(doors.kept.count, 2);
    doors.both((manager) => manager.requests.checkCancelAll({ user: userOf(1), assetId: null }).ok);
    assert.equal(doors.kept.count, 0);
  });

  test("clearing's balances wake nobody (AMB-110)", () => {
    const doors = new RestoredDoors([limit(), limit({ user: 1 })]);
    doors.both((manager) => {
      manager.onBalanceChanged({ user: userOf(0), subAccount: 0, asset: USD, owned: usd(1), locked: usd(0) });
    });
    assert.equal(doors.kept.count, 2);
  });

  test("a market's word on one order wakes its user, whatever the order of priorities was", () => {
    const doors = new RestoredDoors([limit({ later: 5 }), limit({ user: 1 }), limit({ user: 2, market: 1 })]);
    const [first] = doors.orders;
    assert.ok(first !== undefined);
    const { marketIndex, orderSequence: order } = first.row;
    const word = {
      marketIndex,
      sequence: 2_000,
      order,
      timeNs: NOW,
      end: ORDER_END.userRequested,
      faultReason: 0,
    } as const;
    doors.both((manager) => manager.onEnded(word));
    assert.equal(doors.kept.count, 2);
    // The same sequence of another market is somebody else's.
    doors.both((manager) => manager.onEnded({ ...word, marketIndex: 1, sequence: 2_001 }));
    assert.equal(doors.kept.count, 2);
  });

  test('what has fired is released when its market opens, and what waits for it with it (AMB-28)', () => {
    const doors = new RestoredDoors([limit(), limit({ waits: TRIGGER_STATE.fired }), limit({ user: 1 })]);
    assert.equal(doors.kept.count, 1);
  });

  test('a user with very many orders is in memory at once, so that nothing has to wait for its waking', () => {
    const many = Array.from({ length: KEPT_PER_USER_MAX + 3 }, () => limit({ lots: 1 }));
    const doors = new RestoredDoors([...many, limit({ user: 1 })]);
    assert.equal(doors.kept.count, 1);
    doors.both((manager) => manager.requests.checkCancelAll({ user: userOf(0), assetId: null }).ok);
  });

  test('accounts of a margin type give way though nobody speaks of them: they wake in rounds (AR-01)', () => {
    const margin = limit({ isMargin: true, side: SIDE.sell, lots: 4, market: 1 });
    const doors = new RestoredDoors(USERS.map((_, user) => ({ ...margin, user })));
    assert.equal(doors.kept.count, USERS.length);
    const { manager, sink } = doors.asleep;
    for (const asset of ASSETS) manager.margin.onOraclePrice(asset, source(usd('0.01')));
    while (manager.margin.reduceOrders(NOW)) {}
    manager.margin.reduceOrders(NOW);
    assert.deepEqual([doors.kept.count, sink.reductions.length], [0, USERS.length]);
  });
});

suite('the word of a restored order', () => {
  test('says to the front door all that it reads of a row, and to a market its own (AMB-110)', () => {
    const [word, tape, reader] = [new RestoredOrderWord(), new WordTape(), new RestoredCommandReader()];
    fc.assert(
      fc.property(orderRow, (any) => {
        // A word has no room for more flags, nor for the least of all amounts.
        const row = { ...any, flags: any.flags & 0xff, ...halved(any) };
        word.set(row, 0);
        word.write(tape);
        const read = readRestoredRow(tape.views, WORD_AT);
        const { inForce, ...members } = read;
        for (const [name, value] of Object.entries(members)) {
          assert.deepEqual(value, row[name as keyof typeof row], name);
        }
        assert.ok(inForce === 0 || inForce === row.quantity || inForce === row.activatedQuantity);
        const command = reader.read(tape.views, WORD_AT, 1n);
        assert.equal(fromWords(command.expiryHigh, command.expiryLow), row.expiryNs);
        assert.equal(fromWords(command.creationHigh, command.creationLow), row.creationNs);
        assert.equal(fromWords(command.timestampHigh, command.timestampLow), row.timestampNs);
        assert.deepEqual([command.order, command.prioritySequence], [row.orderSequence, row.prioritySequence]);
      }),
      propertyParameters(200),
    );
  });
});

type Figures = Pick<OrderRow, 'fees' | 'filledNotional'>;

function userOf(index: number): (typeof USERS)[number] {
  return USERS[index] as (typeof USERS)[number];
}

function halved({ fees, filledNotional }: Figures): Figures {
  return { fees: (fees / 2n) as Amount18, filledNotional: (filledNotional / 2n) as Amount18 };
}
