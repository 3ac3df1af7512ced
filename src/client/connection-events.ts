/**
 * What happens to a connection beside its messages: the service announces that it stops, the connection ends. `/control`
 * (control.ts) and streams (event-stream.ts) report both to the functions of their options.
 *
 * v1 and FlatBuffers sockets alone receive the announcement (wire.md 9.2).
 */
import { isJsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import { invalidResponse, malformed, type RingbookError } from './errors.ts';

/** How a connection ended. */
export interface Closed {
  /** The close code of the WebSocket; 1006 where the connection was lost without one. */
  readonly code: number;
  readonly reason: string;
  /** The error that the service sent before, such as RESYNC_REQUIRED for a reader that fell behind; null for none. */
  readonly error: RingbookError | null;
  /** The service had announced that it stops: it may be back soon. */
  readonly isShutdown: boolean;
}

/** The service stops soon: requests sent before are answered, later ones rejected, then the connection is closed. */
export interface Shutdown {
  /** When the service announced it, on its clock. */
  readonly timestampNs: bigint;
}

export interface ConnectionEvents {
  /** Called once for each connection that was open, also when the caller closed it. */
  onClosed?(closed: Closed): void;
  /** Called before the connection is closed; not for market data, which announces nothing. */
  onShutdown?(shutdown: Shutdown): void;
}

/** The subprotocol of envelopes (wire.md 9.1). */
export const ENVELOPE_PROTOCOL = 'svc.ws.v1';

/** An envelope of a v1 socket (wire.md 9.2). */
export interface Envelope {
  /** `event`, `response`, `error`, `server_shutdown`, …; a newer service may have more. */
  readonly type: string;
  readonly timestampNs: bigint;
  readonly data: JsonValue;
}

/** @throws RingbookError INVALID_RESPONSE. */
export function readEnvelope(frame: JsonValue): Envelope {
  if (!isJsonObject(frame)) throw invalidResponse('envelope', 'expected an object');
  const reader = new MemberReader(frame);
  const envelope = {
    type: reader.string('type'),
    timestampNs: reader.u64('timestamp_ns'),
    data: frame.get('data') ?? null,
  };
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('envelope', fault);
  return envelope;
}

/** What one connection has announced, for the report of its end. */
export class ConnectionReport {
  readonly #events: ConnectionEvents;
  #error: RingbookError | null = null;
  #isShutdown = false;

  constructor(events: ConnectionEvents) {
    this.#events = events;
  }

  /** The error that explains the close that follows. */
  get error(): RingbookError | null {
    return this.#error;
  }

  announceError(error: RingbookError): void {
    this.#error = error;
  }

  announceShutdown(timestampNs: bigint): void {
    this.#isShutdown = true;
    this.#events.onShutdown?.({ timestampNs });
  }

  closed(code: number, reason: string): void {
    this.#events.onClosed?.({ code, reason, error: this.#error, isShutdown: this.#isShutdown });
  }
}
