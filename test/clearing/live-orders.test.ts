import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { LiveOrders } from '../../src/clearing/live-orders.ts';
import type { OrderRow, StoredOrders } from '../../src/clearing/rows.ts';
import type { OrderSlot } from '../../src/clearing/state.ts';
import type { Sequence } from '../../src/core/units.ts';
import { propertyParameters } from '../support/property.ts';

/** Rows by place, as a name and nothing else; a look is valid until the next. */
class PlainShelf implements StoredOrders {
  readonly taken: number[] = [];
  readonly #look = { orderSequence: 0 };

  look(place: number): OrderRow {
    this.#look.orderSequence = place / 10;
    return this.#look as unknown as OrderRow;
  }

  take(place: number): OrderRow {
    this.taken.push(place);
    return { orderSequence: place / 10 } as OrderRow;
  }

  userAt(): number {
    return -1;
  }
}

function slotOf(row: OrderRow): OrderSlot {
  return { row, look: () => row } as unknown as OrderSlot;
}

const step = fc.record({
  kind: fc.constantFrom('get', 'has', 'look', 'delete', 'create', 'walk'),
  name: fc.integer({ min: 1, max: 60 }),
});

suite('live orders', () => {
  test('shelved or not, they are found, told in their turn and end like entries of a map', () => {
    const shelved = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(shelved, fc.array(step, { maxLength: 80 }), (names, steps) => {
        const shelf = new PlainShelf();
        const live = new LiveOrders((stored, place) => slotOf(stored.take(place)));
        const plain = new Map<number, true>();
        for (const name of names.sort((a, b) => a - b)) {
          live.shelve(name as Sequence, shelf, 10 * name);
          plain.set(name, true);
        }
        let next = 41;
        for (const { kind, name: number } of steps) {
          const name = number as Sequence;
          const isThere = plain.has(name);
          if (kind === 'get') assert.equal(live.get(name)?.row.orderSequence, isThere ? name : undefined);
          else if (kind === 'has') assert.equal(live.has(name), isThere);
          else if (kind === 'look') assert.equal(live.look(name)?.orderSequence, isThere ? name : undefined);
          else if (kind === 'delete') {
            live.delete(name);
            plain.delete(name);
          } else if (kind === 'create') {
            live.set(next as Sequence, slotOf({ orderSequence: next } as OrderRow));
            plain.set(next, true);
            next += 1;
          } else {
            // Whoever goes through all may take one off and end one, as it comes to them.
            const seen: number[] = [];
            for (const row of live.looks()) {
              const found = row.orderSequence;
              seen.push(found);
              if (found % 3 === 0) live.get(found);
              if (found === name) {
                live.delete(found);
                plain.delete(found);
              }
            }
            assert.deepEqual(
              seen.filter((each) => each !== name),
              [...plain.keys()],
            );
          }
          assert.equal(live.size, plain.size);
          assert.deepEqual([...live.keys()], [...plain.keys()]);
        }
        assert.equal(new Set(shelf.taken).size, shelf.taken.length, 'each is taken once');
        assert.deepEqual(
          Array.from(live, ([name, slot]) => [name, slot.row.orderSequence]),
          Array.from(plain.keys(), (name) => [name, name]),
        );
      }),
      propertyParameters(),
    );
  });

  test('an order is shelved behind those before it, and once', () => {
    const live = new LiveOrders((stored, place) => slotOf(stored.take(place)));
    const shelf = new PlainShelf();
    live.shelve(5 as Sequence, shelf, 50);
    for (const name of [4, 5]) assert.throws(() => live.shelve(name as Sequence, shelf, 10 * name), /in the order/);
    assert.throws(() => live.set(5 as Sequence, slotOf({ orderSequence: 5 } as OrderRow)), /after those/);
  });
});
