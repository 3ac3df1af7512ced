/**
 * `/control` end to end: a whole node as a child process, a load generator as another, and, in the same run with the
 * same generator, the floor: raw uWebSockets.js plus one native verification per message.
 *
 * docs/latency.md describes the method and what the figures include. Figures other than ratios depend on the machine.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { OperatorClient } from '../src/client/operator.ts';
import { must } from '../src/core/assert.ts';
import { startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchResult, type BenchRow, median, type Scale } from './bench-kit.ts';
import type { ControlFlow, ControlPlan, ControlResult, Latency } from './control-plan.ts';

const LOAD = fileURLToPath(new URL('./control-load.js', import.meta.url));
const FLOOR = fileURLToPath(new URL('./control-floor.js', import.meta.url));
const ASSET = '900';
const PER_SECOND = 1_000;
const IN_FLIGHT = 256;

interface Size {
  readonly rounds: number;
  readonly seconds: number;
  /** Messages of a saturation run. */
  readonly burst: number;
}
const SIZES: Readonly<Record<Scale, Size>> = {
  small: { rounds: 1, seconds: 1, burst: 2_000 },
  full: { rounds: 5, seconds: 10, burst: 30_000 },
};

type Target = ControlPlan['target'];

/** Runs one plan in a separate process. @throws Error when the generator fails. */
async function perform(plan: ControlPlan): Promise<ControlResult> {
  const child = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(plan);
  return new Promise((resolve, reject) => {
    child.once('message', (result: ControlResult) => resolve(result));
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
  });
}

async function startFloor(): Promise<{ readonly child: ChildProcess; readonly target: Target }> {
  const child = spawn(process.execPath, [FLOOR], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { base } = JSON.parse(line.toString()) as { base: string };
  return { child, target: { kind: 'floor', base } };
}

async function makeMarket(ops: string): Promise<void> {
  const operator = new OperatorClient(ops);
  await operator.liftRateLimits();
  await operator.putAsset(ASSET, 'BENCH');
  await operator.putMarket(ASSET, {
    priceDecimals: 2,
    quantityDecimals: 4,
    tickSize: '0.01',
    minOrderSize: '0.001',
    makerFeeRate: 0,
    takerFeeRate: 0,
  });
  operator.close();
}

function openPlan(target: Target, flow: ControlFlow, seconds: number): ControlPlan {
  const count = PER_SECOND * seconds;
  return { target, flow, load: { kind: 'open', perSecond: PER_SECOND }, warmUp: count >> 1, count };
}

function burstPlan(target: Target, burst: number): ControlPlan {
  return { target, flow: 'creates', load: { kind: 'closed', inFlight: IN_FLIGHT }, warmUp: burst >> 2, count: burst };
}

/** Requires a reply to every message and no rejection; otherwise the figures are meaningless. */
function check(result: ControlResult): ControlResult {
  if (result.unanswered > 0 || result.rejected > 0) {
    const first = result.firstRefusal === null ? '' : `, the first with ${result.firstRefusal}`;
    throw new Error(`${result.unanswered} messages were not answered, ${result.rejected} refused${first}`);
  }
  return result;
}

/** The medians of the rounds, percentile by percentile. */
function medians(latencies: readonly Latency[]): Latency {
  const of = (member: keyof Latency): number => median(latencies.map((latency) => latency[member]));
  return {
    count: of('count'),
    p50: of('p50'),
    p90: of('p90'),
    p99: of('p99'),
    p999: of('p999'),
    p9999: of('p9999'),
    max: of('max'),
  };
}

function latencyRows(label: string, latency: Latency): BenchRow[] {
  const members = ['p50', 'p90', 'p99', 'p999', 'p9999', 'max'] as const;
  const names = ['p50', 'p90', 'p99', 'p99.9', 'p99.99', 'max'];
  return members.map((member, index) => ({
    label: `${label}, ${names[index]}`,
    value: latency[member],
    unit: 'µs',
  }));
}

interface Round {
  readonly floor: ControlResult;
  readonly creates: ControlResult;
  readonly mix: ControlResult;
  readonly floorBurst: ControlResult;
  readonly burst: ControlResult;
}

async function round(node: Target, floor: Target, size: Size): Promise<Round> {
  return {
    floor: check(await perform(openPlan(floor, 'creates', size.seconds))),
    creates: check(await perform(openPlan(node, 'creates', size.seconds))),
    mix: check(await perform(openPlan(node, 'mix', size.seconds))),
    floorBurst: check(await perform(burstPlan(floor, size.burst))),
    burst: check(await perform(burstPlan(node, size.burst))),
  };
}

function rowsOf(rounds: readonly Round[]): readonly BenchRow[] {
  const floor = medians(rounds.map((each) => each.floor.creates));
  const creates = medians(rounds.map((each) => each.creates.creates));
  const ratio = (member: 'p50' | 'p99'): number =>
    median(rounds.map((each) => each.creates.creates[member] / each.floor.creates[member]));
  return [
    ...latencyRows(`floor, ${PER_SECOND}/s`, floor),
    ...latencyRows(`creates, ${PER_SECOND}/s`, creates),
    { label: 'creates to floor, p50', value: ratio('p50'), unit: '×' },
    { label: 'creates to floor, p99', value: ratio('p99'), unit: '×' },
    ...latencyRows(`mix, ${PER_SECOND}/s, creates`, medians(rounds.map((each) => each.mix.creates))),
    ...latencyRows(`mix, ${PER_SECOND}/s, cancels`, medians(rounds.map((each) => each.mix.cancels))),
    ...latencyRows('generator late against the node', medians(rounds.map((each) => each.creates.lateness))).slice(0, 3),
    ...latencyRows('generator late against the floor', medians(rounds.map((each) => each.floor.lateness))).slice(0, 3),
    {
      label: `floor, ${IN_FLIGHT} in flight`,
      value: median(rounds.map((each) => each.floorBurst.perSecond)),
      unit: '/s',
    },
    { label: `creates, ${IN_FLIGHT} in flight`, value: median(rounds.map((each) => each.burst.perSecond)), unit: '/s' },
    {
      label: 'saturation to floor',
      value: median(rounds.map((each) => each.burst.perSecond / each.floorBurst.perSecond)),
      unit: '×',
    },
  ];
}

export async function run(scale: Scale): Promise<BenchResult> {
  const size = SIZES[scale];
  const floor = await startFloor();
  const node = await startNode({ profile: 'dev' });
  try {
    await makeMarket(node.ops);
    const target: Target = { kind: 'node', oms: node.oms, ops: node.ops, assetId: ASSET };
    const rounds: Round[] = [];
    for (let index = 0; index < size.rounds; index += 1) rounds.push(await round(target, floor.target, size));
    const ledger = must(rounds.at(-1)?.creates.ledger, 'the ledger was checked');
    return {
      name: 'control',
      rows: rowsOf(rounds),
      checks: `every message answered, none refused, after every run of creates ${ledger}; ${size.rounds} rounds`,
    };
  } catch (error) {
    throw new Error(`the run failed; the node said:\n${node.stderr()}`, { cause: error });
  } finally {
    floor.child.kill();
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
