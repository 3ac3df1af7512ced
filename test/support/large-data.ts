/**
 * A large data directory, made on the path that orders take: gateway, market, clearing, journal and checkpoints of the
 * simulated node on a real map. Nothing in it trades: buys lie below sells, and triggers wait far away.
 */
import { randomBytes } from 'node:crypto';
import { writeSignedOrder } from '../../src/codec/generated/order-json.ts';
import { textBytes } from '../../src/codec/text-writer.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import type { Asked } from './asked.ts';
import { createRequest, type OrderWish } from './order-fixture.ts';
import { SIMULATION_START_NS, SimulatedNode } from './simulated-node.ts';

export interface LargeSize {
  readonly users: number;
  readonly orders: number;
  readonly triggers: number;
}

const MARKETS = ['12', '13'] as AssetId[];
const TICK = 5;
const LEVELS = 5_000;
/** Below the lowest buy, so that every order is worth more than the minimum of a market, 0.01 USD. */
const LEVELS_BELOW = 200;
/** Of every order. */
export const LARGE_DATA_LOTS = 10;
const IN_FLIGHT = 20;
const CHECKPOINT_AFTER = 20_000;
const FAR_ABOVE = 1_000_000;
const USD = '1000';
const BASE = '1';

/** @param progress called now and then with the number of orders. */
export async function makeLargeData(
  directory: string,
  size: LargeSize,
  progress: (orders: number) => void,
): Promise<void> {
  const durability = new LmdbDurability(directory);
  const node = new SimulatedNode({
    durability,
    forged: new Set(),
    startNs: SIMULATION_START_NS,
    seed: 1,
    checkpointAfter: CHECKPOINT_AFTER,
  });
  makeMarkets(node);
  const users = Array.from({ length: size.users }, () => randomBytes(32).toString('hex') as UserId);
  for (let from = 0; from < users.length; from += IN_FLIGHT) {
    node.commandAll(users.slice(from, from + IN_FLIGHT).flatMap(funds));
  }
  for (let index = 0; index < size.orders + size.triggers; index += 1) {
    const user = users[index % users.length];
    if (user !== undefined) create(node, user, index, index >= size.orders);
    if (index % IN_FLIGHT === 0) node.drain();
    if (index % 10_000 === 0) progress(index);
  }
  node.settle();
  const refusal = node.answers.find((answer) => answer.refusal !== null)?.refusal;
  if (refusal) throw new Error(`an order was refused: ${refusal.code} ${refusal.message}`);
  await durability.close();
}

function makeMarkets(node: SimulatedNode): void {
  for (const assetId of ['0', ...MARKETS] as AssetId[]) {
    node.command({ kind: 'putAsset', method: 'put', assetId, body: { symbol: `A${assetId}` } });
  }
  for (const assetId of MARKETS) {
    const body = { book_price_decimals: 2, book_quantity_decimals: 4, tick_size: '0.05', min_order_size: '0.001' };
    node.command({ kind: 'putMarket', method: 'put', assetId, body });
  }
}

/** More than all orders of a user hold. */
function funds(user: UserId): Asked[] {
  const amounts = [['0', USD], ...MARKETS.map((id) => [id, BASE])] as [string, string][];
  return amounts.map(([asset, amount]) => ({
    kind: 'faucet',
    body: { user_id: user, sub_account: 0, asset_id: asset, amount },
  }));
}

function create(node: SimulatedNode, user: UserId, index: number, waits: boolean): void {
  const side = index % 2 === 0 ? SIDE.buy : SIDE.sell;
  const level = 1 + (Math.floor(index / 2) % LEVELS);
  const price = TICK * (LEVELS_BELOW + (side === SIDE.buy ? level : LEVELS + level));
  const trigger: OrderWish = waits ? { above: FAR_ABOVE + TICK * level } : {};
  const id = MARKETS[Math.floor(index / 4) % MARKETS.length] ?? ('12' as AssetId);
  const request = createRequest(
    { user, id: `order-${index}`, side, price, quantity: LARGE_DATA_LOTS, postSignNs: node.nowNs, ...trigger },
    { baseAsset: { id, text: id }, creationNs: node.nowNs as TimestampNs },
  );
  const text = request.fault === null ? textBytes(request.order, writeSignedOrder) : request.text;
  node.gateway.entry.submit(
    { kind: 'create', request: { ...request, text } },
    { user, connection: 1, isControl: true },
    (answer) => node.answers.push(answer),
  );
}
