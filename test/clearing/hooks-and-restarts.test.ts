// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verdictsNeeded } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { hooksView } from '../../src/clearing/hooks.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { canCheckpoint, dirtyRowCount, drainDirtyRows } from '../../src/clearing/tables.ts';
import { countsView } from '../../src/clearing/views.ts';
import { STORED_SIGNATURES_BYTES_MAX } from '../../src/codec/stored-signatures.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { ORDER_END, ROLLBACK_REASON, SIDE, TIF } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { readBody } from '../../src/operator/body-reader.ts';
import { REJECT_FILL } from '../../src/operator/commands.ts';
import { OrderRecord } from '../../src/schema/generated/messages.ts';
import { ClearingWorld, codeOf, DAYS_30, effectsOf, PlainTables, reply } from '../support/clearing-world.ts';
import { tombstonesOf } from '../support/memory-durability.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';

const R = ROLLBACK_REASON;

interface Pair {
  readonly world: ClearingWorld;
  readonly maker: Sequence;
  readonly taker: Sequence;
}

/** A resting sell of 5 ETH by Bob and a buy of 3 by Alice, both funded. */
function pair(): Pair {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '10000');
  world.fund(BOB, ETH, '10');
  const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 50_000 });
  const taker = world.create({ user: ALICE, quantity: 30_000 });
  return { world, maker, taker };
}

function hold(world: ClearingWorld): Effect[] {
  return world.send({ kind: 'hold', request: 1, asset: ETH });
}

function release(world: ClearingWorld, fills: number | null = null): Effect[] {
  return world.send({ kind: 'release', request: 1, fills });
}

suite('holds', () => {
  test('a held fill is pending, and what its market sends waits behind it (GEN-08, operator-api.md 7.3)', () => {
    const { world, maker, taker } = pair();
    hold(world);
    world.match(maker, taker, 10_000);
    const late = world.create({ user: CAROL });
    world.end(maker, ORDER_END.userRequested);
    assert.equal(world.order(late), undefined);
    assert.notEqual(world.order(maker), undefined);
    assert.equal(countsView(world.state)['pending_fills'], 1);
    assert.equal(codeOf(world.fund(CAROL, USD, '5')), null, 'the node’s own inputs go on');
    const effects = release(world);
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 1);
    assert.equal(effectsOf(effects, 'marketDecided')[0]?.throughSequence, 5);
    assert.notEqual(world.order(late), undefined);
    assert.equal(world.finished(maker)?.filledQuantity, 10_000);
  });

  test('a release of n lets the next n fills pass, and the hold stays', () => {
    const { world, maker, taker } = pair();
    hold(world);
    for (let at = 0; at < 3; at += 1) world.match(maker, taker, 5_000);
    assert.equal(effectsOf(release(world, 2), 'fillConfirmed').length, 2);
    assert.deepEqual(hooksView(world.state), {
      hold: { all: false, assets: ['2'] },
      held_fills: 1,
      faults: [],
    });
    release(world, 2);
    assert.equal(effectsOf(world.match(maker, taker, 5_000), 'fillConfirmed').length, 1, 'one pass was left');
    assert.equal(effectsOf(world.match(maker, taker, 5_000), 'fillConfirmed').length, 0);
  });

  test('a fill held for more than five minutes is stale when it is let go (FIL-16)', () => {
    const { world, maker, taker } = pair();
    hold(world);
    world.match(maker, taker, 10_000);
    world.nowNs = (world.nowNs + 300_000_000_001n) as TimestampNs;
    assert.equal(effectsOf(release(world), 'fillRolledBack')[0]?.makerReason, R.staleMatch);
  });

  test('a hold, a fault or an unfinished unit puts checkpoints off', () => {
    const { world, maker, taker } = pair();
    assert.equal(canCheckpoint(world.state), true);
    hold(world);
    assert.equal(canCheckpoint(world.state), false);
    assert.throws(() => drainDirtyRows(world.state), InvariantError);
    release(world);
    world.match(maker, taker, 10_000, { group: 1 });
    assert.equal(canCheckpoint(world.state), false);
    world.match(maker, taker, 10_000, { group: 2 });
    assert.equal(canCheckpoint(world.state), true);
  });
});

suite('faults', () => {
  test('the next fills fail for the named party, after those it skips (operator-api.md 7.3)', () => {
    const { world, maker, taker } = pair();
    const fault = readBody(REJECT_FILL, {
      kind: 'reject_fill',
      party: 'maker',
      reason: 'PricingFailure',
      skip: 1,
      count: 2,
    });
    assert.ok(fault.ok);
    world.send({ kind: 'fault', request: 1, fault: fault.value });
    const told = [1, 2, 3, 4].map(() => {
      const [back] = effectsOf(world.match(maker, taker, 1), 'fillRolledBack');
      return back === undefined ? 'confirmed' : [back.makerReason, back.takerReason];
    });
    const failed = [R.pricingFailure, R.counterpartyAtFault];
    assert.deepEqual(told, ['confirmed', failed, failed, 'confirmed']);
    assert.deepEqual(hooksView(world.state)['faults'], []);
  });

  test('a fault body is read strictly, and a party cannot be given its counterparty’s fault (FIL-15)', () => {
    const field = (body: unknown): string | undefined => {
      const outcome = readBody(REJECT_FILL, body);
      return outcome.ok ? undefined : outcome.reject.field;
    };
    const body = { kind: 'reject_fill', party: 'both', reason: 'Overfill' };
    assert.equal(field(body), undefined);
    assert.equal(field({ ...body, reason: 'CounterpartyAtFault' }), 'reason');
    assert.equal(field({ ...body, party: 'all' }), 'party');
    assert.equal(field({ ...body, asset_id: 'ETH' }), 'asset_id');
    assert.equal(field({ ...body, count: 0 }), 'count');
    assert.equal(field({ ...body, parties: 1 }), 'parties');
  });
});

suite('signatures', () => {
  test('a signature is verified once, at the first fill, also of orders that wait or come in the same batch (GEN-05)', () => {
    const { world, maker, taker } = pair();
    const fill = world.matchInput(maker, taker, 1);
    assert.deepEqual(
      verdictsNeeded(world.state, [fill, fill]).map(({ row }) => row.orderSequence),
      [maker, taker],
    );
    world.send(fill);
    assert.deepEqual(verdictsNeeded(world.state, [world.matchInput(maker, taker, 1)]), []);

    const created = { kind: 'created' as const, ...world.admission({ user: ALICE }) };
    const second = world.matchInput(maker, created.sequence, 1, { sequence: (created.sequence + 1) as Sequence });
    assert.deepEqual(
      verdictsNeeded(world.state, [created, second]).map(({ signed }) => signed?.text),
      [created.text],
    );
    hold(world);
    world.match(maker, taker, 1);
    const later = world.create({ user: ALICE });
    world.match(maker, later, 1);
    assert.equal(effectsOf(release(world), 'fillConfirmed').length, 2);
  });
});

suite('restarts', () => {
  test('matches never confirmed are gone, their quantity is back, and what else was journaled stands (AMB-110)', () => {
    const { world, maker, taker } = pair();
    hold(world);
    world.match(maker, taker, 10_000);
    const late = world.create({ user: ALICE });
    world.end(taker, ORDER_END.userRequested);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(world.order(maker)?.filledQuantity, 0);
    assert.equal(world.finished(taker)?.end, ORDER_END.userRequested);
    assert.notEqual(world.order(late), undefined);
    assert.equal(countsView(world.state)['pending_fills'], 0);
    assert.equal(canCheckpoint(world.state), true);
  });

  test('sequences and trade ids jump after an unclean stop and stand still after a clean one (AMB-35, AMB-110)', () => {
    const { world, maker, taker } = pair();
    world.match(maker, taker, 1);
    const before = stateHash(world.state);
    world.send({ kind: 'restarted', clean: true });
    assert.equal(stateHash(world.state), before);
    const [decided] = effectsOf(world.send({ kind: 'restarted', clean: false }), 'marketDecided');
    assert.equal(decided?.throughSequence, 1_000_003);
    assert.equal(decided?.throughTradeId, 1_000_001);
    const [confirmed] = effectsOf(world.match(maker, taker, 1), 'fillConfirmed');
    assert.equal(confirmed?.trade.tradeId, 1_000_002);
  });

  test('IOC and FOK orders, those at fault and those filled by a replace end; the rest goes back to the book (AMB-110)', () => {
    const { world, maker, taker } = pair();
    const ioc = world.create({ tif: TIF.ioc });
    const fok = world.create({ tif: TIF.fok });
    const gtd = world.create({ tif: TIF.gtd });
    const poor = world.create({ user: CAROL });
    world.match(maker, poor, 1);
    world.match(maker, taker, 1);
    world.replace(taker, {
      prioritySequence: taker,
      price: 200_000 as RawPrice,
      quantity: 1 as RawQuantity,
      timestampNs: world.nowNs,
    });
    const ended = effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded');
    assert.deepEqual(
      ended.map((effect) => [effect.row.orderSequence, effect.row.end, effect.row.faultReason]),
      [
        [taker, ORDER_END.filled, R.none],
        [ioc, ORDER_END.immediateOrCancel, R.none],
        [fok, ORDER_END.fillOrKill, R.none],
        [poor, ORDER_END.atFault, R.insufficientInventory],
      ],
    );
    const [market] = world.state.markets;
    assert.ok(market !== undefined);
    assert.deepEqual(
      [...market.orders.rows()].map(({ orderSequence }) => orderSequence),
      [maker, gtd],
    );
  });
});

suite('checkpoints', () => {
  test('a checkpoint writes each changed row once, whole, and then nothing', () => {
    const { world, maker, taker } = pair();
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.match(maker, taker, 10_000);
    world.match(maker, taker, 20_000);
    assert.equal(dirtyRowCount(world.state), drainedTables(world).length);
    assert.deepEqual(drainDirtyRows(world.state), []);
  });

  function drainedTables(world: ClearingWorld): readonly string[] {
    const tables = drainDirtyRows(world.state).map((write) => write.table);
    const count = (table: string): number => tables.filter((other) => other === table).length;
    assert.equal(count('trade'), 2);
    assert.equal(count('order'), 2, 'the maker that lives on and the taker that is filled');
    assert.equal(count('balance'), 5);
    assert.equal(count('market'), 1);
    return tables;
  }

  test('a state loaded from rows hashes like the one that never stopped, and goes on like it (operator-api.md 6)', () => {
    const { world, maker, taker } = pair();
    world.match(maker, taker, 10_000);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const loaded = new ClearingWorld();
    loaded.state = tables.load();
    assert.equal(stateHash(loaded.state), stateHash(world.state));
    for (const side of [world, loaded]) side.match(maker, taker, 20_000);
    assert.equal(stateHash(loaded.state), stateHash(world.state));
  });

  test('the hash sees every durable fact', () => {
    const { world, maker, taker } = pair();
    const seen = new Set([stateHash(world.state)]);
    const steps: readonly (() => unknown)[] = [
      () => world.fund(ALICE, USD, '1'),
      () => world.match(maker, taker, 1),
      () => world.create({ user: CAROL }),
      () => world.end(taker, ORDER_END.userRequested),
      () => world.put('putMarket', ETH, { status: 'Halted' }, 'patch'),
      () => world.put('putRisk', ETH, { collateral_factor: 1 }),
      () => world.send({ kind: 'patchUser', request: 1, user: BOB, body: { is_mm: true } }),
      () => world.send({ kind: 'setPrices', request: 1, body: { prices: [{ asset_id: '2', price: '1' }] } }),
      () =>
        reply(
          world.send({
            kind: 'putConfig',
            request: 1,
            config: 'settings',
            key: '',
            method: 'patch',
            body: { acks: 'durable' },
          }),
        ),
    ];
    steps.forEach((step, at) => {
      step();
      seen.add(stateHash(world.state));
      assert.equal(seen.size, at + 2, `step ${at}`);
    });
  });

  test('the hash sees every column of a live order, and what was signed of every order', () => {
    const { world, maker } = pair();
    const row = world.state.markets[0]?.orders.get(maker);
    assert.ok(row !== undefined);
    const before = OrderRecord.read(row.v, row.at);
    const seen = new Set([stateHash(world.state)]);
    const columns = Object.entries(before);
    for (const [name, value] of columns) {
      OrderRecord.write(row.v, row.at, { ...before, [name]: changed(value) });
      seen.add(stateHash(world.state));
      assert.equal(seen.size, columns.findIndex(([other]) => other === name) + 2, name);
    }
    for (const length of [64, STORED_SIGNATURES_BYTES_MAX]) {
      const [one, other] = [7, 8].map((byte) => {
        const twin = ClearingWorld.withMarket();
        twin.create({ signatures: new Uint8Array(length).fill(byte) });
        return stateHash(twin.state);
      });
      assert.notEqual(one, other, `${length} bytes of signatures`);
    }
  });

  /** Another value of the same type. */
  function changed(value: unknown): unknown {
    if (typeof value === 'number') return value + 1;
    if (typeof value === 'bigint') return value + 1n;
    const text = String(value);
    return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
  }

  test('what was signed is kept until a checkpoint has written it, also of orders that ended meanwhile (GEN-05)', () => {
    const { world, maker, taker } = pair();
    world.end(taker, ORDER_END.expired);
    const refused = world.next().sequence;
    world.send({ kind: 'createRefused', ...world.admission() });
    const fill = world.matchInput(maker, world.create({ user: ALICE }), 1);
    assert.ok(verdictsNeeded(world.state, [fill]).every(({ signed }) => signed !== null));
    const texts = drainDirtyRows(world.state).flatMap((write) => (write.table === 'signedText' ? [write.row] : []));
    assert.deepEqual(
      texts.map(({ orderSequence }) => orderSequence),
      [maker, taker, refused, fill.takerOrder],
    );
    assert.deepEqual(
      verdictsNeeded(world.state, [fill]).map(({ row, signed }) => [row.orderSequence, signed]),
      [
        [maker, null],
        [fill.takerOrder, null],
      ],
    );
  });

  test('finished ids are remembered for 30 days from creation, and whether they were cancelled (AMB-08, AMB-23)', () => {
    const { world, maker, taker } = pair();
    world.end(maker, ORDER_END.userRequested);
    world.end(taker, ORDER_END.expired);
    const rows = drainDirtyRows(world.state).flatMap((write) => (write.table === 'order' ? [write.row] : []));
    const last = (world.nowNs + DAYS_30 - 1n) as TimestampNs;
    assert.deepEqual(
      [...tombstonesOf(rows, last)].map((stone) => [stone.user, stone.wasCancelled]),
      [
        [BOB, true],
        [ALICE, false],
      ],
    );
    assert.deepEqual([...tombstonesOf(rows, (last + 1n) as TimestampNs)], []);
  });
});
