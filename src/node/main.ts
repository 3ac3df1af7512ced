/**
 * The process of a node: start, one ready line on standard output, signals, exit codes (operator-api.md 1).
 *
 *   0 drained after SIGTERM, SIGINT or a closed terminal │ 70 broken invariant │ 78 refused start │ killed by SIGKILL at any moment
 */
import { ConfigError } from '../core/config-error.ts';
import { nativeHost } from '../runtime/c-library.ts';
import { tuneCompiler } from '../runtime/compiler.ts';
import { diedOf } from '../runtime/ending.ts';
import { LogLane, type LogMemory, writeLastLine } from '../runtime/log-buffer.ts';
import { leaveTerminals, unblockStandardStreams } from '../runtime/standard-streams.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type Listening, reachableUrl, welcomeOf } from './addresses.ts';
import { loadConfig, type StartWishes } from './config.ts';
import { DemoThread, demoSettings } from './demo-thread.ts';
import { serverFault } from './native-server.ts';
import { DEMO, NodeThreads, workerEntry } from './node-threads.ts';
import { Signals } from './signals.ts';

const EXIT_REFUSED = 78;

/**
 * Runs a node until a signal ends it; configuration is the environment, and what the command line wishes.
 *
 * @param entryOf as NodeThreads'.
 */
export async function main(
  wishes: StartWishes = {},
  signals: Signals = new Signals(),
  entryOf: (thread: string) => URL = workerEntry,
): Promise<void> {
  unblockStandardStreams();
  // What a node writes is for its own user (MCH-04).
  process.umask(0o077);
  tuneCompiler();
  const threads = begunThreads(wishes, entryOf);
  // Before the node is ready nothing was acknowledged, so nothing has to be kept.
  let abandon = (): Promise<void> => threads.abandon(() => false);
  signals.stop = (why) => {
    threads.log.warn({ event: 'stopped', why, ready: false }, 'the start is abandoned');
    return abandon();
  };
  signals.exit = (code) => endProcess(threads, code);
  try {
    // Workers load their modules meanwhile, and the data directory is checked.
    if (threads.isReplica) {
      await runReplica(threads, signals, (stop) => {
        abandon = stop;
      });
      return;
    }
    const { RingbookNode } = await import('./boot.ts');
    if (signals.isStopping) return;
    const node = new RingbookNode(threads);
    abandon = () => node.abandon();
    node.onDiskFull = (reason) => signals.end(reason, EXIT_REFUSED);
    node.onOver = (code, reason, isOrderly) => {
      // What is not stored is not to be kept: no thread writes any more.
      if (!isOrderly) signals.stop = () => node.abandon();
      signals.end(reason, code);
    };
    const open = await node.start();
    if (signals.isStopping) return;
    signals.reload = () => node.reload(process.env);
    const { profile, isDemo } = node.config;
    const demo = isDemo ? startDemo(threads, open) : null;
    signals.stop = async (why) => {
      const beganMs = performance.now();
      await demo?.stop();
      const left = await node.stop();
      const ms = Math.round(performance.now() - beganMs);
      threads.log.warn({ event: 'stopped', why, ready: true, ms, ...left }, 'stopped');
    };
    const ready = JSON.stringify({ event: 'ready', profile, ...open, pid: process.pid });
    new LogLane(threads.plan.logs, 'output').write(`${ready}\n`);
    if (profile !== 'production') threads.lane.write(welcomeOf(open, isDemo));
  } catch (error) {
    // An abandoned start may fail anywhere.
    if (signals.isStopping) return;
    if (isRefusal(error)) {
      say(threads.plan.logs, error.message);
      await abandon().finally(() => endProcess(threads, EXIT_REFUSED));
    }
    threads.supervisor.fail(diedOf(null, error instanceof Error ? (error.stack ?? error.message) : String(error)));
  }
}

/** A replica of market data: its ready line comes when it has all books. */
async function runReplica(
  threads: NodeThreads,
  signals: Signals,
  abandonWith: (abandon: () => Promise<void>) => void,
): Promise<void> {
  const { ReplicaNode } = await import('./replica.ts');
  if (signals.isStopping) return;
  const replica = new ReplicaNode(threads);
  abandonWith(() => replica.abandon());
  const open = await replica.start();
  if (signals.isStopping) return;
  signals.stop = async (why) => {
    await replica.stop();
    threads.log.warn({ event: 'stopped', why, ready: true }, 'stopped');
  };
  signals.reload = () => replica.reload(process.env);
  const { profile } = threads.config;
  const ready = JSON.stringify({ event: 'ready', profile, role: 'replica', ...open, pid: process.pid });
  new LogLane(threads.plan.logs, 'output').write(`${ready}\n`);
}

function begunThreads(wishes: StartWishes, entryOf: (thread: string) => URL): NodeThreads {
  try {
    const config = loadConfig(process.env, wishes);
    // Before any thread loads a native module.
    const fault = serverFault(nativeHost());
    if (fault !== null) throw new ConfigError(fault);
    const threads = new NodeThreads(config, entryOf);
    threads.begin();
    return threads;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    say(null, error.message);
    // No thread has begun, so the process may end at once.
    process.exit(EXIT_REFUSED);
  }
}

function isRefusal(error: unknown): error is ConfigError | StorageError {
  return error instanceof ConfigError || error instanceof StorageError;
}

function say(logs: LogMemory | null, reason: string): void {
  writeLastLine(logs, `ringbook does not start: ${reason}\n`);
}

/** The lines that wait are written, as far as they are read; a writer that is blocked in the kernel would hold up an exit. */
async function endProcess({ logs }: NodeThreads, code: number): Promise<void> {
  if (await logs.end()) {
    leaveTerminals();
    process.exit(code);
  }
  process.kill(process.pid, 'SIGKILL');
}

/** Clients of this node, on a thread of their own. */
function startDemo({ config, log }: NodeThreads, { oms, ops }: Listening): DemoThread {
  const settings = demoSettings({ oms: reachableUrl(oms), ops: reachableUrl(ops), operatorToken: config.token });
  const demo = new DemoThread({ entry: workerEntry(DEMO), settings, log });
  demo.start();
  return demo;
}
