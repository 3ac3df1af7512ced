/**
 * A cluster on loopback: three NATS servers, real nodes as child processes that reach the servers through proxies of their own, and
 * clients with the addresses of all nodes.
 *
 *   client ──▶ node a ──▶ proxy a1, a2, a3 ──▶ servers nats1, nats2, nats3
 *          └─▶ node b ──▶ proxy b1, b2, b3 ──┘          simulated chains: one directory for all nodes
 *
 * A node keeps its ports and its data directory when it is started again. `a` has its home at nats1, `b` at nats2.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { ClusterAdmin } from '../../src/cluster/cluster-admin.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { bareEnvironment } from './bare-environment.ts';
import { LinkProxy, type LinkState } from './link-proxy.ts';
import { HERE, type Machines, type Place } from './machines.ts';
import { NatsServers, quietPorts } from './nats-servers.ts';
import { eventually, PATIENCE_MS } from './patience.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const CREATE_TRIES = 60;
const BETWEEN_TRIES_MS = 500;
const ASK_MS_MAX = 1_000;

export interface ClusterWorldOptions {
  /** Names; the first one leads first. Default `a` and `b`. */
  readonly nodes?: readonly string[];
  readonly cluster?: string;
  /** Members of `cluster` of the configuration of every node, for example `confirm` or `leaseMs`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Further members of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Largest size of the journal's stream. */
  readonly bytesMax?: number;
  /** Of servers whose store is not in a temporary directory: by name. */
  readonly stores?: Readonly<Record<string, string>>;
  /** The first server and node run on the first machine, and so on, without proxies between; default: all on loopback. */
  readonly machines?: Machines;
}

/** A line `{"event":"state",…}` with the time at which it was read. */
export interface StateLine {
  readonly state: string;
  readonly epoch: number;
  readonly sequence: number;
  /** `performance.now()` of this process. */
  readonly atMs: number;
}

/** What `GET /system/leader` answers. */
export interface LeaderView {
  readonly role: string;
  readonly state: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly leader: { readonly node: string; readonly oms: string | null; readonly mds: string | null } | null;
}

/** One life of a node. */
interface Life {
  readonly child: ChildProcess;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly states: StateLine[];
  how: number | string | null;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class ClusterNode {
  readonly name: string;
  readonly oms: string;
  readonly mds: string;
  readonly ops: string;
  /** Replaceable by one on another disk, before the node is started. */
  dataDirectory: string = temporaryDirectory();
  readonly links: ReadonlyMap<string, LinkProxy>;
  readonly #configFile: string;
  readonly #ports: readonly number[];
  readonly #place: Place;
  #life: Life | null = null;

  constructor(
    name: string,
    ports: readonly number[],
    links: ReadonlyMap<string, LinkProxy>,
    configFile: string,
    place: Place,
  ) {
    const [oms = 0, mds = 0, ops = 0] = ports;
    this.name = name;
    this.#ports = [oms, mds, ops];
    this.#place = place;
    this.oms = `http://${place.host}:${oms}`;
    this.mds = `http://${place.host}:${mds}`;
    this.ops = `http://${place.host}:${ops}`;
    this.links = links;
    this.#configFile = configFile;
  }

  /** Does not wait. @throws Error while the life before has not ended. */
  launch(env: Readonly<Record<string, string>> = {}): void {
    if (this.isRunning) throw new Error(`${this.name} runs already`);
    const [oms, mds, ops] = this.#ports;
    const { host, enter } = this.#place;
    const [program = '', ...args] = [...enter, process.execPath, '--enable-source-maps', CLI, 'start'];
    const child = spawn(program, args, {
      env: {
        ...bareEnvironment(),
        RINGBOOK_HOST: host,
        RINGBOOK_CONFIG: this.#configFile,
        RINGBOOK_OMS_PORT: `${oms}`,
        RINGBOOK_MDS_PORT: `${mds}`,
        RINGBOOK_OPS_PORT: `${ops}`,
        RINGBOOK_DATA_DIR: this.dataDirectory,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const ended = new Promise<number | string>((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        life.how = code ?? signal ?? 'unknown';
        resolve(life.how);
      });
    });
    const life: Life = { child, ended, states: [], how: null, stdout: '', stderr: '' };
    this.#life = life;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      life.stderr += text;
    });
    let line = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      life.stdout += text;
      const lines = (line + text).split('\n');
      line = lines.pop() ?? '';
      for (const each of lines) {
        const state = stateOf(each);
        if (state !== null) life.states.push(state);
      }
    });
  }

  get wasStarted(): boolean {
    return this.#life !== null;
  }

  get isRunning(): boolean {
    return this.#life !== null && this.#life.how === null;
  }

  get pid(): number {
    return this.#alive().child.pid ?? 0;
  }

  /** Of this life, the oldest first. */
  get states(): readonly StateLine[] {
    return this.#alive().states;
  }

  /** The last state that this life has printed; `starting` before the first. */
  get state(): string {
    return this.#alive().states.at(-1)?.state ?? 'starting';
  }

  get stdout(): string {
    return this.#alive().stdout;
  }

  get stderr(): string {
    return this.#alive().stderr;
  }

  /** Until it has printed this state in this life. @throws AssertionError when the process ends before. */
  async until(state: string): Promise<StateLine> {
    const life = this.#alive();
    const found = (): StateLine | undefined => life.states.find((line) => line.state === state);
    await eventually(
      () => {
        if (life.how !== null && found() === undefined)
          throw new Error(`${this.name} ended with ${life.how}, never ${state}: ${life.stderr}`);
        return found() !== undefined;
      },
      () => `${this.name} is never ${state}: ${life.stdout}${life.stderr}`,
    );
    const line = found();
    if (line === undefined) throw new Error(`${this.name}: ${state} is gone`);
    return line;
  }

  /** How this life ended, when it has ended. */
  get ended(): Promise<number | string> {
    return this.#alive().ended;
  }

  signal(name: NodeJS.Signals): void {
    this.#alive().child.kill(name);
  }

  /** SIGKILL, until the process is gone. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.signal('SIGKILL');
    await this.ended;
  }

  pause(): void {
    this.signal('SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  /** SIGTERM. @returns the exit code, or the signal's name. */
  stop(): Promise<number | string> {
    this.signal('SIGTERM');
    return this.ended;
  }

  /** The links to all servers, or to one. */
  link(state: LinkState, server?: string): void {
    for (const [name, proxy] of this.links) if (server === undefined || server === name) proxy.set(state);
  }

  /** Null when the process does not answer within a second. */
  async view(): Promise<LeaderView | null> {
    try {
      const response = await fetch(`${this.oms}/system/leader`, { signal: AbortSignal.timeout(ASK_MS_MAX) });
      return (await response.json()) as LeaderView;
    } catch {
      return null;
    }
  }

  close(): void {
    if (this.isRunning) this.signal('SIGKILL');
    for (const proxy of this.links.values()) proxy.close();
    removeDirectory(this.dataDirectory);
  }

  #alive(): Life {
    if (this.#life === null) throw new Error(`${this.name} was never started`);
    return this.#life;
  }
}

export class ClusterWorld {
  readonly cluster: string;
  readonly servers: NatsServers;
  readonly nodes: readonly ClusterNode[];
  readonly chainsDirectory: string;
  /** Of a user with the rights of a node: commands, and looks at the stream. */
  readonly admin: ClusterAdmin;

  private constructor(
    servers: NatsServers,
    nodes: readonly ClusterNode[],
    admin: ClusterAdmin,
    chainsDirectory: string,
  ) {
    this.cluster = servers.cluster;
    this.servers = servers;
    this.nodes = nodes;
    this.admin = admin;
    this.chainsDirectory = chainsDirectory;
  }

  /** Servers with the streams of a new cluster; no node runs yet. @param program of the server (`natsServer()`). */
  static async start(program: string, options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
    const { nodes = ['a', 'b'], cluster = 'venue', bytesMax = 1 << 30, stores, machines } = options;
    const servers = await NatsServers.start(program, {
      cluster,
      ...(stores === undefined ? {} : { stores }),
      ...(machines === undefined ? {} : { places: [0, 1, 2].map((at) => machines.place(at)) }),
    });
    try {
      const admin = await ClusterAdmin.connect({
        cluster,
        node: 'test',
        servers: servers.addresses,
        credentialsFile: servers.credentialsOf('node'),
        tls: null,
        dataVersion: String(DATA_VERSION),
      });
      await untilMade(() => admin.log.createJournal({ firstSequence: 1, replicas: 3, bytesMax }));
      await untilMade(() => admin.log.createTapeAndSnapshots(3, 1 << 28));
      const chainsDirectory = temporaryDirectory();
      const made: ClusterNode[] = [];
      for (const [at, name] of nodes.entries()) made.push(await nodeOf(servers, name, at, chainsDirectory, options));
      return new ClusterWorld(servers, made, admin, chainsDirectory);
    } catch (error) {
      servers.close();
      throw error;
    }
  }

  /** @throws Error for a name that no node has. */
  node(name: string): ClusterNode {
    const node = this.nodes.find((other) => other.name === name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** The first one leads, the others follow. @param names default: all nodes. */
  async startNodes(names: readonly string[] = this.nodes.map(({ name }) => name)): Promise<void> {
    const [first, ...others] = names.map((name) => this.node(name));
    if (first === undefined) return;
    first.launch();
    // With `standby` in `confirm` it does not lead before another node follows.
    await first.until('restoring');
    for (const node of others) node.launch();
    await first.until('leading');
    for (const node of others) await node.until('following');
  }

  /** The node that leads with the highest epoch, by its own answer; null while there is none. */
  async leading(): Promise<{ readonly node: ClusterNode; readonly epoch: number } | null> {
    const views = await Promise.all(
      this.nodes.map(async (node) => ({ node, view: node.isRunning ? await node.view() : null })),
    );
    const leaders = views.flatMap(({ node, view }) => (view?.state === 'leading' ? [{ node, epoch: view.epoch }] : []));
    return leaders.sort((one, other) => other.epoch - one.epoch)[0] ?? null;
  }

  /** Waits until a node leads with this epoch or a higher one. */
  async untilLeading(epoch = 1): Promise<{ readonly node: ClusterNode; readonly epoch: number }> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const leader = await this.leading();
      if (leader !== null && leader.epoch >= epoch) return leader;
      if (performance.now() > untilMs) throw new Error(`no node leads with epoch ${epoch}: ${await this.story()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** With the addresses of all nodes, one with the node under test first. */
  client(name: Parameters<typeof devKey>[0], onReconnected?: (epoch: number) => void): RingbookClient {
    return new RingbookClient({
      oms: this.nodes.map(({ oms }) => oms),
      mds: this.nodes.map(({ mds }) => mds),
      key: devKey(name),
      ...(onReconnected === undefined ? {} : { onReconnected: ({ epoch }) => onReconnected(epoch) }),
    });
  }

  /** What each node has printed of its states, for the text of a failure. */
  async story(): Promise<string> {
    const lines = this.nodes.map((node) => {
      try {
        const states = node.states.map(({ state, epoch }) => `${state}(${epoch})`).join(' ');
        return `${node.name}: ${states}\n${node.stderr}`;
      } catch {
        return `${node.name}: never started`;
      }
    });
    return `${lines.join('\n')}\n${JSON.stringify(await this.admin.log.info())}`;
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.close();
    await this.admin.close();
    this.servers.close();
  }
}

async function nodeOf(
  servers: NatsServers,
  name: string,
  at: number,
  chainsDirectory: string,
  { members = {}, config = {}, machines }: ClusterWorldOptions,
): Promise<ClusterNode> {
  const place = machines?.place(at) ?? HERE;
  const links = new Map<string, LinkProxy>();
  if (machines === undefined)
    for (const server of servers.names) links.set(server, await LinkProxy.start(servers.portOf(server)));
  const cluster = {
    name: servers.cluster,
    node: name,
    servers:
      machines === undefined ? [...links.values()].map(({ port }) => `nats://127.0.0.1:${port}`) : servers.addresses,
    credentialsFile: servers.credentialsOf('node'),
    home: servers.names[at] ?? null,
    monitoring: servers.monitoring,
    chainsDirectory,
    ...members,
  };
  const ports = await quietPorts(3);
  const advertise = { oms: `http://${place.host}:${ports[0]}`, mds: `http://${place.host}:${ports[1]}` };
  const file = join(temporaryDirectory(), 'config.json');
  const text = {
    extends: 'dev',
    orderWaitMsMax: 0,
    rateLimits: 'lifted',
    ...(machines === undefined ? {} : { publicListeners: 'plain-in-container' }),
    ...config,
    cluster: { ...cluster, advertise },
  };
  writeFileSync(file, JSON.stringify(text));
  return new ClusterNode(name, ports, links, file, place);
}

/** Again while the servers elect the leader of their own metadata. */
async function untilMade(make: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await make();
      return;
    } catch (error) {
      if (tries === CREATE_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
  }
}

/** Null for any other line. */
function stateOf(line: string): StateLine | null {
  if (!line.startsWith('{"event":"state"')) return null;
  const { state, epoch, sequence } = JSON.parse(line) as Omit<StateLine, 'atMs'>;
  return { state, epoch, sequence, atMs: performance.now() };
}
