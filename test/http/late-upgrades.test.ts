// tier: quick
/** Upgrades on a busy thread: the native server loses some of those that are decided after their request was read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { accepted } from '../../src/core/outcome.ts';
import { MDS_LAG } from '../../src/http/uws-socket.ts';
import { listenWith } from '../support/listeners.ts';

const SOCKETS = 6;
/** Longer than a pass of the event loop may take for one kind of work. */
const ADMISSION_MS = 6;
/** The pass in which each upgrade was decided. */
const passes: number[] = [];
const listener = listenWith(({ hub, routes }) => {
  hub.add<null>({
    pattern: '/stream',
    lag: MDS_LAG,
    admit: () => {
      const endMs = performance.now() + ADMISSION_MS;
      while (performance.now() < endMs);
      passes.push(routes.turns.turnNumber);
      return accepted(null);
    },
    opened: () => undefined,
    closed: () => undefined,
  });
});

suite('upgrades on a busy thread', () => {
  test('are decided in the pass that read them, and each is answered with 101 and stays open', async () => {
    const sockets = Array.from({ length: SOCKETS }, () => connect(listener.port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // Accepted by the server too.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const answers = sockets.map((socket) => once(socket, 'data'));
    // Written in one pass, so all of them are readable in the next.
    for (const socket of sockets) {
      socket.write(
        'GET /stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
    }
    for (const [bytes] of await Promise.all(answers)) assert.match(String(bytes), /^HTTP\/1\.1 101 /);
    assert.equal(new Set(passes).size, 1, `passes ${passes.join(' ')}`);
    const ended = sockets.filter((socket) => socket.readableEnded || socket.destroyed);
    assert.equal(ended.length, 0);
    for (const socket of sockets) socket.destroy();
  });
});
