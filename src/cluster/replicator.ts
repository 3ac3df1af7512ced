/**
 * The protocol over the real stream: carries effects to the servers and to clearing, and brings back what they answer. It decides
 * nothing (protocol.ts) and waits for nothing: each question has its end in stream-log.ts.
 *
 * Records of the stream are given to clearing only while there is room; what the log brings meanwhile is read later, as a gap.
 */
import type { BegunRecord, Campaign, LogEvent, OpenedJournal, RecordPlace } from '../clearing/replicated-log.ts';
import { MILLISECOND_NS, type Sequence } from '../core/units.ts';
import type { NodeState } from '../runtime/leadership.ts';
import type { AppendAnswer, ClusterEffect, ClusterEvent, StandbyReport } from './events.ts';
import { Protocol, type ProtocolOptions } from './protocol.ts';
import { rememberNode } from './standbys.ts';
import type { JournalInfo, StreamLog } from './stream-log.ts';

const TICK_MS = 10;
/** A node that follows reports at least so often. */
const REPORT_MS = 250;
/** How often a leader looks where the stream's leader is. */
const PLACE_MS = 1_000;
const HOME_CHARACTERS_MAX = 128;

export interface ReplicatorOptions extends ProtocolOptions, Omit<Campaign, 'node'> {
  /** Name of the server on this machine; null for none. */
  readonly home: string | null;
}

type End = Extract<ClusterEffect, { kind: 'end' }>;
type Leader = Extract<ClusterEffect, { kind: 'leader' }>;
type Lease = Extract<ClusterEffect, { kind: 'lease' }>;

/** What the process does for it. */
interface ReplicatorHost {
  give(event: LogEvent): void;
  /** Whether clearing takes further records of the stream. */
  hasRoom(): boolean;
  state(state: NodeState, epoch: number, sequence: number): void;
  leader(leader: Leader): void;
  lease(lease: Lease): void;
  alert(alert: Extract<ClusterEffect, { kind: 'alert' }>['alert']): void;
  refuse(command: 'promote' | 'stepDown'): void;
  end(end: End): void;
  /** Another node requests the leadership: a `stepDown` is handled when the gateway is drained. */
  handoverAsked(to: string): void;
  /** For operators: how an append was answered, which node has reported, where the stream is. */
  answered(answer: AppendAnswer['kind']): void;
  reported(node: string, sequence: number): void;
  placed(info: JournalInfo, isLeaderAtHome: boolean): void;
}

/** A report as it travels; the home is that of its node. */
interface AppliedReport {
  readonly node: string;
  readonly epoch: number;
  readonly sequence: number;
  /** Hexadecimal. */
  readonly hash: string;
  readonly rank: number;
  readonly home: string | null;
}

export class Replicator {
  readonly #options: ReplicatorOptions;
  readonly #stream: StreamLog;
  readonly #host: ReplicatorHost;
  readonly #protocol: Protocol;
  readonly #timer: NodeJS.Timeout;
  readonly #homes = new Map<string, string>();
  #flushed: RecordPlace | null = null;
  #reportedMs = 0;
  #placedMs = 0;
  #isPlacing = false;
  #wantedFrom: number | null = null;

  constructor(options: ReplicatorOptions, stream: StreamLog, host: ReplicatorHost) {
    this.#options = options;
    this.#stream = stream;
    this.#host = host;
    this.#protocol = new Protocol(options);
    stream.follow((message) => {
      const isStandby = this.state === 'joining' || this.state === 'following';
      if (!isStandby || host.hasRoom()) this.handle({ kind: 'message', message });
    });
    stream.onApplied((bytes) => this.#heard(bytes));
    stream.onHandover((to) => {
      if (to !== options.node) host.handoverAsked(to);
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  get state(): NodeState {
    return this.#protocol.state;
  }

  get epoch(): number {
    return this.#protocol.epoch;
  }

  get sequence(): number {
    return this.#protocol.sequence;
  }

  /** Nothing is read or appended any more. */
  close(): void {
    clearInterval(this.#timer);
  }

  // ---- clearing's end (clearing/log-codec.ts)

  opened(journal: OpenedJournal, lastBytes: Uint8Array | null): void {
    this.handle({ kind: 'opened', journal, lastBytes });
  }

  begin({ kind: record, sequence, epoch, bytes }: BegunRecord): void {
    this.handle({ kind: 'begin', record, sequence, epoch, bytes });
  }

  flushed(place: RecordPlace): void {
    this.#flushed = place;
    if (this.state === 'joining' || this.state === 'following') this.#report();
  }

  // ---- the operator and the process

  handle(event: ClusterEvent): void {
    if (this.state === 'ended') return;
    const now = { monotonicNs: process.hrtime.bigint(), wallNs: BigInt(Date.now()) * MILLISECOND_NS };
    for (const effect of this.#protocol.handle(event, now)) this.#do(effect);
  }

  #do(effect: ClusterEffect): void {
    const host = this.#host;
    switch (effect.kind) {
      case 'record':
      case 'stored':
      case 'refused':
      case 'confirmed':
        host.give({ ...effect, sequence: effect.sequence as Sequence });
        return;
      case 'tailStored':
        host.give({ kind: 'tailStored' });
        return;
      case 'tailDropped':
        host.give({ kind: 'tailDropped' });
        return;
      case 'campaign': {
        const { node, run, oms, mds } = this.#options;
        host.give({ kind: 'campaign', node, run, oms, mds });
        return;
      }
      case 'handOver':
        host.give({ kind: 'handOver', to: effect.to });
        return;
      case 'append':
        this.#append(effect);
        return;
      case 'get':
        this.#wantedFrom = effect.from;
        this.#get();
        return;
      case 'info':
        this.#stream.info().then((info) => {
          if (info === null) this.handle({ kind: 'infoFailed' });
          else this.handle({ kind: 'info', first: info.first, end: info.end, ...roomOf(info) });
        });
        return;
      case 'askHandover':
        this.#stream.askHandover(this.#options.node);
        return;
      case 'state':
        host.state(effect.state, effect.epoch, effect.sequence);
        return;
      case 'leader':
        host.leader(effect);
        return;
      case 'lease':
        host.lease(effect);
        return;
      case 'alert':
        host.alert(effect.alert);
        return;
      case 'refuse':
        host.refuse(effect.command);
        return;
      case 'end':
        this.close();
        host.end(effect);
    }
  }

  #append({ attempt, bytes, expectedEnd }: Extract<ClusterEffect, { kind: 'append' }>): void {
    this.#stream.append(bytes, expectedEnd).then(
      (answer) => {
        this.#host.answered(answer.kind);
        this.handle({ kind: 'answer', attempt, answer });
      },
      (error: unknown) => this.handle({ kind: 'fault', reason: `append: ${String(error)}` }),
    );
  }

  /** A get waits until clearing has room. */
  #get(): void {
    const from = this.#wantedFrom;
    if (from === null || !this.#host.hasRoom()) return;
    this.#wantedFrom = null;
    this.#stream.get(from).then((messages) => this.handle({ kind: 'got', messages }));
  }

  #tick(): void {
    this.handle({ kind: 'tick' });
    this.#get();
    const nowMs = performance.now();
    if (this.state === 'following' && nowMs - this.#reportedMs >= REPORT_MS) this.#report();
    const leads = this.state === 'leading' || this.state === 'stalled';
    if (leads && !this.#isPlacing && nowMs - this.#placedMs >= PLACE_MS) this.#place();
  }

  // ---- the other nodes

  #report(): void {
    this.#reportedMs = performance.now();
    if (this.#flushed === null) return;
    const { node, rank, home } = this.#options;
    const { sequence, hash } = this.#flushed;
    const report: AppliedReport = {
      node,
      epoch: this.epoch,
      sequence,
      hash: Buffer.from(hash).toString('hex'),
      rank,
      home,
    };
    this.#stream.publishApplied(Buffer.from(JSON.stringify(report)));
  }

  #heard(bytes: Uint8Array): void {
    const read = reportOf(bytes);
    if (read === null) return;
    this.#host.reported(read.report.node, read.report.sequence);
    this.#homeIs(read.report.node, read.home);
    this.handle({ kind: 'report', report: read.report });
  }

  #homeIs(node: string, home: string | null): void {
    if (home === null) this.#homes.delete(node);
    else rememberNode(this.#homes, node, home);
  }

  /** The stream's leader is kept away from this machine (cluster.md 7.6), unless a server is not current. */
  async #place(): Promise<void> {
    const { home } = this.#options;
    this.#placedMs = performance.now();
    this.#isPlacing = true;
    const info = await this.#stream.info();
    if (info !== null) this.#host.placed(info, info.leader === home);
    if (home !== null && info?.leader === home && info.others.every(({ isCurrent }) => isCurrent)) {
      const homes = new Set(this.#homes.values());
      const to = info.others.find(({ name }) => !homes.has(name)) ?? info.others[0];
      if (to !== undefined) await this.#stream.stepDown(to.name);
    }
    this.#isPlacing = false;
  }
}

/** Bytes that the stream still takes; none without a limit. */
function roomOf({ bytes, bytesMax }: JournalInfo): { readonly room?: number } {
  return bytesMax === 0 ? {} : { room: bytesMax - bytes };
}

/** Null for what is no report: a message of another program. */
function reportOf(bytes: Uint8Array): { readonly report: StandbyReport; readonly home: string | null } | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { node, sequence, hash, rank, home } = value as Partial<Record<keyof AppliedReport, unknown>>;
    if (typeof node !== 'string' || !/^[a-z0-9-]{1,32}$/.test(node)) return null;
    if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return null;
    if (!Number.isSafeInteger(sequence) || !Number.isSafeInteger(rank)) return null;
    const report = { node, sequence: Number(sequence), hash: Buffer.from(hash, 'hex'), rank: Number(rank) };
    const isName = typeof home === 'string' && home.length <= HOME_CHARACTERS_MAX;
    return { report, home: isName ? home : null };
  } catch {
    return null;
  }
}
