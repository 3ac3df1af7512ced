/**
 * The threads of a node and what they share with the main thread. They start as soon as the configuration is read, so that
 * they load their modules, and a child process checks the data directory, while the main thread loads its own modules,
 * which are the most (boot.ts).
 *
 *   main thread   configuration ─▶ claim, spawn ─▶ loads what the gateway needs ─▶ ops listener ─▶ …
 *   child                              └─▶ checks the data directory ──┐
 *   workers                            └─▶ load their modules ─────────┴─▶ clearing recovers
 *
 * Not here: how a thread is watched and ended (supervisor.ts).
 */
import { randomBytes } from 'node:crypto';
import { RECOVERY_STEPS } from '../clearing/recovery-steps.ts';
import { EVIDENCE, REPLICATOR } from '../core/actor-names.ts';
import { createAttestationRing } from '../crypto/attestations.ts';
import { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { type ListenerSettings, tlsOf } from '../http/public-listeners.ts';
import { StartProgress, type StartStep } from '../operator/start-progress.ts';
import { SharedClock } from '../runtime/clock.ts';
import type { Ending } from '../runtime/ending.ts';
import { EventLoopRunner } from '../runtime/event-loop-runner.ts';
import { takeStandardError } from '../runtime/foreign-lines.ts';
import { Leadership } from '../runtime/leadership.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { LogThread } from '../runtime/log-thread.ts';
import { createLogger } from '../runtime/logging.ts';
import { sourceStack } from '../runtime/source-stack.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { ThreadContext } from '../runtime/thread-context.ts';
import { type Plan, planTopology } from '../runtime/topology.ts';
import { type DataLock, lockDirectory } from '../storage/data-lock.ts';
import { forgetVerifiedMark } from '../storage/verified-mark.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { MANUAL_CLOCK_START_NS, type NodeConfig, webauthnPolicy } from './config.ts';
import { NodeWords } from './node-words.ts';
import { checkBeforeStart } from './start-check.ts';
import { nodeTopology, replicaTopology } from './topology.ts';
import type { WorkerSettings } from './worker-settings.ts';

export const VERIFY = 'verify';
export const HISTORY = 'history';
export const PROOFS = 'proofs';
export const EVM = 'evm';
export const DEMO = 'demo';
const LOG = 'log';
const WORKER_ENTRY: Readonly<Record<string, string>> = {
  clearing: 'clearing.js',
  [REPLICATOR]: 'replicator.js',
  [EVIDENCE]: 'evidence.js',
  'market-data': 'market-data.js',
  'check-data': 'check-data.js',
  'keep-data': 'keep-data.js',
  [LOG]: 'log-writer.js',
  [HISTORY]: 'history.js',
  [PROOFS]: 'proofs.js',
  [EVM]: 'evm.js',
  [DEMO]: 'demo.js',
  [VERIFY]: 'verify.js',
};

/** The program of a worker or of a child. */
export function workerEntry(name: string): URL {
  return new URL(`../../workers/${WORKER_ENTRY[name] ?? 'market.js'}`, import.meta.url);
}

export class NodeThreads {
  readonly config: NodeConfig;
  readonly log: ReturnType<typeof createLogger>;
  /** What `log` writes to; it takes lines for people as well. */
  readonly lane: LogLane;
  readonly logs: LogThread;
  readonly words: NodeWords = new NodeWords();
  readonly leadership: Leadership = new Leadership();
  readonly budget: SharedBudget = new SharedBudget();
  /** Never leaves the process, so no client can choose order ids with colliding hashes. */
  readonly hashSeed: bigint = randomBytes(8).readBigUInt64LE();
  /** The name of the channel between the two threads with a public listener. */
  readonly peerName: string = `ringbook-${randomBytes(8).toString('hex')}`;
  /** From each verifier thread to clearing. */
  readonly attestations: readonly SharedArrayBuffer[];
  readonly plan: Plan;
  readonly clock: SharedClock;
  readonly context: ThreadContext;
  readonly runner: EventLoopRunner;
  readonly supervisor: Supervisor;
  readonly progress: StartProgress;
  readonly entryOf: (thread: string) => URL;
  #lock: DataLock | null = null;
  #check: Promise<void> = Promise.resolve();

  /**
   * @param entryOf the worker entry of a thread, `verify` for the pool's, `history` for the reader's, `evm` for that of EVM
   * chains; tests of failing threads give their own.
   */
  constructor(config: NodeConfig, entryOf: (thread: string) => URL = workerEntry) {
    this.config = config;
    this.entryOf = entryOf;
    this.attestations = Array.from({ length: config.threads.verifyThreads }, createAttestationRing);
    const notBeforeNs = config.clock === 'manual' ? MANUAL_CLOCK_START_NS : 0n;
    const topology = this.isReplica ? replicaTopology(config) : nodeTopology(config, config.cluster !== null);
    this.plan = planTopology(topology, { mode: config.clock, notBeforeNs });
    this.lane = new LogLane(this.plan.logs, 'main');
    this.log = createLogger({ name: 'ringbook', level: config.logLevel, stream: this.lane });
    this.logs = new LogThread(this.plan.logs, workerEntry(LOG));
    this.clock = new SharedClock(this.plan.clock);
    this.context = new ThreadContext(this.plan, 'main');
    this.runner = new EventLoopRunner(this.context, () => undefined);
    this.supervisor = new Supervisor({
      context: this.context,
      runner: this.runner,
      entryOf,
      settings: this.settings(),
      restarted: (thread, reason) => this.log.error({ thread, reason: sourceStack(reason) }, 'thread restarted'),
      failing: (ending) => this.#distrust(ending),
      endLogs: () => this.logs.end(),
    });
    this.progress = new StartProgress(() => this.#recoveryStep(), {
      step: (step) => this.log.info(step, 'starting'),
      started: (ms) => this.log.info({ ms }, 'started'),
    });
  }

  /** Whether the process is a replica of market data: without a data directory. */
  get isReplica(): boolean {
    return this.config.cluster?.role === 'replica';
  }

  /**
   * Claims the data directory, spawns the workers and has the directory checked. Call once.
   *
   * @throws StorageError when another node holds the directory.
   */
  begin(): void {
    if (!this.isReplica) this.#lock = lockDirectory(this.config.dataDirectory);
    this.logs.start();
    takeStandardError((line) => this.printed('node', line));
    if (this.#lock !== null) this.#checkDirectory(this.#lock);
    this.supervisor.start();
  }

  #checkDirectory({ epoch }: DataLock): void {
    const { dataDirectory } = this.config;
    this.words.setEpoch(epoch);
    // mutant: check-before-start
    this.#check = checkBeforeStart(dataDirectory, workerEntry('check-data'), {
      progress: (done, of) => this.progress.verifying(done, of),
      printed: (line) => this.printed('check-data', line),
    });
    // whenPolling() rejects with its failure; until that is called, the failure is not an unhandled rejection.
    this.#check.catch(() => undefined);
  }

  /**
   * The cause may be a damaged page of the data file that a start does not read, so the next start verifies all of it.
   * Otherwise a damaged page of history would end every node that reads it. A thread that hangs is no sign of damage.
   */
  #distrust({ cause }: Ending): void {
    if (cause !== 'died' || this.isReplica) return;
    try {
      forgetVerifiedMark(this.config.dataDirectory);
    } catch (error) {
      this.log.error({ reason: String(error) }, 'the mark of what is verified stays');
    }
  }

  /** Resolves when the directory is sound and every worker takes turns. @throws StorageError when it is damaged. */
  async whenPolling(): Promise<void> {
    await this.#check;
    await this.#checkTime();
    await this.#checkEvidence();
    this.words.setChecked();
    await this.supervisor.whenPolling();
  }

  /** Hooks push the clock of dev and test ahead, and the time that they recorded is theirs. */
  async #checkTime(): Promise<void> {
    const { dataDirectory, acceptedAheadS, hooks } = this.config;
    if (this.clock.mode === 'manual' || hooks || this.isReplica) return;
    // It loads LMDB: not before the C library is known to do.
    const { checkRecordedTime } = await import('./recorded-time.ts');
    const at = { nowNs: BigInt(Date.now()) * 1_000_000n, acceptedAheadS };
    const aheadNs = checkRecordedTime(dataDirectory, this.mapOptions(), at);
    if (aheadNs > 0n)
      this.log.warn(
        { ms: Number(aheadNs / 1_000_000n) },
        'recorded times are ahead of the system clock: the node runs slower',
      );
  }

  /** The evidence must go as far as the tables do, and clearing is told how far. @throws StorageError */
  async #checkEvidence(): Promise<void> {
    const { dataDirectory, evidence } = this.config;
    if (evidence === null || this.isReplica) return;
    const { checkEvidence } = await import('./evidence-check.ts');
    this.words.setEvidence(
      await checkEvidence(dataDirectory, {
        ...this.mapOptions(),
        secret: evidence.secret ?? null,
        isCluster: this.config.cluster !== null,
      }),
    );
  }

  /** Every thread ticks within `tickMs`: the clock was moved, or a tick is awaited. Call on the main thread. */
  wakeAll(): void {
    this.context.bells.ringOthers(this.context.spec.name);
    this.runner.wakeUp();
  }

  /** Ends every thread of a start that is refused. @param areOthersLoading as Supervisor.abandon's. */
  async abandon(areOthersLoading: () => boolean): Promise<void> {
    const ended = this.supervisor.abandon(areOthersLoading);
    this.words.setRefused();
    await ended;
  }

  /** Every thread has ended. */
  release(): void {
    this.#lock?.release();
  }

  /** What a thread or a child printed to standard error by other means than a logger. */
  printed(by: string, line: string): void {
    this.log.warn({ by, printed: line }, 'printed to standard error');
  }

  settings(): WorkerSettings {
    const { config } = this;
    return {
      dataDirectory: config.dataDirectory,
      mapBytes: this.mapOptions().mapBytes,
      checkpointMs: config.journal.checkpointMs,
      checkpointRecords: config.journal.checkpointRecords,
      checkpointRows: config.journal.checkpointRows,
      shards: config.threads.marketShards,
      mdsListener: this.listenerSettings({ host: config.mdsHost, port: config.mdsPort }),
      words: this.words.memory,
      leadership: this.leadership.memory,
      cluster: config.cluster,
      evidence: config.evidence,
      isProduction: config.profile === 'production',
      ...(config.cluster === null ? {} : { log: logOf(config.cluster) }),
      attestations: this.attestations,
      budget: this.budget.memory,
      peerName: this.peerName,
      hashSeed: this.hashSeed,
      webauthn: webauthnPolicy(config),
      logLevel: this.config.logLevel,
      logs: this.plan.logs,
    };
  }

  mapOptions(): { readonly mapBytes: number } {
    return { mapBytes: this.config.storage.mapSizeMiB * 1_048_576 };
  }

  listenerSettings(at: Pick<ListenerSettings, 'host' | 'port'>): ListenerSettings {
    const { publicListeners, addresses } = this.config;
    return { ...at, tls: tlsOf(publicListeners), addresses };
  }

  #recoveryStep(): StartStep | null {
    const { step, done, of } = this.words.recovery();
    const name = RECOVERY_STEPS[step - 1];
    return name === undefined ? null : { step: name, done, of };
  }
}

/** An alive record follows a third of the lease after the last one (cluster.md 5). */
function logOf({ leaseMs, confirm }: ClusterConfig): NonNullable<WorkerSettings['log']> {
  return { aliveMs: leaseMs / 3, waitsForStandby: confirm.includes('standby') };
}
