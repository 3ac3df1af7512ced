// tier: quick
/** Marks of dead-man timers: whatever clearing refuses and whenever it answers, at the end it has what runs (cluster.md 8). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ActionReply } from '../../src/clearing/inputs.ts';
import type { UserId } from '../../src/core/ids.ts';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import { TimerMarks } from '../../src/gateway/actions/timer-marks.ts';
import { propertyParameters } from '../support/property.ts';

const USERS = ['a', 'b', 'c'] as UserId[];

interface Sent {
  readonly user: UserId;
  readonly runs: boolean;
  readonly answer: (reply: ActionReply) => void;
}

class World {
  readonly sent: Sent[] = [];
  /** As clearing has it. */
  readonly kept = new Set<UserId>();
  readonly marks: TimerMarks = new TimerMarks(
    (user, runs) => new Promise((answer) => this.sent.push({ user, runs, answer })),
    () => undefined,
  );

  /** Clearing takes the first message, or refuses it. */
  async answer(isTaken: boolean): Promise<void> {
    const first = this.sent.shift();
    if (first === undefined) return;
    if (isTaken && first.runs) this.kept.add(first.user);
    else if (isTaken) this.kept.delete(first.user);
    first.answer(isTaken ? accepted({}) : rejected(reject('SERVICE_UNAVAILABLE', 'busy')));
    await new Promise(setImmediate);
  }
}

suite('marks of timers', () => {
  test('a timer that is started again and again is sent once', async () => {
    const { marks, sent, ...rest } = new World();
    const world = Object.assign(rest, { marks, sent });
    for (let times = 0; times < 10; times += 1) marks.set('a' as UserId, true);
    marks.sendWaiting();
    marks.set('a' as UserId, true);
    marks.sendWaiting();
    assert.equal(world.sent.length, 1);
    assert.equal(marks.size, 2, 'one is on its way, and what is wanted is the same');
    sent[0]?.answer(accepted({}));
    await new Promise(setImmediate);
    assert.equal(marks.size, 0);
    marks.set('a' as UserId, true);
    marks.sendWaiting();
    assert.deepEqual([marks.size, sent.length], [0, 1]);
  });

  test('what is set is stored when clearing has it, also after a refusal; at once where it has it already (cluster.md 7.4)', async () => {
    const world = new World();
    const { marks } = world;
    const stored: string[] = [];
    const set = (runs: boolean, word: string): void => marks.set('a' as UserId, runs, () => stored.push(word));
    set(true, 'first');
    set(true, 'second');
    marks.sendWaiting();
    await world.answer(false);
    assert.deepEqual(stored, [], 'clearing was busy');
    marks.sendWaiting();
    set(false, 'third');
    await world.answer(true);
    assert.deepEqual(stored, [], 'it has another word of the user');
    marks.set('a' as UserId, false);
    marks.sendWaiting();
    await world.answer(true);
    assert.deepEqual(stored, ['third']);
    set(false, 'fourth');
    assert.deepEqual(stored, ['third', 'fourth']);
  });

  test('in any order of starts, ends, turns, answers and refusals clearing has what runs in the end', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), user: fc.constantFrom(...USERS), runs: fc.boolean() }),
      fc.record({ kind: fc.constant('turn' as const) }),
      fc.record({ kind: fc.constant('answer' as const), isTaken: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = new World();
        const running = new Set<UserId>();
        for (const one of steps) {
          if (one.kind === 'turn') world.marks.sendWaiting();
          else if (one.kind === 'answer') await world.answer(one.isTaken);
          else {
            if (one.runs) running.add(one.user);
            else running.delete(one.user);
            world.marks.set(one.user, one.runs);
          }
          const users = world.sent.map(({ user }) => user);
          assert.equal(new Set(users).size, users.length, 'one of a user is on its way at a time');
        }
        for (let round = 0; world.marks.size > 0; round += 1) {
          assert.ok(round < 20, 'it comes to an end');
          world.marks.sendWaiting();
          while (world.sent.length > 0) await world.answer(true);
        }
        assert.deepEqual([...world.kept].sort(), [...running].sort());
      }),
      propertyParameters(200),
    );
  });
});
