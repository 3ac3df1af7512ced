// tier: quick
/** Strangers with long bodies: how many are read in a turn, how much is held, and who pays (AMB-91, AMB-124). */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { beforeEach, suite, test } from 'node:test';
import { AddressLimits, STALLED_UNITS } from '../../src/gateway/sessions/address-limits.ts';
import { AddressGate } from '../../src/http/address-gate.ts';
import { ReadingTurns } from '../../src/http/reading-turns.ts';
import { listenWith } from '../support/listeners.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';

const LONG = 300_000;
const LONGEST = 524_288;
const HELD_MAX = 8 * LONGEST;
const ARRIVING_MAX = 20;
const LOCAL = '127.0.0.1';
let alive = 0;
let charged = 0n;
const limits = new AddressLimits({ size: { unitsPerSecond: 1n, capacity: 1_000_000n }, socketsMax: 1 });
const charge = limits.charge.bind(limits);
limits.charge = (address, units, now) => {
  charged += units;
  charge(address, units, now);
};
/** For each body that was handled, the turns that the thread had counted before. */
const handledAt: number[] = [];
const listener = listenWith(
  ({ routes }) => {
    routes.add({
      method: 'POST',
      pattern: '/long',
      bodyBytesMax: LONGEST,
      deadlineMs: PATIENCE_MS,
      handler: (call, body) => {
        handledAt.push(alive);
        call.chargeBody();
        call.reply(`{"bytes":${body.length}}`);
      },
    });
    routes.add({ method: 'POST', pattern: '/slow', deadlineMs: 20, handler: (call) => call.reply('{}') });
  },
  {
    gate: new AddressGate({ limits, source: 'peer', nowNs: () => 1n, refused: () => undefined }),
    turns: new ReadingTurns(() => {
      alive += 1;
    }),
    bodiesHeldMax: HELD_MAX,
    bodiesArrivingMax: ARRIVING_MAX,
  },
);
const { routes } = listener;

beforeEach(() => {
  handledAt.length = 0;
  charged = 0n;
});

interface Half {
  readonly socket: Socket;
  readonly told: Promise<string>;
}

/** A request without its last byte. */
async function half(path: string, length: number): Promise<Half> {
  const socket = connect(listener.port, LOCAL);
  await new Promise((resolve) => socket.once('connect', resolve));
  const told = new Promise<string>((resolve) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1')));
    socket.once('error', () => resolve(''));
  });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(length - 1), resolve));
  return { socket, told };
}

suite('long bodies', () => {
  test('bodies that end in one moment are handled in turns of their own, between which the thread sends a heartbeat', async () => {
    const halves = [];
    for (let each = 0; each < 5; each += 1) halves.push(await half('/long', LONG));
    await eventually(() => routes.heldBytes >= 5 * (LONG - 1));
    for (const { socket } of halves) socket.write('x');
    for (const { told } of halves) assert.match(await told, /"bytes":300000/);
    assert.equal(new Set(handledAt).size, 5, `${handledAt}`);
    assert.equal(routes.heldBytes, 0);
    for (const { socket } of halves) socket.destroy();
  });

  test('the address pays for bytes without a session, also when all is well', async () => {
    const { socket, told } = await half('/long', LONG);
    socket.write('x');
    assert.match(await told, /200 OK/);
    assert.equal(charged, BigInt(Math.ceil(LONG / 4_096) - 1), 'a unit for 4 KiB beyond the first');
    socket.destroy();
  });

  test('a body that stalls until its deadline is paid for', async () => {
    const { socket, told } = await half('/slow', 100);
    assert.match(await told, /504/);
    assert.equal(charged, STALLED_UNITS);
    socket.destroy();
  });

  test('bodies under way are bounded all together: the longest under way is 503 and cut; whose client goes is let go', async () => {
    const halves: Half[] = [];
    while (routes.heldBytes + 2 * LONGEST < HELD_MAX) {
      halves.push(await half('/long', LONGEST));
      const count = halves.length;
      await eventually(() => routes.heldBytes >= count * (LONGEST - 1));
    }
    const more = await Promise.all([half('/long', LONGEST), half('/long', LONGEST), half('/long', LONGEST)]);
    const [first] = halves;
    assert.match((await first?.told) ?? '', /503/);
    // A body that comes in one piece is read all the same.
    const whole = connect(listener.port, LOCAL);
    const head = `POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: ${LONG}\r\n\r\n`;
    whole.write(head + 'x'.repeat(LONG));
    const answered = await new Promise<Buffer>((resolve) => whole.once('data', resolve));
    assert.match(answered.toString(), /200 OK/);
    whole.destroy();
    assert.ok(routes.heldBytes <= HELD_MAX);
    for (const { socket } of [...halves, ...more]) socket.destroy();
    await eventually(() => routes.heldBytes === 0);
    assert.equal(routes.pendingCount, 0);
  });

  test('bodies that have begun are bounded in number: the longest under way gives way, and one that comes whole is read', async () => {
    const begun: Half[] = [];
    for (let each = 0; each < ARRIVING_MAX + 3; each += 1) begun.push(await half('/long', 2));
    for (const { told } of begun.slice(0, 2)) assert.match(await told, /503/);
    const whole = connect(listener.port, LOCAL);
    whole.write('POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    const answered = await new Promise<Buffer>((resolve) => whole.once('data', resolve));
    assert.match(answered.toString(), /200 OK/);
    whole.destroy();
    for (const { socket } of begun) socket.destroy();
    await eventually(() => routes.pendingCount === 0);
    assert.equal(routes.heldBytes, 0);
  });
});
