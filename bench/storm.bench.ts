/**
 * A storm: one trade fires thousands of triggers on one price. Measured are the latency of a user's creates and
 * cancels, over `/control` and over REST, compared with the same flow on the same node before; the time until all
 * triggers are processed; and the longest step of each actor.
 *
 *   resting triggers ─▶ paced flow, idle ─▶ one trade ─▶ the same flow until all are released ─▶ every order is live
 *
 * Latency counts from the scheduled time of a message, so a stall counts for all messages scheduled during it.
 * Generator and node share the machine. test/node and test/clearing test that work per poll is bounded and that a storm
 * does not delay cancels indefinitely.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RingbookClient } from '../src/client/client.ts';
import type { ControlConnection } from '../src/client/control.ts';
import { generateSeed, keyFromSeed } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import type { SignedAction } from '../src/client/signed-actions.ts';
import { assert } from '../src/core/assert.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchResult, type BenchRow, percentile, type Scale } from './bench-kit.ts';

const TRIGGERS: Readonly<Record<Scale, readonly number[]>> = { small: [1_000], full: [2_000, 8_000, 20_000] };
const CONTROL_MS: Readonly<Record<Scale, number>> = { small: 500, full: 3_000 };
const ASSET = '900';
const USERS = 4;
const BATCH = 50;
const IDLE = { idle: 'before', storm: 'in the storm' } as const;
/** Interval between two pairs of a create and its cancel, on each of the two interfaces. */
const PACE_MS = { control: 10, rest: 50 } as const;
/** Fires every trigger; released orders rest far below. */
const TRIGGER_PRICE = '3100';
const FUNDS = '1000000000';
const LOOK_MS = 20;
const ALL_RELEASED_MS = 120_000;
/** Clock ticks of /proc, a second. */
const TICKS_PER_SECOND = 100;

type Road = 'control create' | 'control cancel' | 'rest create' | 'rest cancel';
type Waits = Record<Road, number[]>;

async function newUser(node: NodeProcess, admin: OperatorClient): Promise<RingbookClient> {
  const client = new RingbookClient({ oms: node.oms, key: keyFromSeed(generateSeed()) });
  await client.login();
  await admin.setMarketMaker(client.userId, true);
  for (const assetId of ['0', ASSET]) {
    await admin.faucet({ userId: client.userId, subAccount: 0, assetId, amount: FUNDS });
  }
  await client.market(ASSET);
  return client;
}

async function signed(
  client: RingbookClient,
  side: 'Buy' | 'Sell',
  price: string,
  orderId?: string,
): Promise<SignedAction> {
  const ticket = { assetId: ASSET, side, price, quantity: '0.001', target: { account: 0, isSpot: true } } as const;
  return client.signCreate(await client.order(orderId === undefined ? ticket : { ...ticket, orderId }));
}

/** Limit buys that wait for one price, spread over the users. @returns the last of each. */
async function placeTriggers(clients: readonly RingbookClient[], count: number): Promise<readonly string[]> {
  const each = Math.ceil(count / clients.length);
  return Promise.all(
    clients.map(async (client) => {
      let last = '';
      const control = await client.control();
      const ticket = { assetId: ASSET, side: 'Buy', price: '1000', quantity: '0.001' } as const;
      const more = { target: { account: 0, isSpot: true }, trigger: { when: 'above', price: TRIGGER_PRICE } } as const;
      for (let placed = 0; placed < each; placed += BATCH) {
        const orders = Array.from({ length: Math.min(BATCH, each - placed) }, async () =>
          client.signCreate(await client.order({ ...ticket, ...more })),
        );
        const answers = await control.sendBatch('Create', await Promise.all(orders));
        for (const { status, reason, orderId } of answers) {
          assert(status === 'Received', `a trigger was refused: ${reason}`);
          last = orderId;
        }
      }
      control.close();
      return last;
    }),
  );
}

/** Creates and cancels of one user on two interfaces, at a steady pace, until stopped. */
class Flow {
  readonly #client: RingbookClient;
  readonly #control: ControlConnection;
  readonly #name: string;
  readonly #waits: Waits = { 'control create': [], 'control cancel': [], 'rest create': [], 'rest cancel': [] };
  #isOn = true;
  #sent = 0;
  readonly #loops: readonly Promise<void>[];

  constructor(name: string, client: RingbookClient, control: ControlConnection) {
    this.#name = name;
    this.#client = client;
    this.#control = control;
    this.#loops = [this.#loop('control'), this.#loop('rest')];
  }

  async stop(): Promise<Waits> {
    this.#isOn = false;
    await Promise.all(this.#loops);
    return this.#waits;
  }

  async #loop(road: 'control' | 'rest'): Promise<void> {
    const pairs: Promise<void>[] = [];
    const startMs = performance.now();
    for (let number = 0; this.#isOn; number += 1) {
      this.#sent += 1;
      const orderId = `flow-${road}-${this.#name}-${this.#sent}`;
      const create = await signed(this.#client, 'Buy', '900', orderId);
      const cancel = this.#client.signCancel(ASSET, orderId);
      const dueMs = startMs + number * PACE_MS[road];
      await sleep(Math.max(0, dueMs - performance.now()));
      const pair = this.#pair(road, [create, cancel], dueMs);
      // It is thrown where the flow is stopped, with what the node has logged.
      pair.catch(() => undefined);
      pairs.push(pair);
    }
    await Promise.all(pairs);
  }

  async #pair(road: 'control' | 'rest', [create, cancel]: [SignedAction, SignedAction], dueMs: number): Promise<void> {
    await this.#send(road, create);
    const createdMs = performance.now();
    this.#waits[`${road} create`].push(createdMs - dueMs);
    await this.#send(road, cancel);
    this.#waits[`${road} cancel`].push(performance.now() - createdMs);
  }

  async #send(road: 'control' | 'rest', action: SignedAction): Promise<void> {
    const answer = await (road === 'control' ? this.#control.send(action) : this.#client.send(action));
    assert(answer.status === 'Received', `refused: ${answer.reason}`);
  }
}

/** Whole `{le: count}` of each actor's service times. */
type Steps = ReadonlyMap<string, ReadonlyMap<number, number>>;

async function stepsOf(node: NodeProcess): Promise<Steps> {
  const text = await (await fetch(`${node.ops}/metrics`)).text();
  const steps = new Map<string, Map<number, number>>();
  for (const line of text.split('\n')) {
    const found = /^ringbook_actor_service_seconds_bucket\{(.*)\} (\d+)$/.exec(line);
    const [, labels = '', count = '0'] = found ?? [];
    const actor = /actor="([^"]+)"/.exec(labels)?.[1];
    const bound = /le="([^"]+)"/.exec(labels)?.[1];
    if (actor === undefined || bound === undefined || bound === '+Inf') continue;
    const own = steps.get(actor) ?? new Map<number, number>();
    steps.set(actor, own.set(Number(bound), Number(count)));
  }
  return steps;
}

/** Upper bound of the longest added step, in milliseconds: it took between half of this and all of it. */
function longestMs(actor: string, before: Steps, after: Steps): number {
  const added = [...(after.get(actor) ?? [])].map(([bound, count]) => [
    bound,
    count - (before.get(actor)?.get(bound) ?? 0),
  ]);
  const all = Math.max(0, ...added.map(([, count = 0]) => count));
  if (all === 0) return 0;
  return Math.min(...added.filter(([, count]) => count === all).map(([bound = 0]) => bound)) * 1e3;
}

/** CPU milliseconds of each thread of the node so far, by thread id. */
function threadsMs(pid: number): ReadonlyMap<string, number> {
  const threads = new Map<string, number>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    threads.set(tid, ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND);
  }
  return threads;
}

/** CPU of the busiest threads since, longest first. */
function busiest(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number[] {
  const spent = [...after].map(([tid, ms]) => ms - (before.get(tid) ?? 0));
  return spent.sort((a, b) => b - a);
}

/** Orders of one price are released by acceptance. Reading the operators' state instead would block clearing. */
async function untilReleased(owners: readonly RingbookClient[], last: readonly string[]): Promise<void> {
  const endMs = performance.now() + ALL_RELEASED_MS;
  for (const [at, owner] of owners.entries()) {
    while ((await owner.orderRecord(ASSET, last[at] ?? '')).status === 'Untriggered') {
      assert(performance.now() < endMs, 'every trigger is released in time');
      await sleep(LOOK_MS);
    }
  }
}

async function untriggered(node: NodeProcess): Promise<number | undefined> {
  const { body } = await operator(node, 'GET', '/operator/state');
  return (body as { markets: Record<string, { untriggered_orders: number }> }).markets[ASSET]?.untriggered_orders;
}

function waitRows(label: string, waits: Waits): BenchRow[] {
  return (Object.keys(waits) as Road[]).flatMap((road) =>
    [0.5, 0.99, 1].map((part) => ({
      label: `${label}, ${road}, ${part === 1 ? 'worst' : `p${part * 100}`}`,
      value: percentile(waits[road], part),
      unit: 'ms',
    })),
  );
}

async function storm(count: number, scale: Scale): Promise<BenchRow[]> {
  const node = await startNode({ profile: 'dev' });
  const admin = new OperatorClient(node.ops);
  const clients: RingbookClient[] = [];
  try {
    await admin.putAsset(ASSET, 'BENCH');
    const figures = { priceDecimals: 2, quantityDecimals: 4, tickSize: '0.01', minOrderSize: '0.001' };
    await admin.putMarket(ASSET, { ...figures, makerFeeRate: 0, takerFeeRate: 0 });
    for (let user = 0; user < USERS + 2; user += 1) clients.push(await newUser(node, admin));
    const [watcher, trader, ...owners] = clients as [RingbookClient, RingbookClient, ...RingbookClient[]];
    const last = await placeTriggers(owners, count);
    await barrier(node);
    assert((await untriggered(node)) === count, 'every trigger waits');
    const control = await watcher.control();
    await trader.send(await signed(trader, 'Sell', TRIGGER_PRICE));
    const trade = await signed(owners[0] as RingbookClient, 'Buy', TRIGGER_PRICE);

    const warmUp = new Flow('warm-up', watcher, control);
    await sleep(CONTROL_MS[scale]);
    await warmUp.stop();
    const idleSteps = await stepsOf(node);
    const idle = new Flow('before', watcher, control);
    await sleep(CONTROL_MS[scale]);
    const idleWaits = await idle.stop();
    await barrier(node);
    const steps = await stepsOf(node);
    const cpu = threadsMs(node.pid);
    const flow = new Flow('storm', watcher, control);
    const firedMs = performance.now();
    await (owners[0] as RingbookClient).send(trade);
    await untilReleased(owners, last);
    const releasedMs = performance.now() - firedMs;
    const waits = await flow.stop();
    const after = await stepsOf(node);
    const spent = busiest(cpu, threadsMs(node.pid));
    control.close();
    await barrier(node);
    assert((await untriggered(node)) === 0, 'every trigger was released');
    const name = (label: string): string => `${count} triggers: ${label}`;
    const stepRows = [...after.keys()].flatMap((actor) => [
      { label: name(`longest step of ${actor}, before`), value: longestMs(actor, idleSteps, steps), unit: 'ms' },
      { label: name(`longest step of ${actor}, in the storm`), value: longestMs(actor, steps, after), unit: 'ms' },
    ]);
    return [
      { label: name('all released after'), value: releasedMs, unit: 'ms' },
      ...spent.slice(0, 5).map((ms, at) => ({ label: name(`CPU of thread ${at + 1}`), value: ms, unit: 'ms' })),
      ...waitRows(name(IDLE.idle), idleWaits),
      ...waitRows(name(IDLE.storm), waits),
      ...stepRows,
    ];
  } catch (error) {
    const how = node.child.exitCode ?? node.child.signalCode ?? 'still running';
    throw new Error(`storm: the node is ${how}; its log: ${node.stderr()}`, { cause: error });
  } finally {
    for (const client of clients) client.close();
    admin.close();
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}

export async function run(scale: Scale): Promise<BenchResult> {
  const rows: BenchRow[] = [];
  for (const count of TRIGGERS[scale]) rows.push(...(await storm(count, scale)));
  return {
    name: 'storm',
    rows,
    checks: 'every create and cancel was received, every trigger released, the node at rest after each',
  };
}
