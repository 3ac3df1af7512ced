// tier: quick
/** Netting against a plain recount: the queue's running sum equals a walk over all orders after every change. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { larger } from '../../src/core/arithmetic.ts';
import {
  type Exposure,
  type ExposureEntry,
  ExposureQueue,
  NO_EXPOSURE,
  newExposureEntry,
} from '../../src/risk/exposure-queue.ts';
import { propertyParameters } from '../support/property.ts';

interface PlainOrder {
  readonly entry: ExposureEntry;
  exposure: Exposure;
}

/** In the order of admission every order takes what is left of the offset (AMB-50). */
function plainCounted(orders: readonly PlainOrder[], offset: number): bigint {
  let left = offset;
  let sum = 0n;
  for (const { exposure } of [...orders].sort((a, b) => a.entry.place - b.entry.place)) {
    if (exposure.lots === 0) continue;
    const netted = Math.min(left, exposure.lots);
    left -= netted;
    const notionals = termsOf(exposure).map(({ lots, lotPrice, total }) => {
      const counted = BigInt(Math.max(lots - netted, 0));
      return total === null ? lotPrice * counted : (total * counted + BigInt(lots) - 1n) / BigInt(lots);
    });
    sum += notionals.reduce((worst, one) => larger(worst, one));
  }
  return sum;
}

function plainLots(orders: readonly PlainOrder[], offset: number): bigint {
  return larger(orders.reduce((sum, { exposure }) => sum + BigInt(exposure.lots), 0n) - BigInt(offset), 0n);
}

function termsOf({ other, ...one }: Exposure): Omit<Exposure, 'other'>[] {
  return other === null ? [one] : [one, ...termsOf(other)];
}

/** Few lots, or as many as an order without a number of lots may have: a sum of those is beyond what a double holds. */
const lotCounts = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 9 }) },
  { weight: 1, arbitrary: fc.constant(Number.MAX_SAFE_INTEGER) },
);

const alone = fc
  .record({ lots: lotCounts, price: fc.integer({ min: 1, max: 7 }), isCapped: fc.boolean() })
  .map(
    ({ lots, price, isCapped }): Exposure =>
      lots === 0
        ? NO_EXPOSURE
        : { lots, lotPrice: BigInt(price), total: isCapped ? BigInt(price * 3) : null, other: null },
  );

/** Now and then with a pending replace: other terms of no more lots. */
const exposures = fc.tuple(alone, alone, fc.nat(2)).map(([one, two, dice]): Exposure => {
  if (dice > 0 || one.lots === 0 || two.lots === 0) return one;
  return one.lots >= two.lots ? { ...one, other: two } : { ...two, other: one };
});

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('create' as const), exposure: exposures }),
    fc.record({ kind: fc.constant('change' as const), at: fc.nat(30), exposure: exposures }),
    fc.record({ kind: fc.constant('admit' as const), at: fc.nat(30) }),
    fc.record({ kind: fc.constant('release' as const), exposure: exposures }),
    fc.record({ kind: fc.constant('offset' as const), lots: fc.nat(25) }),
  ),
  { minLength: 5, maxLength: 60 },
);

suite('exposure queue', () => {
  test('netting in admission order equals a recount after every change, and a question changes nothing (MRG-19 to 23, AMB-50)', () => {
    fc.assert(
      fc.property(steps, exposures, (script, question) => {
        const queue = new ExposureQueue();
        const orders: PlainOrder[] = [];
        let [offset, next, early] = [0, 1_000, 500];
        const pending: PlainOrder[] = [];
        for (const step of script) {
          const chosen = 'at' in step ? orders[step.at % Math.max(1, orders.length)] : undefined;
          if (step.kind === 'create') {
            const order = { entry: newExposureEntry(null, 2 ** 52 + next), exposure: step.exposure };
            next += 1;
            queue.set(order.entry, step.exposure);
            orders.push(order);
            pending.push(order);
          } else if (step.kind === 'release') {
            // Admitted long ago, released now: it stands before younger ones.
            early -= 1;
            const order = { entry: newExposureEntry(null, early), exposure: step.exposure };
            queue.set(order.entry, step.exposure);
            orders.push(order);
          } else if (step.kind === 'change' && chosen !== undefined) {
            chosen.exposure = step.exposure;
            queue.set(chosen.entry, step.exposure);
          } else if (step.kind === 'admit') {
            const first = pending.shift();
            if (first !== undefined) {
              queue.admit(first.entry, next);
              next += 1;
            }
          } else if (step.kind === 'offset') {
            offset = step.lots;
            queue.setOffset(offset);
          }
          assert.equal(queue.counted, plainCounted(orders, offset));
          const counting = [...queue.counting()].reduce(
            (sum, { exposure, netted }) => sum + BigInt(exposure.lots - netted),
            0n,
          );
          assert.equal(counting, plainLots(orders, offset));
          if (chosen !== undefined) {
            const others = orders.filter((order) => order !== chosen);
            const asked = queue.countedWith(chosen.entry, question);
            const after = [...others, { entry: chosen.entry, exposure: question }];
            assert.equal(asked, plainCounted(after, offset));
            assert.equal(
              queue.outgrows(chosen.entry, question.lots),
              plainLots(after, offset) > plainLots(orders, offset),
            );
            assert.equal(queue.counted, plainCounted(orders, offset));
          }
        }
      }),
      propertyParameters(300),
    );
  });

  test('an order that enters far from the end, as released orders do, passes few others, and stands in its place (AMB-50)', () => {
    const queue = new ExposureQueue();
    const one: Exposure = { lots: 1, lotPrice: 1n, total: null, other: null };
    let looks = 0;
    const entryAt = (place: number): ExposureEntry => {
      const entry = newExposureEntry(null, place);
      Object.defineProperty(entry, 'place', {
        get: () => {
          looks += 1;
          return place;
        },
      });
      queue.set(entry, one);
      return entry;
    };
    // Fifths of the places: some stand before the others are released, and some of those that stand end meanwhile.
    const ORDERS = 5_000;
    const slots = Array.from({ length: ORDERS }, (_, at) => 1 + ((at * 1_777) % ORDERS));
    const standing = new Map<number, ExposureEntry>();
    for (let slot = 1; slot <= ORDERS; slot += 1) if (slot % 5 > 1) standing.set(slot, entryAt(slot));
    const first = looks;
    let released = 0;
    for (const slot of slots) {
      if (slot % 5 <= 1) {
        standing.set(slot, entryAt(slot));
        released += 1;
      } else if (slot % 25 === 2) {
        queue.set(standing.get(slot) as ExposureEntry, NO_EXPOSURE);
        standing.delete(slot);
      }
    }
    assert.deepEqual([first < 3 * ORDERS, looks - first < 500 * released], [true, true], `${first}, ${looks}`);
    const places = [...standing].sort(([a], [b]) => a - b).map(([, entry]) => entry);
    assert.deepEqual(
      [...queue.counting()].map(({ place }) => place),
      places.map(({ place }) => place),
    );
    assert.equal(queue.counted, BigInt(standing.size));
  });
});
