/**
 * A TCP proxy in front of a node that stops reading the sockets of one path, so that the node finds a reader that lags:
 *
 *   browser ◀── proxy ◀─╳─ kernel ═ full ═ node's queue
 */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A connection from which nothing comes is closed as dead; a reader that stalls is none. */
const PING_MS = 5_000;

/** A masked ping without a payload, as a client sends it. */
function ping(): Buffer {
  return Buffer.concat([Buffer.from([0x89, 0x80]), randomBytes(4)]);
}

export class StallingProxy {
  readonly #server: Server;
  /** Connections to the node, and the path of the first request of each. */
  readonly #upstreams = new Map<Socket, string>();
  #stalled: Socket[] = [];
  #pings: NodeJS.Timeout | null = null;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param target the port of the node. */
  static async start(target: number): Promise<StallingProxy> {
    const server = createServer();
    const proxy = new StallingProxy(server);
    server.on('connection', (client) => proxy.#join(client, target));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Reads no more from the sockets of this path that are open; once more for later ones. @returns how many there are. */
  stall(path: string): number {
    this.#stalled = [...this.#upstreams].filter(([, requested]) => requested === path).map(([upstream]) => upstream);
    for (const upstream of this.#stalled) upstream.pause();
    this.#pings ??= setInterval(() => {
      for (const upstream of this.#stalled) if (upstream.writable) upstream.write(ping());
    }, PING_MS);
    return this.#stalled.length;
  }

  resume(): void {
    if (this.#pings !== null) clearInterval(this.#pings);
    this.#pings = null;
    for (const upstream of this.#stalled) upstream.resume();
    this.#stalled = [];
  }

  async close(): Promise<void> {
    this.resume();
    for (const upstream of this.#upstreams.keys()) upstream.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, target: number): void {
    const upstream = connect(target, '127.0.0.1');
    this.#upstreams.set(upstream, '');
    client.once('data', (head: Buffer) => {
      this.#upstreams.set(upstream, head.toString('latin1').split(' ')[1] ?? '');
    });
    client.on('data', (bytes: Buffer) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => client.write(bytes));
    upstream.on('end', () => client.end());
    const end = (): void => {
      this.#upstreams.delete(upstream);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on('error', end);
      socket.on('close', end);
    }
  }
}
