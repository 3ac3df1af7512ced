/**
 * A one-way stream of events (wire.md 9) as an async iterator, or pushed to a listener.
 *
 *   for await (const trade of stream) …          ends when the service closes normally, throws on a fault
 *   const stop = stream.listen((trade) => …)     instead of iterating, not in addition
 *
 * Events wait in a bounded queue until they are read; a reader that is too slow loses the stream with CONSUMER_TOO_SLOW
 * rather than an event. With `reconnect` the stream outlives its connection: it reconnects with increasing pauses until
 * it is closed, and calls `onReconnected` after each gap, because the missed events have to be read again (wire.md
 * 9.8). With `resume` it requests the missed events by their numbers. The end of each connection is reported to `onClosed`.
 *
 * Private streams are v1: each envelope has the time of its event.
 *
 * States: open ─▶ (connection lost) ─▶ waiting ─▶ open …  and from any of them ─▶ ended (by close, fault or service).
 */
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import { type ConnectionEvents, ConnectionReport, ENVELOPE_PROTOCOL, readEnvelope } from './connection-events.ts';
import { errorOfEnvelope, invalidResponse, malformed, RingbookError } from './errors.ts';
import type { Socket, SocketTarget } from './http-transport.ts';
import type { Lifetime } from './lifetime.ts';
import { openSocket } from './platform.ts';
import { Reconnection } from './socket.ts';

/** How a stream deals with the end of its connection. */
export interface Reconnect extends ConnectionEvents {
  /** Default true where options are given at all: the stream outlives its connection. */
  readonly reconnect?: boolean;
  /** First pause; each further one doubles, up to 5 s. Default 100. */
  readonly delayMs?: number;
  /** Events may have been missed: read the state again. */
  onReconnected?(): void;
}

/** For private streams, which send sequence numbers on request. */
export interface ResumingReconnect extends Reconnect {
  /** Missed events are sent again in order, and `onReconnected` is called only when the service no longer has them. */
  readonly resume?: boolean;
}

export interface StreamOptions<T> {
  /** Opens a connection to the stream's address, with a valid token. */
  connect<S>(opening: (target: SocketTarget) => Promise<S>): Promise<S>;
  /** Whether the service sends envelopes on request: true for private streams. */
  readonly hasEnvelopes: boolean;
  /**
   * @param timestampNs when the service published it; 0 without envelopes.
   * @returns the events of one frame; several for an array frame, none for an unknown one.
   */
  decode(frame: JsonValue, timestampNs: bigint): readonly T[];
  readonly reconnect?: ResumingReconnect;
  /** Of the client, which closes the stream at its end. */
  readonly lifetime?: Lifetime;
}

const QUEUE_MAX = 65_536;
/** Frames of a stream without envelopes that are no events. */
const CONTROL_TYPES: readonly JsonValue[] = ['subscriptions', 'ping', 'pong'];

interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: RingbookError): void;
}

export class EventStream<T> implements AsyncIterableIterator<T, undefined> {
  readonly #options: StreamOptions<T>;
  #socket: Socket | null = null;
  #queue: T[] = [];
  #waiter: Waiter<T> | null = null;
  #listener: ((event: T) => void) | null = null;
  #hasEnded = false;
  #error: RingbookError | null = null;
  #onEnd: ((error: RingbookError | null) => void) | null = null;
  readonly #reconnection: Reconnection<boolean>;
  readonly #ended: (() => void) | undefined;
  /** With `resume`: the number of the last event; null before the first. */
  #sequence: bigint | null = null;

  private constructor(options: StreamOptions<T>) {
    this.#options = options;
    this.#reconnection = new Reconnection(
      async () => {
        const isResumed = this.#sequence !== null;
        await this.#connect();
        return isResumed;
      },
      (isResumed) => {
        if (!isResumed) options.reconnect?.onReconnected?.();
      },
    );
    this.#ended = options.lifetime?.add(() => this.close());
  }

  /** @throws RingbookError when the first connection is rejected; later ones are retried with `reconnect`. */
  static async open<T>(options: StreamOptions<T>): Promise<EventStream<T>> {
    const stream = new EventStream(options);
    try {
      await stream.#connect();
    } catch (error) {
      stream.close();
      throw error;
    }
    return stream;
  }

  /**
   * Pushes every event to `listener`, queued ones first; calls `onEnd` with the fault, or null for a normal end.
   *
   * @returns the function that closes the stream.
   */
  listen(listener: (event: T) => void, onEnd?: (error: RingbookError | null) => void): () => void {
    const queued = this.#queue;
    this.#queue = [];
    this.#listener = listener;
    this.#onEnd = onEnd ?? null;
    for (const event of queued) listener(event);
    if (this.#hasEnded) onEnd?.(this.#error);
    return () => this.close();
  }

  close(): void {
    this.#end(null);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const event = this.#queue.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#error !== null) return Promise.reject(this.#error);
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #connect(): Promise<void> {
    await this.#options.connect((target) =>
      openSocket(this.#targetOf(target), (socket) => {
        this.#socket = socket;
        const report = new ConnectionReport(this.#options.reconnect ?? {});
        socket.on('message', (data: Uint8Array) => this.#receive(data, report));
        socket.on('close', (code, reason) => {
          report.closed(code, reason.toString());
          this.#closed(code, reason.toString(), report.error);
        });
        if (this.#hasEnded) socket.close(1000);
      }),
    );
  }

  get #isNumbered(): boolean {
    return this.#options.reconnect?.resume === true;
  }

  #targetOf(target: SocketTarget): SocketTarget {
    if (!this.#options.hasEnvelopes) return target;
    const query = this.#sequence === null ? 'sequence=true' : `from_sequence=${this.#sequence + 1n}`;
    const path = this.#isNumbered ? `${target.path}?${query}` : target.path;
    return { ...target, path, protocols: [ENVELOPE_PROTOCOL] };
  }

  #receive(data: Uint8Array, report: ConnectionReport): void {
    if (this.#hasEnded) return;
    try {
      const frame = parseJson(data, { fractions: 'text' });
      if (!frame.ok) throw malformed('frame', frame.reject);
      if (this.#options.hasEnvelopes) this.#receiveEnvelope(frame.value, report);
      else this.#receiveBare(frame.value);
    } catch (error) {
      if (!(error instanceof RingbookError)) throw error;
      this.#end(error);
    }
  }

  #receiveBare(frame: JsonValue): void {
    const type = isJsonObject(frame) ? frame.get('type') : undefined;
    if (type !== undefined && CONTROL_TYPES.includes(type)) return;
    const refusal = type === 'error' ? errorOfEnvelope(frame, null) : null;
    if (refusal !== null) throw refusal;
    this.#decode(frame, 0n);
  }

  #receiveEnvelope(frame: JsonValue, report: ConnectionReport): void {
    const { type, timestampNs, data } = readEnvelope(frame);
    const refusal = type === 'error' ? errorOfEnvelope(frame, null) : null;
    if (refusal?.code === 'RESYNC_REQUIRED') {
      // The missed events are no longer available: after the close that follows, the stream starts without a number.
      report.announceError(refusal);
      this.#sequence = null;
    } else if (refusal !== null) {
      report.announceError(refusal);
      throw refusal;
    }
    if (type === 'server_shutdown') report.announceShutdown(timestampNs);
    if (this.#isNumbered && (type === 'event' || type === 'sequence')) this.#count(frame, type === 'event');
    if (type === 'event') this.#decode(data, timestampNs);
  }

  /** Takes the number of an event, or of the first frame, which contains the current one. */
  #count(frame: JsonValue, isEvent: boolean): void {
    const sequence = isJsonObject(frame) ? frame.get('sequence') : undefined;
    if (typeof sequence !== 'bigint') throw invalidResponse('frame', 'a numbered stream sends its number');
    if (isEvent && sequence !== (this.#sequence ?? -1n) + 1n) throw invalidResponse('frame', 'a number was left out');
    this.#sequence = sequence;
  }

  #decode(payload: JsonValue, timestampNs: bigint): void {
    for (const event of this.#options.decode(payload, timestampNs)) this.#deliver(event);
  }

  #deliver(event: T): void {
    if (this.#listener !== null) {
      this.#listener(event);
    } else if (this.#waiter !== null) {
      const waiter = this.#waiter;
      this.#waiter = null;
      waiter.resolve({ done: false, value: event });
    } else if (this.#queue.length < QUEUE_MAX) {
      this.#queue.push(event);
    } else {
      throw new RingbookError({ code: 'CONSUMER_TOO_SLOW', message: `${QUEUE_MAX} events were not taken` });
    }
  }

  #closed(code: number, reason: string, error: RingbookError | null): void {
    if (this.#hasEnded) return;
    const { reconnect } = this.#options;
    if (reconnect !== undefined && reconnect.reconnect !== false) {
      this.#reconnection.begin(reconnect.delayMs);
    } else if (error === null && (code === 1000 || code === 1001)) {
      this.#end(null);
    } else {
      const closed = new RingbookError({
        code: code === 1013 ? 'RESYNC_REQUIRED' : 'CONNECTION_CLOSED',
        message: `the stream closed with ${code}${reason === '' ? '' : ` ${reason}`}`,
        retryable: true,
      });
      this.#end(error ?? closed);
    }
  }

  #end(error: RingbookError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    this.#ended?.();
    this.#reconnection.end();
    this.#socket?.close(1000);
    if (error === null) this.#waiter?.resolve({ done: true, value: undefined });
    else this.#waiter?.reject(error);
    this.#waiter = null;
    this.#onEnd?.(error);
  }
}
