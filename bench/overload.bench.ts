/**
 * Twice the saturation, open loop, on one machine with the generator (overload-load.ts): how long creates, cancels and
 * mass cancels wait for their answer, accepted or refused, and how much is accepted of what the node can do at most.
 *
 * test/node/shedding.test.ts tests that what is refused has left no trace; overload-budget.bench.ts measures users beyond
 * their budgets.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorClient } from '../src/client/operator.ts';
import { makeSpotMarket } from '../src/load/load-market.ts';
import { startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchResult, type BenchRow, residentMiB, type Scale } from './bench-kit.ts';
import type { OverloadPlan, OverloadResult, Waits } from './overload-plan.ts';

const LOAD = fileURLToPath(new URL('./overload-load.js', import.meta.url));
/** Creates of a closed loop, after as many for the compiler; and seconds of twice their rate. */
const SIZE: Readonly<Record<Scale, { readonly creates: number; readonly seconds: number }>> = {
  small: { creates: 4_000, seconds: 1 },
  full: { creates: 20_000, seconds: 8 },
};
const IN_FLIGHT = 256;
const OVER = 2;
const CREATES_PER_CANCEL = 20;
const MASS_CANCELS_PER_SECOND = 20;

/** Runs one plan in a separate process. @throws Error when the generator fails. */
async function perform(plan: OverloadPlan): Promise<OverloadResult> {
  const child = fork(LOAD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(plan);
  return new Promise((resolve, reject) => {
    child.once('message', (result: OverloadResult) => resolve(result));
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
  });
}

function waitRows(label: string, { p50, p99, p999, max }: Waits): BenchRow[] {
  const values = { p50, p99, 'p99.9': p999, max };
  return Object.entries(values).map(([name, value]) => ({
    label: `${label}, ${name}`,
    value: value / 1_000,
    unit: 'ms',
  }));
}

/** Every message gets one answer, and no cancel is refused; otherwise the figures mean nothing. */
function check(result: OverloadResult): OverloadResult {
  const { unanswered, repeated, cancelsRefused, reasons } = result;
  const others = Object.keys(reasons).filter((reason) => reason !== 'ServiceUnavailable');
  if (unanswered + repeated + cancelsRefused + others.length === 0) return result;
  const faults = `${unanswered} unanswered, ${repeated} answered again, ${cancelsRefused} cancels refused`;
  throw new Error(`${faults}, refusals: ${JSON.stringify(reasons)}`);
}

function rowsOf(saturation: number, result: OverloadResult, grownMiB: number): readonly BenchRow[] {
  const { accepted, refused } = result;
  return [
    { label: `saturation, ${IN_FLIGHT} in flight`, value: saturation, unit: '/s' },
    { label: 'creates sent', value: result.sentPerSecond, unit: '/s' },
    { label: 'creates accepted, of the saturation', value: result.acceptedPerSecond / saturation, unit: '×' },
    { label: 'creates refused', value: (100 * refused.count) / (accepted.count + refused.count), unit: '%' },
    ...waitRows('creates accepted', accepted),
    ...waitRows('creates refused', refused),
    ...waitRows('all creates', result.answers),
    ...waitRows('cancels', result.cancels),
    ...waitRows('mass cancels', result.massCancels),
    { label: 'generator late, p99', value: result.latenessP99 / 1_000, unit: 'ms' },
    { label: 'memory of the node, more by', value: grownMiB, unit: 'MiB' },
  ];
}

export async function run(scale: Scale): Promise<BenchResult> {
  const { creates, seconds } = SIZE[scale];
  const node = await startNode({ profile: 'dev', env: { RINGBOOK_CONFIG: 'dev' } });
  const { oms, ops } = node;
  const operator = new OperatorClient(ops);
  try {
    await operator.liftRateLimits();
    const { assetId } = await makeSpotMarket(operator);
    const plan = { oms, ops, assetId, createsPerCancel: CREATES_PER_CANCEL };
    const closed = {
      ...plan,
      creates,
      load: { kind: 'closed', inFlight: IN_FLIGHT },
      massCancelsPerSecond: 0,
    } as const;
    await perform(closed);
    const saturation = check(await perform(closed)).sentPerSecond;
    const before = residentMiB(node.pid);
    const perSecond = Math.round(OVER * saturation);
    const load = { kind: 'open', perSecond } as const;
    const massCancelsPerSecond = MASS_CANCELS_PER_SECOND;
    const result = check(await perform({ ...plan, load, massCancelsPerSecond, creates: perSecond * seconds }));
    await operator.barrier(30_000);
    return {
      name: 'overload',
      rows: rowsOf(saturation, result, residentMiB(node.pid) - before),
      checks: `one answer to each of ${result.answers.count} creates and ${result.cancels.count} cancels at ${OVER} × the saturation, every cancel accepted, and the node came to rest`,
    };
  } catch (error) {
    throw new Error(`the run failed; standard error of the node:\n${node.stderr()}`, { cause: error });
  } finally {
    operator.close();
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
