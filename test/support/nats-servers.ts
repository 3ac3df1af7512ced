/**
 * NATS servers of a cluster on loopback, as `cluster.md` wants them: three with `sync_interval: always`, routes, an account of the
 * cluster and users with the rights of section 10. In temporary directories; killed with the test process.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HERE, type Place } from './machines.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const TOOLS = 'tools/nats';
const BUILD_MS = 240_000;
const READY_MS = 20_000;
export const USERS = ['node', 'replica', 'follower'] as const;
export type User = (typeof USERS)[number];
/** The account and the rights that docs/cluster.md gives a cluster `venue`: tests have no others. */
const RIGHTS = 'config/cluster/rights.conf';
const PASSWORDS: Readonly<Record<string, string>> = Object.fromEntries(
  [...USERS, 'system'].map((user) => [`NATS_${user.toUpperCase()}_PASSWORD`, `${user}-password`]),
);

/**
 * The server's program: `RINGBOOK_NATS_SERVER`, else the one that tools/nats has, else it is built there where Go is.
 *
 * @returns null, with the reason for a skipped test, where there is none.
 */
export function natsServer(): { readonly path: string } | { readonly missing: string } {
  const named = process.env['RINGBOOK_NATS_SERVER'] ?? '';
  if (named !== '')
    return isProgram(named) ? { path: named } : { missing: `RINGBOOK_NATS_SERVER: ${named} is no program` };
  const built = join(process.cwd(), TOOLS, 'bin', 'nats-server');
  if (isProgram(built)) return { path: built };
  const go = spawnSync('go', ['build', '-o', 'bin/nats-server', 'github.com/nats-io/nats-server/v2'], {
    cwd: TOOLS,
    timeout: BUILD_MS,
    stdio: 'ignore',
  });
  if (go.status === 0 && isProgram(built)) return { path: built };
  return { missing: `no nats-server: set RINGBOOK_NATS_SERVER, or build it in ${TOOLS} with Go` };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Server {
  readonly name: string;
  readonly port: number;
  readonly monitoringPort: number;
  readonly routePort: number;
  readonly configFile: string;
  readonly place: Place;
  readonly store: string;
  child: ChildProcess | null;
}

export interface NatsServersOptions {
  readonly cluster: string;
  readonly count?: number;
  /** What a production of ringbook refuses: the default of the server. */
  readonly syncAlways?: boolean;
  /** Directories of stores that are on a disk of their own, by the server's name. */
  readonly stores?: Readonly<Record<string, string>>;
  /** Where each server runs, in their order; default: all on loopback. */
  readonly places?: readonly Place[];
  /** Clients are served with TLS alone; routes are not. */
  readonly tls?: ServerTls;
}

/** Files of a server's certificate. */
export interface ServerTls {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate that signs itself; null where there is no `openssl`. */
export function selfSigned(address: string): ServerTls | null {
  const directory = temporaryDirectory();
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const subject = ['-subj', '/CN=nats', '-addext', `subjectAltName=IP:${address}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const made = spawnSync('openssl', ['req', '-x509', ...key, '-out', certFile, '-days', '2', ...subject]);
  return made.status === 0 ? { certFile, keyFile } : null;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class NatsServers {
  readonly cluster: string;
  readonly #servers: readonly Server[];
  readonly #directory: string;
  readonly #program: string;
  readonly #scheme: 'nats' | 'tls';

  private constructor(
    { cluster, tls }: NatsServersOptions,
    directory: string,
    program: string,
    servers: readonly Server[],
  ) {
    this.#scheme = tls === undefined ? 'nats' : 'tls';
    this.cluster = cluster;
    this.#directory = directory;
    this.#program = program;
    this.#servers = servers;
  }

  /** Three servers that have found each other. @throws Error when they do not within 20 s. */
  static async start(program: string, options: NatsServersOptions): Promise<NatsServers> {
    const { cluster, count = 3, stores = {}, places = [] } = options;
    const directory = temporaryDirectory();
    const ports = await quietPorts(3 * count);
    const servers = Array.from({ length: count }, (_, at) => ({
      name: `nats${at + 1}`,
      port: ports[3 * at] ?? 0,
      monitoringPort: ports[3 * at + 1] ?? 0,
      routePort: ports[3 * at + 2] ?? 0,
      configFile: join(directory, `nats${at + 1}.conf`),
      place: places[at] ?? HERE,
      store: stores[`nats${at + 1}`] ?? join(directory, `nats${at + 1}`),
      child: null,
    }));
    for (const server of servers) writeFileSync(server.configFile, configOf(server, servers, options));
    writeFileSync(join(directory, 'rights.conf'), rightsOf(cluster));
    for (const user of USERS) writeFileSync(join(directory, user), `${user}:${user}-password\n`, { mode: 0o600 });
    const all = new NatsServers(options, directory, program, servers);
    for (const { name } of servers) all.launch(name);
    await all.ready();
    return all;
  }

  get addresses(): readonly string[] {
    return this.names.map((name) => this.addressOf(name));
  }

  get names(): readonly string[] {
    return this.#servers.map(({ name }) => name);
  }

  hostOf(name: string): string {
    return this.#server(name).place.host;
  }

  portOf(name: string): number {
    return this.#server(name).port;
  }

  addressOf(name: string): string {
    return `${this.#scheme}://${this.hostOf(name)}:${this.portOf(name)}`;
  }

  monitoringOf(name: string): string {
    return `http://${this.hostOf(name)}:${this.#server(name).monitoringPort}`;
  }

  get monitoring(): readonly string[] {
    return this.names.map((name) => this.monitoringOf(name));
  }

  credentialsOf(user: User): string {
    return join(this.#directory, user);
  }

  launch(name: string): void {
    const server = this.#server(name);
    const log = join(this.#directory, `${name}.log`);
    const [program = '', ...args] = [...server.place.enter, this.#program, '-c', server.configFile, '-l', log];
    const child = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...PASSWORDS } });
    running.add(child);
    child.on('exit', () => running.delete(child));
    server.child = child;
  }

  /** @throws Error when one that runs does not answer within 20 s. */
  async ready(): Promise<void> {
    const endMs = Date.now() + READY_MS;
    for (const server of this.#servers) {
      while (server.child !== null && !(await isListening(server))) {
        if (Date.now() > endMs) throw new Error(`${server.name} does not answer`);
        await sleep(50);
      }
    }
  }

  /** SIGKILL. */
  kill(name: string): void {
    this.#server(name).child?.kill('SIGKILL');
    this.#server(name).child = null;
  }

  /** SIGTERM, until it has ended. */
  async stop(name: string): Promise<void> {
    const { child } = this.#server(name);
    if (child === null) return;
    this.#server(name).child = null;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  /** Its disk is replaced: what it has stored is gone. While it does not run. */
  empty(name: string): void {
    const { store } = this.#server(name);
    rmSync(store, { recursive: true });
    mkdirSync(store);
  }

  pause(name: string): void {
    this.#server(name).child?.kill('SIGSTOP');
  }

  resume(name: string): void {
    this.#server(name).child?.kill('SIGCONT');
  }

  isRunning(name: string): boolean {
    return this.#server(name).child !== null;
  }

  close(): void {
    for (const { name } of this.#servers) this.kill(name);
  }

  #server(name: string): Server {
    const server = this.#servers.find((other) => other.name === name);
    if (server === undefined) throw new Error(`there is no server ${name}`);
    return server;
  }
}

function configOf(server: Server, all: readonly Server[], { syncAlways = true, tls }: NatsServersOptions): string {
  const { store } = server;
  if (!existsSync(store)) mkdirSync(store);
  const { host } = server.place;
  const routes = all.map(({ place, routePort }) => `nats://${place.host}:${routePort}`).join(', ');
  const peers =
    all.length === 1 ? '' : `cluster { name: test, listen: "${host}:${server.routePort}", routes: [${routes}] }`;
  const secure = tls === undefined ? '' : `tls { cert_file: "${tls.certFile}", key_file: "${tls.keyFile}" }`;
  return `
server_name: ${server.name}
listen: "${host}:${server.port}"
http: "${host}:${server.monitoringPort}"
${peers}
${secure}
jetstream { store_dir: "${store}", ${syncAlways ? 'sync_interval: always, ' : ''}max_file_store: 4GB, max_memory_store: 64MB }
include "rights.conf"
`;
}

function rightsOf(cluster: string): string {
  const upper = cluster.toUpperCase().replaceAll('-', '_');
  return readFileSync(RIGHTS, 'utf8').replaceAll('venue', cluster).replaceAll('VENUE', upper);
}

/** Whether clients are accepted: the monitoring answers before. */
function isListening({ port, place }: Server): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, place.host);
    socket.setTimeout(500, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve(false));
  });
}

const PORT_FIRST = 12_000;
const PORT_LAST = 31_999;
const PORT_TRIES = 1_000;

/**
 * Ports of loopback that nothing listens on, below those that the kernel gives to connections: what listens there can be stopped
 * and started again. @throws Error when there are not so many.
 */
export async function quietPorts(count: number): Promise<readonly number[]> {
  const found: ReturnType<typeof createServer>[] = [];
  for (let tries = 0; found.length < count; tries += 1) {
    if (tries === PORT_TRIES) throw new Error('no free ports on loopback');
    const port = PORT_FIRST + Math.floor(Math.random() * (PORT_LAST - PORT_FIRST));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) found.push(server);
  }
  const ports = found.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(found.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
