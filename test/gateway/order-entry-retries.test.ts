// tier: quick
/** Idempotent retries of creates, and the connections with which their orders go (docs/safety.md). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AutomaticCancels } from '../../src/gateway/actions/automatic-cancels.ts';
import { type ActionOrigin, CONNECTION_ENDED } from '../../src/gateway/actions/order-entry.ts';
import { DisconnectGroup } from '../../src/gateway/orders/entry/disconnect-group.ts';
import { CommandRing, EntryWorld } from '../support/entry-world.ts';
import { ALICE } from '../support/names.ts';
import { createRequest, NOW } from '../support/order-fixture.ts';
import { propertyParameters } from '../support/property.ts';

/** Does not take its orders with it; those below do. */
const PLAIN = 4;

/** One create, sent over connections that the test ends; its signature and its market wait for the test. */
class World extends EntryWorld {
  /** `connection answer`, in order. */
  readonly answers: string[] = [];
  readonly cancelled: string[] = [];
  readonly #lines = new Map<number, DisconnectGroup>();
  readonly #ring: CommandRing;
  readonly #cancels: AutomaticCancels;

  constructor() {
    const ring = new CommandRing();
    super([ring]);
    this.#ring = ring;
    this.capacity = Number.POSITIVE_INFINITY;
    this.#cancels = new AutomaticCancels({
      holderOf: () => 'user',
      cancels: {
        hasRoomForCancel: () => true,
        sendCancel: ({ orderId }) => {
          this.cancelled.push(orderId);
        },
        cancelAll: () => assert.fail('no timer'),
        endQuoteSet: () => assert.fail('no quote set'),
      },
      nowNs: () => NOW,
      wakeUp: () => undefined,
    });
  }

  /** @param isTied the order goes with this connection. */
  send(connection: number, isTied: boolean): void {
    const line = this.#lines.get(connection) ?? new DisconnectGroup();
    if (isTied) this.#lines.set(connection, line);
    const group = isTied ? line : null;
    const origin: ActionOrigin = { user: ALICE, connection, isControl: true, mayRetry: true, group };
    this.entry.submit({ kind: 'create', request: createRequest() }, origin, ({ refusal }) => {
      this.answers.push(`${connection} ${refusal === null ? 'Received' : refusal.message}`);
    });
  }

  cut(connection: number): void {
    const line = this.#lines.get(connection);
    if (line?.isEnded === false) this.#cancels.connectionEnded(line);
  }

  turn(): void {
    this.#cancels.sendWaiting();
  }

  end(connection: number): void {
    this.cut(connection);
    this.turn();
  }

  isEnded(connection: number): boolean {
    return this.#lines.get(connection)?.isEnded ?? false;
  }

  /** All signatures that wait are valid. @returns whether there were any. */
  verify(): boolean {
    const jobs = this.jobs.splice(0);
    for (const { done } of jobs) done(true);
    return jobs.length > 0;
  }

  /** The market accepts every create that was sent. */
  admit(): void {
    for (const { requestId } of this.#ring.read()) {
      const sequence = this.fixture.nextSequence;
      this.fixture.manager.onAccepted({ requestId, marketIndex: 3, sequence, timeNs: NOW, rejectCode: 0 });
      this.fixture.answer(requestId, sequence);
    }
  }
}

suite('a retried create', () => {
  test('over a connection that takes its orders with it goes with that one, though the first did not opt in', () => {
    const world = new World();
    world.send(1, false);
    world.verify();
    world.admit();
    world.send(2, true);
    assert.deepEqual(world.answers, ['1 Received', '2 Received']);
    world.end(2);
    assert.deepEqual(world.cancelled, ['order-1']);
  });

  test('goes with the latest connection that opted in, and no longer with the one before', () => {
    for (const moment of ['signature', 'market', 'answered']) {
      const world = new World();
      world.send(1, true);
      if (moment !== 'signature') world.verify();
      if (moment === 'answered') world.admit();
      world.send(2, true);
      world.send(3, false);
      world.end(1);
      world.verify();
      world.admit();
      assert.deepEqual(world.cancelled, [], moment);
      assert.deepEqual(new Set(world.answers), new Set(['1 Received', '2 Received', '3 Received']), moment);
      world.end(2);
      assert.deepEqual(world.cancelled, ['order-1'], moment);
    }
  });

  test('begins anew for those who are left when the connection of the order ends before its market', () => {
    const world = new World();
    world.send(1, true);
    world.send(2, true);
    world.send(3, false);
    world.end(2);
    world.verify();
    assert.deepEqual(world.answers, [`2 ${CONNECTION_ENDED.message}`]);
    world.verify();
    world.admit();
    assert.deepEqual(world.answers.slice(1), ['1 Received', '3 Received']);
    world.end(1);
    assert.deepEqual(world.cancelled, ['order-1']);
  });

  test('is cancelled when its connection has ended, though it comes again over another before its turn', () => {
    const world = new World();
    world.send(1, true);
    world.verify();
    world.admit();
    world.cut(1);
    world.send(2, true);
    assert.deepEqual([world.answers, world.cancelled], [['1 Received', '2 Received'], []]);
    world.turn();
    assert.deepEqual(world.cancelled, ['order-1']);
  });

  test('over a connection that the node has cut goes with none, and gets the answer of the first', () => {
    const world = new World();
    world.send(1, false);
    world.send(2, true);
    world.verify();
    world.admit();
    world.end(2);
    world.send(2, true);
    assert.deepEqual(world.answers, ['1 Received', '2 Received', '2 Received']);
  });

  test('for any order of sendings and ends: only the end of the latest that is left cancels, and that always does', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ send: fc.integer({ min: 1, max: PLAIN }) }) },
      { weight: 2, arbitrary: fc.record({ end: fc.integer({ min: 1, max: PLAIN - 1 }) }) },
      { weight: 2, arbitrary: fc.constantFrom('verify' as const, 'admit' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 16 }), (steps) => {
        const world = new World();
        const senders: number[] = [];
        for (const act of steps) {
          const before = world.cancelled.length;
          if (act === 'verify') world.verify();
          else if (act === 'admit') world.admit();
          else if ('end' in act) world.end(act.end);
          else if (!world.isEnded(act.send)) {
            world.send(act.send, act.send !== PLAIN);
            senders.push(act.send);
          }
          if (world.cancelled.length === before) continue;
          assert.ok(typeof act === 'object' && 'end' in act, 'an end cancels');
          const later = senders.slice(senders.lastIndexOf(act.end) + 1);
          assert.deepEqual(
            later.filter((each) => each !== PLAIN && !world.isEnded(each)),
            [],
            'a later one that asked is alive',
          );
        }
        while (world.verify());
        world.admit();
        assert.deepEqual(world.answers.map((word) => Number(word[0])).sort(), senders.sort(), 'each is answered once');
        for (let connection = 1; connection < PLAIN; connection += 1) world.end(connection);
        const isThere = world.fixture.status(ALICE) !== undefined;
        if (isThere && !senders.includes(PLAIN)) assert.ok(world.cancelled.length > 0, 'no sender is left');
        if (!isThere) assert.ok(!world.answers.some((word) => word.endsWith('Received')));
      }),
      propertyParameters(500),
    );
  });
});
