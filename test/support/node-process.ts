/**
 * A whole node as a child process, for tests that need real threads, real sockets, real LMDB and real kills.
 * The data directory outlives the process, so that a test can start it again.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './bare-environment.ts';
import { PATIENCE_MS } from './patience.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** The longest that a barrier waits (operator-api.md 7.2). */
const BARRIER_MS = 60_000;
export const OPERATOR_TOKEN = 'ringbook-dev';

export interface NodeProcess {
  readonly oms: string;
  readonly mds: string;
  readonly ops: string;
  readonly pid: number;
  readonly dataDirectory: string;
  /** Milliseconds from spawn to the ready line. */
  readonly readyMs: number;
  readonly child: ChildProcess;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** Everything written to standard error so far. */
  stderr(): string;
  /** Everything written to standard output so far. */
  stdout(): string;
}

export interface NodeOptions {
  /** `dev` without a bound on the wait of orders, unless `env` names a configuration. */
  readonly profile?: 'dev' | 'test';
  /** The compiled program to run instead of the CLI; it boots a node and prints the ready line. */
  readonly program?: string;
  readonly dataDirectory?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of `node` itself. */
  readonly engine?: readonly string[];
  /** Kills it so long after it was started, ready or not. */
  readonly killAfterMs?: number;
  /** How long it may take to be ready. */
  readonly readyMsMax?: number;
  /** No file may grow beyond so many KiB: what a full disk does to the data file. */
  readonly fileKiBMax?: number;
  /** Niceness of the process: with 10 or more, whatever else runs goes first. */
  readonly nice?: number;
  /** In the dev profile budgets are lifted once the node is ready, unless the test is about them. */
  readonly rateLimits?: 'lifted' | 'standard';
}

/** The dev profile without a bound on the wait of orders: a machine with other work refuses none. */
const DEV_WITHOUT_BOUND = fileURLToPath(new URL('../../../test/fixtures/dev-without-bound.json', import.meta.url));

function environment(options: NodeOptions, dataDirectory: string): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    RINGBOOK_CONFIG: options.profile === 'dev' ? DEV_WITHOUT_BOUND : 'test',
    RINGBOOK_OMS_PORT: '0',
    RINGBOOK_MDS_PORT: '0',
    RINGBOOK_OPS_PORT: '0',
    RINGBOOK_DATA_DIR: dataDirectory,
    ...options.env,
  };
}

/** Starts a node and waits for its ready line. @throws Error with the node's standard error when it ends before. */
export async function startNode(options: NodeOptions = {}): Promise<NodeProcess> {
  const dataDirectory = options.dataDirectory ?? temporaryDirectory();
  const startedAt = performance.now();
  const nice = options.nice === undefined ? [] : ['nice', '-n', `${options.nice}`];
  const command = [...nice, process.execPath, ...(options.engine ?? []), options.program ?? CLI, 'start'];
  const limit = `ulimit -f ${options.fileKiBMax ?? 'unlimited'} && exec "$@"`;
  const [program = '', ...args] =
    options.fileKiBMax === undefined ? command : ['bash', '-c', limit, 'bash', ...command];
  const child = spawn(program, args, {
    env: environment(options, dataDirectory),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { killAfterMs } = options;
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs).unref();
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const line = await new Promise<string>((resolve, reject) => {
    const limitMs = options.readyMsMax ?? PATIENCE_MS;
    const timer = setTimeout(() => reject(new Error(`node not ready after ${limitMs} ms:\n${stderr}`)), limitMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const end = stdout.indexOf('\n');
      if (end < 0) return;
      clearTimeout(timer);
      resolve(stdout.slice(0, end));
    });
    void ended.then((how) => {
      clearTimeout(timer);
      reject(new Error(`node ended with ${how} before it was ready:\n${stderr}`));
    });
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const ready = JSON.parse(line) as { oms: string; mds: string; ops: string; pid: number };
  if (options.rateLimits !== 'standard' && options.profile === 'dev') await liftRateLimits(ready);
  return {
    oms: ready.oms,
    mds: ready.mds,
    ops: ready.ops,
    pid: ready.pid,
    dataDirectory,
    readyMs: performance.now() - startedAt,
    child,
    ended,
    stderr: () => stderr,
    stdout: () => stdout,
  };
}

async function liftRateLimits(node: Pick<NodeProcess, 'ops'>): Promise<void> {
  const lifted = { units_per_second: 1_000_000_000 };
  const limits = { default: lifted, market_maker: lifted, global: lifted };
  const { status, text } = await operator(node, 'PUT', '/operator/rate-limits', limits);
  if (status !== 200) throw new Error(`limits are not lifted: ${text}`);
}

/** Ends a node with a signal and waits until it is gone. */
export async function stopNode(node: NodeProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
  node.child.kill(signal);
  return node.ended;
}

/** One call of the operator API. @returns status and parsed body. */
export async function operator(
  node: Pick<NodeProcess, 'ops'>,
  method: string,
  path: string,
  body?: string | object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly text: string }> {
  const response = await fetch(`${node.ops}${path}`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>, text };
}

/** Every actor has handled everything, and every frame is handed to its socket. @returns where the journal stands. */
export async function barrier(node: Pick<NodeProcess, 'ops'>): Promise<number> {
  const { status, text, body } = await operator(node, 'POST', '/operator/barrier', { timeout_ms: BARRIER_MS });
  if (status !== 200) throw new Error(`the node does not come to rest: ${text}`);
  return Number(body['journal_sequence']);
}

/** The text of `/metrics`. */
export async function metricsOf(node: Pick<NodeProcess, 'ops'>): Promise<string> {
  return (await fetch(`${node.ops}/metrics`)).text();
}

/** The value of one sample of `/metrics`, named with its labels as in the text. */
export async function metricOf(node: Pick<NodeProcess, 'ops'>, sample: string): Promise<number> {
  const lines = (await metricsOf(node)).split('\n');
  const line = lines.find((each) => each.startsWith(`${sample} `));
  if (line === undefined) throw new Error(`/metrics has no ${sample}`);
  return Number(line.slice(sample.length));
}

const MS_PER_CLOCK_TICK = 10;

/** Processor time of a process so far, all threads together (proc(5), fields 14 and 15). */
export function cpuMsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? [];
  return (Number(user) + Number(system)) * MS_PER_CLOCK_TICK;
}
