/** A node of the `test` profile under the contract suite: its clock, its operator, and plain clients with money. */
import assert from 'node:assert/strict';
import { barrier, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { PlainClient, PlainKey, type Ports } from './plain-client.ts';

const START_NS = 1_800_000_000_000_000_000n;

/** Seed bytes of users, so that no two suites of one node share one. */
let nextSeedByte = 0x50;

function portOf(url: string): number {
  return Number(new URL(url).port);
}

export type Funds = Readonly<Record<string, string>>;
/** Enough of everything for any order of a test. */
export const RICH: Funds = { '0': '1000000', '1': '50', '2': '1000', '3': '100000' };

export class ContractNode {
  process: NodeProcess;
  nowNs: bigint = START_NS;
  #stamps = 0n;
  readonly #clients: PlainClient[] = [];

  private constructor(process: NodeProcess) {
    this.process = process;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<ContractNode> {
    return new ContractNode(await startNode({ profile: 'test', env }));
  }

  async stop(): Promise<void> {
    await stopNode(this.process, 'SIGKILL');
    removeDirectory(this.process.dataDirectory);
  }

  /** Ends the process and starts it on the same data. */
  async restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    const { dataDirectory } = this.process;
    await stopNode(this.process, signal);
    this.process = await startNode({ profile: 'test', dataDirectory });
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
  async operate(method: string, path: string, body?: string | object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await operator(this.process, method, path, body).catch((error: unknown) => {
      throw new Error(`${method} ${path}: ${String(error)}\n${this.process.stderr()}`);
    });
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  /** Everybody has heard everything, and every reader that keeps up has read it. */
  async rest(): Promise<void> {
    await barrier(this.process).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.process.stderr()}`);
    });
    await Promise.all(this.#clients.map((client) => client.caughtUp()));
  }

  async hook(body: object): Promise<void> {
    await this.operate('POST', '/operator/clearing', body);
  }

  /** A key nobody has met, without a session. */
  stranger(): PlainClient {
    nextSeedByte += 1;
    const client = new PlainClient(
      new PlainKey(nextSeedByte),
      () => this.ports,
      () => this.stamp(),
    );
    this.#clients.push(client);
    return client;
  }

  /** A user nobody has met, logged in, with so much of each asset in each of the accounts. */
  async user(funds: Funds = RICH, accounts: readonly number[] = [0]): Promise<PlainClient> {
    const client = await this.stranger().login();
    await this.rest();
    for (const account of accounts) await this.fund(client, funds, account);
    await this.rest();
    return client;
  }

  async fund(client: PlainClient, funds: Funds, account = 0): Promise<void> {
    for (const [asset_id, amount] of Object.entries(funds)) {
      await this.operate('POST', '/operator/faucet', { user_id: client.id, sub_account: account, asset_id, amount });
    }
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

  /** Every asset's claims equal what the vaults hold (AMB-116). */
  async ledgerAddsUp(): Promise<void> {
    const ledger = await this.operate('GET', '/operator/ledger');
    const rows = Object.entries(ledger['assets'] as Record<string, { difference: string }>);
    assert.ok(rows.length > 0);
    for (const [asset, { difference }] of rows) assert.equal(difference, '0', `asset ${asset} adds up`);
  }
}
