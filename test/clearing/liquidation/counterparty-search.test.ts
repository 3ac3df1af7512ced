// tier: quick
/** Auto-deleveraging in a market with more positions than a step looks at: they are searched in slices, before the step. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ensureUser } from '../../../src/clearing/balances.ts';
import type { FoundCounterparties } from '../../../src/clearing/inputs.ts';
import { accountOfRow } from '../../../src/clearing/liquidation/backstop-capital.ts';
import { ADL_SCAN_MAX, ADL_TRADES_MAX } from '../../../src/clearing/liquidation/counterparties.ts';
import { CounterpartySearch } from '../../../src/clearing/liquidation/counterparty-search.ts';
import { positionSlot, setLegs } from '../../../src/clearing/positions.ts';
import { must } from '../../../src/core/assert.ts';
import type { UserId } from '../../../src/core/ids.ts';
import { type Amount18, SECOND_NS } from '../../../src/core/units.ts';
import type { Legs } from '../../../src/risk/position.ts';
import { BACKSTOP, BackstopWorld, clipOf, deleveragedOf, FIRST } from '../../support/backstop-world.ts';
import { effectsOf, user } from '../../support/clearing-world.ts';
import { e18 } from '../../support/margin-world.ts';
import { ETH } from '../../support/names.ts';

const SHORT = user('5a');
const COUNT = ADL_SCAN_MAX + 900;

function ownerAt(at: number): UserId {
  return at.toString(16).padStart(64, '0') as UserId;
}

function place(world: BackstopWorld, of: UserId, base: bigint, quote: bigint): void {
  const account = must(ensureUser(world.state, of, []).subAccounts.get(1), 'account 1 exists');
  const legs = { base, quote, entry: quote < 0n ? -quote : quote } as Legs;
  setLegs(world.state, positionSlot(world.state, account, ETH), legs);
}

/** Very many longs of 1 ETH, each bought a cent above the one before, from 1000 on; SHORT has the other side of all. */
function crowded(): BackstopWorld {
  const world = BackstopWorld.withBackstop();
  let cost = 0n;
  for (let at = 0; at < COUNT; at += 1) {
    const paid = e18('1000') + BigInt(at) * e18('0.01');
    place(world, ownerAt(at), e18('1'), -paid);
    cost += paid;
  }
  place(world, SHORT, -BigInt(COUNT) * e18('1'), cost);
  world.send({ kind: 'clockMoved', request: 1 });
  world.takenOver(SHORT);
  world.endClip(clipOf(world.stepAll()));
  world.pass(SECOND_NS / 2n);
  world.prices({ [ETH]: '2010' });
  return world;
}

/** @returns what is found, and in how many slices. */
function searched(
  world: BackstopWorld,
  search: CounterpartySearch,
): { found: readonly FoundCounterparties[]; slices: number } {
  for (let slices = 0; slices < 100; slices += 1) {
    const found = search.resultFor(world.state, world.row(), world.nowNs);
    if (found !== null) return { found, slices };
    assert.equal(search.isActive, true);
    search.advance(world.state, world.nowNs);
  }
  throw new Error('a search ends');
}

/** Searches until it is done: `resultFor` is null while it is not. */
function searchAll(world: BackstopWorld): { found: readonly FoundCounterparties[]; slices: number } {
  const search = new CounterpartySearch();
  const first = search.resultFor(world.state, world.row(), world.nowNs);
  assert.equal(first, null);
  return searched(world, search);
}

suite('auto-deleveraging against very many counterparties', () => {
  test('ADL-03: a step looks at no more than it can, and is no step without what was searched for it', () => {
    const world = crowded();
    assert.equal(world.isDue(), true);
    assert.deepEqual(world.step(), []);
    assert.equal(world.row().posted, 0n, 'BKS-07: not searched is not none');
    assert.equal(world.row().state, 'working');
  });

  test('ADL-03: the search finds the first ones by their score in slices, and they are closed in that order', () => {
    const world = crowded();
    const { found, slices } = searchAll(world);
    assert.equal(slices, Math.floor((COUNT + 1) / 1_024) + 1);
    assert.deepEqual(
      found.map(({ marketIndex, accounts }) => [marketIndex, accounts.length]),
      [[0, ADL_TRADES_MAX]],
    );
    const [wanted] = effectsOf(world.send({ kind: 'backstopStep', index: FIRST, found }), 'tradeIdsWanted');
    assert.equal(wanted?.count, ADL_TRADES_MAX);
    assert.equal(world.row().counterparties.length, ADL_TRADES_MAX);
    const users = deleveragedOf(world.reserve(0, ADL_TRADES_MAX)).map(([of]) => of);
    const cheapest = Array.from({ length: ADL_TRADES_MAX }, (_, at) => ownerAt(at));
    assert.deepEqual(new Set(users), new Set(cheapest));
    assert.equal(world.legs(BACKSTOP, FIRST)[0], String(ADL_TRADES_MAX - COUNT));
    assert.deepEqual(world.row().counterparties, []);
  });

  test('ADL-01: a counterparty without a profit when the ids come is left alone', () => {
    const world = crowded();
    const { found } = searchAll(world);
    world.send({ kind: 'backstopStep', index: FIRST, found });
    const first = must(found[0]?.accounts[0], 'there are counterparties');
    const account = must(world.state.users.get(first.user)?.subAccounts.get(1), 'account 1 exists');
    const slot = positionSlot(world.state, account, ETH);
    setLegs(world.state, slot, { ...slot.legs, entry: e18('3000') as Amount18 });
    const users = deleveragedOf(world.reserve(0, ADL_TRADES_MAX)).map(([of]) => of);
    assert.equal(users.length, ADL_TRADES_MAX - 1);
    assert.equal(users.includes(first.user), false);
  });

  test('ADL-06: where the search has found none, collateral is posted (BKS-07)', () => {
    const world = crowded();
    const effects = world.send({ kind: 'backstopStep', index: FIRST, found: [{ marketIndex: 0, accounts: [] }] });
    assert.deepEqual(effectsOf(effects, 'tradeIdsWanted'), []);
    assert.ok(world.row().posted > 0n);
    assert.ok(accountOfRow(world.state, world.row()) !== undefined);
  });
});
