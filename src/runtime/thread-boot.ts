/**
 * Boots a worker as a thread of the node: the entry file passes its actors' factories to `bootThread`, the rest arrives
 * in workerData from the supervisor.
 *
 * On a thread with an event loop an uncaught error first halts the actors. A uWebSockets.js app that is still open when
 * its worker ends aborts the whole process; one that closed itself does not (measured, see fail-stop.ts).
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { must } from '../core/assert.ts';
import type { ActorFactories } from './actor.ts';
import { hostActors } from './actor-host.ts';
import { EventLoopRunner } from './event-loop-runner.ts';
import { type BellLetter, ThreadContext } from './thread-context.ts';
import { runThread } from './thread-runner.ts';
import type { Plan } from './topology.ts';

/** The workerData of a worker. */
export interface ThreadBirth {
  readonly plan: Plan;
  readonly thread: string;
  readonly restarted: boolean;
  readonly letters: readonly BellLetter[];
  readonly settings: unknown;
}

/** The message of a worker to the supervisor before it ends with an error. */
export interface LastWords {
  readonly kind: 'last-words';
  readonly error: string;
}

/** Runs the thread that workerData describes. Call once, as the last statement of a worker's entry file. */
export function bootThread(factories: ActorFactories): void {
  const birth: ThreadBirth = workerData;
  const context = new ThreadContext(birth.plan, birth.thread);
  if (context.spec.waiting === 'event-loop') runEventLoop(context, birth, factories);
  else runPlain(context, birth, factories);
}

function runPlain(context: ThreadContext, birth: ThreadBirth, factories: ActorFactories): void {
  for (const letter of birth.letters) context.bells.connect(letter.thread, letter.port);
  const wakeUp = (): void => undefined;
  runThread(context, hostActors({ ...context, ...settingsOf(birth), wakeUp }, factories, birth.thread));
  context.bells.close();
}

function runEventLoop(context: ThreadContext, birth: ThreadBirth, factories: ActorFactories): void {
  const port = must(parentPort, 'a booted thread is a worker');
  const runner = new EventLoopRunner(context, () => port.removeListener('message', deliver));
  const deliver = (letter: BellLetter): void => {
    if (letter.kind === 'ring') context.bells.connect(letter.thread, letter.port);
    else runner.listen(letter.port);
  };
  for (const letter of birth.letters) deliver(letter);
  port.on('message', deliver);
  const wakeUp = (): void => runner.wakeUp();
  const hosts = hostActors({ ...context, ...settingsOf(birth), wakeUp }, factories, birth.thread);
  const die = (error: unknown): void => {
    sendLastWords(port, error);
    runner.halt();
    setImmediate(() => process.exit(1));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  runner.start(hosts);
}

function settingsOf({ settings, restarted }: ThreadBirth): { readonly settings: unknown; readonly restarted: boolean } {
  return { settings, restarted };
}

function sendLastWords(port: MessagePort, error: unknown): void {
  const words: LastWords = { kind: 'last-words', error: error instanceof Error ? `${error.stack}` : String(error) };
  port.postMessage(words);
}
