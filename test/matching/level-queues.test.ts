// tier: quick
/** The queues of a side's levels are lists: what comes, leaves or moves anywhere in them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { LevelQueues } from '../../src/matching/level-queues.ts';
import { OrderPool } from '../../src/matching/order-pool.ts';
import { PLAIN_TERMS } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const LEVELS = 3;

/** Weighed so that queues grow over many blocks, and some become empty. */
const step = fc.record({
  kind: fc.constantFrom(
    'append',
    'append',
    'append',
    'remove',
    'remove',
    'removeFirst',
    'removeLast',
    'moveToBack',
    'insert',
    'insertFirst',
    'insertRun',
    'sort',
  ),
  level: fc.integer({ min: 0, max: LEVELS - 1 }),
  at: fc.nat(),
  times: fc.integer({ min: 1, max: 20 }),
});

class Compared {
  readonly orders: OrderPool = new OrderPool(2);
  readonly queues: LevelQueues = new LevelQueues(this.orders, LEVELS);
  readonly lists: number[][] = Array.from({ length: LEVELS }, () => []);
  #next = 1;

  append(level: number): void {
    const list = this.lists[level] as number[];
    if (list.length === 0) this.queues.open(level, 100 + level);
    const slot = this.orders.allocate({ ...PLAIN_TERMS, side: 0, price: 100 + level }, 0, 1);
    this.orders.setSequence(slot, this.#next++);
    this.queues.append(level, slot, 1);
    list.push(slot);
  }

  insert(level: number, at: number): void {
    const list = this.lists[level] as number[];
    const next = list[at];
    if (next === undefined) {
      this.append(level);
      return;
    }
    const slot = this.orders.allocate({ ...PLAIN_TERMS, side: 0, price: 100 + level }, 0, 1);
    this.orders.setSequence(slot, this.#next++);
    this.queues.insertBefore(level, next, slot, 1);
    list.splice(at, 0, slot);
  }

  remove(level: number, at: number): void {
    const list = this.lists[level] as number[];
    const [slot] = list.splice(at, 1);
    if (slot === undefined) return;
    assert.equal(this.queues.remove(slot, 1), list.length);
    if (list.length === 0) this.queues.close(level);
  }

  moveToBack(level: number, at: number): void {
    const list = this.lists[level] as number[];
    const [slot] = list.splice(at, 1);
    if (slot === undefined) return;
    this.queues.moveToBack(slot, 1);
    list.push(slot);
  }

  sort(level: number, salt: number): void {
    const list = this.lists[level] as number[];
    if (list.length === 0) return;
    const keyOf = (slot: number): number => (Math.imul(this.orders.sequenceOf(slot), salt | 1) >>> 8) & 0xffff;
    const compare = (a: number, b: number): number => keyOf(a) - keyOf(b) || a - b;
    list.sort(compare);
    this.queues.sort(level, compare);
  }

  check(): void {
    for (const [level, list] of this.lists.entries()) {
      if (list.length === 0) continue;
      assert.deepEqual(this.queues.ordersOf(level), list);
      assert.equal(this.queues.headOf(level), list[0]);
      assert.equal(this.queues.lastOf(level), list.at(-1));
      assert.equal(this.queues.countOf(level), list.length);
      assert.equal(this.queues.quantityOf(level), list.length);
      assert.equal(this.queues.after(level, list.at(-1) as number), -1);
    }
  }
}

suite('the queues of levels', () => {
  test('first in, first out, whoever leaves or moves to the back (AMB-19, CAN-01)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const compared = new Compared();
        for (const { kind, level, at, times } of steps) {
          for (let i = 0; i < times; i++) {
            const { length } = compared.lists[level] as number[];
            const place = length === 0 ? 0 : (at + i * 7) % length;
            if (kind === 'append') compared.append(level);
            else if (kind === 'remove') compared.remove(level, place);
            else if (kind === 'removeFirst') compared.remove(level, 0);
            else if (kind === 'removeLast') compared.remove(level, Math.max(length - 1, 0));
            else if (kind === 'moveToBack') compared.moveToBack(level, place);
            else if (kind === 'insert') compared.insert(level, place);
            else if (kind === 'insertFirst') compared.insert(level, 0);
            else if (kind === 'insertRun') compared.insert(level, (at % Math.max(length - i, 1)) + i);
          }
          if (kind === 'sort') compared.sort(level, at);
          compared.check();
        }
      }),
      propertyParameters(300),
    );
  });

  test('what leaves gives its memory back, also behind one that stays for ever', () => {
    const compared = new Compared();
    compared.append(0);
    for (let i = 0; i < 200; i++) compared.append(0);
    const turnOver = (times: number): void => {
      for (let i = 0; i < times; i++) {
        compared.append(0);
        compared.remove(0, 1);
      }
    };
    turnOver(300);
    const { bytes } = compared.queues;
    turnOver(20_000);
    compared.check();
    assert.equal(compared.queues.bytes, bytes);
  });
});
