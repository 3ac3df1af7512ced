/** An ops listener over an OpsWorld, and a client that sees status, headers and the exact text. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { WatchedChain } from '../../src/chain/chain-kind.ts';
import type {
  ChainCounters,
  ChainOperations,
  ChainTransaction,
  ChainVault,
  DepositRequest,
  ExecuteSettlement,
  ExecuteWithdrawal,
  ForceWithdrawRequest,
  MintRequest,
  ProviderEntry,
  Reorganised,
  SignedCheckpoint,
  SimulatedOperations,
} from '../../src/chain/chain-operations.ts';
import type { ProviderFault, Reorganisation } from '../../src/chain/simulated-chain.ts';
import type { AssetId, ChainId } from '../../src/core/ids.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import type { OperatorToken } from '../../src/operator/operator-tokens.ts';
import type { OpsRoute } from '../../src/operator/ops-http.ts';
import { OpsServer } from '../../src/operator/ops-server.ts';
import type { Leadership } from '../../src/runtime/leadership.ts';
import { createLogger } from '../../src/runtime/logging.ts';
import { OpsWorld } from './ops-world.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Through doubles: for members that are no nanoseconds. */
  readonly json: Json;
}

/** Parsed JSON, to be looked into; `error` where the call was refused. */
export interface Json {
  readonly [member: string]: unknown;
  readonly error: {
    readonly code: string;
    readonly retryable: boolean;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly trace_id: string;
    readonly span_id: string;
  };
}

export class OpsFixture {
  readonly world: OpsWorld;
  readonly logged: string[] = [];
  readonly chains: PlainChains = new PlainChains();
  port = 0;
  readonly #server: OpsServer;

  constructor(
    profile: 'dev' | 'test' | 'production' = 'test',
    leadership: Leadership | null = null,
    tokens: readonly OperatorToken[] | null = null,
  ) {
    this.world = new OpsWorld(profile);
    if (tokens !== null) this.world.useTokens(tokens);
    this.world.leadership = leadership;
    const stream = { write: (line: string) => void this.logged.push(line) };
    const log = createLogger({ name: 'ops', level: 'info', stream });
    this.#server = new OpsServer(this.world.parts(), () => this.chains, log);
  }

  /** All that the listener documents. */
  get routes(): readonly OpsRoute[] {
    return this.#server.routes;
  }

  async open(port = 0): Promise<this> {
    this.port = await this.#server.listen({ host: '127.0.0.1', port });
    return this;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** @param body an object, or the exact text. */
  call(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const authorization = `Bearer ${this.world.config.token}`;
    return this.send(method, path, body, { authorization, ...headers });
  }

  send(method: string, path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: this.port, method, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const reply = Buffer.concat(chunks).toString('utf8');
          const isJson = response.headers['content-type'] === 'application/json';
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: reply,
            json: (isJson && reply !== '' ? JSON.parse(reply) : {}) as Json,
          });
        });
      });
      call.on('error', reject);
      call.end(text);
    });
  }

  /** A call that must succeed. */
  async ok(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.call(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.json;
  }

  /** A call that must be refused with this code. @returns the field at fault. */
  async refused(status: number, code: string, method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.call(method, path, body);
    assert.deepEqual([answer.status, answer.json.error.code], [status, code], `${method} ${path}: ${answer.text}`);
    assert.match(answer.json.error.trace_id, /^[0-9a-f]{32}$/);
    return answer.json.error.details?.['field'];
  }
}

const TRANSACTION: ChainTransaction = {
  tx: 'ab'.repeat(32),
  status: 'mined',
  revert: null,
  block: 12,
  head: 12,
  nonce: 0,
};

/** Records its requests. */
export class PlainChains implements ChainOperations, SimulatedOperations {
  readonly simulated: SimulatedOperations = this;
  readonly asked: unknown[] = [];
  withheld: readonly ChainId[] = [];
  watchedChains: readonly WatchedChain[] = [];
  held: ReadonlyMap<AssetId, bigint | null> = new Map();
  beyond: ReadonlyMap<AssetId, bigint> = new Map();
  units: ReadonlyMap<string, bigint> = new Map();

  async deposit(chain: ChainId, request: DepositRequest): Promise<Outcome<ChainTransaction>> {
    this.asked.push([chain, request]);
    return accepted(TRANSACTION);
  }

  async withdraw(chain: ChainId, request: ExecuteWithdrawal): Promise<Outcome<ChainTransaction>> {
    this.asked.push([chain, request]);
    return accepted(TRANSACTION);
  }

  async settle(chain: ChainId, request: ExecuteSettlement): Promise<Outcome<ChainTransaction>> {
    this.asked.push([chain, request]);
    return accepted(TRANSACTION);
  }

  wake(): void {
    this.asked.push('wake');
  }

  async mine(chain: ChainId, blocks: number): Promise<Outcome<number>> {
    this.asked.push([chain, blocks]);
    return accepted(12 + blocks);
  }

  async mint(chain: ChainId, request: MintRequest): Promise<Outcome<ChainTransaction>> {
    this.asked.push([chain, request]);
    return accepted(TRANSACTION);
  }

  async counters(): Promise<Outcome<ChainCounters>> {
    return accepted({ depositCounts: 1, withdrawalCounts: 0, settlementCounts: 0 });
  }

  async balance(): Promise<Outcome<bigint>> {
    return accepted(10n ** 30n);
  }

  async vault(chain: ChainId): Promise<Outcome<ChainVault>> {
    return accepted({
      vault: `${'0d'.repeat(32)}@${chain}`,
      head: 12,
      balances: new Map([['5a'.repeat(32), 10n ** 24n]]),
      administrators: ['5d'.repeat(20)],
      quorum: 1,
      escapeMode: false,
      lastCheckpointNs: null,
    });
  }

  async providers(): Promise<Outcome<readonly ProviderEntry[]>> {
    return accepted([{ provider: 0, fault: 'none' }]);
  }

  escape(chain: ChainId): Promise<Outcome<ChainVault>> {
    this.asked.push([chain, 'escape']);
    return this.vault(chain);
  }

  async forceWithdraw(chain: ChainId, request: ForceWithdrawRequest): Promise<Outcome<ChainTransaction>> {
    this.asked.push([chain, request]);
    return accepted(TRANSACTION);
  }

  async withhold(chain: ChainId | null): Promise<void> {
    this.withheld = chain === null ? [] : [...this.withheld, chain];
  }

  async reorganise(chain: ChainId, request: Reorganisation): Promise<Outcome<Reorganised>> {
    this.asked.push([chain, request]);
    return accepted({ head: 14, dropped: ['cd'.repeat(32)] });
  }

  async setProvider(
    chain: ChainId,
    provider: number,
    fault: ProviderFault,
  ): Promise<Outcome<readonly ProviderEntry[]>> {
    this.asked.push([chain, provider, fault]);
    return accepted([{ provider, fault: fault.fault }]);
  }

  async replay(chain: ChainId, tx: string): Promise<Outcome<void>> {
    this.asked.push([chain, tx]);
    return accepted(undefined);
  }

  watched(): readonly WatchedChain[] {
    return this.watchedChains;
  }

  onChain(): ReadonlyMap<AssetId, bigint | null> {
    return this.held;
  }

  approvalStops(): readonly [] {
    return [];
  }

  lastDeviations(): ReadonlyMap<AssetId, bigint> {
    return this.beyond;
  }

  async deviations(): Promise<ReadonlyMap<AssetId, bigint>> {
    return this.beyond;
  }

  async resume(chain: ChainId): Promise<Outcome<void>> {
    this.asked.push([chain, 'resume']);
    return accepted(undefined);
  }

  async readAgain(chain: ChainId, from: number): Promise<Outcome<{ readonly from: number; readonly to: number }>> {
    this.asked.push([chain, 'readAgain', from]);
    return accepted({ from, to: 9 });
  }

  async checkpoint(): Promise<Outcome<SignedCheckpoint>> {
    return accepted({ root: 'ab'.repeat(32), number: 7n, signatures: ['cd'.repeat(65)], entries: [] });
  }

  unclaimedUnits(): ReadonlyMap<string, bigint> {
    return this.units;
  }
}
