/**
 * Users of a whole node at the level of the wire: canonical texts signed as wire.md 4 says, REST calls, and the frames of
 * `/orders` and of the trade stream as they came. Nothing of the SDK's shapes is in between.
 */
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { keyFromSeed, type SigningKey } from '../../src/client/keys.ts';
import { behindEverything } from './edge-client.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from './node-process.ts';
import { eventually } from './patience.ts';
import { removeDirectory } from './temporary-directory.ts';
import type { Change, Ticket } from './wire-orders.ts';

type Json = Readonly<Record<string, unknown>>;

type Decimals = readonly [price: number, quantity: number];

/** As the seed has them. */
const SEEDED: readonly (readonly [string, Decimals])[] = [
  ['1', [1, 5]],
  ['2', [2, 4]],
  ['3', [4, 1]],
];

/** The answer to an action: `Received`, or the code of its refusal. */
export interface Answered {
  readonly id: string;
  readonly status: number;
  readonly word: string;
  readonly field: unknown;
}

// ---- the node

/** A node of the test profile: a clock that stands still, markets as seeded, users as they are made. */
export class TestNode {
  node: NodeProcess;
  nowNs = 1_800_000_000_000_000_000n;
  private readonly decimals = new Map<string, Decimals>(SEEDED);
  private readonly traders: Trader[] = [];
  private readonly watchers: WebSocket[] = [];
  private stamps = 0n;
  private users = 0;

  private constructor(node: NodeProcess) {
    this.node = node;
  }

  static async start(): Promise<TestNode> {
    return new TestNode(await startNode({ profile: 'test' }));
  }

  async stop(): Promise<void> {
    for (const trader of this.traders) trader.close();
    for (const socket of this.watchers) socket.terminate();
    await stopNode(this.node, 'SIGKILL');
    removeDirectory(this.node.dataDirectory);
  }

  /** Ends the process and starts it on the same data; traders log in again and listen anew. */
  async restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    for (const trader of this.traders) trader.close();
    const { dataDirectory } = this.node;
    await stopNode(this.node, signal);
    this.node = await startNode({ profile: 'test', dataDirectory });
    await this.login();
  }

  /** Everybody anew: sessions last for a day. */
  async login(): Promise<void> {
    for (const trader of this.traders) {
      trader.close();
      await trader.login();
    }
  }

  /** A user nobody has met, with so much of each asset in each account. */
  async trader(funds: Readonly<Record<string, string>>, accounts: readonly number[] = [0]): Promise<Trader> {
    this.users += 1;
    const seed = new Uint8Array(32).fill(0x40 + this.users);
    const trader = new Trader(this, keyFromSeed(seed));
    this.traders.push(trader);
    await trader.login();
    await this.rest();
    for (const account of accounts) {
      for (const [asset_id, amount] of Object.entries(funds)) {
        const body = { user_id: trader.userId, sub_account: account, asset_id, amount };
        await this.operate('POST', '/operator/faucet', body);
      }
    }
    await this.rest();
    return trader;
  }

  /** A call that must succeed. */
  async operate(method: string, path: string, body?: string | object): Promise<Json> {
    const answer = await operator(this.node, method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  async hook(body: object): Promise<Json> {
    return this.operate('POST', '/operator/clearing', body);
  }

  /** Everybody has heard everything, users and watchers too. */
  async rest(): Promise<void> {
    await barrier(this.node);
    await Promise.all([...this.traders.map((trader) => trader.caughtUp()), ...this.watchers.map(behindEverything)]);
  }

  async advance(byNs: bigint): Promise<void> {
    await this.operate('POST', '/operator/clock', `{"advance_ns":${byNs}}`);
    this.nowNs += byNs;
  }

  /** A market of an asset of its own. */
  async addMarket(asset: string, decimals: Decimals, settings: object): Promise<void> {
    await this.operate('PUT', `/operator/assets/${asset}`, { symbol: `A${asset}` });
    await this.openMarket(asset, decimals, settings);
  }

  /** A market of an asset that the registry knows. */
  async openMarket(asset: string, [price, quantity]: Decimals, settings: object): Promise<void> {
    const figures = { book_price_decimals: price, book_quantity_decimals: quantity };
    await this.operate('PUT', `/operator/markets/${asset}`, { ...figures, ...settings });
    this.decimals.set(asset, [price, quantity]);
    await this.rest();
  }

  decimalsOf(asset: string): Decimals {
    return this.decimals.get(asset) ?? assert.fail(`no market of asset ${asset}`);
  }

  /** Nobody has an order any more. */
  async clear(): Promise<void> {
    await this.hook({ release: true });
    await this.hook({ fault: null });
    for (const trader of this.traders) assert.match(await trader.cancelAll(), /^202 /);
    await this.rest();
  }

  async market(asset: string, settings: object): Promise<void> {
    await this.operate('PATCH', `/operator/markets/${asset}`, settings);
  }

  /** Prices and quantities of the book, best first, when everybody has heard everything: depth is published behind the market. */
  async depth(asset = '2'): Promise<{ readonly asks: readonly string[]; readonly bids: readonly string[] }> {
    await this.rest();
    const answer = await fetch(`${this.node.mds}/marketdepth/${asset}`);
    const body = (await answer.json()) as Record<'asks' | 'bids', readonly unknown[]>;
    const shown = (levels: readonly unknown[]): readonly string[] => levels.map((level) => String(level));
    return { asks: shown(body.asks), bids: shown(body.bids) };
  }

  /** Frames of a public stream, parsed. */
  async listen(path: string, into: Json[]): Promise<void> {
    const socket = new WebSocket(`${this.node.mds.replace('http', 'ws')}${path}`);
    this.watchers.push(socket);
    socket.on('message', (data) => into.push(JSON.parse(String(data)) as Json));
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
  }

  async ledgerAddsUp(): Promise<void> {
    const ledger = await this.operate('GET', '/operator/ledger');
    const rows = Object.entries(ledger['assets'] as Record<string, { difference: string }>);
    for (const [asset, { difference }] of rows) assert.equal(difference, '0', `asset ${asset} adds up`);
  }

  /** No two stamps are equal, and none is ahead of the node's clock by more than a moment. */
  stamp(): bigint {
    this.stamps += 1n;
    return this.nowNs + this.stamps;
  }
}

// ---- a user

export class Trader {
  readonly key: SigningKey;
  /** Frames of `/orders` since the last login. */
  readonly events: Json[] = [];
  /** Frames of the trade stream since the last login. */
  readonly fills: Json[] = [];
  private readonly world: TestNode;
  private headers: Record<string, string> = {};
  private sockets: WebSocket[] = [];
  private made = 0;

  constructor(world: TestNode, key: SigningKey) {
    this.world = world;
    this.key = key;
  }

  get userId(): string {
    return this.key.userId;
  }

  async login(): Promise<void> {
    const { oms } = this.world.node;
    const { value } = (await (await fetch(`${oms}/nonce/${this.userId}`)).json()) as { value: string };
    const signature = [...this.key.sign(Buffer.from(value))];
    const answer = await fetch(`${oms}/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: this.userId, nonce: value, signature }),
    });
    const { token } = (await answer.json()) as { token: string };
    this.headers = { authorization: `Bearer ${token}`, 'user-id': this.userId };
    this.events.length = 0;
    this.fills.length = 0;
    this.sockets = [];
    await this.listen('/orders', this.events);
    await this.listen(`/trades/user/events/${this.userId}`, this.fills);
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  /** A socket of this user; its frames go into the list, and it closes with the others. */
  async listen(path: string, into: Json[], protocols: string[] = []): Promise<WebSocket> {
    const socket = new WebSocket(`${this.world.node.oms.replace('http', 'ws')}${path}`, protocols, {
      headers: this.headers,
    });
    this.sockets.push(socket);
    socket.on('message', (data) => into.push(JSON.parse(String(data)) as Json));
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return socket;
  }

  /** The headers of this user's session. */
  session(): Readonly<Record<string, string>> {
    return this.headers;
  }

  /** Any call of the order service with this user's session. @returns status and body. */
  async call(
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`${this.world.node.oms}${path}`, {
      method,
      headers: { ...this.headers, 'content-type': 'application/json', ...headers },
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
  wrapper(side: 'Buy' | 'Sell', details: string, ticket: Ticket = {}): { readonly id: string; readonly text: string } {
    const { asset = '2', account = 0, trigger = 'null', maxFee = 50_000, isForged = false } = ticket;
    const { isSpot = true, isReduceOnly = false } = ticket;
    const id = ticket.id ?? this.nextId();
    const [price, quantity] = this.world.decimalsOf(asset);
    const order =
      `{"signer":"${this.userId}","order_id":"${id}","base_asset":"${asset}","book_price_decimals":${price},` +
      `"book_quantity_decimals":${quantity},"details":${details},"side":"${side}","trigger":${trigger},` +
      `"creation_timestamp_ns":${ticket.createdNs ?? this.world.stamp()},"target":{"account":${account},"is_spot":${isSpot}},` +
      `"reduce_only":${isReduceOnly},"max_trading_fees_rate":${maxFee},"protocol_version":1}`;
    return { id, text: this.wrapped('order', order, '', { isForged }) };
  }

  async create(side: 'Buy' | 'Sell', details: string, ticket: Ticket = {}): Promise<Answered> {
    const { id, text } = this.wrapper(side, details, ticket);
    return this.act('POST', '/orders/create', id, text);
  }

  async replace(id: string, change: Change): Promise<Answered> {
    return this.act('PATCH', '/orders/replace', id, this.replaceWrapper(id, change));
  }

  /** The wrapper of a replace, as a body. */
  replaceWrapper(id: string, change: Change): string {
    const { asset = '2', price = null, quantity = null, trigger = 'null' } = change;
    const [priceDecimals, quantityDecimals] = this.world.decimalsOf(asset);
    const request =
      `{"order_id":"${id}","timestamp_ns":${change.timestampNs ?? this.world.stamp()},"new_price_limit":${price},` +
      `"new_quantity":${quantity},"new_trigger":${trigger},"book_quantity_decimals":${quantityDecimals},` +
      `"book_price_decimals":${priceDecimals},"protocol_version":1}`;
    const rest = `"signer":"${this.userId}","asset_id":"${asset}",`;
    return this.wrapped('request', request, rest, { signed: change.signed ?? request });
  }

  /** @returns for each wrapper its id, and `Received` or the reason: `a Received`. */
  async batchCreate(...wrappers: readonly { readonly text: string }[]): Promise<readonly string[]> {
    const body = `{"orders":[${wrappers.map(({ text }) => text).join(',')}]}`;
    return this.batch('POST', '/orders/batch-create', body);
  }

  async batchReplace(...wrappers: readonly string[]): Promise<readonly string[]> {
    return this.batch('PATCH', '/orders/batch-replace', `{"requests":[${wrappers.join(',')}]}`);
  }

  async cancel(id: string, asset = '2'): Promise<Answered> {
    return this.act('DELETE', '/orders/cancel', id, this.cancelWrapper(id, asset));
  }

  /** The wrapper of a cancel, as a body. */
  cancelWrapper(id: string, asset = '2'): string {
    const cancel = `{"order_id":"${id}","asset_id":"${asset}","signer":"${this.userId}","protocol_version":1}`;
    return this.wrapped('cancel', cancel, '');
  }

  /** @returns status and body, as text. */
  async cancelAll(path = '', query = ''): Promise<string> {
    return this.unsigned(`/orders/cancel-all${path}${query}`);
  }

  async cancelBatch(body: object): Promise<string> {
    return this.unsigned('/orders/cancel-batch', JSON.stringify(body));
  }

  /** The record once the node rests, or its refusal's code under `error`. */
  async record(id: string, asset = '2'): Promise<Json> {
    await this.world.rest();
    const path = `/orders/user/${this.userId}/${asset}/${encodeURIComponent(id)}`;
    const answer = await fetch(`${this.world.node.oms}${path}`, { headers: this.headers });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error === undefined ? (body as Json) : { error: body.error.code };
  }

  async status(id: string, asset = '2'): Promise<unknown> {
    const record = await this.record(id, asset);
    return record['status'] ?? record['error'];
  }

  /** What of an asset an account holds for orders, as clearing has it. */
  async held(asset: string, account = 0): Promise<string | undefined> {
    return (await this.balance(asset, account))?.['held'];
  }

  async owned(asset: string, account = 0): Promise<string | undefined> {
    return (await this.balance(asset, account))?.['owned'];
  }

  /** Clearing hears of an order by another road than its user: it is asked when both have. */
  private async balance(asset: string, account: number): Promise<Record<string, string> | undefined> {
    await this.world.rest();
    const view = await this.world.operate('GET', `/operator/users/${this.userId}`);
    const accounts = view['sub_accounts'] as Record<string, { balances: Record<string, Record<string, string>> }>;
    return accounts[account]?.balances[asset];
  }

  // ---- what was told

  /** Events of one order: `Created`, `Canceled UserRequested`, … */
  eventsOf(id: string): readonly string[] {
    return this.events.flatMap((frame) => {
      const [kind, told] = Object.entries(frame)[0] ?? ['', {}];
      const { order_id, user_order, reason } = told as { order_id?: string; user_order?: Json; reason?: string | null };
      if ((order_id ?? user_order?.['order_id']) !== id) return [];
      return [reason === undefined || reason === null ? kind : `${kind} ${reason}`];
    });
  }

  /** Words of one order once its last event is this one; by then everybody has read what they were told, fills too. */
  async until(id: string, last: string): Promise<readonly string[]> {
    await eventually(
      () => this.eventsOf(id).at(-1) === last,
      () => `${id}: ${this.eventsOf(id)} — no ${last}`,
    );
    await this.world.rest();
    return this.eventsOf(id);
  }

  /** What was sent on any of this user's sockets has been read. */
  async caughtUp(): Promise<void> {
    await Promise.all(this.sockets.map(behindEverything));
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

  private nextId(): string {
    this.made += 1;
    return `${this.userId.slice(0, 4)}-${this.made}`;
  }

  private wrapped(
    name: string,
    text: string,
    rest: string,
    words: { isForged?: boolean; signed?: string } = {},
  ): string {
    const signature = [...this.key.sign(Buffer.from(words.signed ?? text))];
    if (words.isForged === true) signature[5] = ((signature[5] ?? 0) + 1) % 256;
    return `{"${name}":${text},${rest}"signature":[${signature}],"post_sign_timestamp":${this.world.nowNs}}`;
  }

  private async batch(method: string, path: string, body: string): Promise<readonly string[]> {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    const answer = await fetch(`${this.world.node.oms}${path}`, { method, headers, body });
    const told = (await answer.json()) as {
      readonly results?: readonly {
        readonly order_id: string;
        readonly status: string;
        readonly reason: string | null;
      }[];
      readonly error?: { readonly code: string };
    };
    if (told.results === undefined) return [`${answer.status} ${told.error?.code}`];
    return told.results.map(({ order_id, status, reason }) => `${order_id} ${reason ?? status}`);
  }

  private async act(method: string, path: string, id: string, body: string): Promise<Answered> {
    const answer = await fetch(`${this.world.node.oms}${path}`, {
      method,
      headers: { ...this.headers, 'content-type': 'application/json' },
      body,
    });
    const told = (await answer.json()) as {
      readonly status?: string;
      readonly error?: { readonly code: string; readonly details?: Json };
    };
    const word = told.error?.code ?? told.status ?? '';
    return { id, status: answer.status, word, field: told.error?.details?.['field'] };
  }

  private async unsigned(path: string, body?: string): Promise<string> {
    const answer = await fetch(`${this.world.node.oms}${path}`, {
      method: 'DELETE',
      headers: { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
    return `${answer.status} ${await answer.text()}`;
  }
}
