/**
 * A one-way stream of events (wire.md 9) as an async iterator, or pushed to a listener.
 *
 *   for await (const trade of stream) …          ends when the service closes normally, throws on a fault
 *   const stop = stream.listen((trade) => …)     instead of iterating, not in addition
 *
 * Events wait in a bounded queue until they are read; a reader that is too slow loses the stream with CONSUMER_TOO_SLOW
 * rather than an event. With `reconnect` the stream outlives its connection: it reconnects with increasing pauses until
 * it is closed, and calls `onReconnected` after each gap, because the missed events have to be read again (wire.md
 * 9.8). With `resume` it requests the missed events by their numbers.
 *
 * States: open ─▶ (connection lost) ─▶ waiting ─▶ open …  and from any of them ─▶ ended (by close, fault or service).
 */
import type { WebSocket } from 'ws';
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import { errorOfEnvelope, invalidResponse, malformed, RingbookError } from './errors.ts';
import type { SocketTarget } from './http-transport.ts';
import { openSocket } from './socket.ts';

export interface Reconnect {
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
  /** @returns the events of one frame; several for an array frame, none for an unknown one. */
  decode(frame: JsonValue): readonly T[];
  readonly reconnect?: ResumingReconnect;
}

const QUEUE_MAX = 65_536;
const RECONNECT_DELAY_MS = 100;
const RECONNECT_DELAY_MS_MAX = 5_000;
/** The subprotocol with sequence numbers. */
const NUMBERED_PROTOCOL = 'svc.ws.v1';
const CONTROL_TYPES: readonly JsonValue[] = ['subscriptions', 'ping', 'pong', 'server_shutdown'];

interface Waiter<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: RingbookError): void;
}

export class EventStream<T> implements AsyncIterableIterator<T, undefined> {
  readonly #options: StreamOptions<T>;
  #socket: WebSocket | null = null;
  #queue: T[] = [];
  #waiter: Waiter<T> | null = null;
  #listener: ((event: T) => void) | null = null;
  #hasEnded = false;
  #error: RingbookError | null = null;
  #onEnd: ((error: RingbookError | null) => void) | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  /** With `resume`: the number of the last event; null before the first. */
  #sequence: bigint | null = null;

  private constructor(options: StreamOptions<T>) {
    this.#options = options;
  }

  /** @throws RingbookError when the first connection is rejected; later ones are retried with `reconnect`. */
  static async open<T>(options: StreamOptions<T>): Promise<EventStream<T>> {
    const stream = new EventStream(options);
    await stream.#connect();
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
      openSocket(this.#resuming(target), (socket) => {
        this.#socket = socket;
        socket.on('message', (data: Buffer) => this.#receive(data));
        socket.on('close', (code, reason) => this.#closed(code, reason.toString()));
        if (this.#hasEnded) socket.close();
      }),
    );
  }

  #resuming(target: SocketTarget): SocketTarget {
    if (this.#options.reconnect?.resume !== true) return target;
    const query = this.#sequence === null ? 'sequence=true' : `from_sequence=${this.#sequence + 1n}`;
    return { ...target, path: `${target.path}?${query}`, protocols: [NUMBERED_PROTOCOL] };
  }

  #receive(data: Buffer): void {
    if (this.#hasEnded) return;
    try {
      const frame = parseJson(data, { fractions: 'text' });
      if (!frame.ok) throw malformed('frame', frame.reject);
      const type = isJsonObject(frame.value) ? frame.value.get('type') : undefined;
      if (type !== undefined && CONTROL_TYPES.includes(type)) return;
      const refusal = type === 'error' ? errorOfEnvelope(frame.value, null) : null;
      const resumes = this.#options.reconnect?.resume === true;
      // The missed events are no longer available: after the close that follows, the stream starts without a number.
      if (resumes && refusal?.code === 'RESYNC_REQUIRED') this.#sequence = null;
      else if (refusal !== null) throw refusal;
      else {
        const payload = resumes ? this.#unnumbered(frame.value) : frame.value;
        if (payload === null) return;
        for (const event of this.#options.decode(payload)) this.#deliver(event);
      }
    } catch (error) {
      if (!(error instanceof RingbookError)) throw error;
      this.#end(error);
    }
  }

  /** The payload of a numbered frame; null for the frame that only contains the current number. */
  #unnumbered(frame: JsonValue): JsonValue {
    const object = isJsonObject(frame) ? frame : new Map<string, JsonValue>();
    const sequence = object.get('sequence');
    if (typeof sequence !== 'bigint') throw invalidResponse('frame', 'a numbered stream sends its number');
    const isEvent = object.get('type') === 'event';
    if (isEvent && sequence !== (this.#sequence ?? -1n) + 1n) throw invalidResponse('frame', 'a number was left out');
    this.#sequence = sequence;
    return isEvent ? (object.get('data') ?? null) : null;
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

  #closed(code: number, reason: string): void {
    if (this.#hasEnded) return;
    if (this.#options.reconnect !== undefined) {
      this.#retry(this.#options.reconnect, this.#options.reconnect.delayMs ?? RECONNECT_DELAY_MS);
    } else if (code === 1000 || code === 1001) {
      this.#end(null);
    } else {
      const isResync = code === 1013;
      this.#end(
        new RingbookError({
          code: isResync ? 'RESYNC_REQUIRED' : 'CONNECTION_CLOSED',
          message: `the stream closed with ${code}${reason === '' ? '' : ` ${reason}`}`,
          retryable: true,
        }),
      );
    }
  }

  #retry(reconnect: Reconnect, delayMs: number): void {
    this.#retryTimer = setTimeout(() => {
      const isResumed = this.#sequence !== null;
      this.#connect().then(
        () => {
          if (!isResumed) reconnect.onReconnected?.();
        },
        () => {
          if (!this.#hasEnded) this.#retry(reconnect, Math.min(2 * delayMs, RECONNECT_DELAY_MS_MAX));
        },
      );
    }, delayMs);
  }

  #end(error: RingbookError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#socket?.close();
    if (error === null) this.#waiter?.resolve({ done: true, value: undefined });
    else this.#waiter?.reject(error);
    this.#waiter = null;
    this.#onEnd?.(error);
  }
}
