/**
 * Two or three nodes over a simulated stream, each with a journal and a plain ledger: the protocol is the real one. Kills, pauses,
 * cut links, clocks of other rates, takeovers and handovers come from a seed; after every step the invariants are looked at.
 */
import { strict as assert } from 'node:assert';
import type { BegunKind } from '../../src/clearing/replicated-log.ts';
import type { AppendAnswer, ClusterEffect, ClusterEvent, RecordHead, StreamMessage } from '../../src/cluster/events.ts';
import type { Instant } from '../../src/cluster/lease.ts';
import { Protocol } from '../../src/cluster/protocol.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { decodeStandalone, GENESIS_HASH, RecordEncoder } from '../../src/storage/journal-record.ts';
import { Agenda, Chance, SimulatedStream, type StreamReader } from './simulated-stream.ts';

const MS = 1_000_000;
const LEASE_MS = 1_500;
const TICK_NS: number = 20 * MS;
const DATA_VERSION = '15';
/** Rates differ by less than a tenth from each other. */
const RATES: readonly [number, number] = [0.956, 1.044];

interface Payload {
  readonly takeover?: { readonly node: string; readonly run: string; readonly clean: boolean };
  readonly handover?: { readonly to: string | null };
  readonly ids?: readonly number[];
}

interface Row {
  readonly bytes: Uint8Array;
  isStored: boolean;
}

export interface ClusterOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Whether Confirmed waits for a standby. */
  readonly standby?: boolean;
  /** Whether the stream loses suffixes. */
  readonly losses?: boolean;
}

function headOf(bytes: Uint8Array, sequence: number): RecordHead | null {
  try {
    const { epoch, hash, payload } = decodeStandalone(bytes, sequence);
    const { takeover, handover } = JSON.parse(Buffer.from(payload).toString('utf8')) as Payload;
    return {
      sequence,
      epoch,
      hash,
      previousHash: bytes.subarray(24, 56),
      takeover: takeover === undefined ? null : { ...takeover, oms: null, mds: null },
      handover: handover ?? null,
    };
  } catch {
    return null;
  }
}

function payloadOf(bytes: Uint8Array, sequence: number): Payload {
  return JSON.parse(Buffer.from(decodeStandalone(bytes, sequence).payload).toString('utf8')) as Payload;
}

/** One process after the other in one data directory. */
class SimulatedNode implements StreamReader {
  readonly name: string;
  readonly #cluster: SimulatedCluster;
  readonly #encoder = new RecordEncoder();
  /** On the disk. */
  readonly journal: Row[] = [];
  protocol: Protocol | null = null;
  #incarnation = 0;
  isPaused = false;
  #held: (() => void)[] = [];
  #rate = 1;
  #wallAheadNs = 0;
  /** Applied by this process. */
  applied = 0;
  #appliedHash: Uint8Array = GENESIS_HASH;
  #epoch = 0;
  #handover: { readonly to: string | null } | null = null;
  #ids = new Set<number>();
  #begun: { kind: BegunKind; bytes: Uint8Array; ids: readonly number[] } | null = null;
  #beganNs = 0;
  #waiting: { sequence: number; ids: readonly number[] } | null = null;
  #handOverTo: { readonly to: string | null } | null = null;

  constructor(cluster: SimulatedCluster, name: string) {
    this.#cluster = cluster;
    this.name = name;
  }

  get isAlive(): boolean {
    return this.protocol !== null;
  }

  get now(): Instant {
    const monotonicNs = BigInt(Math.floor(this.#cluster.agenda.nowNs * this.#rate));
    return { monotonicNs, wallNs: monotonicNs + BigInt(Math.floor(this.#wallAheadNs)) };
  }

  get isServing(): boolean {
    return this.protocol?.isServing(this.now) ?? false;
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  start(): void {
    const { chance, stream } = this.#cluster;
    this.#incarnation += 1;
    this.isPaused = false;
    this.#held = [];
    this.#rate = chance.between(...RATES);
    this.#begun = null;
    this.#waiting = null;
    this.#handOverTo = null;
    this.applied = 0;
    this.#appliedHash = GENESIS_HASH;
    this.#epoch = 0;
    this.#handover = null;
    this.#ids = new Set();
    const last = this.journal.at(-1);
    const tail = last === undefined || last.isStored ? null : last;
    const applied = this.journal.length - (tail === null ? 0 : 1);
    for (const row of this.journal.slice(0, applied)) this.#apply(row.bytes);
    this.protocol = new Protocol({
      node: this.name,
      leaseMs: LEASE_MS,
      rank: this.#cluster.nodes.indexOf(this),
      automatic: true,
      production: true,
      standby: this.#cluster.options.standby ?? false,
      dataVersion: DATA_VERSION,
      readHead: headOf,
      ownHash: (sequence) => this.journal[sequence - 1]?.bytes.slice(-32) ?? null,
    });
    stream.connect(this);
    const head = tail === null ? null : headOf(tail.bytes, applied + 1);
    this.#give({
      kind: 'opened',
      journal: {
        applied: { sequence: applied as Sequence, hash: this.#appliedHash },
        epoch: this.#epoch,
        tail:
          tail === null || head === null
            ? null
            : { sequence: (applied + 1) as Sequence, hash: head.hash, epoch: head.epoch, bytes: tail.bytes },
        handover: this.#handover,
        timeNs: 0n as TimestampNs,
      },
      lastBytes: this.journal[applied - 1]?.bytes ?? null,
    });
    this.#tick();
  }

  kill(): void {
    this.protocol = null;
    this.#incarnation += 1;
    this.#cluster.stream.disconnect(this);
  }

  resume(): void {
    this.isPaused = false;
    for (const held of this.#held.splice(0)) held();
  }

  jumpWall(): void {
    this.#wallAheadNs += this.#cluster.chance.between(-300, 300) * MS;
  }

  heard(message: StreamMessage): void {
    this.#later({ kind: 'message', message });
  }

  tell(event: ClusterEvent): void {
    this.#later(event);
  }

  /** A client's work: it becomes a batch, when the node serves and nothing is on its way. */
  work(id: number): void {
    if (!this.isAlive || this.isPaused || !this.isServing) return;
    if (this.#begun !== null || this.#waiting !== null || this.#handOverTo !== null) return;
    this.#begin('batch', { ids: [id] });
  }

  // ---- inside of a process

  /** Runs in this process, behind what it has not handled while it is stopped. */
  #inProcess(run: () => void): () => void {
    const incarnation = this.#incarnation;
    const guarded = (): void => {
      if (this.#incarnation !== incarnation || this.protocol === null) return;
      if (this.isPaused) this.#held.push(guarded);
      else run();
    };
    return guarded;
  }

  #later(event: ClusterEvent): void {
    this.#inProcess(() => this.#give(event))();
  }

  #tick(): void {
    this.#cluster.agenda.after(
      TICK_NS,
      this.#inProcess(() => {
        this.#give({ kind: 'tick' });
        if (this.protocol === null) return;
        this.#alive();
        this.#tick();
      }),
    );
  }

  #give(event: ClusterEvent): void {
    const { protocol } = this;
    if (protocol === null) return;
    const effects = protocol.handle(event, this.now);
    this.#cluster.look();
    for (const effect of effects) {
      this.#do(effect);
      if (this.protocol !== protocol) return;
    }
  }

  #do(effect: ClusterEffect): void {
    const { stream, agenda, chance } = this.#cluster;
    switch (effect.kind) {
      case 'record':
        this.journal.push({ bytes: effect.bytes, isStored: true });
        this.#apply(effect.bytes);
        this.#flushed();
        return;
      case 'tailStored': {
        const row = this.journal.at(-1);
        assert(row !== undefined && !row.isStored);
        row.isStored = true;
        this.#apply(row.bytes);
        return;
      }
      case 'tailDropped': {
        const row = this.journal.pop();
        assert(row !== undefined && !row.isStored, 'a record that is stored is never dropped');
        return;
      }
      case 'campaign': {
        const takeover = { node: this.name, run: `${this.#incarnation}`, clean: this.#handover !== null };
        agenda.after(
          chance.between(0, 5) * MS,
          this.#inProcess(() => this.#begin('takeover', { takeover })),
        );
        return;
      }
      case 'stored':
        this.#stored(effect.sequence);
        return;
      case 'refused':
        assert.equal(this.#begun?.kind, 'takeover');
        this.#begun = null;
        return;
      case 'confirmed': {
        const waiting = this.#waiting;
        if (waiting === null || waiting.sequence > effect.sequence) return;
        this.#waiting = null;
        this.#cluster.confirm(waiting.sequence, waiting.ids);
        return;
      }
      case 'handOver':
        this.#handOverTo = { to: effect.to };
        return;
      case 'append': {
        const message = { sequence: effect.sequence, bytes: effect.bytes, dataVersion: DATA_VERSION };
        const answered = this.#inAnswer((answer: AppendAnswer) => ({
          kind: 'answer',
          attempt: effect.attempt,
          answer,
        }));
        stream.append(this, message, effect.expectedEnd, answered);
        return;
      }
      case 'get':
        stream.get(
          this,
          effect.from,
          this.#inAnswer((messages) => ({ kind: 'got', messages })),
        );
        return;
      case 'info':
        stream.info(
          this,
          this.#inAnswer((info) => (info === null ? { kind: 'infoFailed' } : { kind: 'info', ...info })),
        );
        return;
      case 'askHandover':
        for (const other of this.#cluster.nodes) if (other !== this) other.tell({ kind: 'stepDown', to: this.name });
        return;
      case 'state':
        this.#cluster.changed(this, effect.state);
        if (effect.state === 'restoring') {
          agenda.after(
            chance.between(5, 300) * MS,
            this.#inProcess(() => this.#give({ kind: 'ready' })),
          );
        }
        return;
      case 'end':
        this.kill();
        this.#cluster.ended(this, effect.code, effect.text);
        return;
      case 'leader':
      case 'lease':
      case 'alert':
      case 'refuse':
        return;
    }
  }

  #inAnswer<T>(event: (answer: T) => ClusterEvent): (answer: T) => void {
    const incarnation = this.#incarnation;
    return (answer) => {
      if (this.#incarnation === incarnation) this.#later(event(answer));
    };
  }

  #begin(kind: BegunKind, payload: Payload): void {
    const { protocol } = this;
    if (protocol === null) return;
    const epoch = this.#epoch + (kind === 'takeover' ? 1 : 0);
    const sequence = (this.applied + 1) as Sequence;
    const encoded = this.#encoder.encode(
      {
        sequence,
        timeNs: BigInt(Math.floor(this.#cluster.agenda.nowNs)) as TimestampNs,
        epoch,
        payload: Buffer.from(JSON.stringify(payload)),
      },
      this.#appliedHash,
    );
    const bytes = new Uint8Array(encoded);
    const begun = { kind, bytes, ids: payload.ids ?? [] };
    this.#begun = begun;
    this.#beganNs = this.#cluster.agenda.nowNs;
    this.#give({ kind: 'begin', record: kind, sequence, epoch, bytes });
    if (kind === 'takeover') return;
    // The own flush runs beside the append: killed before its end, the record is not in the journal.
    if (!this.#cluster.isCalm && this.#cluster.chance.is(0.01)) {
      this.kill();
      this.#cluster.restartLater(this);
      return;
    }
    if (!this.isAlive) return;
    this.journal.push({ bytes, isStored: false });
    // Stopped with a record on its way: when it goes on another may lead, and it finds an acknowledgement.
    if (!this.#cluster.isCalm && this.#cluster.chance.is(0.005)) this.#cluster.pause(this);
  }

  #stored(sequence: number): void {
    const begun = this.#begun;
    assert(begun !== null, 'a record that is stored was begun');
    assert.equal(sequence, this.applied + 1, 'a record is stored once');
    this.#begun = null;
    if (begun.kind === 'takeover') this.journal.push({ bytes: begun.bytes, isStored: true });
    else {
      const row = this.journal[sequence - 1];
      if (row !== undefined) row.isStored = true;
    }
    this.#apply(begun.bytes);
    if (begun.kind !== 'batch') return;
    if (this.protocol?.waitsForStandby === true) this.#waiting = { sequence, ids: begun.ids };
    else this.#cluster.confirm(sequence, begun.ids);
  }

  #alive(): void {
    const { protocol } = this;
    if (protocol === null || this.#begun !== null) return;
    const state = protocol.state;
    if (state === 'handing-over' && this.#handOverTo !== null) {
      this.#begin('handover', { handover: this.#handOverTo });
      return;
    }
    if (!['restoring', 'leading', 'stalled', 'handing-over'].includes(state)) {
      if (state === 'following') this.#flushed();
      return;
    }
    if (this.#cluster.agenda.nowNs - this.#beganNs >= (LEASE_MS / 3) * MS) this.#begin('alive', {});
  }

  /** A report to the others, as each of them can be reached. */
  #flushed(): void {
    const { agenda, chance, nodes } = this.#cluster;
    const report = { node: this.name, sequence: this.applied, hash: this.#appliedHash, rank: nodes.indexOf(this) };
    if (report.sequence === 0) return;
    for (const other of nodes) {
      if (other === this || chance.is(0.05)) continue;
      agenda.after(chance.between(0.1, 4) * MS, () => other.tell({ kind: 'report', report }));
    }
  }

  #apply(bytes: Uint8Array): void {
    const sequence = this.applied + 1;
    const { hash, epoch } = decodeStandalone(bytes, sequence);
    assert(Buffer.compare(bytes.subarray(24, 56), this.#appliedHash) === 0, 'a record follows the one before it');
    const { takeover, handover, ids = [] } = payloadOf(bytes, sequence);
    assert.equal(epoch, this.#epoch + (takeover === undefined ? 0 : 1), 'epochs rise by one, at a takeover');
    if (takeover !== undefined)
      assert.equal(takeover.clean, this.#handover !== null, 'clean exactly behind a handover');
    for (const id of ids) {
      assert(!this.#ids.has(id), 'nothing is applied twice');
      this.#ids.add(id);
    }
    this.applied = sequence;
    this.#appliedHash = hash;
    this.#epoch = epoch;
    this.#handover = handover ?? null;
    this.#cluster.appliedAt(this, sequence, hash);
  }
}

export class SimulatedCluster {
  readonly options: ClusterOptions;
  readonly agenda: Agenda = new Agenda();
  readonly chance: Chance;
  readonly stream: SimulatedStream;
  readonly nodes: SimulatedNode[] = [];
  readonly #confirmed = new Map<number, number>();
  /** Hash of each sequence that any node has applied. */
  readonly #applied = new Map<number, string>();
  readonly #endings: Record<string, number> = {};
  #ids = 0;
  #takeovers = 0;
  #lost = 0;
  /** Nothing fails any more. */
  isCalm = false;

  constructor(options: ClusterOptions) {
    this.options = options;
    this.chance = new Chance(options.seed);
    this.stream = new SimulatedStream(this.agenda, this.chance);
    for (let at = 0; at < options.nodes; at += 1) this.nodes.push(new SimulatedNode(this, `n${at + 1}`));
    for (const node of this.nodes) node.start();
    this.#work();
    this.#trouble();
  }

  /** What came of it. */
  get story(): Readonly<Record<string, unknown>> {
    return {
      confirmed: this.#confirmed.size,
      takeovers: this.#takeovers,
      records: this.stream.end,
      lost: this.#lost,
      endings: this.#endings,
    };
  }

  get confirmed(): number {
    return this.#confirmed.size;
  }

  get takeovers(): number {
    return this.#takeovers;
  }

  get endings(): Readonly<Record<string, number>> {
    return this.#endings;
  }

  /** @throws AssertionError when an invariant is broken. */
  run(steps: number): void {
    for (let step = 0; step < steps; step += 1) {
      this.agenda.step();
      this.look();
    }
  }

  /** Until so much time has passed, without a fault that was not asked for. */
  runCalmly(ms: number): void {
    this.isCalm = true;
    const untilNs = this.agenda.nowNs + ms * MS;
    while (this.agenda.nowNs < untilNs) this.run(1);
  }

  /** At most one node answers. */
  look(): void {
    const serving = this.nodes.filter((node) => node.isServing);
    if (serving.length > 1 && this.#lost === 0) {
      assert.fail(`${serving.map(({ name }) => name).join(' and ')} lead at ${this.agenda.nowNs / 1e9} s`);
    }
  }

  /** Nothing fails any more. @throws AssertionError unless a node leads within a minute, and confirms. */
  recover(): void {
    this.isCalm = true;
    this.stream.heal();
    for (const node of this.nodes) if (node.isPaused) node.resume();
    const before = this.#confirmed.size;
    const untilNs = this.agenda.nowNs + 60_000 * MS;
    while (this.agenda.nowNs < untilNs) this.run(1);
    assert(
      this.nodes.some((node) => node.isServing),
      `no node leads: ${this.nodes.map(({ name, protocol }) => `${name} ${protocol?.state}`).join(', ')}`,
    );
    assert(this.#confirmed.size > before, 'work is confirmed again');
    const [most] = [...this.nodes].sort((a, b) => b.applied - a.applied);
    for (const [id, sequence] of this.#confirmed) assert(most?.has(id), `${id}, confirmed at ${sequence}, is lost`);
  }

  confirm(sequence: number, ids: readonly number[]): void {
    for (const id of ids) {
      assert(!this.#confirmed.has(id), 'nothing is confirmed twice');
      this.#confirmed.set(id, sequence);
    }
    if (this.#lost === 0) {
      assert(sequence <= this.stream.end, 'what is confirmed is in the stream');
      const stored = this.stream.records[sequence - 1];
      const { ids: there = [] } = stored === undefined ? {} : payloadOf(stored.bytes, sequence);
      for (const id of ids) assert(there.includes(id), 'the stream has what is confirmed');
    }
  }

  appliedAt(node: SimulatedNode, sequence: number, hash: Uint8Array): void {
    const text = Buffer.from(hash).toString('hex');
    const known = this.#applied.get(sequence);
    if (known === undefined || this.#lost > 0) this.#applied.set(sequence, text);
    else assert.equal(text, known, `${node.name} has another record ${sequence} than another node`);
  }

  changed(node: SimulatedNode, state: string): void {
    if (state === 'restoring') this.#takeovers += 1;
    // A node that learns late of its own takeover restores, though another leads by then: it never gets as far as to lead.
    if (state !== 'leading' || this.#lost > 0) return;
    for (const [id, sequence] of this.#confirmed) {
      assert(node.has(id), `${node.name} leads without ${id}, which was confirmed at ${sequence}`);
    }
  }

  ended(node: SimulatedNode, code: number, text: string): void {
    this.#endings[`${code}`] = (this.#endings[`${code}`] ?? 0) + 1;
    if (code === 78) {
      assert(this.#lost > 0, `${node.name} ended 78: ${text}`);
      return;
    }
    this.restartLater(node);
  }

  restartLater(node: SimulatedNode): void {
    this.agenda.after(this.chance.between(50, 3_000) * MS, () => {
      if (!node.isAlive) node.start();
    });
  }

  pause(node: SimulatedNode): void {
    node.isPaused = true;
    this.agenda.after(this.chance.between(100, 5_000) * MS, () => {
      if (node.isPaused) node.resume();
    });
  }

  #work(): void {
    this.agenda.after(this.chance.between(5, 120) * MS, () => {
      this.#ids += 1;
      const id = this.#ids;
      for (const node of this.nodes) node.work(id);
      this.#work();
    });
  }

  #trouble(): void {
    this.agenda.after(this.chance.between(50, 1_500) * MS, () => {
      if (this.isCalm) return;
      const node = this.nodes[this.chance.below(this.nodes.length)];
      if (node !== undefined) this.#strike(node);
      this.#trouble();
    });
  }

  #strike(node: SimulatedNode): void {
    const { agenda, chance, stream } = this;
    switch (chance.below(this.options.losses === true ? 12 : 11)) {
      case 0:
      case 1:
        if (!node.isAlive) return;
        node.kill();
        this.restartLater(node);
        return;
      case 2:
      case 3:
        if (node.isAlive && !node.isPaused) this.pause(node);
        return;
      case 4:
        stream.cut(node, true);
        agenda.after(chance.between(100, 5_000) * MS, () => stream.cut(node, false));
        return;
      case 5:
        stream.elect();
        return;
      case 6:
        stream.faults = chance.is(0.5) ? chance.between(0, 0.2) : 0;
        return;
      case 7:
        node.tell({ kind: 'stepDown', to: null });
        return;
      case 8:
        node.tell(chance.is(0.5) ? { kind: 'terminate' } : { kind: 'promote' });
        return;
      case 9:
        node.jumpWall();
        return;
      case 10:
        stream.isFull = true;
        agenda.after(chance.between(500, 2_500) * MS, () => {
          stream.isFull = false;
        });
        return;
      case 11:
        stream.lose(1 + chance.below(4));
        this.#lost += 1;
    }
  }
}
