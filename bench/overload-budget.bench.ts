/**
 * Twenty times the budget, for some seconds: the fraction of the budget that is processed, the speed of rejections, and
 * the node's memory. Users send creates on `/control` at twenty times the rate of their tier; rejected creates are sent
 * again, like a client without back-off. Generator and node share the machine.
 *
 * test/node/rate-overload.test.ts tests that rejections precede signature verification and do not affect other users;
 * test/node/overload.test.ts tests full rings.
 */
import { RingbookClient } from '../src/client/client.ts';
import { generateSeed, keyFromSeed } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import type { SignedAction } from '../src/client/signed-actions.ts';
import { assert } from '../src/core/assert.ts';
import { makeSpotMarket } from '../src/load/load-market.ts';
import { startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchResult, percentile, residentMiB, type Scale } from './bench-kit.ts';

/** Shorter than the permitted time between signing and sending. */
const SECONDS: Readonly<Record<Scale, number>> = { small: 3, full: 40 };
const USERS = 2;
/** Creates a second; each costs two units. */
const BUDGET = 100;
const TIMES = 20;
/** A full bucket is one second of the budget: it is used up before timing starts. */
const WARM_UP_MS = 1_000;
const UNANSWERED_MAX = 1_000;
const PACE_MS = 5;
const REFUSED_WITHIN_MS = 50;

interface Tally {
  sent: number;
  done: number;
  readonly refusedAfterMs: number[];
}

/** Immediate-or-cancel orders against an empty book. */
async function signedOrders(client: RingbookClient, assetId: string, count: number): Promise<SignedAction[]> {
  const ticket = { assetId, side: 'Buy', price: '1000', quantity: '0.001' } as const;
  const more = { target: { account: 0, isSpot: true }, timeInForce: { kind: 'IOC' } } as const;
  const orders = await Promise.all(Array.from({ length: count }, () => client.order({ ...ticket, ...more })));
  return orders.map((order) => client.signCreate(order));
}

/** One user at twenty times the budget, who sends again what is refused. Counts what was sent after the warm-up. */
async function sendAgain(client: RingbookClient, assetId: string, seconds: number): Promise<Tally> {
  const waiting = await signedOrders(client, assetId, BUDGET * (seconds + 2) + 2 * UNANSWERED_MAX);
  const control = await client.control();
  const tally: Tally = { sent: 0, done: 0, refusedAfterMs: [] };
  const startMs = performance.now();
  let inFlight = 0;
  const send = async (action: SignedAction): Promise<void> => {
    const sentMs = performance.now();
    const isCounted = sentMs - startMs >= WARM_UP_MS;
    inFlight += 1;
    const { status, reason } = await control.send(action);
    inFlight -= 1;
    assert(status === 'Received' || reason === 'RateLimited', `refused with ${reason}`);
    if (status === 'Rejected') waiting.push(action);
    if (!isCounted) return;
    tally.sent += 1;
    if (status === 'Received') tally.done += 1;
    else tally.refusedAfterMs.push(performance.now() - sentMs);
  };
  const answers: Promise<void>[] = [];
  for (let ms = 0; ms < seconds * 1_000 + WARM_UP_MS; ms = performance.now() - startMs) {
    const due = Math.floor((ms * BUDGET * TIMES) / 1_000);
    for (let sent = answers.length; sent < due && inFlight < UNANSWERED_MAX; sent += 1) {
      const action = waiting.shift();
      if (action === undefined) break;
      answers.push(send(action));
    }
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  await Promise.all(answers);
  control.close();
  return tally;
}

export async function run(scale: Scale): Promise<BenchResult> {
  const seconds = SECONDS[scale];
  const node = await startNode({ profile: 'dev' });
  try {
    const operator = new OperatorClient(node.ops);
    const { assetId } = await makeSpotMarket(operator);
    const clients = Array.from(
      { length: USERS },
      () => new RingbookClient({ oms: node.oms, key: keyFromSeed(generateSeed()) }),
    );
    for (const client of clients) {
      await client.login();
      await operator.faucet({ userId: client.userId, subAccount: 0, assetId: '0', amount: '1000000' });
      await client.market(assetId);
    }
    await operator.putRateLimits({ default: { units_per_second: 2 * BUDGET, capacity: 2 * BUDGET } });
    const before = residentMiB(node.pid);
    const tallies = await Promise.all(clients.map((client) => sendAgain(client, assetId, seconds)));
    const grown = residentMiB(node.pid) - before;
    for (const client of clients) client.close();
    operator.close();
    const sent = tallies.reduce((sum, tally) => sum + tally.sent, 0);
    const done = tallies.reduce((sum, tally) => sum + tally.done, 0);
    const refusedAfterMs = tallies.flatMap((tally) => tally.refusedAfterMs);
    const prompt = refusedAfterMs.filter((ms) => ms <= REFUSED_WITHIN_MS).length;
    return {
      name: 'overload-budget',
      rows: [
        { label: 'offered, of the budget', value: sent / (USERS * BUDGET * seconds), unit: '×' },
        { label: 'done, of the budget', value: done / (USERS * BUDGET * seconds), unit: '×' },
        { label: `refused within ${REFUSED_WITHIN_MS} ms`, value: (100 * prompt) / refusedAfterMs.length, unit: '%' },
        { label: 'refused after, p50', value: percentile(refusedAfterMs, 0.5), unit: 'ms' },
        { label: 'refused after, p99', value: percentile(refusedAfterMs, 0.99), unit: 'ms' },
        { label: 'memory of the node, more by', value: grown, unit: 'MiB' },
      ],
      checks: `${sent} creates answered in ${seconds} s: ${done} done, every other one RateLimited`,
    };
  } finally {
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
