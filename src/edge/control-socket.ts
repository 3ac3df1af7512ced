/**
 * `/control`: signed actions as frames, each answered in a frame of its own (wire.md 10, AMB-92).
 *
 *   frame ─▶ session still alive? ─▶ decode ─▶ admit, charge ─▶ ActionDoor ─▶ … ─▶ CreateOrderResponse, some turns later
 *                 │ no                 │ malformed    │ 503, 429
 *                 ▼                    ▼              ▼
 *       UNAUTHORIZED, close 1000    Rejected in the correlated shape if it names its order, else an error frame
 *
 * A batch is acknowledged once, then each of its orders is answered as if it had come alone (CTL-06). A batch that is
 * refused for its size or a repeated id gets an error frame and nothing else (AMB-122).
 *
 * Answers speak the version of the socket; a version 1 socket may send bare requests too. Binary frames are read like
 * text: the same bytes say the same thing.
 *
 * Frames longer than QUICK_TEXT_BYTES_MAX are read in turns of the event loop that they have to themselves.
 *
 * A connection may ask at its upgrade that its orders go with it: when it ends, for whatever reason, its lifeline is cut,
 * once (action-options.ts).
 *
 * Not here: what an action does (the node), frames and their decoding (src/wire).
 */
import { must } from '../core/assert.ts';
import { FRAMES_WAITING_MAX, FRAMES_WAITING_PER_SOCKET_MAX, QUICK_TEXT_BYTES_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import { Lifeline } from '../orders/lifeline.ts';
import { type ControlFrame, type Correlation, decodeControlFrame, type MalformedFrame } from '../wire/control-frame.ts';
import { type HopTimes, newHopTimes } from '../wire/hop-times.ts';
import { type ControlAddress, controlError, controlResponse, controlSubmitted } from '../wire/operation-replies.ts';
import type { ControlOptions } from './action-options.ts';
import type { AddressGate } from './address-gate.ts';
import { Channel } from './channel.ts';
import {
  type ActionDoor,
  correlationOf,
  correlationsOf,
  costOf,
  type SignedAction,
  type SignedBatch,
} from './oms-actions.ts';
import type { ActionAnswer, OmsBackend } from './oms-backend.ts';
import type { OmsSeat, UserStreams } from './oms-streams.ts';
import type { ReadingTurns } from './reading-turns.ts';
import type { StreamRoute, StreamSocket } from './uws-socket.ts';

export interface ControlSeat extends OmsSeat {
  readonly connection: number;
  readonly options: ControlOptions;
  /** Of a connection that takes its orders with it. */
  readonly lifeline: Lifeline | null;
  /** Gathers the answers of a turn; its one member is this socket. */
  readonly answers: Channel<ControlSeat>;
  /** Frames that wait to be read. */
  readonly waiting: { frames: number; bytes: number };
}

type ControlSocket = StreamSocket<ControlSeat>;

const TOO_MUCH_WAITS: Reject = reject('SERVICE_UNAVAILABLE', 'too many long frames wait to be read');
const SIGNED_BY_ANOTHER = 'the action is signed by another user';

export interface ControlParts {
  readonly backend: OmsBackend;
  readonly streams: UserStreams;
  readonly door: ActionDoor;
  readonly gate: AddressGate | null;
  readonly turns: ReadingTurns;
}

export class ControlDesk {
  readonly #backend: OmsBackend;
  readonly #streams: UserStreams;
  readonly #door: ActionDoor;
  readonly #gate: AddressGate | null;
  readonly #turns: ReadingTurns;
  #waitingBytes = 0;
  /** Open connections that take their orders with them. */
  readonly #alive = new Set<ControlSeat>();

  constructor(parts: ControlParts) {
    this.#backend = parts.backend;
    this.#streams = parts.streams;
    this.#door = parts.door;
    this.#gate = parts.gate;
    this.#turns = parts.turns;
  }

  /** The route, less its admission. */
  route(): Omit<StreamRoute<ControlSeat>, 'admit' | 'pattern'> {
    const common = this.#streams.common();
    return {
      ...common,
      opened: (socket) => {
        common.opened(socket);
        socket.data.answers.join(socket);
        if (socket.data.lifeline !== null) this.#alive.add(socket.data);
      },
      closed: (socket) => {
        socket.data.answers.leave(socket);
        common.closed(socket);
        this.#cut(socket.data);
      },
      message: (socket, bytes) => this.#takeInTurn(socket, bytes),
    };
  }

  seat(seat: OmsSeat, options: ControlOptions): ControlSeat {
    const connection = this.#door.newConnection();
    const lifeline = options.endsWithConnection ? new Lifeline() : null;
    return { ...seat, connection, options, lifeline, answers: new Channel(), waiting: { frames: 0, bytes: 0 } };
  }

  /** The service stops: connections that take their orders with them do so now, while they can still hear of it. */
  cutAll(): void {
    for (const seat of this.#alive) this.#cut(seat);
  }

  /** The node dies: its orders stay as they are. */
  forgetAll(): void {
    this.#alive.clear();
  }

  #cut(seat: ControlSeat): void {
    if (seat.lifeline !== null && this.#alive.delete(seat)) this.#backend.cut(seat.lifeline);
  }

  /** A short frame is read at once; a long one, and all behind it, when their turn comes: the order is kept. */
  #takeInTurn(socket: ControlSocket, bytes: Uint8Array): void {
    const { waiting } = socket.data;
    if (waiting.frames === 0 && bytes.byteLength <= QUICK_TEXT_BYTES_MAX) {
      this.#turns.note(bytes.byteLength);
      this.#received(socket, bytes);
      return;
    }
    const { byteLength } = bytes;
    const isFull = waiting.bytes + byteLength > FRAMES_WAITING_PER_SOCKET_MAX;
    if (isFull || this.#waitingBytes + byteLength > FRAMES_WAITING_MAX) {
      this.#tellError(socket, { version: socket.data.version, requestId: null }, TOO_MUCH_WAITS);
      this.#streams.flush();
      socket.finish(1013, 'rate_limited');
      return;
    }
    const frame = bytes.slice();
    this.#countWaiting(socket, 1, byteLength);
    this.#turns.wait('slow', byteLength, () => {
      this.#countWaiting(socket, -1, -byteLength);
      if (socket.state === 'open') socket.guarded(() => this.#received(socket, frame));
    });
  }

  #countWaiting({ data: { waiting } }: ControlSocket, frames: number, bytes: number): void {
    waiting.frames += frames;
    waiting.bytes += bytes;
    this.#waitingBytes += bytes;
  }

  #received(socket: ControlSocket, bytes: Uint8Array): void {
    if (!this.#streams.hasSession(socket)) {
      this.#streams.dismissEnded(socket);
      return;
    }
    const hops = socket.data.options.isTimed ? newHopTimes(this.#backend.nowNs()) : null;
    const frame = decodeControlFrame(bytes, 0, bytes.length);
    const address = { version: socket.data.version, requestId: frame.requestId };
    if (frame.kind === 'malformed') {
      this.#refuse(socket, address, frame, bytes.byteLength);
      return;
    }
    const isBatch = frame.kind === 'batch-create' || frame.kind === 'batch-replace';
    const cost = isBatch ? { bulk: frame.batch.items.length } : costOf(frame);
    const notPaid = this.#door.admit(socket.data.user, cost);
    if (!isBatch) this.#act(socket, address, frame, notPaid, hops);
    else if (frame.batch.fault === null) this.#actOnAll(socket, address, batchOf(frame), notPaid);
    // Refused as a whole, and paid for (AMB-104).
    else this.#tellError(socket, address, notPaid ?? frame.batch.fault);
    // What is long is read for somebody who pays, or the address does.
    const isLong = bytes.byteLength > QUICK_TEXT_BYTES_MAX;
    if (isLong && notPaid !== null) this.#chargeFault(socket, address, notPaid, bytes.byteLength);
  }

  /** Every order that can be found is answered by its name; what cannot is answered by an error frame. */
  #refuse(socket: ControlSocket, address: ControlAddress, frame: MalformedFrame, bytes: number): void {
    const { reject: refusal, correlations, isAllFound } = frame;
    const answer = { refusal, processedAtNs: this.#backend.nowNs() };
    for (const correlation of correlations) this.#tell(socket, address, correlation, answer);
    if (!isAllFound) this.#tellError(socket, address, refusal);
    this.#chargeFault(socket, address, refusal, bytes);
  }

  /** Frames that no user pays for are paid by the address (AMB-91). One that has used up its budget loses this socket. */
  #chargeFault(socket: ControlSocket, address: ControlAddress, fault: Reject, bytes: number): void {
    this.#gate?.charge(socket.address, fault.code, bytes);
    const refusal = this.#gate?.admit(socket.address) ?? null;
    if (refusal === null) return;
    this.#tellError(socket, address, refusal);
    this.#streams.flush();
    socket.finish(1013, 'rate_limited');
  }

  #act(
    socket: ControlSocket,
    address: ControlAddress,
    action: SignedAction,
    refusal: Reject | null,
    hops: HopTimes | null,
  ): void {
    const { user, connection, lifeline } = socket.data;
    const { isResent } = socket.data.options;
    const correlation = correlationOf(action);
    if (refusal !== null) {
      this.#tell(socket, address, correlation, { refusal, processedAtNs: this.#backend.nowNs() }, hops);
      return;
    }
    this.#door.take(action, { user, connection, isControl: true, isResent, hops, lifeline }, (answer) => {
      this.#tell(socket, address, correlation, answer, hops);
      if (answer.refusal?.code === 'SIGNER_MISMATCH') this.#streams.dismiss(socket, SIGNED_BY_ANOTHER);
    });
  }

  /** The acknowledgement says that every order will be answered, not that any is taken. */
  #actOnAll(socket: ControlSocket, address: ControlAddress, batch: SignedBatch, refusal: Reject | null): void {
    const { user, connection, lifeline } = socket.data;
    const correlations = correlationsOf(batch);
    this.#streams.deliver(socket.data.answers, () => controlSubmitted(address, this.#backend.nowNs()));
    let left = correlations.length;
    let isSignedByAnother = false;
    const tell = (index: number, answer: ActionAnswer): void => {
      this.#tell(socket, address, must(correlations[index], 'an answer to an order of the batch'), answer);
      left -= 1;
      if (answer.refusal?.code === 'SIGNER_MISMATCH') isSignedByAnother = true;
      if (left === 0 && isSignedByAnother) this.#streams.dismiss(socket, SIGNED_BY_ANOTHER);
    };
    if (refusal === null) {
      this.#door.takeBatch(batch, { user, connection, isControl: true, lifeline }, tell);
      return;
    }
    const answer = { refusal, processedAtNs: this.#backend.nowNs() };
    correlations.forEach((_, index) => {
      tell(index, answer);
    });
  }

  #tell(
    socket: ControlSocket,
    address: ControlAddress,
    correlation: Correlation,
    answer: ActionAnswer,
    hops: HopTimes | null = null,
  ): void {
    const { action, orderId, assetText } = correlation;
    const answeredNs = hops === null ? answer.processedAtNs : this.#backend.nowNs();
    const view = { orderId, reject: answer.refusal, processedNs: answer.processedAtNs, hops, answeredNs };
    this.#streams.deliver(socket.data.answers, () => controlResponse(address, action, view, assetText));
  }

  #tellError(socket: ControlSocket, address: ControlAddress, refusal: Reject): void {
    this.#streams.deliver(socket.data.answers, () => controlError(address, this.#backend.nowNs(), refusal));
  }
}

type BatchFrame = Extract<ControlFrame, { readonly kind: 'batch-create' | 'batch-replace' }>;

function batchOf(frame: BatchFrame): SignedBatch {
  return frame.kind === 'batch-create'
    ? { kind: 'batch-create', requests: frame.batch.items }
    : { kind: 'batch-replace', requests: frame.batch.items };
}
