/**
 * The interface between the ops listener and the node: journaled commands, queries, hooks, and the state that is
 * rendered. boot.ts implements it; ops-*.ts use nothing else of the node.
 */

import type { ClearingHook } from '../clearing/clearing-hooks.ts';
import type { AnswerTo, ClearingQuery } from '../clearing/clearing-queries.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import type { Profile } from '../core/config-error.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { OrderEntry } from '../gateway/actions/order-entry.ts';
import type { AssetMarks } from '../gateway/orders/margin/asset-risks.ts';
import type { Requirements } from '../gateway/orders/margin/margin-account.ts';
import type { MarketFigures } from '../gateway/orders/order-manager.ts';
import type { HeadFigures } from '../gateway/queries/evidence-thread.ts';
import type { OrderQueries } from '../gateway/queries/order-queries.ts';
import type { RegistryCache } from '../gateway/queries/registry-cache.ts';
import type { LimitName } from '../gateway/sessions/shared-budget.ts';
import type { UserLimits } from '../gateway/sessions/user-limits.ts';
import type { SharedClock } from '../runtime/clock.ts';
import type { Leadership } from '../runtime/leadership.ts';
import type { MetricsPlan } from '../runtime/metrics.ts';
import type { ThreadUse } from '../runtime/thread-times.ts';
import type { Plan } from '../runtime/topology.ts';
import type { OperatorToken } from './operator-tokens.ts';
import type { StartStep } from './start-progress.ts';

/** The parts that are not ready, by their names in `GET /readyz`; `clock`: a step of the system clock is held (MCH-02); `leadership`: the
 * node does not lead its cluster, or its lease is over. */
export type WaitingPart = 'clearing' | 'markets' | 'market_data' | 'chains' | 'clock' | 'leadership';

/** How the node's clock follows the system clock. */
export interface WallClockView {
  readonly state: {
    /** System clock − node clock, in nanoseconds. */
    readonly differenceNs: bigint;
    /** Why the node is not ready; null while it follows. */
    readonly held: string | null;
  };
  /** The operator bears out the step that is held. @returns false when none is. */
  accept(): boolean;
}

/** The members of the configuration (node/config.ts) that the operator API reads. */
interface OpsConfig {
  readonly profile: Profile;
  readonly hooks: boolean;
  readonly chains: 'simulated' | 'none';
  readonly chainsMine: 'by-themselves' | 'on-request';
  readonly acks: 'optimistic' | 'durable';
  readonly selfServiceMarkets: boolean;
  readonly webauthn?: { readonly rp_id: string; readonly origins: readonly string[] } | null;
  readonly approvalAddresses: readonly string[];
  readonly feeAccount: string | null;
  readonly backstopAccount: string | null;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly operatorTokens: readonly OperatorToken[];
  readonly opsNames?: readonly string[];
}

interface NodeBounds {
  /** Setting `max_open_orders_node`. */
  readonly openOrders: number;
  /** In the verifier pool, beyond which orders wait at the gateway; null where there is no pool. */
  readonly signatures: number | null;
  /** When the certificate of the public listeners ends, in seconds of Unix time; null without TLS. */
  readonly certificateEndS: number | null;
}

export interface OpsParts {
  readonly config: OpsConfig;
  readonly version: string;
  readonly commit: string;
  readonly clock: SharedClock;
  readonly wallClock: WallClockView;
  /** Of this process in its cluster; null on one machine. */
  readonly leadership: Leadership | null;
  /** Threads, actors, rings and metrics of the node. */
  readonly plan: Plan;
  readonly gateway: {
    readonly entry: Pick<OrderEntry, 'inject' | 'injectFill'>;
    readonly limits: UserLimits;
    readonly queries: Pick<OrderQueries, 'order'>;
    readonly registry: Pick<RegistryCache, 'isDropped' | 'rows'>;
  };
  /** Empty when the node is ready. */
  waitingFor(): readonly WaitingPart[];
  /** Progress of the start; null before its first step. */
  starting(): StartStep | null;
  /**
   * Resolves after the change is journaled and flushed; SERVICE_UNAVAILABLE while recovering or when a ring is full.
   */
  command(command: OperatorCommand): Promise<ActionReply>;
  /** Resolves from applied and flushed state. */
  ask<Query extends ClearingQuery>(query: Query): Promise<Outcome<AnswerTo<Query>>>;
  hookClearing(hook: ClearingHook): Promise<ActionReply>;
  /** Makes the shard of a market stop reading its commands, or continue. */
  stallMarket(marketIndex: number, isStalled: boolean): void;
  /**
   * Waits until every mailbox is empty and everything received is flushed and published. @returns whether the node is
   * idle.
   */
  settle(timeoutMs: number): Promise<boolean>;
  /** What goes by the node's clock outside of actors is due. */
  clockMoved(): void;
  /** Responses of the public listeners of this thread, by `<route> <status>`. */
  requestCounts(): ReadonlyMap<string, number>;
  /** A user's valid tokens, and streams of the order service, on this node. */
  presence(user: UserId): { readonly sessions: number; readonly streams: number };
  /** Exposure of the open orders of a margin-type account by side; see MarginQueries. */
  requirements(user: UserId, subAccount: number): Requirements;
  /** The prices of every asset with an oracle, as used by pre-flight checks; none before the gateway is open. */
  prices(): Iterable<readonly [AssetId, Pick<AssetMarks, 'oracle' | 'mark'>]>;
  /** Number of the last public depth diff of a market. */
  depthSequence(marketIndex: number): number;
  /** Requests rejected by a limit, on every thread. */
  refusals(limit: LimitName): bigint;
  /** How long the latest market event has been waiting for its flush, in seconds. */
  unflushedSeconds(): number;
  dataFileBytes(): number;
  /** The file system with the data file; null if the operating system does not report it. */
  dataDisk(): {
    readonly bytes: number;
    readonly freeBytes: number;
    /** Below the reserve: new orders are refused (MCH-04). */
    readonly isLow: boolean;
  } | null;
  /** What ends the growth of figures that are watched. */
  bounds(): NodeBounds;
  /** Snapshots of this process, those of the node's own schedule. */
  snapshots(): { readonly made: number; readonly failed: number };
  /** How the heads of the evidence stand (EVD-06, EVD-08); null where none is signed, and before the first figures. */
  headFigures(): HeadFigures | null;
  /** Live orders of all users (AMB-124). */
  openOrders(): number;
  /** None before the gateway is open. */
  marketFigures(): Iterable<MarketFigures>;
  /** What is recorded of actions by market; none before the first. */
  marketActions(): Iterable<readonly [AssetId, MetricsPlan]>;
  /** Time of the threads of this process; none where the kernel does not count it. */
  threadUses(): readonly ThreadUse[];
  /** Requests whose signatures wait for a verdict. */
  unverified(): number;
}
