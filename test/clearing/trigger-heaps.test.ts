// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { applyBatch, FIRED_PER_TURN } from '../../src/clearing/clearing.ts';
import type { MarketInput, MatchedInput } from '../../src/clearing/inputs.ts';
import { type ClearingOrder, orderAt, orderOf } from '../../src/clearing/live-orders.ts';
import { takeMarketInput } from '../../src/clearing/market-inputs.ts';
import { type ClearingMarket, createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { isFired, isWatchedRight } from '../../src/clearing/trigger-heaps.ts';
import { fireAll, fireReached, fireSome } from '../../src/clearing/triggers.ts';
import { must } from '../../src/core/assert.ts';
import {
  ORDER_END,
  SIDE,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
  type TriggerState,
} from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { ClearingWorld, effectsOf, PlainTables } from '../support/clearing-world.ts';
import { BOB, ETH, USD } from '../support/names.ts';
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
  readonly #fired = new Set<Sequence>();

  constructor() {
    this.world.fund(BOB, ETH, '10');
    this.world.fund(BOB, USD, '10');
  }

  play(next: Step): void {
    if (next.does === 'create') {
      const name = this.world.create({ side: SIDE.sell, triggerKind: next.kind, triggerPrice: next.price });
      this.plain.set(name, next);
    } else if (next.does === 'trade') this.#trade(next.price);
    else this.#change(next);
  }

  #change(next: Extract<Step, { does: 'move' | 'end' }>): void {
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
  #trade(at: number): void {
    const terms = { user: BOB, price: at, quantity: 1 };
    const maker = this.world.create({ ...terms, side: SIDE.sell });
    this.world.match(maker, this.world.create(terms), 1, { price: at as RawPrice });
    for (const [name, waiting] of this.plain) {
      if (waiting.kind === TRIGGER.above ? at < waiting.price : at > waiting.price) continue;
      this.plain.delete(name);
      this.#fired.add(name);
    }
  }

  check(): void {
    const state = (name: Sequence) => this.world.order(name)?.triggerState;
    for (const name of this.plain.keys()) assert.equal(state(name), TRIGGER_STATE.dormant);
    for (const name of this.#fired) assert.equal(state(name), TRIGGER_STATE.fired);
  }

  /** Entries of both heaps. */
  get entryCount(): number {
    return this.world.state.markets.reduce((sum, { triggers: [a, b] }) => sum + a.entries.length + b.entries.length, 0);
  }
}

/** Events of a market, one at a time, so that nothing fires before its step. */
const word = fc.record({
  does: fc.constantFrom('add', 'add', 'move', 'drop', 'price', 'work'),
  kind,
  price,
  pick: fc.nat(),
});
type Word = typeof word extends fc.Arbitrary<infer S> ? S : never;

class SlowMarket {
  readonly #world = ClearingWorld.withMarket();
  readonly #plain = new Map<Sequence, Waiting>();
  readonly #fired = new Set<Sequence>();

  get #market(): ClearingMarket {
    return this.#world.state.markets[0] as ClearingMarket;
  }

  #tell(input: MarketInput): void {
    takeMarketInput(this.#world.state, input, this.#world.nowNs, []);
  }

  #live(sequence: Sequence): ClearingOrder {
    return must(orderOf(this.#market, sequence), 'it lives');
  }

  play({ does, kind: of, price: at, pick }: Word): void {
    const sequence = [...this.#plain.keys()][pick % Math.max(1, this.#plain.size)];
    if (does === 'add') this.#add(of, at);
    else if (does === 'price') this.#confirm(at as RawPrice);
    else if (does === 'work') fireSome(this.#world.state, 1 + (pick % 3));
    else if (sequence !== undefined && does === 'drop') this.#drop(sequence);
    else if (sequence !== undefined) this.#move(sequence, { kind: of, price: at });
  }

  #add(triggerKind: TriggerKind, triggerPrice: number): void {
    const admission = this.#world.admission({ side: SIDE.sell, triggerKind, triggerPrice });
    this.#tell({ kind: 'created', ...admission });
    this.#plain.set(admission.sequence, { kind: triggerKind, price: triggerPrice });
  }

  #move(order: Sequence, to: Waiting): void {
    const { prioritySequence, quantity, timestampNs, price } = this.#live(order).row;
    const trigger = { triggerKind: to.kind, triggerPrice: to.price as RawPrice };
    const terms = { order, prioritySequence, quantity, timestampNs, price, ...trigger, isCut: false };
    this.#tell({ kind: 'replaced', ...this.#world.next(), ...terms });
    const was = this.#plain.get(order);
    if (was?.kind === to.kind && was.price === to.price) return;
    this.#plain.set(order, to);
    this.#fired.delete(order);
  }

  #drop(order: Sequence): void {
    this.#tell({ kind: 'ended', ...this.#world.next(), order, end: ORDER_END.userRequested, faultReason: 0 });
    assert.equal(this.#world.finished(order)?.triggerState, this.#stateOf(order));
    this.#plain.delete(order);
  }

  #confirm(at: RawPrice): void {
    fireReached(this.#world.state, this.#market, at);
    for (const [order, waiting] of this.#plain) {
      if (waiting.kind === TRIGGER.above ? at >= waiting.price : at <= waiting.price) this.#fired.add(order);
    }
  }

  #stateOf(order: Sequence): TriggerState {
    return this.#fired.has(order) ? TRIGGER_STATE.fired : TRIGGER_STATE.dormant;
  }

  check(): void {
    for (const sequence of this.#plain.keys()) {
      const order = this.#live(sequence);
      assert.equal(isFired(order) ? TRIGGER_STATE.fired : order.row.triggerState, this.#stateOf(sequence));
      assert.ok(isWatchedRight(order));
    }
  }

  finish(): void {
    const before = stateHash(this.#world.state);
    fireAll(this.#world.state);
    for (const order of this.#plain.keys()) assert.equal(this.#live(order).row.triggerState, this.#stateOf(order));
    assert.equal(this.#world.state.firing.size, 0);
    assert.equal(stateHash(this.#world.state), before);
  }
}

/** A market with so many stops on one price, and a fill there that is not published yet. */
function crowd(count: number): { world: ClearingWorld; fill: MatchedInput } {
  const world = ClearingWorld.withMarket();
  world.fund(BOB, ETH, '10');
  world.fund(BOB, USD, '10');
  const stop = { side: SIDE.sell, triggerKind: TRIGGER.above, triggerPrice: 20 };
  world.send(
    ...Array.from({ length: count }, (_, at) => ({
      kind: 'created' as const,
      ...world.admission(stop, world.next(0, at + 1)),
    })),
  );
  const terms = { user: BOB, price: 20, quantity: 1 };
  const maker = world.create({ ...terms, side: SIDE.sell });
  const taker = world.create(terms);
  return { world, fill: world.matchInput(maker, taker, 1, { price: 20 as RawPrice }) };
}

function rowsFired({ state }: ClearingWorld): number {
  const [market] = state.markets;
  return [...(market?.orders.rows() ?? [])].filter((row) => row.triggerState === TRIGGER_STATE.fired).length;
}

suite('trigger heaps', () => {
  test('a price fires exactly what a plain list does, moved and ended orders included (AMB-20, AMB-28)', () => {
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

  test('however slowly rows follow, and whatever happens meanwhile, the same orders have fired (TRG-03, AMB-20, AMB-28)', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 150, size: 'max' }), (words) => {
        const market = new SlowMarket();
        for (const next of words) {
          market.play(next);
          market.check();
        }
        market.finish();
      }),
      propertyParameters(100),
    );
  });

  test('a price that reaches thousands of triggers changes some hundred rows a turn (TRG-03)', () => {
    const count = 3_000;
    const { world, fill } = crowd(count);
    assert.equal(effectsOf(world.send(fill), 'fillConfirmed').length, 1);
    const hash = stateHash(world.state);
    assert.ok(rowsFired(world) > 0 && rowsFired(world) <= FIRED_PER_TURN + 2);
    let turns = 1;
    for (; world.state.firing.size > 0; turns += 1) {
      const before = rowsFired(world);
      fireSome(world.state, FIRED_PER_TURN);
      assert.ok(rowsFired(world) - before <= FIRED_PER_TURN);
    }
    assert.ok(turns > count / FIRED_PER_TURN - 1);
    assert.equal(rowsFired(world), count);
    assert.equal(stateHash(world.state), hash, 'what has fired had fired before its row said so');
  });

  test('a check finds thousands in line one by one, whatever else is in it', () => {
    const count = 2_000;
    const { world, fill } = crowd(FIRED_PER_TURN * 4);
    world.send(fill);
    const [market] = world.state.markets as [ClearingMarket];
    const heap = market.triggers.find(({ kind }) => kind === TRIGGER.above);
    assert.ok(heap !== undefined && heap.inForce !== null);
    const stop = { side: SIDE.sell, triggerKind: TRIGGER.above, triggerPrice: 30 };
    for (let at = 0; at < count; at += 1) {
      takeMarketInput(world.state, { kind: 'created', ...world.admission(stop) }, world.nowNs, []);
    }
    const { line } = heap;
    assert.equal(line.length, count);
    let reads = 0;
    heap.line = new Proxy(line, {
      get: (of, name) => {
        reads += 1;
        return Reflect.get(of, name);
      },
    });
    for (const { index } of line) assert.ok(isWatchedRight(orderAt(market, index)));
    assert.ok(reads <= 4 * count, `${reads} reads for ${count} orders`);
    const first = orderAt(market, must(line[0], 'somebody stands there').index);
    world.state.orders.setHeapPlace(first.index, heap.entries.length);
    heap.entries.push(first.index);
    assert.ok(!isWatchedRight(first), 'in the heap and in the line');
    heap.waiting.delete(first.index);
    assert.ok(isWatchedRight(first));
    heap.entries.pop();
    assert.ok(!isWatchedRight(first), 'nowhere');
  });

  test('while thousands of triggers fire, a checkpoint and a replay have all of them (TRG-03, AMB-110)', () => {
    const count = 1_000;
    const { world, fill } = crowd(count);
    world.send(fill);
    assert.ok(rowsFired(world) < count);
    const hash = stateHash(world.state);
    const replayed = createClearingState();
    for (const batch of world.journal) applyBatch(replayed, batch, []);
    assert.equal(stateHash(replayed), hash);
    const tables = new PlainTables();
    tables.checkpoint(replayed);
    assert.equal(stateHash(tables.load()), hash);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(rowsFired(world), count, 'markets and gateway are told of rows');
  });

  test('a trigger that is moved for ever takes no space for ever', () => {
    const waiters = new Waiters();
    for (let count = 0; count < 10; count += 1) waiters.play({ does: 'create', kind: TRIGGER.above, price: 20 });
    for (let count = 0; count < 1_000; count += 1) {
      waiters.play({ does: 'move', kind: TRIGGER.above, price: 20 + (count % 20), order: count });
    }
    assert.equal(waiters.entryCount, 10);
    waiters.play({ does: 'trade', price: 40 });
    waiters.check();
    assert.equal(waiters.plain.size, 0);
  });
});
