/**
 * The private socket `GET /user/ws`: all streams of a user over one socket (wire-additions.md 18).
 *
 *   const feed = await client.privateFeed(['orders', 'positions'], (frame) => …);
 *
 * Each channel begins with a snapshot, the reply of its REST read. After a lost connection the feed connects again and
 * continues each channel behind its last number; where that is not kept any more, a snapshot comes.
 */
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import { errorOfEnvelope, invalidResponse, RingbookError } from './errors.ts';
import type { Socket, SocketTarget } from './http-transport.ts';
import type { Lifetime } from './lifetime.ts';
import { openSocket } from './platform.ts';
import { readObject } from './read-members.ts';
import { Reconnection } from './socket.ts';

export type PrivateFeedChannel = 'orders' | 'trades' | 'positions' | 'account_stats' | 'account_events' | 'at_risk';

export interface PrivateFeedFrame {
  /** A snapshot replaces what was received before. */
  readonly type: 'snapshot' | 'update';
  readonly channel: string;
  readonly sequence: bigint;
  readonly timestampNs: bigint;
  /** Of a snapshot the reply of the REST read, of an update the payload of the stream of that name. */
  readonly data: JsonValue;
}

export interface PrivateFeedOptions {
  /** Called when the feed has connected again. */
  readonly onReconnected?: () => void;
  /** Called for a channel that was refused, and for errors of the socket; by default nothing is. */
  readonly onError?: (error: RingbookError) => void;
}

/** Opens a connection with a valid token. */
type Connecting = <S>(opening: (target: SocketTarget) => Promise<S>) => Promise<S>;

export class PrivateFeed {
  readonly #connecting: Connecting;
  readonly #listener: (frame: PrivateFeedFrame) => void;
  readonly #options: PrivateFeedOptions;
  /** The last number of each channel; null before its snapshot. */
  readonly #channels = new Map<string, bigint | null>();
  readonly #reconnection: Reconnection<void>;
  readonly #ended: (() => void) | undefined;
  #socket: Socket | null = null;
  #hasEnded = false;

  private constructor(
    connecting: Connecting,
    listener: (frame: PrivateFeedFrame) => void,
    options: PrivateFeedOptions,
    lifetime?: Lifetime,
  ) {
    this.#connecting = connecting;
    this.#listener = listener;
    this.#options = options;
    this.#reconnection = new Reconnection(
      () => this.#connect(),
      () => options.onReconnected?.(),
    );
    this.#ended = lifetime?.add(() => this.close());
  }

  /** @throws RingbookError when the first connection is rejected; later ones are repeated. */
  static async open(
    connecting: Connecting,
    channels: readonly PrivateFeedChannel[],
    listener: (frame: PrivateFeedFrame) => void,
    options: PrivateFeedOptions = {},
    lifetime?: Lifetime,
  ): Promise<PrivateFeed> {
    const feed = new PrivateFeed(connecting, listener, options, lifetime);
    for (const channel of channels) feed.#channels.set(channel, null);
    try {
      await feed.#connect();
    } catch (error) {
      feed.close();
      throw error;
    }
    return feed;
  }

  subscribe(channel: PrivateFeedChannel): void {
    this.#channels.set(channel, null);
    this.#send('subscribe', [channel]);
  }

  unsubscribe(channel: PrivateFeedChannel): void {
    if (this.#channels.delete(channel)) this.#send('unsubscribe', [channel]);
  }

  close(): void {
    this.#hasEnded = true;
    this.#ended?.();
    this.#reconnection.end();
    this.#socket?.close(1000);
  }

  async #connect(): Promise<void> {
    await this.#connecting((target) =>
      openSocket(target, (socket) => {
        this.#socket = socket;
        socket.on('message', (data: Uint8Array) => this.#receive(data));
        socket.on('close', () => {
          if (!this.#hasEnded) this.#reconnection.begin();
        });
        if (this.#hasEnded) socket.close(1000);
      }),
    );
    this.#send('subscribe', [...this.#channels.keys()]);
  }

  #send(type: 'subscribe' | 'unsubscribe', names: readonly string[]): void {
    const socket = this.#socket;
    if (names.length === 0 || socket === null || socket.readyState !== socket.OPEN) return;
    const items = names.map((name) => {
      const last = type === 'subscribe' ? (this.#channels.get(name) ?? null) : null;
      return `{"name":"${name}"${last === null ? '' : `,"resume":{"sequence":${last}}`}}`;
    });
    socket.send(`{"type":"${type}","channels":[${items.join(',')}]}`);
  }

  #receive(data: Uint8Array): void {
    const tree = parseJson(data, { fractions: 'text' });
    const frame = tree.ok ? tree.value : null;
    const type = isJsonObject(frame) ? frame.get('type') : undefined;
    if (type === 'snapshot' || type === 'update') this.#take(frame, type);
    else if (type === 'error') this.#options.onError?.(errorOfEnvelope(frame, null) ?? UNREADABLE);
    else if (type === 'subscriptions' && isJsonObject(frame)) this.#refused(frame.get('errors'));
    else if (type === undefined) this.#options.onError?.(UNREADABLE);
  }

  #take(frame: JsonValue, type: 'snapshot' | 'update'): void {
    const read = readObject(frame, 'private frame', (reader): PrivateFeedFrame => {
      const head = { type, channel: reader.string('channel'), sequence: reader.u64('sequence') };
      const payload = isJsonObject(frame) ? (frame.get('data') ?? null) : null;
      return { ...head, timestampNs: reader.u64('timestamp_ns'), data: payload };
    });
    if (!this.#channels.has(read.channel)) return;
    this.#channels.set(read.channel, read.sequence);
    this.#listener(read);
  }

  #refused(errors: JsonValue | undefined): void {
    for (const error of Array.isArray(errors) ? errors : []) {
      if (!isJsonObject(error)) continue;
      const [name, code, message] = ['name', 'code', 'message'].map((member) => String(error.get(member)));
      this.#options.onError?.(new RingbookError({ code: code ?? 'UNKNOWN', message: `${name}: ${message}` }));
    }
  }
}

const UNREADABLE = invalidResponse('private frame', 'it is no frame of a private socket');
