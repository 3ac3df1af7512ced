/**
 * Fifty orders in three ways, one after the other on one node: as single orders on `/control`, all in flight at once;
 * as one batch on `/control`; as one batch over REST. Each is timed from the first byte sent to the last reply read.
 *
 * The orders rest and do not cross; those of a round are cancelled before the next. They are signed before timing
 * starts, and the node verifies all of them in every case, so the differences are requests, replies and messages to the
 * market.
 */
import { RingbookClient } from '../src/client/client.ts';
import type { ControlConnection } from '../src/client/control.ts';
import { generateSeed, keyFromSeed } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import type { SignedAction } from '../src/client/signed-actions.ts';
import { assert } from '../src/core/assert.ts';
import { type NodeProcess, startNode, stopNode } from '../test/support/node-process.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchResult, interleave, median, type Scale } from './bench-kit.ts';

const ASSET = '900';
const FIFTY = 50;
/** The largest page; a round has at most as many orders. */
const ORDERS_PAGE = 1_000;
const SIZES: Readonly<Record<Scale, { readonly rounds: number; readonly groups: number }>> = {
  small: { rounds: 1, groups: 4 },
  full: { rounds: 9, groups: 20 },
};

interface World {
  readonly operator: OperatorClient;
  readonly client: RingbookClient;
  readonly control: ControlConnection;
}

async function open(node: NodeProcess): Promise<World> {
  const operator = new OperatorClient(node.ops);
  const client = new RingbookClient({ oms: node.oms, key: keyFromSeed(generateSeed()) });
  await operator.liftRateLimits();
  await operator.putAsset(ASSET, 'BENCH');
  const figures = { priceDecimals: 2, quantityDecimals: 4, tickSize: '0.01', minOrderSize: '0.001' };
  await operator.putMarket(ASSET, { ...figures, makerFeeRate: 0, takerFeeRate: 0 });
  await client.login();
  await operator.setMarketMaker(client.userId, true);
  await operator.faucet({ userId: client.userId, subAccount: 0, assetId: '0', amount: '1000000000' });
  await operator.barrier(30_000);
  return { operator, client, control: await client.control() };
}

/** Fifty signed bids. */
async function fifty(client: RingbookClient): Promise<readonly SignedAction[]> {
  const tickets = Array.from({ length: FIFTY }, (_, index) =>
    client.order({
      assetId: ASSET,
      side: 'Buy',
      price: `${1_000 + index}`,
      quantity: '0.001',
      target: { account: 0, isSpot: true },
    }),
  );
  return (await Promise.all(tickets)).map((order) => client.signCreate(order));
}

/** @returns the median of the groups in milliseconds. */
async function round(
  { operator, client }: World,
  groups: number,
  send: (actions: readonly SignedAction[]) => Promise<readonly { readonly status: string }[]>,
): Promise<number> {
  const signed = await Promise.all(Array.from({ length: groups }, () => fifty(client)));
  const elapsed: number[] = [];
  for (const actions of signed) {
    const startedMs = performance.now();
    const answers = await send(actions);
    elapsed.push(performance.now() - startedMs);
    assert(
      answers.length === FIFTY && answers.every(({ status }) => status === 'Received'),
      'every order was received',
    );
  }
  const { items } = await client.orders({ openOnly: true, limit: ORDERS_PAGE });
  assert(items.length === groups * FIFTY, `${items.length} orders rest`);
  await client.cancelAll();
  await operator.barrier(30_000);
  return median(elapsed);
}

export async function run(scale: Scale): Promise<BenchResult> {
  const { rounds, groups } = SIZES[scale];
  const node = await startNode({ profile: 'dev' });
  try {
    const world = await open(node);
    const { client, control } = world;
    const contenders = [
      {
        label: 'singles on /control',
        round: () => round(world, groups, (all) => Promise.all(all.map((action) => control.send(action)))),
      },
      {
        label: 'a batch on /control',
        round: () => round(world, groups, (all) => control.sendBatch('Create', all)),
      },
      { label: 'a batch over REST', round: () => round(world, groups, (all) => client.batchCreate(all)) },
    ];
    const figures = await interleave(contenders, rounds);
    const ms = figures.map((each) => median(each));
    control.close();
    client.close();
    world.operator.close();
    const [singles = Number.NaN] = ms;
    return {
      name: 'batches',
      rows: [
        ...contenders.map(({ label }, index) => ({ label: `50 orders, ${label}`, value: ms[index] ?? 0, unit: 'ms' })),
        ...contenders.slice(1).map(({ label }, index) => ({
          label: `${label} to singles`,
          value: (ms[index + 1] ?? 0) / singles,
          unit: '×',
        })),
      ],
      checks: `every order received, ${groups * FIFTY} of them at rest after every round; ${rounds} rounds`,
    };
  } finally {
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  }
}
