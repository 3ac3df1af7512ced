/**
 * A JSON-RPC provider that falsifies the answers of another one: what a lagging, lying, forked, slow or failing provider
 * sends over HTTP.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ProxyFault =
  | 'none'
  | 'unreachable'
  | 'silent'
  | 'slow'
  | 'lagging'
  | 'omits'
  | 'forges'
  | 'forked'
  | 'limited'
  | 'refuses'
  | 'otherChain'
  | 'garbage';

interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Json = Record<string, unknown>;

const SLOW_MS = 1_500;
const LAG_BLOCKS = 4n;

export class RpcProxy {
  fault: ProxyFault = 'none';
  /** Calls by method since the start. */
  readonly calls: Map<string, number> = new Map();
  /** First blocks of the ranges whose logs were asked for. */
  readonly fromBlocks: number[] = [];
  readonly #target: string;
  readonly #server: Server;

  static async start(target: string): Promise<RpcProxy> {
    const proxy = new RpcProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const calls = [JSON.parse(text) as RpcCall | RpcCall[]].flat();
    for (const { method, params } of calls) {
      this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
      if (method === 'eth_getLogs') this.fromBlocks.push(Number((params as readonly [Json])[0]['fromBlock']));
    }
    const { fault } = this;
    if (fault === 'silent') return;
    if (fault === 'unreachable') {
      response.destroy();
      return;
    }
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    if (fault === 'limited') {
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' }).end('{"error":"slow down"}');
      return;
    }
    if (fault === 'garbage') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{"result":');
      return;
    }
    const answer = await fetch(this.#target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    const body = (await answer.json()) as Json | Json[];
    const answers = [body].flat().map((item) => this.#falsified(item, calls));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  }

  #falsified(answer: Json, calls: readonly RpcCall[]): Json {
    const call = calls.find(({ id }) => id === answer['id']);
    const { result } = answer;
    switch (call?.method) {
      case 'eth_chainId':
        return this.fault === 'otherChain' ? { ...answer, result: '0x2' } : answer;
      case 'eth_blockNumber':
        if (this.fault !== 'lagging') return answer;
        return { ...answer, result: `0x${(BigInt(result as string) - LAG_BLOCKS).toString(16)}` };
      case 'eth_getBlockByNumber':
        return this.fault === 'forked' && result !== null ? { ...answer, result: forked(result as Json) } : answer;
      case 'eth_getLogs':
        return this.#falsifiedLogs(answer, call);
      default:
        return answer;
    }
  }

  #falsifiedLogs(answer: Json, { params }: RpcCall): Json {
    const logs = answer['result'] as Json[];
    const [{ fromBlock, toBlock }] = params as readonly [Json];
    switch (this.fault) {
      case 'refuses':
        if (fromBlock === toBlock) return answer;
        return { jsonrpc: '2.0', id: answer['id'], error: { code: -32_005, message: 'limit exceeded' } };
      case 'omits':
        return { ...answer, result: [] };
      case 'forges':
        return { ...answer, result: logs.map((log) => ({ ...log, data: `0x${'0'.repeat(48)}${'f'.repeat(16)}` })) };
      case 'forked':
        return { ...answer, result: logs.map((log) => ({ ...log, blockHash: otherHash(log['blockHash'] as string) })) };
      default:
        return answer;
    }
  }
}

/** The block with another hash. */
function forked(block: Json): Json {
  return { ...block, hash: otherHash(block['hash'] as string) };
}

/** The same for all proxies, so that two of them agree. */
function otherHash(hash: string): string {
  return `0x${'f0'.repeat(4)}${hash.slice(10)}`;
}
