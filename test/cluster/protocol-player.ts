/** One protocol, driven by hand: records of a plain journal, a clock that is set, and what it asked for. */
import assert from 'node:assert/strict';
import type { BegunKind } from '../../src/clearing/replicated-log.ts';
import type { AppendAnswer, ClusterEffect, ClusterEvent, RecordHead, StreamMessage } from '../../src/cluster/events.ts';
import { Protocol, type ProtocolOptions } from '../../src/cluster/protocol.ts';
import type { LiveState } from '../../src/cluster/transitions.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { decodeStandalone, GENESIS_HASH, RecordEncoder } from '../../src/storage/journal-record.ts';

const MS = 1_000_000n;
export const LEASE_MS = 1_500;

interface Inputs {
  readonly takeover?: { readonly node: string; readonly run: string };
  readonly handover?: { readonly to: string | null };
  readonly note?: string;
}

export function readPlainHead(bytes: Uint8Array, sequence: number): RecordHead | null {
  try {
    const { epoch, hash, payload } = decodeStandalone(bytes, sequence);
    const { takeover, handover } = JSON.parse(Buffer.from(payload).toString('utf8')) as Inputs;
    const names = takeover === undefined ? null : { ...takeover, oms: null, mds: null };
    return { sequence, epoch, hash, previousHash: bytes.subarray(24, 56), takeover: names, handover: handover ?? null };
  } catch {
    return null;
  }
}

/** Records that follow each other. */
export class PlainJournal {
  readonly records: Uint8Array[] = [];
  readonly #encoder = new RecordEncoder();
  epoch = 0;

  /** The next record, kept. */
  add(inputs: Inputs = {}): Uint8Array {
    const bytes = this.make(inputs);
    this.records.push(bytes);
    if (inputs.takeover !== undefined) this.epoch += 1;
    return bytes;
  }

  /** A record that could be the next. */
  make(inputs: Inputs = {}, epoch: number = this.epoch + (inputs.takeover === undefined ? 0 : 1)): Uint8Array {
    const sequence = (this.records.length + 1) as Sequence;
    const payload = Buffer.from(JSON.stringify(inputs));
    const timeNs = 1n as TimestampNs;
    return new Uint8Array(this.#encoder.encode({ sequence, timeNs, epoch, payload }, this.hash));
  }

  get hash(): Uint8Array {
    return this.records.at(-1)?.slice(-32) ?? GENESIS_HASH;
  }

  message(sequence: number): StreamMessage {
    const bytes = this.records[sequence - 1];
    assert.ok(bytes !== undefined);
    return { sequence, bytes, dataVersion: '16' };
  }
}

export class ProtocolPlayer {
  readonly protocol: Protocol;
  /** The records of the stream. */
  readonly journal: PlainJournal = new PlainJournal();
  nowNs = 0n;
  wallAheadNs = 0n;
  effects: ClusterEffect[] = [];

  constructor(options: Partial<ProtocolOptions> = {}) {
    this.protocol = new Protocol({
      node: 'a',
      leaseMs: LEASE_MS,
      rank: 0,
      automatic: true,
      production: true,
      standby: false,
      dataVersion: '16',
      readHead: readPlainHead,
      ...options,
    });
  }

  /** A node in this state, whose stream has two records of leader `b` behind the takeover, and perhaps own ones. */
  static in(state: LiveState, options: Partial<ProtocolOptions> = {}): ProtocolPlayer {
    const player = new ProtocolPlayer(options);
    player.journal.add({ takeover: { node: 'b', run: 'b1' } });
    player.journal.add();
    player.journal.add();
    if (state === 'starting') return player;
    player.open();
    if (state === 'joining') return player.forget();
    player.info();
    assert.equal(player.state, 'following');
    if (state === 'following') return player.forget();
    player.passSilence();
    assert.equal(player.state, 'campaigning');
    if (state === 'campaigning') return player.forget();
    player.begin('takeover', { takeover: { node: 'a', run: 'a1' } });
    player.store();
    assert.equal(player.state, 'restoring');
    if (state === 'restoring') return player.forget();
    player.give({ kind: 'ready' });
    assert.equal(player.state, 'leading');
    if (state === 'leading') return player.forget();
    if (state === 'stalled') player.pass(LEASE_MS).give({ kind: 'tick' });
    else player.give({ kind: 'stepDown', to: 'b' });
    assert.equal(player.state, state);
    return player.forget();
  }

  get state(): string {
    return this.protocol.state;
  }

  /** @param known how many records of the stream the own journal has. */
  open(known: number = this.journal.records.length, tail: Uint8Array | null = null, handoverTo?: string): this {
    const last = this.journal.records[known - 1] ?? null;
    const head = last === null ? null : readPlainHead(last, known);
    const tailHead = tail === null ? null : readPlainHead(tail, known + 1);
    return this.give({
      kind: 'opened',
      lastBytes: last,
      journal: {
        applied: { sequence: known as Sequence, hash: head?.hash ?? GENESIS_HASH },
        epoch: head?.epoch ?? 0,
        tail:
          tail === null || tailHead === null
            ? null
            : { sequence: (known + 1) as Sequence, hash: tailHead.hash, epoch: tailHead.epoch, bytes: tail },
        handover: handoverTo === undefined ? (head?.handover ?? null) : { to: handoverTo },
        timeNs: 1n as TimestampNs,
      },
    });
  }

  give(event: ClusterEvent): this {
    const now = { monotonicNs: this.nowNs, wallNs: this.nowNs + this.wallAheadNs };
    this.effects.push(...this.protocol.handle(event, now));
    return this;
  }

  pass(ms: number): this {
    this.nowNs += BigInt(ms) * MS;
    return this;
  }

  tick(): this {
    return this.give({ kind: 'tick' });
  }

  forget(): this {
    this.effects = [];
    return this;
  }

  /** The stream's leader reports its end; a record that is to be compared is read. */
  info(end: number = this.journal.records.length, first = 1): this {
    this.give({ kind: 'info', first, end });
    return this.serveGets(end).give({ kind: 'info', first, end });
  }

  /** Answers gets from the journal, as long as there are any. */
  serveGets(end: number = this.journal.records.length): this {
    for (let served = 0; served < 10; served += 1) {
      const get = this.effects.findLast((effect) => effect.kind === 'get');
      if (get === undefined) return this;
      this.effects = this.effects.filter((effect) => effect.kind !== 'get');
      const messages: StreamMessage[] = [];
      for (let at = get.from; at <= end; at += 1) messages.push(this.journal.message(at));
      this.give({ kind: 'got', messages });
    }
    return this;
  }

  hear(sequence: number): this {
    return this.give({ kind: 'message', message: this.journal.message(sequence) });
  }

  hearBytes(sequence: number, bytes: Uint8Array, dataVersion = '16'): this {
    return this.give({ kind: 'message', message: { sequence, bytes, dataVersion } });
  }

  /** @param room of the stream; none: it has no limit. */
  passSilence(ms: number = LEASE_MS, room?: number): this {
    const end = this.journal.records.length;
    return this.pass(ms)
      .tick()
      .give({ kind: 'info', first: 1, end, ...(room === undefined ? {} : { room }) });
  }

  /** Clearing begins a record, which could be the next of the stream. */
  begin(record: BegunKind, inputs: Inputs = {}): Uint8Array {
    const bytes = this.journal.make(inputs);
    const epoch = this.journal.epoch + (record === 'takeover' ? 1 : 0);
    this.give({ kind: 'begin', record, sequence: this.journal.records.length + 1, epoch, bytes });
    return bytes;
  }

  get appended(): Extract<ClusterEffect, { kind: 'append' }> {
    const append = this.effects.findLast((effect) => effect.kind === 'append');
    assert.ok(append !== undefined, 'something was appended');
    return append;
  }

  answer(answer: AppendAnswer): this {
    return this.give({ kind: 'answer', attempt: this.appended.attempt, answer });
  }

  /** The stream takes what was appended, acknowledges and shows it. */
  store(): this {
    const { bytes, sequence } = this.appended;
    this.journal.records.push(bytes);
    this.journal.epoch = decodeStandalone(bytes, sequence).epoch;
    return this.answer({ kind: 'stored', sequence }).hearBytes(sequence, bytes);
  }

  kinds(): readonly string[] {
    return this.effects.map(({ kind }) => kind);
  }

  count(kind: ClusterEffect['kind']): number {
    return this.effects.filter((effect) => effect.kind === kind).length;
  }

  get ending(): string {
    const end = this.effects.find((effect) => effect.kind === 'end');
    return end === undefined ? 'none' : `${end.code} ${end.reason}`;
  }
}
