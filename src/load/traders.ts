/**
 * The two users of a run: their sessions, their funds and, where a node serves them, the streams that are timed.
 *
 * New users are funded by the faucet. Own ones must have what the run moves (own-users.ts).
 */
import { RingbookClient } from '../client/client.ts';
import { HttpTransport, type Socket } from '../client/http-transport.ts';
import { generateSeed, keyFromSeed, loadKey, type SigningKey } from '../client/keys.ts';
import { OperatorClient } from '../client/operator.ts';
import { openSocket } from '../client/platform.ts';
import { Session } from '../client/session.ts';
import type { NowNs } from '../client/time.ts';
import { assert, must } from '../core/assert.ts';
import { format18, formatRaw, parseDecimal18 } from '../core/decimal.ts';
import { BUYER, type SignedFlow } from './flows.ts';
import type { FloorTarget, LoadPlan, NodeTarget } from './plan.ts';

/** What the faucet grants of each asset. */
const FUNDS = '1000000000';
const ONE_18 = 10n ** 18n;
/** For fills to become confirmed after a run. */
const CONFIRMED_MS_MAX = 60_000;
const LOOK_MS = 20;

interface Trader {
  readonly key: SigningKey;
  readonly control: Socket;
}

export interface Traders {
  readonly pair: readonly [Trader, Trader];
  /** Frames of the buyer's trades and of depth updates; null unless requested. */
  readonly trades: Socket | null;
  readonly depth: Socket | null;
  close(): void;
}

/** @returns the seller's key, then the buyer's. */
export function keysOf({ target }: LoadPlan): readonly [SigningKey, SigningKey] {
  if (target.kind === 'node' && target.users.kind === 'own') {
    const [seller, buyer] = target.users.keyFiles;
    return [loadKey(seller), loadKey(buyer)];
  }
  return [keyFromSeed(generateSeed()), keyFromSeed(generateSeed())];
}

async function fund({ users, market }: NodeTarget, keys: readonly SigningKey[]): Promise<void> {
  if (users.kind !== 'new') return;
  const operator = new OperatorClient(users.ops, users.token);
  try {
    for (const { userId } of keys) {
      await operator.setMarketMaker(userId, true);
      for (const assetId of ['0', market.assetId]) {
        await operator.faucet({ userId, subAccount: market.account, assetId, amount: FUNDS });
      }
    }
  } finally {
    operator.close();
  }
}

function openFloor({ base }: FloorTarget): Promise<Socket> {
  return openSocket({ base, path: '/control', headers: {} }, (socket) => socket);
}

/** Logs in, funds and connects both users. */
export async function openTraders(
  plan: LoadPlan,
  keys: readonly [SigningKey, SigningKey],
  nowNs: NowNs,
): Promise<Traders> {
  const { target } = plan;
  const sockets: Socket[] = [];
  const keep = (socket: Socket): Socket => {
    sockets.push(socket);
    return socket;
  };
  const close = (): void => {
    for (const socket of sockets) socket.close();
  };
  if (target.kind === 'floor') {
    const [seller, buyer] = keys;
    const pair = [
      { key: seller, control: keep(await openFloor(target)) },
      { key: buyer, control: keep(await openFloor(target)) },
    ] as const;
    return { pair, trades: null, depth: null, close };
  }
  const transport = new HttpTransport(target.oms);
  const headers = await Promise.all(keys.map((key) => new Session(transport, key, nowNs).headers()));
  transport.close();
  await fund(target, keys);
  const open = async (path: string, user: 0 | 1): Promise<Socket> =>
    keep(await openSocket({ base: target.oms, path, headers: headers[user] ?? {} }, (socket) => socket));
  const control = plan.hops ? '/control?timing=true' : '/control';
  const [seller, buyer] = keys;
  const pair = [
    { key: seller, control: await open(control, 0) },
    { key: buyer, control: await open(control, BUYER) },
  ] as const;
  const trades = plan.streams ? await open(`/trades/user/events/${buyer.userId}`, BUYER) : null;
  const { mds, market } = target;
  const path = `/marketdepth/diff/${market.assetId}`;
  const depth =
    plan.streams && mds !== null ? keep(await openSocket({ base: mds, path, headers: {} }, (socket) => socket)) : null;
  return { pair, trades, depth, close };
}

/** Cancels every order of both users in the market: what a run leaves behind, or rejected orders left unmatched. */
export async function cancelRest({ target }: LoadPlan, keys: readonly SigningKey[]): Promise<void> {
  if (target.kind === 'floor') return;
  for (const key of keys) {
    const client = new RingbookClient({ oms: target.oms, key });
    await client.cancelAll({ assetId: target.market.assetId }).finally(() => client.close());
  }
}

/** What the buyer owns of the market's asset: a spot balance, or the base of a position. */
async function owned(plan: LoadPlan, { market }: NodeTarget, client: RingbookClient): Promise<bigint> {
  if (plan.flow === 'margin') {
    const positions = await client.margin.positions(market.assetId);
    const own = positions.find(({ subAccount }) => subAccount === market.account);
    return must(parseDecimal18(own?.size ?? '0'), 'a position has a decimal size');
  }
  const balance = (await client.inventory()).get(market.account)?.spot.get(market.assetId);
  return must(parseDecimal18(balance ?? '0'), 'a balance is a decimal');
}

/** The buyer's balance before a run, compared with that after it. */
export class LedgerCheck {
  readonly #plan: LoadPlan;
  readonly #target: NodeTarget;
  readonly #client: RingbookClient;
  readonly #before: bigint;

  private constructor(plan: LoadPlan, target: NodeTarget, client: RingbookClient, before: bigint) {
    this.#plan = plan;
    this.#target = target;
    this.#client = client;
    this.#before = before;
  }

  /** @returns null against the floor. */
  static async open(plan: LoadPlan, key: SigningKey): Promise<LedgerCheck | null> {
    const { target } = plan;
    if (target.kind === 'floor') return null;
    const client = new RingbookClient({ oms: target.oms, key });
    return new LedgerCheck(plan, target, client, await owned(plan, target, client));
  }

  /** Waits until the fills are confirmed. @throws Error when the buyer does not own exactly what the flow bought. */
  async verify({ bought }: SignedFlow): Promise<string> {
    const { quantityDecimals } = this.#target.market;
    const expected = this.#before + (BigInt(bought) * ONE_18) / 10n ** BigInt(quantityDecimals);
    const endMs = performance.now() + CONFIRMED_MS_MAX;
    let after = this.#before;
    for (;;) {
      after = await owned(this.#plan, this.#target, this.#client);
      if (after >= expected || performance.now() > endMs) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    assert(after === expected, `the buyer owns ${format18(after)}, expected ${format18(expected)}`);
    return `the buyer owns exactly ${formatRaw(bought, quantityDecimals)} more`;
  }

  close(): void {
    this.#client.close();
  }
}
