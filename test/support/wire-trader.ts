/**
 * A user of a node at the level of the wire (wire.md 4, 7): signed actions, and the frames of `/orders` and of the trade
 * stream as they came. Nothing of the SDK's shapes is in between.
 */
import type WebSocket from 'ws';
import type { SigningKey } from '../../src/client/keys.ts';
import type { UserId } from '../../src/core/ids.ts';
import { behindEverything, parsedFrames } from './edge-client.ts';
import { eventually } from './patience.ts';
import type { Json, TestNode } from './test-node.ts';
import { type Hands, signedMembers } from './wire-signers.ts';
import {
  cancelBody,
  cancelText,
  createBody,
  type OrderWords,
  orderText,
  type PlainKey,
  type ReplaceWords,
  replaceBody,
  replaceText,
  type Side,
} from './wire-texts.ts';

/** Members of an order that differ from those of a plain spot order. */
export interface Ticket extends Partial<Omit<OrderWords, 'side' | 'price' | 'quantity' | 'tif' | 'details'>> {
  /** One byte of the signature is another one. */
  readonly isForged?: boolean;
}

export interface Change extends Partial<Omit<ReplaceWords, 'id'>> {
  /** What is signed in place of the request. */
  readonly signed?: string;
}

/** The answer to an action: `Received`, or the code of its refusal. */
export interface Answered {
  readonly id: string;
  readonly status: number;
  readonly word: string;
  readonly field: unknown;
}

export class Trader {
  readonly key: PlainKey;
  /** Frames of `/orders` since the last login. */
  readonly events: Json[] = [];
  /** Frames of the trade stream since the last login. */
  readonly fills: Json[] = [];
  /** Who signs a login. */
  hands: Hands;
  readonly #node: TestNode;
  #headers: Readonly<Record<string, string>> = {};
  #sockets: WebSocket[] = [];
  #made = 0;

  constructor(node: TestNode, key: PlainKey) {
    this.#node = node;
    this.key = key;
    this.hands = { master: key };
  }

  get userId(): string {
    return this.key.id;
  }

  /** This user's key for a client of the SDK. */
  get sdkKey(): SigningKey {
    return { userId: this.userId as UserId, sign: (bytes) => this.key.sign(bytes) };
  }

  async login(): Promise<void> {
    const nonce = await this.call('GET', `/nonce/${this.userId}`);
    const { value } = JSON.parse(nonce.text) as { value: string };
    const body = `{"user_id":"${this.userId}","nonce":"${value}",${signedMembers(value, this.hands)}}`;
    const answer = await this.call('POST', '/auth', body);
    const { token } = JSON.parse(answer.text) as { token: string };
    this.#headers = { authorization: `Bearer ${token}`, 'user-id': this.userId };
    this.events.length = 0;
    this.fills.length = 0;
    this.#sockets = [];
    await this.listen('/orders', this.events);
    await this.listen(`/trades/user/events/${this.userId}`, this.fills);
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** A socket of this user; its frames go into the list, and it closes with the others. */
  async listen(path: string, into: Json[], protocols: string[] = []): Promise<WebSocket> {
    const socket = await parsedFrames(`${this.#node.process.oms}${path}`, into, protocols, this.#headers);
    this.#sockets.push(socket);
    return socket;
  }

  /** The headers of this user's session. */
  session(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** Any call of the order service with this user's session. @returns status and body. */
  async call(
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`${this.#node.process.oms}${path}`, {
      method,
      headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  // ---- actions

  buy(details: string, ticket: Ticket = {}): Promise<Answered> {
    return this.create('Buy', details, ticket);
  }

  sell(details: string, ticket: Ticket = {}): Promise<Answered> {
    return this.create('Sell', details, ticket);
  }

  /** The wrapper of a create, as a body. */
  wrapper(side: Side, details: string, ticket: Ticket = {}): { readonly id: string; readonly text: string } {
    const { isForged = false, ...words } = ticket;
    const id = ticket.id ?? this.#nextId();
    const decimals = this.#decimals(ticket.asset);
    const text = orderText(this.userId, { createdNs: this.#node.stamp(), ...words, id, side, details, ...decimals });
    return { id, text: createBody(this.key, text, this.#node.nowNs, isForged ? this.#forged(text) : undefined) };
  }

  /** The signature of a text with one byte changed. */
  #forged(text: string): string {
    const signature = this.key.sign(text);
    signature[5] = ((signature[5] ?? 0) + 1) % 256;
    return `[${signature.join(',')}]`;
  }

  #decimals(asset = '2'): Pick<OrderWords, 'decimals'> {
    const decimals = this.#node.decimalsOf(asset);
    return decimals === undefined ? {} : { decimals };
  }

  async create(side: Side, details: string, ticket: Ticket = {}): Promise<Answered> {
    const { id, text } = this.wrapper(side, details, ticket);
    return this.#act('POST', '/orders/create', id, text);
  }

  async replace(id: string, change: Change): Promise<Answered> {
    return this.#act('PATCH', '/orders/replace', id, this.replaceWrapper(id, change));
  }

  /** The wrapper of a replace, as a body. */
  replaceWrapper(id: string, change: Change): string {
    const { signed, asset = '2', ...words } = change;
    const text = replaceText({ timestampNs: this.#node.stamp(), ...words, id, asset, ...this.#decimals(asset) });
    return replaceBody(this.key, text, this.#node.nowNs, asset, signed);
  }

  /** @returns for each wrapper its id, and `Received` or the reason: `a Received`. */
  async batchCreate(...wrappers: readonly { readonly text: string }[]): Promise<readonly string[]> {
    const body = `{"orders":[${wrappers.map(({ text }) => text).join(',')}]}`;
    return this.#batch('POST', '/orders/batch-create', body);
  }

  async batchReplace(...wrappers: readonly string[]): Promise<readonly string[]> {
    return this.#batch('PATCH', '/orders/batch-replace', `{"requests":[${wrappers.join(',')}]}`);
  }

  async cancel(id: string, asset = '2'): Promise<Answered> {
    return this.#act('DELETE', '/orders/cancel', id, this.cancelWrapper(id, asset));
  }

  /** The wrapper of a cancel, as a body. */
  cancelWrapper(id: string, asset = '2'): string {
    return cancelBody(this.key, cancelText(this.userId, id, asset), this.#node.nowNs);
  }

  /** @returns status and body, as text. */
  async cancelAll(path = '', query = ''): Promise<string> {
    return this.#cancelMany(`/orders/cancel-all${path}${query}`);
  }

  async cancelBatch(body: object): Promise<string> {
    return this.#cancelMany('/orders/cancel-batch', JSON.stringify(body));
  }

  /** The record once the node rests, or its refusal's code under `error`. */
  async record(id: string, asset = '2'): Promise<Json> {
    await this.#node.rest();
    const { text } = await this.call('GET', `/orders/user/${this.userId}/${asset}/${encodeURIComponent(id)}`);
    const body = JSON.parse(text) as { error?: { code: string } };
    return body.error === undefined ? (body as Json) : { error: body.error.code };
  }

  async status(id: string, asset = '2'): Promise<unknown> {
    const record = await this.record(id, asset);
    return record['status'] ?? record['error'];
  }

  /** What of an asset an account holds for orders, as clearing has it. */
  async held(asset: string, account = 0): Promise<string | undefined> {
    return (await this.#balance(asset, account))?.['held'];
  }

  async owned(asset: string, account = 0): Promise<string | undefined> {
    return (await this.#balance(asset, account))?.['owned'];
  }

  /** Clearing gets an order by another path than its user: it is queried when both have. */
  async #balance(asset: string, account: number): Promise<Record<string, string> | undefined> {
    await this.#node.rest();
    const view = await this.#node.operate('GET', `/operator/users/${this.userId}`);
    const accounts = view['sub_accounts'] as Record<string, { balances: Record<string, Record<string, string>> }>;
    return accounts[account]?.balances[asset];
  }

  // ---- what was published

  /** Events of one order: `Created`, `Canceled UserRequested`, … */
  eventsOf(id: string): readonly string[] {
    return this.events.flatMap((frame) => {
      const [kind, told] = Object.entries(frame)[0] ?? ['', {}];
      const { order_id, user_order, reason } = told as { order_id?: string; user_order?: Json; reason?: string | null };
      if ((order_id ?? user_order?.['order_id']) !== id) return [];
      return [reason === undefined || reason === null ? kind : `${kind} ${reason}`];
    });
  }

  /**
   * Words of one order once its last event is this one; by then every reader has read what was sent to it, fills too.
   */
  async until(id: string, last: string): Promise<readonly string[]> {
    await eventually(
      () => this.eventsOf(id).at(-1) === last,
      () => `${id}: ${this.eventsOf(id)} — no ${last}`,
    );
    await this.#node.rest();
    return this.eventsOf(id);
  }

  /** What was sent on any of this user's sockets has been read. */
  async caughtUp(): Promise<void> {
    await Promise.all(this.#sockets.map(behindEverything));
  }

  /** Fills of one order: `Pending 3000 0.5`, `Rollbacked 3000 0.5 StaleMatch`. */
  fillsOf(id: string): readonly string[] {
    return this.fills
      .filter((fill) => fill['order_id'] === id)
      .map(({ status, price, quantity, rollback_reason: reason }) =>
        [status, price, quantity, ...(reason === null || reason === undefined ? [] : [reason])].join(' '),
      );
  }

  // ---- helpers

  #nextId(): string {
    this.#made += 1;
    return `${this.userId.slice(0, 4)}-${this.#made}`;
  }

  async #batch(method: string, path: string, body: string): Promise<readonly string[]> {
    const { status, text } = await this.call(method, path, body);
    const answer = JSON.parse(text) as {
      readonly results?: readonly {
        readonly order_id: string;
        readonly status: string;
        readonly reason: string | null;
      }[];
      readonly error?: { readonly code: string };
    };
    if (answer.results === undefined) return [`${status} ${answer.error?.code}`];
    return answer.results.map(({ order_id, status, reason }) => `${order_id} ${reason ?? status}`);
  }

  async #act(method: string, path: string, id: string, body: string): Promise<Answered> {
    const { status, text } = await this.call(method, path, body);
    const answer = JSON.parse(text) as {
      readonly status?: string;
      readonly error?: { readonly code: string; readonly details?: Json };
    };
    const word = answer.error?.code ?? answer.status ?? '';
    return { id, status, word, field: answer.error?.details?.['field'] };
  }

  async #cancelMany(path: string, body?: string): Promise<string> {
    const { status, text } = await this.call('DELETE', path, body);
    return `${status} ${text}`;
  }
}
