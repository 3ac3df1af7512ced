// tier: quick
/** Batches at the rings and at the verify pool: what is sent is sent whole and in order (BAT-07, AMB-26, AMB-112). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CreateRequest } from '../../src/codec/order-actions.ts';
import { USD } from '../../src/core/ids.ts';
import type { ActionAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import { CommandRing, EntryWorld } from '../support/entry-world.ts';
import { ALICE, BOB } from '../support/names.ts';
import { cancelRequest, createRequest } from '../support/order-fixture.ts';

class World extends EntryWorld {
  readonly answers = new Map<number, string>();
  readonly ring: CommandRing;

  constructor(capacityBytes = 65_536) {
    const ring = new CommandRing(capacityBytes);
    super([ring]);
    this.ring = ring;
  }

  create(ids: readonly string[], isControl = false): void {
    this.send(
      ids.map((id) => createRequest({ id })),
      isControl,
    );
  }

  send(requests: readonly CreateRequest[], isControl: boolean): void {
    const origin = { user: ALICE, connection: 7, isControl };
    this.entry.submitBatch({ kind: 'batch-create', requests }, origin, (index, answer) => {
      this.answers.set(index, word(answer));
    });
  }

  get words(): readonly string[] {
    return [...this.answers].sort(([a], [b]) => a - b).map(([index, answer]) => `${index} ${answer}`);
  }
}

function word({ refusal }: ActionAnswer): string {
  return refusal === null ? 'Received' : refusal.code;
}

suite('batches', () => {
  test('items go to their market in one piece, between two notes, in the order of the batch (BAT-07)', () => {
    const world = new World();
    world.create(['a', 'b', 'c']);
    assert.equal(world.ring.words(), '[ a b c ]');
    assert.deepEqual(world.words, [], 'the market answers');
  });

  test('a ring too full for all of a market takes none of them, and nothing is reserved (AMB-112)', () => {
    const world = new World(4_096);
    const before = world.fixture.available(ALICE, USD);
    world.ring.fill(600);
    world.create(['a', 'b', 'c']);
    assert.deepEqual(world.words, ['0 SERVICE_UNAVAILABLE', '1 SERVICE_UNAVAILABLE', '2 SERVICE_UNAVAILABLE']);
    assert.equal(world.ring.words(), '');
    assert.equal(world.fixture.available(ALICE, USD), before);
    assert.deepEqual([world.fixture.manager.requests.count, world.fixture.manager.ordersInMemory], [0, 0]);
    world.answers.clear();
    world.create(['a', 'b', 'c']);
    assert.equal(world.ring.words(), '[ a b c ]', 'with room the same batch goes');
  });

  test('a cancel of an order of the batch is urgent only when the batch is sent, not when that order is verified', () => {
    const world = new World();
    world.capacity = 10;
    world.create(['a', 'b'], true);
    const isUrgent = (): boolean | undefined => {
      const origin = { user: ALICE, connection: 7, isControl: true };
      world.entry.submit({ kind: 'cancel', request: cancelRequest('a') }, origin, () => undefined);
      return world.jobs.at(-1)?.job.isUrgent;
    };
    world.jobs[0]?.done(true);
    assert.equal(isUrgent(), false, 'b is not verified yet');
    world.jobs[1]?.done(true);
    assert.equal(world.ring.words(), '[ a b ]');
    assert.equal(isUrgent(), true);
  });

  test('verdicts may come in any order: the batch waits for all and goes in its own (BAT-02)', () => {
    const world = new World();
    world.capacity = 10;
    world.create(['a', 'b', 'c', 'd']);
    assert.equal(new Set(world.jobs.map(({ job }) => job.connection)).size, 4, 'side by side in the pool');
    for (const index of [3, 0, 2]) world.jobs[index]?.done(index !== 0);
    assert.equal(world.ring.words(), '');
    world.jobs[1]?.done(true);
    assert.equal(world.ring.words(), '[ b c d ]');
    assert.deepEqual(world.words, ['0 INVALID_SIGNATURE']);
  });

  test('on /control its signatures keep to the channel of their connection, so that order is kept (AMB-92)', () => {
    const world = new World();
    world.capacity = 10;
    world.create(['a', 'b', 'c'], true);
    assert.deepEqual(
      world.jobs.map(({ job }) => job.connection),
      [7, 7, 7],
    );
  });

  test('an item that the pool does not take fails alone (BAT-10)', () => {
    const world = new World();
    world.capacity = 2;
    world.create(['a', 'b', 'c']);
    for (const { done } of world.jobs) done(true);
    assert.deepEqual([world.ring.words(), world.words], ['[ a b ]', ['2 SERVICE_UNAVAILABLE']]);
  });

  test('the second order of an id fails, also when the first does (AMB-26)', () => {
    const world = new World();
    world.capacity = 10;
    world.create(['a', 'a', 'b']);
    world.jobs[0]?.done(false);
    world.jobs[1]?.done(true);
    assert.deepEqual([world.ring.words(), world.words], ['[ b ]', ['0 INVALID_SIGNATURE', '1 DUPLICATE_ORDER']]);
  });

  test('a repeated id is refused for its own faults first: one signed by another user is refused for that (AMB-91, AMB-92)', () => {
    const world = new World();
    const requests = [createRequest({ id: 'a' }), createRequest({ id: 'a', user: BOB })];
    world.send(requests, true);
    assert.deepEqual([world.ring.words(), world.words], ['[ a ]', ['1 SIGNER_MISMATCH']]);
  });

  test('one of which nothing passes writes nothing, not even notes', () => {
    const world = new World();
    world.capacity = 10;
    world.create(['a']);
    world.jobs[0]?.done(false);
    assert.equal(world.ring.words(), '');
  });
});
