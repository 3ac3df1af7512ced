// tier: quick, 4 s
/** One provider over HTTP: faults are values, answers are bounded and of their form or no answers. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { encodeDeposit } from '../../src/chain/chain-events.ts';
import { LOG_BLOCKS_MAX, LOGS_MAX, readHeader, readLogs, readQuantity } from '../../src/chain/evm-answers.ts';
import { EvmProvider } from '../../src/chain/evm-provider.ts';
import type { UserId } from '../../src/core/ids.ts';
import { propertyParameters } from '../support/property.ts';

const VAULT = '0d'.repeat(20);
const USER = 'a1'.repeat(32) as UserId;
const FILTER = { event: 'deposit' as const, vault: VAULT, fromBlock: 10, toBlock: 20, user: null };
const hash = (block: number): string => block.toString(16).padStart(64, 'c');
const ANCHOR = { number: 9, hash: hash(9) };

function log(block: number, logIndex: number): Record<string, unknown> {
  const { topics, data } = encodeDeposit({
    user: USER,
    nonce: logIndex,
    token: '5a'.repeat(20).padEnd(64, '0'),
    baseUnits: 7n,
  });
  return {
    address: `0x${VAULT}`,
    topics: topics.map((topic) => `0x${topic}`),
    data: `0x${data}`,
    blockNumber: `0x${block.toString(16)}`,
    blockHash: `0x${hash(block)}`,
    transactionHash: `0x${'ee'.repeat(32)}`,
    logIndex: `0x${logIndex.toString(16)}`,
    removed: false,
  };
}

const within =
  (from: number, to: number) =>
  ({ blockNumber }: Record<string, unknown>): boolean =>
    Number(blockNumber) >= from && Number(blockNumber) <= to;

/** What the server answers to a method. */
type Answers = (method: string, params: readonly unknown[]) => unknown;

const honest: Answers = (method, params) => {
  if (method === 'eth_chainId') return '0x7a69';
  if (method === 'eth_blockNumber') return '0x20';
  if (method === 'eth_getLogs') return [log(12, 0), log(12, 1), log(20, 0)];
  const block = params[0] as string;
  return { number: block, hash: `0x${hash(Number(block))}`, timestamp: block };
};

suite('EVM provider', () => {
  let server: Server;
  let answers: Answers = honest;
  let raw: ((body: string) => { status: number; headers: Record<string, string>; text: string } | null) | null = null;
  let nowMs = 0;
  let requests = 0;
  const changes: (string | null)[] = [];

  before(async () => {
    server = createServer(async (request, response) => {
      requests += 1;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString('utf8');
      if (raw !== null) {
        const given = raw(body);
        if (given === null) response.destroy();
        else response.writeHead(given.status, given.headers).end(given.text);
        return;
      }
      const calls = JSON.parse(body) as { id: number; method: string; params: unknown[] }[];
      const replies = [calls].flat().map(({ id, method, params }) => {
        const result = answers(method, params);
        return result instanceof Error
          ? { jsonrpc: '2.0', id, error: { code: Number(result.message), message: 'refused' } }
          : { jsonrpc: '2.0', id, result };
      });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(Array.isArray(calls) ? replies : replies[0]));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  afterEach(() => {
    answers = honest;
    raw = null;
    changes.splice(0);
  });

  const provider = (): EvmProvider => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new EvmProvider({ url, vmId: 31_337n, nowMs: () => nowMs, changed: (fault) => changes.push(fault) });
  };

  test('reads the head with a hash, and a range with the hash of its end', async () => {
    const one = provider();
    assert.deepEqual(await one.look(9), { head: 32, hash: hash(9), time: 9 });
    const range = await one.range(FILTER, ANCHOR);
    assert.ok(range !== null && range !== 'refused');
    assert.equal(range.endHash, hash(20));
    assert.deepEqual(
      range.logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex]),
      [
        [12, 0],
        [12, 1],
        [20, 0],
      ],
    );
  });

  test('DEP-09: an anchor of another fork, a block that changes meanwhile, and a log of another block are no answer, and no fault', async () => {
    const one = provider();
    assert.equal(await one.range(FILTER, { number: 9, hash: hash(8) }), null);
    let asked = 0;
    answers = (method, params) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== '0x14') return honest(method, params);
      asked += 1;
      return { number: '0x14', hash: `0x${hash(asked)}`, timestamp: '0x1' };
    };
    assert.equal(await one.range(FILTER, ANCHOR), null);
    answers = (method, params) =>
      method === 'eth_getLogs' ? [{ ...log(12, 0), blockHash: `0x${hash(13)}` }] : honest(method, params);
    assert.equal(await one.range(FILTER, ANCHOR), null);
    answers = (method, params) => (params[0] === '0x14' ? null : honest(method, params));
    assert.equal(await one.range(FILTER, ANCHOR), null);
    assert.deepEqual(changes, []);
  });

  test('a provider of another chain has no answer and rests', async () => {
    answers = (method, params) => (method === 'eth_chainId' ? '0x1' : honest(method, params));
    const one = provider();
    assert.equal(await one.look(9), null);
    assert.deepEqual(changes, ['it serves chain 1']);
    const before = requests;
    assert.equal(await one.look(9), null);
    assert.equal(requests, before, 'it is not asked while it rests');
    answers = honest;
    nowMs += 500;
    assert.deepEqual(await one.look(9), { head: 32, hash: hash(9), time: 9 });
    assert.deepEqual(changes, ['it serves chain 1', null]);
  });

  test('a fault doubles the rest up to 30 s; a 429 rests as long as it asks for, at most a minute', async () => {
    const one = provider();
    raw = () => null;
    for (const restMs of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      assert.equal(await one.look(9), null);
      const before = requests;
      nowMs += restMs - 1;
      await one.look(9);
      assert.equal(requests, before, `it rests ${restMs} ms`);
      nowMs += 1;
    }
    raw = null;
    assert.notEqual(await one.look(9), null);
    raw = () => ({ status: 429, headers: { 'retry-after': '100000' }, text: '{}' });
    assert.equal(await one.look(9), null);
    raw = null;
    nowMs += 59_999;
    assert.equal(await one.look(9), null);
    nowMs += 1;
    assert.notEqual(await one.look(9), null);
  });

  test('CHN-01: a refusal halves the width, down to one block; a range is read in pieces, and a fault is what fails for one block', async () => {
    const widest = (blocks: number, code: number): Answers => {
      return (method, params) => {
        if (method !== 'eth_getLogs') return honest(method, params);
        const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
        const [from, to] = [Number(fromBlock), Number(toBlock)];
        return to - from >= blocks ? new Error(`${code}`) : [log(12, 0), log(20, 0)].filter(within(from, to));
      };
    };
    for (const code of [-32_614, -32_062, -32_005, -32_600, -32_602, -32_000, -32_001, 0, 7]) {
      const one = provider();
      answers = widest(2, code);
      const range = await one.range(FILTER, ANCHOR);
      assert.ok(range !== null && range !== 'refused', `${code}`);
      assert.equal(range.logs.length, 2);
      assert.equal(one.span, 2 * 16);
      answers = widest(0, code);
      assert.equal(await one.range(FILTER, ANCHOR), null);
      assert.deepEqual(changes.splice(0), [`error ${code}`]);
      nowMs += 60_000;
    }
  });

  test('CHN-01: more logs, or blocks with logs, than an answer may have shorten the range', async () => {
    const one = provider();
    answers = (method, params) =>
      method === 'eth_getLogs' ? Array.from({ length: LOGS_MAX + 1 }, () => 0) : honest(method, params);
    assert.equal(await one.range({ ...FILTER, toBlock: 1_000 }, ANCHOR), 'refused');
    assert.equal(await one.range({ ...FILTER, toBlock: 10 }, ANCHOR), null, 'of one block it is a fault');
    assert.deepEqual(changes, ['its logs are malformed']);
    const many = Array.from({ length: LOG_BLOCKS_MAX + 1 }, (_, index) => log(index + 1, 0));
    assert.equal(readLogs(many, { ...FILTER, fromBlock: 0, toBlock: 1_000 }), 'tooMany');
    // In pieces that are short enough for the provider.
    const two = provider();
    answers = (method, params) => {
      if (method !== 'eth_getLogs') return honest(method, params);
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      const [from, to] = [Number(fromBlock), Number(toBlock)];
      return to - from >= 64
        ? new Error('-32062')
        : Array.from({ length: to - from + 1 }, (_, index) => log(from + index, 0));
    };
    assert.equal(await two.range({ ...FILTER, fromBlock: 10, toBlock: 1_033 }, ANCHOR), 'refused');
    assert.equal(two.span, 512);
    assert.equal(await two.range({ ...FILTER, fromBlock: 10, toBlock: 10 + 511 }, ANCHOR), 'refused');
    const range = await two.range({ ...FILTER, fromBlock: 10, toBlock: 10 + 255 }, ANCHOR);
    assert.ok(range !== null && range !== 'refused' && range.logs.length === 256);
  });

  test('CHN-03: an answer beyond its bounds ends there, and the provider rests for five minutes', async () => {
    const one = provider();
    assert.notEqual(await one.look(9), null);
    raw = () => ({ status: 200, headers: { 'content-type': 'application/json' }, text: `[${' '.repeat(40_000_000)}]` });
    const startedMs = performance.now();
    assert.equal(await one.look(9), null);
    assert.ok(performance.now() - startedMs < 10_000);
    assert.equal(one.bombs, 1);
    raw = null;
    nowMs += 299_999;
    assert.equal(await one.look(9), null);
    nowMs += 1;
    assert.notEqual(await one.look(9), null);
  });

  test('property: whatever a provider sends, the answer is of its form or there is none; nothing is thrown (DEP-07)', async () => {
    const valid = {
      chain: '0x7a69',
      head: '0x20',
      logs: [log(12, 0), log(20, 3)],
      block: honest('eth_getBlockByNumber', ['0x14']),
    };
    const json = fc.jsonValue({ maxDepth: 3 });
    const mutated = fc
      .record({ text: fc.constantFrom('"0x', '0d0d', '"0x14"', 'null', 'c'), by: fc.string({ maxLength: 6 }) })
      .map(({ text, by }) => (value: unknown): unknown => {
        try {
          return JSON.parse(JSON.stringify(value).replace(text, by));
        } catch {
          return by;
        }
      });
    const lie = fc.oneof(
      json.map((value) => (): unknown => value),
      mutated,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('eth_getLogs', 'eth_blockNumber', 'eth_getBlockByNumber'),
        lie,
        async (lied, falsify) => {
          nowMs += 100_000;
          const one = provider();
          answers = (method, params) => {
            const value = method === 'eth_getLogs' ? valid.logs : honest(method, params);
            return method === lied ? falsify(value) : value;
          };
          const sight = await one.look(9);
          if (sight !== null) {
            assert.ok(Number.isSafeInteger(sight.head) && sight.head >= 0);
            assert.ok(sight.hash === null || /^[0-9a-f]{64}$/.test(sight.hash));
          }
          nowMs += 100_000;
          const range = await one.range(FILTER, ANCHOR);
          if (range === null || range === 'refused') return;
          assert.match(range.endHash, /^[0-9a-f]{64}$/);
          for (const { address, blockNumber, topics } of range.logs) {
            assert.ok(address === VAULT && blockNumber >= 10 && blockNumber <= 20 && topics.length === 4);
          }
        },
      ),
      propertyParameters(150),
    );
  });

  test('quantities and headers are exact: no number beyond 2^53, no other block; zeros before one are read (CHN-03)', () => {
    assert.equal(readQuantity('0x1fffffffffffff'), Number.MAX_SAFE_INTEGER);
    assert.deepEqual([readQuantity('0x0A'), readQuantity(`0x${'0'.repeat(63)}7`), readQuantity('0x00')], [10, 7, 0]);
    for (const value of [
      '0x20000000000000',
      `0x${'0'.repeat(65)}`,
      '0X1',
      '0x 1',
      '1',
      '0x',
      1,
      null,
      '0x-1',
      ['0x1'],
    ]) {
      assert.equal(readQuantity(value), null, String(value));
    }
    const header = { number: '0x14', hash: `0x${hash(20)}`, timestamp: '0x5' };
    assert.deepEqual(readHeader(header, 20), { number: 20, hash: hash(20), time: 5 });
    assert.equal(readHeader(header, 19), null);
    assert.equal(readHeader({ ...header, hash: hash(20) }, 20), null);
    assert.equal(readHeader(null, 20), null);
  });

  test('CHN-03: logs in any order, or twice the same, are read; no logs may be null', () => {
    const good = [log(12, 0), log(12, 1), log(20, 0)];
    const read = readLogs(good, FILTER);
    assert.deepEqual(readLogs([good[2], good[0], good[2], good[1], good[0]], FILTER), read);
    assert.deepEqual(readLogs(null, FILTER), []);
  });

  test('logs that contradict each other, are removed, of another vault or user, or no deposits are no answer', () => {
    const good = [log(12, 0), log(12, 1)];
    assert.equal((readLogs(good, FILTER) as unknown[]).length, 2);
    const other = `0x${'0e'.repeat(20)}`;
    for (const bad of [
      [good[0], { ...good[0], data: `0x${'0'.repeat(63)}8` }],
      [good[0], { ...good[0], transactionHash: `0x${'ef'.repeat(32)}` }],
      [{ ...good[0], removed: true }],
      [{ ...good[0], address: other }],
      [{ ...good[0], data: '0x' }],
      [{ ...good[0], topics: [] }],
      [{ ...good[0], blockNumber: '0x9' }],
      [good[0], { ...good[1], blockHash: `0x${hash(13)}` }],
      [null],
      'logs',
    ]) {
      assert.equal(readLogs(bad, FILTER), null, JSON.stringify(bad));
    }
    assert.equal(readLogs(good, { ...FILTER, user: 'b2'.repeat(32) }), null);
  });
});
