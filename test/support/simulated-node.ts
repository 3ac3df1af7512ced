/**
 * A whole node on one thread: the real gateway, market shards, clearing and market data over real rings, turned by a
 * seeded schedule; a disk in memory; signatures that are valid unless the test forged them.
 */
import { ClearingActor } from '../../src/clearing/clearing-actor.ts';
import type { Durability, ReplicatedJournal } from '../../src/clearing/durability.ts';
import type { ClearingEvent } from '../../src/clearing/effect-codec.ts';
import type { ActionReply } from '../../src/clearing/inputs.ts';
import { isBackstopStepDue } from '../../src/clearing/liquidation/backstop.ts';
import { isStepDue } from '../../src/clearing/liquidation/rounds.ts';
import { ClearingEnd } from '../../src/clearing/log-codec.ts';
import type { OrderToVerify } from '../../src/clearing/order-verdict.ts';
import type { RecoveryProgress } from '../../src/clearing/recovery-steps.ts';
import type { Replication } from '../../src/clearing/replication.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { UnflushedWindow } from '../../src/clearing/unflushed-window.ts';
import { CLEARING, GATEWAY, MARKET_DATA, marketActor, REPLICATOR } from '../../src/core/actor-names.ts';
import { must } from '../../src/core/assert.ts';
import { parseHex } from '../../src/core/hex.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import type { FillStatus, Side } from '../../src/core/order-terms.ts';
import { rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { Views } from '../../src/core/views.ts';
import type { SignatureVerifier } from '../../src/gateway/actions/signature-verifier.ts';
import { ClearingClient } from '../../src/gateway/clearing-client.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { GatewayActor } from '../../src/gateway/gateway-actor.ts';
import type { BookEvent, UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import type { ActionAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import type { OrderHistory } from '../../src/gateway/orders/history/order-history.ts';
import type { UserLimits } from '../../src/gateway/sessions/user-limits.ts';
import type { UserEventStreams } from '../../src/gateway/user-streams.ts';
import { MarketShardActor } from '../../src/matching/market-actor.ts';
import { nodeTopology } from '../../src/node/topology.ts';
import type { Actor, ActorWiring } from '../../src/runtime/actor.ts';
import { SharedClock } from '../../src/runtime/clock.ts';
import { type RingDepth, ringDepth } from '../../src/runtime/spsc-ring.ts';
import { type Plan, planTopology } from '../../src/runtime/topology.ts';
import { DepthCommitted, DepthReset, FillConfirmed, LevelChanged } from '../../src/schema/generated/messages.ts';
import { type Asked, commandOf, mustCommand } from './asked.ts';
import { liftedLimits } from './lifted-limits.ts';
import { NO_HISTORY } from './order-fixture.ts';
import { pagesOf } from './pages.ts';
import { HandRunner, Simulation } from './simulation.ts';

// The input of market data, kept plainly: the levels of every market and the trades that clearing confirmed.

class DepthWatcher implements Actor {
  readonly name: string = 'market-data';
  /** `market side price` → quantity. */
  readonly levels: Map<string, number> = new Map();
  readonly trades: { readonly marketIndex: number; readonly tradeId: number; readonly quantity: number }[] = [];
  readonly commits: Map<number, number> = new Map();

  start(): void {}
  stop(): void {}
  endBatch(): void {}
  tick(): void {}

  ready(): boolean {
    return true;
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    if (typeId === LevelChanged.typeId) this.#onLevel(v, at);
    else if (typeId === DepthReset.typeId) this.#forget(DepthReset.marketIndex(v, at));
    else if (typeId === DepthCommitted.typeId) {
      this.commits.set(DepthCommitted.marketIndex(v, at), DepthCommitted.commits(v, at));
    } else if (typeId === FillConfirmed.typeId) {
      this.trades.push({
        marketIndex: FillConfirmed.marketIndex(v, at),
        tradeId: FillConfirmed.tradeId(v, at),
        quantity: FillConfirmed.quantity(v, at),
      });
    }
  }

  /** The levels of one market, best first. */
  book(marketIndex: number, side: Side): readonly (readonly [number, number])[] {
    const prefix = `${marketIndex} ${side} `;
    const levels = [...this.levels]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, quantity]) => [Number(key.slice(prefix.length)), quantity] as const);
    return levels.sort(([a], [b]) => (side === 0 ? b - a : a - b));
  }

  #onLevel(v: Views, at: number): void {
    const key = `${LevelChanged.marketIndex(v, at)} ${LevelChanged.side(v, at)} ${LevelChanged.price(v, at)}`;
    const quantity = LevelChanged.quantity(v, at);
    if (quantity === 0) this.levels.delete(key);
    else this.levels.set(key, quantity);
  }

  #forget(marketIndex: number): void {
    for (const key of [...this.levels.keys()]) if (key.startsWith(`${marketIndex} `)) this.levels.delete(key);
  }
}

const RING = 1 << 16;
const JOURNAL = { batchRecordsMax: 64, checkpointMs: 2, checkpointRecords: 40, checkpointRows: 100 };

function topologyOf(ringBytes: number): Parameters<typeof nodeTopology>[0] {
  return {
    threads: { marketShards: 2, marketsOn: 'workers', verifyThreads: 0, spinTurns: 0 },
    rings: { commandBytes: ringBytes, commandReservedBytes: 4_096, eventBytes: ringBytes, depthBytes: ringBytes },
    journal: JOURNAL,
  };
}

/** Each is some hundredths of a second. */
const LIQUIDATION_ROUNDS_MAX = 200;

export const SIMULATION_START_NS = 1_800_000_000_000_000_000n;

/** What was published to users about one side of a trade. */
export interface ToldFill {
  readonly user: UserId;
  readonly trade: UserTradeEvent;
}

export interface SimulatedNodeOptions {
  readonly seed: number;
  readonly durability: Durability;
  /** Orders with a signature that clearing finds forged, though the gateway let them pass, and quote sets as `set revision`. */
  readonly forged: ReadonlySet<string>;
  readonly startNs: bigint;
  /** Changed rows and journal records that make a checkpoint due; few by default. */
  readonly checkpointAfter?: number;
  /** Called with the progress of its start. */
  readonly recovering?: RecoveryProgress;
  readonly acks?: 'optimistic' | 'durable';
  readonly history?: OrderHistory;
  readonly limits?: UserLimits;
  /** The receivers of what users and readers get; `told`, `events` and `depth` stay empty then. */
  readonly listeners?: { readonly streams: UserEventStreams; readonly data: (wiring: ActorWiring) => Actor };
  /** Receives what clearing has published, after the gateway. */
  readonly published?: (news: ClearingEvent) => void;
  /** Of every channel; small ones are full now and then. */
  readonly ringBytes?: number;
  readonly batchRecordsMax?: number;
  /** The log of a cluster, with the journal on the node's disk. */
  readonly replication?: Replication;
  /** The same over rings: the actor at their other end. */
  readonly replicator?: { readonly journal: ReplicatedJournal; readonly actor: (wiring: ActorWiring) => Actor };
}

export class SimulatedNode {
  readonly gateway: Gateway;
  readonly clearing: ClearingActor;
  readonly shards: readonly MarketShardActor[];
  readonly depth: DepthWatcher = new DepthWatcher();
  readonly simulation: Simulation;
  readonly told: ToldFill[] = [];
  /** Reasons of undone fills that count against their user. */
  readonly faults: string[] = [];
  readonly events: { readonly user: UserId; readonly event: BookEvent }[] = [];
  readonly answers: ActionAnswer[] = [];
  /** How often clearing sent a heartbeat in the middle of its work. */
  clearingHeartbeats = 0;
  /** Last record that clearing has applied. */
  applied = 0;
  /** Clearing has work of its own, or a record that is not applied yet. */
  isWorking = false;
  /** How often clearing reported progress without reporting that it recovers. */
  progressUnsaid = 0;
  readonly #refusals: string[] = [];
  readonly #runner: HandRunner;
  readonly #plan: Plan;
  readonly #fixture: ClearingClient;
  #elapsedMs = 0;

  constructor(options: SimulatedNodeOptions) {
    const { seed, forged, startNs } = options;
    const plan = planTopology(nodeTopology(topologyOf(options.ringBytes ?? RING), options.replicator !== undefined), {
      mode: 'manual',
      notBeforeNs: startNs,
    });
    this.#plan = plan;
    const shards: MarketShardActor[] = [];
    const made: { gateway?: Gateway; fixture?: ClearingClient; clearing?: ClearingActor } = {};
    const marketShard = (wiring: ActorWiring): MarketShardActor => {
      const shard = new MarketShardActor({
        name: wiring.name,
        clock: wiring.clock,
        hashSeed: BigInt(seed),
        isStalled: () => false,
        heartbeat: () => undefined,
        clearingChannel: wiring.channelOf(CLEARING),
        clearing: wiring.publication(CLEARING),
        gateway: wiring.publication(GATEWAY),
        data: wiring.publication(MARKET_DATA),
      });
      shards.push(shard);
      return shard;
    };
    this.#runner = new HandRunner(plan, {
      [GATEWAY]: (wiring) => {
        const { actor, gateway, fixture } = this.#makeGateway(wiring, options);
        made.gateway = gateway;
        made.fixture = fixture;
        return actor;
      },
      [marketActor(0)]: marketShard,
      [marketActor(1)]: marketShard,
      [CLEARING]: (wiring) => {
        made.clearing = this.#makeClearing(wiring, options, forged);
        return made.clearing;
      },
      [MARKET_DATA]: (wiring) => options.listeners?.data(wiring) ?? this.depth,
      ...(options.replicator === undefined ? {} : { [REPLICATOR]: options.replicator.actor }),
    });
    this.gateway = must(made.gateway, 'the gateway was made');
    this.#fixture = must(made.fixture, 'the fixture was made');
    this.clearing = must(made.clearing, 'clearing was made');
    this.shards = shards;
    this.simulation = new Simulation(this.#runner, {
      seed,
      batchRecordsMax: options.batchRecordsMax ?? 16,
      stepsPerTick: 50,
      tickNsMax: 2_000_000,
      invariant: () => {
        this.#elapsedMs += 0.05;
      },
    });
    // Time stands still while the node recovers, so that nothing expires before a test has looked.
    this.#runner.start();
    this.#runner.settle();
  }

  get nowNs(): bigint {
    return this.#runner.clock.nowNs();
  }

  /** Turns of one actor alone until it does nothing: its output is not read. */
  pollAlone(actor: string): void {
    while (this.#runner.step(actor) > 0);
  }

  /** One turn of one actor. @returns how many records it handled, or 1 for a part of its own work. */
  poll(actor: string): number {
    return this.#runner.step(actor);
  }

  /** What one actor has sent and another has not read. */
  unread(from: string, to: string): RingDepth {
    const edge = this.#plan.edges.find((each) => each.from === from && each.to === to);
    return ringDepth(must(edge, 'there is such an edge').ring);
  }

  /** One turn of every actor until every ring is empty; time stands still. */
  drain(): void {
    this.#runner.settle();
    this.#runner.tick();
    this.#runner.settle();
  }

  /** Until no actor has anything to do: every command answered, every fill decided. */
  settle(): void {
    for (let round = 0; round < 3; round += 1) {
      this.#runner.settle();
      this.#runner.clock.advance(10_000_000n);
      this.#runner.tick();
    }
    this.#runner.settle();
  }

  /** Until what accounts below maintenance and the backstop need at this time is done too. */
  settleLiquidations(): void {
    for (let round = 0; round < LIQUIDATION_ROUNDS_MAX; round += 1) {
      this.settle();
      if (!isLiquidating(this.clearing.ledger, this.nowNs as TimestampNs)) return;
    }
    throw new Error('liquidations go on and on');
  }

  /** A long time goes by at once. */
  pass(ns: bigint): void {
    this.#runner.clock.advance(ns);
    this.#runner.tick();
  }

  /** One command of an operator, carried through; a refusal throws. */
  command(command: Asked): void {
    this.commandAll([command]);
    this.settle();
  }

  /** As many at once as fit a ring; time stands still. */
  commandAll(commands: readonly Asked[]): void {
    const before = this.#refusals.length;
    for (const command of commands) void this.#fixture.command(mustCommand(command));
    this.drain();
    if (this.#refusals.length > before) throw new Error(`a command was refused: ${this.#refusals.at(-1)}`);
  }

  /** One command of an operator or a user, sent and not waited for; it may be refused. */
  errand(asked: Asked): Promise<ActionReply> {
    const command = commandOf(asked);
    return command.ok ? this.#fixture.command(command.value) : Promise.resolve(command);
  }

  /** Hashes of all books: equal before and after a rebuild. */
  bookHashes(): readonly string[] {
    return this.shards
      .flatMap((shard) => [...shard.engines()].map(([index, engine]) => `${index}:${engine.hash()}`))
      .sort();
  }

  /** Fills published with a status. */
  toldAs(status: FillStatus): readonly ToldFill[] {
    return this.told.filter(({ trade }) => trade.status === status);
  }

  #makeGateway(
    wiring: ActorWiring,
    { acks, history, limits, listeners, published, replication, replicator, seed }: SimulatedNodeOptions,
  ): { actor: GatewayActor; gateway: Gateway; fixture: ClearingClient } {
    const shards = [wiring.publication(marketActor(0)), wiring.publication(marketActor(1))];
    const toClearing = wiring.publication(CLEARING);
    const fixture = new ClearingClient(toClearing, () => wiring.clock.nowNs(), wiring.wakeUp);
    // Every signature is valid, at once.
    const verifier: Pick<SignatureVerifier, 'verify' | 'flush' | 'inFlight'> = {
      inFlight: 0,
      verify: (job, done) => {
        done(job.publicKey.length === 32);
        return true;
      },
      flush: () => undefined,
    };
    const gateway = new Gateway({
      clock: wiring.clock,
      refusedUsers: new Set(),
      acks: acks ?? 'optimistic',
      history: history ?? NO_HISTORY,
      pages: pagesOf(history ?? NO_HISTORY),
      verifier,
      limits: limits ?? liftedLimits(wiring.clock.nowNs()),
      shards,
      idKey: hashKeyOf(BigInt(seed)),
      wakeUp: wiring.wakeUp,
      isCluster: replication !== undefined || replicator !== undefined,
      command: (command) => fixture.command(command),
      ask: () => Promise.resolve(rejected(reject('SERVICE_UNAVAILABLE', 'the simulation asks the state itself'))),
      counted: {
        order: () => undefined,
        fill: () => undefined,
        fault: (reason) => this.faults.push(reason),
        cooldown: () => undefined,
      },
    });
    gateway.streams = listeners?.streams ?? {
      orderEvent: (user, event) => this.events.push({ user, event }),
      userTrade: (user, trade) => this.told.push({ user, trade }),
      protectionTriggered: () => undefined,
      accountEvent: () => undefined,
      positions: () => undefined,
      accountStats: () => undefined,
      atRisk: () => undefined,
      pendingSettlement: () => undefined,
      listens: () => false,
      isRead: () => true,
      listenersOf: () => [],
      endSessions: () => undefined,
      flush: () => undefined,
    };
    const actor = new GatewayActor({
      gateway,
      verifier,
      clearingChannel: wiring.channelOf(CLEARING),
      publications: [...shards, toClearing],
      replied: (request, reply) => {
        if (!reply.ok) this.#refusals.push(`${reply.reject.code} ${reply.reject.message}`);
        fixture.replied(request, reply);
      },
      clearingEvent: published ?? (() => undefined),
      marketOpened: () => undefined,
      ticked: () => undefined,
      halted: () => undefined,
      unflushed: new UnflushedWindow(),
    });
    return { actor, gateway, fixture };
  }

  #makeClearing(
    wiring: ActorWiring,
    { durability, checkpointAfter, recovering, startNs, replication: given, replicator }: SimulatedNodeOptions,
    forged: ReadonlySet<string>,
  ): ClearingActor {
    const replication = given ?? (replicator === undefined ? undefined : overRings(wiring, replicator.journal));
    return new ClearingActor({
      clock: wiring.clock,
      // Nodes of a cluster have a clock each.
      notBefore: (timeNs) => {
        if (replication !== undefined && wiring.clock instanceof SharedClock) wiring.clock.setTo(timeNs);
      },
      durability,
      replication: replication ?? null,
      journalSequence: {
        set: (sequence) => {
          this.applied = sequence;
        },
      },
      working: {
        set: (isWorking) => {
          this.isWorking = isWorking > 0;
        },
      },
      verifyOrder: ({ row }: OrderToVerify) => !forged.has(row.orderId),
      verifyQuoteSet: ({ set }) => !forged.has(`${set.setId} ${set.revisionNs}`),
      gateway: wiring.publication(GATEWAY),
      data: wiring.publication(MARKET_DATA),
      markets: [wiring.publication(marketActor(0)), wiring.publication(marketActor(1))],
      checkpointMs: JOURNAL.checkpointMs,
      checkpointRecords: checkpointAfter ?? JOURNAL.checkpointRecords,
      checkpointRows: checkpointAfter ?? JOURNAL.checkpointRows,
      heartbeat: () => {
        this.clearingHeartbeats += 1;
      },
      elapsedMs: () => this.#elapsedMs + Number(wiring.clock.nowNs() - startNs) / 1e6,
      hooks: { wait: () => undefined, crash: () => undefined },
      recovering: (step, done, of) => {
        if (!this.clearing.isRecovering()) this.progressUnsaid += 1;
        recovering?.(step, done, of);
      },
    });
  }
}

function overRings(wiring: ActorWiring, journal: ReplicatedJournal): Replication {
  const end = new ClearingEnd(wiring.publication(REPLICATOR), { aliveMs: 1_000, waitsForStandby: false });
  const inbox = { channel: wiring.channelOf(REPLICATOR), hasRoom: end.hasRoom, receive: end.receive };
  return { log: end, journal, inbox };
}

/** Whether a step of a liquidation or of the backstop is due, or an answer to one is on its way. */
function isLiquidating(ledger: ClearingState, nowNs: TimestampNs): boolean {
  const { detection, liquidations, backstopRows } = ledger;
  if (detection.hasWork || detection.candidates.size > 0) return true;
  for (const { liquidation: row } of liquidations) {
    if (row !== null && (row.order !== null || row.stage === 'cancelling' || isStepDue(ledger, row, nowNs)))
      return true;
  }
  for (const row of backstopRows.values()) {
    if (row.order !== null || row.adlMarket !== null || isBackstopStepDue(ledger, row, nowNs)) return true;
  }
  return false;
}

/** A user whose key is 32 equal bytes. */
export function simulatedUser(byte: number): UserId {
  const text = byte.toString(16).padStart(2, '0').repeat(32);
  must(parseHex(text, 32), 'a user id is 32 bytes');
  return text as UserId;
}

export const SIMULATED_MARKETS: readonly AssetId[] = ['12', '13'] as AssetId[];
