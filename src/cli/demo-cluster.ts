/**
 * A cluster of this machine alone, for `ringbook demo failover`: three NATS servers, two nodes of the dev profile and a replica, on
 * loopback, in a directory that is removed afterwards.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ClusterAdmin } from '../cluster/cluster-admin.ts';
import { CliError, EXIT } from './command.ts';

const CLI = fileURLToPath(new URL('./main.js', import.meta.url));
const TOOLS = fileURLToPath(new URL('../../../tools/nats', import.meta.url));
const CLUSTER = 'demo';
const SERVERS = 3;
const BUILD_MS_MAX = 300_000;
const START_MS_MAX = 60_000;
const LOOK_MS = 20;
const TRIES_MS = 500;
const JOURNAL_BYTES = 1 << 28;
const TAPE_BYTES = 1 << 26;
/** Below the ports that the kernel gives to connections, so that a process that is started again gets its own. */
const PORT_FIRST = 12_000;
const PORTS = 20_000;
/** Lines shown of the log of a process that ends too early. */
const LOG_LINES = 20;
const NO_SERVER = `no nats-server (2.15.2 or later of 2.15) is here. Either
  set RINGBOOK_NATS_SERVER to the path of the program, or
  install Go and build it in a clone: cd tools/nats && go build -o bin/nats-server github.com/nats-io/nats-server/v2`;

/** The program of a NATS server: named, built before, or built now where Go and a clone are. @throws CliError where there is none. */
export function natsProgram(print: (line: string) => void): string {
  const named = process.env['RINGBOOK_NATS_SERVER'] ?? '';
  if (named !== '') {
    if (isProgram(named)) return named;
    throw new CliError(EXIT.fault, `RINGBOOK_NATS_SERVER is "${named}", which is no program`);
  }
  const built = join(TOOLS, 'bin', 'nats-server');
  if (isProgram(built)) return built;
  if (!existsSync(join(TOOLS, 'go.mod'))) throw new CliError(EXIT.fault, NO_SERVER);
  print('builds nats-server in tools/nats, once');
  const options = { cwd: TOOLS, timeout: BUILD_MS_MAX, stdio: 'ignore' } as const;
  spawnSync('go', ['build', '-o', 'bin/nats-server', 'github.com/nats-io/nats-server/v2'], options);
  if (isProgram(built)) return built;
  throw new CliError(EXIT.fault, NO_SERVER);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A node or a replica. */
export interface DemoMember {
  readonly name: string;
  readonly oms: string;
  readonly mds: string;
  readonly child: ChildProcess;
}

export class DemoCluster {
  readonly #directory: string;
  readonly #program: string;
  readonly #password: string = randomBytes(12).toString('hex');
  readonly #children: ChildProcess[] = [];
  #ports: readonly number[] = [];
  #admin: ClusterAdmin | null = null;

  /** @param directory empty, removed by the caller. */
  constructor(directory: string, program: string) {
    this.#directory = directory;
    this.#program = program;
  }

  /** Servers with the streams of a cluster. @throws CliError when they do not answer within a minute. */
  async startServers(): Promise<void> {
    this.#ports = await freePorts(3 * SERVERS);
    const routes = this.#numbers.map((at) => `nats://127.0.0.1:${this.#ports[3 * at + 2]}`).join(', ');
    for (const at of this.#numbers) this.#startServer(at, routes);
    writeFileSync(this.#credentials, `demo:${this.#password}\n`, { mode: 0o600 });
    const { ClusterAdmin } = await import('../cluster/cluster-admin.ts');
    const { DATA_VERSION } = await import('../storage/environment.ts');
    const settings = { cluster: CLUSTER, node: 'demo', servers: this.#addresses, credentialsFile: this.#credentials };
    const options = { ...settings, tls: null, dataVersion: String(DATA_VERSION) };
    const admin = await taken('the servers', () => ClusterAdmin.connect(options));
    this.#admin = admin;
    const journal = { firstSequence: 1, replicas: SERVERS, bytesMax: JOURNAL_BYTES };
    await taken('the stream of the journal', () => admin.log.createJournal(journal));
    await taken('the tape', () => admin.log.createTapeAndSnapshots(SERVERS, TAPE_BYTES));
  }

  /** A process of the cluster, until it has printed this state. @throws CliError when it ends before. */
  async start(name: string, role: 'node' | 'replica', state: string | null): Promise<DemoMember> {
    const [oms = 0, mds = 0, ops = 0] = await freePorts(3);
    const address = { oms: `http://127.0.0.1:${oms}`, mds: `http://127.0.0.1:${mds}` };
    const config = join(this.#directory, `${name}.json`);
    const cluster = {
      ...{ name: CLUSTER, node: name, role, servers: this.#addresses, credentialsFile: this.#credentials },
      home: role === 'node' ? `n${name === 'a' ? 1 : 2}` : null,
      monitoring: this.#numbers.map((at) => `http://127.0.0.1:${this.#ports[3 * at + 1]}`),
      chainsDirectory: join(this.#directory, 'chains'),
      advertise: address,
    };
    writeFileSync(config, JSON.stringify({ extends: 'dev', orderWaitMsMax: 0, rateLimits: 'lifted', cluster }));
    const child = spawn(process.execPath, [CLI, 'start'], {
      env: {
        ...withoutVariables(),
        RINGBOOK_CONFIG: config,
        RINGBOOK_OMS_PORT: `${oms}`,
        RINGBOOK_MDS_PORT: `${mds}`,
        RINGBOOK_OPS_PORT: `${ops}`,
        RINGBOOK_DATA_DIR: join(this.#directory, name),
        RINGBOOK_DEMO: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    await until(child, name, state);
    return { name, ...address, child };
  }

  /** Kills every process. */
  async close(): Promise<void> {
    await this.#admin?.close();
    const ends = this.#children.map((child) =>
      child.exitCode === null && child.signalCode === null
        ? new Promise((resolve) => child.once('exit', resolve))
        : Promise.resolve(),
    );
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(ends);
  }

  get #numbers(): readonly number[] {
    return Array.from({ length: SERVERS }, (_, at) => at);
  }

  get #addresses(): readonly string[] {
    return this.#numbers.map((at) => `nats://127.0.0.1:${this.#ports[3 * at]}`);
  }

  get #credentials(): string {
    return join(this.#directory, 'credentials');
  }

  #startServer(at: number, routes: string): void {
    const [port, monitoring, route] = this.#ports.slice(3 * at, 3 * at + 3);
    const store = join(this.#directory, `n${at + 1}`);
    mkdirSync(store);
    const file = join(this.#directory, `n${at + 1}.conf`);
    writeFileSync(
      file,
      `server_name: n${at + 1}
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitoring}"
cluster { name: demo, listen: "127.0.0.1:${route}", routes: [${routes}] }
jetstream { store_dir: "${store}", sync_interval: always, max_file_store: 1GB, max_memory_store: 16MB }
accounts { RINGBOOK { jetstream: enabled, users: [ { user: demo, password: "${this.#password}" } ] }, SYS {} }
system_account: SYS
`,
      { mode: 0o600 },
    );
    this.#children.push(spawn(this.#program, ['-c', file], { stdio: 'ignore' }));
  }
}

/** Until a process has printed a state, or the line of a start that is done. */
function until(child: ChildProcess, name: string, state: string | null): Promise<void> {
  const log: string[] = [];
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => reject(new CliError(EXIT.fault, `${name} ${why}:\n${log.join('\n')}`));
    const timer = setTimeout(() => failed(`is not ${state ?? 'ready'} after a minute`), START_MS_MAX);
    const end = (): void => {
      clearTimeout(timer);
      failed('ended');
    };
    child.once('exit', end);
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) return;
    createInterface({ input: stderr }).on('line', (line) => {
      log.push(line);
      if (log.length > LOG_LINES) log.shift();
    });
    createInterface({ input: stdout }).on('line', (line) => {
      const isWanted = line.startsWith(state === null ? '{"event":"ready"' : `{"event":"state","state":"${state}"`);
      if (!isWanted) return;
      clearTimeout(timer);
      child.off('exit', end);
      resolve();
    });
  });
}

/** Again while the servers find each other. @throws CliError after a minute. */
async function taken<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + START_MS_MAX;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (performance.now() > untilMs) throw new CliError(EXIT.fault, `${what}: ${reason}`);
      await new Promise((done) => setTimeout(done, TRIES_MS));
    }
  }
}

/** Waits until it is true. @throws CliError after a minute. */
export async function whenTrue(what: string, isTrue: () => boolean): Promise<void> {
  const untilMs = performance.now() + START_MS_MAX;
  while (!isTrue()) {
    if (performance.now() > untilMs) throw new CliError(EXIT.fault, `not within a minute: ${what}`);
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

/** The children have the configuration of the demo, whatever this process was given. */
function withoutVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RINGBOOK_')));
}

async function freePorts(count: number): Promise<readonly number[]> {
  const held: { readonly port: number; readonly server: ReturnType<typeof createServer> }[] = [];
  for (let tries = 0; held.length < count && tries < PORTS; tries += 1) {
    const port = PORT_FIRST + Math.floor(Math.random() * PORTS);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  if (held.length < count) throw new CliError(EXIT.fault, 'no free ports on 127.0.0.1');
  return held.map(({ port }) => port);
}
