// tier: quick
/** Protection groups as durable facts: limits, freezes, members, and what a restart leaves (MMP-01, MMP-02, MMP-04). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Effect } from '../../src/clearing/effects.ts';
import { isFrozen } from '../../src/clearing/protections.ts';
import type { ProtectionLimits, ProtectionRow } from '../../src/clearing/rows.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { ORDER_END, PROTECTION_LIMIT, SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, Sequence, TimestampNs } from '../../src/core/units.ts';
import {
  type Answer,
  ClearingWorld,
  codeOf,
  effectsOf,
  PlainTables,
  reply,
  T0,
  user,
} from '../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';
import { BID, quoteSetApplied } from '../support/quote-inputs.ts';

const LIMITS: ProtectionLimits = {
  windowMs: 1_000,
  frozenMs: 0,
  maxFills: 20,
  maxQuantity: null,
  maxNotional: (100_000n * 10n ** 18n) as Amount18,
  minFillNotional: (10n * 10n ** 18n) as Amount18,
};

function funded(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '1000000');
  world.fund(BOB, ETH, '100');
  return world;
}

function put(world: ClearingWorld, group: string, terms: Partial<ProtectionLimits> = {}, of = ALICE): Answer {
  const input = { user: of, asset: ETH, group, terms: { ...LIMITS, ...terms } };
  return reply(world.send({ kind: 'putProtection', request: world.request(), ...input }));
}

function remove(world: ClearingWorld, group: string): Answer {
  return reply(world.send({ kind: 'deleteProtection', request: world.request(), user: ALICE, asset: ETH, group }));
}

function reset(world: ClearingWorld, group: string, trip = 0): Answer {
  const input = { user: ALICE, asset: ETH, group, trip: trip as Sequence };
  return reply(world.send({ kind: 'resetProtection', request: world.request(), ...input }));
}

/** The market reports a trip of slot 1. @returns its sequence. */
function trip(world: ClearingWorld, frozenUntilNs = 0n): Sequence {
  const next = world.next();
  const limit = PROTECTION_LIMIT.fills;
  world.send({
    kind: 'protectionTriggered',
    ...next,
    user: ALICE,
    slot: 1,
    limit,
    frozenUntilNs: frozenUntilNs as TimestampNs,
  });
  return next.sequence;
}

function rows({ protections }: ClearingState): ProtectionRow[] {
  return [...protections.values()];
}

function isTripped(world: ClearingWorld): boolean {
  return rows(world.state).some((row) => isFrozen(row, world.nowNs));
}

suite('protection groups in clearing', () => {
  test('a user has eight in a market; a further one and a user without a row are refused (MMP-01)', () => {
    const world = funded();
    for (let at = 1; at <= 8; at += 1) assert.equal(codeOf(put(world, `g${at}`)), null);
    assert.equal(codeOf(put(world, 'g9')), 'INVALID_REQUEST');
    assert.equal(codeOf(put(world, 'g3', { maxFills: 1 })), null, 'one that exists is changed');
    assert.deepEqual(
      rows(world.state).map(({ slot }) => slot),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    assert.equal(codeOf(put(world, 'g1', {}, user('77'))), 'INSUFFICIENT_INVENTORY');
    assert.equal(codeOf(remove(world, 'g4')), null);
    assert.equal(codeOf(put(world, 'new')), null);
    assert.equal(rows(world.state).find(({ group }) => group === 'new')?.slot, 4, 'its slot is used again');
  });

  test('a trip freezes until its time, a reset or a rollback that the market reports; new limits leave it (MMP-02, MMP-03)', () => {
    const world = funded();
    put(world, 'g');
    trip(world, world.nowNs + 10n);
    assert.equal(isTripped(world), true);
    put(world, 'g', { maxFills: 100 });
    assert.equal(isTripped(world), true);
    world.nowNs = (world.nowNs + 10n) as TimestampNs;
    assert.equal(isTripped(world), false);
    const second = trip(world);
    assert.equal(isTripped(world), true);
    world.send({ kind: 'protectionEnded', ...world.next(), user: ALICE, slot: 1, trip: second });
    assert.equal(isTripped(world), false);
    trip(world);
    assert.equal(codeOf(reset(world, 'g')), null);
    assert.equal(isTripped(world), false);
  });

  test('a reset that comes before the report of the trip that it is about ends that all the same (MMP-03)', () => {
    const world = funded();
    put(world, 'g');
    const coming = world.next().sequence;
    assert.equal(codeOf(reset(world, 'g', coming)), null);
    assert.equal(trip(world), coming);
    assert.equal(isTripped(world), false);
    trip(world);
    assert.equal(isTripped(world), true, 'the next one freezes');
  });

  test('with live orders, or frozen, a group is not removed (MMP-02)', () => {
    const world = funded();
    put(world, 'g');
    assert.equal(codeOf(remove(world, 'other')), 'NOT_FOUND');
    const order = world.create({ protectionGroup: 1 });
    assert.equal(codeOf(remove(world, 'g')), 'PROTECTION_IN_USE');
    world.end(order, ORDER_END.userRequested);
    trip(world);
    const frozen = remove(world, 'g');
    assert.deepEqual(frozen.ok ? null : [frozen.reject.code, frozen.reject.details], [
      'MMP_FROZEN',
      { frozen_until_ns: null },
    ]);
    reset(world, 'g');
    assert.equal(codeOf(remove(world, 'g')), null);
    assert.equal(world.state.protections.size, 0);
  });

  test('after a restart a frozen group is frozen, and members of the trip are over, their ends reported or not (MMP-04)', () => {
    const world = funded();
    put(world, 'g');
    const before = world.create({ protectionGroup: 1, price: 100_000 });
    const filled = world.create({ protectionGroup: 1, price: 200_000 });
    const free = world.create({ price: 100_000 });
    const tripped = trip(world);
    // The market was killed before it reported the ends.
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
    const effects: Effect[] = world.send({ kind: 'restarted', clean: false });
    const ended = effectsOf(effects, 'orderEnded').map(({ row }) => [row.orderSequence, row.end]);
    assert.deepEqual(ended, [
      [before, ORDER_END.marketMakerProtection],
      [filled, ORDER_END.marketMakerProtection],
    ]);
    assert.notEqual(world.order(free), undefined);
    assert.equal(isTripped(world), true);
    assert.deepEqual(
      rows(world.state).map((row) => row.trip),
      [tripped],
    );
    reset(world, 'g');
    const after = world.create({ protectionGroup: 1, price: 100_000, side: SIDE.buy });
    world.send({ kind: 'restarted', clean: false });
    assert.notEqual(world.order(after), undefined, 'a member since the trip lives on');
  });

  test('an entry that joined after a trip outlives a restart, one of the revision that tripped does not (MMP-04, QTE-02)', () => {
    const PRICE = 100_000;
    for (const joinsAfter of [true, false]) {
      const world = funded();
      put(world, 'g');
      const common = { user: ALICE, bids: [[PRICE, 5]], asks: [], protectionGroup: 1 } as const;
      const first = quoteSetApplied(
        { ...common, revisionNs: T0 + 1n, protectionGroup: joinsAfter ? 0 : 1, changes: [['created', BID, PRICE, 5]] },
        world.next(),
      );
      const entry = (first.sequence + 1) as Sequence;
      world.send(first);
      if (!joinsAfter) trip(world);
      else {
        reset(world, 'g', trip(world));
        const words = { ...common, revisionNs: T0 + 2n, changes: [], lastNumber: 1, termsChanged: true };
        world.send(quoteSetApplied(words, world.next()));
        assert.equal(world.order(entry)?.protectionGroup, 1);
      }
      world.send({ kind: 'restarted', clean: false });
      assert.equal(world.order(entry) !== undefined, joinsAfter);
      if (!joinsAfter) assert.equal(world.finished(entry)?.end, ORDER_END.marketMakerProtection);
    }
  });

  test('rows hold all of it: what is loaded hashes alike, a removed group is none (MMP-01, MMP-04)', () => {
    const world = funded();
    const tables = new PlainTables();
    put(world, 'a');
    put(world, 'b', { maxFills: null, maxQuantity: 1n as Amount18, frozenMs: 600_000 });
    world.create({ protectionGroup: 2 });
    tables.checkpoint(world.state);
    remove(world, 'a');
    trip(world);
    tables.checkpoint(world.state);
    const loaded = tables.load();
    assert.deepEqual(rows(loaded), rows(world.state));
    assert.deepEqual([...loaded.protectedOrders], [...world.state.protectedOrders]);
    assert.equal(stateHash(loaded), stateHash(world.state));
  });
});
