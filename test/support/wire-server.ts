/**
 * A small service on real sockets for tests of the SDK: node:http and `ws`, with the answers of each test. It keeps
 * every request with its headers and exact body, so that a test can check what was on the wire.
 *
 * It has no notion of orders: it is no node.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly body: string;
}

export interface WireServer {
  /** `http://127.0.0.1:<port>` */
  readonly base: string;
  readonly requests: SeenRequest[];
  /** Handshakes seen, in order. */
  readonly upgrades: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

export interface WireHandlers {
  answer?(request: SeenRequest): Answer;
  /** An answer refuses the handshake. */
  refuse?(path: string): Answer | null;
  socket?(socket: WebSocket, path: string): void;
}

export const NONCE = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';

/** Answers the login as a node does; everything else goes to `answer`. */
export function withLogin(answer: (request: SeenRequest) => Answer): (request: SeenRequest) => Answer {
  return (request) => {
    if (request.path.startsWith('/nonce/')) return { body: `{"value":"${NONCE}","ce_nonce":0}` };
    if (request.path === '/auth') return { body: '{"token":"token-1","expiry_ns":18446744073709551615}' };
    return answer(request);
  };
}

async function serve(handlers: WireHandlers, seen: SeenRequest[], request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const record: SeenRequest = {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
  seen.push(record);
  const { status = 200, body } = handlers.answer?.(record) ?? { status: 404, body: '' };
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

export async function startWireServer(handlers: WireHandlers): Promise<WireServer> {
  const requests: SeenRequest[] = [];
  const upgrades: WireServer['upgrades'] = [];
  const server: Server = createServer((request, response) => void serve(handlers, requests, request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, stream, head) => {
    const path = request.url ?? '';
    upgrades.push({ path, headers: request.headers });
    const refusal = handlers.refuse?.(path) ?? null;
    if (refusal !== null) {
      const body = refusal.body;
      stream.end(`HTTP/1.1 ${refusal.status ?? 401} Refused\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => handlers.socket?.(socket, path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    upgrades,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
