// tier: quick, 5 s
/** The load generator as a process, against servers that stall and connections that end. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { latenessFault } from '../../src/load/lateness.ts';
import type { LoadPlan, LoadResult } from '../../src/load/plan.ts';
import { runPlan } from '../../src/load/run-plan.ts';
import { lateGenerator } from '../support/late-generator.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { startWireServer, type WireHandlers } from '../support/wire-server.ts';

const PER_SECOND = 200;
const COUNT = 200;

function planAgainst(base: string): LoadPlan {
  return {
    target: { kind: 'floor', base },
    flow: 'creates',
    pace: { kind: 'open', perSecond: PER_SECOND, unansweredMax: 10_000 },
    warmUp: 0,
    count: COUNT,
    streams: false,
    hops: false,
    pid: null,
  };
}

async function against(socket: NonNullable<WireHandlers['socket']>): Promise<LoadResult> {
  const server = await startWireServer({ socket });
  try {
    return await runPlan(planAgainst(server.base));
  } finally {
    await server.close();
  }
}

suite('the load generator', () => {
  test('a stall counts for every message that was due during it', async () => {
    const STALL_MS = 500;
    let frames = 0;
    let heldUntil = 0;
    const result = await against((socket) => {
      socket.on('message', (data: Buffer) => {
        frames += 1;
        // The service reads nothing for a while: replies to everything that was sent meanwhile come at its end.
        if (frames === COUNT / 4) heldUntil = performance.now() + STALL_MS;
        setTimeout(() => socket.send(data.subarray(0, 190)), Math.max(0, heldUntil - performance.now()));
      });
    });
    assert.equal(result.unanswered, 0);
    const { count = 0, curve = [] } = result.latencies.create ?? {};
    assert.equal(count, COUNT);
    // Half a second of one: the messages of half of the run waited, evenly between none and all of the stall.
    const at = (wanted: number): number => curve.find(([percentile]) => percentile === wanted)?.[1] ?? 0;
    assert.ok(at(80) > 150_000, `p80 is ${at(80)} µs`);
    assert.ok(at(98) > 350_000, `p98 is ${at(98)} µs`);
  });

  test('a generator that waits for replies before it sends counts the wait, not its own delay', async () => {
    const server = await startWireServer({
      socket: (socket) =>
        void socket.on('message', (data: Buffer) => setTimeout(() => socket.send(data.subarray(0, 190)), 100)),
    });
    try {
      const plan = planAgainst(server.base);
      const pace = { kind: 'open', perSecond: PER_SECOND, unansweredMax: 10 } as const;
      const { latencies, lateness, perSecond } = await runPlan({ ...plan, pace, count: 60 });
      // Ten unanswered, 100 ms each: a hundred a second, half of what is due.
      assert.ok(perSecond < 130, `${perSecond} a second`);
      assert.ok((latencies.create?.max ?? 0) > 250_000);
      assert.ok(lateness.p50 < (latencies.create?.p50 ?? 0) / 2, `${lateness.p50} µs late at p50`);
    } finally {
      await server.close();
    }
  });

  test('a connection that ends leaves the rest unanswered, and the result says why', async () => {
    let frames = 0;
    const result = await against((socket) => {
      socket.on('message', (data: Buffer) => {
        frames += 1;
        if (frames > COUNT / 4) socket.close(1008);
        else socket.send(data.subarray(0, 190));
      });
    });
    assert.ok(result.unanswered > 0);
    assert.match(result.closed ?? '', /closed with 1008/);
  });

  test('a generator whose pacer does not run is late, and its figures are refused', async () => {
    const directory = temporaryDirectory();
    const before = process.env['NODE_OPTIONS'];
    Object.assign(process.env, lateGenerator(directory));
    try {
      const result = await against((socket) => {
        socket.on('message', (data: Buffer) => socket.send(data.subarray(0, 190)));
      });
      assert.equal(result.unanswered, 0);
      assert.match(latenessFault(result) ?? 'no fault', /the generator was [0-9]+ µs late/);
    } finally {
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
      removeDirectory(directory);
    }
  });
});
