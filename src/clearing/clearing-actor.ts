/**
 * The clearing engine's thread: rings in, journal, apply, effects out.
 *
 *   drain ─▶ batch ─▶ verdicts (native, once per order) ─▶ append, flushed ─▶ apply ─▶ effects into the rings
 *                                                                    └─▶ now and then: checkpoint
 *
 * Nothing leaves before the flush that makes it true. Whatever throws here ends the node: a half-applied batch must not
 * be seen, and a restart replays the journal through the same function.
 *
 * Not here: what an input does (src/clearing), how bytes get to the disk (durability.ts).
 */

import { assert, InvariantError, must } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import type { AssetId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { type Clock, msUntil, type Sequence, type TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import { DutyCycle } from '../runtime/duty-cycle.ts';
import type { Publication } from '../runtime/publication.ts';
import { RetryBuffer } from '../runtime/retry-buffer.ts';
import type { TraceLog } from '../runtime/trace-log.ts';
import { NodeCommand, NodeHook, NodeQuery } from '../schema/generated/messages.ts';
import { decodePlain } from '../schema/plain-values.ts';
import { differenceOfAll } from './checks.ts';
import { applyBatch, FIRED_PER_TURN, settleBatch, type UnverifiedQuoteSet, verdictsNeeded } from './clearing.ts';
import { type ClearingHook, CrashPlan } from './clearing-hooks.ts';
import { answerQuery, type ClearingQuery } from './clearing-queries.ts';
import type { Durability, JournalSize, Recovery } from './durability.ts';
import {
  type EffectSinks,
  writeClearingEvent,
  writeDecided,
  writeEffect,
  writeFlushed,
  writeMarketRestored,
  writeReply,
} from './effect-codec.ts';
import type { Effect } from './effects.ts';
import { lotsDueNs } from './funds/deposit-caps.ts';
import { type OutdatedRebalancing, outdatedRebalancing } from './funds/rebalancing.ts';
import type { ClearingInput, FillVerdict } from './inputs.ts';
import { BatchBuffer } from './journal-batch.ts';
import { AtRiskAccounts, type AtRiskCounts, type AtRiskTimes } from './liquidation/at-risk-accounts.ts';
import { type BackstopFigures, backstopFigures } from './liquidation/backstop-capital.ts';
import { isLiquidationEffect, type LiquidationEvent, liquidationEvent } from './liquidation/liquidation-events.ts';
import { type DetectionListener, type LiquidationCounts, Pacing } from './liquidation/pacing.ts';
import type { ClearingOrder } from './live-orders.ts';
import type { OrderToVerify, QuoteSetToVerify } from './order-verdict.ts';
import { type DecidedRecord, OutcomeFeed, type OutcomeLink } from './outcome-codec.ts';
import { recordOpening } from './outcome-opening.ts';
import { PassedTime } from './passed-time.ts';
import { type Boot, type RecoveryOptions, recoverParts, TableLoad } from './recovery.ts';
import type { RecoveryProgress } from './recovery-steps.ts';
import { placeStart } from './registry/registry-config.ts';
import type { HashedState } from './replicated-log.ts';
import {
  BATCH_CLOSES_AT_BYTES,
  COMMAND_BYTES_MAX,
  Replicating,
  type Replication,
  type ReplicationHost,
} from './replication.ts';
import { beginRestart, restartOrder } from './restart.ts';
import { liveOrders, restore, restoredCount, sendMarketFigures } from './restoring.ts';
import type { MarketRow } from './rows.ts';
import { nativeBytesHash } from './sha256.ts';
import type { ClearingState } from './state.ts';
import { hashState, stateHash } from './state-hash.ts';
import { canCheckpoint, dirtyRowCount, drainDirtyRows } from './tables.ts';
import { fireSome } from './triggers.ts';

/**
 * Time between two looks at the figures of the backstop, which has 254 accounts at most, and of the ledger, a sum for
 * each asset.
 */
/** Live orders with which a leader hashes its state for a comparison of nodes: some tenths of a second, less than its lease. */
const HASHED_ORDERS_MAX = 50_000;
const FIGURES_SHOWN_MS = 1_000;
/** Journal records that a turn removes at most. */
const PRUNED_PER_TURN = 64;

export interface ClearingOptions {
  readonly clock: Clock;
  /** Pushes the clock forward to the time of the last batch: time never goes backwards over a restart. */
  readonly notBefore: (timeNs: bigint) => void;
  readonly durability: Durability;
  /** Where several machines hold the journal; null or absent: a record is Confirmed when it is flushed here. */
  readonly replication?: Replication | null;
  /** Verifies what is not attested; a seam only so that the simulation can forge. */
  readonly verifyOrder: (order: OrderToVerify) => boolean;
  /** The same of a revision of a quote set. */
  readonly verifyQuoteSet: (set: QuoteSetToVerify) => boolean;
  /** Called before the orders of a batch are verified: takes what the verifier has attested. */
  readonly takeAttestations?: () => void;
  /** The key of the hashes of users and order ids: a secret of the process. */
  readonly idKey?: HashKey;
  readonly gateway: Publication;
  readonly data: Publication;
  /** One per shard; market m lives on shard m mod shards. */
  readonly markets: readonly Publication[];
  readonly checkpointMs: number;
  readonly checkpointRecords: number;
  /** A checkpoint blocks this thread: with so many changed rows it is due at once, so that none takes too long. */
  readonly checkpointRows: number;
  /** The heartbeat, between the steps of a batch: a sweep of a thousand orders is one batch. */
  readonly heartbeat: () => void;
  /** Milliseconds that pass monotonically, for pacing only. */
  readonly elapsedMs: () => number;
  readonly commitNs?: (nanoseconds: number) => void;
  /** Called after each checkpoint. */
  readonly checkpointed?: (checkpoint: {
    readonly ns: number;
    readonly rows: number;
    readonly sequence: Sequence;
  }) => void;
  /** The trace of this thread; without it nothing is recorded. */
  readonly trace?: TraceLog | null;
  /** Called each turn. */
  readonly liquidationCounts?: (counts: LiquidationCounts) => void;
  /** 1 while accounts wait to be judged, steps to be made, or what is at risk to be published: the node is not at rest. */
  readonly working?: { set(isWorking: number): void };
  readonly journalSequence?: { set(sequence: number): void };
  /** Called at checkpoints and when records were pruned. */
  readonly journalSize?: (size: JournalSize) => void;
  /** Called for each account whose liquidation begins or ends, and for each trade of auto-deleveraging. */
  readonly liquidationEvent?: (event: LiquidationEvent) => void;
  /** Called once a second. */
  readonly backstopFigures?: (figures: BackstopFigures) => void;
  /**
   * Called once a second with what claims and holdings of all assets differ by, 18 decimals; 0 unless a booking is
   * wrong.
   */
  readonly ledgerDifference?: (amount: bigint) => void;
  /** Called after each pass over the accounts at risk. */
  readonly atRiskCounts?: (counts: AtRiskCounts) => void;
  /** Called at a start with stored rates of rebalancing that today's rules read differently (MON-03). */
  readonly rebalancingAtStart?: (outdated: OutdatedRebalancing) => void;
  /** Called with the progress of a recovery. */
  readonly recovering?: RecoveryProgress;
  /** The way to the thread of the evidence; null or absent where none is kept. */
  readonly evidence?: OutcomeLink | null;
  /** Called once a second where evidence is kept: how far it is behind, and whether input waits for it. */
  readonly evidenceBehind?: (behind: ReturnType<OutcomeFeed['behind']>, holds: boolean) => void;
  /** Test hooks: waits, and the end of the process. */
  readonly hooks: { readonly wait: (ms: number) => void; readonly crash: () => void };
}

/**
 * Parts of a start in one turn, which is some ten milliseconds. The receivers are woken after each turn, which costs as
 * much as a hundred orders.
 */
const PARTS_PER_TURN = 64;

const COMMAND_TOO_LARGE = reject('PAYLOAD_TOO_LARGE', `in a cluster a command has at most ${COMMAND_BYTES_MAX} bytes`);

interface Question {
  readonly request: number;
  readonly query: ClearingQuery;
}

export class ClearingActor implements Actor {
  readonly name = 'clearing';
  readonly #options: ClearingOptions;
  readonly #gateway: RetryBuffer;
  readonly #markets: readonly RetryBuffer[];
  readonly #sinks: EffectSinks;
  /** It fills. */
  #batch = new BatchBuffer();
  /** Of the record that is on its way: its inputs may lie in it. */
  #batchOnItsWay = new BatchBuffer();
  /** Null on one machine. */
  readonly #replicating: Replicating | null;
  readonly #passed = new PassedTime();
  readonly #atRisk = new AtRiskAccounts();
  readonly #atRiskTimes: AtRiskTimes;
  readonly #pacing = new Pacing();
  /** When the figures of backstop and ledger were shown last. */
  #shownMs = Number.NEGATIVE_INFINITY;
  readonly #detected: DetectionListener = {
    judged: (account, mayBeAtRisk) => this.#atRisk.judged(account, mayBeAtRisk),
    pricesMoved: () => this.#atRisk.pricesMoved(),
  };
  readonly #crash: CrashPlan;
  #state: ClearingState | null = null;
  #restoring: Iterator<void> | null = null;
  #questions: Question[] = [];
  /** Markets whose shards have received MarketRestored. */
  readonly #openMarkets = new Set<number>();
  #sequence = 0 as Sequence;
  #checkpointed = 0 as Sequence;
  #checkpointedAtMs = 0;
  /** Whether liquidations, the backstop or what is at risk have work, now or within milliseconds. */
  #isWorking = false;
  #delayMs = 0;
  /** Where the journal is to begin; 0 when nothing of it has to go. */
  #pruneBelow = 0 as Sequence;
  /** Null where no evidence is kept. */
  readonly #evidence: OutcomeFeed | null;
  /** A checkpoint is due, and the evidence of what it would hold is not durable yet: no record is begun before. */
  #awaitsEvidence = false;
  #isEvidenceBehind = false;

  readonly #cycle: DutyCycle;

  constructor(options: ClearingOptions) {
    this.#options = options;
    this.#cycle = new DutyCycle(options.heartbeat);
    this.#atRiskTimes = { nowNs: () => options.clock.nowNs(), elapsedMs: options.elapsedMs };
    this.#gateway = new RetryBuffer(options.gateway);
    this.#markets = options.markets.map((publication) => new RetryBuffer(publication));
    this.#crash = new CrashPlan(options.hooks.crash);
    this.#sinks = {
      gateway: this.#gateway,
      data: options.data,
      shards: this.#markets,
      market: (index) => must(this.#markets[index % this.#markets.length], 'a shard for every market'),
    };
    const { replication = null, evidence = null } = options;
    this.#evidence = evidence === null ? null : new OutcomeFeed(evidence, options.elapsedMs);
    this.#replicating = replication === null ? null : new Replicating(replication, this.#replicationHost());
  }

  start(): void {
    this.#restoring = this.#replicating === null ? this.#recover() : this.#recoverFollowing(this.#replicating);
  }

  /**
   * Loads what the disk holds and sends what lives to all who hold a view of it: a part whenever there is room. No input is
   * taken before all is sent. Where no journal is to be replayed, orders are sent while others are loaded, and the receivers
   * work meanwhile; they publish nothing of it before all is sent.
   */
  *#recover(): Generator<void, void, undefined> {
    const { durability } = this.#options;
    const recovery = durability.recover();
    this.#options.notBefore(recovery.lastTimeNs);
    const isWhole = recovery.batchCount === 0 && (recovery.checkpoint?.sequence ?? 0) > 0;
    const { timeNs, isEmpty } = isWhole ? yield* this.#sendWhileLoading(recovery) : yield* this.#sendLoaded(recovery);
    this.#writeRestored(timeNs, isEmpty);
  }

  #writeRestored(timeNs: TimestampNs, isEmpty: boolean): void {
    const sequence = this.#sequence;
    this.#options.journalSize?.(this.#options.durability.journalSize);
    this.#options.journalSequence?.set(sequence);
    writeClearingEvent({ kind: 'restored', journalSequence: sequence, timeNs, isEmpty }, this.#gateway);
    this.#sendHistory();
  }

  /** Loads what the disk holds, but for a last record of which it is not known whether it is stored; nothing is sent. */
  *#recoverFollowing(replicating: Replicating): Generator<void, void, undefined> {
    const { durability, replication } = this.#options;
    const { journal } = must(replication, 'the journal of a cluster');
    const tail = journal.unknownTail();
    // mutant: tail-is-not-applied
    const recovery = tail === null ? durability.recover() : journal.recoverThrough((tail.sequence - 1) as Sequence);
    const boot = yield* recoverParts(recovery, this.#recoveryOptions());
    this.#begin(boot);
    yield* this.#checkpointStart();
    this.#options.journalSize?.(durability.journalSize);
    this.#options.journalSequence?.set(this.#sequence);
    replicating.open(this.#sequence, boot.timeNs, tail);
  }

  /** After a takeover: tables first, then all that lives. */
  *#sendTakenOver(replicating: Replicating, isEmpty: boolean): Generator<void, void, undefined> {
    const state = this.ledger;
    yield* this.#checkpointStart();
    for (const { definition } of state.markets) this.#openMarkets.add(definition.marketIndex);
    yield* this.#send(state, liveOrders(state), restoredCount(state));
    this.#writeRestored(this.#options.clock.nowNs(), isEmpty);
    replicating.restored();
  }

  #replicationHost(): ReplicationHost {
    const { clock, commitNs, elapsedMs, journalSequence, notBefore, trace = null } = this.#options;
    let startedMs = 0;
    let startedUs = 0;
    return {
      state: () => this.ledger,
      nowNs: () => clock.nowNs(),
      notBefore,
      elapsedMs,
      flushing: () => {
        this.#crash.at('before_flush');
        startedMs = elapsedMs();
        startedUs = trace?.nowUs() ?? 0;
      },
      flushed: (sequence) => {
        commitNs?.((elapsedMs() - startedMs) * 1e6);
        trace?.span(HOP.flushed, sequence, startedUs);
        this.#cycle.step();
        this.#crash.at('after_flush');
      },
      apply: (batch) => {
        const effects = this.#apply(batch);
        this.#cycle.step();
        return effects;
      },
      decided: (record) => this.#evidence?.send(record satisfies DecidedRecord),
      applied: (sequence) => {
        this.#sequence = sequence;
        journalSequence?.set(sequence);
        this.#pacing.stateChanged();
      },
      release: (effects, timeNs) => {
        // What is sent after a takeover is the state, with all of this in it.
        if (this.#restoring !== null) return;
        this.#release(effects, timeNs);
        this.#cycle.step();
      },
      takenOver: (isEmpty) => {
        this.#restoring = this.#sendTakenOver(must(this.#replicating, 'this node is of a cluster'), isEmpty);
      },
      stateHash: () => this.#hashForCheck(),
      step: () => this.#cycle.step(),
    };
  }

  /** None while orders are fired, which is no part of a record, and where a leader would stand still for too long. */
  #hashForCheck(): Pick<HashedState, 'state' | 'why'> {
    const orders = this.ledger.markets.reduce((sum, market) => sum + market.orders.size, 0);
    const isLeader = this.#replicating?.role === 'leading';
    if (this.#isFiring()) return { state: null, why: 'FIRING' };
    if (isLeader && orders > HASHED_ORDERS_MAX) return { state: null, why: 'TOO_MANY_ORDERS' };
    return { state: this.#cycle.finish(hashState(this.ledger, nativeBytesHash())), why: null };
  }

  /** What a replay changes is known behind it. */
  *#sendLoaded(recovery: Recovery): Generator<void, Boot, undefined> {
    const boot = yield* recoverParts(recovery, this.#recoveryOptions());
    this.#begin(boot);
    const { state } = boot;
    if (!boot.isEmpty) {
      const timeNs = this.#options.clock.nowNs();
      this.#apply({ timeNs, inputs: this.#journalRestart(boot, timeNs), verdicts: [] });
      this.#sendOutcomes(timeNs);
    }
    yield* this.#checkpointStart();
    yield* this.#send(state, liveOrders(state), restoredCount(state));
    return boot;
  }

  *#sendWhileLoading(recovery: Recovery): Generator<void, Boot, undefined> {
    const { rowCount, orderCount } = recovery;
    const load = new TableLoad(recovery, this.#recoveryOptions());
    yield* load.ledger(rowCount - orderCount);
    const boot = load.bootAt(load.checkpointed);
    this.#begin(boot);
    this.#recordFrom(load.state, load.checkpointed);
    load.state.outcomes?.begin();
    beginRestart(load.state, boot);
    yield* this.#send(load.state, this.#restarting(load, boot), load.state.users.size + orderCount);
    // Before it is said that all is sent: readers of the tables find what the restart has ended.
    yield* this.#checkpointStart();
    return boot;
  }

  /** The orders that are loaded, each as the restart leaves it. */
  *#restarting(load: TableLoad, boot: Boot): Generator<ClearingOrder, void, undefined> {
    const { state } = load;
    const timeNs = this.#options.clock.nowNs();
    const effects: Effect[] = [];
    for (const order of load.orders()) if (restartOrder(state, order, timeNs, effects)) yield order;
    placeStart(state, timeNs);
    settleBatch(state, timeNs, effects);
    state.outcomes?.close();
    this.#journalRestart(boot, timeNs);
    this.#sendOutcomes(timeNs);
  }

  *#send(state: ClearingState, orders: Iterable<ClearingOrder>, count: number): Generator<void, void, undefined> {
    const { durability, clock, recovering: progress = () => undefined } = this.#options;
    for (const sent of restore(state, orders, this.#sinks, { durability, nowNs: clock.nowNs() })) {
      progress('restoring', sent, count);
      yield;
    }
    progress('restoring', count, count);
  }

  #recoveryOptions(): RecoveryOptions {
    const { recovering: progress, idKey: key } = this.#options;
    return {
      ...(progress === undefined ? {} : { progress }),
      ...(key === undefined ? {} : { key }),
      loaded: (state, sequence) => this.#recordFrom(state, sequence),
      replayed: (record, timeNs) => this.#evidence?.send({ ...record, timeNs }),
    };
  }

  /** What is sound so far is in memory. */
  #begin(boot: Boot): void {
    this.#state = boot.state;
    this.#sequence = boot.sequence;
    this.#checkpointed = boot.checkpointed;
    this.#checkpointedAtMs = this.#options.elapsedMs();
    for (const { definition } of boot.state.markets) this.#openMarkets.add(definition.marketIndex);
    this.#options.rebalancingAtStart?.(outdatedRebalancing(boot.state));
  }

  /** What was replayed goes into the tables: readers on other threads find it there, and the next start is shorter. */
  *#checkpointStart(): Generator<void, void, undefined> {
    if (this.#sequence <= this.#checkpointed || !canCheckpoint(this.ledger)) return;
    while (!this.#isEvidenceDurable()) yield;
    this.#checkpoint(false);
  }

  /** Records what is decided behind `sequence`, where evidence is kept. */
  #recordFrom(state: ClearingState, sequence: Sequence): void {
    const evidence = this.#evidence;
    if (evidence === null) return;
    state.outcomes = evidence.recorder;
    const next = (sequence + 1) as Sequence;
    // A start that was killed before the first record was durable opens the log again, with the same rows.
    if ((evidence.extent?.first ?? next) === next) recordOpening(state, evidence.recorder, next);
  }

  /** What the record that was appended last has decided. */
  #sendOutcomes(timeNs: TimestampNs): void {
    const evidence = this.#evidence;
    if (evidence === null) return;
    evidence.send({ sequence: this.#sequence, timeNs, ...this.#options.durability.lastRecord });
  }

  /** Whether tables may hold all that is applied: the evidence of it is durable, or is about to be (EXP-00). */
  #isEvidenceDurable(): boolean {
    const evidence = this.#evidence;
    // mutant: evidence-before-checkpoint
    if (evidence === null || evidence.isDurable(this.#sequence)) return true;
    evidence.wantDurable();
    return false;
  }

  /** Whether no record may be begun: a checkpoint waits for the evidence, or that is too far behind (EVD-05). */
  get #isHeldByEvidence(): boolean {
    return this.#awaitsEvidence || this.#isEvidenceBehind;
  }

  #lookAtEvidence(): void {
    if (this.#evidence !== null) this.#isEvidenceBehind = this.#evidence.isTooFarBehind();
  }

  /** A checkpoint if one is due; while the evidence is not durable it waits, and no record is begun. */
  #checkpointIfDue(): void {
    if (!this.#awaitsEvidence && !this.#isCheckpointDue()) return;
    this.#awaitsEvidence = !this.#isEvidenceDurable();
    if (!this.#awaitsEvidence && canCheckpoint(this.ledger)) this.#checkpoint(false);
  }

  /**
   * No input is taken while messages wait for room, or have yet to be sent after a start; in a cluster none behind those that
   * fill a record, and none but questions by a node that follows.
   */
  ready(channel: number): boolean {
    const inbox = this.#options.replication?.inbox;
    // What the log gives is taken in every state: a full ring towards the gateway must not end a leadership.
    if (channel === inbox?.channel) return inbox.hasRoom();
    if (channel === this.#evidence?.channel) return true;
    if (this.#restoring !== null || this.#isHeldByEvidence || !this.#flushOutboxes()) return false;
    const replicating = this.#replicating;
    return replicating === null || (replicating.role !== 'over' && this.#batch.bytes < BATCH_CLOSES_AT_BYTES);
  }

  hasMore(): boolean {
    const replicating = this.#replicating;
    if (replicating?.hasWork() === true && !(this.#isHeldByEvidence && replicating.role === 'following')) return true;
    if (this.#restoring !== null) return this.#flushOutboxes() && this.#hasEvidenceRoom();
    // What is behind announces that it is durable.
    if (this.#isHeldByEvidence) return false;
    if (replicating !== null && !replicating.mayBegin) return replicating.role === 'following' && this.#isFiring();
    if (replicating !== null && (this.#batch.count > 0 || replicating.isHandingOver)) return true;
    if (this.#isFiring() || this.#isWithdrawalDue() || this.#isLotDue()) return true;
    return this.#pacing.hasMore(this.ledger) && this.#flushOutboxes();
  }

  /** Whether the time of a withdrawal has come. */
  #isWithdrawalDue(): boolean {
    const dueNs = this.#state?.withdrawals.nextDueNs ?? null;
    return dueNs !== null && dueNs <= this.#options.clock.nowNs();
  }

  /** Whether a lot may be pooled. */
  #isLotDue(): boolean {
    if (this.#state === null || this.#state.lots.size === 0) return false;
    const nowNs = this.#options.clock.nowNs();
    const dueNs = lotsDueNs(this.#state, nowNs);
    return dueNs !== null && dueNs <= nowNs;
  }

  /** Whether a price has fired orders whose records do not show it yet. */
  #isFiring(): boolean {
    return this.#state !== null && this.#state.firing.size > 0;
  }

  handle(channel: number, typeId: number, views: Views, at: number, bytes: number): void {
    const inbox = this.#options.replication?.inbox;
    if (channel === inbox?.channel) inbox.receive(typeId, views, at);
    else if (channel === this.#evidence?.channel) this.#evidence.received(typeId, views, at);
    else if (typeId === NodeQuery.typeId) {
      const query = readPlain<ClearingQuery>(views, at + NodeQuery.bytes, NodeQuery.textBytes(views, at));
      this.#questions.push({ request: NodeQuery.requestId(views, at), query });
    } else if (typeId === NodeHook.typeId) {
      const hook = readPlain<ClearingHook>(views, at + NodeHook.bytes, NodeHook.textBytes(views, at));
      this.#takeHook(NodeHook.requestId(views, at), hook);
    } else {
      assert(this.#replicating?.takesInputs !== false, 'a node that does not lead receives no inputs');
      if (this.#replicating !== null && typeId === NodeCommand.typeId && bytes > COMMAND_BYTES_MAX)
        writeReply(NodeCommand.requestId(views, at), rejected(COMMAND_TOO_LARGE), this.#gateway);
      else this.#batch.add(typeId, views, at, bytes);
    }
  }

  endBatch(): void {
    this.#lookAtEvidence();
    if (this.#replicating !== null) {
      this.#endReplicated(this.#replicating);
      return;
    }
    if (this.#restoring !== null) {
      this.#restoreMore(this.#restoring);
      return;
    }
    if (!this.#isHeldByEvidence) this.#addDue();
    if (this.#batch.count > 0) this.#commit();
    else if (!this.#isHeldByEvidence) fireSome(this.ledger, FIRED_PER_TURN);
    this.#answer();
    this.#checkpointIfDue();
    if (this.#pruneBelow > 0) this.#prune();
    if (this.#options.data.needsResync()) this.#resyncData();
    this.#publishAtRisk();
    this.#flush();
  }

  /** What is due by the time or by the state, as inputs of the next batch. */
  #addDue(): void {
    if (this.#isWithdrawalDue()) this.#batch.addPlain({ kind: 'withdrawalsDue' }, this.#options.clock.nowNs());
    if (this.#isLotDue()) this.#batch.addPlain({ kind: 'lotsDue' }, this.#options.clock.nowNs());
    this.#addSteps();
  }

  /** The same in a cluster. What is applied is stored: checkpoints come before the next record begins. */
  #endReplicated(replicating: Replicating): void {
    // A node that follows takes no records meanwhile; what the log gives to a leader must not wait.
    const isHeld = this.#isHeldByEvidence;
    if (replicating.role !== 'loading' && !(isHeld && replicating.role === 'following')) replicating.take();
    if (this.#restoring !== null) {
      replicating.beginAlive();
      this.#restoreMore(this.#restoring);
      return;
    }
    const isBetween = !replicating.isBegun;
    if (isBetween) this.#checkpointIfDue();
    const leads = replicating.role === 'leading';
    if (leads && isBetween && this.#options.data.needsResync()) this.#resyncData();
    if (replicating.mayBegin && !this.#isHeldByEvidence) this.#beginNext(replicating);
    else if (isBetween && !this.#isHeldByEvidence) fireSome(this.ledger, FIRED_PER_TURN);
    replicating.beginAlive();
    this.#answer();
    if (this.#pruneBelow > 0) this.#prune();
    if (leads && !replicating.isHeld) this.#publishAtRisk();
    // mutant: rest-waits-for-the-stream
    this.#showWorking(this.#isWorking || (leads && (this.#batch.count > 0 || replicating.isWaiting)));
    this.#flush();
  }

  #beginNext(replicating: Replicating): void {
    // What is due goes on under the next leader: there would be no end to it here.
    if (!replicating.isHandingOver) this.#addDue();
    if (this.#batch.count > 0) this.#commitReplicated(replicating);
    else if (replicating.isHandingOver) replicating.beginHandover();
    else fireSome(this.ledger, FIRED_PER_TURN);
  }

  /** The first half of a commit. Inputs that come until the second one fill the other buffer. */
  #commitReplicated(replicating: Replicating): void {
    if (this.#delayMs > 0) this.#options.hooks.wait(this.#delayMs);
    const timeNs = this.#options.clock.nowNs();
    const filled = this.#batch;
    const inputs = filled.inputs();
    const verdicts = this.#judge(inputs);
    const payload = filled.seal(timeNs, verdicts);
    this.#batch = this.#batchOnItsWay;
    this.#batchOnItsWay = filled;
    this.#batch.clear();
    this.#cycle.step();
    replicating.begin('batch', { timeNs, inputs, verdicts }, payload);
  }

  #restoreMore(parts: Iterator<void>): void {
    for (let part = 0; part < PARTS_PER_TURN && this.#flushOutboxes() && this.#hasEvidenceRoom(); part += 1) {
      if (parts.next().done !== true) continue;
      this.#restoring = null;
      break;
    }
    this.#flush();
  }

  tick(nowNs: bigint): void {
    if (this.#restoring !== null) return;
    this.#showFigures(nowNs as TimestampNs);
    if (this.#replicating !== null && (this.#replicating.role !== 'leading' || this.#replicating.isHeld)) return;
    this.#passed.tick(nowNs as TimestampNs, this.ledger.markets, (decided) =>
      writeDecided(decided, this.#options.data),
    );
  }

  nextTickMs(nowNs: bigint): number {
    if (this.#restoring !== null || this.#isWorking || this.#pruneBelow > 0 || this.#isFiring()) return 0;
    return Math.min(this.#nextDueMs(nowNs), this.#replicating?.aliveInMs() ?? Number.POSITIVE_INFINITY);
  }

  #nextDueMs(nowNs: bigint): number {
    const state = this.ledger;
    const passedMs = this.#passed.nextTickMs(nowNs as TimestampNs, state.markets);
    const withdrawalNs = state.withdrawals.nextDueNs;
    const lotNs = state.lots.size === 0 ? null : lotsDueNs(state, nowNs as TimestampNs);
    const { checkpointMs, elapsedMs } = this.#options;
    const nowMs = elapsedMs();
    const isBehind = this.#sequence > this.#checkpointed;
    const checkpointInMs = isBehind ? this.#checkpointedAtMs + checkpointMs - nowMs : Number.POSITIVE_INFINITY;
    const atRiskMs = this.#atRisk.nextPassMs - nowMs;
    const checkMs = this.#pacing.nextCheckMs(state, nowNs as TimestampNs, nowMs);
    const fundsMs = Math.min(msUntil(withdrawalNs, nowNs), msUntil(lotNs, nowNs));
    return Math.min(passedMs, checkpointInMs, atRiskMs, checkMs, fundsMs);
  }

  /** Its last step, the restart, takes as long as there is to end, to fire and to write in one transaction. */
  isRecovering(): boolean {
    return this.#restoring !== null;
  }

  isQuiet(): boolean {
    if (this.#restoring !== null || this.#replicating?.isWaiting === true) return false;
    // The last checkpoint is behind it.
    if (this.#evidence?.isAtRest === false) return false;
    return this.#gateway.isEmpty && this.#markets.every((retryBuffer) => retryBuffer.isEmpty);
  }

  /**
   * The last checkpoint: a start that finds it clean needs no replay and no gap in the numbering. A thread stops when its
   * actors are at rest (`isQuiet`), so the start is complete.
   */
  stop(): void {
    // Only the tables of a leader that has handed over, and of those that followed it, hold everything that was announced.
    const isClean = this.#replicating === null || this.ledger.leadership.handover !== null;
    if (this.#replicating?.isBegun !== true && canCheckpoint(this.ledger)) this.#checkpoint(isClean);
    this.#flush();
    void this.#options.durability.close();
  }

  halt(): void {
    void this.#options.durability.close();
  }

  /** For tests and the simulation: the applied state. */
  get ledger(): ClearingState {
    return must(this.#state, 'clearing has started');
  }

  #commit(): void {
    const { clock, durability, commitNs, trace = null } = this.#options;
    const beganUs = trace?.nowUs() ?? 0;
    if (this.#delayMs > 0) this.#options.hooks.wait(this.#delayMs);
    const timeNs = clock.nowNs();
    const inputs = this.#batch.inputs();
    const verdicts = this.#judge(inputs);
    const payload = this.#batch.seal(timeNs, verdicts);
    this.#cycle.step();
    this.#crash.at('before_flush');
    const startedMs = this.#options.elapsedMs();
    const sealedUs = trace?.nowUs() ?? 0;
    // mutant: journal-before-effects
    this.#sequence = durability.append(timeNs, payload);
    commitNs?.((this.#options.elapsedMs() - startedMs) * 1e6);
    trace?.span(HOP.flushed, this.#sequence, sealedUs);
    this.#cycle.step();
    this.#options.journalSequence?.set(this.#sequence);
    this.#crash.at('after_flush');
    this.#batch.clear();
    const effects = this.#apply({ timeNs, inputs, verdicts });
    this.#cycle.step();
    this.#release(effects, timeNs);
    this.#sendOutcomes(timeNs);
    this.#cycle.step();
    trace?.span(HOP.confirmed, this.#sequence, beganUs);
  }

  #judge(inputs: Parameters<typeof verdictsNeeded>[1]): FillVerdict[] {
    const { durability, verifyOrder, verifyQuoteSet, takeAttestations } = this.#options;
    takeAttestations?.();
    const sets: UnverifiedQuoteSet[] = [];
    const ofOrders = verdictsNeeded(this.ledger, inputs, sets).map(({ row, signed }) => {
      const { marketIndex, orderSequence: order } = row;
      const text =
        signed ?? must(durability.signedText(marketIndex, order), 'the signed text of a live order is stored');
      const config = this.ledger.signers.configOf(row.user);
      const valid = verifyOrder({ row, signed: text, asset: this.#assetOf(marketIndex), config });
      // Sixteen co-signers take milliseconds, and there may be thousands of orders in a batch.
      this.#cycle.step();
      return { marketIndex, order, valid };
    });
    if (sets.length === 0) return ofOrders;
    for (const { set } of sets) {
      const market = must(this.ledger.markets[set.marketIndex], 'a quote set is of a known market').definition;
      const valid = verifyQuoteSet({ set, market, config: this.ledger.signers.configOf(set.user) });
      this.#cycle.step();
      ofOrders.push({ marketIndex: set.marketIndex, order: set.sequence, valid });
    }
    return ofOrders;
  }

  #assetOf(marketIndex: number): AssetId {
    return must(this.ledger.markets[marketIndex], 'an order is of a known market').definition.assetId;
  }

  #apply(batch: Parameters<typeof applyBatch>[1]): readonly Effect[] {
    const effects: Effect[] = [];
    applyBatch(this.ledger, batch, effects);
    this.#pacing.stateChanged();
    return effects;
  }

  /** Steps of liquidations and of the backstop that are due, as inputs of this batch. Not while messages wait for room. */
  #addSteps(): void {
    if (!this.#flushOutboxes()) return;
    const { clock, elapsedMs, liquidationCounts } = this.#options;
    const nowNs = clock.nowNs();
    const steps = this.#pacing.poll(this.ledger, { nowNs, elapsedMs }, this.#detected);
    for (const step of steps) this.#batch.addPlain(step, nowNs);
    const isWorking = steps.length > 0 || this.#pacing.isWorking(this.ledger) || this.#atRisk.isDue(elapsedMs());
    liquidationCounts?.(this.#pacing.counts(this.ledger));
    this.#isWorking = isWorking;
    this.#showWorking(isWorking);
  }

  /** A node with work of its own is not at rest (operator-api.md 7.2). */
  #showWorking(isWorking: boolean): void {
    this.#options.working?.set(isWorking ? 1 : 0);
  }

  #release(effects: readonly Effect[], timeNs: TimestampNs): void {
    for (const effect of effects) {
      writeEffect(effect, this.#sinks);
      if (effect.kind === 'registryChanged' && effect.change.table === 'market') this.#openIfNew(effect.change.row);
      if (isLiquidationEffect(effect)) this.#options.liquidationEvent?.(liquidationEvent(this.ledger, effect, timeNs));
    }
    writeFlushed({ sequence: this.#sequence, checkpoint: this.#checkpointed, timeNs }, this.#gateway);
  }

  /** A new market's shard opens it with the message that nothing is restored. */
  #openIfNew(row: MarketRow): void {
    const { marketIndex } = row.definition;
    if (this.#openMarkets.has(marketIndex)) return;
    this.#openMarkets.add(marketIndex);
    writeMarketRestored(row, this.#sinks.market(marketIndex));
  }

  #isCheckpointDue(): boolean {
    const { elapsedMs, checkpointMs, checkpointRecords, checkpointRows } = this.#options;
    const behind = this.#sequence - this.#checkpointed;
    const isDue =
      behind >= checkpointRecords ||
      elapsedMs() - this.#checkpointedAtMs >= checkpointMs ||
      dirtyRowCount(this.ledger) >= checkpointRows;
    // While triggers fire, it would have to write all of them at once.
    return behind > 0 && isDue && !this.#isFiring() && canCheckpoint(this.ledger);
  }

  #checkpoint(clean: boolean): void {
    const { trace = null, elapsedMs, checkpointed } = this.#options;
    const beganUs = trace?.nowUs() ?? 0;
    const beganMs = elapsedMs();
    const rows = dirtyRowCount(this.ledger) === 0 ? [] : drainDirtyRows(this.ledger);
    const hash = clean ? stateHash(this.ledger, nativeBytesHash()) : null;
    const timeNs = this.#options.clock.nowNs();
    this.#cycle.step();
    const { durability } = this.#options;
    durability.checkpoint({ timeNs, sequence: this.#sequence, clean, stateHash: hash }, rows, () => this.#cycle.done());
    this.#cycle.step();
    this.#checkpointed = this.#sequence;
    this.#checkpointedAtMs = elapsedMs();
    checkpointed?.({ ns: (this.#checkpointedAtMs - beganMs) * 1e6, rows: rows.length, sequence: this.#sequence });
    trace?.span(HOP.checkpoint, this.#sequence, beganUs);
    this.#options.journalSize?.(this.#options.durability.journalSize);
    writeFlushed({ sequence: this.#sequence, checkpoint: this.#checkpointed, timeNs }, this.#gateway);
  }

  /**
   * The start itself is an input: what it ends and how sequences jump is part of the journal (AMB-110). After a clean
   * stop no sequence was lost, but markets stopped before clearing's last messages: what it refused since then must not
   * come back. The mark is taken back before anything is announced.
   *
   * @returns what is in the journal now.
   */
  #journalRestart({ clean }: Boot, timeNs: TimestampNs): readonly ClearingInput[] {
    const { durability } = this.#options;
    if (clean) durability.checkpoint({ timeNs, sequence: this.#sequence, clean: false, stateHash: null }, []);
    this.#batch.addPlain({ kind: 'restarted', clean }, timeNs);
    const inputs = this.#batch.inputs();
    this.#sequence = durability.append(timeNs, this.#batch.seal(timeNs, []));
    this.#batch.clear();
    return inputs;
  }

  #answer(): void {
    const questions = this.#questions;
    if (questions.length === 0) return;
    this.#questions = [];
    for (const { request, query } of questions) {
      const context = {
        sequence: this.#sequence,
        checkpoint: this.#checkpointed,
        delayMs: this.#delayMs,
        nowNs: this.#options.clock.nowNs(),
        atRisk: this.#atRisk,
      };
      writeReply(request, this.#cycle.finish(answerQuery(query, this.ledger, context)), this.#gateway);
    }
  }

  #showFigures(nowNs: TimestampNs): void {
    const { backstopFigures: show, ledgerDifference, elapsedMs } = this.#options;
    if (elapsedMs() - this.#shownMs < FIGURES_SHOWN_MS) return;
    this.#shownMs = elapsedMs();
    show?.(backstopFigures(this.ledger, nowNs));
    ledgerDifference?.(differenceOfAll(this.ledger));
    if (this.#evidence !== null) this.#options.evidenceBehind?.(this.#evidence.behind(), this.#isEvidenceBehind);
  }

  /** A step of what is at risk; with its last one the aggregate, if it has changed. */
  #publishAtRisk(): void {
    const result = this.#atRisk.poll(this.ledger, this.#atRiskTimes);
    if (result === null) return;
    this.#options.atRiskCounts?.(result.counts);
    if (result.changed !== null) writeClearingEvent({ kind: 'atRiskChanged', atRisk: result.changed }, this.#gateway);
  }

  /** One bounded commit a turn: orders do not wait for a long one. */
  #prune(): void {
    const { durability, journalSize } = this.#options;
    this.#cycle.step();
    if (durability.prune(this.#pruneBelow, PRUNED_PER_TURN)) this.#pruneBelow = 0 as Sequence;
    journalSize?.(durability.journalSize);
    this.#cycle.step();
  }

  #takeHook(request: number, hook: ClearingHook): void {
    if (hook.kind === 'delay') this.#delayMs = hook.ms;
    else if (hook.kind === 'prune') this.#pruneBelow = hook.below;
    else this.#crash.plan(hook);
    this.#questions.push({ request, query: { kind: 'hooks' } });
  }

  /** Market data begins anew: tables first, so that it can read what it missed, then word to do so. */
  #resyncData(): void {
    if (!canCheckpoint(this.ledger)) return;
    if (this.#sequence > this.#checkpointed) {
      this.#awaitsEvidence = !this.#isEvidenceDurable();
      if (this.#awaitsEvidence) return;
      this.#checkpoint(false);
    }
    this.#options.data.beginResync();
    sendMarketFigures(this.ledger, this.#sinks.data);
    this.#sendHistory();
  }

  #sendHistory(): void {
    writeClearingEvent({ kind: 'historyReady' }, this.#sinks.data);
  }

  #flushOutboxes(): boolean {
    let isEmpty = this.#gateway.isEmpty || this.#gateway.flush();
    for (const retryBuffer of this.#markets) isEmpty = (retryBuffer.isEmpty || retryBuffer.flush()) && isEmpty;
    return isEmpty;
  }

  /** Market data first: a new market's definition is sent before the first event of the market. */
  #flush(): void {
    this.#options.data.flush();
    this.#gateway.flush();
    for (const retryBuffer of this.#markets) retryBuffer.flush();
    this.#evidence?.flush();
  }

  /** At a start there is no more than the ring takes. */
  #hasEvidenceRoom(): boolean {
    return this.#evidence === null || this.#evidence.flush();
  }
}

function readPlain<T>(views: Views, at: number, length: number): T {
  if (at + length > views.u8.length) throw new InvariantError('a plain text ends within its buffer');
  return decodePlain<T>(views.u8.subarray(at, at + length));
}
