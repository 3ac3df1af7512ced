/**
 * A TCP proxy on loopback that stands for the network between a process and a server. When the link is cut no byte passes and
 * nothing is closed, as when a cable is pulled; what the kernel still holds goes on when it is healed, as TCP sends it again.
 *
 *   node ──▶ proxy ──▶ server        cut: neither way        oneWay: answers do not come back
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type LinkState = 'open' | 'cut' | 'oneWay';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

export class LinkProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #state: LinkState = 'open';

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#join(client));
  }

  /** @param target the port of the server. */
  static async start(target: number): Promise<LinkProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new LinkProxy(server, target);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get state(): LinkState {
    return this.#state;
  }

  set(state: LinkState): void {
    this.#state = state;
    for (const pair of this.#pairs) this.#let(pair);
  }

  close(): void {
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    this.#server.close();
  }

  #let({ client, upstream }: Pair): void {
    if (this.#state === 'cut') client.pause();
    else client.resume();
    if (this.#state === 'open') upstream.resume();
    else upstream.pause();
  }

  #join(client: Socket): void {
    const upstream = connect(this.#target, '127.0.0.1');
    const pair = { client, upstream };
    this.#pairs.add(pair);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on('data', (bytes: Buffer) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => client.write(bytes));
    this.#let(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.on('error', end);
      socket.on('close', end);
    }
  }
}
