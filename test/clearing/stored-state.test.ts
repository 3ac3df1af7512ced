// tier: quick
/** A state that comes out of its tables, at any moment, against the one that never stopped. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { type ClearingState, createClearingState } from '../../src/clearing/state.ts';
import { stateLines } from '../../src/clearing/state-hash.ts';
import { canCheckpoint } from '../../src/clearing/tables.ts';
import { ORDER_END, ORDER_KIND, SIDE, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence } from '../../src/core/units.ts';
import { ClearingWorld, heldOf, PlainTables, reply } from '../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const E18 = 10n ** 18n;
const PRICE = 200_000 as RawPrice;

/**
 * Bob buys 4 ETH of Carol, and his children sell or buy what that enables: `terms` of each. Alice and Carol stand on
 * both sides with more than all others want, so that an incoming order is matched as far as the steps go.
 */
class Family {
  readonly world: ClearingWorld = ClearingWorld.withMarket();
  readonly parent: Sequence;
  readonly children: readonly Sequence[];
  readonly #seller: Sequence;
  readonly #buyer: Sequence;
  readonly #tables = new PlainTables();
  #nonce = 0n;

  constructor(terms: readonly (typeof CHILD_TERMS)[number][]) {
    const { world } = this;
    for (const user of [ALICE, BOB, CAROL]) {
      world.fund(user, USD, '100000');
      world.fund(user, ETH, '100');
    }
    this.parent = world.create({ user: BOB, quantity: 40_000 });
    this.children = terms.map((more) =>
      world.createChild(this.parent, {
        user: BOB,
        triggerKind: TRIGGER.above,
        triggerPrice: 210_000,
        quantity: 30_000,
        ...more,
      }),
    );
    this.#seller = world.create({ user: CAROL, side: SIDE.sell, quantity: 900_000 });
    this.#buyer = world.create({ user: ALICE, quantity: 900_000 });
  }

  fillParent(quantity: number): void {
    const row = this.world.order(this.parent);
    if (row === undefined || row.filledQuantity + quantity > row.quantity) return;
    this.world.match(this.parent, this.#seller, quantity);
  }

  /** A child fires, then all that is enabled of it is put in force, whenever that is more. */
  release(child: Sequence): void {
    const row = this.world.order(child);
    if (row === undefined || row.enabledQuantity <= row.activatedQuantity) return;
    if (row.triggerState === 1) this.world.triggered(child, row.enabledQuantity);
    else this.world.activated(child, row.enabledQuantity);
  }

  /** It takes so much of what came into force last. */
  match(child: Sequence, quantity: number): void {
    const row = this.world.order(child);
    if (row === undefined || row.triggerState !== 0) return;
    const lots = Math.min(quantity, row.enabledQuantity - row.filledQuantity - row.droppedQuantity);
    if (lots > 0) this.world.match(row.side === SIDE.sell ? this.#buyer : this.#seller, child, lots);
  }

  /** Bob moves money out of the account that his orders spend. */
  transfer(asset: typeof USD, amount: bigint): ReturnType<typeof reply> {
    this.#nonce += 1n;
    const effects = this.world.send({
      kind: 'transfer',
      request: 0,
      user: BOB,
      sourceIndex: 0,
      targetIndex: 1,
      targetType: null,
      asset,
      amount: amount as Amount18,
      nonce: this.#nonce,
    });
    return reply(effects);
  }

  /** The world goes on from its tables. */
  reload(): void {
    const before = this.world.state;
    this.#tables.checkpoint(before);
    this.world.state = this.#tables.load();
    assertSame(this.world.state, before);
  }
}

const CHILD_TERMS = [
  { side: SIDE.sell, tif: TIF.ioc },
  { side: SIDE.sell, tif: TIF.fok },
  { side: SIDE.buy, tif: TIF.ioc },
  { side: SIDE.sell, tif: TIF.gtc },
  { side: SIDE.buy, tif: TIF.ioc, kind: ORDER_KIND.marketBase, price: 0, budget: 600_000_000 },
] as const;
const IOC_SALE = [CHILD_TERMS[0]];

function assertSame(state: ClearingState, other: ClearingState): void {
  checkLedger(state);
  assert.deepEqual([...stateLines(state)], [...stateLines(other)]);
  assert.deepEqual(heldOf(state), heldOf(other));
}

/** A child of which 0.5 ETH are in force, and nothing is matched. */
function entered(): { readonly family: Family; readonly world: ClearingWorld; readonly child: Sequence } {
  const family = new Family(IOC_SALE);
  const child = family.children[0] as Sequence;
  family.fillParent(5_000);
  family.release(child);
  family.release(child);
  return { family, world: family.world, child };
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('fill' as const), quantity: fc.integer({ min: 1, max: 15_000 }) }),
  fc.record({ kind: fc.constant('release' as const), child: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('release' as const), child: fc.nat({ max: 2 }) }),
  fc.record({
    kind: fc.constant('match' as const),
    child: fc.nat({ max: 2 }),
    quantity: fc.integer({ min: 1, max: 9_000 }),
  }),
  fc.record({ kind: fc.constant('other' as const) }),
  fc.record({ kind: fc.constant('end' as const), child: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constant('transfer' as const), eighths: fc.integer({ min: 1, max: 8 }), isUsd: fc.boolean() }),
  fc.record({ kind: fc.constant('fee' as const), rate: fc.integer({ min: 0, max: 900 }) }),
  fc.record({ kind: fc.constant('restart' as const), clean: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function play(family: Family, move: Step): void {
  const { world } = family;
  switch (move.kind) {
    case 'fill':
      family.fillParent(move.quantity);
      break;
    case 'release':
      family.release(family.children[move.child] as Sequence);
      break;
    case 'match':
      family.match(family.children[move.child] as Sequence, move.quantity);
      break;
    case 'other':
      world.create({ user: CAROL, price: 100 });
      break;
    case 'end': {
      const order = family.children[move.child] ?? family.parent;
      if (world.order(order) !== undefined) world.end(order, ORDER_END.userRequested);
      break;
    }
    case 'transfer': {
      const asset = move.isUsd ? USD : ETH;
      const free = world.owned(BOB, asset) - world.held(BOB, asset);
      // All eighths are all that is free, and one unit more is refused or not by what is held.
      family.transfer(asset, (free * BigInt(move.eighths)) / 8n + (move.eighths === 8 ? 1n : 0n));
      break;
    }
    case 'fee':
      world.put('putMarket', ETH, { taker_fee_rate: move.rate, maker_fee_rate: 0 }, 'patch');
      break;
    case 'restart':
      world.send({ kind: 'restarted', clean: move.clean });
      break;
  }
}

suite('a state out of its tables', () => {
  test('a checkpoint in the match of a child that never rests loses nothing of the match (AMB-29, AMB-52, AMB-110)', () => {
    const { family, world, child } = entered();
    family.reload();
    family.match(child, 3_000);
    world.create({ user: CAROL, price: 100 });
    family.fillParent(10_000);
    assert.equal(world.order(child)?.droppedQuantity, 2_000, 'what nobody matched, and no more');
    assert.equal(world.held(BOB, ETH), E18, 'what is enabled since');
    family.release(child);
    family.reload();
    family.match(child, 1_000);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(world.order(child)?.droppedQuantity, 11_000);
    assert.equal(world.held(BOB, ETH), 0n);
  });

  test('what a child holds while its market is quiet it holds after a checkpoint, too (AMB-29, AMB-52, TRF-04)', () => {
    const { family, world } = entered();
    assert.equal(world.held(BOB, ETH), E18 / 2n);
    family.reload();
    const all = world.owned(BOB, ETH);
    assert.equal(family.transfer(ETH, all).ok, false, 'it is held');
    world.create({ user: CAROL, price: 100 });
    assert.equal(family.transfer(ETH, all).ok, true, 'it was dropped');
  });

  test('a child that is released whole keeps what it has dropped, over a checkpoint (AMB-29, AMB-110)', () => {
    const { family, world, child } = entered();
    for (const quantity of [5_000, 20_000]) family.fillParent(quantity);
    family.release(child);
    assert.equal(world.order(child)?.parentSequence, 0);
    assert.equal(world.held(BOB, ETH), (5n * E18) / 2n);
    family.reload();
  });

  test('families of all kinds, reloaded at any batch, get the same events and hold the same (AMB-29, AMB-52, AMB-110)', () => {
    const kinds = fc.array(fc.constantFrom(...CHILD_TERMS), { minLength: 3, maxLength: 3 });
    const steps = fc.array(step, { minLength: 10, maxLength: 60 });
    fc.assert(
      fc.property(kinds, steps, fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (terms, moves, cuts) => {
        const family = new Family(terms);
        for (const move of moves) play(family, move);
        const lived = createClearingState();
        let state = createClearingState();
        const tables = new PlainTables();
        family.world.journal.forEach((batch, at) => {
          const told: [Effect[], Effect[]] = [[], []];
          applyBatch(lived, batch, told[0]);
          applyBatch(state, batch, told[1]);
          assert.deepEqual(told[1], told[0]);
          if (!cuts[at % cuts.length] || !canCheckpoint(state)) return;
          tables.checkpoint(state);
          state = tables.load();
          assertSame(state, lived);
        });
        assertSame(state, family.world.state);
      }),
      { ...propertyParameters(60), includeErrorInReport: true },
    );
  });

  test('holds follow the taker fee of a market that is changed after a start (AMB-52, AMB-134)', () => {
    const world = ClearingWorld.withMarket();
    for (const user of [ALICE, BOB]) world.fund(user, USD, '10000');
    world.fund(BOB, ETH, '100');
    const waits = { triggerKind: TRIGGER.above, triggerPrice: 250_000 };
    for (let at = 1; at <= 70; at++) {
      world.create({ price: 190_000 + at, quantity: at });
      world.create({ user: BOB, side: SIDE.sell, price: 210_000 + at, quantity: at });
      world.create({ user: BOB, quantity: at, price: PRICE, ...waits });
    }
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const lived = world.state;
    world.state = tables.load();
    const changes = [{ status: 'CancelOnly' }, { taker_fee_rate: 900 }, { maker_fee_rate: -900 }];
    for (const change of changes) world.put('putMarket', ETH, change, 'patch');
    for (const batch of world.journal.slice(-changes.length)) applyBatch(lived, batch, []);
    assertSame(world.state, lived);
    const spent = Array.from({ length: 70 }, (_, at) => BigInt((190_001 + at) * (at + 1)) * 10n ** 12n);
    const held = spent.reduce((sum, notional) => sum + notional + (notional * 900n) / 1_000_000n, 0n);
    assert.equal(world.held(ALICE, USD), held);
  });
});

/** Raw prices and lots of which a handful adds up to more than a double can hold, and small ones. */
const price = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 2 ** 40, max: 2 ** 44 }));
const quantity = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 2 ** 51, max: 2 ** 53 - 1 }));
const few = fc.integer({ min: 1, max: 300 });

const orders = fc.array(
  fc.record({
    user: fc.constantFrom(ALICE, BOB),
    side: fc.constantFrom(SIDE.buy, SIDE.sell),
    isTrigger: fc.boolean(),
    sizes: fc.oneof(fc.tuple(price, few), fc.tuple(few, quantity)),
  }),
  { maxLength: 40 },
);

const DECIMALS = [
  { book_price_decimals: 2, book_quantity_decimals: 4 },
  { book_price_decimals: 9, book_quantity_decimals: 9 },
] as const;

suite('holds after a start', () => {
  for (const decimals of DECIMALS) {
    test(`are those from before it, to the last unit, at ${JSON.stringify(decimals)} (AMB-52, AMB-110)`, () => {
      fc.assert(
        fc.property(orders, (terms) => {
          const world = ClearingWorld.withMarket(decimals);
          world.fund(ALICE, USD, '1');
          world.fund(BOB, ETH, '1');
          for (const { isTrigger, sizes, ...more } of terms) {
            const trigger = isTrigger ? { triggerKind: TRIGGER.above, triggerPrice: 1 } : {};
            world.create({ ...more, ...trigger, price: sizes[0], quantity: sizes[1] });
          }
          const tables = new PlainTables();
          tables.checkpoint(world.state);
          const loaded = tables.load();
          checkLedger(loaded);
          assert.deepEqual(heldOf(loaded), heldOf(world.state));
        }),
        propertyParameters(60),
      );
    });
  }
});
