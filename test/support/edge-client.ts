/** Raw HTTP requests and WebSocket readers for tests of listeners. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import { must } from '../../src/core/assert.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpAsk {
  readonly method?: string;
  /** A list value sends the header several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** The address that the request comes from: any of 127.0.0.0/8. */
  readonly localAddress?: string;
}

/** One request on a connection of its own. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, localAddress }: HttpAsk = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, method, agent: false, localAddress });
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    // Node sends the body of a DELETE without any length by default.
    const isUnframed = body !== undefined && !request.hasHeader('transfer-encoding');
    if (isUnframed) request.setHeader('Content-Length', body.byteLength);
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.end(body);
  });
}

/** An upgrade that is expected to be refused: its HTTP answer. */
export function askUpgrade(port: number, path: string, headers: HttpAsk['headers'] = {}): Promise<HttpAnswer> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return ask(port, path, { headers: { ...upgrade, ...headers } });
}

let pings = 0;

/**
 * What was sent to a socket before now has been read from it: a ping is answered behind it. Two answers that come over
 * two connections are read in any order, so a test that looks at frames after another answer waits for this.
 */
export async function behindEverything(socket: WebSocket): Promise<void> {
  const { readyState } = socket;
  if (readyState === WebSocket.CONNECTING || readyState === WebSocket.CLOSED) return;
  pings += 1;
  const word = `read ${pings}`;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('pong', received);
      socket.off('close', done);
      resolve();
    };
    const received = (data: Buffer): void => {
      if (data.toString() === word) done();
    };
    socket.on('pong', received);
    socket.on('close', done);
    if (readyState === WebSocket.OPEN) socket.ping(word);
  });
}

/** Opens a WebSocket at an HTTP address; its frames go into the list, parsed. */
export async function parsedFrames(
  address: string,
  into: Readonly<Record<string, unknown>>[],
  protocols: string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(address.replace('http', 'ws'), protocols, { headers });
  socket.on('message', (data) => into.push(JSON.parse(String(data))));
  await once(socket, 'open');
  return socket;
}

/** A WebSocket with frames that are awaited one by one. */
export class SocketReader {
  readonly socket: WebSocket;
  #transport: Socket | null = null;
  readonly #frames: string[] = [];
  readonly #waiting: ((frame: string) => void)[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.once('upgrade', (response) => {
      this.#transport = response.socket;
    });
    socket.on('message', (data: Buffer) => {
      const frame = data.toString('utf8');
      const next = this.#waiting.shift();
      if (next === undefined) this.#frames.push(frame);
      else next(frame);
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
    });
    socket.on('error', () => socket.terminate());
  }

  static open(
    port: number,
    path: string,
    protocols: string[] = [],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SocketReader> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    const reader = new SocketReader(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(reader));
      socket.once('error', reject);
    });
  }

  /** Sends frames in one write, so that one pass of the node's event loop reads all of them. */
  sendAtOnce(frames: readonly string[]): void {
    const transport = must(this.#transport, 'an open socket has its transport');
    assert.equal(this.socket.extensions, '', 'compression would write later');
    transport.cork();
    for (const frame of frames) this.socket.send(frame);
    transport.uncork();
  }

  /** The next frame, in order of arrival. */
  frame(): Promise<string> {
    const ready = this.#frames.shift();
    return ready === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(ready);
  }

  /** Whether this reader is one that reads as fast as it can: false for those that a test lets stall. */
  keepsUp = true;

  /** Everything that was sent to it so far has arrived: a pong comes behind it. A reader that ended has all it will get. */
  async caughtUp(): Promise<void> {
    if (this.keepsUp) await behindEverything(this.socket);
  }

  /** Frames that have arrived and were not awaited. */
  get unread(): number {
    return this.#frames.length;
  }
}

// Answers of `/control` as tests compare them.

const DETAIL = /,"detail":\{"code":"[A-Z_]+","field":(?:null|"[^"]*"),"message":"(?:[^"\\]|\\.)*"\}/;

/** A rejection less its `detail`: what the wire contract promises of it, to the byte. */
export function withoutDetail(frame: string): string {
  return frame.replace(DETAIL, '');
}
