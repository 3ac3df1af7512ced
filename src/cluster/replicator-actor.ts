/**
 * The actor of the thread of the protocol: connects to the servers, again and again, and stands between replicator.ts and the rest of
 * the node.
 *
 *   clearing ══ opened, begin, flushed ══▶ ┌──────────────────┐ ── append, get, info ──▶ servers
 *            ◀═ record, stored, campaign ══ │ ReplicatorActor  │ ◀── answers, log, reports, requests
 *   main ──── ready, drained, terminate ──▶ └──────────────────┘ ──▶ state, epoch, lease: shared memory
 *        ◀─── drain, state, end ───────────────────┘
 *
 * Invariants
 *   (1) State and lease are in shared memory before anything that follows from them leaves this thread.
 *   (2) A handover that is requested begins when the gateway is drained: its record is the last one of this leader.
 */
import { ReplicatorEnd } from '../clearing/log-codec.ts';
import type { LogEvent, OpenedJournal, RecordPlace } from '../clearing/replicated-log.ts';
import type { Sequence } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Leadership, NodeState } from '../runtime/leadership.ts';
import type { Publication } from '../runtime/publication.ts';
import { MarketDataMessage } from '../schema/generated/messages.ts';
import type { AppendAnswer, ClusterEffect } from './events.ts';
import type { ToMain, ToStream } from './link.ts';
import { MarketDataPublisher } from './market-data-publisher.ts';
import { recordAgeSeconds } from './record-head.ts';
import { Replicator, type ReplicatorOptions } from './replicator.ts';
import { rememberNode } from './standbys.ts';
import { type JournalInfo, StreamLog, type StreamLogOptions } from './stream-log.ts';
import { Truncation } from './truncation.ts';

const RECONNECT_MS = 250;
const FITNESS_MS = 10_000;
const WRITES_TAPE: ReadonlySet<NodeState> = new Set(['leading', 'handing-over']);
const SERVES_REPLICAS: ReadonlySet<NodeState> = new Set(['leading', 'stalled', 'handing-over']);
/** How often a leader looks what can be removed from the stream, and at most so far apart. */
const TRUNCATIONS_PER_SNAPSHOT = 48;
const TRUNCATION_MS_MAX = 300_000;
/** A standby that has not reported for so long is none. */
const STANDBY_MS = 1_000;

/** What operators measure; plain functions. */
export interface ReplicatorMeasures {
  /** From the first sending of a record until its storing is confirmed. */
  readonly stored: (ms: number, sequence: number) => void;
  readonly appended: (sequence: number) => void;
  readonly answered: (answer: AppendAnswer['kind']) => void;
  /** A record of another leader is given to clearing. @param ageSeconds since it was made. */
  readonly applied: (ageSeconds: number) => void;
  readonly takenOver: (cause: 'silence' | 'handover' | 'operator') => void;
  readonly stalled: (ms: number) => void;
  readonly standbys: (count: number) => void;
  readonly placed: (info: JournalInfo, isAtHome: boolean) => void;
  /** Records in `dropped/` that are not acknowledged. */
  readonly dropped: (count: number) => void;
}

interface ReplicatorActorOptions {
  readonly name: string;
  readonly protocol: ReplicatorOptions;
  readonly servers: StreamLogOptions;
  /** Of the program. */
  readonly version: string;
  readonly toClearing: Publication;
  readonly toMarketData: Publication;
  readonly leadership: Leadership;
  readonly link: {
    post(message: ToMain): void;
    receive(receiver: (message: ToStream) => void): void;
    close(): void;
  };
  /** Whether all servers that answer are fit; does not reject. */
  readonly fitness: () => Promise<boolean>;
  /** Of the bucket: how often there is a snapshot, 0 for never, and how many stay. */
  readonly snapshots: { readonly everyMs: number; readonly keep: number };
  /** Records of the own journal that the stream did not take (storage/dropped-records.ts). */
  readonly dropped: { readonly names: () => readonly string[]; readonly acknowledge: () => readonly string[] };
  /** This thread takes no request any more. */
  readonly closed: () => void;
  readonly log: (level: 'info' | 'warn' | 'error', facts: Readonly<Record<string, unknown>>, text: string) => void;
  readonly measured: ReplicatorMeasures;
}

const COMMANDS = ['status', 'stepDown', 'promote', 'confirm', 'acknowledge', 'hash'] as const;

/** A request of an operator or of another node (`rb.C.status.<node>`), and how it is answered. */
interface NodeRequest {
  readonly command: (typeof COMMANDS)[number];
  readonly to: string | null;
  readonly standby: boolean;
  /** Of `hash`. */
  readonly sequence: number;
  readonly answer: (reply: object) => void;
}

export class ReplicatorActor implements Actor {
  readonly name: string;
  readonly #options: ReplicatorActorOptions;
  readonly #end: ReplicatorEnd;
  readonly #begunMs = new Map<number, number>();
  readonly #reportedMs = new Map<string, number>();
  #stream: StreamLog | null = null;
  #replicator: Replicator | null = null;
  #publisher: MarketDataPublisher | null = null;
  #opened: { readonly journal: OpenedJournal; readonly lastBytes: Uint8Array | null } | null = null;
  #flushed: RecordPlace | null = null;
  #leader: string | null = null;
  #wasHandedOver = false;
  #isPromoted = false;
  #stalledSinceMs: number | null = null;
  /** A handover that waits for the gateway, with its answer; null: none. */
  #leaving: { readonly to: string | null; readonly answer: (reply: object) => void } | null = null;
  /** The gateway takes no orders any more: only a handover, or the end of the process, follows. */
  #isDrained = false;
  #judgedMs = Number.NEGATIVE_INFINITY;
  #isFit = true;
  /** The servers were looked at once: a node of production does not begin with unfit ones. */
  #isJudged = false;
  /** Answers the question for the state behind a record. */
  #hashing: NodeRequest['answer'] | null = null;
  #truncation: Truncation | null = null;
  #truncatedMs = Number.NEGATIVE_INFINITY;
  #isTruncating = false;
  #hasEnded = false;

  constructor(options: ReplicatorActorOptions) {
    this.name = options.name;
    this.#options = options;
    this.#end = new ReplicatorEnd(options.toClearing, {
      opened: (journal, lastBytes) => {
        this.#opened = { journal, lastBytes };
        this.#begin();
      },
      begin: (record) => {
        this.#begunMs.set(record.sequence, performance.now());
        options.measured.appended(record.sequence);
        this.#replicator?.begin(record);
      },
      flushed: (place) => {
        this.#flushed = place;
        this.#replicator?.flushed(place);
      },
      hashed: ({ sequence, record, state, why }) => {
        this.#hashing?.({ ok: true, sequence, record: Buffer.from(record).toString('hex'), state, why });
        this.#hashing = null;
      },
      restored: () => undefined,
    });
  }

  start(): void {
    this.#options.link.receive((message) => this.#ofMain(message));
    void this.#connect();
  }

  ready(): boolean {
    return true;
  }

  handle(_channel: number, typeId: number, views: Views, at: number): void {
    if (typeId === MarketDataMessage.typeId) this.#publisher?.receive(views, at);
    else this.#end.receive(typeId, views, at);
  }

  endBatch(): void {
    this.#end.flush();
  }

  isQuiet(): boolean {
    return this.#end.flush();
  }

  tick(): void {
    this.#end.flush();
    this.#publisher?.tick();
    const nowMs = performance.now();
    const { measured } = this.#options;
    const leads = this.#replicator?.state === 'leading' || this.#replicator?.state === 'stalled';
    measured.standbys(leads ? [...this.#reportedMs.keys()].filter((node) => this.#isStandby(node)).length : 0);
    this.#handOverDrained();
    if (this.#replicator?.state === 'leading') this.#truncate(nowMs);
    if (nowMs - this.#judgedMs < FITNESS_MS) return;
    this.#judgedMs = nowMs;
    void this.#options.fitness().then((fit) => {
      if (fit !== this.#isFit) this.#replicator?.handle({ kind: 'fitness', fit });
      this.#isFit = fit;
      this.#isJudged = true;
      this.#begin();
    });
  }

  /** One pass at a time; one that fails is repeated. */
  #truncate(nowMs: number): void {
    const { snapshots, log, protocol } = this.#options;
    const everyMs = Math.min(TRUNCATION_MS_MAX, snapshots.everyMs / TRUNCATIONS_PER_SNAPSHOT);
    const place = this.#flushed;
    if (this.#truncation === null || place === null || this.#isTruncating) return;
    if (snapshots.everyMs === 0 || nowMs - this.#truncatedMs < everyMs) return;
    this.#truncatedMs = nowMs;
    this.#isTruncating = true;
    this.#truncation.see(protocol.node, place.sequence, Date.now());
    this.#truncation
      .pass(Date.now())
      .then(
        (first) => {
          if (first !== null) log('info', { first }, 'the stream is truncated');
        },
        (error: unknown) => log('warn', { reason: String(error) }, 'the stream is not truncated'),
      )
      .finally(() => {
        this.#isTruncating = false;
      });
  }

  stop(): void {
    this.#hasEnded = true;
    this.#replicator?.close();
    void this.#stream?.close();
    this.#options.link.close();
    this.#options.closed();
  }

  halt(): void {
    this.stop();
  }

  // ---- the servers

  async #connect(): Promise<void> {
    const { servers, protocol, log } = this.#options;
    for (let last = ''; !this.#hasEnded; ) {
      try {
        this.#stream = await StreamLog.connect(servers);
        this.#begin();
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== last) log('warn', { reason, node: protocol.node }, 'no server of the cluster answers');
        last = reason;
        await new Promise((done) => setTimeout(done, RECONNECT_MS));
      }
    }
  }

  /** When a server answers, the servers were looked at and clearing has opened its journal. */
  #begin(): void {
    const stream = this.#stream;
    const opened = this.#opened;
    if (stream === null || opened === null || !this.#isJudged || this.#replicator !== null || this.#hasEnded) return;
    const { protocol, leadership, log, measured, snapshots, dropped } = this.#options;
    this.#truncation = new Truncation(stream, Number(protocol.dataVersion), snapshots.keep);
    measured.dropped(dropped.names().length);
    const replicator = new Replicator(protocol, stream, {
      give: (event) => this.#give(event),
      hasRoom: () => this.#end.hasRoom,
      state: (state, epoch, sequence) => this.#become(state, epoch, sequence),
      leader: ({ epoch, takeover }) => {
        this.#leader = takeover.node;
        leadership.setLeader(epoch, takeover);
      },
      lease: ({ sentNs, sentWallNs, endsNs }) =>
        leadership.setLease({
          sentMs: millisecondsOf(sentNs),
          sentWallMs: millisecondsOf(sentWallNs),
          endsMs: millisecondsOf(endsNs),
        }),
      alert: (alert) => {
        log('error', { alert }, 'the cluster needs an operator');
        // It is in `dropped/` when clearing has taken the event that follows.
        if (alert === 'dropped') measured.dropped(dropped.names().length + 1);
      },
      refuse: (command) => log('warn', { command }, 'a command is refused in this state'),
      end: ({ code, reason, text }) => this.#over(code, reason, text),
      handoverAsked: (to) => this.#askedToStepDown(to, () => undefined),
      answered: (answer) => measured.answered(answer),
      reported: (node, sequence) => this.#reported(node, sequence),
      placed: (info, isAtHome) => measured.placed(info, isAtHome),
    });
    this.#replicator = replicator;
    stream.answer(protocol.node, (bytes, respond) => {
      this.#requested(requestOf(bytes, (reply) => respond(Buffer.from(JSON.stringify(reply)))));
    });
    this.#publisher = this.#publisherOn(stream);
    if (!this.#isFit) replicator.handle({ kind: 'fitness', fit: false });
    replicator.opened(opened.journal, opened.lastBytes);
  }

  #publisherOn(stream: StreamLog): MarketDataPublisher {
    const { leadership, toMarketData, protocol } = this.#options;
    const { node, oms, mds } = protocol;
    const publisher = new MarketDataPublisher({
      servers: stream,
      toMarketData,
      leads: () => WRITES_TAPE.has(leadership.state()),
      serves: () => SERVES_REPLICAS.has(leadership.state()),
      epoch: () => this.#replicator?.epoch ?? 0,
      place: () => ({ node, oms, mds, sequence: this.#replicator?.sequence ?? 0 }),
      nowMs: () => performance.now(),
    });
    stream.onBookAsked((market, respond) => publisher.asked(market, respond));
    return publisher;
  }

  #give(event: LogEvent): void {
    const { measured } = this.#options;
    if (event.kind === 'stored') {
      const begunMs = this.#begunMs.get(event.sequence);
      if (begunMs !== undefined) measured.stored(performance.now() - begunMs, event.sequence);
    }
    if (event.kind === 'stored' || event.kind === 'refused') this.#begunMs.delete(event.sequence);
    if (event.kind === 'record') measured.applied(recordAgeSeconds(event.bytes));
    this.#end.give(event);
  }

  #become(state: NodeState, epoch: number, sequence: number): void {
    const { leadership, link, measured } = this.#options;
    leadership.setState(state);
    const nowMs = performance.now();
    if (this.#stalledSinceMs !== null && state !== 'stalled') {
      measured.stalled(nowMs - this.#stalledSinceMs);
      this.#stalledSinceMs = null;
    }
    if (state === 'stalled') this.#stalledSinceMs = nowMs;
    if (state === 'restoring')
      measured.takenOver(this.#isPromoted ? 'operator' : this.#wasHandedOver ? 'handover' : 'silence');
    link.post({ kind: 'state', state, epoch, sequence });
  }

  #over(code: Extract<ClusterEffect, { kind: 'end' }>['code'], reason: string, text: string): void {
    this.#hasEnded = true;
    this.#leaving?.answer({ ok: true });
    this.#options.log(code === 0 ? 'info' : 'error', { code, reason }, text);
    this.#options.link.post({ kind: 'end', code, reason, text });
  }

  // ---- the main thread

  #ofMain(message: ToStream): void {
    const replicator = this.#replicator;
    switch (message.kind) {
      case 'ready':
        replicator?.handle({ kind: 'ready' });
        return;
      case 'drained':
        this.#isDrained = true;
        this.#handOverDrained();
        return;
      case 'terminate':
        // Without a server there is nothing to hand over.
        if (replicator === null) this.#over(0, 'STOPPED', 'stopped before a server answered');
        else replicator.handle({ kind: 'terminate' });
        return;
      case 'confirm':
        this.#confirm(message.standby);
    }
  }

  #confirm(standby: boolean): void {
    this.#end.wait(standby);
    this.#replicator?.handle({ kind: 'confirm', standby });
  }

  // ---- requests

  #requested({ command, to, standby, sequence, answer }: NodeRequest): void {
    switch (command) {
      case 'status':
        answer(this.#status());
        return;
      case 'promote':
        this.#isPromoted = true;
        this.#replicator?.handle({ kind: 'promote' });
        answer({ ok: true });
        return;
      case 'confirm':
        this.#confirm(standby);
        answer({ ok: true });
        return;
      case 'hash':
        this.#hashing?.({ ok: false, reason: 'another question followed' });
        this.#hashing = answer;
        this.#end.askHash(sequence as Sequence);
        return;
      case 'acknowledge':
        answer({ ok: true, acknowledged: this.#options.dropped.acknowledge() });
        this.#options.measured.dropped(0);
        return;
      case 'stepDown':
        this.#askedToStepDown(to, answer);
    }
  }

  #askedToStepDown(to: string | null, answer: (reply: object) => void): void {
    const state = this.#replicator?.state;
    if (state !== 'leading' || this.#leaving !== null) {
      answer({ ok: false, reason: `the node is ${this.#leaving === null ? state : 'handing over already'}` });
      return;
    }
    if (to !== null && !this.#isStandby(to)) {
      answer({ ok: false, reason: `no node ${shown(to)} follows` });
      return;
    }
    this.#leaving = { to, answer };
    this.#options.link.post({ kind: 'drain', to });
  }

  /** A leader that stalled while it was drained hands over when it leads again: its order entry is not opened any more. */
  #handOverDrained(): void {
    const leaving = this.#leaving;
    const replicator = this.#replicator;
    if (leaving === null || !this.#isDrained || replicator?.state !== 'leading') return;
    replicator.handle({ kind: 'stepDown', to: leaving.to });
  }

  #isStandby(node: string): boolean {
    return performance.now() - (this.#reportedMs.get(node) ?? Number.NEGATIVE_INFINITY) < STANDBY_MS;
  }

  #reported(node: string, sequence: number): void {
    this.#truncation?.see(node, sequence, Date.now());
    rememberNode(this.#reportedMs, node, performance.now());
  }

  #status(): object {
    const { protocol, version, leadership } = this.#options;
    const { node, dataVersion, oms, mds } = protocol;
    const place = this.#flushed;
    return {
      node,
      role: 'node',
      state: leadership.state(),
      epoch: this.#replicator?.epoch ?? 0,
      // The last record that clearing has flushed.
      sequence: place?.sequence ?? this.#replicator?.sequence ?? 0,
      hash: place === null ? '' : Buffer.from(place.hash).toString('hex'),
      version,
      data: dataVersion,
      dropped: this.#options.dropped.names().length,
      leader: this.#leader,
      oms,
      mds,
    };
  }
}

/** A name that another program gave, for a message. */
function shown(name: string): string {
  return /^[a-z0-9-]{1,32}$/.test(name) ? name : 'of this name';
}

/** What is no command is a question for the status. */
function requestOf(bytes: Uint8Array, answer: NodeRequest['answer']): NodeRequest {
  const { command, to, standby, sequence } = membersOf(bytes);
  return {
    command: COMMANDS.find((known) => known === command) ?? 'status',
    to: typeof to === 'string' ? to : null,
    standby: standby === true,
    sequence: Number.isSafeInteger(sequence) ? Number(sequence) : 0,
    answer,
  };
}

/** The members of a message of another process of the cluster; none for what cannot be read. */
function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** Of a monotonic or a wall clock: below 2^53 microseconds. */
function millisecondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000n) / 1_000;
}
