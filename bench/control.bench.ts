/**
 * `/control` end to end: a whole node as a child process, the load generator (src/load) as another, and, in the same run
 * with the same generator, the floor: raw uWebSockets.js plus one native verification per message.
 *
 * Parts, each optional: `--parts rate-1000,rate-3000,saturation`. Node and floor are measured in turn within a round.
 *
 *   rate-1000, rate-3000     creates that trade, open loop, against the floor at the same rate
 *   saturation               creates that trade, 256 in flight, against the floor's
 *   cancels, replaces        resting orders, open loop at 1,000 messages a second
 *   batches                  1,000 orders a second, in batches of ten
 *   margin                   creates that trade positions, open loop at 1,000 a second
 *   streams                  creates with the buyer's stream of trades open (fills Pending, fills Confirmed), and creates
 *                            that rest, with the stream of depth updates open
 *
 * docs/latency.md describes the method and what the figures include. Figures other than ratios depend on the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DEV_OPERATOR_TOKEN, OperatorClient } from '../src/client/operator.ts';
import { latenessFault } from '../src/load/lateness.ts';
import { makeMarginMarket, makeSpotMarket } from '../src/load/load-market.ts';
import {
  BATCH_ORDERS,
  type FloorTarget,
  type Flow,
  type Latency,
  type LoadMarket,
  type LoadPlan,
  type LoadResult,
  type NodeTarget,
  type Timed,
} from '../src/load/plan.ts';
import { runPlan } from '../src/load/run-plan.ts';
import { type NodeProcess, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchOptions, type BenchResult, type BenchRow, median, type Scale } from './bench-kit.ts';

const FLOOR = fileURLToPath(new URL('./control-floor.js', import.meta.url));
const IN_FLIGHT = 256;
/** Fewer than the signatures of a connection that may wait in the node: a rejection fails the run. */
const UNANSWERED_MAX = 320;
const WARM_UP = 10_000;
const ATTEMPTS = 3;
const SLOW = 1_000;
const FAST = 3_000;

interface Size {
  readonly rounds: number;
  readonly seconds: number;
}
const SIZES: Readonly<Record<Scale, Size>> = {
  small: { rounds: 1, seconds: 1 },
  full: { rounds: 5, seconds: 10 },
};
/** Messages of a saturation run, for each second of the others. */
const BURST_PER_SECOND = 3_000;

/** What is measured with and what it is measured against. */
interface Setting {
  readonly node: NodeProcess;
  readonly operator: OperatorClient;
  readonly spot: LoadMarket;
  readonly floor: FloorTarget;
  readonly size: Size;
  readonly scale: Scale;
}

async function startFloor(): Promise<{ readonly child: ChildProcess; readonly target: FloorTarget }> {
  const child = spawn(process.execPath, [FLOOR], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { base } = JSON.parse(line.toString()) as { base: string };
  return { child, target: { kind: 'floor', base } };
}

/**
 * Requires a reply to every message, no rejection and a punctual generator; otherwise the figures mean nothing. A run
 * during which the generator was late is repeated; with `small` it counts, because nothing is concluded from it.
 */
async function perform(plan: LoadPlan, scale: Scale): Promise<LoadResult> {
  let fault: string | null = null;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const result = await runPlan(plan);
    const { unanswered, firstRejection, closed } = result;
    if (unanswered > 0 || firstRejection !== null) {
      const why = closed ?? (firstRejection === null ? '' : `rejected with ${firstRejection}`);
      throw new Error(`${unanswered} messages were not answered or not received: ${why}`);
    }
    fault = latenessFault(result);
    if (fault === null || scale === 'small') return result;
    process.stderr.write(`  again: ${fault}\n`);
  }
  throw new Error(`nothing was measured, ${ATTEMPTS} times: ${fault}`);
}

function planOf({ node, size }: Setting, target: NodeTarget | FloorTarget, flow: Flow, perSecond: number): LoadPlan {
  const messages = flow === 'batches' ? perSecond / BATCH_ORDERS : perSecond;
  const count = messages * size.seconds;
  return {
    target,
    flow,
    pace: { kind: 'open', perSecond: messages, unansweredMax: UNANSWERED_MAX },
    warmUp: count >> 1,
    count,
    streams: false,
    hops: false,
    pid: target.kind === 'node' ? node.pid : null,
  };
}

function targetOf({ node, spot }: Setting, market: LoadMarket = spot): NodeTarget {
  return {
    kind: 'node',
    oms: node.oms,
    mds: null,
    users: { kind: 'new', ops: node.ops, token: DEV_OPERATOR_TOKEN },
    market,
  };
}

/** Figures of one round, by label and unit: a part measures the same ones in every round. */
type Figures = Map<string, BenchRow>;

const PERCENTILES: readonly (readonly [keyof Latency & `${'p' | 'm'}${string}`, string])[] = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
  ['p9999', 'p99.99'],
  ['max', 'max'],
];

function add(figures: Figures, label: string, value: number, unit: string): void {
  figures.set(label, { label, value, unit });
}

function addLatency(figures: Figures, label: string, latency: Latency | undefined, names = PERCENTILES.length): void {
  if (latency === undefined) throw new Error(`${label}: none was measured`);
  for (const [member, name] of PERCENTILES.slice(0, names)) add(figures, `${label}, ${name}`, latency[member], 'µs');
}

function addCpu(figures: Figures, label: string, { cpu }: LoadResult): void {
  if (cpu !== null) add(figures, `${label}, CPU of all threads`, cpu.total, 'µs/order');
}

async function rate(figures: Figures, setting: Setting, perSecond: number): Promise<void> {
  const { floor, scale } = setting;
  const bare = await perform(planOf(setting, floor, 'creates', perSecond), scale);
  const node = await perform(planOf(setting, targetOf(setting), 'creates', perSecond), scale);
  const [below, creates] = [bare.latencies.create, node.latencies.create];
  addLatency(figures, `floor, ${perSecond}/s`, below);
  addLatency(figures, `creates, ${perSecond}/s`, creates);
  for (const [member, name] of PERCENTILES.filter(([, each]) => ['p50', 'p99', 'p99.9'].includes(each))) {
    const ratio = (creates?.[member] ?? Number.NaN) / (below?.[member] ?? Number.NaN);
    add(figures, `creates to floor, ${perSecond}/s, ${name}`, ratio, '×');
  }
  addCpu(figures, `creates, ${perSecond}/s`, node);
  addLatency(figures, `generator late against the node, ${perSecond}/s`, node.lateness, 3);
  addLatency(figures, `generator late against the floor, ${perSecond}/s`, bare.lateness, 3);
}

async function saturation(figures: Figures, setting: Setting): Promise<void> {
  const { floor, size, scale } = setting;
  const count = BURST_PER_SECOND * size.seconds;
  const burst = (target: NodeTarget | FloorTarget): LoadPlan => ({
    ...planOf(setting, target, 'creates', 0),
    pace: { kind: 'closed', inFlight: IN_FLIGHT },
    warmUp: count >> 2,
    count,
  });
  const bare = await perform(burst(floor), scale);
  const node = await perform(burst(targetOf(setting)), scale);
  add(figures, `floor, ${IN_FLIGHT} in flight`, bare.perSecond, '/s');
  add(figures, `creates, ${IN_FLIGHT} in flight`, node.perSecond, '/s');
  add(figures, 'saturation to floor', node.perSecond / bare.perSecond, '×');
  addCpu(figures, `creates, ${IN_FLIGHT} in flight`, node);
}

async function flow(
  figures: Figures,
  setting: Setting,
  name: Flow,
  timed: readonly (readonly [Timed, string])[],
): Promise<void> {
  const market = name === 'margin' ? await makeMarginMarket(setting.operator) : setting.spot;
  const result = await perform(planOf(setting, targetOf(setting, market), name, SLOW), setting.scale);
  for (const [kind, label] of timed) addLatency(figures, label, result.latencies[kind]);
  addCpu(figures, `${name}, ${SLOW}/s`, result);
}

async function streams(figures: Figures, setting: Setting): Promise<void> {
  const plan = { ...planOf(setting, targetOf(setting), 'creates', SLOW), streams: true };
  const { latencies } = await perform(plan, setting.scale);
  addLatency(figures, `creates with streams, ${SLOW}/s`, latencies.create);
  addLatency(figures, 'fills Pending after the create was due', latencies.pending);
  addLatency(figures, 'fills Confirmed after the create was due', latencies.confirmed);
  const resting = { ...planOf(setting, targetOf(setting), 'mix', SLOW), streams: true };
  const watched = await perform({ ...resting, target: { ...targetOf(setting), mds: setting.node.mds } }, setting.scale);
  addLatency(figures, 'depth update after the create was due', watched.latencies.depth);
}

/** The node's code is compiled before the first part is measured. */
async function warmUp(setting: Setting): Promise<void> {
  const pace = { kind: 'closed', inFlight: IN_FLIGHT } as const;
  await runPlan({ ...planOf(setting, targetOf(setting), 'creates', 0), pace, warmUp: 0, count: WARM_UP });
}

type Part = (figures: Figures, setting: Setting) => Promise<void>;

const PARTS: Readonly<Record<string, Part>> = {
  'rate-1000': (figures, setting) => rate(figures, setting, SLOW),
  'rate-3000': (figures, setting) => rate(figures, setting, FAST),
  saturation,
  cancels: (figures, setting) =>
    flow(figures, setting, 'mix', [
      ['create', `mix, ${SLOW}/s, creates`],
      ['cancel', `mix, ${SLOW}/s, cancels`],
    ]),
  replaces: (figures, setting) => flow(figures, setting, 'replaces', [['replace', `replaces, ${SLOW}/s`]]),
  batches: (figures, setting) =>
    flow(figures, setting, 'batches', [['batch', `batches of ${BATCH_ORDERS}, ${SLOW} orders/s, all answered`]]),
  margin: (figures, setting) => flow(figures, setting, 'margin', [['create', `margin creates, ${SLOW}/s`]]),
  streams,
};

/** @returns pairs of name and part. */
function partsOf({ parts }: BenchOptions): readonly (readonly [string, Part])[] {
  const names = parts ?? Object.keys(PARTS);
  return names.map((name) => {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
    if (part === undefined) throw new Error(`control has no part ${name}; it has ${Object.keys(PARTS).join(', ')}`);
    return [name, part] as const;
  });
}

/** The median of every figure over the rounds. */
function rowsOf(rounds: readonly Figures[]): readonly BenchRow[] {
  return [...(rounds[0]?.values() ?? [])].map(({ label, unit }) => ({
    label,
    value: median(rounds.map((figures) => figures.get(label)?.value ?? Number.NaN)),
    unit,
  }));
}

export async function run(scale: Scale, options: BenchOptions = {}): Promise<BenchResult> {
  const parts = partsOf(options);
  const { rounds, seconds } = { ...SIZES[scale], ...options };
  const floor = await startFloor();
  const node = await startNode({ profile: 'dev' });
  const operator = new OperatorClient(node.ops);
  try {
    const spot = await makeSpotMarket(operator);
    const setting = { node, operator, spot, floor: floor.target, size: { rounds, seconds }, scale };
    if (scale === 'full') await warmUp(setting);
    const measured: Figures[] = [];
    for (let index = 0; index < rounds; index += 1) {
      const figures: Figures = new Map();
      for (const [name, part] of parts) {
        process.stderr.write(`round ${index + 1} of ${rounds}, ${name}\n`);
        await part(figures, setting);
      }
      measured.push(figures);
    }
    return {
      name: 'control',
      rows: rowsOf(measured),
      checks: `every message answered, none refused, what the buyer owns is right after every run; ${rounds} rounds`,
    };
  } catch (error) {
    throw new Error(`the run failed; the node's standard error:\n${node.stderr()}`, { cause: error });
  } finally {
    operator.close();
    floor.child.kill();
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
