/** Service status and a user's limits; extensions beyond wire.md that no part of the contract depends on. */
import { formatScaled } from '../core/decimal.ts';
import { MARKET_STATUS_WORD } from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import { JsonFraction } from './json-tree.ts';
import { writeJson } from './json-writer.ts';
import type { MarketView } from './market-reply.ts';
import { PROTOCOL_VERSION } from './order-rules.ts';

/** Decimals of a rate-limiter unit in the figures below. */
const UNIT_DECIMALS = 3;

export interface LimitsView {
  readonly tier: 'default' | 'market_maker';
  /** The current amount, in milli-units. */
  readonly available: bigint;
  /** Whole units. */
  readonly capacity: bigint;
  readonly unitsPerSecond: bigint;
  /** Milli-units by the names of operator-api.md 4.8, in their order. */
  readonly costs: ReadonlyMap<string, bigint>;
  readonly streamCap: number;
}

interface StatusView {
  readonly version: string;
  /** False once the service is stopping. */
  readonly takesOrders: boolean;
  readonly markets: readonly MarketView[];
}

/** `GET /system/time`. */
export function timeReply(nowNs: TimestampNs): string {
  return `{"now_ns":${nowNs}}`;
}

/** `GET /system/status`. */
export function statusReply({ version, takesOrders, markets }: StatusView): string {
  const statuses = markets.map(({ definition }): [string, string] => [
    definition.assetId,
    MARKET_STATUS_WORD[definition.status],
  ]);
  return writeJson({
    name: 'ringbook',
    version,
    protocol_version: PROTOCOL_VERSION,
    takes_orders: takesOrders,
    markets: new Map(statuses),
  });
}

/** What `GET /system/leader` shows (cluster.md 11). */
interface LeaderView {
  readonly role: 'node' | 'replica';
  readonly state: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly leader: { readonly node: string; readonly oms: string | null; readonly mds: string | null } | null;
}

/** `GET /system/leader`. */
export function leaderReply({ role, state, epoch, sequence, leader }: LeaderView): string {
  return JSON.stringify({
    role,
    state,
    epoch,
    sequence,
    leader: leader === null ? null : { node: leader.node, oms: leader.oms, mds: leader.mds },
  });
}

/** `GET /limits/{user_id}`. @param openStreams of the user, on this service. */
export function limitsReply(view: LimitsView, openStreams: number): string {
  const costs = [...view.costs].map(([name, milli]): [string, JsonFraction] => [
    name,
    new JsonFraction(formatScaled(milli, UNIT_DECIMALS)),
  ]);
  return writeJson({
    tier: view.tier,
    units: formatScaled(view.available, UNIT_DECIMALS),
    capacity: view.capacity,
    units_per_second: view.unitsPerSecond,
    costs: new Map(costs),
    streams: { open: openStreams, cap: view.streamCap },
  });
}
