/**
 * Why late answers are late: a traced node under the creates of bench/control.bench.ts at fixed rates, with the report of
 * `ringbook trace` for each; and what tracing costs: CPU per create of a node that is traced and of one that is not, in
 * turn at the same rate.
 */

import { explainTail } from '../src/cli/tail-causes.ts';
import { pathsOf } from '../src/cli/tail-paths.ts';
import { answerTimes, rankOf, recordTrace, traceReport } from '../src/cli/trace-command.ts';
import { OperatorClient } from '../src/client/operator.ts';
import { makeSpotMarket } from '../src/load/load-market.ts';
import type { LoadPlan, LoadResult } from '../src/load/plan.ts';
import { runPlan } from '../src/load/run-plan.ts';
import { type NodeProcess, OPERATOR_TOKEN, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchOptions, type BenchResult, type BenchRow, median, type Scale } from './bench-kit.ts';

const RATES = [1_000, 3_000];
const COST_RATE = 3_000;
/** Creates before timing: the node's code is compiled then. */
const WARM_UP = 6_000;
const TAIL_FRACTION = 0.99;
/** Fewer than the signatures of a connection that may wait in the node. */
const UNANSWERED_MAX = 320;
const PARTS = ['causes', 'cost'];

class TracedLoad {
  readonly #node: NodeProcess;
  readonly #operator: OperatorClient;

  private constructor(node: NodeProcess) {
    this.#node = node;
    this.#operator = new OperatorClient(node.ops);
  }

  static async start(isTraced: boolean): Promise<TracedLoad> {
    const env = { RINGBOOK_TRACE: isTraced ? '1' : '0', RINGBOOK_LOG_LEVEL: 'warn' };
    const load = new TracedLoad(await startNode({ profile: 'dev', env }));
    await load.creates(COST_RATE, WARM_UP);
    return load;
  }

  get operator(): OperatorClient {
    return this.#operator;
  }

  async creates(perSecond: number, count: number): Promise<LoadResult> {
    const node = this.#node;
    const plan: LoadPlan = {
      target: {
        kind: 'node',
        oms: node.oms,
        mds: null,
        users: { kind: 'new', ops: node.ops, token: OPERATOR_TOKEN },
        market: await makeSpotMarket(this.#operator),
      },
      flow: 'creates',
      pace: { kind: 'open', perSecond, unansweredMax: UNANSWERED_MAX },
      warmUp: 100,
      count,
      streams: false,
      hops: false,
      pid: node.pid,
    };
    const result = await runPlan(plan);
    if (result.unanswered > 0 || result.firstRejection !== null)
      throw new Error(`not every create was received: ${result.firstRejection ?? result.closed}`);
    return result;
  }

  async end(): Promise<void> {
    this.#operator.close();
    await stopNode(this.#node);
    removeDirectory(this.#node.dataDirectory);
  }
}

/** @returns rows: percentiles in the node and at the client, and the share of the late answers' time by cause. */
async function explained(load: TracedLoad, perSecond: number, seconds: number): Promise<readonly BenchRow[]> {
  let isOver = false;
  const recorded = recordTrace(load.operator, () => isOver);
  const { latencies } = await load.creates(perSecond, perSecond * seconds);
  isOver = true;
  const recording = await recorded;
  process.stdout.write(`\n${perSecond} creates a second\n${traceReport(recording, null)}`);
  const paths = pathsOf(recording.threads);
  if (paths.length < perSecond * seconds) throw new Error(`${paths.length} paths of ${perSecond * seconds} creates`);
  const times = answerTimes(paths);
  const { causes } = explainTail(recording.threads, paths, rankOf(times, TAIL_FRACTION));
  const row = (label: string, value: number, unit: string): BenchRow => ({
    label: `${perSecond}/s, ${label}`,
    value,
    unit,
  });
  return [
    row('at the client, p50', latencies.create?.p50 ?? Number.NaN, 'µs'),
    row('at the client, p99', latencies.create?.p99 ?? Number.NaN, 'µs'),
    row('in the node, p50', rankOf(times, 0.5), 'µs'),
    row('in the node, p99', rankOf(times, TAIL_FRACTION), 'µs'),
    row('in the node, p99.9', rankOf(times, 0.999), 'µs'),
    ...causes.map(({ cause, share }) => row(`time above p99, ${cause}`, share * 100, '%')),
  ];
}

async function cost(rounds: number, seconds: number): Promise<readonly BenchRow[]> {
  const nodes = [await TracedLoad.start(false), await TracedLoad.start(true)];
  const perCreate: number[][] = [[], []];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, node] of nodes.entries()) {
        const { cpu } = await node.creates(COST_RATE, COST_RATE * seconds);
        if (cpu !== null) perCreate[index]?.push(cpu.total);
      }
    }
  } finally {
    for (const node of nodes) await node.end();
  }
  const [off, on] = perCreate.map(median);
  return [
    { label: 'CPU of all threads, not traced', value: off ?? Number.NaN, unit: 'µs/order' },
    { label: 'CPU of all threads, traced', value: on ?? Number.NaN, unit: 'µs/order' },
  ];
}

export async function run(scale: Scale, options: BenchOptions = {}): Promise<BenchResult> {
  const { parts = scale === 'small' ? ['causes'] : PARTS } = options;
  const { rounds = scale === 'small' ? 1 : 3, seconds = scale === 'small' ? 1 : 8 } = options;
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`trace has no part ${unknown}; it has ${PARTS.join(', ')}`);
  const rows: BenchRow[] = [];
  if (parts.includes('causes')) {
    const load = await TracedLoad.start(true);
    try {
      for (const rate of RATES) rows.push(...(await explained(load, rate, seconds)));
    } finally {
      await load.end();
    }
  }
  if (parts.includes('cost')) rows.push(...(await cost(rounds, seconds)));
  return { name: 'trace', rows, checks: 'every create has its path from the socket to the answer' };
}
