import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ORDER_END, SIDE, TRIGGER, TRIGGER_STATE, type TriggerKind } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { BOB, ClearingWorld, ETH, USD } from '../support/clearing-world.ts';
import { propertyParameters } from '../support/property.ts';

const price = fc.integer({ min: 1, max: 40 });
const kind = fc.constantFrom(TRIGGER.above, TRIGGER.below);
const order = fc.nat();
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('create' as const), kind, price }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('move' as const), kind, price, order }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('end' as const), order }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('trade' as const), price }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Waiting {
  readonly kind: TriggerKind;
  readonly price: number;
}

/** A market in which orders wait, and the same as a plain list. */
class Waiters {
  readonly world: ClearingWorld = ClearingWorld.withMarket();
  readonly plain = new Map<Sequence, Waiting>();
  private readonly fired = new Set<Sequence>();

  constructor() {
    this.world.fund(BOB, ETH, '10');
    this.world.fund(BOB, USD, '10');
  }

  play(next: Step): void {
    if (next.does === 'create') {
      const name = this.world.create({ side: SIDE.sell, triggerKind: next.kind, triggerPrice: next.price });
      this.plain.set(name, next);
    } else if (next.does === 'trade') this.trade(next.price);
    else this.change(next);
  }

  private change(next: Extract<Step, { does: 'move' | 'end' }>): void {
    const name = [...this.plain.keys()][next.order % Math.max(1, this.plain.size)];
    if (name === undefined) return;
    if (next.does === 'move') {
      this.world.replace(name, { triggerKind: next.kind, triggerPrice: next.price as RawPrice });
      this.plain.set(name, next);
    } else {
      this.world.end(name, ORDER_END.userRequested);
      this.plain.delete(name);
    }
  }

  /** Bob sells to himself: a price that costs little. */
  private trade(at: number): void {
    const terms = { user: BOB, price: at, quantity: 1 };
    const maker = this.world.create({ ...terms, side: SIDE.sell });
    this.world.match(maker, this.world.create(terms), 1, { price: at as RawPrice });
    for (const [name, waiting] of this.plain) {
      if (waiting.kind === TRIGGER.above ? at < waiting.price : at > waiting.price) continue;
      this.plain.delete(name);
      this.fired.add(name);
    }
  }

  check(): void {
    const state = (name: Sequence) => this.world.order(name)?.triggerState;
    for (const name of this.plain.keys()) assert.equal(state(name), TRIGGER_STATE.dormant);
    for (const name of this.fired) assert.equal(state(name), TRIGGER_STATE.fired);
  }

  /** Entries of both heaps, those that count no more included. */
  get entryCount(): number {
    return this.world.state.markets.reduce((sum, { triggers: [a, b] }) => sum + a.entries.length + b.entries.length, 0);
  }
}

suite('trigger heaps', () => {
  test('a price fires exactly what a plain list says, moved and ended orders included (AMB-20, AMB-28)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const waiters = new Waiters();
        for (const next of steps) {
          waiters.play(next);
          waiters.check();
        }
      }),
      propertyParameters(25),
    );
  });

  test('a trigger that is moved for ever takes no room for ever', () => {
    const waiters = new Waiters();
    for (let count = 0; count < 10; count += 1) waiters.play({ does: 'create', kind: TRIGGER.above, price: 20 });
    for (let count = 0; count < 1_000; count += 1) {
      waiters.play({ does: 'move', kind: TRIGGER.above, price: 20 + (count % 20), order: count });
    }
    assert.ok(waiters.entryCount <= 64);
    waiters.play({ does: 'trade', price: 40 });
    waiters.check();
    assert.equal(waiters.plain.size, 0);
  });
});
