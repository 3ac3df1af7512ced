// tier: quick
/** When actors tick: soon after a poll, when they need it, and rarely otherwise. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ActorWiring } from '../../src/runtime/actor.ts';
import { hostActors } from '../../src/runtime/actor-host.ts';
import { ActorTicks, IDLE_TICK_MS_MAX } from '../../src/runtime/actor-ticks.ts';
import { PARK_MS_MAX, Sleeper } from '../../src/runtime/doorbell.ts';
import { ThreadContext } from '../../src/runtime/thread-context.ts';
import { planTopology, type Topology } from '../../src/runtime/topology.ts';
import { QuietActor } from '../support/relay-actors.ts';

const TICK_MS = 5;
const NEVER = Number.POSITIVE_INFINITY;
const TOPOLOGY: Topology = {
  tickMs: TICK_MS,
  threads: [
    { name: 'main', place: 'main', waiting: 'event-loop', spinTurns: 0, onDeath: 'fail-stop', ownsListener: false },
  ],
  actors: ['one', 'other'].map((name) => ({ name, thread: 'main', batchRecordsMax: 1 })),
  edges: [],
};

class Ticking extends QuietActor {
  ticks = 0;
  neededInMs = NEVER;
  isFull = false;
  override tick(): void {
    this.ticks += 1;
  }
  nextTickMs(): number {
    return this.neededInMs;
  }
  isQuiet(): boolean {
    return !this.isFull;
  }
}

interface World {
  readonly ticks: ActorTicks;
  readonly one: Ticking;
  readonly other: Ticking;
}

/** Two actors after a tick at 0 that followed no poll. */
function world(): World {
  const actors: Ticking[] = [];
  const made = (wiring: ActorWiring): Ticking => {
    const actor = new Ticking(wiring);
    actors.push(actor);
    return actor;
  };
  const context = new ThreadContext(planTopology(TOPOLOGY, { mode: 'manual', notBeforeNs: 0n }), 'main');
  const surroundings = { ...context, settings: null, restarted: false, wakeUp: () => undefined };
  const ticks = new ActorTicks(context, hostActors(surroundings, { one: made, other: made }, 'main'));
  ticks.tick(-TICK_MS);
  ticks.tick(0);
  const [one, other] = actors;
  assert.ok(one !== undefined && other !== undefined);
  return { ticks, one, other };
}

suite('ticks of a thread', () => {
  test('without a poll and without need they are rare, and all actors tick together', () => {
    const { ticks, one, other } = world();
    assert.equal(ticks.leftMs(0), IDLE_TICK_MS_MAX);
    assert.equal(ticks.isDue(IDLE_TICK_MS_MAX - 1), false);
    assert.equal(ticks.isDue(IDLE_TICK_MS_MAX), true);
    assert.deepEqual([one.ticks, other.ticks], [2, 2]);
  });

  test('the next one is due when the first actor needs it, never within the time of a tick', () => {
    for (const [neededInMs, dueInMs] of [
      [40, 40],
      [0, TICK_MS],
      [-7, TICK_MS],
      [10_000, IDLE_TICK_MS_MAX],
    ] as const) {
      const { ticks, other } = world();
      other.neededInMs = neededInMs;
      ticks.tick(100);
      assert.equal(ticks.leftMs(100), dueInMs, `needed in ${neededInMs} ms`);
    }
  });

  test('an actor whose output has no space in its ring ticks as often as one with work', () => {
    const { ticks, one } = world();
    one.isFull = true;
    ticks.tick(100);
    assert.equal(ticks.leftMs(100), TICK_MS);
  });

  test('after a poll the next one is due within the time of a tick, at once when the last is longer ago', () => {
    const { ticks } = world();
    assert.equal(ticks.polled(), true, 'due earlier than before');
    assert.equal(ticks.leftMs(1), TICK_MS - 1);
    assert.equal(ticks.isDue(100), true);
    assert.equal(ticks.polled(), false, 'not earlier still');
    ticks.tick(100);
    assert.equal(ticks.leftMs(100), TICK_MS, 'what the poll caused may need a tick that no actor announced');
    ticks.tick(105);
    assert.equal(ticks.leftMs(105), IDLE_TICK_MS_MAX);
  });
});

suite('a parked thread', () => {
  test('records heartbeats however long it parks, and its doorbell flag stays set meanwhile', () => {
    const words = new Int32Array(new SharedArrayBuffer(4));
    const sleeper = new Sleeper(words, 0);
    sleeper.prepare();
    const flag = Atomics.load(words, 0);
    const flags: number[] = [];
    assert.equal(
      sleeper.park(2.5 * PARK_MS_MAX, () => flags.push(Atomics.load(words, 0))),
      false,
    );
    assert.deepEqual(flags, [flag, flag, flag]);
    assert.notEqual(Atomics.load(words, 0), flag);
  });
});
