/**
 * Processes of a cluster on this machine: real servers, nodes and replicas, with the variables that each has. Everything ends with the
 * test process.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './bare-environment.ts';
import type { NatsServers, User } from './nats-servers.ts';
import { PATIENCE_MS } from './patience.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const DEV_WITHOUT_BOUND = fileURLToPath(new URL('../../../test/fixtures/dev-without-bound.json', import.meta.url));

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

interface Line {
  readonly event?: string;
  readonly state?: string;
  readonly epoch?: number;
  readonly oms?: string;
  readonly mds?: string;
  readonly ops?: string;
}

/** A process `ringbook start`. */
export interface ClusterProcess {
  readonly child: ChildProcess;
  readonly dataDirectory: string;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly lines: readonly Line[];
  stderr(): string;
  /** The first line for which this holds. @throws Error when the process ends before, or it takes too long. */
  line(isIt: (line: Line) => boolean): Promise<Line>;
  /** Its ready line. */
  ready(): Promise<{ readonly oms: string; readonly mds: string; readonly ops: string }>;
}

export function clusterEnvironment(servers: NatsServers, node: string, user: User): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    RINGBOOK_CONFIG: DEV_WITHOUT_BOUND,
    RINGBOOK_CLUSTER: servers.cluster,
    RINGBOOK_NODE: node,
    RINGBOOK_NATS: servers.addresses.join(','),
    RINGBOOK_NATS_CREDENTIALS_FILE: servers.credentialsOf(user),
    RINGBOOK_OMS_PORT: '0',
    RINGBOOK_MDS_PORT: '0',
    RINGBOOK_OPS_PORT: '0',
  };
}

/** Makes the streams. @throws Error with what the command wrote. */
export function initCluster(servers: NatsServers, replicas: number): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [CLI, 'cluster', 'init', '--replicas', `${replicas}`, '--max-gib', '1'],
    { env: clusterEnvironment(servers, 'init', 'node'), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`ringbook cluster init ended with ${status}: ${stderr}`);
}

export function startProcess(
  servers: NatsServers,
  node: string,
  role: 'node' | 'replica' = 'node',
  dataDirectory: string = temporaryDirectory(),
): ClusterProcess {
  const child = spawn(process.execPath, [CLI, 'start'], {
    env: { ...clusterEnvironment(servers, node, role), RINGBOOK_ROLE: role, RINGBOOK_DATA_DIR: dataDirectory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${stdout}${text}`.split('\n');
    stdout = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as Line));
    for (const look of waiting) look();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(child);
      resolve(code ?? signal ?? 'unknown');
    });
  });
  const line = (isIt: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        waiting.delete(look);
      };
      const look = (): void => {
        const found = lines.find(isIt);
        if (found === undefined) return;
        end();
        resolve(found);
      };
      const fail = (why: string): void => {
        end();
        reject(new Error(`${node} ${why}: ${JSON.stringify(lines)}\n${stderr}`));
      };
      const timer = setTimeout(() => fail('does not print the line'), PATIENCE_MS);
      waiting.add(look);
      void ended.then((how) => fail(`ended with ${how}`));
      look();
    });
  return {
    child,
    dataDirectory,
    ended,
    lines,
    stderr: () => stderr,
    line,
    ready: async () => {
      const { oms = '', mds = '', ops = '' } = await line(({ event }) => event === 'ready');
      return { oms, mds, ops };
    },
  };
}
