/**
 * What an attacker has: raw connections from an address of his choice on loopback, HTTP requests, keys that cost nothing,
 * sessions, signed orders. Every outcome is counted, none is an error: a refusal is what the campaign wants to see.
 *
 * Not here: which attacks there are (attacks.ts).
 */
import { Agent, request as requestHttp } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Order } from '../../src/client/canonical.ts';
import { generateSeed, keyFromSeed, type SigningKey } from '../../src/client/keys.ts';
import { limitOrder, type OrderTicket, signatureOf, signCreate } from '../../src/client/signed-actions.ts';
import { systemClock } from '../../src/client/time.ts';

/** Ports of the node under attack, and when to stop. */
export interface Target {
  readonly oms: number;
  readonly mds: number;
  /** Milliseconds of `performance.now()` of the attacking process. */
  readonly untilMs: number;
}

/** How often what was answered, by what was tried: `login 200`, `order 400 INVALID_ORDER`. */
export type Tally = Map<string, number>;

const REQUEST_MS_MAX = 5_000;
const BOOK_DECIMALS = { priceDecimals: 2, quantityDecimals: 4 } as const;
/** Of markets with others. */
const OTHER_DECIMALS: Readonly<Record<string, Parameters<typeof limitOrder>[1]['decimals']>> = {
  '1': { priceDecimals: 1, quantityDecimals: 5 },
};
const nowNs = systemClock();

export function count(tally: Tally, what: string, by = 1): void {
  tally.set(what, (tally.get(what) ?? 0) + by);
}

export const isOver = (target: Target): boolean => performance.now() >= target.untilMs;

/** A pause that ends with the campaign. */
export async function pause(target: Target, ms: number): Promise<void> {
  const left = Math.max(0, Math.min(ms, target.untilMs - performance.now()));
  await new Promise((resolve) => setTimeout(resolve, left));
}

export interface RawOptions {
  readonly port: number;
  /** A loopback address. */
  readonly from: string;
  /** Leaves what arrives in the kernel. */
  readonly neverReads?: boolean;
}

/** A plain connection; its end is no error. */
export class RawConnection {
  readonly #socket: Socket;
  received = 0;
  isClosed = false;

  constructor({ port, from, neverReads = false }: RawOptions) {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress: from, noDelay: true });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
    if (neverReads) this.#socket.pause();
    else {
      this.#socket.on('data', (bytes: Buffer) => {
        this.received += bytes.length;
      });
    }
  }

  /** @returns whether the kernel has taken it within the time. */
  write(bytes: Uint8Array | string, withinMs: number): Promise<boolean> {
    if (this.isClosed || !this.#socket.writable) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs);
      // Called with an error when the connection ends before.
      this.#socket.write(bytes, (error) => {
        clearTimeout(timer);
        resolve(error === undefined || error === null);
      });
    });
  }

  end(): void {
    this.#socket.destroy();
  }
}

export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** A key without a past, or with money that the campaign gave it, at one address. */
export class Stranger {
  readonly key: SigningKey;
  readonly #target: Target;
  readonly #from: string;
  readonly #agent: Agent;
  #headers: Readonly<Record<string, string>> = {};
  #ids = 0;

  constructor(target: Target, from: string, seed: Uint8Array = generateSeed()) {
    this.key = keyFromSeed(seed);
    this.#target = target;
    this.#from = from;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 8 });
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** @returns status 0 when the connection ended without an answer. */
  call(
    method: string,
    path: string,
    body = '',
    port: number = this.#target.oms,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return new Promise((resolve) => {
      const none = (): void => resolve({ status: 0, code: '', text: '' });
      const request = requestHttp({
        host: '127.0.0.1',
        port,
        localAddress: this.#from,
        agent: this.#agent,
        method,
        path,
        timeout: REQUEST_MS_MAX,
        headers: {
          'content-type': 'application/json',
          ...this.#headers,
          ...headers,
          ...(body === '' ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      });
      request.once('error', none);
      request.once('timeout', () => request.destroy());
      request.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          if (text.length < 65_536) text += part;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, code: codeIn(text), text }));
        response.once('error', none);
      });
      request.end(body === '' ? undefined : body);
    });
  }

  async login(): Promise<Answer> {
    const asked = await this.call('GET', `/nonce/${this.key.userId}`);
    if (asked.status !== 200) return asked;
    const { value } = JSON.parse(asked.text) as { value: string };
    const signature = signatureOf(this.key, value);
    const body = `{"user_id":"${this.key.userId}","nonce":"${value}","signature":${signature}}`;
    const answer = await this.call('POST', '/auth', body);
    if (answer.status === 200) {
      const { token } = JSON.parse(answer.text) as { token: string };
      this.#headers = { authorization: `Bearer ${token}`, 'user-id': this.key.userId };
    }
    return answer;
  }

  order({ assetId = '2', ...ticket }: Omit<OrderTicket, 'assetId' | 'orderId'> & { readonly assetId?: string }): Order {
    this.#ids += 1;
    const orderId = `${this.key.userId.slice(0, 8)}-${this.#ids}`;
    const context = { signer: this.key.userId, decimals: OTHER_DECIMALS[assetId] ?? BOOK_DECIMALS, nowNs: nowNs() };
    return limitOrder({ assetId, orderId, ...ticket }, context);
  }

  create(order: Order): Promise<Answer> {
    return this.call('POST', '/orders/create', signCreate(this.key, order, nowNs()).body);
  }

  batch(orders: readonly Order[]): Promise<Answer> {
    const items = orders.map((order) => signCreate(this.key, order, nowNs()).body).join(',');
    return this.call('POST', '/orders/batch-create', `{"orders":[${items}]}`);
  }

  end(): void {
    this.#agent.destroy();
  }
}

function codeIn(text: string): string {
  return /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? /"reason":"([A-Za-z]+)"/.exec(text)?.[1] ?? '';
}
