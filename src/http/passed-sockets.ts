/**
 * Sockets of market data at the order listener: the gateway thread has the connection, the market-data thread the stream
 * (wire-additions.md 8.2).
 *
 *   client ─ upgrade ─▶ PassedSockets ── open ─────────▶ SocketsOfPeer ─▶ route: query, admission
 *   client ◀─ 101 / 4xx ─┘           ◀── admitted / refused ─┘
 *   client ◀─ frames ── at most one batch in a pass ◀── FrameBatch ── RemoteTarget ◀── StreamSocket, with its lag rule
 *   client ─ frames ──▶ bounded ────────────────────▶ message ─▶ route
 *                       what clients have received ──▶ written ─▶ queue of the StreamSocket
 *
 * The stream's StreamSocket is on the market-data thread, with a RemoteTarget in place of a connection: what its client has
 * not received counts from there on, so the lag rules hold from one end to the other.
 *
 * Invariants
 *   (1) One batch is on its way; the next one leaves when the gateway has written it. A batch has at most
 *       BATCH_BYTES (or one frame) and BATCH_FRAMES, so the gateway's work for market data in one pass is bounded.
 *   (2) Frames of clients that the market-data thread has not taken are bounded, per socket and in total.
 *   (3) A thread that begins or ends sends `reset`: the other one ends every passed socket. Identifiers and numbers of
 *       batches begin at random, so a message to an earlier life of a thread is for no socket.
 *   (4) Addresses are admitted by the listener of the connection; the market-data thread charges what a subscription costs.
 *
 * Plain requests are in passed-requests.ts, sockets of one listener in uws-socket.ts.
 */
import { randomInt } from 'node:crypto';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type FrameHolder, type FrameRule, HeldFrames } from './frame-allowance.ts';
import type { PeerChannel } from './passed-requests.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall } from './uws-http.ts';
import {
  frameHeaderBytes,
  type LagRule,
  type RemoteSocket,
  type SocketHub,
  type SocketPath,
  type StreamSocket,
} from './uws-socket.ts';

/** Passed sockets, with those that wait for their admission: a quarter of the sockets of a listener. */
const SOCKETS_PASSED_MAX = 4_096;
const BATCH_BYTES = 65_536;
const BATCH_FRAMES = 256;
/** The largest range that the random source has. */
const FIRST_ID_MAX = 2 ** 48 - 1;
/** Empty places at the front of a queue before it is compacted. */
const EMPTY_MAX = 1_024;
const TOO_MANY: Reject = reject('SERVICE_UNAVAILABLE', 'too many sockets of market data are open here');
const GONE: Reject = reject('SERVICE_UNAVAILABLE', 'market data begins anew, try again');

interface FrameBatch {
  readonly kind: 'frames';
  readonly batch: number;
  /** The id of the socket of each frame; frames of one socket that follow each other are written at once. */
  readonly ids: Float64Array;
  /** Begin and end of each frame in `bytes`; several sockets may have the same ones. */
  readonly spans: Uint32Array;
  readonly bytes: Uint8Array;
  /** Sockets to close after these frames. */
  readonly ends: readonly { readonly id: number; readonly code: number; readonly reason: string }[];
}

export type SocketMessage =
  /** The sender has no passed sockets: it has begun, or it ends. */
  | { readonly kind: 'reset' }
  // From the listener of the connection.
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly pattern: string;
      readonly head: RequestHead;
      readonly address: string;
    }
  | { readonly kind: 'message'; readonly id: number; readonly bytes: Uint8Array; readonly isBinary: boolean }
  | { readonly kind: 'closed'; readonly id: number }
  /** @property batch that was written, null for none. @property received by the client of each socket, since it opened. */
  | {
      readonly kind: 'written';
      readonly batch: number | null;
      readonly ids: Float64Array;
      readonly received: Float64Array;
    }
  // From the thread of the stream.
  | { readonly kind: 'admitted'; readonly id: number }
  | { readonly kind: 'refused'; readonly id: number; readonly reason: Reject }
  | FrameBatch
  /** Closed at once, without what is queued. */
  | { readonly kind: 'cut'; readonly id: number }
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number };

export type SocketChannel = PeerChannel<SocketMessage>;

/** A socket of another thread's stream, at the listener of its connection. */
interface PassedConnection extends FrameHolder {
  readonly id: number;
  /** Bytes given to its connection, with the heads of frames. */
  handed: number;
}

interface WaitingUpgrade {
  readonly call: HttpCall;
  /** Upgrades the call if it is open and has a place. @returns whether it did. */
  readonly done: (admitted: Outcome<PassedConnection>) => boolean;
}

interface PassedStream {
  readonly pattern: string;
  /** The pattern that the other thread has for it. */
  readonly there: string;
  readonly lag: LagRule;
  /** As of a SocketRoute. */
  readonly isMixed?: boolean;
  /** The rule of a stream that reads frames of its client. */
  readonly frames?: FrameRule | undefined;
}

/** The listener's side: connections whose streams are on another thread. */
export class PassedSockets {
  readonly #hub: SocketHub;
  readonly #channel: SocketChannel | null;
  readonly #socketsMax: number;
  readonly #waiting = new Map<number, WaitingUpgrade>();
  readonly #open = new Map<number, StreamSocket<PassedConnection>>();
  /** Sockets with clients that have received more since the last report. */
  readonly #drained = new Set<StreamSocket<PassedConnection>>();
  /** Frames of clients that the other thread has not taken. */
  readonly #untaken = new HeldFrames();
  #nextId = randomInt(FIRST_ID_MAX);
  #isReportPlanned = false;

  /** @param channel null: no other thread; upgrades are 503. */
  constructor(hub: SocketHub, channel: SocketChannel | null, socketsMax: number = SOCKETS_PASSED_MAX) {
    this.#hub = hub;
    this.#channel = channel;
    this.#socketsMax = socketsMax;
    channel?.receive((message) => this.#receive(message));
    channel?.post({ kind: 'reset' });
  }

  /** Registers a stream; before `seal()`. */
  add({ pattern, there, lag, frames, isMixed = false }: PassedStream): void {
    this.#hub.addRemote<PassedConnection>(
      {
        pattern,
        // The stream counts messages and lags first.
        lag: { ...lag, messagesMax: Number.POSITIVE_INFINITY },
        isKept: () => false,
        opened: (socket) => this.#open.set(socket.data.id, socket),
        closed: (socket) => this.#closed(socket),
        drained: (socket) => this.#planReport(socket),
        isMixed,
        ...(frames === undefined
          ? {}
          : { frames, message: (socket, bytes, isBinary) => this.#pass(socket, bytes, isBinary) }),
      },
      (call, done) => this.#requestOpen(there, call, done),
    );
  }

  close(): void {
    this.#waiting.clear();
    this.#channel?.post({ kind: 'reset' });
    this.#channel?.close();
  }

  #requestOpen(pattern: string, call: HttpCall, done: WaitingUpgrade['done']): void {
    if (this.#waiting.size + this.#open.size >= this.#socketsMax) this.#forgetEnded();
    // mutant: passed-sockets-bounded
    if (this.#waiting.size + this.#open.size >= this.#socketsMax || this.#channel === null) {
      done(rejected(TOO_MANY));
      return;
    }
    const id = this.#nextId;
    this.#nextId += 1;
    this.#waiting.set(id, { call, done });
    this.#channel.post({ kind: 'open', id, pattern, head: call.head, address: call.address });
  }

  #receive(message: SocketMessage): void {
    switch (message.kind) {
      case 'reset':
        this.#reset();
        break;
      case 'admitted':
        this.#admitted(message.id);
        break;
      case 'refused':
        this.#answered(message.id, rejected(message.reason));
        break;
      case 'frames':
        this.#write(message);
        break;
      case 'cut':
        this.#open.get(message.id)?.cut();
        break;
      case 'taken':
        this.#taken(message);
        break;
      default:
    }
  }

  #admitted(id: number): void {
    const isOpen = this.#answered(id, accepted({ id, handed: 0, heldBytes: 0 }));
    if (!isOpen) this.#channel?.post({ kind: 'closed', id });
  }

  #answered(id: number, admitted: Outcome<PassedConnection>): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting?.done(admitted) ?? false;
  }

  /** The other thread has none of these sockets any more. */
  #reset(): void {
    for (const { done } of [...this.#waiting.values()]) done(rejected(GONE));
    this.#waiting.clear();
    for (const socket of [...this.#open.values()]) socket.finish(1001, 'going_away');
  }

  #write({ batch, ids, spans, bytes, ends }: FrameBatch): void {
    const written: StreamSocket<PassedConnection>[] = [];
    for (let from = 0; from < ids.length; ) {
      let to = from + 1;
      while (to < ids.length && ids[to] === ids[from]) to += 1;
      const first = from;
      const frameAt = (index: number): Uint8Array =>
        bytes.subarray(spans[2 * (first + index)], spans[2 * (first + index) + 1]);
      const socket = this.#open.get(ids[from] ?? 0);
      if (socket !== undefined) {
        for (let index = 0; index < to - from; index += 1) socket.data.handed += sizeOf(frameAt(index));
        socket.sendEach(to - from, frameAt);
        written.push(socket);
      }
      from = to;
    }
    for (const { id, code, reason } of ends) this.#open.get(id)?.finish(code, reason);
    this.#report(batch, written);
  }

  #pass(socket: StreamSocket<PassedConnection>, bytes: Uint8Array, isBinary: boolean): void {
    const connection = socket.data;
    // mutant: untaken-frames-bounded
    if (!this.#untaken.hold(connection, bytes.byteLength)) {
      socket.finish(1008, 'too_many_frames');
      return;
    }
    this.#channel?.post({ kind: 'message', id: connection.id, bytes: new Uint8Array(bytes), isBinary });
  }

  #taken({ id, bytes }: { readonly id: number; readonly bytes: number }): void {
    const socket = this.#open.get(id);
    // What a closed socket had is given back when it closed.
    if (socket !== undefined) this.#untaken.release(socket.data, bytes);
  }

  #closed(socket: StreamSocket<PassedConnection>): void {
    const { id } = socket.data;
    this.#open.delete(id);
    this.#drained.delete(socket);
    this.#untaken.releaseAll(socket.data);
    this.#channel?.post({ kind: 'closed', id });
  }

  /** One report for all sockets of a pass. */
  #planReport(socket: StreamSocket<PassedConnection>): void {
    this.#drained.add(socket);
    if (this.#isReportPlanned) return;
    this.#isReportPlanned = true;
    setImmediate(() => {
      this.#isReportPlanned = false;
      const drained = [...this.#drained];
      this.#drained.clear();
      if (drained.length > 0) this.#report(null, drained);
    });
  }

  #report(batch: number | null, sockets: readonly StreamSocket<PassedConnection>[]): void {
    const ids = Float64Array.from(sockets, ({ data }) => data.id);
    const received = Float64Array.from(sockets, ({ data, backlogBytes }) => Math.max(0, data.handed - backlogBytes));
    this.#channel?.post({ kind: 'written', batch, ids, received });
  }

  /** Forgets upgrades that were answered by their deadline. */
  #forgetEnded(): void {
    const nowMs = performance.now();
    for (const [id, { call }] of this.#waiting) {
      if (!call.open && nowMs >= call.deadlineMs) this.#waiting.delete(id);
    }
  }
}

/** A frame for a socket, or its end. */
interface Outgoing {
  readonly target: RemoteTarget;
  readonly frame: Uint8Array | null;
  readonly code: number;
  readonly reason: string;
}

/** The stream's side: sockets with connections at another listener. */
export class SocketsOfPeer {
  readonly #hub: SocketHub;
  readonly #channel: SocketChannel | null;
  readonly #targets = new Map<number, RemoteTarget>();
  /** Bounded by the lag rules of the sockets. */
  readonly #queue: Outgoing[] = [];
  #first = 0;
  /** Copies of frames that several sockets get. */
  readonly #copies = new WeakMap<Uint8Array, Uint8Array>();
  #nextBatch = randomInt(FIRST_ID_MAX);
  #onItsWay: number | null = null;
  #isPostPlanned = false;

  constructor(hub: SocketHub, channel: SocketChannel | null) {
    this.#hub = hub;
    this.#channel = channel;
    channel?.receive((message) => this.#receive(message));
    channel?.post({ kind: 'reset' });
  }

  /** After the sockets were closed: what is queued leaves at once, close codes included. */
  close(): void {
    while (this.#first < this.#queue.length) this.#postBatch();
    this.#channel?.post({ kind: 'reset' });
    this.#channel?.close();
  }

  /** @internal A frame of a target; its bytes are copied. */
  send(target: RemoteTarget, frame: Uint8Array): void {
    let copy = this.#copies.get(frame);
    if (copy === undefined || Buffer.compare(copy, frame) !== 0) {
      copy = new Uint8Array(frame);
      this.#copies.set(frame, copy);
    }
    this.#add({ target, frame: copy, code: 0, reason: '' });
  }

  /** @internal Closes a target after its frames. */
  end(target: RemoteTarget, code: number, reason: string): void {
    this.#add({ target, frame: null, code, reason });
    this.#targets.delete(target.id);
  }

  /** @internal Closes a target at once. */
  cut(target: RemoteTarget): void {
    this.#channel?.post({ kind: 'cut', id: target.id });
    this.#targets.delete(target.id);
  }

  #receive(message: SocketMessage): void {
    switch (message.kind) {
      case 'reset':
        this.#reset();
        break;
      case 'open':
        this.#open(message);
        break;
      case 'message':
        this.#targets.get(message.id)?.received(message.bytes, message.isBinary);
        this.#channel?.post({ kind: 'taken', id: message.id, bytes: message.bytes.byteLength });
        break;
      case 'closed':
        this.#closed(message.id);
        break;
      case 'written':
        this.#written(message);
        break;
      default:
    }
  }

  #open({ id, pattern, head, address }: Extract<SocketMessage, { kind: 'open' }>): void {
    const target = new RemoteTarget(id, this);
    const socket = this.#hub.openRemote(pattern, { head, address }, target);
    if (!socket.ok) {
      this.#channel?.post({ kind: 'refused', id, reason: socket.reject });
      return;
    }
    this.#targets.set(id, target);
    this.#channel?.post({ kind: 'admitted', id });
    target.attach(socket.value);
  }

  #closed(id: number): void {
    const target = this.#targets.get(id);
    this.#targets.delete(id);
    target?.closed();
  }

  /** The listener has none of these sockets any more. */
  #reset(): void {
    this.#queue.length = 0;
    this.#first = 0;
    this.#onItsWay = null;
    for (const id of [...this.#targets.keys()]) this.#closed(id);
  }

  #written({ batch, ids, received }: Extract<SocketMessage, { kind: 'written' }>): void {
    if (batch !== null && batch === this.#onItsWay) this.#onItsWay = null;
    ids.forEach((id, index) => {
      this.#targets.get(id)?.drained(received[index] ?? 0);
    });
    this.#planPost();
  }

  #add(outgoing: Outgoing): void {
    this.#queue.push(outgoing);
    this.#planPost();
  }

  /** After the publication that goes on: its frames are one batch. */
  #planPost(): void {
    if (this.#isPostPlanned) return;
    this.#isPostPlanned = true;
    queueMicrotask(() => {
      this.#isPostPlanned = false;
      // mutant: one-batch-on-its-way
      if (this.#onItsWay === null && this.#first < this.#queue.length) this.#postBatch();
    });
  }

  #postBatch(): void {
    const ids: number[] = [];
    const spans: number[] = [];
    const ends: { id: number; code: number; reason: string }[] = [];
    const begins = new Map<Uint8Array, number>();
    let length = 0;
    let handed = 0;
    while (this.#first < this.#queue.length && handed < BATCH_BYTES && ids.length + ends.length < BATCH_FRAMES) {
      const { target, frame, code, reason } = this.#queue[this.#first] as Outgoing;
      if (frame !== null && handed > 0 && handed + frame.byteLength > BATCH_BYTES) break;
      this.#first += 1;
      if (target.isDropped) continue;
      if (frame === null) {
        ends.push({ id: target.id, code, reason });
        continue;
      }
      let begin = begins.get(frame);
      if (begin === undefined) {
        begin = length;
        begins.set(frame, begin);
        length += frame.byteLength;
      }
      ids.push(target.id);
      spans.push(begin, begin + frame.byteLength);
      handed += frame.byteLength;
    }
    this.#compact();
    if (ids.length + ends.length === 0) return;
    const bytes = new Uint8Array(length);
    for (const [frame, begin] of begins) bytes.set(frame, begin);
    const batch = this.#nextBatch;
    this.#nextBatch += 1;
    this.#onItsWay = batch;
    const frames = { ids: Float64Array.from(ids), spans: Uint32Array.from(spans), bytes };
    this.#channel?.post({ kind: 'frames', batch, ...frames, ends });
  }

  #compact(): void {
    if (this.#first < this.#queue.length && this.#first < EMPTY_MAX) return;
    this.#queue.splice(0, this.#first);
    this.#first = 0;
  }
}

/** What a StreamSocket has in place of a connection. Bytes are in its queue until the client has received them. */
class RemoteTarget implements SocketPath {
  readonly id: number;
  readonly #sockets: SocketsOfPeer;
  #socket: RemoteSocket | null = null;
  #handed = 0;
  #received = 0;
  /** Its client has left, or it was cut: what is queued is dropped. */
  isDropped = false;

  constructor(id: number, sockets: SocketsOfPeer) {
    this.id = id;
    this.#sockets = sockets;
  }

  attach(socket: RemoteSocket): void {
    this.#socket = socket;
    socket.open();
  }

  /** @param bytes since it opened. */
  drained(bytes: number): void {
    this.#received = Math.max(this.#received, bytes);
    this.#socket?.drained();
  }

  received(bytes: Uint8Array, isBinary: boolean): void {
    this.#socket?.received(bytes, isBinary);
  }

  closed(): void {
    this.isDropped = true;
    this.#leave();
  }

  send(frame: Uint8Array): number {
    this.#handed += sizeOf(frame);
    this.#sockets.send(this, frame);
    // It is queued until the other thread has reported that it was received.
    return 0;
  }

  getBufferedAmount(): number {
    return this.#handed - this.#received;
  }

  cork(work: () => void): void {
    work();
  }

  end(code: number, reason: string): void {
    if (this.#socket === null) return;
    this.#sockets.end(this, code, reason);
    this.#leave();
  }

  close(): void {
    if (this.#socket === null) return;
    this.isDropped = true;
    this.#sockets.cut(this);
    this.#leave();
  }

  /** The listener of the connection pings it. */
  ping(): void {}

  #leave(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.closed();
  }
}

function sizeOf(frame: Uint8Array): number {
  return frame.byteLength + frameHeaderBytes(frame.byteLength);
}
