/**
 * The composition root: from threads that have begun (node-threads.ts) to a running node, and back.
 *
 *   ops listener ─▶ clearing recovers, markets are rebuilt ─▶ chains, seed, once ─▶ market-data and order listeners
 *   in a cluster: ops listener ─▶ the others, which refuse ─▶ this node takes over, markets are rebuilt ─▶ leading ─▶ chains
 *
 * Stopping goes the other way: the order listener, then gateway → markets → clearing → market data, each handling
 * everything that waits, then the ops listener.
 */
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ChainActor } from '../chain/chain-actor.ts';
import { ChainStore } from '../chain/chain-store.ts';
import { openSharedChains } from '../chain/shared-chains.ts';
import type { ClearingEvent } from '../clearing/effect-codec.ts';
import { UnflushedWindow } from '../clearing/unflushed-window.ts';
import type { ToMain, ToStream } from '../cluster/link.ts';
import { CLEARING, GATEWAY, marketActor } from '../core/actor-names.ts';
import { InvariantError, must } from '../core/assert.ts';
import { ConfigError } from '../core/config-error.ts';
import { format18 } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import { hashKeyOf } from '../core/key-words.ts';
import { canVerifySecp256k1 } from '../crypto/secp256k1.ts';
import { evidenceFolder } from '../evidence/evidence-files.ts';
import { RefusalLog } from '../evidence/refusal-log.ts';
import { Admission, SIGNATURES_IN_FLIGHT } from '../gateway/actions/admission.ts';
import type { RefusedAction } from '../gateway/actions/order-entry.ts';
import { SignatureVerifier } from '../gateway/actions/signature-verifier.ts';
import { ClearingClient } from '../gateway/clearing-client.ts';
import { Gateway } from '../gateway/gateway.ts';
import { GatewayActor } from '../gateway/gateway-actor.ts';
import { GatewayMetrics } from '../gateway/metrics/gateway-metrics.ts';
import { DEFAULT_ORDER_SETTINGS } from '../gateway/orders/settings.ts';
import { EvidenceThread, type HeadFigures } from '../gateway/queries/evidence-thread.ts';
import { HistoryThread } from '../gateway/queries/history-thread.ts';
import { LIFTED_RATES, RateLimits, STANDARD_RATES } from '../gateway/sessions/rate-limits.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { UserLimits } from '../gateway/sessions/user-limits.ts';
import { EdgeMetrics } from '../http/edge-metrics.ts';
import { OmsServer } from '../http/oms-server.ts';
import type { SocketMessage } from '../http/passed-sockets.ts';
import { certificateEndS, gateOf, sessionsPerAddress, tlsOf } from '../http/public-listeners.ts';
import type { EdgeObserver } from '../http/uws-http.ts';
import { MDS_LISTEN_FAILED } from '../market-data/market-data-actor.ts';
import { creditTestFunds } from '../operator/operator-hook-routes.ts';
import type { OpsParts, WaitingPart } from '../operator/ops-parts.ts';
import { OpsServer } from '../operator/ops-server.ts';
import { OracleFeed } from '../operator/oracle-feed.ts';
import { type AccountSettings, ownAccounts } from '../operator/own-accounts.ts';
import { checkChains } from '../operator/production-rules.ts';
import { patchAccounts, seedNode, seedSettings } from '../operator/seed.ts';
import { PUBLIC_KEYS } from '../operator/seed-data.ts';
import type { ActorFactories } from '../runtime/actor.ts';
import { hostActors } from '../runtime/actor-host.ts';
import type { SharedClock } from '../runtime/clock.ts';
import { diedOf, hungOf } from '../runtime/ending.ts';
import type { EventLoopRunner } from '../runtime/event-loop-runner.ts';
import { ThreadBlock } from '../runtime/heartbeat.ts';
import type { NodeState } from '../runtime/leadership.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { sourceStack } from '../runtime/source-stack.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import type { ThreadContext } from '../runtime/thread-context.ts';
import { threadTimes, threadUses, UNKNOWN_THREAD } from '../runtime/thread-times.ts';
import type { Plan } from '../runtime/topology.ts';
import { COMMIT, VERSION } from '../runtime/version.ts';
import { openReader } from '../storage/environment.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { TableHistory } from '../storage/order-history.ts';
import { StorageError } from '../storage/storage-error.ts';
import { JournalKeeper } from '../tools/journal-keeper.ts';
import { hostOfUrl, type Listening } from './addresses.ts';
import { type ClusterConfig, sharingText } from './cluster-config.ts';
import { ClusterMember } from './cluster-member.ts';
import { approvalLimits, type NodeConfig, webauthnPolicy } from './config.ts';
import { DiskWatch } from './disk-watch.ts';
import type { Environment } from './environment.ts';
import { EVM, HISTORY, type NodeThreads, PROOFS, VERIFY, workerEntry } from './node-threads.ts';
import type { NodeWords } from './node-words.ts';
import { peerChannel } from './peer-channel.ts';
import { proofSettings } from './proof-settings.ts';
import { whenAtRest } from './quiescence.ts';
import { reload } from './reload.ts';
import { WallClock } from './wall-clock.ts';

const LOOK_MS = 2;
/** To the sockets of a leader that is over: clients look for the next one (cluster.md 8). */
const OVER_CLOSE = { code: 1012, reason: 'service_restart' } as const;
const STOP_MS_MAX = 20_000;
/** Requests that a stop waits for; what is not answered then was never acknowledged. */
const DRAIN_MS_MAX = 5_000;
/** Exceeds the events per stream of any journal record, so the numbers of two starts never overlap. */
const STREAM_SEQUENCES_PER_RECORD = 16_384;
const SESSION_SWEEP_MS = 60_000;
/** A node of a cluster makes its first snapshot after this part of the time between two. */
const FIRST_SNAPSHOT_PART = 24;
const NO_KEYS: ReadonlySet<string> = new Set();
const EXIT_REFUSED = 78;
/** From one try to state something to the next. */
const STATE_AGAIN_MS = 1_000;
/** States of a node of a cluster in which it may change simulated chains; a leader without its lease may not. */
const ANSWERS_FOR_CHAINS: ReadonlySet<NodeState> = new Set(['restoring', 'leading', 'handing-over']);

/** What a stop had to do. */
export interface StopReport {
  readonly in_flight: number;
  readonly unanswered: number;
}

export class RingbookNode {
  readonly config: NodeConfig;
  readonly #log: NodeThreads['log'];
  readonly #threads: NodeThreads;
  readonly #words: NodeWords;
  readonly #budget: SharedBudget;
  readonly #plan: Plan;
  readonly #clock: SharedClock;
  readonly #context: ThreadContext;
  readonly #runner: EventLoopRunner;
  readonly #supervisor: Supervisor;
  readonly #verifier: SignatureVerifier;
  #gatewayMetrics: GatewayMetrics | null = null;
  readonly #unflushed = new UnflushedWindow((ms) => this.#gatewayMetrics?.unflushed(ms));
  readonly #requests = new Map<string, number>();
  readonly #times = threadTimes();
  readonly #stalled = new Set<string>();
  readonly #waiting = new Set<WaitingPart>(['clearing', 'markets', 'market_data', 'chains']);
  readonly #marketsToOpen = new Set<number>();
  #openGateway: Gateway | null = null;
  #clearing: ClearingClient | null = null;
  /** Null on one machine. */
  readonly #member: ClusterMember | null;
  #history: HistoryThread | null = null;
  /** Null where no evidence is kept, or no log has keys here. */
  #proofs: EvidenceThread | null = null;
  #headFigures: HeadFigures | null = null;
  #refusals: RefusalLog | null = null;
  #chains: ChainActor | null = null;
  #oms: OmsServer | null = null;
  #edge: EdgeMetrics | null = null;
  #ops: OpsServer | null = null;
  #feed: OracleFeed | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  readonly #keeper: JournalKeeper;
  readonly #wallClock: WallClock;
  readonly #disk: DiskWatch;
  /** Called once, when the disk has too little space to go on: the node is to be stopped, and the process to end with 78. */
  onDiskFull: (reason: string) => void = (reason) => this.fail(reason);
  /**
   * Called once, when the node's leadership is over or an operator has stopped it: the process is to end with this code.
   *
   * @param isOrderly what it holds is to be kept as by a stop: its directory can be upgraded.
   */
  onOver: (code: number, reason: string, isOrderly: boolean) => void = (_, reason) => this.fail(reason);
  #isStopping = false;
  #certificateEndS: number | null;
  #isEmpty = false;
  /** The journal's last sequence at this start: higher at every start that wrote anything. */
  #startedAtSequence = 0;

  /** @param threads begun already. */
  constructor(threads: NodeThreads) {
    const { config, log, words, budget, plan, clock, context, runner, supervisor } = threads;
    this.#threads = threads;
    this.config = config;
    this.#log = log;
    this.#words = words;
    this.#budget = budget;
    this.#plan = plan;
    this.#clock = clock;
    this.#context = context;
    this.#runner = runner;
    this.#supervisor = supervisor;
    this.#verifier = new SignatureVerifier({
      threads: config.threads.verifyThreads,
      onDeath: (error) => this.#supervisor.fail(diedOf('verify', error.message)),
      entry: threads.entryOf(VERIFY),
      webauthn: webauthnPolicy(config),
      attestations: threads.attestations,
      traces: plan.trace?.slice(plan.threads.length) ?? [],
    });
    if (!canVerifySecp256k1()) {
      this.#log.warn('limited address space: co-signatures of secp256k1 are refused (--disable-wasm-trap-handler)');
    }
    const tls = tlsOf(config.publicListeners);
    this.#certificateEndS = tls === null ? null : certificateEndS(tls);
    this.#wallClock = new WallClock({
      clock,
      mayBePushed: config.hooks,
      blocks: () => this.#chains?.confirmedBlocks() ?? [],
      chains: () => this.#chains?.evmChainCount ?? 0,
      stepped: (ns) => {
        this.#log.warn(
          { ms: Number(ns / 1_000_000n) },
          'the system clock went forward, and the clock of the node with it',
        );
        this.#clockMoved();
      },
      held: (reason) => {
        if (reason === null) this.#log.warn('the clock of the node follows the system clock again');
        else this.#log.error({ reason }, 'a step of the system clock is not followed: the node is not ready');
      },
    });
    this.#disk = new DiskWatch({
      directory: config.dataDirectory,
      reserveMib: () => this.#gateway.diskReserveMib,
      low: (isLow, freeMib) => {
        this.#gateway.isDiskLow = isLow;
        if (isLow) this.#log.error({ free_mib: freeMib }, 'the disk is nearly full: new orders are refused');
        else this.#log.warn({ free_mib: freeMib }, 'the disk has space again: new orders are taken');
      },
      full: (reason) => this.onDiskFull(reason),
    });
    this.#member =
      config.cluster === null
        ? null
        : new ClusterMember({
            channel: peerChannel<ToMain | ToStream>(`${threads.peerName} cluster`),
            leadership: threads.leadership,
            print: (line) => new LogLane(plan.logs, 'output').write(`${line}\n`),
            drain: () => this.#drain(),
            ended: (code, reason, isOrderly) => {
              if (!isOrderly) this.#oms?.close(OVER_CLOSE);
              this.onOver(code, reason, isOrderly);
            },
          });
    this.#keeper = new JournalKeeper({
      directory: config.dataDirectory,
      entry: workerEntry('keep-data'),
      keep: (config.cluster ?? config).snapshots.keep,
      sharing: config.cluster === null ? null : sharingText(config.cluster),
      prune: (below) => this.#clearingClient.hook({ kind: 'prune', below }),
      pruned: (sequence) => this.#log.info({ sequence }, 'snapshot made, journal pruned below the oldest'),
      failed: (reason) => this.#log.error({ reason }, 'no snapshot, nothing is pruned'),
      printed: (line) => threads.printed('keep-data', line),
      liabilities: () => {
        const { evidence } = config;
        const isStated = evidence?.liabilities !== undefined && threads.leadership.state() === 'leading';
        if (!isStated) return null;
        return JSON.stringify({ everyMs: evidence.liabilities.everyMs, secret: evidence.secret ?? null });
      },
      stated: (outcome) => this.#log.info({ outcome }, 'what the venue owes'),
    });
  }

  /**
   * Opens everything; resolves when all listeners are open.
   *
   * @throws ConfigError when a port is taken, fees would go to a public key, or the data is of another profile.
   */
  async start(): Promise<Listening> {
    const { config } = this;
    const ops = await this.#openOps();
    await this.#threads.whenPolling();
    this.#wallClock.start();
    this.#startGateway(await this.#marketFactories());
    if (config.cluster !== null) this.#keepClusterSnapshots(config.cluster);
    // A node of a cluster answers while it follows: that it does not lead, and who does.
    const early = this.#member === null ? null : await this.#openListeners();
    await this.#when(() => !this.#waiting.has('clearing') && !this.#waiting.has('markets'));
    checkChains(config.profile, this.#gateway.registry.rows());
    await this.#refuseFullDisk();
    // A seed needs chains. A node that takes over answers orders first, and then watches chains (cluster.md 7.3).
    const takesOver = this.#member !== null && !this.#isEmpty;
    if (!takesOver) await this.#startChains();
    await this.#beginWith(ownAccounts(config, this.#gateway.registry.rows()));
    const { oms, mds } = early ?? (await this.#openListeners());
    this.#oms?.streams.startBehind(this.#startedAtSequence * STREAM_SEQUENCES_PER_RECORD);
    if (this.#member !== null) await this.#when(() => this.#words.hasMarketHistory());
    // Ready is a node whose listeners are all open.
    this.#waiting.delete('market_data');
    if (this.#member === null) this.#threads.leadership.setState('leading');
    else await this.#member.lead();
    if (takesOver) void this.#watchChains();
    this.#threads.progress.end();
    this.#startFeed();
    this.#sweeper = setInterval(() => this.#gateway.sessions.sweep(), SESSION_SWEEP_MS);
    if (config.cluster === null) this.#keeper.start(config.snapshots.everyMs);
    const scheme = tlsOf(config.publicListeners) === null ? 'http' : 'https';
    return {
      oms: urlOf(scheme, config.omsHost, oms),
      mds: urlOf(scheme, config.mdsHost, mds),
      ops: urlOf('http', config.opsHost, ops),
    };
  }

  /** Also of a node that follows. One that is started again and again makes them as well. */
  #keepClusterSnapshots({ snapshots: { everyMs } }: ClusterConfig): void {
    this.#keeper.start(everyMs, everyMs / FIRST_SNAPSHOT_PART);
  }

  /** @returns their ports. @throws ConfigError when one is taken. */
  async #openListeners(): Promise<{ readonly oms: number; readonly mds: number }> {
    const { mdsHost, mdsPort } = this.config;
    this.#words.allowListening();
    await this.#when(() => this.#words.mdsPort() !== 0);
    if (this.#words.mdsPort() === MDS_LISTEN_FAILED) throw taken('RINGBOOK_MDS_PORT', { host: mdsHost, port: mdsPort });
    return { oms: await this.#openOms(), mds: this.#words.mdsPort() };
  }

  /**
   * Drains and ends every thread: nothing that was acknowledged is lost, and the next start needs no replay.
   *
   * @returns for the log: actions that were in flight when it began, and those that were not answered in time.
   */
  async stop(): Promise<StopReport> {
    const inFlight = this.#openGateway?.actionsInFlight ?? 0;
    // Not ready any more: what sends requests here looks for another node.
    this.#isStopping = true;
    if (this.#member === null) this.#threads.leadership.setState('ended');
    this.#waiting.add('market_data').add('chains');
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#feed?.stop();
    this.#wallClock.stop();
    this.#disk.stop();
    this.#keeper.stop();
    await this.#drain();
    await this.#member?.leave();
    const unanswered = this.#openGateway?.actionsInFlight ?? 0;
    await this.#verifier.close();
    await this.#history?.close();
    await this.#proofs?.close();
    await this.#refusals?.close();
    await this.#supervisor.stop(STOP_MS_MAX);
    this.#threads.release();
    this.#oms?.close();
    await this.#ops?.close();
    return { in_flight: inFlight, unanswered };
  }

  /** Nothing new is taken, what is pending is answered; chains are not watched any more. */
  async #drain(): Promise<void> {
    await this.#chains?.stop();
    this.#oms?.stopAccepting();
    await this.#when(() => this.#openGateway === null || this.#openGateway.actionsInFlight === 0, DRAIN_MS_MAX);
  }

  /** Ends every thread of a start that is refused, or that a signal ends. */
  abandon(): Promise<void> {
    this.#keeper.stop();
    // mutant: abandoned-loading
    return this.#threads.abandon(
      () =>
        this.#verifier.isLoading ||
        this.#history?.isLoading === true ||
        this.#proofs?.isLoading === true ||
        this.#chains?.isLoading === true,
    );
  }

  /** A broken invariant: the process ends with 70 (operator-api.md 1). */
  fail(reason: string): void {
    this.#supervisor.fail(diedOf(null, reason));
  }

  /** A start on a full disk would end at its first commit. @throws StorageError */
  async #refuseFullDisk(): Promise<void> {
    let refusal: string | null = null;
    const { onDiskFull } = this;
    this.onDiskFull = (reason) => {
      refusal = reason;
    };
    await this.#disk.start();
    this.onDiskFull = onDiskFull;
    if (refusal !== null) throw new StorageError(refusal);
  }

  /** The seed of an empty directory, or its settings; those of another change where a public key has to go. */
  async #beginWith(accounts: AccountSettings): Promise<void> {
    const { seed } = this.config;
    if (!this.#isEmpty) await patchAccounts(this.#opsParts(), accounts);
    else if (seed === 'none') await seedSettings(this.#opsParts(), accounts);
    else await seedNode(seed, this.#opsParts(), must(this.#chains, 'a seed needs chains'));
  }

  get #gateway(): Gateway {
    return must(this.#openGateway, 'the gateway is open');
  }

  /** Reads tokens and TLS files again, for new requests and new connections (LDG-03). @param environment as at the start. */
  reload(environment: Environment): void {
    reload(environment, {
      ...{ config: this.config, log: this.#log, peerName: this.#threads.peerName },
      replaceTokens: (tokens) => this.#ops?.replaceTokens(tokens),
      readCertificateAgain: () => this.#oms?.readCertificateAgain() ?? Promise.resolve(),
      certificateEnds: (endS) => {
        this.#certificateEndS = endS;
      },
    }).catch((error: unknown) =>
      this.#supervisor.fail(diedOf(null, `a listener was not opened again: ${String(error)}`)),
    );
  }

  async #openOps(): Promise<number> {
    const { opsHost, opsPort } = this.config;
    const at = { host: opsHost, port: opsPort };
    this.#ops = new OpsServer(this.#opsParts(), () => this.#chains);
    try {
      return await this.#ops.listen(at);
    } catch {
      throw taken('RINGBOOK_OPS_PORT', at);
    }
  }

  async #openOms(): Promise<number> {
    const at = { host: this.config.omsHost, port: this.config.omsPort };
    const { tls, addresses } = this.#threads.listenerSettings(at);
    const oms = new OmsServer({
      services: this.#gateway,
      observer: this.#observer(),
      place: { role: 'node', leadership: this.#threads.leadership, isCluster: this.#member !== null },
      tls,
      gate: gateOf(addresses, this.#budget),
      peer: peerChannel(this.#threads.peerName),
      socketPeer: peerChannel<SocketMessage>(`${this.#threads.peerName} sockets`),
      offersKeys: this.config.seed === 'dev',
      faucet: this.config.seed === 'dev' ? (credit) => creditTestFunds(this.#opsParts(), credit) : null,
      orders: this.#admission(),
      alive: () => this.#context.block.heartbeat(),
    });
    this.#oms = oms;
    this.#gateway.streams = oms.streams;
    try {
      return await oms.listen(at);
    } catch {
      throw taken('RINGBOOK_OMS_PORT', at);
    }
  }

  #admission(): Admission {
    const { orderWaitMsMax, threads } = this.config;
    return new Admission({
      waitMsMax: orderWaitMsMax,
      verifyThreads: threads.verifyThreads,
      verifier: this.#verifier,
      entry: this.#gateway.entry,
      requests: this.#gateway.orders.requests,
      unflushedSeconds: () => this.#unflushed.seconds(performance.now()),
      nowMs: () => performance.now(),
      refused: (stage, orders) => this.#gatewayMetrics?.shed(stage, orders),
    });
  }

  /** For markets on this thread; otherwise the module is not loaded. */
  async #marketFactories(): Promise<ActorFactories> {
    if (this.config.threads.marketsOn === 'workers') return {};
    return (await import('./market-factory.ts')).marketFactories;
  }

  /** Actors of the main thread: from here on messages of markets and clearing are received. */
  #startGateway(markets: ActorFactories): void {
    const hosts = hostActors(
      { ...this.#context, settings: this.#threads.settings(), restarted: false, wakeUp: () => this.#runner.wakeUp() },
      {
        ...markets,
        [GATEWAY]: (wiring) => {
          const shards = Array.from({ length: this.config.threads.marketShards }, (_, shard) =>
            wiring.publication(marketActor(shard)),
          );
          const toClearing = wiring.publication(CLEARING);
          const clearing = new ClearingClient(toClearing, () => this.#clock.nowNs(), wiring.wakeUp);
          this.#clearing = clearing;
          const isMarket = (asset: AssetId): boolean => this.#openGateway?.registry.definitions.has(asset) === true;
          const metrics = new GatewayMetrics(wiring.metrics, this.#log, isMarket);
          this.#gatewayMetrics = metrics;
          const edge = new EdgeMetrics(wiring.metrics);
          this.#edge = edge;
          const gateway = new Gateway({
            clock: this.#clock,
            acks: this.config.acks,
            ...(this.#member === null ? {} : { isStalled: () => this.#threads.leadership.state() === 'stalled' }),
            refusedUsers: this.config.profile === 'production' ? PUBLIC_KEYS : NO_KEYS,
            history: new TableHistory(openReader(this.config.dataDirectory, this.#threads.mapOptions())),
            pages: this.#startHistory(),
            verifier: this.#verifier,
            limits: this.#userLimits(),
            sessionsPerAddress: sessionsPerAddress(this.config.addresses),
            shards,
            idKey: hashKeyOf(this.#threads.hashSeed),
            wakeUp: wiring.wakeUp,
            command: (command) => clearing.command(command),
            ask: (query) => clearing.ask(query),
            counted: metrics,
            trace: wiring.trace,
            isCluster: this.config.cluster !== null,
            refused: this.#keptRefusals(),
          });
          this.#openGateway = gateway;
          gateway.proofs = this.#startProofs();
          return new GatewayActor({
            gateway,
            verifier: this.#verifier,
            clearingChannel: wiring.channelOf(CLEARING),
            publications: [...shards, toClearing],
            replied: (request, reply) => clearing.replied(request, reply),
            clearingEvent: (event) => this.#onClearingEvent(event),
            marketOpened: (marketIndex) => this.#onMarketOpened(marketIndex),
            unflushed: this.#unflushed,
            ticked: () => {
              if (this.#oms !== null) edge.level(this.#oms);
            },
            halted: () => this.#oms?.close(),
            trace: wiring.trace,
          });
        },
      },
      'main',
    );
    this.#supervisor.watchAlso(() => this.#watchThreads());
    this.#runner.start(hosts);
  }

  /** Null unless the configuration wants them. */
  #keptRefusals(): ((action: RefusedAction) => void) | null {
    const { dataDirectory, evidence } = this.config;
    if (evidence?.refusals !== true) return null;
    const refusals = new RefusalLog(evidenceFolder(dataDirectory), (reason) =>
      this.#log.error({ reason }, 'refused requests could not be written'),
    );
    this.#refusals = refusals;
    return ({ user, kind, reject: { code, message }, text, timeNs }) =>
      refusals.write({
        ...{ timeNs, user, action: kind, code, message },
        text: text === null ? '' : Buffer.from(text).toString('utf8'),
      });
  }

  #startHistory(): HistoryThread {
    const settings = { dataDirectory: this.config.dataDirectory, ...this.#threads.mapOptions() };
    const died = (error: Error): void => this.#supervisor.fail(diedOf('history', error.message));
    this.#history = new HistoryThread(settings, died, this.#threads.entryOf(HISTORY));
    return this.#history;
  }

  /** Heads of the log, and answers about it. Null where there is none. */
  #startProofs(): EvidenceThread | null {
    const settings = proofSettings(this.config, this.#threads.leadership);
    if (settings === null) return null;
    const events = {
      figures: (figures: HeadFigures) => {
        this.#headFigures = figures;
      },
      statement: (subject: string, text: string) => this.#state(subject, text),
      fork: (reason: string) => {
        this.#log.fatal({ event: 'evidence-fork', reason }, 'the evidence does not continue what was signed');
        this.onOver(EXIT_REFUSED, reason, true);
      },
      warning: (text: string) => this.#log.warn(text),
      died: (error: Error) => this.#supervisor.fail(diedOf(PROOFS, error.message)),
    };
    this.#proofs = new EvidenceThread(settings, events, this.#threads.entryOf(PROOFS));
    return this.#proofs;
  }

  /** Makes a row of the log. What clearing has no room for comes again a second later. @returns whether it is journaled. */
  async #state(subject: string, text: string): Promise<boolean> {
    while (!this.#isStopping) {
      const reply = await this.#clearingClient.command({ kind: 'statement', subject, text });
      if (reply.ok) return true;
      await new Promise((resolve) => setTimeout(resolve, STATE_AGAIN_MS).unref());
    }
    return false;
  }

  #onClearingEvent(event: ClearingEvent): void {
    if (event.kind === 'registryChanged' && event.change.table === 'market') {
      const { marketIndex } = event.change.row.definition;
      if (!this.#gateway.openMarkets.has(marketIndex)) this.#marketsToOpen.add(marketIndex);
    }
    if (event.kind === 'restored') {
      this.#isEmpty = event.isEmpty;
      this.#startedAtSequence = event.journalSequence;
      this.#waiting.delete('clearing');
      if (this.#marketsToOpen.size === 0) this.#waiting.delete('markets');
    }
    this.#chains?.onClearingEvent(event);
  }

  #onMarketOpened(marketIndex: number): void {
    this.#marketsToOpen.delete(marketIndex);
    if (this.#marketsToOpen.size === 0 && !this.#waiting.has('clearing')) this.#waiting.delete('markets');
  }

  /** Of a leader that answers: until its chains are watched it is not ready, and nothing is approved. */
  async #watchChains(): Promise<void> {
    try {
      await this.#startChains();
    } catch (error) {
      if (this.#isStopping) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof ConfigError) this.onOver(EXIT_REFUSED, reason, false);
      else this.fail(reason);
    }
  }

  async #startChains(): Promise<void> {
    const { config } = this;
    const { leadership } = this.#threads;
    const shared = config.cluster?.chainsDirectory ?? null;
    const files =
      shared === null ? new ChainStore(config.dataDirectory) : await openSharedChains(shared, leadership.view().epoch);
    if (this.#isStopping) return;
    this.#chains = new ChainActor({
      directory: config.dataDirectory,
      files,
      leads: this.#member === null ? undefined : () => ANSWERS_FOR_CHAINS.has(leadership.state()),
      clock: this.#clock,
      minesByItself: config.chainsMine === 'by-themselves',
      command: (command) => this.#clearingClient.command(command),
      registry: () => this.#gateway.registry.rows(),
      fail: (reason) => this.fail(reason),
      withdrawals: () => this.#gateway.withdrawals.all(),
      settlements: () => this.#gateway.settlements.all(),
      approvalsOfHour: async (from) => {
        const reply = await this.#clearingClient.ask({ kind: 'approvalsOfHour', from });
        return reply.ok ? reply.value : null;
      },
      evm: {
        entry: this.#threads.entryOf(EVM),
        logLevel: config.logLevel,
        logs: this.#plan.logs,
        approvalKeys: config.approval_keys ?? (config.profile === 'production' ? [] : null),
        approvalLimits: approvalLimits(config),
        cursorPage: async (chainId, event, from) => {
          const reply = await this.#clearingClient.ask({ kind: 'chainCursor', chainId, event, from });
          return reply.ok ? reply.value.page : undefined;
        },
        refused: (chain, reason) => this.#log.error({ chain, reason }, 'an approval is not signed'),
        died: (reason) => this.#log.error({ reason }, 'the thread of EVM chains died and begins anew'),
      },
      acceptsEscape: config.acceptsEscape,
      escaped: (chain, isOpen) => {
        if (isOpen) this.#log.error({ chain }, 'the vault is in escape mode: users withdraw without the node');
        else this.#log.warn({ chain }, 'escape mode of the vault has ended');
      },
      withdrawables: async (chainId) => {
        const reply = await this.#clearingClient.ask({ kind: 'withdrawables', chainId });
        return reply.ok ? reply.value.entries : null;
      },
      holdings: {
        booked: async () => {
          const reply = await this.#clearingClient.ask({ kind: 'vaultTokens' });
          return reply.ok ? reply.value : null;
        },
        changed: (asset, deviation) => {
          if (deviation === 0n) this.#log.warn({ asset }, 'the vaults hold what the ledger says again');
          else
            this.#log.error({ asset, deviation: format18(deviation) }, 'the vaults do not hold what the ledger says');
        },
        approvals: (chain, asset, missing, isStopped) => {
          const facts = { chain, asset, missing: format18(missing) };
          if (isStopped)
            this.#log.error(
              facts,
              'the vault lacks what the ledger says: nothing of the asset is approved on the chain',
            );
          else this.#log.warn(facts, 'approvals of the asset go on');
        },
      },
      stopped: (chain, stopped) => {
        if (stopped === null) this.#log.warn({ chain }, 'the chain is resumed');
        else this.#log.error({ chain, ...stopped }, 'the chain is stopped: nothing is credited or approved on it');
      },
    });
    const chains = this.#chains;
    await chains.start();
    this.#gateway.settlementChains = (chainId) => chains.readiness(chainId);
    this.#waiting.delete('chains');
  }

  #startFeed(): void {
    const { oracleFeedMs } = this.config;
    if (oracleFeedMs > 0) this.#feed = new OracleFeed(this.#opsParts(), oracleFeedMs);
  }

  get #clearingClient(): ClearingClient {
    return must(this.#clearing, 'the gateway has its client of clearing');
  }

  /** Watches threads that are not part of the topology. */
  #watchThreads(): void {
    const verify = this.#verifier.hang();
    if (verify !== null) this.#supervisor.fail(hungOf('verify', verify));
    const history = this.#history?.hang() ?? null;
    if (history !== null) this.#supervisor.fail(hungOf('history', history));
    const proofs = this.#proofs?.hang() ?? null;
    if (proofs !== null) this.#supervisor.fail(hungOf(PROOFS, proofs));
  }

  #opsParts(): OpsParts {
    const { config } = this;
    const clock = this.#clock;
    const plan = this.#plan;
    const gateway = (): Gateway => this.#gateway;
    return {
      get gateway(): Gateway {
        return gateway();
      },
      config,
      version: VERSION,
      commit: COMMIT,
      clock,
      plan,
      wallClock: this.#wallClock,
      leadership: this.#member === null ? null : this.#threads.leadership,
      waitingFor: () => this.#waitingFor(),
      starting: () => (this.#isStopping ? null : this.#threads.progress.step),
      command: (command) => this.#clearingClient.command(command),
      ask: (query) => this.#clearingClient.ask(query),
      hookClearing: (hook) => this.#clearingClient.hook(hook),
      stallMarket: (marketIndex, isStalled) => this.#stallMarket(marketIndex, isStalled),
      settle: (timeoutMs) => this.#settle(timeoutMs),
      clockMoved: () => this.#clockMoved(),
      requestCounts: () => this.#requests,
      presence: (user) => ({
        sessions: this.#gateway.sessions.countOf(user),
        streams: this.#oms?.streams.countAll(user) ?? 0,
      }),
      requirements: (user, subAccount) => this.#gateway.margin.requirements(user, subAccount),
      prices: () => this.#openGateway?.prices() ?? [],
      depthSequence: (marketIndex) => this.#words.depthSequence(marketIndex),
      refusals: (limit) => this.#budget.refusals(limit),
      unflushedSeconds: () => this.#unflushed.seconds(performance.now()),
      openOrders: () => this.#openGateway?.orders.openOrders(null) ?? 0,
      marketFigures: () => this.#openGateway?.orders.marketFigures() ?? [],
      marketActions: () => this.#gatewayMetrics?.actions.byMarket() ?? [],
      threadUses: () => threadUses(this.#times, this.#namedThreads()),
      unverified: () => this.#verifier.inFlight,
      bounds: () => ({
        openOrders: (this.#openGateway?.orders.requests.settings ?? DEFAULT_ORDER_SETTINGS).openOrdersNodeMax,
        signatures: config.threads.verifyThreads === 0 ? null : config.threads.verifyThreads * SIGNATURES_IN_FLIGHT,
        certificateEndS: this.#certificateEndS,
      }),
      snapshots: () => this.#keeper.counts,
      headFigures: () => this.#headFigures,
      dataDisk: () => {
        const disk = diskOf(config.dataDirectory);
        return disk === null ? null : { ...disk, isLow: this.#disk.isLow };
      },
      dataFileBytes: () => statSync(join(config.dataDirectory, MAP_FILE_NAME), { throwIfNoEntry: false })?.size ?? 0,
    };
  }

  #waitingFor(): readonly WaitingPart[] {
    const waiting = [...this.#waiting];
    if (this.#wallClock.state.held !== null) waiting.push('clock');
    if (this.#member !== null && this.#threads.leadership.state() !== 'leading') waiting.push('leadership');
    return waiting;
  }

  /** What goes by the node's clock is due. */
  #clockMoved(): void {
    this.#threads.wakeAll();
    this.#chains?.wake();
  }

  #namedThreads(): readonly { readonly name: string; readonly id: number }[] {
    const { threads, threadBlocks } = this.#plan;
    const verifiers = this.#verifier.kernelThreads();
    return [
      ...threads.map(({ name }, index) => ({ name, id: new ThreadBlock(threadBlocks, index).kernelThread() })),
      ...verifiers.map((id, index) => ({ name: `${VERIFY}-${index}`, id })),
      { name: HISTORY, id: this.#history?.kernelThread() ?? UNKNOWN_THREAD },
      ...(this.#proofs === null ? [] : [{ name: PROOFS, id: this.#proofs.kernelThread() }]),
    ];
  }

  #stallMarket(marketIndex: number, isStalled: boolean): void {
    const actor = marketActor(marketIndex % this.config.threads.marketShards);
    if (isStalled) this.#stalled.add(actor);
    else this.#stalled.delete(actor);
    this.#words.stallShard(marketIndex % this.config.threads.marketShards, isStalled);
  }

  #settle(timeoutMs: number): Promise<boolean> {
    const isBusy = (): boolean =>
      this.#verifier.inFlight > 0 ||
      this.#clearingClient.inFlight > 0 ||
      this.#chains?.isBusy() === true ||
      this.#words.depthWaits();
    const wakeAll = (): void => this.#threads.wakeAll();
    return whenAtRest(this.#plan, { timeoutMs, isBusy, wakeAll, ignored: this.#stalled });
  }

  #observer(): EdgeObserver {
    return {
      answered: (pattern, status, isRead, ms) => {
        // Many requests may be answered before the loop comes to its timers: each is a sign of life.
        this.#context.block.heartbeat();
        const key = `${pattern} ${status}`;
        this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
        this.#edge?.answered(pattern, status, isRead, ms);
      },
      refused: (code) => this.#edge?.refused(code),
      lagged: (socket) => {
        this.#edge?.lagged();
        this.#log.info({ event: 'socket-lagged', ...socket }, 'a socket fell behind and is closed');
      },
      failed: (where, error) => {
        if (error instanceof InvariantError) this.fail(`${where}: ${error.message}`);
        else {
          const reason = sourceStack(error instanceof Error ? `${error.stack}` : String(error));
          this.#log.error({ where, reason }, 'request failed');
        }
      },
    };
  }

  #userLimits(): UserLimits {
    const rates = this.config.rateLimits === 'lifted' ? LIFTED_RATES : STANDARD_RATES;
    return new UserLimits(new RateLimits(this.#budget, rates, this.#clock.nowNs()));
  }

  async #when(isDone: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    const deadlineMs = performance.now() + withinMs;
    while (!isDone() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Free is what a process without privileges may still take. */
function diskOf(directory: string): { readonly bytes: number; readonly freeBytes: number } | null {
  try {
    const { bsize, blocks, bavail } = statfsSync(directory);
    return { bytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch {
    // It is not there yet.
    return null;
  }
}

function urlOf(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${hostOfUrl(host)}:${port}`;
}

function taken(variable: string, { host, port }: { readonly host: string; readonly port: number }): ConfigError {
  return new ConfigError(
    `cannot listen on ${host}, port ${port}: set ${variable} to a free port, or 0 to have one chosen, and RINGBOOK_HOST to an address of this machine`,
  );
}
