// tier: quick
/** Protection groups at the gateway: what names one, and when one is removed (MMP-01, MMP-02). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ActionReply, OperatorCommand } from '../../src/clearing/inputs.ts';
import type { ProtectionRow } from '../../src/clearing/rows.ts';
import { PROTECTED_ORDERS_MAX } from '../../src/core/limits.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import type { Amount18, Sequence, TimestampNs } from '../../src/core/units.ts';
import { ProtectionActions } from '../../src/gateway/actions/protection-actions.ts';
import { ProtectionGroups } from '../../src/gateway/orders/entry/protection-groups.ts';
import { ALICE, BOB, ETH } from '../support/names.ts';

const NOW = 1_000n as TimestampNs;

function row(change: Partial<ProtectionRow> = {}): ProtectionRow {
  return {
    ...{ user: ALICE, marketIndex: 0, slot: 1, group: 'g', windowMs: 1_000, frozenMs: 0 },
    ...{ maxFills: 2, maxQuantity: null, maxNotional: null, minFillNotional: 0n as Amount18 },
    ...{ trip: 0 as Sequence, endedTrip: 0 as Sequence, frozenUntilNs: 0n as TimestampNs, isGone: false },
    ...change,
  };
}

interface World {
  readonly groups: ProtectionGroups;
  readonly actions: ProtectionActions;
  readonly sent: OperatorCommand[];
  live: number;
  isOpen: boolean;
  /** What is on its way to markets; null: nothing. */
  settled: Promise<void> | null;
  /** What clearing answers, when the test says so. */
  answer: (reply: ActionReply) => void;
}

function world(): World {
  const sent: OperatorCommand[] = [];
  const made: World = {
    groups: new ProtectionGroups(() => made.live, { comingTo: () => 0, isComingTo: () => false }),
    actions: undefined as unknown as ProtectionActions,
    sent,
    live: 0,
    isOpen: true,
    settled: null,
    answer: () => undefined,
  };
  const actions = new ProtectionActions({
    groups: made.groups,
    command: (command) => {
      sent.push(command);
      return new Promise((resolve) => {
        made.answer = resolve;
      });
    },
    marketIndexOf: (asset) => (asset === ETH ? 0 : null),
    isOpen: () => made.isOpen,
    settled: () => made.settled,
    isKnown: (user) => user === ALICE,
    nowNs: () => NOW,
  });
  return Object.assign(made, { actions });
}

const NAME = { user: ALICE, asset: ETH, group: 'g' } as const;
const OF_GROUP = { user: ALICE, marketIndex: 0, group: 'g' } as const;

function codeOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.reject.code;
}

suite('protection groups at the gateway', () => {
  test('an order of a known group gets its slot; unknown, frozen and full groups are refused (MMP-02, MMP-03)', () => {
    const { groups } = world();
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'INVALID_ORDER');
    groups.changed(row({ slot: 3 }));
    assert.deepEqual(groups.slotFor(OF_GROUP, NOW), accepted(3));
    assert.equal(codeOf(groups.slotFor({ ...OF_GROUP, marketIndex: 1 }, NOW)), 'INVALID_ORDER');
    groups.triggered({
      user: ALICE,
      marketIndex: 0,
      slot: 3,
      sequence: 9 as Sequence,
      frozenUntilNs: 0n as TimestampNs,
    });
    const frozen = groups.slotFor(OF_GROUP, NOW);
    assert.ok(!frozen.ok);
    assert.deepEqual([frozen.reject.code, frozen.reject.details], ['MMP_FROZEN', { frozen_until_ns: null }]);
    groups.ended({ user: ALICE, marketIndex: 0, slot: 3, trip: 9 as Sequence });
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'ok');
  });

  test('a group has at most 400 live orders, those on their way among them (MMP-02)', () => {
    const made = world();
    made.groups.changed(row());
    made.live = PROTECTED_ORDERS_MAX - 1;
    assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW)), 'ok');
    assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW, 2)), 'TOO_MANY_OPEN_ORDERS');
    made.live += 1;
    assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW)), 'TOO_MANY_OPEN_ORDERS');
  });

  test('a row of clearing does not undo a trip that its market has reported since (MMP-03)', () => {
    const { groups } = world();
    groups.changed(row());
    groups.triggered({
      user: ALICE,
      marketIndex: 0,
      slot: 1,
      sequence: 9 as Sequence,
      frozenUntilNs: 0n as TimestampNs,
    });
    groups.changed(row({ maxFills: 5 }));
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'MMP_FROZEN');
    groups.changed(row({ endedTrip: 9 as Sequence }));
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'ok');
  });

  test('a row of clearing does not undo the end of a freeze that its market has reported since (MMP-03)', () => {
    const { groups } = world();
    const at = { user: ALICE, marketIndex: 0, slot: 1 };
    const [first, second] = [9 as Sequence, 20 as Sequence];
    const trip = (sequence: Sequence): void => {
      groups.triggered({ ...at, sequence, frozenUntilNs: 0n as TimestampNs });
    };
    groups.changed(row());
    trip(first);
    groups.ended({ ...at, trip: first });
    // Clearing has applied the trip, and then a put, and not the end.
    groups.changed(row({ trip: first, maxFills: 5 }));
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'ok');
    trip(second);
    groups.changed(row({ trip: first, endedTrip: first }));
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'MMP_FROZEN', 'the end is of an earlier trip');
    groups.changed(row({ trip: second, endedTrip: second }));
    assert.equal(codeOf(groups.slotFor(OF_GROUP, NOW)), 'ok');
  });

  test('a removal waits for what was sent before it, and is judged by what came of that (MMP-02)', async () => {
    for (const left of [0, 1]) {
      const made = world();
      made.groups.changed(row());
      made.live = 1;
      let settle = (): void => undefined;
      made.settled = new Promise((resolve) => {
        settle = resolve;
      });
      const removing = made.actions.remove(NAME);
      assert.equal(made.actions.inFlight, 1);
      assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW)), 'ok', 'meanwhile it takes orders');
      made.live = left;
      settle();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(made.sent.length, left === 0 ? 1 : 0);
      made.answer(accepted(null) as never);
      assert.equal(codeOf(await removing), left === 0 ? 'ok' : 'PROTECTION_IN_USE');
      assert.equal(made.actions.inFlight, 0);
    }
  });

  test('a group that is being removed takes no orders until clearing has answered (MMP-02)', async () => {
    const made = world();
    made.groups.changed(row());
    const removing = made.actions.remove(NAME);
    assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW)), 'INVALID_ORDER');
    made.answer({ ok: false, reject: { code: 'PROTECTION_IN_USE', message: '' } });
    assert.equal(codeOf(await removing), 'PROTECTION_IN_USE');
    assert.equal(codeOf(made.groups.slotFor(OF_GROUP, NOW)), 'ok');
    made.live = 1;
    assert.equal(codeOf(await made.actions.remove(NAME)), 'PROTECTION_IN_USE');
    assert.equal(made.sent.length, 1, 'with orders it is refused here');
  });

  test('a reset names the last trip that is known here; a put of a user without a row goes nowhere (MMP-01, MMP-03)', async () => {
    const made = world();
    made.groups.changed(row());
    made.groups.triggered({
      user: ALICE,
      marketIndex: 0,
      slot: 1,
      sequence: 9 as Sequence,
      frozenUntilNs: 0n as TimestampNs,
    });
    const resetting = made.actions.reset(NAME);
    assert.deepEqual(made.sent, [{ kind: 'resetProtection', ...NAME, trip: 9 }]);
    made.groups.changed(row({ trip: 9 as Sequence, endedTrip: 9 as Sequence }));
    made.answer(accepted({}));
    const done = await resetting;
    assert.ok(done.ok && !done.value.isFrozen);
    const { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } = row();
    const terms = { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional };
    assert.equal(codeOf(await made.actions.put({ ...NAME, user: BOB }, terms)), 'INSUFFICIENT_INVENTORY');
    assert.equal(made.sent.length, 1);
  });

  test('before a market is open nothing of its groups is changed: it would not hear of it (MMP-01)', async () => {
    const made = world();
    made.groups.changed(row());
    made.isOpen = false;
    const { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } = row();
    const terms = { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional };
    for (const answer of [made.actions.put(NAME, terms), made.actions.remove(NAME), made.actions.reset(NAME)])
      assert.equal(codeOf(await answer), 'SERVICE_UNAVAILABLE');
    assert.deepEqual(made.sent, []);
    assert.ok(made.actions.list(ALICE, ETH).ok, 'they are read');
  });
});
