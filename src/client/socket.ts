/**
 * Opens a WebSocket to the service: a handshake answered with an error envelope throws that RingbookError (wire.md
 * 9.1). A connection without any data for a minute, not even the service's ping every 20 s, is dead and is closed, so
 * that the reader gets an error; of several addresses, each is pinged, and three seconds are enough (cluster.md 11). `Reconnection` replaces a connection that was lost.
 */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { parseJson } from '../codec/json-tree.ts';
import type { SocketWatch } from './addresses.ts';
import { errorOfEnvelope, RingbookError } from './errors.ts';
import { connectFault, type SocketTarget, unreachableAddress } from './http-transport.ts';
import { clientClosed } from './lifetime.ts';

/** Pauses between attempts to connect. */
export const RECONNECT_MS = 100;
export const RECONNECT_MS_MAX = 5_000;
const HANDSHAKE_MS_MAX = 10_000;
const SILENCE_MS_MAX = 60_000;
/** How long the service may take to answer a close. */
const CLOSE_MS_MAX = 1_000;
/** The service limits every message to 1 MiB. */
const MESSAGE_BYTES_MAX = 1_048_576;

/**
 * Calls `onOpen` in the event that opens the socket, before any message can be emitted.
 *
 * @throws RingbookError: the error of the service, or UNREACHABLE.
 */
export function openSocket<T>(target: SocketTarget, onOpen: (socket: WebSocket) => T): Promise<T> {
  const origin = new URL(target.base);
  const options = {
    headers: { ...target.headers, origin: origin.origin.replace(/^ws/, 'http') },
    handshakeTimeout: target.watch?.silenceMs ?? HANDSHAKE_MS_MAX,
    closeTimeout: CLOSE_MS_MAX,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  };
  const address = `${target.base.replace(/^http/, 'ws')}${target.path}`;
  const socket = new WebSocket(address, [...(target.protocols ?? [])], options);
  return new Promise((resolve, reject) => {
    const settled = target.lifetime?.add(() => {
      reject(clientClosed());
      socket.terminate();
    });
    socket.once('close', () => settled?.());
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      void refusalOf(response)
        .then(reject, reject)
        .finally(() => socket.terminate());
    });
    socket.on('error', (error) => reject(unreachableAddress(target.base, connectFault(error))));
    socket.once('open', () => {
      settled?.();
      cutWhenSilent(socket, target.watch ?? null);
      socket.once('close', (code) => {
        if (code !== 1000) target.onLost?.();
      });
      resolve(onOpen(socket));
    });
  });
}

async function refusalOf(response: IncomingMessage): Promise<RingbookError> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const status = response.statusCode ?? 0;
  const outcome = parseJson(Buffer.concat(chunks));
  const refusal = outcome.ok ? errorOfEnvelope(outcome.value, status) : null;
  return refusal ?? new RingbookError({ code: 'INVALID_RESPONSE', message: `handshake answered ${status}`, status });
}

function cutWhenSilent(socket: WebSocket, watch: SocketWatch | null): void {
  const timer = setTimeout(() => socket.terminate(), watch?.silenceMs ?? SILENCE_MS_MAX);
  timer.unref();
  const pings = watch === null ? null : setInterval(() => socket.ping(), watch.pingMs);
  pings?.unref();
  const alive = (): void => {
    timer.refresh();
  };
  socket.on('message', alive).on('ping', alive).on('pong', alive);
  socket.once('close', () => {
    clearTimeout(timer);
    clearInterval(pings ?? undefined);
  });
}

/** Connects until it succeeds, with pauses that double, up to 5 s. */
export class Reconnection<T> {
  readonly #connect: () => Promise<T>;
  readonly #onConnected: (result: T) => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #hasEnded = false;

  constructor(connect: () => Promise<T>, onConnected: (result: T) => void) {
    this.#connect = connect;
    this.#onConnected = onConnected;
  }

  /** @param delayMs the first pause. */
  begin(delayMs: number = RECONNECT_MS): void {
    this.#timer = setTimeout(() => {
      this.#connect().then(this.#onConnected, () => {
        if (!this.#hasEnded) this.begin(Math.min(2 * delayMs, RECONNECT_MS_MAX));
      });
    }, delayMs);
  }

  /** A connection that is on its way is still reported. */
  end(): void {
    this.#hasEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
