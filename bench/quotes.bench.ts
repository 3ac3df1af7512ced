/**
 * Entries of quote sets changed a second, beside what batches of replaces reach in the same run: on `/control`, the node on the same
 * machine as its client.
 *
 *   quotes    sets of 20 and of 100 entries in which every price moves, of 100 in which every quantity changes, of 100 in which
 *             10 prices move
 *   replaces  batches of 50 in which every price moves
 *
 * Each runs as a closed loop, which finds what the node can: then a set waits for those in flight before it, and its time is their number
 * over the rate. Sets also run at fixed rates below that, which finds how long one takes; a set that is sent late counts from when
 * it was due.
 *
 * An entry counts as changed when the answer says that it was created or changed; a moved price is one change, not two. Frames are
 * signed before timing starts, and every frame is verified by the node. Contenders take turns, so other load affects all of them.
 */
import { binaryBatch, binaryQuotes, readBinaryReply } from '../src/client/binary-control.ts';
import { RingbookClient } from '../src/client/client.ts';
import { HttpTransport, type Socket } from '../src/client/http-transport.ts';
import { generateSeed, keyFromSeed, type SigningKey } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import { openSocket } from '../src/client/platform.ts';
import { Session } from '../src/client/session.ts';
import type { SignedAction } from '../src/client/signed-actions.ts';
import { assert } from '../src/core/assert.ts';
import { type NodeProcess, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import {
  type BenchOptions,
  type BenchResult,
  type BenchRow,
  interleave,
  median,
  percentile,
  type Scale,
} from './bench-kit.ts';

const ASSET = '900';
/** Prices that move of a set in which some do. */
const MOVED = 10;
const IN_FLIGHT = 8;
/** Fewer than the signatures of a connection that may wait in the node. */
const BATCHES_IN_FLIGHT = 4;
const BATCH = 50;
const LOTS = 1_000;
/** Raw, the middle of the book; bids below, asks above. */
const MIDDLE = 300_000;
/** Frames of one run, by scale; `paced`: of a run at a fixed rate. */
const SIZES: Readonly<Record<Scale, { readonly rounds: number; readonly frames: number; readonly paced: number }>> = {
  small: { rounds: 1, frames: 40, paced: 40 },
  full: { rounds: 7, frames: 1_500, paced: 1_500 },
};
/** Entries changed a second of the runs at a fixed rate. */
const PACES = [10_000, 30_000, 60_000] as const;
const PACED_ROUNDS = 3;
/** Fewer than the revisions of one set that may be on their way. */
const PACED_IN_FLIGHT = 12;
/** Revisions are that old when the last of them is sent, at most. */
const SIGNED_AT_ONCE = 500;

/** What the run that is being measured does with a frame of the node. */
type Receiver = (data: Uint8Array) => void;

interface World {
  receiver: Receiver;
  readonly client: RingbookClient;
  readonly operator: OperatorClient;
  readonly socket: Socket;
}

async function openWorld(node: NodeProcess): Promise<World> {
  const operator = new OperatorClient(node.ops);
  const key: SigningKey = keyFromSeed(generateSeed());
  const client = new RingbookClient({ oms: node.oms, key });
  await operator.liftRateLimits();
  await operator.putAsset(ASSET, 'BENCH');
  const figures = { priceDecimals: 2, quantityDecimals: 4, tickSize: '0.01', minOrderSize: '0.001' };
  await operator.putMarket(ASSET, { ...figures, makerFeeRate: 0, takerFeeRate: 0 });
  const transport = new HttpTransport(node.oms);
  const headers = await new Session(transport, key, client.nowNs).headers();
  transport.close();
  await operator.setMarketMaker(client.userId, true);
  for (const assetId of ['0', ASSET])
    await operator.faucet({ userId: client.userId, subAccount: 0, assetId, amount: '1000000000' });
  await operator.barrier(30_000);
  const socket = await openSocket(
    { base: node.oms, path: '/control', headers, protocols: ['ringbook.fbs.v1'] },
    (opened) => opened,
  );
  const world: World = { client, operator, socket, receiver: () => undefined };
  socket.on('message', (data) => world.receiver(data));
  return world;
}

/** What one frame changed, and how long its answer took. */
interface Run {
  readonly changedPerSecond: number;
  readonly latenciesMs: readonly number[];
}

/** Sends all frames, some in flight. @param answersPerFrame replies to each. @param changesOf a reply. */
async function drive(
  world: World,
  frames: readonly Uint8Array[],
  answersPerFrame: number,
  changesOf: (reply: ReturnType<typeof readBinaryReply>) => number,
): Promise<Run> {
  const sentMs: number[] = [];
  const latenciesMs: number[] = [];
  let next = 0;
  let answers = 0;
  let changed = 0;
  const send = (): void => {
    const frame = frames[next];
    if (frame === undefined) return;
    next += 1;
    sentMs.push(performance.now());
    world.socket.send(frame);
  };
  const startedMs = performance.now();
  await new Promise<void>((resolve, reject) => {
    world.receiver = (data) => {
      try {
        const reply = readBinaryReply(data);
        if (reply.kind === 'error') throw reply.error;
        if (reply.kind === 'notice') return;
        changed += changesOf(reply);
        answers += 1;
        if (answers % answersPerFrame !== 0) return;
        const done = answers / answersPerFrame;
        latenciesMs.push(performance.now() - (sentMs[done - 1] as number));
        send();
        if (done === frames.length) {
          world.receiver = () => undefined;
          resolve();
        }
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const most = answersPerFrame === 1 ? IN_FLIGHT : BATCHES_IN_FLIGHT;
    for (let index = 0; index < most; index += 1) send();
  });
  return { changedPerSecond: (changed * 1_000) / (performance.now() - startedMs), latenciesMs };
}

/** Prices of a side, two ticks apart, so that a shift by one tick moves every one of them; the best `moved` of them move by `by`. */
function side(
  count: number,
  sign: 1 | -1,
  shift: number,
  lots: number,
  moved: number,
  by: number,
): (readonly [number, number])[] {
  const shiftOf = (index: number): number => (index < moved ? by : shift);
  return Array.from(
    { length: count },
    (_, index) => [MIDDLE + sign * (10 + 2 * index) + shiftOf(index), lots] as const,
  );
}

type Moves = 'prices' | 'quantities' | 'some prices';

function setFrames({ client }: World, entries: number, count: number, moves: Moves): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => {
    const shift = moves === 'prices' ? index % 2 : 0;
    const lots = moves === 'quantities' ? LOTS + (index % 7) : LOTS;
    const moved = moves === 'some prices' ? MOVED : 0;
    const quotes = client.signQuotesRaw({
      setId: `bench-${entries}`,
      assetId: client.assets.known(ASSET),
      priceDecimals: 2,
      quantityDecimals: 4,
      bids: side(entries / 2, -1, shift, lots, moved / 2, index % 2),
      asks: side(entries / 2, 1, shift, lots, moved / 2, index % 2),
      target: { account: 0, isSpot: true },
      maxTradingFeesRate: 0,
    });
    return binaryQuotes(BigInt(index + 1), quotes);
  });
}

function changesOfSet(reply: ReturnType<typeof readBinaryReply>): number {
  assert(reply.kind === 'quotes' && reply.response.status === 'Received', 'every set is applied');
  assert(reply.response.refused.length === 0, 'no entry is left out');
  return reply.response.created + reply.response.changed;
}

async function quotes(world: World, entries: number, frames: number, moves: Moves): Promise<Run> {
  const run = await drive(world, setFrames(world, entries, frames, moves), 1, changesOfSet);
  const { items } = await world.client.orders({ openOnly: true, limit: 1_000 });
  assert(items.length === entries, `${items.length} of ${entries} entries rest`);
  const ended = await world.client.endQuotes(ASSET, `bench-${entries}`, { account: 0, isSpot: true });
  assert(ended.cancelled === entries, `${ended.cancelled} of ${entries} entries were cancelled`);
  return run;
}

/** Every price of the set moves, so many entries a second. @returns how long sets took, from when each was due. */
async function paced(world: World, entries: number, count: number, perSecond: number): Promise<Run> {
  const gapMs = (1_000 * entries) / perSecond;
  const latenciesMs: number[] = [];
  let changed = 0;
  let tookMs = 0;
  for (let sent = 0; sent < count; sent += SIGNED_AT_ONCE) {
    const frames = setFrames(world, entries, Math.min(SIGNED_AT_ONCE, count - sent), 'prices');
    const startedMs = performance.now();
    let next = 0;
    let answered = 0;
    await new Promise<void>((resolve, reject) => {
      const sendDue = (): void => {
        const due = Math.min(frames.length, 1 + Math.floor((performance.now() - startedMs) / gapMs));
        for (; next < due && next - answered < PACED_IN_FLIGHT; next += 1)
          world.socket.send(frames[next] as Uint8Array);
        if (answered < frames.length) setTimeout(sendDue, 1);
      };
      world.receiver = (data) => {
        try {
          const reply = readBinaryReply(data);
          if (reply.kind === 'error') throw reply.error;
          if (reply.kind === 'notice') return;
          changed += changesOfSet(reply);
          latenciesMs.push(performance.now() - startedMs - answered * gapMs);
          answered += 1;
          if (answered < frames.length) return;
          world.receiver = () => undefined;
          resolve();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      sendDue();
    });
    tookMs += performance.now() - startedMs;
  }
  await world.client.endQuotes(ASSET, `bench-${entries}`, { account: 0, isSpot: true });
  return { changedPerSecond: (changed * 1_000) / tookMs, latenciesMs };
}

async function replaces(world: World, frames: number): Promise<Run> {
  const { client, operator } = world;
  const target = { account: 0, isSpot: true };
  const ids = Array.from({ length: BATCH }, (_, index) => `replaced-${performance.now()}-${index}`);
  const priceOf = (index: number, shift: number): number => MIDDLE - 10 - 2 * index + shift;
  for (const [index, orderId] of ids.entries()) {
    const price = `${priceOf(index, 0) / 100}`;
    const order = await client.order({ assetId: ASSET, side: 'Buy', price, quantity: '0.1', target, orderId });
    assert((await client.send(client.signCreate(order))).status === 'Received', 'an order rests');
  }
  const batches = Array.from({ length: frames }, (_, round) => {
    const items: SignedAction[] = ids.map((orderId, index) =>
      client.signReplaceRaw({
        assetId: ASSET,
        orderId,
        newLimitPrice: priceOf(index, (round + 1) % 2),
        newQuantity: null,
        newTrigger: null,
        priceDecimals: 2,
        quantityDecimals: 4,
        isComplete: false,
      }),
    );
    return binaryBatch(BigInt(round + 1), 'Replace', items);
  });
  const run = await drive(world, batches, BATCH, (reply) => {
    assert(reply.kind === 'answer' && reply.response.status === 'Received', 'every replace is applied');
    return 1;
  });
  await client.cancelAll();
  await operator.barrier(30_000);
  return run;
}

export async function run(scale: Scale, options: BenchOptions = {}): Promise<BenchResult> {
  const { frames, paced: pacedFrames } = SIZES[scale];
  const rounds = options.rounds ?? SIZES[scale].rounds;
  const node = await startNode({ profile: 'dev' });
  try {
    const world = await openWorld(node);
    const latencies = new Map<string, number[]>();
    const timed = (label: string, perform: () => Promise<Run>) => ({
      label,
      round: async (): Promise<number> => {
        const { changedPerSecond, latenciesMs } = await perform();
        latencies.set(label, [...(latencies.get(label) ?? []), percentile(latenciesMs, 0.99)]);
        return changedPerSecond;
      },
    });
    const contenders = [
      timed('sets of 20, every price moves', () => quotes(world, 20, frames, 'prices')),
      timed('sets of 100, every price moves', () => quotes(world, 100, frames, 'prices')),
      timed('sets of 100, every quantity changes', () => quotes(world, 100, frames, 'quantities')),
      timed('sets of 100, 10 prices move', () => quotes(world, 100, frames, 'some prices')),
      timed('batches of 50 replaces, every price moves', () => replaces(world, Math.ceil(frames / 10))),
    ];
    const figures = await interleave(contenders, rounds);
    const perSecond = figures.map((each) => median(each));
    const batch = perSecond.at(-1) ?? Number.NaN;
    const rows: BenchRow[] = contenders.flatMap(({ label }, index) => [
      { label, value: perSecond[index] ?? 0, unit: 'changes/s' },
      { label: `${label}, p99`, value: median((latencies.get(label) ?? []).slice(1)), unit: 'ms' },
      { label: `${label}, to batches`, value: (perSecond[index] ?? 0) / batch, unit: '×' },
    ]);
    const atRates = PACES.map((perSecond) =>
      timed(`sets of 100 at ${perSecond} changes/s`, () => paced(world, 100, pacedFrames, perSecond)),
    );
    const reached = await interleave(atRates, Math.min(rounds, PACED_ROUNDS));
    rows.pop();
    for (const [index, { label }] of atRates.entries()) {
      rows.push({ label: `${label}, reached`, value: median(reached[index] ?? []), unit: 'changes/s' });
      rows.push({ label: `${label}, p99`, value: median((latencies.get(label) ?? []).slice(1)), unit: 'ms' });
    }
    world.socket.close();
    world.client.close();
    world.operator.close();
    return {
      name: 'quotes',
      rows,
      checks: `every set and replace applied, no entry left out, all entries of a set at rest after every run; ${rounds} rounds of ${frames} frames, ${IN_FLIGHT} in flight`,
    };
  } finally {
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
