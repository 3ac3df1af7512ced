/**
 * The load generator, a process of its own: signs everything before timing starts, sends over `/control`, and measures
 * every reply from the time at which its message was due. A stall of the node therefore counts for every message due
 * during it (no coordinated omission).
 *
 * Against the floor it sends the same frames and reads the replies in the same way.
 */
import { Worker } from 'node:worker_threads';
import { systemClock } from '../client/time.ts';
import { Exchange, nowMs } from './exchange.ts';
import { signFlow } from './flows.ts';
import type { PacerTask } from './pacer.ts';
import type { GeneratorMessage, LoadPlan, LoadResult, Pace } from './plan.ts';
import { cpuPerOrder, cpuTimes } from './thread-cpu.ts';
import { cancelRest, keysOf, LedgerCheck, openTraders } from './traders.ts';

/** Time without any reply after which the rest counts as unanswered. */
const GRACE_MS = 30_000;
const LOOK_MS = 5;
const PROGRESS_MS = 1_000;
const START_AFTER_NS = 100_000_000n;
/** The market of the floor's frames, which it does not read. */
const FLOOR_MARKET = {
  assetId: '900',
  priceDecimals: 2,
  quantityDecimals: 4,
  price: 300_000,
  tick: 1,
  quantity: 10,
  account: 0,
  feeLimit: 0,
} as const;

function report(message: GeneratorMessage): void {
  process.send?.(message);
}

/** Sends at a steady rate, timed by the pacer's thread. */
async function sendOpen(exchange: Exchange, pace: Pace & { readonly kind: 'open' }): Promise<void> {
  const { perSecond, unansweredMax } = pace;
  const startNs = process.hrtime.bigint() + START_AFTER_NS;
  const startMs = Number(startNs) / 1e6;
  const workerData: PacerTask = { startNs, perSecond, count: exchange.messages };
  const pacer = new Worker(new URL('./pacer.js', import.meta.url), { workerData });
  let due = 0;
  /** When the last message had to wait for replies; messages due before could not be sent earlier. */
  let freedMs = 0;
  let isHeld = false;
  const send = (): void => {
    if (isHeld && exchange.inFlight < unansweredMax) {
      isHeld = false;
      freedMs = nowMs();
    }
    while (exchange.sent < due && exchange.inFlight < unansweredMax && !exchange.isDone) {
      // mutant: latency-from-due-time
      const dueMs = startMs + (exchange.sent * 1_000) / perSecond;
      exchange.send(dueMs, Math.max(dueMs, freedMs));
    }
    isHeld = exchange.sent < due;
  };
  exchange.onAnswer = send;
  pacer.on('message', (count: number) => {
    due = count;
    send();
  });
  const timer = setInterval(() => {
    report({ kind: 'progress', text: `${exchange.sent} of ${exchange.messages} sent, ${exchange.answered} answered` });
    if (exchange.isDone) void pacer.terminate();
  }, PROGRESS_MS);
  await new Promise<void>((resolve, reject) => pacer.once('error', reject).once('exit', () => resolve()));
  clearInterval(timer);
}

/** Keeps `inFlight` actions unanswered until all are sent. */
function sendClosed(exchange: Exchange, inFlight: number): void {
  const fill = (): void => {
    while (exchange.sent < exchange.messages && exchange.inFlight < inFlight) {
      const ms = nowMs();
      exchange.send(ms, ms);
    }
  };
  exchange.onAnswer = fill;
  fill();
}

/** Until every action is answered and every fill confirmed, or nothing has come for GRACE_MS. */
async function untilDone(exchange: Exchange): Promise<void> {
  const endedMs = nowMs();
  const isQuiet = (): boolean => nowMs() > Math.max(endedMs, exchange.lastEventMs) + GRACE_MS;
  while ((!exchange.isDone || exchange.awaitsFills) && !isQuiet()) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function perform(plan: LoadPlan): Promise<LoadResult> {
  const nowNs = systemClock();
  const { target } = plan;
  const keys = keysOf(plan);
  const traders = await openTraders(plan, keys, nowNs);
  const check = await LedgerCheck.open(plan, keys[1]);
  report({ kind: 'progress', text: `signing ${plan.warmUp + plan.count} messages` });
  const market = target.kind === 'node' ? target.market : FLOOR_MARKET;
  const flow = signFlow(plan.flow, plan.warmUp + plan.count, market, keys, nowNs);
  const exchange = new Exchange(plan, flow, traders);
  if (plan.pace.kind === 'open') await sendOpen(exchange, plan.pace);
  else sendClosed(exchange, plan.pace.inFlight);
  await untilDone(exchange);
  const after = plan.pid === null ? null : cpuTimes(plan.pid);
  const before = exchange.cpuBefore;
  const isComplete = exchange.unanswered === 0 && exchange.firstRejection === null;
  const ledger = isComplete && check !== null ? await check.verify(flow) : null;
  check?.close();
  await cancelRest(plan, keys);
  traders.close();
  return {
    latencies: exchange.latencies,
    hops: exchange.hops,
    lateness: exchange.lateness,
    heat: exchange.heat,
    rejections: exchange.rejections,
    firstRejection: exchange.firstRejection,
    unanswered: exchange.unanswered,
    closed: exchange.unanswered === 0 ? null : exchange.closed,
    perSecond: exchange.perSecond,
    cpu: before === null || after === null ? null : cpuPerOrder(before, after, exchange.receivedCounted),
    ledger,
  };
}

// Without the process that started the run nothing reads its result.
process.once('disconnect', () => process.exit());
process.once('message', (plan: LoadPlan) => {
  perform(plan).then(
    (result) => process.send?.({ kind: 'result', result } satisfies GeneratorMessage, () => process.disconnect()),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
