/** A node of the `test` profile for tests at the level of the wire: its clock, its operator, and users with money. */
import assert from 'node:assert/strict';
import type WebSocket from 'ws';
import { behindEverything, parsedFrames } from './edge-client.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from './node-process.ts';
import { PlainClient, type Ports } from './plain-client.ts';
import { removeDirectory } from './temporary-directory.ts';
import { type Decimals, PlainKey } from './wire-texts.ts';
import { Trader } from './wire-trader.ts';

const START_NS = 1_800_000_000_000_000_000n;

/** Seed bytes of users, so that no two suites of one node share one. */
let nextSeedByte = 0x50;

export type Json = Readonly<Record<string, unknown>>;
export type Funds = Readonly<Record<string, string>>;
/** Enough of everything for any order of a test. */
export const RICH: Funds = { '0': '1000000', '1': '50', '2': '1000', '3': '100000' };

function portOf(url: string): number {
  return Number(new URL(url).port);
}

export class TestNode {
  process: NodeProcess;
  nowNs: bigint = START_NS;
  #stamps = 0n;
  readonly #clients: PlainClient[] = [];
  readonly #traders: Trader[] = [];
  readonly #watchers: WebSocket[] = [];
  /** Of markets that a test has made. */
  readonly #decimals = new Map<string, Decimals>();

  private constructor(process: NodeProcess) {
    this.process = process;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<TestNode> {
    return new TestNode(await startNode({ profile: 'test', env }));
  }

  async stop(): Promise<void> {
    for (const trader of this.#traders) trader.close();
    for (const socket of this.#watchers) socket.terminate();
    await stopNode(this.process, 'SIGKILL');
    removeDirectory(this.process.dataDirectory);
  }

  /** Ends the process and starts it on the same data; traders log in again and listen anew. */
  async restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    for (const trader of this.#traders) trader.close();
    const { dataDirectory } = this.process;
    await stopNode(this.process, signal);
    this.process = await startNode({ profile: 'test', dataDirectory });
    await this.login();
  }

  get ports(): Ports {
    return { oms: portOf(this.process.oms), mds: portOf(this.process.mds) };
  }

  /** Different at each call; ahead of the node's clock by less than a millisecond. */
  stamp(): bigint {
    this.#stamps += 1n;
    return this.nowNs + this.#stamps;
  }

  async advance(byNs: bigint): Promise<void> {
    await this.operate('POST', '/operator/clock', `{"advance_ns":${byNs}}`);
    this.nowNs += byNs;
  }

  /** A call that must succeed. */
  async operate(method: string, path: string, body?: string | object): Promise<Json> {
    const answer = await operator(this.process, method, path, body).catch((error: unknown) => {
      throw new Error(`${method} ${path}: ${String(error)}\n${this.process.stderr()}`);
    });
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  async hook(body: object): Promise<Json> {
    return this.operate('POST', '/operator/clearing', body);
  }

  /** Every actor has taken in everything, and every reader that keeps up has read it. */
  async rest(): Promise<void> {
    await barrier(this.process).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.process.stderr()}`);
    });
    const readers = [...this.#clients, ...this.#traders].map((reader) => reader.caughtUp());
    await Promise.all([...readers, ...this.#watchers.map(behindEverything)]);
  }

  // ---- users

  #newKey(): PlainKey {
    nextSeedByte += 1;
    assert.ok(nextSeedByte <= 0xff, 'as many users as there are seeds');
    return new PlainKey(nextSeedByte);
  }

  /** A new key without a session. */
  stranger(): PlainClient {
    const client = new PlainClient(
      this.#newKey(),
      () => this.ports,
      () => this.stamp(),
    );
    this.#clients.push(client);
    return client;
  }

  /** A new user, logged in, with so much of each asset in each of the accounts. */
  async user(funds: Funds = RICH, accounts: readonly number[] = [0]): Promise<PlainClient> {
    const client = await this.stranger().login();
    await this.#endow(client.id, funds, accounts);
    return client;
  }

  /** As `user`, one that listens to its orders and fills. */
  async trader(funds: Funds, accounts: readonly number[] = [0]): Promise<Trader> {
    const trader = new Trader(this, this.#newKey());
    this.#traders.push(trader);
    await trader.login();
    await this.#endow(trader.userId, funds, accounts);
    return trader;
  }

  async #endow(userId: string, funds: Funds, accounts: readonly number[]): Promise<void> {
    await this.rest();
    for (const account of accounts) await this.fund(userId, funds, account);
    await this.rest();
  }

  async fund(userId: string, funds: Funds, account = 0): Promise<void> {
    for (const [asset_id, amount] of Object.entries(funds)) {
      await this.operate('POST', '/operator/faucet', { user_id: userId, sub_account: account, asset_id, amount });
    }
  }

  /** Every trader anew: sessions last for a day. */
  async login(): Promise<void> {
    for (const trader of this.#traders) {
      trader.close();
      await trader.login();
    }
  }

  /** No trader has an order any more. */
  async clear(): Promise<void> {
    await this.hook({ release: true });
    await this.hook({ fault: null });
    for (const trader of this.#traders) assert.match(await trader.cancelAll(), /^202 /);
    await this.rest();
  }

  /** Maker sells and taker buys so much of ETH at 3000; both orders end. */
  async trade(maker: PlainClient, taker: PlainClient, quantity = 1_000): Promise<void> {
    for (const [client, side] of [
      [maker, 'Sell'],
      [taker, 'Buy'],
    ] as const) {
      const answer = await client.create({ side, price: 300_000, quantity });
      assert.equal(answer.status, 200, answer.text);
    }
    await this.rest();
  }

  // ---- markets

  /** A market of an asset of its own. */
  async addMarket(asset: string, decimals: Decimals, settings: object): Promise<void> {
    await this.operate('PUT', `/operator/assets/${asset}`, { symbol: `A${asset}` });
    await this.openMarket(asset, decimals, settings);
  }

  /** A market of an asset of the registry. */
  async openMarket(asset: string, [price, quantity]: Decimals, settings: object): Promise<void> {
    const figures = { book_price_decimals: price, book_quantity_decimals: quantity };
    await this.operate('PUT', `/operator/markets/${asset}`, { ...figures, ...settings });
    this.#decimals.set(asset, [price, quantity]);
    await this.rest();
  }

  /** Undefined: those of the seed. */
  decimalsOf(asset: string): Decimals | undefined {
    return this.#decimals.get(asset);
  }

  /** Oracle price of an asset; everything that follows from it has happened. */
  async oraclePrice(price: string, asset = '2'): Promise<void> {
    await this.operate('POST', '/operator/prices', { prices: [{ asset_id: asset, price }] });
    await this.rest();
  }

  async market(asset: string, settings: object): Promise<void> {
    await this.operate('PATCH', `/operator/markets/${asset}`, settings);
  }

  /** Prices and quantities of the book at rest, best first: depth is published behind the market. */
  async depth(asset = '2'): Promise<{ readonly asks: readonly string[]; readonly bids: readonly string[] }> {
    await this.rest();
    const answer = await fetch(`${this.process.mds}/marketdepth/${asset}`);
    const body = (await answer.json()) as Record<'asks' | 'bids', readonly unknown[]>;
    const shown = (levels: readonly unknown[]): readonly string[] => levels.map((level) => String(level));
    return { asks: shown(body.asks), bids: shown(body.bids) };
  }

  /** Frames of a public stream, parsed. */
  async listen(path: string, into: Json[]): Promise<void> {
    this.#watchers.push(await parsedFrames(`${this.process.mds}${path}`, into));
  }

  /** Every asset's claims equal what the vaults hold (AMB-116). */
  async ledgerAddsUp(): Promise<void> {
    const ledger = await this.operate('GET', '/operator/ledger');
    const rows = Object.entries(ledger['assets'] as Record<string, { difference: string }>);
    assert.ok(rows.length > 0);
    for (const [asset, { difference }] of rows) assert.equal(difference, '0', `asset ${asset} adds up`);
  }
}
