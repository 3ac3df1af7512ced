/** Read routes for operators (operator-api.md 5, 6): prices, state, actors, ledger, accounts at risk. */

import type { ChainOperations } from '../chain/chain-operations.ts';
import type { KnownPrices } from '../clearing/clearing-queries.ts';
import type { ActionReply } from '../clearing/inputs.ts';
import { ACCOUNTS_AT_RISK_MAX } from '../clearing/liquidation/at-risk-accounts.ts';
import { TEXT } from '../codec/shapes/shape-kit.ts';
import { format18, formatScaled } from '../core/decimal.ts';
import { type AssetId, compareAssetIds, hasOracle } from '../core/ids.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { limitQuery } from '../http/api/query-docs.ts';
import type { Query } from '../http/query.ts';
import {
  isUsable,
  MARK_STALE_NS,
  markInUse,
  ORACLE_STALE_NS,
  type PriceSource,
  STORED_PRICE_NS,
  sourceState,
} from '../risk/prices.ts';
import { NO_ROW_TERMS } from '../risk/risk-terms.ts';
import { ThreadBlock } from '../runtime/heartbeat.ts';
import { snapshotMetrics } from '../runtime/metrics.ts';
import { WRITTEN_WORD } from '../runtime/ring-layout.ts';
import { type Plan, type PlannedActor, threadIndex } from '../runtime/topology.ts';
import { readTrace, traceEnd } from '../runtime/trace-log.ts';
import { COMMAND_BODIES } from './commands.ts';
import { mailboxDepth } from './metric-table.ts';
import { request } from './operator-change.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import {
  ACTORS_SHOWN,
  AT_RISK_SHOWN,
  BACKSTOP_SHOWN,
  LEDGER_SHOWN,
  PRICES_SHOWN,
  PRICES_TAKEN,
  STATE_SHOWN,
  TRACE_SHOWN,
} from './reply-shapes.ts';

type View = Readonly<Record<string, unknown>>;

/** Accounts listed without a `limit`. */
const ACCOUNTS_AT_RISK = 100;

const RISK_LIMIT = limitQuery(ACCOUNTS_AT_RISK, ACCOUNTS_AT_RISK_MAX);

/** @param chains null until the chains have started. */
export function readRoutes(parts: OpsParts, chains: () => ChainOperations | null): readonly OpsRoute[] {
  return [
    {
      method: 'POST',
      path: '/operator/prices',
      area: 'Prices',
      summary: 'Give oracle prices',
      description:
        'A price that is refused stands among `rejected` of a reply 200. In production this is the entry of the oracle.',
      body: COMMAND_BODIES.prices,
      reply: PRICES_TAKEN,
      example: {
        body: '{"prices":[{"asset_id":"2","price":"3000.25"}]}',
        reply:
          '{"accepted":[{"asset_id":"2","price":"3000.25","publish_time_ns":1800000000000000000}],"rejected":[{"asset_id":"9","reason":"UnknownAsset"}]}',
      },
      handler: (call) => request(parts, { kind: 'setPrices', body: call.body }, call.by),
    },
    {
      method: 'GET',
      path: '/operator/prices',
      area: 'Prices',
      summary: 'Oracle and mark of every asset',
      reply: PRICES_SHOWN,
      example: {
        reply:
          '{"prices":{"2":{"oracle":{"price":"3000.25","publish_time_ns":1800000000000000000,"age_ns":0,"state":"healthy","fresh_updates":0},"mark":{"price":null,"timestamp_ns":null,"age_ns":null,"state":"none","fresh_updates":0},"circuit_broken":false}}}',
      },
      handler: () => prices(parts),
    },
    {
      method: 'GET',
      path: '/operator/state',
      area: 'Node',
      summary: 'Where the node stands',
      reply: STATE_SHOWN,
      example: {
        reply:
          '{"profile":"test","clock":{"mode":"manual","now_ns":1800000000000000000},"journal":{"sequence":1042,"flushed_sequence":1042,"snapshot_sequence":0},"state_hash":"9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e","markets":{"2":{"sequence":88,"last_trade_id":7,"open_orders":3,"untriggered_orders":0,"depth_sequence":91}},"counts":{"users":4,"sub_accounts":9,"open_orders":3,"pending_fills":0,"confirmed_trades":7,"rolled_back_fills":1,"deposits":4,"withdrawals_live":0,"settlements_live":0}}',
      },
      handler: () => state(parts),
    },
    {
      method: 'GET',
      path: '/operator/ledger',
      area: 'Node',
      summary: 'The sums of all users by asset',
      reply: LEDGER_SHOWN,
      example: {
        reply:
          '{"assets":{"0":{"spot":"2000000","margin_legs":"-12.5","locks":"0","fees":"12.5","rebalancing_pool":"0","backstop_capital":"0","isolated":"0","faucet":"0","dust":"0","claims":"2000000","vault_holdings":"2000000","on_chain":"2000000","difference":"0"}}}',
      },
      handler: () => ledger(parts, chains()),
    },
    {
      method: 'GET',
      path: '/operator/backstop',
      area: 'Node',
      summary: 'What the backstop account took over',
      reply: BACKSTOP_SHOWN,
      example: {
        reply:
          '{"account":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","capital":"0","sub_accounts":[]}',
      },
      handler: () => parts.ask({ kind: 'backstop' }),
    },
    {
      method: 'GET',
      path: '/operator/accounts-at-risk',
      area: 'Node',
      summary: 'The accounts nearest to liquidation',
      query: [RISK_LIMIT],
      reply: AT_RISK_SHOWN,
      example: {
        query: 'limit=10',
        reply: '{"timestamp_ns":1800000000000000000,"accounts_at_risk":0,"shielded_accounts":0,"accounts":[]}',
      },
      handler: ({ query }) => accountsAtRisk(parts, query),
    },
    {
      method: 'GET',
      path: '/operator/actors',
      area: 'Node',
      summary: 'Every actor with its mailbox',
      reply: ACTORS_SHOWN,
      example: {
        reply:
          '{"actors":[{"name":"market-0","thread":"market-0","state":"running","mailbox":{"depth":0,"capacity":12582912,"high_water":4,"reserved":262144},"batches":{"count":4,"last":3,"max":4,"mean":"2.5"},"messages_in":10,"messages_out":9}]}',
      },
      whileRecovering: true,
      handler: () => accepted({ actors: parts.plan.actors.map((actor) => actorView(parts.plan, actor)) }),
    },
    {
      method: 'GET',
      path: '/operator/trace',
      area: 'Node',
      summary: 'What the threads recorded',
      description: 'Of a node that was started with `RINGBOOK_TRACE=1`. Without `since` only where to begin.',
      query: [{ name: 'since', shape: TEXT, summary: '`next` of an earlier reply' }],
      reply: TRACE_SHOWN,
      example: { reply: '{"next":"0.0","threads":[{"thread":"main","lost":0,"records":""}]}' },
      handler: ({ query }) => trace(parts.plan, query),
    },
  ];
}

/** `on_chain` is null before the chains of an asset were read. */
async function ledger(parts: OpsParts, chains: ChainOperations | null): Promise<ActionReply> {
  const reply = await parts.ask({ kind: 'ledger' });
  if (!reply.ok) return reply;
  await chains?.deviations();
  const held = chains?.onChain();
  const views = Object.entries(reply.value.assets).map(([asset, { difference, ...sums }]): [string, View] => {
    // An asset without a token is in no vault.
    const onChain = held?.has(asset as AssetId) === false ? 0n : (held?.get(asset as AssetId) ?? null);
    return [asset, { ...sums, on_chain: onChain === null ? null : format18(onChain), difference }];
  });
  return accepted({ assets: Object.fromEntries(views) });
}

async function prices(parts: OpsParts): Promise<ActionReply> {
  const reply = await parts.ask({ kind: 'prices' });
  if (!reply.ok) return reply;
  const known = reply.value.prices;
  const nowNs = parts.clock.nowNs();
  const assets = [...parts.gateway.registry.rows().assets.keys()].filter(hasOracle).sort(compareAssetIds);
  const views = assets.map((id): [string, View] => [id, pricesView(known[id] ?? NOT_PRICED, nowNs)]);
  return accepted({ prices: Object.fromEntries(views) });
}

/** The accounts with the smallest maintenance surplus; `limit` is 100 if left out, the cap where it is above. */
function accountsAtRisk(parts: OpsParts, query: Query): Promise<ActionReply> | ActionReply {
  const page = query.page(RISK_LIMIT.bounds);
  if (!page.ok) return page;
  return parts.ask({ kind: 'accountsAtRisk', limit: page.value.limit });
}

/**
 * What the threads have recorded since an earlier reply, whose `next` is the parameter `since`; without it only where to
 * begin. Records are doubles in base64, little-endian (runtime/trace-log.ts).
 */
function trace({ trace: traces }: Plan, query: Query): ActionReply {
  if (traces === null) return rejected(NOT_TRACED);
  const since = query.one('since');
  if (!since.ok) return since;
  if (since.value !== null && !TRACE_NEXT_FORM.test(since.value)) return rejected(NOT_A_NEXT);
  const from = since.value === null ? traces.map(traceEnd) : since.value.split('.').map(Number);
  if (from.length !== traces.length || !from.every((number) => number < 2 ** 32)) return rejected(NOT_A_NEXT);
  const parts = traces.map((memory, index) => readTrace(memory, from[index] ?? 0));
  return accepted({
    next: parts.map(({ next }) => next).join('.'),
    threads: parts.map(({ lost, records }, index) => ({
      thread: traces[index]?.thread ?? '',
      lost,
      records: Buffer.from(records.buffer, records.byteOffset, records.byteLength).toString('base64'),
    })),
  });
}

/** A number of a record for each thread: 64 markets' shards, 32 verifiers and the others at most (node/config.ts). */
const TRACE_NEXT_FORM = /^[0-9]{1,10}(?:\.[0-9]{1,10}){0,127}$/;
const NOT_A_NEXT = reject('INVALID_REQUEST', 'since is "next" of an earlier reply', 'since');
const NOT_TRACED = reject('INVALID_REQUEST', 'the node records no trace: start it with RINGBOOK_TRACE=1');

/** The prices of an asset that never had any. */
const NOT_PRICED: KnownPrices[string] = { oracle: null, mark: null, markRule: NO_ROW_TERMS.markRule };

/** The mark is the last trade as it is in use: within its band (MON-06). */
function pricesView({ oracle, mark, markRule }: KnownPrices[string], nowNs: TimestampNs): View {
  const inUse = mark === null ? null : { ...mark, price: markInUse(mark.price, oracle, markRule, nowNs) };
  return {
    oracle: sourceView(oracle, 'publish_time_ns', ORACLE_STALE_NS, nowNs),
    mark: sourceView(inUse, 'timestamp_ns', MARK_STALE_NS, nowNs),
    circuit_broken: !isUsable(oracle, ORACLE_STALE_NS, nowNs),
  };
}

function sourceView(source: PriceSource | null, timeName: string, staleNs: bigint, nowNs: TimestampNs): View {
  // A publish time may be slightly ahead of the node's clock.
  const ageNs = source === null ? null : nowNs > source.timeNs ? nowNs - source.timeNs : 0n;
  return {
    price: source === null || ageNs === null || ageNs > STORED_PRICE_NS ? null : format18(source.price),
    [timeName]: source?.timeNs ?? null,
    age_ns: ageNs,
    state: sourceState(source, staleNs, nowNs),
    fresh_updates: source?.goodUpdates ?? 0,
  };
}

async function state(parts: OpsParts): Promise<ActionReply> {
  const reply = await parts.ask({ kind: 'state' });
  if (!reply.ok) return reply;
  const { config, clock } = parts;
  const { journal, state_hash, markets, counts } = reply.value;
  const views = Object.entries(markets).map(([id, market]): [string, View] => [
    id,
    { ...market, depth_sequence: depthSequenceOf(parts, id as AssetId) },
  ]);
  return accepted({
    profile: config.profile,
    clock: { mode: clock.mode, now_ns: clock.nowNs() },
    journal,
    state_hash,
    markets: Object.fromEntries(views),
    counts,
  });
}

function depthSequenceOf({ gateway, depthSequence }: OpsParts, id: AssetId): number {
  const definition = gateway.registry.rows().definitions.get(id);
  return definition === undefined ? 0 : depthSequence(definition.marketIndex);
}

/** `depth` and `high_water` count records, `capacity` and `reserved` bytes of all channels together. */
function actorView(plan: Plan, actor: PlannedActor): View {
  const recorded = new Map(snapshotMetrics(actor.metricsPlan).map((metric) => [metric.name, metric.value]));
  const number = (name: string): number => {
    const value = recorded.get(name);
    return typeof value === 'number' ? value : 0;
  };
  const batchRecords = recorded.get('batch_records');
  const channels = plan.edges.filter((edge) => edge.to === actor.name);
  return {
    name: actor.name,
    thread: actor.thread,
    state: actorState(plan, actor, number('stalled') === 1),
    mailbox: {
      depth: mailboxDepth(plan, actor.name),
      capacity: channels.reduce((sum, channel) => sum + channel.capacityBytes, 0),
      high_water: number('mailbox_high_water'),
      reserved: channels.reduce((sum, channel) => sum + channel.reservedBytes, 0),
    },
    batches: {
      count: number('batches'),
      last: number('batch_last'),
      max: typeof batchRecords === 'object' ? batchRecords.max : 0,
      mean: tenths(number('records_in'), number('batches')),
    },
    messages_in: number('records_in'),
    messages_out: messagesOut(plan, actor.name),
  };
}

function actorState(plan: Plan, actor: PlannedActor, isStalled: boolean): string {
  const thread = new ThreadBlock(plan.threadBlocks, threadIndex(plan, actor.thread)).state();
  if (thread === 'running') return isStalled ? 'stalled' : 'running';
  if (thread === 'recovering') return 'starting';
  return thread === 'draining' ? 'running' : thread;
}

/** Records published on the outgoing channels of an actor; each channel counts modulo 2^32. */
function messagesOut(plan: Plan, actor: string): number {
  const out = plan.edges.filter((edge) => edge.from === actor);
  return out.reduce((sum, edge) => sum + (Atomics.load(new Int32Array(edge.ring), WRITTEN_WORD) >>> 0), 0);
}

/** sum / count with one decimal, rounded down. */
function tenths(sum: number, count: number): string {
  return count === 0 ? '0' : formatScaled(BigInt(Math.floor((sum * 10) / count)), 1);
}
