/**
 * One JSON-RPC provider of an EVM chain. Every request ends within a bounded time and a bounded answer (rpc-client.ts), and a
 * fault of the provider is a value: no answer.
 *
 *   answered ──fault──▶ rests (0.5 s, 1 s, 2 s … 30 s, or what a 429 asks for) ──answer──▶ answered
 *            ──an answer beyond its bounds──▶ rests for 5 minutes (CHN-03)
 *
 * Providers serve logs of 10 blocks, of 10,000, or of as many as have at most so many logs, and refuse more in words of their own. So a
 * refusal of more than one block halves the width that is remembered for the provider, and a range is read in pieces of it (CHN-01):
 *
 *   range of 64 blocks, width 1,024 ─▶ refused ─▶ 32 + 32
 *
 * A range is read between two requests for the hash of its last block, and the block of every log is requested by its
 * number: a provider that serves one answer from several machines on different forks contradicts itself and has not
 * answered (DEP-09). Headers and logs are requested apart.
 *
 * Addresses of providers contain keys: they are never logged, only the index.
 */
import type { Anchor } from '../clearing/funds/chain-cursor.ts';
import { type ChainLog, keccakText } from './chain-events.ts';
import type { ChainProvider, RangeReply, Sight } from './chain-provider.ts';
import {
  EVENT_TOPICS,
  LOG_BLOCKS_MAX,
  LOGS_MAX,
  type LogFilter,
  readCounter,
  readHeader,
  readLogs,
  readQuantity,
  readUint256,
} from './evm-answers.ts';
import { LearntSize } from './learnt-size.ts';
import type { RangeAnswer } from './range-verdict.ts';
import { type RpcCall, RpcClient, RpcFault, type RpcReply } from './rpc-client.ts';

const WITHDRAWAL_COUNTS = '0x82ff8b1e';
/** `balanceOf(address)` of ERC-20. */
const BALANCE_OF = '0x70a08231';
const ESCAPE_MODE = `0x${keccakText('escapeMode()').slice(0, 8)}`;
const SETTLEMENT_COUNTS = '0x8dff2305';
const WORD_DIGITS = 64;
/** Requests that wait for a slow provider; one more has no answer. */
const WAITING_MAX = 2;
const REST_MS_MIN = 500;
const REST_MS_MAX = 30_000;
const BOMB_REST_MS = 300_000;
const WIDTH_FIRST = 1_024;
/** Blocks of one request for logs. */
const WIDTH_MAX = 65_536;
/** Pieces of one range: as many as the provider reads within READ_MS. */
const PIECES_MAX = 16;
const READ_MS = 2_000;
/** A range that takes longer has no answer. */
const READ_MS_MAX = 15_000;

interface EvmProviderParts {
  readonly url: string;
  /** The chain id that the provider must name. */
  readonly vmId: bigint;
  readonly nowMs: () => number;
  /** Called when it begins or ends to rest; `fault` is null when it answers again. */
  readonly changed: (fault: string | null) => void;
}

type Read = Pick<RangeAnswer, 'endHash' | 'endTime' | 'logs'>;

/** A reply that is no answer. */
class NoAnswer extends Error {}

export class EvmProvider implements ChainProvider {
  readonly #parts: EvmProviderParts;
  readonly #client: RpcClient;
  readonly #width: LearntSize = new LearntSize(WIDTH_FIRST, WIDTH_MAX);
  /** Blocks of a whole range: those with more logs than an answer may have are shortened, whatever the provider serves. */
  readonly #length: LearntSize = new LearntSize(WIDTH_MAX, WIDTH_MAX);
  /** Of the last request for logs. */
  #logsMs = 0;
  #faults = 0;
  #bombs = 0;
  #restsUntilMs = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isChecked = false;

  constructor(parts: EvmProviderParts) {
    this.#parts = parts;
    this.#client = new RpcClient(parts.url);
  }

  get span(): number {
    const pieces = Math.max(1, Math.min(PIECES_MAX, Math.floor(READ_MS / Math.max(this.#logsMs, 1))));
    return Math.min(this.#width.value * pieces, this.#length.value);
  }

  get bombs(): number {
    return this.#bombs;
  }

  look(block: number): Promise<Sight | null> {
    return this.#guarded(async () => {
      const [head, header] = await this.#client.all([HEAD, headerOf(block)]);
      const number = readQuantity(resultOf(head));
      if (number === null) throw new NoAnswer('its head is no number');
      const { hash = null, time = 0 } = readHeader(blockOf(header), block) ?? {};
      return { head: number, hash, time };
    });
  }

  range(filter: LogFilter, anchor: Anchor): Promise<RangeReply> {
    return this.#guarded<Read | 'refused' | null>(async () => {
      const { fromBlock, toBlock } = filter;
      if (toBlock - fromBlock + 1 > this.span) return 'refused';
      const [before, atAnchor] = await this.#headers([toBlock, anchor.number]);
      const end = readHeader(before, toBlock);
      // It lags, or is on another fork: no fault, and no answer.
      if (end === null || readHeader(atAnchor, anchor.number)?.hash !== anchor.hash) return null;
      const logs = await this.#logs(filter);
      if (typeof logs === 'string') return logs === 'late' ? null : logs;
      const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber)), toBlock];
      const headers = await this.#headers(numbers).catch((error: unknown) => {
        // So many blocks with logs take too long, one by one.
        if (error instanceof RpcFault && error.kind === 'timeout') this.#length.refused(toBlock - fromBlock + 1);
        throw error;
      });
      const hashes = new Map(numbers.map((number, index) => [number, readHeader(headers[index], number)?.hash]));
      // It changed the fork meanwhile.
      if (hashes.get(toBlock) !== end.hash) return null;
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
      const [answer, header] = await this.#client.all([viewOf(`0x${vault}`, data, at.number), headerOf(at.number)]);
      if (readHeader(blockOf(header), at.number)?.hash !== at.hash) return null;
      // A machine behind the same address may not have the block.
      if (answer?.ok === false && answer.isMissing) return null;
      const counter = readCounter(resultOf(answer));
      if (counter === null) throw new NoAnswer('its counter is no number');
      return counter;
    });
  }

  escapeMode(vault: string): Promise<boolean | null> {
    return this.#guarded(async () => {
      const call = { to: `0x${vault}`, data: ESCAPE_MODE };
      const reply = await this.#client.one({ kind: 'word', method: 'eth_call', params: [call, 'latest'] });
      if (!reply.ok) return reply.isReverted ? false : null;
      // A contract without such a function may return nothing.
      return reply.value === '0x' ? false : readUint256(reply.value) === 1n;
    });
  }

  balances(vault: string, tokens: readonly string[], at: Anchor): Promise<readonly (bigint | null)[] | null> {
    return this.#guarded(async () => {
      const data = `${BALANCE_OF}${vault.padStart(64, '0')}`;
      const calls = tokens.map((token) => viewOf(`0x${token.slice(0, 40)}`, data, at.number));
      const [header, ...answers] = await this.#client.all([headerOf(at.number), ...calls]);
      if (readHeader(blockOf(header), at.number)?.hash !== at.hash) return null;
      // A token without such a function is no fault of the provider.
      return answers.map((answer) => (answer.ok ? readUint256(answer.value) : null));
    });
  }

  async #headers(blocks: readonly number[]): Promise<readonly unknown[]> {
    return (await this.#client.all(blocks.map(headerOf))).map(blockOf);
  }

  /**
   * The logs of a range, in pieces of the width. `refused`: the width is smaller now, and the range is longer than the span. `late`: it
   * took too long.
   *
   * @throws for a fault, which is what fails for one block (CHN-01).
   */
  async #logs(filter: LogFilter): Promise<readonly ChainLog[] | 'refused' | 'late'> {
    const { fromBlock, toBlock } = filter;
    const endMs = this.#parts.nowMs() + READ_MS_MAX;
    const logs: ChainLog[] = [];
    const blocks = new Set<number>();
    for (let from = fromBlock; from <= toBlock; ) {
      if (from > fromBlock && this.#parts.nowMs() > endMs) return 'late';
      const to = Math.min(toBlock, from + this.#width.value - 1);
      const piece = await this.#piece({ ...filter, fromBlock: from, toBlock: to });
      for (const { blockNumber } of piece ?? []) blocks.add(blockNumber);
      // What was read is read again in shorter ranges.
      const isMuch = logs.length + (piece?.length ?? 0) > LOGS_MAX || blocks.size > LOG_BLOCKS_MAX;
      if (isMuch && this.#length.refused(toBlock - fromBlock + 1)) return 'refused';
      if (piece === null) {
        this.#width.refused(to - from + 1);
        if (toBlock - fromBlock + 1 > this.span) return 'refused';
        continue;
      }
      this.#width.answered(to - from + 1);
      logs.push(...piece);
      from = to + 1;
    }
    this.#length.answered(toBlock - fromBlock + 1);
    return logs;
  }

  /** @returns null when it is refused and shorter ones may not be. @throws for a fault. */
  async #piece(filter: LogFilter): Promise<readonly ChainLog[] | null> {
    const { fromBlock, toBlock } = filter;
    const isOne = fromBlock === toBlock;
    const startedMs = this.#parts.nowMs();
    let reply: RpcReply;
    try {
      reply = await this.#client.one(logsOf(filter));
    } catch (error) {
      if (isOne || !(error instanceof RpcFault) || error.kind === 'unreachable' || error.kind === 'depth') throw error;
      if (error.isRefusal || error.kind === 'bytes' || error.kind === 'values') return null;
      // Gateways give up on long ranges: the next one is shorter, after the rest.
      this.#width.refused(toBlock - fromBlock + 1);
      throw error;
    } finally {
      this.#logsMs = this.#parts.nowMs() - startedMs;
    }
    if (!reply.ok) {
      if (isOne || reply.isRate) this.#width.refused(toBlock - fromBlock + 1);
      if (isOne || reply.isRate) throw new NoAnswer(`error ${reply.code}`);
      return null;
    }
    const logs = readLogs(reply.value, filter);
    if (logs === null || (logs === 'tooMany' && isOne)) throw new NoAnswer('its logs are malformed');
    return logs === 'tooMany' ? null : logs;
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
      if (!(error instanceof RpcFault) && !(error instanceof NoAnswer)) throw error;
      this.#rest(error);
      return null;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** @throws Error for a provider of another chain. */
  async #checkChain(): Promise<void> {
    const found = readQuantity(resultOf(await this.#client.one(CHAIN_ID)));
    if (found === null || BigInt(found) !== this.#parts.vmId) throw new NoAnswer(`it serves chain ${found}`);
    this.#isChecked = true;
  }

  #rest(error: RpcFault | NoAnswer): void {
    const isFault = error instanceof RpcFault;
    const restMs = Math.min(REST_MS_MIN * 2 ** Math.min(this.#faults, 16), REST_MS_MAX);
    const neededMs = isFault && error.isBomb ? BOMB_REST_MS : isFault ? error.retryAfterMs : 0;
    this.#restsUntilMs = this.#parts.nowMs() + Math.max(restMs, neededMs);
    this.#isChecked = false;
    this.#faults += 1;
    if (isFault && error.isBomb) this.#bombs += 1;
    if (this.#faults === 1 || (isFault && error.isBomb)) this.#parts.changed(error.message);
  }
}

const HEAD: RpcCall = { kind: 'word', method: 'eth_blockNumber', params: [] };
const CHAIN_ID: RpcCall = { kind: 'word', method: 'eth_chainId', params: [] };

function headerOf(block: number): RpcCall {
  return { kind: 'header', method: 'eth_getBlockByNumber', params: [quantity(block), false] };
}

function viewOf(to: string, data: string, block: number): RpcCall {
  return { kind: 'word', method: 'eth_call', params: [{ to, data }, quantity(block)] };
}

function logsOf({ event, vault, fromBlock, toBlock, user }: LogFilter): RpcCall {
  const kinds = EVENT_TOPICS[event];
  const topics = user === null ? [kinds] : [kinds, `0x${user}`];
  const range = { address: `0x${vault}`, fromBlock: quantity(fromBlock), toBlock: quantity(toBlock), topics };
  return { kind: 'logs', method: 'eth_getLogs', params: [range] };
}

/** @throws NoAnswer for an error. */
function resultOf(reply: RpcReply | undefined): unknown {
  if (reply?.ok === true) return reply.value;
  throw new NoAnswer(reply === undefined ? 'no reply' : `error ${reply.code}`);
}

/** A block that does not exist is null, in a value or in the words of an error. @throws NoAnswer for another error. */
function blockOf(reply: RpcReply | undefined): unknown {
  return reply?.ok === false && reply.isMissing ? null : resultOf(reply);
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
