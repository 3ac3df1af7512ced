/**
 * `/control`: signed actions as frames, each answered in a frame of its own (wire.md 10, AMB-92).
 *
 *   frame ─▶ session still alive? ─▶ decode ─▶ admit, charge ─▶ ActionDoor ─▶ … ─▶ CreateOrderResponse, some turns later
 *                 │ no                 │ malformed    │ 503, 429
 *                 ▼                    ▼              ▼
 *       UNAUTHORIZED, close 1000    Rejected in the correlated shape if it names its order, else an error frame
 *
 * Answers speak the version of the socket; a version 1 socket may send bare requests too. Binary frames are read like
 * text: the same bytes say the same thing.
 *
 * Not here: what an action does (the node), frames and their decoding (src/wire).
 */
import { type Reject, reject } from '../core/reject.ts';
import { type ControlFrame, type Correlation, decodeControlFrame } from '../wire/control-frame.ts';
import { type ControlAddress, controlError, controlResponse } from '../wire/operation-replies.ts';
import { Channel } from './channel.ts';
import { type ActionDoor, correlationOf, costOf, type SignedAction } from './oms-actions.ts';
import type { ActionAnswer, OmsBackend } from './oms-backend.ts';
import type { OmsSeat, UserStreams } from './oms-streams.ts';
import type { StreamRoute, StreamSocket } from './uws-socket.ts';

export interface ControlSeat extends OmsSeat {
  readonly connection: number;
  /** Gathers the answers of a turn; its one member is this socket. */
  readonly answers: Channel<ControlSeat>;
}

type ControlSocket = StreamSocket<ControlSeat>;

const NO_BATCHES = reject('INVALID_REQUEST', 'batches are not served yet');
const SIGNED_BY_ANOTHER = 'the action is signed by another user';

export interface ControlParts {
  readonly backend: OmsBackend;
  readonly streams: UserStreams;
  readonly door: ActionDoor;
}

export class ControlDesk {
  readonly #backend: OmsBackend;
  readonly #streams: UserStreams;
  readonly #door: ActionDoor;

  constructor(parts: ControlParts) {
    this.#backend = parts.backend;
    this.#streams = parts.streams;
    this.#door = parts.door;
  }

  /** The route, less its admission. */
  route(): Omit<StreamRoute<ControlSeat>, 'admit' | 'pattern'> {
    const common = this.#streams.common();
    return {
      ...common,
      opened: (socket) => {
        common.opened(socket);
        socket.data.answers.join(socket);
      },
      closed: (socket) => {
        socket.data.answers.leave(socket);
        common.closed(socket);
      },
      message: (socket, bytes) => this.#received(socket, bytes),
    };
  }

  seat(seat: OmsSeat): ControlSeat {
    return { ...seat, connection: this.#door.newConnection(), answers: new Channel() };
  }

  #received(socket: ControlSocket, bytes: Uint8Array): void {
    if (!this.#streams.hasSession(socket)) {
      this.#streams.dismissEnded(socket);
      return;
    }
    const frame = decodeControlFrame(bytes, 0, bytes.length);
    const address = { version: socket.data.version, requestId: frame.requestId };
    if (isSignedAction(frame)) this.#act(socket, address, frame);
    else if (frame.kind !== 'malformed') this.#tellError(socket, address, NO_BATCHES);
    else if (frame.correlation === null) this.#tellError(socket, address, frame.reject);
    else {
      const answer = { refusal: frame.reject, processedAtNs: this.#backend.nowNs() };
      this.#tell(socket, address, frame.correlation, answer);
    }
  }

  #act(socket: ControlSocket, address: ControlAddress, action: SignedAction): void {
    const { user, connection } = socket.data;
    const correlation = correlationOf(action);
    const refusal = this.#door.admit(user, costOf(action));
    if (refusal !== null) {
      this.#tell(socket, address, correlation, { refusal, processedAtNs: this.#backend.nowNs() });
      return;
    }
    this.#door.take(action, { user, connection, isControl: true }, (answer) => {
      this.#tell(socket, address, correlation, answer);
      if (answer.refusal?.code === 'SIGNER_MISMATCH') this.#streams.dismiss(socket, SIGNED_BY_ANOTHER);
    });
  }

  #tell(socket: ControlSocket, address: ControlAddress, correlation: Correlation, answer: ActionAnswer): void {
    const { action, orderId, assetText } = correlation;
    const view = { orderId, reject: answer.refusal, processedNs: answer.processedAtNs };
    this.#streams.deliver(socket.data.answers, () => controlResponse(address, action, view, assetText));
  }

  #tellError(socket: ControlSocket, address: ControlAddress, refusal: Reject): void {
    this.#streams.deliver(socket.data.answers, () => controlError(address, this.#backend.nowNs(), refusal));
  }
}

function isSignedAction(frame: ControlFrame): frame is ControlFrame & SignedAction {
  return frame.kind === 'create' || frame.kind === 'replace' || frame.kind === 'cancel';
}
