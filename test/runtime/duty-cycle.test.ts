// tier: quick
/** Long jobs in units: results, heartbeats and slices. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DutyCycle, UNITS_PER_HEARTBEAT } from '../../src/runtime/duty-cycle.ts';

function* counted(units: number): Generator<number, number> {
  for (let unit = 0; unit < units; unit += 1) yield 1;
  return units;
}

suite('duty cycle', () => {
  test('a job that is finished returns its result, with a heartbeat after each so many units (AMB-111)', () => {
    let heartbeats = 0;
    const cycle = new DutyCycle(() => {
      heartbeats += 1;
    });
    assert.equal(cycle.finish(counted(3 * UNITS_PER_HEARTBEAT - 1)), 3 * UNITS_PER_HEARTBEAT - 1);
    assert.equal(heartbeats, 2);
    cycle.done();
    assert.equal(heartbeats, 3, 'units of two jobs add up');
    assert.equal(cycle.finish(counted(0)), 0);
    cycle.step();
    assert.equal(heartbeats, 4);
  });

  test('a slice runs as many units as it may, and the next one goes on', () => {
    const job = counted(10);
    const cycle = DutyCycle.unwatched;
    assert.deepEqual([cycle.advance(job, 4), cycle.advance(job, 4), cycle.advance(job, 4)], [false, false, true]);
    assert.equal(cycle.advance(job, 1), true, 'an ended job stays so');
  });

  test('an error of a job goes to the caller', () => {
    // biome-ignore lint/correctness/useYield: it fails before its first unit.
    const failing = (function* (): Generator<number, never> {
      throw new Error('broken');
    })();
    assert.throws(() => DutyCycle.unwatched.finish(failing), /broken/);
  });
});
