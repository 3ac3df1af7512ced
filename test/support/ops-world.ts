/**
 * What the ops listener stands on, without threads: commands change a real clearing state at once, questions are
 * answered by the node's own function, clock and plan are real. Everything passes through the node's own encoding, as
 * between threads.
 */
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { ClearingHook } from '../../src/clearing/clearing-hooks.ts';
import { answerQuery } from '../../src/clearing/clearing-queries.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { ActionReply, NodeInput, OperatorCommand } from '../../src/clearing/inputs.ts';
import { AtRiskAccounts } from '../../src/clearing/liquidation/at-risk-accounts.ts';
import { configKey } from '../../src/clearing/registry/registry-config.ts';
import type { AssetRow, ConfigRow } from '../../src/clearing/rows.ts';
import { type ClearingState, createClearingState } from '../../src/clearing/state.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { STANDARD_RATES } from '../../src/gateway/sessions/rate-limits.ts';
import type { UserLimits } from '../../src/gateway/sessions/user-limits.ts';
import { loadConfig, MANUAL_CLOCK_START_NS, type NodeConfig } from '../../src/node/config.ts';
import { nodeTopology } from '../../src/node/topology.ts';
import { firstToken, type OperatorToken } from '../../src/operator/operator-tokens.ts';
import type { OpsParts, WaitingPart, WallClockView } from '../../src/operator/ops-parts.ts';
import type { StartStep } from '../../src/operator/start-progress.ts';
import type { PriceSource } from '../../src/risk/prices.ts';
import { SharedClock } from '../../src/runtime/clock.ts';
import { DutyCycle } from '../../src/runtime/duty-cycle.ts';
import type { Leadership } from '../../src/runtime/leadership.ts';
import type { MetricsPlan } from '../../src/runtime/metrics.ts';
import { type Plan, planTopology } from '../../src/runtime/topology.ts';
import { decodePlain, encodePlain } from '../../src/schema/plain-values.ts';
import { liftedLimits } from './lifted-limits.ts';

/** A user without a session. */
export const NEVER_SEEN: string = 'f'.repeat(64);

export const TOKEN = 'ringbook-dev';

export class OpsWorld {
  readonly state: ClearingState = createClearingState();
  config: NodeConfig;
  readonly plan: Plan;
  readonly clock: SharedClock;
  readonly limits: UserLimits;
  readonly hooks: ClearingHook[] = [];
  readonly stalls: [number, boolean][] = [];
  readonly settled: number[] = [];
  /** Ids of injected orders, each with the checks that it passed by. */
  readonly injected: (readonly string[])[] = [];
  waiting: readonly WaitingPart[] = [];
  /** Of the node in its cluster; null on one machine. Set before `parts` is called. */
  leadership: Leadership | null = null;
  starting: StartStep | null = null;
  prices: [AssetId, { oracle: PriceSource | null; mark: PriceSource | null }][] = [];
  isAtRest = true;
  /** The next command throws instead of being done. */
  breaks = false;
  readonly requests: Map<string, number> = new Map();
  readonly marketActions: [AssetId, MetricsPlan][] = [];

  /** What detection has found. */
  readonly atRisk: AtRiskAccounts = new AtRiskAccounts();

  wallClock: WallClockView['state'] = { differenceNs: 0n, held: null };
  wallClockAccepts: () => boolean = () => false;

  /** Commands that clearing received, without what says who made them. */
  get commands(): number {
    return this.#commands;
  }

  /** The calls of operators that clearing received as such. */
  readonly operatorCalls: Extract<OperatorCommand, { kind: 'operatorCall' }>[] = [];
  /** Names of the tokens that commands came with. */
  readonly askedBy: (string | undefined)[] = [];

  #sequence = 0;
  #commands = 0;
  #delayMs = 0;
  readonly #assets = new Map<AssetId, AssetRow>();
  readonly #configs = new Map<string, ConfigRow>();
  readonly #definitions = new Map<AssetId, MarketDefinition>();

  constructor(profile: 'dev' | 'test' | 'production' = 'test') {
    const token = profile === 'production' ? 'p'.repeat(32) : TOKEN;
    // Production refuses to open plain listeners undeclared.
    const loaded = loadConfig({ RINGBOOK_CONFIG: profile === 'production' ? 'test' : profile });
    const hidden = { profile, hooks: false } as const;
    this.config = {
      ...loaded,
      ...(profile === 'production' ? hidden : {}),
      token,
      operatorTokens: [firstToken(token)],
    };
    const start = { mode: this.config.clock, notBeforeNs: MANUAL_CLOCK_START_NS };
    const rings = { commandBytes: 65_536, commandReservedBytes: 4_096, eventBytes: 65_536, depthBytes: 65_536 };
    this.plan = planTopology(nodeTopology({ ...this.config, rings }), start);
    this.clock = new SharedClock(this.plan.clock);
    this.limits = liftedLimits(this.clock.nowNs(), STANDARD_RATES);
  }

  /** Before the listener is made. */
  useTokens(operatorTokens: readonly OperatorToken[]): void {
    this.config = { ...this.config, operatorTokens };
  }

  parts(): OpsParts {
    const { config, clock, plan } = this;
    const assets = this.#assets;
    const configs = this.#configs;
    const definitions = this.#definitions;
    return {
      config,
      clock,
      plan,
      leadership: this.leadership,
      wallClock: { state: this.wallClock, accept: () => this.wallClockAccepts() },
      clockMoved: () => undefined,
      version: '0.1.0',
      commit: 'abc',
      gateway: {
        registry: { rows: () => ({ assets, configs, definitions }), isDropped: false },
        queries: { order: () => rejected(reject('ORDER_NOT_FOUND', 'this world has no orders')) },
        entry: {
          inject: (request, skips, answer) => {
            this.injected.push([request.order.orderId, ...skips]);
            answer({ refusal: null, processedAtNs: clock.nowNs() });
          },
          injectFill: () => null,
        },
        limits: this.limits,
      },
      starting: () => this.starting,
      waitingFor: () => this.waiting,
      command: async (command) => this.#command(command),
      ask: async (query) => {
        const place = { sequence: this.#sequence, checkpoint: 0, delayMs: this.#delayMs };
        const context = { ...place, nowNs: clock.nowNs(), atRisk: this.atRisk };
        return travelled(DutyCycle.unwatched.finish(answerQuery(travelled(query), this.state, context)));
      },
      hookClearing: async (hook) => {
        this.hooks.push(hook);
        if (hook.kind === 'delay') this.#delayMs = hook.ms;
        return accepted({});
      },
      stallMarket: (market, isStalled) => {
        this.stalls.push([market, isStalled]);
      },
      settle: async (timeoutMs) => {
        this.settled.push(timeoutMs);
        return this.isAtRest;
      },
      requestCounts: () => this.requests,
      presence: (user) => ({ sessions: user === NEVER_SEEN ? 0 : 1, streams: 2 }),
      requirements: () => ({ buys: 7_329_495_000_000_000_000_000n as Amount18, sells: 0n as Amount18 }),
      prices: () => this.prices,
      depthSequence: () => 0,
      refusals: () => 0n,
      unflushedSeconds: () => 0.25,
      dataFileBytes: () => 4_096,
      bounds: () => ({ openOrders: 2_000_000, signatures: 96, certificateEndS: 1_900_000_000 }),
      dataDisk: () => ({ bytes: 65_536, freeBytes: 8_192, isLow: false }),
      snapshots: () => ({ made: 3, failed: 1 }),
      headFigures: () => ({ size: 700, ageMs: 1_500, uncovered: 3, cosigned: 1, quorum: 2 }),
      openOrders: () => 17,
      marketFigures: () =>
        Array.from({ length: 300 }, (_, at) => ({
          market: `${at}` as AssetId,
          marketIndex: at,
          events: 9,
          undecided: 2,
          pendingTrades: 1,
        })),
      marketActions: () => this.marketActions,
      threadUses: () => [{ thread: 'main', cpuSeconds: 1.5, waitSeconds: 0.25 }],
      unverified: () => 3,
    };
  }

  #command(command: OperatorCommand): ActionReply {
    if (this.breaks) throw new Error('broken on purpose');
    if (this.waiting.includes('clearing')) return rejected(reject('SERVICE_UNAVAILABLE', 'recovering'));
    if (command.kind === 'operatorCall') this.operatorCalls.push(command);
    else {
      this.#commands += 1;
      this.askedBy.push(command.by);
    }
    this.#sequence += 1;
    const input = travelled({ ...command, request: this.#sequence }) as NodeInput;
    const effects: Effect[] = [];
    applyBatch(this.state, { timeNs: this.clock.nowNs(), inputs: [input], verdicts: [] }, effects);
    for (const effect of effects) this.#follow(effect);
    const reply = effects.find((effect) => effect.kind === 'replied');
    if (reply === undefined) throw new Error('clearing answers every command');
    return travelled(reply.outcome);
  }

  #follow(effect: Effect): void {
    if (effect.kind !== 'registryChanged') return;
    const { change } = effect;
    if (change.table === 'asset') this.#assets.set(change.row.assetId, change.row);
    else if (change.table === 'market') this.#definitions.set(change.row.definition.assetId, change.row.definition);
    else if (change.table === 'config') this.#configs.set(configKey(change.row.kind, change.row.key), change.row);
  }
}

/** As after a ring: a copy, with exact numbers. */
function travelled<T>(value: T): T {
  return decodePlain<T>(encodePlain(value));
}
