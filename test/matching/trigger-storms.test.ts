// tier: quick
/**
 * Many triggers that one price reaches: no step grows with their number, and an order that ends meanwhile has
 * ended.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { TRIGGER, type TriggerKind } from '../../src/core/order-terms.ts';
import { type BookedTrigger, TriggerBook } from '../../src/matching/trigger-book.ts';
import type { TriggerLevel } from '../../src/matching/trigger-level.ts';
import { ends, LAST_PRICE, MarketFixture, names, only, tradeAt } from '../support/market-fixture.ts';
import { START_NS } from '../support/market-recorder.ts';

const STORM = 100_000;

/** A trigger that counts every access to any of them. */
class CountedTrigger implements BookedTrigger<CountedTrigger> {
  static looks = 0;
  kind: TriggerKind;
  price: number;
  #order: number;
  #level: TriggerLevel<CountedTrigger> | null = null;

  constructor(order: number, kind: TriggerKind, price: number) {
    this.#order = order;
    this.kind = kind;
    this.price = price;
  }

  get order(): number {
    CountedTrigger.looks++;
    return this.#order;
  }

  get level(): TriggerLevel<CountedTrigger> | null {
    CountedTrigger.looks++;
    return this.#level;
  }

  set level(level: TriggerLevel<CountedTrigger> | null) {
    CountedTrigger.looks++;
    this.#level = level;
  }
}

function orderOf([, , order]: readonly unknown[]): unknown {
  return order;
}

suite('trigger storms (service spec 3.1, TRG-02)', () => {
  for (const [where, priceOf] of [
    ['at one price', () => 500],
    ['at a price of its own each', (order: number) => 1_000 + order],
  ] as const)
    test(`a price that reaches ${STORM} triggers ${where} looks at none; one that is taken costs the same each time`, () => {
      const book = new TriggerBook<CountedTrigger>();
      for (let order = 1; order <= STORM; order++) book.add(new CountedTrigger(order, TRIGGER.above, priceOf(order)));
      assert.equal(book.reach(1), null);
      const before = CountedTrigger.looks;
      const reached = book.reach(2 * STORM);
      assert.ok(reached !== null);
      assert.equal(CountedTrigger.looks - before, 0);
      const costs = new Set<number>();
      for (let order = 1; order <= STORM; order++) {
        const from = CountedTrigger.looks;
        const taken: CountedTrigger | null = reached.take();
        costs.add(CountedTrigger.looks - from);
        assert.equal(taken?.order, order);
      }
      assert.ok(Math.max(...costs) <= 8, `looks at one: ${[...costs].join(', ')}`);
      assert.ok(reached.isEmpty);
    });

  test('a confirmed price says nothing by itself; each turn tells what its budget allows, by admission (AMB-28)', () => {
    const fixture = storm(1_000);
    const told: unknown[] = [];
    for (let turn = 0; turn < 15; turn++) {
      const some = fixture.poll();
      assert.equal(some.length, 64, `turn ${turn}`);
      told.push(...some.map(orderOf));
    }
    told.push(...fixture.poll().map(orderOf));
    assert.deepEqual(
      told,
      Array.from({ length: 1_000 }, (_, at) => at + 1),
    );
    assert.equal(fixture.engine.poll(fixture.nowNs, 64), false, 'nothing waits');
  });

  test('a cancel between two turns ends an order that was reached, and it is never told (AMB-23, AMB-28)', () => {
    const fixture = storm(200);
    assert.deepEqual(ends(fixture.cancel('t199', { user: 'bob' })), [[200, 'UserRequested', 1]]);
    fixture.poll();
    assert.deepEqual(ends(fixture.cancel('t100')), [[101, 'UserRequested', 1]]);
    assert.equal(ends(fixture.cancelAll({ user: 'bob' })).length, 99);
    const told = only([...fixture.poll(), ...fixture.poll()], 'triggered').map(orderOf);
    const left = Array.from({ length: 200 }, (_, at) => at + 1).filter((order) => order > 64 && order % 2 === 1);
    assert.deepEqual(
      told,
      left.filter((order) => order !== 101),
    );
  });

  test('when all that were reached have left, there is nothing to work off', () => {
    const fixture = storm(100);
    fixture.cancelAll();
    fixture.cancelAll({ user: 'bob' });
    assert.equal(fixture.engine.poll(fixture.nowNs, 64), false);
    assert.deepEqual(fixture.recorder.take(), []);
  });

  test('one that was reached has fired, told or not: no other trigger for it, its other terms may change (AMB-20)', () => {
    const fixture = storm(200);
    const timestampNs = START_NS + 1n;
    assert.equal(fixture.replace('t198', { above: 1_000, timestampNs })[0]?.[2], 'INVALID_ORDER');
    const [replaced] = fixture.replace('t198', { quantity: 7, timestampNs });
    assert.deepEqual(replaced?.slice(8), [TRIGGER.none, 0], 'it waits for no price any more');
    for (let turn = 0; turn < 3; turn++) fixture.poll();
    const told = only(fixture.poll(), 'triggered').map(([, , order, , quantity]) => [order, quantity]);
    assert.deepEqual(told.slice(-2), [
      [199, 7],
      [200, 1],
    ]);
    assert.equal(told.length, 8, 'each is told once');
  });

  test('of two prices that come during a storm the first one goes first, and whoever came between meets the second (AMB-28)', () => {
    const fixture = storm(100);
    fixture.poll();
    fixture.buy('late', 1, 1, { above: LAST_PRICE });
    tradeAt(fixture, LAST_PRICE - 40);
    fixture.settleAll();
    fixture.buy('later', 1, 1, { above: LAST_PRICE });
    const low = fixture.engine.sequence + 1;
    fixture.buy('low', 1, 1, { below: LAST_PRICE - 45 });
    tradeAt(fixture, LAST_PRICE - 50);
    fixture.settleAll();
    const rest = fixture.poll().map(orderOf);
    assert.deepEqual(rest, [...Array.from({ length: 36 }, (_, at) => at + 65), low], 'neither late one has seen 100');
    tradeAt(fixture);
    fixture.settleAll();
    assert.deepEqual(names(fixture.poll()), ['triggered', 'triggered']);
  });
});

/** So many triggers of ada and bob in turn, named t0 …, orders 1 …, all reached by one price that is confirmed. */
function storm(count: number): MarketFixture {
  const fixture = new MarketFixture();
  for (let i = 0; i < count; i++) fixture.buy(`t${i}`, 1, 1, { above: LAST_PRICE, user: i % 2 === 0 ? 'ada' : 'bob' });
  tradeAt(fixture);
  assert.deepEqual(fixture.settleAll(), []);
  return fixture;
}
