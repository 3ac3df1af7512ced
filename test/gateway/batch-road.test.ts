/** A batch at the rings and at the verify pool: what goes, goes whole and in order (BAT-07, AMB-26, AMB-112). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CreateRequest } from '../../src/codec/signed-order.ts';
import { USD } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { ActionRoad } from '../../src/gateway/action-road.ts';
import { BatchRoad } from '../../src/gateway/batch-road.ts';
import { Errands } from '../../src/gateway/errands.ts';
import type { ActionAnswer } from '../../src/gateway/orders/requests.ts';
import { ReleaseQueue } from '../../src/gateway/release-queue.ts';
import type { SignatureJob } from '../../src/gateway/verify-desk.ts';
import { COMMAND_NOTE } from '../../src/order/command-notes.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Outlet } from '../../src/runtime/outlet.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { CommandNote, NewOrder, OrderRecord, ReplaceOrder } from '../../src/schema/generated/messages.ts';
import { ALICE, BOB, createRequest, MARKET, NOW, OrderDesk } from '../support/order-desk.ts';

const FILLER = 9;
const NOTE_WORD = { [COMMAND_NOTE.batchBegins]: '[', [COMMAND_NOTE.batchEnds]: ']' } as Record<number, string>;

class Door {
  readonly desk = new OrderDesk();
  /** Jobs whose verdicts the test gives; none are kept while `capacity` is null: they are valid at once. */
  readonly jobs: { readonly job: SignatureJob; readonly done: (valid: boolean) => void }[] = [];
  capacity: number | null = null;
  readonly told = new Map<number, string>();
  readonly #outlet: Outlet;
  readonly #reader: RingReader;
  readonly #road: ActionRoad;
  readonly batches: BatchRoad;

  constructor(capacityBytes = 65_536) {
    const ring = createRing({ capacityBytes, reservedBytes: 256 });
    this.#outlet = new Outlet(
      new RingWriter(ring),
      new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0),
      'reject',
    );
    this.#reader = new RingReader(ring);
    const nowNs = (): typeof NOW => NOW;
    const shards = [this.#outlet];
    const parts = {
      errands: new Errands(this.desk.manager, nowNs, () => null),
      shards,
      idKey: hashKeyOf(0n),
      nowNs,
      openMarkets: new Set([MARKET.marketIndex]),
      releases: new ReleaseQueue(shards, nowNs),
      partOf: () => 'user' as const,
      poke: () => undefined,
    };
    const verify = (job: SignatureJob, done: (valid: boolean) => void): boolean => {
      if (this.capacity === null) done(true);
      else if (this.jobs.length >= this.capacity) return false;
      else this.jobs.push({ job, done });
      return true;
    };
    this.#road = new ActionRoad({ ...parts, desk: { verify, flush: () => undefined, inFlight: 0 } });
    this.batches = new BatchRoad(parts, this.#road);
  }

  create(ids: readonly string[], isControl = false): void {
    this.send(
      ids.map((id) => createRequest({ id })),
      isControl,
    );
  }

  send(requests: readonly CreateRequest[], isControl: boolean): void {
    this.batches.create(requests, { user: ALICE, connection: 7, isControl }, (index, answer) => {
      this.told.set(index, word(answer));
    });
  }

  fill(leave: number): void {
    while (this.#outlet.hasRoom(leave + 16) && this.#outlet.claim(FILLER, 8) >= 0) this.#outlet.commit();
  }

  /** What a market reads now: ids, and the notes around a batch. */
  read(): string {
    this.#outlet.flush();
    const words: string[] = [];
    this.#reader.drain((typeId, at) => {
      const { views } = this.#reader;
      if (typeId === CommandNote.typeId) words.push(NOTE_WORD[CommandNote.kind(views, at)] ?? '?');
      else if (typeId !== FILLER) {
        const isCreate = typeId === NewOrder.typeId;
        words.push(isCreate ? OrderRecord.orderId(views, at + NewOrder.orderAt) : ReplaceOrder.orderId(views, at));
      }
      return true;
    }, 10_000);
    return words.join(' ');
  }

  get words(): readonly string[] {
    return [...this.told].sort(([a], [b]) => a - b).map(([index, told]) => `${index} ${told}`);
  }
}

function word({ refusal }: ActionAnswer): string {
  return refusal === null ? 'Received' : refusal.code;
}

suite('the road of a batch', () => {
  test('items go to their market in one piece, between two notes, in the order of the batch (BAT-07)', () => {
    const door = new Door();
    door.create(['a', 'b', 'c']);
    assert.equal(door.read(), '[ a b c ]');
    assert.deepEqual(door.words, [], 'the market answers');
  });

  test('a ring without room for all of a market takes none of them, and nothing is reserved (AMB-112)', () => {
    const door = new Door(4_096);
    const before = door.desk.available(ALICE, USD);
    door.fill(600);
    door.create(['a', 'b', 'c']);
    assert.deepEqual(door.words, ['0 SERVICE_UNAVAILABLE', '1 SERVICE_UNAVAILABLE', '2 SERVICE_UNAVAILABLE']);
    assert.equal(door.read(), '');
    assert.equal(door.desk.available(ALICE, USD), before);
    assert.deepEqual([door.desk.manager.requests.count, door.desk.manager.ordersInMemory], [0, 0]);
    door.told.clear();
    door.create(['a', 'b', 'c']);
    assert.equal(door.read(), '[ a b c ]', 'with room the same batch goes');
  });

  test('verdicts may come in any order: the batch waits for all and goes in its own (BAT-02)', () => {
    const door = new Door();
    door.capacity = 10;
    door.create(['a', 'b', 'c', 'd']);
    assert.equal(new Set(door.jobs.map(({ job }) => job.connection)).size, 4, 'side by side in the pool');
    for (const index of [3, 0, 2]) door.jobs[index]?.done(index !== 0);
    assert.equal(door.read(), '');
    door.jobs[1]?.done(true);
    assert.equal(door.read(), '[ b c d ]');
    assert.deepEqual(door.words, ['0 INVALID_SIGNATURE']);
  });

  test('on /control its signatures keep to the lane of their connection, so that order is kept (AMB-92)', () => {
    const door = new Door();
    door.capacity = 10;
    door.create(['a', 'b', 'c'], true);
    assert.deepEqual(
      door.jobs.map(({ job }) => job.connection),
      [7, 7, 7],
    );
  });

  test('what the pool does not take fails alone (BAT-10)', () => {
    const door = new Door();
    door.capacity = 2;
    door.create(['a', 'b', 'c']);
    for (const { done } of door.jobs) done(true);
    assert.deepEqual([door.read(), door.words], ['[ a b ]', ['2 SERVICE_UNAVAILABLE']]);
  });

  test('the second order of an id fails, also when the first does (AMB-26)', () => {
    const door = new Door();
    door.capacity = 10;
    door.create(['a', 'a', 'b']);
    door.jobs[0]?.done(false);
    door.jobs[1]?.done(true);
    assert.deepEqual([door.read(), door.words], ['[ b ]', ['0 INVALID_SIGNATURE', '1 DUPLICATE_ORDER']]);
  });

  test('a repeated id is told its own faults first: who signs for another is told that (AMB-91, AMB-92)', () => {
    const door = new Door();
    const requests = [createRequest({ id: 'a' }), createRequest({ id: 'a', user: BOB })];
    door.send(requests, true);
    assert.deepEqual([door.read(), door.words], ['[ a ]', ['1 SIGNER_MISMATCH']]);
  });

  test('of which nothing passes writes nothing, not even notes', () => {
    const door = new Door();
    door.capacity = 10;
    door.create(['a']);
    door.jobs[0]?.done(false);
    assert.equal(door.read(), '');
  });
});
