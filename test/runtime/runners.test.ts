// tier: quick
/** The same three actors by hand, in a simulation, and on two threads. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { hostActors } from '../../src/runtime/actor-host.ts';
import { EventLoopRunner } from '../../src/runtime/event-loop-runner.ts';
import { type MetricSnapshot, snapshotMetrics } from '../../src/runtime/metrics.ts';
import { ringDepth } from '../../src/runtime/spsc-ring.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { ThreadContext } from '../../src/runtime/thread-context.ts';
import { type Plan, planTopology } from '../../src/runtime/topology.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';
import { RELAY_FACTORIES, RELAY_TOPOLOGY, Relay, Sink, Source } from '../support/relay-actors.ts';
import { HandRunner, Simulation } from '../support/simulation.ts';

const RECORDS_PER_RING = 64;
const HOPS = (2 * PATIENCE_MS) / RELAY_TOPOLOGY.tickMs;

interface ByHand {
  readonly plan: Plan;
  readonly runner: HandRunner;
  readonly source: Source;
  readonly relay: Relay;
  readonly sink: Sink;
}

function byHand(): ByHand {
  const plan = planTopology(RELAY_TOPOLOGY, { mode: 'manual', notBeforeNs: 0n });
  const runner = new HandRunner(plan, RELAY_FACTORIES);
  runner.start();
  const [source, relay, sink] = runner.hosts.map((host) => host.actor);
  assert.ok(source instanceof Source && relay instanceof Relay && sink instanceof Sink);
  return { plan, runner, source, relay, sink };
}

function fill(source: Source): number {
  let sent = 0;
  while (source.send()) sent++;
  source.endBatch();
  return sent;
}

function metric(plan: Plan, actor: string, name: string): MetricSnapshot['value'] | undefined {
  const region = plan.actors.find((candidate) => candidate.name === actor)?.metricsPlan;
  return region && snapshotMetrics(region).find((candidate) => candidate.name === name)?.value;
}

suite('by hand', () => {
  test('a record is not taken before there is room for what it causes, and none is lost', () => {
    const { plan, runner, source, relay, sink } = byHand();
    sink.reads = false;
    assert.equal(fill(source), RECORDS_PER_RING);
    runner.settle();
    assert.equal(relay.relayed, RECORDS_PER_RING);
    assert.equal(fill(source), RECORDS_PER_RING, 'the relay made room');
    runner.settle();
    runner.tick();
    assert.equal(relay.relayed, RECORDS_PER_RING, 'the relay is held back');
    assert.deepEqual([metric(plan, 'relay', 'stalled'), metric(plan, 'relay', 'stalls')], [1, 1]);
    assert.equal(fill(source), 0, 'the source is refused');
    assert.equal(source.relay.refused(), 3);
    sink.reads = true;
    runner.settle();
    runner.tick();
    assert.equal(sink.received, 2 * RECORDS_PER_RING);
    assert.equal(metric(plan, 'relay', 'stalled'), 0);
  });

  test('work that no record brought goes on turn by turn, waits for room, and is no record in the metrics', () => {
    const { plan, runner, source, sink } = byHand();
    source.planned = 3 * RECORDS_PER_RING;
    assert.equal(runner.step('source'), 1);
    assert.equal(source.sent, 4, 'a part of it in a turn');
    sink.reads = false;
    runner.settle();
    assert.equal(source.sent, 2 * RECORDS_PER_RING, 'as much as the rings take');
    assert.equal(runner.hosts[0]?.isIdle(), true, 'work that cannot go on is no reason to turn');
    sink.reads = true;
    runner.settle();
    assert.equal(sink.received, 3 * RECORDS_PER_RING);
    assert.equal(metric(plan, 'source', 'records_in'), 0);
  });

  test('metrics say what was handled, in which batches, and how much waited', () => {
    const { plan, runner, source } = byHand();
    for (let count = 0; count < 40; count++) source.send();
    source.endBatch();
    runner.settle();
    assert.equal(metric(plan, 'relay', 'records_in'), 40);
    assert.equal(metric(plan, 'relay', 'batches'), 3);
    assert.equal(metric(plan, 'relay', 'mailbox_high_water'), 40);
    assert.equal(metric(plan, 'relay', 'mailbox_depth'), 8);
    const batches = metric(plan, 'relay', 'batch_records');
    assert.ok(typeof batches === 'object' && batches.count === 3 && batches.sum === 40 && batches.max === 16);
  });

  test('actors that never come to rest are a broken promise, not a hang', () => {
    const { runner, source, sink } = byHand();
    sink.onReceive = () => {
      source.send();
      source.endBatch();
    };
    source.send();
    source.endBatch();
    assert.throws(() => runner.settle(1_000), InvariantError);
  });
});

suite('simulation', () => {
  function simulate(seed: number, steps: number): { schedule: number; received: number; nowNs: bigint } {
    const { plan, runner, source, relay, sink } = byHand();
    const simulation = new Simulation(runner, {
      seed,
      batchRecordsMax: 8,
      stepsPerTick: 20,
      tickNsMax: 1_000_000,
      invariant: () => {
        const waiting = plan.edges.reduce((sum, edge) => sum + ringDepth(edge.ring).records, 0);
        assert.equal(source.sent, sink.received + waiting, 'every record is somewhere');
        assert.ok(relay.relayed >= sink.received);
      },
    });
    for (let step = 0; step < steps; step++) {
      if (simulation.random.below(3) === 0) source.send();
      source.endBatch();
      simulation.step();
    }
    return { schedule: simulation.schedule(), received: sink.received, nowNs: runner.clock.nowNs() };
  }

  test('the same seed gives the same schedule, another seed another one', () => {
    const first = simulate(7, 3_000);
    assert.ok(first.received > 500);
    assert.deepEqual(simulate(7, 3_000), first);
    assert.notEqual(simulate(8, 3_000).schedule, first.schedule);
  });

  test('an invariant is checked after every step', () => {
    const { runner } = byHand();
    const seen: number[] = [];
    const options = { seed: 1, batchRecordsMax: 1, stepsPerTick: 2, tickNsMax: 1 };
    const simulation = new Simulation(runner, { ...options, invariant: (step) => seen.push(step) });
    simulation.run(3);
    assert.deepEqual(seen, [1, 2, 3]);
  });
});

suite('on threads', () => {
  test('a sleeping event loop is woken by its doorbell, and a held-back thread by room; nothing is polled', {
    timeout: PATIENCE_MS,
  }, async () => {
    const plan = planTopology(RELAY_TOPOLOGY, { mode: 'system', notBeforeNs: 0n });
    const context = new ThreadContext(plan, 'main');
    const runner = new EventLoopRunner(context, () => undefined);
    const supervisor = new Supervisor({
      context,
      runner,
      entryOf: () => new URL('../support/relay-thread.js', import.meta.url),
      settings: null,
      restarted: () => assert.fail('nothing dies here'),
      failing: () => assert.fail('nothing dies here'),
    });
    const hosts = hostActors(
      { ...context, settings: null, restarted: false, wakeUp: () => runner.wakeUp() },
      RELAY_FACTORIES,
      'main',
    );
    const [source, sink] = hosts.map((host) => host.actor);
    assert.ok(source instanceof Source && sink instanceof Sink);
    supervisor.start();
    await supervisor.whenPolling();
    runner.start(hosts);
    await oneAtATime(source, sink, HOPS);
    await withTheSinkClosed(source, sink, runner);
    await ofItsOwn(source, sink, runner);
    await supervisor.stop(5_000);
    assert.equal(sink.received, source.sent);
  });

  /**
   * Every number is sent only when the one before came back, so every hop begins with both threads parked. If hops
   * waited for a tick of 100 ms, the test would run into its time limit: twice as long as it has patience.
   */
  async function oneAtATime(source: Source, sink: Sink, count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const next = (): void => {
        source.send();
        source.endBatch();
      };
      sink.onReceive = (received) => (received === count ? resolve() : next());
      next();
    });
  }

  /** The source's own work is more than the rings take: it wakes up for the rest when there is room. */
  async function ofItsOwn(source: Source, sink: Sink, runner: EventLoopRunner): Promise<void> {
    source.planned = 1_000;
    await new Promise<void>((resolve) => {
      sink.onReceive = (received) => received === source.sent && source.planned === 0 && resolve();
      runner.wakeUp();
    });
  }

  /** Both rings are full and the relay is parked; when the sink reads again, everything flows. */
  async function withTheSinkClosed(source: Source, sink: Sink, runner: EventLoopRunner): Promise<void> {
    sink.reads = false;
    await eventually(() => {
      fill(source);
      return source.sent - sink.received >= 2 * RECORDS_PER_RING;
    });
    await new Promise<void>((resolve) => {
      sink.onReceive = (received) => received === source.sent && resolve();
      sink.reads = true;
      runner.wakeUp();
    });
  }
});
