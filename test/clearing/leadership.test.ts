// tier: quick
/** Takeover and handover as inputs: a takeover is a restart with an epoch, and a replay accepts no other order of them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { ClearingInput, Handover, OwnInput, Takeover } from '../../src/clearing/inputs.ts';
import { BatchBuffer } from '../../src/clearing/journal-batch.ts';
import { applyRecord } from '../../src/clearing/records.ts';
import { type ClearingState, createClearingState } from '../../src/clearing/state.ts';
import { stateHash, stateLines } from '../../src/clearing/state-hash.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG } from '../../src/core/order-terms.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { ClearingWorld, PlainTables, T0 } from '../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';
import { BID, type ChangeWords, quoteSetApplied } from '../support/quote-inputs.ts';

function takeover(epoch: number, clean: boolean, node = 'a'): Takeover {
  return { kind: 'takeover', epoch, node, run: `${node}-1`, clean, oms: null, mds: null };
}

const HANDOVER: Handover = { kind: 'handover', to: 'b' };

/** A world with a fill that is held, one that is decided and an order that ends at a restart. */
function lived(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '10000');
  world.fund(BOB, ETH, '10');
  const maker = world.create({ user: BOB, side: 1, quantity: 50_000 });
  const taker = world.create({ user: ALICE, quantity: 30_000 });
  world.match(maker, taker, 1);
  world.send({ kind: 'hold', request: 1, asset: ETH });
  world.match(maker, taker, 10_000);
  return world;
}

function start(world: ClearingWorld, input: OwnInput): readonly Effect[] {
  const effects: Effect[] = [];
  applyBatch(world.state, { timeNs: world.nowNs, inputs: [input], verdicts: [] }, effects);
  return effects;
}

/** What a restart leaves, but for who leads. */
function factsOf(state: ClearingState): readonly string[] {
  return stateLines(state).filter((line) => !line.startsWith('config|leadership|'));
}

function record(epoch: number, ...inputs: readonly ClearingInput[]): { epoch: number; payload: Uint8Array } {
  const batch = new BatchBuffer();
  for (const input of inputs) batch.addPlain(input, T0);
  return { epoch, payload: batch.seal(T0, []).slice() };
}

function replay(...records: readonly ReturnType<typeof record>[]): ClearingState {
  const state = createClearingState();
  for (const one of records) applyRecord(state, one, []);
  return state;
}

suite('leadership', () => {
  test('a takeover does what a restart does, with the same jump, and has the new epoch', () => {
    const [restarted, taken] = [lived(), lived()];
    const effects = start(restarted, { kind: 'restarted', clean: false });
    assert.deepEqual(start(taken, takeover(1, false)), effects);
    assert.deepEqual(factsOf(taken.state), factsOf(restarted.state));
    assert.equal(taken.state.startedNs, restarted.state.startedNs);
    const { run, ...leads } = taken.state.leadership;
    assert.deepEqual(leads, { epoch: 1, node: 'a', oms: null, mds: null, handover: null });
    assert.equal(run, 'a-1');
    assert.notEqual(stateHash(taken.state), stateHash(restarted.state), 'the epoch is in the hash');
  });

  test('behind a handover it is clean: no sequence jumps and no fact changes but who leads', () => {
    const world = lived();
    world.send({ kind: 'release', request: 1, fills: null });
    start(world, takeover(1, false));
    start(world, HANDOVER);
    const before = factsOf(world.state);
    assert.deepEqual(world.state.leadership.handover, { to: 'b' });
    start(world, takeover(2, true, 'c'));
    assert.deepEqual(factsOf(world.state), before);
    assert.equal(world.state.leadership.node, 'c', 'whoever takes over');
  });

  test('clean without a handover, and a jump behind one, are refused in a replay', () => {
    assert.throws(() => replay(record(1, takeover(1, true))), /clean exactly behind a handover/);
    const handedOver = [record(1, takeover(1, false)), record(1, HANDOVER)];
    assert.throws(() => replay(...handedOver, record(2, takeover(2, false))), /clean exactly behind a handover/);
    assert.equal(replay(...handedOver, record(2, takeover(2, true))).leadership.epoch, 2);
  });

  test('an epoch rises by one, at a takeover alone in its record, and is that of the header', () => {
    const first = record(1, takeover(1, false));
    assert.equal(replay(first, record(1)).leadership.epoch, 1, 'a record without inputs is legal');
    assert.throws(() => replay(record(2, takeover(2, false))), /does not follow epoch 0/);
    assert.throws(() => replay(first, record(1, takeover(1, false))), /does not follow epoch 1/);
    assert.throws(() => replay(first, record(2)), /a record of epoch 2 under epoch 1/);
    assert.throws(() => replay(first, record(0)), /a record of epoch 0 under epoch 1/);
    assert.throws(() => replay(record(0, takeover(1, false))), /a record of epoch 0 under epoch 0/);
    assert.throws(() => replay(record(1, takeover(1, false), { kind: 'lotsDue' })), /alone in their records/);
    assert.throws(() => replay(first, record(1, { kind: 'lotsDue' }, HANDOVER)), /alone in their records/);
  });

  test('nothing follows a handover but a takeover, or the restart of one machine, which ends it', () => {
    const handedOver = [record(1, takeover(1, false)), record(1, HANDOVER)];
    for (const next of [record(1), record(1, { kind: 'lotsDue' }), record(1, HANDOVER)])
      assert.throws(() => replay(...handedOver, next), /behind a handover comes a takeover/);
    const alone = replay(...handedOver, record(1, { kind: 'restarted', clean: true }));
    assert.equal(alone.leadership.handover, null);
    assert.throws(() => applyRecord(alone, record(2, takeover(2, true)), []), /clean exactly behind a handover/);
  });

  test('who leads is in the tables: a state that is loaded accepts the same next record', () => {
    const world = lived();
    world.send({ kind: 'release', request: 1, fills: null });
    const tables = new PlainTables();
    for (const input of [takeover(1, false), HANDOVER, takeover(2, true)] as const) {
      start(world, input);
      tables.checkpoint(world.state);
      const loaded = tables.load();
      assert.deepEqual(loaded.leadership, world.state.leadership);
      assert.equal(stateHash(loaded), stateHash(world.state));
    }
    assert.throws(() => applyRecord(tables.load(), record(3, takeover(3, true)), []), /clean exactly/);
  });

  test('a record without inputs changes nothing', () => {
    const world = lived();
    start(world, takeover(1, false));
    const before = stateHash(world.state);
    const effects: Effect[] = [];
    applyBatch(world.state, { timeNs: world.nowNs, inputs: [], verdicts: [] }, effects);
    assert.deepEqual(effects, []);
    assert.equal(stateHash(world.state), before);
    const market = world.state.markets[0];
    assert.equal(market?.sequence, (market?.decidedSequence ?? 0) as Sequence);
  });

  suite('on_takeover', () => {
    /** Orders: plain, marked, of a user with a timer, of one whose timer ended, a trigger and a child that are marked, node-made. */
    function marked(setting: 'keep' | 'cancel'): { world: ClearingWorld; orders: Readonly<Record<string, Sequence>> } {
      const world = ClearingWorld.withMarket();
      for (const user of [ALICE, BOB, CAROL]) world.fund(user, USD, '10000');
      world.send({
        kind: 'putConfig',
        request: 1,
        config: 'settings',
        key: '',
        method: 'patch',
        body: { on_takeover: setting },
      });
      const disconnect = ORDER_FLAG.isSpot | ORDER_FLAG.cancelOnDisconnect;
      const orders = {
        plain: world.create({ user: ALICE }),
        marked: world.create({ user: ALICE, flags: disconnect }),
        ofTimer: world.create({ user: BOB }),
        ofEndedTimer: world.create({ user: CAROL }),
      };
      for (const [user, runs] of [
        [BOB, true],
        [CAROL, true],
        [CAROL, false],
      ] as const)
        world.send({ kind: 'markTimer', request: 2, user, runs });
      return { world, orders };
    }

    const live = (world: ClearingWorld, orders: Readonly<Record<string, Sequence>>): readonly string[] =>
      Object.keys(orders).filter((name) => world.order(orders[name] as Sequence) !== undefined);

    test('cancel: marked orders and all orders of users with a timer are over, in a clean takeover too', () => {
      for (const handedOver of [false, true]) {
        const { world, orders } = marked('cancel');
        start(world, takeover(1, false));
        assert.deepEqual(live(world, orders), ['plain', 'ofEndedTimer'], 'the first leader is one that takes over');
        const again = world.create({ user: ALICE, flags: ORDER_FLAG.isSpot | ORDER_FLAG.cancelOnDisconnect });
        if (handedOver) start(world, HANDOVER);
        const ended = start(world, takeover(2, handedOver)).flatMap((effect) =>
          effect.kind === 'orderEnded' ? [[effect.row.orderSequence, effect.row.end]] : [],
        );
        assert.deepEqual(ended, [[again, ORDER_END.userRequested]]);
        assert.deepEqual(live(world, orders), ['plain', 'ofEndedTimer']);
        assert.equal(world.state.timers.size, 0);
      }
    });

    test('cancel: quote sets of which a connection holds the newest revision, and of users with a timer, are over, with marks of now (QTE-09)', () => {
      const { world } = marked('cancel');
      const apply = (
        user: UserId,
        setId: string,
        slot: number,
        held: boolean,
        revisionNs = T0 + 1n,
        entry = 0,
      ): void => {
        const quotes = { user, setId, slot, revisionNs, bids: [[200_000, 5]], asks: [] } as const;
        const changes: readonly ChangeWords[] =
          entry === 0 ? [['created', BID, 200_000, 5]] : [['kept', BID, 200_000, 5, entry]];
        const input = quoteSetApplied({ ...quotes, changes }, world.next());
        world.send({ ...input, flags: input.flags | (held ? ORDER_FLAG.cancelOnDisconnect : 0) });
      };
      const entryOf = (user: UserId, slot: number): number =>
        [...(world.state.markets[0]?.quoteSets.get(`${user}/${slot}`)?.entries ?? [])][0] ?? 0;
      apply(ALICE, 'free', 1, false);
      apply(ALICE, 'held', 2, true);
      apply(ALICE, 'let-go', 3, true);
      apply(ALICE, 'let-go', 3, false, T0 + 2n, entryOf(ALICE, 3));
      apply(ALICE, 'taken', 4, false);
      apply(ALICE, 'taken', 4, true, T0 + 2n, entryOf(ALICE, 4));
      apply(BOB, 'timed', 1, false);
      world.nowNs = (T0 + 50n) as TimestampNs;
      start(world, takeover(1, false));
      const sets = [...(world.state.markets[0]?.quoteSets.values() ?? [])].map(({ row, entries }) => [
        ...[row.setId, row.isOver, row.markNs - T0, entries.size, row.text === ''],
      ]);
      assert.deepEqual(sets, [
        ['free', false, 1n, 1, false],
        ['held', true, 50n, 0, true],
        ['let-go', false, 2n, 1, false],
        ['taken', true, 50n, 0, true],
        ['timed', true, 50n, 0, true],
      ]);
      const tables = new PlainTables();
      tables.checkpoint(world.state);
      assert.equal(stateHash(tables.load()), stateHash(world.state));
    });

    test('keep, and a restart of one machine with either setting: nothing ends, and no timer is left', () => {
      for (const [setting, input] of [
        ['keep', takeover(1, false)],
        ['cancel', { kind: 'restarted', clean: false }],
        ['cancel', { kind: 'restarted', clean: true }],
      ] as const) {
        const { world, orders } = marked(setting);
        assert.equal(world.state.timers.size, 1);
        start(world, input);
        assert.deepEqual(live(world, orders), Object.keys(orders));
        assert.equal(world.state.timers.size, 0);
      }
    });

    test('marks are in the tables and in the state hash', () => {
      const { world } = marked('cancel');
      const tables = new PlainTables();
      tables.checkpoint(world.state);
      const loaded = tables.load();
      assert.equal(stateHash(loaded), stateHash(world.state));
      assert.deepEqual(
        [...loaded.timers].map(({ row }) => row.user),
        [BOB],
      );
      const batch = { timeNs: world.nowNs, inputs: [takeover(1, false)], verdicts: [] };
      const [first, second]: [Effect[], Effect[]] = [[], []];
      applyBatch(world.state, batch, first);
      applyBatch(loaded, batch, second);
      assert.equal(stateHash(loaded), stateHash(world.state));
      const before = stateHash(loaded);
      applyBatch(loaded, { ...batch, inputs: [{ kind: 'markTimer', request: 1, user: ALICE, runs: true }] }, []);
      assert.notEqual(stateHash(loaded), before);
    });
  });
});
