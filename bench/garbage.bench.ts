/**
 * Garbage of an order: bytes that the threads of a whole node allocate for each message of `/control`, in two flows of
 * src/load: creates that fill, and creates that rest with the cancels of earlier ones. A flow that allocates more
 * than its budget fails the run.
 *
 * With RINGBOOK_GARBAGE_SITES=N the N places of every thread that allocate most are printed as well, from a second,
 * sampled run; with RINGBOOK_GARBAGE_ENGINE=--no-turbo-inlining they are the functions themselves instead of those into
 * which V8 has inlined them.
 */
import { DEV_OPERATOR_TOKEN, OperatorClient } from '../src/client/operator.ts';
import { must } from '../src/core/assert.ts';
import { makeSpotMarket } from '../src/load/load-market.ts';
import type { Flow, LoadPlan, NodeTarget } from '../src/load/plan.ts';
import { runPlan } from '../src/load/run-plan.ts';
import { type NodeProcess, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchResult, BenchRow, Scale } from './bench-kit.ts';
import { type AllocationSite, type ThreadHeap, ThreadHeaps } from './thread-heaps.ts';

const IN_FLIGHT = 64;
/** Fewer than the signatures of a connection that may wait in the node. */
const UNANSWERED_MAX = 320;
const SIZES = {
  small: { perSecond: 2_500, warmUp: 12_000, count: 6_000 },
  full: { perSecond: 5_000, warmUp: 40_000, count: 50_000 },
} as const;
type GarbageFlow = Extract<Flow, 'creates' | 'mix'>;

/** Options of the engine of the node. */
const ENGINE = (process.env['RINGBOOK_GARBAGE_ENGINE'] ?? '').split(' ').filter((option) => option !== '');

/** A short run is partly before V8 has compiled what allocates less then. */
const SMALL_RUN_FACTOR = 1.5;
/** A short run over its budget is counted again, more of it compiled by then: what is always allocated is over it each time. */
const SMALL_RUN_TRIES = 4;
/** Bytes per message over all threads: what was reached, and a tenth. */
const BUDGETS: Readonly<Record<GarbageFlow, number>> = { creates: 25_500, mix: 19_000 };

/** @throws Error when a message was not answered, or rejected. */
async function perform(plan: LoadPlan): Promise<void> {
  const { unanswered, firstRejection, closed } = await runPlan(plan);
  if (unanswered === 0 && firstRejection === null) return;
  throw new Error(`${unanswered} messages were not answered or not received: ${closed ?? firstRejection}`);
}

interface Measured {
  readonly flow: GarbageFlow;
  readonly count: number;
  readonly heaps: readonly ThreadHeap[];
}

async function measure(target: NodeTarget, heaps: ThreadHeaps, flow: GarbageFlow, scale: Scale): Promise<Measured> {
  const { perSecond, warmUp, count } = SIZES[scale];
  const rest = { target, flow, warmUp: 0, streams: false, hops: false, pid: null };
  await perform({ ...rest, pace: { kind: 'closed', inFlight: IN_FLIGHT }, count: warmUp });
  const steady: LoadPlan = { ...rest, pace: { kind: 'open', perSecond, unansweredMax: UNANSWERED_MAX }, count };
  const counted = async (): Promise<Measured> => {
    await heaps.begin();
    await perform(steady);
    return { flow, count, heaps: await heaps.end() };
  };
  let measured = await counted();
  // V8 may lose the trace of a run; without collections nothing was counted.
  if (isBlind(measured)) measured = await counted();
  for (
    let tries = 1;
    scale === 'small' && tries < SMALL_RUN_TRIES && perMessage(measured) > budgetOf(flow, scale);
    tries += 1
  )
    measured = await counted();
  if (isBlind(measured)) throw new Error(`${flow}: no collection of the main thread was traced`);
  const sites = Number(process.env['RINGBOOK_GARBAGE_SITES'] ?? 0);
  if (sites > 0) {
    await heaps.beginSampling();
    await perform(steady);
    printSites(measured, await heaps.endSampling(), sites);
  }
  return measured;
}

function isBlind({ heaps }: Measured): boolean {
  return heaps.some(({ thread, scavenges }) => thread === 'main' && scavenges === 0);
}

function printSites({ flow, count }: Measured, all: readonly AllocationSite[], most: number): void {
  for (const thread of new Set(all.map((site) => site.thread))) {
    const own = all.filter((site) => site.thread === thread);
    const total = own.reduce((sum, { bytes }) => sum + bytes, 0) / count;
    const lines = own.slice(0, most).map(({ site, bytes }) => `  ${(bytes / count).toFixed(1).padStart(8)} ${site}`);
    process.stdout.write(`${flow}, ${thread}: ${total.toFixed(0)} bytes per message\n${lines.join('\n')}\n`);
  }
}

function rowsOf({ flow, count, heaps }: Measured): BenchRow[] {
  const per = (bytes: number): number => bytes / count;
  const total = heaps.reduce((sum, { allocatedBytes }) => sum + allocatedBytes, 0);
  const kept = heaps.reduce((sum, { keptBytes }) => sum + keptBytes, 0);
  const rows = heaps.map(({ thread, allocatedBytes }) => ({
    label: `${flow}, ${thread} thread`,
    value: per(allocatedBytes),
    unit: 'bytes per message',
  }));
  const longest = must(
    heaps.reduce((most, heap) => (heap.scavengeMsMax > most.scavengeMsMax ? heap : most)),
    'there is a thread',
  );
  return [
    { label: `${flow}, all threads`, value: per(total), unit: 'bytes per message' },
    ...rows,
    { label: `${flow}, live after scavenges, growth`, value: per(kept), unit: 'bytes per message' },
    { label: `${flow}, longest scavenge (${longest.thread})`, value: longest.scavengeMsMax, unit: 'ms of CPU' },
    { label: `${flow}, collections of the old generation`, value: sumOfMajors(heaps), unit: '' },
  ];
}

function sumOfMajors(heaps: readonly ThreadHeap[]): number {
  return heaps.reduce((sum, { majors }) => sum + majors, 0);
}

/** Allocated bytes of all threads. */
function perMessage({ count, heaps }: Measured): number {
  return heaps.reduce((sum, { allocatedBytes }) => sum + allocatedBytes, 0) / count;
}

function budgetOf(flow: GarbageFlow, scale: Scale): number {
  return BUDGETS[flow] * (scale === 'small' ? SMALL_RUN_FACTOR : 1);
}

/** @throws Error when a flow allocated more than its budget. */
function checkBudget(measured: Measured, scale: Scale): string {
  const { flow } = measured;
  const total = perMessage(measured);
  const budget = budgetOf(flow, scale);
  if (ENGINE.length > 0) return `${flow} has no budget with ${ENGINE.join(' ')}`;
  if (total > budget) throw new Error(`${flow}: ${total.toFixed(0)} bytes per message, the budget is ${budget}`);
  return `${flow} within ${budget} bytes per message`;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const node = await startNode({ profile: 'dev', engine: ['--inspect=127.0.0.1:0', ...ENGINE] });
  try {
    return await measureAll(node, scale);
  } finally {
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}

async function measureAll(node: NodeProcess, scale: Scale): Promise<BenchResult> {
  const heaps = await ThreadHeaps.connect(node);
  try {
    const operator = new OperatorClient(node.ops);
    await operator.liftRateLimits();
    const market = await makeSpotMarket(operator);
    operator.close();
    const users = { kind: 'new', ops: node.ops, token: DEV_OPERATOR_TOKEN } as const;
    const target: NodeTarget = { kind: 'node', oms: node.oms, mds: null, users, market };
    const flows = [await measure(target, heaps, 'creates', scale), await measure(target, heaps, 'mix', scale)];
    return {
      name: 'garbage',
      rows: flows.flatMap(rowsOf),
      checks: flows.map((flow) => checkBudget(flow, scale)).join('; '),
    };
  } finally {
    // A process ends only without a debugger.
    heaps.close();
  }
}
