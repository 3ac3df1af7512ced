// tier: quick, 3 s
/** Pings of the server: each so often, whatever the client sends (WS-07). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { accepted } from '../../src/core/outcome.ts';
import { MDS_LAG, SocketPings } from '../../src/http/uws-socket.ts';
import { SocketReader } from '../support/edge-client.ts';
import { listenWith } from '../support/listeners.ts';

const PERIOD_MS = 1_000;
const STEP_MS = 20;
const listener = listenWith(
  ({ hub }) => {
    hub.add<null>({
      pattern: '/stream',
      lag: MDS_LAG,
      admit: () => accepted(null),
      opened: () => undefined,
      closed: () => undefined,
    });
  },
  {},
  { pingMs: PERIOD_MS },
);

suite('pings of the server', () => {
  test('reach a client that never stops sending as often as one that is silent (WS-07)', async () => {
    const readers = [
      await SocketReader.open(listener.port, '/stream'),
      await SocketReader.open(listener.port, '/stream'),
    ];
    const pings = readers.map(({ socket }) => {
      const at: number[] = [];
      socket.on('ping', () => at.push(performance.now()));
      return at;
    });
    const [busy, silent] = readers;
    const chatter = setInterval(() => busy?.socket.send('{"type":"ping"}'), 50);
    await new Promise((resolve) => setTimeout(resolve, 3.6 * PERIOD_MS));
    clearInterval(chatter);
    for (const at of pings) assert.ok(at.length === 3 || at.length === 4, `${at.length} pings in 3.6 periods`);
    for (const { socket } of readers) assert.equal(socket.readyState, socket.OPEN);
    busy?.socket.terminate();
    silent?.socket.terminate();
  });

  test('come once a period to each of many sockets, some in each step, and no more to one that has left', async () => {
    const counts = new Map<number, number>();
    const pings = new SocketPings<{ ping(): void }>(10 * STEP_MS, STEP_MS);
    const sockets = Array.from({ length: 1_000 }, (_, index) => ({
      ping: (): void => void counts.set(index, (counts.get(index) ?? 0) + 1),
    }));
    const groups = sockets.map((socket) => pings.add(socket));
    groups[0]?.delete(sockets[0] ?? assert.fail());
    const endMs = performance.now() + 35 * STEP_MS;
    while ((counts.get(1) ?? 0) < 3 && performance.now() < endMs + 5_000) {
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
    pings.stop();
    assert.equal(counts.get(0), undefined);
    assert.equal(counts.size, 999);
    for (const count of counts.values()) assert.equal(count, counts.get(1));
  });

  test('keep their period on a thread that is busy for longer than a step, again and again', async () => {
    const pings = new SocketPings<{ ping(): void }>(10 * STEP_MS, STEP_MS);
    const at: number[] = [performance.now()];
    pings.add({ ping: () => void at.push(performance.now()) });
    // Three steps of work between two turns of the event loop: one ping group a turn would be a third of the period.
    while (at.length < 6 && performance.now() < (at[0] ?? 0) + 120 * STEP_MS) {
      const untilMs = performance.now() + 3 * STEP_MS;
      while (performance.now() < untilMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    pings.stop();
    const tookMs = (at.at(-1) ?? 0) - (at[0] ?? 0);
    assert.ok(at.length === 6 && tookMs < 110 * STEP_MS, `${at.length - 1} pings in ${tookMs} ms`);
  });
});
