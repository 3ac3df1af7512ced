/**
 * The small node as a process: argv[2] is what goes wrong after two hundred echoes; `stop` is an orderly end. So is
 * `data-throws`, two hundred echoes after the successor of the thread runs, and `market-recovers`, in which all goes well.
 */
import { hostActors } from '../../src/runtime/actor-host.ts';
import { EventLoopRunner } from '../../src/runtime/event-loop-runner.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { ThreadContext } from '../../src/runtime/thread-context.ts';
import { planTopology } from '../../src/runtime/topology.ts';
import { Door, loopForEver, MISBEHAVIOUR, SMALL_TOPOLOGY, say } from './small-node.ts';

const scenario = process.argv[2] ?? 'stop';
const MORE_ECHOES = 200;
let isRestarted = false;
/** Infinite while it is not known, or when the node must not end in order. */
let lastEcho = scenario.startsWith('data-') ? Number.POSITIVE_INFINITY : 2 * MORE_ECHOES;
const plan = planTopology(SMALL_TOPOLOGY, { mode: 'system', notBeforeNs: 0n });
const context = new ThreadContext(plan, 'main');
const runner = new EventLoopRunner(context, () => say('main stopped'));
const supervisor = new Supervisor({
  context,
  runner,
  entryOf: () => new URL('./small-node-thread.js', import.meta.url),
  settings: scenario,
  restarted: (thread) => {
    isRestarted = true;
    say(`${thread} restarted`);
  },
  failing: () => undefined,
});

const hosts = hostActors(
  {
    ...context,
    settings: null,
    restarted: false,
    wakeUp: () => runner.wakeUp(),
  },
  { gateway: (wiring) => new Door(wiring, misbehave) },
  'main',
);

function misbehave(echoes: number): void {
  const gateway = hosts[0]?.actor;
  if (isRestarted && lastEcho === Number.POSITIVE_INFINITY && supervisor.state('data') === 'running') {
    lastEcho = echoes + MORE_ECHOES;
  }
  if (echoes === lastEcho) void stop();
  if (echoes !== MORE_ECHOES || !(gateway instanceof Door)) return;
  const typeId = MISBEHAVIOUR[scenario];
  if (typeId !== undefined) gateway.send(typeId);
  if (scenario === 'main-throws') throw new Error('the gateway made a mistake');
  if (scenario === 'main-loops') loopForEver();
}

/** The process ends by itself when nothing is left that could keep it alive. */
async function stop(): Promise<void> {
  await supervisor.stop(5_000);
  say('node stopped');
}

supervisor.start();
await supervisor.whenPolling();
runner.start(hosts);
