/**
 * A whole node under a steady load for minutes, half of it after a kill -9: what grows that should not?
 *
 *   start ─▶ load ─▶ look … look ─▶ kill -9 ─▶ verify ─▶ start ─▶ load ─▶ look … look ─▶ rest, compare, stop ─▶ verify
 *
 * The load is that of the other campaigns (node-load.ts) at a pace: spot and margin orders of all kinds, triggers, cancels,
 * two streams that stay. Beside it a visitor comes and goes: a session, sockets, pages, a replace, a cancel-all.
 *
 * Grows for ever: what is kept by contract, history in the data file and the ids of the last thirty days in memory, so many
 * bytes an order. Must not grow: descriptors, what waits in rings and for sockets, heaps, the time of an answer.
 *
 * What grows once, and would hide what grows for ever, is kept small here or left out: rings are touched on their first
 * lap, so they are short; old objects wait for a collector, so it comes often; young ones grow up to a bound, so what
 * heaps have taken from the system is not counted among the memory outside them.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey, generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { type Family, parseExposition } from './exposition.ts';
import { checkBook, checkHistory, Load } from './node-load.ts';
import { barrier, type NodeProcess, startNode, stopNode } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import { recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

const LOOKS = 6;
const REPORTS = 3;
const VISIT_MS = 1_000;
const VISITS_PER_SWEEP = 5;
const ETH = '2';

/** What may be more at the last look of a life than at its second: the first is while caches and books fill. */
const MORE_MAX = {
  descriptors: 24,
  /** In the second half of a life against the first: books that fill, and what collectors leave. */
  heapsMiB: 32,
  /** Beside what orders leave: buffers that wait for a collector, and what malloc keeps. */
  outsideMiB: 32,
};
/** Ids of thirty days in their market take 60, trades of a day in market data 32 to 64. */
const BYTES_PER_ORDER = 128;
/** An old generation may be a fifth longer than what lived in it. */
export const COLLECTS_OFTEN: readonly string[] = ['--heap-growing-percent=20'];
const RING_BYTES = 1_048_576;
export const SHORT_RINGS: Readonly<Record<string, number>> = {
  commandBytes: RING_BYTES,
  commandReservedBytes: RING_BYTES / 4,
  eventBytes: RING_BYTES,
  depthBytes: RING_BYTES,
};
/** Records that may wait at the calmest of some moments: as a turn leaves them. */
const WAITING_MAX = 512;

export interface SoakWish {
  readonly seed: number;
  /** Of load, both lives together. */
  readonly minutes: number;
  readonly perSecond: number;
}

/** What a node was at one moment. */
interface Look {
  readonly seconds: number;
  /** Answered since the node started. */
  readonly orders: number;
  /** Memory that is no file's. */
  readonly memoryMiB: number;
  /** Of it, what is in no heap of a thread, at the least of some moments. */
  readonly outsideMiB: number;
  /** What has outlived young objects, the main thread first, then workers as they were made: the least of some moments. */
  readonly heapsMiB: readonly number[];
  readonly descriptors: number;
  /** Records in all mailboxes, at the least of some moments. */
  readonly waiting: number;
  readonly backlogKiB: number;
  readonly sockets: number;
  readonly fileMiB: number;
  /** Of orders since the last look. */
  readonly answerMsP50: number;
  readonly answerMsP99: number;
}

export interface SoakResult {
  readonly problems: readonly string[];
  readonly visits: number;
  readonly confirmed: number;
  /** By life. */
  readonly looks: readonly (readonly Look[])[];
}

export async function soak({ seed, minutes, perSecond }: SoakWish): Promise<SoakResult> {
  const home = temporaryDirectory();
  const dataDirectory = join(home, 'data');
  const marginIds = new Set<string>();
  const random = new SeededRandom(seed);
  const problems: string[] = [];
  const looks: (readonly Look[])[] = [];
  let [visits, confirmed] = [0, 0];
  let node: NodeProcess | null = null;
  try {
    for (const isLast of [false, true]) {
      node = await startReporting(dataDirectory);
      const load = new Load(node, random, marginIds, perSecond);
      let fault: unknown = null;
      const running = load.run().catch((error: unknown) => {
        fault = error;
      });
      // A user is in one login at a time.
      await eventually(() => load.orders.size > 0);
      const visitor = new Visitor(node);
      const visiting = visitor.run();
      const seen = await watched(node, load, (minutes * 60_000) / 2);
      looks.push(seen);
      problems.push(...growthIn(seen).map((what) => `life ${looks.length}: ${what}`));
      visitor.stop();
      visits += await visiting;
      assert.equal(fault, null, 'the load goes on to the end');
      if (!isLast) await stopNode(node, 'SIGKILL');
      load.stop();
      await running;
      load.close();
      if (!isLast) {
        await recoveredAndReplayed(dataDirectory);
        node = await startReporting(dataDirectory);
      }
      await barrier(node);
      await checkHistory(node, load, marginIds);
      await checkBook(node);
      confirmed += load.confirmed().length;
      assert.equal(await stopNode(node), 0, node.stderr());
    }
    await recoveredAndReplayed(dataDirectory);
  } finally {
    if (node !== null) await stopNode(node, 'SIGKILL');
    removeDirectory(home);
  }
  return { problems, visits, confirmed, looks };
}

/** Each reports what has grown. */
function growthIn(looks: readonly Look[]): readonly string[] {
  const [, first] = looks;
  const last = looks.at(-1);
  assert.ok(first !== undefined && last !== undefined);
  const ofOrders = mebibytes((last.orders - first.orders) * BYTES_PER_ORDER);
  const more = {
    descriptors: last.descriptors - first.descriptors,
    heapsMiB: sum(leastHeaps(looks.slice(LOOKS / 2))) - sum(leastHeaps(looks.slice(0, LOOKS / 2))),
    outsideMiB: last.outsideMiB - first.outsideMiB - ofOrders,
  };
  const grown = (Object.keys(more) as (keyof typeof more)[]).filter((what) => more[what] > MORE_MAX[what]);
  const waits = last.waiting > WAITING_MAX ? [`${last.waiting} records wait`] : [];
  return [...grown.map((what) => `${what}: ${more[what].toFixed(1)} more, ${MORE_MAX[what]} may be`), ...waits];
}

/** By thread. What waits for a collector comes and goes: clearing's heap has 17 MiB at one look and 73 at another. */
function leastHeaps(looks: readonly Look[]): readonly number[] {
  return (looks[0]?.heapsMiB ?? []).map((_, thread) => Math.min(...looks.map(({ heapsMiB }) => heapsMiB[thread] ?? 0)));
}

// ---- what a node is

/** It writes a report of its threads and handles on SIGUSR2. */
function startReporting(dataDirectory: string): Promise<NodeProcess> {
  const directory = reportsOf(dataDirectory);
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ extends: 'dev', orderWaitMsMax: 0, rings: SHORT_RINGS }));
  const reporting = `--report-on-signal --report-compact --report-directory=${directory}`;
  const env = { RINGBOOK_CONFIG: config, NODE_OPTIONS: reporting };
  return startNode({ profile: 'dev', dataDirectory, engine: COLLECTS_OFTEN, env });
}

async function watched(node: NodeProcess, load: Load, forMs: number): Promise<readonly Look[]> {
  const startedAt = performance.now();
  const looks: Look[] = [];
  for (let look = 1; look <= LOOKS; look += 1) {
    await aMoment(Math.max(0, startedAt + (forMs * look) / LOOKS - performance.now()));
    assert.equal(node.child.exitCode, null, `the node ended: ${node.stderr()}`);
    looks.push(await lookAt(node, load, (performance.now() - startedAt) / 1_000));
  }
  return looks;
}

async function lookAt(node: NodeProcess, load: Load, seconds: number): Promise<Look> {
  const times = load.answeredAfterMs.splice(0).sort((a, b) => a - b);
  const at = (part: number): number => Math.round((times[Math.floor(times.length * part)] ?? Infinity) * 10) / 10;
  const moments: (Memory & { readonly families: ReadonlyMap<string, Family> })[] = [];
  for (let moment = 0; moment < REPORTS; moment += 1) {
    moments.push({ ...(await memoryOf(node)), families: await metricsOf(node) });
  }
  const numbers = (name: string): readonly number[] => {
    return moments.map(({ families }) => sum(families.get(name)?.samples.values() ?? []));
  };
  const least = (values: readonly number[]): number => Math.min(...values);
  return {
    seconds: Math.round(seconds),
    orders: least(numbers('ringbook_orders_total')),
    memoryMiB: mebibytes(least(moments.map(({ all }) => all))),
    outsideMiB: mebibytes(least(moments.map(({ outside }) => outside))),
    heapsMiB: (moments[0]?.heaps ?? []).map((_, thread) => {
      return mebibytes(least(moments.map(({ heaps }) => heaps[thread] ?? Infinity)));
    }),
    descriptors: readdirSync(`/proc/${node.pid}/fd`).length,
    waiting: least(numbers('ringbook_mailbox_depth')),
    backlogKiB: Math.round(least(numbers('ringbook_socket_backlog_bytes')) / 1_024),
    sockets: least(numbers('ringbook_sockets')),
    fileMiB: mebibytes(least(numbers('ringbook_data_file_bytes'))),
    answerMsP50: at(0.5),
    answerMsP99: at(0.99),
  };
}

async function metricsOf(node: NodeProcess): Promise<ReadonlyMap<string, Family>> {
  const response = await fetch(`${node.ops}/metrics`);
  return parseExposition(await response.text());
}

interface Thread {
  readonly header: { readonly threadId: number };
  readonly javascriptHeap: {
    readonly totalCommittedMemory: number;
    readonly heapSpaces: Readonly<Record<string, { readonly used: number }>>;
  };
}

type Report = Thread & { readonly workers: readonly Thread[] };

/** Bytes. */
interface Memory {
  /** That is no file's. */
  readonly all: number;
  /** That no heap has taken. */
  readonly outside: number;
  /** What has outlived young objects, by thread. */
  readonly heaps: readonly number[];
}

const reportsOf = (dataDirectory: string): string => dirname(dataDirectory);

async function memoryOf({ pid, dataDirectory, child }: NodeProcess): Promise<Memory> {
  const directory = reportsOf(dataDirectory);
  let report: Report | null = null;
  child.kill('SIGUSR2');
  await eventually(() => {
    const name = readdirSync(directory).find((file) => file.startsWith('report.') && file.includes(`.${pid}.`));
    if (name === undefined) return false;
    report = parsed(readFileSync(join(directory, name), 'utf8'));
    if (report !== null) rmSync(join(directory, name));
    return report !== null;
  });
  const { workers, ...main } = report as unknown as Report;
  const threads = [main, ...[...workers].sort((a, b) => a.header.threadId - b.header.threadId)];
  const all = statusKiB(pid, 'RssAnon') * 1_024;
  return {
    all,
    outside: all - sum(threads.map(({ javascriptHeap }) => javascriptHeap.totalCommittedMemory)),
    heaps: threads.map(({ javascriptHeap: { heapSpaces } }) => {
      return sum(Object.entries(heapSpaces).map(([space, { used }]) => (space.startsWith('new_') ? 0 : used)));
    }),
  };
}

/** Null while it is being written. */
function parsed(text: string): Report | null {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return null;
  }
}

function statusKiB(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]);
}

const sum = (values: Iterable<number>): number => [...values].reduce((all, value) => all + value, 0);
const mebibytes = (bytes: number): number => Math.round(bytes / 104_857.6) / 10;

// ---- who comes and goes

/** Opens and closes what one of the two users may have, in turn, and a session of a user who has nothing. */
class Visitor {
  readonly #node: NodeProcess;
  #isStopped = false;

  constructor(node: NodeProcess) {
    this.#node = node;
  }

  /** @returns how often it came. */
  async run(): Promise<number> {
    const { oms, mds } = this.#node;
    const [one, other] = (['a', 'b'] as const).map((name) => new RingbookClient({ oms, mds, key: devKey(name) }));
    const stranger = new RingbookClient({ oms, mds, key: keyFromSeed(generateSeed()) });
    assert.ok(one !== undefined && other !== undefined);
    // Once: a user has 32 sessions, and a logout ends them all.
    for (const client of [one, other]) await client.login();
    let visits = 0;
    for (; !this.#isStopped; visits += 1) {
      await stranger.login();
      await visit(visits % 2 === 0 ? one : other, visits % VISITS_PER_SWEEP === 0);
      await stranger.logout();
      await aMoment(VISIT_MS);
    }
    for (const client of [one, other, stranger]) client.close();
    return visits;
  }

  stop(): void {
    this.#isStopped = true;
  }
}

async function visit(client: RingbookClient, sweeps: boolean): Promise<void> {
  const streams = [
    await client.orderEvents(),
    await client.userTrades(),
    await client.depthDiffs(ETH),
    await client.tradeStream(ETH),
    await client.margin.figureStream(),
  ];
  const control = await client.control();
  const { items } = await client.orders({ openOnly: true, limit: 100 });
  const [order] = items;
  // It may be filled by now.
  const change = { assetId: ETH, quantity: '0.1' };
  if (order !== undefined) await client.replace({ ...change, orderId: order.orderId }).catch(() => undefined);
  await client.orders({ limit: 100 });
  await client.trades({ limit: 100, page: 3 });
  await client.margin.figures();
  await client.depth(ETH);
  await client.klines(ETH);
  if (sweeps) await client.cancelAll();
  control.close();
  for (const stream of streams) stream.close();
}
