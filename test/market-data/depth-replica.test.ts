// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { DepthLevels } from '../../src/core/market-figures.ts';
import { SIDE, type Side } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { DEPTH_LEVELS_MAX, DepthReplica, DIFF_LEVELS_MAX } from '../../src/market-data/depth-replica.ts';
import { propertyParameters } from '../support/property.ts';

const change = (replica: DepthReplica, side: Side, price: number, quantity: number): void =>
  replica.levelChanged(side, price as RawPrice, quantity);
const commit = (replica: DepthReplica, sequence: number): boolean => replica.commit(sequence as Sequence);

/** A book that a reader keeps: levels by price. */
class ReaderBook {
  readonly bids = new Map<number, number>();
  readonly asks = new Map<number, number>();
  sequence: number;

  constructor(snapshot: DepthLevels) {
    this.sequence = snapshot.sequenceNumber;
    this.#merge(snapshot);
  }

  apply(diff: DepthLevels): void {
    assert.equal(diff.sequenceNumber, this.sequence + 1, 'diffs step by one');
    this.sequence = diff.sequenceNumber;
    this.#merge(diff);
  }

  levels(): Pick<DepthLevels, 'asks' | 'bids'> {
    const sorted = (book: Map<number, number>, sign: number): number[] =>
      [...book].sort(([a], [b]) => sign * (a - b)).flat();
    return { asks: sorted(this.asks, 1), bids: sorted(this.bids, -1) };
  }

  #merge(levels: DepthLevels): void {
    const sides: readonly [Map<number, number>, readonly number[]][] = [
      [this.asks, levels.asks],
      [this.bids, levels.bids],
    ];
    for (const [book, pairs] of sides) {
      for (let index = 0; index < pairs.length; index += 2) {
        const price = pairs[index] ?? 0;
        const quantity = pairs[index + 1] ?? 0;
        if (quantity === 0) assert.ok(book.delete(price), 'only a level readers have is removed');
        else book.set(price, quantity);
      }
    }
  }
}

/** The true window of a plain book. */
function windowOf(book: ReadonlyMap<number, number>, sign: number, levelsMax: number): number[] {
  return [...book]
    .filter(([, quantity]) => quantity > 0)
    .sort(([a], [b]) => sign * (a - b))
    .slice(0, levelsMax)
    .flat();
}

const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      side: fc.constantFrom(SIDE.buy, SIDE.sell),
      price: fc.integer({ min: 1, max: 12 }),
      quantity: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 6, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'publish' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose' as const }) },
);

suite('depth replica', () => {
  test('a snapshot at any moment plus the diffs after it is the book, over gaps and resets (MD-03, AMB-98)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), fc.constantFrom(1, 3, 100), (steps, levelsMax) => {
        const replica = new DepthReplica(levelsMax);
        const truth = { bids: new Map<number, number>(), asks: new Map<number, number>() };
        let sequence = 1;
        replica.reset(0);
        commit(replica, sequence);
        const readers: ReaderBook[] = [];
        const publish = (): void => {
          for (const diff of replica.takeDiffs()) for (const reader of readers) reader.apply(diff);
          const expected = {
            asks: windowOf(truth.asks, 1, levelsMax),
            bids: windowOf(truth.bids, -1, levelsMax),
          };
          for (const reader of readers) assert.deepEqual(reader.levels(), expected);
        };
        const endMessage = (): void => {
          sequence += 1;
          if (commit(replica, sequence)) return;
          assert.equal(replica.state, 'gap');
          replica.reset(replica.sequenceNumber);
          for (const [price, quantity] of truth.bids) change(replica, SIDE.buy, price, quantity);
          for (const [price, quantity] of truth.asks) change(replica, SIDE.sell, price, quantity);
          assert.ok(commit(replica, sequence));
        };
        for (const at of steps) {
          const snapshot = replica.snapshot();
          assert.ok(snapshot !== null);
          if (readers.length < 20) readers.push(new ReaderBook(snapshot));
          if (at.kind === 'change') {
            change(replica, at.side, at.price, at.quantity);
            (at.side === SIDE.buy ? truth.bids : truth.asks).set(at.price, at.quantity);
          } else if (at.kind === 'lose') {
            sequence += 1;
            endMessage();
          } else {
            endMessage();
            if (at.kind === 'publish') publish();
          }
        }
        endMessage();
        publish();
      }),
      propertyParameters(60),
    );
  });

  test('after a gap nothing is applied until a reset is complete (MD-04)', () => {
    const replica = new DepthReplica();
    assert.equal(replica.snapshot(), null);
    assert.equal(commit(replica, 7), false);
    assert.equal(replica.state, 'waiting');
    replica.reset(0);
    change(replica, SIDE.buy, 100, 5);
    assert.equal(replica.snapshot(), null);
    assert.ok(commit(replica, 7));
    assert.deepEqual(replica.takeDiffs(), [{ asks: [], bids: [100, 5], sequenceNumber: 1 }]);
    change(replica, SIDE.buy, 100, 6);
    assert.equal(commit(replica, 9), false);
    change(replica, SIDE.buy, 100, 7);
    assert.equal(commit(replica, 10), false);
    assert.equal(replica.hasChanges, false);
    assert.deepEqual(replica.snapshot(), { asks: [], bids: [100, 5], sequenceNumber: 1 });
    replica.reset(1);
    change(replica, SIDE.buy, 99, 1);
    assert.ok(commit(replica, 12));
    assert.deepEqual(replica.takeDiffs(), [{ asks: [], bids: [100, 0, 99, 1], sequenceNumber: 2 }]);
  });

  test('a level that changes and comes back within one diff is not published', () => {
    const replica = new DepthReplica();
    replica.reset(41);
    change(replica, SIDE.sell, 10, 1);
    commit(replica, 1);
    assert.equal(replica.takeDiffs()[0]?.sequenceNumber, 42);
    change(replica, SIDE.sell, 10, 9);
    change(replica, SIDE.sell, 11, 9);
    commit(replica, 2);
    change(replica, SIDE.sell, 10, 1);
    change(replica, SIDE.sell, 11, 0);
    commit(replica, 3);
    assert.deepEqual(replica.takeDiffs(), []);
    assert.equal(replica.sequenceNumber, 42);
  });

  test('a base below a used number breaks an invariant', () => {
    const replica = new DepthReplica();
    replica.reset(5);
    assert.throws(() => replica.reset(4), /never go backwards/);
  });

  test('a deep book shows 10,000 levels a side, and a whole new one fits two frames (AMB-98, AMB-95)', () => {
    const replica = new DepthReplica();
    replica.reset(0);
    for (let level = 1; level <= DEPTH_LEVELS_MAX + 500; level += 1) {
      change(replica, SIDE.buy, 20_000 - level, level);
      change(replica, SIDE.sell, 20_000 + level, level);
    }
    commit(replica, 1);
    const first = replica.takeDiffs();
    assert.deepEqual(
      first.map((diff) => [diff.asks.length / 2, diff.bids.length / 2, diff.sequenceNumber]),
      [[10_000, 10_000, 1]],
    );
    assert.deepEqual(first[0]?.bids.slice(0, 4), [19_999, 1, 19_998, 2]);
    replica.reset(1);
    for (let level = 1; level <= DEPTH_LEVELS_MAX; level += 1) change(replica, SIDE.buy, 900_000 + level, 1);
    for (let level = 1; level <= DEPTH_LEVELS_MAX; level += 1) change(replica, SIDE.sell, 990_000 + level, 1);
    commit(replica, 2);
    const second = replica.takeDiffs();
    assert.deepEqual(
      second.map((diff) => diff.sequenceNumber),
      [2, 3],
    );
    for (const diff of second) assert.ok((diff.asks.length + diff.bids.length) / 2 <= DIFF_LEVELS_MAX);
  });
});
