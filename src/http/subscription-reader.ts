/**
 * Frames of clients of the multiplexed market-data socket: when they are read, and what their address pays
 * (wire-additions.md 10.1, 10.5, 12).
 *
 *   frame ─▶ in turn ─▶ units left? length paid? ─▶ parsed ─▶ assets paid? ─▶ served ─▶ answer: its length is charged
 *                              │ no                   │ malformed   │ no
 *                              └──────────────────────┴─────────────┴─────▶ error frame
 *
 * Frames are read within what one pass of the event loop may take (reading-turns.ts). Those beyond it wait in the order of
 * their socket, bounded per socket and in total (frame-allowance.ts).
 *
 * Frames that change nothing are work too: so length, assets and answers are paid whatever becomes of them. What a subscription costs is in market-subscriptions.ts.
 */
import { pingAnswer, requestErrorFrame } from '../codec/subscription-frames.ts';
import { BINARY_FRAME, type ClientFrame, type ItemsRequest, readClientFrame } from '../codec/subscription-requests.ts';
import type { Reject } from '../core/reject.ts';
import { unitsOfBytes } from '../gateway/sessions/address-limits.ts';
import type { AddressGate } from './address-gate.ts';
import { type FrameRule, HeldFrames } from './frame-allowance.ts';
import { laneOf, type ReadingTurns } from './reading-turns.ts';
import type { SubscribedSocket } from './subscribed-socket.ts';
import type { EdgeObserver } from './uws-http.ts';
import type { StreamSocket } from './uws-socket.ts';

/** Frames of a client. */
export const SUBSCRIPTION_FRAMES: FrameRule = { bytesMax: 65_536, perSecond: 10, burst: 50 };
/** Assets for which an address pays a unit, before they are looked up. */
const ASSETS_PER_UNIT = 20;

export type ClientSocket = StreamSocket<SubscribedSocket>;

interface SubscriptionReaderParts {
  /** Null: addresses are not limited. */
  readonly gate: AddressGate | null;
  /** The reading turns of the listener. */
  readonly turns: ReadingTurns;
  readonly observer: Pick<EdgeObserver, 'refused'>;
  /** Called with a request that is paid. */
  readonly serve: (socket: ClientSocket, request: ItemsRequest, id: string | null) => void;
}

export class SubscriptionReader {
  readonly #parts: SubscriptionReaderParts;
  readonly #held = new HeldFrames();

  constructor(parts: SubscriptionReaderParts) {
    this.#parts = parts;
  }

  /** @param bytes valid in this call alone. */
  receive(socket: ClientSocket, bytes: Uint8Array, isBinary: boolean): void {
    const { turns } = this.#parts;
    const { byteLength } = bytes;
    const { reading } = socket.data;
    const lane = laneOf(byteLength);
    if (reading.head() === undefined && turns.hasRoom(byteLength, lane)) {
      turns.note(byteLength);
      turns.timed(() => this.#read(socket, bytes, isBinary));
      return;
    }
    if (!this.#held.hold(socket.data, byteLength)) {
      socket.finish(1008, 'too_many_frames');
      return;
    }
    const frame = bytes.slice();
    const read = (): void => {
      this.#held.release(socket.data, byteLength);
      if (socket.state === 'open') socket.guarded(() => this.#read(socket, frame, isBinary));
    };
    turns.wait(lane, byteLength, { read, source: reading });
  }

  /** The socket is closed: its frames are dropped. */
  drop(socket: SubscribedSocket): void {
    this.#parts.turns.drop(socket.reading);
    this.#held.releaseAll(socket);
  }

  /** Sends the answer to a request. An answer lists all subscriptions of its socket, whatever the request was. */
  answer(socket: ClientSocket, text: string): void {
    const bytes = Buffer.from(text);
    // mutant: answers-charged
    this.#parts.gate?.chargeBytes(socket.address, bytes.byteLength);
    socket.send(bytes);
  }

  /** Sends an error frame, and charges the address. At the lowest level of the address the socket is closed. */
  refuse(socket: ClientSocket, id: string | null, fault: Reject): void {
    const { gate, observer } = this.#parts;
    gate?.charge(socket.address, fault.code);
    observer.refused?.(fault.code);
    socket.send(Buffer.from(requestErrorFrame(id, fault)));
    // mutant: flooding-readers
    if (gate?.isFlooding(socket.address) === true) socket.finish(1013, 'rate_limited');
  }

  /** Charges the address as for a public read. @returns RATE_LIMITED when it has not the units, or null. */
  pay({ address }: ClientSocket, units: bigint): Reject | null {
    return units === 0n ? null : (this.#parts.gate?.pay(address, units) ?? null);
  }

  #read(socket: ClientSocket, bytes: Uint8Array, isBinary: boolean): void {
    const refusal = this.#parts.gate?.admit(socket.address) ?? this.pay(socket, unitsOfBytes(bytes.byteLength));
    if (refusal === null) this.#take(socket, isBinary ? BINARY_FRAME : readClientFrame(bytes));
    else this.refuse(socket, null, refusal);
  }

  #take(socket: ClientSocket, { id, request }: ClientFrame): void {
    if (!request.ok) {
      this.refuse(socket, id, request.reject);
      return;
    }
    const { value } = request;
    if (value.type === 'ping') {
      socket.send(Buffer.from(pingAnswer(id)));
      return;
    }
    const refusal = this.#payAssets(socket, value);
    // mutant: free-frames
    if (refusal !== null) this.refuse(socket, id, refusal);
    else this.#parts.serve(socket, value, id);
  }

  /** A part of a unit is paid with the frames that follow. */
  #payAssets(socket: ClientSocket, { items }: ItemsRequest): Reject | null {
    const assets = items.reduce((sum, { assetIds }) => sum + assetIds.length, socket.data.unpaidAssets);
    const refusal = this.pay(socket, BigInt(Math.floor(assets / ASSETS_PER_UNIT)));
    if (refusal === null) socket.data.unpaidAssets = assets % ASSETS_PER_UNIT;
    return refusal;
  }
}
