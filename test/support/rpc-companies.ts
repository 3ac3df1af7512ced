/**
 * A JSON-RPC provider with the limits and the words of real companies (CHN-01 to 04): blocks and results of a range, batches, errors in a
 * 200 and statuses of HTTP, and the ways in which nodes write the same thing differently. Behind it is a plain chain, or an endpoint of
 * JSON-RPC that serves everything.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChainLog } from '../../src/chain/chain-events.ts';
import type { PlainEvm } from './plain-evm.ts';

/** How a request is refused: an error of JSON-RPC in a status, or a status alone. */
interface Refusal {
  readonly status: number;
  /** 0: the body is no JSON-RPC. */
  readonly code: number;
  readonly words: string;
}

/** What a company serves of `eth_getLogs`. */
interface LogLimit {
  readonly name: string;
  /** Blocks of one range. */
  readonly blocks: number;
  /** Logs of one answer. */
  readonly results: number;
  readonly refusal: Refusal;
}

const NONE = Number.MAX_SAFE_INTEGER;
const limit = (
  name: string,
  blocks: number,
  results: number,
  status: number,
  code: number,
  words: string,
): LogLimit => ({
  name,
  blocks,
  results,
  refusal: { status, code, words },
});

export const LOG_LIMITS: readonly LogLimit[] = [
  limit(
    'ten blocks',
    10,
    NONE,
    200,
    -32_600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
  ),
  limit('ten blocks, 400', 10, NONE, 400, -32_600, 'Your app has exceeded its block range of 10'),
  limit('500 blocks', 500, NONE, 200, -32_000, 'exceed maximum block range: 500'),
  limit('1,000 blocks', 1_000, NONE, 200, -32_062, 'Block range is too large'),
  limit('2,000 blocks', 2_000, NONE, 200, -32_602, 'query exceeds max block range 2000'),
  limit('3,000 blocks', 3_000, NONE, 200, -32_062, 'block range exceeds 3000'),
  limit('5,000 blocks', 5_000, NONE, 400, -32_012, 'range is too large, max is 5k'),
  limit('10,000 blocks', 10_000, NONE, 200, -32_614, 'eth_getLogs is limited to a 10,000 range'),
  limit('10,000 blocks, 413', 10_000, NONE, 413, 0, '<html><body>413 Request Entity Too Large</body></html>'),
  limit('10,000 blocks, 403', 10_000, NONE, 403, 0, 'Forbidden: archive ranges need a plan'),
  limit('10,000 blocks, 500', 10_000, NONE, 500, -32_603, 'Internal error'),
  limit('10,000 blocks, 504', 10_000, NONE, 504, 0, 'upstream request timeout'),
  limit('no limit', NONE, NONE, 200, 0, ''),
  limit(
    '10 results',
    NONE,
    10,
    200,
    -32_005,
    'query returned more than 10 results. Try with this block range [0x0, 0x10].',
  ),
  limit(
    '20 results',
    NONE,
    20,
    200,
    -32_602,
    'Log response size exceeded. You can make eth_getLogs requests with up to 20 logs',
  ),
  limit('a size', NONE, 15, 200, -32_008, 'Response is too big'),
  limit('a rate in words', 2_000, NONE, 200, -32_005, 'limit exceeded'),
];

/** What a company does with batches. */
interface BatchLimit {
  readonly name: string;
  readonly calls: number;
  /** `items`: each call of the batch has the error; `cut`: calls behind the limit have no answer; `spoilt`: have an error. */
  readonly form: 'object' | 'one' | 'items' | 'cut' | 'spoilt';
  readonly refusal: Refusal;
}

const batch = (
  name: string,
  calls: number,
  form: BatchLimit['form'],
  status: number,
  code: number,
  words: string,
): BatchLimit => ({
  name,
  calls,
  form,
  refusal: { status, code, words },
});

export const BATCH_LIMITS: readonly BatchLimit[] = [
  batch('any batch', NONE, 'object', 200, 0, ''),
  batch('none, one object', 1, 'object', 200, -32_600, 'Batch requests are not supported'),
  batch('none, a list of one', 1, 'one', 200, -32_600, 'batch is not supported'),
  batch('none, 400', 1, 'object', 400, 0, 'Bad Request'),
  batch('none, 403', 1, 'object', 403, -32_600, 'Batch requests need a plan'),
  batch('none, every item', 1, 'items', 200, -32_600, 'batch too large'),
  batch('three, 413', 3, 'object', 413, 0, 'Payload Too Large'),
  batch('three, one object', 3, 'object', 200, -32_005, 'batch size too large, maximum is 3'),
  batch('three, cut', 3, 'cut', 200, 0, ''),
  batch('three, spoilt', 3, 'spoilt', 200, -32_005, 'too many calls'),
  batch('ten, 500', 10, 'object', 500, -32_603, 'Internal error'),
];

export interface Company {
  readonly logs: LogLimit;
  readonly batch: BatchLimit;
  /** null in place of an empty list. */
  readonly hasNull: boolean;
  readonly order: 'chain' | 'reversed' | 'shuffled';
  readonly isDoubled: boolean;
  readonly hasZeros: boolean;
  /** Ids as texts. */
  readonly hasTextIds: boolean;
  /** Blocks that the machine behind a request lacks, in turn. */
  readonly lags: readonly number[];
  /** A missing block is an error, not null. */
  readonly missingIsError: boolean;
}

export const PLAIN_COMPANY: Company = {
  logs: limit('no limit', NONE, NONE, 200, 0, ''),
  batch: batch('any batch', NONE, 'object', 200, 0, ''),
  hasNull: false,
  order: 'chain',
  isDoubled: false,
  hasZeros: false,
  hasTextIds: false,
  lags: [0],
  missingIsError: false,
};

type Fault = 'none' | 'dead' | 'limited' | 'bomb' | 'slow' | 'overloaded';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Json = Record<string, unknown>;

interface Filter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly topics: readonly [unknown, string?];
}

/** What a company has its answers from: all of it, as JSON-RPC writes it. */
interface Source {
  head(): Promise<number>;
  /** null: no such block. */
  block(number: number): Promise<Json | null>;
  logs(filter: Filter, from: number, to: number): Promise<readonly Json[]>;
  /** Any other method. */
  other(method: string, params: readonly unknown[]): Promise<unknown>;
}

const BOMB_BYTES = 31_457_280;
const SLOW_MS = 50;

export class RpcCompany {
  fault: Fault = 'none';
  /** The byte that a bomb repeats. */
  bomb = '[';
  /** Logs of blocks from this number on are not shown yet. */
  hiddenFrom: number = NONE;
  requests = 0;
  /** Widest range that was answered, and calls of the largest batch. */
  widest = 0;
  readonly company: Company;
  readonly #source: Source;
  readonly #server: Server;
  #turn = 0;

  /** @param chain a plain one, or the address of an endpoint that serves everything. */
  static async start(chain: PlainEvm | string, company: Partial<Company> = {}): Promise<RpcCompany> {
    const source = typeof chain === 'string' ? new Upstream(chain) : new PlainSource(chain);
    const made = new RpcCompany(source, { ...PLAIN_COMPANY, ...company });
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  private constructor(source: Source, company: Company) {
    this.#source = source;
    this.company = company;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v3/secret-key`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.requests += 1;
    if (this.fault === 'dead') {
      response.destroy();
      return;
    }
    if (this.fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    if (this.fault === 'limited') {
      response.writeHead(429, { 'retry-after': '2' }).end('Too Many Requests');
      return;
    }
    if (this.fault === 'overloaded') {
      response.writeHead(503).end('no server is available');
      return;
    }
    if (this.fault === 'bomb') {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let sent = 0; sent < BOMB_BYTES && response.writable; sent += 65_536) {
        if (!response.write(this.bomb.repeat(65_536))) await drained(response);
      }
      response.end();
      return;
    }
    this.#turn += 1;
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[];
    const lag = this.company.lags[this.#turn % this.company.lags.length] ?? 0;
    const head = Math.max(0, (await this.#source.head()) - lag);
    const answer = await (Array.isArray(body) ? this.#batched(body, head) : this.#single(body, head));
    const isText = typeof answer.body === 'string';
    response.writeHead(answer.status, { 'content-type': isText ? 'text/html' : 'application/json' });
    response.end(isText ? answer.body : JSON.stringify(answer.body));
  }

  async #single(call: Call, head: number): Promise<{ readonly status: number; readonly body: unknown }> {
    const given = await this.#result(call, head);
    if (given instanceof Refused) return refused(given.refusal, call.id);
    return { status: 200, body: this.#reply(call, given) };
  }

  async #batched(calls: readonly Call[], head: number): Promise<{ readonly status: number; readonly body: unknown }> {
    const { calls: most, form, refusal } = this.company.batch;
    if (calls.length > most) {
      const { code, words: message } = refusal;
      const error = (id: unknown): Json => ({ jsonrpc: '2.0', id, error: { code, message } });
      if (form === 'object') return refused(refusal, null);
      if (form === 'one') return { status: 200, body: [error(null)] };
      if (form === 'items') return { status: 200, body: calls.map(({ id }) => error(id)) };
      const first = await Promise.all(calls.slice(0, most).map((call) => this.#item(call, head)));
      return {
        status: 200,
        body: form === 'cut' ? first : [...first, ...calls.slice(most).map(({ id }) => error(id))],
      };
    }
    const items = await Promise.all(calls.map((call) => this.#item(call, head)));
    return { status: 200, body: items.reverse() };
  }

  async #item(call: Call, head: number): Promise<Json> {
    const given = await this.#result(call, head);
    if (!(given instanceof Refused)) return this.#reply(call, given);
    const { code, words: message } = given.refusal;
    return { jsonrpc: '2.0', id: call.id, error: { code: code === 0 ? -32_000 : code, message } };
  }

  #reply({ id }: Call, result: unknown): Json {
    return { jsonrpc: '2.0', id: this.company.hasTextIds ? `${id}` : id, result };
  }

  async #result({ method, params }: Call, head: number): Promise<unknown> {
    switch (method) {
      case 'eth_blockNumber':
        return this.#quantity(head);
      case 'eth_getBlockByNumber':
        return this.#header(Number(params[0]), head);
      case 'eth_getLogs':
        return this.#logs(params[0] as Filter, head);
      default:
        return this.#source.other(method, params);
    }
  }

  async #header(number: number, head: number): Promise<unknown> {
    const block = number > head ? null : await this.#source.block(number);
    if (block !== null) return this.#written(block, ['number', 'timestamp']);
    return this.company.missingIsError ? new Refused({ status: 200, code: -32_000, words: 'header not found' }) : null;
  }

  async #logs(filter: Filter, head: number): Promise<unknown> {
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    const { logs: rules, hasNull, order, isDoubled } = this.company;
    if (to - from + 1 > rules.blocks) return new Refused(rules.refusal);
    const last = Math.min(to, head, this.hiddenFrom - 1);
    const shown = last < from ? [] : await this.#source.logs(filter, from, last);
    if (shown.length > rules.results && to > from) return new Refused(rules.refusal);
    this.widest = Math.max(this.widest, to - from + 1);
    if (shown.length === 0 && hasNull) return null;
    const written = shown.map((log) => this.#written(log, ['blockNumber', 'logIndex']));
    const listed = isDoubled ? [...written, ...written.slice(0, 3)] : written;
    if (order === 'reversed') return listed.reverse();
    return order === 'shuffled' ? listed.sort((a, b) => text(a).localeCompare(text(b))) : listed;
  }

  /** With its quantities as this company writes them. */
  #written(entry: Json, quantities: readonly string[]): Json {
    return {
      ...entry,
      ...Object.fromEntries(quantities.map((name) => [name, this.#quantity(Number(entry[name]))])),
    };
  }

  #quantity(value: number): string {
    return `0x${this.company.hasZeros ? '000' : ''}${value.toString(16)}`;
  }
}

class PlainSource implements Source {
  readonly #chain: PlainEvm;

  constructor(chain: PlainEvm) {
    this.#chain = chain;
  }

  async head(): Promise<number> {
    return this.#chain.head;
  }

  async block(number: number): Promise<Json | null> {
    const block = this.#chain.blocks[number];
    return block === undefined ? null : { number, hash: `0x${block.hash}`, timestamp: number, transactions: [] };
  }

  async logs({ topics: [, user] }: Filter, from: number, to: number): Promise<readonly Json[]> {
    return this.#chain.blocks
      .slice(from, to + 1)
      .flatMap(({ logs }) => logs)
      .filter(({ topics }) => user === undefined || user === `0x${topics[1]}`)
      .map(logAsJson);
  }

  async other(method: string): Promise<unknown> {
    if (method === 'eth_chainId') return '0x7a69';
    return new Refused({ status: 200, code: -32_601, words: 'the method does not exist' });
  }
}

function logAsJson(log: ChainLog): Json {
  return {
    address: `0x${log.address}`,
    topics: log.topics.map((topic) => `0x${topic}`),
    data: `0x${log.data}`,
    blockNumber: log.blockNumber,
    blockHash: `0x${log.blockHash}`,
    transactionHash: `0x${log.tx}`,
    logIndex: log.logIndex,
    removed: false,
  };
}

interface RpcReply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** An endpoint that serves everything: one request for each call. */
class Upstream implements Source {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async head(): Promise<number> {
    return Number(await this.#ask('eth_blockNumber', []));
  }

  async block(number: number): Promise<Json | null> {
    return (await this.#ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as Json | null;
  }

  async logs(filter: Filter, from: number, to: number): Promise<readonly Json[]> {
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    return (await this.#ask('eth_getLogs', [{ ...filter, ...range }])) as readonly Json[];
  }

  async other(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result, error } = await this.#reply(method, params);
    if (error === undefined) return result;
    return new Refused({ status: 200, code: error.code, words: error.message });
  }

  /** @throws Error when the endpoint refuses. */
  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result, error } = await this.#reply(method, params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async #reply(method: string, params: readonly unknown[]): Promise<RpcReply> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const reply = await fetch(this.#url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await reply.json()) as RpcReply;
  }
}

class Refused {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    this.refusal = refusal;
  }
}

function refused({ status, code, words }: Refusal, id: unknown): { readonly status: number; readonly body: unknown } {
  return { status, body: code === 0 ? words : { jsonrpc: '2.0', id, error: { code, message: words } } };
}

function text(log: Json): string {
  return String(log['transactionHash']);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}
