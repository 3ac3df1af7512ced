/**
 * One JSON-RPC provider of an EVM chain, through viem. Every request ends within a bounded time and a bounded answer, and a
 * fault of the provider is a value: no answer.
 *
 *   answered ──fault──▶ rests (0.5 s, 1 s, 2 s … 30 s, or what a 429 asks for) ──answer──▶ answered
 *
 * A range is read between two requests for the hash of its last block, and the block of every log is requested by its
 * number: a provider that serves one answer from several machines on different forks contradicts itself and has not
 * answered (DEP-09).
 *
 * Addresses of providers contain keys: they are never logged, only the index.
 */
import { createClient, type EIP1193RequestFn, type HttpTransportConfig, http } from 'viem';
import type { ChainLog } from './chain-events.ts';
import {
  EVENT_TOPICS,
  type LogFilter,
  readCounter,
  readHeader,
  readLogs,
  readQuantity,
  readUint256,
} from './evm-answers.ts';
import type { RangeAnswer } from './range-verdict.ts';

const TIMEOUT_MS = 5_000;
const WITHDRAWAL_COUNTS = '0x82ff8b1e';
/** `balanceOf(address)` of ERC-20. */
const BALANCE_OF = '0x70a08231';
const SETTLEMENT_COUNTS = '0x8dff2305';
const WORD_DIGITS = 64;
/** 20,000 logs take some 15 MB. */
const BODY_BYTES_MAX = 33_554_432;
const BATCH_MAX = 64;
/** Requests that wait for a slow provider; one more has no answer. */
const WAITING_MAX = 2;
const REST_MS_MIN = 500;
const REST_MS_MAX = 30_000;
/** `eth_getLogs` of a provider that refuses so many blocks or logs. */
const REFUSED_CODES: ReadonlySet<unknown> = new Set([-32_000, -32_005, -32_600, -32_602, -32_603, -32_011, -32_012]);

/** The last block that was processed; a provider on another fork has another hash for it. */
export interface Anchor {
  readonly number: number;
  /** 64 hex. */
  readonly hash: string;
}

export interface Sight {
  readonly head: number;
  /** 64 hex, of the given block; null when the provider has no such block. */
  readonly hash: string | null;
}

/** `refused`: the range has too many blocks or logs for this provider. */
export type RangeReply = RangeAnswer | 'refused' | null;

export interface ChainProvider {
  /** The head, and the hash of one block. null: no answer. */
  look(block: number): Promise<Sight | null>;
  /** @param anchor a provider with another hash for it gives no answer. */
  range(filter: LogFilter, anchor: Anchor): Promise<RangeReply>;
  /**
   * `balanceOf(vault)` of each token at a block; null in the place of a token that has no such answer.
   *
   * @param vault 40 hex. @param tokens 64 hex each, right-padded. null: no answer, or another block.
   */
  balances(vault: string, tokens: readonly string[], at: Anchor): Promise<readonly (bigint | null)[] | null>;
  /** The vault's `withdrawalCounts(user)` at a block. @param vault 40 hex. null: no answer, or another block. */
  withdrawalCount(vault: string, user: string, at: Anchor): Promise<number | null>;
  /** The same of `settlementCounts(user, account)`. */
  settlementCount(vault: string, user: string, account: number, at: Anchor): Promise<number | null>;
}

export interface EvmProviderParts {
  readonly url: string;
  /** The chain id that the provider must name. */
  readonly vmId: bigint;
  readonly nowMs: () => number;
  /** Called when it begins or ends to rest; `fault` is null when it answers again. */
  readonly changed: (fault: string | null) => void;
}

type Request = (call: { readonly method: string; readonly params: readonly unknown[] }) => Promise<unknown>;

export class EvmProvider implements ChainProvider {
  readonly #parts: EvmProviderParts;
  readonly #request: Request;
  #faults = 0;
  #restsUntilMs = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isChecked = false;
  #retryAfterMs = 0;

  constructor(parts: EvmProviderParts) {
    this.#parts = parts;
    const options: HttpTransportConfig = {
      batch: { batchSize: BATCH_MAX, wait: 0 },
      retryCount: 0,
      timeout: TIMEOUT_MS,
      maxResponseBodySize: BODY_BYTES_MAX,
      fetchOptions: { redirect: 'error' },
      onFetchResponse: (response) => this.#noteRate(response),
    };
    const { request } = createClient({ transport: http(parts.url, options) });
    // Methods and answers are validated here, not by viem's types.
    this.#request = request as EIP1193RequestFn as Request;
  }

  look(block: number): Promise<Sight | null> {
    return this.#guarded(async () => {
      const [head, header] = await Promise.all([
        this.#request({ method: 'eth_blockNumber', params: [] }),
        this.#header(block),
      ]);
      const number = readQuantity(head);
      if (number === null) throw new Error('its head is no number');
      return { head: number, hash: readHeader(header, block)?.hash ?? null };
    });
  }

  async range(filter: LogFilter, anchor: Anchor): Promise<RangeReply> {
    return this.#guarded(async () => {
      const { toBlock } = filter;
      const [before, atAnchor, logs] = await Promise.all([
        this.#header(toBlock),
        this.#header(anchor.number),
        this.#logs(filter),
      ]);
      if (logs === 'refused') return logs;
      const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
      const headers = await Promise.all([...numbers, toBlock].map((number) => this.#header(number)));
      const hashes = new Map(
        [...numbers, toBlock].map((number, index) => [number, readHeader(headers[index], number)?.hash]),
      );
      const end = readHeader(before, toBlock);
      // It lags, is on another fork, or changed the fork meanwhile: no fault, and no answer.
      if (end === null || hashes.get(toBlock) !== end.hash) return null;
      if (readHeader(atAnchor, anchor.number)?.hash !== anchor.hash) return null;
      if (logs.some(({ blockNumber, blockHash }) => hashes.get(blockNumber) !== blockHash)) return null;
      return { endHash: end.hash, endTime: end.time, logs };
    });
  }

  withdrawalCount(vault: string, user: string, at: Anchor): Promise<number | null> {
    return this.#counter(vault, `${WITHDRAWAL_COUNTS}${user}`, at);
  }

  settlementCount(vault: string, user: string, account: number, at: Anchor): Promise<number | null> {
    return this.#counter(vault, `${SETTLEMENT_COUNTS}${user}${account.toString(16).padStart(WORD_DIGITS, '0')}`, at);
  }

  /** The number that a view of the vault returns at a block. @param data of the call. */
  #counter(vault: string, data: string, at: Anchor): Promise<number | null> {
    return this.#guarded(async () => {
      const call = { to: `0x${vault}`, data };
      const [answer, header] = await Promise.all([
        this.#request({ method: 'eth_call', params: [call, quantity(at.number)] }),
        this.#header(at.number),
      ]);
      const counter = readCounter(answer);
      if (counter === null) throw new Error('its counter is no number');
      return readHeader(header, at.number)?.hash === at.hash ? counter : null;
    });
  }

  balances(vault: string, tokens: readonly string[], at: Anchor): Promise<readonly (bigint | null)[] | null> {
    return this.#guarded(async () => {
      const data = `${BALANCE_OF}${vault.padStart(64, '0')}`;
      // A token without such a function is no fault of the provider.
      const balances = tokens.map((token) =>
        this.#request({
          method: 'eth_call',
          params: [{ to: `0x${token.slice(0, 40)}`, data }, quantity(at.number)],
        }).then(readUint256, () => null),
      );
      const [header, ...units] = await Promise.all([this.#header(at.number), ...balances]);
      return readHeader(header, at.number)?.hash === at.hash ? (units as readonly (bigint | null)[]) : null;
    });
  }

  #header(block: number): Promise<unknown> {
    return this.#request({ method: 'eth_getBlockByNumber', params: [quantity(block), false] });
  }

  async #logs(filter: LogFilter): Promise<readonly ChainLog[] | 'refused'> {
    const kinds = EVENT_TOPICS[filter.event];
    const topics = filter.user === null ? [kinds] : [kinds, `0x${filter.user}`];
    const { fromBlock, toBlock } = filter;
    const range = { address: `0x${filter.vault}`, fromBlock: quantity(fromBlock), toBlock: quantity(toBlock), topics };
    let answer: unknown;
    try {
      answer = await this.#request({ method: 'eth_getLogs', params: [range] });
    } catch (error) {
      if (fromBlock < toBlock && isRefusal(error)) return 'refused';
      throw error;
    }
    const logs = readLogs(answer, filter);
    if (logs === null) throw new Error('its logs are malformed');
    return logs === 'tooMany' ? 'refused' : logs;
  }

  /**
   * One request after another: a slow provider gets the next one after its answer to the last. After a fault it
   * rests: then there is no answer and no request.
   */
  #guarded<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#waiting >= WAITING_MAX) return Promise.resolve(null);
    this.#waiting += 1;
    const turn = this.#tail.then(() => this.#attempt(work));
    this.#tail = turn;
    return turn;
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      if (this.#parts.nowMs() < this.#restsUntilMs) return null;
      if (!this.#isChecked) await this.#checkChain();
      const result = await work();
      if (this.#faults > 0) this.#parts.changed(null);
      this.#faults = 0;
      return result;
    } catch (error) {
      this.#rest(error instanceof Error ? error : new Error(String(error)));
      return null;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** @throws Error for a provider of another chain. */
  async #checkChain(): Promise<void> {
    const answer = await this.#request({ method: 'eth_chainId', params: [] });
    const found = readQuantity(answer);
    if (found === null || BigInt(found) !== this.#parts.vmId) throw new Error(`it serves chain ${found}`);
    this.#isChecked = true;
  }

  #rest(error: Error): void {
    const restMs = Math.min(REST_MS_MIN * 2 ** Math.min(this.#faults, 16), REST_MS_MAX);
    this.#restsUntilMs = this.#parts.nowMs() + Math.max(restMs, this.#retryAfterMs);
    this.#retryAfterMs = 0;
    this.#isChecked = false;
    this.#faults += 1;
    // The name of the fault alone: messages of viem contain the address.
    if (this.#faults === 1) this.#parts.changed(faultName(error));
  }

  #noteRate(response: Response): void {
    if (response.status !== 429) return;
    const seconds = Number(response.headers.get('retry-after') ?? '0');
    this.#retryAfterMs = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, 2 * REST_MS_MAX) : 0;
  }
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

/** An answer of JSON-RPC that refuses this range, or one beyond the bytes of an answer; not a lost connection. */
function isRefusal(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : null) {
    if ('name' in at && at.name === 'ResponseBodyTooLargeError') return true;
    if ('status' in at && at.status === 429) return false;
    if ('code' in at && REFUSED_CODES.has(at.code)) return true;
  }
  return false;
}

function faultName(error: Error): string {
  return error.name === 'Error' ? error.message : error.name;
}
