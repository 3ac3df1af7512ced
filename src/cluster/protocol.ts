/**
 * The protocol of a node of a cluster (cluster.md 5 to 7): who may append, when a record is stored, which lease runs. A state
 * machine without I/O and without a clock: each event comes with the moment at which it is handled, and what is to be done is
 * returned. What happens in which state is the table in transitions.ts.
 *
 * Invariants
 *   (1) `given` is the last record that clearing has: of another node as `record`, or own as `stored`. Each is given once.
 *   (2) One own record at most is on its way; its sequence is that of `given` + 1.
 *   (3) An own record is stored when its answer is known and the stream has shown its own bytes at its sequence.
 *   (4) An append expects the sequence before it: of two nodes that append one sequence, one succeeds.
 *   (5) The lease counts from the first sending of the last stored record, the silence from the last receipt.
 *
 * A stream without room for one largest record is as one without an answer for a node that follows: silence does not count.
 *
 * An empty answer proves nothing, and neither does an end that is too low (shortfall.ts).
 */
import type { BegunKind, OpenedJournal, RecordPlace } from '../clearing/replicated-log.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { MILLISECOND_NS, SECOND_NS, type Sequence } from '../core/units.ts';
import type { NodeState } from '../runtime/leadership.ts';
import type {
  AppendAnswer,
  ClusterEffect,
  ClusterEvent,
  EndCode,
  EndReason,
  RecordHead,
  StandbyReport,
  StreamMessage,
} from './events.ts';
import { type Instant, isLeaseOver, leaseEndNs, leaseNs, silenceNs } from './lease.ts';
import { Shortfall } from './shortfall.ts';
import { Standbys } from './standbys.ts';
import { type Action, type Happening, type LiveState, TRANSITIONS } from './transitions.ts';

/** Between two tries of an append or a get that had no answer. */
const RETRY_NS: bigint = 25n * MILLISECOND_NS;
/** How long the log may show a record after its acknowledgement, before it is read. */
const SHOWN_WITHIN_NS: bigint = 5n * MILLISECOND_NS;
const POLL_NS: bigint = 250n * MILLISECOND_NS;
const LEADER_POLL_NS: bigint = SECOND_NS;
const OUTCOME_NS: bigint = 5n * SECOND_NS;
const NOTHING_READABLE_NS: bigint = 10n * SECOND_NS;
/** What a stream must still take, in bytes: a record of the largest size, with its headers and what a server keeps beside it. */
const LARGEST_RECORD_ROOM = 1_004_096;
/** Hashes that are kept of the last records. */
const HASHES_KEPT = 256;

export interface ProtocolOptions {
  readonly node: string;
  readonly leaseMs: number;
  readonly rank: number;
  /** Whether silence alone is a reason to take over. */
  readonly automatic: boolean;
  readonly production: boolean;
  /** Whether Confirmed waits for a standby as well. */
  readonly standby: boolean;
  readonly dataVersion: string;
  /** Reads a record. Null when it is damaged or has another sequence in its header. */
  readonly readHead: (bytes: Uint8Array, sequence: number) => RecordHead | null;
  /** Hash of the own journal's record at a sequence; null where it is not there any more. Absent: only the last ones are known. */
  readonly ownHash?: (sequence: number) => Uint8Array | null;
}

interface OwnRecord {
  readonly kind: BegunKind | 'tail';
  readonly sequence: number;
  readonly epoch: number;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
  /** When its bytes were first sent. */
  readonly sent: Instant;
  /** The append that is waited for; 0 for none. */
  attempt: number;
  /** Null before the first answer, and while another one is waited for. */
  answer: AppendAnswer['kind'] | null;
  answeredNs: bigint;
  /** The stream has shown its own bytes. */
  isSeen: boolean;
  /** Refused since then, with nothing to be read at its sequence. */
  nothingSinceNs: bigint | null;
}

/** A stop or a handover that was requested and is not done. */
interface Leaving {
  readonly kind: 'terminate' | 'stepDown';
  readonly to: string | null;
  readonly sinceNs: bigint;
}

interface Place extends RecordPlace {
  readonly epoch: number;
}

const LEADER_STATES: ReadonlySet<NodeState> = new Set(['restoring', 'leading', 'stalled', 'handing-over']);
const START: Instant = { monotonicNs: 0n, wallNs: 0n };

export class Protocol {
  readonly #options: ProtocolOptions;
  readonly #hashes = new Map<number, Uint8Array>();
  readonly #shortfall = new Shortfall();
  readonly #standbys = new Standbys();
  #effects: ClusterEffect[] = [];
  #now: Instant = START;
  #state: NodeState = 'starting';
  #given: Place = { sequence: 0 as Sequence, hash: new Uint8Array(32), epoch: 0 };
  #lastBytes: Uint8Array | null = null;
  #tail: OpenedJournal['tail'] = null;
  #handover: { readonly to: string | null } | null = null;
  /** A record before the own last one that is to be compared; null for none. */
  #compareFrom: number | null = null;
  /** The stream has shown the own last record, or does not have it any more. */
  #isVerified = false;
  #own: OwnRecord | null = null;
  #attempts = 0;
  /** An append that is to be refused: part of the proof. 0 for none. */
  #probe = 0;
  /** The highest sequence that the stream has had. */
  #end = 0;
  #first = 0;
  #getting = false;
  #getAtNs = 0n;
  #infoAskedNs: bigint | null = null;
  #infoAtNs = 0n;
  /** Null while the stream does not answer. */
  #silentFromNs: bigint | null = null;
  #isPromoted = false;
  #isFit = true;
  #isCampaignGivenUp = false;
  #lease: Instant | null = null;
  #storedNs = 0n;
  #standby: boolean;
  /** The first record that was stored and waits for a standby. */
  #unconfirmed: { readonly sequence: number; readonly sinceNs: bigint } | null = null;
  #reported = 0;
  #leaving: Leaving | null = null;

  constructor(options: ProtocolOptions) {
    this.#options = options;
    this.#standby = options.standby;
  }

  get state(): NodeState {
    return this.#state;
  }

  get epoch(): number {
    return this.#given.epoch;
  }

  /** Of the last record that clearing was given. */
  get sequence(): number {
    return this.#given.sequence;
  }

  /** Whether a batch waits for a standby beside the stream. */
  get waitsForStandby(): boolean {
    return this.#standby;
  }

  /** Whether it answers, at this moment: it leads and its lease is not over. */
  isServing(now: Instant): boolean {
    return this.#state === 'leading' && !this.#isOver(now);
  }

  /** @returns what is to be done, in this order. @throws InvariantError for an event that cannot happen. */
  handle(event: ClusterEvent, now: Instant): readonly ClusterEffect[] {
    this.#effects = [];
    if (this.#state === 'ended') return this.#effects;
    this.#now = now;
    // Before anything else: a process that was stopped is stalled before it does what it finds.
    this.#watchLease();
    this.#on(event);
    this.#watchLease();
    this.#read();
    return this.#effects;
  }

  // ---- events

  #on(event: ClusterEvent): void {
    switch (event.kind) {
      case 'opened':
        this.#opened(event.journal, event.lastBytes);
        return;
      case 'begin':
        this.#begin(event.record, event.sequence, event.epoch, event.bytes);
        return;
      case 'ready':
        this.#act('ready');
        return;
      case 'message':
        this.#message(event.message);
        return;
      case 'got':
        this.#got(event.messages);
        return;
      case 'answer':
        this.#answered(event.attempt, event.answer);
        return;
      case 'info':
        this.#informed(event.first, event.end, event.room ?? Number.POSITIVE_INFINITY);
        return;
      case 'infoFailed':
        this.#infoAskedNs = null;
        this.#act('noAnswer');
        return;
      case 'report':
        this.#report(event.report);
        return;
      case 'fitness':
        this.#isFit = event.fit;
        if (!event.fit) this.#act('unfit');
        return;
      case 'confirm':
        this.#standby = event.standby;
        if (!event.standby) this.#confirm(this.#given.sequence);
        return;
      case 'promote':
        this.#act('promote');
        return;
      case 'stepDown':
        this.#leave('stepDown', event.to);
        return;
      case 'terminate':
        this.#leave('terminate', null);
        return;
      case 'fault':
        this.#fault(event.reason);
        return;
      case 'tick':
        this.#tick();
    }
  }

  #opened(journal: OpenedJournal, lastBytes: Uint8Array | null): void {
    this.#given = { ...journal.applied, epoch: journal.epoch };
    this.#lastBytes = lastBytes;
    this.#tail = journal.tail;
    this.#handover = journal.handover;
    this.#remember(journal.applied.sequence, journal.applied.hash);
    this.#isVerified = journal.applied.sequence === 0;
    this.#silentFromNs = this.#now.monotonicNs;
    this.#act('loaded');
    this.#askInfo();
  }

  #begin(kind: BegunKind, sequence: number, epoch: number, bytes: Uint8Array): void {
    assert(this.#own === null, 'one record is on its way at a time');
    assert(sequence === this.#given.sequence + 1, 'a record is begun behind the last stored one');
    if (this.#state === 'campaigning' && this.#isCampaignGivenUp) {
      // It was never sent: its outcome is known.
      this.#giveUp(sequence);
      return;
    }
    assert(kind === 'takeover' ? this.#state === 'campaigning' : this.#leads, 'a leader begins records');
    this.#carry(kind, sequence, epoch, bytes);
  }

  #carry(kind: OwnRecord['kind'], sequence: number, epoch: number, bytes: Uint8Array): void {
    const hash = bytes.slice(bytes.length - 32);
    this.#own = {
      kind,
      sequence,
      epoch,
      hash,
      bytes,
      sent: this.#now,
      attempt: 0,
      answer: null,
      answeredNs: 0n,
      isSeen: false,
      nothingSinceNs: null,
    };
    if (kind !== 'tail') this.#remember(sequence, hash);
    this.#send(this.#own);
  }

  #send(own: OwnRecord): void {
    own.answer = null;
    own.attempt = this.#append(own.sequence, own.bytes);
  }

  /** @returns the number of the attempt, which its answer names. */
  #append(sequence: number, bytes: Uint8Array): number {
    this.#attempts += 1;
    const attempt = this.#attempts;
    // mutant: append-expects-the-end
    this.#effects.push({ kind: 'append', attempt, sequence, expectedEnd: sequence - 1, bytes });
    return attempt;
  }

  #answered(attempt: number, answer: AppendAnswer): void {
    if (attempt === this.#probe) {
      this.#probe = 0;
      if (answer.kind === 'refused') this.#shortfall.refused(answer.end);
      return;
    }
    const own = this.#own;
    if (own === null || attempt !== own.attempt) return;
    own.attempt = 0;
    own.answer = answer.kind;
    own.answeredNs = this.#now.monotonicNs;
    if (answer.kind === 'stored' && answer.sequence !== own.sequence) {
      this.#finish(75, 'DIVERGED', `record ${own.sequence} got sequence ${answer.sequence} of the stream`);
      return;
    }
    if (answer.kind !== 'refused') own.nothingSinceNs = null;
    else {
      this.#shortfall.refused(answer.end);
      if (answer.end >= own.sequence) this.#end = Math.max(this.#end, answer.end);
      else this.#nothingReadable(own);
    }
    this.#settle();
  }

  /** Refused, and nothing can be read at its sequence. */
  #nothingReadable(own: OwnRecord): void {
    own.nothingSinceNs ??= this.#now.monotonicNs;
    this.#act('refusedNothing');
  }

  #informed(first: number, end: number, room: number): void {
    const askedNs = this.#infoAskedNs;
    this.#infoAskedNs = null;
    this.#silentFromNs ??= this.#now.monotonicNs;
    // The leader may be silent for want of room alone: when there is room again it comes first.
    // mutant: full-stream-is-no-silence
    if (room < LARGEST_RECORD_ROOM) this.#act('streamFull');
    this.#first = first;
    this.#end = Math.max(this.#end, end);
    if (first > this.#given.sequence + 1) {
      this.#act('beginsBehind');
      return;
    }
    // A record that is truncated cannot be compared: the next one shows whether it follows.
    if (first > this.#given.sequence) this.#isVerified = true;
    if (end < this.#given.sequence) {
      this.#endsLow(end);
      return;
    }
    this.#shortfall.clear();
    if (end > this.#given.sequence || !this.#isVerified) return;
    if (this.#tail !== null) {
      if (this.#own === null) this.#act('endsOneBelow');
      return;
    }
    const heardNs = this.#silentFromNs;
    this.#act('endReached');
    if (askedNs !== null && heardNs !== null && askedNs - heardNs >= this.#silenceNs) this.#act('silence');
  }

  #endsLow(end: number): void {
    const nowNs = this.#now.monotonicNs;
    this.#shortfall.read(end, nowNs);
    const last = this.#lastBytes;
    const isBehind = this.#state === 'joining' || this.#state === 'following';
    // Whether it is the end of the own history is read first: a stream that was made anew, and is led by another node, moves on, and
    // is never proven to end below.
    const isComparable = isBehind && end >= this.#first && !this.#hashes.has(end);
    // mutant: end-of-another-history
    if (isComparable && this.#ownHash(end) !== null) this.#compareFrom = end;
    // With a tail the own journal reaches further than one record, and the last but one is stored.
    if (isBehind && end === this.#given.sequence - 1 && last !== null && this.#tail === null) {
      // Where nothing is left before it, appending decides.
      if (this.#compareFrom === null && this.#shortfall.isLong(nowNs)) this.#act('endsOneBelow');
      return;
    }
    if (this.#shortfall.isProven(nowNs)) {
      this.#act('endsBelow');
      return;
    }
    // With an own record on its way its answers are the second half of the proof.
    if (this.#own !== null || this.#probe !== 0 || !this.#shortfall.isLong(nowNs)) return;
    if (last === null) {
      this.#act('endsBelow');
      return;
    }
    this.#probe = this.#append(this.#given.sequence, last);
  }

  #got(messages: readonly StreamMessage[]): void {
    this.#getting = false;
    const before = this.#given.sequence;
    for (const message of messages) {
      if (this.#state === 'ended') return;
      this.#message(message);
    }
    const hasProgress = this.#given.sequence > before || messages.length > 0;
    this.#getAtNs = hasProgress ? this.#now.monotonicNs : this.#now.monotonicNs + RETRY_NS;
    const own = this.#own;
    if (own?.answer === 'refused' && !own.isSeen) this.#nothingReadable(own);
  }

  #message(message: StreamMessage): void {
    const { sequence, bytes } = message;
    if (this.#state === 'starting') return;
    this.#end = Math.max(this.#end, sequence);
    // mutant: own-record-once
    if (sequence <= this.#given.sequence) {
      this.#compare(sequence, bytes);
      return;
    }
    const own = this.#own;
    if (own !== null && sequence === own.sequence) {
      if (isEqual(bytes, own.bytes)) {
        own.isSeen = true;
        this.#settle();
      } else if (this.#leads) this.#act('refusedOtherBytes', message);
      else this.#next(message, 'refusedOtherBytes');
      return;
    }
    // The takeover that clearing was to make is on its way to here: its refusal comes before what follows.
    if (this.#state === 'campaigning' && own === null) return;
    // mutant: gap-is-read
    if (sequence > this.#given.sequence + 1) {
      this.#act('gap');
      return;
    }
    this.#next(message, null);
  }

  /** A record at a sequence that clearing has. */
  #compare(sequence: number, bytes: Uint8Array): void {
    const known = this.#ownHash(sequence);
    if (known === null) return;
    if (!isEqual(hashOf(bytes), known)) {
      this.#act('otherBytes', { sequence, bytes, dataVersion: '' });
      return;
    }
    this.#remember(sequence, known);
    if (sequence === this.#given.sequence) this.#isVerified = true;
  }

  /** Of a record that clearing has; null where it is not known. */
  #ownHash(sequence: number): Uint8Array | null {
    return this.#hashes.get(sequence) ?? this.#hashBefore(sequence) ?? this.#options.ownHash?.(sequence) ?? null;
  }

  /** What the own last record names as the one before it; null for another sequence. */
  #hashBefore(sequence: number): Uint8Array | null {
    if (this.#lastBytes === null || sequence !== this.#given.sequence - 1) return null;
    return this.#options.readHead(this.#lastBytes, this.#given.sequence)?.previousHash ?? null;
  }

  /** The record behind the last one: it is given, unless the chain or the table is against it. */
  #next(message: StreamMessage, refused: 'refusedOtherBytes' | null): void {
    if (this.#tail !== null && isEqual(message.bytes, this.#tail.bytes)) {
      this.#tailIsStored();
      return;
    }
    const head = this.#options.readHead(message.bytes, message.sequence);
    const fault = this.#faultOf(head, message);
    if (head === null || fault !== null) {
      const isOthers = this.#leads && this.#state !== 'restoring';
      this.#act(isOthers ? 'otherBytes' : 'wrongRecord', message, fault ?? 'damaged');
      return;
    }
    if (this.#tail !== null) this.#act(refused ?? 'otherBytes', message);
    this.#act(this.#happeningOf(head), message, '', head);
  }

  #happeningOf({ takeover, handover }: RecordHead): Happening {
    if (takeover !== null) return takeover.node === this.#options.node ? 'earlierTakeover' : 'foreignTakeover';
    if (handover !== null) return handover.to === this.#options.node ? 'handoverToThis' : 'handoverToOther';
    return this.#leads ? 'otherBytes' : 'nextRecord';
  }

  /** Why a record cannot follow the last one; null when it can. */
  #faultOf(head: RecordHead | null, { sequence, dataVersion }: StreamMessage): string | null {
    if (dataVersion !== this.#options.dataVersion) {
      return `record ${sequence} has data version ${dataVersion}, not ${this.#options.dataVersion}`;
    }
    if (head === null) return `record ${sequence} is damaged`;
    if (!isEqual(head.previousHash, this.#given.hash)) return `record ${sequence} does not follow the record before it`;
    const epoch = this.#given.epoch + (head.takeover === null ? 0 : 1);
    // mutant: epoch-of-a-record
    if (head.epoch !== epoch) return `record ${sequence} has epoch ${head.epoch}, not ${epoch}`;
    if (this.#handover !== null && head.takeover === null) return `record ${sequence} follows a handover`;
    return null;
  }

  #report(report: StandbyReport): void {
    if (report.node === this.#options.node) return;
    this.#standbys.take(report, this.#now.monotonicNs);
    const known = this.#hashes.get(report.sequence);
    // mutant: report-of-this-record
    if (!this.#leads || known === undefined || !isEqual(known, report.hash)) return;
    this.#reported = Math.max(this.#reported, report.sequence);
    this.#confirm(this.#reported);
  }

  /** What waits for a standby up to this record does not any more. */
  #confirm(sequence: number): void {
    if (this.#unconfirmed === null || this.#unconfirmed.sequence > sequence) return;
    this.#effects.push({ kind: 'confirmed', sequence: this.#unconfirmed.sequence });
    this.#unconfirmed = null;
    if (this.#state === 'stalled' && !this.#isOver(this.#now)) this.#lead();
  }

  #tick(): void {
    const nowNs = this.#now.monotonicNs;
    const own = this.#own;
    // A record that was answered as stored is read, not sent again.
    if (own !== null && own.attempt === 0 && own.answer !== 'stored' && nowNs - own.answeredNs >= RETRY_NS) {
      // mutant: same-bytes-until-known
      this.#send(own);
    }
    if (this.#infoAskedNs === null && (nowNs >= this.#infoAtNs || this.#isSilent)) this.#askInfo();
    this.#watchLeaving();
  }

  // ---- an own record

  /** Stored, when its answer is known and the stream has shown its bytes. */
  #settle(): void {
    const own = this.#own;
    // mutant: stored-when-shown
    if (own === null || own.answer === null || !own.isSeen) return;
    this.#own = null;
    this.#given = { sequence: own.sequence as Sequence, hash: own.hash, epoch: own.epoch };
    this.#lastBytes = own.bytes;
    this.#storedNs = this.#now.monotonicNs;
    this.#handover = null;
    // mutant: lease-from-sending
    const sent = own.sent;
    this.#act(own.answer === 'refused' ? 'refusedOwnBytes' : 'ownStored', { ...own, dataVersion: '' });
    if (this.#leads && own.kind !== 'handover') this.#renew(sent);
    if (own.kind === 'batch') this.#awaitStandby(own.sequence);
    if (own.kind === 'handover') {
      const isStop = this.#leaving?.kind === 'terminate';
      this.#finish(isStop ? 0 : 75, 'HANDED_OVER', 'the leadership was handed over');
    }
    this.#goOnLeaving();
  }

  #renew(sent: Instant): void {
    this.#lease = sent;
    const endsNs = leaseEndNs(sent, this.#options.leaseMs);
    this.#effects.push({ kind: 'lease', sentNs: sent.monotonicNs, sentWallNs: sent.wallNs, endsNs });
    if (this.#state === 'stalled' && !this.#isOver(this.#now)) this.#lead();
  }

  #awaitStandby(sequence: number): void {
    if (!this.#standby) return;
    this.#unconfirmed ??= { sequence, sinceNs: this.#now.monotonicNs };
    this.#confirm(this.#reported);
  }

  /** The lease is over, or a record has waited as long for a standby. */
  #isOver(now: Instant): boolean {
    if (isLeaseOver(this.#lease, now, this.#options.leaseMs)) return true;
    const waiting = this.#unconfirmed;
    return waiting !== null && now.monotonicNs - waiting.sinceNs >= leaseNs(this.#options.leaseMs);
  }

  #watchLease(): void {
    if (this.#leads && this.#isOver(this.#now)) this.#act('leaseOver');
  }

  // ---- reading

  /** Requests records that are missing: one get at a time. */
  #read(): void {
    const nowNs = this.#now.monotonicNs;
    if (this.#state === 'ended' || this.#state === 'starting' || this.#getting || nowNs < this.#getAtNs) return;
    const from = this.#missingFrom(nowNs);
    if (from === null) return;
    this.#getting = true;
    this.#effects.push({ kind: 'get', from });
  }

  #missingFrom(nowNs: bigint): number | null {
    const { sequence } = this.#given;
    if (!this.#isVerified && this.#first > 0 && sequence >= this.#first && this.#end >= sequence) return sequence;
    if (this.#compareFrom !== null) {
      if (!this.#hashes.has(this.#compareFrom)) return this.#compareFrom;
      this.#compareFrom = null;
    }
    const own = this.#own;
    if (own !== null) {
      const isDue = own.answer === 'stored' ? nowNs - own.answeredNs >= SHOWN_WITHIN_NS : own.answer !== null;
      return !own.isSeen && isDue ? own.sequence : null;
    }
    if (this.#state === 'campaigning') return null;
    return this.#end > sequence ? sequence + 1 : null;
  }

  #askInfo(): void {
    this.#infoAskedNs = this.#now.monotonicNs;
    this.#infoAtNs = this.#now.monotonicNs + (this.#leads ? LEADER_POLL_NS : POLL_NS);
    this.#effects.push({ kind: 'info' });
  }

  get #silenceNs(): bigint {
    return silenceNs(this.#options.leaseMs, this.#options.rank);
  }

  /** Whether a question to the stream now can be followed by a campaign. */
  get #isSilent(): boolean {
    if (this.#state !== 'following' || this.#silentFromNs === null || !this.#mayCampaign) return false;
    return this.#now.monotonicNs - this.#silentFromNs >= this.#silenceNs;
  }

  get #mayCampaign(): boolean {
    return this.#isFit && (this.#options.automatic || this.#isPromoted);
  }

  get #leads(): boolean {
    return LEADER_STATES.has(this.#state);
  }

  // ---- leaving

  #leave(kind: Leaving['kind'], to: string | null): void {
    const isStop = this.#leaving?.kind === 'terminate';
    if (!isStop) this.#leaving = { kind, to, sinceNs: this.#now.monotonicNs };
    this.#act(kind);
  }

  /** What was requested while the outcome was not known, or without a lease. */
  #goOnLeaving(): void {
    const leaving = this.#leaving;
    if (leaving === null || this.#state === 'ended' || this.#state === 'handing-over') return;
    if (this.#state === 'following') {
      if (leaving.kind === 'terminate') this.#finish(0, 'STOPPED', 'stopped');
      else this.#leaving = null;
    } else if (this.#state === 'restoring' || this.#state === 'leading') this.#act(leaving.kind);
  }

  #watchLeaving(): void {
    const leaving = this.#leaving;
    if (leaving === null) return;
    const nowNs = this.#now.monotonicNs;
    if (leaving.kind === 'stepDown') {
      if (this.#state === 'campaigning' && nowNs - leaving.sinceNs >= OUTCOME_NS) this.#leaving = null;
      return;
    }
    const hasStored = this.#state === 'handing-over' && this.#storedNs > leaving.sinceNs;
    const fromNs = hasStored ? this.#storedNs : leaving.sinceNs;
    if (nowNs - fromNs >= OUTCOME_NS) this.#finish(0, 'STOPPED', 'stopped without the stream');
  }

  #handOver(): void {
    const nowNs = this.#now.monotonicNs;
    const to = this.#leaving?.to ?? this.#standbys.best(nowNs, leaseNs(this.#options.leaseMs));
    this.#become('handing-over');
    this.#effects.push({ kind: 'handOver', to });
  }

  // ---- the table

  #act(happening: Happening, message: StreamMessage | null = null, text = '', head: RecordHead | null = null): void {
    if (this.#state === 'ended') return;
    const state: LiveState = this.#state;
    const action: Action = TRANSITIONS[happening][state];
    switch (action) {
      case '=':
      case 'retry':
        return;
      case 'never':
        throw new InvariantError(`cluster: ${happening} cannot happen to a node that is ${state}`);
      case 'join':
        this.#become('joining');
        return;
      case 'follow':
        this.#follow();
        if (this.#handover?.to === this.#options.node) this.#campaign();
        return;
      case 'apply':
      case 'apply, campaigning at the end':
        this.#give(message, head);
        return;
      case 'apply, following':
        this.#refused(message, head);
        return;
      case 'apply, campaigning':
        this.#give(message, head);
        this.#campaign();
        return;
      case 'apply, again':
        this.#refused(message, head);
        this.#campaign();
        return;
      case 'read the gap':
        return;
      case 'snapshot':
        this.#finish(
          78,
          'SNAPSHOT_NEEDED',
          `the stream begins with record ${this.#first}, and the journal of this node ends with record ${this.#given.sequence}: make a new data directory with "ringbook cluster join DIR", and start the node with it`,
        );
        return;
      case 'diverged':
        this.#finish(78, 'DIVERGED', text === '' ? 'the stream has other bytes than the own journal' : text);
        return;
      case 'take the stream’s':
        this.#dropTail(must(message, 'there is a record').sequence);
        return;
      case 'append the last record':
        this.#appendLast();
        return;
      case 'one record below':
        this.#finish(75, 'STREAM_ENDS_ONE_BELOW', `the stream ends one record below ${this.#given.sequence}`);
        return;
      case 'lost records':
        this.#lost(78);
        return;
      case 'lost records, restart':
        this.#lost(70);
        return;
      case 'campaign':
        if (this.#mayCampaign) this.#campaign();
        return;
      case 'silence does not count':
        this.#silentFromNs = null;
        return;
      case 'tail is stored':
        this.#tailIsStored();
        return;
      case 'restore':
        this.#takenOver();
        return;
      case 'renew the lease':
      case 'lead again':
      case 'handed over':
        this.#effects.push({ kind: 'stored', sequence: this.#given.sequence });
        return;
      case 'send again':
        return;
      case 'send again, at most 10 s':
        if (this.#isRefusedForLong()) this.#lost(70);
        return;
      case 'over':
        this.#finish(75, 'OVER', 'another node leads: the stream has other records');
        return;
      case 'stall':
        this.#become('stalled');
        return;
      case 'refuse in production':
        this.#effects.push({ kind: 'alert', alert: 'unfit' });
        if (this.#options.production) this.#finish(78, 'SERVERS_NOT_FIT', 'the servers are not fit for a cluster');
        return;
      case 'alert':
      case 'alert, no campaign':
        this.#effects.push({ kind: 'alert', alert: 'unfit' });
        return;
      case 'give up the campaign':
        if (happening === 'unfit') this.#effects.push({ kind: 'alert', alert: 'unfit' });
        // What was sent may be stored: its outcome decides. Where the stream begins behind it, it is not.
        if (this.#own === null) this.#isCampaignGivenUp = true;
        else if (happening === 'beginsBehind') this.#giveUp(this.#own.sequence);
        return;
      case 'serve':
        if (this.#isOver(this.#now)) this.#become('stalled');
        else this.#lead();
        return;
      case 'refuse':
        if (this.#leaving?.kind === 'stepDown') this.#leaving = null;
        this.#effects.push({ kind: 'refuse', command: happening === 'promote' ? 'promote' : 'stepDown' });
        return;
      case 'ask for a handover':
        this.#isPromoted = true;
        this.#effects.push({ kind: 'askHandover' });
        return;
      case 'hand over':
        this.#handOver();
        return;
      case 'learn the outcome':
      case 'stop after 5 s':
      case 'stop without the stream':
        return;
      case 'stop':
        this.#finish(0, 'STOPPED', 'stopped');
        return;
      case 'fault':
        this.#finish(70, 'FAULT', text);
    }
  }

  #fault(reason: string): void {
    this.#act('fault', null, reason);
  }

  #isRefusedForLong(): boolean {
    const sinceNs = this.#own?.nothingSinceNs ?? null;
    return sinceNs !== null && this.#now.monotonicNs - sinceNs >= NOTHING_READABLE_NS;
  }

  // ---- what actions do

  #become(state: LiveState): void {
    this.#state = state;
    this.#effects.push({ kind: 'state', state, epoch: this.epoch, sequence: this.sequence });
  }

  #follow(): void {
    this.#isCampaignGivenUp = false;
    this.#become('following');
    this.#goOnLeaving();
  }

  #giveUp(sequence: number): void {
    this.#own = null;
    this.#effects.push({ kind: 'refused', sequence });
    this.#follow();
  }

  #lead(): void {
    this.#become('leading');
    this.#goOnLeaving();
  }

  #campaign(): void {
    if (this.#state !== 'following') return;
    this.#isPromoted = false;
    this.#become('campaigning');
    this.#effects.push({ kind: 'campaign' });
  }

  #takenOver(): void {
    const { sequence } = this.#given;
    const head = this.#options.readHead(must(this.#lastBytes, 'the takeover was sent'), sequence);
    const takeover = must(head?.takeover, 'the first record of an epoch is a takeover');
    this.#effects.push({ kind: 'stored', sequence }, { kind: 'leader', epoch: this.epoch, takeover });
    this.#become('restoring');
  }

  /** Gives the next record to clearing. */
  #give(message: StreamMessage | null, head: RecordHead | null): void {
    const { bytes } = must(message, 'there is a record');
    const { sequence, epoch, hash, takeover, handover } = must(head, 'it was read');
    this.#given = { sequence: sequence as Sequence, hash, epoch };
    this.#lastBytes = bytes;
    this.#handover = handover;
    this.#isVerified = true;
    this.#remember(sequence, hash);
    // mutant: silence-from-receipt
    this.#silentFromNs = this.#now.monotonicNs;
    this.#effects.push({ kind: 'record', sequence, bytes });
    if (takeover === null) return;
    this.#isPromoted = false;
    this.#effects.push({ kind: 'leader', epoch, takeover });
  }

  /** The own takeover is not in the stream, and what is there is given. */
  #refused(message: StreamMessage | null, head: RecordHead | null): void {
    const own = this.#own;
    if (own !== null) {
      this.#own = null;
      this.#effects.push({ kind: 'refused', sequence: own.sequence });
    }
    this.#become('following');
    this.#give(message, head);
    this.#goOnLeaving();
  }

  #tailIsStored(): void {
    this.#own = null;
    const tail = must(this.#tail, 'there is a tail');
    this.#tail = null;
    this.#given = { sequence: tail.sequence, hash: tail.hash, epoch: tail.epoch };
    this.#lastBytes = tail.bytes;
    this.#handover = this.#options.readHead(tail.bytes, tail.sequence)?.handover ?? null;
    this.#isVerified = true;
    this.#remember(tail.sequence, tail.hash);
    this.#silentFromNs = this.#now.monotonicNs;
    this.#effects.push({ kind: 'tailStored' });
  }

  /** The stream has another record there, which is given next. */
  #dropTail(sequence: number): void {
    const tail = this.#tail;
    if (tail?.sequence !== sequence) {
      this.#finish(78, 'DIVERGED', `the stream has other bytes at ${sequence}, which is stored`);
      return;
    }
    this.#tail = null;
    this.#own = null;
    this.#effects.push({ kind: 'tailDropped', sequence: tail.sequence }, { kind: 'alert', alert: 'dropped' });
  }

  #appendLast(): void {
    if (this.#tail !== null) {
      this.#carry('tail', this.#tail.sequence, this.#tail.epoch, this.#tail.bytes);
      return;
    }
    if (this.#probe !== 0) return;
    this.#probe = this.#append(this.#given.sequence, must(this.#lastBytes, 'the last record is at hand'));
  }

  #lost(code: 70 | 78): void {
    this.#effects.push({ kind: 'alert', alert: 'lostRecords' });
    this.#finish(code, 'STREAM_LOST_RECORDS', `the stream ends below record ${this.#given.sequence}`);
  }

  #finish(code: EndCode, reason: EndReason, text: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    const { epoch, sequence } = this;
    this.#effects.push({ kind: 'state', state: 'ended', epoch, sequence }, { kind: 'end', code, reason, text });
  }

  #remember(sequence: number, hash: Uint8Array): void {
    this.#hashes.set(sequence, hash);
    this.#hashes.delete(sequence - HASHES_KEPT);
  }
}

function hashOf(record: Uint8Array): Uint8Array {
  return record.subarray(Math.max(record.length - 32, 0));
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
