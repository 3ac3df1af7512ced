/**
 * A client of NATS written from its protocol alone: it asks with any subject for the answer, which no library does. For tests of what
 * a user of the servers can do.
 */
import { connect, type Socket } from 'node:net';

export interface PlainMessage {
  readonly subject: string;
  readonly reply: string | null;
  readonly data: string;
}

export class PlainNats {
  /** What the server refused. */
  readonly errors: string[] = [];
  readonly #socket: Socket;
  readonly #heard = new Map<string, (message: PlainMessage) => void>();
  #bytes = Buffer.alloc(0);
  #pong: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    socket.on('error', () => undefined);
  }

  /** @param address `nats://host:port`. The password is the one of test/support/nats-servers.ts. */
  static async open(address: string, user: string): Promise<PlainNats> {
    const { hostname, port } = new URL(address.replace('nats:', 'http:'));
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    const client = new PlainNats(socket);
    const login = { verbose: false, user, pass: `${user}-password`, headers: true, no_responders: true, protocol: 1 };
    socket.write(`CONNECT ${JSON.stringify(login)}\r\n`);
    await client.flush();
    return client;
  }

  subscribe(subject: string, heard: (message: PlainMessage) => void): void {
    const id = `${this.#heard.size + 1}`;
    this.#heard.set(id, heard);
    this.#socket.write(`SUB ${subject} ${id}\r\n`);
  }

  publish(subject: string, data = '', reply = ''): void {
    this.#socket.write(`PUB ${subject} ${reply} ${Buffer.byteLength(data)}\r\n${data}\r\n`);
  }

  /** Everything that was sent was handled by the server. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#pong = resolve;
      this.#socket.write('PING\r\n');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #feed(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const end = this.#bytes.indexOf('\r\n');
      if (end < 0) return;
      const [word = '', ...rest] = this.#bytes.toString('latin1', 0, end).split(' ');
      let taken = end + 2;
      if (word === 'MSG' || word === 'HMSG') {
        const size = Number(rest.at(-1));
        if (this.#bytes.length < taken + size + 2) return;
        const headBytes = word === 'HMSG' ? Number(rest.at(-2)) : 0;
        const hasReply = rest.length === (word === 'HMSG' ? 5 : 4);
        const data = this.#bytes.toString('utf8', taken + headBytes, taken + size);
        taken += size + 2;
        this.#heard.get(rest[1] ?? '')?.({ subject: rest[0] ?? '', reply: hasReply ? (rest[2] ?? '') : null, data });
      } else if (word === 'PING') this.#socket.write('PONG\r\n');
      else if (word === 'PONG') this.#pong();
      else if (word === '-ERR') this.errors.push(rest.join(' '));
      this.#bytes = this.#bytes.subarray(taken);
    }
  }
}
