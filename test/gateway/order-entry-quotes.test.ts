// tier: quick
/** Quote sets on their way through order entry: which one is skipped for a newer one, and what is urgent (QTE-04, QTE-09). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { USD } from '../../src/core/ids.ts';
import { ORDER_FLAG } from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { ONE_18, type TimestampNs } from '../../src/core/units.ts';
import { AutomaticCancels } from '../../src/gateway/actions/automatic-cancels.ts';
import type { ActionOrigin } from '../../src/gateway/actions/order-entry.ts';
import { DisconnectGroup } from '../../src/gateway/orders/entry/disconnect-group.ts';
import type { ActionAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import { CommandRing, EntryWorld } from '../support/entry-world.ts';
import { ALICE } from '../support/names.ts';
import { MARKET, NOW } from '../support/order-fixture.ts';
import { propertyParameters } from '../support/property.ts';
import { type QuoteWordsOfSide, setRequest } from '../support/quote-request.ts';

const BID: QuoteWordsOfSide = [[200_000, 100]];
const OLDEST = NOW - 1_000n;

/** Signatures wait for the test. Sets are named by revision. */
class World extends EntryWorld {
  readonly answers = new Map<number, string>();
  readonly sent: number[] = [];
  readonly #ring: CommandRing;

  constructor() {
    const ring = new CommandRing();
    super([ring]);
    this.#ring = ring;
    this.capacity = Number.POSITIVE_INFINITY;
    this.fixture.setOwned(ALICE, USD, 10n ** 9n * ONE_18);
  }

  submit(revision: number, words: Partial<ActionOrigin> & { setId?: string; bids?: QuoteWordsOfSide } = {}): void {
    const { setId = 'mm', bids = BID, ...origin } = words;
    const request = setRequest(bids, [], { setId, revisionNs: (OLDEST + BigInt(revision)) as TimestampNs });
    const whole = { user: ALICE, connection: 1, isControl: true, setSent: () => this.sent.push(revision), ...origin };
    this.entry.submit({ kind: 'quotes', request }, whole, (answer) => {
      assert.ok(!this.answers.has(revision), 'one answer');
      this.answers.set(revision, wordOf(answer));
    });
  }

  /** The verdict on the signature that waits at this place. */
  verify(at: number, isValid = true): void {
    const [job] = this.jobs.splice(at, 1);
    job?.done(isValid);
  }

  /** Of what has come to the market since. */
  requestIds(): number[] {
    return this.#ring.read().map(({ requestId }) => requestId);
  }

  /** The market refuses every set that it has got. */
  refuse(): void {
    for (const requestId of this.requestIds()) this.fixture.answer(requestId, 0, REJECT_CODE.ORDER_EXPIRED);
  }
}

function wordOf({ refusal, quotes }: ActionAnswer): string {
  if (refusal !== null) return refusal.code;
  if (quotes === undefined) return 'Received';
  const { created, changed, kept, cancelled, refused, isSuperseded } = quotes;
  assert.deepEqual([created, changed, kept, cancelled, refused], [0, 0, 0, 0, []], 'nothing of it was applied');
  return isSuperseded ? 'superseded' : 'applied';
}

const before = (): number => performance.now() - 1;

suite('a quote set that waits', () => {
  test('QTE-09: for its signature is skipped once a newer one of the same set has gone to its market, and not before', () => {
    const world = new World();
    world.submit(1, { sinceMs: before() });
    world.submit(2, { sinceMs: before(), connection: 2 });
    assert.deepEqual([world.jobs.length, world.sent, world.answers.size], [2, [], 0]);
    world.verify(1);
    assert.deepEqual([world.sent, world.answers.size], [[2], 0]);
    world.verify(0);
    assert.deepEqual([world.sent, [...world.answers]], [[2], [[1, 'superseded']]]);
    assert.deepEqual(world.charged, [{ furtherQuotes: 1 }, { furtherQuotes: 1 }], 'both are paid for');
  });

  test('QTE-09: to be read is skipped without a verification', () => {
    const world = new World();
    const sinceMs = before();
    world.submit(2, { sinceMs });
    world.verify(0);
    world.submit(1, { sinceMs });
    assert.deepEqual([world.jobs.length, world.answers.get(1)], [0, 'superseded']);
    assert.equal(world.charged.length, 2, 'it is paid for');
  });

  test('QTE-09: what came after the newer one was sent did not wait: it is too old', () => {
    const world = new World();
    world.submit(2, { sinceMs: before() });
    world.verify(0);
    for (const origin of [{ sinceMs: performance.now() }, {}]) {
      world.submit(1, origin);
      assert.equal(world.answers.get(1), 'REQUEST_TOO_OLD');
      world.answers.clear();
    }
    world.submit(2, { sinceMs: before() });
    assert.equal(world.answers.get(2), 'REQUEST_TOO_OLD', 'the same revision again is no newer one');
  });

  test('QTE-09: is never skipped for one whose signature does not verify, of another name, or refused by its market', () => {
    const world = new World();
    const sinceMs = before();
    world.submit(1, { sinceMs });
    world.submit(2, { sinceMs });
    world.submit(3, { sinceMs, setId: 'other' });
    world.verify(1, false);
    world.verify(1);
    assert.equal(world.answers.get(2), 'INVALID_SIGNATURE');
    world.verify(0);
    assert.deepEqual(world.sent, [3, 1]);
    world.submit(4, { sinceMs });
    world.submit(5, { sinceMs });
    world.verify(1);
    world.refuse();
    assert.equal(world.answers.get(5), 'ORDER_EXPIRED');
    world.verify(0);
    assert.deepEqual(world.sent, [3, 1, 5, 4], 'the one before it goes all the same');
  });

  test('UNS-01, QTE-09: one that a cancel of all has overtaken is too old, whatever its revision', () => {
    const world = new World();
    let isTaken = false;
    world.submit(1, { isOvertaken: () => isTaken });
    isTaken = true;
    world.verify(0);
    assert.deepEqual([world.sent, world.answers.get(1)], [[], 'REQUEST_TOO_OLD']);
  });

  test('QTE-04: one that only takes away may overtake the signatures in front of it, one that adds may not', () => {
    const world = new World();
    world.submit(1);
    world.verify(0);
    world.submit(2, { bids: [] });
    world.submit(3, { bids: [[201_000, 100]] });
    assert.deepEqual(
      world.jobs.map(({ job }) => job.isUrgent),
      [true, false],
    );
    assert.equal(world.entry.onlyTakes(setRequest([], []), ALICE), true);
    assert.equal(world.entry.onlyTakes(setRequest([[1, 1]], []), ALICE), false);
  });

  test('QTE-09: whatever the order of the verdicts, revisions reach the market in order, and each that does not was skipped for a newer one', () => {
    const step = fc.record({ isValid: fc.boolean(), place: fc.nat(7), reads: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 4, maxLength: 24 }), (steps) => {
        const world = new World();
        const sinceMs = before();
        const invalid = new Set<number>();
        const waiting: number[] = [];
        let last = 0;
        for (const { isValid, place, reads } of steps) {
          if (reads || waiting.length === 0) {
            last += 1;
            world.submit(last, { sinceMs });
            waiting.push(last);
            continue;
          }
          const at = place % waiting.length;
          const [revision = 0] = waiting.splice(at, 1);
          if (!isValid) invalid.add(revision);
          world.verify(at, isValid);
        }
        while (waiting.length > 0) {
          waiting.shift();
          world.verify(0);
        }
        assert.deepEqual(
          world.sent,
          [...world.sent].sort((a, b) => a - b),
        );
        for (let revision = 1; revision <= last; revision += 1) {
          const isSent = world.sent.includes(revision);
          const answer = world.answers.get(revision) ?? '';
          if (invalid.has(revision)) assert.equal(answer, 'INVALID_SIGNATURE');
          else if (isSent) assert.equal(answer, '');
          else {
            assert.match(answer, /superseded|SERVICE_UNAVAILABLE/);
            if (answer === 'superseded') assert.ok(world.sent.some((newer) => newer > revision));
          }
        }
      }),
      propertyParameters(100),
    );
  });
});

suite('a quote set and the end of its connection', () => {
  /** What of the set ends, in the turn behind each step. */
  class Lines extends World {
    readonly ended: string[] = [];
    hasRoom = true;
    readonly automatic = new AutomaticCancels({
      holderOf: () => 'user',
      cancels: {
        hasRoomForCancel: () => true,
        sendCancel: () => undefined,
        cancelAll: () => null,
        endQuoteSet: ({ setId }) => {
          if (this.hasRoom) this.ended.push(setId);
          return this.hasRoom;
        },
      },
      nowNs: () => NOW,
      wakeUp: () => undefined,
    });

    send(revision: number, group: DisconnectGroup | null): void {
      this.submit(revision, { group, bids: [[200_000 + 5 * revision, 100]] });
      this.verify(0);
    }

    cut(group: DisconnectGroup): void {
      this.automatic.connectionEnded(group);
      this.automatic.sendWaiting();
    }

    /** The market applies what it has got. */
    apply(): void {
      for (const requestId of this.requestIds()) {
        const sequence = this.fixture.nextSequence;
        this.fixture.manager.onQuoteSetApplied({
          ...{ marketIndex: MARKET.marketIndex, sequence, timeNs: NOW, requestId, user: ALICE, setId: 'mm', slot: 1 },
          ...{
            revisionNs: (OLDEST + BigInt(requestId)) as TimestampNs,
            goodUntilNs: 0n as TimestampNs,
            lastTradeId: 0,
          },
          ...{ maxFeeRate: 500, subAccount: 0, flags: ORDER_FLAG.isSpot | ORDER_FLAG.postOnly, protectionGroup: 0 },
          ...{ kept: 0, termsChanged: false, isOver: false, changes: [], addCode: 0 },
        });
      }
    }
  }

  test('QTE-09: ends with the connection whose revision is in force, or is the last on its way', () => {
    for (const isApplied of [true, false]) {
      const world = new Lines();
      const group = new DisconnectGroup();
      world.send(1, group);
      if (isApplied) world.apply();
      world.cut(group);
      assert.deepEqual([world.ended, world.automatic.size], [['mm'], 0]);
    }
  });

  test('QTE-09: that REST or another connection has revised stays, and ends with the other one', () => {
    for (const isApplied of [true, false])
      for (const other of [null, new DisconnectGroup()]) {
        const world = new Lines();
        const group = new DisconnectGroup();
        world.send(1, group);
        world.apply();
        world.send(2, other);
        if (isApplied) world.apply();
        world.cut(group);
        assert.deepEqual([world.ended, world.automatic.size], [[], isApplied ? 0 : 1]);
        world.apply();
        world.automatic.sendWaiting();
        assert.deepEqual([world.ended, world.automatic.size], [[], 0]);
        if (other === null) continue;
        world.cut(other);
        assert.deepEqual(world.ended, ['mm']);
      }
  });

  test('QTE-09: of REST becomes that of a connection with a revision over it, and waits for room to end', () => {
    const world = new Lines();
    const group = new DisconnectGroup();
    world.send(1, null);
    world.apply();
    world.send(2, group);
    world.hasRoom = false;
    world.cut(group);
    assert.deepEqual([world.ended, world.automatic.size], [[], 1]);
    world.hasRoom = true;
    world.automatic.sendWaiting();
    assert.deepEqual([world.ended, world.automatic.size], [['mm'], 0]);
  });

  test('QTE-09: ends when the revision of the other connection, which kept it, is refused by its market', () => {
    const world = new Lines();
    const group = new DisconnectGroup();
    world.send(1, group);
    world.apply();
    world.send(2, null);
    world.cut(group);
    assert.deepEqual(world.ended, []);
    world.refuse();
    world.automatic.sendWaiting();
    assert.deepEqual([world.ended, world.automatic.size], [['mm'], 0]);
  });

  test('QTE-09: a set that waits for its signature when its connection ends goes nowhere', () => {
    const world = new Lines();
    const group = new DisconnectGroup();
    world.submit(1, { group });
    world.cut(group);
    world.verify(0);
    assert.deepEqual([world.sent, world.answers.get(1), world.ended], [[], 'SERVICE_UNAVAILABLE', []]);
  });
});
