// tier: quick, 6 s
/**
 * Floods of one address against a whole node with the address limits of production, on both listeners: what a single
 * connection, many of them or many sockets send at once is bounded in each turn of the event loop, so the node lives and
 * another address is served in the meantime (AMB-91, AMB-111). The budget that all share is lifted: the turns alone hold.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { frameBytes, OPCODE, RawSocket } from '../fuzz/raw-socket.ts';
import { ask } from '../support/edge-client.ts';
import { cpuMsOf } from '../support/node-process.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { TestNode } from '../support/test-node.ts';
import { IOC } from '../support/wire-texts.ts';

const PRODUCTION = JSON.parse(readFileSync(new URL('../../../config/production.json', import.meta.url), 'utf8')) as {
  readonly addresses: object;
};
/** All of 127.0.0.0/8 is this machine, and each of it an address of its own: one for each flood. */
const HONEST = '127.0.0.1';
let strangers = 1;
function newStranger(): string {
  strangers += 1;
  return `127.0.${Math.floor(strangers / 250)}.${1 + (strangers % 250)}`;
}
/** What the node computes at most while a client of another address waits: not a time, which others use too. */
const SERVED_CPU_MS_MAX = 1_500;
const AFTERMATH_MS = 300;
const PROBE_EVERY_MS = 20;
const CROWD = 32;
const TRADES = 1_000;
const BATCH = 50;
const FRAME_BYTES = 500_000;

const UNREAD_MS = 2_000;
const UNREAD_CONNECTIONS = 64;
/** About what a thousand trades have. */
const PAGE_BYTES = 150_000;
const GROWN_MIB_MAX = 160;

let node: TestNode;
let alice: PlainClient;
const directory = temporaryDirectory();

before(async () => {
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ extends: 'test', addresses: PRODUCTION.addresses }));
  node = await TestNode.start({ RINGBOOK_CONFIG: config });
  alice = await node.user({ '2': '100000' });
  await trade(await node.user({ '0': '1000000000' }));
});
after(async () => {
  await node?.stop();
  removeDirectory(directory);
});

async function trade(taker: PlainClient): Promise<void> {
  for (let made = 0; made < TRADES; made += BATCH) {
    const orders = Array.from({ length: BATCH }, () => alice.createBody({ price: 310_000, quantity: 100 }));
    const made50 = await alice.post('/orders/batch-create', `{"orders":[${orders}]}`);
    assert.equal(made50.status, 200, made50.text);
    const taken = await taker.create({ side: 'Buy', price: 400_000, quantity: 100 * BATCH, tif: IOC });
    assert.equal(taken.status, 200, taken.text);
  }
  await node.rest();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when all are closed by the other side. */
async function allClosed(closings: readonly Promise<unknown>[], what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} is still open`)), PATIENCE_MS);
  });
  await Promise.race([Promise.all(closings), late]).finally(() => clearTimeout(timer));
}

/** Memory that belongs to the node alone. */
function anonMiB(): number {
  const status = readFileSync(`/proc/${node.process.pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

interface Connection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  /** The end of what it received. */
  text: string;
}

async function connectFrom(localAddress: string, port: number): Promise<Connection> {
  const socket = connect({ host: HONEST, port, localAddress, noDelay: true });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const connection: Connection = { socket, closed, text: '' };
  socket.on('data', (data: Buffer) => {
    connection.text = (connection.text + data.toString('latin1')).slice(-1_000);
  });
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  return connection;
}

/** Sends requests to both listeners throughout an action. @returns the most CPU time of the node during one, in milliseconds. */
async function servedDuring(work: () => Promise<void>): Promise<number> {
  let isOver = false;
  const probe = async (port: number, path: string): Promise<number> => {
    let longest = 0;
    while (!isOver) {
      const beforeMs = cpuMsOf(node.process.pid);
      const { status } = await ask(port, path);
      assert.equal(status, 200, 'another address is served');
      longest = Math.max(longest, cpuMsOf(node.process.pid) - beforeMs);
      await pause(PROBE_EVERY_MS);
    }
    return longest;
  };
  const probes = Promise.all([probe(node.ports.oms, '/markets'), probe(node.ports.mds, '/ticker/2')]);
  await work().finally(() => pause(AFTERMATH_MS));
  isOver = true;
  return Math.max(...(await probes));
}

/** @returns what the node computed during the longest answer to another address. */
async function survives(what: string, work: () => Promise<void>): Promise<string> {
  const longest = await servedDuring(work).catch((error: unknown) => {
    throw new Error(`${what}: ${String(error)}\n${node.process.stderr()}`);
  });
  assert.equal(node.process.child.exitCode, null, `${what}: the node ended\n${node.process.stderr()}`);
  assert.ok(
    longest < SERVED_CPU_MS_MAX,
    `${what}: a client of another address waited for ${longest} ms of computation`,
  );
  return `the longest answer to another address: ${longest} ms of computation`;
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Sends the same to so many connections of one address, all at once. */
async function pipelined(port: number, connections: number, bytes: Buffer): Promise<void> {
  const stranger = newStranger();
  const all = [];
  for (let each = 0; each < connections; each += 1) all.push(await connectFrom(stranger, port));
  for (const { socket } of all) socket.write(bytes);
  await allClosed(
    all.map(({ closed }) => closed),
    'a connection that pipelines beyond a turn',
  );
}

/** Sends the same frames to so many sockets of one address, all at once. */
async function framed(port: number, path: string, headers: readonly string[], frames: Buffer): Promise<void> {
  const stranger = newStranger();
  const sockets: RawSocket[] = [];
  for (let each = 0; each < CROWD; each += 1) {
    const socket = await RawSocket.open(port, path, headers, stranger);
    assert.ok(socket !== null, 'the upgrade is let in');
    sockets.push(socket);
  }
  for (const socket of sockets) socket.write(frames);
  const closings = sockets.map((socket) => socket.until(() => socket.isClosed, PATIENCE_MS));
  await Promise.all(closings);
  const told = sockets.flatMap((socket) => socket.frames.filter(({ opcode }) => opcode === OPCODE.close));
  for (const socket of sockets) socket.destroy();
  assert.ok(told.length > 0, 'sockets are closed with a code');
  for (const { payload } of told) assert.equal(payload.readUInt16BE(0), 1013);
}

suite('floods of one address on production limits', () => {
  for (const listener of ['oms', 'mds'] as const) {
    test(`${listener}: 9,000 pipelined reads are no single turn of the loop, and end their connection (AMB-91)`, async (t) => {
      const path = listener === 'mds' ? '/trades/2?limit=1000' : '/markets';
      const bytes = Buffer.from(request(path).repeat(9_000));
      t.diagnostic(await survives('pipelined reads', () => pipelined(node.ports[listener], 1, bytes)));
    });

    test(`${listener}: 246 KiB of unknown paths on each of ${CROWD} connections (AMB-91)`, async (t) => {
      const bytes = Buffer.from(request('/x').repeat(Math.floor((246 * 1_024) / request('/x').length)));
      t.diagnostic(await survives('unknown paths', () => pipelined(node.ports[listener], CROWD, bytes)));
    });
  }

  for (const [name, opcode] of [
    ['empty text frames', OPCODE.text],
    ['pings', OPCODE.ping],
    ['pongs', OPCODE.pong],
  ] as const) {
    const frame = frameBytes(Buffer.alloc(0), { opcode });
    const frames = Buffer.concat(new Array<Buffer>(Math.floor(FRAME_BYTES / frame.length)).fill(frame));

    test(`${name} on ${CROWD} sockets of market data: closed with 1013 (AMB-91)`, async (t) => {
      t.diagnostic(await survives(name, () => framed(node.ports.mds, '/trades', [], frames)));
    });

    test(`${name} on sockets of /control: closed with 1013 (AMB-91)`, async (t) => {
      await node.operate('PUT', '/operator/stream-caps', { default: 100, market_maker: 100 });
      const headers = [`Authorization: Bearer ${alice.token}`, `User-Id: ${alice.id}`];
      t.diagnostic(await survives(name, () => framed(node.ports.oms, '/control', headers, frames)));
    });
  }

  test('junk frames as long as an action on sockets of /control are paid by their address, then closed (AMB-91)', async (t) => {
    const frame = frameBytes(Buffer.alloc(150, '{'), { opcode: OPCODE.text });
    const frames = Buffer.concat(new Array<Buffer>(Math.floor(FRAME_BYTES / frame.length)).fill(frame));
    const headers = [`Authorization: Bearer ${alice.token}`, `User-Id: ${alice.id}`];
    t.diagnostic(await survives('junk', () => framed(node.ports.oms, '/control', headers, frames)));
  });

  test('pages that nothing reads: 64 connections of as many addresses read for seconds, and memory stays (AMB-124)', async (t) => {
    const beforeMiB = anonMiB();
    let askedBytes = 0;
    const work = async (): Promise<void> => {
      const endMs = performance.now() + UNREAD_MS;
      const all: Connection[] = [];
      while (performance.now() < endMs) {
        for (let each = all.length; each < UNREAD_CONNECTIONS; each += 1) {
          const connection = await connectFrom(newStranger(), node.ports.mds);
          connection.socket.pause();
          all.push(connection);
        }
        for (const [index, { socket }] of all.entries()) {
          if (socket.destroyed) all.splice(index, 1);
          else socket.write(request('/trades/2?limit=1000').repeat(4));
        }
        askedBytes += all.length * 4 * PAGE_BYTES;
        await pause(20);
      }
      for (const { socket } of all) socket.destroy();
    };
    t.diagnostic(await survives('unread replies', work));
    const grownMiB = anonMiB() - beforeMiB;
    t.diagnostic(`${grownMiB.toFixed(0)} MiB more for ${(askedBytes / 1_048_576).toFixed(0)} MiB that were asked for`);
    assert.ok(grownMiB < GROWN_MIB_MAX, `${grownMiB} MiB more`);
  });

  test('a request of an address without budget is 429 and ends its connection (AMB-91)', async () => {
    for (const port of [node.ports.oms, node.ports.mds]) {
      const stranger = newStranger();
      const early = await connectFrom(stranger, port);
      let isOpen = true;
      void early.closed.then(() => {
        isOpen = false;
      });
      early.socket.on('data', () => early.socket.write(request('/x')));
      early.socket.write(request('/x'));
      for (let each = 0; isOpen; each += 1) {
        assert.ok(each < 1_000, 'unknown paths cost their address, which loses its connections');
        const { socket, closed } = await connectFrom(stranger, port);
        socket.write(request('/x').repeat(1_000));
        await allClosed([closed], 'a connection that pipelines beyond a turn');
      }
      assert.match(early.text, /HTTP\/1\.1 429 .*Connection: close.*"bucket":"address"/s);
    }
  });
});
