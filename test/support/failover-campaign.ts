/**
 * A campaign on a cluster of real processes (cluster.md 14): under load of two traders, one fault after the other in random order;
 * after each the cluster must be whole again, and at the end of each world of some faults the checker of cluster-load.ts holds.
 *
 *   world: servers, nodes, load ──▶ fault ──▶ whole again ──▶ fault … ──▶ load stops ──▶ check
 *              └── a watcher asks every node again and again who leads: the epochs of the answers never fall
 *
 * A seed gives the same faults and load, not the same timing.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterLoad } from './cluster-load.ts';
import { type ClusterNode, ClusterWorld, type ClusterWorldOptions } from './cluster-world.ts';
import { operator } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import { SeededRandom } from './simulation.ts';
import { SmallDisk } from './small-disk.ts';

const FAULTS_IN_A_WORLD = 6;
const SIDES_BEFORE_A_FAULT = 30;
const SIDES_AFTER_A_FAULT = 10;
const WATCH_MS = 20;
const LEASE_MS = 1_500;
const DISK_MIB = 1_300;
/** Far above what the stream of a world holds, which its server has to fit on again. */
const SERVER_DISK_MIB = 512;
const STREAM_BYTES = 1 << 30;
const CUT_MS = 2_500;
/**
 * Of a process whose disk is full: a restart alone does not help. With a reserve of 0, as here, LMDB may end the process first: after a
 * failed write it prints into 100 bytes a text that may be longer.
 */
const DISK_FULL: readonly (number | string)[] = [78, 'SIGABRT', 'SIGSEGV'];
const SERVERS_DOWN_MS = 3_000;

/** What a fault has to lead to: another leader, the same one, or either. */
type Outcome = 'another' | 'same' | 'either';

interface Fault {
  readonly outcome: Outcome;
  /** Relative to the others. */
  readonly weight: number;
  /** Ends when the fault is over: whatever was stopped has been started again. */
  readonly play: (stage: Stage) => Promise<void>;
}

/** A world while a fault is played. */
interface Stage {
  readonly world: ClusterWorld;
  readonly random: SeededRandom;
  readonly leader: ClusterNode;
  readonly standby: ClusterNode;
  readonly streamLeader: string;
  readonly epoch: number;
  readonly disk: (node: ClusterNode) => SmallDisk | null;
  readonly serverDisk: SmallDisk | null;
  /** Until another node leads. */
  readonly untilTakenOver: () => Promise<void>;
  /** What was seen beside the takeover, for the figures. */
  readonly note: (what: string) => void;
}

/** One that is over ends with 75 and is started again. */
async function endsAndFollows(node: ClusterNode, ...codes: readonly (number | string)[]): Promise<void> {
  const how = await node.ended;
  assert.ok(codes.includes(how), `${node.name} ended with ${how}: ${node.stderr}`);
  node.launch();
  await node.until('following');
}

const FAULTS: Readonly<Record<string, Fault>> = {
  kill: {
    outcome: 'another',
    weight: 6,
    play: async ({ leader, untilTakenOver }) => {
      await leader.kill();
      await untilTakenOver();
      leader.launch();
      await leader.until('following');
    },
  },
  pause: {
    outcome: 'another',
    weight: 3,
    play: async ({ leader, untilTakenOver }) => {
      leader.pause();
      await untilTakenOver();
      leader.resume();
      await endsAndFollows(leader, 75);
    },
  },
  shortPause: {
    outcome: 'either',
    weight: 2,
    play: async ({ leader, random }) => {
      leader.pause();
      await aMoment(200 + random.below(2 * LEASE_MS));
      leader.resume();
      // A pause about as long as the lease: it leads on, or it is over.
      await aMoment(2 * LEASE_MS);
      if (!leader.isRunning) await endsAndFollows(leader, 75);
    },
  },
  cut: {
    outcome: 'another',
    weight: 3,
    play: async ({ leader, untilTakenOver }) => {
      leader.link('cut');
      await untilTakenOver();
      assert.notEqual((await leader.view())?.state, 'leading');
      leader.link('open');
      await endsAndFollows(leader, 75);
    },
  },
  oneWay: {
    outcome: 'another',
    weight: 2,
    play: async ({ leader, untilTakenOver }) => {
      // What it appends may be stored, and no answer reaches it: the standby counts silence when it has ended.
      leader.link('oneWay');
      await untilTakenOver();
      leader.link('open');
      await endsAndFollows(leader, 75);
    },
  },
  cutStandby: {
    outcome: 'same',
    weight: 1,
    play: async ({ standby }) => {
      standby.link('cut');
      await aMoment(CUT_MS);
      standby.link('open');
    },
  },
  killStandby: {
    outcome: 'same',
    weight: 1,
    play: async ({ standby }) => {
      await standby.kill();
      await aMoment(CUT_MS);
      standby.launch();
      await standby.until('following');
    },
  },
  stepDown: {
    outcome: 'another',
    weight: 3,
    play: async ({ world, leader, untilTakenOver }) => {
      assert.equal(await world.admin.command(leader.name, 'stepDown', null), null);
      await untilTakenOver();
      await endsAndFollows(leader, 75);
    },
  },
  sigterm: {
    outcome: 'another',
    weight: 2,
    play: async ({ leader, untilTakenOver }) => {
      leader.signal('SIGTERM');
      await untilTakenOver();
      await endsAndFollows(leader, 0);
    },
  },
  server: {
    outcome: 'same',
    weight: 2,
    play: async ({ world, streamLeader, random }) => {
      const others = world.servers.names.filter((name) => name !== streamLeader);
      const name = others[random.below(others.length)] ?? '';
      world.servers.kill(name);
      await aMoment(CUT_MS);
      world.servers.launch(name);
    },
  },
  streamLeader: {
    outcome: 'same',
    weight: 2,
    play: async ({ world, streamLeader }) => {
      world.servers.kill(streamLeader);
      // NATS elects after 4 to 9 s.
      await electedBeside(world, streamLeader);
      world.servers.launch(streamLeader);
    },
  },
  streamLeaderPause: {
    outcome: 'same',
    weight: 2,
    play: async ({ world, streamLeader }) => {
      world.servers.pause(streamLeader);
      await electedBeside(world, streamLeader);
      world.servers.resume(streamLeader);
    },
  },
  twoServers: {
    outcome: 'same',
    weight: 1,
    play: async ({ world, streamLeader }) => {
      const [other = ''] = world.servers.names.filter((name) => name !== streamLeader);
      for (const name of [streamLeader, other]) world.servers.kill(name);
      await aMoment(SERVERS_DOWN_MS);
      for (const name of [streamLeader, other]) world.servers.launch(name);
    },
  },
  allServers: {
    outcome: 'same',
    weight: 1,
    play: async ({ world }) => {
      for (const name of world.servers.names) world.servers.kill(name);
      await aMoment(SERVERS_DOWN_MS);
      for (const name of world.servers.names) world.servers.launch(name);
    },
  },
  leaderAndServer: {
    outcome: 'another',
    weight: 3,
    play: async ({ world, leader, streamLeader, untilTakenOver }) => {
      // The machine of the leader: its server is not the one with the stream's leader, unless that was just moved.
      const home = world.servers.names[world.nodes.indexOf(leader)] ?? streamLeader;
      world.servers.kill(home);
      await leader.kill();
      await untilTakenOver();
      world.servers.launch(home);
      leader.launch();
      await leader.until('following');
    },
  },
  leaderAndStreamLeader: {
    outcome: 'another',
    weight: 2,
    play: async ({ world, leader, streamLeader, untilTakenOver }) => {
      world.servers.kill(streamLeader);
      await leader.kill();
      await untilTakenOver();
      world.servers.launch(streamLeader);
      leader.launch();
      await leader.until('following');
    },
  },
  bothNodes: {
    outcome: 'either',
    weight: 1,
    play: async ({ world, leader, standby, random, epoch }) => {
      await Promise.all([leader.kill(), standby.kill()]);
      const order = random.below(2) === 0 ? [leader, standby] : [standby, leader];
      for (const node of order) {
        node.launch();
        await aMoment(random.below(1_000));
      }
      await world.untilLeading(epoch + 1);
    },
  },
  fullDisk: {
    outcome: 'another',
    weight: 2,
    play: async ({ leader, disk, untilTakenOver, note }) => {
      const full = disk(leader);
      assert.ok(full !== null);
      full.fill();
      const how = await leader.ended;
      note(`ended with ${how}`);
      assert.ok(DISK_FULL.includes(how), leader.stderr);
      await untilTakenOver();
      full.empty();
      leader.launch();
      await leader.until('following');
    },
  },
  fullDiskOfStandby: {
    outcome: 'same',
    weight: 1,
    play: async ({ standby, disk, note }) => {
      const full = disk(standby);
      assert.ok(full !== null);
      full.fill();
      const how = await standby.ended;
      note(`ended with ${how}`);
      assert.ok(DISK_FULL.includes(how), standby.stderr);
      full.empty();
      standby.launch();
      await standby.until('following');
    },
  },
  fullDiskOfServer: {
    outcome: 'same',
    weight: 1,
    play: async ({ world, serverDisk }) => {
      assert.ok(serverDisk !== null);
      const last = world.servers.names.at(-1) ?? '';
      serverDisk.fill();
      await aMoment(SERVERS_DOWN_MS);
      serverDisk.empty();
      // A server that has left JetStream comes back at its next start.
      world.servers.kill(last);
      world.servers.launch(last);
    },
  },
  fullStream: {
    outcome: 'same',
    weight: 2,
    play: async ({ world, leader, note }) => {
      const info = await world.admin.log.info();
      assert.ok(info !== null);
      await world.admin.log.resizeJournal(info.bytes + 65_536);
      await eventually(() => leader.state === 'stalled' || !leader.isRunning);
      await aMoment(2 * LEASE_MS);
      await world.admin.log.resizeJournal(STREAM_BYTES);
      await world.untilLeading();
      note('the leader goes on');
    },
  },
};

export const FAULT_KINDS: readonly string[] = Object.keys(FAULTS);
/** These need a disk of its own for a node or a server. */
const ON_DISKS: ReadonlySet<string> = new Set(['fullDisk', 'fullDiskOfStandby', 'fullDiskOfServer']);

async function electedBeside(world: ClusterWorld, gone: string): Promise<void> {
  await eventually(async () => {
    const info = await world.admin.log.info();
    return info !== null && info.leader !== gone;
  });
}

/** Of one kind of fault. */
interface Times {
  runs: number;
  /** From the fault until another node prints that it leads; those with a takeover alone. */
  readonly leadingMs: number[];
  /** The longest time without an order that was answered, around the fault. */
  readonly silentMs: number[];
  readonly notes: Map<string, number>;
}

export interface FailoverResult {
  readonly problems: readonly string[];
  readonly counts: {
    readonly runs: number;
    readonly takeovers: number;
    readonly confirmed: number;
    readonly received: number;
    readonly kinds: Readonly<Record<string, object>>;
    /** Records a second that a node read between joining and following. */
    readonly catchUp: object | null;
    readonly confirmMs: object | null;
  };
}

export interface FailoverOptions {
  readonly seed: number;
  /** Faults. */
  readonly runs: number;
  /** Default: all that this machine can bring about. */
  readonly kinds?: readonly string[];
  readonly perSecond?: number;
  readonly members?: ClusterWorldOptions['members'];
  readonly said?: (line: string) => void;
}

/** @param program of the server. Problems name the seed, the fault and what each node printed. */
export async function failoverCampaign(program: string, options: FailoverOptions): Promise<FailoverResult> {
  const random = new SeededRandom(options.seed);
  const figures = new Figures();
  const problems: string[] = [];
  for (let played = 0; played < options.runs; ) {
    const faults = Math.min(FAULTS_IN_A_WORLD, options.runs - played);
    try {
      await playWorld(program, options, random, figures, faults);
    } catch (error) {
      const problem = `seed ${options.seed}, faults ${played} to ${played + faults}: ${String(error)}`;
      problems.push(problem);
      options.said?.(problem);
    }
    played += faults;
  }
  return { problems, counts: figures.counts(options.runs) };
}

async function playWorld(
  program: string,
  { kinds, perSecond = 200, members, said = () => undefined }: FailoverOptions,
  random: SeededRandom,
  figures: Figures,
  faults: number,
): Promise<void> {
  const drawn = Array.from({ length: faults }, () => draw(random, kinds ?? FAULT_KINDS));
  const serverDisk = drawn.includes('fullDiskOfServer') ? SmallDisk.mount(SERVER_DISK_MIB) : null;
  const stores = serverDisk === null ? {} : { stores: { nats3: serverDisk.directory } };
  const world = await ClusterWorld.start(program, {
    ...stores,
    ...(members === undefined ? {} : { members }),
    bytesMax: STREAM_BYTES,
  });
  const disks = new Map<ClusterNode, SmallDisk>();
  if (drawn.some((kind) => kind === 'fullDisk' || kind === 'fullDiskOfStandby'))
    for (const node of world.nodes) {
      const disk = SmallDisk.mount(DISK_MIB);
      if (disk === null) continue;
      disks.set(node, disk);
      node.dataDirectory = join(disk.directory, 'data');
      mkdirSync(node.dataDirectory);
    }
  const load = new ClusterLoad(world, random, { perSecond });
  const watcher = new Watcher(world);
  let last: string = 'start';
  try {
    await world.startNodes();
    const [first] = world.nodes;
    assert.ok(first !== undefined);
    const { status } = await operator(first, 'PATCH', '/operator/settings', { acks: 'durable', disk_reserve_mib: 0 });
    assert.equal(status, 200);
    await load.begin();
    void watcher.run();
    for (const kind of drawn) {
      last = kind;
      const isPossible = !ON_DISKS.has(kind) || (kind === 'fullDiskOfServer' ? serverDisk !== null : disks.size > 0);
      if (!isPossible) {
        figures.skipped(kind);
        continue;
      }
      await load.untilConfirmed(SIDES_BEFORE_A_FAULT);
      await playFault(world, load, kind, { random, figures, disks, serverDisk, said });
    }
    last = 'check';
    await load.stop();
    await load.check({ isDurable: true });
    assert.deepEqual(watcher.problems, []);
  } catch (error) {
    const refused = JSON.stringify([...load.refused]);
    throw new Error(
      `${drawn.join(' ')}, at ${last}: ${error instanceof Error ? error.stack : String(error)}\nrefused ${refused}\n${await world.story()}`,
    );
  } finally {
    watcher.stop();
    figures.add(load, world);
    load.close();
    await world.close();
    for (const disk of disks.values()) disk.unmount();
    serverDisk?.unmount();
  }
}

async function playFault(
  world: ClusterWorld,
  load: ClusterLoad,
  kind: string,
  parts: {
    readonly random: SeededRandom;
    readonly figures: Figures;
    readonly disks: ReadonlyMap<ClusterNode, SmallDisk>;
    readonly serverDisk: SmallDisk | null;
    readonly said: (line: string) => void;
  },
): Promise<void> {
  const { outcome, play } = faultOf(kind);
  const { node: leader, epoch } = await world.untilLeading();
  const standby = world.nodes.find((other) => other !== leader);
  const info = await world.admin.log.info();
  assert.ok(standby !== undefined && info !== null);
  await aMoment(parts.random.below(400));
  const fromMs = performance.now();
  let leadingMs: number | null = null;
  await play({
    world,
    random: parts.random,
    leader,
    standby,
    streamLeader: info.leader,
    epoch,
    disk: (node) => parts.disks.get(node) ?? null,
    serverDisk: parts.serverDisk,
    untilTakenOver: async () => {
      const next = await world.untilLeading(epoch + 1);
      leadingMs = performance.now() - fromMs;
      assert.equal(next.node, standby, 'the standby leads');
    },
    note: (what) => parts.figures.noted(kind, what),
  });
  await untilWhole(world);
  await load.untilConfirmed(SIDES_AFTER_A_FAULT);
  const after = await world.untilLeading();
  if (outcome === 'same')
    assert.deepEqual([after.node.name, after.epoch], [leader.name, epoch], `${kind}: the same node leads`);
  if (outcome === 'another') assert.ok(after.epoch > epoch, `${kind}: an epoch further`);
  const silentMs = load.longestSilenceMs(fromMs);
  parts.figures.played(kind, { leadingMs, silentMs, takeovers: after.epoch - epoch });
  const led = leadingMs === null ? '' : `, leads after ${Math.round(leadingMs)} ms`;
  parts.said(`${kind}: epoch ${epoch} to ${after.epoch}${led}, ${Math.round(silentMs)} ms without an answer`);
}

/** A node leads, the other follows without lag, every server is current. */
async function untilWhole(world: ClusterWorld): Promise<void> {
  let last: object = {};
  await eventually(
    async () => {
      const status = await world.admin.status();
      last = status;
      // What a leader wrote and did not store is dropped when it comes back; it counts until somebody has seen it.
      for (const { node, dropped } of status.members) if (dropped > 0) await world.admin.acknowledge(node);
      return status.isSound && status.stream?.servers.every(({ current }) => current) === true;
    },
    () => `the cluster is not whole again: ${JSON.stringify(last)}`,
  );
}

/** @throws Error for a kind that there is not. */
function faultOf(kind: string): Fault {
  const fault = FAULTS[kind];
  if (fault === undefined) throw new Error(`there is no fault ${kind}`);
  return fault;
}

function draw(random: SeededRandom, kinds: readonly string[]): string {
  const total = kinds.reduce((sum, kind) => sum + faultOf(kind).weight, 0);
  let left = random.below(total);
  for (const kind of kinds) {
    left -= faultOf(kind).weight;
    if (left < 0) return kind;
  }
  throw new Error('no kinds');
}

/**
 * Asks all nodes who leads, without an end. Two nodes never lead: an answer to a question that was put after another node had
 * answered that it leads with a higher epoch does not say that it leads.
 */
class Watcher {
  readonly problems: string[] = [];
  readonly #world: ClusterWorld;
  #highest: { readonly epoch: number; readonly name: string } = { epoch: 0, name: '' };
  #isStopped = false;

  constructor(world: ClusterWorld) {
    this.#world = world;
  }

  async run(): Promise<void> {
    await Promise.all(this.#world.nodes.map((node) => this.#ask(node)));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #ask(node: ClusterNode): Promise<void> {
    while (!this.#isStopped) {
      const { epoch, name } = this.#highest;
      const view = await node.view();
      if (view?.state === 'leading') {
        if (view.epoch < epoch || (view.epoch === epoch && name !== node.name))
          this.problems.push(`${node.name} leads with epoch ${view.epoch} after ${name} with ${epoch}`);
        if (view.epoch > this.#highest.epoch) this.#highest = { epoch: view.epoch, name: node.name };
      }
      await aMoment(WATCH_MS);
    }
  }
}

class Figures {
  readonly #kinds = new Map<string, Times>();
  readonly #catchUp: { readonly records: number; readonly ms: number }[] = [];
  readonly #confirmMs: number[] = [];
  #takeovers = 0;
  #confirmed = 0;
  #received = 0;

  played(
    kind: string,
    {
      leadingMs,
      silentMs,
      takeovers,
    }: { readonly leadingMs: number | null; readonly silentMs: number; readonly takeovers: number },
  ): void {
    const times = this.#of(kind);
    times.runs += 1;
    if (leadingMs !== null) times.leadingMs.push(leadingMs);
    times.silentMs.push(silentMs);
    this.#takeovers += takeovers;
  }

  skipped(kind: string): void {
    this.noted(kind, 'cannot be brought about here');
  }

  noted(kind: string, what: string): void {
    const { notes } = this.#of(kind);
    notes.set(what, (notes.get(what) ?? 0) + 1);
  }

  add(load: ClusterLoad, world: ClusterWorld): void {
    this.#confirmed += load.confirmed().length;
    this.#received += load.receivedAtMs.length;
    this.#confirmMs.push(...load.confirmedAfterMs);
    for (const node of world.nodes) {
      const found = node.wasStarted ? catchUpOf(node) : null;
      if (found !== null) this.#catchUp.push(found);
    }
  }

  counts(runs: number): FailoverResult['counts'] {
    const kinds = Object.fromEntries(
      [...this.#kinds].map(([kind, { runs: played, leadingMs, silentMs, notes }]) => [
        kind,
        {
          runs: played,
          ...(leadingMs.length === 0 ? {} : { leading_ms: spreadOf(leadingMs) }),
          ...(silentMs.length === 0 ? {} : { silent_ms: spreadOf(silentMs) }),
          ...(notes.size === 0 ? {} : { notes: Object.fromEntries(notes) }),
        },
      ]),
    );
    const records = this.#catchUp.reduce((sum, each) => sum + each.records, 0);
    const ms = this.#catchUp.reduce((sum, each) => sum + each.ms, 0);
    return {
      runs,
      takeovers: this.#takeovers,
      confirmed: this.#confirmed,
      received: this.#received,
      kinds,
      catchUp: ms === 0 ? null : { records, ms: Math.round(ms), per_second: Math.round((records / ms) * 1_000) },
      confirmMs: this.#confirmMs.length === 0 ? null : spreadOf(this.#confirmMs),
    };
  }

  #of(kind: string): Times {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const made: Times = { runs: 0, leadingMs: [], silentMs: [], notes: new Map() };
    this.#kinds.set(kind, made);
    return made;
  }
}

/** Records between joining and following, of the life that runs. */
function catchUpOf({ states }: ClusterNode): { readonly records: number; readonly ms: number } | null {
  const joining = states.find(({ state }) => state === 'joining');
  const following = states.find(({ state }) => state === 'following');
  if (joining === undefined || following === undefined) return null;
  return { records: following.sequence - joining.sequence, ms: following.atMs - joining.atMs };
}

/** Milliseconds, rounded to tenths. */
export function spreadOf(values: readonly number[]): Readonly<Record<'count' | 'min' | 'p50' | 'p99' | 'max', number>> {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return Math.round(value * 10) / 10;
  };
  return { count: sorted.length, min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}
