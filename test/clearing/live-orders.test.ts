import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { LiveOrders } from '../../src/clearing/live-orders.ts';
import type { OrderRow, StoredOrders } from '../../src/clearing/rows.ts';
import type { OrderSlot } from '../../src/clearing/state.ts';
import type { Sequence } from '../../src/core/units.ts';
import { propertyParameters } from '../support/property.ts';

/** Rows by place, as a name and a priority; a look is valid until the next of its kind. */
class PlainShelf implements StoredOrders {
  readonly taken: number[] = [];
  readonly #look: Row = { ...rowOf(0) };

  look(place: number): OrderRow {
    return Object.assign(this.#look, rowOf(place / 10)) as OrderRow;
  }

  *looks(places: Iterable<number>): Generator<OrderRow> {
    const look: Row = { ...rowOf(0) };
    let last = 0;
    for (const place of places) {
      assert.ok(place > last, 'places rise');
      last = place;
      yield Object.assign(look, rowOf(place / 10)) as OrderRow;
    }
  }

  take(place: number): OrderRow {
    this.taken.push(place);
    return rowOf(place / 10);
  }

  userOf(): number {
    return -1;
  }
}

const beats = (): void => undefined;

type Row = { -readonly [K in keyof OrderRow]: OrderRow[K] };

/** Every seventh was replaced later. */
function rowOf(name: number): OrderRow {
  return { orderSequence: name, prioritySequence: name % 7 === 0 ? name + 100 : name } as unknown as OrderRow;
}

function slotOf(row: OrderRow): OrderSlot {
  return { row, isStored: false, look: () => row } as unknown as OrderSlot;
}

/** Found by something else than its name; its row is read when it is asked for. */
function linkedSlot(shelf: PlainShelf, name: number): OrderSlot {
  let row: OrderRow | null = null;
  return {
    get isStored() {
      return row === null;
    },
    get row() {
      row ??= shelf.take(10 * name);
      return row;
    },
    look: () => row ?? shelf.look(10 * name),
  } as unknown as OrderSlot;
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
        const live = new LiveOrders((stored, place) => slotOf(stored.take(place)), beats);
        const plain = new Map<number, true>();
        for (const name of names.sort((a, b) => a - b)) {
          live.shelve(rowOf(name), shelf, 10 * name, name % 4 !== 0);
          if (name % 5 === 0) live.link(linkedSlot(shelf, name));
          plain.set(name, true);
        }
        let next = 41;
        const touched = new Set<number>();
        for (const { kind, name: number } of steps) {
          const name = number as Sequence;
          const isThere = plain.has(name);
          if (kind === 'get') {
            assert.equal(live.get(name)?.row.orderSequence, isThere ? name : undefined);
            touched.add(name);
          }
          if (kind === 'has') assert.equal(live.has(name), isThere);
          else if (kind === 'look') assert.equal(live.look(name)?.orderSequence, isThere ? name : undefined);
          else if (kind === 'delete') {
            live.delete(name);
            plain.delete(name);
          } else if (kind === 'create') {
            live.set(next as Sequence, slotOf(rowOf(next)));
            plain.set(next, true);
            touched.add(next);
            next += 1;
          } else {
            // Whoever goes through all may take one off and end one, as it comes to them.
            const seen: number[] = [];
            for (const row of live.looks()) {
              const found = row.orderSequence;
              seen.push(found);
              if (found % 3 === 0 && live.get(found)?.row !== undefined) touched.add(found);
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
          const isUnsettled = (each: number): boolean => touched.has(each) || each % 4 === 0;
          assert.deepEqual([...live.unsettled()], [...plain.keys()].filter(isUnsettled));
          for (let each = 0; each < next; each += 1) {
            const isSettled = plain.has(each) && !isUnsettled(each);
            assert.equal(live.isSettled(each as Sequence), isSettled, 'what is over is not settled either');
          }
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
    const live = new LiveOrders((stored, place) => slotOf(stored.take(place)), beats);
    const shelf = new PlainShelf();
    live.shelve(rowOf(5), shelf, 50, true);
    for (const name of [4, 5]) assert.throws(() => live.shelve(rowOf(name), shelf, 10 * name, true), /in the order/);
    assert.throws(() => live.set(5 as Sequence, slotOf(rowOf(5))), /after those/);
  });
});
