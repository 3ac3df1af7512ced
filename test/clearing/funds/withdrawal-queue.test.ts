// tier: quick
/** Which requests are filled while one cannot be paid (MON-04, WDR-05, WDR-06, AMB-78): small cases, and random histories. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { applyBatch } from '../../../src/clearing/clearing.ts';
import { freeUnits, reservedUnits } from '../../../src/clearing/funds/vault-units.ts';
import type { WithdrawalRow } from '../../../src/clearing/rows.ts';
import { createClearingState } from '../../../src/clearing/state.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { ChainId, UserId } from '../../../src/core/ids.ts';
import { ONE_18 } from '../../../src/core/units.ts';
import { CHAINS, ChainsWorld, tokenOn } from '../../support/chains-world.ts';
import { acceptedValue, PlainTables, user } from '../../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const DAVE = user('d4');
const MINUTE = 60;
const DAY = 86_400;
const units = (amount: number): bigint => BigInt(amount) * ONE_18;

/** USD and ETH on one chain, of both plenty in the ledger and in the vault what is deposited; a delay of 30 s. */
class QueueWorld extends ChainsWorld {
  static made(): QueueWorld {
    const world = ChainsWorld.opened(1, 30) as QueueWorld;
    const token = { token: tokenOn(0, 'f').slice(0, 40), chain_id: CHAINS[0], decimals: 18 };
    acceptedValue(world.put('putAsset', ETH, { symbol: 'ETH', tokens: [token] }));
    for (const one of [ALICE, BOB, CAROL]) for (const asset of [USD, ETH]) world.fund(one, asset, '100000');
    return world;
  }
}

function shown(world: ChainsWorld, one: UserId): string[] {
  return world.rows(one).map(({ payout, nonce, status }) => `${nonce}: ${payout / ONE_18} ${status}`);
}

function free(world: ChainsWorld, letter = 'e'): bigint {
  return freeUnits(world.state, tokenOn(0, letter), CHAINS[0] as ChainId);
}

function reserved(world: ChainsWorld, letter = 'e'): bigint {
  return reservedUnits(world.state, tokenOn(0, letter), CHAINS[0] as ChainId);
}

suite('a head of the queue that cannot be paid', () => {
  test('is passed over, with all later requests of its user on the chain, of whatever asset (MON-04)', () => {
    const world = QueueWorld.made();
    world.deposit(0, units(100), DAVE);
    world.deposit(0, units(100), DAVE, 'f');
    world.withdraw(0, units(5_000));
    world.withdraw(0, units(5));
    world.withdraw(0, units(5), ALICE, 'f');
    world.withdraw(0, units(60), BOB);
    world.withdraw(0, units(60), BOB, 'f');
    world.pass(MINUTE);
    assert.deepEqual(shown(world, ALICE), ['0: 5000 queued', '1: 5 queued', '2: 5 queued']);
    assert.deepEqual(shown(world, BOB), ['0: 60 filled', '1: 60 filled'], 'before: nothing, for a day');
    world.cancel(world.rows()[0] as WithdrawalRow);
    assert.deepEqual(
      shown(world, ALICE).slice(1),
      ['0: 5 filled', '1: 5 filled'],
      'their turn has come, in both queues',
    );
  });

  test('half of what arrives is kept until it is payable by half, and settlements do not get that (MON-04)', () => {
    const world = QueueWorld.made();
    world.deposit(0, units(10), DAVE);
    world.withdraw(0, units(100));
    world.pass(MINUTE);
    assert.deepEqual([reserved(world), free(world)], [0n, units(10)], 'what was free before is not kept');
    world.deposit(0, units(20), DAVE);
    assert.deepEqual([reserved(world), free(world)], [units(10), units(30)]);
    world.withdraw(0, units(30), BOB);
    world.pass(MINUTE);
    assert.deepEqual(shown(world, BOB), ['0: 20 filled', '1: 10 queued'], 'of 30 that are free, 10 are kept');
    world.deposit(0, 1n, DAVE);
    assert.equal(reserved(world), units(10) + 1n, 'half of one unit, up');
    world.deposit(0, units(30) - 1n, DAVE);
    assert.equal(shown(world, ALICE)[0], '0: 100 queued');
    assert.deepEqual(shown(world, BOB), ['0: 20 filled', '1: 10 filled']);
    assert.deepEqual([reserved(world), free(world)], [units(25) + 1n, units(30)]);
    world.deposit(0, units(20), DAVE);
    assert.deepEqual(shown(world, ALICE), ['0: 50 filled', '1: 50 queued'], 'all that is free, as that is half');
    assert.deepEqual([reserved(world), free(world)], [0n, 0n]);
  });

  test('a claim that ends leaves its part to the next one, and without claims nothing is kept (MON-04)', () => {
    const world = QueueWorld.made();
    world.withdraw(0, units(1_000));
    world.withdraw(0, units(500), BOB);
    world.pass(MINUTE);
    world.deposit(0, units(100), DAVE);
    assert.equal(reserved(world), units(50));
    world.cancel(world.rows()[0] as WithdrawalRow);
    assert.deepEqual([reserved(world), shown(world, BOB)], [units(50), ['0: 500 queued']]);
    world.cancel(world.rows(BOB)[0] as WithdrawalRow);
    assert.equal(reserved(world), 0n);
    assert.equal(world.state.payoutReserves.size, 0);
  });

  test('a filled row without an approval expires a day after its request, and its units fill others (MON-04, WDR-12)', () => {
    const world = QueueWorld.made();
    world.deposit(0, units(100), DAVE);
    world.withdraw(0, units(100));
    world.pass(MINUTE);
    world.withdraw(0, units(100), BOB);
    world.pass(DAY - MINUTE - 1);
    assert.deepEqual([shown(world, ALICE), shown(world, BOB)], [['0: 100 filled'], ['0: 100 queued']]);
    world.pass(1);
    assert.deepEqual([shown(world, ALICE), shown(world, BOB)], [['0: 100 expired'], ['0: 100 filled']]);
    assert.equal(world.wealth(), units(100_000));
  });

  test('a row whose number cannot come up binds no units: a named one above a gap waits (MON-04, AMB-80)', () => {
    const world = QueueWorld.made();
    world.deposit(0, units(100), DAVE);
    world.withdraw(0, units(1), ALICE, 'e', 0);
    world.withdraw(0, units(100), ALICE, 'e', 1);
    world.cancel(world.rows()[0] as WithdrawalRow);
    world.withdraw(0, units(100), BOB);
    world.pass(MINUTE);
    assert.deepEqual(shown(world, ALICE), ['0: 1 cancelled', '1: 100 queued']);
    assert.deepEqual(shown(world, BOB), ['0: 100 filled']);
  });

  test('what is left of a part does not stand before filled rows of its user when numbers move (MON-04)', () => {
    const world = QueueWorld.made();
    world.deposit(0, units(60), DAVE);
    world.deposit(0, units(10), DAVE, 'f');
    world.withdraw(0, units(100));
    world.withdraw(0, units(10), ALICE, 'f');
    world.pass(MINUTE);
    assert.deepEqual(shown(world, ALICE), ['0: 60 filled', '2: 40 queued', '1: 10 filled']);
    assert.ok(world.execute(0));
    assert.deepEqual(shown(world, ALICE), ['0: 60 executed', '2: 40 queued', '1: 10 filled']);
    assert.ok(world.execute(0), 'before, it waited behind 40 that could not be paid');
  });
});

const USERS: readonly UserId[] = [ALICE, BOB, CAROL];
const who = fc.nat({ max: 2 });
const letter = fc.constantFrom('e', 'e', 'f');
const amount = fc.integer({ min: 1, max: 400 }).map((of) => BigInt(of) * (ONE_18 / 4n));
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('arrive' as const), letter, amount }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('request' as const), who, letter, amount, isNamed: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), who, pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('execute' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 29, 60, 40_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('force' as const), who, amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), isWritten: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What a reader of the rows can see: nothing that could be served waits, and no row is filled out of its turn. */
function assertServed(world: ChainsWorld, after: string): void {
  for (const one of USERS) {
    const live = world
      .rows(one)
      .filter(({ status }) => ['queued', 'filled', 'signing', 'approved'].includes(status))
      .sort((a, b) => a.nonce - b.nonce);
    let next = world.state.withdrawalCounters.get(`${CHAINS[0]}/${one}`) ?? 0;
    while (live[0] !== undefined && live[0].nonce === next && live[0].status !== 'queued') {
      live.shift();
      next += 1;
    }
    const row = live[0];
    if (row === undefined || row.nonce !== next || row.status !== 'queued' || row.dueNs > world.nowNs) continue;
    const of = row.token === tokenOn(0) ? 'e' : 'f';
    const others = free(world, of) - reserved(world, of);
    assert.ok(others * 2n < row.payout, `${others} are free for ${row.payout} of ${one.slice(0, 2)} after ${after}`);
  }
  for (const of of ['e', 'f']) {
    const units1 = free(world, of);
    assert.ok(reserved(world, of) >= 0n && reserved(world, of) <= (units1 > 0n ? units1 : 0n), 'what is kept is free');
  }
}

/** At the moment it is filled, everything below it is. */
function assertInTurn(before: readonly WithdrawalRow[], now: readonly WithdrawalRow[]): void {
  for (const row of now) {
    const was = before.find(({ place, sequence }) => place === row.place && sequence === row.sequence);
    if (row.status !== 'filled' || (was !== undefined && was.status !== 'queued')) continue;
    const below = now.filter(({ nonce, status }) => nonce < row.nonce && status === 'queued');
    assert.deepEqual(below, [], 'every lower row is filled or approved');
  }
}

suite('the queue in random histories (MON-04)', () => {
  test('what can be served is, each user in turn, within the reserve; kills and replays change nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const world = QueueWorld.made();
        const tables = new PlainTables();
        for (const one of steps) {
          const before = new Map(USERS.map((each) => [each, world.rows(each)]));
          play(world, tables, one);
          assertServed(world, one.kind);
          for (const each of USERS) assertInTurn(before.get(each) ?? [], world.rows(each));
        }
      }),
      propertyParameters(40),
    );
  });

  test('behind a claim that is never paid others get at least half of what arrives, whoever made it', () => {
    const arrivals = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 25 });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 20 }), (list, size) => {
        const world = QueueWorld.made();
        // More than twice of all that arrives.
        world.withdraw(0, units(90_000));
        world.withdraw(0, units(9_000));
        for (let place = 0; place < 40; place += 1) world.withdraw(0, units(size), BOB);
        world.pass(MINUTE);
        let arrived = 0;
        for (const one of list) {
          world.deposit(0, units(one), DAVE);
          arrived += one;
        }
        const paid = world.rows(BOB).filter(({ status }) => status === 'filled');
        const sum = paid.reduce((all, { payout }) => all + payout, 0n);
        const wanted = units(Math.min(arrived / 2, 40 * size) * 2) / 2n;
        // What is left of others' half is less than half of one request.
        assert.ok(sum + units(size) / 2n >= wanted, `${sum} of ${arrived} went to others`);
        assert.deepEqual(
          world.rows(ALICE).map(({ status }) => status),
          ['queued', 'queued'],
        );
      }),
      propertyParameters(30),
    );
  });

  test('a claim is payable by half when as much as it has arrived, however others drain the vault', () => {
    const arrivals = fc.array(fc.bigInt({ min: 1n, max: units(40) }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(arrivals, fc.bigInt({ min: 2n, max: units(300) }), (list, payout) => {
        const world = QueueWorld.made();
        world.withdraw(0, payout);
        world.pass(MINUTE);
        let arrived = 0n;
        for (const one of list) {
          if (arrived >= payout) break;
          world.deposit(0, one, DAVE);
          arrived += one;
          if (world.rows()[0]?.status !== 'queued') break;
          // Bob takes everything that is not kept.
          const others = free(world) - reserved(world);
          if (others > 0n) world.withdraw(0, others, BOB);
          world.pass(MINUTE);
          while (world.execute(0, BOB) !== null);
          assert.ok(free(world) === reserved(world), 'nothing else is left');
        }
        if (world.rows()[0]?.status === 'queued') assert.ok(arrived < payout && reserved(world) * 2n < payout);
      }),
      propertyParameters(30),
    );
  });
});

function play(world: ChainsWorld, tables: PlainTables, one: Step): void {
  const chain = CHAINS[0] as ChainId;
  switch (one.kind) {
    case 'arrive':
      world.deposit(0, one.amount, DAVE, one.letter);
      return;
    case 'request': {
      const of = USERS[one.who] ?? ALICE;
      const taken = new Set(
        world
          .rows(of)
          .flatMap(({ status, nonce }) => (['executed', 'expired', 'cancelled'].includes(status) ? [] : [nonce])),
      );
      let nonce = world.state.withdrawalCounters.get(`${chain}/${of}`) ?? 0;
      while (taken.has(nonce)) nonce += 1;
      world.withdraw(0, one.amount, of, one.letter, one.isNamed ? nonce : null);
      return;
    }
    case 'cancel': {
      const rows = world.rows(USERS[one.who]).filter(({ status }) => status === 'queued' || status === 'filled');
      const row = rows[one.pick % Math.max(rows.length, 1)];
      if (row !== undefined) world.cancel(row);
      return;
    }
    case 'execute':
      world.execute(0, USERS[one.who]);
      return;
    case 'pass':
      world.pass(one.seconds);
      return;
    case 'force':
      world.force(0, one.amount, USERS[one.who]);
      return;
    case 'kill': {
      const hash = stateHash(world.state);
      if (one.isWritten) {
        tables.checkpoint(world.state);
        world.state = tables.load();
      } else {
        const again = createClearingState();
        for (const batch of world.journal) applyBatch(again, batch, []);
        world.state = again;
      }
      assert.equal(stateHash(world.state), hash);
    }
  }
}
