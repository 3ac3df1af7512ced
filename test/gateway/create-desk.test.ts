/** Creates that are sent again, and the connections with which their orders go (docs/trading.md, "Sending again"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { CreateDesk } from '../../src/gateway/create-desk.ts';
import { CONNECTION_ENDED } from '../../src/gateway/door-refusals.ts';
import { Errands } from '../../src/gateway/errands.ts';
import { Lifeline } from '../../src/gateway/orders/lifeline.ts';
import { SafetyCancels } from '../../src/gateway/safety-cancels.ts';
import type { ActionOrigin } from '../../src/http/oms-backend.ts';
import { ALICE, createRequest, NOW, OrderDesk } from '../support/order-desk.ts';
import { propertyParameters } from '../support/property.ts';

/** Does not take its orders with it; those below do. */
const PLAIN = 4;

/** One create, sent over connections that end when the test says so; its signature and its market wait for the test. */
class World {
  readonly desk = new OrderDesk();
  /** `connection answer`, in order. */
  readonly heard: string[] = [];
  readonly cancelled: string[] = [];
  readonly #lines = new Map<number, Lifeline>();
  readonly #verdicts: (() => void)[] = [];
  readonly #onTheWay: number[] = [];
  readonly #safety: SafetyCancels;
  readonly #creates: CreateDesk;

  constructor() {
    const nowNs = (): typeof NOW => NOW;
    const errands = new Errands(this.desk.manager, nowNs, () => null);
    const create = (...[request, origin, answer]: Parameters<CreateDesk['create']>): void => {
      const errand = errands.create(request, origin);
      this.#verdicts.push(() => {
        const reserved = errand.ok ? errand.value.reserve({ answer, hops: null }) : errand;
        if (reserved.ok) this.#onTheWay.push(reserved.value.requestId);
        else answer({ refusal: reserved.reject, processedAtNs: NOW });
      });
    };
    const batches = { create: (): void => assert.fail('no batch') };
    this.#creates = new CreateDesk({ road: { create }, batches, nowNs, counted: { order: () => undefined } });
    this.#safety = new SafetyCancels({
      holderOf: () => 'user',
      bulk: {
        hasRoomIn: () => true,
        cancel: ({ orderId }) => {
          this.cancelled.push(orderId);
        },
        cancelAll: () => assert.fail('no timer'),
      },
      nowNs,
      poke: () => undefined,
    });
  }

  /** @param isTied the order goes with this connection. */
  send(connection: number, isTied: boolean): void {
    const line = this.#lines.get(connection) ?? new Lifeline();
    if (isTied) this.#lines.set(connection, line);
    const lifeline = isTied ? line : null;
    const origin: ActionOrigin = { user: ALICE, connection, isControl: true, isResent: true, lifeline };
    this.#creates.create(createRequest(), origin, ({ refusal }) => {
      this.heard.push(`${connection} ${refusal === null ? 'Received' : refusal.message}`);
    });
  }

  cut(connection: number): void {
    const line = this.#lines.get(connection);
    if (line?.isCut === false) this.#safety.cut(line);
  }

  turn(): void {
    this.#safety.sendWaiting();
  }

  end(connection: number): void {
    this.cut(connection);
    this.turn();
  }

  isCut(connection: number): boolean {
    return this.#lines.get(connection)?.isCut ?? false;
  }

  /** All signatures that wait are valid. @returns whether there were any. */
  verify(): boolean {
    const verdicts = this.#verdicts.splice(0);
    for (const verdict of verdicts) verdict();
    return verdicts.length > 0;
  }

  /** The market admits what is on its way. */
  admit(): void {
    for (const requestId of this.#onTheWay.splice(0)) {
      const sequence = this.desk.nextSequence;
      this.desk.manager.onAdmitted({ requestId, marketIndex: 3, sequence, timeNs: NOW, refusal: 0 });
      this.desk.answer(requestId, sequence);
    }
  }
}

suite('a create that is sent again', () => {
  test('over a connection that takes its orders with it goes with that one, though the first did not ask', () => {
    const world = new World();
    world.send(1, false);
    world.verify();
    world.admit();
    world.send(2, true);
    assert.deepEqual(world.heard, ['1 Received', '2 Received']);
    world.end(2);
    assert.deepEqual(world.cancelled, ['order-1']);
  });

  test('goes with the latest connection that asked, and no longer with the one before', () => {
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
      assert.deepEqual(new Set(world.heard), new Set(['1 Received', '2 Received', '3 Received']), moment);
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
    assert.deepEqual(world.heard, [`2 ${CONNECTION_ENDED.message}`]);
    world.verify();
    world.admit();
    assert.deepEqual(world.heard.slice(1), ['1 Received', '3 Received']);
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
    assert.deepEqual([world.heard, world.cancelled], [['1 Received', '2 Received'], []]);
    world.turn();
    assert.deepEqual(world.cancelled, ['order-1']);
  });

  test('over a connection that the node has cut goes with none, and says what the first was told', () => {
    const world = new World();
    world.send(1, false);
    world.send(2, true);
    world.verify();
    world.admit();
    world.end(2);
    world.send(2, true);
    assert.deepEqual(world.heard, ['1 Received', '2 Received', '2 Received']);
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
          else if (!world.isCut(act.send)) {
            world.send(act.send, act.send !== PLAIN);
            senders.push(act.send);
          }
          if (world.cancelled.length === before) continue;
          assert.ok(typeof act === 'object' && 'end' in act, 'an end cancels');
          const later = senders.slice(senders.lastIndexOf(act.end) + 1);
          assert.deepEqual(
            later.filter((each) => each !== PLAIN && !world.isCut(each)),
            [],
            'a later one that asked is alive',
          );
        }
        while (world.verify());
        world.admit();
        assert.deepEqual(world.heard.map((word) => Number(word[0])).sort(), senders.sort(), 'everyone hears once');
        for (let connection = 1; connection < PLAIN; connection += 1) world.end(connection);
        const isThere = world.desk.status(ALICE) !== undefined;
        if (isThere && !senders.includes(PLAIN)) assert.ok(world.cancelled.length > 0, 'nobody is left');
        if (!isThere) assert.ok(!world.heard.some((word) => word.endsWith('Received')));
      }),
      propertyParameters(500),
    );
  });
});
