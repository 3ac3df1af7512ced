/**
 * Machines in network namespaces of their own on one bridge, so that a cable can be pulled: packets are lost in both directions, and
 * nothing is closed.
 *
 *   this process (bridge, .1) ── veth ── machine 1 (.11)
 *                            ├── veth ── machine 2 (.12)
 *                            └── veth ── machine 3 (.13)
 *
 * A namespace lives as long as the process that holds it, so a killed test leaves at most an empty bridge. Needs root on Linux.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

const NETWORKS = 200;
const TRIES = 20;

/** Where a process runs: null for this process's own network. */
export interface Place {
  readonly host: string;
  /** Put before a command line, it runs the command in the namespace. */
  readonly enter: readonly string[];
}

export const HERE: Place = { host: '127.0.0.1', enter: [] };

interface Machine extends Place {
  readonly holder: ChildProcess;
  readonly cable: string;
  /** Hosts of machines whose packets are not accepted any more. */
  readonly refused: Set<string>;
}

const bridges = new Set<string>();
process.on('exit', () => {
  for (const bridge of bridges) spawnSync('ip', ['link', 'delete', bridge]);
});

export class Machines {
  readonly #bridge: string;
  readonly #machines: readonly Machine[];

  private constructor(bridge: string, machines: readonly Machine[]) {
    this.#bridge = bridge;
    this.#machines = machines;
  }

  /** @returns with the reason for a skipped test, where namespaces cannot be made. */
  static make(count: number): Machines | { readonly missing: string } {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      return { missing: 'network namespaces need root on Linux' };
    for (let tries = 0; tries < TRIES; tries += 1) {
      const network = `10.213.${Math.floor(Math.random() * NETWORKS)}`;
      const bridge = `rb${process.pid.toString(36)}${tries}`;
      if (!tried('ip', 'link', 'add', bridge, 'type', 'bridge')) return { missing: 'no bridge can be made here' };
      bridges.add(bridge);
      const isUp =
        tried('ip', 'addr', 'add', `${network}.1/24`, 'dev', bridge) && tried('ip', 'link', 'set', bridge, 'up');
      const machines = isUp ? machinesOf(bridge, network, count) : null;
      if (machines !== null) return new Machines(bridge, machines);
      remove(bridge);
    }
    return { missing: 'no network namespaces can be made here' };
  }

  place(at: number): Place {
    return this.#machine(at);
  }

  /** The cable of a machine is pulled: it reaches nothing, and nothing reaches it. */
  pull(at: number): void {
    run('ip', 'link', 'set', this.#machine(at).cable, 'down');
  }

  plug(at: number): void {
    run('ip', 'link', 'set', this.#machine(at).cable, 'up');
  }

  /** Packets between two machines are lost; both reach all others. */
  part(one: number, other: number): void {
    this.deafen(one, other);
    this.deafen(other, one);
  }

  /** What `at` sends to `other` is lost; what it receives is not. */
  deafen(at: number, other: number): void {
    const { host } = this.#machine(other);
    const machine = this.#machine(at);
    if (machine.refused.has(host)) return;
    machine.refused.add(host);
    this.#inside(machine, 'ip', 'route', 'add', 'blackhole', host);
  }

  /** All machines reach each other again. */
  heal(): void {
    for (const [at, machine] of this.#machines.entries()) {
      for (const host of machine.refused) this.#inside(machine, 'ip', 'route', 'delete', 'blackhole', host);
      machine.refused.clear();
      this.plug(at);
    }
  }

  close(): void {
    for (const { holder } of this.#machines) holder.kill('SIGKILL');
    remove(this.#bridge);
  }

  #inside({ enter }: Machine, ...command: readonly string[]): void {
    const [program = '', ...args] = [...enter, ...command];
    run(program, ...args);
  }

  #machine(at: number): Machine {
    const machine = this.#machines[at];
    if (machine === undefined) throw new Error(`there is no machine ${at}`);
    return machine;
  }
}

/** Null when a step fails: another network has this address, or the kernel allows no namespaces. */
function machinesOf(bridge: string, network: string, count: number): readonly Machine[] | null {
  const machines: Machine[] = [];
  for (let at = 0; at < count; at += 1) {
    const host = `${network}.${11 + at}`;
    const cable = `${bridge}m${at}`;
    const holder = spawn('unshare', ['-n', 'sleep', 'infinity'], { stdio: 'ignore' });
    const enter = ['nsenter', '-t', String(holder.pid), '-n', '--'];
    const machine = { host, enter, holder, cable, refused: new Set<string>() };
    machines.push(machine);
    process.on('exit', () => holder.kill('SIGKILL'));
    if (!isMade(machine, bridge)) {
      for (const { holder: each } of machines) each.kill('SIGKILL');
      return null;
    }
  }
  return machines;
}

function isMade({ host, enter, holder, cable }: Machine, bridge: string): boolean {
  const own = spawnSync('readlink', ['/proc/self/ns/net']).stdout.toString();
  for (let tries = 0; spawnSync('readlink', [`/proc/${holder.pid}/ns/net`]).stdout.toString() === own; tries += 1) {
    if (tries === 200) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  const inside = (...command: readonly string[]): boolean => {
    const [program = '', ...args] = [...enter, ...command];
    return tried(program, ...args);
  };
  return (
    tried('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(holder.pid)) &&
    tried('ip', 'link', 'set', cable, 'master', bridge, 'up') &&
    inside('ip', 'addr', 'add', `${host}/24`, 'dev', 'eth0') &&
    inside('ip', 'link', 'set', 'lo', 'up') &&
    inside('ip', 'link', 'set', 'eth0', 'up')
  );
}

function remove(bridge: string): void {
  spawnSync('ip', ['link', 'delete', bridge]);
  bridges.delete(bridge);
}

function tried(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
