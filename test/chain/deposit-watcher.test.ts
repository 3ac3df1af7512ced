// tier: quick
/** The deposit watcher: majority, confirmations, canonical blocks, order, once. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ConfirmedEvent } from '../../src/chain/chain-events.ts';
import { DepositWatcher } from '../../src/chain/deposit-watcher.ts';
import type { ProviderView, SimulatedChain } from '../../src/chain/simulated-chain.ts';
import type { UserId } from '../../src/core/ids.ts';
import { chainAt, DEPOSIT, provider, STARTED_NS, VAULT } from '../support/chain-world.ts';
import { ALICE, BOB } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const POLICY = { vault: VAULT.slice(0, 40), confirmations: 1 };
const three = (view: ProviderView): readonly ProviderView[] => [view, view, view];

/** Clearing's side of deposits: a contiguous counter per user, and what was credited. */
class Counters {
  readonly credited: string[] = [];
  readonly next = new Map<UserId, number>();

  take(deposit: ConfirmedEvent): number {
    const next = this.next.get(deposit.user) ?? 0;
    if (deposit.nonce !== next) return next;
    this.credited.push(deposit.tx);
    this.next.set(deposit.user, next + 1);
    return next + 1;
  }
}

/** Lets clearing act until nothing is due. @returns how many offers that took. */
function settle(
  watcher: DepositWatcher,
  clearing: Counters,
  views: readonly (ProviderView | null)[],
  policy = POLICY,
): number {
  let offers = 0;
  for (;;) {
    const due = watcher.due(views, policy);
    if (due.length === 0) return offers;
    for (const deposit of due) watcher.answered(deposit, clearing.take(deposit));
    offers += due.length;
    assert.ok(offers < 1_000, 'settling ends');
  }
}

function withDeposit(): SimulatedChain {
  const chain = chainAt(5);
  chain.deposit(DEPOSIT, STARTED_NS);
  return chain;
}

suite('deposit watcher', () => {
  for (const [name, confirmations] of [
    ['chain 1', 4],
    ['chain 42161', 15],
    ['chain 143', 15],
    ['chain 8453', 10],
  ] as const) {
    test(`${name}: with ${confirmations - 1} confirmations not yet, with ${confirmations} it is due (DEP-08, DEP-17 to DEP-20)`, () => {
      const chain = withDeposit();
      const watcher = new DepositWatcher();
      const policy = { ...POLICY, confirmations };
      chain.mine(confirmations - 2, STARTED_NS);
      assert.deepEqual(watcher.due(three(chain), policy), []);
      chain.mine(1, STARTED_NS);
      assert.equal(watcher.due(three(chain), policy).length, 1);
    });
  }

  test('one of three providers is not enough, two are (DEP-07)', () => {
    const chain = withDeposit();
    const blind = provider(chain, { logs: () => [] });
    const watcher = new DepositWatcher();
    assert.deepEqual(watcher.due([chain, blind, blind], POLICY), []);
    assert.equal(watcher.due([chain, chain, blind], POLICY).length, 1);
  });

  test('more than half of the configured providers: an unreachable one disagrees (AMB-84)', () => {
    const chain = withDeposit();
    const watcher = new DepositWatcher();
    assert.deepEqual(watcher.due([chain, null, null], POLICY), []);
    assert.deepEqual(watcher.due([chain, null], POLICY), []);
    assert.deepEqual(watcher.due([chain, chain, null, null], POLICY), []);
    assert.equal(watcher.due([chain, chain, null], POLICY).length, 1);
  });

  test('providers that show another amount, another vault or another block do not agree (DEP-07, DEP-09)', () => {
    const chain = withDeposit();
    const forged = provider(chain, { logs: (logs) => logs.map((log) => ({ ...log, data: 'f'.repeat(64) })) });
    const foreign = provider(chain, { logs: (logs) => logs.map((log) => ({ ...log, address: 'ee'.repeat(20) })) });
    const dropped = provider(chain, { logs: (logs) => logs.map((log) => ({ ...log, blockHash: 'ab'.repeat(32) })) });
    for (const liar of [forged, foreign, dropped]) {
      assert.deepEqual(new DepositWatcher().due([chain, liar, null], POLICY), []);
      const [due, ...more] = new DepositWatcher().due([chain, chain, liar], POLICY);
      assert.deepEqual([due?.baseUnits, more.length], [DEPOSIT.baseUnits, 0]);
    }
    assert.deepEqual(new DepositWatcher().due([foreign, foreign, foreign], POLICY), []);
    assert.deepEqual(new DepositWatcher().due([dropped, dropped, dropped], POLICY), []);
  });

  test('a lagging provider has not confirmed what its head does not reach (DEP-08)', () => {
    const chain = withDeposit();
    const behind = provider(chain, { head: chain.head - 1 });
    const watcher = new DepositWatcher();
    assert.deepEqual(watcher.due([chain, behind, behind], POLICY), []);
    assert.equal(watcher.due([chain, chain, behind], POLICY).length, 1);
  });

  test('replayed logs and answered deposits do not leave again (DEP-10)', () => {
    const chain = withDeposit();
    const twice = provider(chain, { logs: (logs) => [...logs, ...logs] });
    const watcher = new DepositWatcher();
    const clearing = new Counters();
    assert.equal(settle(watcher, clearing, three(twice)), 1);
    assert.equal(settle(watcher, clearing, three(twice)), 0);
    const replayedLater = provider(chain, { logs: () => chain.logsFrom(0) });
    assert.equal(settle(watcher, clearing, three(replayedLater)), 0);
  });

  test('one that clearing did not answer for is offered again', () => {
    const chain = withDeposit();
    const watcher = new DepositWatcher();
    assert.deepEqual(watcher.due(three(chain), POLICY), watcher.due(three(chain), POLICY));
  });

  test('a log that all providers missed at first is found when a later counter shows the hole (AMB-74)', () => {
    const chain = withDeposit();
    const watcher = new DepositWatcher();
    const clearing = new Counters();
    settle(watcher, clearing, three(chain));
    const missed = chain.deposit(DEPOSIT, STARTED_NS);
    const blind = provider(chain, { logs: (logs) => logs.filter((log) => log.tx !== missed.tx) });
    assert.equal(settle(watcher, clearing, three(blind)), 0);
    chain.deposit(DEPOSIT, STARTED_NS);
    assert.equal(settle(watcher, clearing, three(blind)), 0);
    assert.equal(settle(watcher, clearing, three(chain)), 2);
    assert.deepEqual(clearing.next.get(ALICE), 3);
  });

  test('a new watcher starts with the newest deposit of a user, and goes back to what is pending', () => {
    const chain = chainAt(0);
    for (let at = 0; at < 4; at += 1) chain.deposit({ ...DEPOSIT, user: at === 1 ? BOB : ALICE }, STARTED_NS);
    const clearing = new Counters();
    clearing.next.set(ALICE, 1);
    clearing.next.set(BOB, 1);
    settle(new DepositWatcher(), clearing, three(chain));
    assert.deepEqual(
      [...clearing.next],
      [
        [ALICE, 3],
        [BOB, 1],
      ],
    );
    assert.equal(clearing.credited.length, 2);
    const offers = settle(new DepositWatcher(), clearing, three(chain));
    assert.deepEqual([offers, clearing.credited.length], [2, 2]);
  });

  test('whatever a minority answers and whenever the watcher restarts, every deposit is credited once, in order (DEP-10)', () => {
    const step = fc.record({
      deposits: fc.array(fc.constantFrom(ALICE, BOB), { maxLength: 3 }),
      mine: fc.nat(3),
      restart: fc.boolean(),
      fault: fc.constantFrom('none', 'unreachable', 'lagging', 'omits', 'forges'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 0, max: 4 }), (steps, confirmations) => {
        const chain = chainAt(1);
        const policy = { ...POLICY, confirmations };
        const clearing = new Counters();
        let watcher = new DepositWatcher();
        for (const { deposits, mine, restart, fault } of steps) {
          for (const user of deposits) chain.deposit({ ...DEPOSIT, user }, STARTED_NS);
          chain.mine(mine, STARTED_NS);
          if (restart) watcher = new DepositWatcher();
          settle(watcher, clearing, [chain, faulty(chain, fault), chain], policy);
          const deepest = chain.head - Math.max(confirmations, 1) + 1;
          const final = chain.logsFrom(0).filter((log) => log.blockNumber <= deepest);
          assert.deepEqual([...clearing.credited].sort(), final.map((log) => log.tx).sort());
        }
      }),
      propertyParameters(),
    );
  });
});

function faulty(chain: SimulatedChain, fault: string): ProviderView | null {
  if (fault === 'unreachable') return null;
  if (fault === 'lagging') return provider(chain, { head: Math.max(0, chain.head - 2) });
  if (fault === 'omits') return provider(chain, { logs: () => [] });
  if (fault !== 'forges') return chain;
  return provider(chain, { logs: (logs) => logs.map((log) => ({ ...log, data: 'e'.repeat(64) })) });
}
