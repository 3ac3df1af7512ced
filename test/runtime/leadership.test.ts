// tier: quick
/** The shared memory of leadership (cluster.md 7.2): the lease by two clocks, texts that are never torn, states by name. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { Leadership, NODE_STATES } from '../../src/runtime/leadership.ts';
import { propertyParameters } from '../support/property.ts';

suite('the leadership of a process', () => {
  test('begins as starting, epoch 0, without a leader and with a lease without end', () => {
    const leadership = new Leadership();
    assert.deepEqual(leadership.view(), { state: 'starting', epoch: 0, sequence: 0, leader: null });
    assert.equal(leadership.leaseLeftMs(), Number.POSITIVE_INFINITY);
    assert.equal(leadership.leaseLengthMs(), null);
  });

  test('is stalled exactly while it leads and the lease is over by the monotonic clock, or by the wall clock (cluster.md 7.2)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NODE_STATES),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: -5_000, max: 5_000 }),
        (state, sentMs, laterMs, wallAheadMs) => {
          let nowMs = sentMs;
          let wallMs = 1_700_000_000_000;
          const written = new Leadership(undefined);
          const leadership = new Leadership(
            written.memory,
            () => nowMs,
            () => wallMs,
          );
          written.setState(state);
          written.setLease({ sentMs, sentWallMs: wallMs, endsMs: sentMs + 1_350 });
          nowMs += laterMs;
          wallMs += laterMs + wallAheadMs;
          assert.equal(leadership.leaseLengthMs(), 1_350);
          const isOver = laterMs >= 1_350 || wallAheadMs >= 100;
          assert.equal(leadership.state(), state === 'leading' && isOver ? 'stalled' : state);
        },
      ),
      propertyParameters(),
    );
  });

  test('gives every reader an epoch with its own leader, while another thread changes them', async () => {
    const leadership = new Leadership();
    const url = new URL('../../src/runtime/leadership.js', import.meta.url).href;
    const worker = new Worker(
      `import('${url}').then(({ Leadership }) => {
        const leadership = new Leadership(require('node:worker_threads').workerData);
        for (let epoch = 1; epoch <= 20000; epoch += 1) {
          leadership.setLeader(epoch, { node: 'n' + epoch, oms: 'http://h:' + 'x'.repeat(epoch % 200), mds: null });
        }
      });`,
      { eval: true, workerData: leadership.memory },
    );
    const ended = new Promise((done) => worker.once('exit', done));
    let last = 0;
    let reads = 0;
    while (last < 20_000) {
      const { epoch, leader } = leadership.view();
      assert.ok(epoch >= last);
      if (epoch > 0)
        assert.deepEqual(leader, { node: `n${epoch}`, oms: `http://h:${'x'.repeat(epoch % 200)}`, mds: null });
      last = epoch;
      reads += 1;
      if (reads % 64 === 0) await new Promise((done) => setImmediate(done));
    }
    await ended;
  });
});
