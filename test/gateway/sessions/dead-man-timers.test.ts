// tier: quick
/** Dead-man timers (docs/safety.md, "When your connection or program may fail"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../../src/core/ids.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { DeadManTimers } from '../../../src/gateway/sessions/dead-man-timers.ts';
import { propertyParameters } from '../../support/property.ts';

const user = (name: string): UserId => name as UserId;
const at = (ns: number): TimestampNs => BigInt(ns) as TimestampNs;
const due = (timers: DeadManTimers, ns: number): string[] => [...timers.due(at(ns))].sort();

suite('a dead-man timer', () => {
  test('is over at its time, not before, and is reported until it is done', () => {
    const timers = new DeadManTimers();
    timers.arm(user('ada'), at(100));
    assert.deepEqual(due(timers, 99), []);
    assert.deepEqual(due(timers, 100), ['ada']);
    assert.deepEqual(due(timers, 101), ['ada']);
    assert.deepEqual([timers.count, timers.dueCount], [0, 1]);
    timers.done(user('ada'));
    assert.deepEqual(due(timers, 1_000), []);
  });

  test('starts again, later or sooner, and can be disarmed', () => {
    const timers = new DeadManTimers();
    timers.arm(user('ada'), at(100));
    timers.arm(user('bob'), at(100));
    timers.arm(user('ada'), at(200));
    timers.disarm(user('bob'));
    assert.deepEqual(due(timers, 150), []);
    timers.arm(user('ada'), at(160));
    assert.deepEqual(due(timers, 160), ['ada']);
  });

  test('what is due is not called back by a new timer, which runs beside it', () => {
    const timers = new DeadManTimers();
    timers.arm(user('ada'), at(100));
    due(timers, 100);
    timers.disarm(user('ada'));
    timers.arm(user('ada'), at(300));
    assert.deepEqual(due(timers, 200), ['ada']);
    timers.done(user('ada'));
    assert.deepEqual([due(timers, 299), due(timers, 300)], [[], ['ada']]);
  });

  test('is refused to one user too many, who keeps what they had', () => {
    const timers = new DeadManTimers(2);
    assert.deepEqual(
      ['ada', 'bob', 'cy'].map((name) => timers.arm(user(name), at(100))),
      [true, true, false],
    );
    assert.equal(timers.arm(user('ada'), at(200)), true, 'who has one may start it again');
    assert.deepEqual(due(timers, 500), ['ada', 'bob']);
    assert.equal(timers.arm(user('cy'), at(600)), true);
  });

  test('a quarter of the places is for market makers alone, and 65,536 users take none of it', () => {
    const timers = new DeadManTimers(100_000);
    for (let each = 0; each < 80_000; each += 1) {
      assert.equal(timers.arm(user(`u${each}`), at(100), 'user'), each < 75_000);
    }
    assert.equal(timers.arm(user('maker'), at(100), 'maker'), true);
    assert.equal(timers.arm(user('u7'), at(200), 'user'), true, 'who has one may start it again');
  });

  test('of many that end at one instant each is reported once, a part of them a turn', () => {
    const timers = new DeadManTimers();
    for (let each = 0; each < 1_000; each += 1) timers.arm(user(`u${each}`), at(100));
    const told: UserId[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const users = [...timers.due(at(100))];
      assert.ok(users.length <= 256, `${users.length} in one turn`);
      for (const who of users) timers.done(who);
      told.push(...users);
    }
    assert.deepEqual([told.length, new Set(told).size, timers.count, timers.dueCount], [1_000, 1_000, 0, 0]);
  });

  test('looks at no more than its own, however many run', () => {
    const timers = new DeadManTimers();
    const looks = { count: 0 };
    // A time that counts how often it is compared.
    const counted = (ns: number): TimestampNs => {
      const time = {
        [Symbol.toPrimitive]: () => {
          looks.count += 1;
          return BigInt(ns);
        },
      };
      return time as unknown as TimestampNs;
    };
    const many = 10_000;
    for (let each = 0; each < many; each += 1) timers.arm(user(`u${each}`), counted(1_000 + ((each * 7_919) % many)));
    const most = 4 * Math.ceil(Math.log2(many)) + 4;
    for (let ns = 0; ns < 500; ns += 1) {
      looks.count = 0;
      assert.equal(timers.due(at(1_000 + ns)).size, 1);
      for (const who of timers.due(at(1_000 + ns))) timers.done(who);
      assert.ok(looks.count <= most, `${looks.count} comparisons for one timer`);
    }
  });

  test('fires exactly at the times of a plain list', () => {
    const name = fc.integer({ min: 0, max: 11 }).map((number) => `u${number}`);
    const step = fc.oneof(
      fc.record({ arm: name, afterNs: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ disarm: name }),
      fc.record({ waitNs: fc.integer({ min: 0, max: 15 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const timers = new DeadManTimers();
        const plain = new Map<string, number>();
        let now = 0;
        for (const act of steps) {
          if ('arm' in act) {
            timers.arm(user(act.arm), at(now + act.afterNs));
            plain.set(act.arm, now + act.afterNs);
          } else if ('disarm' in act) {
            timers.disarm(user(act.disarm));
            plain.delete(act.disarm);
          } else now += act.waitNs;
          const fired = [...plain].filter(([, firesAt]) => firesAt <= now).map(([who]) => who);
          assert.deepEqual(due(timers, now), fired.sort());
          for (const who of fired) {
            timers.done(user(who));
            plain.delete(who);
          }
        }
      }),
      propertyParameters(300),
    );
  });
});
