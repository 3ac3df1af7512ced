/**
 * `/control`: signed actions as frames, each answered in its own frame (wire.md 10, AMB-92).
 *
 *   frame ─▶ session valid? ─▶ decode ─▶ accepting? charge ─▶ OrderEntry ─▶ … ─▶ CreateOrderResponse, in a later pass
 *                 │ no                 │ malformed    │ 503, 429
 *                 ▼                    ▼              ▼
 *       UNAUTHORIZED, close 1000    Rejected in the correlated shape if its order is identified, else an error frame
 *
 * A batch is acknowledged once, then each of its orders is answered like a single one (CTL-06). A batch that is
 * rejected for its size or a repeated id gets only an error frame (AMB-122).
 *
 * A short request gets one error frame for everything before the rules of order, account and market, a batch as a whole
 * (wire-additions.md 2.3).
 *
 * Replies have the version of the socket; a version 1 socket may send bare requests too. Frames are JSON, or under the
 * subprotocol `ringbook.fbs.v1` FlatBuffers (binary-frame.ts), whether they come as text or as binary.
 *
 * Frames are parsed within the limit of one pass of the event loop, those longer than QUICK_TEXT_BYTES_MAX in a pass of
 * their own; frames beyond the limit wait, in the order of their socket, and sockets are served in rotation. A socket
 * with too many waiting frames is closed, and the one with the most when the total is too large.
 *
 * While a leader of a cluster is stalled, what waits for its record is answered after a time (late-answers.ts).
 *
 * With the option cancel_on_disconnect the orders of a connection are cancelled when it ends, for any reason, exactly
 * once (action-options.ts).
 *
 * Order entry is in the gateway, decoding of frames in src/codec.
 */

import { type ActionPreview, isUrgent, previewFrame } from '../codec/action-preview.ts';
import { decodeBinaryFrame, previewBinaryFrame } from '../codec/binary-frame.ts';
import {
  type ControlBody,
  type ControlFrame,
  type Correlation,
  decodeControlFrame,
  type FrameHead,
  type MalformedBody,
} from '../codec/control-frame.ts';
import { errorFrame, isBeforeRules, responseFrame, submittedFrame, unsignedFrame } from '../codec/control-replies.ts';
import type { ActionHops } from '../codec/hop-times.ts';
import { shortFault } from '../codec/operation-replies.ts';
import { placeOfFault } from '../codec/order-batches.ts';
import type { UnsignedRequest } from '../codec/unsigned-cancels.ts';
import { must } from '../core/assert.ts';
import {
  FRAME_COUNT_WAITING_IN_CROWD_MAX,
  FRAME_COUNT_WAITING_MAX,
  FRAME_COUNT_WAITING_PER_SOCKET_MAX,
  FRAMES_CROWD,
  FRAMES_WAITING_MAX,
  FRAMES_WAITING_PER_SOCKET_MAX,
  PREVIEWED_BYTES_MAX,
  PREVIEWS_PER_TURN_MAX,
  QUICK_TEXT_BYTES_MAX,
} from '../core/limits.ts';
import { type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, type RejectName, reject } from '../core/reject.ts';
import type { SignedBatch, SignedEntry } from '../gateway/actions/order-entry.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import { DisconnectGroup } from '../gateway/orders/entry/disconnect-group.ts';
import { OvertakenCreates } from '../gateway/orders/entry/overtaken-creates.ts';
import type { ActionAnswer, PreparedCreate, PreparedQuoteSet } from '../gateway/orders/entry/pending-requests.ts';
import type { ControlActionOptions } from './action-options.ts';
import type { AddressGate } from './address-gate.ts';
import { StreamChannel } from './channel.ts';
import type { LateAnswers } from './late-answers.ts';
import { assetOfItem, assetOfRequest, correlationOf, correlationsOf, costOf } from './oms-actions.ts';
import type { OmsConnection, UserStreams } from './oms-streams.ts';
import { type OrderAdmission, WAITED_TOO_LONG } from './order-admission.ts';
import { laneOf, type ReadingTurns, WorkSource } from './reading-turns.ts';
import { assetOfUnsigned, carryOut, costOfUnsigned, isUnsignedRequest, type UnsignedDone } from './unsigned-actions.ts';
import type { StreamRoute, StreamSocket } from './uws-socket.ts';
import { WaitingSets } from './waiting-sets.ts';

export interface ControlPeer extends OmsConnection {
  readonly connection: number;
  readonly options: ControlActionOptions;
  /** The connection's cancel-on-disconnect group, or null. */
  readonly group: DisconnectGroup | null;
  /** Collects the replies of one pass of the event loop; its only member is this socket. */
  readonly answers: StreamChannel<ControlPeer>;
  /** Frames that wait to be parsed. */
  readonly waiting: WaitingFrames;
}

interface WaitingFrames {
  frames: number;
  bytes: number;
  /** In the order of the connection. */
  readonly source: WorkSource;
  /** Cancels, which overtake the others. */
  readonly cancels: WorkSource;
  /** Creates and quote sets that a cancel of all orders may overtake. */
  readonly overtaken: OvertakenCreates;
  /** How many of the waiting frames name an order that they create or replace, by its id. */
  readonly orders: Map<string, number>;
  /** Quote sets among them, of which the newest of a name is read first. */
  readonly sets: WaitingSets;
}

type ControlSocket = StreamSocket<ControlPeer>;
type BatchBody = Extract<ControlBody, { readonly kind: 'batch-create' | 'batch-replace' }>;

/** Quote sets that are read in a pass before their turn, for whether they only take away: a millisecond. */
const SETS_PER_TURN_MAX = 64;
const NO_ORDERS: readonly Correlation[] = [];
const TOO_MANY_SWEEPS: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'too many cancels of all orders wait for what they have overtaken',
);
const TOO_MUCH_WAITS: Reject = reject('SERVICE_UNAVAILABLE', 'too many frames wait to be read');
const SESSION_ENDED: Reject = reject('UNAUTHORIZED', 'the session is over');
const SIGNED_BY_ANOTHER = 'the action is signed by another user';

/** How a frame came to be read. */
interface Waited {
  /** For OvertakenCreates; 0: it has not waited. */
  readonly number: number;
  readonly sinceMs: number;
  readonly settled: (() => void) | null;
}

interface ControlParts {
  readonly services: GatewayServices;
  readonly streams: UserStreams;
  readonly gate: AddressGate | null;
  readonly turns: ReadingTurns;
  readonly orders: OrderAdmission;
  /** Of a node of a cluster: what is answered before its record is stored; null on one machine. */
  readonly late: LateAnswers | null;
  /** A request, or an order of a batch, is refused with this code. */
  readonly refused: (code: RejectName) => void;
}

export class ControlConnections {
  readonly #services: GatewayServices;
  readonly #streams: UserStreams;
  readonly #gate: AddressGate | null;
  readonly #turns: ReadingTurns;
  readonly #orders: OrderAdmission;
  readonly #late: LateAnswers | null;
  readonly #refused: (code: RejectName) => void;
  /** Sockets with waiting frames, and the totals of all. */
  readonly #waiting = new Set<ControlSocket>();
  #waitingBytes = 0;
  #waitingFrames = 0;
  /** The current pass of the event loop, and how many frames began to wait in it. */
  #turn = -1;
  #newInTurn = 0;
  /** The pass in which frames were previewed last, and how many. */
  #previewTurn = -1;
  #previewedInTurn = 0;
  /** Quote sets that were read in it for whether they only take away. */
  #setsInTurn = 0;
  /** Open connections with a cancel-on-disconnect group. */
  readonly #groupConnections = new Set<ControlPeer>();

  constructor(parts: ControlParts) {
    this.#services = parts.services;
    this.#streams = parts.streams;
    this.#gate = parts.gate;
    this.#turns = parts.turns;
    this.#orders = parts.orders;
    this.#late = parts.late;
    this.#refused = parts.refused;
  }

  /** The route without its admission. */
  route(): Omit<StreamRoute<ControlPeer>, 'admit' | 'pattern'> {
    const common = this.#streams.common();
    return {
      ...common,
      opened: (socket) => {
        common.opened(socket);
        socket.data.answers.join(socket);
        if (socket.data.group !== null) this.#groupConnections.add(socket.data);
      },
      closed: (socket) => {
        socket.data.answers.leave(socket);
        common.closed(socket);
        this.#dropWaiting(socket);
        this.#endGroup(socket.data);
      },
      message: (socket, bytes) => this.#takeInTurn(socket, bytes),
    };
  }

  begin(base: OmsConnection, options: ControlActionOptions): ControlPeer {
    const connection = this.#services.entry.newConnection();
    const group = options.endsWithConnection ? new DisconnectGroup() : null;
    const waiting = {
      ...{ frames: 0, bytes: 0, source: new WorkSource(), cancels: new WorkSource() },
      overtaken: new OvertakenCreates(),
      orders: new Map<string, number>(),
      sets: new WaitingSets(),
    };
    return { ...base, connection, options, group, answers: new StreamChannel(), waiting };
  }

  /**
   * The service stops: cancels the orders of cancel-on-disconnect connections while their sockets can still receive
   * events.
   */
  endGroups(): void {
    for (const connection of this.#groupConnections) this.#endGroup(connection);
  }

  /** The node fails: its orders stay as they are. */
  keepOrders(): void {
    this.#groupConnections.clear();
  }

  #endGroup(connection: ControlPeer): void {
    if (connection.group !== null && this.#groupConnections.delete(connection))
      this.#services.automaticCancels.connectionEnded(connection.group);
  }

  /**
   * Parses a short frame at once within the limit of this pass, while orders are taken; any other waits, and all after it,
   * so the order is kept. A cancel alone overtakes what waits, unless that names the same order.
   */
  #takeInTurn(socket: ControlSocket, bytes: Uint8Array): void {
    const { waiting } = socket.data;
    const { byteLength } = bytes;
    const turns = this.#turns;
    const isShort = laneOf(byteLength) === 'quick';
    if (waiting.frames === 0 && isShort && turns.hasRoom(byteLength, 'orders') && !turns.isOverdue(turns.since())) {
      this.#readNow(socket, bytes);
      return;
    }
    const preview = this.#mayPreview(byteLength) ? previewOf(socket.data, bytes) : undefined;
    if (preview != null && (isUrgent(preview) || this.#onlyTakes(socket.data, bytes, preview)))
      this.#takeCancel(socket, bytes, preview);
    else this.#wait(socket, bytes, preview, waiting.source);
  }

  /** A quote set that adds nothing: read for it, some in a pass. */
  #onlyTakes({ user, isBinary, version }: ControlPeer, bytes: Uint8Array, { kind }: ActionPreview): boolean {
    if (kind !== 'quotes' || this.#setsInTurn >= SETS_PER_TURN_MAX) return false;
    this.#setsInTurn += 1;
    const frame = isBinary
      ? decodeBinaryFrame(bytes, 0, bytes.length)
      : decodeControlFrame(bytes, 0, bytes.length, version === 1);
    return frame.kind === 'quotes' && this.#services.entry.onlyTakes(frame.request, user);
  }

  /** Previews are outside of the limit of a pass, so they have one of their own. */
  #mayPreview(bytes: number): boolean {
    const { turnNumber } = this.#turns;
    if (turnNumber !== this.#previewTurn) {
      this.#previewedInTurn = 0;
      this.#setsInTurn = 0;
    }
    this.#previewTurn = turnNumber;
    if (bytes > PREVIEWED_BYTES_MAX || this.#previewedInTurn >= PREVIEWS_PER_TURN_MAX) return false;
    this.#previewedInTurn += 1;
    return true;
  }

  #readNow(socket: ControlSocket, bytes: Uint8Array): void {
    this.#turns.note(bytes.byteLength);
    this.#turns.timed(() => this.#received(socket, bytes, this.#turns.since().realMs));
  }

  /** A quote set that takes away goes before older ones of its name: they are skipped for it (QTE-09). */
  #takeCancel(socket: ControlSocket, bytes: Uint8Array, preview: ActionPreview): void {
    const { source, cancels, orders } = socket.data.waiting;
    // mutant: cancel-behind-its-create
    const isBehind = preview.kind !== 'quotes' && preview.orders.some(({ orderId }) => orders.has(orderId));
    const isFirst = !isBehind && cancels.head() === undefined;
    if (isFirst && this.#turns.hasRoom(bytes.byteLength, laneOf(bytes.byteLength, 'cancel')))
      this.#readNow(socket, bytes);
    else this.#wait(socket, bytes, preview, isBehind ? source : cancels);
  }

  /**
   * The frame is read in one of the next passes; an order that waits too long is refused instead.
   *
   * @param preview undefined for a frame that was not looked at: it counts as an order until it is. Null: no action.
   */
  #wait(socket: ControlSocket, bytes: Uint8Array, preview: ActionPreview | null | undefined, source: WorkSource): void {
    const { byteLength } = bytes;
    if (!this.#makeRoom(socket, byteLength)) return;
    const { waiting } = socket.data;
    const frame = bytes.slice();
    const isCancel = source === waiting.cancels || (preview != null && isUrgent(preview));
    const isOrder = !isCancel && preview !== null;
    const number = isOrder ? waiting.overtaken.begin() : 0;
    const named = isOrder && preview !== undefined ? preview.orders : NO_ORDERS;
    this.#countWaiting(socket, 1, byteLength);
    countOrders(waiting.orders, named, 1);
    const taken = (work: () => void): void => {
      this.#countWaiting(socket, -1, -byteLength);
      countOrders(waiting.orders, named, -1);
      if (socket.state === 'open') socket.guarded(work);
      if (isOrder) waiting.overtaken.end(number);
    };
    const sinceMs = this.#turns.since().realMs;
    const lane = laneOf(byteLength, isOrder ? 'order' : isCancel ? 'cancel' : 'other');
    const [name] = named;
    if (preview?.kind === 'quotes' && name !== undefined) {
      const set = waiting.sets.add(`${name.assetText} ${name.orderId}`, (settled) => {
        taken(() => this.#received(socket, frame, sinceMs, number, settled));
      });
      const read = (): void => waiting.sets.takeTurn(set);
      const refuse = (): void => {
        if (waiting.sets.drop(set)) taken(() => this.#overdue(socket, frame, preview, sinceMs));
      };
      this.#turns.wait(lane, byteLength, { read, refuse, source });
      return;
    }
    const read = (): void => taken(() => this.#received(socket, frame, sinceMs, number));
    const refuse = (): void =>
      taken(() => this.#overdue(socket, frame, preview ?? previewOf(socket.data, frame), sinceMs));
    this.#turns.wait(lane, byteLength, isOrder ? { read, refuse, source } : { read, source });
  }

  /** What is no order after all is read. */
  #overdue(socket: ControlSocket, frame: Uint8Array, preview: ActionPreview | null, sinceMs: number): void {
    if (preview === null || isUrgent(preview)) this.#received(socket, frame, sinceMs);
    else this.#shed(socket, preview, frame.byteLength);
  }

  /** Refuses the orders of a frame that waited too long: nothing of it was read but what its answers repeat. */
  #shed(socket: ControlSocket, preview: ActionPreview, bytes: number): void {
    if (!this.#streams.hasSession(socket)) {
      this.#dismissEnded(socket, preview);
      return;
    }
    const { kind, orders } = preview;
    const address = addressOf(socket.data, preview);
    const isBatch = kind === 'batch-create' || kind === 'batch-replace';
    const cost = isBatch ? { bulk: orders.length } : kind === 'quotes' ? 'quotes' : 'action';
    const notPaid = this.#services.entry.admit(socket.data.user, cost);
    const refusal = notPaid ?? WAITED_TOO_LONG;
    if (isBatch && isShort(address)) this.#sendError(socket, address, refusal);
    else {
      if (isBatch) this.#sendSubmitted(socket, address);
      const answer = { refusal, processedAtNs: this.#services.nowNs() };
      for (const order of orders) this.#tell(socket, address, order, answer);
    }
    if (notPaid === null) this.#orders.refused(orders.length);
    else this.#chargeNotPaid(socket, address, notPaid, bytes);
  }

  /** @returns false when the socket was closed instead. */
  #makeRoom(socket: ControlSocket, bytes: number): boolean {
    const { waiting } = socket.data;
    const isTooLong = waiting.bytes + bytes > FRAMES_WAITING_PER_SOCKET_MAX;
    const most = this.#isCrowded() ? FRAME_COUNT_WAITING_IN_CROWD_MAX : FRAME_COUNT_WAITING_PER_SOCKET_MAX;
    if (isTooLong || waiting.frames >= most) {
      this.#refuseWaiting(socket);
      return false;
    }
    while (this.#waitingBytes + bytes > FRAMES_WAITING_MAX) this.#closeLongest(({ data }) => data.waiting.bytes);
    while (this.#waitingFrames >= FRAME_COUNT_WAITING_MAX) this.#closeLongest(({ data }) => data.waiting.frames);
    return socket.state === 'open';
  }

  /** Counts one more frame of this pass. @returns whether there are many: queueing them is work too. */
  #isCrowded(): boolean {
    const { turnNumber } = this.#turns;
    if (turnNumber !== this.#turn) this.#newInTurn = 0;
    this.#turn = turnNumber;
    this.#newInTurn += 1;
    return this.#newInTurn > FRAMES_CROWD;
  }

  /** Empties the queue of the closed socket, so the calling loop terminates. */
  #closeLongest(lengthOf: (socket: ControlSocket) => number): void {
    let longest: ControlSocket | null = null;
    for (const socket of this.#waiting) {
      if (longest === null || lengthOf(socket) > lengthOf(longest)) longest = socket;
    }
    this.#refuseWaiting(must(longest, 'what waits is of a socket'));
  }

  #refuseWaiting(socket: ControlSocket): void {
    this.#sendError(socket, headWithoutRequest(socket.data), TOO_MUCH_WAITS);
    this.#streams.flush();
    this.#dropWaiting(socket);
    socket.finish(1013, 'rate_limited');
  }

  #dropWaiting(socket: ControlSocket): void {
    const { waiting } = socket.data;
    this.#turns.drop(waiting.source);
    this.#turns.drop(waiting.cancels);
    waiting.sets.clear();
    waiting.orders.clear();
    this.#countWaiting(socket, -waiting.frames, -waiting.bytes);
  }

  #countWaiting(socket: ControlSocket, frames: number, bytes: number): void {
    const { waiting } = socket.data;
    waiting.frames += frames;
    waiting.bytes += bytes;
    this.#waitingFrames += frames;
    this.#waitingBytes += bytes;
    if (waiting.frames > 0) this.#waiting.add(socket);
    else this.#waiting.delete(socket);
  }

  /**
   * @param sinceMs since when its bytes may have waited.
   * @param number of a frame that has waited, for OvertakenCreates; 0: of none.
   * @param settled called once, when a quote set has gone to its market, or when the frame is refused.
   */
  #received(
    socket: ControlSocket,
    bytes: Uint8Array,
    sinceMs: number,
    number = 0,
    settled: (() => void) | null = null,
  ): void {
    const isUnderWay = this.#read(socket, bytes, sinceMs, number, settled);
    if (!isUnderWay) settled?.();
  }

  /** @returns whether a single action is under way: then `settled` is called later. */
  #read(
    socket: ControlSocket,
    bytes: Uint8Array,
    sinceMs: number,
    number: number,
    settled: (() => void) | null,
  ): boolean {
    if (!this.#streams.hasSession(socket)) {
      this.#dismissEnded(socket, previewOf(socket.data, bytes));
      return false;
    }
    const hops = this.#services.newHops(socket.data.options.isTimed, sinceMs);
    const { isBinary, version } = socket.data;
    const frame = isBinary
      ? decodeBinaryFrame(bytes, 0, bytes.length)
      : decodeControlFrame(bytes, 0, bytes.length, version === 1);
    const address = addressOf(socket.data, frame);
    if (frame.kind === 'malformed') {
      this.#refuse(socket, address, frame, bytes.byteLength);
      return false;
    }
    if (isUnsignedRequest(frame)) {
      this.#cancel(socket, address, frame, bytes.byteLength, hops);
      return false;
    }
    const isBatch = frame.kind === 'batch-create' || frame.kind === 'batch-replace';
    if (isBatch) hops.parsedBatch(frame.kind, frame.batch.items.length);
    else hops.parsed(frame.kind, assetOfRequest(frame).id);
    const cost = isBatch ? { bulk: frame.batch.items.length } : costOf(frame);
    const notPaid = this.#services.entry.admit(socket.data.user, cost);
    if (!isBatch) this.#act(socket, address, frame, notPaid, hops, { number, sinceMs, settled });
    else {
      const { fault } = frame.batch;
      const whole = isShort(address) || fault !== null ? (notPaid ?? fault) : null;
      if (whole === null) this.#actOnAll(socket, address, batchOf(frame), notPaid, hops, number);
      else {
        // Rejected as a whole, and charged (AMB-104).
        this.#sendError(socket, address, isShort(address) ? shortRefusal(frame, whole) : whole);
        hops.answered(whole);
      }
    }
    if (notPaid !== null) this.#chargeNotPaid(socket, address, notPaid, bytes.byteLength);
    return !isBatch && notPaid === null;
  }

  /** What is charged to no user is charged to the address: the error, and the bytes of a long frame. */
  #chargeNotPaid(socket: ControlSocket, address: FrameHead, notPaid: Reject, bytes: number): void {
    if (bytes > QUICK_TEXT_BYTES_MAX) this.#chargeFault(socket, address, notPaid, bytes);
    else this.#chargeRefusal(socket, address, notPaid);
  }

  /** Replies for every identified order; the rest gets an error frame. */
  #refuse(socket: ControlSocket, address: FrameHead, frame: MalformedBody, bytes: number): void {
    const { reject: refusal, correlations, isAllFound, path = null } = frame;
    if (isShort(address)) {
      const [named] = correlations;
      this.#sendError(socket, address, shortFault(refusal, path, named?.orderId ?? null));
    } else {
      const answer = { refusal, processedAtNs: this.#services.nowNs() };
      for (const correlation of correlations) this.#tell(socket, address, correlation, answer);
      if (!isAllFound) this.#sendError(socket, address, refusal);
    }
    this.#chargeFault(socket, address, refusal, bytes);
  }

  /** Closes a socket with an ended session; a short request is answered first. */
  #dismissEnded(socket: ControlSocket, preview: ActionPreview | null): void {
    if (preview !== null && isShort(preview)) {
      const [named] = preview.orders.length === 1 ? preview.orders : [];
      const refusal = shortFault(SESSION_ENDED, null, named?.orderId ?? null);
      this.#sendError(socket, addressOf(socket.data, preview), refusal);
    }
    this.#streams.dismissEnded(socket);
  }

  /**
   * Charges a frame that is charged to no user to the address (AMB-91). Closes the socket of an address without budget.
   */
  #chargeFault(socket: ControlSocket, address: FrameHead, fault: Reject, bytes: number): void {
    this.#gate?.charge(socket.address, fault.code, bytes);
    this.#closeWithoutBudget(socket, address);
  }

  /** A short frame beyond the budget of its user: the socket stays open until the address reaches its lowest level. */
  #chargeRefusal(socket: ControlSocket, address: FrameHead, refusal: Reject): void {
    this.#gate?.charge(socket.address, refusal.code);
    if (this.#gate?.isFlooding(socket.address) === true) this.#closeWithoutBudget(socket, address);
  }

  #closeWithoutBudget(socket: ControlSocket, address: FrameHead): void {
    const refusal = this.#gate?.admit(socket.address) ?? null;
    if (refusal === null) return;
    this.#sendError(socket, address, refusal);
    this.#streams.flush();
    socket.finish(1013, 'rate_limited');
  }

  /** A cancel that the session alone authorizes: answered once it is on its way, or as a whole with an error frame. */
  #cancel(socket: ControlSocket, address: FrameHead, request: UnsignedRequest, bytes: number, hops: ActionHops): void {
    hops.parsed(request.kind, assetOfUnsigned(request));
    const { user, waiting } = socket.data;
    const notPaid = this.#services.entry.admit(user, costOfUnsigned(request));
    const isAll = request.kind === 'cancel-all';
    const refusal = notPaid ?? (isAll && waiting.overtaken.isFull ? TOO_MANY_SWEEPS : null);
    let done: UnsignedDone | null = null;
    const answered = ({ refusal: why, processedAtNs }: ActionAnswer): void => {
      hops.answered(why);
      if (why !== null) this.#sendError(socket, address, isShort(address) ? shortFault(why, null, null) : why);
      else if (done !== null) {
        this.#streams.deliverBytes(socket.data.answers, unsignedFrame(address, processedAtNs, { ...done, hops }));
      }
    };
    const told = this.#late?.once(answered) ?? answered;
    const answer = (outcome: Outcome<UnsignedDone>): void => {
      if (outcome.ok) done = outcome.value;
      told({ refusal: outcome.ok ? null : outcome.reject, processedAtNs: this.#services.nowNs() });
    };
    if (refusal !== null) answer(rejected(refusal));
    // What a cancel of all orders overtakes of its connection goes with it.
    else if (carryOut(this.#services, user, request, hops, answer) && isAll) waiting.overtaken.sweep(request.scope);
    if (notPaid !== null) this.#chargeNotPaid(socket, address, notPaid, bytes);
  }

  #act(
    socket: ControlSocket,
    address: FrameHead,
    action: SignedEntry,
    refusal: Reject | null,
    hops: ActionHops,
    { number, sinceMs, settled }: Waited,
  ): void {
    const { user, byCoSigners, connection, group } = socket.data;
    const { mayRetry } = socket.data.options;
    const correlation = correlationOf(action);
    if (refusal !== null) {
      this.#tell(socket, address, correlation, { refusal, processedAtNs: this.#services.nowNs() }, hops);
      return;
    }
    const { overtaken } = socket.data.waiting;
    const frame = enter(overtaken, number);
    const isOvertaken = (action: PreparedCreate | PreparedQuoteSet): boolean => isTaken(overtaken, frame, action);
    const plain = { user, byCoSigners, connection, isControl: true, mayRetry, hops, group, isOvertaken };
    const origin = action.kind === 'quotes' ? { ...plain, sinceMs, ...(settled && { setSent: settled }) } : plain;
    const answered = (answer: ActionAnswer): void => {
      this.#tell(socket, address, correlation, answer, hops);
      if (answer.refusal?.code === 'SIGNER_MISMATCH') this.#streams.dismiss(socket, SIGNED_BY_ANOTHER);
    };
    const told = this.#late?.once(answered) ?? answered;
    this.#services.entry.submit(action, origin, (answer) => {
      overtaken.end(frame);
      told(answer);
      settled?.();
    });
  }

  /** The acknowledgement means that every order will be answered, not that any is accepted. */
  #actOnAll(
    socket: ControlSocket,
    address: FrameHead,
    batch: SignedBatch,
    refusal: Reject | null,
    hops: ActionHops,
    number: number,
  ): void {
    const { user, connection, group } = socket.data;
    const correlations = correlationsOf(batch);
    this.#sendSubmitted(socket, address);
    let left = correlations.length;
    let isSignedByAnother = false;
    const ofItem = isShort(address) ? { ...address, isShort: false } : address;
    const tell = (index: number, answer: ActionAnswer): void => {
      const ofOrder = hops.isTimed ? hops.ofItem(index) : null;
      this.#tell(socket, ofItem, must(correlations[index], 'an answer to an order of the batch'), answer, ofOrder);
      hops.itemAnswered(answer.refusal, assetOfItem(batch, index));
      left -= 1;
      if (answer.refusal?.code === 'SIGNER_MISMATCH') isSignedByAnother = true;
      if (left === 0 && isSignedByAnother) this.#streams.dismiss(socket, SIGNED_BY_ANOTHER);
    };
    if (refusal === null) {
      const late = this.#late;
      const answers = late === null ? null : correlations.map((_, at) => late.once((answer) => tell(at, answer)));
      const answered = answers === null ? tell : (at: number, answer: ActionAnswer) => answers[at]?.(answer);
      const { overtaken } = socket.data.waiting;
      const frame = enter(overtaken, number);
      const isOvertaken = (action: PreparedCreate | PreparedQuoteSet): boolean => isTaken(overtaken, frame, action);
      let unsettled = correlations.length;
      const origin = { user, connection, isControl: true, group, hops, isOvertaken };
      this.#services.entry.submitBatch(batch, origin, (at, answer) => {
        unsettled -= 1;
        if (unsettled === 0) overtaken.end(frame);
        answered(at, answer);
      });
      return;
    }
    const answer = { refusal, processedAtNs: this.#services.nowNs() };
    correlations.forEach((_, index) => {
      tell(index, answer);
    });
  }

  #tell(
    socket: ControlSocket,
    address: FrameHead,
    correlation: Correlation,
    answer: ActionAnswer,
    hops: ActionHops | null = null,
  ): void {
    hops?.answered(answer.refusal);
    if (answer.refusal !== null) this.#refused(answer.refusal.code);
    const { answers } = socket.data;
    if (answers.size === 0) return;
    const { action, orderId, assetText, revisionNs = null } = correlation;
    const { refusal, quotes } = answer;
    if (refusal !== null && isShort(address) && isBeforeRules(refusal)) {
      this.#sendError(socket, address, shortFault(refusal, null, orderId));
      return;
    }
    const view = { orderId, reject: refusal, processedNs: answer.processedAtNs, hops, revisionNs, quotes };
    this.#streams.deliverBytes(answers, responseFrame(address, action, view, assetText));
  }

  #sendSubmitted(socket: ControlSocket, address: FrameHead): void {
    this.#streams.deliverBytes(socket.data.answers, submittedFrame(address, this.#services.nowNs()));
  }

  #sendError(socket: ControlSocket, address: FrameHead, refusal: Reject): void {
    this.#refused(refusal.code);
    this.#streams.deliverBytes(socket.data.answers, errorFrame(address, this.#services.nowNs(), refusal));
  }
}

/** @param number of a frame that has waited; 0: of none. @returns the number of what ends with its answer. */
function enter(overtaken: OvertakenCreates, number: number): number {
  if (number === 0) return overtaken.begin();
  overtaken.join(number);
  return number;
}

function isTaken(overtaken: OvertakenCreates, frame: number, action: PreparedCreate | PreparedQuoteSet): boolean {
  if (overtaken.size === 0) return false;
  const { assetId } = action.market.definition;
  if (action.kind === 'quotes') {
    const { setId: quoteSetId, revisionNs: creationNs, protectionGroup } = action.quotes;
    return overtaken.isTaken(frame, { assetId, side: null, creationNs, protectionGroup, quoteSetId });
  }
  const { terms, protectionGroup } = action;
  const { side, creationNs } = terms;
  return overtaken.isTaken(frame, { assetId, side, creationNs, protectionGroup, quoteSetId: null });
}

/** Replies have the version of the connection. */
function addressOf({ version }: ControlPeer, head: FrameHead): FrameHead {
  return head.version === 'binary'
    ? { version: head.version, requestId: head.requestId }
    : { version, requestId: head.requestId, isShort: isShort(head) };
}

/** The error of a short batch that is refused as a whole: for its own fault, or unpaid. */
function shortRefusal({ kind, batch }: BatchBody, whole: Reject): Reject {
  if (whole !== batch.fault) return shortFault(whole, null, null);
  const { path, orderId } = placeOfFault(batch);
  return shortFault(whole, `${kind === 'batch-create' ? 'BatchCreateRequest' : 'BatchReplaceRequest'}${path}`, orderId);
}

function isShort(head: FrameHead): boolean {
  return head.version !== 'binary' && head.isShort === true;
}

/** What a frame that waits is about, in the form of its connection. */
function previewOf({ isBinary, version }: ControlPeer, frame: Uint8Array): ActionPreview | null {
  return isBinary ? previewBinaryFrame(frame) : previewFrame(frame, version === 1);
}

/** Counts the orders of one more, or one less, waiting frame. */
function countOrders(waiting: Map<string, number>, orders: readonly Correlation[], change: 1 | -1): void {
  for (const { orderId } of orders) {
    const count = (waiting.get(orderId) ?? 0) + change;
    if (count === 0) waiting.delete(orderId);
    else waiting.set(orderId, count);
  }
}

/** The address of an error that belongs to no request. */
function headWithoutRequest({ isBinary, version }: ControlPeer): FrameHead {
  return isBinary ? { version: 'binary', requestId: 0n } : { version, requestId: null };
}

type BatchFrame = Extract<ControlFrame, { readonly kind: 'batch-create' | 'batch-replace' }>;

function batchOf(frame: BatchFrame): SignedBatch {
  return frame.kind === 'batch-create'
    ? { kind: 'batch-create', requests: frame.batch.items }
    : { kind: 'batch-replace', requests: frame.batch.items };
}
