/** The small node as a process: argv[2] is what goes wrong after two hundred echoes; `stop` is an orderly end. */
import { hostActors } from '../../src/runtime/actor-host.ts';
import { EventLoopRunner } from '../../src/runtime/event-loop-runner.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { ThreadContext } from '../../src/runtime/thread-context.ts';
import { planTopology } from '../../src/runtime/topology.ts';
import { Door, loopForEver, MISBEHAVIOUR, SMALL_TOPOLOGY, say } from './small-node.ts';

const scenario = process.argv[2] ?? 'stop';
const plan = planTopology(SMALL_TOPOLOGY, { mode: 'system', notBeforeNs: 0n });
const context = new ThreadContext(plan, 'main');
const runner = new EventLoopRunner(context, () => say('main stopped'));
const supervisor = new Supervisor({
  context,
  runner,
  entryOf: () => new URL('./small-node-thread.js', import.meta.url),
  settings: null,
  restarted: (thread) => say(`${thread} restarted`),
});

const hosts = hostActors(
  {
    ...context,
    settings: null,
    restarted: false,
    poke: () => runner.poke(),
  },
  { door: (wiring) => new Door(wiring, misbehave) },
  'main',
);

function misbehave(echoes: number): void {
  const door = hosts[0]?.actor;
  if (echoes === 400) void stop();
  if (echoes !== 200 || !(door instanceof Door)) return;
  const typeId = MISBEHAVIOUR[scenario];
  if (typeId !== undefined) door.send(typeId);
  if (scenario === 'main-throws') throw new Error('the door made a mistake');
  if (scenario === 'main-loops') loopForEver();
}

/** The process ends by itself when nothing is left that could keep it alive. */
async function stop(): Promise<void> {
  if (scenario === 'data-throws') await supervisor.whenRunning();
  await supervisor.stop(5_000);
  say('node stopped');
}

supervisor.start();
await supervisor.whenRunning();
runner.start(hosts);
